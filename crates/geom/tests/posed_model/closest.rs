//! Closest points: against all triangles one by one.

use super::{Case, Dice, cases};
use glam::DVec3;
use jostle_geom::triangle::distance;
use jostle_geom::{Pose, Quality};

/// Smallest distance by the function for two triangles, one of them a point.
pub(super) fn slow_distance(case: &Case, p: DVec3) -> f64 {
    let placed = case.placed();
    let all = (0..case.triangles()).map(|i| distance(&[p; 3], &placed.triangle(i)).distance);
    all.fold(f64::INFINITY, f64::min)
}

/// A point near the model, in one of several relations to it.
fn point_near(case: &Case, dice: &mut Dice, kind: usize) -> DVec3 {
    let (middle, size) = case.extent();
    let [a, b, c] = case.placed().triangle(dice.below(case.triangles() as u64) as usize);
    match kind % 5 {
        0 => middle + dice.vector() * size * 3.0,
        1 => middle + dice.vector() * size,
        2 => a,
        3 => (a + b + c) / 3.0 + dice.vector() * size * 1e-9,
        _ => middle + dice.vector() * size * 50.0,
    }
}

#[test]
fn closest_points_equal_looking_at_every_triangle() {
    let seed = 23;
    let mut dice = Dice(seed);
    let mut on_surface = 0;
    for case in cases(&mut dice) {
        let placed = case.placed();
        for kind in 0..30 {
            let p = point_near(&case, &mut dice, kind);
            let about = format!("seed {seed} {} {p:?}", case.name);
            let slow = slow_distance(&case, p);
            let found = placed.closest_point(p, f64::INFINITY).unwrap();
            let (middle, size) = case.extent();
            let lengths = middle.length() + size + p.length();
            assert!((found.distance - slow).abs() <= 1e-14 * lengths, "{about} {found:?} {slow}");
            assert_eq!(found.distance == 0.0, slow == 0.0, "{about}");
            on_surface += usize::from(slow == 0.0);
            let between = found.point.distance(p);
            assert!((between - found.distance).abs() <= 1e-14 * lengths, "{about}");
            // The face named holds the point.
            let of_face = |&i: &usize| case.model.mesh().face_of(i as u32) == found.face;
            let to_face = (0..case.triangles())
                .filter(of_face)
                .map(|i| distance(&[found.point; 3], &placed.triangle(i)).distance);
            assert!(to_face.fold(f64::INFINITY, f64::min) <= 1e-14 * lengths, "{about}");
            // A limit that is just enough, and one that is not.
            assert_eq!(placed.closest_point(p, found.distance), Some(found), "{about}");
            if found.distance > 0.0 {
                assert_eq!(placed.closest_point(p, found.distance * 0.999), None, "{about}");
            }
        }
    }
    assert!(on_surface > 100, "{on_surface}");
}

/// The answer does not depend on the hierarchy, to the bit.
#[test]
fn every_hierarchy_gives_the_same_answer() {
    let mut dice = Dice(31);
    let mesh = super::soup(&mut dice, 300, true);
    let [fast, tight] =
        [Quality::Fast, Quality::Tight].map(|q| Case::new("grid", mesh.clone(), Pose::IDENTITY, q));
    for _ in 0..300 {
        let p = dice.grid() * 0.5;
        let [a, b] = [&fast, &tight].map(|c| c.placed().closest_point(p, f64::INFINITY).unwrap());
        assert_eq!((a.distance, a.face), (b.distance, b.face), "{p:?}");
    }
}

#[test]
fn points_that_are_none_have_no_closest_point() {
    let mut dice = Dice(1);
    let case = Case::new("soup", super::soup(&mut dice, 9, false), Pose::IDENTITY, Quality::Fast);
    let placed = case.placed();
    assert_eq!(placed.closest_point(DVec3::X * f64::NAN, 1.0), None);
    assert_eq!(placed.closest_point(DVec3::X * 1e39, f64::INFINITY), None);
    assert_eq!(placed.closest_point(DVec3::ZERO, f64::NAN), None);
    assert_eq!(placed.closest_point(DVec3::ZERO, -1.0), None);
}
