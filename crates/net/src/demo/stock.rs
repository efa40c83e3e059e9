//! Sees to it that there are as many bodies in the world as are wanted, and that they keep moving.
//!
//! It follows the world like a gateway does, and says to the group what comes in and what goes, in
//! the same way: as inputs of a source that are taken once and in order.

use crate::dice::Dice;
use jostle_proto::{
    Address, Block, Class, Follower, GatewayId, Input, Message, Object, ObjectId, Objects, Output,
    Shapes, Source, Span, State, Stream, Time, Timing,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The follower that it is: no world gives so many numbers to others.
const ME: GatewayId = GatewayId { number: 1 << 24, life: 1 };

/// Bodies that come or go at once. A message holds them all.
const AT_ONCE: usize = 250;

/// Places that are tried for one body before it has to wait for the next time.
const TRIES: usize = 30;

/// How often it is looked what has come to rest along an axis. Who meets an avatar takes on its
/// velocity and gives it nothing, and avatars keep to the floor: after some minutes nothing would
/// rise or fall any more.
const CALM: Span = Span::from_ms(1000);

/// What has come to rest is pushed by so much, in units of velocities.
const PUSH: [f64; 2] = [100.0, 480.0];

/// What is wanted, and what there is; shared with whoever asks.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pub(super) wanted: AtomicU64,
    pub(super) bodies: AtomicU64,
    pub(super) tick: AtomicU64,
    pub(super) objects: AtomicU64,
    pub(super) touching: AtomicU64,
    /// In thousandths.
    pub(super) dilation: AtomicU64,
}

/// The role.
pub(crate) struct Stock {
    shelf: Arc<Shelf>,
    follower: Follower,
    stream: Stream,
    shapes: Shapes,
    timing: Timing,
    /// Bodies of the beginning: new ones are like them.
    patterns: Vec<Object>,
    room: Block,
    next: u64,
    dice: Dice,
    resend_at: Time,
    calm_at: Time,
}

impl Stock {
    /// For a world that began with these objects, in this room.
    pub(super) fn new(
        shelf: Arc<Shelf>,
        (objects, shapes): (&[Object], &Shapes),
        room: Block,
        timing: Timing,
        seed: u64,
    ) -> Stock {
        let moving = objects.iter().filter(|object| object.class == Class::Dynamic);
        Stock {
            shelf,
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
            self.say(Whom::All, out);
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
        self.shelf.touching.store(commit.touches.len() as u64, Relaxed);
        self.shelf.dilation.store(u64::from(commit.dilation), Relaxed);
        self.mind(now);
        self.say(Whom::Leader, out);
    }

    /// Compares what is wanted with what there is. While something waits to be heard, what there
    /// is is not what there will be.
    fn mind(&mut self, now: Time) {
        let Some((tick, objects)) = self.follower.world() else { return };
        let bodies = || objects.values().filter(|object| object.class == Class::Dynamic);
        let (count, wanted) = (bodies().count(), self.shelf.wanted.load(Relaxed) as usize);
        self.shelf.tick.store(tick.0, Relaxed);
        self.shelf.bodies.store(count as u64, Relaxed);
        self.shelf.objects.store(objects.len() as u64, Relaxed);
        if self.stream.waiting() > 0 {
            return;
        }
        let inputs: Vec<Input> = if count > wanted {
            // The newest go first.
            let ids = objects.values().rev().filter(|object| object.class == Class::Dynamic);
            ids.take((count - wanted).min(AT_ONCE)).map(|it| Input::Remove(it.id)).collect()
        } else if count < wanted {
            let mut maker = Maker {
                shapes: &self.shapes,
                patterns: &self.patterns,
                room: self.room,
                dice: &mut self.dice,
            };
            maker.make(objects, (wanted - count).min(AT_ONCE), &mut self.next)
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

    fn say(&self, whom: Whom, out: &mut Vec<Output>) {
        let Some(view) = self.follower.view() else { return };
        let Some(inputs) = self.stream.message() else { return };
        let leader = view.leader().map(|leader| leader.node);
        for node in view.nodes().filter(|&node| whom == Whom::All || Some(node) == leader) {
            out.push(Output::Send(Address::Node(node), Message::Inputs(inputs.clone())));
        }
    }
}

/// Who is told what waits: everybody now and then, for another one may lead by now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whom {
    Leader,
    All,
}

/// Along the axes on which it does not move.
fn push(velocity: [i16; 3], dice: &mut Dice) -> [i16; 3] {
    velocity.map(|along| {
        let side = if dice.below(2) == 0 { -1.0 } else { 1.0 };
        let push = side * dice.between(PUSH[0], PUSH[1]);
        if along == 0 { push as i16 } else { 0 }
    })
}

/// Makes bodies where there is room.
struct Maker<'a> {
    shapes: &'a Shapes,
    patterns: &'a [Object],
    room: Block,
    dice: &'a mut Dice,
}

impl Maker<'_> {
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

    /// Like one of the beginning, somewhere where nothing is.
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
        let mut maker = Maker { shapes: &shapes, patterns: &patterns, room, dice: &mut dice };
        let wall = object(9, Class::Immovable, [100, 100, 10]);
        let world: Objects = [wall].into_iter().collect();
        let mut next = 10;
        let made = maker.make(&world, 1000, &mut next);
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
