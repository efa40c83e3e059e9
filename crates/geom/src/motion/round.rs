//! When does a moving capsule, cylinder or cone touch another moving shape?
//!
//! Conservative advancement as in `advance.rs`, without boxes: the round shape is one convex thing,
//! the other another, or one triangle after the other. That a round shape turns about its own axis
//! does not change it, so only the rest of its turning counts.

use super::advance::Approach;
use super::time_of_impact::{TimeOfImpact, TimeOfImpactLimits};
use super::{Motion, Twist};
use crate::shape::round::{PosedRound, Round};
use crate::shape::{PosedShape, ShapeRef};
use crate::triangle::Triangle;
use crate::{Model, Pair, PosedModel};
use glam::DVec3;
use std::cell::Cell;
use std::ops::ControlFlow;

/// Distances below this part of all lengths involved count as contact, because rounding might
/// matter.
const SKIN: f64 = 1e5 * f64::EPSILON;

/// What rounding may take off a gap, as part of the least distance that counts as contact: that is
/// twenty times [`crate::shape::round::BOUND`].
const MARGIN: f64 = 0.25;

/// Two moving shapes, of which one is round.
pub(super) struct RoundImpact<'a> {
    pub(super) shapes: [ShapeRef<'a>; 2],
    pub(super) motions: [&'a Motion; 2],
    pub(super) limits: TimeOfImpactLimits,
}

/// What limits the time that is safe.
#[derive(Clone, Copy)]
struct Look {
    safe: f64,
    gap: f64,
    /// Whether the closest points approach each other.
    approach: bool,
}

impl RoundImpact<'_> {
    pub(super) fn find(&self) -> TimeOfImpact {
        let pair = |time: f64| {
            let [a, b] = self.motions.map(|motion| motion.at(time));
            Pair::new(self.shapes[0], &a, self.shapes[1], &b)
        };
        if pair(0.0).touches() {
            return TimeOfImpact::AtStart;
        }
        let rounding = SKIN * (self.lengths(0) + self.lengths(1));
        let (skin, margin) = (self.limits.distance.max(rounding), MARGIN * rounding);
        let time_max = self.limits.time.max(0.0);
        let mut free = 0.0;
        for _ in 0..self.limits.steps_max {
            let Some(look) = self.look(free, margin) else { return TimeOfImpact::Never };
            if look.gap <= skin && (look.approach || look.safe <= time_max) {
                return match pair(free).distance() {
                    Some(closest) => TimeOfImpact::During { free, contact: free, closest },
                    None => TimeOfImpact::Never, // an empty mesh
                };
            }
            let next = free + look.safe;
            if next >= 1.0 {
                return TimeOfImpact::Never;
            }
            if next <= free {
                break;
            }
            free = next;
        }
        TimeOfImpact::Unknown { free }
    }

    /// The sum of all lengths that one shape is placed with.
    fn lengths(&self, i: usize) -> f64 {
        self.shapes[i].radius() + self.motions[i].reach()
    }

    /// For how long the shapes surely do not touch, from a time at which they do not; `None` for
    /// all of the rest.
    fn look(&self, time: f64, margin: f64) -> Option<Look> {
        let [a, b] = [0, 1].map(|i| self.shapes[i].at(&self.motions[i].at(time)));
        let twists = self.motions.map(|motion| motion.twist(time));
        match (a, b) {
            (PosedShape::Round(a), PosedShape::Round(b)) => {
                let (a, b) = (Turning::new(&a, &twists[0]), Turning::new(&b, &twists[1]));
                Some(a.look_at(&b, margin))
            }
            (PosedShape::Round(round), PosedShape::Triangles(other)) => Turning::new(
                &round, &twists[0],
            )
            .look_at_mesh(other.model, &other.posed(), &twists[1], margin, 1.0 - time),
            (PosedShape::Triangles(other), PosedShape::Round(round)) => Turning::new(
                &round, &twists[1],
            )
            .look_at_mesh(other.model, &other.posed(), &twists[0], margin, 1.0 - time),
            // Two models have their own search.
            (PosedShape::Triangles(_), PosedShape::Triangles(_)) => None,
        }
    }
}

/// A round shape at one time, and how it moves.
struct Turning<'a> {
    round: &'a PosedRound,
    twist: &'a Twist,
    /// The swirl of its centre.
    swirl: DVec3,
    /// Its angular velocity without that about its own axis, and a bound on how fast that changes.
    turn: DVec3,
    turn_bend: f64,
}

impl<'a> Turning<'a> {
    fn new(round: &'a PosedRound, twist: &'a Twist) -> Turning<'a> {
        let whole = twist.axis * twist.turning;
        let spin = round.axis.dot(whole);
        let (turn, turn_bend) = match round.round {
            Round::Sphere { .. } => (DVec3::ZERO, 0.0),
            _ => (whole - round.axis * spin, spin.abs() * whole.cross(round.axis).length()),
        };
        Turning { round, twist, swirl: twist.swirl_at(round.centre), turn, turn_bend }
    }

    /// How fast its points go along `n`.
    fn speeds(&self, n: DVec3) -> Approach {
        let across =
            if self.twist.turning == 0.0 { 0.0 } else { n.cross(self.twist.axis).length() };
        let (reach, turn) = (self.round.reach(), self.turn.length());
        let (drift, swirl) = (n.dot(self.twist.drift), self.swirl.length());
        Approach {
            now: drift + n.dot(self.swirl) + reach * n.cross(self.turn).length(),
            most: drift + across * swirl + reach * turn,
            bend: across * self.twist.turning * swirl + reach * (self.turn_bend + turn * turn),
        }
        .with_slack(self.twist.drift.length() + swirl + reach * turn)
    }

    /// No point of it moves faster.
    fn speed(&self) -> f64 {
        (self.twist.drift.length() + self.swirl.length() + self.round.reach() * self.turn.length())
            * (1.0 + 1e-12)
    }

    /// The velocity of a point of it.
    fn velocity(&self, at: DVec3) -> DVec3 {
        self.twist.drift + self.swirl + self.turn.cross(at - self.round.centre)
    }

    fn look_at(&self, other: &Turning<'_>, margin: f64) -> Look {
        let found = self.round.core_gap(other.round);
        let between = found.points[1] - found.points[0];
        let gap = found.distance - (self.round.swept() + other.round.swept());
        let closing = self.velocity(found.points[0]) - other.velocity(found.points[1]);
        let n = found.way;
        let safe = match n != DVec3::ZERO {
            true => self.speeds(n).and(other.speeds(-n)).safe_time(gap - margin),
            false => 0.0,
        };
        Look { safe, gap, approach: closing.dot(between) > 0.0 }
    }

    fn look_at_mesh(
        &self,
        model: &Model,
        posed: &PosedModel<'_>,
        other: &Twist,
        margin: f64,
        left: f64,
    ) -> Option<Look> {
        // No point of the mesh is faster: its swirl is that of the origin and what turning adds.
        let turning = other.turning * model.radius();
        let speed =
            self.speed() + (other.drift.length() + other.swirl.length() + turning) * (1.0 + 1e-12);
        let best = Cell::new(Look { safe: left, gap: f64::INFINITY, approach: false });
        let limited = Cell::new(false);
        let _ = posed.look_near_round_while(
            self.round,
            |distance| distance - margin <= best.get().safe * speed,
            &mut |triangle| {
                let look = self.look_at_triangle(&posed.triangle(triangle), other, margin);
                if look.safe < best.get().safe {
                    best.set(look);
                    limited.set(true);
                }
                ControlFlow::Continue(())
            },
        );
        limited.get().then(|| best.get())
    }

    fn look_at_triangle(&self, t: &Triangle, other: &Twist, margin: f64) -> Look {
        let found = self.round.triangle_gap(t);
        let between = found.points[1] - found.points[0];
        let gap = found.distance - self.round.swept();
        let velocity = |at: DVec3| other.drift + other.swirl_at(at);
        let closing = self.velocity(found.points[0]) - velocity(found.points[1]);
        let approach = closing.dot(between) > 0.0;
        let n = found.way;
        if n == DVec3::ZERO {
            return Look { safe: 0.0, gap, approach };
        }
        let own = self.speeds(n);
        let across = if other.turning == 0.0 { 0.0 } else { n.cross(other.axis).length() };
        let front = n.dot(self.round.centre + self.round.support(n));
        let safe = t.map(|corner| {
            let swirl = other.swirl_at(corner);
            let length = swirl.length();
            let speeds = Approach {
                now: -n.dot(other.drift + swirl),
                most: -n.dot(other.drift) + across * length,
                bend: across * other.turning * length,
            }
            .with_slack(other.drift.length() + length);
            own.and(speeds).safe_time(n.dot(corner) - front - margin)
        });
        Look { safe: safe[0].min(safe[1]).min(safe[2]), gap, approach }
    }
}
