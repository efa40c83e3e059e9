//! `jostle lab latency` from outside.

mod common;

use common::{Folder, number, rows};

const SCHEMES: [&str; 4] = ["plain", "predicted", "adapted", "accelerated"];

#[test]
fn the_latencies_of_the_thesis_by_default() {
    let folder = Folder::new("lab-latency");
    let json = folder.json(&["lab", "latency", "--json"]);
    assert_eq!(rows(&json).len(), 4 * 4);
    for (group, ms) in rows(&json).chunks(4).zip([10, 100, 200, 500]) {
        for (row, scheme) in group.iter().zip(SCHEMES) {
            assert_eq!((&row["latency_ms"], &row["scheme"]), (&ms.into(), &scheme.into()));
            assert_eq!(row["tracking"], "first");
            assert!(number(row, "mean_error") < number(row, "max_error"), "{row}");
            let seconds = row["over_time"].as_array().unwrap();
            assert_eq!(seconds.len(), 15);
            let bytes: f64 = seconds.iter().map(|second| number(second, "bytes")).sum();
            assert_eq!(bytes, number(row, "bytes"), "{row}");
        }
        let of = |field| [0, 1, 2, 3].map(|i: usize| number(&group[i], field));
        let first = of("first_max_error");
        assert!(first[0] > 0.5 && first[1..].iter().all(|&error| error < 0.001), "{first:?}");
        let close = of("close_mean_error");
        assert!(close[2] < 0.5 * close[0] && close[3] < 0.5 * close[1], "{close:?}");
        let bytes = of("bytes");
        assert!(bytes[2] > bytes[3] && bytes[3] > bytes[1], "{bytes:?}");
    }
    // Virtual time: the same again.
    assert_eq!(folder.json(&["lab", "latency", "--json"]), json);
}

#[test]
fn every_tracking_as_table_and_plot() {
    let folder = Folder::new("lab-latency-plot");
    let args = ["lab", "latency", "--latency", "0,50", "--tracking", "first,second,history"];
    let text = folder.text(&[&args[..], &["--svg", "latency.svg"]].concat());
    for word in SCHEMES.iter().chain(&["first", "second", "history", "floor", "bytes"]) {
        assert!(text.contains(word), "{word}: {text}");
    }
    let svg = std::fs::read_to_string(folder.path().join("latency.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    let lines = document.descendants().filter_map(|node| node.attribute("class"));
    let lines = lines.filter(|class| class.starts_with("line ")).count();
    // Errors and bytes.
    assert_eq!(lines, 2 * 2 * 3 * 4);
}

#[test]
fn a_latency_that_leaves_nothing_to_show_is_still_a_row() {
    let folder = Folder::new("lab-latency-long");
    let json = folder.json(&["lab", "latency", "--latency", "5000", "--json"]);
    let seconds = rows(&json)[0]["over_time"].as_array().unwrap();
    assert!(seconds[0]["mean_error"].is_null() && seconds[14]["mean_error"].is_number());
    let refusal = folder.refusal(&["lab", "latency", "--latency", "5001"]);
    assert!(refusal.contains("5001"), "{refusal}");
    let refusal = folder.refusal(&["lab", "latency", "--tracking", "third"]);
    assert!(refusal.contains("history"), "{refusal}");
}
