//! Which way bodies push each other.

use super::Dice;
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{FacePair, Mesh, Model, Pair, Pose, Quality, Shape, Witness};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z)).unwrap()
}

fn normal(pair: &Pair<'_>) -> DVec3 {
    pair.contact_normal(&pair.witness().unwrap())
}

#[test]
fn a_floor_pushes_up_what_is_above_and_down_what_is_below() {
    let corners = vec![Vec3::new(-9., -9., 0.), Vec3::new(9., -9., 0.), Vec3::new(0., 9., 0.)];
    for triangle in [[0, 1, 2], [0, 2, 1]] {
        let floor = Mesh::from_triangles(corners.clone(), vec![triangle]).unwrap();
        let floor = Shape::mesh(Model::build(floor, Quality::Default));
        let others = [Shape::sphere(1.0).unwrap(), Shape::cuboid(DVec3::splat(2.0)).unwrap()];
        for other in &others {
            for (height, expected) in [(0.5, DVec3::Z), (-0.5, DVec3::NEG_Z)] {
                let place = at(1.0, 0.5, height);
                let pair = Pair::new(other, &place, &floor, &Pose::IDENTITY);
                assert_eq!(normal(&pair), expected);
                let turn = DQuat::from_xyzw(0.0, 1.0, 0.0, 1.0);
                let sideways = Pose::new(turn, DVec3::X * 1e6).unwrap();
                let pose = Pose::new(turn, sideways.transform_point(DVec3::Z * height)).unwrap();
                let pair = Pair::new(other, &pose, &floor, &sideways);
                assert_eq!(normal(&pair), DVec3::X * expected.z);
            }
        }
    }
}

#[test]
fn spheres_push_away_from_their_centre() {
    let ball = Shape::sphere(2.0).unwrap();
    let cube = Shape::cuboid(DVec3::splat(2.0)).unwrap();
    let here = Pose::IDENTITY;
    let place = at(0.0, 3.0, 0.0);
    for other in [&ball, &cube] {
        assert_eq!(normal(&Pair::new(other, &place, &ball, &here)), DVec3::Y);
    }
    assert_eq!(normal(&Pair::new(&ball, &here, &cube, &place)), DVec3::NEG_Y);
    // One in the other, and with the same centre.
    let large = Shape::sphere(100.0).unwrap();
    assert_eq!(normal(&Pair::new(&ball, &place, &large, &here)), DVec3::Y);
    assert_eq!(normal(&Pair::new(&large, &here, &ball, &place)), DVec3::NEG_Y);
    assert_eq!(normal(&Pair::new(&ball, &here, &ball, &here)), DVec3::Z);
    let far = at(1e-50, 0.0, 0.0);
    assert_eq!(normal(&Pair::new(&ball, &far, &ball, &here)), DVec3::X);
}

#[test]
fn a_face_without_area_pushes_along_the_line_of_the_centres() {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0];
    let line = Mesh::from_triangles(corners, vec![[0, 1, 2]]).unwrap();
    let line = Shape::mesh(Model::build(line, Quality::Default));
    let ball = Shape::sphere(1.0).unwrap();
    let place = at(1.0, 0.0, 0.5);
    let pair = Pair::new(&ball, &place, &line, &Pose::IDENTITY);
    assert_eq!(normal(&pair), DVec3::Z);
    let place = at(1.0, 0.0, 0.0);
    assert_eq!(normal(&Pair::new(&ball, &place, &line, &Pose::IDENTITY)), DVec3::Z);
}

#[test]
fn a_normal_is_a_unit_vector_whatever_the_witness_says() {
    let mut dice = Dice(41);
    let shapes = super::shapes(1.0);
    for (name_a, a) in &shapes {
        for (name_b, b) in &shapes {
            let pose_a = dice.pose(1.0, DVec3::ZERO);
            let pose_b = dice.pose(1.0, DVec3::ZERO);
            let pair = Pair::new(a, &pose_a, b, &pose_b);
            for point in [DVec3::ZERO, pose_b.translation(), DVec3::NAN, DVec3::MAX] {
                let witness = Witness { faces: FacePair { a: 7, b: dice.below(9) as u32 }, point };
                let normal = pair.contact_normal(&witness);
                assert!((normal.length() - 1.0).abs() < 1e-14, "{name_a} {name_b} {witness:?}");
            }
        }
    }
}
