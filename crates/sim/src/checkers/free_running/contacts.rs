//! C5: what a free-running group may miss, and for how long.
//!
//! The checker has the true motion of all objects from their holders. With P the period of a tick,
//! d the longest time that a message takes (delay and jitter), u and v the largest speeds along an
//! axis in the last second of the object that decides and of the other, and t the threshold of dead
//! reckoning:
//! * epsilon = t + u P + v (2 P + 2 d) along that axis, or t + u P + v P if one node holds both:
//!   what happens between ticks is not seen, news of a change of velocity are d old, a ghost is
//!   moved by whole ticks from when it came, and a change is not sent up to t and one tick. An
//!   object that touched something immovable in the last second may have been set back by the way
//!   of a tick after it was compared: another u P or v P;
//! * a pair that overlaps by more than epsilon along all axes for D = 2 P + 4 d + 10 ms must have
//!   been published by then: one tick to be seen, and the way to the backup and back;
//! * a contact that is published had blocks within epsilon of each other at most D ago.
//!
//! It checks only where these bounds hold: in that time, and in the heartbeat before it (for the
//! last rule four heartbeats, after which a ghost is forgotten), no node lost a message or had one
//! late, stood still, was silent or died; both objects stayed with their holders; and no view
//! changed. With triangles it checks only the last rule: by the balls around them what is reported
//! as exact, and by the boxes what is assumed. (What one node holds is checked by `exact`.)

use super::Violations;
use super::episodes::Episodes;
use super::people::is_made;
use super::sight::Sight;
use crate::world::Start;
use jostle_geom::Model;
use jostle_proto::{
    Block, Certainty, Class, Edge, Epoch, Event, FreeRunningNode, Having, NodeId, Object, ObjectId,
    POSITION_UNIT, Shapes, Time, Tuning,
};
use std::collections::BTreeMap;

/// The true motion of an object.
struct Track {
    object: Object,
    /// When it was there.
    at: Time,
    holder: NodeId,
    /// Since when it is with this holder, and held.
    since: Time,
    held: bool,
    /// The largest speeds in this half second and in the one before.
    fastest: [[i16; 3]; 2],
    /// Did it touch something immovable in this half second, and in the one before?
    struck: [bool; 2],
    half_second: u64,
}

pub(super) struct Contacts {
    shapes: Shapes,
    tuning: Tuning,
    news: u64,
    tracks: BTreeMap<ObjectId, Track>,
    still: Vec<Object>,
    /// Until when a node is disturbed.
    disturbed: BTreeMap<NodeId, Time>,
    /// When the view last changed; never yet, after a death.
    changed: Time,
    newest: Epoch,
    /// The newest view when a node died, until a newer one holds.
    death: Option<Epoch>,
    /// Since when pairs are deep in each other.
    deep: BTreeMap<(ObjectId, ObjectId), Time>,
    /// When pairs were last near each other.
    near: BTreeMap<(ObjectId, ObjectId), Time>,
    /// And when their balls were.
    close: BTreeMap<(ObjectId, ObjectId), Time>,
    next_look: Time,
    /// What was published and is not judged yet: how it came about is known a tick later.
    reported: Vec<(Time, NodeId, Event)>,
    pub(super) judged: u64,
}

impl Contacts {
    pub(super) fn new(start: &Start, tuning: Tuning, news: u64) -> Contacts {
        let still = start.objects.iter().filter(|object| object.class == Class::Immovable);
        Contacts {
            shapes: start.shapes.clone(),
            tuning,
            news,
            tracks: BTreeMap::new(),
            still: still.copied().collect(),
            disturbed: BTreeMap::new(),
            changed: Time(0),
            newest: Epoch(0),
            death: None,
            deep: BTreeMap::new(),
            near: BTreeMap::new(),
            close: BTreeMap::new(),
            next_look: Time(0),
            reported: Vec::new(),
            judged: 0,
        }
    }

    fn period(&self) -> u64 {
        1_000_000 / u64::from(self.tuning.timing.rate.max(1))
    }

    /// After so long all have heard again of all objects, whatever was lost before.
    fn heartbeat(&self) -> u64 {
        u64::from(self.tuning.heartbeat) * self.period()
    }

    /// D, in microseconds.
    fn patience(&self) -> u64 {
        2 * self.period() + 4 * self.news + 10_000
    }

    /// A view was sent.
    pub(super) fn changed(&mut self, now: Time, epoch: Epoch) {
        self.changed = self.changed.max(now);
        self.newest = self.newest.max(epoch);
    }

    /// A view holds. If it was made after a death, that is over.
    pub(super) fn settled(&mut self, now: Time, epoch: Epoch) {
        if self.death.is_some_and(|death| death < epoch) {
            self.death = None;
            self.changed = now;
        }
        self.changed = self.changed.max(now);
    }

    /// A node has died: until a newer view holds, what it held cannot be found.
    pub(super) fn died(&mut self) {
        self.death = Some(self.newest);
        self.changed = Time(u64::MAX);
    }

    pub(super) fn disturbed(&mut self, node: NodeId, until: Time) {
        let known = self.disturbed.entry(node).or_insert(until);
        *known = (*known).max(until);
    }

    /// Takes the true states from a node that has changed.
    pub(super) fn saw(&mut self, now: Time, node: &FreeRunningNode, sight: &Sight) {
        let me = node.member().node;
        for (having, record) in node.holds() {
            let id = record.object.id;
            if sight.holder(id).is_some_and(|(holder, _)| holder != me) {
                continue;
            }
            let half_second = now.0 / 500_000;
            let held = having == Having::Held;
            let track = self.tracks.entry(id).or_insert(Track {
                object: record.object,
                at: now,
                holder: me,
                since: now,
                held,
                fastest: [[0; 3]; 2],
                struck: [false; 2],
                half_second,
            });
            // One that goes, or comes back, others hear of as of one that changes hands.
            let goes = track.object.class != record.object.class;
            if track.holder != me || track.held != held || goes {
                (track.holder, track.held, track.since) = (me, held, now);
            }
            if track.half_second != half_second {
                track.half_second = half_second;
                track.fastest = [[0; 3], track.fastest[0]];
                track.struck = [false, track.struck[0]];
            }
            track.struck[0] |=
                self.still.iter().any(|still| record.contacts.contains_key(&still.id));
            // Also with what it came: a contact at the end of its way may have stopped it.
            let came = node.compared(id).map(|object| object.state.velocity);
            for velocity in came.into_iter().chain([record.object.state.velocity]) {
                for (most, is) in track.fastest[0].iter_mut().zip(velocity) {
                    *most = (*most).max(is.saturating_abs());
                }
            }
            if track.object != record.object {
                (track.object, track.at) = (record.object, now);
            }
        }
    }

    /// Where an object truly is, between the ticks of its holder.
    fn block(&self, track: &Track, now: Time) -> Block {
        let mut object = track.object;
        let passed = if track.held { (now - track.at).0.min(2 * self.period()) } else { 0 };
        for axis in 0..3 {
            let way = i64::from(object.state.velocity[axis]) * 16 * passed as i64 / 1_000_000;
            let at = &mut object.state.position[axis];
            *at = at.saturating_add(way as i32);
        }
        self.shapes.block(&object)
    }

    /// The triangles of an object, if it has any.
    fn model(&self, id: ObjectId) -> Option<&Model> {
        let still = || self.still.iter().find(|object| object.id == id);
        let object = self.tracks.get(&id).map(|track| &track.object).or_else(still)?;
        self.shapes.get(object.shape)?.model.as_deref()
    }

    /// Do balls around two objects come within epsilon of each other? If one has no triangles, its
    /// box is all there is.
    fn balls_meet(&self, pair: [(ObjectId, &Block); 2], epsilon: [i64; 3]) -> bool {
        let [Some(a), Some(b)] = pair.map(|(id, _)| self.model(id)) else { return true };
        let reach = (a.radius() + b.radius()) / POSITION_UNIT;
        let square = |parts: [f64; 3]| parts.iter().map(|part| part * part).sum::<f64>();
        let middle = |block: &Block, axis: usize| {
            (f64::from(block.min[axis]) + f64::from(block.max[axis])) / 2.0
        };
        let apart = [0, 1, 2].map(|axis| middle(pair[0].1, axis) - middle(pair[1].1, axis));
        let slack = square(epsilon.map(|along| along as f64)).sqrt();
        square(apart).sqrt() <= reach + slack
    }

    /// How wrong the holder of the deciding object may be.
    fn epsilon(&self, lead: &Track, other: Option<&Track>, local: bool) -> [i64; 3] {
        let time = if local { self.period() } else { 2 * self.period() + 2 * self.news };
        let lead = self.way(lead, self.period() + self.set_back(lead));
        let other = other.map_or([0; 3], |other| self.way(other, time + self.set_back(other)));
        let threshold = i64::from(self.tuning.threshold);
        [0, 1, 2].map(|axis: usize| threshold + lead[axis] + other[axis])
    }

    /// The time of whose way an object may have been set back at most.
    fn set_back(&self, track: &Track) -> u64 {
        if track.struck.contains(&true) { self.period() } else { 0 }
    }

    /// How far an object comes at its fastest.
    fn way(&self, track: &Track, time: u64) -> [i64; 3] {
        [0, 1, 2].map(|axis: usize| {
            let speed = track.fastest[0][axis].max(track.fastest[1][axis]);
            i64::from(speed) * 16 * time as i64 / 1_000_000
        })
    }

    /// Since when nothing disturbs those who must find a pair.
    fn calm_since(&self, lead: &Track, other: Option<&Track>, sight: &Sight) -> Time {
        let mut since = self.changed.max(lead.since);
        let holders = [Some(lead), other];
        for track in holders.into_iter().flatten() {
            since = since.max(track.since);
        }
        // The nodes that keep copies for the lead's holder: all others, to be sure.
        for node in sight.nodes.keys() {
            since = since.max(self.disturbed.get(node).copied().unwrap_or(Time(0)));
        }
        since
    }

    /// The deciding object of a pair first.
    fn ordered(&self, a: ObjectId, b: ObjectId) -> Option<(ObjectId, ObjectId)> {
        let rank = |id: ObjectId| {
            let object = self.tracks.get(&id).map(|track| track.object)?;
            Some((self.shapes.is_wide(&object, self.tuning.largest), id))
        };
        match (rank(a), rank(b)) {
            (Some(first), Some(second)) if second < first => Some((b, a)),
            (Some(_), _) => Some((a, b)),
            (None, Some(_)) => Some((b, a)),
            (None, None) => None,
        }
    }

    /// Looks at all pairs every few milliseconds.
    pub(super) fn look(
        &mut self,
        now: Time,
        episodes: &Episodes,
        sight: &Sight,
        violations: &mut Violations,
    ) {
        if now < self.next_look {
            return;
        }
        self.next_look = Time(now.0 + self.period() / 3);
        self.check_reported(now, violations);
        // A new avatar may be lost before it was seen outside, and one that leaves is forgotten.
        self.tracks.retain(|id, _| !is_made(*id) || sight.copies(*id).next().is_some());
        // With the most that epsilon can be, so that few pairs need a closer look.
        let time = 3 * self.period() + 2 * self.news;
        let moving: Vec<(ObjectId, Block, Block)> = self
            .tracks
            .iter()
            .map(|(id, track)| {
                let block = self.block(track, now);
                let way = self.way(track, time).map(|way| way + i64::from(self.tuning.threshold));
                (*id, block, grown(block, way))
            })
            .collect();
        let still = self.still.iter().map(|object| {
            let block = self.shapes.block(object);
            (object.id, block, block)
        });
        let mut all = moving.clone();
        all.extend(still);
        for (at, (a, block_a, around_a)) in moving.iter().enumerate() {
            for (b, block_b, around_b) in &all[at + 1..] {
                if !around_a.meets(around_b) {
                    if !self.deep.is_empty() {
                        self.deep.remove(&(*a.min(b), *a.max(b)));
                    }
                    continue;
                }
                let key = (*a.min(b), *a.max(b));
                let Some((lead, other)) = self.ordered(*a, *b) else { continue };
                let Some(lead_track) = self.tracks.get(&lead) else { continue };
                let other_track = self.tracks.get(&other);
                let local = other_track.is_none_or(|other| other.holder == lead_track.holder);
                let epsilon = self.epsilon(lead_track, other_track, local);
                let tracks = [Some(lead_track), other_track].into_iter().flatten();
                let mut absent = tracks.filter(|track| track.object.class == Class::Absent);
                // Who is absent touches nothing, once others have heard of it.
                let gone = absent.clone().any(|track| (now - track.since).0 > self.patience());
                if is_deep(block_a, block_b, epsilon.map(|epsilon| -epsilon)) && !gone {
                    self.near.insert(key, now);
                    if self.balls_meet([(*a, block_a), (*b, block_b)], epsilon) {
                        self.close.insert(key, now);
                    }
                }
                let triangles = self.model(*a).is_some() || self.model(*b).is_some();
                if !is_deep(block_a, block_b, epsilon) || triangles || absent.next().is_some() {
                    self.deep.remove(&key);
                    continue;
                }
                let calm = self.calm_since(lead_track, other_track, sight);
                let since = *self.deep.entry(key).or_insert(now);
                let waited = (now - since).0;
                let rested = (now - calm).0;
                if waited > self.patience() && rested > self.patience() + self.heartbeat() {
                    self.judged += 1;
                    if !episodes.is_open(*a, *b) {
                        let (a, b, ms) = (key.0.0, key.1.0, waited / 1000);
                        let what =
                            format!("{a} and {b} overlap for {ms} ms and that is not reported");
                        violations.push(("C5", what));
                    }
                    self.deep.insert(key, now);
                }
            }
        }
    }

    /// A contact was published that was not published before.
    pub(super) fn on_event(&mut self, now: Time, from: NodeId, event: &Event) {
        if event.edge == Edge::Begin {
            self.reported.push((now, from, *event));
        }
    }

    fn check_reported(&mut self, now: Time, violations: &mut Violations) {
        let period = self.period();
        let (ripe, rest) = std::mem::take(&mut self.reported)
            .into_iter()
            .partition(|(then, _, _)| then.0 + period < now.0);
        self.reported = rest;
        let ripe: Vec<(Time, NodeId, Event)> = ripe;
        for (then, from, event) in ripe {
            self.judge_begin(then, from, &event, violations);
        }
    }

    fn judge_begin(&self, now: Time, from: NodeId, event: &Event, violations: &mut Violations) {
        let Some((lead, other)) = self.ordered(event.a, event.b) else { return };
        let Some(track) = self.tracks.get(&lead) else { return };
        let disturbed = self.disturbed.values().max().copied().unwrap_or(Time(0));
        let other_since = self.tracks.get(&other).map_or(Time(0), |track| track.since);
        let calm = self.changed.max(track.since).max(other_since).max(disturbed);
        if (now - calm).0 < self.patience() + 4 * self.heartbeat() || track.holder != from {
            return;
        }
        let seen = match event.certainty {
            Certainty::Exact => &self.close,
            Certainty::Assumed => &self.near,
        };
        let near = seen.get(&(event.a, event.b));
        if near.is_none_or(|near| (now - *near).0 > self.patience()) {
            let (a, b) = (event.a.0, event.b.0);
            let ago = near.map(|near| (now - *near).0 / 1000);
            let what = format!("{a} and {b} were said to touch and were near {ago:?} ms ago");
            violations.push(("C5", what));
        }
    }
}

/// Do blocks overlap by more than so much along all axes?
fn is_deep(a: &Block, b: &Block, by: [i64; 3]) -> bool {
    (0..3).all(|axis| {
        let high = i64::from(a.max[axis].min(b.max[axis]));
        high - i64::from(a.min[axis].max(b.min[axis])) > by[axis]
    })
}

/// A block with so much more on all sides.
fn grown(block: Block, by: [i64; 3]) -> Block {
    let more = |along: i32, by: i64| (i64::from(along) + by).clamp(-(1 << 30), 1 << 30) as i32;
    Block {
        min: [0, 1, 2].map(|axis: usize| more(block.min[axis], -by[axis])),
        max: [0, 1, 2].map(|axis: usize| more(block.max[axis], by[axis])),
    }
}
