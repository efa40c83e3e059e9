//! The clearance of a motion against samples of it, which never come closer than is proved.

use glam::{DQuat, DVec3};
use jostle_geom::{
    ClearanceLimits, Model, Motion, Pair, Pose, Quality, Shape, clearance_over, solids,
};

mod soup;
use soup::Random;

#[test]
fn no_sample_is_closer_than_the_proof_and_the_bounds_meet() {
    let (mut free, mut hit) = (0, 0);
    for seed in 0..24 {
        let mut random = Random(seed);
        let size = DVec3::new(1.0, 0.3, 0.2);
        let rod = Model::build(solids::cuboid(size).unwrap(), Quality::Default);
        let ball = Model::build(solids::sphere(0.4, 0.05).unwrap(), Quality::Default);
        let place = |random: &mut Random, x: f64| {
            let at = DVec3::new(x, random.unit(), random.unit());
            Pose::new(random.rotation(), at).unwrap()
        };
        let (from, to) = (place(&mut random, -2.0), place(&mut random, 2.0));
        let motion = match seed % 2 {
            0 => Motion::linear(&from, &to),
            _ => Motion::screw(&from, &to).unwrap(),
        };
        let other = Motion::linear(&Pose::IDENTITY, &Pose::from_translation(DVec3::Y).unwrap());
        let limits = ClearanceLimits { tolerance: 0.02, distances_max: 2000 };
        let found = clearance_over(&rod, &motion, &ball, &other, &limits).unwrap();
        let at = |time: f64| {
            let pair = Pair::new(&rod, &motion.at(time), &ball, &other.at(time));
            pair.distance().unwrap().distance
        };
        for step in 0..=300 {
            let sample = at(f64::from(step) / 300.0);
            assert!(found.at_least <= sample, "seed {seed}: {sample} {found:?}");
        }
        assert_eq!(at(found.time), found.at_most, "seed {seed}");
        assert_eq!(found.closest.distance, found.at_most, "seed {seed}");
        let width = found.at_most - found.at_least;
        assert!((0.0..=0.02).contains(&width), "seed {seed}: {found:?}");
        free += u32::from(found.at_least > 0.0);
        hit += u32::from(found.at_most == 0.0);
        // Few distances give a wider interval that holds the same.
        let few = ClearanceLimits { tolerance: 0.0, distances_max: 5 };
        let few = clearance_over(&rod, &motion, &ball, &other, &few).unwrap();
        assert!(few.at_least <= found.at_most && found.at_least <= few.at_most, "seed {seed}");
    }
    assert!(free > 3 && hit > 3, "{free} {hit}");
}

#[test]
fn a_turn_on_the_spot_comes_as_close_as_its_corner() {
    // A square of half diagonal √2 turns about its centre, 2 away from a small ball.
    let square = Shape::cuboid(DVec3::new(2.0, 2.0, 0.1)).unwrap();
    let ball = Shape::sphere(0.1).unwrap();
    let quarter = Pose::new(DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0), DVec3::ZERO).unwrap();
    let turn = Motion::linear(&Pose::IDENTITY, &quarter);
    let still = Motion::still(&Pose::from_translation(DVec3::X * 2.0).unwrap());
    let limits = ClearanceLimits { tolerance: 1e-4, distances_max: 100_000 };
    let found = clearance_over(&square, &turn, &ball, &still, &limits).unwrap();
    let truth = 2.0 - 2f64.sqrt() - 0.1;
    assert!(found.at_least <= truth && truth <= found.at_most + 1e-12, "{found:?}");
    assert!(found.at_most - found.at_least <= 1e-4 && (found.time - 0.5).abs() < 0.01, "{found:?}");
    let nothing = Model::build(
        jostle_geom::Mesh::from_triangles(Vec::new(), Vec::new()).unwrap(),
        Quality::Fast,
    );
    assert_eq!(clearance_over(&nothing, &turn, &ball, &still, &limits), None);
}
