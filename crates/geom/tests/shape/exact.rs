//! Shapes that just touch, in numbers that show it without a computation.

use super::count_answers;
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{Mesh, Model, Pair, Pose, Quality, Shape};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z)).unwrap()
}

/// Touching or not, by every question and both ways round.
fn touch(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> bool {
    let pair = Pair::new(a, pose_a, b, pose_b);
    let swapped = Pair::new(b, pose_b, a, pose_a);
    let touches = pair.touches();
    for pair in [pair, swapped] {
        assert_eq!(pair.touches(), touches);
        assert_eq!(pair.within(0.0), touches);
        assert_eq!(pair.witness().is_some(), touches);
        assert_eq!(pair.distance().unwrap().distance == 0.0, touches);
    }
    touches
}

#[test]
fn balls_at_whole_distances() {
    count_answers::<3>(21, 5_000, 50, |case, dice| {
        let scale = 2f64.powi([0, -100, 60][case % 3]);
        let (p, q) = (dice.grid(3), dice.grid(3));
        let (ra, rb) = (dice.below(5) as f64, dice.below(5) as f64);
        let [a, b] = [ra, rb].map(|r| Shape::sphere(r * scale).unwrap());
        let [pose_a, pose_b] = [p, q].map(|p| Pose::from_translation(p * scale).unwrap());
        let (apart, reach) = ((p - q).length_squared() as i64, ((ra + rb) * (ra + rb)) as i64);
        let about = format!("seed 21, case {case}: {p} {ra}, {q} {rb}, times {scale}");
        assert_eq!(touch(&a, &pose_a, &b, &pose_b), apart <= reach, "{about}");
        (apart.cmp(&reach) as i8 + 1) as usize
    });
}

#[test]
fn a_ball_just_reaches_the_face_edge_and_corner_of_a_box() {
    let cube = Shape::cuboid(DVec3::new(2.0, 4.0, 6.0)).unwrap();
    // 5 = 3-4-0 from an edge, 7 = 2-3-6 from a corner, 2 from a face; then the same turned.
    let cases = [
        (DVec3::new(3.0, 0.5, 0.25), 2.0f64),
        (DVec3::new(4.0, 6.0, 1.0), 5.0),
        (DVec3::new(-3.0, -5.0, 9.0), 7.0),
    ];
    let turns = [DQuat::IDENTITY, DQuat::from_xyzw(1.0, 0.0, 0.0, 1.0)];
    for (centre, radius) in cases {
        for turn in turns {
            for far in [DVec3::ZERO, DVec3::new(4096.0, -64.0, 3.0)] {
                let pose = Pose::new(turn, far).unwrap();
                let place = Pose::from_translation(pose.transform_point(centre)).unwrap();
                let [just, less] = [radius, radius.next_down()].map(|r| Shape::sphere(r).unwrap());
                assert!(touch(&just, &place, &cube, &pose), "{centre} {turn} {far}");
                assert!(!touch(&less, &place, &cube, &pose), "{centre} {turn} {far}");
            }
        }
    }
}

#[test]
fn a_point_is_a_ball_of_no_size() {
    let point = Shape::sphere(0.0).unwrap();
    let floor = vec![Vec3::ZERO, Vec3::X * 4.0, Vec3::Y * 4.0];
    let floor = Mesh::from_triangles(floor, vec![[0, 1, 2]]).unwrap();
    let floor = Shape::mesh(Model::build(floor, Quality::Default));
    let cube = Shape::cuboid(DVec3::splat(2.0)).unwrap();
    let here = Pose::IDENTITY;
    assert!(touch(&point, &at(1.0, 1.0, 0.0), &floor, &here));
    assert!(touch(&point, &at(2.0, 2.0, 0.0), &floor, &here));
    assert!(!touch(&point, &at(2.0, 2.0f64.next_up(), 0.0), &floor, &here));
    assert!(!touch(&point, &at(1.0, 1.0, 1e-60), &floor, &here));
    assert!(touch(&point, &at(1.0, 1.0, 1.0), &cube, &here));
    assert!(touch(&point, &at(0.5, 0.0, 0.0), &cube, &here));
    assert!(!touch(&point, &at(1.0, 1.0, 1.0f64.next_up()), &cube, &here));
    assert!(touch(&point, &at(5.0, 6.0, 7.0), &point, &at(5.0, 6.0, 7.0)));
    assert!(!touch(&point, &at(5.0, 6.0, 7.0), &point, &at(5.0, 6.0, 7.0f64.next_up())));
}

#[test]
fn what_is_inside_touches() {
    let [small, large] = [1.0, 10.0].map(|r| Shape::sphere(r).unwrap());
    let [little, big] = [1.0, 50.0].map(|s| Shape::cuboid(DVec3::splat(s)).unwrap());
    let here = Pose::IDENTITY;
    let beside = at(2.0, 1.0, 3.0);
    for inner in [&small, &little] {
        for outer in [&large, &big] {
            assert!(touch(inner, &beside, outer, &here));
            assert!(touch(inner, &here, outer, &here));
        }
    }
    // Face 0 of a sphere is all of it; a solid of triangles has faces on its surface only.
    assert_eq!(Pair::new(&small, &beside, &large, &here).all_pairs().len(), 1);
    assert_eq!(Pair::new(&little, &beside, &large, &here).all_pairs().len(), 6);
    assert_eq!(Pair::new(&small, &beside, &big, &here).all_pairs(), []);
}

#[test]
fn boxes_that_share_a_face_an_edge_or_a_corner() {
    let cube = Shape::cuboid(DVec3::splat(2.0)).unwrap();
    let brick = Shape::cuboid(DVec3::new(2.0, 4.0, 6.0)).unwrap();
    let turns = [DQuat::IDENTITY, DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0)];
    let far = 2f64.powi(30);
    for turn in turns {
        for shift in [0.0, far] {
            let here = Pose::new(turn, DVec3::splat(shift)).unwrap();
            let next = |x: f64, y: f64, z: f64| {
                Pose::new(turn, DVec3::new(x, y, z) + DVec3::splat(shift)).unwrap()
            };
            assert!(touch(&cube, &here, &cube, &next(2.0, 0.5, 0.5)));
            assert!(touch(&cube, &here, &cube, &next(2.0, 2.0, 0.5)));
            assert!(touch(&cube, &here, &cube, &next(2.0, -2.0, 2.0)));
            // The next larger number that is there, so far out.
            let beyond = (2.0 + shift).next_up() - shift;
            assert!(!touch(&cube, &here, &cube, &next(beyond, 0.5, 0.5)));
            assert!(!touch(&cube, &here, &cube, &next(2.0, 2.0, beyond)));
        }
        let sideways = Pose::new(turn, DVec3::new(0.0, 0.0, 4.0)).unwrap();
        assert!(touch(&cube, &Pose::IDENTITY, &brick, &sideways));
        let above = Pose::new(turn, DVec3::new(0.0, 0.0, 4.0f64.next_up())).unwrap();
        assert!(!touch(&cube, &Pose::IDENTITY, &brick, &above));
    }
}
