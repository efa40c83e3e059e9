//! `jostle lab` from outside, on sizes that take no time.

mod common;

use common::{Folder, are_measured, count_in_svg, lab_refuses, lab_refuses_plots, rows};
use serde_json::Value;

const STRUCTURES: [&str; 8] =
    ["auto", "all-pairs", "tree", "cells", "sweep", "grid", "octree", "world"];
const METHODS: [&str; 5] =
    ["brute-force", "expanding-sphere", "ordered-relations", "ordered-axis", "ordered-columns"];

/// As many as the peers' program prints, which divides whole numbers.
#[test]
fn every_structure_finds_the_pairs_of_the_peers() {
    let folder = Folder::new("lab-peers");
    let args = ["lab", "broad", "--preset", "peers", "--n", "1000", "--steps", "30", "--json"];
    let json = folder.json(&args);
    let names: Vec<&str> =
        rows(&json).iter().map(|row| row["structure"].as_str().unwrap()).collect();
    assert_eq!(names, STRUCTURES);
    for row in rows(&json) {
        assert_eq!(row["pairs"], 465, "{row}");
        assert_eq!((&row["n"], &row["threads"]), (&1000.into(), &1.into()));
        assert_eq!((&row["density"], &row["movers"]), (&0.125.into(), &1.0.into()));
        assert_eq!(row["clock"], "thread-cpu");
        are_measured(row, &["ms_per_step", "worst_ms", "setup_ms", "box_tests", "updates"]);
    }
    // Without the preset the boxes are the same, until something else is asked for.
    let plain = folder.json(&[&args[..2], &args[4..]].concat());
    assert_eq!(rows(&plain)[0]["pairs_total"], rows(&json)[0]["pairs_total"]);
    let others = folder.json(&[&args[..2], &args[4..], &["--seed", "7"]].concat());
    assert_ne!(rows(&others)[0]["pairs_total"], rows(&json)[0]["pairs_total"]);
}

#[test]
fn broad_measures_every_combination() {
    let folder = Folder::new("lab-broad");
    let args = ["lab", "broad", "--n", "50,200", "--density", "0.1,1", "--movers", "0,0.1,1"];
    let args = [&args[..], &["--speed", "0.1", "--steps", "3", "--threads", "1,2"]].concat();
    let json = folder.json(&[&args[..], &["--structure", "cells,tree", "--json"]].concat());
    assert_eq!(rows(&json).len(), 2 * 2 * 3 * 2 * 2);
    let still = rows(&json).iter().filter(|row| row["movers"] == 0.0);
    assert!(still.clone().count() > 0 && still.clone().all(|row| row["pairs"] == 0));
    let wall = rows(&json).iter().filter(|row| row["clock"] == "wall");
    assert!(wall.clone().count() > 0 && wall.clone().all(|row| row["threads"] == 2));

    let text = folder.text(&[&args[..], &["--svg", "broad.svg"]].concat());
    for word in STRUCTURES.iter().chain(&["ms/step", "processor time", "wall clock"]) {
        assert!(text.contains(word), "{word}: {text}");
    }
    // A panel for each density, share of movers and number of threads; all structures in each.
    assert_eq!(count_in_svg(&folder, "broad.svg", "line"), 2 * 3 * 2 * 8);
}

#[test]
fn all_pairs_are_for_few_boxes_unless_asked_for() {
    let folder = Folder::new("lab-many");
    let args = ["lab", "broad", "--n", "6000", "--steps", "1", "--density", "1e-6", "--json"];
    let has = |json: &Value, name: &str| rows(json).iter().any(|row| row["structure"] == name);
    let json = folder.json(&args);
    assert!(!has(&json, "all-pairs") && has(&json, "sweep"));
    assert!(has(&folder.json(&[&args[..], &["--structure", "all-pairs"]].concat()), "all-pairs"));
}

#[test]
fn bunnies_bounce() {
    let folder = Folder::new("lab-bunnies");
    let args = ["lab", "bunnies", "--n", "10,20", "--frames", "40"];
    let json = folder.json(&[&args[..], &["--json", "--svg", "bunnies.svg"]].concat());
    assert_eq!(rows(&json).len(), 2);
    for (row, n) in rows(&json).iter().zip([10, 20]) {
        assert_eq!((&row["n"], &row["triangles"]), (&n.into(), &576.into()));
        assert!(row["collisions"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["pairs"].as_f64() >= row["collisions"].as_f64(), "{row}");
        are_measured(row, &["ms_per_frame", "worst_ms", "broad_ms", "narrow_ms", "motion_ms"]);
        assert!(row["broad_share"].is_number() && row["narrow_share"].is_number(), "{row}");
    }
    assert_eq!(count_in_svg(&folder, "bunnies.svg", "line"), 7);
    // The same seed, the same collisions: with another number of threads too.
    let threads = folder.json(&[&args[..], &["--json", "--threads", "2"]].concat());
    let collisions =
        |json: &Value| rows(json).iter().map(|row| row["collisions"].clone()).collect();
    let (one, two): (Vec<Value>, Vec<Value>) = (collisions(&json), collisions(&threads));
    assert_eq!(one, two);
    assert!(folder.text(&args).contains("576 triangles each, 40 frames"));
}

#[test]
fn spheres_are_compared_by_every_method() {
    let folder = Folder::new("lab-spheres");
    let args = ["lab", "spheres", "--n", "100,200", "--coverage", "0.1,0.2", "--frames", "2"];
    let json = folder.json(&[&args[..], &["--json", "--svg", "spheres.svg"]].concat());
    assert_eq!(rows(&json).len(), 2 * 2 * METHODS.len());
    for (i, row) in rows(&json).iter().enumerate() {
        assert_eq!(row["method"], METHODS[i % METHODS.len()]);
        are_measured(row, &["ms_per_frame"]);
        let first = &rows(&json)[i - i % METHODS.len()];
        assert_eq!(row["relations"], first["relations"]);
        assert!(row["comparisons"].as_f64() <= first["comparisons"].as_f64(), "{row}");
    }
    assert_eq!(rows(&json)[0]["comparisons"], 100.0 * 99.0 / 2.0);
    assert_eq!(count_in_svg(&folder, "spheres.svg", "line"), 2 * 2 * METHODS.len());
    let text = folder.text(&[&args[..], &["--method", "ordered-axis"]].concat());
    assert!(text.contains("ordered-axis") && !text.contains("brute-force"), "{text}");
}

#[test]
fn unknown_names_are_refused_with_those_that_are_known() {
    let folder = Folder::new("lab-names");
    let message = folder.refusal(&["lab", "broad", "--structure", "cells,heap"]);
    assert!(STRUCTURES.iter().all(|name| message.contains(name)), "{message}");
    let message = folder.refusal(&["lab", "spheres", "--method", "guessing"]);
    assert!(METHODS.iter().all(|name| message.contains(name)), "{message}");
    assert!(folder.refusal(&["lab", "broad", "--preset", "mine"]).contains("peers"));
    assert!(folder.refusal(&["lab", "rabbits"]).contains("rabbits"));
}

#[test]
fn numbers_out_of_range_are_refused() {
    let folder = Folder::new("lab-numbers");
    lab_refuses(
        &folder,
        &[
            ("broad", "--n", "0"),
            ("broad", "--n", "10,,20"),
            ("broad", "--n", "99999999999"),
            ("broad", "--density", "0"),
            ("broad", "--density", "NaN"),
            ("broad", "--movers", "1.5"),
            ("broad", "--speed", "inf"),
            ("broad", "--seed", "0"),
            ("broad", "--steps", "0"),
            ("broad", "--threads", "0"),
            ("bunnies", "--n", "0"),
            ("bunnies", "--frames", "0"),
            ("spheres", "--coverage", "0"),
            ("spheres", "--coverage", "NaN"),
            ("spheres", "--frames", "0"),
        ],
    );
    // The preset says all about the boxes.
    let refusal = folder.refusal(&["lab", "broad", "--preset", "peers", "--movers", "0.1"]);
    assert!(refusal.contains("--movers"), "{refusal}");
}

#[test]
fn a_plot_that_cannot_be_written_is_reported_at_once() {
    let folder = Folder::new("lab-plot");
    lab_refuses_plots(&folder, &["broad", "bunnies", "spheres"]);
}
