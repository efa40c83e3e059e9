//! `jostle lab tightness` and `jostle lab splits` from outside, on sizes that take no time.

mod common;

use common::{Folder, number, rows};

#[test]
fn no_volume_is_smaller_than_the_hull() {
    let folder = Folder::new("lab-tightness");
    let args = ["lab", "tightness", "--triangles", "300", "--steps", "6"];
    let json = folder.json(&[&args[..], &["--json", "--svg", "tightness.svg"]].concat());
    assert_eq!(rows(&json).len(), 8);
    for row in rows(&json) {
        let fields = ["dop", "aabb", "obb", "sphere", "dop_again", "aabb_again"];
        assert!(fields.iter().all(|field| number(row, field) >= 99.9), "{row}");
        // The smallest oriented box is not larger than a box along the axes.
        assert!(number(row, "obb") <= number(row, "aabb") + 1e-6, "{row}");
        assert!(number(row, "dop") <= number(row, "aabb") + 1e-6, "{row}");
        assert!(number(row, "dop") <= number(row, "dop_again") + 1e-6, "{row}");
    }
    let svg = std::fs::read_to_string(folder.path().join("tightness.svg")).expect("a plot");
    assert!(roxmltree::Document::parse(&svg).is_ok());
    assert!(!svg.contains("NaN"), "{svg}");
    let text = folder.text(&args);
    // Of the paper: Eagle.wrl, and who wins.
    assert!(text.contains("Eagle (2003)") && text.contains("1262.0 %"), "{text}");
    assert!(text.contains("wins (2003)"), "{text}");
}

#[test]
fn every_rule_and_leaf_size_is_measured() {
    let folder = Folder::new("lab-splits");
    let args = ["lab", "splits", "--object", "figure,tree", "--triangles", "300", "--questions"];
    let args = [&args[..], &["6", "--threshold", "1,10"]].concat();
    let json = folder.json(&[&args[..], &["--json", "--svg", "splits.svg"]].concat());
    assert_eq!(rows(&json).len(), 2 * 8 * 2);
    for row in rows(&json) {
        let (triangles, nodes) = (number(row, "triangles"), number(row, "nodes"));
        if row["threshold"] == 1 {
            assert_eq!(nodes, 2.0 * triangles - 1.0, "{row}");
            assert!(number(row, "height") >= number(row, "height_optimal"), "{row}");
        } else {
            assert!(nodes < triangles, "{row}");
        }
        assert!(number(row, "kilobytes_boundary") > number(row, "kilobytes"), "{row}");
        assert!(number(row, "volume_tests") >= 1.0, "{row}");
        assert_eq!(row["levels"][0], 1.0, "{row}");
        let touching = number(row, "touching");
        assert!(touching > 0.0 && touching < number(row, "questions"), "{row}");
    }
    let svg = std::fs::read_to_string(folder.path().join("splits.svg")).expect("a plot");
    assert!(roxmltree::Document::parse(&svg).is_ok());
    let text = folder.text(&args);
    assert!(text.contains("ten_als") && !text.contains("ten_eagles"), "{text}");
    assert!(text.contains("1141.98"), "{text}");
}

#[test]
fn what_is_not_there_is_refused() {
    let folder = Folder::new("lab-trees-names");
    assert!(folder.refusal(&["lab", "splits", "--rule", "shortest"]).contains("min-sum"));
    assert!(folder.refusal(&["lab", "tightness", "--object", "cow"]).contains("bird"));
    folder.refusal(&["lab", "splits", "--threshold", "0"]);
    folder.refusal(&["lab", "tightness", "--steps", "0"]);
}
