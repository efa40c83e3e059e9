//! Interests take memory in proportion to their number.
//!
//! One test function, because the allocator that counts is one for the whole process.

use glam::DVec3;
use jostle_geom::{Pose, Shape};
use jostle_world::{Body, BodyId, Policy, QueryKind, Settings, World};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Two entries of 28 bytes, in lists that begin with room for four, and the notes of what changed.
/// A bit for each pair of bodies would be 1250 bytes for each interest here.
const PER_INTEREST: usize = 300;

#[test]
fn memory_is_sparse() {
    let count = 20_000;
    let mut world = World::new(Settings { policy: Policy::InterestsOnly, ..Settings::default() });
    let shape = Shape::sphere(0.5).expect("a radius");
    let body = |k: usize| {
        let pose = Pose::from_translation(DVec3::X * k as f64).expect("a finite number");
        Body::moving(shape.clone(), pose)
    };
    let ids: Vec<BodyId> =
        (0..count).map(|k| world.insert(body(k)).expect("a good body")).collect();
    world.step();
    let before = MEMORY.current_usage();
    for pair in ids.windows(2) {
        world.set_interest(pair[0], pair[1], QueryKind::Touch).expect("both are there");
    }
    let used = MEMORY.current_usage().saturating_sub(before);
    assert!(used > 0, "nothing was counted");
    assert!(used < PER_INTEREST * count, "{used} bytes for {count} interests");
    assert_eq!(world.step().counts.contacts, count - 1, "each touches the next");
}
