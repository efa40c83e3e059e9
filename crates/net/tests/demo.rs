//! The demo with small numbers: nodes are killed and added, the network is bad, bodies are added
//! and removed, and nothing is lost.

mod hall;

use hall::{METRE, hall, velocity};
use jostle_net::demo::{BODIES_MAX, Demo, DemoError, DemoSettings, NODES_MAX};
use jostle_net::serve::{AccessControl, InitialWorld};
use jostle_proto::{Block, State};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

const BODIES: u64 = 120;
const BOTS: u32 = 8;
const WALLS: u64 = 6;

/// Triangulated spheres that fly between six walls.
fn start() -> InitialWorld {
    let ball = |number: u64| {
        let along = |part: u64| (part % 8) as i32 * 2 * METRE - 7 * METRE;
        let position = [along(number), along(number / 8), along(number / 64)];
        State { position, velocity: velocity(number), ..State::default() }
    };
    let floor = -7 * METRE;
    let places = Block { min: [-7 * METRE, floor, -7 * METRE], max: [7 * METRE, floor, 7 * METRE] };
    InitialWorld { places, ..hall(8 * METRE, 0.02, (0..BODIES).map(ball)) }
}

fn demo(nodes: usize, bots: u32) -> Arc<Demo> {
    let here = "127.0.0.1:0".parse().expect("an address");
    let settings = DemoSettings {
        start: start(),
        rate: 30,
        nodes,
        bots,
        seed: 7,
        listen: here,
        web: Some(here),
        guards: AccessControl::default(),
    };
    Demo::start(settings).expect("begins")
}

fn status(demo: &Demo) -> Value {
    serde_json::from_str(&demo.world().status()).expect("JSON")
}

/// Waits until a condition holds.
fn wait(demo: &Demo, what: &str, fits: impl Fn(&Demo) -> bool) {
    let begin = Instant::now();
    while !fits(demo) {
        let figures = demo.figures();
        assert!(begin.elapsed() < Duration::from_secs(90), "{what}: {figures:?} {}", status(demo));
        std::thread::sleep(Duration::from_millis(30));
    }
}

fn wait_ticks(demo: &Demo, what: &str, ticks: u64) {
    let before = demo.figures().tick;
    wait(demo, what, |demo| demo.figures().tick > before + ticks);
}

/// Returns true if the nodes own all moving objects, each once, and each node some.
fn all_owned(demo: &Demo) -> bool {
    let status = status(demo);
    let members = status["groups"][0]["members"].as_array().cloned().unwrap_or_default();
    let owned = members.iter().map(|member| member["objects"].as_u64().unwrap_or(0));
    let figures = demo.figures();
    demo.is_stable()
        && owned.clone().all(|objects| objects > 0)
        && owned.sum::<u64>() + WALLS == figures.objects
}

/// Delays between nodes in milliseconds; `None` if one is unknown.
fn delays(demo: &Demo) -> Option<Vec<f64>> {
    let status = status(demo);
    let members = status["groups"][0]["members"].as_array()?;
    let of = |member: &Value| {
        let known: Vec<f64> =
            member["delays_ms"].as_object()?.values().filter_map(Value::as_f64).collect();
        (known.len() + 1 == members.len()).then_some(known)
    };
    members.iter().map(of).collect::<Option<Vec<_>>>().map(|all| all.concat())
}

#[test]
fn nodes_measure_how_long_others_take_and_see_the_network_change() {
    let demo = demo(3, 0);
    let all = |demo: &Demo, fits: fn(f64) -> bool| {
        delays(demo).is_some_and(|delays| delays.len() == 6 && delays.into_iter().all(fits))
    };
    wait(&demo, "all are measured", |demo| all(demo, |ms| ms < 60.0));
    demo.network(40.0, 0.0).expect("a network");
    // Round trips; jitter takes up to a tenth.
    wait(&demo, "the delay shows", |demo| all(demo, |ms| ms > 72.0));
    demo.network(0.0, 0.0).expect("a network");
    wait(&demo, "and goes", |demo| all(demo, |ms| ms < 60.0));
    // Whatever the delay: one group.
    assert_eq!(status(&demo)["groups"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_node_is_killed_one_is_added_and_nothing_is_lost() {
    let demo = demo(4, BOTS);
    assert_eq!(demo.state().nodes, [0, 1, 2, 3]);
    wait(&demo, "bots come", |demo| demo.figures().bots == u64::from(BOTS));
    wait(&demo, "everything is shared out", all_owned);
    let all = BODIES + WALLS + u64::from(BOTS);
    assert_eq!(demo.figures().objects, all);
    // One in a process of its own, then the leader beside directory and edge server.
    for (killed, left) in [(2, &[0, 1, 3][..]), (0, &[1, 3])] {
        demo.kill(killed).expect("killed");
        assert_eq!(demo.kill(1), Err(DemoError::Unstable), "no node could take over");
        assert_eq!(demo.kill(killed), Err(DemoError::NoNode(killed)));
        assert_eq!(demo.state().nodes, left);
        wait(&demo, "others take over", |demo| demo.is_stable() && all_owned(demo));
        wait_ticks(&demo, "goes on", 30);
        wait(&demo, "things touch", |demo| demo.figures().touching > 0);
        assert_eq!(demo.figures().objects, all, "nothing has vanished");
        assert_eq!(demo.figures().bots, u64::from(BOTS));
    }
    let added = demo.add().expect("added");
    assert_eq!(demo.state().nodes, [1, 3, added]);
    wait(&demo, "the new one has a part", all_owned);
    wait_ticks(&demo, "goes on", 30);
    assert_eq!(demo.figures().objects, all);
}

/// The story: the node in the serving process is killed, but its step time, pairs and chart remain
/// while the page says "live".
#[test]
fn after_node_0_is_killed_the_figures_are_those_of_the_nodes_that_live() {
    let demo = demo(3, BOTS);
    wait(&demo, "that all report", |demo| {
        status(demo)["loads"].as_array().is_some_and(|loads| {
            loads.len() == 3 && loads.iter().all(|load| load["step_ms"].is_number())
        })
    });
    wait(&demo, "that it can be killed", |demo| demo.kill(0).is_ok());
    wait(&demo, "the figures of others", |demo| {
        let status = status(demo);
        let busiest = status["stages_node"].as_u64();
        let gone = status["groups"][0]["members"].as_array().is_some_and(|it| it.len() == 2);
        gone && busiest.is_some_and(|node| node != 0) && status["pairs_tested"].is_u64()
    });
    let before = status(&demo)["stages"].clone();
    wait(&demo, "that they change", |demo| status(demo)["stages"] != before);
    let loads = status(&demo)["loads"].clone();
    let listed = loads.as_array().expect("a list").iter();
    assert!(listed.filter(|load| load["step_ms"].is_number()).all(|load| load["node"] != 0));
}

#[test]
fn bodies_come_and_go_while_the_world_goes_on() {
    let demo = demo(2, 0);
    wait(&demo, "everything is shared out", all_owned);
    for wanted in [400, 30, 0, 75] {
        demo.bodies(wanted).expect("not too many");
        assert_eq!(demo.state().bodies, wanted);
        wait(&demo, "as many as wanted", |demo| demo.figures().bodies == wanted);
        assert_eq!(demo.figures().objects, wanted + WALLS);
        wait_ticks(&demo, "goes on", 5);
    }
}

#[test]
fn over_a_bad_network_the_world_goes_on_and_loses_nothing() {
    let demo = demo(3, 2);
    wait(&demo, "everything is shared out", all_owned);
    wait(&demo, "bots come", |demo| demo.figures().bots == 2);
    demo.network(15.0, 0.05).expect("a network");
    let state = demo.state();
    assert!((state.network.delay_ms - 15.0).abs() < 1e-6 && state.network.loss == 0.05);
    wait_ticks(&demo, "goes on", 30);
    demo.bodies(BODIES + 20).expect("not too many");
    wait(&demo, "bodies come", |demo| demo.figures().bodies == BODIES + 20);
    wait(&demo, "it is shared out", Demo::is_stable);
    demo.kill(1).expect("killed");
    wait(&demo, "others take over", |demo| demo.is_stable() && demo.state().nodes == [0, 2]);
    wait_ticks(&demo, "goes on", 20);
    demo.network(0.0, 0.0).expect("a network");
    wait(&demo, "all is owned", all_owned);
    assert_eq!(demo.figures().bodies, BODIES + 20);
    assert!(status(&demo)["nodes"]["dropped"].as_u64() > Some(0), "some frames were lost");
}

#[test]
fn nonsense_is_answered_with_the_reason() {
    let demo = demo(1, 0);
    wait(&demo, "the only one has it all", all_owned);
    assert_eq!(demo.kill(77), Err(DemoError::NoNode(77)));
    assert_eq!(demo.kill(0), Err(DemoError::LastNode(0)));
    for delay in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
        assert!(matches!(demo.network(delay, 0.0), Err(DemoError::Delay(_))), "{delay}");
    }
    for loss in [-0.1, f64::NAN, 1.0] {
        assert!(matches!(demo.network(0.0, loss), Err(DemoError::Loss(_))), "{loss}");
    }
    assert_eq!(demo.bodies(BODIES_MAX + 1), Err(DemoError::TooManyBodies(BODIES_MAX + 1)));
    for _ in 1..NODES_MAX {
        demo.add().expect("added");
    }
    assert_eq!(demo.add(), Err(DemoError::TooManyNodes));
    let text: Value = serde_json::from_str(&demo.state().text()).expect("JSON");
    assert_eq!(text["type"], "demo");
    assert_eq!(text["bodies"], BODIES);
    assert_eq!(text["nodes"].as_array().map(Vec::len), Some(NODES_MAX));
    assert_eq!(text["network"]["loss"], 0.0);
    let here = "127.0.0.1:0".parse().expect("an address");
    let none = DemoSettings {
        start: start(),
        rate: 30,
        nodes: 0,
        bots: 0,
        seed: 1,
        listen: here,
        web: None,
        guards: AccessControl::default(),
    };
    let refused = Demo::start(none).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("expected 1 to 8"), "{refused}");
}
