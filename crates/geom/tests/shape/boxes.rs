//! Boxes against boxes: what is seen without triangles against what the triangles say.

use super::{Dice, count_answers};
use glam::DVec3;
use jostle_geom::{Pair, Pose, Shape};

/// Compares with the pair of their triangles; returns whether they touch.
fn check(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, about: &str) -> bool {
    let pair = Pair::new(a, pose_a, b, pose_b);
    let exact = Pair::new(a.model().unwrap(), pose_a, b.model().unwrap(), pose_b);
    let touches = exact.touches();
    assert_eq!(pair.touches(), touches, "{about}");
    assert_eq!(pair.witness(), exact.witness(), "{about}");
    assert_eq!(pair.all_pairs(), exact.all_pairs(), "{about}");
    let distance = exact.distance().unwrap();
    assert_eq!(pair.distance(), Some(distance), "{about}");
    let bound = pair.distance_lower_bound();
    assert!(bound <= distance.distance, "{about}: {bound} {distance:?}");
    for within in [0.0, distance.distance, distance.distance.next_down(), bound] {
        assert_eq!(pair.within(within), exact.within(within), "{about} {within:?}");
    }
    touches
}

fn any_box(dice: &mut Dice, scale: f64) -> Shape {
    let edge = |dice: &mut Dice| match dice.below(4) {
        0 => 1.0,
        1 => 1e-3,
        _ => 2.1 + 2.0 * dice.signed(),
    };
    let size = DVec3::new(edge(dice), edge(dice), edge(dice));
    Shape::cuboid(size * scale).unwrap()
}

#[test]
fn boxes_anywhere() {
    count_answers::<2>(31, 6_000, 1_000, |case, dice| {
        let scale = [1.0, 1.0, 1e20, 1e-20][case % 4];
        let far = dice.vector() * [0.0, 1e3, 1e9][case % 3];
        let (a, b) = (any_box(dice, scale), any_box(dice, scale));
        let (pose_a, pose_b) = (dice.pose(scale, far), dice.pose(scale, far));
        let nearer = pose_a.translation().lerp(pose_b.translation(), 0.5);
        let pose_b = Pose::new(pose_b.rotation(), nearer).unwrap();
        let about = format!("seed 31, case {case}: {a:?} {b:?}\n{pose_a:?}\n{pose_b:?}");
        usize::from(check(&a, &pose_a, &b, &pose_b, &about))
    });
}

/// Moved together until they touch, or all but touch, or overlap by a sliver.
#[test]
fn boxes_that_all_but_touch() {
    count_answers::<2>(32, 3_000, 500, |case, dice| {
        let (a, b) = (any_box(dice, 1.0), any_box(dice, 1.0));
        let (pose_a, pose_b) =
            (dice.pose(1.0, DVec3::ZERO), dice.pose(1.0, DVec3::splat((case % 2) as f64 * 2.0)));
        let apart = Pair::new(&a, &pose_a, &b, &pose_b).distance().unwrap();
        let way = apart.point_a - apart.point_b;
        let more = [0.0, 1e-15, -1e-15, 1e-13, -1e-13, 1e-10, -1e-10][dice.below(7)];
        let moved = pose_b.translation() + way * (1.0 + more);
        let pose_b = Pose::new(pose_b.rotation(), moved).unwrap();
        let about = format!("seed 32, case {case}: {a:?} {b:?}\n{pose_a:?}\n{pose_b:?}");
        usize::from(check(&a, &pose_a, &b, &pose_b, &about))
    });
}
