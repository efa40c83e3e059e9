//! Who receives a message, by auras and by regions.

use crate::finders::find;
use glam::DVec3;
use jostle_lab::aura::workload::{Setup, Targets};
use jostle_lab::aura::{Finder, Method};
use jostle_world::aura::{Aura, Recipients, RegionInterest};

/// Of those who receive, how many should; of those who should, how many receive.
fn precision_and_recall(auras: &[Aura], size: f64) -> [f64; 2] {
    let found = find(&mut Finder::new(Method::OrderedColumns), auras);
    let wanted = Recipients::new(&found.relations, auras.len());
    let places: Vec<DVec3> = auras.iter().map(Aura::centre).collect();
    let regions = RegionInterest::new(&places, size).unwrap();
    let [mut both, mut received, mut should] = [0; 3];
    for sender in 0..auras.len() as u32 {
        let [by_region, by_aura] = [regions.of(sender), wanted.of(sender)].map(Option::unwrap);
        both += by_aura.iter().filter(|other| by_region.binary_search(other).is_ok()).count();
        received += by_region.len();
        should += by_aura.len();
    }
    [received, should].map(|of| both as f64 / of as f64)
}

#[test]
fn regions_miss_some_or_disturb_many() {
    // The paper's case for auras: no size of regions serves everyone and only those.
    let mut world = Targets::new(Setup::new(1000, 0.2, 1)).unwrap();
    for _ in 0..500 {
        world.advance();
    }
    // As large as an aura's diameter: no recipient is missed, for overlapping centres are no
    // further apart.
    let [precision, recall] = precision_and_recall(world.auras(), 2.0);
    assert_eq!(recall, 1.0);
    assert!(precision < 0.5, "{precision}");
    // Small regions are precise and miss those who overlap from further away.
    let [precision, recall] = precision_and_recall(world.auras(), 0.5);
    assert!(precision > 0.9 && recall < 0.9, "{precision} {recall}");
}
