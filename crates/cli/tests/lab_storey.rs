//! `jostle lab storey`: the table has a row for each question, and nodes share the work.

mod common;

use common::{Folder, number};

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
        // Both ways of timing have something to show.
        let times = [&row["busiest_ms"], &row["in_turns"]["busiest_ms"]];
        assert!(times.iter().all(|time| time.as_f64().unwrap() > 0.0), "{row}");
    }
    // A single node sends nothing. Otherwise a part of all that a node holds goes to its
    // backup in every step.
    assert_eq!(rows[0]["all"]["sent"], 0.0);
    assert!(number(&rows[1]["all"], "sent") >= 306.0 / 16.0);
    for (row, nodes) in rows.iter().zip([1.0, 3.0]) {
        // The most that one has is at least the mean and at most all.
        for what in ["pairs", "moved", "sent"] {
            let (all, most) = (number(&row["all"], what), number(&row["most"], what));
            assert!(all <= most * nodes * (1.0 + 1e-9) && most <= all, "{what}: {row}");
        }
        // A tick is published after it was compared, so these are means over ten ticks of which
        // nine are the same.
        let collisions = row["collisions"].as_f64().unwrap();
        assert!(number(&row["all"], "pairs") >= 0.9 * collisions, "{row}");
    }
    // Counted numbers do not depend on the run.
    let again = folder.json(&[&args[..], &["--json"]].concat());
    for what in ["all", "most", "pairs_scale_up", "moved_scale_up"] {
        assert_eq!(rows[1][what], again["rows"][1][what], "{what}");
    }
    let text = folder.text(&args);
    assert!(text.contains("Storey 2006, tables 5.2 and 5.4"));
}
