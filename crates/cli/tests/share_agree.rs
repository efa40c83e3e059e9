//! What the network has computed is what the simulator's checkers compute from the same inputs,
//! tick by tick; and a recording in which a single number is another one is detected.

mod share;

use jostle_net::event_log::{LoggedEvent, read_event_logs};
use jostle_net::recording::{self, Step};
use jostle_proto::{Class, Commit, Form, Input, Object, Source, Tick, Time, digest};
use jostle_sim::RecordingChecker;
use serde::{Deserialize, Serialize};
use share::{EdgeProbe, Ground, Host};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What a recording is made of, as it is written.
#[derive(Clone, Serialize, Deserialize)]
enum Record {
    Head { world: String, rate: u32, forms: Vec<Form>, contents: Vec<Vec<u8>> },
    World(Tick, Vec<(Source, u64)>, Vec<Object>),
    Tick(Arc<Commit>),
    End(Option<Tick>),
}

const MAGIC: usize = 8;
/// Before each record: its length, its number, a checksum of it, and one of these.
const HEAD: usize = 16;
/// Behind each record.
const END: u8 = 0xa5;

fn read(file: &Path) -> (Vec<u8>, Vec<Record>) {
    let bytes = std::fs::read(file).unwrap();
    let (magic, mut rest) = bytes.split_at(MAGIC);
    let mut records = Vec::new();
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
        records.push(postcard::from_bytes(&rest[HEAD..HEAD + length]).unwrap());
        rest = &rest[HEAD + length + 1..];
    }
    (magic.to_vec(), records)
}

fn write(file: &Path, magic: &[u8], records: &[Record]) {
    let mut bytes = magic.to_vec();
    for (number, record) in records.iter().enumerate() {
        let record = postcard::to_allocvec(record).unwrap();
        let words = [record.len() as u32, number as u32, crc32c::crc32c(&record)];
        let head: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let sum = crc32c::crc32c_append(crc32c::crc32c(magic), &head);
        bytes.extend(head);
        bytes.extend(sum.to_le_bytes());
        bytes.extend(record);
        bytes.push(END);
    }
    std::fs::write(file, bytes).unwrap();
}

/// A world of three processes and some bots, recorded; the names of the event logs.
fn record(ground: &Ground) -> [&'static str; 3] {
    let host = Host::default();
    let serve = ["serve", "--generate", "solids,200", "--seed", "5", "--listen", "127.0.0.1:0"];
    let files = ["--web", "none", "--record", "recording", "--events", "serve.events"];
    let mut serve = ground.start(&host, "serve", &[&serve[..], &files[..]].concat());
    let address = serve.message("status:  jostle status --join ");
    let edge = EdgeProbe::new(ground, &host, &address);
    let nodes = [("one", "one.events"), ("two", "two.events")].map(|(name, events)| {
        let mut node = ground.start(&host, name, &["node", "--join", &address, "--events", events]);
        node.message("joined");
        node
    });
    let bots = ["bots", "--join", &address, "--avatars", "4", "--motion", "random"];
    let bots = ground.start(&host, "bots", &bots);
    edge.wait("nodes and bots", |it| it.places().len() == 3 && it.clients() == 4);
    edge.wait_ticks(150);
    bots.end();
    for process in nodes {
        process.end();
    }
    serve.end();
    ["serve.events", "one.events", "two.events"]
}

/// How a replay goes: the ticks that are the same, and the first one that is not.
fn play(file: &Path) -> (u64, Option<Tick>) {
    let mut replay = recording::open(file).unwrap();
    let mut same = 0;
    while let Some(step) = replay.step().unwrap() {
        match step {
            Step::World(_) => {}
            Step::Same(..) => same += 1,
            Step::Different(tick, _) => return (same, Some(tick)),
        }
    }
    (same, None)
}

#[test]
fn the_network_and_the_simulator_agree_about_every_tick() {
    let ground = Ground::new();
    let events = record(&ground);
    agree(&ground, &events);
    finds_changes(&ground);
}

/// The checker is given what leaders have published, the replay what a follower has recorded.
fn agree(ground: &Ground, files: &[&str]) {
    let files: Vec<_> = files.iter().map(|name| ground.path(name)).collect();
    let mut commits: BTreeMap<Tick, (Time, Arc<Commit>)> = BTreeMap::new();
    for seen in read_event_logs(&files).unwrap() {
        if let LoggedEvent::Published { at, commit } = seen
            && commit.group.0 == 0
        {
            commits.entry(commit.tick).or_insert((at, commit));
        }
    }
    let mut replay = recording::open(&ground.path("recording")).unwrap();
    let Some(Step::World(begin)) = replay.step().unwrap() else { panic!("no world") };
    let objects: Vec<Object> = replay.objects().values().copied().collect();
    let mut checker = RecordingChecker::new(&objects, begin, replay.shapes(), replay.rate());
    let (mut ticks, mut collisions, mut inputs) = (0, 0, 0);
    let mut last = begin;
    while let Some(step) = replay.step().unwrap() {
        let (Step::Same(tick, _) | Step::World(tick)) = step else { panic!("{step:?}") };
        // More than one where the recording has a gap.
        for (at, commit) in commits.range(last.next()..=tick).map(|(_, published)| published) {
            checker.published(*at, commit);
            ticks += 1;
            collisions += commit.touches.len();
            inputs += commit.inputs.len();
        }
        last = tick;
        let (there, here) = (digest(checker.objects()), digest(replay.objects().values()));
        assert_eq!(there, here, "{tick:?}: {there:016x} and {here:016x}");
    }
    assert_eq!(ticks, last.0 - begin.0);
    let violations = checker.verdict().violations;
    assert!(violations.is_empty(), "{violations:?}");
    // Where nothing happens there is nothing to agree about.
    assert!(ticks > 150 && collisions > 50 && inputs > 10, "{ticks}, {collisions}, {inputs}");
    println!("{ticks} ticks with {collisions} collisions and {inputs} inputs are the same in both");
}

/// Changes a record, or says that there is nothing to change in it.
type Change = fn(&mut Record) -> bool;

/// Each of these is one number in one place, and the sums are right.
fn finds_changes(ground: &Ground) {
    let (magic, records) = read(&ground.path("recording"));
    let (all, none) = play(&ground.path("recording"));
    assert_eq!(none, None);
    let file = ground.path("changed");
    write(&file, &magic, &records);
    assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(ground.path("recording")).unwrap());
    let changes: [(&str, Change); 5] = [
        ("a velocity at the beginning", faster_at_the_beginning),
        ("an input", other_input),
        ("a collision that is left out", no_touch),
        ("what a collision does", other_kick),
        ("a digest", other_digest),
    ];
    for (what, change) in changes {
        let can = (0..records.len()).filter(|&at| change(&mut records[at].clone()));
        let can: Vec<usize> = can.collect();
        // In the middle: what follows is another world.
        let at = *can.get(can.len() / 2).unwrap_or_else(|| panic!("no {what}"));
        let mut changed = records.clone();
        change(&mut changed[at]);
        write(&file, &magic, &changed);
        let (same, different) = play(&file);
        println!("{what}, record {at}: different from {different:?} on, {same} ticks are the same");
        assert!(different.is_some() && same < all, "{what}");
        // An input takes effect in the tick after its own.
        let ticks = records[..at].iter().filter(|record| matches!(record, Record::Tick(_)));
        let before = ticks.count() as u64;
        assert!((before..=before + 1).contains(&same), "{what}, record {at}, {same} are the same");
    }
}

fn faster_at_the_beginning(record: &mut Record) -> bool {
    let Record::World(_, _, objects) = record else { return false };
    let moving = objects.iter_mut().find(|object| object.class == Class::Dynamic);
    moving.map(|object| object.state.velocity[0] ^= 1).is_some()
}

fn tick(record: &mut Record) -> Option<&mut Commit> {
    let Record::Tick(commit) = record else { return None };
    Some(Arc::make_mut(commit))
}

fn other_input(record: &mut Record) -> bool {
    let inputs = tick(record).into_iter().flat_map(|commit| commit.inputs.iter_mut());
    let input = inputs.filter_map(|input| match input {
        Input::Steer(want) => Some(want),
        _ => None,
    });
    input.take(1).map(|want| want.velocity[0] ^= 1).count() > 0
}

fn no_touch(record: &mut Record) -> bool {
    tick(record).is_some_and(|commit| commit.touches.pop().is_some())
}

fn other_kick(record: &mut Record) -> bool {
    let touches = tick(record).into_iter().flat_map(|commit| commit.touches.iter_mut());
    let kicked = touches.filter(|touch| touch.kick_a != [0; 3]);
    kicked.take(1).map(|touch| touch.kick_a[0] ^= 1).count() > 0
}

fn other_digest(record: &mut Record) -> bool {
    tick(record).map(|commit| commit.digest ^= 1).is_some()
}
