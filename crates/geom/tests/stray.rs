//! A vertex that strays far from all others makes queries no more than a few times as costly, and
//! changes no answer.

use glam::{DQuat, DVec3, EulerRot, Vec3};
use jostle_geom::solids::BumpyTorus;
use jostle_geom::{Mesh, Model, Motion, Pair, Pose, PosedModel, Quality, Ray};

const QUALITIES: [Quality; 3] = [Quality::Fast, Quality::Default, Quality::Tight];

/// A torus of 5,760 triangles.
fn torus() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mesh = BumpyTorus::plain(1.0, 0.4, [72, 40]).mesh().unwrap();
    (mesh.vertices().to_vec(), mesh.triangles().to_vec())
}

/// The same with one corner of one triangle far away.
fn stray(far: f32) -> Mesh {
    let (mut vertices, mut triangles) = torus();
    triangles[100][2] = vertices.len() as u32;
    vertices.push(Vec3::new(far, far * 0.3, far * 0.1));
    Mesh::from_triangles(vertices, triangles).unwrap()
}

/// Two such tori, each at its own end of the mesh.
fn two_ends(far: f32) -> Mesh {
    let (vertices, triangles) = torus();
    let count = vertices.len() as u32;
    let beyond = vertices.iter().map(|v| *v * far * 1e-5 + Vec3::splat(far));
    let vertices: Vec<Vec3> = vertices.iter().copied().chain(beyond).collect();
    let moved = triangles.iter().map(|t| t.map(|v| v + count));
    let triangles = triangles.iter().copied().chain(moved).collect();
    Mesh::from_triangles(vertices, triangles).unwrap()
}

fn beside(x: f64) -> Pose {
    let turn = DQuat::from_euler(EulerRot::XYZ, 0.3, 1.1, 0.4);
    Pose::new(turn, DVec3::new(x, 0.2, 0.1)).unwrap()
}

/// What all pairs, one by one, say.
fn brute(model: &Model, pose: &Pose) -> usize {
    let one = |t: usize, model: &Model| {
        let mesh = model.mesh();
        let corners = mesh.triangles()[t].map(|v| mesh.vertices()[v as usize]).to_vec();
        Model::build(Mesh::from_triangles(corners, vec![[0, 1, 2]]).unwrap(), Quality::Fast)
    };
    let all: Vec<Model> = (0..model.mesh().triangle_count()).map(|t| one(t, model)).collect();
    let boxes: Vec<_> = all.iter().map(|m| PosedModel::new(m, pose).bounds().unwrap()).collect();
    let mut count = 0;
    for a in &all {
        let (low, high) = PosedModel::new(a, &Pose::IDENTITY).bounds().unwrap();
        for (b, (from, to)) in all.iter().zip(&boxes) {
            let meet = from.cmple(high).all() && low.cmple(*to).all();
            count += usize::from(meet && Pair::new(a, &Pose::IDENTITY, b, pose).touches());
        }
    }
    count
}

#[test]
fn a_stray_vertex_leaves_the_number_of_tests_as_it_is() {
    let (vertices, triangles) = torus();
    let plain = Mesh::from_triangles(vertices, triangles).unwrap();
    for quality in QUALITIES {
        let model = Model::build(plain.clone(), quality);
        let (usual, cost) =
            Pair::new(&model, &Pose::IDENTITY, &model, &beside(0.9)).all_pairs_counted();
        for far in [1e3, 1e5, 1e7, 1e12, 1e30] {
            let model = Model::build(stray(far), quality);
            let pair = Pair::new(&model, &Pose::IDENTITY, &model, &beside(0.9));
            let (found, counters) = pair.all_pairs_counted();
            assert!(found.len().abs_diff(usual.len()) < 200, "{quality:?} {far:e}");
            let tests = counters.triangle_tests + counters.box_tests;
            let usual = cost.triangle_tests + cost.box_tests;
            // From about 1e10 on the rounding of placed vertices is as large as triangles, and
            // each of them is compared with the one that goes astray.
            let triangles = model.mesh().triangle_count() as u64;
            let most = if far < 1e10 { 4 * usual } else { 20 * triangles };
            assert!(tests < most, "{quality:?}, {far:e}: {counters:?} instead of {cost:?}");
            let (_, touches) = pair.touches_counted();
            let most = if far < 1e10 { triangles / 4 } else { 4 * triangles };
            assert!(touches.triangle_tests < most, "{quality:?}, {far:e}: {touches:?}");
        }
    }
}

#[test]
fn a_mesh_with_two_ends_is_fine_at_both() {
    for quality in QUALITIES {
        for far in [1e5, 1e9] {
            let model = Model::build(two_ends(far), quality);
            let pair = Pair::new(&model, &Pose::IDENTITY, &model, &beside(0.9));
            let (found, counters) = pair.all_pairs_counted();
            assert!(!found.is_empty());
            assert!(counters.triangle_tests < 20_000, "{quality:?} {far:e}: {counters:?}");
        }
    }
}

#[test]
fn with_a_stray_vertex_the_answers_are_those_of_all_triangles() {
    for far in [1e5, 1e12] {
        let (vertices, triangles) = {
            let mesh = BumpyTorus::plain(1.0, 0.4, [16, 10]).mesh().unwrap();
            (mesh.vertices().to_vec(), mesh.triangles().to_vec())
        };
        let (mut vertices, mut triangles) = (vertices, triangles);
        triangles[7][2] = vertices.len() as u32;
        vertices.push(Vec3::new(far, far * 0.3, far * 0.1));
        let mesh = Mesh::from_triangles(vertices, triangles).unwrap();
        for quality in QUALITIES {
            let model = Model::build(mesh.clone(), quality);
            let same =
                Model::hierarchy_from_bytes(mesh.clone(), &model.hierarchy_to_bytes()).unwrap();
            assert_eq!(same.hash(), model.hash(), "saved and loaded");
            for x in [0.9, 0.0, 1.7] {
                let expected = brute(&model, &beside(x));
                let pair = |m| Pair::new(m, &Pose::IDENTITY, m, &beside(x)).all_pairs().len();
                assert_eq!(pair(&model), expected, "{quality:?}, {far:e}, {x}");
                assert_eq!(pair(&same), expected, "{quality:?}, {far:e}, {x}, loaded");
                assert!(x > 1.0 || expected > 0);
            }
            let pose = Pose::from_translation(DVec3::new(1.0, 2.0, 3.0)).unwrap();
            let placed = PosedModel::new(&model, &pose);
            for k in 0..40 {
                let from = DVec3::new(f64::from(k) * 0.05, 2.1, -5.0);
                let ray = Ray::new(from, DVec3::new(0.01, 0.02, 1.0), 100.0).unwrap();
                let one_by_one = (0..model.mesh().triangle_count()).any(|t| {
                    let corners = model.mesh().triangles()[t];
                    let corners = corners.map(|v| model.mesh().vertices()[v as usize]).to_vec();
                    let one = Mesh::from_triangles(corners, vec![[0, 1, 2]]).unwrap();
                    let one = Model::build(one, Quality::Fast);
                    PosedModel::new(&one, &pose).ray_any(&ray)
                });
                assert_eq!(placed.ray_any(&ray), one_by_one, "{quality:?}, {far:e}, {k}");
            }
        }
    }
}

#[test]
fn a_vertex_that_comes_back_leaves_no_trace_and_one_that_goes_astray_is_followed() {
    let far = stray(1e7);
    let mut near = far.vertices().to_vec();
    let last = near.iter().position(|v| v.x > 1e6).unwrap();
    near[last] = Vec3::new(1.0, 0.0, 0.5);
    let mut caller = vec![Vec3::ZERO; near.len()];
    // The caller's order is that of `stray`: the last vertex is the stray one.
    let (mut original, _) = torus();
    original.push(Vec3::new(1.0, 0.0, 0.5));
    caller.copy_from_slice(&original);
    let mut model = Model::build(far, Quality::Default);
    model.refit(&caller).unwrap();
    let loaded = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(loaded.hash(), model.hash());
    let back = Pair::new(&model, &Pose::IDENTITY, &model, &beside(0.9)).all_pairs_counted();
    assert!(back.1.triangle_tests < 20_000, "{:?}", back.1);
    let away = *caller.last().unwrap() * 1e7;
    *caller.last_mut().unwrap() = away;
    model.refit(&caller).unwrap();
    let loaded = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(loaded.hash(), model.hash());
    let gone = Pair::new(&model, &Pose::IDENTITY, &model, &beside(0.9)).all_pairs_counted();
    assert!(gone.1.triangle_tests < 40_000, "{:?}", gone.1);
}

#[test]
fn a_model_with_a_stray_vertex_moves_until_it_touches() {
    let model = Model::build(stray(1e5), Quality::Default);
    let ball = Model::build(jostle_geom::solids::sphere(0.1, 0.001).unwrap(), Quality::Default);
    let from = Pose::from_translation(DVec3::new(-4.0, 0.0, 0.0)).unwrap();
    let to = Pose::from_translation(DVec3::new(0.0, 0.0, 0.0)).unwrap();
    let stands = Motion::still(&Pose::IDENTITY);
    let comes = Motion::linear(&from, &to);
    let limits = jostle_geom::TimeOfImpactLimits::default();
    let met = jostle_geom::time_of_impact(&model, &stands, &ball, &comes, &limits);
    let jostle_geom::TimeOfImpact::During { free, .. } = met else { panic!("{met:?}") };
    assert!((free - 2.5 / 4.0).abs() < 0.01, "{free}");
}
