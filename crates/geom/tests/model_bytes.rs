//! Hierarchies as bytes: what was saved comes back, and nothing else gets in.

mod soup;

use glam::DVec3;
use jostle_geom::{FacePair, LoadHierarchyError, Mesh, Model, Pair, Pose, Quality, solids};
use soup::{QUALITIES, Random, brute_pairs, degenerate_meshes, grid_soup, polygon_soup, soup};

fn meshes() -> Vec<Mesh> {
    let mut random = Random(1);
    let mut meshes = degenerate_meshes();
    meshes.extend([
        soup(&mut random, 500, 1.0, 0.1),
        grid_soup(&mut random, 300, 5, 0.5),
        polygon_soup(&mut random, 80),
        solids::cuboid(DVec3::ONE).unwrap(),
        solids::sphere(2.0, 0.01).unwrap().into_solid().unwrap(),
    ]);
    meshes
}

/// Everything a query can say about a model against another one.
fn answers(model: &Model, other: &Model) -> Vec<(Vec<FacePair>, bool, String)> {
    let mut random = Random(9);
    let ask = |pose: Pose| {
        let pair = Pair::new(model, &Pose::IDENTITY, other, &pose);
        let cost = format!("{:?} {:?}", pair.touches_counted().1, pair.all_pairs_counted().1);
        (pair.all_pairs(), pair.touches(), cost)
    };
    let mut all = vec![ask(Pose::IDENTITY)];
    all.extend((0..5).map(|_| ask(random.pose(2.0))));
    all
}

#[test]
fn what_was_saved_comes_back() {
    let other = Model::build(soup(&mut Random(2), 100, 1.0, 0.3), Quality::Default);
    for (index, mesh) in meshes().into_iter().enumerate() {
        for quality in QUALITIES {
            let built = Model::build(mesh.clone(), quality);
            let bytes = built.hierarchy_to_bytes();
            // For the caller's mesh, for one in the order of this hierarchy, and for one in the
            // order of another.
            let elsewhere = Model::build(mesh.clone(), Quality::Tight).mesh().clone();
            for given in [mesh.clone(), built.mesh().clone(), elsewhere] {
                let loaded = Model::hierarchy_from_bytes(given, &bytes).unwrap();
                assert!(loaded.hierarchy_to_bytes() == bytes, "mesh {index}, {quality:?}");
                assert_eq!(loaded.quality(), quality);
                assert_eq!(loaded.mesh().is_solid(), mesh.is_solid());
                assert_eq!(loaded.mesh().vertices(), built.mesh().vertices());
                assert_eq!(loaded.mesh().triangles(), built.mesh().triangles());
                assert_eq!(answers(&loaded, &other), answers(&built, &other), "mesh {index}");
            }
        }
    }
}

#[test]
fn every_prefix_is_refused() {
    let mesh = soup(&mut Random(3), 40, 1.0, 0.2);
    let bytes = Model::build(mesh.clone(), Quality::Default).hierarchy_to_bytes();
    for found in 0..bytes.len() {
        let error = Model::hierarchy_from_bytes(mesh.clone(), &bytes[..found]).unwrap_err();
        let LoadHierarchyError::WrongLength { expected, found: reported } = error else {
            panic!("{found} bytes: {error:?}");
        };
        assert_eq!(reported, found as u64);
        let known = if found < 48 { 48 + 320 + 8 } else { bytes.len() };
        assert_eq!(expected, known as u64);
    }
    let longer = [&bytes[..], &[0]].concat();
    let expected = bytes.len() as u64;
    assert_eq!(
        Model::hierarchy_from_bytes(mesh, &longer).unwrap_err(),
        LoadHierarchyError::WrongLength { expected, found: expected + 1 }
    );
}

/// FNV-1a over everything but the last eight bytes, put there.
fn repair(bytes: &mut [u8]) {
    let Some(end) = bytes.len().checked_sub(8) else { return };
    let sum = bytes[..end].iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn each_error_names_what_is_wrong() {
    let mesh = soup(&mut Random(4), 40, 1.0, 0.2);
    let model = Model::build(mesh.clone(), Quality::Default);
    let bytes = model.hierarchy_to_bytes();
    let with = |at: usize, value: u32| {
        let mut changed = bytes.clone();
        changed[at..at + 4].copy_from_slice(&value.to_le_bytes());
        repair(&mut changed);
        Model::hierarchy_from_bytes(mesh.clone(), &changed).unwrap_err()
    };
    let load = |bytes: &[u8]| Model::hierarchy_from_bytes(mesh.clone(), bytes).unwrap_err();
    assert_eq!(load(b"solid cube\nfacet"), LoadHierarchyError::NotAHierarchy);
    assert_eq!(with(8, 3), LoadHierarchyError::UnknownVersion { found: 3 });
    assert_eq!(with(8, 2), LoadHierarchyError::OtherFrames { framed: false });
    assert_eq!(with(12, 3), LoadHierarchyError::BadHeader { what: "the quality", found: 3 });
    for count_at in [24, 28] {
        let LoadHierarchyError::WrongLength { expected, .. } = with(count_at, u32::MAX) else {
            panic!("{count_at}");
        };
        assert!(expected > 1 << 33);
    }
    let mut damaged = bytes.clone();
    damaged[1000] ^= 1;
    assert!(matches!(load(&damaged), LoadHierarchyError::Checksum { .. }));
    let order = bytes.len() - 8 - 4 * 40;
    assert_eq!(with(order, 40), LoadHierarchyError::BadOrder { entry: 0, found: 40 });
    let first = u32::from_le_bytes(bytes[order..order + 4].try_into().unwrap());
    assert_eq!(with(order + 4, first), LoadHierarchyError::BadOrder { entry: 1, found: first });
    let half = 48 + 320 + 96;
    let error = with(half, 0);
    assert!(matches!(error, LoadHierarchyError::BadNode { node: 1, .. }), "{error}");
    assert_eq!(error.to_string(), "node 1 is malformed: a box does not hold its triangles");
    // The mesh has moved on.
    let mut moved = model.clone();
    moved.refit(&mesh.vertices().iter().map(|v| *v * 2.0).collect::<Vec<_>>()).unwrap();
    let error = Model::hierarchy_from_bytes(moved.mesh().clone(), &bytes).unwrap_err();
    let (expected, found) = (moved.mesh().hash(), mesh.hash());
    assert_eq!(error, LoadHierarchyError::OtherMesh { expected, found });
}

#[test]
fn wrong_bytes_are_replaced() {
    let mesh = polygon_soup(&mut Random(5), 30);
    let built = Model::build(mesh.clone(), Quality::Fast);
    let tight = Model::build(mesh.clone(), Quality::Tight).hierarchy_to_bytes();
    let (model, error) = Model::hierarchy_from_bytes_or_build(mesh.clone(), None, Quality::Fast);
    assert!(model.hierarchy_to_bytes() == built.hierarchy_to_bytes() && error.is_none());
    let (model, error) =
        Model::hierarchy_from_bytes_or_build(mesh.clone(), Some(&tight), Quality::Fast);
    assert!(
        model.hierarchy_to_bytes() == tight && model.quality() == Quality::Tight && error.is_none()
    );
    for bad in [&b"no"[..], &tight[..tight.len() - 1], &[]] {
        let (model, error) =
            Model::hierarchy_from_bytes_or_build(mesh.clone(), Some(bad), Quality::Fast);
        assert!(model.hierarchy_to_bytes() == built.hierarchy_to_bytes() && error.is_some());
    }
    // A right checksum over a wrong order, which is noticed last of all.
    let mut swapped = tight.clone();
    let end = swapped.len() - 8;
    let order = end - 4 * mesh.triangle_count();
    swapped[order..end].rotate_left(4);
    repair(&mut swapped);
    let (model, error) = Model::hierarchy_from_bytes_or_build(mesh, Some(&swapped), Quality::Fast);
    assert!(matches!(error, Some(LoadHierarchyError::BadNode { .. })), "{error:?}");
    assert!(model.hierarchy_to_bytes() == built.hierarchy_to_bytes());
}

/// Changes some bytes: single ones, whole numbers, numbers exchanged, a node over another.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    const ODD: [u32; 12] = [
        0,
        1,
        2,
        1 << 31,
        u32::MAX,
        u32::MAX - 1,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x7f7f_ffff,
        0x3f80_0000,
        0x8000_0001,
    ];
    for _ in 0..1 + random.below(3) {
        let words = bytes.len() / 4 - 1;
        let (at, from) = (4 * random.below(words), 4 * random.below(words));
        let value = ODD[random.below(ODD.len())];
        match random.below(9) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at + 1] = random.bits() as u8,
            2 => bytes[at..at + 4].copy_from_slice(&value.to_le_bytes()),
            3 => bytes.copy_within(from..from + 4, at),
            4 => (0..4).for_each(|k| bytes.swap(at + k, from + k)),
            5 => {
                let nodes = (bytes.len() - 48) / 330;
                let (to, from) = (random.below(nodes), random.below(nodes));
                bytes.copy_within(48 + 320 * from..48 + 320 * (from + 1), 48 + 320 * to);
            }
            6 => bytes.truncate(bytes.len() - random.below(40)),
            7 => {
                bytes.splice(at..at, std::iter::repeat_n(value as u8, random.below(400)));
            }
            // A small step: the checks that look at sizes must not rest on luck.
            _ => bytes[at] = bytes[at].wrapping_add(1),
        }
    }
}

#[test]
fn mutations_are_refused_or_harmless() {
    let mut random = Random(6);
    let other = Model::build(soup(&mut random, 30, 1.0, 0.3), Quality::Default);
    let poses = [Pose::IDENTITY, random.pose(1.0), random.pose(2.5)];
    let (mut refused, mut accepted) = (0, 0);
    for (mesh, quality) in [
        (soup(&mut random, 50, 1.0, 0.2), Quality::Default),
        (polygon_soup(&mut random, 14), Quality::Fast),
        (soup(&mut random, 3, 1e-40, 0.5), Quality::Tight),
        (soup(&mut random, 3, 1e38, 0.5), Quality::Default),
    ] {
        let expected = poses.map(|pose| brute_pairs(&mesh, &Pose::IDENTITY, other.mesh(), &pose));
        let bytes = Model::build(mesh.clone(), quality).hierarchy_to_bytes();
        for turn in 0..5000 {
            let mut changed = bytes.clone();
            mutate(&mut random, &mut changed);
            if changed == bytes {
                continue;
            }
            assert!(Model::hierarchy_from_bytes(mesh.clone(), &changed).is_err(), "turn {turn}");
            repair(&mut changed);
            let Ok(model) = Model::hierarchy_from_bytes(mesh.clone(), &changed) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            assert!(model.hierarchy_to_bytes() == changed, "turn {turn}");
            for (pose, expected) in poses.iter().zip(&expected) {
                let pair = Pair::new(&model, &Pose::IDENTITY, &other, pose);
                assert_eq!(pair.all_pairs(), *expected, "turn {turn}");
                assert_eq!(pair.touches(), !expected.is_empty(), "turn {turn}");
            }
        }
    }
    assert!(refused > 5000 && accepted > 50, "{refused} refused, {accepted} accepted");
}
