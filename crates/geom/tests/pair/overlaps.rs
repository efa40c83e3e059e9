//! Do insides overlap, and does the relation follow, where surfaces touch without crossing?
//! (Thousands of such solids are judged by `crates/oracle/tests/polycubes.rs`.)

use crate::cases::shift;
use crate::relation::{check, solid};
use crate::solids::{cube, join};
use crate::soup::{QUALITIES, Random};
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::Relation::{AInsideB, Apart, BInsideA, Crossing, Identical, Touching};
use jostle_geom::solids::cuboid;
use jostle_geom::{Mesh, Model, OverlapsError, Pair, Pose, Relation};

/// Both relation and overlap, in every quality and both orders.
fn check_solids(a: &Mesh, b: &Mesh, pose_b: &Pose, relation: Relation) {
    check(a, b, pose_b, relation);
    let (a, b) = (Model::build(a.clone(), QUALITIES[0]), Model::build(b.clone(), QUALITIES[0]));
    let expected = !matches!(relation, Apart | Touching);
    let pair = Pair::new(&a, &Pose::IDENTITY, &b, pose_b);
    assert_eq!(pair.overlaps(), Ok(expected), "{pose_b:?}");
    let pair = Pair::new(&b, pose_b, &a, &Pose::IDENTITY);
    assert_eq!(pair.overlaps(), Ok(expected), "swapped, {pose_b:?}");
}

/// A prism over a triangle in the plane of x and z, from y = 0 to y = 1.
fn prism(corners: [(f32, f32); 3]) -> Mesh {
    let corner = |y: f32| corners.map(|(x, z)| Vec3::new(x, y, z));
    let vertices = [corner(0.0), corner(1.0)].concat();
    let faces: [&[u32]; 5] = [&[0, 1, 2], &[3, 5, 4], &[0, 3, 4, 1], &[1, 4, 5, 2], &[2, 5, 3, 0]];
    solid(Mesh::from_polygons(vertices, faces).unwrap())
}

/// The middle of a face of the one rounds to a point strictly inside the other.
#[test]
fn two_wedges_of_a_box_touch_and_do_not_cross() {
    let lower = prism([(0.0, 0.0), (1.0, 0.0), (1.0, 3.0)]);
    let upper = prism([(0.0, 0.0), (1.0, 3.0), (0.0, 3.0)]);
    check_solids(&lower, &upper, &Pose::IDENTITY, Touching);
    check_solids(&lower, &upper, &shift(DVec3::Z * 1e-15), Apart);
    check_solids(&lower, &upper, &shift(DVec3::Z * -1e-15), Crossing);
    let whole = solid(
        Mesh::from_polygons(
            [0.0, 1.0]
                .map(|y| {
                    [(0.0, 0.0), (1.0, 0.0), (1.0, 3.0), (0.0, 3.0)]
                        .map(|(x, z)| Vec3::new(x, y, z))
                })
                .concat(),
            [[0, 1, 2, 3], [4, 7, 6, 5], [0, 4, 5, 1], [1, 5, 6, 2], [2, 6, 7, 3], [3, 7, 4, 0]],
        )
        .unwrap(),
    );
    for wedge in [&lower, &upper] {
        check_solids(wedge, &whole, &Pose::IDENTITY, AInsideB);
        check(wedge, &unsolid(&whole), &Pose::IDENTITY, Touching);
        check(&unsolid(wedge), &whole, &Pose::IDENTITY, AInsideB);
    }
    check(&unsolid(&lower), &upper, &Pose::IDENTITY, Touching);
}

fn unsolid(mesh: &Mesh) -> Mesh {
    Mesh::from_triangles(mesh.vertices().to_vec(), mesh.triangles().to_vec()).unwrap()
}

/// After a turn the cut face of each half is rounded in its own way: whatever the answer is,
/// relation and overlap agree, in both orders.
#[test]
fn turned_wedges_are_judged_alike_from_both_sides() {
    let lower = prism([(0.0, 0.0), (1.0, 0.0), (1.0, 3.0)]);
    let upper = prism([(0.0, 0.0), (1.0, 3.0), (0.0, 3.0)]);
    let [a, b] = [lower, upper].map(|mesh| Model::build(mesh, QUALITIES[1]));
    let mut random = Random(18);
    let mut seen = [0; 2];
    for _ in 0..200 {
        let (pose_a, turn) = (random.pose(3.0), random.rotation());
        // Some with the same pose, some with one that differs by roundings.
        let pose_b = Pose::new(pose_a.rotation() * turn * turn.inverse(), pose_a.translation());
        for pose_b in [pose_a, pose_b.unwrap()] {
            let pair = Pair::new(&a, &pose_a, &b, &pose_b);
            let swapped = Pair::new(&b, &pose_b, &a, &pose_a);
            let (relation, overlaps) = (pair.relation().unwrap(), pair.overlaps().unwrap());
            assert_eq!(relation, swapped.relation().unwrap(), "{pose_a:?} {pose_b:?}");
            assert_eq!(overlaps, swapped.overlaps().unwrap(), "{pose_a:?} {pose_b:?}");
            assert_eq!(overlaps, relation == Crossing, "{pose_a:?} {pose_b:?}");
            assert_eq!(pair.touches(), relation != Apart, "{pose_a:?} {pose_b:?}");
            seen[usize::from(overlaps)] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

/// All six edges are on the faces of the cube, so edges alone do not decide.
#[test]
fn a_tetrahedron_with_its_edges_on_the_faces_of_a_cube_is_inside() {
    let tips = [(0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (1.0, 0.0, 1.0), (0.0, 1.0, 1.0)];
    let vertices = tips.map(|(x, y, z)| Vec3::new(x - 0.5, y - 0.5, z - 0.5)).to_vec();
    let faces = vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]];
    let inner = Mesh::from_triangles(vertices, faces).unwrap();
    let outer = solid(cube(1.0));
    check_solids(&solid(inner.clone()), &outer, &Pose::IDENTITY, AInsideB);
    check(&inner, &outer, &Pose::IDENTITY, AInsideB);
    check_solids(&solid(inner.clone()), &outer, &shift(DVec3::X), Touching);
    check_solids(&solid(inner), &outer, &shift(DVec3::X * 0.5), Crossing);
}

#[test]
fn boxes_with_common_planes() {
    let unit = solid(cube(1.0));
    for by in [DVec3::X * 0.5, DVec3::new(0.5, 0.25, 0.0), DVec3::Y * -0.75] {
        check_solids(&unit, &unit, &shift(by), Crossing);
    }
    for by in [DVec3::X, DVec3::new(1.0, 0.5, 0.0), DVec3::ONE, DVec3::new(0.0, 1.0, -1.0)] {
        check_solids(&unit, &unit, &shift(by), Touching);
    }
    let eighth = solid(cube(0.5));
    for corner in [DVec3::splat(0.25), DVec3::new(-0.25, 0.25, -0.25)] {
        check_solids(&unit, &eighth, &shift(corner), BInsideA);
        check_solids(&unit, &eighth, &shift(corner * 3.0), Touching);
    }
    let bar = solid(cuboid(DVec3::new(3.0, 1.0, 0.5)).unwrap());
    check_solids(&unit, &bar, &Pose::IDENTITY, Crossing);
    check_solids(&unit, &bar, &shift(DVec3::new(2.0, 0.0, 0.25)), Touching);
}

#[test]
fn solids_that_enclose_the_same_points_are_identical() {
    let unit = solid(cube(1.0));
    // A quarter turn gives the faces other diagonals.
    let quarter = Pose::new(DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0), DVec3::ZERO).unwrap();
    check_solids(&unit, &unit, &quarter, Identical);
    let half = cuboid(DVec3::new(0.5, 1.0, 1.0)).unwrap();
    let halves = solid(join(&moved(&half, Vec3::X * -0.25), &half, Vec3::X * 0.25));
    check_solids(&unit, &halves, &Pose::IDENTITY, Identical);
    // Each lacks what the other has, though all faces of each are inside or on the other.
    let hollow = |x: f32| solid(join(&cube(4.0), &cube(1.0), Vec3::X * x));
    check_solids(&hollow(-1.0), &hollow(1.0), &Pose::IDENTITY, Crossing);
    check_solids(&hollow(1.0), &solid(cube(4.0)), &Pose::IDENTITY, AInsideB);
    check_solids(&hollow(1.0), &solid(cube(1.0)), &shift(DVec3::X), Touching);
}

fn moved(mesh: &Mesh, by: Vec3) -> Mesh {
    let vertices = mesh.vertices().iter().map(|v| *v + by).collect();
    Mesh::from_triangles(vertices, mesh.triangles().to_vec()).unwrap()
}

/// A face that is there twice has the same on both sides.
#[test]
fn faces_that_are_there_twice_bound_nothing() {
    let half = cube(2.0);
    let walled = solid(join(&moved(&half, Vec3::X * -1.0), &half, Vec3::X));
    let small = solid(cube(1.0));
    check_solids(&walled, &small, &Pose::IDENTITY, BInsideA); // across the wall
    check_solids(&walled, &small, &shift(DVec3::X * 0.5), BInsideA); // on the wall
    check_solids(&walled, &small, &shift(DVec3::X * 2.0), Crossing);
    // A fin without volume reaches into a cube, and ends inside it.
    let fin = [Vec3::new(1.5, 0.0, 0.0), Vec3::new(4.0, 0.5, 0.1), Vec3::new(4.0, -0.5, 0.1)];
    let fin = Mesh::from_triangles(fin.to_vec(), vec![[0, 1, 2], [2, 1, 0]]).unwrap();
    let finned = solid(join(&cube(1.0), &fin, Vec3::ZERO));
    let far = solid(cube(2.0));
    let (a, b) = (Model::build(finned, QUALITIES[1]), Model::build(far, QUALITIES[1]));
    for (x, overlaps) in [(3.0, false), (4.0, false), (0.5, true)] {
        let pose = shift(DVec3::X * x);
        let pair = Pair::new(&a, &Pose::IDENTITY, &b, &pose);
        assert_eq!((pair.overlaps(), pair.relation().unwrap()), (Ok(overlaps), Crossing), "{x}");
    }
    check_solids(&solid(fin.clone()), &solid(cube(9.0)), &shift(DVec3::Y * 20.0), Apart);
    check(&solid(fin), &solid(cube(9.0)), &Pose::IDENTITY, AInsideB);
}

/// A sheet through a cube that meets its surface in edges only, with all corners and the middle
/// outside.
#[test]
fn a_sheet_that_passes_through_edges_crosses() {
    let corner = |k: u32| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32);
    // Bottom and top are cut along x = y.
    let faces: Vec<Vec<u32>> = vec![
        vec![0, 1, 3],
        vec![0, 3, 2],
        vec![4, 7, 5],
        vec![4, 6, 7],
        vec![0, 4, 5, 1],
        vec![2, 3, 7, 6],
        vec![0, 2, 6, 4],
        vec![1, 5, 7, 3],
    ];
    let block = solid(Mesh::from_polygons((0..8).map(corner).collect(), &faces).unwrap());
    let sheet = |reach: [(f32, f32); 3]| {
        let corners = reach.map(|(xy, z)| Vec3::new(xy, xy, z)).to_vec();
        Mesh::from_triangles(corners, vec![[0, 1, 2]]).unwrap()
    };
    let through = sheet([(-10.0, -10.0), (30.0, -10.0), (-10.0, 50.0)]);
    check(&block, &through, &Pose::IDENTITY, Crossing);
    let within = sheet([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)]);
    check(&block, &within, &Pose::IDENTITY, BInsideA);
    let beside = sheet([(1.0, 0.5), (2.0, 0.0), (2.0, 1.0)]);
    check(&block, &beside, &Pose::IDENTITY, Touching);
}

/// A face without area is a segment, and its parts are looked at as well.
#[test]
fn a_segment_with_its_ends_and_middle_outside_crosses() {
    let block = solid(cube(2.0));
    let segment = |from: Vec3, to: Vec3| Mesh::from_polygons(vec![from, to], [[0, 1]]).unwrap();
    let far = segment(Vec3::new(-2.0, 0.0, 0.1), Vec3::new(40.0, 0.0, 0.1));
    check(&block, &far, &Pose::IDENTITY, Crossing);
    // Along a face, along an edge, across an edge, from face to face, from a face outwards.
    let along = Vec3::new(40.0, 0.3, 1.0);
    check(&block, &segment(along - Vec3::X * 42.0, along), &Pose::IDENTITY, Touching);
    let edge = Vec3::new(7.0, 1.0, 1.0);
    check(&block, &segment(edge - Vec3::X * 11.0, edge), &Pose::IDENTITY, Touching);
    let across = [Vec3::new(0.0, 0.25, 2.0), Vec3::new(4.0, 0.25, -2.0)];
    check(&block, &segment(across[0], across[1]), &Pose::IDENTITY, Touching);
    let chord = [Vec3::new(-1.0, 0.3, 0.2), Vec3::new(0.1, 1.0, -0.3)];
    check(&block, &segment(chord[0], chord[1]), &Pose::IDENTITY, BInsideA);
    let out = [Vec3::new(1.0, 0.3, 0.2), Vec3::new(2.0, 0.4, 0.2)];
    check(&block, &segment(out[0], out[1]), &Pose::IDENTITY, Touching);
}

#[test]
fn a_surface_has_no_inside_to_overlap() {
    let (body, sheet) = (solid(cube(1.0)), cube(1.0));
    let [body, sheet] = [body, sheet].map(|mesh| Model::build(mesh, QUALITIES[1]));
    let ask = |a, b| Pair::new(a, &Pose::IDENTITY, b, &Pose::IDENTITY).overlaps();
    assert_eq!(ask(&body, &body), Ok(true));
    assert_eq!(ask(&sheet, &body), Err(OverlapsError::FirstNotSolid));
    assert_eq!(ask(&body, &sheet), Err(OverlapsError::SecondNotSolid));
    assert_eq!(ask(&sheet, &sheet), Err(OverlapsError::NeitherSolid));
}
