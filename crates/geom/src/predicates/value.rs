//! Determinants as numbers that are right to the last bits, however small they come out.
//!
//! A point where an edge passes a plane is found by the ratio of two determinants. For needles
//! and nearly parallel planes these cancel almost completely, and plain `f64` would put the point
//! anywhere. First they are evaluated with about 106 bits (double-word arithmetic; error bounds
//! from Joldes, Muller and Popescu, *Tight and Rigorous Error Bounds for Basic Building Blocks of
//! Double-Word Arithmetic*, ACM TOMS 44, 2017); if that leaves too few right bits, exactly, as
//! Shewchuk's expansions: sums of numbers that do not overlap.

use super::Axis;
use glam::DVec3;

/// The value of `((b − a) × (c − a)) · (d − a)`, as [`super::orient3d`], with a relative error
/// below 2^-50. Zero exactly if it is zero.
pub(crate) fn det3(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    let [u, v, w] = [b, c, d].map(|p| wide_minus(p, a));
    let minors = [(1, 2), (2, 0), (0, 1)]
        .map(|(i, j)| [mul(u[i], v[j]), mul(u[j], v[i])])
        .map(|[p, q]| (add(p, negate(q)), p.0.abs() + q.0.abs()));
    let terms = [0, 1, 2].map(|i| mul(minors[i].0, w[i]));
    let det = add(add(terms[0], terms[1]), terms[2]).0;
    let size: f64 = [0, 1, 2].map(|i| minors[i].1 * w[i].0.abs()).iter().sum();
    // Products are right to 7u², sums to 3u² of their terms; a term meets two products and three
    // sums: 23u² of `size`. So above this bound fewer than three of the last bits are wrong.
    if det.abs() > 32.0 * f64::EPSILON * size { det } else { det3_exact(u, v, w) }
}

/// The value of [`super::orient2d`]'s determinant, with a relative error below 2^-50.
pub(crate) fn det2(axis: Axis, a: DVec3, b: DVec3, c: DVec3) -> f64 {
    let [u, v] = [b, c].map(|p| wide_minus(p, a));
    let (i, j) = axis.kept();
    value(&minor(u, v, i, j))
}

/// A number as the sum of two, the second at most half a last bit of the first.
type Wide = (f64, f64);

fn wide_minus(p: DVec3, q: DVec3) -> [Wide; 3] {
    [0, 1, 2].map(|i| two_sum(p[i], -q[i]))
}

fn negate(x: Wide) -> Wide {
    (-x.0, -x.1)
}

fn add(x: Wide, y: Wide) -> Wide {
    let (high, mid) = two_sum(x.0, y.0);
    let (low, rest) = two_sum(x.1, y.1);
    let (high, mid) = two_sum(high, mid + low);
    two_sum(high, mid + rest)
}

fn mul(x: Wide, y: Wide) -> Wide {
    let (high, low) = two_product(x.0, y.0);
    two_sum(high, low + (x.0 * y.1 + x.1 * y.0))
}

#[cold]
fn det3_exact(u: [Wide; 3], v: [Wide; 3], w: [Wide; 3]) -> f64 {
    let mut sum = Vec::new();
    for (i, j, k) in [(1, 2, 0), (2, 0, 1), (0, 1, 2)] {
        for x in minor(u, v, i, j) {
            grow_by_product(&mut sum, x, w[k].0);
            grow_by_product(&mut sum, x, w[k].1);
        }
    }
    value(&sum)
}

/// u_i v_j − u_j v_i, exact.
fn minor(u: [Wide; 3], v: [Wide; 3], i: usize, j: usize) -> Vec<f64> {
    let mut sum = Vec::new();
    for (x, y) in [(u[i], v[j]), (negate(u[j]), v[i])] {
        for (s, t) in [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)] {
            grow_by_product(&mut sum, s, t);
        }
    }
    sum
}

/// Adds x · y to an expansion, exactly.
fn grow_by_product(sum: &mut Vec<f64>, x: f64, y: f64) {
    let (high, low) = two_product(x, y);
    grow(sum, low);
    grow(sum, high);
}

/// Adds a number to an expansion (parts that do not overlap, smallest first, no zeros), exactly:
/// Shewchuk's GROW-EXPANSION, theorem 10.
fn grow(sum: &mut Vec<f64>, x: f64) {
    let mut carry = x;
    let mut kept = 0;
    for i in 0..sum.len() {
        let (high, low) = two_sum(carry, sum[i]);
        carry = high;
        if low != 0.0 {
            sum[kept] = low;
            kept += 1;
        }
    }
    sum.truncate(kept);
    if carry != 0.0 {
        sum.push(carry);
    }
}

/// The expansion rounded. Its parts do not overlap, so summing from the smallest loses nothing
/// that matters.
fn value(sum: &[f64]) -> f64 {
    sum.iter().sum()
}

/// a + b and its rounding error (Knuth).
fn two_sum(a: f64, b: f64) -> Wide {
    let x = a + b;
    let virtual_b = x - a;
    (x, (a - (x - virtual_b)) + (b - virtual_b))
}

/// a · b and its rounding error (Dekker, with Veltkamp's split).
fn two_product(a: f64, b: f64) -> Wide {
    let split = |x: f64| {
        let c = 134_217_729.0 * x; // 2^27 + 1
        let high = c - (c - x);
        (high, x - high)
    };
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    let x = a * b;
    (x, al * bl - (((x - ah * bh) - al * bh) - ah * bl))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_cancelling_determinants_keep_their_digits() {
        // d is off the plane x + y = z by one step of 2^-52: the exact value is that step.
        let [a, b, c] = [DVec3::ZERO, DVec3::new(1.0, 0.0, 1.0), DVec3::new(0.0, 1.0, 1.0)];
        let step = f64::EPSILON;
        assert_eq!(det3(a, b, c, DVec3::new(1.0, 1.0, 2.0 + 2.0 * step)), 2.0 * step);
        assert_eq!(det3(a, b, c, DVec3::new(1.0, 1.0, 2.0)), 0.0);
        // A needle: 2^-52 wide, and a point 2^-1 above it.
        let c = DVec3::new(0.5 + step, 0.0, 0.5);
        assert_eq!(det3(a, b, c, DVec3::new(0.5, 0.5, 0.5)), 0.5 * step);
        assert_eq!(det2(Axis::Y, a, b, c), step);
        // The difference of squares of neighbours: (1 + e)(1 − e) − 1 = −e².
        let p = |x: f64, y: f64| DVec3::new(x, y, 0.0);
        assert_eq!(det2(Axis::Z, a, p(1.0 + step, 1.0), p(1.0, 1.0 - step)), -step * step);
    }
}
