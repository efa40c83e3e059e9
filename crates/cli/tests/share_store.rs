//! What remains of a world after its processes: a start with the same store continues it, whatever
//! was killed, full or damaged meanwhile; nothing is there twice, and what is missing is reported.

mod share;

use jostle_net::recording::{self, Ending, Step};
use serde_json::Value;
use share::{EdgeProbe, Ground, Host, Running, Status, free_address};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// What the worlds are made with, and what is in them: six walls besides.
const WORLD: &str = "solids,100";
const OBJECTS: u64 = 106;

fn args<'a>(address: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let args = ["serve", "--generate", WORLD, "--web", "none", "--listen", address];
    [&args[..], &["--store", "store"], more].concat()
}

fn serve(ground: &Ground, name: &str, address: &str, more: &[&str]) -> Running {
    ground.start(&Host::default(), name, &args(address, more))
}

fn node(ground: &Ground, name: &str, address: &str) -> Running {
    let mut node = ground.start(&Host::default(), name, &["node", "--join", address]);
    node.message("joined");
    node
}

/// It says what it serves, and that is true; the world goes on. Gives its tick.
fn serves(serve: &mut Running, edge: &EdgeProbe<'_>, objects: u64) -> u64 {
    let sent = serve.message("serving ");
    assert!(sent.starts_with(&format!("{objects} objects at")), "{sent}");
    edge.wait_ticks(30);
    let held = |status: &Status| {
        let members = status.groups().iter().flat_map(|it| it["members"].as_array().unwrap());
        members.map(|member| member["objects"].as_u64().unwrap()).sum::<u64>()
    };
    // Each in one hand, walls in none.
    let all = |status: &Status| status.objects() == objects && held(status) == objects - 6;
    edge.wait("all objects, once", all).tick()
}

/// The last tick that is on the disk.
fn stored(status: &Status) -> u64 {
    status.value()["store"]["tick"].as_u64().unwrap_or(0)
}

fn is_stored(edge: &EdgeProbe<'_>, tick: u64) {
    edge.wait("the store", |status| stored(status) >= tick);
}

fn flip(path: &Path, part: f64) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = (bytes.len() as f64 * part) as usize;
    bytes[at] ^= 16;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_world_of_two_nodes_that_was_stopped_as_a_whole_is_served_again() {
    for more in [&[][..], &["--one-group"]] {
        let ground = Ground::new();
        let address = free_address();
        let edge = EdgeProbe::new(&ground, &Host::default(), &address);
        let mut first = serve(&ground, "first", &address, more);
        first.message("serving ");
        let one = node(&ground, "one", &address);
        edge.wait("two nodes", |status| status.places().len() == 2 && status.is_stable());
        let before = serves(&mut first, &edge, OBJECTS);
        // The process with the directory first, so that it never hears that the other one goes.
        first.end();
        one.end();
        let mut second = serve(&ground, "second", &address, more);
        let after = serves(&mut second, &edge, OBJECTS);
        assert!(after > before, "{after}, {before}");
        second.logs("no living node has the world: it is restored from the store");
        // And without a word of goodbye.
        let two = node(&ground, "two", &address);
        edge.wait("two nodes", |status| status.places().len() == 2 && status.is_stable());
        let before = serves(&mut second, &edge, OBJECTS);
        is_stored(&edge, before);
        two.kill();
        second.kill();
        let mut third = serve(&ground, "third", &address, more);
        assert!(serves(&mut third, &edge, OBJECTS) >= before);
        third.end();
    }
}

#[test]
fn a_damaged_memory_of_the_directory_loses_and_doubles_nothing_while_nodes_live() {
    let ground = Ground::new();
    let address = free_address();
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    let mut first = serve(&ground, "first", &address, &["--one-group"]);
    let [one, two] = ["one", "two"].map(|name| node(&ground, name, &address));
    edge.wait("three nodes", |status| status.places().len() == 3 && status.is_stable());
    let before = serves(&mut first, &edge, OBJECTS);
    first.kill();
    let store = ground.path("store");
    flip(&store.join("directory"), 0.6);
    flip(&store.join("numbers.copy"), 0.9);
    let mut second = serve(&ground, "second", &address, &["--one-group"]);
    edge.wait("nodes", |status| status.nodes(0).len() == 3 && status.place(0).is_none());
    assert!(serves(&mut second, &edge, OBJECTS) > before);
    let sent = second.logs("directory: record 0 at byte 8 is damaged");
    assert!(sent.contains("the second copy"), "{sent}");
    second.logs("numbers.copy: record 0");
    let lives = edge.status().unwrap().places().iter().map(|place| place.life).max();
    assert_eq!(lives, Some(1), "who lived has the world");
    second.kill();

    for copy in ["directory", "directory.copy"] {
        flip(&store.join(copy), 0.5);
    }
    let refused = ground.run(&Host::default(), &args(&address, &["--one-group"]));
    assert_eq!(refused.status.code(), Some(2));
    let sent = String::from_utf8_lossy(&refused.stderr).into_owned();
    for words in ["both copies", "store/directory:", "store/directory.copy:", "--restore"] {
        assert!(sent.contains(words), "{words}: {sent}");
    }
    let mut third = serve(&ground, "third", &address, &["--one-group", "--restore"]);
    edge.wait("all anew", |status| {
        let lives = [1, 2].map(|node| status.place(node).is_some_and(|place| place.life > 1));
        lives == [true; 2] && status.nodes(0).len() == 3 && status.is_stable()
    });
    serves(&mut third, &edge, OBJECTS);
    for process in [one, two, third] {
        process.end();
    }
}

/// Starts a server whose files can have so many kilobytes only.
fn serve_without_room(ground: &Ground, name: &str, address: &str, blocks: u64) -> Running {
    let (jostle, args) = (env!("CARGO_BIN_EXE_jostle"), args(address, &["--one-group"]).join(" "));
    let script = format!("trap '' XFSZ; ulimit -S -f {blocks}; exec {jostle} {args}");
    ground.start_command(name, Command::new("bash").args(["-c", &script]))
}

fn trouble(status: &Status) -> &Value {
    &status.value()["store"]["trouble"]
}

#[test]
fn a_full_disk_fails_writes_until_there_is_room_and_costs_nothing_that_was_stored() {
    let ground = Ground::new();
    let address = free_address();
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    let first = serve(&ground, "first", &address, &["--one-group"]);
    edge.wait_ticks(60);
    is_stored(&edge, 60);
    first.kill();
    let long = |name: &str| std::fs::metadata(ground.path("store").join(name)).unwrap().len();
    let blocks = long("world-0.rec") / 1024;

    // Not even the world has room.
    let mut second = serve_without_room(&ground, "second", &address, 12);
    let begun = serves(&mut second, &edge, OBJECTS);
    assert!(begun > 60);
    edge.wait("trouble", |status| trouble(status).is_string());
    second.logs("cannot write the store");
    second.kill();
    assert!(!ground.path("store/world.new").exists(), "nothing half written stays");

    // The world has, what happens has not.
    let mut third = serve_without_room(&ground, "third", &address, blocks + 20);
    let begun = serves(&mut third, &edge, OBJECTS);
    assert!(begun > 60, "an older file was whole");
    let status = edge.wait("trouble", |status| trouble(status).is_string());
    assert!(status.value()["store"]["failures"].as_u64().unwrap() > 0, "{status:?}");
    assert!(trouble(&status).as_str().unwrap().contains("world-"), "{status:?}");
    let last = third.logs("is the last one on the disk");
    assert!(last.contains(&format!("tick {} is the last one", stored(&status))), "{last}");
    edge.wait_ticks(60);
    let pid = third.id().to_string();
    let given = Command::new("prlimit").args(["--fsize=unlimited", "--pid", &pid]).status();
    assert!(given.unwrap().success());
    third.logs("the store can be written again");
    let now = edge.wait("no trouble", |status| trouble(status).is_null()).tick();
    is_stored(&edge, now + 30);
    third.kill();
    let mut fourth = serve(&ground, "fourth", &address, &["--one-group"]);
    assert!(serves(&mut fourth, &edge, OBJECTS) > now + 30);
    fourth.end();
}

#[test]
fn a_damaged_or_shortened_world_is_said_to_be_one_and_the_rest_is_served() {
    let ground = Ground::new();
    let address = free_address();
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    let run = |name: &str| {
        let mut serve = serve(&ground, name, &address, &["--one-group"]);
        let tick = serves(&mut serve, &edge, OBJECTS);
        is_stored(&edge, tick);
        (serve, tick)
    };
    let (first, _) = run("first");
    first.end();
    let (second, before) = run("second");
    second.end();
    let newest = ground.path("store").join("world-1.rec");
    let bytes = std::fs::read(&newest).unwrap();

    // Cut off between two ticks or within one: nothing in the file says so.
    std::fs::write(&newest, &bytes[..bytes.len() - 500]).unwrap();
    let (third, _) = run("third");
    let sent = third.logs("was stored, but the world is there up to");
    assert!(sent.contains("world-1.rec") && sent.contains("(byte "), "{sent}");
    third.kill();

    // The world that it begins with: an older file is used.
    let newest = ground.path("store").join("world-2.rec");
    flip(&newest, 0.1);
    let (fourth, after) = run("fourth");
    fourth.logs("world-2.rec: record 0 at byte 8 is damaged");
    fourth.logs("an older file is used");
    assert!(after + 300 > before, "{after}, {before}");
    fourth.end();
    // Zeros behind the end are harmless.
    let newest = ground.path("store").join("world-3.rec");
    let bytes = std::fs::read(&newest).unwrap();
    std::fs::write(&newest, [&bytes[..], &[0; 10_000]].concat()).unwrap();
    let (fifth, last) = run("fifth");
    assert!(last > after, "{last}, {after}");
    assert!(!fifth.log().contains("damaged"), "{}", fifth.log());
    fifth.end();
}

#[test]
fn nobody_else_can_read_a_store() {
    let ground = Ground::new();
    let address = free_address();
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let script = format!("umask 0; exec {} {}", env!("CARGO_BIN_EXE_jostle"), {
        args(&address, &[]).join(" ")
    });
    let first = ground.start_command("first", Command::new("bash").args(["-c", &script]));
    is_stored(&edge, 1);
    first.end();
    let store = ground.path("store");
    assert_eq!(mode(&store), 0o700);
    let files = || std::fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path());
    assert!(files().count() >= 5);
    for file in files() {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
        // As an older version left them.
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    }
    let second = serve(&ground, "second", &address, &[]);
    is_stored(&edge, 2);
    second.logs("numbers: other users could read this file (mode 644): changed to 600");
    second.end();
    for file in files() {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

/// What a replay comes to: it is the same to its marked end, or it says why not.
fn is_whole(file: &Path) -> Option<u64> {
    let mut replay = recording::open(file).ok()?;
    loop {
        match replay.step().ok()? {
            Some(Step::Different(..)) => return None,
            Some(_) => {}
            None if replay.ending() == Ending::Marked => return replay.tick().map(|tick| tick.0),
            None => return None,
        }
    }
}

#[test]
fn a_changed_or_shortened_recording_is_never_the_same() {
    let ground = Ground::new();
    let address = free_address();
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    let world = ["serve", "--generate", "balls,10", "--web", "none", "--listen", &address];
    let serve =
        ground.start(&Host::default(), "serve", &[&world[..], &["--record", "recording"]].concat());
    edge.wait_ticks(60);
    serve.end();
    let replay = ground.replay("recording");
    let whole = ground.path("recording");
    let last = is_whole(&whole).expect("it is whole");
    assert_eq!(replay["last"], last);
    let bytes = std::fs::read(&whole).unwrap();
    let changed = ground.path("changed");
    let mut state = 5u64;
    for _ in 0..200 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bit = (state >> 20) as usize % (bytes.len() * 8);
        let mut other = bytes.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&changed, other).unwrap();
        assert_eq!(is_whole(&changed), None, "bit {bit}");
    }
    for part in 0..50 {
        let end = bytes.len() * part / 50;
        std::fs::write(&changed, &bytes[..end]).unwrap();
        assert_eq!(is_whole(&changed), None, "{end}");
    }
    // What the command says of one.
    std::fs::write(&changed, &bytes[..bytes.len() - 3]).unwrap();
    let cut = ground.run(&Host::default(), &["replay", "changed"]);
    let sent = String::from_utf8_lossy(&cut.stdout).into_owned();
    assert_eq!(cut.status.code(), Some(1), "{sent}");
    assert!(sent.contains("INCOMPLETE") && !sent.contains("in every tick"), "{sent}");
}
