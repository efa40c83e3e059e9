//! Face sets: indices, their ends, their errors.

use super::*;
use jostle_scene::nodes::{Coordinate, Group, IndexedFaceSet};

const CUBE: [i32; 30] = [
    0, 2, 3, 1, -1, 4, 5, 7, 6, -1, 0, 1, 5, 4, -1, 2, 6, 7, 3, -1, 0, 4, 6, 2, -1, 1, 3, 7, 5, -1,
];

fn cube_points() -> Vec<Vec3> {
    let bit = |c: u32, bit: u32| (c >> bit & 1) as f32;
    (0..8).map(|c| Vec3::new(bit(c, 0), bit(c, 1), bit(c, 2))).collect()
}

fn found(set: IndexedFaceSet, points: &[Vec3]) -> Result<Geometry, GeometryError> {
    let mut scene = Scene::default();
    let coord = scene.add(Coordinate { point: Arc::new(points.to_vec()) });
    let node = scene.add(IndexedFaceSet { coord: Some(coord), ..set });
    surface(&scene, node, Tolerance::default())
}

fn set(index: &[i32]) -> IndexedFaceSet {
    IndexedFaceSet { coord_index: Arc::new(index.to_vec()), ..IndexedFaceSet::default() }
}

#[test]
fn the_last_end_may_be_missing() {
    for index in [&CUBE[..], &CUBE[..29]] {
        let mesh = surface_of(found(set(index), &cube_points()).unwrap());
        assert_eq!((mesh.face_count(), mesh.triangle_count()), (6, 12));
        assert_eq!(volume(&mesh), 1.0);
        assert!(is_closed(&mesh) && !mesh.is_solid());
    }
}

#[test]
fn clockwise_faces_turn_over() {
    let turned = IndexedFaceSet { ccw: false, ..set(&CUBE) };
    let mesh = surface_of(found(turned, &cube_points()).unwrap());
    assert_eq!(volume(&mesh), -1.0);
    // A bent quadrilateral bends along the same diagonal either way.
    let bent = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.5), Vec3::Y];
    let areas = [true, false].map(|ccw| {
        let node = IndexedFaceSet { ccw, ..set(&[0, 1, 2, 3]) };
        area(&surface_of(found(node, &bent).unwrap()))
    });
    assert_eq!(areas[0], areas[1]);
}

#[test]
fn a_concave_face_has_its_area_whatever_the_hint_says() {
    let arrow = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 0.5), (0.0, 2.0)];
    let points: Vec<Vec3> = arrow.map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec();
    for convex in [true, false] {
        let node = IndexedFaceSet { convex, ..set(&[0, 1, 2, 3, 4, -1]) };
        let mesh = surface_of(found(node, &points).unwrap());
        assert_eq!((mesh.face_count(), mesh.triangle_count(), area(&mesh)), (1, 3, 2.5));
    }
}

#[test]
fn faces_without_area_stay_and_faces_without_corners_are_none() {
    let mesh = surface_of(found(set(&[-1, 0, -1, 1, 2, -1, -1, 0, 1, 2]), &cube_points()).unwrap());
    assert_eq!((mesh.face_count(), mesh.triangle_count()), (3, 3));
    for nothing in [&[][..], &[-1], &[-1, -1]] {
        assert_eq!(found(set(nothing), &cube_points()), Ok(Geometry::Nothing));
    }
}

#[test]
fn points_that_are_not_there_are_refused_with_their_face() {
    let text = |index: &[i32], count: usize| {
        let error = found(set(index), &cube_points()[..count]).unwrap_err();
        (error.what, error.expected)
    };
    let (what, expected) = text(&[0, 1, 2, -1, 0, 1, 8], 8);
    assert_eq!(what, "face 1 (counted from 0) names point 8");
    assert_eq!(expected, "0 to 7 for a point, or -1 for the end of a face");
    assert_eq!(text(&[0, -2, 1], 8).0, "face 0 (counted from 0) names point -2");
    assert_eq!(text(&[i32::MAX], 8).0, "face 0 (counted from 0) names point 2147483647");
    assert_eq!(text(&[i32::MIN], 8).0, "face 0 (counted from 0) names point -2147483648");
    assert_eq!(text(&[0], 0).1, "no faces, because there are no points");
    let far = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, f32::INFINITY, 0.0)];
    assert!(found(set(&[0, 1, 2]), &far).unwrap_err().what.contains("not finite"));
}

#[test]
fn a_few_faces_take_only_their_points() {
    let random = &mut Random(9);
    let points: Vec<Vec3> =
        (0..1000).map(|i| Vec3::new(i as f32, random.part() as f32, 0.0)).collect();
    for round in 0..50 {
        let index: Vec<i32> = (0..3 + round * 30)
            .map(|i| if i % 4 == 3 { -1 } else { random.below(1000) as i32 })
            .collect();
        let mesh = surface_of(found(set(&index), &points).unwrap());
        let used = index.iter().filter(|&&i| i >= 0);
        assert!(mesh.vertices().len() <= used.clone().count().max(1), "round {round}");
        let expected: Vec<Vec3> = used.map(|&i| points[i as usize]).collect();
        let corners = mesh.triangles().iter().flatten().map(|&v| mesh.vertices()[v as usize]);
        // Triangles keep their corners in order; what is left over at the end has fewer.
        let whole = expected.len() / 3 * 3;
        assert_eq!(corners.take(whole).collect::<Vec<_>>(), expected[..whole], "round {round}");
    }
}

#[test]
fn coordinates_may_be_missing_or_come_through_a_prototype() {
    let mut scene = Scene::default();
    let coord = scene.add(Coordinate { point: Arc::new(cube_points()) });
    let instance =
        Instance { prototype: Arc::from("Points"), root: Some(coord), others: Vec::new() };
    let instance = scene.add(Kind::Instance(Box::new(instance)));
    let node = scene.add(IndexedFaceSet { coord: Some(instance), ..set(&CUBE) });
    let mesh = surface_of(surface(&scene, node, Tolerance::default()).unwrap());
    assert_eq!(mesh.face_count(), 6);
    assert_eq!(geometry_of(set(&CUBE), Tolerance::default()), Ok(Geometry::Nothing));
    let group = scene.add(Group::default());
    let wrong = scene.add(IndexedFaceSet { coord: Some(group), ..set(&CUBE) });
    let error = surface(&scene, wrong, Tolerance::default()).unwrap_err();
    assert_eq!(
        (error.what.as_str(), error.expected.as_str()),
        ("coord is a Group", "a Coordinate")
    );
}
