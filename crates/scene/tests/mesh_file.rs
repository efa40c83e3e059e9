//! Files of any format as one mesh, and formats that are refused by name.

mod gltf_files;
mod samples;

use glam::Vec3;
use gltf_files::{File, TETRAHEDRON, TETRAHEDRON_CORNERS, car};
use jostle_scene::{
    Frame, MeshChoice, MeshFile, ReadMeshError, Reading, Up, load, read, read_mesh,
};
use samples::{Random, mutate};
use serde_json::json;

fn open(name: &str, bytes: &[u8], part: Option<&str>) -> Result<MeshFile, ReadMeshError> {
    let choice = MeshChoice { part, ..MeshChoice::default() };
    read_mesh(name, bytes, &mut Reading::default(), choice)
}

#[test]
fn obj_stl_and_ply_keep_their_numbers_bit_for_bit() {
    for (name, format, bytes) in samples::all() {
        let loaded = load(&bytes, format).unwrap();
        let warnings = loaded.warnings.len();
        let expected = loaded.into_mesh().unwrap();
        let file = open(&format!("x.{format:?}"), &bytes, None).unwrap();
        assert_eq!(file.mesh, expected, "{name}");
        let bits = |mesh: &jostle_geom::Mesh| -> Vec<[u32; 3]> {
            mesh.vertices().iter().map(|v| v.to_array().map(f32::to_bits)).collect()
        };
        assert_eq!(bits(&file.mesh), bits(&expected), "{name}");
        assert_eq!((file.warnings.len(), file.is_in_metres), (warnings, false), "{name}");
    }
    // Also if the file has several parts.
    let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 9 9 9\no a\nf 1 2 3\no b\nf 3 2 1\n";
    let mesh = open("x.obj", text, None).unwrap().mesh;
    assert_eq!((mesh.vertices().len(), mesh.face_count()), (4, 2));
}

#[test]
fn shapes_of_a_scene_come_in_the_order_of_the_file_at_their_places() {
    let text = b"#VRML V2.0 utf8
        DEF A Transform { translation 1 0 0 children DEF CUBE Shape { geometry Box {} } }
        Switch { choice Shape { geometry Box {} } }
        Collision { proxy Shape { geometry Box {} } children [] }
        DEF B Transform { translation 0 9 0 scale 2 1 1 children USE CUBE }";
    let file = open("x.wrl", text, None).unwrap();
    assert!(file.is_in_metres);
    let mesh = file.mesh;
    assert_eq!((mesh.face_count(), mesh.vertices().len()), (12, 16));
    assert_eq!(mesh.bounds().unwrap(), [Vec3::new(-2.0, -1.0, -1.0), Vec3::new(2.0, 10.0, 1.0)]);
    let high = |face: u32| {
        let triangle = (0..).find(|&t| mesh.face_of(t) == face).unwrap();
        let [a, _, _] = mesh.triangles()[triangle as usize];
        mesh.vertices()[a as usize].y > 5.0
    };
    assert!((0..6).all(|face| !high(face)) && (6..12).all(high));
    let part = |name| open("x.wrl", text, Some(name)).map(|file| file.mesh.bounds().unwrap()[0]);
    assert_eq!(part("A"), Ok(Vec3::new(0.0, -1.0, -1.0)));
    assert_eq!(part("B/CUBE"), Ok(Vec3::new(-2.0, 8.0, -1.0)));
    assert_eq!(open("x.wrl", text, Some("CUBE")).unwrap().mesh.face_count(), 12);
    let error = part("C").unwrap_err().to_string();
    assert_eq!(error, "nothing with a surface is called \"C\"; there are \"CUBE\"");
}

#[test]
fn parts_of_polygon_files_are_chosen_by_name_and_frames_are_kept() {
    let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 9 9 9\no a\nf 1 2 3\no a\nf 3 2 1\nf 1 2 4\n";
    let second = open("x.obj", text, Some("a (2)")).unwrap();
    assert_eq!((second.mesh.face_count(), second.mesh.vertices().len()), (2, 4));
    let error = open("x.obj", text, Some("b")).unwrap_err().to_string();
    assert_eq!(error, "nothing with a surface is called \"b\"; there are \"a\", \"a (2)\"");
    let mut reading = Reading { frame: Frame { unit: 2.0, up: Up::Y }, ..Reading::default() };
    let scaled = read_mesh("x.obj", text, &mut reading, MeshChoice::default()).unwrap();
    assert_eq!(scaled.mesh.bounds().unwrap()[1], Vec3::splat(18.0));
}

#[test]
fn gltf_instances_are_copied_to_their_places() {
    let mut file = File::new();
    let bolt = file.mesh("Bolt", &TETRAHEDRON, &TETRAHEDRON_CORNERS);
    file.push("nodes", json!({"mesh": bolt}));
    file.push("nodes", json!({"mesh": bolt, "translation": [5, 0, 0]}));
    let (one, both) = (Some("Bolt (2)"), None);
    let faces = |part| open("x.glb", &file.glb(), part).unwrap().mesh;
    assert_eq!(faces(both).face_count(), 2 * faces(one).face_count());
    assert!(faces(one).bounds().unwrap()[0].x >= 4.0);
    let empty = open("x.gltf", br#"{"asset":{"version":"2.0"}}"#, None).unwrap();
    assert_eq!((empty.mesh.face_count(), empty.mesh.bounds()), (0, None));
}

#[test]
fn formats_that_are_not_read_are_named_with_what_to_do() {
    for (name, bytes, what, hint) in [
        ("a.step", &b""[..], "STEP files are not read here", "FreeCAD"),
        ("a.STP", b"ISO-10303-21;\n", "STEP files", "glTF (.glb) or STL"),
        ("noname", b"ISO-10303-21;\nHEADER;", "STEP files", "CadQuery"),
        ("a.igs", b"", "IGES files", "FreeCAD"),
        ("a.iges", b"", "IGES files", "FreeCAD"),
        ("a.3mf", b"PK\x03\x04", "3MF files", "STL or OBJ"),
        ("a.urdf", b"<robot name=\"x\"/>", "robot descriptions (URDF", "mesh files"),
        ("a.xml", b"<?xml version=\"1.0\"?>\n<robot name=\"x\"/>", "robot descriptions", ""),
        ("a.dae", b"", "COLLADA files", "Blender"),
        ("a", b"<?xml version=\"1.0\"?><COLLADA>", "COLLADA files", "Blender"),
        ("a.off", b"OFF\n3 1 0", "OFF files", "MeshLab"),
        ("a.x3d", b"<?xml version=\"1.0\"?><X3D>", "this is X3D as XML", "VRML97"),
        ("a.x3dv", b"#X3D V3.0 utf8\n", "this is X3D in classic", "VRML97"),
        ("a.fbx", b"Kaydara FBX Binary  \0", "FBX files", "Blender"),
        ("a.bin", b"Kaydara FBX Binary  \0", "FBX files", "Blender"),
        ("a.ifc", b"ISO-10303-21;", "IFC files", "IfcConvert"),
        ("a.usdz", b"PK\x03\x04", "USD files", "Blender"),
        ("a.usda", b"#usda 1.0", "USD files", "Blender"),
        ("a.zip", b"PK\x03\x04", "archives (ZIP)", "unpack"),
        ("a.txt", b"hello", "a format that is not known; expected VRML97", "PLY"),
    ] {
        let of_mesh = open(name, bytes, None).unwrap_err().to_string();
        let of_scene = read(name, bytes, &mut Reading::default()).unwrap_err().to_string();
        assert_eq!(of_mesh, of_scene, "{name}");
        assert!(of_mesh.starts_with(what) && of_mesh.contains(hint), "{name}: {of_mesh}");
    }
    // A binary STL may have anything in its first 80 bytes.
    let mut stl = samples::stl_binary();
    stl[..4].copy_from_slice(b"COFF");
    assert!(open("a.stl", &stl, None).is_ok());
}

#[test]
fn any_bytes_give_an_error_or_a_mesh_with_and_without_a_part() {
    let text = b"#VRML V2.0 utf8\nDEF A Transform { rotation 0 0 1 2 scale 1 -2 3 children DEF B \
        Shape { geometry IndexedFaceSet { coord Coordinate { point [ 0 0 0 1 0 0 0 1 0 ] } \
        coordIndex [ 0 1 2 -1 ] } } } Transform { translation 1 2 3 children [ USE A ] }";
    let gltf = car().gltf();
    let mut kinds = [0; 2];
    let mut samples: Vec<(String, Vec<u8>)> = samples::all()
        .into_iter()
        .map(|(_, format, bytes)| (format!("x.{format:?}"), bytes))
        .collect();
    samples.push(("x.wrl".to_string(), text.to_vec()));
    samples.push(("x.gltf".to_string(), gltf));
    for (name, bytes) in samples {
        let mut look = |bytes: &[u8]| {
            for part in [None, Some("B"), Some("")] {
                kinds[usize::from(open(&name, bytes, part).is_ok())] += 1;
            }
        };
        look(&bytes);
        (0..bytes.len()).for_each(|end| look(&bytes[..end]));
        (0..300).for_each(|seed| look(&mutate(&bytes, &mut Random(seed))));
    }
    assert!(kinds.iter().all(|&count| count > 500), "{kinds:?}");
}
