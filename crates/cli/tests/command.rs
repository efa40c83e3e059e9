//! The command from outside: what it prints, what it refuses, with which code it ends.

mod common;

use common::{CUBE, Folder, contains_all, cube_model, pose, stderr};
use jostle_geom::{Model, Pair, Pose};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// Corner to corner, apart by 1, apart by 4, half overlapping.
const POSES: &str = "# translation and quaternion\n\
1 1 1 0 0 0 1\n\
\n\
2 0 0 0 0 0 1   # apart\n\
1 0 0 0 1 0 0 0 1 5 0 0\r\n\
0.5 0 0 0 0 0 1\n";

#[test]
fn mesh_reports_what_is_in_a_file() {
    let folder = Folder::new("mesh");
    let json = folder.json(&["mesh", "cube.obj", "--json", "--solid", "--quality", "fast"]);
    for (field, value) in [("triangles", 12), ("faces", 6), ("vertices", 8), ("open_edges", 0)] {
        assert_eq!(json[field], value, "{field}");
    }
    assert_eq!((&json["closed"], &json["solid"]), (&true.into(), &true.into()));
    assert!(json["build_ms"].is_number(), "{json}");
    assert!(json["bytes_per_triangle"].as_f64().unwrap() > 0.0, "{json}");
    assert_eq!((&json["volume"], &json["area"]), (&1.0.into(), &6.0.into()));
    assert_eq!((&json["size"], &json["unit"]), (&json!([1.0, 1.0, 1.0]), &Value::Null));
    assert_eq!((&json["gap"], &json["weld"]), (&Value::Null, &Value::Null));
    let output = folder.jostle(&["mesh", "cube.obj", "--unit", "mm"]);
    let text = String::from_utf8(output.stdout).unwrap();
    contains_all(
        &text,
        &[
            "triangles          12",
            "size               1 × 1 × 1 mm",
            "volume             1 mm³",
            "odd                nothing",
            "bytes per triangle",
        ],
    );
}

#[test]
fn an_open_mesh_is_not_made_solid_and_says_so() {
    let folder = Folder::new("open");
    folder.write("open.obj", &CUBE[..CUBE.len() - 10]);
    let output = folder.jostle(&["mesh", "open.obj", "--solid", "--json"]);
    assert!(stderr(&output).starts_with("jostle: open.obj: warning: not solid"));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["solid"], false);
    assert_eq!(json["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn an_empty_mesh_is_a_mesh() {
    let folder = Folder::new("empty");
    folder.write("empty.obj", "");
    let output = folder.jostle(&["mesh", "empty.obj"]);
    assert_eq!(stderr(&output), "jostle: empty.obj: warning: the file is empty\n");
    assert!(String::from_utf8_lossy(&output.stdout).contains("none: there are no faces"));
    let json = folder.json(&["mesh", "empty.obj", "--json"]);
    assert_eq!((&json["triangles"], &json["bytes_per_triangle"]), (&0.into(), &Value::Null));
    let json = folder.json(&["pair", "cube.obj", "empty.obj", "--query", "distance", "--json"]);
    assert_eq!(json["results"][0]["distance"], Value::Null);
    assert_eq!(json["summary"]["hits"], 0);
}

#[test]
fn every_query_prints_results_and_a_summary() {
    let folder = Folder::new("queries");
    folder.write("poses.txt", POSES);
    for query in ["touch", "witness", "pairs", "distance", "within=1", "relation"] {
        let args = ["pair", "cube.obj", "cube.obj", "--json", "--query", query];
        let json = folder.json(&args);
        assert_eq!(json["results"].as_array().unwrap().len(), 1, "{query}");
        let json = folder.json(&[&args[..], &["--poses", "poses.txt"]].concat());
        assert_eq!(json["results"].as_array().unwrap().len(), 4, "{query}");
        let summary = &json["summary"];
        assert_eq!(summary["queries"], 4, "{query}");
        for field in ["hits", "pairs", "distance_sum", "mean_us"] {
            assert!(summary[field].is_number(), "{query}: {field}");
        }
        let output = folder.jostle(&["pair", "cube.obj", "cube.obj", "--query", query]);
        assert!(String::from_utf8_lossy(&output.stdout).contains("µs per query"), "{query}");
    }
}

/// What [`POSES`] has, asked of the library.
fn pairs_at_poses(cube: &Model) -> [Pair<'_>; 4] {
    let poses =
        [pose(1.0, 1.0, 1.0), pose(2.0, 0.0, 0.0), pose(5.0, 0.0, 0.0), pose(0.5, 0.0, 0.0)];
    poses.map(|pose| Pair::new(cube, &Pose::IDENTITY, cube, &pose))
}

#[test]
fn answers_are_those_of_the_library() {
    let folder = Folder::new("library");
    folder.write("poses.txt", POSES);
    let cube = cube_model();
    let pairs = pairs_at_poses(&cube);
    let ask = |query: &str| {
        let args = ["pair", "cube.obj", "cube.obj", "--poses", "poses.txt", "--json", "--query"];
        folder.json(&[&args[..], &[query]].concat())
    };
    let check = |query: &str, results: [Value; 4], hits: usize| {
        let json = ask(query);
        assert_eq!(json["results"], Value::from(results.to_vec()), "{query}");
        assert_eq!(json["summary"]["hits"], hits, "{query}");
    };
    let hits = |answers: [bool; 4]| answers.iter().filter(|&&hit| hit).count();
    let touches = pairs.map(|pair| pair.touches());
    check("touch", touches.map(|touches| json!({ "touches": touches })), hits(touches));
    let within = pairs.map(|pair| pair.within(1.0));
    check("within=1", within.map(|within| json!({ "within": within })), hits(within));
    let all = pairs.map(|pair| pair.all_pairs());
    let faces = all.clone().map(|all| all.iter().map(|f| [f.a, f.b]).collect::<Vec<_>>());
    let hit = all.clone().map(|all| !all.is_empty());
    check("pairs", faces.map(|faces| json!({ "pairs": faces })), hits(hit));
    let sum: usize = all.iter().map(Vec::len).sum();
    assert_eq!(ask("pairs")["summary"]["pairs"], sum);
    let distances = pairs.map(|pair| pair.distance().map(|found| found.distance));
    let json = ask("distance");
    let found: Vec<_> = (0..4).map(|i| json["results"][i]["distance"].as_f64()).collect();
    assert_eq!(found, distances);
    let sum: f64 = distances.into_iter().flatten().sum();
    assert_eq!(json["summary"]["distance_sum"].as_f64(), Some(sum));
}

#[test]
fn the_code_is_1_only_when_asked() {
    let folder = Folder::new("codes");
    let cube = cube_model();
    let pair = Pair::new(&cube, &Pose::IDENTITY, &cube, &Pose::IDENTITY);
    let code = |more: &[&str]| {
        folder.jostle(&[&["pair", "cube.obj", "cube.obj"][..], more].concat()).status.code()
    };
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["--fail-on", "touch"]), Some(i32::from(pair.touches())));
    let clearance = ["--query", "within=2", "--fail-on", "clearance"];
    assert_eq!(code(&clearance), Some(i32::from(pair.within(2.0))));
    assert_eq!(code(&["--fail-on", "touch", "--pose-b", "9 0 0 0 0 0 1"]), Some(0));
}

#[test]
fn bad_poses_are_named_with_their_line() {
    let folder = Folder::new("poses");
    let refusal = |poses: &str| {
        folder.write("poses.txt", poses);
        folder.refusal(&["pair", "cube.obj", "cube.obj", "--poses", "poses.txt"])
    };
    let good = "0 0 0 0 0 0 1\n# comment\n\n";
    let message = refusal(&format!("{good}1 2 3\n"));
    assert!(message.starts_with("jostle: poses.txt: line 4: a pose is 12 numbers"), "{message}");
    let message = refusal(&format!("{good}0 0 zero 0 0 0 1\n"));
    assert_eq!(message, "jostle: poses.txt: line 4: expected a number, found \"zero\"\n");
    let message = refusal(&format!("{good}0 0 nan 0 0 0 1\n"));
    assert!(
        message.starts_with("jostle: poses.txt: line 4: a pose needs finite numbers"),
        "{message}"
    );
    let message = refusal(&format!("{good}2 0 0 0 2 0 0 0 2 0 0 0\n"));
    assert!(message.starts_with("jostle: poses.txt: line 4: a rotation matrix needs"), "{message}");
    let message = folder.refusal(&["pair", "cube.obj", "cube.obj", "--pose-b", "-1 0 0"]);
    assert!(message.contains("a pose is 7 numbers"), "{message}");
}

#[test]
fn bad_files_are_named_with_their_place() {
    let folder = Folder::new("files");
    folder.write("bad.obj", "v 0 0 0\nv 0 1e99 0\n");
    folder.write("short.stl", [0; 90]);
    folder.write("cube.txt", CUBE);
    folder.write("cube.step", "ISO-10303-21;");
    folder.write("arm.urdf", "<robot/>");
    for (file, message) in [
        ("bad.obj", "line 2: a coordinate must be finite and at most 3.4e38 in size, found"),
        ("missing.obj", "No such file"),
        ("cube.txt", "a format that is not known; expected VRML97 (.wrl, .wrz), glTF"),
        ("cube.step", "STEP files are not read here; convert to glTF (.glb) or STL, e.g. with"),
        ("arm.urdf", "robot descriptions (URDF, SDF, MJCF) are not read here"),
    ] {
        for args in [&["mesh", file][..], &["pair", "cube.obj", file], &["check", file]] {
            let refusal = folder.refusal(args);
            assert!(refusal.starts_with(&format!("jostle: {file}: {message}")), "{refusal}");
        }
    }
}

#[test]
fn bad_questions_are_refused() {
    let folder = Folder::new("questions");
    let pair = ["pair", "cube.obj", "cube.obj"];
    for (args, message) in [
        (&["--query", "near"][..], "expected touch, witness"),
        (&["--query", "within=-1"], "within needs a distance"),
        (&["--query", "within=nan"], "within needs a distance"),
        (&["--fail-on", "clearance"], "ask --query within=D"),
        (&["--query", "within=1", "--fail-on", "touch"], "ask --fail-on clearance"),
        (&["--quality", "best"], "invalid value"),
        (&["--segments"], "--segments does not go with --query touch; ask --query pairs"),
        (&["--contacts-max", "3"], "ask --query pairs"),
        (&["--query", "pairs", "--contacts-max", "0"], "invalid value"),
        (&["--query", "pairs", "--contacts-max", "3", "--segments"], "cannot be used with"),
        (&["--pose-a-end", "0 0 0 0 0 0 1"], "ask --query toi"),
        (&["--pose-b-end", "0 0 0 0 0 0 1"], "ask --query toi"),
        (&["--motion", "screw"], "--motion does not go with --query touch; ask --query toi"),
        (&["--tolerance", "0.1"], "ask --query toi"),
        (&["--query", "toi", "--tolerance", "-1"], "expected a part of the motion"),
        (&["--query", "toi", "--tolerance", "nan"], "expected a part of the motion"),
        (&["--query", "toi", "--fail-on", "clearance"], "ask --query within=D"),
        (&["--query", "toi", "--counters"], "--counters does not go with --query toi"),
        (&["--query", "relation", "--counters"], "--counters does not go with"),
        (&["--query", "pairs", "--segments", "--counters"], "without --segments"),
        (&["--first", "3"], "--poses"),
    ] {
        let refusal = folder.refusal(&[&pair[..], args].concat());
        assert!(refusal.contains(message), "{args:?}: {refusal}");
    }
}

#[test]
fn relations_have_names() {
    let folder = Folder::new("relation");
    let small = "v 0 0 0\nv 0.5 0 0\nv 0 0.5 0\nv 0 0 0.5\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    folder.write("small.obj", small);
    let inside = "0.1 0.1 0.1 0 0 0 1";
    for (a, b, pose_a, pose_b, message) in [
        ("cube.obj", "cube.obj", "0 0 0 0 0 0 1", "9 0 0 0 0 0 1", "apart"),
        ("cube.obj", "cube.obj", "0 0 0 0 0 0 1", "1 1 1 0 0 0 1", "touching"),
        ("cube.obj", "cube.obj", "0 0 0 0 0 0 1", "0.3 0.4 0.5 0 0 0 1", "crossing"),
        ("small.obj", "cube.obj", inside, "0 0 0 0 0 0 1", "a-inside-b"),
        ("cube.obj", "small.obj", "0 0 0 0 0 0 1", inside, "b-inside-a"),
        ("cube.obj", "cube.obj", inside, inside, "identical"),
    ] {
        let args = ["pair", a, b, "--pose-a", pose_a, "--pose-b", pose_b, "--solid"];
        let args = [&args[..], &["--query", "relation"]].concat();
        let json = folder.json(&[&args[..], &["--json"]].concat());
        assert_eq!(json["results"][0], json!({ "relation": message }));
        assert_eq!(json["summary"]["hits"], u32::from(message != "apart"), "{message}");
        assert!(folder.text(&args).starts_with(&format!("{message}\n")), "{message}");
    }
}

/// The two halves of a box cut along z = 3x share a face, whose middle `f64` does not have.
#[test]
fn two_wedges_of_a_box_touch() {
    let folder = Folder::new("wedges");
    let wedge = |corners: [(u8, u8); 3]| {
        let corner = |y: u8| corners.map(|(x, z)| format!("v {x} {y} {z}\n")).concat();
        let faces = "f 1 2 3\nf 4 6 5\nf 1 4 5 2\nf 2 5 6 3\nf 3 6 4 1\n";
        format!("{}{}{faces}", corner(0), corner(1))
    };
    folder.write("lo.obj", wedge([(0, 0), (1, 0), (1, 3)]));
    folder.write("up.obj", wedge([(0, 0), (1, 3), (0, 3)]));
    for (a, b) in [("lo.obj", "up.obj"), ("up.obj", "lo.obj")] {
        let text = folder.text(&["pair", a, b, "--query", "relation", "--solid"]);
        assert!(text.starts_with("touching\n"), "{text}");
    }
}

#[test]
fn segments_and_limits_are_those_of_the_library() {
    let folder = Folder::new("segments");
    folder.write("poses.txt", POSES);
    let cube = cube_model();
    let args = ["pair", "cube.obj", "cube.obj", "--poses", "poses.txt", "--query", "pairs"];
    let ask = |more: &[&str]| folder.json(&[&args[..], &["--json"], more].concat());
    let (plain, segments, limited) =
        (ask(&[]), ask(&["--segments"]), ask(&["--contacts-max", "2"]));
    assert_eq!(segments["summary"]["pairs"], plain["summary"]["pairs"]);
    let poses =
        [pose(1.0, 1.0, 1.0), pose(2.0, 0.0, 0.0), pose(5.0, 0.0, 0.0), pose(0.5, 0.0, 0.0)];
    for (i, at) in poses.iter().enumerate() {
        let found: Vec<Value> = Pair::new(&cube, &Pose::IDENTITY, &cube, at)
            .all_segments()
            .iter()
            .map(|s| {
                let ends = s.ends.map(|end| end.to_array());
                json!({ "faces": [s.faces.a, s.faces.b], "ends": ends })
            })
            .collect();
        let all = &plain["results"][i]["pairs"];
        assert_eq!(segments["results"][i], json!({ "pairs": all, "segments": found }), "pose {i}");
        let touches = !found.is_empty();
        assert_eq!(limited["results"][i]["full"], touches, "pose {i}");
        let few = limited["results"][i]["pairs"].as_array().unwrap();
        assert!(few.len() <= 2 && few.is_empty() != touches, "pose {i}: {few:?}");
        assert!(few.iter().all(|pair| all.as_array().unwrap().contains(pair)), "pose {i}");
    }
    assert!(limited["summary"]["pairs"].as_u64() < plain["summary"]["pairs"].as_u64());
    let text = folder.text(&[&args[..], &["--contacts-max", "1"]].concat());
    assert_eq!(text.matches("stopped here").count(), 2, "{text}");
}

#[test]
fn counters_are_the_means_of_the_library() {
    let folder = Folder::new("counters");
    folder.write("poses.txt", POSES);
    let cube = cube_model();
    let pairs = pairs_at_poses(&cube);
    let args = ["pair", "cube.obj", "cube.obj", "--poses", "poses.txt", "--query"];
    for (query, counted) in [
        ("touch", pairs.map(|pair| pair.touches_counted().1)),
        ("pairs", pairs.map(|pair| pair.all_pairs_counted().1)),
        ("distance", pairs.map(|pair| pair.distance_counted().1)),
        ("within=1", pairs.map(|pair| pair.within_counted(1.0).1)),
    ] {
        let args = [&args[..], &[query]].concat();
        let json = folder.json(&[&args[..], &["--json", "--counters"]].concat());
        let mean = |sum: u64| sum as f64 / 4.0;
        let expected = json!({
            "box_tests": mean(counted.iter().map(|c| c.box_tests).sum()),
            "triangle_tests": mean(counted.iter().map(|c| c.triangle_tests).sum()),
            "unsure": mean(counted.iter().map(|c| c.unsure).sum()),
        });
        assert_eq!(json["summary"]["counters"], expected, "{query}");
        let json = folder.json(&[&args[..], &["--json"]].concat());
        assert_eq!(json["summary"]["counters"], Value::Null, "{query}");
        let text = folder.text(&[&args[..], &["--counters"]].concat());
        assert!(text.contains("box tests per query"), "{query}: {text}");
    }
    let args = ["pair", "cube.obj", "cube.obj", "--query", "pairs", "--contacts-max", "1"];
    let json = folder.json(&[&args[..], &["--json", "--counters"]].concat());
    assert!(json["summary"]["counters"]["triangle_tests"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_summary_alone_and_the_first_poses() {
    let folder = Folder::new("first");
    // What comes after the first poses is not looked at.
    folder.write("poses.txt", format!("{POSES}no pose\n"));
    let args = ["pair", "cube.obj", "cube.obj", "--poses", "poses.txt", "--query", "distance"];
    let ask = |more: &[&str]| folder.json(&[&args[..], &["--json"], more].concat());
    let json = ask(&["--first", "2"]);
    assert_eq!(json["results"].as_array().unwrap().len(), 2);
    assert_eq!((&json["summary"]["queries"], &json["summary"]["hits"]), (&2.into(), &1.into()));
    let json = ask(&["--first", "4", "--summary"]);
    assert_eq!(json.as_object().unwrap().len(), 1);
    assert_eq!(json["summary"]["distance_sum"], 5.0);
    let text = folder.text(&[&args[..], &["--first", "4", "--summary"]].concat());
    assert!(text.starts_with("4 queries, 2 hits\n5 distance in all\n"), "{text}");
    folder.write("poses.txt", POSES);
    assert_eq!(ask(&["--first", "99"])["summary"]["queries"], 4);
}

#[test]
fn results_come_in_the_order_of_many_poses() {
    let folder = Folder::new("many");
    // More than two batches, every third of them apart.
    let line = |i: usize| format!("{} 0 0 0 0 0 1\n", if i.is_multiple_of(3) { 2.0 } else { 0.5 });
    folder.write("poses.txt", (0..150).map(line).collect::<String>());
    let args = ["pair", "cube.obj", "cube.obj", "--poses", "poses.txt"];
    let json = folder.json(&[&args[..], &["--json"]].concat());
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 150);
    for (i, result) in results.iter().enumerate() {
        assert_eq!(result["touches"], i % 3 != 0, "pose {i}");
    }
    assert_eq!(json["summary"]["hits"], 100);
    let text = folder.text(&args);
    for (i, line) in text.lines().take(150).enumerate() {
        let answer = if i % 3 == 0 { "apart" } else { "touch" };
        assert_eq!(line, format!("{i:>6}  {answer}"));
    }
    folder.write("poses.txt", "# none\n");
    let json = folder.json(&[&args[..], &["--json", "--counters"]].concat());
    assert_eq!((&json["results"], &json["summary"]["mean_us"]), (&json!([]), &json!(0.0)));
}

#[test]
fn a_reader_that_stops_early_does_not_change_the_code() {
    let folder = Folder::new("pipe");
    folder.write("poses.txt", "0.5 0 0 0 0 0 1\n".repeat(2000));
    let mut child = Command::new(env!("CARGO_BIN_EXE_jostle"))
        .args(["pair", "cube.obj", "cube.obj", "--poses", "poses.txt", "--query", "pairs"])
        .args(["--json", "--fail-on", "touch"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
