//! Geometry nodes against what they are in the standard, and against slow twins of its text.

mod extrusion;
mod faces;
mod grid;
mod round;

use glam::{DVec3, Vec3};
use jostle_dice::Random;
use jostle_geom::Mesh;
use jostle_scene::geometry::{Geometry, GeometryError, Tolerance, surface};
use jostle_scene::nodes::{
    Cuboid, IndexedLineSet, Instance, Kind, PointSet, Shape, Sphere, Text, Unknown,
};
use jostle_scene::{Place, Scene};
use std::sync::Arc;

/// What a node on its own is.
fn geometry_of(kind: impl Into<Kind>, tolerance: Tolerance) -> Result<Geometry, GeometryError> {
    let mut scene = Scene::default();
    let node = scene.add(kind);
    surface(&scene, node, tolerance)
}

fn mesh_of(kind: impl Into<Kind>) -> Mesh {
    surface_of(geometry_of(kind, Tolerance::default()).unwrap())
}

fn surface_of(geometry: Geometry) -> Mesh {
    match geometry {
        Geometry::Surface(mesh) => mesh.as_ref().clone(),
        other => panic!("no surface, but {other:?}"),
    }
}

/// The message of the error that a node must give.
fn error_of(kind: impl Into<Kind>) -> String {
    geometry_of(kind, Tolerance::default()).unwrap_err().to_string()
}

fn corners(mesh: &Mesh) -> impl Iterator<Item = [DVec3; 3]> {
    mesh.triangles().iter().map(|t| t.map(|v| mesh.vertices()[v as usize].as_dvec3()))
}

/// Positive if the faces of a closed mesh turn outward.
fn volume(mesh: &Mesh) -> f64 {
    corners(mesh).map(|[a, b, c]| a.dot(b.cross(c))).sum::<f64>() / 6.0
}

fn area(mesh: &Mesh) -> f64 {
    corners(mesh).map(|[a, b, c]| (b - a).cross(c - a).length() / 2.0).sum()
}

fn bounds(mesh: &Mesh) -> (Vec3, Vec3) {
    let vertices = || mesh.vertices().iter().copied();
    (vertices().reduce(Vec3::min).unwrap(), vertices().reduce(Vec3::max).unwrap())
}

fn is_closed(mesh: &Mesh) -> bool {
    mesh.clone().into_solid().is_ok()
}

#[test]
fn a_box_has_its_size_and_is_closed() {
    let mesh = mesh_of(Cuboid { size: Vec3::new(1.0, 2.0, 3.0) });
    assert_eq!((mesh.face_count(), mesh.triangle_count()), (6, 12));
    assert_eq!(bounds(&mesh), (Vec3::new(-0.5, -1.0, -1.5), Vec3::new(0.5, 1.0, 1.5)));
    assert_eq!(volume(&mesh), 6.0);
    assert!(is_closed(&mesh) && !mesh.is_solid());
    for size in [Vec3::new(-1.0, 1.0, 1.0), Vec3::new(1.0, 1.0, f32::NAN)] {
        assert!(error_of(Cuboid { size }).contains("expected a number from 1e-30 to 1e30"));
    }
}

#[test]
fn a_floor_of_no_thickness_is_a_rectangle() {
    let mesh = mesh_of(Cuboid { size: Vec3::new(4.0, 0.0, 2.0) });
    assert_eq!((mesh.face_count(), mesh.triangle_count()), (6, 12));
    assert_eq!(bounds(&mesh), (Vec3::new(-2.0, 0.0, -1.0), Vec3::new(2.0, 0.0, 1.0)));
}

#[test]
fn what_has_no_surface_says_what_it_is() {
    let known = |kind: Kind| geometry_of(kind, Tolerance::default());
    assert_eq!(known(IndexedLineSet::default().into()), Ok(Geometry::Lines));
    assert_eq!(known(PointSet::default().into()), Ok(Geometry::Points));
    assert_eq!(known(Text::default().into()), Ok(Geometry::Letters));
    let unknown = Unknown { kind: Arc::from("NurbsSurface") };
    assert_eq!(known(Kind::Unknown(unknown)), Ok(Geometry::Nothing));
    let empty = Arc::new(Mesh::from_triangles(Vec::new(), Vec::new()).unwrap());
    assert_eq!(known(Kind::Mesh(empty)), Ok(Geometry::Nothing));
}

#[test]
fn a_mesh_is_shared_and_a_prototype_is_looked_through() {
    let mut scene = Scene::default();
    let mesh = Arc::new(mesh_of(Cuboid::default()));
    let node = scene.add(Kind::Mesh(mesh.clone()));
    let use_of = |root| Instance { prototype: Arc::from("P"), root, others: Vec::new() };
    let instance = scene.add(Kind::Instance(Box::new(use_of(Some(node)))));
    match surface(&scene, instance, Tolerance::default()) {
        Ok(Geometry::Surface(found)) => assert!(Arc::ptr_eq(&found, &mesh)),
        other => panic!("{other:?}"),
    }
    let empty = scene.add(Kind::Instance(Box::new(use_of(None))));
    assert_eq!(surface(&scene, empty, Tolerance::default()), Ok(Geometry::Nothing));
}

#[test]
fn errors_say_where_and_what() {
    let error = geometry_of(Shape::default(), Tolerance::default()).unwrap_err();
    assert_eq!((error.place, error.kind.as_str()), (Place::Byte(0), "Shape"));
    let text = error_of(Sphere { radius: -2.0 });
    let expected =
        "byte 0: Sphere: the radius is -2; expected a number from 1e-30 to 1e30".to_string();
    assert_eq!(text, expected);
}
