//! The touch test where the planes do not cross: two triangles in one plane, or triangles whose
//! corners lie on one line or in one point. Exact.

use super::Triangle;
use super::touch::{before, ends, in_plane};
use crate::predicates::{Axis, Sign, orient2d, orient3d};
use glam::DVec3;

/// Do they share a point? `sides` are those of the corners of `a` on the plane of `b` and of `b`
/// on the plane of `a`; one of the two must be all zero.
#[cold]
#[inline(never)]
pub(super) fn touch(a: &Triangle, b: &Triangle, sides: [[Sign; 3]; 2]) -> bool {
    let [sides_of_a, sides_of_b] = sides;
    // A corner of `a` off the plane of `b`: then `b` has a plane, and it is not that of `a`,
    // although all of `b` counts as in it. So `a` has no plane: it is a segment.
    if !in_plane(sides_of_a) {
        return segment_meets(ends(a), b);
    }
    if !in_plane(sides_of_b) {
        return segment_meets(ends(b), a);
    }
    let (axis_a, axis_b) = (plane_axis(a), plane_axis(b));
    if let Some(axis) = axis_a.or(axis_b) {
        // One plane holds all, and along this axis the projection loses nothing.
        return !separates(axis, a, axis_a, b) && !separates(axis, b, axis_b, a);
    }
    segments_meet(ends(a), ends(b))
}

/// Do two segments in space meet?
fn segments_meet([p, q]: [DVec3; 2], [r, s]: [DVec3; 2]) -> bool {
    if orient3d(p, q, r, s) != Sign::Zero {
        return false;
    }
    match plane_axis(&[p, q, r])
        .or_else(|| plane_axis(&[p, q, s]))
        .or_else(|| plane_axis(&[p, r, s]))
    {
        Some(axis) => !on_one_side(axis, [p, q], &[r, s]) && !on_one_side(axis, [r, s], &[p, q]),
        // All on one line (or in one point).
        None => !before(q, r) && !before(s, p),
    }
}

/// Does the segment `pq`, not in the plane of `t`, meet the triangle `t`?
pub(super) fn segment_meets([p, q]: [DVec3; 2], t: &Triangle) -> bool {
    let side_p = orient3d(t[0], t[1], t[2], p);
    if side_p == orient3d(t[0], t[1], t[2], q) {
        return false;
    }
    // The segment reaches the plane in one point, and it is in the triangle unless the line
    // passes two borders on different hands.
    let hands = [0, 1, 2].map(|i| orient3d(p, q, t[i], t[(i + 1) % 3]));
    !(hands.contains(&Sign::Positive) && hands.contains(&Sign::Negative))
}

/// An axis along which the triangle projects to a triangle; `None` if it is degenerate.
pub(super) fn plane_axis(t: &Triangle) -> Option<Axis> {
    Axis::ALL.into_iter().find(|&axis| orient2d(axis, t[0], t[1], t[2]) != Sign::Zero)
}

/// Does the line of an edge of `t` have all of `other` strictly beyond it?
///
/// In a plane, two convex sets that do not meet are separated by a line along an edge of one of
/// them, where a segment is an edge with two outsides: the origin is outside their Minkowski
/// difference, whose edges are parallel to theirs. (Not so if all points are on one line; then
/// this is not called.)
fn separates(axis: Axis, t: &Triangle, own_axis: Option<Axis>, other: &Triangle) -> bool {
    if own_axis.is_none() {
        return on_one_side(axis, ends(t), other);
    }
    let inside = orient2d(axis, t[0], t[1], t[2]);
    (0..3).any(|i| {
        let side = |p| orient2d(axis, t[i], t[(i + 1) % 3], p);
        other.iter().all(|&p| side(p) == inside.flip())
    })
}

/// Are all points strictly on one side of the line `pq`?
fn on_one_side(axis: Axis, [p, q]: [DVec3; 2], points: &[DVec3]) -> bool {
    let side = |r: DVec3| orient2d(axis, p, q, r);
    let first = side(points[0]);
    first != Sign::Zero && points[1..].iter().all(|&r| side(r) == first)
}
