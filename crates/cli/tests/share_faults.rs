//! A shared world of real processes, which are killed, stopped and started again: nothing is lost,
//! nothing is in two places, and the recordings show every tick as one machine would have computed
//! it.

mod share;

use jostle_net::client::{ClientOptions, Connection};
use nix::sys::signal::Signal;
use serde_json::Value;
use share::figures::Figures;
use share::{EdgeProbe, Ground, Host, Running, Status, free_address, wait};
use std::time::Duration;

/// What a world is made with, and what is in it: six walls besides.
const WORLD: &str = "solids,300";
const OBJECTS: u64 = 306;

/// One thing is asked of the world again and again: is everything there, and does it go on?
fn goes_on(edge: &EdgeProbe<'_>, objects: u64) -> Status {
    edge.wait_ticks(60);
    edge.wait("all objects", |status| status.objects() == objects && status.is_stable())
}

fn serve(ground: &Ground, name: &str, more: &[&str]) -> (Running, String) {
    let mut args = vec!["serve", "--generate", WORLD, "--web", "127.0.0.1:0"];
    args.extend(more);
    let mut serve = ground.start(&Host::default(), name, &args);
    let address = serve.message("status:  jostle status --join ");
    (serve, address)
}

/// A node, which has its number before the next one comes.
fn node(ground: &Ground, name: &str, join: &str) -> Running {
    let events = format!("{name}.events");
    let args = ["node", "--join", join, "--events", &events];
    let mut node = ground.start(&Host::default(), name, &args);
    node.message("joined");
    node
}

#[test]
fn a_world_goes_on_when_a_node_is_killed_and_another_one_is_stopped() {
    let ground = Ground::new();
    let (serve, address) = serve(
        &ground,
        "serve",
        &["--listen", "127.0.0.1:0", "--record", "recording", "--events", "serve.events"],
    );
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    let names = ["one", "two", "three"];
    let [one, two, three] = names.map(|name| node(&ground, name, &address));
    let bots = ["bots", "--join", &address, "--avatars", "5", "--json"];
    let bots = ground.start(&Host::default(), "bots", &bots);
    let all = OBJECTS + 5;
    edge.wait("nodes and bots", |status| status.places().len() == 4 && status.objects() == all);
    goes_on(&edge, all);

    one.kill();
    edge.wait("a view without the dead", |status| status.place(1).is_none() && status.is_stable());
    let status = goes_on(&edge, all);
    assert!(status.place(0).is_some() && status.place(2).is_some() && status.place(3).is_some());

    two.signal(Signal::SIGSTOP);
    edge.wait("a view without the silent", |status| status.place(2).is_none());
    goes_on(&edge, all);
    two.signal(Signal::SIGCONT);
    let back = edge.wait("the silent one", |status| status.place(2).is_some());
    assert!(back.place(2).unwrap().life > 1, "{back:?}");
    goes_on(&edge, all);

    let bots: Value = serde_json::from_str(&bots.end()).unwrap();
    assert_eq!(bots["active"], 5, "{bots}");
    assert!(bots["contacts"].as_u64().unwrap() > 0, "{bots}");
    edge.wait("the bots' end", |status| status.clients() == 0 && status.objects() == OBJECTS);
    for process in [two, three, serve] {
        process.end();
    }
    let replay = ground.replay("recording");
    let events = ["serve.events", "one.events", "two.events", "three.events"];
    let verdict = ground.judge(&events, "recording");
    println!("bots: {bots}\nreplay: {replay}\njudge: {verdict}");
    println!("{}", Figures::new(&events.map(|name| ground.path(name))));
}

/// A server with a store, which records each of its lives.
fn serve_stored(ground: &Ground, address: &str, life: &str) -> Running {
    let (record, events) = (format!("{life}.recording"), format!("{life}.events"));
    let more = ["--listen", address, "--store", "store", "--record", &record];
    serve(ground, life, &[&more[..], &["--events", &events]].concat()).0
}

#[test]
fn a_world_goes_on_when_the_process_with_the_directory_is_killed_and_comes_back() {
    let ground = Ground::new();
    let address = free_address();
    let begin = |life: &str| serve_stored(&ground, &address, life);
    let first = begin("first");
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    let nodes = ["one", "two"].map(|name| node(&ground, name, &address));
    let options = ClientOptions::to(address.parse().unwrap());
    let client = Connection::open(options).unwrap();
    assert!(client.wait_until_active(Duration::from_secs(30)));
    let avatar = client.avatar();
    let all = OBJECTS + 1;
    edge.wait("three nodes", |status| status.places().len() == 3);
    let before = goes_on(&edge, all).tick();

    first.kill();
    let second = begin("second");
    // The node of the first process is gone with it, the second one has another.
    edge.wait("the new directory's view", |status| status.nodes(0) == [1, 2, 3]);
    let after = goes_on(&edge, all).tick();
    assert!(after > before, "the others had the world: {before}, {after}");
    wait(&|| "the client".into(), || client.is_active().then_some(()));
    assert_eq!(client.avatar(), avatar, "the client comes back to itself");

    drop(client);
    for process in nodes {
        process.end();
    }
    second.end();
    let events = ["first.events", "one.events", "two.events", "second.events"];
    let verdict = ground.judge(&events, "first.recording");
    println!("judge: {verdict}");
    let replay = ground.replay_of_killed("first.recording");
    println!("replay: {replay}\n{}", ground.replay("second.recording"));
    println!("{}", Figures::new(&events.map(|name| ground.path(name))));
}

#[test]
fn a_world_of_one_process_goes_on_from_what_it_has_stored() {
    let ground = Ground::new();
    let address = free_address();
    let begin = |life: &str| serve_stored(&ground, &address, life);
    let first = begin("first");
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    let options = ClientOptions::to(address.parse().unwrap());
    // One stays, the other one is away while the world is.
    let stays = Connection::open(options.clone()).unwrap();
    let leaves = Connection::open(options.clone()).unwrap();
    assert!(stays.wait_until_active(Duration::from_secs(30)));
    assert!(leaves.wait_until_active(Duration::from_secs(30)));
    let avatars = [stays.avatar(), leaves.avatar()];
    let all = OBJECTS + 2;
    goes_on(&edge, all);
    let credential = leaves.leave();
    assert!(credential.is_some());
    let before = goes_on(&edge, all).tick();

    first.kill();
    let second = begin("second");
    goes_on(&edge, all);
    let comes = Connection::open(ClientOptions { credential, ..options }).unwrap();
    assert!(comes.wait_until_active(Duration::from_secs(30)));
    wait(&|| "the client".into(), || stays.is_active().then_some(()));
    assert_eq!([stays.avatar(), comes.avatar()], avatars);
    let status = goes_on(&edge, all);
    assert!(status.tick() > before);

    drop((stays, comes));
    second.end();
    for life in ["first", "second"] {
        let (recording, events) = (format!("{life}.recording"), format!("{life}.events"));
        let replay = match life {
            "first" => ground.replay_of_killed(&recording),
            _ => ground.replay(&recording),
        };
        println!("replay: {replay}");
        println!("judge: {}", ground.judge(&[&events], &recording));
    }
    let begun = first_tick(&ground, "second.recording");
    println!("killed after tick {before}, the world went on from tick {begun}");
    // On disk once a second; five seconds are no hurry even for a slow disk.
    assert!(begun + 150 > before, "{begun}, {before}");
}

/// The tick that a recording begins after.
fn first_tick(ground: &Ground, recording: &str) -> u64 {
    let mut replay = jostle_net::recording::open(&ground.path(recording)).unwrap();
    replay.step().unwrap();
    replay.tick().unwrap().0
}
