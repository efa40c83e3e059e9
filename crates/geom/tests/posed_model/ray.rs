//! Rays: against all triangles one by one, and aimed where a ray could leak through.

use super::{Case, Dice, cases, soup, torus};
use glam::DVec3;
use jostle_geom::triangle::{common, triangles_touch};
use jostle_geom::{Model, Pose, PosedModel, Quality, Ray, RayError, solids};

/// The nearest hit: distance, face and point.
fn slow_ray(placed: &PosedModel<'_>, ray: &Ray) -> Option<(f64, u32, DVec3)> {
    let segment = [ray.origin(), ray.origin(), ray.end()];
    let mesh = placed.model().mesh();
    let mut best: Option<(f64, u32, DVec3)> = None;
    for i in 0..mesh.triangle_count() {
        let triangle = placed.triangle(i);
        assert_eq!(triangles_touch(&segment, &triangle), common(&segment, &triangle).is_some());
        let Some(shared) = common(&segment, &triangle) else { continue };
        for p in shared.ends {
            let distance = (p - ray.origin()).dot(ray.direction()).clamp(0.0, ray.length());
            let face = mesh.face_of(i as u32);
            if best.is_none_or(|(d, f, _)| (distance, face) < (d, f)) {
                best = Some((distance, face, p));
            }
        }
    }
    best
}

pub(super) fn check(case: &Case, ray: &Ray, about: &str) -> bool {
    let placed = case.placed();
    let (fast, slow) = (placed.ray(ray), slow_ray(&placed, ray));
    let about = format!("{about} {} {ray:?}", case.name);
    assert_eq!(fast.map(|h| (h.distance, h.face)), slow.map(|s| (s.0, s.1)), "{about}");
    assert_eq!(placed.ray_any(ray), slow.is_some(), "{about}");
    if let (Some(hit), Some((_, _, point))) = (fast, slow) {
        let size = point.length() + ray.origin().length();
        assert!(hit.point.distance(point) <= 1e-12 * size, "{about}");
        let length = hit.normal.length();
        assert!(length == 0.0 || (length - 1.0).abs() < 1e-12, "{about}");
    }
    fast.is_some()
}

#[test]
fn rays_equal_looking_at_every_triangle() {
    let seed = 11;
    let mut dice = Dice(seed);
    let mut hits = [0, 0];
    for case in cases(&mut dice) {
        let (middle, size) = case.extent();
        for i in 0..40 {
            let origin = middle + dice.vector() * size * 3.0;
            let target = middle + dice.vector() * size;
            let length = match i % 4 {
                0 => f64::INFINITY,
                1 => size * 2.0,
                2 => origin.distance(target),
                _ => size * 1e-3,
            };
            let direction = (target - origin) * 10f64.powf(dice.signed() * 30.0);
            // A tiny model far out is a point, and has no direction to it.
            let Ok(ray) = Ray::new(origin, direction, length) else { continue };
            hits[usize::from(check(&case, &ray, &format!("seed {seed}")))] += 1;
        }
    }
    assert!(hits[0] > 300 && hits[1] > 300, "both answers occur: {hits:?}");
}

#[test]
fn rays_on_a_grid_meet_edges_corners_and_planes() {
    let mut hits = [0, 0];
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let mesh = soup(&mut dice, 30, true);
        let case = Case::new("grid", mesh, Pose::IDENTITY, Quality::Default);
        for _ in 0..200 {
            let (from, to) = (dice.grid(), dice.grid());
            let Ok(ray) = Ray::between(from, to) else { continue };
            hits[usize::from(check(&case, &ray, &format!("seed {seed}")))] += 1;
        }
    }
    assert!(hits[0] > 100 && hits[1] > 100, "both answers occur: {hits:?}");
}

/// From inside of a closed surface every ray must meet it, also those at corners and edges.
#[test]
fn no_ray_leaks_out_of_a_closed_surface() {
    let mut dice = Dice(5);
    let ball = solids::sphere(1.0, 0.02).unwrap();
    let tube = torus([40, 20]);
    for pose in super::poses() {
        // A point inside: of the ball its middle, of the torus the middle of its tube.
        for (mesh, inside) in [(&ball, DVec3::ZERO), (&tube, DVec3::new(0.0, 2.0, 0.0))] {
            let model = Model::build(mesh.clone(), Quality::Default);
            let placed = PosedModel::new(&model, &pose);
            let origin = pose.transform_point(inside) + dice.vector() * 0.01;
            let mut missed = 0;
            for i in 0..mesh.triangle_count() {
                let [p, q, r] = placed.triangle(i);
                let part = dice.signed().abs();
                for target in [p, q, r, (p + q) * 0.5, q + (r - q) * part, (p + q + r) / 3.0] {
                    let ray = Ray::new(origin, target - origin, f64::INFINITY).unwrap();
                    missed += usize::from(!placed.ray_any(&ray) || placed.ray(&ray).is_none());
                }
            }
            assert_eq!(missed, 0, "{pose:?}");
        }
    }
}

#[test]
fn a_segment_to_a_corner_hits_exactly_there() {
    let mesh = torus([16, 9]);
    for pose in super::poses() {
        let model = Model::build(mesh.clone(), Quality::Default);
        let placed = PosedModel::new(&model, &pose);
        let above = pose.transform_point(DVec3::ZERO);
        for &vertex in model.mesh().vertices() {
            let corner = pose.transform_point(vertex);
            assert!(placed.ray_any(&Ray::between(above, corner).unwrap()));
            let point = Ray::new(corner, DVec3::X, 0.0).unwrap();
            assert_eq!(placed.ray(&point).unwrap().distance, 0.0);
        }
    }
}

#[test]
fn both_sides_count_and_the_normal_is_that_of_the_face() {
    let cube = Model::build(solids::cuboid(DVec3::splat(2.0)).unwrap(), Quality::Default);
    let placed = PosedModel::new(&cube, &Pose::IDENTITY);
    for (x, length) in [(-3.0, 2.0), (0.25, 0.75)] {
        let ray = Ray::new(DVec3::new(x, 0.25, 0.5), DVec3::X * 7.0, f64::INFINITY).unwrap();
        let hit = placed.ray(&ray).unwrap();
        assert_eq!(hit.distance, length);
        assert_eq!(hit.normal, if x < 0.0 { -DVec3::X } else { DVec3::X });
    }
    // As long as it must be, and one step too short.
    let start = DVec3::new(-3.0, 0.25, 0.5);
    assert!(placed.ray_any(&Ray::new(start, DVec3::X, 2.0).unwrap()));
    assert!(!placed.ray_any(&Ray::new(start, DVec3::X, 2.0 - 1e-15).unwrap()));
}

#[test]
fn bad_rays_are_refused() {
    let bad = |origin, direction, length| Ray::new(origin, direction, length).unwrap_err();
    let (zero, x) = (DVec3::ZERO, DVec3::X);
    assert!(matches!(bad(x * f64::NAN, x, 1.0), RayError::BadPoint { .. }));
    assert!(matches!(bad(x * 1e39, x, 1.0), RayError::BadPoint { .. }));
    assert!(matches!(bad(zero, zero, 1.0), RayError::BadDirection { .. }));
    assert!(matches!(bad(zero, x * f64::INFINITY, 1.0), RayError::BadDirection { .. }));
    assert!(matches!(bad(zero, x, -1.0), RayError::BadLength { .. }));
    assert!(matches!(bad(zero, x, f64::NAN), RayError::BadLength { .. }));
    assert!(matches!(Ray::between(x, x), Err(RayError::BadDirection { .. })));
    for length in [f64::from_bits(1), 1e-300, 1e300, f64::MAX] {
        let ray = Ray::new(zero, DVec3::new(length, 0.0, -length), 1.0).unwrap();
        assert!((ray.direction().length() - 1.0).abs() < 1e-15);
        assert_eq!(ray.direction().x, -ray.direction().z);
    }
}
