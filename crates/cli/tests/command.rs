//! The command from outside: what it prints, what it refuses, with which code it ends.

use glam::DVec3;
use jostle_geom::{Model, Pair, Pose, Quality};
use jostle_scene::{Format, load};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder of its own for each test, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("jostle-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let folder = Folder(path);
        folder.write("cube.obj", CUBE);
        folder
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), content).unwrap();
    }

    fn jostle(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_jostle")).args(args).current_dir(&self.0).output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.jostle(args);
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// What the command says when it refuses.
    fn refusal(&self, args: &[&str]) -> String {
        let output = self.jostle(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        stderr(&output)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder left behind in the temporary files does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The unit cube, of squares.
const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

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
    assert!(json["build_ms"].as_f64().unwrap() >= 0.0);
    assert!(json["bytes_per_triangle"].as_f64().unwrap() >= 0.0);
    let output = folder.jostle(&["mesh", "cube.obj"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("triangles          12"), "{text}");
    assert!(text.contains("bytes per triangle"), "{text}");
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
    for query in ["touch", "witness", "pairs", "distance", "within=1"] {
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

#[test]
fn answers_are_those_of_the_library() {
    let folder = Folder::new("library");
    folder.write("poses.txt", POSES);
    let mesh = load(CUBE.as_bytes(), Format::Obj).unwrap().into_mesh().unwrap();
    let cube = Model::build(mesh, Quality::Default);
    let pose = |x, y, z| Pose::from_translation(DVec3::new(x, y, z)).unwrap();
    let poses =
        [pose(1.0, 1.0, 1.0), pose(2.0, 0.0, 0.0), pose(5.0, 0.0, 0.0), pose(0.5, 0.0, 0.0)];
    let pairs = poses.map(|pose| Pair::new(&cube, &Pose::IDENTITY, &cube, &pose));
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
    let mesh = load(CUBE.as_bytes(), Format::Obj).unwrap().into_mesh().unwrap();
    let cube = Model::build(mesh, Quality::Default);
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
    let told = refusal(&format!("{good}1 2 3\n"));
    assert!(told.starts_with("jostle: poses.txt: line 4: a pose is 12 numbers"), "{told}");
    let told = refusal(&format!("{good}0 0 zero 0 0 0 1\n"));
    assert_eq!(told, "jostle: poses.txt: line 4: expected a number, found \"zero\"\n");
    let told = refusal(&format!("{good}0 0 nan 0 0 0 1\n"));
    assert!(told.starts_with("jostle: poses.txt: line 4: a pose needs finite numbers"), "{told}");
    let told = refusal(&format!("{good}2 0 0 0 2 0 0 0 2 0 0 0\n"));
    assert!(told.starts_with("jostle: poses.txt: line 4: a rotation matrix needs"), "{told}");
    let told = folder.refusal(&["pair", "cube.obj", "cube.obj", "--pose-b", "-1 0 0"]);
    assert!(told.contains("a pose is 7 numbers"), "{told}");
}

#[test]
fn bad_files_are_named_with_their_place() {
    let folder = Folder::new("files");
    folder.write("bad.obj", "v 0 0 0\nv 0 1e99 0\n");
    folder.write("short.stl", [0; 90]);
    folder.write("cube.txt", CUBE);
    for (file, told) in [
        ("bad.obj", "line 2: a coordinate must be finite and at most 3.4e38 in size, found"),
        ("missing.obj", "No such file"),
        ("cube.txt", "the name must end in .obj, .stl or .ply"),
    ] {
        for args in [&["mesh", file][..], &["pair", "cube.obj", file]] {
            let refusal = folder.refusal(args);
            assert!(refusal.starts_with(&format!("jostle: {file}: {told}")), "{refusal}");
        }
    }
}

#[test]
fn bad_questions_are_refused() {
    let folder = Folder::new("questions");
    let pair = ["pair", "cube.obj", "cube.obj"];
    for (args, told) in [
        (&["--query", "near"][..], "expected touch, witness"),
        (&["--query", "within=-1"], "within needs a distance"),
        (&["--query", "within=nan"], "within needs a distance"),
        (&["--fail-on", "clearance"], "ask --query within=D"),
        (&["--query", "within=1", "--fail-on", "touch"], "ask --fail-on clearance"),
        (&["--quality", "best"], "invalid value"),
    ] {
        let refusal = folder.refusal(&[&pair[..], args].concat());
        assert!(refusal.contains(told), "{args:?}: {refusal}");
    }
}
