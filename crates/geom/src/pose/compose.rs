//! Products and inverses of poses.

use super::{Pose, PoseError, flush_entry, flush_translation, rows_of};
use crate::limits::TRANSLATION_MAX;
use glam::{DMat3, DQuat, DVec3};
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
        let translation = saturated(self.transform_point(first.translation));
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
        let translation = self.transform_point(first.translation);
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
    /// let back = pose.inverse().transform_point(pose.transform_point(Vec3::X));
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
            translation: saturated(self.inverse_transform_vector(-self.translation)),
        }
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
            jostle_dice::bits(&mut self.0)
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
        fn cube_rotation(&mut self) -> Pose {
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
            let (once, twice) =
                ((a * b).transform_point(p), a.transform_point(b.transform_point(p)));
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
            assert!(
                left.transform_point(p).distance(right.transform_point(p))
                    <= 3.0 * BOUND * size * 2.0,
                "{turn}"
            );
            for around in [a * a.inverse(), a.inverse() * a] {
                let back = around.transform_point(p).distance(p.as_dvec3());
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
            let turns: Vec<Pose> = (0..1 + turn % 7).map(|_| random.cube_rotation()).collect();
            let product = turns.iter().fold(Pose::IDENTITY, |product, turn| product * *turn);
            let p = Vec3::new(1.0, 2.0, 3.0);
            let apart = turns.iter().rev().fold(p.as_dvec3(), |p, turn| turn.transform_point(p));
            assert_eq!(product.transform_point(p), apart, "{turn}");
            assert_eq!(product.inverse().transform_point(apart), p.as_dvec3(), "{turn}");
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
            let mut pose = if turn % 3 == 0 { random.cube_rotation() } else { random.pose() };
            pose *= if turn % 2 == 0 { random.cube_rotation() } else { random.pose() };
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
}
