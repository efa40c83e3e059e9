//! `jostle check` from outside: which parts of a scene touch, or come too close.

mod common;

use common::{CUBE, Folder, stderr};
use serde_json::Value;

fn sample(name: &str) -> String {
    format!("{}/../../scenes/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The names of findings, and whether they touch.
fn findings(json: &Value) -> Vec<(&str, &str, bool)> {
    let list = json["findings"].as_array().unwrap().iter();
    list.map(|finding| {
        let name = |side: &str| finding[side].as_str().unwrap();
        (name("a"), name("b"), finding["touching"].as_bool().unwrap())
    })
    .collect()
}

fn code(folder: &Folder, args: &[&str]) -> Option<i32> {
    folder.jostle(args).status.code()
}

#[test]
fn the_car_has_one_interference_and_one_tight_clearance() {
    let folder = Folder::new("check-car");
    let car = sample("car.wrl");
    let json = folder.json(&["check", &car, "--clearance", "0.01", "--json"]);
    let expected = [
        ("EXHAUST", "FRAME/REAR_CROSS_MEMBER", true),
        ("REAR_LEFT_ARCH", "REAR_LEFT_WHEEL", false),
    ];
    assert_eq!(findings(&json), expected);
    assert_eq!((&json["touching"], &json["too_close"]), (&1.into(), &1.into()));
    assert_eq!(json["warnings"], Value::Array(vec![]));
    let distance = json["findings"][1]["distance"].as_f64().unwrap();
    assert!((distance - 0.004).abs() < 1e-4, "{distance}");
    let [p, q] = [0, 1].map(|at| {
        let point = json["findings"][1]["points"][at].as_array().unwrap();
        [0, 1, 2].map(|axis: usize| point[axis].as_f64().unwrap())
    });
    let length = (0..3).map(|axis| (p[axis] - q[axis]).powi(2)).sum::<f64>().sqrt();
    assert!((length - distance).abs() < 1e-9);
    // Everything else keeps 2 cm, but for rounding.
    let json = folder.json(&["check", &car, "--clearance", "0.01999", "--json"]);
    assert_eq!(findings(&json), expected);
    let json = folder.json(&["check", &car, "--json"]);
    assert_eq!(findings(&json), expected[..1]);
    let text = folder.text(&["check", &car, "--clearance", "0.01"]);
    assert!(text.contains("overlap    EXHAUST  and  FRAME/REAR_CROSS_MEMBER: 0.05"), "{text}");
    assert!(text.contains(" m deep  at ("), "{text}");
    let depth = |end: &str| json["findings"][0]["depth"][end].as_f64().unwrap();
    assert!(0.0 < depth("at_least") && depth("at_least") <= depth("at_most"), "{json}");
    assert!(text.contains("17 objects"), "{text}");
    assert!(text.ends_with("1 pair touches (1 overlap), 1 closer than 0.01 m\n"), "{text}");
}

#[test]
fn the_exit_code_says_what_was_asked_to_fail_on() {
    let folder = Folder::new("check-exit");
    let car = sample("car.wrl");
    let clean = "EXHAUST,REAR_CROSS_MEMBER";
    for (args, expected) in [
        (&["--clearance", "0.01"][..], 0),
        (&["--fail-on", "touch"], 1),
        (&["--fail-on", "touch", "--clearance", "0.01"], 1),
        (&["--fail-on", "clearance", "--clearance", "0.01"], 1),
        (&["--fail-on", "touch", "--ignore", clean], 0),
        (&["--fail-on", "touch", "--ignore", clean, "--clearance", "0.01"], 0),
        (&["--fail-on", "clearance", "--ignore", clean, "--clearance", "0.01"], 1),
        (&["--fail-on", "clearance", "--ignore", clean, "--clearance", "0.003"], 0),
        (&["--fail-on", "clearance"], 2),
        (&["--fail-on", "anything"], 2),
        (&["--clearance", "-1"], 2),
        (&["--ignore", "EXHAUST"], 2),
    ] {
        let args = [&["check", &car[..]], args].concat();
        assert_eq!(code(&folder, &args), Some(expected), "{args:?}");
    }
}

#[test]
fn names_to_ignore_are_known_or_warned_about() {
    let folder = Folder::new("check-ignore");
    let car = sample("car.wrl");
    let ignored = |pair: &str| {
        let output = folder.jostle(&["check", &car, "--json", "--ignore", pair]);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        (findings(&json).len(), json["warnings"].as_array().unwrap().len(), stderr(&output))
    };
    assert_eq!(ignored("FRAME,EXHAUST"), (0, 0, String::new()));
    assert_eq!(ignored("ENGINE,EXHAUST"), (1, 0, String::new()));
    let (found, warnings, message) = ignored("FRAMES,EXHAUST");
    assert_eq!((found, warnings), (1, 1));
    assert!(message.contains("warning: no object is named \"FRAMES\""), "{message}");
}

#[test]
fn all_pairs_are_more_than_one() {
    let folder = Folder::new("check-pairs");
    let car = sample("car.wrl");
    let faces = |args: &[&str]| {
        let json = folder.json(&[&["check", &car[..], "--json"], args].concat());
        json["findings"][0]["faces"].as_array().unwrap().clone()
    };
    let (one, all) = (faces(&[]), faces(&["--all-pairs"]));
    assert_eq!(one.len(), 1);
    assert!(all.len() > 1 && all.contains(&one[0]), "{all:?}");
}

/// Two cubes by name, of which the second is given.
fn two_cubes(second: &str) -> String {
    let faces = &CUBE[CUBE.find('f').unwrap()..];
    let back = faces
        .lines()
        .map(|line| {
            let corners = line[2..].split(' ').map(|c| (c.parse::<u32>().unwrap() + 8).to_string());
            format!("f {}\n", corners.collect::<Vec<_>>().join(" "))
        })
        .collect::<String>();
    format!("o left\n{CUBE}o right\n{second}{back}")
}

fn moved(x: f32, y: f32, z: f32) -> String {
    let vertices = CUBE.lines().filter(|line| line.starts_with('v')).map(|line| {
        let n: Vec<f32> = line[2..].split(' ').map(|n| n.parse().unwrap()).collect();
        format!("v {} {} {}\n", n[0] + x, n[1] + y, n[2] + z)
    });
    vertices.collect()
}

#[test]
fn the_objects_of_an_obj_file_are_objects() {
    let folder = Folder::new("check-obj");
    folder.write("apart.obj", two_cubes(&moved(0.0, 0.0, 1.5)));
    folder.write("touch.obj", two_cubes(&moved(0.5, 0.5, 0.5)));
    let json = folder.json(&["check", "touch.obj", "--json"]);
    assert_eq!(json["objects"], 2);
    assert_eq!(findings(&json), [("left", "right", true)]);
    let json = folder.json(&["check", "apart.obj", "--json", "--clearance", "0.6"]);
    assert_eq!(findings(&json), [("left", "right", false)]);
    let point = |json: &Value, axis: usize| json["findings"][0]["points"][0][axis].as_f64();
    assert_eq!(json["findings"][0]["distance"], 0.5);
    assert_eq!(point(&json, 2), Some(1.0));
    // In millimetres, and with z up: what was z is y.
    let args = ["check", "apart.obj", "--json", "--unit", "0.001", "--up", "z"];
    let json = folder.json(&[&args[..], &["--clearance", "0.0006"]].concat());
    let distance = json["findings"][0]["distance"].as_f64().unwrap();
    assert!((distance - 0.0005).abs() < 1e-9, "{distance}");
    assert!((point(&json, 1).unwrap() - 0.001).abs() < 1e-9, "{json}");
    let json = folder.json(&[&args[..], &["--clearance", "0.0004"]].concat());
    assert_eq!(findings(&json), []);
    for bad in [["--unit", "0"], ["--unit", "x"], ["--up", "x"]] {
        folder.refusal(&[&["check", "apart.obj"], &bad[..]].concat());
    }
}

#[test]
fn what_is_missing_is_warned_about_and_what_is_wrong_is_refused() {
    let folder = Folder::new("check-wrong");
    folder.write(
        "part.wrl",
        "#VRML V2.0 utf8\nDEF CUBE Transform { children Shape { geometry Box {} } }",
    );
    let text = "#VRML V2.0 utf8\n
        DEF A Transform { children Inline { url \"part.wrl\" } }
        DEF B Transform { translation 1 0 0 children Inline { url \"nowhere.wrl\" } }
        DEF C Transform { translation 1 0 0 children Inline { url [ \"no.wrl\" \"part.wrl\" ] } }";
    folder.write("whole.wrl", text);
    let output = folder.jostle(&["check", "whole.wrl", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(findings(&json), [("A/CUBE", "C/CUBE", true)]);
    let message = stderr(&output);
    assert!(message.contains("warning") && message.contains("nowhere.wrl"), "{message}");
    folder.write("bad.wrl", "#VRML V2.0 utf8\nTransform { children [\n  Shape { geometry ] }\n");
    let message = folder.refusal(&["check", "bad.wrl"]);
    assert!(
        message.starts_with("jostle: bad.wrl: ") && message.contains("line 3, column 20"),
        "{message}"
    );
    folder.write("old.wrl", "#VRML V1.0 ascii\nSeparator {}");
    assert!(folder.refusal(&["check", "old.wrl"]).contains("1.0"));
    assert!(folder.refusal(&["check", "none.wrl"]).starts_with("jostle: none.wrl: "));
}

#[test]
fn the_level_of_an_lod_is_the_finest_or_the_one_in_view() {
    let folder = Folder::new("check-lod");
    let text = "#VRML V2.0 utf8\nViewpoint { position 0 0 50 }
        LOD { range [ 10 ] level [ DEF FINE Transform { children Shape { geometry Box {} } }
          DEF COARSE Transform { children Shape { geometry Box { size 3 3 3 } } } ] }
        DEF A Transform { translation 1 0 0 children Shape { geometry Box {} } }
        DEF B Transform { translation 0 2 0 children Shape { geometry Box { size 1.5 1.5 1.5 } } }";
    folder.write("lod.wrl", text);
    let json = folder.json(&["check", "lod.wrl", "--json"]);
    assert_eq!(findings(&json), [("A", "FINE", true)]);
    let json = folder.json(&["check", "lod.wrl", "--json", "--lod-by-view"]);
    assert_eq!(findings(&json), [("A", "COARSE", true), ("B", "COARSE", true)]);
}

#[test]
fn a_tolerance_decides_how_round_a_sphere_is() {
    let folder = Folder::new("check-tolerance");
    folder.write("ball.wrl", "#VRML V2.0 utf8\nShape { geometry Sphere {} }");
    let triangles = |tolerance: &str| {
        let json = folder.json(&["check", "ball.wrl", "--json", "--tolerance", tolerance]);
        json["triangles"].as_u64().unwrap()
    };
    assert!(triangles("0.1") * 10 < triangles("0.001"));
    folder.refusal(&["check", "ball.wrl", "--tolerance", "0"]);
}
