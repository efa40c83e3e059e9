//! Poses from and to the matrix types of glam and `[f64; 12]`.
//!
//! **To a matrix nothing is rounded**: entries are those of [`Pose::rows`] and
//! [`Pose::translation`]. (`DMat4` and `DAffine3` add their products in an order of their own, so a
//! point that glam transforms may differ from [`Pose::transform_point`] in the last bits.)
//!
//! **From a matrix the rotation is rounded**: the nearest unit quaternion is taken, as in
//! [`Pose::from_rows`], and the rows of the pose are computed from it. For a matrix that is a
//! rotation up to the rounding of `f64` they are within 2^-44 of those given, and in general as far
//! away as the matrix is from a rotation. The translation is kept to the bit, but for components
//! below 2^-209, which become zero. So a pose that went through a matrix has the same translation
//! and nearly the same rotation; [`Pose::from_parts`] restores poses to the bit.

use super::{Pose, PoseError};
use glam::{DAffine3, DMat3, DMat4, DVec3};

/// The map of glam with the numbers of the pose.
///
/// ```
/// use glam::{DAffine3, DQuat, DVec3};
/// use jostle_geom::Pose;
///
/// let map = DAffine3::from_rotation_translation(DQuat::from_rotation_x(0.5), DVec3::Y);
/// let pose = Pose::try_from(map)?;
/// assert!(DAffine3::from(pose).abs_diff_eq(map, 1e-15));
/// # Ok::<(), jostle_geom::PoseError>(())
/// ```
impl From<Pose> for DAffine3 {
    fn from(pose: Pose) -> DAffine3 {
        let [x, y, z] = pose.rows;
        DAffine3 { matrix3: DMat3::from_cols(x, y, z).transpose(), translation: pose.translation }
    }
}

/// Maps that rotate and translate; see [`Pose::from_rows`] for what is rounded.
///
/// # Errors
/// As [`Pose::from_rows`]: maps that scale, shear or mirror.
impl TryFrom<DAffine3> for Pose {
    type Error = PoseError;

    fn try_from(map: DAffine3) -> Result<Pose, PoseError> {
        let m = &map.matrix3;
        Pose::from_rows([m.row(0), m.row(1), m.row(2)], map.translation)
    }
}

/// The 4 × 4 matrix with the numbers of the pose, for column vectors.
///
/// ```
/// use glam::{DMat4, DVec3};
/// use jostle_geom::Pose;
///
/// let pose = Pose::from_translation(DVec3::new(1.0, 2.0, 3.0))?;
/// assert_eq!(DMat4::from(pose), DMat4::from_translation(DVec3::new(1.0, 2.0, 3.0)));
/// assert_eq!(Pose::try_from(DMat4::from(pose))?, pose);
/// # Ok::<(), jostle_geom::PoseError>(())
/// ```
impl From<Pose> for DMat4 {
    fn from(pose: Pose) -> DMat4 {
        DMat4::from(DAffine3::from(pose))
    }
}

/// Matrices that rotate and translate; see [`Pose::from_rows`] for what is rounded.
///
/// # Errors
/// [`PoseError::NotAffine`] if the last row is not (0, 0, 0, 1), and the errors of
/// [`Pose::from_rows`].
impl TryFrom<DMat4> for Pose {
    type Error = PoseError;

    fn try_from(matrix: DMat4) -> Result<Pose, PoseError> {
        let last = matrix.row(3);
        if last.to_array() != [0.0, 0.0, 0.0, 1.0] {
            return Err(PoseError::NotAffine { row: last });
        }
        Pose::try_from(DAffine3::from_mat4(matrix))
    }
}

/// The upper three rows of the 4 × 4 matrix, row by row: three entries of the rotation, then one of
/// the translation.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::Pose;
///
/// let pose = Pose::from_translation(DVec3::new(5.0, 6.0, 7.0))?;
/// let numbers: [f64; 12] = pose.into();
/// assert_eq!(numbers, [1., 0., 0., 5., 0., 1., 0., 6., 0., 0., 1., 7.]);
/// assert_eq!(Pose::try_from(numbers)?, pose);
/// # Ok::<(), jostle_geom::PoseError>(())
/// ```
impl From<Pose> for [f64; 12] {
    fn from(pose: Pose) -> [f64; 12] {
        let [x, y, z] = pose.rows;
        let t = pose.translation;
        [x.x, x.y, x.z, t.x, y.x, y.y, y.z, t.y, z.x, z.y, z.z, t.z]
    }
}

/// Three rows of four numbers, row by row; see [`Pose::from_rows`] for what is rounded.
///
/// # Errors
/// As [`Pose::from_rows`]: matrices that scale, shear or mirror.
impl TryFrom<[f64; 12]> for Pose {
    type Error = PoseError;

    fn try_from(numbers: [f64; 12]) -> Result<Pose, PoseError> {
        let row = |k: usize| DVec3::new(numbers[k], numbers[k + 1], numbers[k + 2]);
        let translation = DVec3::new(numbers[3], numbers[7], numbers[11]);
        Pose::from_rows([row(0), row(4), row(8)], translation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec4};

    /// 2^-44, see the head of this file: `DQuat::from_mat3` rounds some ten times, normalising and
    /// the way back to rows as often, each time by at most 2^-53 of numbers up to 2.
    const BOUND: f64 = 1.0 / (1u64 << 44) as f64;

    #[test]
    fn matrices_there_and_back() {
        let mut state = 17u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let mut not_to_the_bit = 0;
        for case in 0..1000 {
            let size = [0.0, 1.0, 1e-3, 1e6][case % 4];
            let q = DQuat::from_xyzw(random(), random(), random(), random());
            let pose = Pose::new(q, DVec3::new(random(), random(), random()) * size).unwrap();
            let (map, matrix) = (DAffine3::from(pose), DMat4::from(pose));
            let numbers = <[f64; 12]>::from(pose);
            let p = DVec3::new(random(), random(), random());
            let length = 3.0 + pose.translation.length();
            let expected = pose.transform_point(p);
            assert!(map.transform_point3(p).distance(expected) <= 1e-15 * length);
            assert!(matrix.transform_point3(p).distance(expected) <= 1e-15 * length);
            let found = [Pose::try_from(map), Pose::try_from(matrix), Pose::try_from(numbers)];
            for same in found {
                let same = same.unwrap();
                assert_eq!(same.translation, pose.translation, "{case}");
                for (found, row) in same.rows.iter().zip(pose.rows) {
                    assert!(found.distance(row) <= BOUND, "{case}");
                }
                not_to_the_bit += usize::from(same.rows != pose.rows);
            }
        }
        assert!(not_to_the_bit > 0, "then the documents promise too little");
    }

    #[test]
    fn matrices_that_are_no_pose_are_refused() {
        let scaled = DAffine3::from_scale(DVec3::splat(2.0));
        assert!(matches!(Pose::try_from(scaled), Err(PoseError::NotARotation { .. })));
        let mut projective = DMat4::IDENTITY;
        projective.z_axis = DVec4::new(0.0, 0.0, 1.0, 1.0);
        assert!(matches!(Pose::try_from(projective), Err(PoseError::NotAffine { .. })));
        let nan = [f64::NAN; 12];
        assert!(Pose::try_from(nan).is_err());
        let mirrored = [-1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0.];
        assert!(matches!(Pose::try_from(mirrored), Err(PoseError::NotARotation { .. })));
    }
}
