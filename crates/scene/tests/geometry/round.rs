//! Sphere, cone and cylinder: closed forms, and the tolerance in both directions.

use super::*;
use glam::DVec2;
use jostle_geom::{Model, Pose, PosedModel, Quality};
use jostle_scene::nodes::{Cone, Cylinder};
use std::f64::consts::{PI, TAU};

const TOLERANCES: [f64; 5] = [1.0, 0.3, 0.01, 1e-4, 1e-6];

/// Points of the true surface and of the mesh are no further apart than `tolerance`. `true_point`
/// draws a point of the true surface, `distance` is that of a point from it.
fn check_both_ways(
    mesh: &Mesh,
    tolerance: f64,
    seed: u64,
    true_point: &dyn Fn(&mut Random) -> DVec3,
    distance: &dyn Fn(DVec3) -> f64,
) {
    let random = &mut Random(seed);
    let model = Model::build(mesh.clone(), Quality::Fast);
    let placed = PosedModel::new(&model, &Pose::IDENTITY);
    for _ in 0..300 {
        let point = true_point(random);
        let found = placed.closest_point(point, f64::INFINITY).unwrap().distance;
        assert!(found <= tolerance, "seed {seed}: {point} is {found} off, not {tolerance}");
    }
    let triangles: Vec<[DVec3; 3]> = corners(mesh).collect();
    for _ in 0..300 {
        let [a, b, c] = triangles[random.below(triangles.len())];
        let (u, v) = (random.part(), random.part());
        let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
        let point = a + (b - a) * u + (c - a) * v;
        let found = distance(point);
        assert!(found <= tolerance, "seed {seed}: {point} is {found} off, not {tolerance}");
    }
}

/// A point at this radius around the y axis.
fn around(random: &mut Random, radius: f64, y: f64) -> DVec3 {
    let p = DVec2::from_angle(random.part() * TAU) * radius;
    DVec3::new(p.x, y, p.y)
}

/// The distance in the plane of a point from a segment.
fn from_segment(p: DVec2, a: DVec2, b: DVec2) -> f64 {
    let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
    p.distance(a.lerp(b, t))
}

/// Tolerances by both ways to give them, with what they mean for this radius.
fn tolerances(radius: f64) -> impl Iterator<Item = (f64, Tolerance)> {
    TOLERANCES.into_iter().flat_map(move |part| {
        let size = part * radius;
        [(size, Tolerance::relative(part)), (size, Tolerance::absolute(size))]
            .map(|(size, tolerance)| (size * (1.0 + 1e-12), tolerance.unwrap()))
    })
}

/// A closed surface of this size, with at most `missing` less volume than what is round.
fn check_size(mesh: &Mesh, most: Vec3, full: f64, missing: f64) {
    assert!(is_closed(mesh) && !mesh.is_solid());
    assert_eq!(bounds(mesh), (-most, most));
    let found = volume(mesh);
    assert!(found > 0.0 && found <= full && found >= full - missing, "{found} of {full}");
}

#[test]
fn spheres_keep_the_tolerance() {
    for radius in [1e-3f32, 1.0, 7e4] {
        let r = f64::from(radius);
        for (size, tolerance) in tolerances(r).filter(|(size, _)| *size > 1e-5 * r) {
            let mesh = surface_of(geometry_of(Sphere { radius }, tolerance).unwrap());
            let full = 4.0 / 3.0 * PI * r.powi(3);
            check_size(&mesh, Vec3::splat(radius), full, 4.0 * PI * r * r * size);
            check_both_ways(
                &mesh,
                size,
                1,
                &|random| {
                    let z = random.part() * 2.0 - 1.0;
                    around(random, r * (1.0 - z * z).sqrt(), r * z)
                },
                &|p| (p.length() - r).abs(),
            );
        }
    }
}

#[test]
fn cylinders_keep_the_tolerance() {
    for (radius, height) in [(1e-3f32, 1e4f32), (1.0, 2.0), (7e4, 0.1)] {
        let (r, h) = (f64::from(radius), f64::from(height));
        for (size, tolerance) in tolerances(r) {
            let node = Cylinder { radius, height, ..Cylinder::default() };
            let mesh = surface_of(geometry_of(node, tolerance).unwrap());
            let sides = mesh.face_count() - 2;
            assert_eq!(mesh.triangle_count(), 2 * sides + 2 * (sides - 2));
            let most = Vec3::new(radius, height / 2.0, radius);
            check_size(&mesh, most, PI * r * r * h, TAU * r * size * h);
            check_both_ways(
                &mesh,
                size,
                2,
                &|random| match random.below(3) {
                    0 => {
                        let y = (random.part() - 0.5) * h;
                        around(random, r, y)
                    }
                    end => {
                        let inner = r * random.part().sqrt();
                        around(random, inner, (end as f64 - 1.5) * h)
                    }
                },
                &|p| {
                    let flat = DVec2::new(DVec2::new(p.x, p.z).length(), p.y.abs());
                    let (corner, top) = (DVec2::new(r, h / 2.0), DVec2::new(0.0, h / 2.0));
                    let side = from_segment(flat, DVec2::new(r, 0.0), corner);
                    side.min(from_segment(flat, top, corner))
                },
            );
        }
    }
}

#[test]
fn cones_keep_the_tolerance() {
    for (bottom_radius, height) in [(1e-3f32, 1e4f32), (1.0, 2.0), (7e4, 0.1)] {
        let (r, h) = (f64::from(bottom_radius), f64::from(height));
        for (size, tolerance) in tolerances(r) {
            let node = Cone { bottom_radius, height, ..Cone::default() };
            let mesh = surface_of(geometry_of(node, tolerance).unwrap());
            let sides = mesh.face_count() - 1;
            assert_eq!(mesh.triangle_count(), sides + (sides - 2));
            let most = Vec3::new(bottom_radius, height / 2.0, bottom_radius);
            check_size(&mesh, most, PI * r * r * h / 3.0, TAU * r * size * h / 3.0);
            let (rim, tip) = (DVec2::new(r, -h / 2.0), DVec2::new(0.0, h / 2.0));
            check_both_ways(
                &mesh,
                size,
                3,
                &|random| {
                    let part = random.part();
                    match random.below(2) {
                        0 => around(random, r * part.sqrt(), -h / 2.0),
                        _ => around(random, r * part, (0.5 - part) * h),
                    }
                },
                &|p| {
                    let flat = DVec2::new(DVec2::new(p.x, p.z).length(), p.y);
                    let bottom = from_segment(flat, DVec2::new(0.0, -h / 2.0), rim);
                    bottom.min(from_segment(flat, rim, tip))
                },
            );
        }
    }
}

#[test]
fn parts_that_are_switched_off_are_missing() {
    let [mut closed, mut open, mut nothing] = [0; 3];
    for parts in 0..8 {
        let [bottom, side, top] = [1, 2, 4].map(|bit| parts & bit != 0);
        let node = Cylinder { bottom, side, top, ..Cylinder::default() };
        let expected = 24 * usize::from(side) + usize::from(bottom) + usize::from(top);
        match geometry_of(node, Tolerance::default()).unwrap() {
            Geometry::Surface(mesh) => {
                assert_eq!(mesh.face_count(), expected);
                assert_eq!(is_closed(&mesh), bottom && side && top);
                let full = TAU * (2.0 * f64::from(side)) + PI * f64::from(bottom as u8 + top as u8);
                assert!((area(&mesh) / full - 1.0).abs() < 0.02);
                if is_closed(&mesh) { closed += 1 } else { open += 1 }
            }
            found => {
                assert_eq!((found, expected), (Geometry::Nothing, 0));
                nothing += 1;
            }
        }
    }
    assert_eq!([closed, open, nothing], [1, 6, 1]);
    let cone = |bottom, side| Cone { bottom, side, ..Cone::default() };
    assert_eq!(mesh_of(cone(true, false)).face_count(), 1);
    let funnel = mesh_of(cone(false, true));
    assert_eq!(funnel.face_count(), 24);
    assert!((area(&funnel) / (PI * 5f64.sqrt()) - 1.0).abs() < 0.02);
    let nothing = geometry_of(cone(false, false), Tolerance::default());
    assert_eq!(nothing, Ok(Geometry::Nothing));
}

#[test]
fn bad_sizes_and_tolerances_are_refused() {
    for bad in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-40] {
        assert!(error_of(Sphere { radius: bad }).contains("Sphere: the radius is"));
        let cone = Cone { bottom_radius: bad, ..Cone::default() };
        assert!(error_of(cone).contains("Cone: the bottomRadius is"));
        assert!(error_of(Cone { height: bad, ..Cone::default() }).contains("the height is"));
        assert!(error_of(Cylinder { radius: bad, ..Cylinder::default() }).contains("the radius"));
        assert!(error_of(Cylinder { height: bad, ..Cylinder::default() }).contains("the height"));
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Tolerance::absolute(bad).is_err() && Tolerance::relative(bad).is_err());
    }
    let coarse = Tolerance::absolute(1e300).unwrap();
    assert_eq!(surface_of(geometry_of(Sphere::default(), coarse).unwrap()).face_count(), 8);
    let tiny = Tolerance::relative(1e-9).unwrap();
    let error = geometry_of(Sphere::default(), tiny).unwrap_err();
    assert_eq!(error.what, "this would take 8000000000 triangles");
    let error = geometry_of(Cylinder::default(), tiny).unwrap_err();
    assert!(error.what.contains("too small for 32-bit coordinates"), "{error}");
}
