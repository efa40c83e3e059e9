//! `jostle lab groups` from outside.

mod common;

use common::{Folder, are_measured, rows};
use serde_json::{Value, json};

#[test]
fn the_examples_of_the_thesis_come_out() {
    let folder = Folder::new("lab-groups-thesis");
    let answer = folder.json(&["lab", "groups", "--n", "4", "--threshold", "8", "--json"]);
    let examples = [
        ("3.3.7", json!([[1, 2, 3], [4]])),
        ("3.3.7 halves", json!([[1, 2], [3, 4]])),
        ("4.3.1.4", json!([[1, 3, 4], [2], [5]])),
    ];
    for (row, (case, groups)) in rows(&answer).iter().zip(examples) {
        assert_eq!((&row["case"], &row["formed"]), (&case.into(), &groups));
        assert_eq!(row["formed"], row["thesis"], "{row}");
    }
    assert_eq!(rows(&answer).len(), 4);
    let text = folder.text(&["lab", "groups", "--n", "4", "--threshold", "8"]);
    assert!(text.contains("{1 3 4} {2} {5}, as in the thesis"), "{text}");
}

#[test]
fn random_machines_are_all_in_groups() {
    let folder = Folder::new("lab-groups-random");
    let args = ["lab", "groups", "--n", "1,9,64", "--threshold", "0,8,19,1000", "--matrices", "5"];
    let answer = folder.json(&[&args[..], &["--json", "--svg", "groups.svg"]].concat());
    let random: Vec<&Value> = rows(&answer).iter().filter(|row| row["case"] == "random").collect();
    assert_eq!(random.len(), 12);
    for row in &random {
        let n = row["n"].as_u64().unwrap();
        let sizes = row["sizes"].as_object().unwrap();
        let sizes = sizes
            .iter()
            .map(|(size, count)| (size.parse::<u64>().unwrap(), count.as_u64().unwrap()));
        assert_eq!(sizes.clone().map(|(size, count)| size * count).sum::<u64>(), 5 * n, "{row}");
        let most = sizes.map(|(size, _)| size).max().unwrap();
        match row["threshold_ms"].as_f64().unwrap() {
            0.0 => assert_eq!((most, &row["alone"]), (1, &json!(1.0))),
            1000.0 => assert_eq!(most, n.min(8)),
            _ => assert!(most <= 8, "{row}"),
        }
        are_measured(row, &["ms"]);
    }
    // Between all and nothing.
    assert!(random.iter().any(|row| (2.0..8.0).contains(&row["largest"].as_f64().unwrap())));
    let svg = std::fs::read_to_string(folder.path().join("groups.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let classes = document.descendants().filter_map(|node| node.attribute("class"));
    let lines = classes.filter(|classes| classes.split(' ').any(|word| word == "line")).count();
    assert_eq!(lines, 3 * 4);

    let again = folder.json(&[&args[..], &["--json"]].concat());
    let sizes =
        |json: &Value| rows(json).iter().map(|row| row["sizes"].clone()).collect::<Vec<_>>();
    assert_eq!(sizes(&answer), sizes(&again));
    let other = folder.json(&[&args[..], &["--json", "--seed", "2"]].concat());
    assert_ne!(sizes(&answer), sizes(&other));
    let halves = folder.json(&[&args[..], &["--json", "--halves"]].concat());
    for row in rows(&halves).iter().filter(|row| row["case"] == "random") {
        let mut sizes = row["sizes"].as_object().unwrap().keys();
        assert!(sizes.all(|size| ["1", "2", "4", "8"].contains(&size.as_str())), "{row}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = Folder::new("lab-groups-refused");
    for args in [["--n", "65"], ["--n", "0"], ["--threshold", "nan"], ["--size-max", "0"]] {
        let sent = folder.refusal(&[&["lab", "groups"], &args[..]].concat());
        assert!(sent.contains(args[0]), "{sent}");
    }
}
