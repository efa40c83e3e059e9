//! A free-running world as seen by a follower: there are no ticks that all agree on, so it goes by
//! its own clock. Members send what they have, each object at least once in a round
//! ([`crate::Shown`]); in between everything is extrapolated. Of an object the newest token, and of
//! that the newest tick, counts.
//!
//! A *sweep* is over when every member of the view has sent a whole round since the last one. After
//! the first the world is known; an object that was in none of several sweeps is not there any
//! more. So while the group stands still, or a member cannot be heard, nothing is dropped.

use crate::free_running::{Ghost, ROUND, Shown, Sight, Token};
use crate::groups::GroupId;
use crate::held::moved;
use crate::input::{ClientInput, Input, Source};
use crate::message::{Commit, Touch};
use crate::object::{Class, NodeId, Object, ObjectId};
use crate::objects::Objects;
use crate::time::{Span, Tick, Time};
use crate::view::{Epoch, Member, View};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// What was not named in more sweeps than this is not there any more. One may miss what changes
/// hands at the wrong moment.
const SWEEPS: u64 = 3;

/// An object that was not sent for so many rounds stands still: its place is not known any more.
const ROUNDS_MAX: u64 = 2;

/// Parts of a round that are counted; a member with more is not heard out.
const PARTS_MAX: usize = 1 << 14;

/// Objects that are followed; of more nothing is taken.
const OBJECTS_MAX: usize = 1 << 20;

/// Ticks that its owner has not taken; older ones are forgotten.
const FRESH_MAX: usize = 256;

/// What is known of an object besides where it is.
#[derive(Clone, Debug)]
struct Known {
    token: Token,
    tick: Tick,
    /// Own ticks since it was received.
    age: u64,
    heard: u64,
    holder: NodeId,
    /// The sweep in which it was last named.
    sweep: u64,
    touching: Vec<ObjectId>,
}

/// How much of a round a member has sent.
#[derive(Clone, Debug, Default)]
struct Rounds {
    round: u64,
    parts: BTreeSet<u32>,
    total: Option<u32>,
    /// The last round that is whole, and the one that the last sweep has counted.
    whole: u64,
    swept: u64,
}

/// Follows a free-running world.
#[derive(Clone, Debug)]
pub(super) struct FreeRunning {
    rate: u32,
    objects: Objects,
    known: BTreeMap<ObjectId, Known>,
    rounds: BTreeMap<Member, Rounds>,
    era: Epoch,
    sweeps: u64,
    tick: Tick,
    step_at: Time,
    /// Inputs that were followed since the last step.
    news: BTreeMap<ObjectId, ClientInput>,
    fresh: VecDeque<Arc<Commit>>,
}

impl FreeRunning {
    /// `static_objects` are those that never move, which every node knows.
    pub(super) fn new(rate: u32, static_objects: &[Object]) -> FreeRunning {
        FreeRunning {
            rate: rate.max(1),
            objects: static_objects.iter().copied().collect(),
            known: BTreeMap::new(),
            rounds: BTreeMap::new(),
            era: Epoch(0),
            sweeps: 0,
            tick: Tick(0),
            step_at: Time(0),
            news: BTreeMap::new(),
            fresh: VecDeque::new(),
        }
    }

    pub(super) fn world(&self) -> Option<(Tick, &Objects)> {
        (self.sweeps > 0).then_some((self.tick, &self.objects))
    }

    pub(super) fn heard_of(&self, source: Source) -> u64 {
        let Source::Avatar(id) = source else { return 0 };
        self.known.get(&id).map_or(0, |known| known.heard)
    }

    pub(super) fn sweeps(&self) -> u64 {
        self.sweeps
    }

    pub(super) fn holder(&self, id: ObjectId) -> Option<NodeId> {
        self.known.get(&id).map(|known| known.holder)
    }

    pub(super) fn wake_at(&self) -> Time {
        self.step_at
    }

    pub(super) fn take(&mut self) -> Option<Arc<Commit>> {
        self.fresh.pop_front()
    }

    /// A member sends what it has.
    pub(super) fn shown(&mut self, shown: Shown, view: &View) {
        let Shown { era, from, round, part, parts, sights } = shown;
        if era < self.era || !view.has(from) {
            return;
        }
        self.era = era;
        let rounds = self.rounds.entry(from).or_default();
        // What is so late may be of something that has left the world since.
        if round.saturating_add(1) < rounds.round {
            return;
        }
        if round > rounds.round {
            (rounds.round, rounds.parts, rounds.total) = (round, BTreeSet::new(), None);
        }
        if round == rounds.round && rounds.parts.len() < PARTS_MAX {
            rounds.parts.insert(part);
            rounds.total = rounds.total.or(parts);
            if rounds.total.is_some_and(|total| rounds.parts.len() >= total as usize) {
                rounds.whole = round;
            }
        }
        for sight in sights {
            self.see(from.node, sight);
        }
        self.sweep(view);
    }

    fn see(&mut self, holder: NodeId, sight: Sight) {
        let Sight { ghost: Ghost { object, token, tick }, heard, touching } = sight;
        let id = object.id;
        let before = self.known.get(&id);
        if before.is_some_and(|known| (known.token, known.tick) > (token, tick))
            || (before.is_none() && self.known.len() >= OBJECTS_MAX)
            || object.class == Class::Immovable
        {
            return;
        }
        if before.is_some_and(|known| known.heard < heard) {
            let (velocity, spin) = (object.state.velocity, object.state.spin);
            self.news.insert(id, ClientInput { avatar: id, number: heard, velocity, spin });
        }
        let sweep = self.sweeps;
        let known = Known { token, tick, age: 0, heard, holder, sweep, touching };
        self.known.insert(id, known);
        self.objects.insert(object);
    }

    /// Has every member sent everything once more?
    fn sweep(&mut self, view: &View) {
        let reported = |member: &Member| {
            self.rounds.get(member).is_some_and(|rounds| rounds.whole > rounds.swept)
        };
        if !view.ring.iter().all(reported) {
            return;
        }
        self.rounds.retain(|member, _| view.has(*member));
        for rounds in self.rounds.values_mut() {
            rounds.swept = rounds.whole;
        }
        if self.sweeps == 0 {
            // Objects count their ticks from the beginning of the world: so those who follow it
            // have about the same.
            self.tick = self.known.values().map(|known| known.tick).max().unwrap_or(Tick(0));
        }
        self.sweeps += 1;
        let (sweeps, objects) = (self.sweeps, &mut self.objects);
        self.known.retain(|id, known| {
            let there = known.sweep + SWEEPS >= sweeps;
            if !there {
                objects.remove(id);
            }
            there
        });
    }

    /// The clock says so. Lost time is not made up for.
    pub(super) fn wake(&mut self, now: Time, group: GroupId, epoch: Epoch) {
        if now < self.step_at {
            return;
        }
        self.step_at = (self.step_at + Span(1_000_000 / u64::from(self.rate))).max(now);
        if self.sweeps == 0 {
            return;
        }
        for object in self.objects.as_mut_slice() {
            let Some(known) = self.known.get_mut(&object.id) else { continue };
            if known.age < ROUNDS_MAX * ROUND {
                *object = moved(object, Tick(known.tick.0.saturating_add(known.age)), self.rate);
            }
            known.age += 1;
        }
        self.tick = self.tick.next();
        let steers = std::mem::take(&mut self.news).into_values().map(Input::Steer);
        let commit = Commit {
            group,
            epoch,
            tick: self.tick,
            touches: self.touches(),
            inputs: steers.collect(),
            dilation: 1000,
            ..Commit::default()
        };
        self.fresh.push_back(Arc::new(commit));
        if self.fresh.len() > FRESH_MAX {
            self.fresh.pop_front();
        }
    }

    /// The pairs that touch, as far as they were received. Their responses have been applied
    /// already.
    fn touches(&self) -> Vec<Touch> {
        let reported = self.known.iter().flat_map(|(&id, known)| {
            known.touching.iter().map(move |&other| (id.min(other), id.max(other)))
        });
        let here = |(a, b): &(ObjectId, ObjectId)| {
            self.objects.contains_key(a) && self.objects.contains_key(b)
        };
        let pairs: BTreeSet<(ObjectId, ObjectId)> = reported.filter(here).collect();
        let touch = |(a, b)| Touch { a, b, ..Touch::default() };
        pairs.into_iter().map(touch).collect()
    }
}
