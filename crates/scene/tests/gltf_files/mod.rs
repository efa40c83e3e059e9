//! Writes small glTF files, and reads them through the door.
#![allow(dead_code, reason = "each test file uses its own part")]

use base64::Engine;
use glam::{DMat4, DVec3, Vec3};
use jostle_scene::nodes::{Kind, Transform};
use jostle_scene::{NodeId, Opened, Reading, Rotation, Scene, read};
use serde_json::{Value, json};

pub(crate) const I8: u64 = 5120;
pub(crate) const U8: u64 = 5121;
pub(crate) const I16: u64 = 5122;
pub(crate) const U16: u64 = 5123;
pub(crate) const U32: u64 = 5125;
pub(crate) const F32: u64 = 5126;

/// A file under construction: all data in one buffer.
#[derive(Clone)]
pub(crate) struct File {
    pub(crate) json: Value,
    pub(crate) bin: Vec<u8>,
}

impl File {
    pub(crate) fn new() -> File {
        File { json: json!({"asset": {"version": "2.0"}}), bin: Vec::new() }
    }

    /// Appends to a list of the file and gives the index.
    pub(crate) fn push(&mut self, list: &str, item: Value) -> usize {
        let all = self.json.as_object_mut().unwrap();
        let list = all.entry(list).or_insert_with(|| json!([])).as_array_mut().unwrap();
        list.push(item);
        list.len() - 1
    }

    /// A buffer view of these bytes, aligned to four.
    pub(crate) fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let offset = self.bin.len();
        self.bin.extend(bytes);
        let view = json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()});
        self.push("bufferViews", view)
    }

    pub(crate) fn accessor(
        &mut self,
        bytes: &[u8],
        component: u64,
        shape: &str,
        count: usize,
    ) -> usize {
        let view = self.view(bytes);
        let accessor =
            json!({"bufferView": view, "componentType": component, "type": shape, "count": count});
        self.push("accessors", accessor)
    }

    pub(crate) fn floats(&mut self, shape: &str, values: &[f32]) -> usize {
        let parts = match shape {
            "SCALAR" => 1,
            "VEC3" => 3,
            _ => 4,
        };
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.accessor(&bytes, F32, shape, values.len() / parts)
    }

    pub(crate) fn indices(&mut self, values: &[u16]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.accessor(&bytes, U16, "SCALAR", values.len())
    }

    /// A mesh with one indexed primitive of triangles.
    pub(crate) fn mesh(&mut self, name: &str, positions: &[[f32; 3]], corners: &[u16]) -> usize {
        let position = self.floats("VEC3", &positions.concat());
        let indices = self.indices(corners);
        let primitive = json!({"attributes": {"POSITION": position}, "indices": indices});
        self.push("meshes", json!({"name": name, "primitives": [primitive]}))
    }

    fn with_buffer(&self, buffer: Value) -> String {
        let mut json = self.json.clone();
        if json.get("bufferViews").is_some() && json.get("buffers").is_none() {
            json["buffers"] = json!([buffer]);
        }
        json.to_string()
    }

    pub(crate) fn glb(&self) -> Vec<u8> {
        glb(&self.with_buffer(json!({"byteLength": self.bin.len()})), &self.bin)
    }

    /// As text, with the data in an address.
    pub(crate) fn gltf(&self) -> Vec<u8> {
        let data = base64::engine::general_purpose::STANDARD.encode(&self.bin);
        let uri = format!("data:application/octet-stream;base64,{data}");
        self.with_buffer(json!({"byteLength": self.bin.len(), "uri": uri})).into_bytes()
    }

    pub(crate) fn read(&self) -> Scene {
        self.open().scene
    }

    pub(crate) fn open(&self) -> Opened {
        read("test.glb", &self.glb(), &mut Reading::default()).unwrap()
    }

    pub(crate) fn error(&self) -> String {
        read("test.glb", &self.glb(), &mut Reading::default()).unwrap_err().to_string()
    }
}

/// A binary file with these two chunks.
pub(crate) fn glb(json: &str, bin: &[u8]) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bin = bin.to_vec();
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut bytes = b"glTF".to_vec();
    bytes.extend(2u32.to_le_bytes());
    bytes.extend((28 + json.len() as u32 + bin.len() as u32).to_le_bytes());
    for (kind, data) in [(b"JSON", json), (b"BIN\0", bin)] {
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(data);
    }
    bytes
}

pub(crate) const TETRAHEDRON: [[f32; 3]; 4] =
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
pub(crate) const TETRAHEDRON_CORNERS: [u16; 12] = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2];

/// A car: two nodes with the same wheel, an animation of one, an instanced grid, a camera, a
/// matrix with shear, a sparse accessor. Everything that the reader knows, in a few hundred bytes.
pub(crate) fn car() -> File {
    let mut file = File::new();
    let wheel = file.mesh("wheel", &TETRAHEDRON, &TETRAHEDRON_CORNERS);
    let strip = file.accessor(&[0, 1, 2, 3], U8, "SCALAR", 4);
    let quantized: Vec<u8> = [0i16, 0, 0, 9, 0, 0, 0, 9, 0, 9, 9, -32768]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let position = file.accessor(&quantized, I16, "VEC3", 4);
    file.json["accessors"][position]["normalized"] = json!(true);
    let (at, new) = (file.view(&[1, 3]), file.view(&[7, 0, 7, 0, 7, 0, 8, 0, 8, 0, 8, 0]));
    file.json["accessors"][position]["sparse"] = json!({
        "count": 2,
        "indices": {"bufferView": at, "componentType": U8},
        "values": {"bufferView": new},
    });
    let primitives = json!([
        {"attributes": {"POSITION": position}, "indices": strip, "mode": 5},
        {"attributes": {"POSITION": position}, "mode": 6},
        {"attributes": {"POSITION": position}, "mode": 1},
    ]);
    let body = file.push("meshes", json!({"name": "body", "primitives": primitives}));
    file.push(
        "cameras",
        json!({"name": "eye", "type": "perspective", "perspective":
        {"yfov": 0.7, "znear": 0.1}}),
    );
    let grid = file.floats("VEC3", &[0.0, 0.0, 0.0, 5.0, 0.0, 0.0]);
    let turns = file.accessor(&[0, 0, 0, 127, 0, 127, 0, 0], I8, "VEC4", 2);
    file.json["accessors"][turns]["normalized"] = json!(true);
    file.push("nodes", json!({"name": "car", "children": [1, 2, 3], "translation": [1, 2, 3]}));
    file.push("nodes", json!({"name": "front", "mesh": wheel, "rotation": [0, 0, 1, 0]}));
    file.push("nodes", json!({"name": "back", "mesh": wheel, "scale": [1, 2, 3], "camera": 0}));
    let matrix = json!([1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 2, 0, 7, 8, 9, 1]);
    file.push("nodes", json!({"name": "body", "mesh": body, "matrix": matrix}));
    file.push(
        "nodes",
        json!({"name": "grid", "mesh": wheel, "extensions":
        {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": grid, "ROTATION": turns}}}}),
    );
    file.push("scenes", json!({"nodes": [0, 4]}));
    let times = file.floats("SCALAR", &[0.0, 1.0, 2.0]);
    let places = file.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    let spline: Vec<f32> = (0..9).flat_map(|i| [i as f32 * 0.1, 0.0, 0.3, 1.0]).collect();
    let turning = file.floats("VEC4", &spline);
    file.push(
        "animations",
        json!({"name": "drive",
        "channels": [
            {"sampler": 0, "target": {"node": 0, "path": "translation"}},
            {"sampler": 1, "target": {"node": 1, "path": "rotation"}},
            {"sampler": 0, "target": {"node": 2, "path": "scale"}},
        ],
        "samplers": [
            {"input": times, "output": places, "interpolation": "STEP"},
            {"input": times, "output": turning, "interpolation": "CUBICSPLINE"},
        ]}),
    );
    file
}

pub(crate) fn transform(scene: &Scene, id: NodeId) -> &Transform {
    match &scene.node(id).kind {
        Kind::Transform(transform) => transform,
        other => panic!("{} is no Transform", other.name()),
    }
}

pub(crate) fn named<'s>(scene: &'s Scene, path: &str) -> &'s Transform {
    transform(scene, scene.find(path).unwrap_or_else(|| panic!("no {path}")))
}

/// The matrix of a `Transform`, by the formula of ISO/IEC 14772-1, 6.52.
pub(crate) fn matrix(node: &Transform) -> DMat4 {
    let shift = |by: Vec3| DMat4::from_translation(by.as_dvec3());
    let turn = |by: Rotation| DMat4::from_quat(by.quaternion());
    shift(node.translation)
        * shift(node.center)
        * turn(node.rotation)
        * turn(node.scale_orientation)
        * DMat4::from_scale(node.scale.as_dvec3())
        * turn(node.scale_orientation).inverse()
        * shift(-node.center)
}

/// All triangles, placed in the world, in the order of a walk through the scene.
pub(crate) fn world_triangles(scene: &Scene) -> Vec<[DVec3; 3]> {
    let mut triangles = Vec::new();
    let mut left: Vec<(NodeId, DMat4)> =
        scene.roots().iter().rev().map(|&root| (root, DMat4::IDENTITY)).collect();
    while let Some((id, above)) = left.pop() {
        match &scene.node(id).kind {
            Kind::Transform(node) => {
                let here = above * matrix(node);
                left.extend(node.children.iter().rev().map(|&child| (child, here)));
            }
            Kind::Shape(shape) => {
                let Some(Kind::Mesh(mesh)) = shape.geometry.map(|id| &scene.node(id).kind) else {
                    continue;
                };
                triangles.extend(mesh.triangles().iter().map(|corners| {
                    corners
                        .map(|at| above.transform_point3(mesh.vertices()[at as usize].as_dvec3()))
                }));
            }
            _ => {}
        }
    }
    triangles
}
