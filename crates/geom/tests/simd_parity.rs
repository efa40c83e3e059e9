//! With and without vector instructions: the same bits. The switch is global, so this file has one
//! test only.

mod soup;

use glam::DVec3;
use jostle_geom::simd::use_scalar_only;
use jostle_geom::solids::{self, BumpyTorus};
use jostle_geom::{Clearing, Counters, DepthError, FacePair, Mesh, Model, Pair, Pose};
use soup::{QUALITIES, Random, grid_soup, polygon_soup, soup};

/// Everything that comes out of a scene.
#[derive(Debug, PartialEq)]
struct Outcome {
    saved: [Vec<u8>; 2],
    refitted: Vec<u8>,
    answers: Vec<(bool, Vec<FacePair>, Counters, Counters)>,
    /// Where both are closed.
    clearings: Vec<Result<Clearing, DepthError>>,
}

fn run(a: &Mesh, b: &Mesh, reach: f64, scalar: bool) -> Vec<Outcome> {
    use_scalar_only(scalar);
    let outcome = |quality| {
        let models = [Model::build(a.clone(), quality), Model::build(b.clone(), quality)];
        let mut random = Random(77);
        let mut moved = models[0].clone();
        let positions: Vec<_> =
            a.vertices().iter().map(|v| *v * (1.5 + random.unit() as f32)).collect();
        moved.refit(&positions).unwrap();
        let answers = (0..8).map(|_| {
            let (pose_a, pose_b) = (random.pose(reach * 0.1), random.pose(reach));
            let pair = Pair::new(&models[0], &pose_a, &models[1], &pose_b);
            (pair.touches(), pair.all_pairs(), pair.touches_counted().1, pair.all_pairs_counted().1)
        });
        let answers = answers.collect();
        let clearing = |pair: [&Model; 2]| {
            let pose = random.pose(reach);
            let n = random.pose(reach).translation();
            Pair::new(pair[0], &Pose::IDENTITY, pair[1], &pose).clearing(n)
        };
        let solids = models.each_ref().map(|model| model.clone().into_solid());
        let clearings = match &solids {
            [Ok(a), Ok(b)] => std::iter::repeat_n([a, b], 8).map(clearing).collect(),
            _ => Vec::new(),
        };
        Outcome {
            answers,
            clearings,
            saved: models.each_ref().map(Model::hierarchy_to_bytes),
            refitted: moved.hierarchy_to_bytes(),
        }
    };
    let outcomes = QUALITIES.map(outcome).into();
    use_scalar_only(false);
    outcomes
}

#[test]
fn plain_arrays_and_vector_instructions_give_the_same_bits() {
    let mut random = Random(8);
    let mut soups = |count: usize, scale: f32| {
        [soup(&mut random, count, scale, 0.1), soup(&mut random, count, scale, 0.1)]
    };
    let [a, b] = soups(300, 1.0);
    let [tiny_a, tiny_b] = soups(60, 1e-40);
    let [huge_a, huge_b] = soups(60, 1e25);
    let torus = |tube: f64| BumpyTorus::plain(1.0, tube, [80, 40]).mesh().unwrap();
    let cube = solids::cuboid(DVec3::ONE).unwrap();
    let flake = solids::tetra_flake(3).unwrap();
    let grids = [grid_soup(&mut random, 200, 4, 0.5), grid_soup(&mut random, 200, 4, 0.5)];
    let nothing = Mesh::from_triangles(Vec::new(), Vec::new()).unwrap();
    let scenes = [
        (&a, &b, 1.5),
        (&tiny_a, &tiny_b, 2e-40),
        (&huge_a, &huge_b, 2e25),
        (&torus(0.3), &torus(0.2), 2.0),
        (&cube, &flake, 1.5),
        (&grids[0], &grids[1], 2.5),
        (&polygon_soup(&mut random, 50), &cube, 1.5),
        (&nothing, &cube, 1.0),
    ];
    let (mut yes, mut no, mut unsure, mut moves) = (0, 0, 0, 0);
    for (index, (a, b, reach)) in scenes.into_iter().enumerate() {
        let (vector, scalar) = (run(a, b, reach, false), run(a, b, reach, true));
        for ((one, other), quality) in vector.iter().zip(&scalar).zip(QUALITIES) {
            assert!(one.saved == other.saved, "built: scene {index}, {quality:?}");
            assert!(one.refitted == other.refitted, "refitted: scene {index}, {quality:?}");
            assert_eq!(one.answers, other.answers, "scene {index}, {quality:?}");
            assert_eq!(one.clearings, other.clearings, "scene {index}, {quality:?}");
            moves += one.clearings.iter().flatten().filter(|c| c.last > 0.0).count();
            for (touches, _, _, cost) in &one.answers {
                *if *touches { &mut yes } else { &mut no } += 1;
                unsure += cost.unsure;
            }
        }
    }
    assert!(yes > 20 && no > 20 && unsure > 20, "{yes} yes, {no} no, {unsure} unsure");
    assert!(moves > 20, "{moves}");
    // One more pair in one and the same place, where the filter can decide little.
    use_scalar_only(true);
    let model = Model::build(cube, QUALITIES[1]);
    let slow = Pair::new(&model, &Pose::IDENTITY, &model, &Pose::IDENTITY).all_pairs_counted().1;
    use_scalar_only(false);
    let fast = Pair::new(&model, &Pose::IDENTITY, &model, &Pose::IDENTITY).all_pairs_counted().1;
    assert_eq!(slow, fast);
}
