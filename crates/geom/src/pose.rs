//! The pose of a shape: a rotation and a translation, in `f64`.
//!
//! [`Pose::transform_point`] is the only function that computes the position of a mesh vertex in
//! the world, with a fixed order of operations and without fused multiply-add. Exact decisions are
//! about those numbers (`docs/decisions/0001-exact-placement.md`).

mod compose;
mod convert;

use crate::limits::{ROTATION_ENTRY_MIN, ROTATION_SLACK, TRANSLATION_MAX, TRANSLATION_MIN};
use glam::{DQuat, DVec3, DVec4};

/// A rigid pose: first rotate, then translate.
///
/// The rotation is normalised when the pose is made, so any `Pose` is a rigid motion up to the
/// rounding of `f64`.
///
/// ```
/// use glam::{DQuat, DVec3, Vec3};
/// use jostle_geom::Pose;
///
/// let quarter = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
/// let pose = Pose::new(quarter, DVec3::new(0.0, 0.0, 5.0))?;
/// let moved = pose.transform_point(Vec3::X);
/// assert!((moved - DVec3::new(0.0, 1.0, 5.0)).length() < 1e-15);
/// # Ok::<(), jostle_geom::PoseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    rotation: DQuat,
    translation: DVec3,
    /// The rotation matrix, row by row.
    rows: [DVec3; 3],
}

/// How far the length of a written quaternion may be from 1, and the entries of a written matrix
/// from those of its quaternion. Normalising and the way to the matrix round about ten times, each
/// time by at most 2^-53 of numbers that are not larger than 2: below 2^-49.
const PARTS_OFF: f64 = 1.0 / (1u64 << 47) as f64;

/// Why numbers are not a pose.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PoseError {
    /// A number is NaN or infinite.
    #[error("a pose needs finite numbers, found rotation {rotation} translation {translation}")]
    NotFinite {
        /// The rotation that was given.
        rotation: DQuat,
        /// The translation that was given.
        translation: DVec3,
    },
    /// The quaternion is too short to be normalised.
    #[error("a rotation quaternion needs a length well above zero, found {rotation}")]
    NoRotation {
        /// The rotation that was given.
        rotation: DQuat,
    },
    /// The matrix is not a rotation.
    #[error("a rotation matrix needs RᵀR = 1 within 1e-3 and determinant +1, found rows {rows:?}")]
    NotARotation {
        /// The rows that were given.
        rows: [DVec3; 3],
    },
    /// The last row of a 4 × 4 matrix is not that of a map without perspective.
    #[error("the last row of the matrix of a pose must be (0, 0, 0, 1), found {row}")]
    NotAffine {
        /// The row that was given.
        row: DVec4,
    },
    /// The translation is further out than [`crate::limits::TRANSLATION_MAX`].
    #[error("a translation component must be below 2^100 in size, found {translation}")]
    TooFar {
        /// The translation that was given.
        translation: DVec3,
    },
}

/// Why numbers are not the parts of a pose.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PosePartsError {
    /// The quaternion is not as long as 1.
    #[error("the rotation of a pose is a quaternion of length 1, found {0}")]
    Rotation(DQuat),
    /// The translation has a component that is not finite, too large or too small.
    #[error("a pose has components of 0 or from 2^-209 to 2^100 in its translation, found {0}")]
    Translation(DVec3),
    /// The matrix is another one than that of the quaternion.
    #[error("row {row} of the matrix is {found}, which is not that of the rotation")]
    Row {
        /// Which row, counted from 0.
        row: usize,
        /// The row that was given.
        found: DVec3,
    },
}

impl Pose {
    /// No rotation, no translation.
    pub const IDENTITY: Pose = Pose {
        rotation: DQuat::IDENTITY,
        translation: DVec3::ZERO,
        rows: [DVec3::X, DVec3::Y, DVec3::Z],
    };

    /// A pose from a quaternion of any length well above zero, and a translation.
    ///
    /// # Errors
    /// Numbers that are not finite, a quaternion near zero, a translation of 2^100 or more.
    pub fn new(rotation: DQuat, translation: DVec3) -> Result<Pose, PoseError> {
        if !rotation.is_finite() || !translation.is_finite() {
            return Err(PoseError::NotFinite { rotation, translation });
        }
        if translation.abs().max_element() >= TRANSLATION_MAX {
            return Err(PoseError::TooFar { translation });
        }
        let length = rotation.length();
        if !(1e-100..1e100).contains(&length) {
            return Err(PoseError::NoRotation { rotation });
        }
        let translation = flush_translation(translation);
        // The matrix comes from the quaternion as given, so that quarter turns are exact.
        let rows = rows_of(rotation);
        let rotation = if rotation == DQuat::IDENTITY { rotation } else { rotation / length };
        Ok(Pose { rotation, translation, rows })
    }

    /// A pose that only translates.
    ///
    /// # Errors
    /// As [`Pose::new`].
    pub fn from_translation(translation: DVec3) -> Result<Pose, PoseError> {
        Pose::new(DQuat::IDENTITY, translation)
    }

    /// A pose from the rows of a rotation matrix and a translation. The nearest quaternion is
    /// taken, so a matrix printed with few digits becomes a proper rotation. The rows of the pose
    /// are computed from that quaternion, so they may differ from those given in the last bits;
    /// the translation does not.
    ///
    /// # Errors
    /// As [`Pose::new`], and matrices that are not a rotation within
    /// [`crate::limits::ROTATION_SLACK`].
    pub fn from_rows(rows: [DVec3; 3], translation: DVec3) -> Result<Pose, PoseError> {
        let [a, b, c] = rows;
        let off = [
            a.dot(a) - 1.0,
            b.dot(b) - 1.0,
            c.dot(c) - 1.0,
            a.dot(b),
            a.dot(c),
            b.dot(c),
            a.cross(b).dot(c) - 1.0,
        ];
        // Written so that NaN is refused too.
        if !off.iter().all(|x| x.abs() <= ROTATION_SLACK) {
            return Err(PoseError::NotARotation { rows });
        }
        Pose::new(DQuat::from_mat3(&glam::DMat3::from_cols(a, b, c).transpose()), translation)
    }

    /// The pose that had this [`Pose::rotation`], these [`Pose::rows`] and this
    /// [`Pose::translation`], to the bit: for poses that were written down. (The rows come from
    /// the quaternion before it was normalised, so they do not follow from the rotation.)
    ///
    /// ```
    /// use glam::{DQuat, DVec3};
    /// use jostle_geom::Pose;
    ///
    /// let pose = Pose::new(DQuat::from_xyzw(0.0, 0.1, 0.7, 1.0), DVec3::X)?;
    /// let same = Pose::from_parts(pose.rotation(), pose.rows(), pose.translation())?;
    /// assert_eq!(same, pose);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Numbers that no pose has. Each number of a pose that is refused or rounded to zero by
    /// [`Pose::new`] is refused here, and so are a quaternion whose length is not 1 and rows that
    /// are not those of the rotation, both up to the rounding of `f64`.
    pub fn from_parts(
        rotation: DQuat,
        rows: [DVec3; 3],
        translation: DVec3,
    ) -> Result<Pose, PosePartsError> {
        // Written so that NaN is refused too.
        let unit = (rotation.length_squared() - 1.0).abs() <= PARTS_OFF;
        if !unit {
            return Err(PosePartsError::Rotation(rotation));
        }
        let bits = |v: DVec3| v.to_array().map(f64::to_bits);
        let made = match Pose::new(rotation, translation) {
            Ok(made) if bits(made.translation) == bits(translation) => made,
            _ => return Err(PosePartsError::Translation(translation)),
        };
        for (row, (&found, made)) in rows.iter().zip(made.rows).enumerate() {
            let near = (found - made).abs().cmple(DVec3::splat(PARTS_OFF)).all();
            if !near || bits(found.map(flush_entry)) != bits(found) {
                return Err(PosePartsError::Row { row, found });
            }
        }
        Ok(Pose { rotation, translation, rows })
    }

    /// The same rotation, to the bit, somewhat further on; `None` if that is too far out.
    pub(crate) fn moved_by(&self, way: DVec3) -> Option<Pose> {
        let translation = self.translation + way;
        // Written so that NaN is too far, too.
        let fits = translation.abs().cmplt(DVec3::splat(TRANSLATION_MAX)).all();
        fits.then(|| Pose { translation: flush_translation(translation), ..*self })
    }

    /// The rotation, a unit quaternion.
    #[must_use]
    pub fn rotation(&self) -> DQuat {
        self.rotation
    }

    /// The translation.
    #[must_use]
    pub fn translation(&self) -> DVec3 {
        self.translation
    }

    /// The rows of the rotation matrix: [`Pose::transform_point`] uses exactly these numbers.
    #[must_use]
    pub fn rows(&self) -> [DVec3; 3] {
        self.rows
    }

    /// The position in the world of a point of the mesh: the rotation, then the translation.
    ///
    /// Takes `Vec3` (a mesh vertex; the conversion to `f64` is exact) and `DVec3`. The order of
    /// operations is fixed, (x·rx + y·ry) + (z·rz + t) for each row r of [`Pose::rows`], without
    /// fused multiply-add. Every exact decision is about the numbers that this gives for the
    /// vertices of a mesh.
    ///
    /// ```
    /// use glam::{DVec3, Vec3};
    /// use jostle_geom::Pose;
    ///
    /// let pose = Pose::from_translation(DVec3::new(0.0, 0.0, 5.0))?;
    /// assert_eq!(pose.transform_point(Vec3::X), DVec3::new(1.0, 0.0, 5.0));
    /// assert_eq!(pose.transform_point(DVec3::X), DVec3::new(1.0, 0.0, 5.0));
    /// # Ok::<(), jostle_geom::PoseError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn transform_point(&self, point: impl Into<DVec3>) -> DVec3 {
        let p: DVec3 = point.into();
        let along = |row: DVec3, t: f64| (row.x * p.x + row.y * p.y) + (row.z * p.z + t);
        let [x, y, z] = self.rows;
        let t = self.translation;
        DVec3::new(along(x, t.x), along(y, t.y), along(z, t.z))
    }

    /// The direction in the world of a direction of the mesh: the rotation alone.
    ///
    /// ```
    /// use glam::{DQuat, DVec3};
    /// use jostle_geom::Pose;
    ///
    /// let quarter = Pose::new(DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0), DVec3::X * 7.0)?;
    /// assert_eq!(quarter.transform_vector(DVec3::X), DVec3::Y);
    /// assert_eq!(quarter.inverse_transform_vector(DVec3::Y), DVec3::X);
    /// # Ok::<(), jostle_geom::PoseError>(())
    /// ```
    #[must_use]
    pub fn transform_vector(&self, vector: DVec3) -> DVec3 {
        let [x, y, z] = self.rows;
        DVec3::new(x.dot(vector), y.dot(vector), z.dot(vector))
    }

    /// The direction in the frame of the mesh of a direction in the world: the transposed matrix.
    #[must_use]
    pub fn inverse_transform_vector(&self, vector: DVec3) -> DVec3 {
        let [x, y, z] = self.rows;
        x * vector.x + y * vector.y + z * vector.z
    }

    /// The point in the frame of the mesh that [`Pose::transform_point`] maps to `point`, up to
    /// rounding.
    ///
    /// ```
    /// use glam::{DQuat, DVec3};
    /// use jostle_geom::Pose;
    ///
    /// let pose = Pose::new(DQuat::from_rotation_y(0.3), DVec3::new(1.0, 2.0, 3.0))?;
    /// let back = pose.inverse_transform_point(pose.transform_point(DVec3::X));
    /// assert!(back.distance(DVec3::X) < 1e-15);
    /// # Ok::<(), jostle_geom::PoseError>(())
    /// ```
    #[must_use]
    pub fn inverse_transform_point(&self, point: DVec3) -> DVec3 {
        self.inverse_transform_vector(point - self.translation)
    }
}

/// The rotation matrix of a quaternion of any length: entries are products divided by the squared
/// length, so whole-number quaternions such as (1, 0, 0, 1) give exact matrices.
fn rows_of(q: DQuat) -> [DVec3; 3] {
    let (x, y, z, w) = (q.x, q.y, q.z, q.w);
    let s = 2.0 / (x * x + y * y + (z * z + w * w));
    let row = |a: f64, b: f64, c: f64| DVec3::new(a, b, c).map(flush_entry);
    [
        row(1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        row(s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)),
        row(s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)),
    ]
}

fn flush_translation(translation: DVec3) -> DVec3 {
    translation.map(|x| if x.abs() < TRANSLATION_MIN { 0.0 } else { x })
}

fn flush_entry(v: f64) -> f64 {
    if v.abs() < ROTATION_ENTRY_MIN { 0.0 } else { v }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn a_quarter_turn_moves_whole_numbers_to_whole_numbers() {
        let turn = DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0);
        let pose = Pose::new(turn, DVec3::ZERO).unwrap();
        assert_eq!(pose.transform_point(Vec3::new(1.0, 2.0, 3.0)), DVec3::new(-2.0, 1.0, 3.0));
        assert!((pose.rotation().length() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn numbers_that_are_no_pose_are_refused() {
        let still = DQuat::IDENTITY;
        assert!(Pose::new(DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), DVec3::ZERO).is_err());
        assert!(Pose::new(DQuat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0), DVec3::ZERO).is_err());
        assert!(Pose::new(still, DVec3::new(f64::INFINITY, 0.0, 0.0)).is_err());
        assert!(Pose::new(still, DVec3::new(2e30, 0.0, 0.0)).is_err());
        let mirror = [DVec3::NEG_X, DVec3::Y, DVec3::Z];
        assert!(Pose::from_rows(mirror, DVec3::ZERO).is_err());
        let rough = [DVec3::new(0.999_999_9, 0.0, 0.0), DVec3::Y, DVec3::Z];
        assert_eq!(Pose::from_rows(rough, DVec3::ZERO).map(|p| p.rows()[1]), Ok(DVec3::Y));
    }

    fn bits(pose: &Pose) -> Vec<u64> {
        let rows = pose.rows();
        let parts = pose.rotation().to_array().into_iter().chain(pose.translation().to_array());
        parts.chain(rows.into_iter().flat_map(|row| row.to_array())).map(f64::to_bits).collect()
    }

    #[test]
    fn a_pose_comes_back_from_its_parts_to_the_bit() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let mut does_not_follow = 0;
        for turn in 0..20_000 {
            let size = [1.0, 1e-99, 1e99, 1e-3][turn % 4];
            let mut part = || if turn % 7 == 0 { random().round() } else { random() };
            let q = DQuat::from_xyzw(part(), part(), part(), part()) * size;
            let Ok(pose) = Pose::new(q, DVec3::new(random(), -0.0, random() * 1e30)) else {
                continue; // all parts were rounded to zero
            };
            let same = Pose::from_parts(pose.rotation(), pose.rows(), pose.translation());
            assert_eq!(bits(&same.unwrap()), bits(&pose), "turn {turn}");
            let plain = Pose::new(pose.rotation(), pose.translation()).unwrap();
            does_not_follow += usize::from(bits(&plain) != bits(&pose));
        }
        assert!(does_not_follow > 1000, "{does_not_follow}: then the rows need not be written");
    }

    #[test]
    fn parts_that_no_pose_has_are_refused() {
        let pose = Pose::new(DQuat::from_xyzw(0.1, 0.2, 0.3, 0.9), DVec3::ONE).unwrap();
        let (rotation, rows, translation) = (pose.rotation(), pose.rows(), pose.translation());
        let off = |k: usize, by: f64| {
            let mut rows = rows;
            rows[k].y += by;
            rows
        };
        assert!(Pose::from_parts(rotation, rows, translation).is_ok());
        assert!(Pose::from_parts(rotation, off(1, 1e-15), translation).is_ok());
        for bad in [1e-13, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Pose::from_parts(rotation, off(2, bad), translation).is_err(), "{bad}");
            let longer = DQuat::from_vec4(glam::DVec4::from(rotation) * (1.0 + bad));
            assert!(Pose::from_parts(longer, rows, translation).is_err(), "{bad}");
        }
        for bad in [f64::NAN, 2e30, 1e-70, -0.0] {
            let translation = DVec3::new(1.0, bad, 1.0);
            assert!(Pose::from_parts(rotation, rows, translation).is_err(), "{bad}");
        }
        for bad in [1e-30, -0.0] {
            let rows = [DVec3::new(1.0, bad, 0.0), DVec3::Y, DVec3::Z];
            assert!(Pose::from_parts(DQuat::IDENTITY, rows, DVec3::ZERO).is_err(), "{bad}");
        }
    }
}
