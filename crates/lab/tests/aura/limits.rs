//! More relations than the caller allows are an error, exactly.

use crate::finders::{all_finders, find, sets};
use crate::oracle::{aura, maximal_cliques, overlap_graph};
use glam::DVec3;
use jostle_lab::aura::{Finder, Method};
use jostle_world::aura::Aura;

/// Opposite pairs on a circle, each overlapping all but its opposite: 2^pairs relations.
fn opposites(pairs: u32) -> Vec<Aura> {
    let step = std::f64::consts::PI / f64::from(pairs);
    let radius = (1.0 + (step / 2.0).cos()) / 2.0;
    let places = (0..pairs).map(|pair| f64::from(pair) * step);
    let places = places.map(|angle| DVec3::new(angle.cos(), angle.sin(), 0.0));
    places.flat_map(|place| [aura(place, radius), aura(-place, radius)]).collect()
}

#[test]
fn failing_is_exact_to_the_last_relation() {
    for pairs in [1, 2, 5, 8] {
        let auras = opposites(pairs);
        let count = 1 << pairs;
        for finder in &mut all_finders() {
            let found = find(finder, &auras);
            assert_eq!(sets(&found), maximal_cliques(&overlap_graph(&auras)));
            assert_eq!(found.relations.len(), count);
            assert!(finder.relations(&auras, count).is_ok());
            let error = finder.relations(&auras, count - 1).unwrap_err();
            assert_eq!((error.limit, error.objects), (count - 1, auras.len()));
            assert!(error.considered <= auras.len());
            // A failure leaves nothing behind.
            assert_eq!(find(finder, &auras).relations, found.relations);
        }
    }
}

#[test]
fn the_error_says_how_far_it_came() {
    let mut finder = Finder::new(Method::ExpandingSphere);
    let error = finder.relations(&opposites(8), 7).unwrap_err();
    let message = "more than 7 relations, the limit given, among the first 6 of 16 auras";
    assert_eq!(error.to_string(), message);
}

#[test]
fn more_relations_than_could_ever_be_counted_end_soon() {
    let auras = opposites(200);
    for finder in &mut all_finders() {
        assert!(finder.relations(&auras, 5000).is_err());
    }
}
