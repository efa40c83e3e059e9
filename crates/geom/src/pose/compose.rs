//! Poses after poses, the way back, and poses as matrices of other libraries.

use super::{Pose, PoseError, flush_entry, flush_translation, rows_of};
use crate::limits::TRANSLATION_MAX;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::ops::{Mul, MulAssign};

/// `a * b` is first `b`, then `a`, as matrices multiply and as glam has it: with the pose of a
/// gripper in the world and of a tool in the gripper, `gripper * tool` is the pose of the tool in
/// the world.
///
/// The rotation is that of the product of the quaternions, normalised, so products of any length
/// stay rigid. The identity changes nothing, to the bit, and quarter turns multiply exactly.
///
/// **Far out.** A pose goes no further than [`TRANSLATION_MAX`] (2^100), but the product of two
/// may. Its components then stop at the largest number below that limit. A panic could be provoked
/// by input from outside, and where the spacing of `f64` is 2^47 units no place means anything.
/// [`Pose::compose`] gives an error instead.
///
/// ```
/// use glam::{DQuat, DVec3};
/// use jostle_geom::Pose;
///
/// let quarter = DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0);
/// let gripper = Pose::new(quarter, DVec3::new(5.0, 0.0, 0.0))?;
/// let tool = Pose::from_translation(DVec3::X)?;
/// assert_eq!((gripper * tool).translation(), DVec3::new(5.0, 1.0, 0.0));
/// assert_eq!(gripper * Pose::IDENTITY, gripper);
/// # Ok::<(), jostle_geom::PoseError>(())
/// ```
impl Mul for Pose {
    type Output = Pose;

    fn mul(self, first: Pose) -> Pose {
        let (rotation, rows) = self.rotation_after(&first);
        let translation = saturated(self.place_wide(first.translation));
        Pose { rotation, rows, translation }
    }
}

impl MulAssign for Pose {
    fn mul_assign(&mut self, first: Pose) {
        *self = *self * first;
    }
}

impl Pose {
    /// `self * first`, or an error if that is further out than [`TRANSLATION_MAX`].
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::Pose;
    ///
    /// let far = Pose::from_translation(DVec3::X * 1e30)?;
    /// assert!(far.compose(&far).is_err());
    /// assert_eq!(far.compose(&far.inverse())?, Pose::IDENTITY);
    /// # Ok::<(), jostle_geom::PoseError>(())
    /// ```
    ///
    /// # Errors
    /// [`PoseError::TooFar`].
    pub fn compose(&self, first: &Pose) -> Result<Pose, PoseError> {
        let translation = self.place_wide(first.translation);
        if translation.abs().max_element() >= TRANSLATION_MAX {
            return Err(PoseError::TooFar { translation });
        }
        Ok(*self * *first)
    }

    /// The way back: `pose.inverse() * pose` is the identity up to rounding. The inverse of a
    /// quarter turn is exact. Components of the translation stop at [`TRANSLATION_MAX`], as those
    /// of a product do.
    ///
    /// ```
    /// use glam::{DQuat, DVec3, Vec3};
    /// use jostle_geom::Pose;
    ///
    /// let pose = Pose::new(DQuat::from_rotation_y(0.3), DVec3::new(1.0, 2.0, 3.0))?;
    /// let back = pose.inverse().place_wide(pose.place(Vec3::X));
    /// assert!(back.distance(DVec3::X) < 1e-15);
    /// # Ok::<(), jostle_geom::PoseError>(())
    /// ```
    #[must_use]
    pub fn inverse(&self) -> Pose {
        let [x, y, z] = self.rows;
        let rows = DMat3::from_cols(x, y, z);
        Pose {
            // Zeros have no sign in a pose.
            rotation: DQuat::from_vec4(glam::DVec4::from(self.rotation.conjugate()) + 0.0),
            rows: [rows.row(0), rows.row(1), rows.row(2)],
            translation: saturated(self.turn_back(-self.translation)),
        }
    }

    /// A pose from a map of glam that rotates and translates.
    ///
    /// # Errors
    /// As [`Pose::from_rows`]: maps that scale, shear or mirror.
    pub fn from_affine(map: &DAffine3) -> Result<Pose, PoseError> {
        let m = &map.matrix3;
        Pose::from_rows([m.row(0), m.row(1), m.row(2)], map.translation)
    }

    /// The pose as a map of glam, with the very numbers of [`Pose::rows`].
    ///
    /// ```
    /// use glam::{DAffine3, DQuat, DVec3};
    /// use jostle_geom::Pose;
    ///
    /// let map = DAffine3::from_rotation_translation(DQuat::from_rotation_x(0.5), DVec3::Y);
    /// let pose = Pose::from_affine(&map)?;
    /// assert!(pose.to_affine().abs_diff_eq(map, 1e-15));
    /// # Ok::<(), jostle_geom::PoseError>(())
    /// ```
    #[must_use]
    pub fn to_affine(&self) -> DAffine3 {
        let [x, y, z] = self.rows;
        DAffine3 { matrix3: DMat3::from_cols(x, y, z).transpose(), translation: self.translation }
    }

    /// A pose from the upper three rows of a 4 × 4 matrix: rotation, and translation in the last
    /// column.
    ///
    /// # Errors
    /// As [`Pose::from_rows`]: matrices that scale, shear or mirror.
    pub fn from_matrix_3x4(rows: [[f64; 4]; 3]) -> Result<Pose, PoseError> {
        let rotation = rows.map(|[x, y, z, _]| DVec3::new(x, y, z));
        Pose::from_rows(rotation, DVec3::from_array(rows.map(|row| row[3])))
    }

    /// The upper three rows of the 4 × 4 matrix, with the very numbers of [`Pose::rows`].
    #[must_use]
    pub fn to_matrix_3x4(&self) -> [[f64; 4]; 3] {
        [0, 1, 2].map(|k| {
            let row = self.rows[k];
            [row.x, row.y, row.z, self.translation[k]]
        })
    }

    /// The rotation of `self * first`.
    fn rotation_after(&self, first: &Pose) -> (DQuat, [DVec3; 3]) {
        if self.rotation == DQuat::IDENTITY {
            return (first.rotation, first.rows);
        }
        if first.rotation == DQuat::IDENTITY {
            return (self.rotation, self.rows);
        }
        let product = self.rotation * first.rotation;
        let rotation = DQuat::from_vec4(glam::DVec4::from(product / product.length()) + 0.0);
        // The quaternion of a quarter turn has irrational parts; its matrix has not.
        if is_whole(&self.rows) && is_whole(&first.rows) {
            let [x, y, z] = first.rows;
            let row = |r: DVec3| (x * r.x + y * r.y + z * r.z).map(flush_entry);
            return (rotation, self.rows.map(row));
        }
        (rotation, rows_of(product))
    }
}

/// Are all entries −1, 0 or 1?
fn is_whole(rows: &[DVec3; 3]) -> bool {
    rows.iter().all(|row| row.to_array().iter().all(|x| x.abs() == 1.0 || *x == 0.0))
}

/// A translation within the limits of a pose. There is none with NaN: entries of a rotation are
/// finite, and sums of three products stay far below the largest `f64`.
fn saturated(translation: DVec3) -> DVec3 {
    let most = DVec3::splat(TRANSLATION_MAX.next_down());
    flush_translation(translation.clamp(-most, most))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    /// SplitMix64.
    struct Random(u64);

    impl Random {
        fn bits(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        fn unit(&mut self) -> f64 {
            (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }

        fn vector(&mut self, size: f64) -> DVec3 {
            DVec3::new(self.unit(), self.unit(), self.unit()) * size
        }

        fn pose(&mut self) -> Pose {
            let size = [0.0, 1.0, 1e-3, 1e6][self.bits() as usize % 4];
            loop {
                let q = DQuat::from_xyzw(self.unit(), self.unit(), self.unit(), self.unit());
                if q.length() > 0.1 {
                    return Pose::new(q, self.vector(size)).unwrap();
                }
            }
        }

        /// One of the 24 rotations of a cube, as a product of quarter turns made by [`Pose::new`].
        fn cube_turn(&mut self) -> Pose {
            let whole = || [[1., 0., 0., 1.], [0., 1., 0., 1.], [0., 0., 1., 1.], [1., 1., 1., 1.]];
            let [x, y, z, w] = whole()[self.bits() as usize % 4];
            let sign = if self.bits().is_multiple_of(2) { 1.0 } else { -1.0 };
            let at = self.vector(8.0).round();
            Pose::new(DQuat::from_xyzw(x * sign, y * sign, z * sign, w), at).unwrap()
        }
    }

    /// What placing by a product may differ from placing twice, per unit of length. With u = 2^-53:
    /// rows are within 8u per entry of those of their quaternion, whose parts are within 2u; the
    /// product of two quaternions is within 8u per part, and its rows within 8u of that, which
    /// makes 64u per entry of the product for all; three entries to a row and three rows: 332u for
    /// the length, and placing rounds by another 12u.
    const BOUND: f64 = 512.0 / (1u64 << 53) as f64;

    #[test]
    fn a_product_places_as_its_factors_do() {
        let mut random = Random(12);
        let mut different = 0;
        for turn in 0..20_000 {
            let (a, b, p) = (random.pose(), random.pose(), random.vector(10.0).as_vec3());
            let (once, twice) = ((a * b).place(p), a.place_wide(b.place(p)));
            let size = p.as_dvec3().length() + a.translation.length() + b.translation.length();
            assert!(once.distance(twice) <= BOUND * size, "{turn}: {a:?} {b:?} {p}");
            assert_eq!(a.compose(&b), Ok(a * b), "{turn}");
            different += usize::from(a * b != b * a);
        }
        assert!(different > 19_000, "{different}");
    }

    #[test]
    fn products_are_associative_and_inverses_lead_back() {
        let mut random = Random(13);
        for turn in 0..20_000 {
            let (a, b, c) = (random.pose(), random.pose(), random.pose());
            let p = random.vector(10.0).as_vec3();
            let size = [a, b, c].iter().fold(10.0, |sum, pose| sum + pose.translation.length());
            let (left, right) = ((a * b) * c, a * (b * c));
            assert!(left.place(p).distance(right.place(p)) <= 3.0 * BOUND * size * 2.0, "{turn}");
            for around in [a * a.inverse(), a.inverse() * a] {
                let back = around.place(p).distance(p.as_dvec3());
                assert!(back <= BOUND * size, "{turn}: {a:?} {p} {back}");
            }
            assert_eq!(a.inverse().inverse().rows, a.rows, "{turn}");
        }
    }

    #[test]
    fn long_products_stay_rigid() {
        let mut random = Random(14);
        let step = random.pose();
        let mut pose = Pose::IDENTITY;
        for _ in 0..100_000 {
            pose *= Pose { translation: DVec3::ZERO, ..step };
        }
        let [x, y, z] = pose.rows;
        let off =
            [x.length() - 1.0, y.length() - 1.0, z.length() - 1.0, x.dot(y), y.dot(z), z.dot(x)];
        assert!(off.iter().all(|x| x.abs() < 1e-15), "{off:?}");
    }

    #[test]
    fn identity_and_quarter_turns_are_exact() {
        let mut random = Random(15);
        for turn in 0..2000 {
            let pose = random.pose();
            assert_eq!(pose * Pose::IDENTITY, pose, "{turn}");
            assert_eq!(Pose::IDENTITY * pose, pose, "{turn}");
            let turns: Vec<Pose> = (0..1 + turn % 7).map(|_| random.cube_turn()).collect();
            let product = turns.iter().fold(Pose::IDENTITY, |product, turn| product * *turn);
            let p = Vec3::new(1.0, 2.0, 3.0);
            let apart = turns.iter().rev().fold(p.as_dvec3(), |p, turn| turn.place_wide(p));
            assert_eq!(product.place(p), apart, "{turn}");
            assert_eq!(product.inverse().place_wide(apart), p.as_dvec3(), "{turn}");
            let round = product * product.inverse();
            assert_eq!((round.rows, round.translation), (Pose::IDENTITY.rows, DVec3::ZERO));
        }
        assert_eq!(Pose::IDENTITY.inverse(), Pose::IDENTITY);
    }

    /// Whatever is made can be written down and read again.
    #[test]
    fn products_and_inverses_have_the_parts_of_a_pose() {
        let mut random = Random(16);
        for turn in 0..20_000 {
            let mut pose = if turn % 3 == 0 { random.cube_turn() } else { random.pose() };
            pose *= if turn % 2 == 0 { random.cube_turn() } else { random.pose() };
            for pose in [pose, pose.inverse(), pose.inverse() * pose] {
                let same = Pose::from_parts(pose.rotation, pose.rows, pose.translation);
                assert_eq!(same, Ok(pose), "{turn}");
            }
        }
    }

    #[test]
    fn far_products_stop_at_the_limit_or_are_refused() {
        let far = Pose::from_translation(DVec3::new(1e30, -1e30, 1.0)).unwrap();
        let product = far * far;
        let most = TRANSLATION_MAX.next_down();
        assert_eq!(product.translation, DVec3::new(most, -most, 2.0));
        assert!(matches!(far.compose(&far), Err(PoseError::TooFar { .. })));
        let eighth = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4);
        let corner = Pose::new(eighth, DVec3::new(1e30, 1e30, 0.0)).unwrap();
        assert_eq!(corner.inverse().translation.x, -most);
    }

    #[test]
    fn matrices_there_and_back() {
        let mut random = Random(17);
        for turn in 0..1000 {
            let pose = random.pose();
            let (map, rows) = (pose.to_affine(), pose.to_matrix_3x4());
            let p = random.vector(3.0);
            let size = 3.0 + pose.translation.length();
            assert!(map.transform_point3(p).distance(pose.place_wide(p)) <= 1e-15 * size);
            for same in [Pose::from_affine(&map), Pose::from_matrix_3x4(rows)] {
                let same = same.unwrap();
                assert_eq!(same.translation, pose.translation, "{turn}");
                for (found, row) in same.rows.iter().zip(pose.rows) {
                    assert!(found.distance(row) <= BOUND, "{turn}");
                }
            }
        }
        let scaled = DAffine3::from_scale(DVec3::splat(2.0));
        assert!(matches!(Pose::from_affine(&scaled), Err(PoseError::NotARotation { .. })));
    }
}
