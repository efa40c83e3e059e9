//! Convex hulls: every point is inside or on, every corner is needed, neighbours are neighbours.

use glam::{DVec3, Vec3};
use jostle_geom::predicates::{Axis, Sign, orient2d, orient3d};
use jostle_geom::{Mesh, solids};
use jostle_lab::convex::{Dimension, Hull, HullError};
use jostle_oracle::rng::Rng;
use proptest::prelude::*;

/// Everything that must hold for the hull of these points, decided exactly.
fn check(points: &[Vec3]) -> Hull {
    let hull = Hull::of_points(points).expect("a hull of finite points");
    let corners = hull.corners();
    let wide: Vec<DVec3> = points.iter().map(|p| p.as_dvec3()).collect();
    assert!(corners.iter().all(|corner| wide.contains(corner)), "a corner is no point");
    for facet in 0..hull.facet_count() as u32 {
        let loop_ = hull.facet(facet);
        let [a, b, c] = [0, 1, 2].map(|i| corners[loop_[i] as usize]);
        let above = |&p: &DVec3| orient3d(a, b, c, p) == Sign::Positive;
        assert!(!wide.iter().any(above), "a point is outside of facet {facet}: {points:?}");
        let flat = |&i: &u32| orient3d(a, b, c, corners[i as usize]) == Sign::Zero;
        assert!(loop_.iter().all(flat), "facet {facet} is not flat: {points:?}");
        check_turns(&hull, loop_);
    }
    check_neighbours(&hull);
    check_euler(&hull);
    check_lowest(&hull, &wide);
    hull
}

/// A facet turns the same way at every corner, strictly.
fn check_turns(hull: &Hull, facet: &[u32]) {
    let at = |i: usize| hull.corners()[facet[i % facet.len()] as usize];
    let axis = |&axis: &Axis| orient2d(axis, at(0), at(1), at(2)) != Sign::Zero;
    let axis = Axis::ALL.into_iter().find(axis).expect("three corners on a line");
    let first = orient2d(axis, at(0), at(1), at(2));
    for i in 0..facet.len() {
        assert_eq!(orient2d(axis, at(i), at(i + 1), at(i + 2)), first, "not convex at {i}");
    }
}

/// Across an edge is the triangle that has it the other way round; beside is mutual.
fn check_neighbours(hull: &Hull) {
    for (i, triangle) in hull.triangles().iter().enumerate() {
        for k in 0..3 {
            let other = hull.triangles()[hull.across(i as u32)[k] as usize];
            let (from, to) = (triangle[k], triangle[(k + 1) % 3]);
            let twin = (0..3).any(|k| (other[k], other[(k + 1) % 3]) == (to, from));
            assert!(twin, "edge {k} of triangle {i}");
            assert!(hull.around(i as u32).contains(&hull.across(i as u32)[k]));
        }
        let shares = |&other: &u32| {
            let other = hull.triangles()[other as usize];
            triangle.iter().any(|corner| other.contains(corner))
        };
        assert!(hull.around(i as u32).iter().all(shares));
    }
    for corner in 0..hull.corners().len() as u32 {
        assert!(hull.beside(corner).iter().all(|&other| hull.beside(other).contains(&corner)));
    }
}

fn check_euler(hull: &Hull) {
    let (corners, triangles) = (hull.corners().len(), hull.triangles().len());
    match hull.dimension() {
        Dimension::Point => assert_eq!((corners, triangles), (1, 0)),
        Dimension::Segment => assert_eq!((corners, triangles), (2, 0)),
        // Closed surfaces of triangles without holes.
        Dimension::Polygon | Dimension::Solid => assert_eq!(triangles, 2 * corners - 4),
    }
}

/// Walking downhill finds the lowest of all points, from every corner.
fn check_lowest(hull: &Hull, points: &[DVec3]) {
    let mut rng = Rng::new(7, 0, hull.corners().len() as u64);
    let axes = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Y, DVec3::NEG_Z];
    let random = (0..4).map(|_| DVec3::new(rng.unit(), rng.unit(), rng.unit()));
    for w in axes.into_iter().chain(random) {
        let least = points.iter().map(|p| w.dot(*p)).fold(f64::INFINITY, f64::min);
        for start in 0..hull.corners().len().min(20) as u32 {
            let found = hull.corners()[hull.lowest(w, start, &mut 0) as usize];
            let size = found.abs().max_element() * 1e-15;
            assert!(w.dot(found) <= least + size, "{w}: {} and {least}", w.dot(found));
        }
    }
}

/// Points on a small grid: many lie in one plane, on one line, in one place.
fn grid(size: i8, count: usize) -> impl Strategy<Value = Vec<Vec3>> {
    let part = -size..=size;
    let point = (part.clone(), part.clone(), part);
    let point = point.prop_map(|(x, y, z)| Vec3::new(x.into(), y.into(), z.into()));
    prop::collection::vec(point, 1..count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn hulls_of_grid_points_hold(points in grid(2, 40)) {
        check(&points);
    }

    #[test]
    fn hulls_of_points_in_a_sheared_plane_are_flat(
        points in grid(3, 30),
        shear in (-3i8..=3, -3i8..=3),
        up in 0usize..3,
    ) {
        let flat = |p: &Vec3| {
            let z = p.x * f32::from(shear.0) + p.y * f32::from(shear.1);
            let mut turned = [p.x, p.y, z];
            turned.rotate_left(up);
            Vec3::from(turned)
        };
        let hull = check(&points.iter().map(flat).collect::<Vec<_>>());
        prop_assert!(hull.dimension() != Dimension::Solid);
    }

    #[test]
    fn hulls_of_random_points_hold(
        points in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 1..60),
        size in prop::sample::select(vec![1e-30f32, 1.0, 1e30]),
    ) {
        check(&points.iter().map(|&p| Vec3::from(p) * size).collect::<Vec<_>>());
    }

    #[test]
    fn hulls_of_nearly_flat_points_hold(
        points in prop::collection::vec((-1.0f32..1.0, -1.0f32..1.0, -2i32..3), 4..40),
    ) {
        // A slanted plane in rounded numbers, off by a few last digits.
        let near = |&(x, y, off): &(f32, f32, i32)| {
            let z = 0.3 * x + 0.7 * y + 1.0;
            Vec3::new(x, y, f32::from_bits(z.to_bits().wrapping_add_signed(off)))
        };
        check(&points.iter().map(near).collect::<Vec<_>>());
    }
}

#[test]
fn hulls_do_not_depend_on_order_and_duplicates() {
    let mut rng = Rng::new(3, 1, 4);
    let mut points: Vec<Vec3> =
        (0..200).map(|_| DVec3::new(rng.unit(), rng.unit(), rng.unit()).as_vec3()).collect();
    let hull = check(&points);
    points.extend_from_within(..50);
    points.reverse();
    let again = check(&points);
    assert_eq!(hull.corners(), again.corners());
    assert_eq!(hull.triangles(), again.triangles());
}

#[test]
fn every_dimension_occurs() {
    let line: Vec<Vec3> = (0..5).map(|i| Vec3::new(1.0, 2.0, 0.1) * i as f32).collect();
    let cases = [
        (vec![Vec3::ONE; 3], Dimension::Point),
        (vec![Vec3::X, Vec3::ZERO, Vec3::X * 0.5, Vec3::X * 0.25], Dimension::Segment),
        (vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ONE.with_z(0.0)], Dimension::Polygon),
        (vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], Dimension::Solid),
        (vec![Vec3::ZERO, -Vec3::ZERO], Dimension::Point),
    ];
    for (points, dimension) in cases {
        assert_eq!(check(&points).dimension(), dimension, "{points:?}");
    }
    // Rounded multiples need not lie on a line; whatever they are, the hull holds.
    check(&line);
}

#[test]
fn hulls_of_solids_have_their_facets() {
    let cube = Hull::of_mesh(&solids::cuboid(DVec3::new(1.0, 2.0, 3.0)).unwrap()).unwrap();
    assert_eq!((cube.corners().len(), cube.facet_count(), cube.triangles().len()), (8, 6, 12));
    let ball = solids::sphere(1.0, 0.001).unwrap();
    let hull = check(ball.vertices());
    assert_eq!(hull.corners().len(), ball.vertices().len(), "all vertices of a ball are extreme");
    // A tetra-flake has a hull of four corners, however fine it is.
    let flake = Hull::of_mesh(&solids::tetra_flake(5).unwrap()).unwrap();
    assert_eq!((flake.corners().len(), flake.facet_count()), (4, 4));
    let torus = solids::BumpyTorus::plain(1.0, 0.3, [40, 20]).mesh().unwrap();
    check(torus.vertices());
    assert!(cube.bytes() > 8 * 24);
}

#[test]
fn what_no_triangle_uses_does_not_count() {
    let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::splat(100.0)];
    let mesh = Mesh::from_triangles(vertices, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    assert_eq!(Hull::of_mesh(&mesh).unwrap().corners().len(), 4);
}

#[test]
fn nothing_and_no_numbers_are_refused() {
    let none = Mesh::from_triangles(vec![Vec3::ONE], vec![]).unwrap();
    assert_eq!(Hull::of_mesh(&none).map(|_| ()), Err(HullError::Empty));
    assert_eq!(Hull::of_points(&[]).map(|_| ()), Err(HullError::Empty));
    let bad = [Vec3::ZERO, Vec3::new(f32::NAN, 0.0, 0.0)];
    assert_eq!(Hull::of_points(&bad).map(|_| ()), Err(HullError::NotFinite));
}
