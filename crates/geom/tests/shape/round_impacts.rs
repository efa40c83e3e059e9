//! The time of impact of capsules, cylinders and cones, against looking at many times one by one.

use super::impacts::agree_with_sampling;
use super::{round_shapes, shapes};
use glam::{DQuat, DVec3};
use jostle_geom::{
    Motion, Pose, Shape, TimeOfImpact, TimeOfImpactLimits, rotation_from_scaled_axis,
    time_of_impact,
};

#[test]
fn round_shapes_agree_with_sampling() {
    let rounds = round_shapes(1.0);
    let all = [round_shapes(1.0), shapes(1.0)].concat();
    let kinds = agree_with_sampling(51, 400, [&rounds, &all]);
    assert!(kinds[0] > 10 && kinds[1..3].iter().all(|&n| n > 100), "lopsided: {kinds:?}");
    assert!(kinds[3] < 10, "too often unknown: {kinds:?}");
}

fn from_to(from: DVec3, to: DVec3) -> Motion {
    let [from, to] = [from, to].map(|p| Pose::from_translation(p).unwrap());
    Motion::linear(&from, &to)
}

#[test]
fn known_times_of_impact() {
    let still = Motion::still(&Pose::IDENTITY);
    let limits = TimeOfImpactLimits::default();
    let plate = Shape::cuboid(DVec3::new(10.0, 10.0, 1e-6)).unwrap();
    let flight = from_to(DVec3::Z * 1e4, DVec3::Z * -1e4);
    for (shape, below) in [
        (Shape::capsule(1.0, 2.0).unwrap(), 2.0),
        (Shape::cylinder(1.0, 2.0).unwrap(), 1.0),
        (Shape::cone(1.0, 2.0).unwrap(), 1.0),
    ] {
        let found = time_of_impact(&shape, &flight, &plate, &still, &limits);
        let TimeOfImpact::During { free, closest, .. } = found else { panic!("{found:?}") };
        assert!((free - (0.5 - below / 2e4)).abs() < 1e-9, "{found:?}");
        assert!(closest.point_b.z.abs() < 1e-5, "{found:?}");
        // Two of them, head on.
        let found = time_of_impact(&shape, &flight, &shape, &still, &limits);
        let TimeOfImpact::During { free, .. } = found else { panic!("{found:?}") };
        assert!((free - (0.5 - 2.0 * below / 2e4)).abs() < 1e-9, "{found:?}");
        // Past each other, at a distance of a millionth.
        let aside = DVec3::X * (2.0 + 1e-6);
        let flight = from_to(DVec3::Z * 10.0 + aside, DVec3::Z * -10.0 + aside);
        let found = time_of_impact(&shape, &flight, &shape, &still, &limits);
        assert_eq!(found, TimeOfImpact::Never);
    }
}

#[test]
fn spinning_about_the_own_axis_next_to_a_wall_is_no_contact() {
    let wall = Shape::cuboid(DVec3::new(1.0, 10.0, 10.0)).unwrap();
    let can = Shape::cylinder(1.0, 2.0).unwrap();
    let beside = DVec3::X * (1.5 + 1e-7);
    let turned = rotation_from_scaled_axis(DVec3::Z * 3.0).unwrap();
    let [from, to] = [DQuat::IDENTITY, turned].map(|rotation| Pose::new(rotation, beside).unwrap());
    let spin = Motion::linear(&from, &to);
    let still = Motion::still(&Pose::IDENTITY);
    let limits = TimeOfImpactLimits::default();
    let found = time_of_impact(&can, &spin, &wall, &still, &limits);
    assert_eq!(found, TimeOfImpact::Never);
}
