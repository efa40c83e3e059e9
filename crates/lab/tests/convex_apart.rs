//! Separating planes, closest faces and GJK: what is called apart is apart, and distances are those
//! of all triangles, one by one.

mod hulls;

use glam::DVec3;
use hulls::{any_hull, any_turn, point, poses, surface_distance, touch};
use jostle_geom::{Pose, solids};
use jostle_lab::convex::{
    Dimension, Effort, FaceTracker, Filter, Gjk, GjkAnswer, Hull, Neighbours, Placement,
    PlaneSettings, SeparatingPlane, Start, Stop, Tracked,
};
use jostle_oracle::rng::Rng;

const SEED: u64 = 20001;

/// Every convex test, with settings that make it end early and late.
fn filters() -> Vec<Filter> {
    let mut all = Filter::all();
    for start in [Start::Trivial, Start::Barycentres] {
        for stop in [Stop::Plane, Stop::Normal] {
            let settings = PlaneSettings { start, stop, feedback: true, ..Default::default() };
            let annealed = PlaneSettings { planes_max: 10, eta: 0.25, annealing: 0.97, ..settings };
            all.extend([settings, annealed].map(|s| Filter::Planes(SeparatingPlane::new(s))));
        }
    }
    all
}

#[test]
fn no_pair_that_touches_is_called_apart() {
    let mut both = [0; 2];
    let mut shown = 0;
    for case in 0..4000 {
        let mut rng = Rng::new(SEED, 1, case);
        let whole = rng.below(2) == 0;
        let (a, b) = (any_hull(&mut rng, whole), any_hull(&mut rng, whole));
        let [pose_a, pose_b] = poses(&mut rng, &a, &b, whole);
        let touches = touch(&a, &pose_a, &b, &pose_b);
        both[usize::from(touches)] += 1;
        for mut filter in filters() {
            let placement = Placement::new(&a, &pose_a, &b, &pose_b);
            let (apart, _) = filter.proves_apart(&placement);
            filter.hear(touches);
            // What is kept from the first question must not change the second answer to a lie.
            let again = filter.proves_apart(&placement).0;
            assert!(!(touches && (apart || again)), "case {case}: {}", filter.name());
            shown += usize::from(apart);
        }
    }
    assert!(both.iter().all(|&count| count > 500), "{both:?}");
    assert!(shown > 8 * both[0], "of {} pairs apart {shown} were shown", both[0]);
}

#[test]
fn pairs_that_touch_exactly_are_left_to_the_exact_test() {
    let cube = Hull::of_mesh(&solids::cuboid(DVec3::splat(2.0)).unwrap()).unwrap();
    let hair = f64::EPSILON;
    let contacts = [
        DVec3::new(2.0, 0.0, 0.0),
        DVec3::new(2.0, 0.5, -0.25),
        DVec3::new(2.0, 2.0, 0.0),
        DVec3::new(-2.0, 2.0, 2.0),
        DVec3::new(0.0, 0.0, 2.0),
    ];
    for contact in contacts {
        for mut filter in filters() {
            for (shift, apart) in [(contact, false), (contact * (1.0 + 1e6 * hair), true)] {
                let pose = Pose::from_translation(shift).unwrap();
                let placement = Placement::new(&cube, &Pose::IDENTITY, &cube, &pose);
                let found = filter.proves_apart(&placement).0;
                assert!(apart || !found, "{} at {contact}", filter.name());
            }
        }
    }
}

/// A pair asked about along a way: what is kept from each question serves the next.
#[test]
fn trackers_and_gjk_find_the_distance_of_all_triangles() {
    let mut seen = [0; 2];
    for case in 0..300 {
        let mut rng = Rng::new(SEED, 2, case);
        let whole = rng.below(3) == 0;
        let (a, b) = (any_hull(&mut rng, whole), any_hull(&mut rng, whole));
        let mut trackers = [Neighbours::Edges, Neighbours::Corners].map(FaceTracker::new);
        let mut gjk = Gjk::new();
        let pose_a = Pose::new(any_turn(&mut rng), point(&mut rng)).unwrap();
        let (axis, from) = (point(&mut rng).normalize(), point(&mut rng) * 8.0);
        for step in 0..12 {
            let angle = glam::DQuat::from_axis_angle(axis, 0.3 * f64::from(step));
            let pose_b = Pose::new(angle, from * (1.0 - f64::from(step) / 12.0)).unwrap();
            let placement = Placement::new(&a, &pose_a, &b, &pose_b);
            let truth = surface_distance(&a, &pose_a, &b, &pose_b);
            let apart = !touch(&a, &pose_a, &b, &pose_b);
            seen[usize::from(apart)] += 1;
            let close = |d: f64| (d - truth).abs() < 1e-9 * (1.0 + truth);
            match gjk.distance(&placement).0 {
                GjkAnswer::Apart(d) => assert!(apart && close(d), "{case}.{step}: {d}, {truth}"),
                GjkAnswer::Maybe => assert!(!apart || truth < 1e-9, "{case}.{step}: {truth}"),
            }
            let flat = |hull: &Hull| hull.triangles().is_empty();
            for tracker in &mut trackers {
                let kind = tracker.neighbours();
                match tracker.track(&placement).0 {
                    Tracked::Apart(d) => {
                        assert!(apart && close(d), "{kind:?} {case}.{step}: {d}, {truth}");
                    }
                    Tracked::Maybe => {
                        let given_up = !apart || truth < 1e-9 || flat(&a) || flat(&b);
                        assert!(given_up, "{kind:?} {case}.{step}: {truth}");
                    }
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 300), "{seen:?}");
}

/// The thesis' figure 3.14: adjacent coplanar faces on both, parallel to each other.
#[test]
fn parallel_coplanar_faces_do_not_hold_a_tracker_up() {
    let plate = |x: f32, n: usize| {
        let rim = (0..n).map(|i| {
            let angle = i as f32 * std::f32::consts::TAU / n as f32;
            glam::Vec3::new(x + angle.cos(), angle.sin(), 0.0)
        });
        let rim: Vec<glam::Vec3> = rim.collect();
        Hull::of_points(&rim).unwrap()
    };
    let (a, b) = (plate(0.0, 24), plate(0.0, 17));
    assert_eq!(a.dimension(), Dimension::Polygon);
    for x in [-5.0, -1.3, 0.0, 0.7, 4.0] {
        let pose = Pose::from_translation(DVec3::new(x, 0.1, 0.5)).unwrap();
        let truth = surface_distance(&a, &Pose::IDENTITY, &b, &pose);
        for neighbours in [Neighbours::Edges, Neighbours::Corners] {
            let placement = Placement::new(&a, &Pose::IDENTITY, &b, &pose);
            let found = FaceTracker::new(neighbours).track(&placement).0;
            let Tracked::Apart(d) = found else { panic!("{neighbours:?} at {x}") };
            assert!((d - truth).abs() < 1e-12, "{neighbours:?} at {x}: {d}, {truth}");
        }
    }
}

/// The thesis' figure 3.15: closest faces that are inside of the other hull.
#[test]
fn a_hull_inside_another_is_not_apart() {
    let big = Hull::of_mesh(&solids::cuboid(DVec3::splat(10.0)).unwrap()).unwrap();
    let ball = Hull::of_mesh(&solids::sphere(1.0, 0.05).unwrap()).unwrap();
    for x in [0.0, 1.0, 3.5] {
        let pose = Pose::from_translation(DVec3::new(x, 0.3, 0.2)).unwrap();
        for mut filter in filters() {
            for (a, b) in [(&big, &ball), (&ball, &big)] {
                let placement = Placement::new(a, &Pose::IDENTITY, b, &pose);
                assert!(!filter.proves_apart(&placement).0, "{} at {x}", filter.name());
            }
        }
    }
}

#[test]
fn a_kept_plane_needs_no_search_and_feedback_changes_the_limit() {
    let ball = Hull::of_mesh(&solids::sphere(1.0, 0.001).unwrap()).unwrap();
    let settings = PlaneSettings { feedback: true, start: Start::Trivial, ..Default::default() };
    let mut plane = SeparatingPlane::new(settings);
    let at = |x: f64, y: f64| Pose::from_translation(DVec3::new(x, y, 0.0)).unwrap();
    let ask = |plane: &mut SeparatingPlane, pose: &Pose| -> (bool, Effort) {
        plane.proves_apart(&Placement::new(&ball, &Pose::IDENTITY, &ball, pose))
    };
    let (apart, first) = ask(&mut plane, &at(0.3, 2.1));
    assert!(apart && first.steps > 1, "{first:?}");
    let (apart, second) = ask(&mut plane, &at(0.31, 2.1));
    assert!(apart && second.steps == 1, "{second:?}");
    assert!(second.corners < 40, "only what is beside the kept corners: {second:?}");
    // Touching lowers the limit to the least, being left alone raises it again.
    for _ in 0..20 {
        assert!(!ask(&mut plane, &at(0.0, 1.0)).0);
        plane.hear(true);
    }
    assert_eq!(plane.limit(), 2);
    assert!(!ask(&mut plane, &at(0.0, 1.0)).0);
    plane.hear(false);
    assert_eq!(plane.limit(), 4);
    plane.forget();
    assert_eq!(plane.limit(), 300);
}
