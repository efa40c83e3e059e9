//! A motion is at its ends to the bit, moves as it says between them, and is the same everywhere.

use glam::{DQuat, DVec3};
use jostle_dice::Random;
use jostle_geom::{Motion, Pose};

fn any_pose(random: &mut Random, far: f64) -> Pose {
    Pose::new(random.rotation().normalize(), random.vector() * far).unwrap()
}

/// Where glam and the library's trigonometry have the pose: translation by hand, rotation by
/// turning the relative rotation's axis and angle.
fn twin(start: &Pose, end: &Pose, screw: bool, s: f64) -> (DQuat, DVec3) {
    let mut turn = end.rotation() * start.rotation().conjugate();
    if turn.w < 0.0 {
        turn = -turn;
    }
    let (axis, angle) = turn.to_axis_angle();
    let part = DQuat::from_axis_angle(axis, angle * s);
    let way = end.translation() - start.translation();
    if !screw {
        return (part * start.rotation(), start.translation() + way * s);
    }
    // The centre of the circle: half way, then sideways by half the way over the half angle's
    // tangent.
    let along = axis * axis.dot(way);
    let across = way - along;
    let center =
        start.translation() + across * 0.5 + axis.cross(across) * (0.5 / (0.5 * angle).tan());
    let moved = center + part * (start.translation() - center) + along * s;
    (part * start.rotation(), moved)
}

#[test]
fn ends_are_exact_and_between_is_as_the_twin_says() {
    for seed in 0..300 {
        let mut random = Random(seed);
        let (start, end) = (any_pose(&mut random, 10.0), any_pose(&mut random, 10.0));
        let s = random.part();
        for screw in [false, true] {
            let motion = if screw {
                Motion::screw(&start, &end).unwrap()
            } else {
                Motion::linear(&start, &end)
            };
            assert_eq!((motion.at(0.0), motion.at(1.0)), (start, end), "seed {seed}");
            assert_eq!((motion.at(-5.0), motion.at(f64::NAN)), (start, start), "seed {seed}");
            assert_eq!(motion.at(5.0), end, "seed {seed}");
            let (rotation, translation) = twin(&start, &end, screw, s);
            let pose = motion.at(s);
            let apart = pose.translation().distance(translation);
            // The twin's centre is far away for small angles.
            assert!(apart < 1e-12, "seed {seed} screw {screw} at {s}: {apart}");
            let turned = pose.rotation().dot(rotation).abs();
            assert!(turned > 1.0 - 1e-14, "seed {seed} screw {screw} at {s}: {turned}");
            // No jump at the ends.
            for (near, there) in [(1e-17, start), (1.0 - f64::EPSILON / 2.0, end)] {
                let pose = motion.at(near);
                assert!(pose.translation().distance(there.translation()) < 1e-13, "seed {seed}");
                assert!(pose.rotation().dot(there.rotation()).abs() > 1.0 - 1e-15, "seed {seed}");
            }
        }
    }
}

#[test]
fn a_tiny_turn_over_a_long_way_loses_no_digits() {
    for exponent in 1..60 {
        let angle = 0.5f64.powi(exponent);
        let end = Pose::new(DQuat::from_rotation_z(angle), DVec3::new(3.0, 4.0, 5.0)).unwrap();
        let motion = Motion::screw(&Pose::IDENTITY, &end).unwrap();
        let half = motion.at(0.5).translation();
        // The arc rises above its chord by a quarter of it times the tangent of the quarter angle,
        // here by 5/2 · tan(angle/4) normal to (3, 4).
        let rise = 2.5 * (0.25 * angle).tan();
        let expected = DVec3::new(1.5 + 0.8 * rise, 2.0 - 0.6 * rise, 2.5);
        assert!(half.distance(expected) < 2e-15, "angle {angle}: {half} {expected}");
    }
}

#[test]
fn the_short_way_and_half_a_turn() {
    let start = Pose::IDENTITY;
    let turn = |q: DQuat| Pose::new(q, DVec3::ZERO).unwrap();
    let quarter = DQuat::from_rotation_y(1.5);
    let (plus, minus) = (turn(quarter), turn(-quarter));
    assert_eq!(
        Motion::linear(&start, &plus).at(0.3).rows(),
        Motion::linear(&start, &minus).at(0.3).rows()
    );
    // 350 degrees forth are 10 back.
    let back = Motion::linear(&start, &turn(DQuat::from_rotation_y(350f64.to_radians()))).at(0.5);
    assert!(
        back.transform_point(glam::Vec3::X).distance(DVec3::new(
            5f64.to_radians().cos(),
            0.0,
            5f64.to_radians().sin()
        )) < 1e-15
    );
    // Half a turn: right-handed about +x, whatever the sign of the quaternion.
    for sign in [1.0, -1.0] {
        let half = turn(DQuat::from_xyzw(sign, 0.0, 0.0, 0.0));
        let up = Motion::linear(&start, &half).at(0.5).transform_point(glam::Vec3::Y);
        assert!(up.distance(DVec3::Z) < 1e-15, "{up}");
    }
}

#[test]
fn still_stays_and_far_poses_work() {
    let mut random = Random(7);
    let pose = any_pose(&mut random, 1.0);
    assert_eq!(Motion::still(&pose).at(0.37), pose);
    assert_eq!(Motion::linear(&pose, &pose).at(0.37), pose);
    assert_eq!(Motion::screw(&pose, &pose).unwrap().at(0.37), pose);
    let far =
        |x: f64| Pose::new(DQuat::from_rotation_x(x), DVec3::splat(x * 2f64.powi(99))).unwrap();
    let motion = Motion::linear(&far(1.9999), &far(-1.9999));
    assert!((0..100).all(|i| motion.at(f64::from(i) / 100.0).translation().is_finite()));
    assert!(Motion::screw(&far(1.9999), &far(-1.9999)).is_err());
    assert!(Motion::screw(&far(0.01), &far(-0.01)).is_ok());
}

/// A hash of the bits of many poses. It must never change, on any machine.
#[test]
fn golden_bits() {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    // A rotation without library trigonometry.
    let end = Pose::new(DQuat::from_xyzw(0.3, -0.5, 0.7, 0.2), DVec3::new(1.0, -2.0, 3.0)).unwrap();
    let start =
        Pose::new(DQuat::from_xyzw(0.1, 0.2, -0.4, 0.8), DVec3::new(0.5, 0.25, -4.0)).unwrap();
    for motion in [Motion::linear(&start, &end), Motion::screw(&start, &end).unwrap()] {
        for i in 0..=64 {
            let pose = motion.at(f64::from(i) / 64.0);
            let [x, y, z] = pose.rows();
            for number in [x, y, z, pose.translation()].iter().flat_map(|v| v.to_array()) {
                // -0 and 0 are the same place.
                hash = (hash ^ (number + 0.0).to_bits()).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
    }
    assert_eq!(hash, 0xd455_bf2b_e754_d8a7, "{hash:#018x}");
}
