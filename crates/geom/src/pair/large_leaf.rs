//! A leaf that is very much larger than the node that it meets.
//!
//! The axes of a box are stored in 16 bits, so the box around a triangle that is 100,000 long is
//! taken as 50 thick: all of a small mesh that a stray vertex belongs to lies in it. Here such a
//! leaf is compared with the sphere around the node, in `f64`.
//!
//! A direction in which all corners of a triangle are further from the centre of the sphere than
//! its radius proves that they are apart, whatever it was computed from. Each projection is off by
//! at most 8v of the coordinates in it for v = 2^-53; `point_error` is more than ten times as much,
//! and says where the placed corners are.

use super::models::ModelPair;
use super::node_pair::NodePair;
use crate::triangle::{Triangle, closest_point};
use glam::DVec3;

/// Leaves this many times as large as the sphere are compared with it: the thickness of a box
/// (2^-11 of its extents) is half of the sphere then.
const LARGER: f32 = 1024.0;

/// Is one of the two a leaf, and very large, and surely further than `gap` from the other, which
/// is a node?
#[cold]
#[inline(never)]
pub(super) fn is_far(pair: &ModelPair<'_>, node_pair: NodePair, gap: f32) -> bool {
    let (a, b) = node_pair.lanes();
    let (tree_a, tree_b) = (&pair.a.tree, &pair.b.tree);
    let (child_a, child_b) = (tree_a.child(a), tree_b.child(b));
    let relative = &pair.relative;
    let into_a = |v: u32| {
        let v = pair.b.mesh.vertices.at(v);
        relative.b_to_a(v)
    };
    let (leaf, size, frame, in_b) = match (child_a.is_leaf(), child_b.is_leaf()) {
        (true, false) => (child_a, tree_a.size(a), tree_b.frame(child_b.node_index()), true),
        (false, true) => (child_b, tree_b.size(b), tree_a.frame(child_a.node_index()), false),
        _ => return false,
    };
    let is_large = size > LARGER * frame.radius; // NaN is not
    if !is_large {
        return false;
    }
    let errors = relative.between(tree_a.frame_of(a), tree_b.frame_of(b)).point_error;
    let reach = f64::from(frame.radius) + f64::from(gap) + 4.0 * errors;
    let origin = frame.origin.as_dvec3();
    let centre = if in_b { relative.b_to_a(origin) } else { origin };
    leaf.triangles().all(|triangle| {
        let corners = if in_b {
            pair.a.mesh.corners(triangle)
        } else {
            pair.b.mesh.triangles[triangle].map(into_a)
        };
        is_beyond(centre, reach, &corners)
    })
}

/// Are all points of the triangle surely further than `reach` from `centre`?
fn is_beyond(centre: DVec3, reach: f64, corners: &Triangle) -> bool {
    let Some(n) = (closest_point(centre, corners) - centre).try_normalize() else { return false };
    // The length of `n` is right to a few roundings.
    corners.iter().all(|&corner| n.dot(corner - centre) > reach * (1.0 + 1e-12))
}
