//! Axis-aligned boxes in the world: what broad phases compare.
//!
//! Boxes are `f32`: half the memory and twice the lanes of `f64`. They are made from wide numbers
//! by rounding outward, so a box may be too large by the last bit and is never too small. What lies
//! beyond the range of `f32` is taken as lying at its end: the order is kept, no overlap is lost.

use glam::{DVec3, Vec3};

/// A box with faces along the axes; closed, so boxes that share a corner overlap.
///
/// ```
/// use glam::{DVec3, Vec3};
/// use jostle_geom::{Aabb, Pose, Shape};
///
/// let unit = Aabb::around(Vec3::ZERO, Vec3::ONE);
/// assert!(unit.overlaps(&Aabb::around(Vec3::ONE, Vec3::splat(2.0))));
/// let ball = Shape::sphere(0.5)?.bounds(&Pose::from_translation(DVec3::splat(0.5))?);
/// assert_eq!(ball, Some(unit));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    min: Vec3,
    max: Vec3,
}

impl Aabb {
    /// The smallest box with both points, whatever their order.
    ///
    /// # Panics
    /// On a coordinate that is not finite; the gates in front (meshes, poses) let none through.
    #[inline]
    #[must_use]
    pub fn around(p: Vec3, q: Vec3) -> Aabb {
        // Zero times a number is zero exactly if the number is finite.
        let finite = p * 0.0 + q * 0.0 == Vec3::ZERO;
        assert!(finite, "box corners {p} and {q} must be finite");
        Aabb { min: p.min(q), max: p.max(q) }
    }

    /// The smallest box of `f32` with both points, whatever their order: rounded outward.
    ///
    /// # Panics
    /// On a coordinate that is not finite.
    #[inline]
    #[must_use]
    pub fn around_f64(p: DVec3, q: DVec3) -> Aabb {
        assert!(p.is_finite() && q.is_finite(), "box corners {p} and {q} must be finite");
        let (low, high) = (p.min(q), p.max(q));
        Aabb::around(
            Vec3::new(round_down(low.x), round_down(low.y), round_down(low.z)),
            Vec3::new(round_up(high.x), round_up(high.y), round_up(high.z)),
        )
    }

    /// The box with these corners, to the bit; `None` if one is not finite or `min` is above `max`.
    #[must_use]
    pub fn from_corners(min: Vec3, max: Vec3) -> Option<Aabb> {
        // NaN is not at most anything.
        let good = min.is_finite() && max.is_finite() && min.cmple(max).all();
        good.then_some(Aabb { min, max })
    }

    /// Its low corner.
    #[must_use]
    pub fn min(&self) -> Vec3 {
        self.min
    }

    /// Its high corner.
    #[must_use]
    pub fn max(&self) -> Vec3 {
        self.max
    }

    /// Its sides.
    #[must_use]
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }

    /// Do they share a point?
    #[inline]
    #[must_use]
    pub fn overlaps(&self, other: &Aabb) -> bool {
        self.min.cmple(other.max).all() && other.min.cmple(self.max).all()
    }

    /// Is all of `other` in here?
    #[inline]
    #[must_use]
    pub fn contains(&self, other: &Aabb) -> bool {
        self.min.cmple(other.min).all() && other.max.cmple(self.max).all()
    }

    /// The smallest box with both.
    #[must_use]
    pub fn union(&self, other: &Aabb) -> Aabb {
        Aabb { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Larger by `by` on all sides, rounded outward; for a `by` below 0, the box as it is.
    #[must_use]
    pub fn grown(&self, by: f64) -> Aabb {
        let by = DVec3::splat(by.max(0.0));
        Aabb::around_f64(self.min.as_dvec3() - by, self.max.as_dvec3() + by)
    }
}

// Without branches: which way a number was rounded, no processor can guess (measured: four times
// faster).

fn round_down(x: f64) -> f32 {
    let y = x as f32;
    from_order(order(y) - i32::from(f64::from(y) > x)).clamp(f32::MIN, f32::MAX)
}

fn round_up(x: f64) -> f32 {
    let y = x as f32;
    from_order(order(y) + i32::from(f64::from(y) < x)).clamp(f32::MIN, f32::MAX)
}

/// Integers in the order of the numbers, one for each.
fn order(y: f32) -> i32 {
    let bits = y.to_bits() as i32;
    bits ^ (((bits >> 31) as u32) >> 1) as i32
}

fn from_order(order: i32) -> f32 {
    f32::from_bits((order ^ (((order >> 31) as u32) >> 1) as i32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_never_makes_a_box_smaller() {
        for x in [0.1, -0.1, 1.0 / 3.0, 1e30, -1e-50, 0.0, 16_777_217.0] {
            let bounds = Aabb::around_f64(DVec3::splat(x), DVec3::splat(x));
            assert!(bounds.min().as_dvec3().cmple(DVec3::splat(x)).all());
            assert!(bounds.max().as_dvec3().cmpge(DVec3::splat(x)).all());
        }
    }

    #[test]
    fn beyond_the_range_of_f32_no_overlap_is_lost() {
        let far = |low: f64, high: f64| Aabb::around_f64(DVec3::splat(low), DVec3::splat(high));
        assert!(far(1e39, 2e39).overlaps(&far(1.5e39, 3e39)));
        assert!(far(-1e40, 1e40).overlaps(&far(-2e39, -1e39)));
        assert!(!far(-1e40, -1e39).overlaps(&far(1e39, 1e40)));
    }

    #[test]
    fn a_shared_corner_is_an_overlap() {
        let unit = Aabb::around(Vec3::ZERO, Vec3::ONE);
        assert!(unit.overlaps(&Aabb::around(Vec3::ONE, Vec3::splat(2.0))));
        assert!(!unit.overlaps(&Aabb::around(Vec3::splat(1.0f32.next_up()), Vec3::splat(2.0))));
    }
}
