//! Real nodes that talk through real links, over a network that loses, doubles and reorders frames.

use crate::wire_samples::Random;
use jostle_proto::wire::{Limits, Receiver, Sender, WireError, is_reply};
use jostle_proto::{
    Address, Block, Class, ClientInput, Directory, GatewayId, Input, Member, Message, Node, NodeId,
    Object, ObjectId, Output, ShapeId, Shapes, Solid, Source, State, Stream, Time, Timing,
};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// Who steers the avatars.
const HAND: GatewayId = GatewayId { number: 1, life: 1 };

pub(crate) const LIMITS: Limits = Limits { objects: 10_000, bytes: 1 << 20 };

/// What happens to frames, of a hundred each.
#[derive(Clone, Copy)]
pub(crate) struct Faults {
    lost: usize,
    doubled: usize,
    overtaken: usize,
    damaged: usize,
    /// A receiver forgets all that it knows.
    forgotten: usize,
}

impl Faults {
    pub(crate) const CALM: Faults =
        Faults { lost: 0, doubled: 0, overtaken: 0, damaged: 0, forgotten: 0 };
    pub(crate) const ROUGH: Faults =
        Faults { lost: 10, doubled: 10, overtaken: 30, ..Faults::CALM };
    pub(crate) const WILD: Faults = Faults { lost: 30, doubled: 30, overtaken: 90, ..Faults::CALM };
    pub(crate) const EVIL: Faults = Faults { damaged: 20, forgotten: 5, ..Faults::ROUGH };

    /// Whether all that is delivered is understood.
    pub(crate) fn spare_receivers(self) -> bool {
        self.forgotten == 0
    }
}

/// The ends of a link.
pub(crate) struct Ends {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// What was sent lately and may come in answer to a reply.
    lately: VecDeque<Rc<Message>>,
}

/// A frame on its way, and what may be in it.
struct Packet {
    from: Address,
    to: Address,
    frame: Vec<u8>,
    sent: Vec<Rc<Message>>,
}

pub(crate) struct Group {
    seed: u64,
    faults: Faults,
    random: Random,
    now: Time,
    directory: Directory,
    nodes: BTreeMap<NodeId, Node>,
    pub(crate) ends: BTreeMap<(Address, Address), Ends>,
    way: VecDeque<Packet>,
    hand: Stream,
    avatars: Vec<ObjectId>,
    absent: Option<ObjectId>,
    inputs: u64,
    /// Everything that was sent since it was last taken, with what it cost.
    pub(crate) sent: Vec<(Address, Address, Rc<Message>, usize)>,
    pub(crate) ticks: u64,
    pub(crate) touches: u64,
    pub(crate) delivered: u64,
    pub(crate) refused: BTreeMap<String, u64>,
}

/// Half the edge of the room, for about as many objects in a cubic metre, however many there are.
fn half_room(objects: u64) -> i32 {
    (4500.0 * (objects as f64).cbrt()) as i32
}

const SIZES: [i32; 3] = [400, 1000, 3000];

/// Boxes, 0.2 m to 1.5 m wide, and three walls.
fn shapes(objects: u64) -> Shapes {
    let room = half_room(objects);
    let wall = |axis: usize| [0, 1, 2].map(|at| if at == axis { 4096 } else { room + 8192 });
    let halves = SIZES.map(|half| [half; 3]).into_iter().chain([0, 1, 2].map(wall));
    Shapes::new(halves.map(Solid::cuboid).collect())
}

/// Seven of ten move, two of these as avatars; and six walls.
fn world(objects: u64, random: &mut Random) -> Vec<Object> {
    let half = half_room(objects);
    let wall = |number: u64| {
        let mut position = [0; 3];
        position[(number / 2) as usize] = (half + 4096) * [1, -1][(number % 2) as usize];
        Object {
            id: ObjectId(objects + number),
            class: Class::Immovable,
            shape: ShapeId((SIZES.len() as u64 + number / 2) as u32),
            state: State { position, ..State::default() },
        }
    };
    let object = |id| {
        let class = match id % 10 {
            0..3 => Class::Immovable,
            3..5 => Class::Avatar,
            _ => Class::Dynamic,
        };
        let speed = if class == Class::Immovable { 0 } else { 1500 };
        let position = [(); 3].map(|()| random.within(half));
        let velocity = [(); 3].map(|()| random.within(speed) as i16);
        let shape = ShapeId(random.below(3).min(random.below(3)) as u32);
        Object {
            id: ObjectId(id),
            class,
            shape,
            state: State { position, velocity, ..State::default() },
        }
    };
    (0..objects).map(object).chain((0..6).map(wall)).collect()
}

impl Group {
    pub(crate) fn new(seed: u64, nodes: u32, objects: u64, faults: Faults) -> Group {
        let mut random = Random(seed);
        let timing = Timing::default();
        let member = |number| Member { node: NodeId(number), life: 1 };
        let (half, shapes) = (half_room(objects), || shapes(objects));
        let objects = world(objects, &mut random);
        let avatars = objects.iter().filter(|object| object.class == Class::Avatar);
        let avatars = avatars.map(|object| object.id).collect();
        let extent = Block { min: [-half; 3], max: [half; 3] };
        let mut nodes: BTreeMap<NodeId, Node> =
            (1..nodes).map(|n| (NodeId(n), Node::new(member(n), shapes(), timing))).collect();
        nodes.insert(NodeId(0), Node::founder(member(0), shapes(), timing, objects));
        Group {
            seed,
            faults,
            random,
            now: Time(0),
            directory: Directory::new(member(0), extent, timing),
            nodes,
            ends: BTreeMap::new(),
            way: VecDeque::new(),
            hand: Stream::new(Source::Gateway(HAND), 1),
            avatars,
            absent: None,
            inputs: 0,
            sent: Vec::new(),
            ticks: 0,
            touches: 0,
            delivered: 0,
            refused: BTreeMap::new(),
        }
    }

    /// Runs until so many ticks more are published.
    pub(crate) fn run(&mut self, ticks: u64) {
        let end = self.ticks + ticks;
        for step in 0u64.. {
            assert!(step < 3_000_000, "seed {}: {} ticks, {:?}", self.seed, self.ticks, self.now);
            if self.ticks >= end {
                return;
            }
            self.step();
        }
    }

    /// Are all nodes in?
    pub(crate) fn is_together(&self) -> bool {
        let ring = self.directory.view().ring.len();
        self.directory.is_stable() && ring == self.nodes.len()
    }

    fn step(&mut self) {
        if !self.way.is_empty() {
            let overtaken = self.random.chance(self.faults.overtaken);
            let at = if overtaken { self.random.below(self.way.len()) } else { 0 };
            if let Some(packet) = self.way.remove(at) {
                self.arrive(packet);
            }
            return;
        }
        let wakes = self.nodes.values().map(Node::wake_at).chain([self.directory.wake_at()]);
        self.now = wakes.min().unwrap_or(self.now).max(self.now);
        let mut out = Vec::new();
        if self.directory.wake_at() <= self.now {
            self.directory.wake(self.now, &mut out);
            self.work(Address::Directory, std::mem::take(&mut out));
        }
        for id in self.nodes.keys().copied().collect::<Vec<_>>() {
            if let Some(node) = self.nodes.get_mut(&id).filter(|node| node.wake_at() <= self.now) {
                node.wake(self.now, &mut out);
            }
            self.work(Address::Node(id), std::mem::take(&mut out));
        }
    }

    fn work(&mut self, from: Address, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Send(to, message) => self.send(from, to, message),
                Output::Event(_) => {}
                Output::Publish(commit) => {
                    self.ticks += 1;
                    self.touches += commit.touches.len() as u64;
                    self.hand.heard(commit.heard_of(self.hand.source()));
                    self.steer();
                }
            }
        }
    }

    /// Two avatars are steered, or go, or come back.
    fn steer(&mut self) {
        for _ in 0..2 {
            let avatar = self.avatars[self.random.below(self.avatars.len())];
            self.inputs += 1;
            let velocity = [(); 3].map(|()| self.random.within(1500) as i16);
            let input = ClientInput { avatar, number: self.inputs, velocity, spin: [0; 3] };
            self.hand.push(vec![Input::Steer(input)]);
        }
        if self.random.chance(10) {
            let input = match self.absent.take() {
                Some(avatar) => Input::Return(avatar),
                None => {
                    let avatar = self.avatars[self.random.below(self.avatars.len())];
                    self.absent = Some(avatar);
                    Input::Absent(avatar)
                }
            };
            self.hand.push(vec![input]);
        }
        let Some(inputs) = self.hand.message() else { return };
        for id in self.nodes.keys().copied().collect::<Vec<_>>() {
            self.send(Address::Gateway(HAND), Address::Node(id), Message::Inputs(inputs.clone()));
        }
    }

    fn ends(&mut self, from: Address, to: Address) -> &mut Ends {
        self.ends.entry((from, to)).or_insert_with(|| Ends {
            sender: Sender::new(Timing::default().rate),
            receiver: Receiver::new(LIMITS),
            lately: VecDeque::new(),
        })
    }

    fn send(&mut self, from: Address, to: Address, message: Message) {
        let message = Rc::new(message);
        let ends = self.ends(from, to);
        let frames = ends.sender.pack(&message).unwrap();
        if frames.len() > 1 || matches!(*message, Message::Bundle(_)) {
            ends.lately.push_back(message.clone());
        }
        if ends.lately.len() > 16 {
            ends.lately.pop_front();
        }
        let cost = frames.iter().map(Vec::len).sum();
        self.sent.push((from, to, message.clone(), cost));
        for frame in frames {
            self.travel(from, to, frame, vec![message.clone()]);
        }
    }

    fn travel(&mut self, from: Address, to: Address, frame: Vec<u8>, sent: Vec<Rc<Message>>) {
        if self.random.chance(self.faults.lost) {
            return;
        }
        if self.random.chance(self.faults.doubled) {
            let (frame, sent) = (frame.clone(), sent.clone());
            self.way.push_back(Packet { from, to, frame, sent });
        }
        self.way.push_back(Packet { from, to, frame, sent });
    }

    fn arrive(&mut self, Packet { from, to, mut frame, sent }: Packet) {
        if self.random.chance(self.faults.damaged) {
            for _ in 0..1 + self.random.below(3) {
                let at = self.random.below(frame.len());
                frame[at] ^= 1 << self.random.below(8);
            }
        }
        if is_reply(&frame) {
            let ends = self.ends(to, from);
            let frames = match ends.sender.reply(&frame) {
                Ok(frames) => frames,
                Err(error) => return self.refuse(error),
            };
            let ends = self.ends(to, from);
            let sent: Vec<_> = ends.lately.iter().cloned().collect();
            for frame in frames {
                self.travel(to, from, frame, sent.clone());
            }
            return;
        }
        let seed = self.seed;
        let forgets = self.random.chance(self.faults.forgotten);
        let receiver = &mut self.ends(from, to).receiver;
        if forgets {
            *receiver = Receiver::new(LIMITS);
        }
        let outcome = receiver.unpack(&frame);
        for reply in receiver.replies().collect::<Vec<_>>() {
            self.travel(to, from, reply, Vec::new());
        }
        let message = match outcome {
            Ok(Some(message)) => message,
            Ok(None) => return,
            Err(error) => return self.refuse(error),
        };
        assert!(sent.iter().any(|sent| **sent == message), "seed {seed}: {message:?}");
        self.delivered += 1;
        let mut out = Vec::new();
        match to {
            Address::Directory => self.directory.receive(self.now, message, &mut out),
            Address::Node(id) => {
                if let Some(node) = self.nodes.get_mut(&id) {
                    node.receive(self.now, message, &mut out);
                }
            }
            Address::Replica(_) | Address::Gateway(_) | Address::Gate(_) | Address::Client(_) => {}
        }
        self.work(to, out);
    }

    fn refuse(&mut self, error: WireError) {
        *self.refused.entry(error.to_string()).or_default() += 1;
    }
}
