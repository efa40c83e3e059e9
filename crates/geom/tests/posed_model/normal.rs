//! Normals of faces: against cross products.

use super::{Dice, cases};
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{Mesh, Model, Pose, PosedModel, Quality};

#[test]
fn normals_are_those_of_the_triangle_next_to_the_point() {
    let (mut dice, mut seen) = (Dice(51), [0; 2]);
    for case in cases(&mut dice) {
        let (placed, mesh) = (case.placed(), case.model.mesh());
        for _ in 0..10 {
            let triangle = dice.below(case.triangles() as u64) as usize;
            let [p, q, r] = placed.triangle(triangle);
            let about = format!("seed 51 {} triangle {triangle}", case.name);
            let found = placed.face_normal(mesh.face_of(triangle as u32), (p + q + r) / 3.0);
            let [p, q, r] = mesh.triangles()[triangle].map(|v| mesh.vertices()[v as usize]);
            let cross = (q - p).as_dvec3().cross((r - p).as_dvec3());
            let cross = cross / cross.abs().max_element();
            let has_area = mesh.face_count() == mesh.triangle_count() && cross.is_finite();
            if let Some(found) = found {
                assert!((found.length() - 1.0).abs() < 1e-15, "{about}");
                if has_area {
                    let expected = case.pose.rotation() * cross.normalize();
                    assert!(found.distance(expected) < 1e-6, "{about} {found} {expected}");
                }
            } else {
                assert!(!has_area, "{about}");
            }
            seen[usize::from(found.is_some())] += 1;
        }
    }
    assert!(seen.iter().all(|&n| n > 5), "lopsided: {seen:?}");
}

#[test]
fn the_nearest_triangle_of_a_bent_face_decides() {
    // A quad folded along its diagonal, and a face with a part that has no area.
    let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 1.0), Vec3::Y];
    let mesh = Mesh::from_polygons(vertices, [&[0u32, 1, 2, 3][..], &[1], &[0, 1, 1]]).unwrap();
    let model = Model::build(mesh, Quality::Default);
    let pose = Pose::new(DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0), DVec3::X * 1e9).unwrap();
    let placed = PosedModel::new(&model, &pose);
    let normals: Vec<DVec3> = [Vec3::new(0.9, 0.1, 0.2), Vec3::new(0.1, 0.9, 0.2)]
        .map(|p| placed.face_normal(0, pose.transform_point(p)).unwrap())
        .to_vec();
    assert!(normals[0].distance(normals[1]) > 0.5, "{normals:?}");
    assert!(normals.iter().all(|n| n.z > 0.5), "{normals:?}");
    assert_eq!(placed.face_normal(1, DVec3::ZERO), None);
    assert_eq!(placed.face_normal(2, DVec3::ZERO), None);
    assert_eq!(placed.face_normal(3, DVec3::ZERO), None);
    assert_eq!(placed.face_normal(0, DVec3::NAN), None);
}
