//! How many comparisons the methods need: counted, so the same on every machine.

use crate::finders::{all_finders, find};
use crate::oracle::aura;
use glam::DVec3;
use jostle_lab::aura::experiment::{self, Row};
use jostle_lab::aura::workload::{Setup, Targets};
use jostle_lab::aura::{Comparisons, Finder, Method};
use jostle_world::aura::Aura;
use std::time::Duration;

fn rows(objects: u32, coverage: f64, methods: &[Method]) -> Vec<Row> {
    experiment::run(Setup::new(objects, coverage, 1), 3, methods, || Duration::ZERO)
        .unwrap_or_else(|error| panic!("{objects} objects, coverage {coverage}: {error}"))
}

#[test]
fn brute_force_compares_every_pair_once() {
    for count in [0_u32, 1, 2, 17] {
        let auras: Vec<Aura> = (0..count).map(|x| aura(DVec3::splat(f64::from(x)), 1.0)).collect();
        let found = find(&mut Finder::new(Method::BruteForce), &auras);
        let expected = u64::from(count) * (u64::from(count).max(1) - 1) / 2;
        assert_eq!(found.comparisons.total(), expected);
    }
}

#[test]
fn a_relation_is_dismissed_by_one_comparison() {
    // Three that overlap, then one far away: it is compared with their sphere only.
    let auras = [0.0, 0.5, 1.0, 50.0].map(|x| aura(DVec3::new(x, 0.0, 0.0), 1.0));
    let found = find(&mut Finder::new(Method::ExpandingSphere), &auras);
    // The second with the first; the third with the sphere of both and with both; the fourth.
    let expected =
        Comparisons { sphere_tests: 3, group_tests: 2, reach_steps: 3, ..Comparisons::default() };
    assert_eq!(found.comparisons, expected);
    // On an axis the last one is never met; in columns no sphere of a relation is asked.
    let found = find(&mut Finder::new(Method::OrderedAxis), &auras);
    assert_eq!((found.comparisons.sphere_tests, found.comparisons.group_tests), (3, 1));
    let found = find(&mut Finder::new(Method::OrderedColumns), &auras);
    assert_eq!((found.comparisons.sphere_tests, found.comparisons.group_tests), (3, 0));
}

#[test]
fn the_papers_order_at_high_coverage() {
    // Graph 4 of the paper: every variation needs less than the one before.
    let rows = rows(1000, 0.2, &Method::ALL);
    let shares: Vec<f64> = rows.iter().map(|row| row.share).collect();
    assert!(shares.windows(2).all(|pair| pair[1] < pair[0]), "{shares:?}");
}

#[test]
fn ordered_axis_needs_at_most_twelve_percent_of_brute_force() {
    for objects in [1000, 2000] {
        for row in rows(objects, 0.2, &[Method::OrderedAxis, Method::OrderedColumns]) {
            assert!(row.share <= 0.12, "{objects} objects: {row:?}");
        }
    }
}

#[test]
fn ordered_columns_grow_linearly_and_ordered_axis_does_not() {
    let methods = [Method::OrderedAxis, Method::OrderedColumns];
    let few = rows(1000, 0.2, &methods);
    let many = rows(4000, 0.2, &methods);
    let exponents: Vec<f64> = few
        .iter()
        .zip(&many)
        .map(|(few, many)| (many.comparisons / few.comparisons).ln() / 4.0_f64.ln())
        .collect();
    // The paper sees a nearly linear growth; with one axis it is 5/3 in the long run.
    assert!((1.4..1.75).contains(&exponents[0]), "{exponents:?}");
    assert!(exponents[1] < 1.15, "{exponents:?}");
}

#[test]
fn what_hardly_moves_is_hardly_sorted() {
    let mut world = Targets::new(Setup::new(2000, 0.2, 1)).unwrap();
    let mut finder = Finder::new(Method::OrderedAxis);
    let first = find(&mut finder, world.auras());
    world.advance();
    let second = find(&mut finder, world.auras());
    assert!(second.comparisons.sort_steps * 4 < first.comparisons.sort_steps, "{second:?}");
    // Nothing moves: nothing is sorted, and the comparisons are the same again.
    let third = find(&mut finder, world.auras());
    assert_eq!(third.comparisons.sort_steps, 0);
    assert_eq!(third.comparisons.total(), second.comparisons.total());
}

#[test]
fn counts_depend_on_the_auras_and_not_on_the_run() {
    let world = Targets::new(Setup::new(500, 0.2, 3)).unwrap();
    for (a, b) in all_finders().iter_mut().zip(&mut all_finders()) {
        assert_eq!(find(a, world.auras()), find(b, world.auras()));
    }
}
