//! Forms fetched by content, over a network that loses, doubles and reorders.

use glam::DVec3;
use jostle_geom::{Model, Quality, solids};
use jostle_proto::{
    Address, Content, GeometryMessage, Library, Mail, NodeId, Shapes, Solid, Span, Time,
};
use std::collections::BTreeMap;
use std::sync::Arc;

const RESEND: Span = Span::from_ms(50);

/// Three models, one of them in several pieces, one used by two forms, and a box.
fn shapes() -> Shapes {
    let build = |mesh| Arc::new(Model::build(mesh, Quality::Fast));
    let fine = build(solids::sphere(1.0, 0.0005).unwrap());
    let coarse = build(solids::sphere(2.0, 0.1).unwrap());
    let cuboid = build(solids::cuboid(DVec3::new(1.0, 2.0, 3.0)).unwrap());
    assert!(fine.to_bytes().len() > 300_000, "{}", fine.to_bytes().len());
    let solid = |model: Option<&Arc<Model>>| {
        model.map_or_else(|| Solid::cuboid([9000; 3]), |model| Solid::mesh(model.clone()))
    };
    Shapes::new([Some(&fine), Some(&coarse), None, Some(&fine), Some(&cuboid)].map(solid).to_vec())
}

fn same(a: &Shapes, b: &Shapes) -> bool {
    a.solids().len() == b.solids().len()
        && a.solids().iter().zip(b.solids()).all(|(a, b)| {
            let bytes = |solid: &Solid| solid.model.as_ref().map(|model| model.to_bytes());
            a.half() == b.half() && bytes(a) == bytes(b)
        })
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        jostle_dice::below(&mut self.0, end)
    }
}

struct Net {
    dice: Dice,
    /// Of a hundred messages, so many are lost, and as many come twice.
    bad: u64,
    libraries: BTreeMap<Address, Library>,
    /// When, to whom, from whom.
    messages: Vec<(Time, Address, Address, GeometryMessage)>,
    pieces: usize,
}

fn node(number: u32) -> Address {
    Address::Node(NodeId(number))
}

impl Net {
    fn send(&mut self, now: Time, from: Address, mail: Vec<Mail>) {
        for (to, message) in mail {
            self.pieces += usize::from(matches!(message, GeometryMessage::Piece(_)));
            if self.dice.below(100) < self.bad {
                continue;
            }
            let copies = 1 + u64::from(self.dice.below(100) < self.bad);
            for _ in 0..copies {
                let later = now + Span(1000 + self.dice.below(20_000));
                self.messages.push((later, to, from, message.clone()));
            }
        }
    }

    /// Until the first library has all forms; none if that takes more than so many seconds.
    fn run(&mut self, seconds: u64) -> Option<Shapes> {
        let mut now = Time(0);
        while now < Time(seconds * 1_000_000) {
            now = now + Span::from_ms(1);
            for address in self.libraries.keys().copied().collect::<Vec<_>>() {
                let mut out = Vec::new();
                self.libraries.get_mut(&address)?.wake(now, &mut out);
                self.send(now, address, out);
            }
            let (due, later) = std::mem::take(&mut self.messages)
                .into_iter()
                .partition::<Vec<_>, _>(|(at, ..)| *at <= now);
            self.messages = later;
            for (_, to, from, message) in due {
                let mut out = Vec::new();
                if let Some(library) = self.libraries.get_mut(&to) {
                    library.receive(now, from, message, &mut out);
                }
                self.send(now, to, out);
            }
            if let Some(shapes) = self.libraries.get(&node(0))?.shapes().unwrap() {
                return Some(shapes);
            }
        }
        None
    }
}

fn net(bad: u64, seed: u64, peers: &[(u32, Library)]) -> Net {
    let mut taker = Library::new(RESEND);
    taker.set_peers(&peers.iter().map(|(number, _)| node(*number)).collect::<Vec<_>>());
    let givers = peers.iter().map(|(number, library)| (node(*number), library.clone()));
    let libraries = givers.chain([(node(0), taker)]).collect();
    Net { dice: Dice(seed), bad, libraries, messages: Vec::new(), pieces: 0 }
}

#[test]
fn each_content_travels_once() {
    let shapes = shapes();
    let giver = Library::of(&shapes, RESEND);
    let mut net = net(0, 1, &[(1, giver)]);
    let fetched = net.run(20).expect("all forms");
    assert!(same(&fetched, &shapes));
    let piece = jostle_proto::wire::CHUNK_BYTES;
    let mut contents: Vec<Vec<u8>> = shapes
        .solids()
        .iter()
        .filter_map(|solid| solid.model.as_ref().map(|model| model.to_bytes()))
        .collect();
    contents.sort();
    contents.dedup();
    assert_eq!(contents.len(), 3);
    let least: usize = contents.iter().map(|bytes| bytes.len().div_ceil(piece)).sum();
    assert_eq!(net.pieces, least);
    let shared = fetched.solids();
    let (a, b) = (shared[0].model.as_ref().unwrap(), shared[3].model.as_ref().unwrap());
    assert!(Arc::ptr_eq(a, b), "two forms of one model share it");
}

#[test]
fn bad_networks_and_silent_peers_only_cost_time() {
    let shapes = shapes();
    for seed in 0..20 {
        let (giver, empty) = (Library::of(&shapes, RESEND), Library::new(RESEND));
        let peers = [(1, empty), (2, giver.clone()), (3, giver)];
        let fetched = net(25, seed, &peers).run(120);
        assert!(fetched.is_some_and(|fetched| same(&fetched, &shapes)), "seed {seed}");
    }
}

#[test]
fn bytes_that_are_something_else_are_not_taken() {
    let shapes = shapes();
    let giver = Library::of(&shapes, RESEND);
    let (mut taker, mut out) = (Library::new(RESEND), Vec::new());
    taker.set_peers(&[node(1), node(2)]);
    taker.wake(Time(1), &mut out);
    let mut answers = Vec::new();
    let mut giver_now = giver.clone();
    giver_now.receive(Time(1), node(0), GeometryMessage::AskTable, &mut answers);
    let (_, table) = answers.pop().unwrap();
    out.clear();
    taker.receive(Time(1), node(1), table, &mut out);
    // Every piece of the first answer with a byte changed: the sum detects it.
    let mut wrong = 0;
    for _ in 0..30 {
        let Some((_, ask)) = out.pop() else { break };
        let GeometryMessage::Ask { content, .. } = ask else { break };
        let mut answers = Vec::new();
        giver_now.receive(Time(2), node(0), ask, &mut answers);
        for (_, message) in answers {
            let GeometryMessage::Piece(mut chunk) = message else { continue };
            chunk.bytes[7] ^= 1;
            wrong += 1;
            taker.receive(Time(2), node(1), GeometryMessage::Piece(chunk), &mut out);
        }
        assert_eq!(taker.get(content), None);
    }
    assert!(wrong > 6);
    assert!(taker.shapes().unwrap().is_none());
    let content = Content::of(&shapes.solids()[0].model.as_ref().unwrap().to_bytes());
    assert!(giver.get(content).is_some());
}

#[test]
fn what_is_here_already_is_not_fetched() {
    let shapes = shapes();
    let mut net = net(0, 3, &[(1, Library::of(&shapes, RESEND))]);
    let taker = net.libraries.get_mut(&node(0)).unwrap();
    for solid in shapes.solids() {
        if let Some(model) = &solid.model {
            taker.put(model.to_bytes());
        }
    }
    assert!(net.run(5).is_some());
    assert_eq!(net.pieces, 0);
}
