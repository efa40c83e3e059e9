//! Saved hierarchies: written, read, and refused with a warning where they do not fit.

mod common;

use common::{CUBE, Folder, cube_model, stderr};
use serde_json::Value;

#[test]
fn a_hierarchy_is_saved_and_loaded() {
    let folder = Folder::new("save");
    let json = folder.json(&["mesh", "cube.obj", "--json", "--save-hierarchy", "cube.h"]);
    assert_eq!((&json["hierarchy"], &json["quality"]), (&"built".into(), &"default".into()));
    assert_eq!(
        std::fs::read(folder.path().join("cube.h")).unwrap(),
        cube_model().hierarchy_to_bytes()
    );

    // Being solid does not matter for a hierarchy; it keeps its own quality.
    let args = ["mesh", "cube.obj", "--hierarchy", "cube.h", "--solid", "--quality", "fast"];
    let output = folder.jostle(&[&args[..], &["--json"]].concat());
    assert_eq!(stderr(&output), "");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["hierarchy"], &json["quality"]), (&"loaded".into(), &"default".into()));
    assert_eq!(json["warnings"].as_array().unwrap().len(), 0);
    assert!(folder.text(&args).contains("load time          "));
    assert!(folder.text(&["mesh", "cube.obj"]).contains("build time         "));

    // Saved again, it is the same.
    folder.text(&["mesh", "cube.obj", "--hierarchy", "cube.h", "--save-hierarchy", "again.h"]);
    assert_eq!(
        std::fs::read(folder.path().join("again.h")).unwrap(),
        cube_model().hierarchy_to_bytes()
    );
}

#[test]
fn a_pair_takes_hierarchies() {
    let folder = Folder::new("pair-hierarchies");
    folder.text(&["mesh", "cube.obj", "--save-hierarchy", "cube.h"]);
    let args = ["pair", "cube.obj", "cube.obj", "--query", "pairs", "--json"];
    let args = [&args[..], &["--pose-b", "0.5 0 0 0 0 0 1"]].concat();
    let plain = folder.json(&args);
    let more = ["--hierarchy-a", "cube.h", "--hierarchy-b", "cube.h"];
    let output = folder.jostle(&[&args[..], &more].concat());
    assert_eq!((stderr(&output).as_str(), output.status.code()), ("", Some(0)));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["results"], plain["results"]);
    assert!(plain["summary"]["pairs"].as_u64().unwrap() > 0);
}

#[test]
fn a_hierarchy_that_does_not_match_is_reported_and_built_anew() {
    let folder = Folder::new("stale");
    folder.text(&["mesh", "cube.obj", "--save-hierarchy", "cube.h"]);
    let saved = std::fs::read(folder.path().join("cube.h")).unwrap();
    let mut damaged = saved.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    folder.write("damaged.h", &damaged);
    folder.write("short.h", &saved[..saved.len() - 1]);
    folder.write("empty.h", "");
    folder.write("text.h", CUBE);
    // The mesh has moved on since.
    folder.write("later.obj", CUBE.replace("v 1 1 1", "v 1 1 2"));
    let plain = folder.json(&["pair", "cube.obj", "cube.obj", "--query", "pairs", "--json"]);
    for (model, hierarchy, reason) in [
        ("later.obj", "cube.h", "the hierarchy is of a mesh with hash"),
        ("cube.obj", "damaged.h", "the hierarchy is damaged: its checksum"),
        ("cube.obj", "short.h", "the hierarchy should have"),
        ("cube.obj", "empty.h", ""),
        ("cube.obj", "text.h", "not a saved hierarchy"),
    ] {
        let expected = format!("jostle: {hierarchy}: warning: built anew, because {reason}");
        let output = folder.jostle(&["mesh", model, "--hierarchy", hierarchy, "--json"]);
        let message = stderr(&output);
        assert!(message.starts_with(&expected), "{message}");
        assert_eq!(output.status.code(), Some(0), "{hierarchy}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["hierarchy"], "built", "{hierarchy}");
        let warning = json["warnings"][0].as_str().unwrap();
        assert_eq!(message, format!("jostle: {}\n", warning.replacen(": ", ": warning: ", 1)));
        for option in ["--hierarchy-a", "--hierarchy-b"] {
            let args = ["pair", model, model, "--query", "pairs", "--json", option, hierarchy];
            let output = folder.jostle(&args);
            assert!(stderr(&output).starts_with(&expected), "{option} {hierarchy}");
            let json: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(json["results"], plain["results"], "{option} {hierarchy}");
        }
    }
}

#[test]
fn files_that_cannot_be_used_are_refused() {
    let folder = Folder::new("hierarchy-files");
    let message = folder.refusal(&["mesh", "cube.obj", "--hierarchy", "missing.h"]);
    assert!(message.starts_with("jostle: missing.h: No such file"), "{message}");
    let message = folder.refusal(&["pair", "cube.obj", "cube.obj", "--hierarchy-b", "missing.h"]);
    assert!(message.starts_with("jostle: missing.h: No such file"), "{message}");
    let message = folder.refusal(&["mesh", "cube.obj", "--save-hierarchy", "no/folder.h"]);
    assert!(message.starts_with("jostle: no/folder.h: cannot be written"), "{message}");
    let message = folder.refusal(&["mesh", "cube.obj", "--save-hierarchy", "./cube.obj"]);
    assert!(message.contains("--save-hierarchy needs another name"), "{message}");
    assert_eq!(std::fs::read_to_string(folder.path().join("cube.obj")).unwrap(), CUBE);
}
