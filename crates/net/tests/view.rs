//! Viewers: frames, queries, controls, recordings; and hostile viewers do not disturb others.

mod view_page;

use jostle_net::manifest::OperationMode;
use jostle_net::serve::{AccessControl, OutputFiles, ServeSettings};
use jostle_net::view::{Control, Controls, Player, PlayerSettings};
use jostle_net::{Process, Secret};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::Message;
use view_page::decode::{Picture, Reader};
use view_page::{Page, RATE, Received, get, settings, socket, start};

fn serve(settings: ServeSettings) -> (Process, SocketAddr) {
    let world = Process::serve(settings).unwrap();
    let web = world.web_address().unwrap();
    (world, web)
}

#[test]
fn a_page_sees_the_world_from_what_changes() {
    let (world, web) = serve(settings(start(60, 5)));
    let mut first = Page::open(web);
    assert_eq!(first.world["type"], "world");
    assert_eq!(first.world["ticks_per_second"], RATE);
    assert_eq!(first.world["names"], json!({"67": "APART"}));
    assert_eq!(first.world["controls"], json!([]));
    assert_eq!(first.world["recording"], Value::Null);
    assert_eq!(first.world["forms"][1]["content"], Value::Null);
    let mut picture = Picture::new(RATE);
    let frame = first.until_frame("a whole frame", |_| true);
    assert!(frame.whole && frame.objects.len() == 67);
    picture.take(&frame);
    let (mut last, mut listed) = (frame.tick, 0);
    while picture.tick < frame.tick + 60 {
        let next = first.until_frame("a frame", |_| true);
        assert!(next.tick > last);
        last = next.tick;
        listed += if next.whole { 0 } else { next.objects.len() };
        picture.take(&next);
    }
    assert!(listed > 0 && listed < 60 * 67 / 2, "{listed} were sent again");
    let mut second = Page::open(web);
    let whole = second.until_frame("a whole frame", |_| true);
    while picture.tick < whole.tick {
        picture.take(&first.until_frame("a frame", |_| true));
    }
    // Unless that frame was dropped for a slow reader.
    if picture.tick == whole.tick {
        picture.must_be(&whole);
    }
    let regions = Page::open(web).until_text("regions");
    assert_eq!(regions["nodes"].as_array().map(Vec::len), Some(1));
    let reach = 5.0 + 1.0 + 10.0 / 50.0;
    let leaf = &regions["leaves"][0];
    for axis in 0..3 {
        assert!((leaf["min"][axis].as_f64().unwrap() + reach).abs() < 1e-3, "{leaf}");
        assert!((leaf["max"][axis].as_f64().unwrap() - reach).abs() < 1e-3, "{leaf}");
    }
    let status =
        first.until_value("stages", |value| value["status"]["stages"]["detect"].is_number());
    let status = &status["status"];
    for stage in ["move", "bundles", "detect", "commit", "send"] {
        assert!(status["stages"][stage].is_number(), "{status}");
    }
    assert!(status["pairs_tested"].is_u64() && status["collisions"].is_u64());
    drop(world);
}

#[test]
fn a_page_sees_a_world_whose_nodes_wait_for_nobody() {
    let operation = OperationMode::FreeRunning { operations: None };
    let (_world, web) = serve(ServeSettings { operation, ..settings(start(60, 5)) });
    let mut page = Page::open(web);
    let frame = page.until_frame("a whole frame", |frame| frame.whole);
    assert_eq!(frame.objects.len(), 67, "walls and all");
    let mut picture = Picture::new(RATE);
    picture.take(&frame);
    while picture.tick < frame.tick + 60 {
        picture.take(&page.until_frame("a frame", |_| true));
    }
    let whole = Page::open(web).until_frame("a whole frame", |frame| frame.whole);
    let flown = whole.objects.iter().filter(|(id, now)| {
        frame.objects.get(id).is_some_and(|then| then.position != now.position)
    });
    assert!(flown.count() > 50, "the balls fly");
    page.until_frame("contacts", |frame| !frame.touches.is_empty());
    let regions = Page::open(web).until_text("regions");
    assert_eq!(regions["nodes"].as_array().map(Vec::len), Some(1));
}

#[test]
fn who_reads_slowly_gets_a_whole_frame_and_disturbs_nobody() {
    let (_world, web) = serve(settings(start(2000, 9)));
    let mut slow = Page::with(web, &json!({"type": "hello"}), None, true);
    let mut quick = Page::open(web);
    let begin = quick.until_frame("a frame", |_| true).tick;
    let (mut frames, mut last) = (0, begin);
    while last < begin + 150 {
        last = quick.until_frame("a frame", |_| true).tick;
        frames += 1;
    }
    assert!(frames > 50, "only {frames} frames of 150 ticks");
    // Reads on: there is a gap, and after it a whole frame.
    let mut picture = Picture::new(RATE);
    let mut gap = false;
    while picture.tick <= begin + 155 {
        let frame = slow.until_frame("a frame", |_| true);
        if picture.tick > 0 && frame.tick > picture.tick + 10 {
            assert!(frame.whole, "after {} ticks", frame.tick - picture.tick);
            gap = true;
        }
        picture.take(&frame);
    }
    assert!(gap, "it never was too slow");
    quick.is_served();
    slow.is_served();
}

#[test]
fn without_the_token_nobody_watches() {
    let guards = AccessControl { token: Some(Secret::new("sesame")), ..AccessControl::default() };
    let (_world, web) = serve(ServeSettings { guards, ..settings(start(5, 5)) });
    for hello in [json!({"type": "hello"}), json!({"type": "hello", "token": "open"})] {
        let mut page = Page::with(web, &hello, None, false);
        assert_eq!(page.world["type"], "refused");
        assert!(page.world["why"].as_str().unwrap().contains("token"));
        page.end();
    }
    let hello = json!({"type": "hello", "token": "sesame", "of": "another version"});
    let mut page = Page::with(web, &hello, None, false);
    assert_eq!(page.world["type"], "world");
    page.is_served();
}

#[test]
fn only_so_many_watch() {
    let mut settings = settings(start(5, 5));
    settings.edge.viewers = 2;
    let (_world, web) = serve(settings);
    let (one, mut two) = (Page::open(web), Page::open(web));
    assert_eq!(Page::open(web).world["type"], "refused");
    drop(one);
    let begin = Instant::now();
    while Page::open(web).world["type"] != "world" {
        assert!(begin.elapsed() < Duration::from_secs(9), "a place is never free");
    }
    two.is_served();
}

/// Seeded random bytes.
fn noise(seed: &mut u64, most: u64) -> Vec<u8> {
    let mut next = || {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        *seed >> 24
    };
    let count = next() % most;
    (0..count).map(|_| next() as u8).collect()
}

#[test]
fn hostile_pages_are_put_out_and_nobody_notices() {
    let (_world, web) = serve(settings(start(30, 5)));
    let mut guest = Page::open(web);
    guest.is_served();
    let garbage = [
        "",
        "{",
        "null",
        "[]",
        "{\"type\":\"frobnicate\"}",
        "{\"type\":\"hello\"}",
        "{\"type\":7}",
        "{\"type\":\"pick\",\"origin\":[NaN,0,0],\"direction\":[0,0,1]}",
        "{\"type\":\"pick\",\"origin\":[1e999,0,0],\"direction\":[0,0,1]}",
        "{\"type\":\"pick\",\"origin\":[0,0],\"direction\":[0,0,1]}",
        "{\"type\":\"pick\",\"origin\":\"here\"}",
        "{\"type\":\"select\",\"id\":17}",
        "{\"type\":\"select\",\"id\":\"-1\"}",
        "{\"type\":\"select\",\"id\":\"\\u0000\"}",
        "{\"type\":\"clearance\",\"metres\":\"much\"}",
        "{\"type\":\"control\"}",
        "{\"type\":\"control\",\"do\":\"explode\"}",
        "{\"type\":\"control\",\"do\":\"kill\",\"node\":-1}",
        "{\"type\":\"control\",\"do\":\"seek\",\"tick\":1e300}",
    ];
    for text in garbage {
        let mut page = Page::open(web);
        page.socket.send(Message::text(text)).unwrap();
        page.end();
    }
    let (mut seed, mut page) = (77, Page::open(web));
    println!("seed {seed}");
    page.socket.send(Message::binary(noise(&mut seed, 900))).unwrap();
    page.end();
    for _ in 0..20 {
        let mut page = Page::open(web);
        let text = String::from_utf8_lossy(&noise(&mut seed, 2000)).into_owned();
        let _ = page.socket.send(Message::text(text));
        page.end();
    }
    // A message beyond the limit.
    let mut page = Page::open(web);
    let _ = page.socket.send(Message::text("x".repeat(1 << 20)));
    page.end();
    // A flood.
    let mut page = Page::open(web);
    let pick = json!({"type": "pick", "origin": [0, 0, 0], "direction": [0, 0, 1]}).to_string();
    while page.socket.send(Message::text(pick.clone())).is_ok() {}
    // Bytes that are not WebSocket frames.
    let mut page = Page::open(web);
    let bytes = noise(&mut seed, 5000);
    let _ = std::io::Write::write_all(page.socket.get_mut(), &bytes);
    // No hello.
    let mut silent = socket(web, None, false);
    let mut rude = socket(web, None, false);
    rude.send(Message::text(pick)).unwrap();
    guest.is_served();
    for other in [&mut silent, &mut rude] {
        let begin = Instant::now();
        while other.can_read() {
            let _ = other.read();
            assert!(begin.elapsed() < Duration::from_secs(9), "was never put out");
        }
    }
    guest.is_served();
}

#[test]
fn strange_questions_have_answers() {
    let (_world, web) = serve(settings(start(30, 5)));
    let mut page = Page::open(web);
    for (origin, direction) in [
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([1e300, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ([0.0, 1e30, 0.0], [0.0, 1.0, 0.0]),
    ] {
        page.send(&json!({"type": "pick", "origin": origin, "direction": direction}));
        let picked = page.until_text("picked");
        assert_eq!(picked, json!({"type": "picked", "id": null}));
    }
    page.send(&json!({"type": "select", "id": "18446744073709551615"}));
    let contacts = page.until_text("contacts");
    assert_eq!((&contacts["id"], &contacts["with"]), (&json!("18446744073709551615"), &json!([])));
    assert_eq!(contacts.get("near"), None);
    page.send(&json!({"type": "clearance", "metres": 1e300}));
    let received =
        page.until("all that is near", |received| matches!(received, Received::Near(..)));
    assert!(matches!(received, Received::Near(clearance, _) if clearance == 5.0));
    page.send(&json!({"type": "clearance", "metres": -1.0}));
    page.send(&json!({"type": "control", "do": "kill", "node": 1}));
    let refused = page.until_text("controlled");
    assert!(refused["do"] == "kill" && refused["error"].is_string(), "{refused}");
    page.is_served();
}

#[test]
fn a_ray_names_what_it_meets() {
    let (_world, web) = serve(settings(start(30, 5)));
    let mut page = Page::open(web);
    page.send(&json!({"type": "pick", "origin": [12.0, 0.0, 0.0], "direction": [-3.0, 0.0, 0.0]}));
    let picked = page.until_text("picked");
    assert_eq!((&picked["id"], &picked["name"]), (&json!("37"), &json!("APART")), "{picked}");
    assert!((picked["point"][0].as_f64().unwrap() - 10.3).abs() < 0.06, "{picked}");
    assert_eq!((&picked["class"], &picked["shape"]), (&json!("dynamic"), &json!(0)));
    assert!(picked["owner"].is_u64() && picked["faces"].as_u64() > picked["face"].as_u64());
    // From the other side there is a wall, which is a box without a name.
    page.send(&json!({"type": "pick", "origin": [-12.0, 0.1, 0.2], "direction": [1.0, 0.0, 0.0]}));
    let picked = page.until_text("picked");
    assert_eq!((&picked["class"], &picked["name"]), (&json!("immovable"), &Value::Null));
    assert_eq!(picked["point"], json!([-6.0, 0.1, 0.2]));
}

#[test]
fn who_has_selected_something_hears_what_touches_it_and_what_is_near() {
    let (_world, web) = serve(settings(start(200, 4)));
    let mut page = Page::open(web);
    let frame = page.until_frame("a touch", |frame| !frame.touches.is_empty());
    // A wall: it is always touched.
    let wall = |frame: &view_page::decode::Frame| {
        let walls = frame.objects.iter().filter(|(_, shown)| shown.class == 0);
        walls.map(|(id, _)| *id).next()
    };
    let wall = wall(&frame).expect("a wall").to_string();
    page.send(&json!({"type": "select", "id": wall}));
    page.send(&json!({"type": "clearance", "metres": 0.2}));
    let contacts = page.until_value("contacts of the wall", |value| {
        value["type"] == "contacts" && value["near"].as_array().is_some_and(|it| !it.is_empty())
    });
    assert_eq!(contacts["id"], wall);
    for near in contacts["near"].as_array().unwrap() {
        let distance = near["distance"].as_f64().unwrap();
        assert!(distance > 0.0 && distance <= 0.2, "{near}");
    }
    page.until_value("a ball at the wall", |value| {
        value["type"] == "contacts" && value["with"].as_array().is_some_and(|it| !it.is_empty())
    });
    let received = page
        .until("pairs", |received| matches!(received, Received::Near(_, all) if !all.is_empty()));
    let Received::Near(clearance, pairs) = received else { panic!() };
    assert!((clearance - 0.2).abs() < 1e-6);
    assert!(pairs.iter().all(|([a, b], far)| a < b && *far > 0.0 && *far <= 0.2 + 1e-6));
    page.send(&json!({"type": "clearance", "metres": null}));
    page.send(&json!({"type": "select", "id": null}));
    page.is_served();
}

#[test]
fn controls_are_done_for_those_who_may() {
    let done: Arc<Mutex<Vec<Control>>> = Arc::default();
    let list = done.clone();
    let controls = Controls::new(&["kill", "network"], move |control| {
        list.lock().unwrap().push(control);
        match control {
            Control::Kill(9) => Err("there is no node 9".into()),
            _ => Ok(()),
        }
    });
    let (world, web) = serve(ServeSettings { controls, ..settings(start(10, 5)) });
    let demo = json!({"type": "demo", "nodes": [1], "bodies": 10});
    world.set_view_state(demo.to_string());
    let home = format!("http://{web}");
    let hello = json!({"type": "hello"});
    let mut page = Page::with(web, &hello, Some(&home), false);
    assert_eq!(page.world["controls"], json!(["kill", "network"]));
    let next = page.until("the next thing", |received| matches!(received, Received::Text(_)));
    assert!(matches!(next, Received::Text(value) if value == demo), "the demo comes first");
    for (control, error) in [
        (json!({"type": "control", "do": "kill", "node": 3}), Value::Null),
        (json!({"type": "control", "do": "kill", "node": 9}), json!("there is no node 9")),
        (json!({"type": "control", "do": "network", "delay_ms": 20, "loss": 0.5}), Value::Null),
        (json!({"type": "control", "do": "add"}), json!("that cannot be asked for here")),
    ] {
        page.send(&control);
        let answer = page.until_text("controlled");
        assert_eq!((&answer["do"], &answer["error"]), (&control["do"], &error));
    }
    let network = Control::Network { delay_ms: 20.0, loss: 0.5 };
    let expected = [Control::Kill(3), Control::Kill(9), network];
    assert_eq!(*done.lock().unwrap(), expected);
    let later = json!({"type": "demo", "nodes": [1, 2]});
    world.set_view_state(later.to_string());
    assert_eq!(page.until_text("demo"), later);
}

#[test]
fn meshes_and_pages_are_served() {
    let (_world, web) = serve(settings(start(3, 5)));
    let page = Page::open(web);
    let content = page.world["forms"][0]["content"].as_str().unwrap();
    let (head, body) = get(web, &format!("/mesh/{content}"));
    assert!(head.contains(" 200 ") && head.contains("immutable"), "{head}");
    let mut reader = Reader(&body);
    let (vertices, triangles, faces) = (reader.u32(), reader.u32(), reader.u32());
    assert!(vertices > 10 && triangles > 10 && reader.u32() == 0);
    for _ in 0..vertices {
        let point = [reader.f32(), reader.f32(), reader.f32()];
        let far = point.iter().map(|along| along * along).sum::<f32>().sqrt();
        assert!((far - 0.3).abs() < 0.02, "{point:?}");
    }
    assert!((0..3 * triangles).all(|_| reader.u32() < vertices));
    assert!((0..triangles).all(|_| reader.u32() < faces));
    assert!(reader.0.is_empty());
    for page in ["/mesh/", "/mesh/1-2", "/mesh/x", "/mesh/ffffffffffffffffff-1", "/nothing"] {
        assert!(get(web, page).0.contains(" 404 "), "{page}");
    }
    let (head, body) = get(web, "/");
    let head = head.to_lowercase();
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self'"));
    assert!(head.contains("x-content-type-options: nosniff") && head.contains("text/html"));
    let body = String::from_utf8_lossy(&body).into_owned();
    assert!(body.contains("Jostle"), "{body}");
    assert!(body.contains("<script") || body.contains("cargo xtask web"), "{body}");
}

/// A recording of some seconds.
fn recording(file: &std::path::Path) {
    let files = OutputFiles { record: Some(file.into()), events: None };
    let world = Process::serve(ServeSettings { files, ..settings(start(40, 3)) }).unwrap();
    let begin = Instant::now();
    loop {
        let status: Value = serde_json::from_str(&world.status()).unwrap();
        if status["tick"].as_u64() > Some(120) {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{status}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The whole frame that a new viewer gets.
fn whole(web: SocketAddr) -> (u64, Vec<u8>) {
    match Page::open(web).until("a frame", |received| matches!(received, Received::Frame(..))) {
        Received::Frame(frame, bytes) if frame.whole => (frame.tick, bytes),
        other => panic!("{other:?}"),
    }
}

fn control(page: &mut Page, control: Value) {
    page.send(&control);
    let answer = page.until_text("controlled");
    assert_eq!((&answer["do"], &answer["error"]), (&control["do"], &Value::Null));
}

#[test]
fn a_recording_is_played_sought_and_stepped() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("world.rec");
    recording(&file);
    let here = "127.0.0.1:0".parse().unwrap();
    let player = Player::open(&file, PlayerSettings::at(here)).unwrap();
    let web = player.web_address().unwrap();
    let mut page = Page::open(web);
    let recorded = page.world["recording"].clone();
    let [first, last] = player.ticks().map(|tick| tick.0);
    assert_eq!((recorded["first"].as_u64(), recorded["last"].as_u64()), (Some(first), Some(last)));
    assert_eq!((&page.world["avatar"], &page.world["reach"]), (&Value::Null, &Value::Null));
    // It plays by itself.
    let begin = page.until_frame("a frame", |_| true).tick;
    page.until_frame("more", |frame| frame.tick > begin + 10);
    let at = |tick: u64| move |value: &Value| value["type"] == "replay" && value["tick"] == tick;
    control(&mut page, json!({"type": "control", "do": "pause"}));
    let middle = first + 60;
    control(&mut page, json!({"type": "control", "do": "seek", "tick": middle}));
    page.until_replay("the middle", at(middle));
    let sought = whole(web);
    assert_eq!(sought.0, middle);
    control(&mut page, json!({"type": "control", "do": "seek", "tick": middle - 30}));
    page.until_replay("before", at(middle - 30));
    for _ in 0..30 {
        control(&mut page, json!({"type": "control", "do": "step", "by": 1}));
    }
    page.until_replay("the middle again", at(middle));
    assert!(whole(web) == sought, "played through it is another world");
    control(&mut page, json!({"type": "control", "do": "seek", "tick": u64::MAX}));
    page.until_replay("the end", at(last));
    control(&mut page, json!({"type": "control", "do": "step", "by": middle as i64 - last as i64}));
    page.until_replay("the middle from the end", at(middle));
    assert!(whole(web) == sought, "from behind it is another world");
    // After a step back a whole frame follows.
    page.send(&json!({"type": "control", "do": "step", "by": -1}));
    assert!(page.until_frame("one back", |frame| frame.tick == middle - 1).whole);
    collisions(&mut page, &recorded, first);
    control(&mut page, json!({"type": "control", "do": "speed", "factor": 8.0}));
    control(&mut page, json!({"type": "control", "do": "play"}));
    let end = page.until_replay("the end", at(last));
    assert_eq!((&end["playing"], &end["factor"]), (&json!(false), &json!(8.0)));
    page.send(&json!({"type": "control", "do": "speed", "factor": 0.0}));
    assert!(page.until_text("controlled")["error"].is_string());
    page.send(&json!({"type": "control", "do": "kill", "node": 1}));
    assert!(page.until_text("controlled")["error"].is_string());
    page.send(&json!({"type": "pick", "origin": [20.0, 0.0, 0.0], "direction": [-1.0, 0.0, 0.0]}));
    let picked = page.until_text("picked");
    assert_eq!((&picked["id"], &picked["owner"]), (&json!("47"), &Value::Null));
}

fn collisions(page: &mut Page, recorded: &Value, first: u64) {
    control(page, json!({"type": "control", "do": "seek", "tick": first}));
    let ticks: Vec<u64> =
        recorded["collisions"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect();
    assert!(ticks.len() > 3, "{ticks:?}");
    for (by, tick) in [(1, ticks[0]), (1, ticks[1]), (-1, ticks[0]), (3, ticks[3])] {
        control(page, json!({"type": "control", "do": "collision", "by": by}));
        page.until_replay("a collision", |value| {
            value["type"] == "replay" && value["tick"] == tick && value["playing"] == false
        });
    }
}
