//! Distances, closest points and shared segments against fractions of whole numbers.

use glam::DVec3;
use jostle_geom::triangle::{Triangle, closest_point, common, distance, distance_below};
use jostle_oracle::cases::Family;
use jostle_oracle::exact::verdict;
use jostle_oracle::metric::{point_distance, shared_length, triangle_distance};
use jostle_oracle::rng::Rng;
use jostle_oracle::separation::Verdict;

const CASES: u64 = 1_500;

/// Largest coordinate: one rounding of a coordinate is up to 2^-53 of it.
fn size(triangles: &[&Triangle]) -> f64 {
    triangles.iter().flat_map(|t| t.iter()).fold(0.0, |m, p| m.max(p.abs().max_element()))
}

/// Calls `check` with every case; it returns an error in units of the rounding of the size.
/// The largest must stay below `limit`.
fn largest_error(limit: f64, check: impl Fn(&Triangle, &Triangle) -> Option<f64>) {
    for family in Family::ALL {
        let mut checked = 0;
        let mut worst = (0.0, 0);
        for case in 0..CASES {
            let [a, b] = family.draw(&mut Rng::new(7, family as u64, case));
            if let Some(error) = check(&a, &b) {
                checked += 1;
                let error = error / (f64::EPSILON * size(&[&a, &b])).max(f64::MIN_POSITIVE);
                if error > worst.0 {
                    worst = (error, case);
                }
                assert!(
                    error <= limit,
                    "{family:?}, seed 7, case {case}: error {error}\n  a = {a:?}\n  b = {b:?}"
                );
            }
        }
        println!("{family:?}: {checked} checked, worst {worst:?}");
        assert!(checked * 50 > CASES, "{family:?}: only {checked} checked");
    }
}

#[test]
fn shared_segments_lie_in_both_triangles() {
    largest_error(4.0, |a, b| {
        let shared = common(a, b)?;
        let points = [shared.ends[0], shared.ends[1], shared.point()];
        let off = |p: DVec3| point_distance(p, a).max(point_distance(p, b));
        Some(points.into_iter().map(off).fold(0.0, f64::max))
    });
}

#[test]
fn crossing_triangles_share_the_whole_segment() {
    for family in Family::ALL {
        for case in 0..CASES {
            let [a, b] = family.draw(&mut Rng::new(8, family as u64, case));
            if verdict(&a, &b) != Verdict::Crossing {
                continue;
            }
            let [p, q] = common(&a, &b).expect("crossing triangles touch").ends;
            let error = (p.distance(q) - shared_length(&a, &b)).abs();
            let limit = 8.0 * f64::EPSILON * size(&[&a, &b]);
            assert!(error <= limit, "{family:?}, seed 8, case {case}: {error} > {limit}");
        }
    }
}

#[test]
fn overlaps_in_one_plane_are_as_long_as_they_are() {
    let flat = |corners: [[f64; 2]; 3]| corners.map(|[x, y]| DVec3::new(x, y, 2.0 * x - y));
    let large = flat([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]]);
    // Inside; a corner in; edges that cross only; one shared edge in part; a segment across.
    let others = [
        (flat([[1.0, 1.0], [3.0, 1.0], [1.0, 2.0]]), [[1.0, 2.0], [3.0, 1.0]]),
        (flat([[1.0, 1.0], [1.0, -4.0], [2.0, -4.0]]), [[1.0, 1.0], [1.2, 0.0]]),
        (flat([[-1.0, 3.0], [9.0, 3.0], [9.0, 3.5]]), [[0.0, 3.05], [5.0, 3.0]]),
        (flat([[2.0, 0.0], [12.0, 0.0], [3.0, -5.0]]), [[2.0, 0.0], [8.0, 0.0]]),
        (flat([[-1.0, 1.0], [1.0, 1.0], [11.0, 1.0]]), [[0.0, 1.0], [7.0, 1.0]]),
    ];
    for (other, [p, q]) in others {
        let [p, q, _] = flat([p, q, p]);
        for (a, b) in [(&large, &other), (&other, &large)] {
            let ends = common(a, b).expect("they overlap").ends;
            let same = |x: DVec3, y: DVec3| x.distance(y) < 1e-14;
            let [r, s] = ends;
            assert!(same(p, r) && same(q, s) || same(p, s) && same(q, r), "{other:?}: {ends:?}");
        }
    }
}

#[test]
fn distances_are_right_within_rounding() {
    // Worst seen in 275,000 cases: 20.
    largest_error(64.0, |a, b| {
        let found = distance(a, b);
        if verdict(a, b) != Verdict::Apart {
            assert_eq!(found.distance, 0.0);
            return Some(point_distance(found.on_a, a).max(point_distance(found.on_b, b)));
        }
        let expected = triangle_distance(a, b);
        let errors = [
            (found.distance - expected).abs(),
            (found.on_a.distance(found.on_b) - expected).abs(),
            point_distance(found.on_a, a),
            point_distance(found.on_b, b),
        ];
        Some(errors.into_iter().fold(0.0, f64::max))
    });
}

#[test]
fn a_limit_only_leaves_out_what_is_not_below_it() {
    let mut seen = [0; 2];
    for family in Family::ALL {
        for case in 0..CASES {
            let [a, b] = family.draw(&mut Rng::new(9, family as u64, case));
            let found = distance(&a, &b);
            let d = found.distance;
            for limit in [0.0, d * 0.5, d.next_down(), d, d.next_up(), d * 1.5, f64::INFINITY] {
                let expected = (d < limit).then_some(found);
                assert_eq!(
                    distance_below(&a, &b, limit),
                    expected,
                    "{family:?}, seed 9, case {case}, limit {limit:?}"
                );
                seen[usize::from(expected.is_some())] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&n| n > CASES), "lopsided: {seen:?}");
}

#[test]
fn closest_points_are_right_within_rounding() {
    largest_error(8.0, |a, b| {
        let found = closest_point(b[0], a);
        let error = (found.distance(b[0]) - point_distance(b[0], a)).abs();
        Some(error.max(point_distance(found, a)))
    });
}
