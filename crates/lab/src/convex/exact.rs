//! The exact sign of a difference of two dot products, for the few that rounding leaves open.
//!
//! A walk downhill on a hull ends at the lowest vertex only if every step is judged right: with a
//! tolerance it could stop anywhere on a slope that is flat enough.

use glam::DVec3;
use jostle_geom::predicates::Sign;

/// Half a unit in the last place of 1.
const U: f64 = f64::EPSILON * 0.5;

/// Components below this are taken as zero, so that no product underflows: 2^-200 times the
/// smallest `f32` has all its digits. It is far below the rounding of a direction of length 1.
const SMALLEST: f64 = f64::from_bits((1023 - 200) << 52);

/// `w` without components that are too small to count.
pub(super) fn usable(w: DVec3) -> DVec3 {
    let flush = |x: f64| if x.abs() < SMALLEST { 0.0 } else { x };
    DVec3::new(flush(w.x), flush(w.y), flush(w.z))
}

/// The sign of `w · u − w · v` for [`usable`] directions and vertices of a mesh. Exact.
///
/// First in plain numbers: each of the three products meets four roundings (difference, product,
/// two sums), so the sum is within 4.01 u of the sum of their absolute values, which itself is
/// computed with the same four. 6u leaves room.
#[inline]
pub(super) fn compare(w: DVec3, u: DVec3, v: DVec3) -> (Sign, f64) {
    let d = u - v;
    let (x, y, z) = (w.x * d.x, w.y * d.y, w.z * d.z);
    let sum = x + y + z;
    let size = x.abs() + y.abs() + z.abs();
    if sum.abs() > 6.0 * U * size {
        return (Sign::of(sum), sum);
    }
    if size == 0.0 {
        return (Sign::Zero, 0.0);
    }
    (compare_exactly(w, u, v), sum)
}

/// Six products without rounding, summed without rounding (Shewchuk 1997, grow-expansion).
#[cold]
fn compare_exactly(w: DVec3, u: DVec3, v: DVec3) -> Sign {
    let mut expansion: Vec<f64> = Vec::with_capacity(12);
    for axis in 0..3 {
        for (factor, point) in [(w[axis], u[axis]), (-w[axis], v[axis])] {
            let product = factor * point;
            grow(&mut expansion, factor.mul_add(point, -product));
            grow(&mut expansion, product);
        }
    }
    // Parts do not overlap, so the largest one that is not zero has the sign of all.
    let largest = expansion.iter().rev().find(|&&part| part != 0.0);
    Sign::of(largest.copied().unwrap_or(0.0))
}

/// Adds a number to an expansion whose parts come smallest first.
fn grow(expansion: &mut Vec<f64>, mut carry: f64) {
    for part in expansion.iter_mut() {
        let sum = carry + *part;
        let virtually = sum - carry;
        *part = (carry - (sum - virtually)) + (*part - virtually);
        carry = sum;
    }
    expansion.push(carry);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_below_rounding_have_their_sign() {
        let w = DVec3::new(1.0, 1.0, 1.0);
        let tiny = f64::from(f32::from_bits(1));
        let u = DVec3::new(1e30f32 as f64, -(1e30f32 as f64), tiny);
        let v = DVec3::new(0.0, 0.0, 0.0);
        assert_eq!(compare(w, u, v).0, Sign::Positive);
        assert_eq!(compare(w, v, u).0, Sign::Negative);
        assert_eq!(compare(w, u.with_z(0.0), v).0, Sign::Zero);
        assert_eq!(compare(usable(DVec3::new(1e-90, 0.0, 1.0)), u, v).0, Sign::Positive);
    }

    #[test]
    fn equal_sums_of_different_numbers_are_equal() {
        // 3 · 0.1f + 1 · 0.3f is not what it looks like; both sides are the same numbers moved.
        let a = f64::from(0.1f32);
        let w = DVec3::new(3.0, 1.0, 0.0);
        assert_eq!(
            compare(w, DVec3::new(a, 0.0, 7.0), DVec3::new(0.0, 3.0 * a, 9.0)).0,
            Sign::Zero
        );
        let more = f64::from(f32::from_bits(0.1f32.to_bits() + 1));
        let v = DVec3::new(0.0, 3.0 * a, 0.0);
        assert_eq!(compare(w, DVec3::new(more, 0.0, 7.0), v).0, Sign::Positive);
    }
}
