//! `jostle lab storey`: the table has a row for each question, and nodes share the work.

mod common;

use common::Folder;

#[test]
fn every_combination_is_measured_and_nothing_is_lost_between_nodes() {
    let folder = Folder::new("storey");
    let args = ["lab", "storey", "--boxes", "--objects", "300", "--nodes", "1,3", "--ticks", "10"];
    let json = folder.json(&[&args[..], &["--json"]].concat());
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for (row, nodes) in rows.iter().zip([1, 3]) {
        assert_eq!((&row["nodes"], &row["objects"]), (&nodes.into(), &300.into()));
        assert!(row["collisions"].as_f64().unwrap() > 1.0, "{row}");
    }
    // Each state that somebody holds goes to their buddy; alone there is none.
    assert_eq!(rows[0]["states"], 0.0);
    assert!(rows[1]["states"].as_f64().unwrap() >= 306.0);
    let text = folder.text(&args);
    assert!(text.contains("Storey 2006, tables 5.2 and 5.4"));
}
