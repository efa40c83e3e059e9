//! `jostle lab bsp`, `regions`, `resting` and `ten-objects --trees` from outside, on sizes that
//! take no time.

mod common;

use common::{Folder, number, rows};
use serde_json::Value;

#[test]
fn bsp_trees_that_are_cut_off_later_have_fewer_false_contacts() {
    let folder = Folder::new("lab-bsp");
    let args = ["lab", "bsp", "--solid", "torus,sphere", "--triangles", "200", "--turns", "8"];
    let args = [&args[..], &["--depth", "2,6,10"]].concat();
    let json = folder.json(&[&args[..], &["--json", "--svg", "bsp.svg"]].concat());
    assert_eq!(rows(&json).len(), 2 * 4);
    for solid in rows(&json).chunks(4) {
        let wrong: Vec<f64> = solid.iter().map(|row| number(row, "false_contacts")).collect();
        assert!(wrong.is_sorted_by(|more, fewer| more >= fewer), "{wrong:?}");
        assert!(wrong[0] > 0.0 && wrong[3] == 0.0, "{wrong:?}");
        assert!(solid[3]["depth"].is_null());
    }
    let text = folder.text(&args);
    assert!(text.contains("false contacts") && text.contains("all"), "{text}");
}

#[test]
fn volumes_by_placement_are_kept_while_nothing_moves() {
    let folder = Folder::new("lab-resting");
    let args = ["lab", "resting", "--solid", "torus", "--triangles", "200", "--turns", "6"];
    let json = folder.json(&[&args[..], &["--frames", "1,4", "--json"]].concat());
    assert_eq!(rows(&json).len(), 2);
    for row in rows(&json) {
        let [by_counter, by_placement] =
            [0, 1].map(|way: usize| row["alignments"][way].as_f64().expect("a number"));
        let frames = number(row, "frames");
        assert!(by_placement <= by_counter / frames * 1.001, "{row}");
        assert!(by_placement > 0.0, "{row}");
    }
    assert!(folder.text(&args).contains("by placement"));
}

#[test]
fn leaves_with_thresholds_apart_change_less() {
    let folder = Folder::new("lab-regions");
    let args = ["lab", "regions", "--objects", "200", "--frames", "100"];
    let json = folder.json(&[&args[..], &["--thresholds", "4/6,6/6", "--json"]].concat());
    let changes = |row: &Value| number(row, "cuts") + number(row, "merges");
    let [apart, near] = [0, 1].map(|row: usize| changes(&rows(&json)[row]));
    assert!(apart > 0.0 && apart < near, "{json}");
    assert!(folder.refusal(&["lab", "regions", "--thresholds", "6/4"]).contains("MERGE/SPLIT"));
}

#[test]
fn the_papers_trees_are_asked_about_the_ten_objects() {
    let folder = Folder::new("lab-ten-trees");
    let args = ["lab", "ten-objects", "--complexity", "small", "--steps", "60", "--trees"];
    let json = folder.json(&[&args[..], &["--threshold", "1,10", "--json"]].concat());
    let rows = rows(&json);
    assert_eq!(rows.len(), 3 + 2 * 3);
    let trees: Vec<&Value> = rows.iter().filter(|row| row["ms_per_step"].is_null()).collect();
    assert_eq!(trees.len(), 6);
    let kilobytes = |name: &str| {
        let row = trees.iter().find(|row| row["quality"] == name);
        number(row.unwrap_or_else(|| panic!("{name}: {json}")), "kilobytes")
    };
    assert!(kilobytes("splatter/10") < 0.5 * kilobytes("splatter"));
    assert!(trees.iter().all(|row| number(row, "pairs") > 0.0), "{json}");
}
