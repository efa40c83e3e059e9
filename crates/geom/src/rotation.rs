//! Rotations from axis and angle with the same bits on every machine.

use glam::{DQuat, DVec3};
use std::f64::consts::TAU;

/// The rotation about the direction of `scaled_axis` by its length in radians; `None` if that is no
/// finite number.
///
/// Only additions, multiplications, divisions and roots, which IEEE 754 fixes: Taylor's series for
/// an angle that was halved until it is small, and then squares of the quaternion. (The remainder
/// by whole turns is exact, too.)
///
/// ```
/// use glam::DVec3;
/// use std::f64::consts::FRAC_PI_2;
///
/// let quarter = jostle_geom::rotation_from_scaled_axis(DVec3::Z * FRAC_PI_2).unwrap();
/// assert!((quarter * DVec3::X - DVec3::Y).length() < 1e-15);
/// ```
#[must_use]
pub fn rotation_from_scaled_axis(scaled_axis: DVec3) -> Option<DQuat> {
    // Not `length`, whose squares may be too large or too small.
    let largest = scaled_axis.abs().max_element();
    if largest == 0.0 {
        return Some(DQuat::IDENTITY);
    }
    let part = scaled_axis / largest;
    let size = part.length();
    let angle = size * largest;
    if !angle.is_finite() {
        return None;
    }
    let axis = part / size;
    // A quaternion turns by half of its angle, so it is the same again after two whole turns.
    let mut half = 0.5 * (angle % (2.0 * TAU));
    let mut doublings = 0;
    while half > 0.25 {
        half *= 0.5;
        doublings += 1;
    }
    let squared = half * half;
    // The first term left out is below 1e-19.
    let series = |last_first: [f64; 6]| {
        last_first.iter().fold(1.0, |tail, n| 1.0 - squared * tail / (n * (n - 1.0)))
    };
    let sin = half * series([13.0, 11.0, 9.0, 7.0, 5.0, 3.0]);
    let cos = series([12.0, 10.0, 8.0, 6.0, 4.0, 2.0]);
    let vector = axis * sin;
    let mut rotation = DQuat::from_xyzw(vector.x, vector.y, vector.z, cos);
    for _ in 0..doublings {
        rotation = rotation * rotation;
        rotation = rotation / rotation.length();
    }
    Some(rotation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_library_has_it() {
        let axes = [DVec3::X, DVec3::new(0.6, -0.8, 0.0), DVec3::new(1.0, 2.0, -2.0) / 3.0];
        for axis in axes {
            for i in -400..400 {
                let angle = f64::from(i) * 0.037;
                let (found, right) = (
                    rotation_from_scaled_axis(axis * angle).unwrap(),
                    DQuat::from_axis_angle(axis, angle),
                );
                // A quaternion and its opposite are the same rotation.
                let off = (found - right).length().min((found + right).length());
                assert!(off < 4e-15, "{axis} {angle}: {found} {right}");
            }
        }
    }

    #[test]
    fn very_small_and_very_large_angles() {
        assert_eq!(rotation_from_scaled_axis(DVec3::ZERO), Some(DQuat::IDENTITY));
        let tiny = rotation_from_scaled_axis(DVec3::new(0.0, 1e-200, 0.0)).unwrap();
        assert_eq!(tiny, DQuat::from_xyzw(0.0, 0.5e-200, 0.0, 1.0));
        let many = rotation_from_scaled_axis(DVec3::splat(1e200)).unwrap();
        assert!((many.length() - 1.0).abs() < 1e-15);
        assert_eq!(rotation_from_scaled_axis(DVec3::splat(f64::MAX)), None);
    }
}
