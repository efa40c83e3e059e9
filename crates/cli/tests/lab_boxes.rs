//! `jostle lab boxtree`, `deform`, `links` and `voxels` from outside, on sizes that take no time.

mod common;

use common::{Folder, are_measured, lines_in_svg, number, rows};

#[test]
fn criteria_are_ranked_beside_the_thesis() {
    let folder = Folder::new("lab-boxtree");
    let args = ["lab", "boxtree", "--triangles", "200", "--turns", "6", "--empty", "0.1,1"];
    let args = [&args[..], &["--solid", "torus,cone"]].concat();
    let json = folder.json(&[&args[..], &["--json", "--svg", "boxtree.svg"]].concat());
    assert_eq!(rows(&json).len(), 2 * (12 + 12 + 2));
    for row in rows(&json) {
        assert!(number(row, "box_tests") > 0.0 && number(row, "cost") > 0.0, "{row}");
        if row["criterion"] == 2 {
            assert_eq!((number(row, "cost"), number(row, "thesis")), (1.0, 1.0));
        }
        if row["empty_share"] == 1.0 {
            assert_eq!(number(row, "nodes"), number(row, "triangles") - 1.0, "{row}");
        }
    }
    assert_eq!(lines_in_svg(&folder, "boxtree.svg"), 6);
    let text = folder.text(&args);
    assert!(text.contains("199") && text.contains("19 objects"), "{text}");
}

#[test]
fn every_method_follows_every_scene() {
    let folder = Folder::new("lab-deform");
    let args = ["lab", "deform", "--triangles", "100,200", "--frames", "12"];
    let json = folder.json(&[&args[..], &["--json", "--svg", "deform.svg"]].concat());
    let methods = 6;
    assert_eq!(rows(&json).len(), 3 * 2 * methods);
    for (i, row) in rows(&json).iter().enumerate() {
        let first = &rows(&json)[i - i % methods];
        for field in ["scene", "triangles", "pairs", "touching"] {
            assert_eq!(row[field], first[field], "{row}");
        }
        are_measured(row, &["frame_ms", "update_ms", "touches_ms", "all_pairs_ms"]);
        let threads = row["method"] == "box pipeline, 2 threads";
        assert_eq!(row["clock"] == "wall", threads, "{row}");
        // The same counts for any number of threads.
        if threads {
            for field in ["box_tests", "comparisons", "triangle_tests"] {
                assert_eq!(row[field], first[field], "{row}");
            }
        }
    }
    assert_eq!(lines_in_svg(&folder, "deform.svg"), 3 * methods);
    let text = folder.text(&[&args[..], &["--brackets-max", "16"]].concat());
    assert!(text.contains("find the same pairs: yes") && !text.contains("sorted"), "{text}");
}

#[test]
fn links_are_counted_beside_walking_from_the_top() {
    let folder = Folder::new("lab-links");
    let args = ["lab", "links", "--triangles", "200,400", "--turns", "20", "--solid", "torus"];
    let json = folder.json(&[&args[..], &["--json", "--svg", "links.svg"]].concat());
    assert_eq!(rows(&json).len(), 2 * 4);
    for four in rows(&json).chunks(4) {
        assert_eq!(four[0]["saved"]["alignments"], 1.0);
        assert!(number(&four[1], "alignments") <= number(&four[0], "alignments"));
        assert!(number(&four[2], "alignments") < number(&four[0], "alignments"));
        assert!(four.iter().all(|row| row["touching"] == four[0]["touching"]), "{four:?}");
    }
    assert_eq!(lines_in_svg(&folder, "links.svg"), 2);
    assert!(folder.text(&args).contains("thesis: about 5"));
}

#[test]
fn voxels_err_within_what_they_promise() {
    let folder = Folder::new("lab-voxels");
    let args = ["lab", "voxels", "--triangles", "300", "--voxels", "8,16", "--turns", "10"];
    let json = folder.json(&[&args[..], &["--json", "--svg", "voxels.svg"]].concat());
    assert_eq!(rows(&json).len(), 2 * 2 * 2);
    for row in rows(&json) {
        assert!(number(row, "farthest_yes") <= number(row, "promised"), "{row}");
        assert!(row["reach"] == 0.0 || row["wrong_no"] == 0.0, "{row}");
    }
    assert!(lines_in_svg(&folder, "voxels.svg") > 0);
    assert!(folder.text(&args).contains("promised: yes; with reach no contact was missed: yes"));
}

#[test]
fn wrong_names_and_numbers_are_refused() {
    let folder = Folder::new("lab-boxes-refused");
    assert!(folder.refusal(&["lab", "deform", "--scene", "soup"]).contains("sheets"));
    assert!(folder.refusal(&["lab", "links", "--solid", "teapot"]).contains("torus"));
    for args in [
        ["boxtree", "--empty", "2"],
        ["boxtree", "--triangles", "3"],
        ["voxels", "--voxels", "0"],
        ["voxels", "--radius", "nan"],
        ["deform", "--frames", "0"],
        ["deform", "--threads", "0"],
    ] {
        folder.refusal(&[&["lab"], &args[..]].concat());
    }
    let refusal = folder.refusal(&["lab", "links", "--svg", "missing/plot.svg"]);
    assert!(refusal.contains("missing/plot.svg: cannot be written"), "{refusal}");
}
