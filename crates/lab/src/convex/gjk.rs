//! Gilbert, Johnson and Keerthi's algorithm, the reference among the convex methods (*A Fast
//! Procedure for Computing the Distance Between Complex Objects in Three-Dimensional Space*, 1988).
//!
//! The hulls are as far apart as their difference is from the origin. A simplex of points of the
//! difference moves towards the origin; the next point is the corner of the difference furthest on
//! the way. Corners are found by walking downhill from the last ones, so it is incremental too.

use super::simplex::Simplex;
use super::{Effort, Placement};
use glam::DVec3;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GjkAnswer {
    /// The hulls are apart, by this distance, up to rounding. That they are apart is proved.
    Apart(f64),
    /// The hulls meet, or are closer than can be proved.
    Maybe,
}

/// The last direction of a pair, and the corners that were furthest along it.
#[derive(Clone, Debug, Default)]
pub struct Gjk {
    direction: Option<DVec3>,
    corners: [u32; 2],
}

/// Steps end when the next corner is closer by less than this part of the distance.
const CLOSER: f64 = 1e-14;
/// A simplex closer to the origin than this part of the radii contains it, within rounding.
const INSIDE: f64 = 1e-15;
/// GJK ends in a few steps; rounding could keep it going.
const STEPS_MAX: u32 = 200;

impl Gjk {
    /// Nothing known yet.
    #[must_use]
    pub fn new() -> Gjk {
        Gjk::default()
    }

    /// Are the two apart? Yes is proved. Ends at the first direction that shows it.
    pub fn proves_apart(&mut self, placement: &Placement<'_>) -> (bool, Effort) {
        let (answer, effort) = self.run(placement, true);
        (answer != GjkAnswer::Maybe, effort)
    }

    /// How far apart are the two?
    pub fn distance(&mut self, placement: &Placement<'_>) -> (GjkAnswer, Effort) {
        self.run(placement, false)
    }

    fn run(&mut self, placement: &Placement<'_>, first_proof: bool) -> (GjkAnswer, Effort) {
        let mut effort = Effort::default();
        let counts = placement.hulls.map(|hull| hull.corners().len() as u32);
        self.corners =
            [0, 1].map(|i| if self.corners[i] < counts[i] { self.corners[i] } else { 0 });
        let [a, b] = placement.centres();
        let kept = self.direction.map(|direction| placement.poses[0].transform_vector(direction));
        let mut v = kept.unwrap_or(a - b);
        if v == DVec3::ZERO {
            v = DVec3::X;
        }
        let scale = placement.hulls[0].radius() + placement.hulls[1].radius() + (a - b).length();
        let mut simplex = Simplex::default();
        let mut proved = false;
        for _ in 0..STEPS_MAX {
            effort.steps += 1;
            let gap = placement.gap(v, self.corners, &mut effort);
            self.corners = gap.corners;
            proved |= gap.proved;
            if gap.proved && first_proof {
                break;
            }
            let [p, q] = [0, 1].map(|side| placement.corner(side, gap.corners[side]));
            let known = simplex.points.iter().any(|&(_, corners)| corners == gap.corners);
            let done = !simplex.points.is_empty()
                && (known || v.length_squared() - v.dot(p - q) <= CLOSER * v.length_squared());
            if done {
                break;
            }
            simplex.points.push((p - q, gap.corners));
            v = simplex.closest();
            if v.length() <= INSIDE * scale || simplex.points.len() == 4 {
                proved = false;
                break;
            }
        }
        self.keep(placement, v);
        let answer = if proved { GjkAnswer::Apart(v.length()) } else { GjkAnswer::Maybe };
        (answer, effort)
    }

    fn keep(&mut self, placement: &Placement<'_>, v: DVec3) {
        let unit = v.try_normalize();
        self.direction =
            unit.map(|direction| placement.poses[0].inverse_transform_vector(direction));
    }
}
