//! The smallest distance of two shapes over a whole motion, between two bounds.
//!
//! Best first over time. If no point approaches the other shape faster than V, and the distances
//! at the times s and t are D and E, then at a time between them it is at least D − V·(u − s) and
//! at least E − V·(t − u), so never less than (D + E − V·(t − s)) / 2. The span whose bound is the
//! least is halved until the bounds are as close as asked for. V is known from [`super::Twist`]:
//! the relative drift, and the longest swirl of either shape.

use super::Motion;
use crate::shape::ShapeRef;
use crate::{Distance, Pair};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// How exactly, and with how much work, to look for the clearance of a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClearanceLimits {
    /// The search ends when the two bounds are this close. NaN is 0.
    pub tolerance: f64,
    /// Most distances that are measured; at least the two ends of the motion are.
    pub distances_max: u32,
}

impl Default for ClearanceLimits {
    /// As exactly as a thousand distances can show.
    fn default() -> ClearanceLimits {
        ClearanceLimits { tolerance: 0.0, distances_max: 1000 }
    }
}

/// The smallest distance over a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearance {
    /// The shapes are never closer than this: proved for all times from 0 to 1.
    pub at_least: f64,
    /// They are this close at `time`.
    pub at_most: f64,
    /// When they are.
    pub time: f64,
    /// Where, at that time.
    pub closest: Distance,
}

/// What rounding may take off a distance, as a part of all lengths involved: as for a time of
/// impact with a sphere, which measures distances in the same way.
const ROUNDING: f64 = 1e5 * f64::EPSILON;

/// How close do two moving shapes come?
///
/// The shapes move from time 0 to time 1. `None` if one of them is empty. Each machine gives the
/// same bits. Fast points need many distances: about V / tolerance where the shapes stay close all
/// the time, for a speed V, and far fewer where they come close once.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{ClearanceLimits, Motion, Pose, Shape, clearance_over};
///
/// // A ball passes another one at a distance of 3 between centres.
/// let ball = Shape::sphere(1.0)?;
/// let [from, to] = [-9.0, 11.0].map(|x| Pose::from_translation(DVec3::new(x, 3.0, 0.0)));
/// let (past, still) = (Motion::linear(&from?, &to?), Motion::still(&Pose::IDENTITY));
/// let limits = ClearanceLimits { tolerance: 1e-3, ..ClearanceLimits::default() };
/// let clearance = clearance_over(&ball, &past, &ball, &still, &limits).unwrap();
/// assert!(clearance.at_least <= 1.0 && 1.0 <= clearance.at_most + 1e-9);
/// assert!(clearance.at_most - clearance.at_least <= 1e-3 && (clearance.time - 0.45).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn clearance_over<'a>(
    a: impl Into<ShapeRef<'a>>,
    motion_a: &Motion,
    b: impl Into<ShapeRef<'a>>,
    motion_b: &Motion,
    limits: &ClearanceLimits,
) -> Option<Clearance> {
    let (a, b) = (a.into(), b.into());
    let twists = [motion_a.twist(0.0), motion_b.twist(0.0)];
    // A swirl keeps its length; that of no point is longer than that of the origin and the rest.
    let swirl = |k: usize, shape: ShapeRef<'_>| {
        twists[k].swirl.length() + twists[k].turning * shape.radius()
    };
    let drift = (twists[0].drift - twists[1].drift).length();
    let speed = (drift + swirl(0, a) + swirl(1, b)) * (1.0 + ROUNDING);
    let lengths = a.radius() + b.radius() + motion_a.reach() + motion_b.reach();
    let at = |time: f64| Pair::new(a, &motion_a.at(time), b, &motion_b.at(time)).distance();
    let (start, end) = (at(0.0)?, at(1.0)?);
    let mut search =
        Search { speed, margin: ROUNDING * lengths, open: BinaryHeap::new(), best: (0.0, start) };
    search.see(1.0, end);
    search.push(
        Moment { time: 0.0, distance: start.distance },
        Moment { time: 1.0, distance: end.distance },
    );
    let tolerance = limits.tolerance.max(0.0);
    for _ in 2..limits.distances_max {
        let Some(span) = search.open.peek().copied() else { break };
        let middle = span.from.time + (span.to.time - span.from.time) * 0.5;
        let is_known = search.best.1.distance - span.bound <= tolerance;
        if is_known || middle <= span.from.time || middle >= span.to.time {
            break;
        }
        search.open.pop();
        let closest = at(middle)?;
        search.see(middle, closest);
        let between = Moment { time: middle, distance: closest.distance };
        search.push(span.from, between);
        search.push(between, span.to);
    }
    Some(search.finish())
}

/// A time, and how far apart the shapes are then.
#[derive(Clone, Copy, PartialEq)]
struct Moment {
    time: f64,
    distance: f64,
}

/// The time between two moments, and what the distance is at least then.
#[derive(Clone, Copy, PartialEq)]
struct Span {
    bound: f64,
    from: Moment,
    to: Moment,
}

impl Eq for Span {}

impl Ord for Span {
    /// The least bound is the largest, and of equal ones the earliest.
    fn cmp(&self, other: &Span) -> Ordering {
        let by_bound = other.bound.total_cmp(&self.bound);
        by_bound.then(other.from.time.total_cmp(&self.from.time))
    }
}

impl PartialOrd for Span {
    fn partial_cmp(&self, other: &Span) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Search {
    speed: f64,
    margin: f64,
    open: BinaryHeap<Span>,
    /// The closest so far, and when.
    best: (f64, Distance),
}

impl Search {
    fn see(&mut self, time: f64, closest: Distance) {
        let (earlier, best) = &self.best;
        let nearer = closest.distance < best.distance;
        if nearer || closest.distance == best.distance && time < *earlier {
            self.best = (time, closest);
        }
    }

    fn push(&mut self, from: Moment, to: Moment) {
        let way = self.speed * (to.time - from.time);
        let bound = 0.5 * (from.distance + to.distance - way) - self.margin;
        self.open.push(Span { bound: bound.max(0.0), from, to });
    }

    fn finish(self) -> Clearance {
        let (time, closest) = self.best;
        let least = self.open.peek().map_or(0.0, |span| span.bound);
        Clearance {
            at_least: least.min(closest.distance),
            at_most: closest.distance,
            time,
            closest,
        }
    }
}
