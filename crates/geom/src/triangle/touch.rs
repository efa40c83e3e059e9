//! Do two triangles touch? Exact.
//!
//! Two triangles that are neither flat nor in one plane meet, if at all, on the line L in which
//! their planes cross, and each covers an interval of it. The method is that of Guigue and
//! Devillers (*Fast and Robust Triangle-Triangle Overlap Test Using Orientation Predicates*,
//! Journal of Graphics Tools 8, 2003): the ends of the intervals are compared by the sign of a
//! determinant of corners, without computing any point. Derivation at [`intervals_meet`].

use super::{Triangle, flat};
use crate::predicates::{Plane, Sign, orient3d_counted};
use std::mem::swap;

/// Do `a` and `b` share at least one point? Exact for the coordinates given.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::triangle::triangles_touch;
///
/// let floor = [DVec3::ZERO, DVec3::X, DVec3::Y];
/// let tip = |z| [DVec3::new(0.2, 0.2, z), DVec3::new(0.0, 0.0, 9.0), DVec3::new(1.0, 0.0, 9.0)];
/// assert!(triangles_touch(&floor, &tip(0.0)));
/// assert!(!triangles_touch(&floor, &tip(1e-30)));
/// ```
#[inline]
#[must_use]
pub fn triangles_touch(a: &Triangle, b: &Triangle) -> bool {
    triangles_touch_counted(a, b, &mut 0)
}

/// As [`triangles_touch`]; adds to `unsure` the number of sides that plain `f64` could not decide
/// and that were decided with more digits.
#[inline]
pub fn triangles_touch_counted(a: &Triangle, b: &Triangle, unsure: &mut u64) -> bool {
    let (plane_a, plane_b) = (Plane::through(a), Plane::through(b));
    // Most calls end here.
    if plane_a.surely_one_sided(b) || plane_b.surely_one_sided(a) {
        return false;
    }
    let sides_of_b = b.map(|corner| plane_a.side(corner, unsure));
    let sides_of_a = a.map(|corner| plane_b.side(corner, unsure));
    if one_sided(sides_of_b) || one_sided(sides_of_a) {
        return false;
    }
    if in_plane(sides_of_a) || in_plane(sides_of_b) {
        return flat::touch(a, b, [sides_of_a, sides_of_b]);
    }
    let [a, b] = arrange(a, sides_of_a, b, sides_of_b);
    intervals_meet(&a, &b, unsure)
}

/// The sides of the corners of `other` on the plane of `t`.
#[inline]
pub(crate) fn sides(t: &Triangle, other: &Triangle) -> [Sign; 3] {
    let plane = Plane::through(t);
    other.map(|corner| plane.side(corner, &mut 0))
}

/// Are all three strictly on the same side?
#[inline]
pub(super) fn one_sided([p, q, r]: [Sign; 3]) -> bool {
    p == q && q == r && p != Sign::Zero
}

/// Are all three in the plane (or is the "plane" that of a degenerate triangle)?
#[inline]
pub(super) fn in_plane(sides: [Sign; 3]) -> bool {
    sides == [Sign::Zero; 3]
}

/// Renames the corners so that the first corner of each triangle is alone on its side of the
/// other's plane, and that side is the one the other's normal points to.
///
/// "Alone" means: either it is strictly on its side and the others are not, or it is in the plane
/// and the others are strictly on the other side. Then each of the two edges that leave the first
/// corner meets the other's plane in exactly one point, and the interval of L is between those.
#[inline]
pub(super) fn arrange(
    a: &Triangle,
    sides_of_a: [Sign; 3],
    b: &Triangle,
    sides_of_b: [Sign; 3],
) -> [Triangle; 2] {
    let (mut a, a_above) = lone_first(a, sides_of_a);
    let (mut b, b_above) = lone_first(b, sides_of_b);
    // Exchanging two corners turns the normal of that triangle over, and with it the sides of
    // the *other* triangle.
    if !a_above {
        b.swap(1, 2);
    }
    if !b_above {
        a.swap(1, 2);
    }
    [a, b]
}

/// Rotates the corners so that the lone one is first; also returns whether it is on (or, being in
/// the plane, counts for) the positive side.
#[inline]
fn lone_first(t: &Triangle, [p, q, r]: [Sign; 3]) -> (Triangle, bool) {
    use Sign::{Negative, Positive, Zero};
    let first = |i: usize| [t[i], t[(i + 1) % 3], t[(i + 2) % 3]];
    let alone = |s: Sign, x: Sign, y: Sign| match s {
        Positive => x != Positive && y != Positive,
        Negative => x != Negative && y != Negative,
        Zero => x == y, // not all three are zero, and these two are then on one strict side
    };
    let above = |s: Sign, other: Sign| match s {
        Positive => true,
        Negative => false,
        Zero => other == Negative,
    };
    if alone(p, q, r) {
        (first(0), above(p, q))
    } else if alone(q, r, p) {
        (first(1), above(q, r))
    } else {
        (first(2), above(r, p))
    }
}

/// Do the intervals of two [`arrange`]d triangles on their common line meet?
///
/// Let n, m be the normals of `a`, `b`, and let L have the direction d = n × m. The edges a₀a₁,
/// a₀a₂ meet L in I, J, and b₀b₁, b₀b₂ in K, M. Seen from the tip of n, with the side that m
/// points to (where a₀ is) up, d points left; `a` turns left, so a₁ is left of a₂, and `a` covers
/// \[J, I\] along d. For `b` the same holds with the roles exchanged and d turned over: `b` covers
/// \[K, M\] along d. They meet iff K ≤ I and J ≤ M.
///
/// With P = a₁ − a₀, Q = b₁ − b₀ and K − I = t d:
/// orient3d(a₀, a₁, b₀, b₁) = (P × (b₀ − a₀)) · (b₁ − a₀) = −(P × Q) · (b₀ − a₀), and since b₀ − a₀
/// is K − I plus multiples of P and Q, this is −t (P × Q) · (n × m) =
/// −t [(P·n)(Q·m) − (P·m)(Q·n)] = t (P·m)(Q·n). P·n is zero because P lies in the plane of `a`; P
/// goes from the upper side of `b` down, so P·m < 0, strictly because the edge is not in that
/// plane; the same for Q·n. So the sign is that of t: K > I iff it is positive. In the same way
/// orient3d(a₀, a₂, b₀, b₂) is negative iff M < J.
#[inline]
pub(super) fn intervals_meet(a: &Triangle, b: &Triangle, unsure: &mut u64) -> bool {
    orient3d_counted([a[0], a[1], b[0], b[1]], unsure) != Sign::Positive
        && orient3d_counted([a[0], a[2], b[0], b[2]], unsure) != Sign::Negative
}

/// The ends of a triangle whose corners lie on one line: smallest and largest in the order by x,
/// then y, then z. Along a line that order is the order of the points, and comparing is exact.
pub(crate) fn ends(t: &Triangle) -> [glam::DVec3; 2] {
    let [mut low, mut mid, mut high] = *t;
    if before(mid, low) {
        swap(&mut low, &mut mid);
    }
    if before(high, mid) {
        swap(&mut mid, &mut high);
    }
    if before(mid, low) {
        swap(&mut low, &mut mid);
    }
    [low, high]
}

/// Is `p` strictly before `q` in the order by x, then y, then z?
pub(super) fn before(p: glam::DVec3, q: glam::DVec3) -> bool {
    p.to_array() < q.to_array()
}
