//! Placements and stretched meshes.

use super::*;
use glam::{DMat3, DQuat};
use jostle_geom::{Mesh, MeshError, Model, Quality, solids};

#[test]
fn chains_of_transforms_are_products_of_matrices() {
    let random = &mut Random(3);
    let [mut rigid, mut alike, mut sheared] = [0; 3];
    for round in 0..20_000 {
        let chain: Vec<Transform> = (0..1 + random.below(5)).map(|_| random.transform()).collect();
        let placement = chain
            .iter()
            .map(Placement::of_transform)
            .fold(Placement::IDENTITY, |outer, inner| outer.then(&inner));
        let matrix = chain.iter().map(matrix_of).fold(DMat4::IDENTITY, |outer, m| outer * m);
        assert!(agree(&placement, &matrix), "seed 3, round {round}: {placement:?} {matrix}");
        let no_scale = chain.iter().all(|node| node.scale == Vec3::ONE);
        if no_scale {
            assert!(placement.is_rigid(), "seed 3, round {round}");
        }
        let s = placement.stretch;
        match (placement.is_rigid(), s == DMat3::from_diagonal(DVec3::splat(s.x_axis.x))) {
            (true, _) => rigid += 1,
            (false, true) => alike += 1,
            (false, false) => sheared += 1,
        }
        let point = DVec3::new(1.0, -2.0, 3.0);
        let back = placement.inverse_transform_point(placement.transform_point(point)).unwrap();
        assert!(back.distance(point) < 1e-6, "seed 3, round {round}: {back}");
    }
    assert!(rigid > 1000 && alike > 1000 && sheared > 1000, "{rigid} {alike} {sheared}");
}

#[test]
fn what_does_nothing_changes_no_bit() {
    let random = &mut Random(4);
    for _ in 0..1000 {
        let node = Transform { scale: Vec3::ONE, ..random.transform() };
        let placement = Placement::of_transform(&node);
        assert_eq!(Placement::IDENTITY.then(&placement), placement);
        assert_eq!(placement.then(&Placement::IDENTITY), placement);
        let still = Transform { rotation: Rotation::NONE, ..node };
        assert_eq!(Placement::of_transform(&still).translation, still.translation.as_dvec3());
    }
}

#[test]
fn equal_scales_leave_rotations_to_the_pose() {
    let turn = Rotation { axis: Vec3::Y, angle: 1.0 };
    let scaled = |scale| Transform { scale, rotation: turn, ..Transform::default() };
    let inner = Placement::of_transform(&scaled(Vec3::ONE));
    let outer = Placement::of_transform(&scaled(Vec3::splat(3.0)));
    let both = outer.then(&inner);
    assert_eq!(both.stretch, DMat3::from_diagonal(DVec3::splat(3.0)));
    assert_eq!(both.rotation, outer.rotation * inner.rotation);
    let uneven = Placement::of_transform(&scaled(Vec3::new(1.0, 2.0, 3.0)));
    assert_eq!(uneven.then(&inner).rotation, uneven.rotation);
    assert_eq!(inner.then(&uneven).stretch, uneven.stretch);
}

#[test]
fn poses_refuse_what_is_not_finite_and_flat_worlds_have_no_way_back() {
    let far = Placement { translation: DVec3::new(f64::NAN, 0.0, 0.0), ..Placement::IDENTITY };
    assert!(far.pose().is_err());
    let node = Transform { scale: Vec3::new(1.0, 0.0, 1.0), ..Transform::default() };
    assert_eq!(Placement::of_transform(&node).inverse_transform_point(DVec3::ONE), None);
    let node = Transform { scale: Vec3::ZERO, ..Transform::default() };
    assert_eq!(Placement::of_transform(&node).inverse_transform_point(DVec3::ONE), None);
    let pose = Placement { rotation: DQuat::from_rotation_x(1.0), ..Placement::IDENTITY }.pose();
    assert_eq!(pose.unwrap().translation(), DVec3::ZERO);
}

fn stretched(x: f64, y: f64, z: f64) -> Placement {
    Placement { stretch: DMat3::from_diagonal(DVec3::new(x, y, z)), ..Placement::IDENTITY }
}

fn volume(mesh: &Mesh) -> f64 {
    let at = |v: u32| mesh.vertices()[v as usize].as_dvec3();
    let triangles = mesh.triangles().iter();
    triangles.map(|&[a, b, c]| at(a).dot(at(b).cross(at(c)))).sum::<f64>() / 6.0
}

fn area(mesh: &Mesh) -> f64 {
    let at = |v: u32| mesh.vertices()[v as usize].as_dvec3();
    let triangles = mesh.triangles().iter();
    triangles.map(|&[a, b, c]| (at(b) - at(a)).cross(at(c) - at(a)).length()).sum::<f64>() / 2.0
}

#[test]
fn stretched_meshes_round_once_and_stay_outside_out() {
    let random = &mut Random(6);
    let cube = solids::cuboid(DVec3::ONE).unwrap().into_solid().unwrap();
    let ball = solids::sphere(1.0, 0.1).unwrap();
    let can = solids::cylinder(1.0, 2.0, 0.001).unwrap();
    let [mut mirrored, mut plain] = [0; 2];
    for round in 0..300 {
        let columns = [0, 1, 2].map(|_| random.vector(2.0).as_dvec3());
        let placement = Placement {
            stretch: DMat3::from_cols_array_2d(&columns.map(Into::into)),
            ..stretched(1.0, 1.0, 1.0)
        };
        let turns = placement.stretch.determinant() < 0.0;
        if turns {
            mirrored += 1
        } else {
            plain += 1
        }
        for mesh in [&cube, &ball, &can] {
            let made = placement.stretch_mesh(mesh).unwrap();
            let expected =
                mesh.vertices().iter().map(|v| (placement.stretch * v.as_dvec3()).as_vec3());
            assert!(made.vertices().iter().copied().eq(expected), "seed 6, round {round}");
            assert_eq!(made.face_count(), mesh.face_count());
            assert_eq!(made.triangle_count(), mesh.triangle_count());
            assert_eq!(made.is_solid(), mesh.is_solid());
            let grown = placement.stretch.determinant().abs() * volume(mesh);
            assert!((volume(&made) - grown).abs() < 1e-4 * (1.0 + grown), "seed 6, round {round}");
        }
    }
    assert!(mirrored > 100 && plain > 100);
}

#[test]
fn mirrored_polygons_keep_their_corners_and_their_area() {
    let mirror = stretched(-1.0, 1.0, 1.0);
    let arrow = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 0.5), (0.0, 2.0)];
    let vertices: Vec<Vec3> = arrow.map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec();
    let faces: Vec<Vec<u32>> = vec![vec![3, 4, 0, 1, 2], vec![1], vec![0, 2], vec![4, 0, 1]];
    let mesh = Mesh::from_polygons(vertices, &faces).unwrap();
    let made = mirror.stretch_mesh(&mesh).unwrap();
    assert_eq!((made.face_count(), made.triangle_count()), (4, mesh.triangle_count()));
    assert_eq!(area(&made), area(&mesh));
    let twice = mirror.stretch_mesh(&made).unwrap();
    assert_eq!(twice.vertices(), mesh.vertices());
    assert_eq!(area(&twice), area(&mesh));
}

/// Stars, and polygons that cross or touch themselves: the outline comes back from the triangles.
#[test]
fn outlines_of_odd_polygons_come_back() {
    let random = &mut Random(8);
    let mirror = stretched(1.0, 1.0, -1.0);
    for round in 0..2000 {
        let count = 4 + random.below(30);
        let star = round % 2 == 0;
        let vertices: Vec<Vec3> = (0..count)
            .map(|i| {
                let angle = i as f64 / count as f64 * std::f64::consts::TAU;
                let radius = if star { random.unit() + 0.1 } else { random.below(3) as f64 };
                let angle = if star { angle } else { (random.below(4) as f64).round() };
                Vec3::new((radius * angle.cos()) as f32, (radius * angle.sin()) as f32, 0.0)
            })
            .collect();
        let face: Vec<u32> = match round % 3 {
            0 => (0..count as u32).rev().collect(),
            1 => (0..count as u32).collect(),
            _ => (0..count).map(|_| random.below(count) as u32).collect(),
        };
        let mesh = Mesh::from_polygons(vertices, [&face]).unwrap();
        let made = mirror.stretch_mesh(&mesh).unwrap();
        assert_eq!(made.triangle_count(), mesh.triangle_count(), "seed 8, round {round}");
        if star && round % 3 < 2 {
            let off = (area(&made) - area(&mesh)).abs();
            assert!(off < 1e-6 * area(&mesh), "seed 8, round {round}: {off}");
        }
    }
}

#[test]
fn what_cannot_be_stretched_says_why() {
    let cube = solids::cuboid(DVec3::ONE).unwrap();
    let huge = stretched(1e300, 1.0, 1.0).stretch_mesh(&cube);
    assert!(matches!(huge, Err(MeshError::NotFinite { .. })), "{huge:?}");
    let huge = stretched(-1e300, 1.0, 1.0).stretch_mesh(&cube);
    assert!(matches!(huge, Err(MeshError::NotFinite { .. })), "{huge:?}");
    // A model sorts triangles and vertices: what is stretched goes back to the caller's vertices.
    let can = solids::cylinder(1.0, 2.0, 0.001).unwrap();
    let sorted = Model::build(can.clone(), Quality::Fast).mesh().clone();
    let made = stretched(2.0, 1.0, 1.0).stretch_mesh(&sorted).unwrap();
    assert!((volume(&made) / volume(&can) - 2.0).abs() < 1e-6);
    let mirrored = stretched(-2.0, 1.0, 1.0).stretch_mesh(&sorted).unwrap();
    assert!((volume(&mirrored) / volume(&can) - 2.0).abs() < 1e-6);
}
