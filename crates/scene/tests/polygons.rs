//! What OBJ, STL and PLY files become in a scene.

mod samples;

use glam::Vec3;
use jostle_geom::Mesh;
use jostle_scene::nodes::{Kind, Transform};
use jostle_scene::{Frame, Opened, Place, Reading, Rotation, Scene, Up, Warning, load, read};
use std::sync::Arc;

fn open(name: &str, bytes: &[u8]) -> Opened {
    read(name, bytes, &mut Reading::default()).unwrap()
}

fn transforms(scene: &Scene) -> Vec<(&str, &Transform)> {
    let nodes = scene.roots().iter().map(|&id| scene.node(id));
    nodes
        .map(|node| match &node.kind {
            Kind::Transform(transform) => (node.name.as_deref().unwrap_or("-"), &**transform),
            other => panic!("{}", other.name()),
        })
        .collect()
}

fn mesh_of(scene: &Scene, transform: &Transform) -> Arc<Mesh> {
    assert_eq!(transform.children.len(), 1);
    let Kind::Shape(shape) = &scene.node(transform.children[0]).kind else { panic!("no Shape") };
    let Kind::Mesh(mesh) = &scene.node(shape.geometry.unwrap()).kind else { panic!("no mesh") };
    Arc::clone(mesh)
}

/// Name, first coordinates of the vertices, and corners of each part.
fn parts(scene: &Scene) -> Vec<(String, Vec<f32>, Vec<[u32; 3]>)> {
    (transforms(scene).into_iter())
        .map(|(name, transform)| {
            let mesh = mesh_of(scene, transform);
            let first = mesh.vertices().iter().map(|vertex| vertex.x).collect();
            (name.to_string(), first, mesh.triangles().to_vec())
        })
        .collect()
}

fn part(name: &str, first: &[f32], corners: &[[u32; 3]]) -> (String, Vec<f32>, Vec<[u32; 3]>) {
    (name.to_string(), first.to_vec(), corners.to_vec())
}

const VERTICES: &str = "v 0 0 0\nv 1 0 0\nv 2 1 0\nv 3 1 1\nv 4 0 5\n";

#[test]
fn obj_objects_become_parts() {
    let text = format!(
        "{VERTICES}f 1 2 3\no wheel left\ng ignored\nf 5 4 3\no body\nusemtl red\nf 1 2 5\n\
         usemtl blue\nf 5 2 1\no empty\no\nf 2 1 5\n"
    );
    let scene = open("dir.d/car.v2.OBJ", text.as_bytes()).scene;
    let expected = [
        part("car.v2", &[0.0, 1.0, 2.0], &[[0, 1, 2]]),
        part("wheel left", &[2.0, 3.0, 4.0], &[[2, 1, 0]]),
        part("body", &[0.0, 1.0, 4.0], &[[0, 1, 2], [2, 1, 0]]),
        part("car.v2 (2)", &[0.0, 1.0, 4.0], &[[1, 0, 2]]),
    ];
    assert_eq!(parts(&scene), expected);
    assert_eq!(scene.node(scene.find("body").unwrap()).place, Place::Line(10));
}

fn names(opened: &Opened) -> Vec<String> {
    transforms(&opened.scene).iter().map(|(name, _)| (*name).to_string()).collect()
}

fn warnings(opened: &Opened) -> Vec<String> {
    opened.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn two_objects_called_bolt_stay_two_parts_with_numbered_names_and_one_warning() {
    // Also if they share vertices, and if something else stands between them.
    let text = format!(
        "{VERTICES}o Bolt\nf 1 2 3\no Bolt\nf 1 2 4\no Nut\nf 1 2 5\no Bolt\nf 3 4 5\n\
         o Bolt (2)\nf 2 3 4\n"
    );
    let opened = open("x.obj", text.as_bytes());
    assert_eq!(names(&opened), ["Bolt", "Bolt (3)", "Nut", "Bolt (4)", "Bolt (2)"]);
    assert_eq!(
        warnings(&opened),
        ["parts of the same name, as \"Bolt\", are numbered: 2, the first at line 8"]
    );
    let expected = part("Bolt (3)", &[0.0, 1.0, 3.0], &[[0, 1, 2]]);
    assert_eq!(parts(&opened.scene)[1], expected);
}

#[test]
fn a_group_opened_again_continues_its_part_only_if_they_share_a_vertex() {
    let text = format!("{VERTICES}g a b\nf 1 2 3\ng c\nf 3 4 5\ng a b\nf 1 2 5\n");
    let expected = [
        part("a b", &[0.0, 1.0, 2.0, 4.0], &[[0, 1, 2], [0, 1, 3]]),
        part("c", &[2.0, 3.0, 4.0], &[[0, 1, 2]]),
    ];
    let opened = open("x.obj", text.as_bytes());
    assert_eq!(parts(&opened.scene), expected);
    assert!(opened.warnings.is_empty());
    // Two bolts in groups of the same name: parts of their own.
    let vertices = VERTICES.repeat(2);
    let text = format!("{vertices}g a\nf 1 2 3\ng c\nf 3 4 5\ng a\nf 6 7 8\n");
    let opened = open("x.obj", text.as_bytes());
    assert_eq!(names(&opened), ["a", "c", "a (2)"]);
    assert_eq!(opened.warnings.len(), 1);
    // The third stretch connects the first two.
    let text =
        format!("{vertices}g a\nf 1 2 3\ng c\nf 4 4 4\ng a\nf 6 7 8\ng c\nf 9\ng a\nf 1 8\n");
    let opened = open("x.obj", text.as_bytes());
    assert_eq!(names(&opened), ["a", "c", "c (2)"]);
    let faces: Vec<usize> = (transforms(&opened.scene).iter())
        .map(|(_, transform)| mesh_of(&opened.scene, transform).face_count())
        .collect();
    assert_eq!(faces, [3, 1, 1]);
}

#[test]
fn groups_inside_the_only_object_are_one_part_and_the_warning_says_so() {
    let text = format!("{VERTICES}o all\ng a\nf 1 2 3\ng b\nf 3 4 5\n");
    let opened = open("x.obj", text.as_bytes());
    assert_eq!(names(&opened), ["all"]);
    assert_eq!(opened.warnings.len(), 1, "{:?}", opened.warnings);
    // With several objects the file is taken at its word, and one group says nothing new.
    for text in ["o a\ng a\nf 1 2 3\ng b\nf 1 2 4\no c\nf 3 4 5\n", "o all\ng a\nf 1 2 3\n"] {
        let text = format!("{VERTICES}{text}");
        assert!(open("x.obj", text.as_bytes()).warnings.is_empty(), "{text}");
    }
}

#[test]
fn a_file_without_parts_is_one_part_named_after_it() {
    let text = format!("{VERTICES}f 3 4 5\n");
    for (name, expected) in
        [("a/b\\c.obj", "c"), (".obj", ".obj"), ("x.y.obj", "x.y"), ("/tmp/.obj", ".obj")]
    {
        let scene = open(name, text.as_bytes()).scene;
        // All vertices stay, in their old order, as with `load`.
        let all = part(expected, &[0.0, 1.0, 2.0, 3.0, 4.0], &[[2, 3, 4]]);
        assert_eq!(parts(&scene), [all], "{name}");
    }
    for (name, format, bytes) in samples::all() {
        let ending = format!("sample.{format:?}").to_lowercase();
        let scene = open(&ending, &bytes).scene;
        let triangles: usize = parts(&scene).iter().map(|(_, _, triangles)| triangles.len()).sum();
        let mesh = load(&bytes, format).unwrap().into_mesh().unwrap();
        assert_eq!(triangles, mesh.triangle_count(), "{name}");
    }
}

#[test]
fn stl_solids_become_parts() {
    let facet = |x: f32| {
        format!(
            "facet normal 0 0 1 outer loop\nvertex {x} 0 0\nvertex {x} 1 0\nvertex 9 9 9\n\
             endloop endfacet\n"
        )
    };
    let text = format!(
        "solid first part\n{}endsolid\nsolid none\nendsolid\nsolid\n{}endsolid\n\
         solid first part\n{}endsolid first part\n",
        facet(1.0),
        facet(2.0),
        facet(3.0)
    );
    let expected = [
        part("first part", &[1.0, 1.0, 9.0], &[[0, 1, 2]]),
        part("file", &[2.0, 2.0, 9.0], &[[0, 2, 1]]),
        part("first part (2)", &[3.0, 3.0, 9.0], &[[0, 1, 2]]),
    ];
    let opened = open("file.stl", text.as_bytes());
    assert_eq!(opened.warnings.len(), 1);
    let mut found = parts(&opened.scene);
    // Vertex 9 9 9 is welded to the first one of the file, so it comes first in later parts.
    assert_eq!(found.len(), expected.len());
    assert_eq!(found.remove(0), expected[0]);
    for (found, expected) in found.iter().zip(&expected[1..]) {
        assert_eq!(found.0, expected.0);
        assert_eq!(found.1, [9.0, expected.1[0], expected.1[0]]);
        assert_eq!(found.2, [[1, 2, 0]]);
    }
    let binary = open("tetra.stl", &samples::stl_binary()).scene;
    assert_eq!(transforms(&binary)[0].0, "tetra");
}

#[test]
fn polygons_stay_faces() {
    let text = format!("{VERTICES}o a\nf 1 2 3 4\nf 1\nf 2 3\no b\nf 1 2 3 4 5\n");
    let scene = open("x.obj", text.as_bytes()).scene;
    let counts: Vec<_> = (transforms(&scene).iter())
        .map(|(_, transform)| mesh_of(&scene, transform).face_count())
        .collect();
    assert_eq!(counts, [3, 1]);
}

#[test]
fn a_file_without_faces_has_no_shape() {
    let opened = open("points.obj", VERTICES.as_bytes());
    let [(name, transform)] = transforms(&opened.scene)[..] else { panic!("one part") };
    assert_eq!((name, transform.children.len()), ("points", 0));
    assert_eq!(warnings(&opened), ["the file has no faces, only 5 points: nothing can touch it"]);
    assert_eq!(warnings(&open("empty.obj", b"")), ["the file is empty"]);
}

#[test]
fn warnings_and_errors_of_the_readers_come_through() {
    let opened = open("x.obj", samples::OBJ);
    let first = Place::Line(20);
    let what = "points and lines".to_string();
    assert_eq!(opened.warnings, [Warning::Ignored { what, count: 2, first }]);
    let error = read("x.obj", b"v 0 0 0\nf 1 2\n", &mut Reading::default()).unwrap_err();
    assert_eq!(error.to_string(), "line 2: a face names vertex 2, but there are 1 vertices");
}

#[test]
fn a_frame_becomes_a_transform_above() {
    let text = format!("{VERTICES}f 1 2 3\n");
    let framed = |unit, up| {
        let mut reading = Reading { frame: Frame { unit, up }, ..Reading::default() };
        read("part.obj", text.as_bytes(), &mut reading)
    };
    let scene = framed(0.001, Up::Z).unwrap().scene;
    let [(name, frame)] = transforms(&scene)[..] else { panic!("one root") };
    assert_eq!((name, frame.scale), ("-", Vec3::splat(0.001)));
    // y of the file goes to -z, z to y.
    let turned = frame.rotation.quaternion() * glam::DVec3::new(1.0, 2.0, 3.0);
    assert!((turned - glam::DVec3::new(1.0, 3.0, -2.0)).length() < 1e-6);
    assert_eq!(scene.node(frame.children[0]).name.as_deref(), Some("part"));
    let scene = framed(0.0254, Up::Y).unwrap().scene;
    assert_eq!(transforms(&scene)[0].1.rotation, Rotation::NONE);
    for unit in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(framed(unit, Up::Y).is_err(), "{unit}");
    }
    assert_eq!(transforms(&framed(1.0, Up::Y).unwrap().scene)[0].0, "part");
}
