//! Continuous motion: which bodies meet on their way, in the order of time.
//!
//! Every body that moves has a [`Flight`]. For pairs whose swept boxes overlap, with at least one
//! body in continuous motion, the time is computed at which they meet. The earliest impact is
//! resolved first: its bodies get new flights from there on, and later impacts that were computed
//! from the old flights are dropped and computed again. Each impact ends a piece of the motion of a
//! body in continuous motion, and the number of pieces is limited, so this terminates.

use super::meet::{Meet, Mover, meet};
use super::{Advanced, Hit, Search, moved};
use crate::body::Velocity;
use crate::broad::{Broad, SlotPair, slot_pair};
use crate::dynamics::Dynamics;
use crate::respond::VelocityResponse;
use crate::respond::velocity::Impact;
use crate::workers::Workers;
use glam::DVec3;
use jostle_geom::{Aabb, Motion, Pose};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How often a body may change its way in one advance (or one part of it, if bodies spin fast).
/// Then it stays where it is until the next: enough for a corner, and an end for a wedged body.
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

/// An impact that will happen unless one of the bodies changes its way before. Ordered by time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PendingImpact {
    /// Bits of a number from 0 on: they are ordered as the numbers are.
    time: u64,
    slots: SlotPair,
    /// How many motions they had when this was computed.
    pieces: [u32; 2],
    unclear: bool,
}

/// One part of an advance.
struct ContinuousAdvance<'a, 'w> {
    dynamics: &'a mut Dynamics<'w>,
    workers: &'a Workers,
    /// Begin and length of this part of the advance, in seconds.
    clock: [f64; 2],
    flights: BTreeMap<u32, Flight>,
    /// Swept boxes of all flights.
    broad: Broad,
    /// Flights whose box is new.
    fresh: Vec<u32>,
    pending: BinaryHeap<Reverse<PendingImpact>>,
    advanced: &'a mut Advanced,
}

impl Dynamics<'_> {
    /// Moves bodies for the time `clock[1]`, after `clock[0]` seconds of this advance.
    pub(super) fn advance_continuously(
        &mut self,
        clock: [f64; 2],
        search: Search<'_>,
        advanced: &mut Advanced,
    ) {
        let ends = self.ends(clock[1], advanced);
        // Bodies that were moved by the caller, or in the last part, have old boxes.
        let stale: Vec<u32> = self.bodies.changed_slots().collect();
        stale.into_iter().for_each(|slot| self.update_bounds(slot));
        let broad = Broad::new(search.structure);
        let mut flying = ContinuousAdvance {
            dynamics: self,
            workers: search.workers,
            clock,
            flights: BTreeMap::new(),
            broad,
            fresh: Vec::new(),
            pending: BinaryHeap::new(),
            advanced,
        };
        for (slot, end) in ends {
            let body = flying.dynamics.bodies.body(slot);
            let motion = Motion::linear(&body.pose, &end);
            let turn = body.velocity.angular * clock[1];
            flying.start(Flight::new(slot, motion, turn));
        }
        flying.find_impacts();
        while let Some(Reverse(due)) = flying.pending.pop() {
            if due.slots.map(|slot| flying.pieces(slot)) == due.pieces {
                flying.resolve(&due);
                flying.find_new_impacts();
            }
        }
        for flight in flying.flights.values() {
            flying.dynamics.set_pose(flight.slot, &flight.motion.end());
        }
    }
}

impl ContinuousAdvance<'_, '_> {
    /// Starts the flight of a body, or replaces it.
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
        if !self.dynamics.bodies.is_enabled(flight.slot) {
            return None;
        }
        let (start, end) = (flight.motion.start(), flight.motion.end());
        let shape = &self.dynamics.bodies.body(flight.slot).shape;
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

    /// Computes the impacts of all pairs.
    fn find_impacts(&mut self) {
        let mut pairs = Vec::new();
        self.broad.find_pairs(self.workers, &mut pairs);
        for slot in std::mem::take(&mut self.fresh) {
            pairs.extend(self.pairs_with_still(slot));
        }
        self.add_pending(pairs);
    }

    /// Computes the impacts of all pairs with a new flight.
    fn find_new_impacts(&mut self) {
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
        self.add_pending(pairs);
    }

    /// A flight with all bodies near its way that have none.
    fn pairs_with_still(&self, slot: u32) -> Vec<SlotPair> {
        let continuous = self.is_continuous(slot);
        let Some(bounds) = self.swept(&self.flights[&slot]).filter(|_| continuous) else {
            return Vec::new();
        };
        let others = self.dynamics.broad_phase.overlapping(&bounds).into_iter();
        let still = others.filter(|other| !self.flights.contains_key(other));
        still.map(|other| slot_pair(slot, other)).collect()
    }

    fn add_pending(&mut self, pairs: Vec<SlotPair>) {
        for pair in pairs {
            self.pending.extend(self.impact_of(pair).map(Reverse));
        }
    }

    /// When two bodies meet, if one of them is stopped by that.
    fn impact_of(&self, slots: SlotPair) -> Option<PendingImpact> {
        let [a, b] = slots;
        let stops =
            |slot, other| self.is_continuous(slot) && self.dynamics.is_stopped_by(slot, other);
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
        Some(PendingImpact { time, slots, pieces: slots.map(|slot| self.pieces(slot)), unclear })
    }

    fn mover(&self, slot: u32, start: f64) -> Mover<'_> {
        let body = self.dynamics.bodies.body(slot);
        let flight = self.flights.get(&slot);
        let still = Motion::still(&body.pose);
        let motion = flight.map_or(still, |flight| flight.rest(start));
        Mover { shape: &body.shape, motion }
    }

    /// Bodies without a flight count from 0 too; their first flight has one more.
    fn pieces(&self, slot: u32) -> u32 {
        self.flights.get(&slot).map_or(0, |flight| flight.pieces)
    }

    /// Whether a body is stopped by what is in its way, and still moves.
    fn is_continuous(&self, slot: u32) -> bool {
        let waits = self.flights.get(&slot).is_none_or(|flight| flight.waits);
        self.dynamics.is_continuous(slot) && !waits
    }

    fn pose(&self, slot: u32, time: f64) -> Pose {
        let still = self.dynamics.bodies.body(slot).pose;
        self.flights.get(&slot).map_or(still, |flight| flight.at(time))
    }

    /// Lets the bodies of an impact respond, and go on.
    fn resolve(&mut self, due: &PendingImpact) {
        let time = f64::from_bits(due.time);
        let [a, b] = due.slots;
        let poses = due.slots.map(|slot| self.pose(slot, time));
        let continuous = due.slots.map(|slot| self.is_continuous(slot));
        let impact = Impact::between(self.dynamics.bodies, due.slots, poses);
        let bounces = if let Some(impact) = impact.filter(|_| !due.unclear) {
            self.respond(&impact, time)
        } else {
            [false; 2]
        };
        for (i, other) in [(0, b), (1, a)] {
            let slot = due.slots[i];
            let stopped = continuous[i] && self.dynamics.is_stopped_by(slot, other);
            if stopped || bounces[i] {
                self.go_on(slot, &poses[i], time, bounces[i]);
            }
        }
    }

    /// Lets both bodies respond. Returns which of them go on with another velocity.
    fn respond(&mut self, impact: &Impact, time: f64) -> [bool; 2] {
        let [a, b] = impact.slots.map(|slot| self.dynamics.bodies.id(slot));
        let time = self.clock[0] + time * self.clock[1];
        let (normal, point) = (impact.normal, impact.points[1]);
        self.advanced.hits.push(Hit { a, b, time, normal, point });
        let before = impact.slots.map(|slot| self.velocity(slot));
        if self.dynamics.exchange_velocities(impact) == [false; 2] {
            // Nothing approaches along the normal, and yet they met: at another place.
            self.dynamics.reverse(impact);
        }
        self.dynamics.separate(impact);
        let [a, b] = impact.slots;
        let goes_on = |i: usize, slot: u32, other: u32| {
            let response = self.dynamics.response(slot).map(|response| response.velocity);
            let bounces = matches!(response, Some(VelocityResponse::Bounce { .. }));
            let stops = response == Some(VelocityResponse::Stop);
            let responds = self.dynamics.responds(slot, other);
            responds && (bounces || stops && before[i] != self.velocity(slot))
        };
        [goes_on(0, a, b), goes_on(1, b, a)]
    }

    fn velocity(&self, slot: u32) -> Velocity {
        self.dynamics.bodies.body(slot).velocity
    }

    /// Continues a body from here with the velocity that it has now, or stops it until the end.
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
            self.dynamics.stop(slot, self.advanced);
        }
    }
}
