//! `jostle pair --query contacts` and `--query patches`.

mod common;

use common::{CUBE, Folder, stderr};
use serde_json::{Value, json};

/// The only result of a query about the cube and itself, at another place.
fn ask(folder: &Folder, query: &str, place: &str, more: &[&str]) -> Value {
    let pose = format!("{place} 0 0 0 1");
    let args = ["pair", "cube.obj", "cube.obj", "--json", "--query", query, "--pose-a", &pose];
    folder.json(&[&args, more].concat())["results"][0].clone()
}

#[test]
fn contacts_have_gaps_and_depths() {
    let folder = Folder::new("pair-contacts");
    folder.write("cube.obj", CUBE);
    let cases = [
        ("contacts=0.5", "0 0 1.25", "gap", 0.25),
        ("contacts", "0 0 1", "touching", 0.0),
        ("contacts", "0 0 0.5", "depth", 0.5),
    ];
    for (query, place, spacing, distance) in cases {
        let found = ask(&folder, query, place, &["--solid"]);
        let contacts = found["contacts"].as_array().unwrap();
        assert_eq!(contacts.len(), 4, "{found}");
        for contact in contacts {
            assert_eq!(
                (&contact["spacing"], &contact["normal"]),
                (&spacing.into(), &json!([0.0, 0.0, 1.0]))
            );
            let found = contact["distance"].as_f64().unwrap();
            assert!((found - distance).abs() < 1e-12, "{contact}");
        }
        assert_eq!(found["way_out"].is_array(), spacing == "depth");
        assert_eq!(found.get("error"), None);
    }
    assert_eq!(ask(&folder, "contacts", "0 0 1.25", &["--solid"])["contacts"], json!([]));
    // Surfaces have no depth, and are a hit nevertheless.
    let found = ask(&folder, "contacts", "0.25 0.25 0.5", &[]);
    assert_eq!(found["contacts"], Value::Null);
    let error = found["error"].as_str().unwrap();
    assert!(error.contains("only solids have a depth"), "{error}");
    let args = ["pair", "cube.obj", "cube.obj", "--query", "contacts", "--fail-on", "touch"];
    let output = folder.jostle(&[&args[..], &["--pose-a", "0.25 0.25 0.5 0 0 0 1"]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("none: the shapes pass through"));
    let output = folder.jostle(&["pair", "cube.obj", "cube.obj", "--query", "contacts=-1"]);
    assert!(stderr(&output).contains("contacts needs a distance of 0 or more"));
}

#[test]
fn patches_are_points_curves_and_areas() {
    let folder = Folder::new("pair-patches");
    folder.write("cube.obj", CUBE);
    let patch = |place: &str| {
        let found = ask(&folder, "patches", place, &["--solid"]);
        let patches = found["patches"].as_array().unwrap().clone();
        assert_eq!(patches.len(), 1, "{found}");
        patches[0].clone()
    };
    let area = patch("1 0.5 0");
    assert_eq!((&area["kind"], &area["size"]), (&"area".into(), &0.5.into()));
    assert_eq!(area["normal"], json!([1.0, 0.0, 0.0]));
    for (found, expected) in area["centre"].as_array().unwrap().iter().zip([1.0, 0.75, 0.5]) {
        assert!((found.as_f64().unwrap() - expected).abs() < 1e-12, "{area}");
    }
    let curve = patch("1 1 0.25");
    assert_eq!((&curve["kind"], &curve["size"]), (&"curve".into(), &0.75.into()));
    assert_eq!(patch("1 1 1")["kind"], "point");
    assert_eq!(ask(&folder, "patches", "1 1 1.5", &[])["patches"], json!([]));
    let args = ["pair", "cube.obj", "cube.obj", "--query", "patches", "--pose-a"];
    let text = folder.text(&[&args[..], &["1 0.5 0 0 0 0 1", "--solid"]].concat());
    assert!(
        text.starts_with("1 patches  area 0.5 at [1, ") && text.contains("along [1, 0, 0]"),
        "{text}"
    );
}
