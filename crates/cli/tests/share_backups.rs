//! Two nodes of a shared world are killed at once. With two backups nothing is lost, whichever two
//! they are; with one backup and two neighbours the world cannot go on: status, the log of every
//! node and newcomers say so, and the store brings it back.

mod share;

use serde_json::Value;
use share::{EdgeProbe, Ground, Host, Running, Status, free_address};

/// What a world is made with, and what is in it: six walls besides.
const WORLD: &str = "solids,200";
const OBJECTS: u64 = 206;

fn start(ground: &Ground, name: &str, args: &[&str]) -> Running {
    let events = format!("{name}.events");
    ground.start(&Host::default(), name, &[args, &["--events", &events]].concat())
}

fn node(ground: &Ground, name: &str, join: &str) -> Running {
    let mut node = start(ground, name, &["node", "--join", join]);
    node.message("joined");
    node
}

/// Everything is there, and the world goes on.
fn goes_on(edge: &EdgeProbe<'_>) -> Status {
    edge.wait_ticks(30);
    edge.wait("all objects", |status| status.objects() == OBJECTS && status.is_stable())
}

fn halt(status: &Status) -> &Value {
    &status.groups()[0]["halt"]
}

#[test]
fn any_two_nodes_are_killed_at_once_and_nothing_is_lost() {
    let ground = Ground::new();
    let address = free_address();
    let replicas = [(); 3].map(|()| free_address());
    let list = replicas.join(",");
    let serve = |name: &str| {
        let (recording, world) = (format!("{name}.recording"), ["serve", "--generate", WORLD]);
        let there = ["--listen", &address, "--replicas", &list, "--web", "none", "--one-group"];
        let args = [&world[..], &there[..], &["--record", &recording]].concat();
        let mut serve = start(&ground, name, &args);
        serve.message("status:  jostle status --join ");
        serve
    };
    let first = serve("first");
    let stores = ["store-1", "store-2", "store-3"];
    let directory: Vec<Running> = (1..)
        .zip(stores)
        .map(|(id, store)| {
            let id = i32::to_string(&id);
            let args = ["directory", "--id", &id, "--join", &address, "--store", store];
            let mut replica = start(&ground, store, &args);
            replica.message("status:  jostle status --join ");
            replica
        })
        .collect();
    let [one, two, three] = ["one", "two", "three"].map(|name| node(&ground, name, &address));
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    edge.wait("four nodes", |status| status.places().len() == 4 && status.is_stable());
    let status = goes_on(&edge);
    assert_eq!(status.groups()[0]["leader"], 0, "the serving process has the leader");
    assert_eq!(status.groups()[0]["backups"], 2);

    // The leader and its first backup, then the last two of those that were there at first.
    first.kill();
    one.kill();
    let second = serve("second");
    let nodes = |status: &Status| status.places().iter().map(|it| it.node).collect::<Vec<_>>();
    edge.wait("the others and a new one", |status| {
        let nodes = nodes(status);
        nodes.len() == 3 && !nodes.contains(&0) && !nodes.contains(&1) && status.is_stable()
    });
    goes_on(&edge);
    let four = node(&ground, "four", &address);
    edge.wait("four nodes again", |status| status.places().len() == 4 && status.is_stable());
    let before = goes_on(&edge).tick();
    two.kill();
    three.kill();
    edge.wait("the two that came later", |status| {
        nodes(status).iter().all(|node| *node > 3) && status.is_stable()
    });
    assert!(goes_on(&edge).tick() > before);

    for process in [four, second].into_iter().chain(directory) {
        process.end();
    }
    let events =
        ["first", "one", "two", "three", "second", "four", "store-1", "store-2", "store-3"]
            .map(|name| format!("{name}.events"));
    ground.judge(&events.each_ref().map(String::as_str), "first.recording");
    ground.replay("second.recording");
}

#[test]
fn with_one_backup_two_neighbours_stop_the_world_and_the_store_brings_it_back() {
    let ground = Ground::new();
    let address = free_address();
    let serve = |name: &str| {
        let args = ["serve", "--generate", WORLD, "--listen", &address, "--web", "none"];
        let more = ["--one-group", "--backups", "1", "--store", "store"];
        let mut serve = start(&ground, name, &[&args[..], &more[..]].concat());
        serve.message("status:  jostle status --join ");
        serve
    };
    let first = serve("first");
    let [one, two, three] = ["one", "two", "three"].map(|name| node(&ground, name, &address));
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    edge.wait("four nodes", |status| status.places().len() == 4 && status.is_stable());
    let before = goes_on(&edge).tick();

    // Each is the other's neighbour in the ring: 1 has its only backup in 2.
    one.kill();
    two.kill();
    let status = edge.wait("a world that cannot go on", |status| halt(status).is_object());
    assert_eq!(halt(&status)["lost"], serde_json::json!([1]), "{status:?}");
    assert_eq!(halt(&status)["silent"], serde_json::json!([1, 2]), "{status:?}");
    for process in [&first, &three] {
        let line = process.logs("group 0 cannot go on: node 1 and all its backups are dead");
        assert!(line.contains("ERROR") && line.contains("jostle serve --store"), "{line}");
    }
    let text = ground.run(&Host::default(), &["status", "--insecure", "--join", &address]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("view") && text.contains("cannot go on: node 1"), "{text}");
    // A newcomer waits, and says why.
    let late = start(&ground, "late", &["node", "--join", &address]);
    late.logs("group 0 cannot go on: node 1 and all its backups are dead");
    let status = edge.status().unwrap();
    assert_eq!(status.groups().len(), 1, "{status:?}");

    for process in [first, three, late] {
        process.kill();
    }
    let second = serve("second");
    let after = goes_on(&edge);
    // On disk once a second; five seconds are no hurry even for a slow disk.
    assert!(after.tick() + 150 > before && halt(&after).is_null(), "{before}, {after:?}");
    second.end();
}
