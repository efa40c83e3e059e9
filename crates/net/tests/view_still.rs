//! Viewers of held worlds, and of worlds that one program computes.

mod view_page;

use glam::DVec3;
use jostle_geom::{Model, Pose, Quality, solids};
use jostle_net::Process;
use jostle_net::serve::{AccessControl, InitialWorld};
use jostle_net::view::{
    Findings, Key, KeyBinding, PairFinding, Picture, SceneView, SceneViewSettings,
};
use jostle_proto::{Class, Object, ObjectId, Objects, ShapeId, Shapes, Solid, State, Tick};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use view_page::decode::{Frame, Reader};
use view_page::{Page, RATE, Received, get, settings, start};

/// The held world of a page that has just asked for it.
fn still(page: &mut Page) -> Frame {
    let held = page.until_text("held");
    assert_eq!(held["error"], Value::Null);
    let Received::Still(frame) =
        page.until("a frame", |received| matches!(received, Received::Still(_)))
    else {
        unreachable!("it was one");
    };
    assert!(frame.whole);
    assert_eq!(held["tick"], frame.tick);
    frame
}

#[test]
fn a_world_that_stands_still_is_asked_as_it_was() {
    let world = Process::serve(settings(start(40, 5))).unwrap();
    let web = world.web_address().unwrap();
    let mut page = Page::open(web);
    page.is_served();
    page.send(&json!({"type": "hold"}));
    let frame = still(&mut page);
    page.until_frame("the world goes on", |now| now.tick > frame.tick + 40);
    // A ray from outside to the centre of moving objects hits them where they were, or something
    // before.
    let mut met = 0;
    for (_, shown) in frame.objects.iter().filter(|(_, shown)| shown.class == 1) {
        let at = shown.position.map(|along| f64::from(along) / 4096.0);
        let origin = [at[0], 50.0, at[2]];
        page.send(&json!({"type": "pick", "origin": origin, "direction": [0, -1, 0],
            "through": [1, 2, 3]}));
        let picked = page.until_text("picked");
        assert_eq!(picked["tick"], frame.tick);
        let id: u64 = picked["id"].as_str().unwrap().parse().unwrap();
        let there = frame.objects[&id].position.map(|along| f64::from(along) / 4096.0);
        let beside = (there[0] - at[0]).hypot(there[2] - at[2]);
        assert!(beside < 0.31 && there[1] >= at[1], "{picked} {there:?} {at:?}");
        met += usize::from(there == at);
    }
    assert!(met > 20, "{met} were met");
    // Contacts of the selection in the held world are sent once.
    page.send(&json!({"type": "select", "id": "1"}));
    assert_eq!(page.until_text("contacts")["tick"], frame.tick);
    page.send(&json!({"type": "release"}));
    let later = page.until_value("contacts of the newest world", |received| {
        received["type"] == "contacts" && received["tick"].as_u64() > Some(frame.tick)
    });
    assert!(later["tick"].as_u64() > Some(frame.tick + 40));
    // Each held world is a copy: their number is limited, and a viewer that leaves releases its
    // own.
    let mut pages: Vec<Page> = (0..8).map(|_| Page::open(web)).collect();
    for other in &mut pages {
        other.send(&json!({"type": "hold"}));
        still(other);
    }
    page.send(&json!({"type": "hold"}));
    let refused = page.until_text("held");
    assert_eq!(refused["tick"], Value::Null);
    assert!(refused["error"].as_str().unwrap().contains("cannot hold more"), "{refused}");
    drop(pages.pop());
    let begin = Instant::now();
    loop {
        page.send(&json!({"type": "hold"}));
        if page.until_text("held")["tick"].is_u64() {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "no place became free");
    }
    page.is_served();
}

/// One ball at another position in every step.
fn ball_at(step: u64) -> Objects {
    let start = start(1, 5);
    let mut ball = start.objects[0];
    ball.state.position = [step as i32 * 41, 0, 0];
    [ball].into_iter().collect()
}

#[test]
fn a_program_shows_its_own_world_and_hears_keys() {
    let InitialWorld { shapes, extent, .. } = start(1, 5);
    let key = Key { value: 0x1014, state: 0x100 };
    let settings = SceneViewSettings {
        name: "scene.wrl".into(),
        rate: RATE,
        extent,
        shapes: shapes.clone(),
        names: [(ObjectId(1), "CART".to_string())].into(),
        poses: BTreeMap::new(),
        keys: vec![KeyBinding { key, does: "CART moves".into() }],
        findings: None,
        web: "127.0.0.1:0".parse().unwrap(),
        guards: AccessControl::default(),
    };
    let mut show = SceneView::open(settings).unwrap();
    let web = show.web_address().unwrap();
    assert!(!show.is_watched());
    let mut page = Page::open(web);
    assert_eq!(
        page.world["keys"],
        json!([{"value": 0x1014, "state": 0x100, "does": "CART moves"}])
    );
    assert_eq!((&page.world["avatar"], &page.world["controls"]), (&Value::Null, &json!(["key"])));
    assert!(show.is_watched());
    let mut step = 0;
    assert!(run_until(&mut show, &mut page, &mut step, |_| true).whole);
    run_until(&mut show, &mut page, &mut step, |frame| !frame.whole && frame.tick > 1);
    for (value, state) in [(0x1014, 0x100), (65, 0)] {
        page.send(&json!({"type": "control", "do": "key", "value": value, "state": state}));
        assert_eq!(page.until_text("controlled")["error"], Value::Null);
    }
    assert_eq!(show.keys(), [key, Key { value: 65, state: 0 }]);
    assert_eq!(show.keys(), []);
    // Key presses beyond the queue are answered with an error, and the others are handled.
    for _ in 0..2 {
        for _ in 0..40 {
            page.send(&json!({"type": "control", "do": "key", "value": 65, "state": 0}));
        }
        std::thread::sleep(Duration::from_millis(1500));
    }
    assert!(show.keys().len() <= 64);
    // A shape is added: pages receive the `world` message again, and can fetch its triangles.
    let mut solids = shapes.solids().to_vec();
    let cone = solids::cuboid(DVec3::splat(0.5)).unwrap();
    let model = Arc::new(Model::build(cone, Quality::Default));
    solids.push(Solid::mesh(model));
    show.grow(&Shapes::new(solids), &BTreeMap::new());
    let world = page.until_text("world");
    let forms = world["forms"].as_array().unwrap();
    assert_eq!(forms.len(), shapes.solids().len() + 1);
    let content = forms.last().unwrap()["content"].as_str().unwrap();
    let (head, bytes) = get(web, &format!("/mesh/{content}"));
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert_eq!(Reader(&bytes[..8]).u64() >> 32, 12, "triangles of a box");
    let all = run_until(&mut show, &mut page, &mut step, |frame| frame.whole);
    assert!(all.objects.contains_key(&1));
}

/// Three cubes of one metre in a row: the first two overlap, the third is 0.1 mm from the second.
fn cubes() -> (Shapes, Objects, BTreeMap<ObjectId, Pose>) {
    let cube = solids::cuboid(DVec3::ONE).unwrap();
    let model = Arc::new(Model::build(cube, Quality::Default));
    let shapes = Shapes::new(vec![Solid::mesh(model)]);
    let places = [(1, 0.0), (2, 0.9), (3, 1.9001)];
    let object = |(id, x): (u64, f64)| {
        let state = State { position: [(x * 4096.0).round() as i32, 0, 0], ..State::default() };
        Object { id: ObjectId(id), class: Class::Immovable, shape: ShapeId(0), state }
    };
    let pose = |(id, x): (u64, f64)| {
        (ObjectId(id), Pose::from_translation(DVec3::new(x, 0.0, 0.0)).unwrap())
    };
    (shapes, places.map(object).into_iter().collect(), places.map(pose).into())
}

#[test]
fn a_check_sends_its_findings_and_static_contacts_are_exact() {
    let (shapes, objects, poses) = cubes();
    let finding = PairFinding {
        kind: "overlap",
        parts: [vec![ObjectId(1)], vec![ObjectId(2)]],
        distance: 0.0,
        points: [DVec3::new(0.5, 0.0, 0.0); 2],
        segments: Vec::new(),
    };
    let list = vec![finding];
    let found = Findings { clearance: Some(1.0), unit: "mm".into(), complete: true, list };
    let settings = SceneViewSettings {
        name: "three.wrl".into(),
        rate: 1,
        extent: start(1, 5).extent,
        shapes,
        names: BTreeMap::new(),
        poses,
        keys: Vec::new(),
        findings: Some(found),
        web: "127.0.0.1:0".parse().unwrap(),
        guards: AccessControl::default(),
    };
    let mut show = SceneView::open(settings).unwrap();
    let mut page = Page::open(show.web_address().unwrap());
    assert_eq!((&page.world["kind"], &page.world["avatar"]), (&json!("check"), &Value::Null));
    assert_eq!(page.world["poses"]["3"], json!([[1.9001, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]));
    let found = page.until_text("findings");
    assert_eq!((&found["of"], &found["unit"]), (&json!("check"), &json!("mm")));
    assert_eq!(found["findings"][0]["kind"], "overlap");
    let picture = Picture { tick: Tick(0), objects: &objects, touches: &[] };
    let mut ask = |clearance: Value| {
        page.send(&json!({"type": "static", "clearance": clearance}));
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(20) {
            show.stand(picture);
            while let Some(received) = page.next().unwrap() {
                match received {
                    Received::Text(text) if text["type"] == "findings" => return text,
                    _ => {}
                }
            }
        }
        panic!("no findings came");
    };
    let touching = ask(Value::Null);
    assert_eq!((&touching["of"], &touching["complete"]), (&json!("static"), &json!(true)));
    let pairs = touching["findings"].as_array().unwrap();
    assert_eq!(pairs.len(), 1, "{touching}");
    assert_eq!((&pairs[0]["a"], &pairs[0]["b"]), (&json!(["1"]), &json!(["2"])));
    assert!(!pairs[0]["segments"].as_array().unwrap().is_empty());
    let close = ask(json!(0.01));
    let distance = close["findings"][1]["distance"].as_f64().unwrap();
    assert_eq!(close["findings"][1]["kind"], "too_close");
    // Positions in frames are whole units of 0.24 mm: only exact poses give this.
    assert!((distance - 0.0001).abs() < 1e-7, "{distance}");
    assert_eq!(ask(json!(0.01)), close);
}

/// Runs steps until a page receives something; a page that is busy misses a step.
fn run_until(
    show: &mut SceneView,
    page: &mut Page,
    step: &mut u64,
    fits: impl Fn(&Frame) -> bool,
) -> Frame {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(20) {
        *step += 1;
        let (tick, objects) = (Tick(*step), ball_at(*step));
        show.show(Picture { tick, objects: &objects, touches: &[] }, "{}".into());
        while let Some(received) = page.next().unwrap() {
            if let Received::Frame(frame, _) = received
                && fits(&frame)
            {
                return frame;
            }
        }
    }
    panic!("never came");
}
