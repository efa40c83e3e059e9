//! All methods give exactly the maximal cliques of the overlap graph, whatever the auras and
//! whatever was asked before.

use crate::finders::{all_finders, find, name, sets};
use crate::oracle::{aura, maximal_cliques, overlap_graph};
use crate::rng::Rng;
use glam::DVec3;
use jostle_world::aura::{Aura, AuraError};

/// What was drawn, so that a test can check that the cases occurred.
#[derive(Default)]
struct Seen {
    singles: usize,
    pairs: usize,
    larger: usize,
}

/// All methods against the oracle, on frames in sequence.
fn compare(
    kind: &str,
    seed: u64,
    frames: u32,
    mut frame: impl FnMut(&mut Rng) -> Vec<Aura>,
) -> Seen {
    let mut rng = Rng(seed);
    let mut finders = all_finders();
    let mut seen = Seen::default();
    for at in 0..frames {
        let auras = frame(&mut rng);
        let expected = maximal_cliques(&overlap_graph(&auras));
        for finder in &mut finders {
            let found = sets(&find(finder, &auras));
            let method = name(finder);
            assert_eq!(found, expected, "{kind}, seed {seed}, frame {at}, {method}: {auras:?}");
        }
        for relation in expected {
            match relation.len() {
                1 => seen.singles += 1,
                2 => seen.pairs += 1,
                _ => seen.larger += 1,
            }
        }
    }
    seen
}

fn all_kinds(seen: &Seen) {
    let Seen { singles, pairs, larger } = *seen;
    assert!(singles > 20 && pairs > 20 && larger > 20, "{singles} {pairs} {larger}");
}

#[test]
fn on_random_worlds_of_any_size() {
    all_kinds(&compare("random", 1, 300, |rng| {
        let count = rng.below(120);
        let half_side = 1.0 + rng.unit().abs() * 10.0;
        let radius = |rng: &mut Rng| 0.5 + rng.unit().abs();
        (0..count).map(|_| aura(rng.place(half_side), radius(rng))).collect()
    }));
}

#[test]
fn on_clusters() {
    all_kinds(&compare("clusters", 2, 100, |rng| {
        let centres: Vec<DVec3> = (0..4).map(|_| rng.place(100.0)).collect();
        let centre = |rng: &mut Rng| centres[rng.below(4) as usize] + rng.place(2.5);
        (0..60).map(|_| aura(centre(rng), 1.0)).collect()
    }));
}

#[test]
fn on_flat_and_narrow_worlds_whose_axis_changes() {
    all_kinds(&compare("flat", 3, 150, |rng| {
        let mut sides = DVec3::splat(0.1);
        sides[rng.below(3) as usize] = 100.0;
        sides[rng.below(3) as usize] = 30.0;
        (0..80).map(|_| aura(rng.place(1.0) * sides, 2.0)).collect()
    }));
}

#[test]
fn on_coherent_motion() {
    let mut auras: Vec<Aura> = Vec::new();
    all_kinds(&compare("motion", 4, 100, |rng| {
        if auras.is_empty() {
            auras = (0..100).map(|_| aura(rng.place(5.0), 1.0)).collect();
        }
        for moving in &mut auras {
            *moving = aura(moving.centre() + rng.place(0.2), moving.radius());
        }
        auras.clone()
    }));
}

#[test]
fn while_objects_come_and_go() {
    let mut auras: Vec<Aura> = Vec::new();
    all_kinds(&compare("come and go", 5, 200, |rng| {
        for _ in 0..rng.below(15) {
            auras.push(aura(rng.place(5.0), 0.5 + rng.unit().abs()));
        }
        for _ in 0..rng.below(14).min(auras.len() as u64) {
            auras.swap_remove(rng.below(auras.len() as u64) as usize);
        }
        match rng.below(20) {
            0 => auras.clear(),
            1 => auras.truncate(1),
            _ => {}
        }
        auras.clone()
    }));
}

#[test]
fn on_a_small_lattice_where_touching_is_the_rule() {
    // Whole centres and half radii are exact in every step, so touching is touching exactly. Points
    // (radius 0), equal spheres and nested ones come up all the time.
    let seen = compare("lattice", 6, 300, |rng| {
        let mut whole = |end| rng.below(end) as f64;
        (0..40).map(|_| aura(DVec3::new(whole(9), whole(9), whole(3)), whole(4) / 2.0)).collect()
    });
    all_kinds(&seen);
}

#[test]
fn where_spheres_touch_to_within_the_last_bits() {
    // Chains along a line in any direction, each sphere touching the one before as nearly as
    // rounding allows: the end points on the axis and the spheres of relations touch likewise.
    // Without their outward rounding this test fails.
    let seen = compare("last bits", 7, 2000, |rng| {
        let along = match rng.below(3) {
            0 => DVec3::X,
            1 => DVec3::from_array([1.0, 1.0, 0.0]).normalize(),
            _ => rng.direction(),
        };
        let mut auras = vec![aura(rng.place(100.0), 1.0)];
        for _ in 0..8 {
            let last = auras[auras.len() - 1];
            let radius = if rng.below(2) == 0 { 0.001 } else { 1.0 + rng.unit().abs() };
            let apart = (last.radius() + radius) * (1.0 - [0.0, 0.3][rng.below(2) as usize]);
            auras.push(aura(last.centre() + along * apart, radius));
        }
        for at in (1..auras.len()).rev() {
            auras.swap(at, rng.below(at as u64 + 1) as usize);
        }
        // Also where squares are so small that nothing but a few bits is left of them.
        let scale = [1.0, 1.0, 1e-150, 1e-160][rng.below(4) as usize];
        for scaled in &mut auras {
            *scaled = aura(scaled.centre() * scale, scaled.radius() * scale);
        }
        auras
    });
    all_kinds(&seen);
}

#[test]
fn at_the_ends_of_the_range_of_numbers() {
    for scale in [Aura::LIMIT / 16.0, 1e-100, 1e-155, 1e-161, 1e-200, 1e-307] {
        compare(&format!("scale {scale:e}"), 8, 20, |rng| {
            let radius = |rng: &mut Rng| (0.2 + rng.unit().abs()) * scale;
            (0..40).map(|_| aura(rng.place(8.0) * scale, radius(rng))).collect()
        });
    }
    compare("small ones far out", 9, 50, |rng| {
        let far = DVec3::splat(1e15);
        (0..40).map(|_| aura(far + rng.place(8.0), rng.unit().abs())).collect()
    });
}

#[test]
fn on_spheres_of_very_different_sizes() {
    all_kinds(&compare("sizes", 10, 100, |rng| {
        let radius = |rng: &mut Rng| [0.0, 0.01, 1.0, 20.0, 300.0][rng.below(5) as usize];
        (0..80).map(|_| aura(rng.place(300.0), radius(rng))).collect()
    }));
}

#[test]
fn on_special_worlds() {
    let at = |x: f64| DVec3::new(x, 0.0, 0.0);
    let identical = vec![aura(at(3.0), 1.0); 50];
    let points = vec![aura(at(3.0), 0.0); 50];
    let nested: Vec<Aura> = (1..50).map(|size| aura(at(0.0), f64::from(size))).collect();
    let touching: Vec<Aura> = (0..50).map(|x| aura(at(2.0 * f64::from(x)), 1.0)).collect();
    let apart: Vec<Aura> = (0..50).map(|x| aura(at(3.0 * f64::from(x)), 1.0)).collect();
    let worlds = [vec![], vec![aura(at(0.0), 0.0)], identical, points, nested, touching, apart];
    let counts = [0, 1, 1, 1, 1, 49, 50];
    // Each after each: what a finder remembers of one must not harm another.
    let mut finders = all_finders();
    for _ in 0..2 {
        for (world, count) in worlds.iter().zip(counts) {
            let expected = maximal_cliques(&overlap_graph(world));
            assert_eq!(expected.len(), count);
            for finder in &mut finders {
                assert_eq!(sets(&find(finder, world)), expected, "{}", name(finder));
            }
        }
    }
}

#[test]
fn auras_are_checked() {
    let good = DVec3::new(1.0, -2.0, 3.0);
    let kept = aura(good, 0.5);
    assert_eq!((kept.centre(), kept.radius()), (good, 0.5));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e151] {
        let centre = DVec3::new(0.0, 0.0, bad);
        assert!(matches!(Aura::new(centre, 1.0), Err(AuraError::Centre { .. })), "{bad}");
        assert!(matches!(Aura::new(good, bad), Err(AuraError::Radius { .. })), "{bad}");
    }
    assert_eq!(Aura::new(good, -0.5), Err(AuraError::Radius { radius: -0.5 }));
    let message = Aura::new(good, -0.5).unwrap_err().to_string();
    assert_eq!(message, "the radius -0.5 of an aura must be from 0 to 1e150");
}

#[test]
fn touching_counts_and_a_hair_more_does_not() {
    let a = aura(DVec3::ZERO, 2.0);
    assert!(a.overlaps(&aura(DVec3::new(3.0, 4.0, 0.0), 3.0)));
    assert!(!a.overlaps(&aura(DVec3::new(3.0, 4.0, 0.0), 3.0 - 1e-15)));
}
