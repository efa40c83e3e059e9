//! Inside or outside: against parity over all triangles, and against what is known of a solid.

use super::{Case, Dice, poses, scaled, torus};
use glam::{DVec3, Vec3};
use jostle_geom::triangle::{RayCross, x_ray_crosses};
use jostle_geom::{ContainsError, Mesh, Model, Pose, PosedModel, Quality, Side, solids};

pub(super) fn slow_contains(placed: &PosedModel<'_>, p: DVec3) -> Side {
    let crossed: Vec<RayCross> = (0..placed.model().mesh().triangle_count())
        .map(|i| x_ray_crosses(p, &placed.triangle(i)))
        .collect();
    if crossed.contains(&RayCross::OnTriangle) {
        return Side::OnSurface;
    }
    let odd = crossed.iter().filter(|&&c| c == RayCross::Yes).count() % 2 == 1;
    if odd { Side::Inside } else { Side::Outside }
}

#[test]
fn contains_equals_parity_over_all_triangles() {
    let seed = 3;
    let mut dice = Dice(seed);
    let mut seen = [0; 3];
    let flake = solids::tetra_flake(2).unwrap();
    let meshes = [
        torus([20, 10]),
        solids::sphere(1.0, 0.02).unwrap(),
        flake,
        scaled(&torus([12, 8]), 1e36, Vec3::ZERO),
        scaled(&torus([12, 8]), 1e-36, Vec3::ZERO),
        scaled(&torus([12, 8]), 1.0, Vec3::new(1e6, 1e6, -3e6)),
    ];
    for mesh in meshes {
        for pose in poses() {
            let solid = mesh.clone().into_solid().unwrap();
            let case = Case::new("solid", solid, pose, Quality::Default);
            let placed = case.placed();
            let (middle, size) = case.extent();
            for kind in 0..60 {
                let [a, b, c] = placed.triangle(dice.below(case.triangles() as u64) as usize);
                let p = match kind % 4 {
                    0 | 1 => middle + dice.vector() * size * 1.2,
                    2 => a,
                    // Straight behind a corner, so that the ray passes edges and corners.
                    _ => DVec3::new(
                        middle.x - size * dice.signed(),
                        b.y,
                        if kind < 30 { b.z } else { c.z },
                    ),
                };
                let slow = slow_contains(&placed, p);
                let about = format!("seed {seed} {} {p:?}", case.name);
                assert_eq!(placed.contains(p), Ok(slow), "{about}");
                seen[slow as usize] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 100), "all answers occur: {seen:?}");
}

/// A cube cut into a grid of triangles: every grid point has a known answer.
#[test]
fn grid_points_of_a_cut_cube_are_known() {
    let mut vertices = Vec::new();
    let mut faces = Vec::new();
    for axis in 0..3 {
        for side in [-2.0f32, 2.0] {
            for i in 0..16 {
                let (u, v) = ((i % 4) as f32 - 2.0, (i / 4) as f32 - 2.0);
                let corner = |du: f32, dv: f32| {
                    let mut p = [0.0f32; 3];
                    p[axis] = side;
                    p[(axis + 1) % 3] = u + du;
                    p[(axis + 2) % 3] = v + dv;
                    Vec3::from_array(p)
                };
                let first = vertices.len() as u32;
                vertices.extend([corner(0., 0.), corner(1., 0.), corner(1., 1.), corner(0., 1.)]);
                faces.push([first, first + 1, first + 2, first + 3]);
            }
        }
    }
    let mesh = Mesh::from_polygons(vertices, faces).unwrap().into_solid().unwrap();
    let model = Model::build(mesh, Quality::Default);
    let placed = PosedModel::new(&model, &Pose::IDENTITY);
    for i in 0..13 * 13 * 13 {
        let part = |n: i32| f64::from(n % 13 - 6) * 0.5;
        let p = DVec3::new(part(i), part(i / 13), part(i / 169));
        let expected = match p.abs().max_element() {
            m if m < 2.0 => Side::Inside,
            m if m > 2.0 => Side::Outside,
            _ => Side::OnSurface,
        };
        assert_eq!(placed.contains(p), Ok(expected), "{p:?}");
    }
}

#[test]
fn what_has_no_inside_is_an_error() {
    let open = Model::build(torus([5, 4]), Quality::Default);
    let placed = PosedModel::new(&open, &Pose::IDENTITY);
    assert_eq!(placed.contains(DVec3::ZERO), Err(ContainsError::NotSolid));
    let solid = Model::build(torus([5, 4]).into_solid().unwrap(), Quality::Default);
    let placed = PosedModel::new(&solid, &Pose::IDENTITY);
    let refused = placed.contains(DVec3::X * f64::INFINITY);
    assert!(matches!(refused, Err(ContainsError::BadPoint { .. })));
}
