//! Keeps the number of bodies in the world at its target, and keeps them moving.
//!
//! It follows the world like a gateway, and sends inputs to the group in the same way: as a source
//! whose inputs are applied once and in order.

use super::DemoFigures;
use crate::dice::Dice;
use jostle_proto::{
    Address, Block, Class, Follower, GatewayId, Input, Message, Object, ObjectId, Objects, Output,
    Shapes, Source, Span, State, Stream, Time, Timing,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Its follower number: no world assigns so high a number.
const ME: GatewayId = GatewayId { number: 1 << 24, life: 1 };

/// Bodies that are added or removed at once: they fit into one message.
const AT_ONCE: usize = 250;

/// Positions that are tried for one body before it is postponed.
const TRIES: usize = 30;

/// How often bodies at rest along an axis are looked for. A body that meets an avatar takes on its
/// velocity and gives it nothing, and avatars stay on the floor: without this, after some minutes
/// no body would rise or fall.
const CALM: Span = Span::from_ms(1000);

/// Velocity of a push, in velocity units.
const PUSH: [f64; 2] = [100.0, 480.0];

/// Target and current figures, shared with the demo.
#[derive(Debug, Default)]
pub(super) struct SpawnStatus {
    wanted: AtomicU64,
    bodies: AtomicU64,
    tick: AtomicU64,
    objects: AtomicU64,
    touching: AtomicU64,
    /// In thousandths.
    dilation: AtomicU64,
}

impl SpawnStatus {
    /// The target number of bodies.
    pub(super) fn want(&self, bodies: u64) {
        self.wanted.store(bodies, Relaxed);
    }

    pub(super) fn wanted(&self) -> u64 {
        self.wanted.load(Relaxed)
    }

    /// The figures of the world, with this many bots.
    pub(super) fn figures(&self, bots: u64) -> DemoFigures {
        DemoFigures {
            tick: self.tick.load(Relaxed),
            dilation: self.dilation.load(Relaxed) as f64 / 1000.0,
            objects: self.objects.load(Relaxed),
            bodies: self.bodies.load(Relaxed),
            bots,
            touching: self.touching.load(Relaxed),
        }
    }
}

/// The role.
pub(crate) struct BodySpawner {
    status: Arc<SpawnStatus>,
    follower: Follower,
    stream: Stream,
    shapes: Shapes,
    timing: Timing,
    /// Initial bodies: new ones are copies of them.
    patterns: Vec<Object>,
    room: Block,
    next: u64,
    dice: Dice,
    resend_at: Time,
    calm_at: Time,
}

impl BodySpawner {
    /// For a world that began with these objects, in this box.
    pub(super) fn new(
        status: Arc<SpawnStatus>,
        (objects, shapes): (&[Object], &Shapes),
        room: Block,
        timing: Timing,
        seed: u64,
    ) -> BodySpawner {
        let moving = objects.iter().filter(|object| object.class == Class::Dynamic);
        BodySpawner {
            status,
            follower: Follower::new(ME, timing),
            stream: Stream::new(Source::Gateway(ME), 1),
            shapes: shapes.clone(),
            timing,
            patterns: moving.copied().collect(),
            room,
            next: objects.iter().map(|object| object.id.0).max().unwrap_or(0) + 1,
            dice: Dice::new(seed),
            resend_at: Time(0),
            calm_at: Time(0),
        }
    }

    pub(crate) fn id(&self) -> GatewayId {
        ME
    }

    pub(crate) fn wake_at(&self) -> Time {
        self.follower.wake_at().min(self.resend_at)
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.follower.wake(now, out);
        if now >= self.resend_at {
            self.resend_at = now + self.timing.resend;
            self.send(Recipients::All, out);
        }
    }

    pub(crate) fn receive(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        self.follower.receive(now, message);
        let mut newest = None;
        while let Some(commit) = self.follower.take() {
            newest = Some(commit);
        }
        let Some(commit) = newest else { return };
        self.stream.heard(self.follower.heard_of(self.stream.source()));
        self.status.touching.store(commit.touches.len() as u64, Relaxed);
        self.status.dilation.store(u64::from(commit.dilation), Relaxed);
        self.adjust(now);
        self.send(Recipients::Leader, out);
    }

    /// Compares the target with the current number. While inputs are unacknowledged the current
    /// number is not final, so nothing is done.
    fn adjust(&mut self, now: Time) {
        let Some((tick, objects)) = self.follower.world() else { return };
        let bodies = || objects.values().filter(|object| object.class == Class::Dynamic);
        let (count, wanted) = (bodies().count(), self.status.wanted() as usize);
        self.status.tick.store(tick.0, Relaxed);
        self.status.bodies.store(count as u64, Relaxed);
        self.status.objects.store(objects.len() as u64, Relaxed);
        if self.stream.waiting() > 0 {
            return;
        }
        let inputs: Vec<Input> = if count > wanted {
            // The newest are removed first.
            let ids = objects.values().rev().filter(|object| object.class == Class::Dynamic);
            ids.take((count - wanted).min(AT_ONCE)).map(|it| Input::Remove(it.id)).collect()
        } else if count < wanted {
            let mut placer = Placer {
                shapes: &self.shapes,
                patterns: &self.patterns,
                room: self.room,
                dice: &mut self.dice,
            };
            placer.make(objects, (wanted - count).min(AT_ONCE), &mut self.next)
        } else if now >= self.calm_at {
            self.calm_at = now + CALM;
            let dice = &mut self.dice;
            let slow = bodies().filter(|body| body.state.velocity.contains(&0)).take(AT_ONCE);
            slow.map(|body| Input::Kick(body.id, push(body.state.velocity, dice))).collect()
        } else {
            Vec::new()
        };
        if !inputs.is_empty() {
            self.stream.push(inputs);
        }
    }

    fn send(&self, recipients: Recipients, out: &mut Vec<Output>) {
        let Some(view) = self.follower.view() else { return };
        let Some(inputs) = self.stream.message() else { return };
        let leader = view.leader().map(|leader| leader.node);
        for node in
            view.nodes().filter(|&node| recipients == Recipients::All || Some(node) == leader)
        {
            out.push(Output::Send(Address::Node(node), Message::Inputs(inputs.clone())));
        }
    }
}

/// Who receives pending inputs: now and then all nodes, because the leader may have changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recipients {
    Leader,
    All,
}

/// A push along the axes on which a body does not move.
fn push(velocity: [i16; 3], dice: &mut Dice) -> [i16; 3] {
    velocity.map(|along| {
        let side = if dice.below(2) == 0 { -1.0 } else { 1.0 };
        let push = side * dice.between(PUSH[0], PUSH[1]);
        if along == 0 { push as i16 } else { 0 }
    })
}

/// Places bodies where there is room.
struct Placer<'a> {
    shapes: &'a Shapes,
    patterns: &'a [Object],
    room: Block,
    dice: &'a mut Dice,
}

impl Placer<'_> {
    fn make(&mut self, objects: &Objects, count: usize, next: &mut u64) -> Vec<Input> {
        let there = objects.values().filter(|object| object.class != Class::Absent);
        let mut taken: Vec<Block> = there.map(|object| self.shapes.block(object)).collect();
        let mut made = Vec::new();
        for _ in 0..count {
            let Some(object) = self.one(ObjectId(*next), &taken) else { break };
            *next += 1;
            taken.push(self.shapes.block(&object));
            made.push(Input::Enter(object));
        }
        made
    }

    /// A copy of an initial body at a free position.
    fn one(&mut self, id: ObjectId, taken: &[Block]) -> Option<Object> {
        let pattern = *self.patterns.get(self.dice.below(self.patterns.len() as u64) as usize)?;
        for _ in 0..TRIES {
            let position = [0, 1, 2].map(|axis| {
                let (low, high) = (self.room.min[axis], self.room.max[axis]);
                self.dice.between(f64::from(low), f64::from(high)) as i32
            });
            let state = State { position, ..pattern.state };
            let object = Object { id, state, ..pattern };
            let block = self.shapes.block(&object);
            if !taken.iter().any(|other| other.meets(&block)) {
                return Some(object);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_proto::{ShapeId, Solid};

    fn object(id: u64, class: Class, position: [i32; 3]) -> Object {
        let state = State { position, velocity: [5, 6, 7], ..State::default() };
        Object { id: ObjectId(id), class, shape: ShapeId(0), state }
    }

    #[test]
    fn bodies_are_made_where_there_is_room_and_not_where_there_is_none() {
        let shapes = Shapes::new(vec![Solid::cuboid([10; 3])]);
        let patterns = [object(1, Class::Dynamic, [0; 3])];
        let room = Block { min: [0; 3], max: [200, 200, 20] };
        let mut dice = Dice::new(1);
        let mut placer = Placer { shapes: &shapes, patterns: &patterns, room, dice: &mut dice };
        let wall = object(9, Class::Immovable, [100, 100, 10]);
        let world: Objects = [wall].into_iter().collect();
        let mut next = 10;
        let made = placer.make(&world, 1000, &mut next);
        assert!((10..100).contains(&made.len()), "{} fit", made.len());
        assert_eq!(next, 10 + made.len() as u64);
        let mut blocks = vec![shapes.block(&wall)];
        for input in &made {
            let Input::Enter(object) = input else { panic!("{input:?}") };
            assert_eq!(object.state.velocity, [5, 6, 7], "like the pattern");
            let block = shapes.block(object);
            assert!(!blocks.iter().any(|other| other.meets(&block)), "{object:?}");
            blocks.push(block);
        }
    }
}
