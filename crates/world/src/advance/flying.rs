//! Bodies on their way, some of them in continuous motion: who meets whom, in the order of time.
//!
//! Every body that moves has a [`Flight`]. Pairs whose swept boxes overlap, with at least one body
//! that looks where it goes, are asked when they meet. The earliest meeting is dealt with first:
//! those concerned get new flights from there on, and what was known of their later meetings is
//! forgotten and asked anew. Each meeting ends a piece of the motion of a body that looks, and
//! their number is limited, so this ends.

use super::meet::{Meet, Mover, meet};
use super::{Advanced, Hit, moved};
use crate::body::Velocity;
use crate::broad::{Broad, SlotPair, slot_pair};
use crate::id::BodyId;
use crate::respond::VelocityResponse;
use crate::respond::velocity::Meeting;
use crate::world::{State, World};
use glam::DVec3;
use jostle_geom::{Aabb, Motion, Pose};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How often a body may change its way in one advance (or one part of it, if bodies spin fast).
/// Then it waits for the next: enough for a corner, and an end for a body that is wedged in.
pub(super) const PIECES_MAX: u32 = 8;

/// How a body moves from some time on, until the end of the time that is advanced: from 0 to 1.
#[derive(Clone, Debug)]
struct Flight {
    slot: u32,
    from: f64,
    motion: Motion,
    /// How many motions it had before this one.
    pieces: u32,
    /// It stays where it is until the end.
    waits: bool,
}

impl Flight {
    /// From the start on.
    fn new(slot: u32, motion: Motion, turn: DVec3) -> Flight {
        let angle = turn.length();
        // The way that `Motion` takes for more than half a turn.
        let whole = (angle / std::f64::consts::TAU).round() * std::f64::consts::TAU;
        let turn = if whole == 0.0 { turn } else { turn * ((angle - whole) / angle) };
        let motion = motion.with_turn(turn);
        Flight { slot, from: 0.0, motion, pieces: 0, waits: false }
    }

    fn at(&self, time: f64) -> Pose {
        self.motion.at(self.part(time))
    }

    fn part(&self, time: f64) -> f64 {
        if time <= self.from { 0.0 } else { (time - self.from) / (1.0 - self.from) }
    }

    /// Its motion from `time`, not before its own start, to the end.
    fn rest(&self, time: f64) -> Motion {
        if time <= self.from {
            return self.motion;
        }
        let part = self.part(time);
        let rest = Motion::linear(&self.motion.at(part), &self.motion.end());
        rest.with_turn(self.motion.turn() * (1.0 - part))
    }
}

/// Two bodies that will meet unless one of them changes its way before. Ordered by time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    /// Bits of a number from 0 on: they are ordered as the numbers are.
    time: u64,
    slots: SlotPair,
    /// How many motions they had when this was found out.
    pieces: [u32; 2],
    unclear: bool,
}

struct Flying<'w> {
    world: &'w mut World,
    /// Begin and length of this part of the advance, in seconds.
    clock: [f64; 2],
    flights: BTreeMap<u32, Flight>,
    /// Swept boxes of all flights.
    broad: Broad,
    /// Flights whose box is new.
    fresh: Vec<u32>,
    due: BinaryHeap<Reverse<Due>>,
    advanced: &'w mut Advanced,
}

impl World {
    /// Lets bodies fly for the time `clock[1]`, after `clock[0]` seconds of this advance.
    pub(super) fn fly(&mut self, clock: [f64; 2], advanced: &mut Advanced) {
        let ends = self.ends(clock[1], advanced);
        // Those that were moved by hand, or in the last part, have old boxes.
        for at in 0..self.changed.len() {
            let slot = self.changed[at];
            if self.members.is_taken(slot) && self.members.at(slot).changed {
                self.update_volume(slot);
            }
        }
        let broad = Broad::new(self.settings.structure);
        let mut flying = Flying {
            world: self,
            clock,
            flights: BTreeMap::new(),
            broad,
            fresh: Vec::new(),
            due: BinaryHeap::new(),
            advanced,
        };
        for (slot, end) in ends {
            let body = &flying.world.members.at(slot).body;
            let motion = Motion::linear(&body.pose, &end);
            let turn = body.velocity.angular * clock[1];
            flying.start(Flight::new(slot, motion, turn));
        }
        flying.find_meetings();
        while let Some(Reverse(due)) = flying.due.pop() {
            if due.slots.map(|slot| flying.pieces(slot)) == due.pieces {
                flying.deal_with(&due);
                flying.find_new_meetings();
            }
        }
        for flight in flying.flights.values() {
            flying.world.land(flight.slot, &flight.motion.end());
        }
    }
}

impl Flying<'_> {
    /// A flight begins or goes on in another way.
    fn start(&mut self, flight: Flight) {
        let slot = flight.slot;
        let bounds = self.swept(&flight);
        let known = self.flights.insert(slot, flight).is_some();
        let Some(bounds) = bounds else { return };
        if known {
            self.broad.update(slot, bounds);
        } else {
            self.broad.insert(slot, bounds);
        }
        self.fresh.push(slot);
    }

    /// A box around all places that a flight comes through. A body that takes no part in
    /// comparisons, or is empty, has none.
    fn swept(&self, flight: &Flight) -> Option<Aabb> {
        let member = self.world.members.at(flight.slot);
        if member.state != State::Enabled {
            return None;
        }
        let (start, end) = (flight.motion.start(), flight.motion.end());
        let shape = &member.body.shape;
        let ends = shape.bounds(&start)?.union(&shape.bounds(&end)?);
        let radius = shape.radius();
        if flight.motion.turn() == DVec3::ZERO {
            // Rotations may differ in the last bit after all.
            return Some(ends.grown(1e-12 * radius));
        }
        let (p, q) = (start.translation(), end.translation());
        let radius = radius * (1.0 + 1e-12);
        Some(Aabb::around_f64(p.min(q) - radius, p.max(q) + radius))
    }

    /// Asks all pairs when they meet.
    fn find_meetings(&mut self) {
        let mut pairs = Vec::new();
        self.broad.find_pairs(&self.world.settings.workers, &mut pairs);
        for slot in std::mem::take(&mut self.fresh) {
            pairs.extend(self.pairs_with_still(slot));
        }
        self.ask(pairs);
    }

    /// Asks all pairs with a new flight when they meet.
    fn find_new_meetings(&mut self) {
        let mut pairs = Vec::new();
        let mut others = Vec::new();
        for slot in std::mem::take(&mut self.fresh) {
            if let Some(bounds) = self.swept(&self.flights[&slot]) {
                self.broad.query(&bounds, &mut others);
                let others = others.iter().filter(|&&other| other != slot);
                pairs.extend(others.map(|&other| slot_pair(slot, other)));
            }
            pairs.extend(self.pairs_with_still(slot));
        }
        pairs.sort_unstable();
        pairs.dedup();
        self.ask(pairs);
    }

    /// A flight with all bodies near its way that have none.
    fn pairs_with_still(&self, slot: u32) -> Vec<SlotPair> {
        let looks = self.looks(slot);
        let Some(bounds) = self.swept(&self.flights[&slot]).filter(|_| looks) else {
            return Vec::new();
        };
        let others = self.world.bodies_in(&bounds).into_iter();
        let still = others.filter(|other| !self.flights.contains_key(other));
        still.map(|other| slot_pair(slot, other)).collect()
    }

    fn ask(&mut self, pairs: Vec<SlotPair>) {
        for pair in pairs {
            self.due.extend(self.when(pair).map(Reverse));
        }
    }

    /// When two bodies meet, if somebody looks.
    fn when(&self, slots: SlotPair) -> Option<Due> {
        let [a, b] = slots;
        let stops = |slot, other| self.looks(slot) && self.world.is_stopped_by(slot, other);
        if !stops(a, b) && !stops(b, a) {
            return None;
        }
        let from = |slot| self.flights.get(&slot).map_or(0.0, |flight| flight.from);
        let start = f64::max(from(a), from(b));
        let (time, unclear) = match meet(&self.mover(a, start), &self.mover(b, start)) {
            Meet::Never => return None,
            Meet::At(time) => (time, false),
            Meet::Unclear(time) => (time, true),
        };
        let time = (start + time * (1.0 - start)).to_bits();
        Some(Due { time, slots, pieces: slots.map(|slot| self.pieces(slot)), unclear })
    }

    fn mover(&self, slot: u32, start: f64) -> Mover<'_> {
        let body = &self.world.members.at(slot).body;
        let flight = self.flights.get(&slot);
        let still = Motion::still(&body.pose);
        let motion = flight.map_or(still, |flight| flight.rest(start));
        Mover { shape: &body.shape, motion }
    }

    /// Bodies without a flight count from 0 too; their first flight has one more.
    fn pieces(&self, slot: u32) -> u32 {
        self.flights.get(&slot).map_or(0, |flight| flight.pieces)
    }

    fn looks(&self, slot: u32) -> bool {
        let waits = self.flights.get(&slot).is_none_or(|flight| flight.waits);
        self.world.is_continuous(slot) && !waits
    }

    fn pose(&self, slot: u32, time: f64) -> Pose {
        let still = self.world.members.at(slot).body.pose;
        self.flights.get(&slot).map_or(still, |flight| flight.at(time))
    }

    fn deal_with(&mut self, due: &Due) {
        let time = f64::from_bits(due.time);
        let [a, b] = due.slots;
        let poses = due.slots.map(|slot| self.pose(slot, time));
        let looks = due.slots.map(|slot| self.looks(slot));
        let meeting = self.world.meeting_at(due.slots, poses);
        let bounces = if let Some(meeting) = meeting.filter(|_| !due.unclear) {
            self.hit(&meeting, time)
        } else {
            [false; 2]
        };
        for (i, other) in [(0, b), (1, a)] {
            let slot = due.slots[i];
            let stopped = looks[i] && self.world.is_stopped_by(slot, other);
            if stopped || bounces[i] {
                self.go_on(slot, &poses[i], time, bounces[i]);
            }
        }
    }

    /// Both respond. Says who goes on with another velocity.
    fn hit(&mut self, meeting: &Meeting, time: f64) -> [bool; 2] {
        let [a, b] = meeting.slots.map(|slot| BodyId(self.world.members.key(slot)));
        let time = self.clock[0] + time * self.clock[1];
        let (normal, point) = (meeting.normal, meeting.points[1]);
        self.advanced.hits.push(Hit { a, b, time, normal, point });
        let before = meeting.slots.map(|slot| self.velocity(slot));
        if self.world.exchange(meeting) == [false; 2] {
            // Nothing approaches along the normal, and yet they met: at another place.
            self.world.turn_round(meeting);
        }
        self.world.part(meeting);
        let [a, b] = meeting.slots;
        let goes_on = |i: usize, slot: u32, other: u32| {
            let response = self.world.response(slot).map(|response| response.velocity);
            let bounces = matches!(response, Some(VelocityResponse::Bounce { .. }));
            let stops = response == Some(VelocityResponse::Stop);
            let responds = self.world.responds(slot, other);
            responds && (bounces || stops && before[i] != self.velocity(slot))
        };
        [goes_on(0, a, b), goes_on(1, b, a)]
    }

    fn velocity(&self, slot: u32) -> Velocity {
        self.world.members.at(slot).body.velocity
    }

    /// A body goes on from here with the velocity that it has now, or waits.
    fn go_on(&mut self, slot: u32, pose: &Pose, time: f64, moves: bool) {
        let pieces = self.pieces(slot) + 1;
        let velocity = self.velocity(slot);
        let seconds = self.clock[1] * (1.0 - time);
        let moves = moves && pieces <= PIECES_MAX;
        let end = if moves { moved(pose, velocity, seconds) } else { None };
        let mut flight = match end {
            Some(end) => Flight::new(slot, Motion::linear(pose, &end), velocity.angular * seconds),
            None => Flight::new(slot, Motion::still(pose), DVec3::ZERO),
        };
        (flight.from, flight.pieces, flight.waits) = (time, pieces, end.is_none());
        self.start(flight);
        if moves && end.is_none() {
            self.world.stop(slot, self.advanced);
        }
    }
}
