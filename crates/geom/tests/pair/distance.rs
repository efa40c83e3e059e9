//! The smallest distance, its lower bound, and the search that can be paused.

use crate::cases::{self, Case};
use crate::soup::{Random, own_corners};
use crate::twin::Twin;
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{Pair, Pose};

/// How often the models touched, were apart, and one was empty.
#[derive(Default)]
struct Tally {
    touching: usize,
    apart: usize,
    empty: usize,
}

impl Tally {
    fn check(&mut self, pair: &Pair<'_>, twin: &Twin, place: &str) {
        let bound = pair.distance_lower_bound();
        let Some(expected) = twin.distance() else {
            self.empty += 1;
            assert_eq!(pair.distance(), None, "{place}");
            assert_eq!(bound, f64::INFINITY, "{place}");
            return;
        };
        let Some(found) = pair.distance() else { panic!("no distance: {place}") };
        if expected == 0.0 {
            self.touching += 1;
        } else {
            self.apart += 1;
        }
        let what = format!("expected {expected}, found {found:?}: {place}");
        let slack = twin.rounding();
        assert_eq!(found.distance == 0.0, expected == 0.0, "{what}");
        assert!((found.distance - expected).abs() <= 1e-12 * expected + slack, "{what}");
        let between = found.point_a.distance(found.point_b);
        assert!((found.distance - between).abs() <= 1e-15 * expected + slack, "{what}");
        let off = twin.from_faces(found.faces, found.point_a, found.point_b);
        assert!(off <= slack, "{off} off the faces, {what}");
        assert!(bound <= expected, "bound {bound}, {what}");
    }

    fn check_all(cases: &[Case]) -> Tally {
        let mut tally = Tally::default();
        for case in cases {
            case.each(|pair, twin, place| tally.check(pair, twin, place));
        }
        tally
    }

    fn both_occur(&self) {
        assert!(self.touching > 0 && self.apart > 0, "{} {}", self.touching, self.apart);
    }
}

#[test]
fn random_soups() {
    Tally::check_all(&cases::random_soups(0..40)).both_occur();
}

#[test]
fn balls_and_tori_near_contact() {
    Tally::check_all(&cases::near_contact()).both_occur();
}

#[test]
fn slivers() {
    Tally::check_all(&cases::slivers(100..160)).both_occur();
}

#[test]
fn integer_grids() {
    Tally::check_all(&cases::grids(200..260)).both_occur();
}

#[test]
fn segments_and_points() {
    Tally::check_all(&cases::segments_and_points(300..330)).both_occur();
}

#[test]
fn polygons() {
    Tally::check_all(&cases::polygons(400..420)).both_occur();
}

#[test]
fn far_away() {
    Tally::check_all(&cases::far_away(500..520)).both_occur();
}

#[test]
fn empty_and_single() {
    let tally = Tally::check_all(&cases::empty_and_single());
    tally.both_occur();
    assert!(tally.empty > 0);
}

/// Where the boxes are apart, the cheap bound says so.
#[test]
fn lower_bound_is_positive_for_clear_gaps() {
    let mut clear = 0;
    for mut case in cases::mixed() {
        for (_, pose_b) in &mut case.poses {
            *pose_b = cases::shift(DVec3::new(20.0, -7.0, 3.0));
        }
        case.each(|pair, twin, place| {
            let Some(distance) = twin.distance() else { return };
            clear += 1;
            let bound = pair.distance_lower_bound();
            assert!(bound > 0.5 * distance && bound <= distance, "{bound} {distance} {place}");
        });
    }
    assert!(clear > 0);
}

/// A search that pauses after every `operations` ends with the same answer, between a lower bound
/// that grows and an upper bound that falls.
fn check_paused(pair: &Pair<'_>, twin: &Twin, operations: u64, place: &str) -> u64 {
    let truth = twin.distance().unwrap_or(f64::INFINITY);
    let slack = 1e-12 * truth.min(1e300) + twin.rounding();
    let (mut lower, mut upper) = (0.0, f64::INFINITY);
    let mut search = pair.search_distance();
    let mut pauses = 0;
    while !search.run(operations) {
        pauses += 1;
        assert!(pauses < 1_000_000, "no end: {place}");
        let bound = search.lower_bound();
        assert!(bound >= lower, "{bound} after {lower}: {place}");
        assert!(bound <= truth, "{bound} above {truth}: {place}");
        lower = bound;
        if let Some(found) = search.found() {
            assert!(found.distance >= truth - slack, "{found:?} below {truth}: {place}");
            assert!(found.distance <= upper + slack, "{found:?} after {upper}: {place}");
            upper = found.distance;
        }
    }
    let mut whole = pair.search_distance();
    assert!(whole.run(u64::MAX));
    assert_eq!(search.found(), whole.found(), "{place}");
    assert_eq!(search.counters(), whole.counters(), "{place}");
    assert!(search.run(1), "finished stays finished: {place}");
    let bound = search.lower_bound();
    assert!(bound >= lower && bound <= truth, "{bound} after {lower}, {truth}: {place}");
    if truth.is_finite() {
        assert!(bound >= truth * (1.0 - 1e-11) - 64.0 * slack, "{bound}, {truth}: {place}");
    }
    pauses
}

#[test]
fn paused_search_gives_the_same() {
    let mut pauses = 0;
    for case in cases::mixed() {
        case.each(|pair, twin, place| {
            for operations in [1, 2, 7] {
                let place = format!("every {operations}, {place}");
                pauses += check_paused(pair, twin, operations, &place);
            }
        });
    }
    assert!(pauses > 0);
}

/// Two corners over two needles, at heights that differ in the last digits; and two edges, almost
/// parallel, that almost cross over two others. A ranking by rough figures takes the wrong pair.
#[test]
fn near_ties() {
    let mut worst: f64 = 0.0;
    for seed in 600..1000 {
        let mut random = Random(seed);
        let width = 10f64.powf(-2.0 - 5.0 * (random.unit() * 0.5 + 0.5)) as f32;
        let height = 10f64.powf(-7.0 * (random.unit() * 0.5 + 0.5)) as f32;
        let (mut over, mut under) = (Vec::new(), Vec::new());
        for side in [-2.0, 2.0] {
            let along = Vec3::new(1.0, random.unit() as f32 * 1e-3, 0.0);
            let start = Vec3::new(-0.5, side, 0.0);
            under.extend([start, start + along, start + along * 0.4 + Vec3::Y * width]);
            let foot = start + along * 0.7 + Vec3::Y * (0.2 * width) + Vec3::Z * height;
            if seed % 2 == 0 {
                over.extend([foot, foot + Vec3::Z, foot + Vec3::new(0.3, 0.4, 1.0)]);
            } else {
                let turn = Vec3::new(1.0, along.y + width, 0.1 * width);
                over.extend([foot - turn * 0.6, foot + turn * 0.5, foot + Vec3::Z]);
            }
        }
        let tilt = DQuat::from_rotation_x(random.unit() * 1e-11);
        let turn = random.rotation().normalize();
        let poses = vec![(
            Pose::new(turn, DVec3::ZERO).unwrap(),
            Pose::new(turn * tilt, DVec3::ZERO).unwrap(),
        )];
        let name = format!("near ties, seed {seed}, width {width}, height {height}");
        let case = Case { name, a: own_corners(under), b: own_corners(over), poses };
        case.each(|pair, twin, place| {
            let (expected, found) = (twin.distance().unwrap(), pair.distance().unwrap().distance);
            let off = (found - expected).abs() / (1e-12 * expected + twin.rounding());
            if off > worst {
                println!("{off} {expected} {found} {place}");
            }
            worst = worst.max(off);
            let d = expected * (1.0 + 1e-12) + twin.rounding();
            if !pair.within(d) {
                println!("not within {off} {expected} {found} {place}");
            }
        });
    }
    assert!(worst <= 1.0, "{worst}");
}
