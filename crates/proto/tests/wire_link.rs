//! What goes into a link comes out of it, or nothing does: with real nodes, under any faults.

mod wire_group;
mod wire_samples;

use jostle_proto::wire::{Kind, Limits, Receiver, Sender, WireError, kind_of};
use jostle_proto::{
    Address, Bundle, Class, Done, Epoch, GatewayId, GroupId, Member, Message, NodeId, Normal,
    Object, ObjectId, ShapeId, Share, Source, State, Tick, Touch, View,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use wire_group::{Faults, Group};
use wire_samples::{Habits, ORDINARY, RATE, Random, World};

#[test]
fn nodes_understand_each_other_under_any_faults() {
    let (rough, wild, evil) = (Faults::ROUGH, Faults::WILD, Faults::EVIL);
    let (mut delivered, mut refused, mut touches) = (0, 0, 0);
    for (seed, faults) in
        [Faults::CALM, rough, rough, wild, wild, evil, evil].into_iter().enumerate()
    {
        let seed = seed as u64;
        let nodes = 2 + seed as u32 % 4;
        let mut group = Group::new(seed, nodes, 60, faults);
        group.run(200);
        if faults.spare_receivers() {
            assert!(group.refused.is_empty(), "seed {seed}: {:?}", group.refused);
        }
        delivered += group.delivered;
        refused += group.refused.values().sum::<u64>();
        touches += group.touches;
        group.sent.clear();
    }
    println!("{delivered} messages, {refused} frames refused, {touches} contacts");
    assert!(delivered > 10_000 && touches > 1000 && refused > 1000);
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

/// What real nodes send each other: bytes per tick, of all nodes together, by what they are for. A
/// list of a bundle counts as if the others were not there; what several hold is written once, so
/// that all of it is less than its parts.
fn bytes_of_a_group(nodes: u32) -> BTreeMap<&'static str, usize> {
    const TICKS: usize = 60;
    let mut group = Group::new(1, nodes, 1000, Faults::CALM);
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

/// Packs, loses, doubles and reorders until the message is there. Gives how often it was packed.
fn deliver(message: &Message, ends: (&mut Sender, &mut Receiver), random: &mut Random) -> usize {
    let (sender, receiver) = ends;
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for packed in 1..1000 {
        // Both sides' timers: the sender sends again.
        there.extend(sender.pack(message).unwrap());
        while !there.is_empty() || !back.is_empty() {
            if !there.is_empty() {
                let frame: Vec<u8> = there.swap_remove(random.below(there.len()));
                match receiver.unpack(&frame).unwrap() {
                    _ if random.chance(10) => {}
                    Some(found) => {
                        assert_eq!(found, *message);
                        return packed;
                    }
                    None => back.extend(receiver.replies()),
                }
                if random.chance(10) {
                    there.push(frame);
                }
            }
            if !back.is_empty() && random.chance(30) {
                let reply = back.swap_remove(random.below(back.len()));
                if random.chance(80) {
                    there.extend(sender.reply(&reply).unwrap());
                }
            }
        }
    }
    panic!("it never arrives");
}

#[test]
fn long_messages_come_in_pieces() {
    let mut world = World::new(5, Habits { objects: 60_000, ..ORDINARY });
    world.step();
    let world = world.snapshot();
    let objects = world.objects().to_vec();
    let (epoch, tick, from) = (Epoch(1), world.tick(), NodeId(3));
    let heard = vec![(Source::Gateway(GatewayId { number: 1, life: 1 }), 5)];
    let share = Share { epoch, tick, from, members: 2, objects: objects.clone(), heard };
    let none = Vec::new;
    let (answer, transfers) = (false, objects.clone());
    let (ghosts, backup, entrusted) = (none(), none(), Vec::new());
    let bundle = Bundle { epoch, tick, from, answer, transfers, ghosts, backup, entrusted };
    let touches: Vec<Touch> = objects.windows(2).map(|pair| touch(&pair[0], &pair[1])).collect();
    let done = Done { epoch, tick, from, touches, kicks: Vec::new(), digest: 7 };
    let limits = Limits { objects: 60_000, bytes: 16 << 20 };
    let messages = [Message::Share(share), Message::Bundle(bundle), Message::Done(done)];
    let mut most = 0;
    for (seed, message) in (0..9).flat_map(|seed| messages.iter().map(move |it| (seed, it))) {
        let mut random = Random(seed);
        let (mut sender, mut receiver) = (Sender::new(RATE), Receiver::new(limits));
        let frames = sender.pack(message).unwrap();
        assert!(frames.len() > 3, "{} frames", frames.len());
        let kinds = frames.iter().map(|frame| kind_of(frame).unwrap().0);
        assert!(kinds.into_iter().all(|kind| kind == Kind::Chunk));
        // The receiver has heard the beginning and then forgotten all.
        receiver.unpack(&frames[0]).unwrap();
        for reply in receiver.replies() {
            sender.reply(&reply).unwrap();
        }
        receiver = Receiver::new(limits);
        most = most.max(deliver(message, (&mut sender, &mut receiver), &mut random));
    }
    assert!(most > 1, "nothing had to be repeated");
}

fn touch(a: &Object, b: &Object) -> Touch {
    let normal = Normal::along((a.id.0 % 3) as usize, b.id.0.is_multiple_of(2));
    let (kick_a, kick_b) = (a.state.velocity, b.state.velocity);
    Touch { a: a.id, b: b.id, normal, stops: true, kick_a, kick_b, shift: [0; 3] }
}

#[test]
fn what_is_too_long_for_its_kind_is_not_sent() {
    // A frame of its kind may not be in pieces.
    let ring = vec![Member { node: NodeId(u32::MAX), life: u32::MAX }; 20_000];
    let view = View { ring, ..View::first(Member { node: NodeId(1), life: 1 }) };
    let outcome = Sender::new(RATE).pack(&Message::View(view));
    assert!(matches!(outcome, Err(WireError::Oversize { kind: Kind::View, .. })), "{outcome:?}");
}

/// Lists as nodes make them, and others: two versions of an object, or in disorder.
fn list() -> impl Strategy<Value = Vec<Object>> {
    let class = prop_oneof![
        Just(Class::Immovable),
        Just(Class::Dynamic),
        Just(Class::Avatar),
        Just(Class::Absent),
        any::<u32>().prop_map(|group| Class::Foreign(GroupId(group)))
    ];
    let object = (0..12u64, class, 0..3u32, prop_oneof![3 => Just(0i16), 1 => any::<i16>()]);
    let object = object.prop_map(|(id, class, shape, speed)| {
        let state = State { position: [speed.into(); 3], velocity: [speed; 3], ..State::default() };
        Object { id: ObjectId(id), class, shape: ShapeId(shape), state }
    });
    (prop::collection::vec(object, 0..8), 0..10).prop_map(|(mut objects, odd)| {
        if odd > 0 {
            objects.sort_by_key(|object| object.id);
            objects.dedup_by_key(|object| object.id);
        }
        objects
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bundles_come_back(
        bundles in prop::collection::vec(
            (list(), list(), list(), prop::collection::vec(0..9u32, 8), 0..4u64, 0..3u64), 1..20,
        ),
    ) {
        let (mut sender, mut receiver) = (Sender::new(RATE), Receiver::new(Limits::default()));
        for (at, drawn) in bundles.into_iter().enumerate() {
            let (transfers, ghosts, backup, owners, late, epoch) = drawn;
            // A tick now and then is sent again, with other content; and the view changes.
            let tick = Tick((at as u64).saturating_sub(late / 3));
            let (epoch, answer) = (Epoch(epoch / 2), late == 1);
            let entrusted = owners.into_iter().map(NodeId).zip(ghosts.iter().copied()).collect();
            let from = NodeId(2);
            let bundle =
                Bundle { epoch, tick, from, answer, transfers, ghosts, backup, entrusted };
            let message = Message::Bundle(bundle);
            let frames = sender.pack(&message).unwrap();
            prop_assert_eq!(frames.len(), 1);
            prop_assert_eq!(receiver.unpack(&frames[0]), Ok(Some(message)));
            prop_assert_eq!(receiver.replies().count(), 0);
        }
    }
}
