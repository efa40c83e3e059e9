//! How many comparisons are needed: counted, so the same on every machine.

use crate::finders::find;
use crate::oracle::aura;
use crate::rng::Rng;
use glam::DVec3;
use jostle_world::aura::{Aura, Finder};

#[test]
fn a_giant_is_compared_only_with_those_along_its_way() {
    // The giant crosses too many columns to be entered; it ends before the row of small ones
    // begins.
    let mut auras = vec![aura(DVec3::ZERO, 100.0)];
    auras.extend((0..100).map(|x| aura(DVec3::new(200.0 + 3.0 * f64::from(x), 0.0, 0.0), 1.0)));
    let found = find(&mut Finder::default(), &auras);
    assert_eq!(found.comparisons.sphere_tests, 0);
    assert_eq!(found.relations.len(), auras.len());
}

/// At constant coverage. The paper's workload is measured in `crates/lab/tests/aura`.
#[test]
fn comparisons_grow_linearly() {
    let tests = |count: u32| {
        let mut rng = Rng(1);
        let half_side = 1.4 * f64::from(count).cbrt();
        let auras: Vec<Aura> = (0..count).map(|_| aura(rng.place(half_side), 1.0)).collect();
        find(&mut Finder::default(), &auras).comparisons.sphere_tests as f64
    };
    let exponent = (tests(4000) / tests(1000)).ln() / 4.0_f64.ln();
    assert!((0.9..1.15).contains(&exponent), "{exponent}");
}
