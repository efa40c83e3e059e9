//! Questions about cuboids that are decided without their triangles.
//!
//! A cuboid here is half its edges and a [`Pose`]. Exact answers are about its twelve placed
//! triangles and what they enclose, and placing rounds. So answers are given here only where they
//! do not depend on rounding, and the triangles decide everything else.

use super::sphere::{PosedSphere, PosedTriangles};
use crate::Pose;
use glam::DVec3;

/// The smallest box along the axes of the world around a placed box: exactly that of its eight
/// corners as [`Pose::transform_point`] rounds them. Rounding keeps order, so the largest of the
/// sums that it makes for the corners, one for each choice of signs, is the sum of the largest
/// parts.
pub(crate) fn bounds(half: DVec3, pose: &Pose) -> (DVec3, DVec3) {
    let t = pose.translation();
    let along = |row: DVec3, t: f64| {
        let row = row.abs();
        let across = row.x * half.x + row.y * half.y;
        let up = row.z * half.z;
        ((t - up) - across, across + (up + t))
    };
    let [x, y, z] = pose.rows();
    let (x, y, z) = (along(x, t.x), along(y, t.y), along(z, t.z));
    (DVec3::new(x.0, y.0, z.0), DVec3::new(x.1, y.1, z.1))
}

/// Two cuboids at their poses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PosedCuboids<'a> {
    /// Half the edges of each.
    pub(crate) halves: [DVec3; 2],
    pub(crate) triangles: [PosedTriangles<'a>; 2],
}

impl PosedCuboids<'_> {
    /// Whether they touch, if that can be decided without the triangles.
    pub(crate) fn touch(&self) -> Option<bool> {
        let ([one, two], [a, b]) = (self.halves, &self.triangles);
        upright_touch(one, &a.pose, two, &b.pose).or_else(|| self.seen_from_first().touches())
    }

    /// A distance that they are not closer than.
    pub(crate) fn distance_at_least(&self) -> f64 {
        self.seen_from_first().distance_at_least()
    }

    /// Are they further apart than `distance`, as far as can be decided without the triangles?
    pub(crate) fn are_beyond(&self, distance: f64) -> bool {
        self.distance_at_least() > distance
    }

    fn seen_from_first(&self) -> CuboidPair {
        let ([one, two], [a, b]) = (self.halves, &self.triangles);
        CuboidPair::new(one, &a.pose, two, &b.pose)
    }
}

/// Do two solid boxes whose edges are along the axes of the world touch? `None` if others are. No
/// corner of such a box is rounded in two ways, so its triangles enclose exactly its [`bounds`].
fn upright_touch(a: DVec3, pose_a: &Pose, b: DVec3, pose_b: &Pose) -> Option<bool> {
    if !is_upright(pose_a) || !is_upright(pose_b) {
        return None;
    }
    let (a, b) = (bounds(a, pose_a), bounds(b, pose_b));
    Some(a.0.cmple(b.1).all() && b.0.cmple(a.1).all())
}

fn is_upright(pose: &Pose) -> bool {
    let whole = |x: f64| x == 0.0 || x.abs() == 1.0;
    pose.rows().iter().all(|row| whole(row.x) && whole(row.y) && whole(row.z))
}

/// What positions may be off by, as part of all lengths involved.
///
/// With u = 2^-53: placed corners are off by 4u, and so are all points between. The matrix of a
/// pose is orthogonal up to 8u per entry, so that lengths there and here differ by 24u, for each
/// of two boxes. The way into the frame of a box is off by 2u for the difference of positions and
/// 4u for the products, a matrix of one box in the frame of the other by 6u. Sums of extents have
/// up to ten roundings. Below 90u together for a surface and a point, or for two surfaces; 256u
/// is more than twice that, so that it also covers being off in both directions.
const ROUNDING: f64 = 1.0 / (1u64 << 45) as f64;

/// A bound on the length of a vector, without a root.
fn size(v: DVec3) -> f64 {
    v.x.abs() + v.y.abs() + v.z.abs()
}

/// Does the sphere touch the solid box? `None` if it takes an exact look.
pub(crate) fn meets_sphere(half: DVec3, pose: &Pose, sphere: &PosedSphere) -> Option<bool> {
    let slack = ROUNDING * (size(half) + size(pose.translation()) + size(sphere.centre));
    let beyond = pose.inverse_transform_point(sphere.centre).abs() - half;
    // Deeper inside than the surface can be off: inside the placed triangles too.
    if beyond.max_element() < -slack {
        return Some(true);
    }
    let squared = beyond.max(DVec3::ZERO).length_squared();
    let (inner, outer) = (sphere.radius - slack, sphere.radius + slack);
    if squared > outer * outer {
        return Some(false);
    }
    // Not deep inside, so the surface is this near, give or take the slack.
    (inner > 0.0 && squared < inner * inner).then_some(true)
}

/// Two boxes, seen from the first.
struct CuboidPair {
    half_a: DVec3,
    half_b: DVec3,
    /// The axes of the second box.
    axes: [DVec3; 3],
    /// The centre of the second box.
    centre: DVec3,
    slack: f64,
}

impl CuboidPair {
    /// `a` and `b` are half of the edges.
    fn new(a: DVec3, pose_a: &Pose, b: DVec3, pose_b: &Pose) -> CuboidPair {
        let [x, y, z] = pose_b.rows();
        let columns =
            [DVec3::new(x.x, y.x, z.x), DVec3::new(x.y, y.y, z.y), DVec3::new(x.z, y.z, z.z)];
        let (from, to) = (pose_a.translation(), pose_b.translation());
        CuboidPair {
            half_a: a,
            half_b: b,
            axes: columns.map(|axis| pose_a.inverse_transform_vector(axis)),
            centre: pose_a.inverse_transform_vector(to - from),
            slack: ROUNDING * (size(a) + size(b) + size(from) + size(to)),
        }
    }

    /// Do the solid boxes touch? `None` if it takes an exact look.
    fn touches(&self) -> Option<bool> {
        if self.distance_at_least() > 0.0 {
            return Some(false);
        }
        self.surely_share_a_point().then_some(true)
    }

    /// How far the boxes are apart at least: the largest gap along a face normal or a crossed pair
    /// of edges (Gottschalk, Lin, Manocha 1996; the latter are no longer than 1, so gaps along
    /// them come out too small and never too large). 0 if there is none.
    fn distance_at_least(&self) -> f64 {
        let (a, b, c) = (self.half_a, self.half_b, self.centre);
        let [u, v, w] = self.axes;
        let faces_a = c.abs() - a - (u.abs() * b.x + v.abs() * b.y + w.abs() * b.z);
        let along = |d: DVec3| DVec3::new(u.dot(d), v.dot(d), w.dot(d));
        let over_b = DVec3::new(u.abs().dot(a), v.abs().dot(a), w.abs().dot(a));
        let faces_b = along(c).abs() - b - over_b;
        let mut gap = faces_a.max(faces_b).max_element();
        if gap <= self.slack {
            gap = gap.max(self.edge_gap());
        }
        (gap - self.slack).max(0.0)
    }

    /// The largest gap along a crossed pair of edges.
    fn edge_gap(&self) -> f64 {
        let (a, b, c) = (self.half_a, self.half_b, self.centre);
        let mut gap = f64::NEG_INFINITY;
        for j in 0..3 {
            // All three directions across axis j of the second box and an axis of the first. Along
            // them its other two axes are as long as they are along that axis of the first.
            let (e, f, g) = (self.axes[j], self.axes[(j + 1) % 3], self.axes[(j + 2) % 3]);
            let (e_abs, f_abs, g_abs) = (e.abs(), f.abs(), g.abs());
            let apart = c.cross(e).abs();
            let over_a = DVec3::new(
                a.y * e_abs.z + a.z * e_abs.y,
                a.z * e_abs.x + a.x * e_abs.z,
                a.x * e_abs.y + a.y * e_abs.x,
            );
            let over_b = g_abs * b[(j + 1) % 3] + f_abs * b[(j + 2) % 3];
            gap = gap.max((apart - over_a - over_b).max_element());
        }
        gap
    }

    /// Is there a point so deep inside both that rounding does not matter? Looked for by going to
    /// the nearest point of the one and of the other in turn (von Neumann's alternating
    /// projections), a few times: most boxes that overlap share more than a sliver.
    fn surely_share_a_point(&self) -> bool {
        const TURNS: usize = 4;
        let (a, b) = (self.half_a - self.slack, self.half_b - self.slack);
        if a.min_element() <= 0.0 || b.min_element() <= 0.0 {
            return false;
        }
        let [u, v, w] = self.axes;
        let mut p = self.centre.clamp(-a, a);
        for _ in 0..TURNS {
            let from_b = p - self.centre;
            let q = DVec3::new(u.dot(from_b), v.dot(from_b), w.dot(from_b));
            let on_b = q.clamp(-b, b);
            if q == on_b {
                return true;
            }
            let back = self.centre + u * on_b.x + v * on_b.y + w * on_b.z;
            p = back.clamp(-a, a);
            if p == back {
                return true;
            }
        }
        false
    }
}
