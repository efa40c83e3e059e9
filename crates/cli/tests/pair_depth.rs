//! `jostle pair --query` overlaps, classify, depth and clearing.

mod common;

use common::{CUBE, Folder, stderr};
use serde_json::{Value, json};

/// The only result of a query about the cube and itself, at another place.
fn ask(folder: &Folder, query: &str, place: &str, more: &[&str]) -> Value {
    let pose = format!("{place} 0 0 0 1");
    let args = ["pair", "cube.obj", "cube.obj", "--json", "--query", query, "--pose-b", &pose];
    folder.json(&[&args, more].concat())["results"][0].clone()
}

fn cubes(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("cube.obj", CUBE);
    folder
}

#[test]
fn contact_is_no_overlap() {
    let folder = cubes("pair-overlaps");
    for (place, overlaps) in [("0.5 0 0", true), ("1 0 0", false), ("1.5 0 0", false)] {
        assert_eq!(ask(&folder, "overlaps", place, &["--solid"]), json!({ "overlaps": overlaps }));
    }
    let surfaces = ask(&folder, "overlaps", "0.5 0 0", &[]);
    assert_eq!(surfaces["overlaps"], Value::Null);
    assert!(surfaces["error"].as_str().unwrap().contains("only a solid has an inside"));
    // What has no answer is counted, and no reason to pass.
    let args = ["pair", "cube.obj", "cube.obj", "--query", "overlaps", "--fail-on", "touch"];
    let output = folder.jostle(&args);
    assert_eq!(output.status.code(), Some(1));
    let json = folder.json(&["pair", "cube.obj", "cube.obj", "--json", "--query", "overlaps"]);
    assert_eq!((&json["summary"]["hits"], &json["summary"]["unknown"]), (&0.into(), &1.into()));
}

#[test]
fn classes_mean_a_tolerance() {
    let folder = cubes("pair-classify");
    let cases = [
        ("1.25 0 0", "clear", json!(0.25)),
        ("1.0009765625 0 0", "near", json!(0.0009765625)),
        ("0.9990234375 0 0", "touching", Value::Null),
        ("0.5 0 0", "overlapping", Value::Null),
    ];
    for (place, class, distance) in cases {
        let found = ask(&folder, "classify=0.01", place, &["--solid"]);
        assert_eq!(found["class"], class, "{place}");
        assert_eq!(found.get("distance").unwrap_or(&Value::Null), &distance, "{place}");
    }
    assert_eq!(ask(&folder, "classify=0", "0 0 0", &["--solid"])["class"], "identical");
}

#[test]
fn depth_has_an_interval_and_a_way() {
    let folder = cubes("pair-depth");
    let found = ask(&folder, "depth", "0.5 0 0", &["--solid"]);
    assert_eq!(found["separation"]["way"], json!([0.5, 0.0, 0.0]));
    for measure in ["separation", "immersion_of_b", "immersion_of_a"] {
        let end = |name: &str| found[measure][name].as_f64().unwrap();
        assert!(end("at_least") <= 0.5 + 1e-12 && 0.5 - 1e-12 <= end("at_most"), "{found}");
        assert!(end("at_most") - end("at_least") <= 0.02, "{found}");
    }
    let apart = ask(&folder, "depth", "1 0 0", &["--solid"]);
    assert_eq!(apart["separation"]["at_most"], 0.0);
    assert_eq!(apart["immersion_of_b"], Value::Null);
    let table = folder.jostle(&["pair", "cube.obj", "cube.obj", "--solid", "--query", "depth"]);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.starts_with("separation ") && table.contains("  B in A "), "{table}");
}

#[test]
fn clearing_is_along_a_direction() {
    let folder = cubes("pair-clearing");
    let up = ask(&folder, "clearing=0,0,2", "0.5 0 0.25", &["--solid"]);
    assert_eq!((&up["first"], &up["last"]), (&json!(0.75), &json!(0.75)));
    // Not in each other now, and in the way later.
    let across = ask(&folder, "clearing=-1,0,0", "3 0 0", &["--solid"]);
    assert_eq!((&across["first"], &across["last"]), (&json!(0.0), &json!(4.0)));
    let beside = ask(&folder, "clearing=0,0,1", "3 0 0", &["--solid"]);
    assert_eq!(beside["faces"], Value::Null);
    for query in ["clearing=0,0,0", "clearing=1,2", "clearing=1,2,x", "clearing=inf,0,0"] {
        let output = folder.jostle(&["pair", "cube.obj", "cube.obj", "--query", query]);
        assert_eq!(output.status.code(), Some(2), "{query}");
        assert!(stderr(&output).contains("clearing needs a direction"), "{query}");
    }
}
