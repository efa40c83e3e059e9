//! Spheres against one model: against all triangles one by one.

use super::closest::slow_distance;
use super::{Case, Dice, cases, scaled, torus};
use glam::{DVec3, Vec3};
use jostle_geom::triangle::{distance, sphere_meets_triangle};
use jostle_geom::{Mesh, Pose, Quality, Side, solids};

/// Every triangle, without a hierarchy.
fn slow_faces(case: &Case, centre: DVec3, radius: f64) -> Vec<u32> {
    let placed = case.placed();
    let mut faces: Vec<u32> = (0..case.triangles())
        .filter(|&i| sphere_meets_triangle(centre, radius, &placed.triangle(i)))
        .map(|i| case.model.mesh().face_of(i as u32))
        .collect();
    faces.sort_unstable();
    faces.dedup();
    faces
}

/// Compares every answer about one sphere; returns whether it touches.
fn check(case: &Case, centre: DVec3, radius: f64, about: &str) -> bool {
    let (placed, about) = (case.placed(), format!("{about} {} {centre:?} {radius:?}", case.name));
    let faces = slow_faces(case, centre, radius);
    assert_eq!(placed.sphere_faces(centre, radius), faces, "{about}");
    let inside = placed.contains(centre) == Ok(Side::Inside);
    let touches = !faces.is_empty() || inside;
    assert_eq!(placed.sphere_touches(centre, radius), touches, "{about}");
    let contact = placed.sphere_contact(centre, radius);
    assert_eq!(contact.is_some(), !faces.is_empty(), "{about}");
    let apart = slow_distance(case, centre);
    let (middle, size) = case.extent();
    let rounding = 1e-14 * (middle.length() + size + centre.length() + radius);
    if let Some(contact) = contact {
        assert!(faces.contains(&contact.face), "{about}");
        assert!((contact.distance - apart).abs() <= rounding, "{about} {contact:?}");
        assert!((contact.point.distance(centre) - apart).abs() <= rounding, "{about}");
    }
    let bound = placed.distance_lower_bound(centre);
    assert!(bound >= 0.0 && bound <= apart + rounding, "{about}: {bound} {apart}");
    assert!(!inside || bound == 0.0, "{about}");
    touches
}

/// Spheres that just reach a model or just do not, large ones, small ones, points.
fn spheres(case: &Case, dice: &mut Dice) -> Vec<(DVec3, f64)> {
    let (middle, size) = case.extent();
    let [a, b, c] = case.placed().triangle(dice.below(case.triangles() as u64) as usize);
    let centres = [
        middle + dice.vector() * size * 3.0,
        middle + dice.vector() * size,
        middle + dice.vector() * size * 50.0,
        (a + b + c) / 3.0 + dice.vector() * size * 1e-9,
        a,
    ];
    let mut all = Vec::new();
    for centre in centres {
        let apart = slow_distance(case, centre);
        let radii = [apart, apart.next_down(), apart.next_up(), apart * 1.3, apart * 0.9];
        all.extend(radii.map(|radius| (centre, radius)));
        all.extend([0.0, 0.1 * size, 2.0 * size].map(|radius| (centre, radius)));
    }
    let limits = jostle_geom::limits::RADIUS_MIN..=jostle_geom::limits::RADIUS_MAX;
    all.retain(|(_, radius)| *radius == 0.0 || limits.contains(radius));
    all
}

#[test]
fn spheres_equal_looking_at_every_triangle() {
    let (mut dice, mut seen) = (Dice(61), [0; 2]);
    for case in cases(&mut dice) {
        for (centre, radius) in spheres(&case, &mut dice) {
            seen[usize::from(check(&case, centre, radius, "seed 61"))] += 1;
        }
    }
    assert!(seen.iter().all(|&n| n > 500), "lopsided: {seen:?}");
}

#[test]
fn a_sphere_inside_of_a_solid_touches_it() {
    let mut dice = Dice(62);
    let mut seen = [0; 2];
    let solid = |mesh: Mesh| mesh.into_solid().unwrap();
    for mesh in [solid(torus([24, 12])), solid(solids::cuboid(DVec3::splat(3.0)).unwrap())] {
        let case = Case::new("solid", mesh, super::poses()[1], Quality::Default);
        let (middle, size) = case.extent();
        for _ in 0..300 {
            let centre = middle + dice.vector() * size;
            seen[usize::from(check(&case, centre, 0.05, "seed 62"))] += 1;
        }
    }
    assert!(seen.iter().all(|&n| n > 100), "lopsided: {seen:?}");
}

#[test]
fn the_largest_and_smallest_meshes_are_no_exception() {
    let mut dice = Dice(63);
    let mut seen = [0; 2];
    for size in [1.1e38, 1e-44] {
        for pose in super::poses() {
            let mesh = scaled(&torus([10, 6]), size, Vec3::ZERO);
            let case = Case::new("extreme", mesh, pose, Quality::Default);
            for (centre, radius) in spheres(&case, &mut dice) {
                seen[usize::from(check(&case, centre, radius, "seed 63"))] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 20), "lopsided: {seen:?}");
}

#[test]
fn numbers_that_are_no_sphere_touch_nothing() {
    let case = Case::new("torus", torus([8, 6]), Pose::IDENTITY, Quality::Default);
    let placed = case.placed();
    for (centre, radius) in
        [(DVec3::NAN, 1.0), (DVec3::ZERO, -1.0), (DVec3::ZERO, f64::NAN), (DVec3::X * 1e40, 1e40)]
    {
        assert!(!placed.sphere_touches(centre, radius), "{centre} {radius}");
        assert_eq!(placed.sphere_contact(centre, radius), None, "{centre} {radius}");
        assert_eq!(placed.sphere_faces(centre, radius), [], "{centre} {radius}");
    }
    assert!(placed.sphere_touches(DVec3::ZERO, f64::INFINITY));
    assert_eq!(placed.distance_lower_bound(DVec3::NAN), 0.0);
}

/// The distance to a point as a triangle and as a sphere of no size agree about zero.
#[test]
fn a_sphere_of_no_size_is_a_point() {
    let mut dice = Dice(64);
    let mut seen = [0; 2];
    for case in cases(&mut dice) {
        let placed = case.placed();
        for triangle in 0..case.triangles().min(20) {
            let [a, b, _] = placed.triangle(triangle);
            for p in [a, (a + b) * 0.5] {
                let on = distance(&[p; 3], &placed.triangle(triangle)).distance == 0.0;
                assert_eq!(sphere_meets_triangle(p, 0.0, &placed.triangle(triangle)), on);
                seen[usize::from(on)] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 50), "lopsided: {seen:?}");
}
