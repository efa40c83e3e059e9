//! What goes into a link comes out of it, or nothing does: with real nodes, in any weather.

mod wire_group;
mod wire_samples;

use jostle_proto::wire::Sender;
use jostle_proto::{Address, Bundle, Message};
use std::collections::BTreeMap;
use wire_group::{Faults, Group, Plan};
use wire_samples::RATE;

#[test]
fn nodes_understand_each_other_in_any_weather() {
    let calm = Faults::default();
    let rough = Faults { lost: 10, doubled: 10, overtaken: 30, ..calm };
    let wild = Faults { lost: 30, doubled: 30, overtaken: 90, ..calm };
    let evil = Faults { damaged: 20, forgotten: 5, ..rough };
    let (mut delivered, mut refused, mut touches) = (0, 0, 0);
    for (seed, faults) in [calm, rough, rough, wild, wild, evil, evil].into_iter().enumerate() {
        let seed = seed as u64;
        let nodes = 2 + seed as u32 % 4;
        let mut group = Group::new(Plan { seed, nodes, objects: 60, faults });
        group.run(200);
        println!("{:?}", group.refused);
        if faults.forgotten == 0 {
            assert!(group.refused.is_empty(), "seed {seed}: {:?}", group.refused);
        }
        delivered += group.delivered;
        refused += group.refused.values().sum::<u64>();
        touches += group.touches;
        group.sent.clear();
    }
    println!("{delivered} messages, {refused} frames refused, {touches} contacts");
    assert!(delivered > 10_000 && touches > 1000);
}

/// A bundle with only one of its lists.
fn only(bundle: &Bundle, list: &str) -> Bundle {
    let mut part = bundle.clone();
    if list != "transfers" {
        part.transfers.clear();
    }
    if list != "ghosts" {
        part.ghosts.clear();
    }
    if list != "backup" {
        part.backup.clear();
    }
    if list != "entrusted" {
        part.entrusted.clear();
    }
    part
}

/// What real nodes tell each other: bytes per tick, of all nodes together, by what they are for. A
/// list of a bundle counts as if the others were not there; what several hold is written once, so
/// that all of it is less than its parts.
fn bytes_of_a_group(nodes: u32) -> BTreeMap<&'static str, usize> {
    const TICKS: usize = 60;
    let faults = Faults::default();
    let mut group = Group::new(Plan { seed: 1, nodes, objects: 1000, faults });
    while !group.is_together() {
        group.run(1);
    }
    group.run(5);
    group.sent.clear();
    group.run(TICKS as u64);
    let mut alone: BTreeMap<(Address, Address, &str), Sender> = BTreeMap::new();
    let mut bytes = BTreeMap::new();
    for (from, to, message, cost) in &group.sent {
        let what = match message.as_ref() {
            Message::Bundle(bundle) => {
                for list in ["transfers", "ghosts", "backup", "entrusted", "nothing"] {
                    let sender = alone.entry((*from, *to, list));
                    let sender = sender.or_insert_with(|| Sender::new(RATE));
                    let frames = sender.pack(&Message::Bundle(only(bundle, list))).unwrap();
                    // The first bundle is whole.
                    if bundle.tick.0 > first_tick(&group) {
                        *bytes.entry(list).or_default() += frames[0].len();
                    }
                }
                "bundles"
            }
            Message::Done(_) => "done",
            Message::Commit(_) => "commit",
            Message::Inputs(_) => "inputs",
            _ => "rest",
        };
        *bytes.entry(what).or_default() += cost;
        *bytes.entry("all").or_default() += cost;
    }
    bytes.values_mut().for_each(|bytes| *bytes /= TICKS);
    let nothing = bytes["nothing"];
    for list in ["transfers", "ghosts", "backup", "entrusted"] {
        bytes.entry(list).and_modify(|bytes| *bytes -= nothing);
    }
    bytes.insert("contacts", group.touches as usize / group.ticks as usize);
    bytes
}

fn first_tick(group: &Group) -> u64 {
    let tick = |message: &Message| match message {
        Message::Bundle(bundle) => Some(bundle.tick.0),
        _ => None,
    };
    group.sent.iter().find_map(|(_, _, message, _)| tick(message)).unwrap()
}

#[test]
fn a_group_stays_below_12_bytes_per_object() {
    for nodes in [2, 4, 8] {
        let bytes = bytes_of_a_group(nodes);
        println!("{nodes} nodes, bytes per tick: {bytes:?}");
        assert!(bytes["all"] <= 12 * 1000, "{nodes} nodes: {bytes:?}");
    }
}
