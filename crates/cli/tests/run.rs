//! `jostle run` from outside: a scene in motion.

mod common;

use common::{Folder, stderr};
use serde_json::Value;

fn sample(name: &str) -> String {
    format!("{}/../../scenes/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The events of a run as "step what a b".
fn events(json: &Value) -> Vec<String> {
    let rows = json["events"].as_array().unwrap().iter();
    let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_string();
    rows.map(|row| {
        format!("{} {} {} {}", row["step"], text(row, "what"), text(row, "a"), text(row, "b"))
    })
    .collect()
}

fn has(events: &[String], part: &str) -> bool {
    events.iter().any(|event| event.contains(part))
}

/// A cart at rest, a button that sends it off, and a wall.
const CART: &str = "#VRML V2.0 utf8
    NavigationInfo { avatarSize [ 0.25 ] }
    Viewpoint { position 0 0 0 }
    DEF CART Transform { translation 0 9 0 children [ Shape { geometry Box {} }
      DEF BUTTON TouchSensor {} ] }
    DEF WALL Transform { translation 5 0 0 children Shape { geometry Box { size 2 30 30 } } }
    DEF CLOCK TimeSensor { cycleInterval 4 startTime -10 }
    DEF PATH PositionInterpolator { key [ 0 1 ] keyValue [ 0 9 0, 8 9 0 ] }
    ROUTE BUTTON.touchTime TO CLOCK.set_startTime
    ROUTE CLOCK.fraction_changed TO PATH.set_fraction
    ROUTE PATH.value_changed TO CART.set_translation";

/// The document showed the hash of an earlier world.
#[test]
fn the_documented_run_ends_as_documented() {
    let folder = Folder::new("run-documented");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/command-line.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, shown) = document.split_once("$ jostle run scenes/steer.wrl ").unwrap();
    let (options, shown) = shown.split_once('\n').unwrap();
    let (shown, _) = shown.split_once("\n```").unwrap();
    let steer = sample("steer.wrl");
    let args: Vec<&str> = ["run", &steer].into_iter().chain(options.split(' ')).collect();
    let printed = folder.text(&args);
    assert_eq!(printed.lines().last(), shown.lines().last());
    assert_eq!(printed.lines().count(), shown.lines().count(), "{printed}");
}

#[test]
fn keys_drive_the_cart_into_the_wall() {
    let folder = Folder::new("run-keys");
    let steer = sample("steer.wrl");
    let still = folder.json(&["run", &steer, "--json", "--steps", "60"]);
    assert_eq!(events(&still), [""; 0]);
    let json = folder.json(&["run", &steer, "--json", "--steps", "60", "--key", "1:Right"]);
    let reported = events(&json);
    assert!(
        has(&reported, "begin CART ROOM") && has(&reported, "event CART.notColliding FALSE"),
        "{reported:?}"
    );
    assert_ne!(json["hash"], still["hash"]);
    assert_eq!((&json["steps"], &json["dt"]), (&60.into(), &0.03125.into()));
    let other = folder.json(&["run", &steer, "--json", "--steps", "60", "--key", "1:0x1014"]);
    assert_eq!(other["hash"], json["hash"]);
    for bad in ["Right", "1:Sideways", "x:Right", "1:Right+Sideways", "1.5:Right"] {
        let message = folder.refusal(&["run", &steer, "--key", bad]);
        assert!(message.contains("--key"), "{message}");
    }
}

#[test]
fn events_may_be_sent() {
    let folder = Folder::new("run-send");
    folder.write("cart.wrl", CART);
    let run = |send: &str| events(&folder.json(&["run", "cart.wrl", "--json", "--send", send]));
    assert_eq!(run("2:CART.scale=1 1 1"), [""; 0]);
    assert_eq!(run("5:CART.set_translation=4 9 0"), ["5 begin CART WALL"]);
    assert_eq!(run("5:CART.translation=4,9,0"), ["5 begin CART WALL"]);
    // A click: the clock starts, and the cart is at the wall after 1.5 s and 48 steps.
    assert_eq!(run("1:BUTTON"), ["48 begin CART WALL"]);
    for (bad, part) in [
        ("1:MISSING.scale=1 1 1", "the scene has no node named \"MISSING\""),
        ("1:CART.sideways=1", "Transform has no field or event \"sideways\""),
        ("1:CART.scale=1 1", "SFVec3f"),
        ("1:CART.scale=a b c", "SFVec3f"),
        ("1:CLOCK.loop=maybe", "SFBool"),
        ("1:CART", "TouchSensor"),
        ("1:CART.scale=NaN 1 1", ""),
    ] {
        let output = folder.jostle(&["run", "cart.wrl", "--send", bad]);
        let message = stderr(&output);
        // A number that is not finite is reported as a problem and not stored.
        let expected = if part.is_empty() { 0 } else { 2 };
        assert_eq!(output.status.code(), Some(expected), "{bad}: {message}");
        assert!(message.contains(part), "{bad}: {message}");
    }
    for bad in ["CART.scale=1 1 1", "1:=3", "1:CART=3", "x:CART", "1:"] {
        let message = folder.refusal(&["run", "cart.wrl", "--send", bad]);
        assert!(message.contains("--send"), "{bad}: {message}");
    }
}

#[test]
fn the_avatar_walks_to_the_wall_and_no_further() {
    let folder = Folder::new("run-walk");
    folder.write("cart.wrl", CART);
    let args = ["run", "cart.wrl", "--json", "--steps", "64", "--walk", "4 0 0"];
    let json = folder.json(&[&args[..], &["--record", "walk.jsonl"]].concat());
    assert!(has(&events(&json), "begin avatar WALL"), "{json}");
    let text = std::fs::read_to_string(folder.path().join("walk.jsonl")).unwrap();
    let places = text.lines().skip(1).flat_map(|line| {
        let step: Value = serde_json::from_str(line).unwrap();
        let moved = step["moved"].as_array().unwrap().clone();
        moved
            .into_iter()
            .filter(|moved| moved["name"] == "avatar")
            .map(|moved| moved["pose"][0].as_f64())
    });
    let furthest = places.flatten().fold(0.0, f64::max);
    assert!((3.5..=3.75).contains(&furthest), "{furthest}");
    folder.refusal(&["run", "cart.wrl", "--walk", "1 2"]);
    let json = folder.json(&["run", "cart.wrl", "--json", "--walk", "-4 0 0"]);
    assert_eq!(events(&json), [""; 0]);
}

/// `docs/run-record.md` describes the format.
#[test]
fn a_record_has_a_line_for_each_step_and_is_the_same_each_time() {
    let folder = Folder::new("run-record");
    for (scene, steps) in [("steer.wrl", 70), ("ten-objects-small.wrl", 50), ("ignore.wrl", 80)] {
        let (scene, steps) = (sample(scene), steps.to_string());
        let args = ["run", &scene, "--steps", &steps, "--key", "1:Right", "--json", "--record"];
        let json = folder.json(&[&args[..], &["one.jsonl"]].concat());
        folder.json(&[&args[..], &["two.jsonl"]].concat());
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let text = read("one.jsonl");
        assert!(text == read("two.jsonl"), "{scene}: the second run is another one");
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (header, steps_done) = lines.split_first().unwrap();
        assert_eq!(header["jostle_run"], 1);
        assert_eq!(header["keys"], serde_json::json!([[1, 0x1014, 0]]));
        assert_eq!(header["bodies"].as_array().unwrap().len() as u64, json["bodies"]);
        let mut reported = 0;
        for (number, step) in steps_done.iter().enumerate() {
            assert_eq!(step["step"], number);
            assert_eq!(step["time"], number as f64 * 0.03125);
            assert_eq!(step["hash"].as_str().unwrap().len(), 16);
            reported += step["events"].as_array().unwrap().len();
            for moved in step["moved"].as_array().unwrap() {
                assert_eq!(moved["pose"].as_array().unwrap().len(), 7);
            }
        }
        assert_eq!(Ok(steps_done.len() - 1), steps.parse());
        let everywhere = steps_done[0]["moved"].as_array().unwrap().len() as u64;
        assert_eq!(everywhere, json["bodies"], "all bodies are somewhere at the beginning");
        assert_eq!(reported, json["events"].as_array().unwrap().len());
        assert_eq!(steps_done.last().unwrap()["hash"], json["hash"]);
    }
    folder.refusal(&["run", &sample("car.wrl"), "--record", "no/such/folder.jsonl"]);
}

#[test]
fn objects_ignore_each_other_where_the_nodes_of_the_papers_are_known() {
    let folder = Folder::new("run-ignore");
    let ignore = sample("ignore.wrl");
    let args = ["run", &ignore, "--json", "--steps", "120"];
    let reported = events(&folder.json(&args));
    for part in ["begin PLANET COMET", "begin RING COMET", "event COMET.collideObjects PLANET"] {
        assert!(has(&reported, part), "{part}: {reported:?}");
    }
    assert!(!has(&reported, "PLANET RING"), "{reported:?}");
    // Without them the ring turns in the planet, without events.
    let plain = events(&folder.json(&[&args[..], &["--standard-only"]].concat()));
    assert!(!has(&plain, "collideObjects") && !has(&plain, "collideTime"), "{plain:?}");
    assert!(has(&plain, "begin the world itself RING/SPIN"), "{plain:?}");
}

#[test]
fn a_switch_opens_the_gate() {
    let folder = Folder::new("run-switch");
    let scene = sample("switch-lod.wrl");
    let args = ["run", &scene, "--json", "--steps", "160"];
    let shut = events(&folder.json(&args));
    assert_eq!(
        shut.iter().filter(|event| event.contains("begin") && event.contains("GATE")).count(),
        2
    );
    let open = events(&folder.json(&[&args[..], &["--send", "60:GATE.whichChoice=1"]].concat()));
    assert_eq!(
        open.iter().filter(|event| event.contains("begin") && event.contains("GATE")).count(),
        1
    );
}

#[test]
fn steps_and_time_are_as_asked() {
    let folder = Folder::new("run-steps");
    folder.write(
        "fly.wrl",
        "#VRML V2.0 utf8\nDEF A Transform { velocityVector 1 0 0
        children Shape { geometry Box {} } }
        DEF B Transform { translation 4.5 0 0 children Shape { geometry Box {} } }",
    );
    let run = |dt: &str, more: &[&str]| {
        events(
            &folder
                .json(&[&["run", "fly.wrl", "--json", "--dt", dt, "--steps", "30"], more].concat()),
        )
    };
    assert_eq!(run("1", &[])[0], "3 begin A B");
    assert_eq!(run("0.5", &[])[0], "5 begin A B");
    assert_eq!(run("20", &[]), [""; 0], "it jumps over");
    assert!(has(&run("20", &["--continuous"]), "meet A B"));
    let reported = run("1", &["--node-events"]);
    assert!(has(&reported, "event A.translation 1 0 0"), "{reported:?}");
    let none = folder.json(&["run", "fly.wrl", "--json", "--steps", "0"]);
    assert_eq!(none["events"], Value::Array(vec![]));
    let text = folder.text(&["run", "fly.wrl", "--steps", "3", "--dt", "1"]);
    assert!(text.contains("begin        A  B"), "{text}");
    assert!(text.contains("2 objects (2 bodies, 24 triangles), 3 steps"), "{text}");
    folder.write("one.wrl", "#VRML V2.0 utf8\nShape { geometry Box {} }");
    let text = folder.text(&["run", "one.wrl", "--steps", "1"]);
    assert!(text.contains("1 object (1 body, 12 triangles), 1 step\n0 contacts"), "{text}");
    folder.refusal(&["run", "fly.wrl", "--dt", "-1"]);
}
