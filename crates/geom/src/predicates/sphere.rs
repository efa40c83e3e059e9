//! Do two spheres touch? Exact.

use super::whole::{small, whole};
use glam::DVec3;

/// How far apart both sides of the comparison must be, relative to the right one, so that rounding
/// cannot have swapped them.
///
/// With u = 2^-53: a coordinate difference has one rounding, its square three, and a sum of three
/// squares five, all of them relative and of positive terms, so the left side is within
/// (1 + u)^5 of the truth. The sum of the radii has one, its square three. Eight together and one
/// for the product with this constant: 16u leaves room. (Nothing underflows: see
/// [`crate::limits`].)
const UNSURE: f64 = 8.0 * f64::EPSILON;

/// Do two solid spheres share at least one point? Exact for the numbers given.
///
/// Coordinates as those of a [`crate::Pose`]; radii 0 (a point), or from
/// [`crate::limits::RADIUS_MIN`] to [`crate::limits::RADIUS_MAX`].
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::predicates::spheres_touch;
///
/// let (a, b) = (DVec3::ZERO, DVec3::new(3.0, 4.0, 0.0));
/// assert!(spheres_touch(a, 2.0, b, 3.0));
/// assert!(!spheres_touch(a, 2.0, b, 3.0f64.next_down()));
/// ```
#[inline]
#[must_use]
pub fn spheres_touch(centre_a: DVec3, radius_a: f64, centre_b: DVec3, radius_b: f64) -> bool {
    let apart = centre_a.distance_squared(centre_b);
    let reach = radius_a + radius_b;
    let squared = reach * reach;
    if (apart - squared).abs() > UNSURE * squared {
        return apart < squared;
    }
    touch_exact(centre_a, radius_a, centre_b, radius_b)
}

#[cold]
#[inline(never)]
fn touch_exact(centre_a: DVec3, radius_a: f64, centre_b: DVec3, radius_b: f64) -> bool {
    let (a, b) = (centre_a, centre_b);
    let numbers = [a.x, a.y, a.z, b.x, b.y, b.z, radius_a, radius_b];
    // Three squares of differences of such numbers are below 3 · 2^124.
    if let Some([ax, ay, az, bx, by, bz, ra, rb]) = small(numbers, 61) {
        let (x, y, z, reach) = (ax - bx, ay - by, az - bz, ra + rb);
        return x * x + y * y + z * z <= reach * reach;
    }
    let [ax, ay, az, bx, by, bz, ra, rb] = whole(numbers);
    let (x, y, z, reach) = (ax - bx, ay - by, az - bz, ra + rb);
    &x * &x + &y * &y + &z * &z <= &reach * &reach
}
