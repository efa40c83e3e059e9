//! Spheres against triangles and against each other: whole numbers decide. No tolerance in here.

use glam::DVec3;
use jostle_geom::predicates::spheres_touch;
use jostle_geom::triangle::{Triangle, sphere_meets_triangle};
use jostle_oracle::cases::Family;
use jostle_oracle::metric::{point_distance, point_within, points_within};
use jostle_oracle::rng::Rng;

const CASES: u64 = 2_000;

/// Radii at which the answer is open: the rounded distance and its neighbours, a bit more or less,
/// a whole number, a point, and any.
fn radii(rng: &mut Rng, distance: f64) -> [f64; 8] {
    let all = [
        distance,
        distance.next_down(),
        distance.next_up(),
        distance * (1.0 - 1e-14),
        distance * (1.0 + 1e-14),
        distance.round(),
        0.0,
        distance * 2.0 * rng.part(),
    ];
    // Smaller ones than a sphere may have are points.
    all.map(|r| if r < jostle_geom::limits::RADIUS_MIN { 0.0 } else { r })
}

#[test]
fn spheres_reach_triangles_as_whole_numbers_say() {
    for family in Family::ALL {
        let mut seen = [0; 2];
        for case in 0..CASES {
            let rng = &mut Rng::new(11, family as u64, case);
            let [a, b] = family.draw(rng);
            let mut triangle = a;
            triangle.rotate_left(case as usize % 3);
            for radius in radii(rng, point_distance(b[0], &triangle)) {
                let expected = point_within(b[0], &triangle, radius);
                assert_eq!(
                    sphere_meets_triangle(b[0], radius, &triangle),
                    expected,
                    "{family:?}, seed 11, case {case}: {:?}, {radius:?}, {triangle:?}",
                    b[0]
                );
                seen[usize::from(expected)] += 1;
            }
        }
        assert!(seen.iter().all(|&n| n > CASES), "{family:?}: lopsided, {seen:?}");
    }
}

/// A whole number in a range around zero.
fn whole(rng: &mut Rng, most: u64) -> f64 {
    rng.below(2 * most + 1) as f64 - most as f64
}

/// A triangle in a plane at distance 3k from the origin, tilted by a rotation with whole numbers
/// over 3 or 7, so that corners are whole and the height is exact.
fn exact_height(rng: &mut Rng) -> (Triangle, f64) {
    let [x, y, n] = rng.pick(&[
        [DVec3::X, DVec3::Y, DVec3::Z],
        [DVec3::new(1.0, 2.0, 2.0), DVec3::new(2.0, 1.0, -2.0), DVec3::new(2.0, -2.0, 1.0)],
        [DVec3::new(2.0, 3.0, 6.0), DVec3::new(3.0, -6.0, 2.0), DVec3::new(6.0, 2.0, -3.0)],
    ]);
    let height = rng.below(9) as f64;
    let corners = [(); 3].map(|()| x * whole(rng, 9) + y * whole(rng, 9) + n * height);
    (corners, height * n.length())
}

#[test]
fn whole_radii_that_just_reach_do_and_the_next_smaller_do_not() {
    let mut just = [0; 2];
    for case in 0..20_000 {
        let rng = &mut Rng::new(12, 0, case);
        let (t, height) = exact_height(rng);
        let shift = DVec3::new(whole(rng, 99), whole(rng, 99), whole(rng, 99));
        let scale = rng.pick(&[1.0, 2f64.powi(-200), 2f64.powi(90)]);
        let (t, centre) = (t.map(|p| (p + shift) * scale), shift * scale);
        let radius = height * scale;
        for r in [radius, radius.next_down().max(0.0), radius.next_up()] {
            let r = if r < jostle_geom::limits::RADIUS_MIN { 0.0 } else { r };
            let expected = point_within(centre, &t, r);
            assert_eq!(
                sphere_meets_triangle(centre, r, &t),
                expected,
                "seed 12, case {case}: {centre:?}, {r:?}, {t:?}"
            );
        }
        if radius > 0.0 {
            let reached = point_within(centre, &t, radius);
            just[usize::from(reached)] += 1;
            assert!(!point_within(centre, &t, radius.next_down()), "seed 12, case {case}");
        }
    }
    assert!(just.iter().all(|&n| n > 1_000), "lopsided: {just:?}");
}

#[test]
fn numbers_of_every_size_in_one_case_do_not_matter() {
    // The smallest step and the largest coordinates: products of six have 2400 digits between.
    let [step, far] = [-261, 99].map(|e| 2f64.powi(e));
    let floor = [DVec3::new(-far, -far, 0.0), DVec3::new(far, 0.0, 0.0), DVec3::new(0.0, far, 0.0)];
    let centre = DVec3::new(step, -step, 1.0);
    for (radius, expected) in [(1.0, true), (1.0f64.next_down(), false), (0.0, false)] {
        assert_eq!(sphere_meets_triangle(centre, radius, &floor), expected, "{radius}");
        assert_eq!(point_within(centre, &floor, radius), expected, "{radius}");
    }
    let sloped = floor.map(|p| p + DVec3::Z * (p.x * 2f64.powi(-30)));
    for radius in [1.0, 1.0f64.next_down(), 0.5, 2f64.powi(-200)] {
        let expected = point_within(centre, &sloped, radius);
        assert_eq!(sphere_meets_triangle(centre, radius, &sloped), expected, "{radius}");
    }
    assert!(!sphere_meets_triangle(centre, -1.0, &floor));
    assert!(!sphere_meets_triangle(centre, f64::NAN, &floor));
    assert!(sphere_meets_triangle(centre, f64::INFINITY, &floor));
    assert!(sphere_meets_triangle(centre, f64::INFINITY, &[DVec3::X; 3]));
}

#[test]
fn spheres_touch_spheres_as_whole_numbers_say() {
    // Pythagorean quadruples: the distance is whole.
    let quadruples = [[3, 4, 0, 5], [1, 2, 2, 3], [2, 3, 6, 7], [4, 4, 7, 9], [0, 0, 1, 1]];
    let mut seen = [0; 2];
    for case in 0..50_000 {
        let rng = &mut Rng::new(13, 0, case);
        let scale = rng.pick(&[1.0, 0.1, 2f64.powi(-180), 2f64.powi(80)]);
        let a = DVec3::new(whole(rng, 9), whole(rng, 9), whole(rng, 9)) * scale;
        let [x, y, z, d] = rng.pick(&quadruples).map(|n| f64::from(n) * scale);
        let b = a + DVec3::new(x, y, z) * rng.pick(&[1.0, 2.0, 0.5]);
        let part = rng.pick(&[0.0, 0.5, 0.25, 0.125, 1.0]);
        let (ra, rb) = (d * part, d * (1.0 - part));
        let ra = rng.pick(&[ra, ra.next_up(), ra.next_down().max(0.0), ra * 0.5, ra * 2.0]);
        let [ra, rb] = [ra, rb].map(|r| if r < 2f64.powi(-209) { 0.0 } else { r });
        let expected = points_within(a, ra, b, rb);
        let found = spheres_touch(a, ra, b, rb);
        let about = format!("seed 13, case {case}: {a:?} {ra:?} {b:?} {rb:?}");
        assert_eq!(found, spheres_touch(b, rb, a, ra), "{about}");
        assert_eq!(found, expected, "{about}");
        seen[usize::from(found)] += 1;
    }
    assert!(seen.iter().all(|&n| n > 5_000), "lopsided: {seen:?}");
}

#[test]
fn short_and_long_whole_numbers_agree_where_they_meet() {
    // Coordinates of 19 and 20 digits: below 2^19 the decision is made in 128 bits.
    let mut seen = [0; 2];
    for case in 0..4_000 {
        let rng = &mut Rng::new(14, 0, case);
        let most = rng.pick(&[(1 << 19) - 1, 1 << 19, 1 << 20]);
        let mut far = || if rng.below(2) == 0 { most as f64 } else { -(most as f64) };
        // Long edges, a height of all digits, and a ball that just reaches, or a step less.
        let height = far();
        let t = [(); 3].map(|()| DVec3::new(far(), far(), height));
        let centre = DVec3::new(far(), far(), -height);
        let (x, y) = (whole(rng, 1 << 18), whole(rng, 1 << 18));
        let centre = if case % 2 == 0 { DVec3::new(x, y, -height) } else { centre };
        for radius in [2.0 * height.abs(), (2.0 * height.abs()).next_down(), height.abs()] {
            let expected = point_within(centre, &t, radius);
            let found = sphere_meets_triangle(centre, radius, &t);
            assert_eq!(found, expected, "seed 14, case {case}: {centre:?}, {radius:?}, {t:?}");
            seen[usize::from(found)] += 1;
        }
    }
    assert!(seen.iter().all(|&n| n > 1_000), "lopsided: {seen:?}");
    // And 61 digits for two spheres.
    for top in [58, 59, 60, 61, 62] {
        let (large, step) = (2f64.powi(top), 2f64.powi(top - 52));
        for (x, rest) in [(large, 3.0), (large + step, 3.0), (large + step, step), (large, 0.0)] {
            for flip in [1.0, -1.0] {
                let (a, b) = (DVec3::ZERO, DVec3::new(0.0, x * flip, 0.0));
                let expected = x - large <= rest;
                assert_eq!(spheres_touch(a, large, b, rest), expected, "{top} {x} {rest}");
                assert_eq!(points_within(a, large, b, rest), expected, "{top} {x} {rest}");
            }
        }
    }
}
