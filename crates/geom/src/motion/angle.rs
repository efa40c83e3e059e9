//! Sine, cosine and angle with the same bits on every machine.
//!
//! The sine of a system's library differs in its last digit between platforms, and a motion must
//! not. Here are only additions, multiplications and divisions of `f64`, which IEEE 754 fixes.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// What π/2 is more than its `f64`.
const FRAC_PI_2_REST: f64 = 6.123_233_995_736_766e-17;

/// Sine and cosine of an angle from −π/2 to π/2, each off by less than 4e-16.
///
/// Taylor's series up to π/4, where the first term left out is below 1e-19, and the other
/// function of the complement beyond.
pub(super) fn sin_cos(angle: f64) -> (f64, f64) {
    debug_assert!(angle.abs() < 1.6, "{angle}");
    let size = angle.abs();
    let (sin, cos) = if size <= FRAC_PI_4 {
        (sin_series(size), cos_series(size))
    } else {
        let complement = (FRAC_PI_2 - size) + FRAC_PI_2_REST;
        (cos_series(complement), sin_series(complement))
    };
    (if angle < 0.0 { -sin } else { sin }, cos)
}

/// 1 − y/(n·(n − 1)) · (1 − y/((n + 2)(n + 1)) · …), for the given values of n, last one first.
fn series(squared: f64, last_first: [f64; 9]) -> f64 {
    last_first.iter().fold(1.0, |tail, n| 1.0 - squared * tail / (n * (n - 1.0)))
}

fn sin_series(x: f64) -> f64 {
    x * series(x * x, [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0])
}

fn cos_series(x: f64) -> f64 {
    series(x * x, [18.0, 16.0, 14.0, 12.0, 10.0, 8.0, 6.0, 4.0, 2.0])
}

/// The angle from 0 to π/2 whose sine and cosine are these, both at least zero and with squares
/// that sum to 1. Its error is below 1e-15, and below that part of the angle for small ones.
pub(super) fn angle_of(sin: f64, cos: f64) -> f64 {
    // A guess that is off by less than 0.006, made better by the angle that is left: if its sine
    // is d, it is d + d³/6 up to d⁵/13.
    let guess = |tan: f64| tan / (1.0 + 0.28 * tan * tan);
    let mut angle = if sin <= cos { guess(sin / cos) } else { FRAC_PI_2 - guess(cos / sin) };
    for _ in 0..3 {
        let (s, c) = sin_cos(angle);
        let left = sin * c - cos * s;
        angle += left + left * left * left / 6.0;
    }
    angle
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The system's functions are right to about one unit of the last place.
    #[test]
    fn as_the_library_has_it() {
        let steps = 20_000;
        for i in 0..=steps {
            let x = FRAC_PI_2 * f64::from(i) / f64::from(steps);
            let (sin, cos) = sin_cos(x);
            assert!((sin - x.sin()).abs() < 5e-16, "sin {x}: {sin}");
            assert!((cos - x.cos()).abs() < 5e-16, "cos {x}: {cos}");
            assert_eq!(sin_cos(-x), (-sin, cos));
            assert!((angle_of(sin, cos) - x).abs() < 1e-15, "angle {x}");
        }
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
    }

    #[test]
    fn small_angles_keep_their_digits() {
        for exponent in 1..200 {
            let x = 0.7 * 0.5f64.powi(exponent);
            let (sin, cos) = sin_cos(x);
            assert!((sin - x.sin()).abs() <= 4e-16 * x, "sin {x}");
            assert!((angle_of(sin, cos) - x).abs() <= 1e-15 * x, "angle {x}");
        }
    }
}
