//! Limits of what `jostle check` and `jostle run` list: what is beyond them is counted, and said.

mod common;

use common::Folder;
use serde_json::{Value, json};

/// A binary glTF with one cube, so many times in the same place.
fn coincident(count: usize) -> Vec<u8> {
    let corners = (0u8..8).flat_map(|at| [at & 1, at >> 1 & 1, at >> 2].map(f32::from));
    let faces: [u16; 36] = [
        0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6,
        1, 3, 5, 3, 7, 5,
    ];
    let mut bytes: Vec<u8> = corners.flat_map(f32::to_le_bytes).collect();
    bytes.extend(faces.into_iter().flat_map(u16::to_le_bytes));
    let node = json!({ "mesh": 0 });
    let file = json!({
        "asset": { "version": "2.0" },
        "scenes": [{ "nodes": (0..count).collect::<Vec<usize>>() }],
        "nodes": vec![node; count],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3",
              "min": [0, 0, 0], "max": [1, 1, 1] },
            { "bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR" },
        ],
        "bufferViews": [
            { "buffer": 0, "byteOffset": 0, "byteLength": 96 },
            { "buffer": 0, "byteOffset": 96, "byteLength": 72 },
        ],
        "buffers": [{ "byteLength": bytes.len() }],
    });
    let mut text = file.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut glb = b"glTF".to_vec();
    let length = 12 + 8 + text.len() + 8 + bytes.len();
    for (number, chunk) in [(2, None), (length, None), (text.len(), Some((b"JSON", &text)))] {
        glb.extend((number as u32).to_le_bytes());
        if let Some((kind, content)) = chunk {
            glb.extend(kind);
            glb.extend(content);
        }
    }
    glb.extend((bytes.len() as u32).to_le_bytes());
    glb.extend(b"BIN\0");
    glb.extend(bytes);
    glb
}

const COUNT: usize = 30;
const FOUND: usize = COUNT * (COUNT - 1) / 2;

#[test]
fn findings_beyond_the_limit_are_counted_and_every_report_says_so() {
    let folder = Folder::new("check-limit");
    folder.write("many.glb", coincident(COUNT));
    let note = format!(
        "{FOUND} findings: the first 10 in order are listed, {} are not; --max-findings lists more",
        FOUND - 10
    );
    let limit = ["check", "many.glb", "--max-findings", "10"];
    let reports = ["--csv", "many.csv", "--report", "many.html"];
    let text = folder.text(&[&limit[..], &reports].concat());
    assert!(text.contains(&note), "{text}");
    let end = format!("{FOUND} pairs touch ({FOUND} identical)\n");
    assert!(text.ends_with(&end), "{text}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let csv = read("many.csv");
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 1 + 10 + 1);
    let rest = rows[11].strip_prefix(&format!("not_listed,\"{note}\"")).unwrap();
    assert_eq!(rest.len(), rows[0].matches(',').count() - 1, "{csv}");
    assert!(read("many.html").contains(&note));

    let some = folder.json(&[&limit[..], &["--json"]].concat());
    let all = folder.json(&["check", "many.glb", "--json"]);
    let list = |json: &Value| json["findings"].as_array().unwrap().clone();
    assert_eq!((list(&all).len(), &all["not_listed"]), (FOUND, &0.into()));
    assert_eq!(list(&some), list(&all)[..10]);
    assert_eq!((&some["touching"], &some["too_close"]), (&FOUND.into(), &0.into()));
    assert_eq!(some["not_listed"], FOUND - 10);
    let unlimited = folder.text(&["check", "many.glb", "--max-findings", &FOUND.to_string()]);
    assert!(!unlimited.contains("--max-findings"), "{unlimited}");
    assert!(folder.refusal(&["check", "many.glb", "--max-findings", "0"]).contains("0"));
}

#[test]
fn exit_codes_and_accepted_findings_do_not_depend_on_the_limit() {
    let folder = Folder::new("check-limit-accept");
    folder.write("many.glb", coincident(COUNT));
    let check = |args: &[&str]| folder.jostle(&[&["check", "many.glb"], args].concat());
    let accept = ["--accept", "known.txt"];
    let refused = check(&[&accept[..], &["--write-accept", "--max-findings", "10"]].concat());
    assert_eq!(refused.status.code(), Some(2));
    let said = common::stderr(&refused);
    assert!(said.contains(&format!("--max-findings {FOUND} keeps all")), "{said}");
    assert_eq!(check(&[&accept[..], &["--write-accept"]].concat()).status.code(), Some(0));
    let fails = [&accept[..], &["--fail-on", "overlap", "--max-findings", "1", "--json"]].concat();
    let json = folder.json(&[&["check", "many.glb"], &fails[..]].concat());
    assert_eq!((&json["accepted"], &json["stale"]), (&FOUND.into(), &Value::Array(vec![])));
    assert_eq!(check(&fails).status.code(), Some(0));
    // One entry less: the finding that it was about fails, listed or not.
    let known = std::fs::read_to_string(folder.path().join("known.txt")).unwrap();
    let lines: Vec<&str> = known.lines().collect();
    folder.write("known.txt", lines[..lines.len() - 1].join("\n"));
    assert_eq!(check(&fails).status.code(), Some(1));
    assert_eq!(check(&["--fail-on", "touch", "--max-findings", "1"]).status.code(), Some(1));
    let clearance = ["--fail-on", "clearance", "--clearance", "1", "--max-findings", "1"];
    assert_eq!(check(&clearance).status.code(), Some(1));
}

#[test]
fn events_of_a_run_beyond_the_limit_are_counted() {
    let folder = Folder::new("run-limit");
    let moving = |at: usize| {
        format!(
            "DEF P{at} Transform {{ velocityVector 0 0 0.5 collisionResponse NULL \
             children Shape {{ geometry Box {{}} }} }}\n"
        )
    };
    let parts: String = (0..6).map(moving).collect();
    folder.write("six.wrl", format!("#VRML V2.0 utf8\n{parts}"));
    let run = ["run", "six.wrl", "--steps", "2"];
    let all = folder.json(&[&run[..], &["--json"]].concat());
    let events = all["events"].as_array().unwrap();
    assert!(events.len() >= 15 && all["events_not_listed"] == 0, "{all}");
    let limit = [&run[..], &["--max-events", "4"]].concat();
    let some = folder.json(&[&limit[..], &["--json", "--record", "six.jsonl"]].concat());
    assert_eq!(some["events"].as_array().unwrap()[..], events[..4]);
    assert_eq!(some["events_not_listed"], events.len() - 4);
    assert_eq!(some["hash"], all["hash"]);
    let recorded = std::fs::read_to_string(folder.path().join("six.jsonl")).unwrap();
    assert_eq!(recorded.matches("\"what\":").count(), events.len());
    let note = format!("{} events: the first 4 are listed", events.len());
    assert!(folder.text(&limit).contains(&note));
}
