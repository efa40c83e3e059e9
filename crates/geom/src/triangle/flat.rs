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
    let (hull_a, hull_b) = (Hull::of(a), Hull::of(b));
    if let (Hull::Segment([p, q]), Hull::Segment([r, s])) = (&hull_a, &hull_b)
        && orient3d(*p, *q, *r, *s) != Sign::Zero
    {
        return false; // two segments that are not in one plane
    }
    match common_axis(a, b) {
        Some(axis) => !hull_a.separates(axis, b) && !hull_b.separates(axis, a),
        None => {
            // All on one line, or in one point.
            let ([p, q], [r, s]) = (ends(a), ends(b));
            !before(q, r) && !before(s, p)
        }
    }
}

/// Does the segment `pq`, not in the plane of `t`, meet the triangle `t`?
fn segment_meets([p, q]: [DVec3; 2], t: &Triangle) -> bool {
    let side_p = orient3d(t[0], t[1], t[2], p);
    if side_p == orient3d(t[0], t[1], t[2], q) {
        return false;
    }
    // The segment reaches the plane in one point, and it is in the triangle unless the line
    // passes two borders on different hands.
    let hands = [0, 1, 2].map(|i| orient3d(p, q, t[i], t[(i + 1) % 3]));
    !(hands.contains(&Sign::Positive) && hands.contains(&Sign::Negative))
}

/// For two triangles in one plane: an axis along which the projection of that plane loses
/// nothing; `None` if all corners lie on one line.
pub(super) fn common_axis(a: &Triangle, b: &Triangle) -> Option<Axis> {
    let mixed = || {
        let ([p, q], [r, s]) = (ends(a), ends(b));
        [[p, q, r], [p, q, s], [p, r, s]].iter().find_map(plane_axis)
    };
    plane_axis(a).or_else(|| plane_axis(b)).or_else(mixed)
}

/// An axis along which the triangle projects to a triangle; `None` if it is degenerate.
fn plane_axis(t: &Triangle) -> Option<Axis> {
    Axis::ALL.into_iter().find(|&axis| orient2d(axis, t[0], t[1], t[2]) != Sign::Zero)
}

/// What the three corners span.
pub(super) enum Hull {
    Triangle(Triangle),
    /// Also a point: then the ends are equal.
    Segment([DVec3; 2]),
}

impl Hull {
    pub(super) fn of(t: &Triangle) -> Hull {
        if plane_axis(t).is_some() { Hull::Triangle(*t) } else { Hull::Segment(ends(t)) }
    }

    pub(super) fn corners(&self) -> &[DVec3] {
        match self {
            Hull::Triangle(t) => t,
            Hull::Segment(s) => s,
        }
    }

    pub(super) fn edges(&self) -> impl Iterator<Item = [DVec3; 2]> {
        let corners = self.corners();
        let count = if corners.len() == 3 { 3 } else { 1 };
        (0..count).map(move |i| [corners[i], corners[(i + 1) % corners.len()]])
    }

    /// Is `p`, a point of the common plane, in the hull?
    pub(super) fn holds(&self, axis: Axis, p: DVec3) -> bool {
        match self {
            Hull::Triangle(t) => {
                let outside = orient2d(axis, t[0], t[1], t[2]).flip();
                self.edges().all(|[q, r]| orient2d(axis, q, r, p) != outside)
            }
            Hull::Segment([q, r]) => {
                orient2d(axis, *q, *r, p) == Sign::Zero && !before(p, *q) && !before(*r, p)
            }
        }
    }

    /// Does the line of an edge have all of `other` strictly beyond it?
    ///
    /// In a plane, two convex sets that do not meet are separated by a line along an edge of one
    /// of them, where a segment is an edge with two outsides: the origin is outside their
    /// Minkowski difference, whose edges are parallel to theirs. (Not so if all points are on one
    /// line; then this is not called.)
    fn separates(&self, axis: Axis, other: &Triangle) -> bool {
        match self {
            Hull::Triangle(t) => {
                let outside = orient2d(axis, t[0], t[1], t[2]).flip();
                self.edges().any(|[q, r]| other.iter().all(|&p| orient2d(axis, q, r, p) == outside))
            }
            Hull::Segment([q, r]) => {
                let side = |p: DVec3| orient2d(axis, *q, *r, p);
                let first = side(other[0]);
                first != Sign::Zero && other[1..].iter().all(|&p| side(p) == first)
            }
        }
    }
}
