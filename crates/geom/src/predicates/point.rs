//! Points with rational coordinates: where lines and planes through placed corners meet, and
//! points between those. `f64` has no such point in general; a rounded one lies on neither side
//! of a face reliably, so no decision is made about it.

use super::whole::{cross, dot, minus, whole_above};
use super::{Axis, Sign};
use glam::DVec3;
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// Vectors and points in whole numbers.
pub(crate) type Whole3 = [BigInt; 3];

/// The exact point `numerators` / `denominator` · 2^`unit`.
#[derive(Clone, Debug)]
pub(crate) struct ExactPoint {
    numerators: Whole3,
    /// Above zero.
    denominator: BigInt,
    unit: i32,
    /// The point in `f64`, each coordinate off by at most [`NEAR`] of itself and [`TINY`].
    near: DVec3,
}

/// How far [`ExactPoint::near`] may be off, relative to each coordinate. Three roundings of at
/// most 2^-52 (two numbers cut to 64 bits and rounded, one quotient), with room.
const NEAR: f64 = 1.0 / (1u64 << 48) as f64;

/// For coordinates below the normal numbers of `f64`. Placed coordinates are multiples of 2^-261,
/// far above.
const TINY: f64 = 1e-250;

impl ExactPoint {
    /// `denominator` must be above zero.
    pub(crate) fn new(numerators: Whole3, denominator: BigInt, unit: i32) -> ExactPoint {
        let (below, below_exponent) = leading(&denominator);
        let near = |x: &BigInt| {
            let (above, exponent) = leading(x);
            above / below * 2f64.powi(exponent - below_exponent + unit)
        };
        let [x, y, z] = &numerators;
        let near = DVec3::new(near(x), near(y), near(z));
        ExactPoint { numerators, denominator, unit, near }
    }

    /// The point in `f64`, off by a few roundings: good to choose what to look at.
    pub(crate) fn near(&self) -> DVec3 {
        self.near
    }

    /// A box that surely holds the point.
    pub(crate) fn bounds(&self) -> [DVec3; 2] {
        let off = self.near.abs() * NEAR + DVec3::splat(TINY);
        [self.near - off, self.near + off]
    }

    /// The hand of the point for the edge from `r` to `s`, seen along x, where plain `f64` is sure
    /// of it.
    ///
    /// As in [`super::Plane`], with another rounding of at most `NEAR` for each coordinate of the
    /// point: the sum of all is below 2 `NEAR` of the sum of absolute values that is used here.
    pub(crate) fn sure_hand(&self, r: DVec3, s: DVec3) -> Option<Sign> {
        let (p, along) = (self.near, s - r);
        let hand = along.y * (p.z - r.z) - along.z * (p.y - r.y);
        let reach = p.abs() + r.abs() + DVec3::splat(TINY);
        let size = along.y.abs() * reach.z + along.z.abs() * reach.y;
        (hand.abs() > 2.0 * NEAR * size).then(|| Sign::of(hand))
    }

    /// Point and triangle in one unit.
    pub(crate) fn with(&self, [a, b, c]: &[DVec3; 3]) -> PointAndTriangle {
        let numbers = [a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z];
        let ([ax, ay, az, bx, by, bz, cx, cy, cz], unit) = whole_above(self.unit, numbers);
        let up = self.unit - unit;
        let point = self.numerators.clone().map(|x| x << up);
        let from = |corner: &Whole3| {
            let corner = [0, 1, 2].map(|k| &corner[k] * &self.denominator);
            minus(&point, &corner)
        };
        let corners = [[ax, ay, az], [bx, by, bz], [cx, cy, cz]];
        PointAndTriangle { offsets: [0, 1, 2].map(|k| from(&corners[k])), corners }
    }
}

/// The leading bits of a whole number as `f64` and the power of two that they were divided by.
fn leading(x: &BigInt) -> (f64, i32) {
    let drop = x.bits().saturating_sub(64);
    // At most 64 bits, which `f64` has room for.
    ((x >> drop).to_f64().unwrap_or(0.0), drop as i32)
}

/// An exact point and a triangle, in whole numbers.
pub(crate) struct PointAndTriangle {
    corners: [Whole3; 3],
    /// From each corner to the point, multiplied by the point's denominator.
    offsets: [Whole3; 3],
}

impl PointAndTriangle {
    /// The sign of [`super::orient2d`] for an edge, counted from the corner it starts at, and the
    /// point.
    pub(crate) fn hand(&self, axis: Axis, edge: usize) -> Sign {
        let (i, j) = axis.kept();
        let along = minus(&self.corners[(edge + 1) % 3], &self.corners[edge]);
        let offset = &self.offsets[edge];
        Sign::of_whole(&(&along[i] * &offset[j] - &along[j] * &offset[i]))
    }

    /// The sign of [`super::orient3d`] for the three corners and the point.
    pub(crate) fn side(&self) -> Sign {
        let [a, b, c] = &self.corners;
        let normal = cross(&minus(b, a), &minus(c, a));
        Sign::of_whole(&dot(&normal, &self.offsets[0]))
    }

    /// Is the point a point of the triangle, or of the segment or point that it is?
    pub(crate) fn holds(&self) -> bool {
        // Seen along an axis, a point of the triangle never has two edges on different hands. In
        // the plane of a triangle with area the converse holds for one of the axes. For one
        // without area no two hands differ only if the point is seen on its line, and along all
        // three axes only if it is on that line; then the box around the triangle decides.
        let seen_inside = |axis: Axis| {
            let hands = [0, 1, 2].map(|edge| self.hand(axis, edge));
            !(hands.contains(&Sign::Positive) && hands.contains(&Sign::Negative))
        };
        let within = |k: usize| {
            let signs = [0, 1, 2].map(|corner| Sign::of_whole(&self.offsets[corner][k]));
            !signs.iter().all(|&s| s == Sign::Positive)
                && !signs.iter().all(|&s| s == Sign::Negative)
        };
        self.side() == Sign::Zero && Axis::ALL.into_iter().all(seen_inside) && (0..3).all(within)
    }
}
