//! When relations explode in number, the caller gets what was asked for, soon.

use crate::finders::{find, sets};
use crate::oracle::{aura, maximal_cliques, overlap_graph};
use crate::rng::Rng;
use glam::DVec3;
use jostle_world::aura::{Aura, Completeness, Finder, Found, Recipients, RelationLimit};

/// Opposite pairs on a circle, each overlapping all but its opposite: 2^pairs relations. (Moon and
/// Moser's 3^(n/3) needs triples, which spheres of one size cannot form in number.)
fn opposites(pairs: u32) -> Vec<Aura> {
    let step = std::f64::consts::PI / f64::from(pairs);
    let nearest_to_opposite = (step / 2.0).cos();
    let radius = (1.0 + nearest_to_opposite) / 2.0;
    let places = (0..pairs).map(|pair| f64::from(pair) * step);
    let places = places.map(|angle| DVec3::new(angle.cos(), angle.sin(), 0.0));
    places.flat_map(|place| [aura(place, radius), aura(-place, radius)]).collect()
}

fn cover_with(finder: &mut Finder, auras: &[Aura], most: usize) -> Found {
    finder
        .relations(auras, RelationLimit::CoverWith(most))
        .unwrap_or_else(|error| panic!("a cover is no failure: {error}"))
}

/// Whatever was promised of a cover.
fn check_cover(auras: &[Aura], most: usize) -> Completeness {
    let graph = overlap_graph(auras);
    let all = maximal_cliques(&graph);
    let mut finder = Finder::default();
    let first = cover_with(&mut finder, auras, most);
    let again = cover_with(&mut finder, auras, most);
    assert_eq!((&again.relations, again.completeness), (&first.relations, first.completeness));
    let chosen = sets(&first);
    assert!(chosen.len() <= most);
    assert!(chosen.iter().all(|relation| all.binary_search(relation).is_ok()));
    assert!(chosen.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(all.len() <= most, first.completeness == Completeness::Complete);
    let recipients = Recipients::new(&first.relations, auras.len());
    let exact = (0..).zip(&graph).all(|(object, of)| recipients.of(object).as_ref() == Some(of));
    let served =
        (0..auras.len() as u32).all(|object| chosen.iter().flatten().any(|&o| o == object));
    match first.completeness {
        Completeness::Complete => assert_eq!(chosen, all),
        Completeness::EveryPair => assert!(exact && served),
        Completeness::Partial => {
            assert!(!exact || !served);
            assert_eq!(chosen.len(), most);
        }
    }
    assert!(served || most < auras.len());
    first.completeness
}

#[test]
fn failing_is_exact_to_the_last_relation() {
    for pairs in [1, 2, 5, 8] {
        let auras = opposites(pairs);
        let count = 1 << pairs;
        let mut finder = Finder::default();
        let found = find(&mut finder, &auras);
        assert_eq!(sets(&found), maximal_cliques(&overlap_graph(&auras)));
        assert_eq!(found.relations.len(), count);
        assert!(finder.relations(&auras, RelationLimit::FailAbove(count)).is_ok());
        let error = finder.relations(&auras, RelationLimit::FailAbove(count - 1)).unwrap_err();
        assert_eq!((error.limit, error.objects), (count - 1, auras.len()));
        assert!(error.considered <= auras.len());
        // A failure leaves nothing behind.
        assert_eq!(find(&mut finder, &auras).relations, found.relations);
    }
}

#[test]
fn the_error_says_how_far_it_came() {
    let mut finder = Finder::default();
    let error = finder.relations(&opposites(8), RelationLimit::FailAbove(7)).unwrap_err();
    let message = "more than 7 relations, the limit given, among the first 11 of 16 auras";
    assert_eq!(error.to_string(), message);
}

#[test]
fn a_cover_keeps_what_it_promises() {
    let mut seen = [0; 3];
    let mut rng = Rng(1);
    for case in 0..60 {
        let auras: Vec<Aura> = match case % 3 {
            0 => opposites(1 + case / 3 % 7),
            1 => (0..30).map(|_| aura(rng.place(1.7), 1.0)).collect(),
            _ => (0..40).map(|_| aura(rng.place(4.0), 1.0)).collect(),
        };
        for most in [0, 1, 2, 10, 30, 40, 60, 100, 1000] {
            seen[check_cover(&auras, most) as usize] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
}

#[test]
fn more_relations_than_could_ever_be_counted_end_soon() {
    // 2^200 relations beside a world that has nothing to do with it.
    let mut auras = opposites(200);
    let mut rng = Rng(2);
    auras.extend((0..300).map(|_| aura(DVec3::splat(100.0) + rng.place(10.0), 1.0)));
    let graph = overlap_graph(&auras);
    let mut finder = Finder::default();
    assert!(finder.relations(&auras, RelationLimit::FailAbove(5000)).is_err());
    let found = cover_with(&mut finder, &auras, 5000);
    assert_eq!(found.completeness, Completeness::EveryPair);
    let recipients = Recipients::new(&found.relations, auras.len());
    for (object, of) in (0..).zip(&graph) {
        assert_eq!(recipients.of(object).as_ref(), Some(of));
    }
}
