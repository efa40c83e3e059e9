//! Processes that stand still for seconds and go on: a pause is not a delay. The world stays one
//! group with everything in it.

mod share;

use nix::sys::signal::Signal;
use share::{EdgeProbe, Ground, Host, Running, Status};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const OBJECTS: u64 = 306;

fn serve(ground: &Ground) -> (Running, String, String) {
    let args = ["serve", "--generate", "solids,300", "--web", "127.0.0.1:0"];
    let mut serve = ground.start(
        &Host::default(),
        "serve",
        &[&args[..], &["--listen", "127.0.0.1:0"]].concat(),
    );
    let page = serve.message("web:");
    let address = serve.message("status:  jostle status --join ");
    (serve, address, page.trim().trim_start_matches("http://").trim_end_matches('/').into())
}

fn node(ground: &Ground, name: &str, join: &str) -> Running {
    let mut node = ground.start(&Host::default(), name, &["node", "--join", join]);
    node.message("joined");
    node
}

fn is_whole(status: &Status) -> bool {
    status.places().len() == 3 && status.nodes(0).len() == 3 && status.objects() == OBJECTS
}

/// Issue 19: after 3 s all objects were in a group of one node without a backup, and the others in
/// groups of their own, at 0.2 ms from each other.
#[test]
fn a_world_whose_serving_process_is_paused_stays_one_group() {
    let ground = Ground::new();
    let (serve, address, page) = serve(&ground);
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    let nodes = ["one", "two"].map(|name| node(&ground, name, &address));
    edge.wait("three nodes", |status| is_whole(status) && status.is_stable());
    let before = counters(&page);
    for seconds in [3, 6] {
        serve.signal(Signal::SIGSTOP);
        std::thread::sleep(Duration::from_secs(seconds));
        serve.signal(Signal::SIGCONT);
        edge.wait_ticks(60);
        // Votes that the pause might have called would be held by now.
        std::thread::sleep(Duration::from_secs(4));
        let status = edge.wait("one group", |status| is_whole(status) && status.is_stable());
        assert_eq!(status.nodes(0), [0, 1, 2], "after {seconds} s: {status:?}");
        edge.wait_ticks(60);
    }
    // Counters only grow, whatever nodes come and go.
    let after = counters(&page);
    for (name, count) in before {
        assert!(after.get(&name).is_some_and(|now| *now >= count), "{name} was {count}: {after:?}");
    }
    for process in nodes {
        process.end();
    }
    serve.end();
}

#[test]
fn a_node_that_is_paused_comes_back_into_the_group() {
    let ground = Ground::new();
    let (serve, address, _) = serve(&ground);
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    let [one, two] = ["one", "two"].map(|name| node(&ground, name, &address));
    edge.wait("three nodes", |status| is_whole(status) && status.is_stable());
    one.signal(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_secs(6));
    one.signal(Signal::SIGCONT);
    edge.wait("one group", |status| is_whole(status) && status.is_stable());
    edge.wait_ticks(60);
    for process in [one, two, serve] {
        process.end();
    }
}

/// All counters at `/metrics`; whatever is called one is a counter by its name, and the other way
/// round.
fn counters(page: &str) -> BTreeMap<String, f64> {
    let mut stream = TcpStream::connect(page).unwrap();
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {page}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let mut kinds = BTreeMap::new();
    let mut counters = BTreeMap::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(kinds.insert(name.to_string(), kind.to_string()).is_none(), "{name} twice");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
        } else if line.starts_with("jostle_") {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let name = series.split('{').next().unwrap();
            let kind = kinds.get(name).unwrap_or_else(|| panic!("{name} has no type"));
            if kind == "counter" {
                counters.insert(series.to_string(), value.parse::<f64>().unwrap());
            }
        }
    }
    assert!(counters.len() > 10 && kinds.len() > counters.len() / 2, "{text}");
    counters
}
