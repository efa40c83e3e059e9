//! Where is an exact point, seen from a closed surface? And what is beside a triangle?

use super::{PosedModel, used_lanes};
use crate::predicates::point::ExactPoint;
use crate::tree::Child;
use crate::triangle::{RayCross, Triangle, exact_x_ray_crosses};
use glam::DVec3;
use std::ops::ControlFlow;

/// The two sides of a closed surface at a point. Where the point is not on the surface, both are
/// the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// How many triangles hold the point.
    pub(crate) triangles: usize,
    /// Is the side inside that a direction (1, e, e²) with a very small e points to?
    pub(crate) ahead: bool,
}

impl Location {
    pub(crate) fn is_on_surface(self) -> bool {
        self.triangles > 0
    }

    /// Is the other side inside? Triangles that are there twice bound nothing.
    pub(crate) fn behind(self) -> bool {
        self.ahead != (self.triangles % 2 == 1)
    }
}

impl PosedModel<'_> {
    /// Where `p` is, seen from this surface, which must be closed. All triangles that hold the
    /// point must have area and lie in one plane, or only their number is of use.
    pub(crate) fn locate(&self, p: &ExactPoint) -> Location {
        // The ray of `contains`. That it starts a few roundings beside `p` is within its slack,
        // which is twice the sum of all roundings that it is meant for.
        let local = self.local_ray(p.near(), DVec3::X, f64::INFINITY);
        let mut found = Location { triangles: 0, ahead: false };
        let Some((root, lane)) = self.root() else { return found };
        let mut open: Vec<Child> = Vec::with_capacity(64);
        open.extend(local.entry(&root, lane).map(|_| root.node.child[lane]));
        while let Some(child) = open.pop() {
            if child.is_leaf() {
                for triangle in child.triangles() {
                    match exact_x_ray_crosses(p, &self.triangle(triangle)) {
                        RayCross::No => {}
                        RayCross::Yes => found.ahead = !found.ahead,
                        RayCross::OnTriangle => found.triangles += 1,
                    }
                }
                continue;
            }
            let node = self.node(child);
            let entered = used_lanes(node.node).filter(|&k| local.entry(&node, k).is_some());
            open.extend(entered.map(|k| node.node.child[k]));
        }
        found
    }

    /// The other triangles of this surface that may touch one of them: the boxes around them meet.
    pub(crate) fn beside(&self, triangle: usize) -> Vec<Triangle> {
        let corners = self.triangle(triangle);
        let bounds = |[p, q, r]: Triangle| [p.min(q).min(r), p.max(q).max(r)];
        let [low, high] = bounds(corners);
        let centre = (low + high) * 0.5;
        // Enlarged by more than the roundings of the centre and of the radius.
        let size = low.abs().max(high.abs()).max_element();
        let reach = high.distance(low) * 0.5 + size * 1e-14;
        let mut found = Vec::new();
        let _ = self.look_near(centre, reach, &mut |other| {
            let [from, to] = bounds(self.triangle(other));
            if other != triangle && from.cmple(high).all() && low.cmple(to).all() {
                found.push(self.triangle(other));
            }
            ControlFlow::Continue(())
        });
        found
    }
}
