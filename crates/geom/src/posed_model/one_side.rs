//! Does the plane of a triangle have the whole model on one side?

use super::{AXIS_SLACK, LaneBox, PosedModel, ROUNDING, used_lanes};
use crate::predicates::value::det2;
use crate::predicates::{Axis, Plane, Sign};
use crate::tree::Child;
use crate::triangle::Triangle;
use glam::DVec3;

impl PosedModel<'_> {
    /// Do all corners lie on one side of the plane of `triangle`, or in it? Exact; for a pose
    /// without a rotation or translation, and a triangle with an area.
    pub(crate) fn all_on_one_side(&self, triangle: &Triangle) -> bool {
        let Some((root, lane)) = self.root() else { return true };
        let plane = Plane::through(triangle);
        let a = triangle[0];
        let normal = exact_normal(triangle);
        let local = self.in_tree_frame(a);
        let slack = self.slack_at(a);
        let mut sides = Sides::default();
        let mut open: Vec<Child> = vec![root.node.child[lane]];
        while let Some(child) = open.pop() {
            if child.is_leaf() {
                for corner in child.triangles().flat_map(|t| self.triangle(t)) {
                    sides.add(plane.side(corner, &mut 0));
                }
            } else {
                let node = self.node(child);
                for k in used_lanes(node.node) {
                    match beyond(&LaneBox::of(&node, k), local, normal, slack) {
                        Some(sign) => sides.add(sign),
                        None => open.push(node.node.child[k]),
                    }
                }
            }
            if sides.both() {
                return false;
            }
        }
        true
    }
}

#[derive(Default)]
struct Sides {
    above: bool,
    below: bool,
}

impl Sides {
    fn add(&mut self, side: Sign) {
        self.above |= side == Sign::Positive;
        self.below |= side == Sign::Negative;
    }

    fn both(&self) -> bool {
        self.above && self.below
    }
}

/// The unit normal of a triangle with an area, right to a few last digits also for needles.
pub(crate) fn exact_normal(&[a, b, c]: &Triangle) -> DVec3 {
    let normal = DVec3::from(Axis::ALL.map(|axis| det2(axis, a, b, c)));
    // Largest component 1 first, so that squares are neither too large nor too small.
    (normal / normal.abs().max_element()).normalize()
}

/// The side of the plane through `p` that a box lies on, if it surely does.
fn beyond(bounds: &LaneBox, p: DVec3, normal: DVec3, slack: f64) -> Option<Sign> {
    let half = bounds.half + slack;
    let size = half.x + half.y + half.z;
    let from = bounds.center - p;
    let height = normal.dot(from);
    let extent = bounds.along(normal).abs().dot(half) + AXIS_SLACK * size + 4.0 * slack;
    let extent = extent + ROUNDING * from.length();
    // Written so that NaN is unsure.
    (height.abs() > extent).then(|| Sign::of(height))
}
