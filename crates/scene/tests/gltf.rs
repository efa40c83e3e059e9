//! What glTF files become in a scene; and each kind of damage, named with its place.

mod gltf_files;

use glam::{DVec3, Vec3};
use gltf_files::{
    F32, File, TETRAHEDRON, TETRAHEDRON_CORNERS, U8, U32, car, glb, matrix, named, transform,
    world_triangles,
};
use jostle_scene::nodes::{Kind, Shape};
use jostle_scene::{Fetched, LoadError, NodeId, Place, Reading, Scene, Warning, read};
use serde_json::json;

fn shape(scene: &Scene, id: NodeId) -> &Shape {
    match &scene.node(id).kind {
        Kind::Shape(shape) => shape,
        other => panic!("{} is no Shape", other.name()),
    }
}

fn names(scene: &Scene, ids: &[NodeId]) -> Vec<Option<String>> {
    ids.iter().map(|&id| scene.node(id).name.as_deref().map(str::to_string)).collect()
}

fn some(names: &[&str]) -> Vec<Option<String>> {
    names.iter().map(|name| Some((*name).to_string())).collect()
}

#[test]
fn nodes_become_transforms_and_meshes_are_shared() {
    let opened = car().open();
    let scene = &opened.scene;
    let places: Vec<_> =
        scene.roots().iter().filter(|&&id| !scene.children(id).is_empty()).collect();
    assert_eq!(places.len(), 2);
    let car = named(scene, "car");
    assert_eq!(car.translation, Vec3::new(1.0, 2.0, 3.0));
    assert_eq!(names(scene, &car.children), some(&["front", "back", "body"]));
    let (front, back) = (named(scene, "car/front"), named(scene, "car/back"));
    let wheel = shape(scene, front.children[0]).geometry;
    assert_eq!(wheel, shape(scene, back.children[0]).geometry);
    assert_eq!(names(scene, &front.children), some(&["wheel"]));
    assert_eq!(back.scale, Vec3::new(1.0, 2.0, 3.0));
    let grid = named(scene, "grid");
    let instances: Vec<_> = grid.children.iter().map(|&id| transform(scene, id)).collect();
    assert_eq!(instances.len(), 2);
    assert_eq!(instances[1].translation, Vec3::new(5.0, 0.0, 0.0));
    assert!((instances[1].rotation.angle - std::f32::consts::PI).abs() < 1e-6);
    assert_eq!(instances[1].rotation.axis, Vec3::Y);
    assert!(instances.iter().all(|i| shape(scene, i.children[0]).geometry == wheel));
    // A strip of four is two triangles, a fan of four as well; the lines are left out.
    let body = named(scene, "body");
    assert_eq!(names(scene, &body.children), some(&["body", "body (2)"]));
    assert_eq!(world_triangles(scene).len(), 4 + 4 + 2 + 2 + 4 + 4);
    let first = Place::Byte(20);
    let what = "points and lines (first: meshes[1].primitives[2])".to_string();
    assert_eq!(opened.warnings, [Warning::Ignored { what, count: 1, first }]);
}

#[test]
fn text_and_binary_and_unknown_names_give_the_same_scene() {
    let mut file = car();
    file.json["extras"] = json!({"deep": [[[[{"x": null}]]]]});
    let binary = read("a.glb", &file.glb(), &mut Reading::default()).unwrap();
    let mut text = b"\xef\xbb\xbf \n".to_vec();
    text.extend(file.gltf());
    for name in ["a.gltf", "a.GLB", "a.json", "a"] {
        let opened = read(name, &text, &mut Reading::default()).unwrap();
        assert_eq!(world_triangles(&opened.scene), world_triangles(&binary.scene), "{name}");
        assert_eq!(opened.scene.routes(), binary.scene.routes(), "{name}");
    }
}

#[test]
fn cameras_become_viewpoints() {
    let mut file = car();
    let scene = file.read();
    let back = named(&scene, "back");
    let Kind::Viewpoint(view) = &scene.node(back.children[1]).kind else { panic!("no Viewpoint") };
    assert_eq!(view.position, Vec3::ZERO);
    assert_eq!((view.orientation.angle, &*view.description), (0.0, "eye"));
    assert!((view.field_of_view - 0.7).abs() < 1e-6);
    // The angle of the width, which is the smaller one.
    file.json["cameras"][0]["perspective"]["aspectRatio"] = json!(0.5);
    let scene = file.read();
    let back = named(&scene, "back");
    let Kind::Viewpoint(view) = &scene.node(back.children[1]).kind else { panic!("no Viewpoint") };
    assert!((view.field_of_view - 2.0 * (0.35f32.tan() / 2.0).atan()).abs() < 1e-6);
}

#[test]
fn the_scene_that_is_shown() {
    let mut file = File::new();
    for name in ["a", "b", "c"] {
        file.push("nodes", json!({"name": name}));
    }
    assert_eq!(names(&file.read(), file.read().roots()), some(&["a", "b", "c"]));
    file.json["scenes"] = json!([{"nodes": [1]}, {"nodes": [2, 0]}, {}]);
    assert_eq!(names(&file.read(), file.read().roots()), some(&["b"]));
    file.json["scene"] = json!(1);
    assert_eq!(names(&file.read(), file.read().roots()), some(&["c", "a"]));
    file.json["scene"] = json!(2.0);
    assert!(file.read().roots().is_empty());
    file.json["scene"] = json!(3);
    assert_eq!(file.error(), "byte 20: scene: scenes[3] is not there; there are 3");
}

#[test]
fn hierarchies_are_trees() {
    let mut file = File::new();
    file.json["nodes"] = json!([{"children": [1, 2]}, {"children": [2]}, {}]);
    let twice = "byte 20: nodes[1].children[0]: nodes[2] is already a child of nodes[0]";
    assert_eq!(file.error(), twice);
    file.json["nodes"] = json!([{}, {"children": [2]}, {"children": [3]}, {"children": [1]}]);
    assert_eq!(file.error(), "byte 20: nodes[1]: hangs on a ring of nodes");
    file.json["nodes"] = json!([{"children": [0]}]);
    assert_eq!(file.error(), "byte 20: nodes[0]: hangs on a ring of nodes");
    file.json["nodes"] = json!([{"children": [7]}]);
    let expected = "byte 20: nodes[0].children[0]: nodes[7] is not there; there are 1";
    assert_eq!(file.error(), expected);
    file.json["nodes"] = json!([{"children": [1]}, {}]);
    file.json["scenes"] = json!([{"nodes": [1]}]);
    let below = "byte 20: scenes[0].nodes[0]: nodes[1] is no root: it is a child of nodes[0]";
    assert_eq!(file.error(), below);
    file.json["scenes"] = json!([{"nodes": [0, 0]}]);
    assert_eq!(file.error(), "byte 20: scenes[0].nodes[1]: nodes[0] stands here twice");
}

#[test]
fn deep_hierarchies_do_not_overflow_the_stack() {
    const DEPTH: usize = 100_000;
    let mut file = File::new();
    let nodes: Vec<_> =
        (0..DEPTH).map(|i| json!({"children": [i + 1]})).chain([json!({"name": "end"})]).collect();
    file.json["nodes"] = json!(nodes);
    assert!(file.read().find("end").is_some());
    let brackets = format!("{{\"asset\":{}", "[".repeat(DEPTH));
    let error = read("a.gltf", brackets.as_bytes(), &mut Reading::default()).unwrap_err();
    assert!(error.to_string().contains("line 1, column "), "{error}");
    let ignored = format!("{{\"extras\":{}", "[".repeat(DEPTH));
    assert!(read("a.gltf", ignored.as_bytes(), &mut Reading::default()).is_err());
}

#[test]
fn strips_and_fans_turn_as_the_standard_says_and_jump_without_a_trace() {
    let mut file = File::new();
    let square: Vec<f32> = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [9.0, 9.0], [9.0, 8.0]]
        .iter()
        .flat_map(|[x, y]| [*x, *y, 0.0])
        .collect();
    let position = file.floats("VEC3", &square);
    let turns = |file: &File| -> Vec<f64> {
        let area = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).z;
        world_triangles(&file.read()).into_iter().map(area).collect()
    };
    // Corner 3 twice and 4 twice: from one piece to the next.
    let strip = file.indices(&[0, 1, 2, 3, 3, 4, 4, 5, 0]);
    let primitive = json!({"attributes": {"POSITION": position}, "indices": strip, "mode": 5});
    file.push("meshes", json!({"primitives": [primitive]}));
    file.push("nodes", json!({"mesh": 0}));
    assert_eq!(turns(&file)[..2], [1.0, 1.0]);
    assert_eq!(turns(&file).len(), 3);
    let fan = file.indices(&[0, 1, 3, 2]);
    file.json["meshes"][0]["primitives"][0]["indices"] = json!(fan);
    file.json["meshes"][0]["primitives"][0]["mode"] = json!(6);
    assert_eq!(turns(&file), [1.0, 1.0]);
}

#[test]
fn meshes_hold_only_the_vertices_that_they_use_and_equal_ones_are_one() {
    let mut file = File::new();
    let first = file.mesh("a", &TETRAHEDRON, &[1, 2, 3]);
    let again = file.mesh("b", &TETRAHEDRON, &TETRAHEDRON_CORNERS);
    // Another accessor for the same bytes.
    let indices = file.json["meshes"][again]["primitives"][0]["indices"].as_u64().unwrap() as usize;
    let copy = file.push("accessors", file.json["accessors"][indices].clone());
    let mut primitive = file.json["meshes"][again]["primitives"][0].clone();
    primitive["indices"] = json!(copy);
    let third = file.push("meshes", json!({"primitives": [primitive]}));
    for mesh in [first, again, third] {
        file.push("nodes", json!({"mesh": mesh}));
    }
    let scene = file.read();
    let meshes: Vec<_> = (scene.nodes())
        .filter_map(|(_, node)| match &node.kind {
            Kind::Mesh(mesh) => Some(mesh.vertices().len()),
            _ => None,
        })
        .collect();
    assert_eq!(meshes, [3, 4]);
    assert_eq!(world_triangles(&scene).len(), 1 + 4 + 4);
}

#[test]
fn what_is_left_out_is_said() {
    let mut file = car();
    file.json["nodes"][1]["skin"] = json!(0);
    file.json["meshes"][0]["primitives"][0]["targets"] = json!([{}]);
    file.json["extensionsUsed"] = json!(["KHR_materials_unlit", "KHR_lights_punctual", "ACME_x"]);
    let mut primitives = file.json["meshes"][1]["primitives"].clone();
    primitives[0]["attributes"] = json!({"NORMAL": 0});
    primitives[1]["indices"] = json!(file.accessor(&[0, 1], U8, "SCALAR", 2));
    file.json["meshes"][1]["primitives"] = primitives;
    let odd: Vec<_> = file.open().warnings.iter().map(ToString::to_string).collect();
    let expected = [
        "the extension \"ACME_x\" ignored, at byte 0",
        "skins left out: meshes stand as bound (first: nodes[1].skin), at byte 20",
        "morph targets (first: meshes[0].primitives[0]) ignored, at byte 20",
        "primitives without positions (first: meshes[1].primitives[0]) ignored, at \
         byte 20",
        "primitives without triangles (first: meshes[1].primitives[1]) ignored, at \
         byte 20",
        "points and lines (first: meshes[1].primitives[2]) ignored, at byte 20",
    ];
    assert_eq!(odd, expected);
}

#[test]
fn extensions_and_versions_that_are_not_read_are_named() {
    let mut file = car();
    file.json["extensionsRequired"] = json!(["KHR_mesh_quantization", "KHR_texture_transform"]);
    file.read();
    file.json["extensionsRequired"] =
        json!(["KHR_mesh_quantization", "KHR_draco_mesh_compression", "EXT_meshopt_compression"]);
    let required = "the file requires glTF extensions that are not read here: \
                    \"KHR_draco_mesh_compression\", \"EXT_meshopt_compression\"";
    assert_eq!(file.error(), required);
    file.json["extensionsRequired"] = json!([]);
    let position =
        file.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": 9}));
    file.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(position);
    file.json["meshes"][0]["primitives"][0]["extensions"] =
        json!({"KHR_draco_mesh_compression": {}});
    assert!(file.error().contains("compressed with KHR_draco_mesh_compression"));
    let one = br#"{"asset": {"version": "1.0"}, "accessors": {}}"#;
    let error = read("a.gltf", one, &mut Reading::default()).unwrap_err();
    assert_eq!(error.to_string(), "glTF of version \"1.0\"; only 2.0 is read here");
    let mut old = car().glb();
    old[4] = 1;
    let error = read("a.glb", &old, &mut Reading::default()).unwrap_err();
    assert_eq!(error.to_string(), "a GLB file of version 1; only glTF 2.0 is read here");
}

#[test]
fn buffers_come_from_beside_the_file() {
    let mut file = car();
    let length = file.bin.len();
    file.json["buffers"] =
        json!([{"byteLength": length, "uri": "car%20data.bin"}, {"byteLength": 9, "uri": "x.png"}]);
    let text = file.json.to_string().into_bytes();
    let error = |reading: &mut Reading<'_>| read("d/car.gltf", &text, reading).unwrap_err();
    let needs =
        format!("byte 0: buffers[0]: needs the file \"car%20data.bin\" with {length} bytes");
    let nothing = error(&mut Reading::default()).to_string();
    assert_eq!(nothing, format!("{needs}, but nothing is fetched here"));
    let mut fails = |_: &str, _: &str| Err("it is not there".to_string());
    let failed = error(&mut Reading { fetch: Some(&mut fails), ..Reading::default() }).to_string();
    assert_eq!(failed, format!("{needs}, but it is not there"));
    let bin = file.bin.clone();
    let mut asked = Vec::new();
    let mut fetch = |uri: &str, from: &str| {
        asked.push((uri.to_string(), from.to_string()));
        Ok(Fetched { name: uri.to_string(), bytes: bin.clone() })
    };
    let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
    let opened = read("d/car.gltf", &text, &mut reading).unwrap();
    assert_eq!(world_triangles(&opened.scene), world_triangles(&car().read()));
    // The second buffer holds nothing that a scene is made of.
    assert_eq!(asked, [("car%20data.bin".to_string(), "d/car.gltf".to_string())]);
    let mut short = |uri: &str, _: &str| Ok(Fetched { name: uri.to_string(), bytes: vec![1; 9] });
    let short = error(&mut Reading { fetch: Some(&mut short), ..Reading::default() });
    assert!(matches!(short, LoadError::Truncated { left: 9, .. }), "{short}");
}

#[test]
fn damage_is_named_with_its_place() {
    let with = |change: &dyn Fn(&mut File)| {
        let mut file = car();
        change(&mut file);
        file.error()
    };
    let error = with(&|f| f.json["nodes"][1]["mesh"] = json!(9));
    assert_eq!(error, "byte 20: nodes[1].mesh: meshes[9] is not there; there are 2");
    let error = with(&|f| f.json["accessors"][0]["count"] = json!(1u64 << 40));
    assert!(
        error.starts_with("byte 20: accessors[0]: 1099511627776 elements needs 131941"),
        "{error}"
    );
    let error = with(&|f| f.json["accessors"][0]["count"] = json!(3));
    assert_eq!(error, "byte 20: meshes[0].primitives[0]: index 5 names vertex 3, but there are 3");
    let error = with(&|f| f.json["accessors"][0]["componentType"] = json!(U32));
    let wants = "meshes[0].primitives[0].attributes.POSITION wants VEC3";
    assert_eq!(error, format!("byte 20: accessors[0]: {wants}, but it has \"VEC3\" of 5125"));
    let error = with(&|f| f.json["accessors"][3]["sparse"]["count"] = json!(9));
    assert!(error.starts_with("byte 20: accessors[3]: 9 elements needs 54 bytes"), "{error}");
    let error = with(&|f| f.json["bufferViews"][0]["byteOffset"] = json!(u64::MAX));
    assert!(error.contains("bufferViews[0]: 48 bytes from 18446744073709551615 on"), "{error}");
    let error = with(&|f| f.json["bufferViews"][0]["byteStride"] = json!(4));
    assert_eq!(error, "byte 20: accessors[0]: a byteStride of 4 for elements of 12 bytes");
    let error = with(&|f| f.bin[..4].copy_from_slice(&f32::NAN.to_le_bytes()));
    assert!(error.contains("POSITION: vertex 0 is not finite"), "{error}");
    let error = with(&|f| f.json["nodes"][3]["matrix"][3] = json!(0.5));
    assert!(
        error.contains("nodes[3].matrix: expected finite numbers with the last row"),
        "{error}"
    );
    let error = with(&|f| f.json["nodes"][0]["translation"][0] = json!(1e39));
    assert_eq!(error, "byte 20: nodes[0]: its transformation is not finite");
    let error = with(&|f| f.json["meshes"][0]["primitives"][0]["mode"] = json!(7));
    assert_eq!(error, "byte 20: meshes[0].primitives[0]: mode 7; modes end at 6");
    let error = with(&|f| f.json["nodes"][0]["name"] = json!(3));
    assert!(error.contains("this is not as glTF 2.0 wants it: invalid type: integer `3`"));
    let error = with(&|f| f.json["buffers"] = json!([{"byteLength": 1u64 << 40}]));
    assert!(error.contains("buffers[0] in the BIN chunk needs 1099511627776 bytes"), "{error}");
    let text = b"{\"asset\": {\"version\": \"2.0\"},\n \"nodes\": [{},]}";
    let error = read("a.gltf", text, &mut Reading::default()).unwrap_err();
    assert!(
        error.to_string().starts_with("line 2, column 15: this is not JSON: trailing comma"),
        "{error}"
    );
}

#[test]
fn a_small_file_cannot_read_its_bytes_without_end() {
    let mut file = File::new();
    file.mesh("a", &TETRAHEDRON, &TETRAHEDRON_CORNERS);
    let zeros = json!({"componentType": U8, "type": "SCALAR", "count": 1_000_000_000});
    let zeros = file.push("accessors", zeros);
    file.json["meshes"][0]["primitives"][0]["indices"] = json!(zeros);
    file.push("nodes", json!({"mesh": 0}));
    assert!(file.error().contains("corners; a mesh may have 67108864 triangles"));
    file.json["accessors"][zeros]["count"] = json!(1_000_000);
    assert!(file.error().contains("meshes[0].primitives[0]: 1000000 more elements"));
    // Zeros that fit are zeros.
    file.json["accessors"][zeros]["count"] = json!(3);
    assert_eq!(world_triangles(&file.read()), [[DVec3::ZERO; 3]]);
}

#[test]
fn binary_files_end_where_they_say() {
    let mut longer = car().glb();
    longer.extend([1, 2, 3]);
    let opened = read("a.glb", &longer, &mut Reading::default()).unwrap();
    let place = Place::Byte(longer.len() - 3);
    assert_eq!(opened.warnings[0], Warning::Trailing { place, bytes: 3 });
    let good = car().glb();
    let error = |bytes: &[u8]| read("a", bytes, &mut Reading::default()).unwrap_err().to_string();
    let size = good.len();
    let short = format!("byte 8: the GLB file needs {size} bytes, but only {} are left", size - 1);
    assert_eq!(error(&good[..size - 1]), short);
    assert_eq!(
        error(b"glTF"),
        "byte 0: the header of a GLB file needs 12 bytes, but only 4 are left"
    );
    let mut other = good.clone();
    other[16] = b'X';
    assert_eq!(error(&other), "byte 16: expected a chunk of type JSON, found \"XSON\"");
    let empty = glb("{}", &[]);
    assert!(error(&empty).starts_with("byte 21: this is not as glTF 2.0 wants it: missing field"));
}

#[test]
fn progress_reaches_the_end() {
    let bytes = car().glb();
    let mut reported = Vec::new();
    let mut progress = |bytes| reported.push(bytes);
    let mut reading = Reading { progress: Some(&mut progress), ..Reading::default() };
    read("a.glb", &bytes, &mut reading).unwrap();
    assert!(reported.is_sorted());
    assert_eq!(reported.last(), Some(&bytes.len()));
}

#[test]
fn a_sheared_matrix_is_one_transform() {
    let scene = car().read();
    let body = named(&scene, "body");
    let expected = [[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 2.0], [7.0, 8.0, 9.0]];
    let found = matrix(body).to_cols_array_2d();
    for (found, expected) in found.iter().zip(expected) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }
}

/// The names of the nodes beside each other that the scene has as roots.
fn root_names(file: &File) -> Vec<Option<String>> {
    let scene = file.read();
    names(&scene, scene.roots())
}

#[test]
fn nodes_without_a_name_are_named_after_their_mesh_and_numbered() {
    let mut file = File::new();
    let bolt = file.mesh("Bolt", &TETRAHEDRON, &TETRAHEDRON_CORNERS);
    let plain = file.mesh("", &TETRAHEDRON, &TETRAHEDRON_CORNERS);
    let long = file.mesh(&"é".repeat(100), &TETRAHEDRON, &TETRAHEDRON_CORNERS);
    for node in [
        json!({"mesh": bolt}),
        json!({"mesh": bolt, "name": ""}),
        json!({"mesh": bolt, "name": "Bolt (2)"}),
        json!({"mesh": plain}),
        json!({"mesh": plain}),
        json!({"mesh": plain, "name": "Nut"}),
        json!({"mesh": plain, "name": "Nut"}),
        json!({"mesh": long}),
        json!({}),
    ] {
        file.push("nodes", node);
    }
    let long = format!("{}…", "é".repeat(60));
    let mut expected =
        some(&["Bolt", "Bolt (3)", "Bolt (2)", "mesh 1", "mesh 1 (2)", "Nut", "Nut (2)", &long]);
    expected.push(None);
    assert_eq!(root_names(&file), expected);
    assert!(file.open().warnings.is_empty());
}

#[test]
fn instances_of_one_mesh_and_children_of_one_node_are_numbered_beside_each_other_only() {
    let mut file = File::new();
    let bolt = file.mesh("Bolt", &TETRAHEDRON, &TETRAHEDRON_CORNERS);
    let places = file.floats("VEC3", &[0.0, 0.0, 0.0, 5.0, 0.0, 0.0]);
    let instancing = json!({"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": places}}});
    file.push("nodes", json!({"name": "row", "mesh": bolt, "extensions": instancing}));
    file.push("nodes", json!({"name": "left", "children": [3, 4]}));
    file.push("nodes", json!({"name": "right", "children": [5]}));
    for _ in 0..3 {
        file.push("nodes", json!({"name": "Wheel", "mesh": bolt}));
    }
    let scene = file.read();
    let below = |name| names(&scene, scene.children(scene.find(name).unwrap()));
    assert_eq!(below("row"), some(&["Bolt", "Bolt (2)"]));
    assert_eq!(below("left"), some(&["Wheel", "Wheel (2)"]));
    assert_eq!(below("right"), some(&["Wheel"]));
}
