//! Meshes that change their form: every method against all triangles, whatever the change; and
//! points against voxels, which are right within a bound.

mod common;

use common::{Random, brute_pairs, pose, quarter_turn};
use glam::{DVec2, DVec3, Vec3};
use jostle_geom::{Mesh, MeshError, Model, Pair, Pose, Quality, solids};
use jostle_lab::{
    BoxPipeline, BracketSort, Contender, Count, DeformKind, DeformScene, Deforming, Fineness,
    GrowShrink, PointsInVoxels, Renewal, Renewed, Which, deform_row,
};
use std::time::Duration;

fn methods(a: &Mesh, b: &Mesh) -> Vec<Box<dyn Deforming>> {
    vec![
        Box::new(BoxPipeline::new(a, b)),
        Box::new(BoxPipeline::parallel(a, b, 3).expect("three threads")),
        Box::new(GrowShrink::new(a, b)),
        Box::new(BracketSort::new(a, b)),
        Box::new(Renewed::new(a, b, Renewal::Refit)),
        Box::new(Renewed::new(a, b, Renewal::Rebuild)),
    ]
}

/// What happens to vertices in a frame, by turns: a little, a jump, all into one plane, on whole
/// numbers, all into one point, a size far from any other.
fn deformed(random: &mut Random, before: &[Vec3], step: usize) -> Vec<Vec3> {
    let jump = random.vector().as_vec3();
    let change = |v: &Vec3, random: &mut Random| match step % 9 {
        3 => *v + jump,
        4 => v.with_z(0.25),
        5 => (*v * 3.0).round(),
        6 => Vec3::splat(0.5),
        7 => random.vector().as_vec3() * 1e12,
        8 => random.vector().as_vec3(),
        _ => *v + random.vector().as_vec3() * 0.03,
    };
    before.iter().map(|v| change(v, random)).collect()
}

#[test]
fn any_change_of_form_is_followed() {
    let mut seen = [0; 2];
    for seed in 0..6 {
        let mut random = Random(seed);
        let mut meshes = match seed % 3 {
            0 => [common::soup(&mut random, 40, 0.2), common::soup(&mut random, 25, 0.3)],
            1 => [
                solids::sphere(0.8, 0.1).expect("a ball"),
                solids::grid(DVec2::splat(2.0), [5, 6], |p| p.x * p.y).expect("a sheet"),
            ],
            _ => [common::one_triangle(), common::soup(&mut random, 30, 0.4)],
        };
        let mut methods = methods(&meshes[0], &meshes[1]);
        for step in 0..40 {
            for (side, which) in [(0, Which::A), (1, Which::B)] {
                if (step + side) % 3 == 0 {
                    continue;
                }
                let positions = deformed(&mut random, meshes[side].vertices(), step);
                meshes[side].set_vertices(&positions).expect("as many finite numbers");
                for method in &mut methods {
                    method.set_vertices(which, &positions).expect("the same");
                }
            }
            let place = random.vector() * 0.7;
            let poses = match step % 4 {
                0 => (Pose::IDENTITY, pose(quarter_turn(&mut random), place.round())),
                _ => (pose(random.rotation(), place), pose(random.rotation(), place * 0.3)),
            };
            let expected = brute_pairs(&meshes[0], &meshes[1], &poses);
            seen[usize::from(expected.is_empty())] += 1;
            for method in &mut methods {
                let what = format!("{}, seed {seed}, step {step}", method.name());
                let touches = method.touches(&poses.0, &poses.1).0;
                assert_eq!(touches, !expected.is_empty(), "{what}");
                assert_eq!(method.all_pairs(&poses.0, &poses.1).0, expected, "{what}");
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 20), "both answers occur: {seen:?}");
}

#[test]
fn bad_vertices_are_refused_and_change_nothing() {
    let ball = solids::sphere(1.0, 0.2).expect("a ball");
    let near = pose(glam::DQuat::IDENTITY, DVec3::new(1.5, 0.1, 0.2));
    for mut method in methods(&ball, &ball) {
        let before = method.all_pairs(&Pose::IDENTITY, &near).0;
        assert!(!before.is_empty());
        let few = method.set_vertices(Which::A, &[Vec3::ZERO]);
        assert!(matches!(few, Err(MeshError::VertexCount { .. })), "{}", method.name());
        let mut bad = ball.vertices().to_vec();
        bad[3].y = f32::NAN;
        assert!(method.set_vertices(Which::B, &bad).is_err(), "{}", method.name());
        assert_eq!(method.all_pairs(&Pose::IDENTITY, &near).0, before, "{}", method.name());
    }
}

/// Scenes that are measured: all methods find the same pairs in every frame.
#[test]
fn scenes_are_the_same_for_all_methods() {
    for kind in DeformKind::ALL {
        let scene = DeformScene::new(kind, 300).expect("a scene");
        let [a, b] = scene.meshes();
        let mut rows = Vec::new();
        for mut method in methods(a, b) {
            let mut clock = || Duration::ZERO;
            let row = deform_row(&scene, 70, method.as_mut(), &mut clock, &mut |_| {});
            rows.push(row.expect("vertices of the scene"));
        }
        for row in &rows {
            let (name, first) = (&row.name, &rows[0]);
            assert_eq!((row.touching, row.pairs), (first.touching, first.pairs), "{name}");
            assert!((1..70).contains(&row.touching), "{kind:?}: {} of 70", row.touching);
        }
    }
}

/// Row Z2: the same answers, in the same order, and the same counts for any number of threads.
#[test]
fn threads_change_neither_answers_nor_counts() {
    let scene = DeformScene::new(DeformKind::Sheets, 4000).expect("a scene");
    let [a, b] = scene.meshes();
    let mut one = BoxPipeline::new(a, b);
    let threads = [1, 2, 5].map(|n| BoxPipeline::parallel(a, b, n).expect("threads"));
    let (mut touching, mut work) = (0, Count::default());
    for mut many in threads {
        for frame in 0..40 {
            let state = scene.frame(frame * 3);
            for (which, positions) in [Which::A, Which::B].into_iter().zip(&state.positions) {
                let positions = positions.as_ref().expect("sheets wave");
                let expected = one.set_vertices(which, positions).expect("vertices");
                assert_eq!(many.set_vertices(which, positions).expect("vertices"), expected);
            }
            let [pose_a, pose_b] = &state.poses;
            let expected = one.touches(pose_a, pose_b);
            assert_eq!(many.touches(pose_a, pose_b), expected, "frame {frame}");
            touching += u32::from(expected.0);
            work += expected.1;
            assert_eq!(many.all_pairs(pose_a, pose_b), one.all_pairs(pose_a, pose_b));
        }
    }
    assert!(touching > 0 && touching < 120, "{touching}");
    assert!(work.triangle_tests > 100, "{work:?}");
}

/// Zachmann 2000, 3.6.1: ε ≤ √3·s/(2n).
#[test]
fn voxels_are_within_their_error() {
    let mut random = Random(31);
    for mesh in [solids::sphere(1.0, 0.02), solids::tetra_flake(2)] {
        let mesh = mesh.expect("a solid");
        let model = Model::build(mesh.clone(), Quality::Default);
        for voxels in [4, 13, 32] {
            let fineness = Fineness { voxels, radius: 0.1, reach: 0.0 };
            let pair = PointsInVoxels::new(&mesh, &mesh, fineness);
            let side = 2.0 * (1.0 + 1e-6);
            let epsilon = 3f64.sqrt() * side / (2.0 * voxels as f64);
            assert!(pair.error() <= epsilon, "{} {epsilon}", pair.error());
            let placed = jostle_geom::PosedModel::new(&model, &Pose::IDENTITY);
            let centres: Vec<DVec3> = pair.set_voxels().collect();
            for &centre in &centres {
                let apart =
                    placed.closest_point(centre, f64::INFINITY).expect("a surface").distance;
                assert!(apart <= epsilon, "{apart} of {epsilon}");
            }
            // Of points of the surface, the nearest set voxel and the nearest point of the cloud.
            for _ in 0..300 {
                let triangle = mesh.triangles()[random.below(mesh.triangle_count())];
                let [p, q, r] = triangle.map(|v| mesh.vertices()[v as usize].as_dvec3());
                let (mut u, mut v) = ((random.signed() + 1.0) / 2.0, (random.signed() + 1.0) / 2.0);
                if u + v > 1.0 {
                    (u, v) = (1.0 - u, 1.0 - v);
                }
                let point = p + (q - p) * u + (r - p) * v;
                let near = |all: &mut dyn Iterator<Item = DVec3>| {
                    all.map(|x| x.distance(point)).fold(f64::INFINITY, f64::min)
                };
                assert!(near(&mut centres.iter().copied()) <= epsilon * (1.0 + 1e-6));
                assert!(near(&mut pair.points().iter().map(|p| p.as_dvec3())) <= 0.1 + 1e-6);
            }
        }
    }
}

#[test]
fn points_in_voxels_err_only_within_their_bound() {
    let ball = solids::sphere(1.0, 0.01).expect("a ball");
    let flake = solids::tetra_flake(3).expect("a flake");
    let mut random = Random(32);
    let (mut yes, mut no, mut wrong) = (0, 0, 0);
    for (cloud, solid) in [(&ball, &flake), (&flake, &ball), (&ball, &ball)] {
        let models = [cloud, solid].map(|mesh| Model::build(mesh.clone(), Quality::Default));
        for reach in [0.0, 0.05] {
            let fineness = Fineness { voxels: 24, radius: 0.05, reach };
            let voxels = PointsInVoxels::new(cloud, solid, fineness);
            for _ in 0..300 {
                let poses = (
                    pose(random.rotation(), random.vector()),
                    pose(random.rotation(), random.vector() * 2.0),
                );
                let (guess, _) = voxels.touches(&poses.0, &poses.1);
                let pair = Pair::new(&models[0], &poses.0, &models[1], &poses.1);
                let apart = pair.distance().expect("two surfaces").distance;
                if guess {
                    assert!(apart <= voxels.apart_at_most() * (1.0 + 1e-6), "{apart}");
                    wrong += usize::from(apart > 0.0);
                    yes += 1;
                } else if reach > 0.0 {
                    assert!(apart > 0.0, "a contact was missed: {poses:?}");
                    no += 1;
                }
            }
        }
    }
    assert!(yes > 100 && no > 100 && wrong > 0, "{yes} {no} {wrong}");
}
