//! The smallest distance, its lower bound, and the search that can be paused.

use crate::cases::{self, Case};
use crate::soup::{Random, own_corners};
use crate::twin::Twin;
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::triangle::distance;
use jostle_geom::{Mesh, Pair, Pose};

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
        let off = twin.off_faces(found.faces, found.point_a, found.point_b);
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
fn drawn_where_it_is_weak() {
    for cases in [
        cases::slivers(100..160),
        cases::grids(200..260),
        cases::segments_and_points(300..330),
        cases::polygons(400..420),
        cases::far_away(500..520),
    ] {
        Tally::check_all(&cases).both_occur();
    }
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
    let mut search = pair.search_distance().unwrap();
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
    let mut whole = pair.search_distance().unwrap();
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

/// Two corners over two needles, or two edges almost parallel to theirs, at nearly the same height:
/// the triangles `under` and `over` of two meshes, turned so that no number is round.
fn needles(random: &mut Random, edges: bool) -> [Mesh; 2] {
    let mut size = |digits: f64| 10f64.powf(-digits * (random.unit() * 0.5 + 0.5)) as f32;
    let (width, height) = (0.1 * size(5.0), size(7.0));
    let (mut under, mut over) = (Vec::new(), Vec::new());
    for side in [-2.0, 2.0] {
        let along = Vec3::new(1.0, random.unit() as f32 * 1e-3, 0.0);
        let start = Vec3::new(-0.5, side, 0.0);
        under.extend([start, start + along, start + along * 0.4 + Vec3::Y * width]);
        let foot = start + along * 0.7 + Vec3::Y * (0.1 * width) + Vec3::Z * height;
        if edges {
            let turn = Vec3::new(1.0, along.y + 0.1 * width, 0.1 * width);
            over.extend([foot - turn * 0.6, foot + turn * 0.2, foot + Vec3::Z]);
        } else {
            over.extend([foot, foot + Vec3::Z, foot + Vec3::new(0.3, 0.4, 1.0)]);
        }
    }
    let turn = needle_turn();
    [under, over].map(|mesh| {
        own_corners(mesh.into_iter().map(|v| (turn * v.as_dvec3()).as_vec3()).collect())
    })
}

fn needle_turn() -> DQuat {
    DQuat::from_xyzw(0.3, -0.5, 0.7, 0.4).normalize()
}

/// A ranking by rough figures may take the wrong one of two that differ in the last digits.
#[test]
fn near_ties() {
    let mut ties = 0;
    for seed in 1000..3000 {
        let mut random = Random(seed);
        let [a, b] = needles(&mut random, seed % 2 == 1);
        // Tilt until both are equally high, up to a little.
        let mut angle = 0.0;
        let tilted = |angle: f64| {
            let axis = needle_turn() * DVec3::X;
            Pose::new(DQuat::from_axis_angle(axis, angle), DVec3::ZERO).unwrap()
        };
        for _ in 0..4 {
            let pose = tilted(angle);
            let place = |mesh: &Mesh, pose: &Pose, t: usize| {
                mesh.triangles()[t].map(|v| pose.transform_point(mesh.vertices()[v as usize]))
            };
            let [left, right] = [0, 1]
                .map(|t| distance(&place(&a, &Pose::IDENTITY, t), &place(&b, &pose, t)).distance);
            angle += (left - right) / 4.0;
        }
        let pose = tilted(angle + random.unit() * 1e-10f64.powf(1.0 + 0.4 * random.unit().abs()));
        // What is placed has rounded numbers: the needles in one case, what is over them in both.
        let around = random.pose(0.0);
        let pose_over = Pose::new(around.rotation() * pose.rotation(), DVec3::ZERO).unwrap();
        let name = format!("near ties, seed {seed}");
        let case = if seed % 4 < 2 {
            Case { name, a, b, poses: vec![(around, pose_over)] }
        } else {
            Case { name, a: b, b: a, poses: vec![(pose_over, around)] }
        };
        case.each(|pair, twin, place| {
            let (expected, found) = (twin.distance().unwrap(), pair.distance().unwrap().distance);
            let slack = 1e-12 * expected + twin.rounding();
            ties += usize::from(expected > 0.0);
            // Over needles the fast ranking knows less than the digits of the final figure.
            let off = (found - expected).abs();
            assert!(off <= slack + 1e-11 * twin.size, "{found}, not {expected}: {place}");
            // `within` does not rest on the ranking.
            assert!(pair.within(expected + slack), "not within {expected}: {place}");
            assert!(!pair.within(expected - slack), "within less than {expected}: {place}");
        });
    }
    assert!(ties > 1000, "{ties}");
}
