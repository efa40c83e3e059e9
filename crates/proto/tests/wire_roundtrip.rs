//! What was sent is what arrives, or nothing does.

mod wire_samples;

use jostle_proto::wire::{
    CHUNK_BYTES, Chunk, Incoming, Outgoing, Snapshot, WINDOW, WireError, light,
};
use jostle_proto::{Class, GroupId, Mobile, Object, ObjectId, Rotation, ShapeId, State, Tick};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use wire_samples::{Habits, ORDINARY, RATE, Random, World};

/// Small numbers and the ends of the range more often than others.
fn state() -> impl Strategy<Value = State> {
    let along = || prop_oneof![-100..100i32, any::<i32>(), Just(i32::MIN), Just(i32::MAX)];
    let speed = || prop_oneof![Just(0i16), -100..100i16, any::<i16>(), Just(i16::MIN)];
    let rotation =
        prop_oneof![Just(Rotation::default()), any::<u64>().prop_map(Rotation::from_bits)];
    (
        [along(), along(), along()],
        rotation,
        [speed(), speed(), speed()],
        [speed(), speed(), speed()],
    )
        .prop_map(|(position, rotation, velocity, spin)| State {
            position,
            rotation,
            velocity,
            spin,
        })
}

fn objects() -> impl Strategy<Value = Vec<Object>> {
    let id = prop_oneof![8 => 0..60u64, 1 => any::<u64>(), 1 => Just(u64::MAX)];
    let class = prop_oneof![
        Just(Class::Immovable),
        Just(Class::Dynamic),
        Just(Class::Avatar),
        Just(Class::Absent),
        any::<u32>().prop_map(|group| Class::Foreign(GroupId(group))),
        any::<u32>().prop_map(|group| Class::Leaving(GroupId(group), Mobile::Avatar))
    ];
    let shape = prop_oneof![0..3u32, any::<u32>()].prop_map(ShapeId);
    prop::collection::btree_map(id, (class, shape, state()), 0..40).prop_map(|objects| {
        let objects = objects.into_iter();
        let object = |(id, (class, shape, state))| Object { id: ObjectId(id), class, shape, state };
        objects.map(object).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whole_lists_come_back(objects in objects(), tick: u64) {
        let snapshot = Snapshot::new(Tick(tick), objects).unwrap();
        let mut bytes = vec![1, 2, 3];
        snapshot.encode(&mut bytes);
        prop_assert_eq!(Snapshot::decode(&bytes[3..], 40), Ok(snapshot.clone()));
        if let Some(most) = snapshot.objects().len().checked_sub(1) {
            let outcome = Snapshot::decode(&bytes[3..], most);
            let refused = matches!(outcome, Err(WireError::TooMany { .. }));
            prop_assert!(refused);
        }
    }

    #[test]
    fn any_list_follows_any_other(
        before in objects(), after in objects(), from: u64, to: u64, near: bool, rate: u32,
    ) {
        let to = if near { from.wrapping_add(to % 20) } else { to };
        let base = Snapshot::new(Tick(from), before).unwrap();
        let now = Snapshot::new(Tick(to), after).unwrap();
        let mut bytes = Vec::new();
        now.encode_since(&base, rate, &mut bytes);
        prop_assert_eq!(Snapshot::decode_since(&base, &bytes, 40), Ok(now.clone()));
        if let Some(most) = now.objects().len().checked_sub(1) {
            let refused = Snapshot::decode_since(&base, &bytes, most).is_err();
            prop_assert!(refused);
        }
        if base != now {
            let other = Snapshot::decode_since(&now, &bytes, 40);
            let (have, found) = (now.digest(), base.digest());
            prop_assert_eq!(other, Err(WireError::OtherBase { have, found }));
        }
    }

    #[test]
    fn light_states_are_as_close_as_promised(
        states in prop::collection::btree_map(any::<u64>(), state(), 0..20), origin: [i32; 3],
    ) {
        let rounded = |state: State| {
            let rotation = Rotation::from_quaternion(state.rotation.quaternion());
            State { rotation, ..state }
        };
        let states: Vec<_> =
            states.into_iter().map(|(id, state)| (ObjectId(id), rounded(state))).collect();
        let mut bytes = Vec::new();
        light::encode(origin, &states, &mut bytes).unwrap();
        let seen = light::decode(&bytes, 20).unwrap();
        prop_assert_eq!(seen.len(), states.len());
        for ((id, state), (seen_id, seen)) in states.iter().zip(&seen) {
            prop_assert_eq!(id, seen_id);
            prop_assert_eq!(seen, &light::seen(origin, state));
            for axis in 0..3 {
                let off = i64::from(state.position[axis]) - i64::from(seen.position[axis]);
                prop_assert!(off.abs() <= i64::from(light::POSITION_ERROR));
                for (sent, seen) in [(state.velocity, seen.velocity), (state.spin, seen.spin)] {
                    let (sent, seen) = (i32::from(sent[axis]), i32::from(seen[axis]));
                    prop_assert!((sent - seen).abs() <= sent.abs() / light::VELOCITY_SHARE);
                }
            }
            let (sent, seen) = (state.rotation.quaternion(), seen.rotation.quaternion());
            // The sine of half the angle between them.
            let off = (sent.inverse() * seen).xyz().length();
            prop_assert!(2.0 * off.min(1.0).asin() <= light::ROTATION_ERROR);
        }
    }
}

#[test]
fn an_object_that_becomes_another_under_its_id_arrives() {
    let old = Object {
        id: ObjectId(5),
        class: Class::Avatar,
        shape: ShapeId(1),
        state: State::default(),
    };
    let new = Object { class: Class::Dynamic, ..old };
    let base = Snapshot::new(Tick(0), vec![old]).unwrap();
    let now = Snapshot::new(Tick(1), vec![new]).unwrap();
    let mut bytes = Vec::new();
    now.encode_since(&base, RATE, &mut bytes);
    assert_eq!(Snapshot::decode_since(&base, &bytes, 1), Ok(now));
    assert_eq!(Snapshot::new(Tick(0), vec![old, new]), Err(WireError::Twice(ObjectId(5))));
}

#[test]
fn digests_detect_any_change() {
    let base = World::new(3, Habits { objects: 20, ..ORDINARY }).snapshot();
    let mut digests = BTreeMap::from([(base.digest(), 0)]);
    let changes: [fn(&mut Object); 8] = [
        |object| object.id.0 += 1 << 40,
        |object| object.shape.0 ^= 1 << 31,
        |object| {
            object.class =
                if object.class == Class::Avatar { Class::Dynamic } else { Class::Avatar }
        },
        |object| object.state.position[2] ^= 1,
        |object| object.state.velocity[1] ^= i16::MIN,
        |object| object.state.velocity[2] ^= 1,
        |object| object.state.spin[0] ^= 1,
        |object| {
            let bits = object.state.rotation.to_bits();
            object.state.rotation = Rotation::from_bits(bits ^ 1 << 61);
        },
    ];
    for at in 0..20 {
        for (which, change) in changes.iter().enumerate() {
            let mut objects = base.objects().to_vec();
            change(&mut objects[at]);
            let digest = Snapshot::new(base.tick(), objects).unwrap().digest();
            assert_eq!(digests.insert(digest, at), None, "object {at}, change {which}");
        }
    }
    let later = Snapshot::new(base.tick().next(), base.objects().to_vec()).unwrap();
    assert_eq!(digests.insert(later.digest(), 0), None);
}

/// Deltas and acknowledgements that are lost, late, doubled and out of order: what is applied is
/// always what was sent (invariant S2).
#[test]
fn the_chain_of_deltas_survives_any_network() {
    let (mut applied, mut refused, mut whole) = (0, 0, 0);
    for seed in 0..40 {
        let habits = Habits { objects: 60, avatars: 30, bumps: 5, replaced: 2, ..ORDINARY };
        let mut world = World::new(seed, habits);
        let mut random = Random(seed);
        let mut sent: BTreeMap<Tick, Snapshot> = BTreeMap::new();
        let mut held: VecDeque<Snapshot> = VecDeque::new();
        let (mut acknowledged, mut acks, mut wire) = (None, Vec::new(), Vec::new());
        for _ in 0..200 {
            world.step();
            let now = world.snapshot();
            let mut bytes = Vec::new();
            match acknowledged.and_then(|tick| sent.get(&tick)) {
                Some(base) => now.encode_since(base, RATE, &mut bytes),
                None => now.encode(&mut bytes),
            }
            wire.push((acknowledged, now.tick(), bytes));
            sent.insert(now.tick(), now);
            while !wire.is_empty() && random.chance(60) {
                let at = random.below(wire.len());
                let doubled = random.chance(10);
                let message = if doubled { wire[at].clone() } else { wire.swap_remove(at) };
                let (base, tick, bytes) = message;
                if random.chance(20) {
                    continue;
                }
                let outcome = match base {
                    None => Snapshot::decode(&bytes, 100),
                    Some(base) => match held.iter().find(|held| held.tick() == base) {
                        Some(base) => Snapshot::decode_since(base, &bytes, 100),
                        // Too old: against anything else it must be refused.
                        None => {
                            let Some(other) = held.back() else { continue };
                            let outcome = Snapshot::decode_since(other, &bytes, 100);
                            assert!(
                                matches!(outcome, Err(WireError::OtherBase { .. })),
                                "seed {seed}, {tick:?}"
                            );
                            refused += 1;
                            continue;
                        }
                    },
                };
                assert_eq!(outcome.as_ref(), Ok(&sent[&tick]), "seed {seed}, {tick:?}");
                if base.is_some() {
                    applied += 1
                } else {
                    whole += 1
                }
                held.push_back(outcome.unwrap());
                if held.len() > 6 {
                    held.pop_front();
                }
                acks.push(tick);
            }
            while !acks.is_empty() && random.chance(50) {
                let tick = acks.swap_remove(random.below(acks.len()));
                if random.chance(70) {
                    acknowledged = acknowledged.max(Some(tick));
                }
            }
        }
    }
    println!("{applied} deltas applied, {whole} whole lists, {refused} refused");
    assert!(applied > 1000 && whole > 40 && refused > 100, "{applied} {whole} {refused}");
}

#[test]
fn chunks_arrive_over_any_network() {
    for seed in 0..30 {
        let mut random = Random(seed);
        let piece = CHUNK_BYTES;
        let lengths = [0, 1, piece - 1, piece, piece + 1, 3 * piece, 50 * piece + 7];
        let length = lengths[random.below(lengths.len())];
        let content: Vec<u8> =
            (0..length).map(|_| jostle_dice::bits(&mut random.0) as u8).collect();
        let mut sender = Outgoing::new(seed, content.clone().into()).unwrap();
        let mut receiver = Incoming::new(seed, length as u64);
        let (mut wire, mut credits) = (Vec::new(), Vec::new());
        for round in 0.. {
            assert!(round < 10_000, "seed {seed}");
            while let Some(chunk) = sender.next_chunk() {
                assert!(chunk.index < receiver.credit().next + WINDOW, "seed {seed}");
                wire.push(chunk);
            }
            for _ in 0..random.below(4).min(wire.len()) {
                let chunk = wire.swap_remove(random.below(wire.len()));
                if random.chance(80) {
                    receiver.take(chunk.clone()).unwrap();
                }
                if random.chance(10) {
                    wire.push(chunk);
                }
                credits.push(receiver.credit());
            }
            if random.chance(50) && !credits.is_empty() {
                let credit = credits.swap_remove(random.below(credits.len()));
                sender.credit(&credit);
            }
            if wire.is_empty() {
                sender.repeat();
                credits.push(receiver.credit());
            }
            if sender.is_done() {
                break;
            }
        }
        assert_eq!(receiver.finish(), Ok(Some(content)), "seed {seed}");
        assert_eq!(receiver.finish(), Ok(None));
    }
}

#[test]
fn chunks_that_do_not_fit_are_refused() {
    let content: Vec<u8> = vec![7; 40 * CHUNK_BYTES];
    let mut sender = Outgoing::new(1, content.into()).unwrap();
    let first = sender.next_chunk().unwrap();
    let second = sender.next_chunk().unwrap();
    let mut receiver = Incoming::new(1, 40 * CHUNK_BYTES as u64);
    let most = 39 * CHUNK_BYTES as u64;
    let small = Incoming::new(1, most).take(first.clone());
    assert_eq!(small, Err(WireError::TooMany { count: first.length, most }));
    let unfit = Err(WireError::Malformed("a piece that does not fit"));
    let mut far = first.clone();
    far.index = WINDOW;
    assert_eq!(receiver.take(far), unfit);
    let mut behind = first.clone();
    behind.index = u32::MAX;
    assert_eq!(receiver.take(behind), unfit);
    let end = Chunk { length: CHUNK_BYTES as u64, index: 1, bytes: vec![], ..first.clone() };
    assert_eq!(receiver.take(end), unfit);
    let mut short = first.clone();
    short.bytes.pop();
    assert_eq!(receiver.take(short), unfit);
    assert_eq!(receiver.take(first), Ok(()));
    let mut other = second.clone();
    other.sum ^= 1;
    assert_eq!(receiver.take(other), unfit);
    assert_eq!(receiver.take(second), Ok(()));
    while let Some(mut chunk) = sender.next_chunk() {
        chunk.bytes[0] ^= 1;
        receiver.take(chunk).unwrap();
        sender.credit(&receiver.credit());
    }
    assert!(sender.is_done());
    assert_eq!(receiver.finish(), Err(WireError::Damaged));
}
