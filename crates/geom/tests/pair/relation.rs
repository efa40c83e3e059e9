//! Apart, touching, crossing, inside or identical.

use crate::cases::shift;
use crate::solids::{cube, join};
use crate::soup::{QUALITIES, Random, brute_pairs, grid_soup, soup};
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::Relation::{AInsideB, Apart, BInsideA, Crossing, Identical, Touching};
use jostle_geom::solids::{cuboid, sphere};
use jostle_geom::triangle::{self, TriangleRelation};
use jostle_geom::{Mesh, Model, Pair, Pose, Relation};

pub(crate) fn check(a: &Mesh, b: &Mesh, pose_b: &Pose, expected: Relation) {
    for quality in QUALITIES {
        let (a, b) = (Model::build(a.clone(), quality), Model::build(b.clone(), quality));
        let pair = Pair::new(&a, &Pose::IDENTITY, &b, pose_b);
        assert_eq!(pair.relation().unwrap(), expected, "{quality:?}, {pose_b:?}");
        let swapped = match expected {
            AInsideB => BInsideA,
            BInsideA => AInsideB,
            other => other,
        };
        let pair = Pair::new(&b, pose_b, &a, &Pose::IDENTITY);
        assert_eq!(pair.relation().unwrap(), swapped, "swapped, {quality:?}, {pose_b:?}");
        assert_eq!(pair.touches(), expected != Apart, "{quality:?}, {pose_b:?}");
    }
}

pub(crate) fn solid(mesh: Mesh) -> Mesh {
    mesh.into_solid().unwrap()
}

#[test]
fn cubes_side_by_side() {
    for unit in [cube(1.0), solid(cube(1.0))] {
        for (by, expected) in [
            (DVec3::new(1.0, 0.0, 0.0), Touching),
            (DVec3::new(1.0, 0.25, 0.5), Touching),
            (DVec3::new(1.0, 1.0, 0.0), Touching),
            (DVec3::new(1.0, 1.0, 0.5), Touching),
            (DVec3::new(1.0, 1.0, 1.0), Touching),
            (DVec3::new(1.0 + 1e-15, 0.0, 0.0), Apart),
            (DVec3::new(1.0, 1.0, 1.0 + 1e-15), Apart),
            (DVec3::new(3.0, 0.0, 0.0), Apart),
            (DVec3::new(0.5, 0.25, 0.125), Crossing),
            (DVec3::new(1.0 - 1e-15, 0.3, 0.2), Crossing),
            (DVec3::new(1e-15, 2e-15, 3e-15), Crossing),
        ] {
            check(&unit, &unit, &shift(by), expected);
        }
    }
}

/// Faces in common planes: no face passes through another inside, so only the solids decide.
#[test]
fn cubes_with_common_planes() {
    let unit = solid(cube(1.0));
    for by in [DVec3::X * 0.5, DVec3::new(0.5, 0.5, 0.0), DVec3::Y * -0.25] {
        check(&unit, &unit, &shift(by), Crossing);
    }
    let half = solid(cuboid(DVec3::new(0.5, 1.0, 1.0)).unwrap());
    check(&unit, &half, &shift(DVec3::X * 0.25), BInsideA);
    check(&unit, &half, &Pose::IDENTITY, BInsideA);
    check(&unit, &half, &shift(DVec3::X * 0.75), Touching);
    check(&unit, &half, &shift(DVec3::X * 0.5), Crossing);
}

#[test]
fn inside_also_with_contact() {
    let (outer, small) = (solid(cube(2.0)), cube(0.5));
    for inner in [small.clone(), solid(small)] {
        for by in [
            DVec3::ZERO,
            DVec3::new(0.1, 0.2, 0.3),
            DVec3::new(0.75, 0.0, 0.0),
            DVec3::new(0.75, 0.75, 0.1),
            DVec3::new(0.75, -0.75, 0.75),
        ] {
            check(&outer, &inner, &shift(by), BInsideA);
        }
        check(&outer, &inner, &shift(DVec3::X * 1.25), Touching);
        check(&outer, &inner, &shift(DVec3::X * 1.0), Crossing);
        check(&cube(2.0), &inner, &shift(DVec3::X * 0.75), Touching);
        check(&cube(2.0), &inner, &Pose::IDENTITY, Apart);
    }
    let ball = sphere(1.0, 0.02).unwrap();
    check(&solid(cube(4.0)), &ball, &shift(DVec3::X), BInsideA);
    check(&solid(cube(4.0)), &ball, &shift(DVec3::X * 1.5), Crossing);
    check(&ball, &solid(cube(4.0)), &Pose::IDENTITY, AInsideB);
}

#[test]
fn parts_on_both_sides() {
    let outer = solid(cube(2.0));
    let touching_and_inside = join(&cube(0.5), &cube(0.5), Vec3::X * 1.25);
    check(&outer, &touching_and_inside, &Pose::IDENTITY, Crossing);
    let touching_and_apart = join(&cube(0.5), &cube(0.5), Vec3::X * 1.25);
    check(&outer, &touching_and_apart, &shift(DVec3::X * 1.25), Touching);
}

#[test]
fn identical_in_any_order() {
    let mut random = Random(4);
    let mesh = soup(&mut random, 40, 1.0, 0.2);
    let count = mesh.triangles().len();
    let mut turned: Vec<[u32; 3]> = mesh.triangles().to_vec();
    turned.reverse();
    for (k, t) in turned.iter_mut().enumerate() {
        t.rotate_left(k % 3);
        if k % 2 == 0 {
            t.swap(0, 1);
        }
    }
    let turned = Mesh::from_triangles(mesh.vertices().to_vec(), turned).unwrap();
    // Other vertex numbers, the last vertex first, and minus zeros.
    let last = mesh.vertices().len() as u32 - 1;
    let vertices = mesh.vertices().iter().rev().copied().collect();
    let triangles = mesh.triangles().iter().map(|t| t.map(|v| last - v)).collect();
    let renumbered = Mesh::from_triangles(vertices, triangles).unwrap();
    for other in [&mesh, &turned, &renumbered] {
        check(&mesh, other, &Pose::IDENTITY, Identical);
    }
    let fewer = Mesh::from_triangles(mesh.vertices().to_vec(), mesh.triangles()[1..count].to_vec());
    let b = Model::build(fewer.unwrap(), QUALITIES[1]);
    let a = Model::build(mesh, QUALITIES[1]);
    let pair = Pair::new(&a, &Pose::IDENTITY, &b, &Pose::IDENTITY);
    assert_ne!(pair.relation().unwrap(), Identical);
}

#[test]
fn identical_after_turns() {
    // Each face has both diagonals, so that turns bring triangles onto triangles.
    let mut vertices = cube(2.0).vertices().to_vec();
    let mut triangles = Vec::new();
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let on_face = |v: &Vec3| v[axis] == side;
            let ring: Vec<u32> = (0..8).filter(|&v| on_face(&vertices[v as usize])).collect();
            let middle = vertices.len() as u32;
            for [i, j] in [[0, 1], [1, 3], [3, 2], [2, 0]] {
                triangles.push([ring[i], ring[j], middle]);
            }
            let mut centre = Vec3::ZERO;
            centre[axis] = side;
            vertices.push(centre);
        }
    }
    let cube = Mesh::from_triangles(vertices, triangles).unwrap();
    for mesh in [cube.clone(), solid(cube)] {
        let half = Pose::new(DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0), DVec3::ZERO).unwrap();
        check(&mesh, &mesh, &half, Identical);
        let third = Pose::new(DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5), DVec3::ZERO).unwrap();
        check(&mesh, &mesh, &third, Identical);
    }
}

/// For surfaces alone, the relation follows from that of all triangles.
#[test]
fn surfaces_against_all_triangles() {
    let mut seen = [0; 3];
    for seed in 800..880 {
        let mut random = Random(seed);
        let [a, b] = if seed % 2 == 0 {
            [grid_soup(&mut random, 3, 4, 1.0), grid_soup(&mut random, 3, 4, 1.0)]
        } else {
            [soup(&mut random, 9, 1.0, 0.4), soup(&mut random, 9, 1.0, 0.4)]
        };
        let pose = if seed % 4 == 1 { random.pose(1.0) } else { Pose::IDENTITY };
        let place = |mesh: &Mesh, pose: &Pose| -> Vec<triangle::Triangle> {
            let at = |v: u32| pose.transform_point(mesh.vertices()[v as usize]);
            mesh.triangles().iter().map(|t| t.map(at)).collect()
        };
        let (placed_a, placed_b) = (place(&a, &Pose::IDENTITY), place(&b, &pose));
        let crossing = placed_a.iter().any(|s| {
            placed_b.iter().any(|t| triangle::relation(s, t) == TriangleRelation::Crossing)
        });
        let touching = !brute_pairs(&a, &Pose::IDENTITY, &b, &pose).is_empty();
        let expected = match (crossing, touching) {
            (true, _) => Crossing,
            (_, true) => Touching,
            _ => Apart,
        };
        seen[usize::from(crossing) + usize::from(touching)] += 1;
        check(&a, &b, &pose, expected);
    }
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

#[test]
fn nothing_is_apart_from_everything() {
    let nothing = Mesh::from_triangles(Vec::new(), Vec::new()).unwrap();
    check(&nothing, &nothing, &Pose::IDENTITY, Apart);
    check(&nothing, &solid(cube(1.0)), &Pose::IDENTITY, Apart);
    check(&solid(nothing), &cube(1.0), &Pose::IDENTITY, Apart);
}
