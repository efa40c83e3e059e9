//! Model files for `jostle pair` and `jostle mesh`: every format, parts, welds.

mod common;

use common::{CUBE, Folder, stderr};
use serde_json::{Value, json};
use std::fmt::Write;

/// Two unit cubes in VRML97: BASE at the origin, TOP five metres above.
const TWO: &str = "#VRML V2.0 utf8
DEF BASE Transform { children DEF CUBE Shape { geometry Box { size 1 1 1 } } }
DEF TOP Transform { translation 0 5 0 children USE CUBE }
";

/// A triangle in glTF, with its positions beside it.
fn gltf_triangle(folder: &Folder) {
    let positions: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let bytes: Vec<u8> = positions.iter().flat_map(|value| value.to_le_bytes()).collect();
    folder.write("data.bin", &bytes);
    let gltf = json!({
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": 36, "uri": "data.bin"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3}],
        "meshes": [{"name": "Sheet", "primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}, {"mesh": 0, "translation": [0, 0, 3]}],
    });
    folder.write("sheets.gltf", gltf.to_string());
}

/// A cube of side 2 around the origin whose triangles have corners of their own, off by the last
/// digits: not closed.
fn noisy_cube() -> String {
    let corner =
        |i: usize| [i & 1, i >> 1 & 1, i >> 2].map(|bit| if bit == 1 { 1.0 } else { -1.0 });
    let faces =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let mut text = String::new();
    let mut noise = 0u64;
    for [a, b, c, d] in faces {
        for i in [a, b, c, a, c, d] {
            let [x, y, z] = corner(i).map(|value: f64| {
                noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                value + (noise >> 33) as f64 / (1u64 << 31) as f64 * 3e-6
            });
            writeln!(text, "v {x:.7} {y:.7} {z:.7}").unwrap();
        }
    }
    for triangle in 0..12 {
        writeln!(text, "f {} {} {}", 3 * triangle + 1, 3 * triangle + 2, 3 * triangle + 3).unwrap();
    }
    text
}

#[test]
fn pair_and_mesh_take_scenes_and_parts_of_them() {
    let folder = Folder::new("models-scenes");
    folder.write("two.wrl", TWO);
    gltf_triangle(&folder);
    let mesh = folder.json(&["mesh", "two.wrl", "--json"]);
    assert_eq!((&mesh["faces"], &mesh["parts"]), (&12.into(), &2.into()));
    assert_eq!((&mesh["volume"], &mesh["unit"]), (&2.0.into(), &"m".into()));
    let mesh = folder.json(&["mesh", "two.wrl", "--json", "--part", "TOP", "--unit", "mm"]);
    assert_eq!((&mesh["faces"], &mesh["size"]), (&6.into(), &json!([1000.0, 1000.0, 1000.0])));
    assert_eq!((&mesh["volume"], &mesh["unit"]), (&1e9.into(), &"mm".into()));
    let distance = |args: &[&str]| {
        let args = [&["pair", "--json", "--query", "distance"], args].concat();
        folder.json(&args)["results"][0]["distance"].as_f64().unwrap()
    };
    assert_eq!(distance(&["two.wrl", "two.wrl", "--part-a", "BASE", "--part-b", "TOP"]), 4.0);
    assert_eq!(distance(&["two.wrl", "cube.obj"]), 0.0);
    assert_eq!(distance(&["sheets.gltf", "two.wrl", "--part-a", "Sheet (2)"]), 2.5);
    let message = folder.refusal(&["mesh", "sheets.gltf", "--part", "Bolt"]);
    let expected = "jostle: sheets.gltf: nothing with a surface is called \"Bolt\"; there are";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn a_part_that_is_in_the_file_twice_is_found_by_its_number() {
    let folder = Folder::new("models-twice");
    let bolt = &CUBE[CUBE.find('f').unwrap()..];
    folder.write("bolts.obj", format!("{}o Bolt\n{bolt}o Bolt\n{bolt}", CUBE.replace(bolt, "")));
    let parts = ["--part-a", "Bolt", "--part-b", "Bolt (2)", "--query", "relation", "--solid"];
    let text = folder.text(&[&["pair", "bolts.obj", "bolts.obj"], &parts[..]].concat());
    assert!(text.starts_with("identical"), "{text}");
    // The whole file keeps the numbers of its faces, without a warning.
    let output = folder.jostle(&["mesh", "bolts.obj", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["faces"], &json["duplicate_faces"]), (&12.into(), &6.into()));
    assert_eq!(stderr(&output), "");
    let output = folder.jostle(&["check", "bolts.obj"]);
    let message = stderr(&output);
    assert!(message.contains("parts of the same name, as \"Bolt\", are numbered"), "{message}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Bolt") && text.contains("Bolt (2)"), "{text}");
}

#[test]
fn what_lies_inside_a_noisy_solid_is_inside_once_it_is_welded() {
    let folder = Folder::new("models-weld");
    folder.write("noisy.obj", noisy_cube());
    let small = CUBE.lines().map(|line| match line.strip_prefix("v ") {
        Some(place) => format!("v {}\n", place.replace('1', "0.1")),
        None => format!("{line}\n"),
    });
    folder.write("pin.obj", small.collect::<String>());
    let args = ["pair", "pin.obj", "noisy.obj", "--solid", "--query", "relation"];
    let output = folder.jostle(&args);
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("apart"));
    let message = stderr(&output);
    assert!(
        message.contains("jostle: noisy.obj: warning: not solid: not closed: 36 open edges"),
        "{message}"
    );
    // The hint is true: with that weld the answer changes, and the weld is reported.
    let hint = message.split("--weld ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(message.contains("the gaps are at most ") && hint == "1e-5", "{message}");
    let output = folder.jostle(&[&args[..], &["--weld", hint]].concat());
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("a-inside-b"));
    let message = stderr(&output);
    assert!(
        message.contains("jostle: noisy.obj: welded 28 vertices; the largest move is"),
        "{message}"
    );
    assert!(!message.contains("not solid"), "{message}");

    let json = folder.json(&["mesh", "noisy.obj", "--json"]);
    assert_eq!((&json["closed"], &json["volume"]), (&false.into(), &Value::Null));
    assert_eq!(json["gap"]["weld"], 1e-5);
    let text = folder.text(&["mesh", "noisy.obj"]);
    assert!(text.contains("a weld of 1e-5 closes them"), "{text}");
    let json = folder.json(&["mesh", "noisy.obj", "--json", "--weld", "1e-5", "--solid"]);
    assert_eq!((&json["solid"], &json["weld"]["joined"]), (&true.into(), &28.into()));
    assert!((json["volume"].as_f64().unwrap() - 8.0).abs() < 1e-4);
}

#[test]
fn a_hole_is_not_reported_as_weldable_and_bad_tolerances_are_refused() {
    let folder = Folder::new("models-hole");
    folder.write("open.obj", &CUBE[..CUBE.len() - 10]);
    let output = folder.jostle(&["mesh", "open.obj", "--solid"]);
    assert!(stderr(&output).contains("these are holes, wider than a weld closes"));
    let output = folder.jostle(&["mesh", "cube.obj", "--weld", "1e-9"]);
    assert!(stderr(&output).contains("nothing to weld: no two vertices are within 1e-9"));
    for bad in ["-1", "nan", "inf", "x"] {
        let message = folder.refusal(&["mesh", "cube.obj", "--weld", bad]);
        assert!(message.contains("expected a length, 0 or more"), "{message}");
    }
    let message = folder.refusal(&["mesh", "cube.obj", "--unit", "furlong"]);
    assert!(message.contains("expected um, mm, cm, m, km, in or ft"), "{message}");
}
