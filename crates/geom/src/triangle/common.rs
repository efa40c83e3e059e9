//! The points that two triangles share, as a segment in `f64`.
//!
//! Whether there are any, and which edges bound them, is decided exactly; the ends are then
//! computed from determinants that are right to the last bits ([`crate::predicates::value`]), so
//! they are near both triangles also if these are needles or almost in one plane.

use super::Triangle;
use super::flat::{self, Hull};
use super::touch::{arrange, before, ends, in_plane, intervals_meet, one_sided, sides};
use crate::predicates::value::{det2, det3};
use crate::predicates::{Axis, Sign, orient2d, orient3d};
use glam::DVec3;

/// What two touching triangles share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Common {
    /// The ends of the shared segment, equal if it is a point; for triangles that overlap in one
    /// plane, the two corners of the overlap that are furthest apart. Each is within a few
    /// roundings of the coordinates of both triangles.
    pub ends: [DVec3; 2],
}

impl Common {
    /// A shared point: the middle of the segment.
    #[must_use]
    pub fn point(&self) -> DVec3 {
        let [p, q] = self.ends;
        p + (q - p) * 0.5
    }
}

/// The segment that `a` and `b` share; `None` exactly if they do not touch.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::triangle::common;
///
/// let floor = [DVec3::ZERO, DVec3::X * 4.0, DVec3::Y * 4.0];
/// let wall = [DVec3::new(1.0, 1.0, -1.0), DVec3::new(1.0, 1.0, 1.0), DVec3::new(1.0, 9.0, 0.0)];
/// let shared = common(&floor, &wall).unwrap();
/// assert_eq!(shared.point(), DVec3::new(1.0, 2.0, 0.0));
/// ```
#[must_use]
pub fn common(a: &Triangle, b: &Triangle) -> Option<Common> {
    let sides_of_b = sides(a, b);
    if one_sided(sides_of_b) {
        return None;
    }
    let sides_of_a = sides(b, a);
    if one_sided(sides_of_a) {
        return None;
    }
    if in_plane(sides_of_a) || in_plane(sides_of_b) {
        let ends = flat_common(a, b, [sides_of_a, sides_of_b])?;
        return Some(Common { ends });
    }
    let [a, b] = arrange(a, sides_of_a, b, sides_of_b);
    if !intervals_meet(&a, &b, &mut 0) {
        return None;
    }
    // The names and signs of `intervals_meet`: the overlap is [max(J, K), min(I, M)].
    let low = match orient3d(a[0], a[2], b[0], b[1]) {
        Sign::Positive => passage([b[0], b[1]], &a),
        Sign::Zero | Sign::Negative => passage([a[0], a[2]], &b),
    };
    let high = match orient3d(a[0], a[1], b[0], b[2]) {
        Sign::Positive => passage([a[0], a[1]], &b),
        Sign::Zero | Sign::Negative => passage([b[0], b[2]], &a),
    };
    Some(Common { ends: [low, high] })
}

/// Where an edge whose ends are on different sides of (or one in) the plane of `t` passes it.
pub(super) fn passage([p, q]: [DVec3; 2], t: &Triangle) -> DVec3 {
    let [from_p, from_q] = [p, q].map(|r| det3(t[0], t[1], t[2], r).abs());
    divide([p, q], from_p, from_q)
}

/// The point of `pq` whose distances to p and q are as `from_p` to `from_q`; not both are zero.
/// Starts from the nearer end, so that an end itself comes out exactly.
fn divide([p, q]: [DVec3; 2], from_p: f64, from_q: f64) -> DVec3 {
    let all = from_p + from_q;
    let point =
        if from_p <= from_q { p + (q - p) * (from_p / all) } else { q + (p - q) * (from_q / all) };
    point.clamp(p.min(q), p.max(q))
}

/// The shared segment where the planes do not cross; cases as in [`flat::touch`].
#[cold]
fn flat_common(a: &Triangle, b: &Triangle, sides: [[Sign; 3]; 2]) -> Option<[DVec3; 2]> {
    if !flat::touch(a, b, sides) {
        return None;
    }
    let [sides_of_a, sides_of_b] = sides;
    if !in_plane(sides_of_a) {
        return Some([passage(ends(a), b); 2]);
    }
    if !in_plane(sides_of_b) {
        return Some([passage(ends(b), a); 2]);
    }
    let Some(axis) = flat::common_axis(a, b) else {
        let ([p, q], [r, s]) = (ends(a), ends(b));
        return Some([if before(p, r) { r } else { p }, if before(q, s) { q } else { s }]);
    };
    let corners = overlap_corners(axis, &Hull::of(a), &Hull::of(b));
    furthest_pair(&corners)
}

/// The corners of the overlap of two hulls in one plane: corners of either in the other, and
/// points where edges cross.
pub(super) fn overlap_corners(axis: Axis, a: &Hull, b: &Hull) -> Vec<DVec3> {
    let mut found = Vec::with_capacity(15);
    found.extend(a.corners().iter().filter(|&&p| b.holds(axis, p)));
    found.extend(b.corners().iter().filter(|&&p| a.holds(axis, p)));
    for [p, q] in a.edges() {
        for [r, s] in b.edges() {
            if cross_properly(axis, [p, q], [r, s]) {
                let [from_p, from_q] = [p, q].map(|x| det2(axis, r, s, x).abs());
                found.push(divide([p, q], from_p, from_q));
            }
        }
    }
    found
}

/// Do two segments in one plane cross in a point that is an end of neither?
fn cross_properly(axis: Axis, [p, q]: [DVec3; 2], [r, s]: [DVec3; 2]) -> bool {
    let apart = |[x, y]: [DVec3; 2], [v, w]: [DVec3; 2]| {
        let side = orient2d(axis, v, w, x);
        side != Sign::Zero && side == orient2d(axis, v, w, y).flip()
    };
    apart([p, q], [r, s]) && apart([r, s], [p, q])
}

fn furthest_pair(points: &[DVec3]) -> Option<[DVec3; 2]> {
    let mut best = [*points.first()?; 2];
    let length = |[p, q]: [DVec3; 2]| p.distance_squared(q);
    for (i, &p) in points.iter().enumerate() {
        for &q in &points[i + 1..] {
            if length([p, q]) > length(best) {
                best = [p, q];
            }
        }
    }
    Some(best)
}
