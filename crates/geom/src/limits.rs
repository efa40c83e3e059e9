//! Every bound that the exact decisions rest on: value, unit, reason.
//!
//! Exactness needs room at both ends of the exponent range of `f64`. A mesh coordinate is a
//! finite `f32`, so it is a multiple of 2^-149 and smaller than 2^128. A pose keeps its numbers
//! away from both ends (below), so every placed coordinate is a multiple of 2^-261 and smaller
//! than 2^131. A determinant of three coordinate differences is then a multiple of 2^-783 and
//! smaller than 2^400: no step of an exact evaluation can overflow, and none can underflow,
//! because the smallest `f64` is 2^-1074.

/// Rotation entries smaller than this are taken as zero. 2^-60 is 256 times below the rounding
/// error that the entries of a rotation matrix carry anyway.
pub(crate) const ROTATION_ENTRY_MIN: f64 = 1.0 / (1u64 << 60) as f64;

/// Translation components smaller than this are taken as zero: 2^-209, far below the smallest
/// `f32`. Keeps placed coordinates multiples of 2^-261.
pub(crate) const TRANSLATION_MIN: f64 = f64::from_bits((1023 - 209) << 52);

/// Largest translation component, in mesh units: 2^100. (The diameter of the visible universe in
/// nanometres is below 2^120; in metres it is below 2^90.)
pub const TRANSLATION_MAX: f64 = f64::from_bits((1023 + 100) << 52);

/// Largest radius of a sphere, in mesh units: 2^100, as far as a translation goes. Sums and
/// differences of radii and coordinates then stay below 2^131, too.
pub const RADIUS_MAX: f64 = TRANSLATION_MAX;

/// Smallest radius of a sphere that is not a point: 2^-209. Keeps radii multiples of 2^-261, like
/// placed coordinates.
pub const RADIUS_MIN: f64 = TRANSLATION_MIN;

/// How far a given rotation matrix may be from a rotation (largest entry of RᵀR − 1) before
/// [`crate::Pose::from_rows`] refuses it. Matrices printed with seven digits are within 1e-6.
pub const ROTATION_SLACK: f64 = 1e-3;
