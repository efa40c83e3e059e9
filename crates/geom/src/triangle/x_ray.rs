//! Does a ray in the direction +x pass a triangle? Exact, and without special cases for rays
//! through edges and corners.
//!
//! A closed surface contains a point if a ray from it passes the surface an odd number of times,
//! provided the ray avoids edges and corners. It always does after a symbolic displacement
//! (Edelsbrunner and Mücke, *Simulation of Simplicity*, ACM TOG 9, 1990): the ray starts not at p
//! but at p(e) = p + (0, e, e²) with e above zero and smaller than any number that matters.
//!
//! **Why the count is right.** Every sign asked for below is the sign of a polynomial in e that
//! is not the zero polynomial, so for all real e in some interval (0, e₀) it is the sign of a
//! number; there are finitely many triangles, so one e serves for all. For that e the ray from
//! p(e) meets no edge and no corner and is parallel to no triangle that it meets: each triangle
//! it meets it passes through, and the parity of their number decides whether p(e) is inside of a
//! surface on which every edge belongs to an even number of triangles. If p is not on the surface
//! then for small e there is no surface between p and p(e), so p is inside iff p(e) is.

use super::{Triangle, triangles_touch};
use crate::predicates::point::ExactPoint;
use crate::predicates::{Axis, Sign, orient2d, orient3d};
use glam::DVec3;

/// How a ray meets a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RayCross {
    /// It does not pass through.
    No,
    /// It passes through.
    Yes,
    /// The start of the ray is a point of the triangle.
    OnTriangle,
}

/// Does the ray from `p` in the direction +x pass through `t`? Exact, under the displacement
/// described at the top of the file: summed over a closed mesh that does not hold `p`, the number
/// of `Yes` is odd iff `p` is inside.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::triangle::{RayCross, x_ray_crosses};
///
/// let wall = [DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::new(1.0, 0.0, 1.0)];
/// let from = |x| x_ray_crosses(DVec3::new(x, 0.2, 0.2), &wall);
/// assert_eq!(from(0.0), RayCross::Yes);
/// assert_eq!(from(1.0), RayCross::OnTriangle);
/// assert_eq!(from(2.0), RayCross::No);
/// ```
#[must_use]
pub fn x_ray_crosses(p: DVec3, t: &Triangle) -> RayCross {
    let [low, high] = [t[0].min(t[1]).min(t[2]), t[0].max(t[1]).max(t[2])];
    if p.y < low.y || p.y > high.y || p.z < low.z || p.z > high.z || p.x > high.x {
        return RayCross::No;
    }
    let edges = [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    // Seen along x. A point of the triangle, also of one that is seen from the edge, never has
    // two edges on different hands.
    let hands = edges.map(|[r, s]| orient2d(Axis::X, r, s, p));
    if hands.contains(&Sign::Positive) && hands.contains(&Sign::Negative) {
        return RayCross::No;
    }
    let border = hands.contains(&Sign::Zero);
    let side = orient3d(t[0], t[1], t[2], p);
    if (border || side == Sign::Zero) && triangles_touch(&[p; 3], t) {
        return RayCross::OnTriangle;
    }
    passes(hands, edges, side)
}

/// As [`x_ray_crosses`], from a point that `f64` need not have.
///
/// Where triangles hold `p`, leave them out: if they all lie in one plane, the number of `Yes` of
/// the others decides whether the points next to `p` are inside that are on the side of the plane
/// which (1, e, e²) points to. (The ray from p(e) meets such a triangle next to `p` or not at all.
/// Without it the count is that of a start just beyond the plane, or, for a plane along x, of p(e)
/// itself.)
pub(crate) fn exact_x_ray_crosses(p: &ExactPoint, t: &Triangle) -> RayCross {
    let [low, high] = [t[0].min(t[1]).min(t[2]), t[0].max(t[1]).max(t[2])];
    let [from, to] = p.bounds();
    if to.y < low.y || from.y > high.y || to.z < low.z || from.z > high.z || from.x > high.x {
        return RayCross::No;
    }
    let edges = [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let sure = edges.map(|[r, s]| p.sure_hand(r, s));
    if sure.contains(&Some(Sign::Positive)) && sure.contains(&Some(Sign::Negative)) {
        return RayCross::No;
    }
    let both = p.with(t);
    let hands = [0, 1, 2].map(|edge| sure[edge].unwrap_or_else(|| both.hand(Axis::X, edge)));
    if hands.contains(&Sign::Positive) && hands.contains(&Sign::Negative) {
        return RayCross::No;
    }
    let side = both.side();
    if side == Sign::Zero && both.holds() {
        return RayCross::OnTriangle;
    }
    passes(hands, edges, side)
}

/// Does the ray pass, given the hands and the side of its start? No two hands are on different
/// sides, and the start is not a point of the triangle.
fn passes(hands: [Sign; 3], edges: [[DVec3; 2]; 3], side: Sign) -> RayCross {
    let [first, second, third] =
        [0, 1, 2].map(|i| if hands[i] == Sign::Zero { displaced_hand(edges[i]) } else { hands[i] });
    if first == Sign::Zero || first != second || second != third {
        return RayCross::No;
    }
    // All hands equal: p(e) is seen inside of the triangle, which is then seen as turning by
    // `first`, the sign of its normal along x. The ray goes from p to the plane iff the normal
    // points to p's side and back along x, or neither. p is not in the plane: it would be seen in
    // the closed triangle and so be a point of it.
    if side == first.flip() { RayCross::Yes } else { RayCross::No }
}

/// The hand of p(e) for an edge that p is seen on: the first sign that is not zero among the
/// derivatives of (s.y − r.y)(p.z − r.z) − (s.z − r.z)(p.y − r.y) by p.y (for e), then p.z (for
/// e²). Zero only for an edge that is seen as a point; its triangle is not passed by the ray.
fn displaced_hand([r, s]: [DVec3; 2]) -> Sign {
    match Sign::of(r.z - s.z) {
        Sign::Zero => Sign::of(s.y - r.y),
        sign => sign,
    }
}
