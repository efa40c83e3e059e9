//! Trees as bytes: what was saved comes back, and nothing else gets in (row O5).

mod common;

use common::{Random, agree_on, cases, poses, soup};
use jostle_geom::{Checksum, Mesh};
use jostle_lab::Contender;
use jostle_lab::dop::{DopTree, DopTrees, NormalSet};
use jostle_lab::traverse::ByTree;
use jostle_lab::tree::{
    Aabb, LoadError, Obb, Sphere, SplitRule, Splitting, Volume, VolumeTree, VolumeTrees,
};

/// One kind of tree: how it is built and saved, and how bytes become a contender.
struct Kind {
    name: &'static str,
    save: fn(&Mesh) -> Vec<u8>,
    load: for<'a> fn(&'a Mesh, &[u8]) -> Loaded<'a>,
}

type Loaded<'a> = Result<Box<dyn Contender + 'a>, LoadError>;

const SPLITTING: SplitRule = SplitRule::Splatter;

fn save<V: Volume>(mesh: &Mesh) -> Vec<u8> {
    VolumeTree::<V>::build(mesh, Splitting::single(SPLITTING)).save(mesh)
}

fn load<'a, V: Volume + 'static>(mesh: &'a Mesh, bytes: &[u8]) -> Loaded<'a> {
    let tree = VolumeTree::<V>::load(mesh, bytes)?;
    assert!(tree.save(mesh) == bytes, "what was loaded is what was saved");
    Ok(Box::new(ByTree::new(mesh, mesh, VolumeTrees::of([tree.clone(), tree]))))
}

fn save_dop(mesh: &Mesh) -> Vec<u8> {
    DopTree::build(mesh, &NormalSet::fourteen(), Splitting::single(SPLITTING)).save(mesh)
}

fn load_dop<'a>(mesh: &'a Mesh, bytes: &[u8]) -> Loaded<'a> {
    let tree = DopTree::load(mesh, bytes)?;
    assert!(tree.save(mesh) == bytes, "what was loaded is what was saved");
    let normals = tree.normals().clone();
    Ok(Box::new(ByTree::new(mesh, mesh, DopTrees::of([tree.clone(), tree], normals))))
}

const KINDS: [Kind; 4] = [
    Kind { name: "AABB", save: save::<Aabb>, load: load::<Aabb> },
    Kind { name: "sphere", save: save::<Sphere>, load: load::<Sphere> },
    Kind { name: "OBB", save: save::<Obb>, load: load::<Obb> },
    Kind { name: "14-DOP", save: save_dop, load: load_dop },
];

fn loaded<'a>(a: &'a Mesh, _: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    let load = |kind: &Kind| match (kind.load)(a, &(kind.save)(a)) {
        Ok(contender) => contender,
        Err(error) => panic!("{}: {error}", kind.name),
    };
    KINDS.iter().map(load).collect()
}

#[test]
fn what_was_saved_comes_back() {
    for mut case in cases() {
        case.b = case.a.clone();
        let poses = poses(&case, &mut Random(1), 4);
        agree_on(&case, &poses, loaded);
    }
}

#[test]
fn every_prefix_is_refused() {
    let mesh = soup(&mut Random(3), 9, 0.5);
    for Kind { name, save, load } in KINDS {
        let bytes = save(&mesh);
        for found in 0..bytes.len() {
            let error = load(&mesh, &bytes[..found]).err();
            assert!(matches!(error, Some(LoadError::WrongLength { .. })), "{name}: {error:?}");
        }
        let longer = [&bytes[..], &[0]].concat();
        let error = load(&mesh, &longer).err();
        let (expected, found) = (bytes.len() as u64, longer.len() as u64);
        assert_eq!(error, Some(LoadError::WrongLength { expected, found }), "{name}");
    }
}

#[test]
fn another_mesh_and_another_kind_are_refused() {
    let mesh = soup(&mut Random(3), 9, 0.5);
    let other = soup(&mut Random(4), 9, 0.5);
    let more = soup(&mut Random(3), 10, 0.5);
    for (index, Kind { name, save, load }) in KINDS.iter().enumerate() {
        let bytes = save(&mesh);
        assert_eq!(load(&other, &bytes).err(), Some(LoadError::OtherMesh), "{name}");
        assert_eq!(load(&more, &bytes).err(), Some(LoadError::OtherMesh), "{name}");
        let error = (KINDS[(index + 1) % 4].load)(&mesh, &bytes).err();
        assert!(matches!(error, Some(LoadError::WrongKind { .. })), "{name}: {error:?}");
        let error = load(&mesh, &[&b"JOSTLAB0"[..], &bytes[8..]].concat()).err();
        assert_eq!(error, Some(LoadError::NoTree), "{name}");
        let mut damaged = bytes.clone();
        damaged[40] ^= 1;
        assert_eq!(load(&mesh, &damaged).err(), Some(LoadError::Damaged), "{name}");
    }
}

/// Bytes, words and numbers are changed at random and the checksum is made right again: then either
/// the tree is refused, or it gives the answers of all triangles.
#[test]
fn mutations_are_refused_or_harmless() {
    let mut case = cases().swap_remove(7);
    assert_eq!(case.name, "soups");
    case.a = soup(&mut Random(9), 12, 0.6);
    case.b = case.a.clone();
    let poses = poses(&case, &mut Random(2), 6);
    let expected: Vec<_> = poses.iter().map(|p| common::brute_pairs(&case.a, &case.b, p)).collect();
    for Kind { name, save, load } in KINDS {
        let bytes = save(&case.a);
        let mut random = Random(5);
        let (mut refused, mut harmless) = (0, 0);
        for turn in 0..4000 {
            let mut changed = bytes.clone();
            let end = changed.len() - 8;
            for _ in 0..1 + random.below(2) {
                mutate(&mut changed[8..end], &mut random);
            }
            let sum = Checksum::of(&changed[..end]);
            changed[end..].copy_from_slice(&sum.to_le_bytes());
            let Ok(mut contender) = load(&case.a, &changed) else {
                refused += 1;
                continue;
            };
            harmless += 1;
            for (pose, expected) in poses.iter().zip(&expected) {
                let found = contender.all_pairs(&pose.0, &pose.1).0;
                assert_eq!(&found, expected, "{name}, turn {turn}");
            }
        }
        assert!(refused > 100 && harmless > 100, "{name}: {refused} refused, {harmless} harmless");
    }
}

fn mutate(bytes: &mut [u8], random: &mut Random) {
    let at = random.below(bytes.len() - 8);
    match random.below(4) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at / 4 * 4..][..4].copy_from_slice(&(random.below(30) as u32).to_le_bytes()),
        2 => {
            let special = [f32::INFINITY, f32::NAN, f32::MAX, -0.0, f32::NEG_INFINITY, 1e3];
            let number = special[random.below(special.len())];
            bytes[at / 4 * 4..][..4].copy_from_slice(&number.to_le_bytes());
        }
        _ => {
            let special = [f64::INFINITY, f64::NAN, f64::MAX, 1e3, 0.5];
            let number = special[random.below(special.len())];
            bytes[at / 8 * 8..][..8].copy_from_slice(&number.to_le_bytes());
        }
    }
}
