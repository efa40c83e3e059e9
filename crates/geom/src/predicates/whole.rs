//! Floating-point numbers as whole numbers of any length, for decisions of a high degree.
//!
//! Expansions (see [`super::value`]) need room in the exponents of `f64` for every product. A
//! polynomial of degree six over the coordinates of [`crate::limits`] has terms down to
//! 6 · −261 = 2^-1566, and there is nothing below 2^-1074. Whole numbers have no such end.

use num_bigint::BigInt;
use num_traits::{NumRef, RefNum};

/// All numbers multiplied by one power of two that makes them whole, without loss. They must be
/// finite.
pub(crate) fn whole<const N: usize>(numbers: [f64; N]) -> [BigInt; N] {
    whole_above(i32::MAX, numbers).0
}

/// As [`whole`], and the exponent of the unit: the largest power of two that divides all numbers,
/// but none above 2^`unit_max`.
pub(crate) fn whole_above<const N: usize>(unit_max: i32, numbers: [f64; N]) -> ([BigInt; N], i32) {
    let parts = numbers.map(parts);
    let unit = unit(&parts).min(unit_max);
    let scaled = |(m, e)| if m == 0 { BigInt::ZERO } else { BigInt::from(m) << (e - unit) };
    (parts.map(scaled), unit)
}

/// As [`whole`], if all of them are below 2^`bits` in size. Such are the coordinates of what
/// touches without being made of random numbers, and with them decisions take a tenth of the time.
pub(crate) fn small<const N: usize>(numbers: [f64; N], bits: u32) -> Option<[i128; N]> {
    let parts = numbers.map(parts);
    let unit = unit(&parts);
    let fits = |&(m, e): &(i64, i32)| {
        let digits = 64 - m.unsigned_abs().leading_zeros();
        m == 0 || i64::from(e - unit) + i64::from(digits) <= i64::from(bits)
    };
    let scaled = |(m, e): (i64, i32)| if m == 0 { 0 } else { i128::from(m) << (e - unit) };
    parts.iter().all(fits).then(|| parts.map(scaled))
}

/// The exponent of the largest power of two that divides all numbers.
fn unit(parts: &[(i64, i32)]) -> i32 {
    parts.iter().filter(|(m, _)| *m != 0).map(|&(_, e)| e).min().unwrap_or(0)
}

/// The odd whole number m and the exponent e with x = m · 2^e; (0, 0) for zero.
fn parts(x: f64) -> (i64, i32) {
    debug_assert!(x.is_finite());
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (m, e) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    if m == 0 {
        return (0, 0);
    }
    let zeros = m.trailing_zeros();
    let m = m >> zeros;
    (if x < 0.0 { -m } else { m }, e + zeros as i32)
}

pub(crate) fn minus<T: NumRef>(p: &[T; 3], q: &[T; 3]) -> [T; 3]
where
    for<'r> &'r T: RefNum<T>,
{
    [&p[0] - &q[0], &p[1] - &q[1], &p[2] - &q[2]]
}

pub(crate) fn dot<T: NumRef>(p: &[T; 3], q: &[T; 3]) -> T
where
    for<'r> &'r T: RefNum<T>,
{
    &p[0] * &q[0] + &p[1] * &q[1] + &p[2] * &q[2]
}

pub(crate) fn cross<T: NumRef>(p: &[T; 3], q: &[T; 3]) -> [T; 3]
where
    for<'r> &'r T: RefNum<T>,
{
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| &p[i] * &q[j] - &p[j] * &q[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_power_of_two_for_all() {
        let small_numbers = [-0.75, 0.0, 3.0, -0.0].map(|x| x * 2f64.powi(-1000));
        assert_eq!(whole(small_numbers), [-3, 0, 12, 0].map(BigInt::from));
        let denormal = f64::from_bits(5);
        let [a, b] = whole([denormal, 1.0]);
        assert_eq!((a, b), (BigInt::from(5), BigInt::from(1) << 1074));
        assert_eq!(whole([f64::MAX]), [BigInt::from((1i64 << 53) - 1)]);
        assert_eq!(whole([0.0, 0.0]), [BigInt::ZERO, BigInt::ZERO]);
        assert_eq!(small(small_numbers, 4), Some([-3, 0, 12, 0]));
        assert_eq!(small(small_numbers, 3), None);
        assert_eq!(small([denormal, 1.0], 127), None);
        assert_eq!(small([0.0], 1), Some([0]));
    }
}
