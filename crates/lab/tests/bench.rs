//! The benchmark itself, in small: all methods get the same queries and give the same answers.

use glam::DQuat;
use jostle_lab::bench::{
    Approach, Cones, Method, Orbit, OrbitMethod, PolygonKind, Polygons, Question, Random, Solid,
    approach, builds, oriented,
};
use jostle_lab::convex::{Crowd, Filter, PlaneSettings, Stage, Start, Stop};
use std::time::Duration;

fn stopped() -> Duration {
    Duration::ZERO
}

#[test]
fn solids_have_about_the_triangles_asked_for_and_fill_the_cube() {
    for solid in Solid::ALL {
        for triangles in [200, 1000, 4000] {
            let mesh = solid.mesh(triangles).unwrap();
            let found = mesh.triangle_count();
            // A flake has a power of four.
            assert!(found * 2 >= triangles && found <= triangles * 2, "{solid:?}: {found}");
            let turned = oriented(&mesh, Random::new(3).rotation()).unwrap();
            let largest = turned.vertices().iter().map(|v| v.abs().max_element());
            let largest = largest.fold(0.0, f32::max);
            assert!((largest - 1.0).abs() < 1e-6, "{solid:?}: {largest}");
        }
        assert!(solid.mesh(100_000).unwrap().triangle_count() > 5000, "{solid:?}");
    }
}

#[test]
fn all_methods_answer_alike_in_the_interesting_range() {
    for solid in Solid::ALL {
        for question in [Question::Touches, Question::AllPairs] {
            let mesh = solid.mesh(150).unwrap();
            let asked = Approach { steps: 12, orientations: 2, seed: 5, question };
            let mut turns = 0;
            let methods = Method::all();
            let spent = approach(&mesh, asked, &methods, stopped, &mut || turns += 1).unwrap();
            assert_eq!((turns, spent.len()), (2, methods.len()));
            for row in &spent {
                assert_eq!(row.queries, 2 * 5 * 12, "{}", row.method.name());
                assert!(row.hits > 0 && row.hits < row.queries, "{solid:?}: {} hits", row.hits);
                assert_eq!(row.hits, spent[0].hits);
                assert_eq!(row.blocks.len(), 2 * 5 * 4);
                assert!(row.bytes > 0 && row.count.volume_tests > 0, "{}", row.method.name());
            }
        }
    }
}

#[test]
fn names_of_methods_are_unique() {
    let mut names: Vec<String> = Method::all().iter().map(|method| method.name()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), Method::all().len());
}

#[test]
fn builds_report_what_is_kept_for_one_mesh() {
    let mesh = Solid::Sphere.mesh(500).unwrap();
    let rows = builds(&mesh, &Method::all(), 2, stopped).unwrap();
    assert_eq!(rows.len(), Method::all().len());
    assert!(rows.iter().all(|row| row.bytes > mesh.triangle_count()), "{rows:?}");
}

#[test]
fn polygons_touch_alike_in_every_exact_way() {
    for kind in PolygonKind::ALL {
        for grid in [2, 4, 30] {
            // A disagreement of the two exact ways is an error.
            let rows = Polygons { pairs: 4000, seed: 7, grid }.run(kind, stopped).unwrap();
            assert_eq!(rows.len(), 4);
            let touching = rows[0].touching;
            assert!(touching > 0.01 && touching < 0.9, "{}: {touching}", kind.name());
            assert_eq!((rows[0].wrong, rows[1].wrong), (0, 0));
            // Rounded ways are wrong now and then, on whole numbers seldom.
            assert!(rows[2].wrong < 200 && rows[3].wrong < 200, "{rows:?}");
        }
    }
}

#[test]
fn cones_need_fewer_planes_with_more_patience_and_a_kept_plane() {
    let cones = Cones::new(400, 3).unwrap();
    let error = |settings: PlaneSettings, kept| cones.search(settings, kept, stopped).error();
    let base = PlaneSettings { start: Start::BoxCentres, ..PlaneSettings::default() };
    let few = PlaneSettings { planes_max: 10, eta: 0.25, ..base };
    let many = PlaneSettings { planes_max: 1000, eta: 0.007, ..base };
    assert!(error(few, false) > error(many, false));
    assert!(error(many, true) <= error(many, false));
    let normal = PlaneSettings { stop: Stop::Normal, ..few };
    assert!(error(normal, false) <= error(few, false));
    let row = cones.search(few, false, stopped);
    assert!(row.apart > 50 && row.apart < 400 && row.planes >= row.apart, "{row:?}");
}

#[test]
fn who_orbits_is_shown_apart_by_every_convex_method() {
    let mesh = oriented(&Solid::Sphere.mesh(500).unwrap(), DQuat::IDENTITY).unwrap();
    let mut methods: Vec<OrbitMethod> =
        Filter::all().into_iter().map(OrbitMethod::Convex).collect();
    methods.extend(Method::all().into_iter().map(OrbitMethod::Exact));
    for (distance, touches) in [(2.3, false), (2.02, false), (1.8, true)] {
        let orbit = Orbit { distance, speed: 7.0, samples: 120 };
        let rows = orbit.run(&mesh, &methods, stopped).unwrap();
        for row in rows {
            assert_eq!(row.touching, if touches { 120 } else { 0 }, "{} {distance}", row.name);
            assert_eq!(row.unproved, 0, "{} {distance}", row.name);
        }
    }
}

#[test]
fn a_crowd_is_the_same_through_every_filter() {
    let mesh = Solid::Cone.mesh(60).unwrap();
    let mut totals = Vec::new();
    for stage in Stage::ALL {
        let mut crowd = Crowd::new(&mesh, 40, 0.5, stage, 11).unwrap();
        let frames: Vec<_> = (0..15).map(|_| crowd.frame(stopped)).collect();
        let touching: Vec<u64> = frames.iter().map(|cost| cost.touching).collect();
        let tested: u64 = frames.iter().map(|cost| cost.tested).sum();
        totals.push((touching, tested));
    }
    let [boxes, grid, planes, both] = &totals[..] else { panic!("four stages") };
    assert!(boxes.0.iter().sum::<u64>() > 20);
    for (touching, _) in &totals {
        assert_eq!(touching, &boxes.0);
    }
    assert_eq!(grid.1, boxes.1, "a grid finds the boxes that meet");
    assert!(planes.1 < boxes.1 && both.1 <= planes.1, "{totals:?}");
}
