//! Whatever the bytes: an error or a world that works, never a panic. (How much memory they take is
//! tested in `snapshot_memory.rs`.)

mod common;
mod drive;

use common::Rng;
use drive::{Driver, cube, lived, observe, runtime, settings};
use glam::DVec3;
use jostle_geom::{Checksum, Pose};
use jostle_world::broad::Structure;
use jostle_world::{Body, LoadWorldError, QueryKind, Settings, Velocity, World};

fn load(bytes: &[u8]) -> Result<World, LoadWorldError> {
    World::load(bytes, runtime(1))
}

/// Puts the length and the checksum right.
fn repair(bytes: &mut [u8]) {
    let Some(end) = bytes.len().checked_sub(8).filter(|&end| end >= 20) else { return };
    let length = bytes.len() as u64;
    bytes[12..20].copy_from_slice(&length.to_le_bytes());
    let sum = Checksum::of(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn every_prefix_is_refused() {
    let bytes = lived(1, 10, 5).save();
    for found in 0..bytes.len() {
        let expected = if found < 20 { 28 } else { bytes.len() as u64 };
        let error = load(&bytes[..found]).expect_err("it is cut short");
        let found = found as u64;
        assert_eq!(error, LoadWorldError::WrongLength { expected, found });
    }
    let longer = [&bytes[..], &[0]].concat();
    let (expected, found) = (bytes.len() as u64, longer.len() as u64);
    assert_eq!(load(&longer).err(), Some(LoadWorldError::WrongLength { expected, found }));
}

#[test]
fn every_prefix_with_a_right_checksum_is_refused() {
    // Some bytes are the end of a number that goes on; so the length of the content matters too.
    let bytes = lived(2, 30, 10).save();
    let most = bytes.len();
    let (mut malformed, mut others) = (0, 0);
    for length in (28..most).step_by(most / 3000 + 1).chain(most - 500..most) {
        let mut cut = bytes[..length].to_vec();
        repair(&mut cut);
        match load(&cut).expect_err("something is missing") {
            LoadWorldError::Malformed { at, .. } => {
                assert!(at < length as u64);
                malformed += 1;
            }
            // The eight bytes of the checksum are read as a part of something else.
            _ => others += 1,
        }
    }
    assert!(malformed > 1000, "{malformed} malformed, {others} others");
}

#[test]
fn a_world_saved_with_a_structure_of_the_laboratory_is_loaded_and_goes_on_the_same() {
    let world = lived(3, 20, 10);
    let bytes = world.save();
    assert_eq!(world.settings().structure, Structure::Auto);
    assert_eq!(bytes[20], 0, "the structure is the first byte of the content");
    for old in [2, 3, 4] {
        let mut saved = bytes.clone();
        saved[20] = old;
        repair(&mut saved);
        let loaded = load(&saved).expect("sweep, grid and octree are read as auto");
        assert_eq!(loaded.settings().structure, Structure::Auto);
        let mut worlds = [world.clone(), loaded];
        let mut driver = Driver::new(4);
        for step in 0..5 {
            driver.change(&mut worlds);
            driver.step(&mut worlds);
            assert_eq!(observe(&worlds[0]), observe(&worlds[1]), "structure {old}, step {step}");
        }
    }
    let mut unknown = bytes;
    unknown[20] = 7;
    repair(&mut unknown);
    assert!(matches!(load(&unknown), Err(LoadWorldError::Malformed { .. })));
}

/// Lets a world go on for a while.
fn use_it(world: World, seed: u64) {
    let mut driver = Driver::new(seed);
    let mut worlds = [world];
    for _ in 0..4 {
        driver.change(&mut worlds);
        driver.step(&mut worlds);
    }
    let [world] = worlds;
    for id in world.ids() {
        let _ = (world.pose(id), world.bounds(id), world.velocity(id), world.is_enabled(id));
    }
    // What was accepted once is accepted again.
    let again = load(&world.save()).expect("it was saved");
    assert_eq!(observe(&again), observe(&world));
}

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..1 + rng.below(3) {
        let content = bytes.len() - 28;
        let (at, from) = (20 + rng.below(content), 20 + rng.below(content));
        match rng.below(9) {
            0 | 1 => bytes[at] ^= 1 << rng.below(8),
            2 => bytes[at] = rng.next() as u8,
            3 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][rng.below(5)],
            4 => bytes[at] = bytes[at].wrapping_add(1),
            5 => bytes.swap(at, from),
            6 => {
                let length = rng.below(40).min(bytes.len() - 8 - at.max(from));
                bytes.copy_within(from..from + length, at);
            }
            7 => drop(bytes.drain(at..(at + rng.below(9)).min(bytes.len() - 8))),
            _ => {
                let value = rng.next() as u8;
                drop(bytes.splice(at..at, std::iter::repeat_n(value, rng.below(9))));
            }
        }
    }
}

#[test]
fn mutations_are_refused_or_worlds() {
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..4 {
        let structure = Structure::ALL[seed];
        let mut worlds = [World::new(Settings { structure, ..settings(1) })];
        let mut driver = Driver::new(50 + seed as u64);
        if seed > 0 {
            driver = driver.without_meshes(); // meshes have tests of their own
        }
        driver.fill(&mut worlds, 6 * seed);
        for _ in 0..5 {
            driver.change(&mut worlds);
            driver.step(&mut worlds);
        }
        driver.change(&mut worlds);
        let bytes = worlds[0].save();
        let mut rng = Rng(60 + seed as u64);
        for turn in 0..3000 {
            let mut changed = bytes.clone();
            mutate(&mut rng, &mut changed);
            if changed == bytes {
                continue;
            }
            assert!(load(&changed).is_err(), "seed {seed}, turn {turn}");
            repair(&mut changed);
            match load(&changed) {
                Ok(world) => {
                    accepted += 1;
                    use_it(world, turn);
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 2000 && accepted > 1000, "{refused} refused, {accepted} accepted");
}

/// Bodies without meshes in the file, with a bit of all that is written about them.
fn plain_world() -> World {
    let mut world = World::new(settings(1));
    let at = |x: f64| Pose::from_translation(DVec3::new(x, 0.25, -0.5)).expect("a place");
    let groups = [None, None].map(|parent| world.new_group(parent).expect("no parent"));
    let inner = world.new_group(Some(groups[0])).expect("its parent is there");
    let ids = [0.0, 0.5, 0.75, 1.5].map(|x| {
        let velocity = Velocity::straight(DVec3::Y * 0.125);
        let body = Body::moving(cube(1.0), at(x)).with_velocity(velocity);
        world.insert(body).expect("a good body")
    });
    world.set_group(ids[0], Some(inner)).expect("both are there");
    world.set_group(ids[3], Some(groups[1])).expect("both are there");
    world.set_interest(groups[0], groups[1], QueryKind::Volume).expect("both are there");
    world.set_interest(ids[0], ids[1], QueryKind::Distance).expect("both are there");
    world.ignore_pair(ids[1], ids[2]).expect("both are there");
    world.step();
    world.remove(ids[2]).expect("it is there");
    world
}

#[test]
fn every_change_of_a_byte_is_refused_or_a_world() {
    let bytes = plain_world().save();
    let mut whys = std::collections::BTreeMap::new();
    for at in 8..bytes.len() - 8 {
        let flipped = (0..8).map(|bit| bytes[at] ^ 1 << bit);
        for value in flipped.chain([0, 1, 2, 3, 4, 5, 6, 7, 0x7f, 0xff]) {
            let mut changed = bytes.clone();
            changed[at] = value;
            repair(&mut changed);
            match load(&changed) {
                Ok(mut world) => {
                    *whys.entry(String::from("a world")).or_insert(0) += 1;
                    world.step();
                    world.step();
                }
                Err(LoadWorldError::Malformed { what, .. }) => {
                    *whys.entry(format!("expected {what}")).or_insert(0) += 1;
                }
                Err(LoadWorldError::Refused { what, why, .. }) => {
                    *whys.entry(format!("{what}: {why}")).or_insert(0) += 1;
                }
                Err(LoadWorldError::Model { .. }) => {
                    *whys.entry(String::from("a mesh")).or_insert(0) += 1;
                }
                Err(LoadWorldError::UnknownVersion { .. }) => assert!((8..12).contains(&at)),
                Err(other) => panic!("byte {at}, value {value}: {other}"),
            }
        }
    }
    let all: Vec<_> = whys.iter().map(|(why, count)| format!("{count} {why}")).collect();
    assert!(whys.len() > 25 && whys["a world"] > 1000, "{all:#?}");
}

#[test]
fn each_error_names_what_is_wrong() {
    let bytes = plain_world().save();
    assert_eq!(load(b"\x89PNG\r\n\x1a\n").err(), Some(LoadWorldError::NotAWorld));
    let with = |at: usize, value: u8| {
        let mut changed = bytes.clone();
        changed[at] = value;
        let damaged = load(&changed).expect_err("it is damaged");
        repair(&mut changed);
        (damaged.to_string(), load(&changed).expect_err("it is wrong").to_string())
    };
    let (damaged, wrong) = with(20, 9);
    assert!(damaged.starts_with("the world is damaged: its checksum is 0x"), "{damaged}");
    assert_eq!(wrong, "byte 20: expected how the world is run");
    let (_, wrong) = with(8, 2);
    assert_eq!(wrong, "the world has format version 2, expected 1");
}
