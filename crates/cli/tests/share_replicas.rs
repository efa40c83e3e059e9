//! A shared world whose directory has three replicas, each a process: whichever dies, nothing is
//! lost, nothing is in two places, and the world goes on.

mod share;

use serde_json::Value;
use share::figures::Figures;
use share::{EdgeProbe, Ground, Host, Running, Status, free_address, wait};
use std::cell::{Cell, RefCell};
use std::process::Command;
use std::time::{Duration, Instant};

/// What a world is made with, and what is in it: six walls besides.
const WORLD: &str = "solids,200";
const OBJECTS: u64 = 206;
const BOTS: u64 = 3;

/// A world with three replicas.
struct World<'a> {
    ground: &'a Ground,
    edge: String,
    replicas: [String; 3],
    /// What has been started, for the files of events.
    started: Cell<usize>,
    events: RefCell<Vec<String>>,
}

impl<'a> World<'a> {
    fn new(ground: &'a Ground) -> World<'a> {
        World {
            ground,
            edge: free_address(),
            replicas: [(); 3].map(|()| free_address()),
            started: Cell::new(0),
            events: RefCell::default(),
        }
    }

    /// Starts a process that writes down what it says.
    fn start(&self, name: &str, args: &[&str]) -> Running {
        self.started.set(self.started.get() + 1);
        let events = format!("{name}-{}.events", self.started.get());
        let args = [args, &["--events", &events]].concat();
        self.events.borrow_mut().push(events.clone());
        self.ground.start(&Host::default(), name, &args)
    }

    fn serve(&self, recording: &str) -> Running {
        // On a machine that has much else to do nodes may seem far from each other.
        self.serve_with(&["--one-group", "--record", recording])
    }

    fn serve_with(&self, more: &[&str]) -> Running {
        let replicas = self.replicas.join(",");
        let args = ["serve", "--generate", WORLD, "--web", "none"];
        let there = ["--listen", &self.edge, "--replicas", &replicas];
        let mut serve = self.start("serve", &[&args[..], &there[..], more].concat());
        serve.message("status:  jostle status --join ");
        serve
    }

    /// A replica: a new one, or the one that is stored.
    fn replica(&self, number: usize, more: &[&str]) -> Running {
        let (id, store) = (number.to_string(), format!("store-{number}"));
        let args = ["directory", "--id", &id, "--join", &self.edge, "--store", &store];
        let mut replica = self.start(&format!("replica-{number}"), &[&args[..], more].concat());
        replica.message("status:  jostle status --join ");
        replica
    }

    fn node(&self, name: &str) -> Running {
        let mut node = self.newcomer(name);
        node.message("joined");
        node
    }

    /// A node that is started and may have to wait before it can join.
    fn newcomer(&self, name: &str) -> Running {
        self.start(name, &["node", "--join", &self.edge])
    }

    fn bots(&self) -> Running {
        let avatars = BOTS.to_string();
        let args = ["bots", "--join", &self.edge, "--avatars", &avatars, "--json"];
        self.ground.start(&Host::default(), "bots", &args)
    }

    fn ask(&self) -> EdgeProbe<'a> {
        EdgeProbe::new(self.ground, &Host::default(), &self.edge)
    }

    /// All is written down, computed again, and judged.
    fn judge(&self, replay: &Value) {
        let events = self.events.borrow();
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let verdict = self.ground.judge(&events, "recording");
        println!("replay: {replay}\njudge: {verdict}");
        // That they are those of one register is one of the rules.
        assert!(verdict["answers"].as_u64().unwrap() > 100, "{verdict}");
        let paths: Vec<_> = events.iter().map(|name| self.ground.path(name)).collect();
        println!("{}", Figures::new(&paths));
    }
}

/// The replicas as a process shows them.
fn replicas(status: &Status) -> Vec<Value> {
    status.value()["replicas"].as_array().cloned().unwrap_or_default()
}

/// Who leads, as far as those say that were heard lately.
fn leader(status: &Status) -> Option<u64> {
    let fresh = |it: &&Value| it["silent_ms"].as_f64().unwrap() < 1000.0 && it["leads"] == true;
    let mut leaders: Vec<(u64, u64)> = replicas(status)
        .iter()
        .filter(fresh)
        .map(|it| (it["term"].as_u64().unwrap(), it["replica"].as_u64().unwrap()))
        .collect();
    leaders.sort_unstable();
    leaders.last().map(|(_, replica)| *replica)
}

/// Everything is there, and the world goes on.
fn goes_on(edge: &EdgeProbe<'_>, objects: u64) -> Status {
    edge.wait_ticks(45);
    edge.wait("all objects", |status| status.objects() == objects && status.is_stable())
}

#[test]
fn the_leader_of_three_replicas_and_a_node_are_killed_at_once_under_load() {
    let ground = Ground::new();
    let world = World::new(&ground);
    let serve = world.serve("recording");
    let mut replicas: Vec<Option<Running>> =
        (1..=3).map(|number| Some(world.replica(number, &[]))).collect();
    let edge = world.ask();
    let one = world.node("one");
    let two = world.node("two");
    let bots = world.bots();
    let all = OBJECTS + BOTS;
    let full = |status: &Status| status.places().len() == 3 && status.objects() == all;
    let status = edge.wait("nodes and bots", |status| full(status) && leader(status).is_some());
    let nodes: Vec<u64> = status.places().iter().map(|place| place.node).collect();
    goes_on(&edge, all);

    let old = leader(&edge.status().unwrap()).unwrap();
    let view = |status: &Status| status.groups()[0]["view"].as_u64().unwrap();
    let before = view(&edge.status().unwrap());
    let killed = Instant::now();
    one.kill();
    replicas[old as usize - 1].take().unwrap().kill();
    let served = edge.wait("another leader's view without the dead", |status| {
        leader(status).is_some_and(|new| new != old)
            && view(status) > before
            && status.is_stable()
            && status.places().len() == 2
    });
    println!("replica {old} led; served again after {:?}", killed.elapsed());
    assert!(served.places().iter().all(|place| nodes.contains(&place.node)));
    goes_on(&edge, all);

    // The replica comes back, and a node: no number is given twice.
    replicas[old as usize - 1] = Some(world.replica(old as usize, &[]));
    let three = world.node("three");
    let status = edge.wait("three nodes again", |status| full(status) && status.is_stable());
    assert!(status.places().iter().any(|place| !nodes.contains(&place.node)), "{status:?}");
    goes_on(&edge, all);
    assert_eq!(heard_replicas(&edge).len(), 3);

    let bots: Value = serde_json::from_str(&bots.end()).unwrap();
    assert_eq!(bots["active"], BOTS, "{bots}");
    edge.wait("the bots' end", |status| status.objects() == OBJECTS);
    for process in [two, three].into_iter().chain(replicas.into_iter().flatten()).chain([serve]) {
        process.end();
    }
    world.judge(&ground.replay("recording"));
}

/// Replicas that were heard lately.
fn heard_replicas(edge: &EdgeProbe<'_>) -> Vec<Value> {
    let status = edge.wait("three replicas", |status| {
        let fresh = |it: &&Value| it["silent_ms"].as_f64().unwrap() < 1000.0;
        replicas(status).iter().filter(fresh).count() == 3
    });
    replicas(&status)
}

#[test]
fn without_a_majority_the_world_goes_on_and_with_one_every_process_may_be_replaced() {
    let ground = Ground::new();
    let world = World::new(&ground);
    let serve = world.serve("recording");
    let [first, second, third] = [1, 2, 3].map(|number| world.replica(number, &[]));
    let edge = world.ask();
    let one = world.node("one");
    let bots = world.bots();
    let all = OBJECTS + BOTS;
    let full = |status: &Status| status.places().len() == 2 && status.objects() == all;
    edge.wait("nodes and bots", full);
    goes_on(&edge, all);

    second.kill();
    third.kill();
    edge.wait("no leader", |status| leader(status).is_none());
    let before = edge.status().unwrap();
    let mut late = world.newcomer("late");
    let after = edge.wait_ticks(90);
    assert!(after.tick() >= before.tick() + 90);
    assert_eq!(after.objects(), all);
    let view = |status: &Status| status.groups()[0]["view"].as_u64();
    assert_eq!(view(&before), view(&after), "nothing is decided without a majority");

    // One of them is a majority again, from its log.
    let second = world.replica(2, &[]);
    late.message("joined");
    edge.wait("the one that came late", |status| status.places().len() == 3 && status.is_stable());
    goes_on(&edge, all);
    let third = world.replica(3, &[]);
    assert_eq!(heard_replicas(&edge).len(), 3);

    // All of them, one after the other.
    let mut all_of_them = [Some(first), Some(second), Some(third)];
    for number in 1..=3 {
        if let Some(replica) = all_of_them[number - 1].take() {
            replica.end();
        }
        all_of_them[number - 1] = Some(world.replica(number, &[]));
        edge.wait("a leader, and three", |status| {
            leader(status).is_some() && replicas(status).iter().all(|it| it["lag"] == 0)
        });
        edge.wait_ticks(15);
    }
    goes_on(&edge, all);

    // And the process that began the world. Who serves it next finds it, and clients find that.
    serve.kill();
    let serve = world.serve("recording-2");
    edge.wait("a new node in the place of the first", |status| {
        status.places().len() == 3 && status.place(0).is_none() && status.is_stable()
    });
    goes_on(&edge, all);
    edge.wait("the bots", |status| status.clients() == BOTS);
    let bots: Value = serde_json::from_str(&bots.end()).unwrap();
    assert_eq!(bots["active"], BOTS, "{bots}");
    edge.wait("the bots' end", |status| status.objects() == OBJECTS);
    for process in [one, late].into_iter().chain(all_of_them.into_iter().flatten()).chain([serve]) {
        process.end();
    }
    world.judge(&ground.replay_of_killed("recording"));
}

#[test]
fn without_a_majority_a_free_running_world_goes_on() {
    let ground = Ground::new();
    let world = World::new(&ground);
    let serve = world.serve_with(&["--free-running"]);
    let [first, second, third] = [1, 2, 3].map(|number| world.replica(number, &[]));
    let edge = world.ask();
    let one = world.node("one");
    // Those that the serving process found, with the help of the other: each goes on by the
    // other's word.
    let contacts = |status: &Status| status.value()["counters"]["contacts"].as_u64().unwrap();
    // Without the walls, which are static. What is on its way has no holder for a moment.
    let held = |status: &Status| {
        let members = status.groups()[0]["members"].as_array().unwrap();
        members.iter().map(|member| member["objects"].as_u64().unwrap()).sum::<u64>()
    };
    edge.wait("two nodes", |status| status.places().len() == 2 && status.is_stable());
    edge.wait("contacts", |status| contacts(status) > 0 && held(status) == OBJECTS - 6);

    second.kill();
    third.kill();
    edge.wait("no leader", |status| leader(status).is_none());
    for _ in 0..3 {
        // Two leases.
        std::thread::sleep(Duration::from_secs(1));
        let before = contacts(&edge.status().unwrap());
        edge.wait("more contacts", |status| contacts(status) > before);
    }

    let second = world.replica(2, &[]);
    let late = world.node("late");
    edge.wait("three nodes, and all objects", |status| {
        status.places().len() == 3 && status.is_stable() && held(status) == OBJECTS - 6
    });
    for process in [one, late, first, second, serve] {
        process.end();
    }
}

#[test]
fn replicas_with_a_damaged_log_another_version_or_no_room_are_found_and_replaced() {
    let ground = Ground::new();
    let world = World::new(&ground);
    let serve = world.serve("recording");
    let [first, second, third] = [1, 2, 3].map(|number| world.replica(number, &[]));
    let edge = world.ask();
    let node = world.node("one");
    edge.wait("two nodes", |status| status.places().len() == 2 && status.is_stable());
    third.kill();
    a_damaged_log_is_refused(&ground);
    let fourth = another_takes_its_place(&world, &edge);
    let second = another_version_is_not_heard(&world, &edge, second);
    second.end();
    let (second, late) = a_replica_without_room_waits_for_it(&world, &edge);
    for process in [node, late, first, fourth, serve] {
        process.end();
    }
    second.kill();
}

/// The third replica does not start, and says what to do.
fn a_damaged_log_is_refused(ground: &Ground) {
    let start = || {
        let output = ground.run(&Host::default(), &["directory", "--store", "store-3"]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let log = ground.path("store-3").join("log");
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&log, &bytes).unwrap();
    let sent = start();
    assert!(sent.contains("damaged at byte") && sent.contains("A damaged log"), "{sent}");
    assert_eq!(std::fs::read(&log).unwrap(), bytes, "nothing was mended");
    std::fs::remove_file(&log).unwrap();
    let sent = start();
    assert!(sent.contains("is missing"), "{sent}");
}

/// The way out: it is removed, and another one comes.
fn another_takes_its_place(world: &World<'_>, edge: &EdgeProbe<'_>) -> Running {
    let at = &world.replicas[0];
    wait(&|| "the removal".into(), || {
        let args = ["directory", "--leave", "3", "--join", at];
        world.ground.run(&Host::default(), &args).status.success().then_some(())
    });
    let voters = |status: &Status| {
        let all = replicas(status);
        let leader = all.iter().find(|it| it["leads"] == true)?;
        Some(leader["voters"].as_array()?.iter().filter_map(Value::as_u64).collect::<Vec<_>>())
    };
    edge.wait("two replicas", |status| voters(status) == Some(vec![1, 2]));
    let fourth = free_address();
    let args = ["directory", "--id", "4", "--join", at, "--listen", &fourth];
    let mut fourth = world.start("replica-4", &[&args[..], &["--store", "store-4"]].concat());
    fourth.message("status:");
    edge.wait("three replicas", |status| {
        let lag = |it: &Value| it["replica"] == 4 && it["lag"] == 0;
        voters(status) == Some(vec![1, 2, 4]) && replicas(status).iter().any(lag)
    });
    fourth
}

/// And all report it.
fn another_version_is_not_heard(
    world: &World<'_>,
    edge: &EdgeProbe<'_>,
    second: Running,
) -> Running {
    second.end();
    let older = world.replica(2, &["--peer-version", "0"]);
    edge.wait("strangers", |status| {
        replicas(status).iter().any(|it| it["incompatible"] == serde_json::json!([2]))
    });
    let text = world.ground.run(&Host::default(), &["status", "--join", &world.edge]).stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(text.contains("ignores replica 2: no common protocol version"), "{text}");
    older.end();
    let second = world.replica(2, &[]);
    edge.wait("no strangers", |status| {
        let none = |it: &Value| it["incompatible"] == serde_json::json!([]);
        let there = replicas(status);
        there.iter().filter(|it| it["replica"] != 3).all(none) && leader(status).is_some()
    });
    second
}

/// It is silent meanwhile, and says why.
fn a_replica_without_room_waits_for_it(
    world: &World<'_>,
    edge: &EdgeProbe<'_>,
) -> (Running, Running) {
    let second = without_room(world.ground, "store-2");
    let late = world.node("late");
    edge.wait("trouble", |status| {
        replicas(status).iter().any(|it| it["replica"] == 2 && it["trouble"].is_string())
    });
    edge.wait("three nodes", |status| status.places().len() == 3 && status.is_stable());
    let pid = second.id().to_string();
    let given = Command::new("prlimit").args(["--fsize=unlimited", "--pid", &pid]).status();
    assert!(given.unwrap().success());
    edge.wait("room", |status| {
        let well = |it: &Value| it["replica"] == 2 && it["trouble"].is_null() && it["lag"] == 0;
        replicas(status).iter().any(well)
    });
    (second, late)
}

/// A replica whose log can hardly grow.
fn without_room(ground: &Ground, store: &str) -> Running {
    let jostle = env!("CARGO_BIN_EXE_jostle");
    let long = std::fs::metadata(ground.path(store).join("log")).unwrap().len();
    let blocks = long / 1024 + 1;
    let script = format!(
        "trap '' XFSZ; ulimit -S -f {blocks}; exec {jostle} directory --store {store} --id 2"
    );
    ground.start_command("replica-2", Command::new("bash").args(["-c", &script]))
}

#[test]
fn a_world_whose_processes_were_all_stopped_goes_on_from_the_store_without_touching_files() {
    let ground = Ground::new();
    let world = World::new(&ground);
    let store = ["--one-group", "--store", "store"];
    let mut serve = world.serve_with(&store);
    let replicas = [1, 2, 3].map(|number| world.replica(number, &[]));
    let edge = world.ask();
    let node = world.node("one");
    serve.message(&format!("serving {OBJECTS} objects"));
    edge.wait("two nodes", |status| status.places().len() == 2 && status.is_stable());
    let before = goes_on(&edge, OBJECTS).tick();
    edge.wait("the store", |status| status.value()["store"]["tick"].as_u64() >= Some(before));
    serve.end();
    node.kill();
    for replica in replicas {
        replica.end();
    }
    // The serving process first: it waits for the replicas.
    let replicas_at = world.replicas.join(",");
    let args = ["serve", "--generate", WORLD, "--web", "none", "--listen", &world.edge];
    let args = [&args[..], &["--replicas", &replicas_at], &store].concat();
    let mut serve = ground.start(&Host::default(), "serve-again", &args);
    serve.logs("waiting for them");
    let replicas = [1, 2, 3].map(|number| world.replica(number, &[]));
    serve.message(&format!("serving {OBJECTS} objects"));
    let after = goes_on(&edge, OBJECTS);
    assert!(after.tick() > before && after.places().len() == 1, "{before}: {after:?}");
    let node = world.node("two");
    edge.wait("two nodes", |status| status.places().len() == 2 && status.is_stable());
    goes_on(&edge, OBJECTS);
    for process in replicas.into_iter().chain([node, serve]) {
        process.end();
    }
}
