//! Models as bytes, mesh and hierarchy: the same model comes back, and nothing else gets in.

mod soup;

use glam::{DVec3, Vec3};
use jostle_geom::{Checksum, LoadModelError, Mesh, MeshError, Model, Pair, Pose, Quality, solids};
use soup::{QUALITIES, Random, brute_pairs, degenerate_meshes, grid_soup, polygon_soup, soup};

/// Where the mesh begins, and where its vertices do.
const MESH: usize = 20;
const VERTICES: usize = MESH + 20;

fn meshes() -> Vec<Mesh> {
    let mut random = Random(1);
    let cube = solids::cuboid(DVec3::ONE).unwrap();
    // The same box with corners of its own for each triangle: closed by places only.
    let apart = |v: &u32| cube.vertices()[*v as usize];
    let cut_up = cube.triangles().as_flattened().iter().map(apart).collect();
    let thirds = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let mut meshes = degenerate_meshes();
    meshes.extend([
        soup(&mut random, 300, 1.0, 0.1),
        grid_soup(&mut random, 200, 5, 0.5),
        polygon_soup(&mut random, 60),
        Mesh::from_triangles(cut_up, thirds).unwrap().into_solid().unwrap(),
        cube.into_solid().unwrap(),
        solids::sphere(2.0, 0.03).unwrap().into_solid().unwrap(),
    ]);
    meshes
}

/// New positions, in the caller's order.
fn moved(mesh: &Mesh, change: impl Fn(Vec3) -> Vec3) -> Vec<Vec3> {
    let mut positions = vec![Vec3::ZERO; mesh.vertices().len()];
    for (vertex, &position) in (0u32..).zip(mesh.vertices()) {
        positions[mesh.caller_vertex(vertex) as usize] = change(position);
    }
    positions
}

/// A model in several states of its life.
fn life(mesh: &Mesh, quality: Quality) -> Vec<Model> {
    let mut model = Model::build(mesh.clone(), quality);
    let mut states = vec![model.clone()];
    // Bent; then flat, so that places become equal; then as before.
    let bent = |v: Vec3| v + Vec3::new(0.3 * v.y * v.z, 0.1 * v.x, 0.0);
    let flat = |v: Vec3| Vec3::new(v.x, v.y, 0.0);
    for positions in [moved(mesh, bent), moved(mesh, flat), moved(mesh, |v| v)] {
        model.refit(&positions).unwrap();
        states.push(model.clone());
    }
    model.rebuild(Quality::Fast);
    states.push(model);
    states
}

#[test]
fn the_same_model_comes_back() {
    let other = Model::build(soup(&mut Random(2), 100, 1.0, 0.3), Quality::Default);
    let answers = |model: &Model| {
        let pose = Random(3).pose(1.0);
        let pair = Pair::new(model, &Pose::IDENTITY, &other, &pose);
        format!("{:?} {:?} {:?}", pair.witness(), pair.distance(), pair.all_pairs_counted())
    };
    for (index, mesh) in meshes().into_iter().enumerate() {
        for quality in QUALITIES {
            for (state, model) in life(&mesh, quality).into_iter().enumerate() {
                let what = format!("mesh {index}, {quality:?}, state {state}");
                let bytes = model.to_bytes();
                let mut loaded = Model::from_bytes(&bytes).expect(&what);
                assert!(loaded.to_bytes() == bytes, "{what}");
                assert_eq!(loaded.hash(), model.hash(), "{what}");
                assert_eq!(format!("{:?}", loaded.mesh()), format!("{:?}", model.mesh()), "{what}");
                assert_eq!(loaded.quality(), model.quality());
                assert_eq!(answers(&loaded), answers(&model), "{what}");
                // And goes on in the same way.
                let mut model = model;
                let next = moved(&mesh, |v| Vec3::new(v.y, -v.z, v.x + v.y * v.y));
                assert_eq!(loaded.refit(&next), model.refit(&next), "{what}");
                assert!(loaded.to_bytes() == model.to_bytes(), "{what}");
                assert_eq!(loaded.hash(), model.hash(), "{what}: the hash of the moved");
            }
        }
    }
}

#[test]
fn the_hash_depends_on_everything() {
    let mesh = solids::cuboid(DVec3::ONE).unwrap();
    let model = |mesh: &Mesh, quality| Model::build(mesh.clone(), quality);
    let mut refitted = model(&mesh, Quality::Default);
    let _ = refitted.hash();
    refitted.refit(&moved(&mesh, |v| v * 2.0)).unwrap();
    let mut rebuilt = refitted.clone();
    rebuilt.rebuild(Quality::Tight);
    let models = [
        model(&mesh, Quality::Default),
        model(&mesh, Quality::Fast),
        model(&mesh.clone().into_solid().unwrap(), Quality::Default),
        refitted,
        rebuilt,
    ];
    for (i, a) in models.iter().enumerate() {
        for b in &models[..i] {
            assert_ne!(a.hash(), b.hash());
        }
    }
}

/// The same triangles, moved by what `f32` does not hold: a file of version 2.
fn precise(mesh: &Mesh) -> Mesh {
    let off = DVec3::new(1e-9, 2e-9, -3e-9);
    let vertices: Vec<DVec3> = mesh.vertices().iter().map(|v| v.as_dvec3() + off).collect();
    let precise = Mesh::from_triangles_f64(vertices, mesh.triangles().to_vec()).unwrap();
    assert!(precise.vertices_f64().is_some());
    precise
}

#[test]
fn every_prefix_is_refused() {
    let polygons = polygon_soup(&mut Random(3), 12);
    for mesh in [precise(&polygons), polygons] {
        let bytes = Model::build(mesh, Quality::Default).to_bytes();
        for found in 0..bytes.len() {
            let expected = if found < 28 { 28 } else { bytes.len() as u64 };
            let error = Model::from_bytes(&bytes[..found]).unwrap_err();
            assert_eq!(error, LoadModelError::WrongLength { expected, found: found as u64 });
        }
        let longer = [&bytes[..], &[0]].concat();
        let expected = bytes.len() as u64;
        let error = Model::from_bytes(&longer).unwrap_err();
        assert_eq!(error, LoadModelError::WrongLength { expected, found: expected + 1 });
    }
}

/// Puts the length and both checksums right, that of the hierarchy and that of the whole.
fn repair(bytes: &mut [u8]) {
    if bytes.len() < 100 {
        return;
    }
    let (length, end) = (bytes.len() as u64, bytes.len() - 8);
    bytes[12..20].copy_from_slice(&length.to_le_bytes());
    let hierarchy = bytes.windows(8).position(|eight| eight == b"\x89JHT\r\n\x1a\n");
    if let Some(start) = hierarchy.filter(|start| start + 8 < end) {
        let sum = Checksum::of(&bytes[start..end - 8]);
        bytes[end - 8..end].copy_from_slice(&sum.to_le_bytes());
    }
    let sum = Checksum::of(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn each_error_names_what_is_wrong() {
    let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
    let faces: [&[u32]; 3] = [&[2, 1, 3], &[1, 2, 3, 0], &[4]];
    let model = Model::build(Mesh::from_polygons(vertices, faces).unwrap(), Quality::Default);
    let bytes = model.to_bytes();
    let with = |at: usize, value: u32| {
        let mut changed = bytes.clone();
        changed[at..at + 4].copy_from_slice(&value.to_le_bytes());
        repair(&mut changed);
        Model::from_bytes(&changed).unwrap_err()
    };
    let malformed = |error: LoadModelError| match error {
        LoadModelError::MalformedMesh { what } => what,
        other => panic!("{other:?}"),
    };
    assert_eq!(Model::from_bytes(b"solid cube\nfacet").unwrap_err(), LoadModelError::NotAModel);
    assert_eq!(with(8, 3), LoadModelError::UnknownVersion { found: 3 });
    // The version of models with vertices in `f64`.
    assert!(malformed(with(8, 2)).contains("format version"));
    let mut damaged = bytes.clone();
    damaged[VERTICES] ^= 1;
    let error = Model::from_bytes(&damaged).unwrap_err();
    assert!(matches!(error, LoadModelError::Checksum { .. }));
    for count in 1..=4 {
        let what = malformed(with(MESH + 4 * count, u32::MAX));
        let expected =
            if count == 3 { "a face has no triangle" } else { "it is longer than there are bytes" };
        assert_eq!(what, expected, "count {count}");
    }
    assert_eq!(malformed(with(MESH, 32)), "it has flags that are not known");
    let nan = with(VERTICES + 4, f32::NAN.to_bits());
    assert!(matches!(nan, LoadModelError::Mesh(MeshError::NotFinite { .. })), "{nan}");
    let triangles = VERTICES + 12 * 5;
    let index = with(triangles, 9);
    assert!(matches!(index, LoadModelError::Mesh(MeshError::BadIndex { vertex: 9, .. })));
    assert_eq!(malformed(with(triangles, 3)), "its vertices are not numbered by their first use");
    let tables = triangles + 12 * 4;
    assert_eq!(malformed(with(tables, 3)), "a triangle has a face that is not there");
    let sources = tables + 4 * 4;
    assert_eq!(malformed(with(sources, 7)), "the caller's vertices are not each named once");
    let parts = sources + 4 * 5;
    let what = malformed(with(parts, 5));
    assert_eq!(what, "the vertices of its parts are not sorted or not used");
    // Marked as solid, with open edges.
    let flags = u32::from_le_bytes(bytes[MESH..MESH + 4].try_into().unwrap());
    assert!(matches!(with(MESH, flags | 1), LoadModelError::NotClosed(_)));
    // Another vertex: the mesh is good, and not the one of the hierarchy.
    let error = with(VERTICES, 7.0f32.to_bits());
    assert!(matches!(error, LoadModelError::Hierarchy(_)), "{error}");
}

#[test]
fn without_seams_the_numbers_alone_decide_what_is_connected() {
    let mesh = meshes().into_iter().nth(8).unwrap();
    let mut bytes = Model::build(mesh, Quality::Default).to_bytes();
    assert_eq!(bytes[MESH] & 3, 3, "solid, and with seams");
    assert!(Model::from_bytes(&bytes).is_ok());
    bytes[MESH] &= !2;
    repair(&mut bytes);
    // By their numbers the triangles are twelve parts, and only one is listed.
    let what = "a part of it has no vertex in the list of parts";
    assert_eq!(Model::from_bytes(&bytes).unwrap_err(), LoadModelError::MalformedMesh { what });
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    const ODD: [u32; 8] =
        [0, 1, 1 << 31, u32::MAX, u32::MAX - 1, 0x7f80_0000, 0x7fc0_0000, 0x3f80_0000];
    for _ in 0..1 + random.below(3) {
        let words = bytes.len() / 4 - 1;
        let (at, from) = (4 * random.below(words), 4 * random.below(words));
        // Most of the bytes are the hierarchy, which has a test of its own.
        let at = if random.below(2) == 0 { MESH + 4 * random.below(60) } else { at };
        let value = ODD[random.below(ODD.len())];
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at + 1] = random.bits() as u8,
            2 => bytes[at..at + 4].copy_from_slice(&value.to_le_bytes()),
            3 => bytes.copy_within(from..from + 4, at),
            4 => (0..4).for_each(|k| bytes.swap(at + k, from + k)),
            5 => bytes.truncate(bytes.len() - random.below(40)),
            6 => drop(bytes.splice(at..at, std::iter::repeat_n(value as u8, random.below(100)))),
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
}

#[test]
fn mutations_are_refused_or_harmless() {
    let mut random = Random(6);
    let other = Model::build(soup(&mut random, 20, 1.0, 0.3), Quality::Default);
    let (mut refused, mut accepted) = (0, 0);
    for (mesh, quality) in [
        (soup(&mut random, 30, 1.0, 0.2), Quality::Default),
        (polygon_soup(&mut random, 9), Quality::Fast),
        (solids::cuboid(DVec3::ONE).unwrap().into_solid().unwrap(), Quality::Default),
        (precise(&soup(&mut random, 30, 1.0, 0.2)), Quality::Default),
        (precise(&solids::cuboid(DVec3::ONE).unwrap()).into_solid().unwrap(), Quality::Fast),
    ] {
        let bytes = Model::build(mesh, quality).to_bytes();
        for turn in 0..4000 {
            let mut changed = bytes.clone();
            mutate(&mut random, &mut changed);
            if changed == bytes {
                continue;
            }
            assert!(Model::from_bytes(&changed).is_err(), "turn {turn}");
            repair(&mut changed);
            let Ok(mut model) = Model::from_bytes(&changed) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            assert!(model.to_bytes() == changed, "turn {turn}");
            let pose = random.pose(1.0);
            let expected = brute_pairs(model.mesh(), &Pose::IDENTITY, other.mesh(), &pose);
            let pair = Pair::new(&model, &Pose::IDENTITY, &other, &pose);
            assert_eq!(pair.all_pairs(), expected, "turn {turn}");
            let _ = (pair.relation(), pair.witness());
            let next = moved(model.mesh(), |v| v * 0.5);
            let _ = model.refit(&next);
            model.rebuild(Quality::Fast);
        }
    }
    assert!(refused > 5000 && accepted > 50, "{refused} refused, {accepted} accepted");
}
