//! Meshes with vertices in `f64`.
//!
//! The twin: a mesh whose coordinates are small multiples of 2^-20 fits `f32`. Moved by whole
//! numbers of about a million it does not, but nothing is rounded either. So a model made far away
//! in `f64` and one made here in `f32` and posed there have the same placed vertices to the bit,
//! and every question must have the same answer.

use glam::{DAffine3, DVec3, Vec3};
use jostle_geom::{
    Mesh, MeshError, Model, Motion, Pair, Plane, Pose, PosedModel, Quality, Ray, TimeOfImpact,
    TimeOfImpactLimits, solids, time_of_impact,
};

mod soup;
use soup::{QUALITIES, Random};

/// The steps of all coordinates: about 1e-6.
const STEP: f64 = 1.0 / (1 << 20) as f64;

const FAR: DVec3 = DVec3::new(1_000_000.0 + STEP, -700_000.0, 3_000_001.0);

fn stepped(v: DVec3) -> DVec3 {
    (v / STEP).round() * STEP
}

/// Small triangles and large ones; some are segments or points; many share corners.
fn near_zero(random: &mut Random, most: usize, spread: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let count = 1 + random.below(most);
    let mut vertices = Vec::new();
    for _ in 0..count {
        let middle = random.vector();
        vertices.extend([0; 3].map(|_| stepped(middle + random.vector() * spread)));
    }
    let all = vertices.len();
    let triangles = (0..count).map(|t| {
        let own = [0, 1, 2].map(|k| (3 * t + k) as u32);
        match random.below(8) {
            0 => [own[0], own[1], random.below(all) as u32],
            1 => [own[0], own[1], own[1]],
            _ => own,
        }
    });
    let triangles = triangles.collect();
    (vertices, triangles)
}

struct Twins {
    narrow: Model,
    wide: Model,
    /// Where the narrow one must be to be where the wide one is.
    at: Pose,
}

impl Twins {
    fn of(vertices: &[DVec3], triangles: &[[u32; 3]], quality: Quality, solid: bool) -> Twins {
        let here = vertices.iter().map(|v| v.as_vec3()).collect();
        let there = vertices.iter().map(|v| *v + FAR).collect();
        let narrow = Mesh::from_triangles(here, triangles.to_vec()).unwrap();
        let wide = Mesh::from_triangles_f64(there, triangles.to_vec()).unwrap();
        assert!(narrow.vertices_f64().is_none() && wide.vertices_f64().is_some());
        let marked = |mesh: Mesh| if solid { mesh.into_solid().unwrap() } else { mesh };
        let [narrow, wide] = [narrow, wide].map(|mesh| Model::build(marked(mesh), quality));
        Twins { narrow, wide, at: Pose::from_translation(FAR).unwrap() }
    }
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

/// All that a pair can be asked; the two pairs have the same placed vertices.
fn compare(pair: &Pair<'_>, twin: &Pair<'_>, what: &str) -> bool {
    let touches = pair.touches();
    assert_eq!(touches, twin.touches(), "{what}");
    assert_eq!(pair.witness().is_some(), touches, "{what}");
    assert_eq!(sorted(pair.all_pairs()), sorted(twin.all_pairs()), "{what}");
    let faces = |pair: &Pair<'_>| sorted(pair.all_segments().iter().map(|s| s.faces).collect());
    assert_eq!(faces(pair), faces(twin), "{what}");
    let (found, expected) = (pair.distance().unwrap(), twin.distance().unwrap());
    assert!((found.distance - expected.distance).abs() < 1e-8, "{what}: {found:?} {expected:?}");
    assert_eq!(found.distance == 0.0, expected.distance == 0.0, "{what}");
    for limit in [0.0, expected.distance * 0.99, expected.distance * 1.01 + 1e-7] {
        assert_eq!(pair.within(limit), twin.within(limit), "{what}: {limit}");
    }
    assert!(pair.distance_lower_bound() <= found.distance, "{what}");
    assert_eq!(pair.relation(), twin.relation(), "{what}");
    assert_eq!(pair.overlaps(), twin.overlaps(), "{what}");
    touches
}

#[test]
fn a_pair_far_away_in_f64_is_the_pair_here_in_f32_and_so_are_mixed_ones() {
    let mut seen = [0; 2];
    for seed in 0..60 {
        let mut random = Random(seed);
        let spread = [0.3, 0.05, 2e-5][seed as usize % 3];
        let quality = QUALITIES[seed as usize % 3];
        let (vertices, triangles) = near_zero(&mut random, 60, spread);
        let a = Twins::of(&vertices, &triangles, quality, false);
        let (mut vertices, triangles) = near_zero(&mut random, 60, spread);
        // So that corners touch now and then, or miss by a step.
        let (mine, corner) =
            (random.below(vertices.len()), random.below(a.narrow.mesh().vertices().len()));
        let onto = a.narrow.mesh().position(corner as u32) - vertices[mine];
        let off = DVec3::X * STEP * random.below(2) as f64;
        vertices.iter_mut().for_each(|v| *v += onto + off);
        let b = Twins::of(&vertices, &triangles, quality, false);
        let twin = Pair::new(&a.narrow, &a.at, &b.narrow, &b.at);
        let still = Pose::IDENTITY;
        for pair in [
            Pair::new(&a.wide, &still, &b.wide, &still),
            Pair::new(&a.wide, &still, &b.narrow, &b.at),
            Pair::new(&a.narrow, &a.at, &b.wide, &still),
        ] {
            let touches = compare(&pair, &twin, &format!("seed {seed}"));
            seen[usize::from(touches)] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
}

#[test]
fn solids_know_what_is_inside_them_far_away() {
    let mut seen = std::collections::BTreeSet::new();
    let cuboid = solids::cuboid(DVec3::new(1.0, 0.5, 0.25)).unwrap();
    let corners: Vec<DVec3> = cuboid.vertices().iter().map(|v| v.as_dvec3()).collect();
    for seed in 0..40 {
        let mut random = Random(seed);
        let a = Twins::of(&corners, cuboid.triangles(), Quality::Default, true);
        let scale = [0.25, 1.0, 2.0][random.below(3)];
        let by =
            [DVec3::ZERO, DVec3::X, stepped(random.vector()), DVec3::Y * 0.5 + DVec3::Y * STEP]
                [random.below(4)];
        let moved: Vec<DVec3> = corners.iter().map(|v| *v * scale + by).collect();
        let b = Twins::of(&moved, cuboid.triangles(), Quality::Default, true);
        let twin = Pair::new(&a.narrow, &a.at, &b.narrow, &b.at);
        let pair = Pair::new(&a.wide, &Pose::IDENTITY, &b.wide, &Pose::IDENTITY);
        compare(&pair, &twin, &format!("seed {seed}"));
        seen.insert(format!("{:?}", pair.relation()));
        let posed = PosedModel::new(&a.wide, &Pose::IDENTITY);
        let posed_twin = PosedModel::new(&a.narrow, &a.at);
        for _ in 0..30 {
            let p = FAR + stepped(random.vector() * 0.5);
            let on = FAR + corners[random.below(8)];
            for p in [p, on, on + DVec3::X * STEP] {
                assert_eq!(posed.contains(p), posed_twin.contains(p), "seed {seed}");
            }
        }
    }
    assert!(seen.len() >= 4, "{seen:?}");
}

#[test]
fn one_model_far_away_answers_as_the_one_here() {
    for seed in 0..45 {
        let mut random = Random(seed);
        let spread = [0.3, 0.05, 2e-5][seed as usize % 3];
        let quality = QUALITIES[seed as usize % 3];
        let (vertices, triangles) = near_zero(&mut random, 80, spread);
        let twins = Twins::of(&vertices, &triangles, quality, false);
        let posed = PosedModel::new(&twins.wide, &Pose::IDENTITY);
        let twin = PosedModel::new(&twins.narrow, &twins.at);
        assert_eq!(posed.self_intersections(), twin.self_intersections(), "seed {seed}");
        let (low, high) = posed.bounds().unwrap();
        for &v in triangles.as_flattened() {
            let v = vertices[v as usize] + FAR;
            assert!(low.cmple(v).all() && v.cmple(high).all(), "seed {seed}");
        }
        for _ in 0..40 {
            let from = FAR + random.vector() * 3.0;
            let to = FAR + vertices[random.below(vertices.len())];
            let ray = Ray::between(from, to).unwrap();
            assert_eq!(posed.ray(&ray), twin.ray(&ray), "seed {seed}");
            assert_eq!(posed.ray_any(&ray), twin.ray_any(&ray), "seed {seed}");
            assert_eq!(
                posed.closest_point(from, f64::INFINITY),
                twin.closest_point(from, f64::INFINITY),
                "seed {seed}"
            );
            let radius = from.distance(to);
            for radius in [radius, radius.next_down(), radius * 0.9] {
                let [found, expected] = [posed, twin].map(|p| sorted(p.sphere_faces(from, radius)));
                assert_eq!(found, expected, "seed {seed}");
            }
            let plane = Plane::new(random.vector(), 0.0).unwrap();
            let plane = Plane::new(plane.normal(), plane.normal().dot(to)).unwrap();
            assert_eq!(posed.frustum(&[plane]), twin.frustum(&[plane]), "seed {seed}");
        }
    }
}

#[test]
fn impacts_far_away_come_when_they_come_here() {
    let mut hits = [0; 2];
    for seed in 0..30 {
        let mut random = Random(seed);
        let (vertices, triangles) = near_zero(&mut random, 40, 0.6);
        let a = Twins::of(&vertices, &triangles, Quality::Default, false);
        let b = Model::build(solids::cuboid(DVec3::splat(0.2)).unwrap(), Quality::Default);
        let start = Pose::new(random.rotation(), FAR + DVec3::X * 3.0).unwrap();
        let end = Pose::new(random.rotation(), FAR - DVec3::X * 3.0 + random.vector()).unwrap();
        let moving = Motion::linear(&start, &end);
        let limits = TimeOfImpactLimits::default();
        let still = |pose: &Pose| Motion::still(pose);
        let found = time_of_impact(&a.wide, &still(&Pose::IDENTITY), &b, &moving, &limits);
        let twin = time_of_impact(&a.narrow, &still(&a.at), &b, &moving, &limits);
        let time = |toi: &TimeOfImpact| match toi {
            TimeOfImpact::During { contact, .. } => Some(*contact),
            TimeOfImpact::Never => None,
            other => panic!("seed {seed}: {other:?}"),
        };
        match (time(&found), time(&twin)) {
            (Some(s), Some(t)) => assert!((s - t).abs() < 1e-5, "seed {seed}: {s} {t}"),
            (s, t) => assert_eq!(s, t, "seed {seed}"),
        }
        hits[usize::from(time(&found).is_some())] += 1;
    }
    assert!(hits.iter().all(|&count| count > 3), "{hits:?}");
}

#[test]
fn a_mesh_keeps_its_digits_through_all_that_is_done_with_it() {
    let mut random = Random(7);
    let (vertices, triangles) = near_zero(&mut random, 50, 0.2);
    let there: Vec<DVec3> = vertices.iter().map(|v| *v + FAR).collect();
    let mesh = Mesh::from_triangles_f64(there.clone(), triangles).unwrap();
    let exact = |mesh: &Mesh| {
        let mut all = vec![DVec3::ZERO; there.len()];
        for v in 0..there.len() as u32 {
            all[mesh.caller_vertex(v) as usize] = mesh.position(v);
        }
        all
    };
    for quality in QUALITIES {
        let model = Model::build(mesh.clone(), quality);
        assert_eq!(exact(model.mesh()), there);
        let same = Model::from_bytes(&model.to_bytes()).unwrap();
        assert_eq!((same.mesh(), same.hash()), (model.mesh(), model.hash()));
        let loaded =
            Model::hierarchy_from_bytes(mesh.clone(), &model.hierarchy_to_bytes()).unwrap();
        assert_eq!(loaded.mesh(), model.mesh());
        let mut moved = model.clone();
        let further: Vec<DVec3> = there.iter().map(|v| *v + DVec3::Y * STEP).collect();
        moved.refit_f64(&further).unwrap();
        assert_eq!(exact(moved.mesh()), further);
        assert_ne!(moved.mesh().hash(), model.mesh().hash());
        // A hierarchy of other digits is one of another mesh.
        assert!(Model::hierarchy_from_bytes(mesh.clone(), &moved.hierarchy_to_bytes()).is_err());
        let here: Vec<Vec3> = vertices.iter().map(|v| v.as_vec3()).collect();
        moved.refit(&here).unwrap();
        assert!(moved.mesh().vertices_f64().is_none());
    }
    let joined = Mesh::join([(&mesh, DAffine3::IDENTITY)]).unwrap();
    assert_eq!(exact(&joined), there);
    assert!((joined.area() - mesh.area()).abs() <= 1e-12 * mesh.area());
}

#[test]
fn what_fits_f32_is_the_mesh_of_f32_and_what_is_too_large_is_refused() {
    let cuboid = solids::cuboid(DVec3::new(0.1, 0.2, 0.3)).unwrap();
    let given: Vec<DVec3> = cuboid.vertices().iter().map(|v| v.as_dvec3()).collect();
    let triangles = cuboid.triangles().to_vec();
    let same = Mesh::from_triangles_f64(given.clone(), triangles.clone()).unwrap();
    let narrow = Mesh::from_triangles(cuboid.vertices().to_vec(), triangles).unwrap();
    assert_eq!((&same, same.hash()), (&narrow, narrow.hash()));
    let polygons = Mesh::from_polygons_f64(given.clone(), cuboid.triangles()).unwrap();
    assert_eq!(polygons.vertices(), cuboid.vertices());
    let mut far = given.clone();
    far[3].z = -1e39;
    let refused = Mesh::from_triangles_f64(far, cuboid.triangles().to_vec()).unwrap_err();
    assert!(matches!(refused, MeshError::TooLarge { vertex: 3, .. }), "{refused}");
    let mut bad = given;
    bad[3].z = f64::NAN;
    let refused = Mesh::from_triangles_f64(bad, cuboid.triangles().to_vec()).unwrap_err();
    assert!(matches!(refused, MeshError::NotFinite { vertex: 3, .. }), "{refused}");
}

#[test]
fn a_seam_in_the_last_digits_of_f64_is_welded() {
    let cuboid = solids::cuboid(DVec3::ONE).unwrap();
    let mut vertices: Vec<DVec3> = Vec::new();
    let mut triangles = Vec::new();
    for &corners in cuboid.triangles() {
        let first = vertices.len() as u32;
        vertices.extend(corners.map(|v| {
            let noise = 1e-9 * (first % 2) as f64;
            FAR + cuboid.position(v) + DVec3::new(noise, 0.0, 0.0)
        }));
        triangles.push([first, first + 1, first + 2]);
    }
    let mesh = Mesh::from_triangles_f64(vertices, triangles).unwrap();
    assert!(mesh.clone().into_solid().is_err());
    let gap = mesh.closing_gap().unwrap();
    let (welded, report) = mesh.weld(gap.tolerance).unwrap();
    assert!(report.largest_move < 1e-8 && report.joined > 0, "{report:?}");
    assert!((welded.clone().into_solid().unwrap().volume().unwrap() - 1.0).abs() < 1e-8);
}
