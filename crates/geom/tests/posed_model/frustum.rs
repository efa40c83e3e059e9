//! Frusta: against clipping every triangle, and against what is known.

use super::{Case, Dice, cases};
use glam::dcamera::rh::proj::{directx, opengl};
use glam::dcamera::rh::view::look_at_mat4;
use glam::{DMat4, DVec3};
use jostle_geom::{ClipDepth, FrustumSide, Mesh, Plane, Pose, Quality, frustum_planes};

/// Sutherland and Hodgman, written for reading.
fn clipped(corners: [DVec3; 3], planes: &[Plane]) -> Vec<DVec3> {
    let mut polygon = corners.to_vec();
    for plane in planes {
        let mut kept = Vec::new();
        for i in 0..polygon.len() {
            let (p, q) = (polygon[i], polygon[(i + 1) % polygon.len()]);
            let (up, uq) = (plane.height(p), plane.height(q));
            if up >= 0.0 {
                kept.push(p);
            }
            if up * uq < 0.0 {
                kept.push(p.lerp(q, up / (up - uq)));
            }
        }
        polygon = kept;
    }
    polygon
}

fn slow_frustum(case: &Case, planes: &[Plane]) -> FrustumSide {
    let placed = case.placed();
    let triangles: Vec<_> = (0..case.triangles()).map(|i| placed.triangle(i)).collect();
    let inside = |p: &DVec3| planes.iter().all(|plane| plane.height(*p) >= 0.0);
    if triangles.iter().flatten().all(inside) {
        FrustumSide::Inside
    } else if triangles.iter().all(|&t| clipped(t, planes).is_empty()) {
        FrustumSide::Outside
    } else {
        FrustumSide::Crossing
    }
}

#[test]
fn frusta_equal_clipping_every_triangle() {
    let seed = 77;
    let mut dice = Dice(seed);
    let mut seen = [0; 3];
    for case in cases(&mut dice) {
        let (middle, size) = case.extent();
        for i in 0..60 {
            let eye = middle + dice.vector() * size * 4.0;
            let target = middle + dice.vector() * size * 2.0;
            let up = dice.direction();
            let width = [0.02, 0.3, 1.5][i % 3];
            let view = look_at_mat4(eye, target, up);
            let range = [size * 0.05, size * 20.0];
            let projection = directx::perspective(width, 1.5, range[0], range[1]);
            let Ok(planes) = frustum_planes(&(projection * view), ClipDepth::ZeroToOne) else {
                continue;
            };
            let slow = slow_frustum(&case, &planes);
            let about = format!("seed {seed} case {i} {}", case.name);
            assert_eq!(case.placed().frustum(&planes), slow, "{about}");
            seen[slow as usize] += 1;
        }
    }
    assert!(seen.iter().all(|&n| n > 50), "all answers occur: {seen:?}");
}

/// Cubes of a grid, where much lies on the border: between a cube that is a little smaller and
/// one that is a little larger.
#[test]
fn cubes_of_a_grid_are_between_smaller_and_larger_ones() {
    let mut dice = Dice(6);
    let (mut seen, mut border) = ([0; 3], 0);
    for _ in 0..40 {
        let mesh = super::soup(&mut dice, 4, true);
        let case = Case::new("grid", mesh, Pose::IDENTITY, Quality::Default);
        for _ in 0..60 {
            let low = dice.grid() - 2.0;
            let size = dice.below(10) as f64;
            let cube = |grow: f64| -> Vec<Plane> {
                [DVec3::X, DVec3::Y, DVec3::Z]
                    .into_iter()
                    .flat_map(|n| [(n, grow - n.dot(low)), (-n, n.dot(low) + size + grow)])
                    .map(|(normal, offset)| Plane::new(normal, offset).unwrap())
                    .collect()
            };
            let found = case.placed().frustum(&cube(0.0));
            let (small, large) =
                (slow_frustum(&case, &cube(-1e-9)), slow_frustum(&case, &cube(1e-9)));
            let is_between = found == small || found == large || found == FrustumSide::Crossing;
            assert!(is_between && (small != large || found == small), "{low:?} {size}");
            seen[found as usize] += 1;
            border += usize::from(small != large);
        }
    }
    assert!(seen.iter().all(|&n| n > 10) && border > 50, "all occur: {seen:?} {border}");
}

/// Outside, although no single plane has all of it outside.
#[test]
fn a_triangle_that_passes_by_a_corner_is_outside() {
    let corners = [(3.0, 0.0, 0.0), (0.0, 3.0, 0.0), (3.0, 3.0, 0.0)];
    let vertices = corners.map(|(x, y, z)| glam::Vec3::new(x, y, z)).to_vec();
    let mesh = Mesh::from_triangles(vertices, vec![[0, 1, 2]]).unwrap();
    let case = Case::new("corner", mesh, Pose::IDENTITY, Quality::Default);
    let square = |half: f64| {
        [DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y].map(|n| Plane::new(n, half).unwrap())
    };
    assert_eq!(case.placed().frustum(&square(1.25)), FrustumSide::Outside);
    assert_eq!(case.placed().frustum(&square(1.5)), FrustumSide::Crossing);
    assert_eq!(case.placed().frustum(&square(3.0)), FrustumSide::Inside);
    assert_eq!(case.placed().frustum(&[]), FrustumSide::Inside);
}

/// The planes of a projection hold exactly what the projection maps into clip space.
#[test]
fn planes_of_a_projection_agree_with_the_projection() {
    let mut dice = Dice(8);
    let view = look_at_mat4(DVec3::new(1.0, 2.0, 3.0), DVec3::ZERO, DVec3::Z);
    let (zero, minus) = (ClipDepth::ZeroToOne, ClipDepth::MinusOneToOne);
    let projections = [
        (directx::perspective(1.0, 1.3, 0.5, 8.0), zero, 0.0),
        (opengl::perspective(1.0, 1.3, 0.5, 8.0), minus, -1.0),
        (directx::perspective_infinite(1.0, 1.3, 0.5), zero, 0.0),
        (directx::perspective_infinite_reverse(1.0, 1.3, 0.5), zero, 0.0),
        (directx::orthographic(-2.0, 1.0, -1.0, 2.0, 0.5, 8.0), zero, 0.0),
    ];
    for (projection, depth, low) in projections {
        let matrix = projection * view;
        let planes = frustum_planes(&matrix, depth).unwrap();
        let mut seen = [0, 0];
        for _ in 0..2000 {
            let p = dice.vector() * 5.0;
            let inside = planes.iter().all(|plane| plane.height(p) >= 0.0);
            let clip = matrix * p.extend(1.0);
            let mapped = clip.truncate() / clip.w;
            let expected = clip.w > 0.0
                && mapped.x.abs() <= 1.0
                && mapped.y.abs() <= 1.0
                && (low..=1.0).contains(&mapped.z);
            assert_eq!(inside, expected, "{p:?} {projection:?}");
            seen[usize::from(inside)] += 1;
        }
        assert!(seen[0] > 50 && seen[1] > 50, "{seen:?}");
    }
    assert!(frustum_planes(&DMat4::from_cols_array(&[f64::NAN; 16]), zero).is_err());
    assert!(Plane::new(DVec3::X * 1e-200, 0.0).is_err());
}
