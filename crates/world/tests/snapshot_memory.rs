//! Loading a world takes memory in proportion to the bytes, whatever they say.
//!
//! One test function, because the allocator that counts is one for the whole process.

mod common;
mod drive;

use common::Rng;
use drive::{Driver, cube, runtime, settings};
use jostle_geom::{Checksum, Pose};
use jostle_world::{Body, World};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Most memory per byte: an empty slot is five bytes, and has room for a body. Room grows by
/// doubling, and the old one is there while it is copied.
const PER_BYTE: usize = 3 * 600 / 5;

fn load_checked(bytes: &[u8], case: &str) -> bool {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let loaded = World::load(bytes, runtime(1));
    let used = MEMORY.peak_usage().saturating_sub(before);
    assert!(used <= PER_BYTE * bytes.len() + 40_000, "{case}: {used} for {} bytes", bytes.len());
    loaded.is_ok()
}

fn repair(bytes: &mut [u8]) {
    let (end, length) = (bytes.len() - 8, bytes.len() as u64);
    bytes[12..20].copy_from_slice(&length.to_le_bytes());
    let sum = Checksum::of(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn memory_is_in_proportion_to_the_bytes() {
    let mut worlds = [World::new(settings(1))];
    let shape = cube(1.0);
    let ids: Vec<_> = (0..20_000)
        .map(|_| worlds[0].insert(Body::moving(shape.clone(), Pose::IDENTITY)))
        .map(|id| id.expect("a good body"))
        .collect();
    ids.iter().for_each(|&id| drop(worlds[0].remove(id).expect("it is there")));
    let empty = worlds[0].save();
    assert!(load_checked(&empty, "twenty thousand empty slots"));

    worlds[0] = World::new(settings(1));
    let mut driver = Driver::new(1);
    driver.fill(&mut worlds, 20);
    driver.step(&mut worlds);
    let bytes = worlds[0].save();
    assert!(load_checked(&bytes, "a world"));

    let (mut rng, mut accepted) = (Rng(2), 0);
    for turn in 0..5000 {
        let mut changed = bytes.clone();
        let at = 20 + rng.below(bytes.len() - 28);
        // A large number, in the place of a small one or before it.
        let large = &[0xff, 0xff, 0xff, 0xff, 0x0f][rng.below(5)..];
        let end = (at + rng.below(2)).min(bytes.len() - 8);
        drop(changed.splice(at..end, large.iter().copied()));
        repair(&mut changed);
        accepted += usize::from(load_checked(&changed, &format!("turn {turn}")));
    }
    assert!(accepted > 10, "{accepted} accepted");
}
