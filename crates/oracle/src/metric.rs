//! Distances and shared segments of triangles, from fractions of whole numbers: right to the last
//! bit of `f64`, however thin the triangles are.

use crate::separation::{cross, dot, minus};
use crate::whole::{Point, large};
use glam::DVec3;
use jostle_geom::triangle::Triangle;
use num_bigint::{BigInt, Sign};
use num_traits::{Signed, ToPrimitive, Zero};

type Big = Point<BigInt>;

/// A squared distance: numerator and denominator, the latter above zero.
type Fraction = (BigInt, BigInt);

/// The distance of two triangles that do not touch.
#[must_use]
pub fn triangle_distance(a: &Triangle, b: &Triangle) -> f64 {
    let (points, unit) = large(&[a[0], a[1], a[2], b[0], b[1], b[2]]);
    let (a, b) = points.split_at(3);
    let mut all = Vec::new();
    for [p, q] in edges(a) {
        all.extend(edges(b).map(|[r, s]| segment_segment([p, q], [r, s])));
    }
    all.extend(b.iter().filter_map(|p| point_face(p, a)));
    all.extend(a.iter().filter_map(|p| point_face(p, b)));
    root(&smallest(all), unit)
}

/// The distance of a point from a triangle.
#[must_use]
pub fn point_distance(p: DVec3, t: &Triangle) -> f64 {
    let (points, unit) = large(&[p, t[0], t[1], t[2]]);
    let (p, t) = (&points[0], &points[1..]);
    let mut all: Vec<Fraction> = edges(t).map(|e| point_segment(p, e)).to_vec();
    all.extend(point_face(p, t));
    root(&smallest(all), unit)
}

/// Returns true if a point is within `radius` of a triangle.
#[must_use]
pub fn point_within(p: DVec3, t: &Triangle, radius: f64) -> bool {
    let (points, _) = large(&[DVec3::ZERO, p, t[0], t[1], t[2], DVec3::X * radius]);
    let t = [2, 3, 4].map(|i: usize| minus(&points[i], &points[1]));
    let (p, radius) = (&points[0], &points[5][0]);
    let mut all: Vec<Fraction> = edges(&t).map(|e| point_segment(p, e)).to_vec();
    all.extend(point_face(p, &t));
    let (numerator, denominator) = smallest(all);
    numerator <= radius * radius * denominator
}

/// Returns true if two points are no further apart than the sum of two radii.
#[must_use]
pub fn points_within(a: DVec3, radius_a: f64, b: DVec3, radius_b: f64) -> bool {
    let (points, _) = large(&[DVec3::ZERO, a, b, DVec3::new(radius_a, radius_b, 0.0)]);
    let between = minus(&points[1], &points[2]);
    let reach = &points[3][0] + &points[3][1];
    dot(&between, &between) <= &reach * &reach
}

/// The length of the segment that two proper triangles in different planes share, if they touch:
/// the largest distance among the points where an edge of one passes the other.
#[must_use]
pub fn shared_length(a: &Triangle, b: &Triangle) -> f64 {
    let (points, unit) = large(&[a[0], a[1], a[2], b[0], b[1], b[2]]);
    let (a, b) = points.split_at(3);
    let mut passages = Vec::new();
    for (t, other) in [(a, b), (b, a)] {
        passages.extend(edges(t).iter().filter_map(|e| passage(*e, other)));
    }
    let mut longest = 0.0_f64;
    for (i, (p, m)) in passages.iter().enumerate() {
        for (q, n) in &passages[i + 1..] {
            // p/m − q/n
            let d = [0, 1, 2].map(|k| &p[k] * n - &q[k] * m);
            let squared = (dot(&d, &d), m * m * n * n);
            longest = longest.max(root(&squared, unit));
        }
    }
    longest
}

/// Where an edge passes a triangle: a point over a common denominator.
fn passage([p, q]: [&Big; 2], t: &[Big]) -> Option<(Big, BigInt)> {
    let normal = cross(&minus(&t[1], &t[0]), &minus(&t[2], &t[0]));
    let [side_p, side_q] = [p, q].map(|r| dot(&normal, &minus(r, &t[0])));
    if (&side_p * &side_q).is_positive() || side_p == side_q {
        return None;
    }
    let all = side_p.abs() + side_q.abs();
    let point = [0, 1, 2].map(|k| &p[k] * side_q.abs() + &q[k] * side_p.abs());
    let inside = edges(t).iter().all(|[r, s]| {
        let from_r = [0, 1, 2].map(|k| &point[k] - &r[k] * &all);
        !dot(&cross(&minus(s, r), &from_r), &normal).is_negative()
    });
    inside.then_some((point, all))
}

fn edges(t: &[Big]) -> [[&Big; 2]; 3] {
    [[&t[0], &t[1]], [&t[1], &t[2]], [&t[2], &t[0]]]
}

fn smallest(all: Vec<Fraction>) -> Fraction {
    let less = |x: &Fraction, y: &Fraction| &x.0 * &y.1 < &y.0 * &x.1;
    all.into_iter().reduce(|x, y| if less(&y, &x) { y } else { x }).expect("edges are there")
}

fn point_segment(p: &Big, [q, r]: [&Big; 2]) -> Fraction {
    let (e, w) = (minus(r, q), minus(p, q));
    let (ew, ee) = (dot(&e, &w), dot(&e, &e));
    if !ew.is_positive() {
        (dot(&w, &w), BigInt::from(1))
    } else if ew >= ee {
        let w = minus(p, r);
        (dot(&w, &w), BigInt::from(1))
    } else {
        (dot(&w, &w) * &ee - &ew * &ew, ee)
    }
}

fn segment_segment([p, q]: [&Big; 2], [r, s]: [&Big; 2]) -> Fraction {
    let (d, e, w) = (minus(q, p), minus(s, r), minus(r, p));
    let normal = cross(&d, &e);
    let squared = dot(&normal, &normal);
    if !squared.is_zero() {
        let along = [dot(&cross(&w, &e), &normal), dot(&cross(&w, &d), &normal)];
        if along.iter().all(|x| !x.is_negative() && *x <= squared) {
            let height = dot(&w, &normal);
            return (&height * &height, squared);
        }
    }
    smallest(vec![
        point_segment(p, [r, s]),
        point_segment(q, [r, s]),
        point_segment(r, [p, q]),
        point_segment(s, [p, q]),
    ])
}

/// The squared distance to the plane, if the foot is in the triangle.
fn point_face(p: &Big, t: &[Big]) -> Option<Fraction> {
    let normal = cross(&minus(&t[1], &t[0]), &minus(&t[2], &t[0]));
    let squared = dot(&normal, &normal);
    let inside = edges(t)
        .iter()
        .all(|[q, r]| !dot(&cross(&minus(r, q), &minus(p, q)), &normal).is_negative());
    let height = dot(&normal, &minus(p, &t[0]));
    (inside && !squared.is_zero()).then(|| (&height * &height, squared))
}

/// The root of a fraction, times 2^unit.
fn root((numerator, denominator): &Fraction, unit: i32) -> f64 {
    if numerator.sign() == Sign::NoSign {
        return 0.0;
    }
    // Shift so that the quotient has about 130 bits and its root 65.
    let missing = 130 + denominator.bits() as i64 - numerator.bits() as i64;
    let shift = missing - missing.rem_euclid(2);
    let quotient = if shift >= 0 {
        (numerator << shift) / denominator
    } else {
        numerator / (denominator << -shift)
    };
    let root = quotient.sqrt().to_f64().unwrap_or(f64::INFINITY);
    // In two steps: 2^unit alone may be below the smallest f64.
    let exponent = i64::from(unit) - shift / 2;
    let half = (exponent / 2) as i32;
    root * 2f64.powi(half) * 2f64.powi(exponent as i32 - half)
}
