//! `jostle pair --query toi`: motions from options and from files, as the library answers them.

mod common;

use common::{Folder, cube_model, pose};
use glam::{DQuat, DVec3};
use jostle_geom::{Motion, Pose, TimeOfImpact, TimeOfImpactLimits, time_of_impact};
use serde_json::{Value, json};

const ARGS: [&str; 5] = ["pair", "cube.obj", "cube.obj", "--query", "toi"];

fn shape(contact: TimeOfImpact) -> Value {
    let (kind, free, at, closest) = match contact {
        TimeOfImpact::Never => ("never", Some(1.0), None, None),
        TimeOfImpact::AtStart => ("at-start", None, Some(0.0), None),
        TimeOfImpact::During { free, contact, closest } => {
            ("during", Some(free), Some(contact), Some(closest))
        }
        TimeOfImpact::Unknown { free } => ("unknown", Some(free), None, None),
    };
    json!({
        "kind": kind,
        "free": free,
        "contact": at,
        "distance": closest.map(|c| c.distance),
        "faces": closest.map(|c| [c.faces.a, c.faces.b]),
        "points": closest.map(|c| [c.point_a.to_array(), c.point_b.to_array()]),
    })
}

/// Two cubes, as the library has it.
fn library(motion_a: &Motion, motion_b: &Motion, limits: &TimeOfImpactLimits) -> Value {
    let cube = cube_model();
    let found = shape(time_of_impact(&cube, motion_a, &cube, motion_b, limits));
    // Through text, because serde_json may read a number one unit in the last place off.
    serde_json::from_str(&found.to_string()).unwrap()
}

#[test]
fn start_and_end_are_options() {
    let folder = Folder::new("toi");
    let still = Motion::still(&Pose::IDENTITY);
    let limits = TimeOfImpactLimits::default();
    let ask = |more: &[&str]| folder.json(&[&ARGS[..], &["--json"], more].concat());

    // Nothing moves.
    let json = ask(&["--pose-b", "3 0 0 0 0 0 1"]);
    assert_eq!(json["results"][0]["kind"], "never");
    assert_eq!((&json["summary"]["hits"], &json["summary"]["unknown"]), (&json!(0), &json!(0)));
    assert_eq!(ask(&[])["results"][0], shape(TimeOfImpact::AtStart));

    // B flies through A; A meets B halfway.
    let flight = Motion::linear(&pose(3.0, 0.25, 0.25), &pose(-5.0, 0.25, 0.25));
    let b = ["--pose-b", "3 0.25 0.25 0 0 0 1", "--pose-b-end", "-5 0.25 0.25 0 0 0 1"];
    let json = ask(&b);
    assert_eq!(json["results"][0], library(&still, &flight, &limits));
    assert_eq!(json["results"][0]["kind"], "during");
    assert_eq!(json["summary"]["hits"], 1);
    let (free, contact) = (&json["results"][0]["free"], &json["results"][0]["contact"]);
    assert!(free.as_f64().unwrap() < 0.25 && contact.as_f64().unwrap() < 0.25 + 1e-6);
    let meeting = Motion::linear(&Pose::IDENTITY, &pose(8.0, 0.0, 0.0));
    let json = ask(&[&b[..], &["--pose-a-end", "8 0 0 0 0 0 1"]].concat());
    assert_eq!(json["results"][0], library(&meeting, &flight, &limits));
    assert!(json["results"][0]["contact"].as_f64().unwrap() < 0.2);

    // A coarser tolerance.
    let coarse = TimeOfImpactLimits { time: 0.01, ..limits };
    let json = ask(&[&b[..], &["--tolerance", "0.01"]].concat());
    assert_eq!(json["results"][0], library(&still, &flight, &coarse));
    assert_ne!(json["results"][0], library(&still, &flight, &limits));
}

/// Scripts that were written for `--query toc` go on.
#[test]
fn the_old_name_of_the_query_is_still_accepted() {
    let folder = Folder::new("toc");
    let of = |query| {
        let args = ["pair", "cube.obj", "cube.obj", "--query", query, "--json"];
        folder.json(&[&args[..], &["--pose-b", "3 0 0 0 0 0 1"]].concat())["results"].clone()
    };
    assert_eq!(of("toc"), of("toi"));
}

#[test]
fn screws_and_lines_differ() {
    let folder = Folder::new("screw");
    // Through A on the line; on the screw around A, about the origin.
    let (sin, cos) = 170f64.to_radians().sin_cos();
    let (half_sin, half_cos) = 85f64.to_radians().sin_cos();
    let (x, y) = (-2.0 * cos, -2.0 * sin);
    let start = pose(-2.0, 0.0, 0.0);
    let turn = DQuat::from_xyzw(0.0, 0.0, half_sin, half_cos);
    let end = Pose::new(turn, DVec3::new(x, y, 0.0)).unwrap();
    let end_text = format!("{x} {y} 0 0 0 {half_sin} {half_cos}");
    let args = ["--json", "--pose-b", "-2 0 0 0 0 0 1", "--pose-b-end", &end_text];
    let ask = |more: &[&str]| folder.json(&[&ARGS[..], &args, more].concat());
    let limits = TimeOfImpactLimits::default();
    let still = Motion::still(&Pose::IDENTITY);
    let linear = library(&still, &Motion::linear(&start, &end), &limits);
    let screw = library(&still, &Motion::screw(&start, &end).unwrap(), &limits);
    assert_eq!((&linear["kind"], &screw["kind"]), (&json!("during"), &json!("never")));
    assert_eq!(ask(&[])["results"][0], linear);
    assert_eq!(ask(&["--motion", "linear"])["results"][0], linear);
    assert_eq!(ask(&["--motion", "screw"])["results"][0], screw);
}

#[test]
fn poses_of_a_file_are_stations() {
    let folder = Folder::new("stations");
    let stations =
        [pose(3.0, 0.0, 0.0), pose(3.0, 3.0, 0.0), pose(-3.0, -3.0, 0.0), pose(0.5, 0.0, 0.0)];
    folder.write(
        "poses.txt",
        "3 0 0 0 0 0 1\n3 3 0 0 0 0 1\n-3 -3 0 0 0 0 1\n0.5 0 0 0 0 0 1\n9 0 0 0 0 0 1\n",
    );
    let still = Motion::still(&Pose::IDENTITY);
    let args = [&ARGS[..], &["--poses", "poses.txt"]].concat();
    let json = folder.json(&[&args[..], &["--json"]].concat());
    let results = json["results"].as_array().unwrap();
    assert_eq!((results.len(), &json["summary"]["queries"]), (4, &json!(4)));
    let kinds: Vec<_> = results.iter().map(|result| result["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["never", "during", "during", "at-start"]);
    assert_eq!(json["summary"]["hits"], 3);
    for (motion, ends) in stations.windows(2).enumerate() {
        let moving = Motion::linear(&ends[0], &ends[1]);
        let expected = library(&still, &moving, &TimeOfImpactLimits::default());
        assert_eq!(results[motion], expected, "motion {motion}");
    }
    let text = folder.text(&args);
    assert!(text.starts_with("     0  never\n     1  during    free 0."));
    assert!(text.contains("     3  at-start\n4 queries, 3 hits\n"), "{text}");
    let json = folder.json(&[&args[..], &["--json", "--first", "2"]].concat());
    assert_eq!(json["summary"]["queries"], 1);
}

#[test]
fn contact_fails_only_when_asked() {
    let folder = Folder::new("toi-codes");
    let code = |more: &[&str]| folder.jostle(&[&ARGS[..], more].concat()).status.code();
    let through = ["--pose-b", "3 0 0 0 0 0 1", "--pose-b-end", "-5 0 0 0 0 0 1"];
    let away = ["--pose-b", "3 0 0 0 0 0 1", "--pose-b-end", "5 0 0 0 0 0 1"];
    assert_eq!(code(&through), Some(0));
    assert_eq!(code(&[&through[..], &["--fail-on", "touch"]].concat()), Some(1));
    assert_eq!(code(&[&away[..], &["--fail-on", "touch"]].concat()), Some(0));
}

#[test]
fn what_is_no_motion_is_refused() {
    let folder = Folder::new("toi-bad");
    let refusal = |more: &[&str]| folder.refusal(&[&ARGS[..], more].concat());
    folder.write("poses.txt", "3 0 0 0 0 0 1\n0 0 0 0 0 0 1\n");
    let message = refusal(&["--poses", "poses.txt", "--first", "1"]);
    assert_eq!(message, "jostle: poses.txt: --query toi needs at least 2 poses, found 1\n");
    let message = refusal(&["--poses", "poses.txt", "--pose-b-end", "0 0 0 0 0 0 1"]);
    assert!(message.contains("cannot be used with"), "{message}");
    let message = refusal(&["--pose-b-end", "1 2 3"]);
    assert!(message.contains("a pose is 7 numbers"), "{message}");
    folder.write("far.txt", "0 0 0 0 0 0 1\n1e30 0 0 0 0 0 1\n-1e30 0 0 0 0 1 0\n");
    let message = refusal(&["--poses", "far.txt", "--motion", "screw"]);
    assert!(
        message.starts_with("jostle: --motion screw, motion 1 (the first is 0): "),
        "{message}"
    );
}
