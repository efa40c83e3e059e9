//! Who receives a message, by auras and by regions.

use crate::finders::find;
use crate::oracle::{aura, overlap_graph};
use crate::rng::Rng;
use glam::DVec3;
use jostle_world::aura::{Aura, Finder, Recipients, RegionError, RegionInterest, Relations};

#[test]
fn who_shares_a_relation_is_who_overlaps() {
    let mut rng = Rng(1);
    for case in 0..50 {
        let auras: Vec<Aura> = (0..case).map(|_| aura(rng.place(3.0), 1.0)).collect();
        let graph = overlap_graph(&auras);
        let found = find(&mut Finder::default(), &auras);
        let recipients = Recipients::new(&found.relations, auras.len());
        for (object, of) in (0..).zip(&graph) {
            assert_eq!(recipients.of(object).as_ref(), Some(of), "case {case}");
        }
        assert_eq!(recipients.of(case), None);
    }
    let nobody = Relations::default();
    assert_eq!(Recipients::new(&nobody, 0).of(0), None);
    assert_eq!(Recipients::new(&nobody, 1).of(0), Some(vec![]));
}

/// The obvious way: regions whose numbers differ by at most one on each axis.
fn in_neighbouring_regions(places: &[DVec3], size: f64, sender: usize) -> Vec<u32> {
    let near = |other: &DVec3| {
        let between = (*other / size).floor() - (places[sender] / size).floor();
        between.abs().max_element() <= 1.0
    };
    let others = (0u32..).zip(places).filter(|(other, _)| *other as usize != sender);
    others.filter(|(_, place)| near(place)).map(|(other, _)| other).collect()
}

#[test]
fn regions_reach_their_neighbours_and_no_further() {
    let mut rng = Rng(2);
    let mut seen = [0; 2];
    for case in 0..100 {
        let size = 0.5 + rng.unit().abs();
        // Every second world on the borders of regions.
        let places: Vec<DVec3> = match case % 2 {
            0 => (0..80).map(|_| rng.place(4.0)).collect(),
            _ => (0..80).map(|_| rng.place(6.0).round() * size).collect(),
        };
        let regions = RegionInterest::new(&places, size).unwrap();
        for sender in 0..places.len() {
            let expected = in_neighbouring_regions(&places, size, sender);
            seen[usize::from(expected.is_empty())] += 1;
            assert_eq!(regions.of(sender as u32), Some(expected), "case {case}, sender {sender}");
        }
        assert_eq!(regions.of(80), None);
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
}

#[test]
fn a_border_belongs_to_the_higher_region() {
    let on_x = |x: f64| DVec3::new(x, 0.5, 0.5);
    let below = 1.0_f64.next_down();
    let places = [on_x(below), on_x(1.0), on_x(2.0), on_x(-0.25), on_x(-1.0), on_x(3.0)];
    let regions = RegionInterest::new(&places, 1.0).unwrap();
    assert_eq!(regions.of(0), Some(vec![1, 3, 4])); // region 0 reaches -1 and 1
    assert_eq!(regions.of(1), Some(vec![0, 2])); // region 1 reaches 0 and 2
    assert_eq!(regions.of(5), Some(vec![2])); // region 3 reaches 2
}

#[test]
fn regions_are_checked() {
    for size in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = RegionInterest::new(&[DVec3::ZERO], size).unwrap_err();
        assert!(matches!(error, RegionError::Size { .. }), "{size}");
    }
    for place in [DVec3::splat(1e16), DVec3::splat(f64::NAN), DVec3::new(0.0, 0.0, -1e300)] {
        let error = RegionInterest::new(&[DVec3::ZERO, place], 1.0).unwrap_err();
        assert!(matches!(error, RegionError::TooFar { object: 1, .. }), "{place}");
    }
}
