//! A surface against itself: against all pairs of triangles.

use super::{Case, Dice, cases, torus};
use glam::{DVec3, Vec3};
use jostle_geom::triangle::triangles_touch;
use jostle_geom::{FacePair, Mesh, Pose, Quality};
use std::collections::BTreeSet;

fn slow_own(case: &Case) -> Vec<FacePair> {
    let (placed, mesh) = (case.placed(), case.model.mesh());
    let mut corners: Vec<Vec<Vec3>> = vec![Vec::new(); mesh.face_count()];
    for (i, triangle) in mesh.triangles().iter().enumerate() {
        let face = mesh.face_of(i as u32) as usize;
        corners[face].extend(triangle.map(|v| mesh.vertices()[v as usize]));
    }
    let mut found = BTreeSet::new();
    for i in 0..case.triangles() {
        for j in 0..case.triangles() {
            let (a, b) = (mesh.face_of(i as u32), mesh.face_of(j as u32));
            if a < b && triangles_touch(&placed.triangle(i), &placed.triangle(j)) {
                let neighbours =
                    corners[a as usize].iter().any(|p| corners[b as usize].contains(p));
                if !neighbours {
                    found.insert(FacePair { a, b });
                }
            }
        }
    }
    found.into_iter().collect()
}

#[test]
fn self_intersections_equal_all_pairs() {
    let mut seen = [0, 0];
    for case in cases(&mut Dice(41)) {
        let slow = slow_own(&case);
        assert_eq!(case.placed().self_intersections(), slow, "seed 41 {}", case.name);
        seen[usize::from(!slow.is_empty())] += 1;
    }
    assert!(seen[0] > 5 && seen[1] > 5, "both answers occur: {seen:?}");
}

#[test]
fn two_tori_in_one_mesh_cross_and_apart_they_do_not() {
    let one = torus([20, 10]);
    for (shift, crosses) in [(1.0, true), (10.0, false)] {
        let mut vertices = one.vertices().to_vec();
        let count = vertices.len() as u32;
        vertices.extend(one.vertices().iter().map(|&v| v + Vec3::new(shift, 0.1, 0.05)));
        let mut triangles = one.triangles().to_vec();
        triangles.extend(one.triangles().iter().map(|t| t.map(|v| v + count)));
        let mesh = Mesh::from_triangles(vertices, triangles).unwrap();
        let pose = Pose::from_translation(DVec3::new(3.0, 2.0, 1.0)).unwrap();
        let case = Case::new("two tori", mesh, pose, Quality::Default);
        let found = case.placed().self_intersections();
        assert_eq!(found, slow_own(&case));
        assert_eq!(!found.is_empty(), crosses);
    }
}

/// Quads: their far triangles have no common corner, the faces have.
#[test]
fn faces_of_several_triangles_are_neighbours_as_a_whole() {
    let mut dice = Dice(2);
    let mut seen = [0, 0];
    for _ in 0..60 {
        let corners = (0..40).map(|_| dice.grid().as_vec3()).collect();
        let faces: Vec<Vec<u32>> =
            (0..2).map(|_| (0..5).map(|_| dice.below(40) as u32).collect()).collect();
        let mesh = Mesh::from_polygons(corners, faces).unwrap();
        let case = Case::new("polygons", mesh, Pose::IDENTITY, Quality::Default);
        let slow = slow_own(&case);
        assert_eq!(case.placed().self_intersections(), slow);
        seen[usize::from(!slow.is_empty())] += 1;
    }
    assert!(seen[0] > 2 && seen[1] > 2, "both answers occur: {seen:?}");
}
