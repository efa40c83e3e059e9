//! How do two round solids lie to each other?
//!
//! They are convex, so one is inside the other if the points are that it is the hull of: spheres
//! around the ends of a capsule, the rims of a cylinder, rim and tip of a cone. A sphere is inside
//! if its middle is as deep as it is large. A circle is inside if arcs of it are, and an arc if the
//! triangle of its ends and of the point where the tangents there meet is.

use super::round::{BOUND, PosedRound, Round};
use crate::pair::Relation;
use glam::DVec3;
use std::f64::consts::SQRT_2;

/// A circle has at most this many arcs. A rim that runs along the other surface for a while would
/// take any number; it is then taken to be inside.
const ARCS_MAX: usize = 4096;

/// What a round solid is the hull of.
enum Extreme {
    Ball { centre: DVec3, radius: f64 },
    Circle { centre: DVec3, radius: f64 },
}

impl PosedRound {
    /// This is the first.
    pub(crate) fn relation(&self, other: &PosedRound) -> Relation {
        if !self.touches(other) {
            return Relation::Apart;
        }
        let size = self.size([other.centre]) + other.reach();
        let slack = BOUND * size;
        match (self.is_inside(other, slack), other.is_inside(self, slack)) {
            (true, true) => Relation::Identical,
            (true, false) => Relation::AInsideB,
            (false, true) => Relation::BInsideA,
            (false, false) if self.overlaps(other) => Relation::Crossing,
            (false, false) => Relation::Touching,
        }
    }

    /// Is each point of this one of the other? Up to `slack`.
    fn is_inside(&self, other: &PosedRound, slack: f64) -> bool {
        self.extremes().iter().all(|extreme| match *extreme {
            Extreme::Ball { centre, radius } => other.height(centre) + radius <= slack,
            Extreme::Circle { centre, radius } => {
                circle_is_inside(centre, self.axis, radius, other, slack)
            }
        })
    }

    fn extremes(&self) -> [Extreme; 2] {
        let [low, high] = match self.round {
            Round::Sphere { .. } => [self.centre; 2],
            Round::Capsule { half, .. }
            | Round::Cylinder { half, .. }
            | Round::Cone { half, .. } => {
                [self.centre - self.axis * half, self.centre + self.axis * half]
            }
        };
        match self.round {
            Round::Sphere { radius } | Round::Capsule { radius, .. } => {
                [low, high].map(|centre| Extreme::Ball { centre, radius })
            }
            Round::Cylinder { radius, .. } => {
                [low, high].map(|centre| Extreme::Circle { centre, radius })
            }
            Round::Cone { radius, .. } => [
                Extreme::Circle { centre: low, radius },
                Extreme::Ball { centre: high, radius: 0.0 },
            ],
        }
    }
}

fn circle_is_inside(
    centre: DVec3,
    axis: DVec3,
    radius: f64,
    other: &PosedRound,
    slack: f64,
) -> bool {
    let (u, v) = axis.any_orthonormal_pair();
    let ways = [u, v, -u, -v];
    let is_out = |way: DVec3| other.height(centre + way * radius) > slack;
    if ways.iter().any(|&way| is_out(way)) {
        return false;
    }
    // Arcs by the directions of their ends.
    let mut open: Vec<[DVec3; 2]> = (0..4).map(|i| [ways[i], ways[(i + 1) % 4]]).collect();
    let mut looked = 0;
    while let Some([from, to]) = open.pop() {
        let sum = from + to;
        // The tangents at both ends meet at 1 / cos of half the angle: 2 / |sum|.
        let corner = sum * (2.0 / sum.length_squared());
        if !is_out(corner) {
            continue;
        }
        let middle = sum.normalize();
        if is_out(middle) {
            return false;
        }
        looked += 1;
        if looked >= ARCS_MAX || corner.distance(middle) * radius <= slack {
            continue;
        }
        debug_assert!(corner.length() <= SQRT_2 * (1.0 + 1e-9));
        open.push([from, middle]);
        open.push([middle, to]);
    }
    true
}
