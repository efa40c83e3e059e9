//! Whatever the bytes: an error or a message, never a panic, and memory within bounds.
//!
//! One test function, because the allocator that counts is one for the whole process. How many
//! mutated messages it tries is in `JOSTLE_WIRE_MUTATIONS`; campaigns set it to 10000000. Whole
//! messages through links are in `wire_hostile_link`.

mod wire_mutate;
mod wire_samples;

use jostle_proto::wire::{
    Chunk, Credit, Incoming, Kind, Outgoing, Snapshot, WireError, light, pack, unpack,
};
use jostle_proto::{Object, ObjectId, State};
use peak_alloc::PeakAlloc;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wire_mutate::{mend, mutate, mutations};
use wire_samples::{Habits, ORDINARY, RATE, Random, World};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Readers allow so many objects.
const MOST: usize = 500;

/// Everything that postcard has a way of writing.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Message {
    Objects(Vec<Object>),
    Names { of: BTreeMap<ObjectId, String>, nested: Vec<Vec<Vec<u16>>>, large: Vec<[State; 8]> },
    Maybe(Option<Box<[u64]>>, f64, bool, char),
    Nothing,
}

/// Gives whether the bytes were taken.
type Decoder<'a> = Box<dyn Fn(&[u8]) -> bool + 'a>;

/// A decoder, what it may allocate for so many bytes, and messages for it.
struct Target<'a> {
    name: &'static str,
    decode: Decoder<'a>,
    bound: fn(usize) -> usize,
    messages: Vec<Vec<u8>>,
    /// Bytes from which on the mutations may begin, so that not all stop at the first check.
    spared: usize,
}

/// An object costs up to this while a list of them is read, and as much is there again when a
/// list is copied.
const PER_OBJECT: usize = 256;

fn lists(bytes: usize) -> usize {
    PER_OBJECT * MOST.min(8 * bytes) + 1000
}

/// Postcard and serde: a megabyte kept ready, and every list that is read can have taken twice
/// what it needs, with 320 bytes for an element that took 80 on the wire and an object of 56 that
/// took 13.
fn messages(bytes: usize) -> usize {
    (1 << 20) + 16 * bytes + 1000
}

fn check(target: &Target, bytes: &[u8], describe: &dyn Fn() -> String) -> bool {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let taken = (target.decode)(bytes);
    let used = MEMORY.peak_usage().saturating_sub(before);
    let (name, most) = (target.name, (target.bound)(bytes.len()));
    assert!(used <= most, "{name}, {}: {used} for {} bytes", describe(), bytes.len());
    taken
}

fn worlds() -> Vec<(Snapshot, Snapshot)> {
    let mut worlds = Vec::new();
    for (seed, objects) in [0, 1, 7, 30].into_iter().enumerate() {
        let habits = Habits { objects, bumps: 20, replaced: 10, ..ORDINARY };
        let mut world = World::new(seed as u64, habits);
        let before = world.snapshot();
        world.step();
        world.step();
        worlds.push((before, world.snapshot()));
    }
    worlds
}

fn framed(snapshot: &Snapshot) -> Vec<Vec<u8>> {
    let objects = snapshot.objects();
    let state = State::default();
    let list = [
        Message::Objects(objects.to_vec()),
        Message::Names {
            of: objects.iter().map(|object| (object.id, "name".repeat(3))).collect(),
            nested: vec![vec![vec![1, 2, 3], vec![]], vec![], vec![vec![7; 20]; 3]],
            large: objects.iter().take(4).map(|object| [object.state; 8]).collect(),
        },
        Message::Maybe(Some(vec![1, u64::MAX].into()), 0.5, true, 'ä'),
        Message::Names { of: BTreeMap::new(), nested: vec![], large: vec![[state; 8]] },
        Message::Nothing,
    ];
    list.iter().map(|message| pack(Kind::Bundle, message).unwrap()).collect()
}

fn encoded(of: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    of(&mut bytes);
    bytes
}

fn targets<'a>(worlds: &'a [(Snapshot, Snapshot)]) -> Vec<Target<'a>> {
    let mut targets = vec![Target {
        name: "whole",
        decode: Box::new(|bytes| Snapshot::decode(bytes, MOST).is_ok()),
        bound: lists,
        messages: worlds.iter().map(|(_, now)| encoded(|out| now.encode(out))).collect(),
        spared: 8,
    }];
    for (base, now) in worlds {
        targets.push(Target {
            name: "delta",
            decode: Box::new(move |bytes| {
                let outcome = Snapshot::decode_since(base, bytes, MOST);
                // The digest of the outcome lets nothing else pass.
                assert!(outcome.as_ref().is_ok_and(|taken| taken == now) || outcome.is_err());
                outcome.is_ok()
            }),
            // The base is copied twice, as states and as objects.
            bound: |bytes| lists(bytes) + 30 * PER_OBJECT,
            messages: vec![encoded(|out| now.encode_since(base, RATE, out))],
            spared: 8,
        });
    }
    let seen = |now: &Snapshot| {
        let states = now.objects().iter().map(|object| (object.id, object.state));
        let states: Vec<_> = states.collect();
        encoded(|out| light::encode([1, -2, 3], &states, out).unwrap())
    };
    targets.push(Target {
        name: "light",
        decode: Box::new(|bytes| light::decode(bytes, MOST).is_ok()),
        bound: lists,
        messages: worlds.iter().map(|(_, now)| seen(now)).collect(),
        spared: 0,
    });
    let frames: Vec<_> = worlds.iter().flat_map(|(_, now)| framed(now)).collect();
    let unpacked = |bytes: &[u8]| unpack::<Message>(Kind::Bundle, bytes).is_ok();
    targets.push(Target {
        name: "frame",
        decode: Box::new(unpacked),
        bound: messages,
        messages: frames.clone(),
        spared: 0,
    });
    targets.push(Target {
        name: "mended frame",
        decode: Box::new(move |bytes| {
            let mut bytes = bytes.to_vec();
            mend(&mut bytes);
            unpacked(&bytes)
        }),
        bound: |bytes| messages(bytes) + bytes,
        messages: frames,
        spared: 12,
    });
    targets.push(chunk_target());
    targets
}

fn chunk_target<'a>() -> Target<'a> {
    let content: Vec<u8> = (0..100).collect();
    let chunk = Outgoing::new(1, content.into()).unwrap().next_chunk().unwrap();
    let credit = Credit { transfer: 1, next: 0, beyond: 6 };
    let both = [pack(Kind::Chunk, &chunk).unwrap(), pack(Kind::Credit, &credit).unwrap()];
    Target {
        name: "mended chunk or credit",
        decode: Box::new(|bytes| {
            let mut bytes = bytes.to_vec();
            mend(&mut bytes);
            let mut outgoing = Outgoing::new(1, Vec::new().into()).unwrap();
            if let Ok(credit) = unpack::<Credit>(Kind::Credit, &bytes) {
                outgoing.credit(&credit);
                outgoing.next_chunk();
                return true;
            }
            let Ok(chunk) = unpack::<Chunk>(Kind::Chunk, &bytes) else { return false };
            let mut incoming = Incoming::new(1, 1 << 40);
            let taken = incoming.take(chunk).is_ok();
            taken && incoming.credit().next == 1 && incoming.finish().is_ok()
        }),
        bound: |bytes| 4 * bytes + 4000,
        messages: both.into(),
        spared: 12,
    }
}

#[test]
fn any_bytes_give_an_error_or_a_message() {
    let worlds = worlds();
    let targets = targets(&worlds);
    for target in &targets {
        for (at, message) in target.messages.iter().enumerate() {
            assert!(check(target, message, &|| format!("message {at}")));
            for end in 0..message.len() {
                let describe = || format!("message {at}, first {end} bytes");
                let taken = check(target, message.get(..end).unwrap(), &describe);
                assert!(
                    !taken || target.name.starts_with("mended"),
                    "{}, {}",
                    target.name,
                    describe()
                );
            }
        }
    }
    let mutations = mutations();
    let mut taken = vec![0; targets.len()];
    for seed in 0..mutations {
        let which = seed % targets.len();
        let target = &targets[which];
        let mut random = Random(seed as u64);
        let message = &target.messages[random.below(target.messages.len())];
        let mutated = if random.chance(5) {
            (0..random.below(200)).map(|_| jostle_dice::bits(&mut random.0) as u8).collect()
        } else {
            mutate(message, target.spared, &mut random)
        };
        taken[which] += usize::from(check(target, &mutated, &|| format!("seed {seed}")));
    }
    for (target, taken) in targets.iter().zip(taken) {
        let tried = mutations / targets.len();
        println!("{}: {taken} of {tried} taken", target.name);
        // A mutator that never or always breaks the message tests half of the decoder.
        assert!((tried / 1000..=tried / 2).contains(&taken), "{}: {taken}", target.name);
    }
    lengths_are_not_believed();
}

/// Few bytes that announce much.
fn lengths_are_not_believed() {
    let most = |name, decode: &dyn Fn(), bound: usize| {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        decode();
        let used = MEMORY.peak_usage().saturating_sub(before);
        assert!(used <= bound, "{name}: {used}");
    };
    let huge = pack(Kind::Bundle, &(u64::MAX, [1u8; 32])).unwrap();
    let refused = || assert!(unpack::<Vec<Object>>(Kind::Bundle, &huge).is_err());
    // The length is more than there are bytes: nothing is kept ready.
    most("longest list", &refused, 1000);
    let possible = (100_000u64, vec![0u8; 99_999]);
    let possible = pack(Kind::Bundle, &possible).unwrap();
    let refused = || assert!(unpack::<Vec<Object>>(Kind::Bundle, &possible).is_err());
    most("a list that could be", &refused, 3 << 20);
    // Lists in lists: what one keeps ready it must fill before the next can come.
    let deep = [0x80u8, 0x80, 4].repeat(40_000);
    let deep = pack(Kind::Bundle, &deep).unwrap();
    let refused = || drop(unpack::<Vec<Vec<Vec<Vec<Object>>>>>(Kind::Bundle, &deep));
    most("lists in lists", &refused, 8 << 20);
    let whole = [[0u8; 8].as_slice(), &[255; 100_000]].concat();
    most("whole", &|| drop(Snapshot::decode(&whole, usize::MAX)), 32 << 20);
    // A count in plain bits.
    let count = [[0u8; 11], [255; 11]].concat();
    assert_eq!(Snapshot::decode(&count, usize::MAX), Err(WireError::Short));
    let (count, most) = (u64::MAX, 10);
    let outcome = Snapshot::decode(&[[0u8; 11], [255; 11]].concat(), most as usize);
    assert_eq!(outcome, Err(WireError::TooMany { count, most }));
}
