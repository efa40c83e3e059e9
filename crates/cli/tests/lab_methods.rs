//! `jostle lab convex`, `zachmann` and `all` from outside, on sizes that take no time.

mod common;

use common::{Folder, are_measured, contains_all, lab_refuses, lab_refuses_plots, lines_in_svg};
use serde_json::Value;
use std::collections::BTreeSet;

fn of<'a>(json: &'a Value, what: &str) -> Vec<&'a Value> {
    let rows = json["rows"].as_array().expect("rows");
    rows.iter().filter(|row| row["what"] == what).collect()
}

const TINY: [&str; 12] = [
    "lab",
    "zachmann",
    "--triangles",
    "60,200",
    "--steps",
    "8",
    "--orientations",
    "1",
    "--build",
    "100",
    "--polygons",
    "300",
];

#[test]
fn every_method_is_measured_on_every_mesh() {
    let folder = Folder::new("lab-zachmann");
    let args = [&TINY[..], &["--solid", "sphere,cone"]].concat();
    let json = folder.json(&[&args[..], &["--json", "--svg", "zachmann.svg"]].concat());
    let queries = of(&json, "query");
    let methods: BTreeSet<&str> = queries.iter().filter_map(|row| row["method"].as_str()).collect();
    assert_eq!(queries.len(), 2 * 2 * methods.len());
    for name in ["ours", "aabb", "sphere", "obb", "dop-6", "dop-24", "dop-32", "boxtree-clipped"] {
        assert!(methods.contains(name), "{name}");
    }
    for row in &queries {
        assert_eq!(row["queries"], 5 * 8, "{row}");
        assert!(row["hits"].as_u64().unwrap() > 0 && row["bytes"].as_u64().unwrap() > 0, "{row}");
        are_measured(row, &["micros", "visits", "volume_tests", "triangle_tests", "build_ms"]);
    }
    assert_eq!(of(&json, "polygons").len(), 4 * 4);
    assert!(of(&json, "build").iter().any(|row| row["method"] == "ours"));
    // Eight methods on two solids, and the curve over k.
    assert_eq!(lines_in_svg(&folder, "zachmann.svg"), 2 * 8 + 1);
    let text = folder.text(&args);
    contains_all(
        &text,
        &["best laboratory method / ours", "the bar of 2", "best here: k = ", "table 3.2"],
    );
}

#[test]
fn some_methods_and_all_pairs_can_be_chosen() {
    let folder = Folder::new("lab-zachmann-some");
    let args = [&TINY[..8], &["--build", "0", "--polygons", "0", "--solid", "torus"]].concat();
    let args = [&args[..], &["--method", "obb,dop-14", "--all-pairs", "--json"]].concat();
    let json = folder.json(&args);
    let methods: Vec<&str> =
        of(&json, "query").iter().filter_map(|row| row["method"].as_str()).collect();
    assert_eq!(methods, ["ours", "obb", "dop-14", "ours", "obb", "dop-14"]);
    assert_eq!(json["rows"].as_array().unwrap().len(), 6);
}

#[test]
fn convex_methods_are_measured() {
    let folder = Folder::new("lab-convex");
    let args = ["lab", "convex", "--steps", "60", "--samples", "20", "--distance", "1.5,2.2"];
    let more = ["--degrees", "2", "--triangles", "100", "--n", "5,10", "--frames", "3"];
    let args = [&args[..], &more].concat();
    let json = folder.json(&[&args[..], &["--json", "--svg", "convex.svg"]].concat());
    assert!(!of(&json, "cones").is_empty());
    for row in of(&json, "cones") {
        let error = row["error"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&error) && row["apart"].as_u64() > Some(0), "{row}");
    }
    let orbits = of(&json, "orbit");
    assert_eq!(orbits.len(), 4 * 5);
    for row in &orbits {
        let touches = row["distance"] == 1.5;
        assert_eq!(row["touching"], if touches { 20 } else { 0 }, "{row}");
        assert_eq!(row["unproved"], 0, "{row}");
    }
    // The stages differ in what they test, not in what touches.
    assert_eq!(of(&json, "crowd").len(), 2 * 4);
    for group in of(&json, "crowd").chunks(4) {
        assert!(group.iter().all(|row| row["touching"] == group[0]["touching"]), "{group:?}");
        assert!(group[3]["tested"].as_f64() <= group[0]["tested"].as_f64(), "{group:?}");
    }
    assert_eq!(lines_in_svg(&folder, "convex.svg"), 3 * 5 + 4);
    let text = folder.text(&args);
    contains_all(&text, &["24 % / 3.0 % / 0.50 %", "annealing 0.97", "grid, planes", "GJK"]);
}

#[test]
fn all_of_it_becomes_a_document() {
    let folder = Folder::new("lab-all");
    folder.text(&["lab", "all", "--quick", "--out", "here", "--only", "zachmann,convex"]);
    let text = std::fs::read_to_string(folder.path().join("here/laboratory.md")).unwrap();
    for name in ["zachmann", "convex"] {
        assert!(text.contains(&format!("$ jostle lab {name} ")), "{text}");
        assert!(text.contains(&format!("](figures/lab-{name}.svg)")), "{text}");
        assert!(lines_in_svg(&folder, &format!("here/figures/lab-{name}.svg")) > 0);
    }
    assert!(text.contains("**Noise.**") && text.contains("quick run"), "{text}");
    // Whose numbers these are: processor, date, commit.
    let measured = text.lines().find(|line| line.starts_with("**Measured** on ")).unwrap();
    assert!(measured.contains(", 20") && measured.contains("commit"), "{measured}");
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = Folder::new("lab-methods-bad");
    let message = folder.refusal(&["lab", "zachmann", "--method", "guessing"]);
    assert!(message.contains("dop-24") && message.contains("obb"), "{message}");
    assert!(folder.refusal(&["lab", "zachmann", "--solid", "bunny"]).contains("hyperboloid"));
    let message = folder.refusal(&["lab", "all", "--only", "zachmann,magic"]);
    assert!(message.contains("magic") && message.contains("convex"), "{message}");
    lab_refuses(
        &folder,
        &[
            ("zachmann", "--triangles", "0"),
            ("zachmann", "--steps", "0"),
            ("zachmann", "--orientations", "0"),
            ("zachmann", "--build", "-1"),
            ("convex", "--distance", "NaN"),
            ("convex", "--degrees", "400"),
            ("convex", "--n", "0"),
            ("convex", "--samples", "0"),
        ],
    );
    lab_refuses_plots(&folder, &["zachmann", "convex"]);
}
