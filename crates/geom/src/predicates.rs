//! Signs of determinants, exact: the ground that every yes and no stands on.
//!
//! Code above this module asks for a [`Sign`] and never compares with an epsilon. Each predicate
//! first evaluates its determinant in plain `f64`. If the result is larger than the largest
//! possible rounding error, its sign is right; otherwise the crate `robust` (Shewchuk, *Adaptive
//! Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates*, Discrete &
//! Computational Geometry 18, 1997) decides with as many digits as it takes.
//!
//! **Range.** All of this holds while nothing overflows or underflows. Coordinates must be
//! multiples of 2^-261 and smaller than 2^131 in size, as every [`crate::Pose::transform_point`]d
//! point is (see [`crate::limits`]); zero is such a multiple. Rounding to 53 bits never makes a
//! number leave the grid of multiples it is on, so a difference of coordinates and its rounding
//! error are multiples of 2^-261, the products of two or three of them, the halves of Veltkamp's
//! split and all parts of the expansions are multiples of 2^-522 or 2^-783, far above the smallest
//! `f64`, 2^-1074. At the other end the determinant is below 6 · 2^(3·132) < 2^399, and the split
//! multiplies by 2^27 at most. So every rounding error in here is a relative error of at most u =
//! 2^-53, which is what Shewchuk's proofs assume.
//!
//! **The bound of the filter** (`ERROR`). `det = (u × v) · w` is a sum of six products of three
//! coordinate differences; let P be the exact sum of their absolute values. On its way into the
//! sum each product meets at most eight roundings: three differences, the product inside the
//! minor, the difference inside the minor, the product with the third factor, and two additions.
//! So the computed value is within ((1 + u)^8 − 1) P of the exact one. The bound itself is
//! computed: `size` repeats the same steps on absolute values, hence `size` ≥ (1 − u)^8 P, and
//! multiplying it by the constant rounds once more. With the constant 9u:
//! 9u (1 − u)^9 P > ((1 + u)^8 − 1) P, because the right side is below 8.0001 u P. (Shewchuk's
//! careful count gives 7u + 56u²; a filter this cheap does not miss the difference.)

use glam::DVec3;
use num_bigint::BigInt;

pub(crate) mod point;
mod sphere;
pub(crate) mod value;
pub(crate) mod whole;

pub use sphere::spheres_touch;

/// The sign of an exact number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// Below zero.
    Negative,
    /// Exactly zero.
    Zero,
    /// Above zero.
    Positive,
}

impl Sign {
    /// The sign of a whole number.
    pub(crate) fn of_whole(x: &BigInt) -> Sign {
        match x.sign() {
            num_bigint::Sign::Minus => Sign::Negative,
            num_bigint::Sign::NoSign => Sign::Zero,
            num_bigint::Sign::Plus => Sign::Positive,
        }
    }

    /// The sign of a number that is not NaN.
    #[inline]
    #[must_use]
    pub fn of(x: f64) -> Sign {
        if x > 0.0 {
            Sign::Positive
        } else if x < 0.0 {
            Sign::Negative
        } else {
            Sign::Zero
        }
    }

    /// The sign of the negated number.
    #[inline]
    #[must_use]
    pub fn flip(self) -> Sign {
        match self {
            Sign::Negative => Sign::Positive,
            Sign::Zero => Sign::Zero,
            Sign::Positive => Sign::Negative,
        }
    }
}

/// The coordinate that a projection to two dimensions leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// Keep (y, z).
    X,
    /// Keep (z, x).
    Y,
    /// Keep (x, y).
    Z,
}

impl Axis {
    /// All three.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// The numbers of the two coordinates that stay, in the order of [`Axis::project`].
    pub(crate) fn kept(self) -> (usize, usize) {
        match self {
            Axis::X => (1, 2),
            Axis::Y => (2, 0),
            Axis::Z => (0, 1),
        }
    }

    /// The two coordinates that stay, in the order that keeps a right-handed system: the
    /// orientation of a projected triangle is the sign of its normal along the left-out axis.
    #[inline]
    fn project(self, p: DVec3) -> robust::Coord<f64> {
        let (x, y) = match self {
            Axis::X => (p.y, p.z),
            Axis::Y => (p.z, p.x),
            Axis::Z => (p.x, p.y),
        };
        robust::Coord { x, y }
    }
}

/// Largest rounding error of a determinant of coordinate differences, relative to the sum of the
/// absolute values of its terms: 9u, derived at the top of this file.
pub(crate) const ERROR: f64 = 4.5 * f64::EPSILON;

/// On which side of the plane through `a`, `b`, `c` does `d` lie? Exact.
///
/// The sign of `((b − a) × (c − a)) · (d − a)`: positive if `a`, `b`, `c` turn left seen from
/// `d`; zero if the four points lie in one plane.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::predicates::{Sign, orient3d};
///
/// let above = DVec3::new(0.3, 0.3, 1e-60);
/// assert_eq!(orient3d(DVec3::ZERO, DVec3::X, DVec3::Y, above), Sign::Positive);
/// ```
#[inline]
#[must_use]
pub fn orient3d(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> Sign {
    Plane::through(&[a, b, c]).side(d, &mut 0)
}

/// As [`orient3d`]; adds one to `unsure` if plain `f64` could not decide.
#[inline]
pub(crate) fn orient3d_counted(points: [DVec3; 4], unsure: &mut u64) -> Sign {
    let [a, b, c, d] = points;
    Plane::through(&[a, b, c]).side(d, unsure)
}

/// Does the projected path `a`, `b`, `c` turn left, right or not at all? Exact.
///
/// The sign of the component along `axis` of `(b − a) × (c − a)`.
#[inline]
#[must_use]
pub fn orient2d(axis: Axis, a: DVec3, b: DVec3, c: DVec3) -> Sign {
    // `robust` has its own filter in front, after Ozaki, Bünger, Ogita, Oishi and Rump, *Simple
    // floating-point filters for the two-dimensional orientation problem*, BIT 56, 2016.
    Sign::of(robust::orient2d(axis.project(a), axis.project(b), axis.project(c)))
}

/// Three points and what the filter needs of their plane, to ask for the sides of many points.
pub(crate) struct Plane {
    corners: [DVec3; 3],
    normal: DVec3,
    /// The sums of absolute values that belong to the components of the normal.
    size: DVec3,
}

impl Plane {
    #[inline]
    pub(crate) fn through(corners: &[DVec3; 3]) -> Plane {
        let u = corners[1] - corners[0];
        let v = corners[2] - corners[0];
        let plus = DVec3::new(u.y * v.z, u.z * v.x, u.x * v.y);
        let minus = DVec3::new(u.z * v.y, u.x * v.z, u.y * v.x);
        Plane { corners: *corners, normal: plus - minus, size: plus.abs() + minus.abs() }
    }

    /// Is `t` surely on one side, strictly? Never true if it is not; may be false if it is. Asked
    /// first because most triangles are: one branch that is almost always taken, instead of one
    /// per sign that nothing can predict.
    #[inline]
    pub(crate) fn surely_one_sided(&self, t: &[DVec3; 3]) -> bool {
        let [p, q, r] = t.map(|d| self.estimate(d));
        let low = (p.0 - p.1).min(q.0 - q.1).min(r.0 - r.1);
        let high = (p.0 + p.1).max(q.0 + q.1).max(r.0 + r.1);
        (low > 0.0) | (high < 0.0)
    }

    /// The side of `d`, as [`orient3d`]; adds one to `unsure` if plain `f64` could not decide.
    #[inline]
    pub(crate) fn side(&self, d: DVec3, unsure: &mut u64) -> Sign {
        let (det, error) = self.estimate(d);
        if det.abs() > error {
            return Sign::of(det);
        }
        *unsure += 1;
        side_exact(&self.corners, d)
    }

    /// The determinant of `d` and the bound of its error.
    #[inline]
    fn estimate(&self, d: DVec3) -> (f64, f64) {
        let w = d - self.corners[0];
        let det = (self.normal.x * w.x + self.normal.y * w.y) + self.normal.z * w.z;
        let w = w.abs();
        let size = (self.size.x * w.x + self.size.y * w.y) + self.size.z * w.z;
        (det, ERROR * size)
    }
}

/// [`orient3d`] without the filter. Kept out of line: it is rare and large.
#[cold]
#[inline(never)]
fn side_exact(corners: &[DVec3; 3], d: DVec3) -> Sign {
    // Neighbours in one mesh, or a mesh placed on itself, share corners: that is quickly seen.
    if corners.contains(&d) {
        return Sign::Zero;
    }
    let coord = |p: DVec3| robust::Coord3D { x: p.x, y: p.y, z: p.z };
    let [a, b, c] = corners.map(coord);
    // Shewchuk's sign is positive for `d` *below* the plane.
    Sign::of(robust::orient3d(a, b, c, coord(d))).flip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_follow_the_right_hand_rule() {
        let [o, x, y, z] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        assert_eq!(orient3d(o, x, y, z), Sign::Positive);
        assert_eq!(orient3d(o, y, x, z), Sign::Negative);
        assert_eq!(side_exact(&[o, x, y], z), Sign::Positive);
        assert_eq!(orient3d(o, x, y, x + y), Sign::Zero);
        assert_eq!(orient2d(Axis::Z, o, x, y), Sign::Positive);
        assert_eq!(orient2d(Axis::X, o, y, z), Sign::Positive);
        assert_eq!(orient2d(Axis::Y, o, z, x), Sign::Positive);
        assert_eq!(orient2d(Axis::Y, o, x, z), Sign::Negative);
    }

    #[test]
    fn both_ends_of_the_range_are_exact() {
        // Grid of the smallest placed coordinates and size of the largest, one step off a plane.
        let step = f64::from_bits((1023 - 261) << 52);
        let far = f64::from_bits((1023 + 130) << 52);
        let [a, b, c] = [DVec3::ZERO, DVec3::X * step, DVec3::Y * step];
        assert_eq!(orient3d(a, b, c, DVec3::new(step, step, step)), Sign::Positive);
        assert_eq!(orient3d(a, b, c, DVec3::new(far, -far, step)), Sign::Positive);
        assert_eq!(orient3d(a, b, c, DVec3::new(far, -far, -step)), Sign::Negative);
        assert_eq!(orient3d(a, b, c, DVec3::new(far, -far, 0.0)), Sign::Zero);
        let slope = DVec3::new(far, far, far);
        assert_eq!(orient3d(a, slope, DVec3::new(far, far, 0.0), slope * 0.5), Sign::Zero);
        let off = slope * 0.5 + DVec3::X * (far * f64::EPSILON);
        assert_ne!(orient3d(a, slope, DVec3::new(far, far, 0.0), off), Sign::Zero);
        assert_eq!(orient2d(Axis::Z, a, b, DVec3::new(far, step, 0.0)), Sign::Positive);
    }
}
