//! Does a sphere reach a triangle? Exact.
//!
//! The sphere is solid, so the question is whether a point of the triangle is within the radius of
//! the centre. Let p, q, r be the corners relative to the centre.
//!
//! **Filter.** Some point x of the triangle is computed that should be the closest (Ericson,
//! *Real-Time Collision Detection*, 2005, 5.1.5). Nothing rests on that: x is a corner plus parts
//! of two edges, with parts that add up to at most one, so it is a point of the triangle up to
//! rounding whatever the parts are; |x| well below the radius proves "yes". And p·x, q·x and r·x
//! all well above the radius times |x| show a plane between centre and triangle, which proves "no".
//!
//! How much is "well"? With u = 2^-53 and M the largest coordinate of p, q, r: corners are off by
//! √3·uM, edges by 4√3·uM, products with the parts by another 2√3·uM in all, their sum by 2√3·uM
//! and its sum with the corner by 3√3·uM, parts that add up to 1 + u by 2√3·uM: 14√3·uM or 25uM for
//! x. Its length, at most 3√3·M, is computed within 2u of itself: 11uM. The radius less the margin,
//! and the square of that, are within 4u of themselves, which only matters where they are as small
//! as |x|: 21uM. Together 57uM. For "no": the products are off by 5uM|x| by rounding and √3·uM|x|
//! by the corners, and the right side by 6u of itself, at most √3·M|x| where that matters: 18uM|x|.
//! `MARGIN` is 128u.
//!
//! **Exact.** With whole numbers, feature by feature: corners p·p ≤ r², edges e that have their
//! foot between their ends |p × e|² ≤ r² e·e, and the face, if the foot is inside,
//! (n·p)² ≤ r² n·n.

use super::Triangle;
use crate::predicates::whole::{cross, dot, minus, small, whole};
use glam::DVec3;
use num_traits::{NumRef, RefNum};

/// See the head of this file.
const MARGIN: f64 = 1.0 / (1u64 << 46) as f64;

/// A direction shorter than the root of this proves nothing: products with it may be too small for
/// `f64`. Coordinates are multiples of 2^-261, so the products of longer ones with `MARGIN` · M are
/// not.
const SHORT: f64 = f64::from_bits((1023 - 800) << 52);

/// Does the solid sphere share at least one point with the triangle? Exact for the numbers given;
/// a radius of 0 is a point. Nothing is reached with a radius below 0 or NaN.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::triangle::sphere_meets_triangle;
///
/// let floor = [DVec3::ZERO, DVec3::X * 8.0, DVec3::Y * 8.0];
/// let above = DVec3::new(1.0, 1.0, 2.0);
/// assert!(sphere_meets_triangle(above, 2.0, &floor));
/// assert!(!sphere_meets_triangle(above, 2.0f64.next_down(), &floor));
/// let beside = DVec3::new(-3.0, -4.0, 12.0);
/// assert!(sphere_meets_triangle(beside, 13.0, &floor));
/// assert!(!sphere_meets_triangle(beside, 13.0f64.next_down(), &floor));
/// ```
#[inline]
#[must_use]
pub fn sphere_meets_triangle(centre: DVec3, radius: f64, t: &Triangle) -> bool {
    let local = t.map(|p| p - centre);
    let [p, q, r] = local;
    let margin = MARGIN * p.abs().max(q.abs()).max(r.abs()).max_element();
    let x = closest(&local);
    let squared = x.length_squared();
    let inner = radius - margin;
    if inner > 0.0 && squared < inner * inner {
        return true;
    }
    let nearest = p.dot(x).min(q.dot(x)).min(r.dot(x));
    if squared > SHORT && nearest > (radius + margin) * squared.sqrt() {
        return false;
    }
    meets_exact(centre, radius, t)
}

/// A point of the triangle, in the end closest to the origin; or NaN.
#[inline]
fn closest(&[p, q, r]: &Triangle) -> DVec3 {
    let (e, f) = (q - p, r - p);
    let (ep, fp) = (-e.dot(p), -f.dot(p));
    if ep <= 0.0 && fp <= 0.0 {
        return p;
    }
    let (eq, fq) = (-e.dot(q), -f.dot(q));
    if eq >= 0.0 && fq <= eq {
        return q;
    }
    let (er, fr) = (-e.dot(r), -f.dot(r));
    if fr >= 0.0 && er <= fr {
        return r;
    }
    let on_pq = ep * fq - eq * fp;
    if on_pq <= 0.0 && ep >= 0.0 && eq <= 0.0 {
        return p + e * (ep / (ep - eq)).clamp(0.0, 1.0);
    }
    let on_rp = er * fp - ep * fr;
    if on_rp <= 0.0 && fp >= 0.0 && fr <= 0.0 {
        return p + f * (fp / (fp - fr)).clamp(0.0, 1.0);
    }
    let on_qr = eq * fr - er * fq;
    let (past_q, past_r) = (fq - eq, er - fr);
    let (v, w) = if on_qr <= 0.0 && past_q >= 0.0 && past_r >= 0.0 {
        let w = past_q / (past_q + past_r);
        (1.0 - w, w)
    } else {
        let all = on_qr + on_rp + on_pq;
        (on_rp / all, on_pq / all)
    };
    let v = v.clamp(0.0, 1.0);
    p + (e * v + f * w.min(1.0 - v).max(0.0))
}

#[cold]
#[inline(never)]
fn meets_exact(centre: DVec3, radius: f64, t: &Triangle) -> bool {
    // Written so that NaN is refused too.
    let usable = radius >= 0.0;
    if !usable || radius == f64::INFINITY {
        return usable;
    }
    let (c, [p, q, r]) = (centre, t);
    let numbers = [c.x, c.y, c.z, p.x, p.y, p.z, q.x, q.y, q.z, r.x, r.y, r.z, radius];
    // Differences are then below 2^20, the components of a normal below 2^41, its product with a
    // corner below 3 · 2^61, and the square of that below 9 · 2^122 < 2^126.
    match small(numbers, 19) {
        Some(numbers) => Around::of(numbers).is_reached(),
        None => Around::of(whole(numbers)).is_reached(),
    }
}

/// A triangle around the centre of a sphere, in whole numbers.
struct Around<T> {
    corners: [[T; 3]; 3],
    /// The square of the radius.
    reach: T,
}

impl<T: NumRef + Ord> Around<T>
where
    for<'r> &'r T: RefNum<T>,
{
    /// Of the centre, three corners and the radius.
    fn of(numbers: [T; 13]) -> Around<T> {
        let [cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz, radius] = numbers;
        let corners =
            [[px, py, pz], [qx, qy, qz], [rx, ry, rz]].map(|[x, y, z]| [x - &cx, y - &cy, z - &cz]);
        Around { corners, reach: &radius * &radius }
    }

    fn is_reached(&self) -> bool {
        let within = |p: &[T; 3]| dot(p, p) <= self.reach;
        self.corners.iter().any(within)
            || self.edges().iter().any(|edge| self.reaches_edge(*edge))
            || self.reaches_face()
    }

    fn edges(&self) -> [[&[T; 3]; 2]; 3] {
        let [p, q, r] = &self.corners;
        [[p, q], [q, r], [r, p]]
    }

    /// Is the foot of the centre between the ends of the edge, and near enough?
    fn reaches_edge(&self, [p, q]: [&[T; 3]; 2]) -> bool {
        let along = minus(q, p);
        let between = dot(p, &along) < T::zero() && dot(q, &along) > T::zero();
        let across = cross(p, &along);
        between && dot(&across, &across) <= dot(&along, &along) * &self.reach
    }

    /// Is the foot of the centre in the face, and near enough?
    fn reaches_face(&self) -> bool {
        let [p, q, r] = &self.corners;
        let normal = cross(&minus(q, p), &minus(r, p));
        let squared = dot(&normal, &normal);
        if squared.is_zero() {
            return false; // its edges are all there is
        }
        let height = dot(&normal, p);
        let inside = |[p, q]: &[&[T; 3]; 2]| dot(&cross(p, q), &normal) >= T::zero();
        &height * &height <= squared * &self.reach && self.edges().iter().all(inside)
    }
}
