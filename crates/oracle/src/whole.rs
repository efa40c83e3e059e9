//! From `f64` coordinates to whole numbers, without loss.
//!
//! All points of a case are multiplied by one power of two, which changes no answer about
//! touching, and moved so that the first is the origin, which keeps the numbers short.

use glam::DVec3;
use num_bigint::BigInt;

/// A point with whole coordinates.
pub type Point<T> = [T; 3];

/// Points as whole numbers: small if they fit, else of any length.
pub enum Whole {
    /// Differences below 2^29, edges too: products of four of them, summed, fit.
    Small(Vec<Point<i128>>),
    /// Any size.
    Large(Vec<Point<BigInt>>),
}

/// The points, scaled by a common power of two and moved to begin at the origin.
#[must_use]
pub fn whole(points: &[DVec3]) -> Whole {
    let unit = unit(points);
    let top = numbers(points).map(|(m, e)| e + bits(m)).max().unwrap_or(0);
    if top - unit > 28 {
        return Whole::Large(large(points).0);
    }
    let small = |x: f64| {
        let (m, e) = parts(x);
        if m == 0 { 0 } else { i128::from(m) << (e - unit) }
    };
    let first = points[0].to_array().map(small);
    let moved = |p: &DVec3| {
        let [x, y, z] = p.to_array().map(small);
        [x - first[0], y - first[1], z - first[2]]
    };
    Whole::Small(points.iter().map(moved).collect())
}

/// As [`whole`], whatever the size; also the exponent of the power of two that one step is.
#[must_use]
pub fn large(points: &[DVec3]) -> (Vec<Point<BigInt>>, i32) {
    let unit = unit(points);
    let large = |x: f64| {
        let (m, e) = parts(x);
        if m == 0 { BigInt::ZERO } else { BigInt::from(m) << (e - unit) }
    };
    let first = points[0].to_array().map(large);
    let moved = |p: &DVec3| {
        let [x, y, z] = p.to_array().map(large);
        [x - &first[0], y - &first[1], z - &first[2]]
    };
    (points.iter().map(moved).collect(), unit)
}

/// The exponent of the largest power of two that divides all coordinates.
fn unit(points: &[DVec3]) -> i32 {
    numbers(points).map(|(_, e)| e).min().unwrap_or(0)
}

/// The coordinates that are not zero, in [`parts`].
fn numbers(points: &[DVec3]) -> impl Iterator<Item = (i64, i32)> {
    points.iter().flat_map(|p| p.to_array()).map(parts).filter(|&(m, _)| m != 0)
}

/// The odd whole number m and the exponent e with x = m · 2^e; (0, 0) for zero.
#[must_use]
pub fn parts(x: f64) -> (i64, i32) {
    assert!(x.is_finite());
    if x == 0.0 {
        return (0, 0);
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (m, e) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let zeros = m.trailing_zeros();
    let m = m >> zeros;
    (if x < 0.0 { -m } else { m }, e + zeros as i32)
}

fn bits(m: i64) -> i32 {
    (64 - m.unsigned_abs().leading_zeros()) as i32
}
