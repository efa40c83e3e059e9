//! `jostle check` as a reviewer uses it: several files, contact and interference, approval,
//! reports and units.

mod common;

use common::{CUBE, Folder, stderr};
use serde_json::Value;

/// A cube along the axes, from corner to corner.
fn cube(low: &str, high: &str) -> String {
    let lines = CUBE.lines().map(|line| match line.strip_prefix("v ") {
        Some(numbers) => {
            let ends = numbers.split(' ').map(|number| if number == "1" { high } else { low });
            format!("v {}\n", ends.collect::<Vec<_>>().join(" "))
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// A folder with two unit cubes, and a smaller one that is inside of them.
fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.write("A.obj", CUBE);
    folder.write("B.obj", CUBE);
    folder.write("inner.obj", cube("0.5", "0.75"));
    folder
}

fn kinds(json: &Value) -> Vec<&str> {
    let list = json["findings"].as_array().unwrap().iter();
    list.map(|finding| finding["kind"].as_str().unwrap()).collect()
}

fn code(folder: &Folder, args: &[&str]) -> Option<i32> {
    folder.jostle(args).status.code()
}

#[test]
fn contact_is_distinguished_from_interference() {
    let folder = folder("review-kinds");
    let kind = |pose: &str, more: &[&str]| {
        let pose = format!("B={pose} 0 0 0 1");
        let args = [&["check", "A.obj", "B.obj", "--json", "--pose", &pose], more].concat();
        kinds(&folder.json(&args)).join(" ")
    };
    assert_eq!(kind("0.5 0.5 0.5", &[]), "overlap");
    assert_eq!(kind("1 0 0", &[]), "contact");
    assert_eq!(kind("1 1 1", &[]), "contact");
    assert_eq!(kind("0 0 0", &[]), "identical");
    assert_eq!(kind("1.5 0 0", &[]), "");
    assert_eq!(kind("1.5 0 0", &["--clearance", "1"]), "too_close");
    // The two wedges of a box that was cut along a slant share one face.
    let wedge =
        |corners: &str| format!("{corners}f 1 2 3\nf 4 6 5\nf 1 4 5 2\nf 2 5 6 3\nf 3 6 4 1\n");
    folder.write("lo.obj", wedge("v 0 0 0\nv 1 0 0\nv 1 0 3\nv 0 1 0\nv 1 1 0\nv 1 1 3\n"));
    folder.write("up.obj", wedge("v 0 0 0\nv 1 0 3\nv 0 0 3\nv 0 1 0\nv 1 1 3\nv 0 1 3\n"));
    assert_eq!(kinds(&folder.json(&["check", "lo.obj", "up.obj", "--json"])), ["contact"]);
    // Inside without touching the surface: only where closed parts are solid.
    let inner = ["check", "A.obj", "inner.obj", "--json"];
    assert_eq!(kinds(&folder.json(&inner)), [""; 0]);
    assert_eq!(kinds(&folder.json(&[&inner[..], &["--solid"]].concat())), ["b_inside_a"]);
    // A cube without its lid is not closed.
    folder.write("open.obj", CUBE.replace("f 5 6 7 8\n", ""));
    let text = folder.text(&["check", "A.obj", "open.obj"]);
    assert!(text.starts_with("touch      A  and  open  at ("), "{text}");
    assert!(text.contains("contact and interference cannot be distinguished"), "{text}");
}

#[test]
fn what_fails_is_interference_contact_or_clearance() {
    let folder = folder("review-fail");
    let fails = |x: &str, on: &str| {
        let pose = format!("B={x} 0 0 0 0 0 1");
        let args = ["check", "A.obj", "B.obj", "--pose", &pose, "--clearance", "1"];
        code(&folder, &[&args[..], &["--fail-on", on]].concat()) == Some(1)
    };
    for (x, expected) in [
        ("0.5", [true, true, true]),
        ("1", [false, true, true]),
        ("1.5", [false, false, true]),
        ("3", [false, false, false]),
    ] {
        let found = ["overlap", "touch", "clearance"].map(|on| fails(x, on));
        assert_eq!(found, expected, "{x}");
    }
    folder.write("open.obj", CUBE.replace("f 5 6 7 8\n", ""));
    let open = ["check", "A.obj", "open.obj", "--fail-on", "overlap"];
    assert_eq!(code(&folder, &open), Some(1), "what cannot be message may be an interference");
}

#[test]
fn several_files_are_parts_with_names_and_poses() {
    let folder = folder("review-files");
    let json = folder.json(&["check", "A.obj", "B.obj", "A.obj", "--json"]);
    assert_eq!((&json["objects"], json["files"].as_array().unwrap().len()), (&3.into(), 3));
    let names: Vec<[&str; 2]> = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| [f["a"].as_str().unwrap(), f["b"].as_str().unwrap()])
        .collect();
    assert_eq!(names, [["A", "A (2)"], ["A", "B"], ["A (2)", "B"]]);
    let message = folder.refusal(&["check", "A.obj", "B.obj", "--pose", "C=0 0 0 0 0 0 1"]);
    assert!(message.contains("no file is called \"C\"; there are A, B"), "{message}");
    for bad in ["B", "B=1 2 3", "B=0 0 0 0 0 0 0", "B=x 0 0 0 0 0 1"] {
        folder.refusal(&["check", "A.obj", "B.obj", "--pose", bad]);
    }
    // A quarter turn about z brings B to the other side of the y axis.
    let turned = "B=0 0 0 0 0 0.7071067811865476 0.7071067811865476";
    let json = folder.json(&["check", "A.obj", "B.obj", "--json", "--pose", turned]);
    assert_eq!(json["findings"].as_array().unwrap().len(), 1);
    // Parts of a file with several stay parts of it.
    folder.write(
        "two.wrl",
        "#VRML V2.0 utf8
        DEF L Transform { children Shape { geometry Box {} } }
        DEF R Transform { translation 5 0 0 children Shape { geometry Box {} } }",
    );
    let json = folder.json(&["check", "two.wrl", "A.obj", "--json", "--pose", "A=5 0 0 0 0 0 1"]);
    assert_eq!(json["findings"][0]["b"], "two/R");
    assert_eq!(json["warnings"].as_array().unwrap().len(), 1, "A.obj has no unit: {json}");
}

#[test]
fn an_assembly_file_says_names_poses_and_units() {
    let folder = folder("review-assembly");
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    folder.write("parts/plate.obj", CUBE);
    folder.write(
        "parts/assembly.json",
        r#"{ "unit": "mm", "parts": [
        { "file": "plate.obj" },
        { "file": "plate.obj", "name": "Left", "pose": [1, 0, 0, 0, 0, 0, 1] },
        { "file": "../A.obj", "unit": "cm",
          "matrix": [1, 0, 0, -10.5, 0, 1, 0, 0, 0, 0, 1, 0] } ] }"#,
    );
    // One of them is outside its folder.
    let args = ["check", "parts/assembly.json", "--json", "--clearance", "0.6mm"];
    let message = folder.refusal(&args);
    assert!(message.contains("../A.obj: it is outside the folder of the scene"), "{message}");
    let json = folder.json(&[&args[..], &["--allow-outside"]].concat());
    assert_eq!(kinds(&json), ["contact", "too_close"]);
    let names = ["a", "b"].map(|side| json["findings"][1][side].as_str().unwrap());
    assert_eq!(names, ["A", "plate"]);
    let distance = json["findings"][1]["distance"].as_f64().unwrap();
    assert!((distance - 0.0005).abs() < 1e-8, "{distance}");
    assert_eq!(json["unit"], "m");
    for (text, expected) in [
        (r#"{ "parts": [ { "file": "A.obj", "pose": [1, 2] } ] }"#, "parts[0].pose: expected 7"),
        (r#"{ "parts": [ { "file": "A.obj", "matrix": [1] } ] }"#, "parts[0].matrix: expected 12"),
        (r#"{ "parts": [ { "file": "A.obj", "unit": "mile" } ] }"#, "parts[0].unit: expected um"),
        (r#"{ "parts": [ { "file": "a.glb", "unit": "mm" } ] }"#, "a.glb is in metres"),
        (r#"{ "parts": [ { "file": "more.json" } ] }"#, "an assembly cannot contain another"),
        ("{ \"parts\": [\n { \"fil\": \"A.obj\" } ] }", "unknown field `fil`"),
        ("{ \"parts\": [\n { \"fil\": \"A.obj\" } ] }", "line 2"),
        (r#"{ "parts": [ { "file": "none.obj" } ] }"#, "none.obj"),
    ] {
        folder.write("bad.json", text);
        let message = folder.refusal(&["check", "bad.json"]);
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn names_to_ignore_have_wildcards_and_quotes() {
    let folder = folder("review-ignore");
    folder.write(
        "parts.json",
        r#"{ "parts": [ { "file": "A.obj", "name": "Bolt, M8" },
        { "file": "A.obj", "name": "Bolt, M6" }, { "file": "A.obj", "name": "Plate" } ] }"#,
    );
    let left = |pairs: &[&str]| {
        let mut args = vec!["check", "parts.json", "--json"];
        pairs.iter().for_each(|pair| args.extend(["--ignore", pair]));
        let json = folder.json(&args);
        (json["findings"].as_array().unwrap().len(), json["warnings"].as_array().unwrap().len())
    };
    assert_eq!(left(&[]), (3, 0));
    assert_eq!(left(&["\"Bolt, M8\",Plate"]), (2, 0));
    assert_eq!(left(&["Bolt*,Pl?te"]), (1, 0));
    assert_eq!(left(&["*,*"]), (0, 0));
    assert_eq!(left(&["Nut*,Plate"]), (3, 1));
}

#[test]
fn what_was_accepted_does_not_fail_until_it_gets_worse() {
    let folder = folder("review-accept");
    let check = |x: &str, more: &[&str]| {
        let pose = format!("B={x} 0 0 0 0 0 1");
        let args = ["check", "A.obj", "B.obj", "--clearance", "1", "--fail-on", "clearance"];
        let args = [&args[..], &["--pose", &pose, "--accept", "ok.jsonl"], more].concat();
        folder.jostle(&args)
    };
    assert_eq!(check("1", &[]).status.code(), Some(2), "there is no such file yet");
    assert_eq!(check("1", &["--write-accept"]).status.code(), Some(0));
    let file = std::fs::read_to_string(folder.path().join("ok.jsonl")).unwrap();
    let line = r#"{"a":"A","b":"B","kind":"contact"}"#;
    assert_eq!(file, format!("{{\"jostle_accept\":1}}\n{line}\n"));
    let accepted = check("1", &[]);
    assert_eq!(accepted.status.code(), Some(0));
    let text = String::from_utf8_lossy(&accepted.stdout).into_owned();
    assert!(text.contains("0 pairs touch") && text.ends_with("; 1 accepted\n"), "{text}");
    assert_eq!(check("1.5", &[]).status.code(), Some(0), "less severe than what was accepted");
    assert_eq!(check("0.5", &[]).status.code(), Some(1), "the contact has become an overlap");
    let stale = check("5", &[]);
    assert_eq!(stale.status.code(), Some(0));
    assert!(
        stderr(&stale).contains("not found any more: contact of A and B"),
        "{}",
        stderr(&stale)
    );
    // Distances, and the note that a reviewer has added, which stays.
    folder.write("ok.jsonl", file.replace("\"contact\"}", "\"contact\",\"note\":\"by design\"}"));
    assert_eq!(check("1.5", &["--write-accept"]).status.code(), Some(0));
    let file = std::fs::read_to_string(folder.path().join("ok.jsonl")).unwrap();
    assert!(file.contains(r#""kind":"too_close","closest":0.5,"note":"by design"}"#), "{file}");
    assert_eq!(check("1.5", &[]).status.code(), Some(0));
    assert_eq!(check("1.4", &[]).status.code(), Some(1), "closer than when it was accepted");
    folder.write("ok.jsonl", "{\"jostle_accept\":1}\n{\"a\":\"A\"}\n");
    assert!(stderr(&check("1", &[])).contains("ok.jsonl: line 2: missing field"));
}

#[test]
fn reports_are_written_whole_with_names_as_they_are() {
    let folder = folder("review-reports");
    folder.write(
        "parts.json",
        r#"{ "unit": "mm", "parts": [
        { "file": "A.obj", "name": "<b>Bolt</b>, \"M8\"" },
        { "file": "A.obj", "name": "Plate", "pose": [0.5, 0, 0, 0, 0, 0, 1] } ] }"#,
    );
    let args = ["check", "parts.json", "--show", "mm", "--csv", "out.csv", "--report", "out.html"];
    folder.text(&args);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let csv = read("out.csv");
    assert!(csv.starts_with("kind,a,b,distance,unit,accepted,ax"), "{csv}");
    assert!(csv.contains("\r\noverlap,\"<b>Bolt</b>, \"\"M8\"\"\",Plate,0,mm,false,"), "{csv}");
    let html = read("out.html");
    assert!(html.contains("&lt;b&gt;Bolt&lt;/b&gt;, &quot;M8&quot;") && !html.contains("<b>Bolt"));
    assert!(
        html.contains("<svg") && html.contains("class=\"mark\"") && html.ends_with("</html>\n")
    );
    assert!(!html.contains("http"), "nothing comes from outside");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap()).collect();
    assert!(!left.iter().any(|file| file.file_name().to_string_lossy().ends_with(".part")));
    // Nothing that is read is overwritten.
    for (option, file) in [("--csv", "A.obj"), ("--report", "parts.json"), ("--csv", "./A.obj")] {
        let message = folder.refusal(&["check", "parts.json", option, file]);
        assert!(message.contains(&format!("{option} would overwrite")), "{message}");
    }
    assert_eq!(read("A.obj"), CUBE);
    folder.refusal(&["check", "parts.json", "--csv", "x", "--report", "x"]);
    folder.refusal(&["check", "parts.json", "--csv", "no/such/folder.csv"]);
}

#[test]
fn lengths_have_units_where_they_are_known() {
    let folder = folder("review-units");
    let pose = "B=1.0041239 0 0 0 0 0 1";
    let args = ["check", "A.obj", "B.obj", "--pose", pose, "--clearance", "0.1"];
    let text = folder.text(&args);
    assert!(text.contains("too close  A  and  B: 0.004124 units apart"), "{text}");
    assert!(text.ends_with("0 pairs touch, 1 closer than 0.1 units\n"), "{text}");
    let message = folder.refusal(&[&args[..], &["--show", "mm"]].concat());
    assert!(message.contains("--show needs the unit of A.obj"), "{message}");
    let text = folder.text(&[&args[..], &["--unit", "m", "--show", "mm"]].concat());
    assert!(text.contains(": 4.124 mm apart") && text.contains("closer than 100 mm"), "{text}");
    let text = folder.text(&[
        "check",
        "A.obj",
        "B.obj",
        "--unit",
        "mm",
        "--pose",
        "B=1.5mm 0 0 0 0 0 1",
        "--clearance",
        "1mm",
    ]);
    assert!(text.contains(": 0.5000 mm apart"), "{text}");
    // glTF and VRML are in metres.
    let scene = "#VRML V2.0 utf8\nDEF A Transform { children Shape { geometry Box {} } }";
    folder.write("one.wrl", scene);
    let message = folder.refusal(&["check", "one.wrl", "--unit", "mm"]);
    assert!(message.contains("one.wrl is in metres by its format"), "{message}");
    folder.refusal(&["run", "one.wrl", "--unit", "mm", "--steps", "1"]);
    assert_eq!(folder.json(&["check", "A.obj", "--json"])["unit"], Value::Null);
}

#[test]
fn one_part_is_nothing_to_compare() {
    let folder = folder("review-one");
    let text = folder.text(&["check", "A.obj"]);
    assert_eq!(text, "1 object (1 body, 12 triangles): nothing to compare\n");
}

#[test]
fn many_of_the_same_two_parts_are_one_group() {
    let folder = folder("review-groups");
    let bolt = |at: usize| {
        format!("{{ \"file\": \"inner.obj\", \"pose\": [{}, 0, 0.5, 0, 0, 0, 1] }}", at)
    };
    let bolts: Vec<String> = (0..8).map(bolt).collect();
    folder.write("plate.obj", cube("0", "9"));
    folder.write(
        "bolts.json",
        format!("{{ \"parts\": [ {{ \"file\": \"plate.obj\" }}, {} ] }}", bolts.join(", ")),
    );
    let text = folder.text(&["check", "bolts.json", "--solid"]);
    assert!(text.starts_with("inside     inner  inside  plate, 8 times\n"), "{text}");
    assert!(text.contains("and 3 more; --csv, --json and --report list all"), "{text}");
    assert!(
        text.contains("9 objects (9 bodies, 108 triangles): 8 pairs touch (8 inside)"),
        "{text}"
    );
}
