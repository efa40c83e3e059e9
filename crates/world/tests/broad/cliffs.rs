//! Worlds that are no larger than others and must not cost more: boxes without size, in a row, of
//! very different size, very far apart. Counted in tests for each box, never in time.

use super::random::Random;
use super::worlds::run_quietly;
use glam::Vec3;
use jostle_world::broad::{Broad, Structure};
use jostle_world::{Aabb, Workers};

/// Enough for all with all (2.4e8 tests for each box that is looked at twice) to stand out.
const COUNT: u32 = 30_000;

fn tests_per_box(structure: Structure, place: &impl Fn(u32, &mut Random) -> Aabb) -> u64 {
    let mut random = Random(7);
    let mut broad = Broad::new(structure);
    for slot in 0..COUNT {
        broad.insert(slot, place(slot, &mut random));
    }
    let mut pairs = Vec::new();
    let counters = broad.find_pairs(&Workers::ONE, &mut pairs);
    assert!(pairs.len() < 20 * COUNT as usize, "a world that is crowded by nature");
    counters.box_tests / u64::from(COUNT)
}

/// Points do not lie on a lattice, so that few are equal.
fn point(random: &mut Random, extent: f32) -> Vec3 {
    random.point(0.0, extent)
}

fn at(corner: Vec3, size: f32) -> Aabb {
    Aabb::around(corner, corner + Vec3::splat(size))
}

fn check(kind: &str, structures: &[Structure], place: impl Fn(u32, &mut Random) -> Aabb) {
    for &structure in structures {
        let tests = tests_per_box(structure, &place);
        assert!(tests < 2500, "{kind}, {}: {tests} tests for each box", structure.name());
    }
    run_quietly(kind, |slot, random| place(slot, random));
}

const NEAR: &[Structure] = &[Structure::Auto, Structure::Tree, Structure::Cells];
/// Cells are for boxes of similar size; what does not suit them, `Auto` must notice in time.
const NOT_CELLS: &[Structure] = &[Structure::Auto, Structure::Tree];

#[test]
fn boxes_without_size_cost_what_others_cost() {
    check("points", NEAR, |_, random| at(point(random, 1000.0), 0.0));
    check("points on a line", NEAR, |_, random| {
        at(point(random, 1000.0) * Vec3::new(1.0, 0.0, 0.0), 0.0)
    });
    check("points on a plane", NEAR, |_, random| {
        at(point(random, 1000.0) * Vec3::new(1.0, 1.0, 0.0), 0.0)
    });
    check("points far from zero", NEAR, |_, random| at(point(random, 1e6) + Vec3::splat(1e7), 0.0));
    check("boxes of 1e-30", NEAR, |_, random| at(point(random, 1000.0), 1e-30));
}

#[test]
fn boxes_of_very_different_size_cost_what_others_cost() {
    check("one that holds all", NEAR, |slot, random| match slot {
        77 => at(Vec3::ZERO, 1000.0),
        _ => at(point(random, 1000.0), 1.0),
    });
    check("one very far", NEAR, |slot, random| match slot {
        77 => at(Vec3::splat(1e30), 0.0),
        _ => at(point(random, 1000.0), 0.0),
    });
    check("boxes of 1e30", NEAR, |_, random| at(point(random, 1e36), 1e30));
    check("some are large", NOT_CELLS, |slot, random| match slot % 500 {
        77 => at(point(random, 1000.0), 100.0),
        _ => at(point(random, 1000.0), 0.0),
    });
    check("every second very far", NOT_CELLS, |slot, random| match slot % 2 {
        0 => at(point(random, 1e30), 0.0),
        _ => at(point(random, 1000.0), 0.0),
    });
    check("sizes over twelve orders of magnitude", NOT_CELLS, |slot, random| {
        at(point(random, 1e6), 10f32.powi((slot % 13) as i32 - 9))
    });
    check("plates in a row", NOT_CELLS, |_, random| {
        let corner = point(random, 1000.0) * Vec3::new(1.0, 0.0, 0.0);
        Aabb::around(corner, corner + Vec3::new(0.0, 100.0, 100.0))
    });
}
