//! Objects as others see them: which nodes are sent an object, when, and how a node extrapolates an
//! object of which it hears now and then (Storey 2006, 3.3.8; dead reckoning of the first order).

use super::record::{Record, Token};
use super::tick::UNSEEN_MAX;
use super::{FreeRunningMessage, FreeRunningNode, Ghost};
use crate::mutant::Mutant;
use crate::node::Output;
use crate::object::{Class, NodeId, Object, ObjectId};
use crate::state::{Block, State};
use crate::time::Tick;
use crate::view::View;
use std::collections::{BTreeMap, BTreeSet};

/// A change is sent in so many successive ticks: a message may be lost.
const REPEATS: u32 = 3;

/// A ghost of which nothing is heard for so many heartbeats is forgotten: it may have changed its
/// course, or be too far away, and the message about that was lost.
const HEARTBEATS_MAX: u32 = 4;

/// One that another holds.
#[derive(Clone, Debug)]
struct Seen {
    /// Where it is taken to be now.
    object: Object,
    token: Token,
    tick: Tick,
    holder: NodeId,
    /// Ticks since it was received.
    age: u32,
}

/// What others were sent about an object that is held here.
#[derive(Clone, Debug)]
struct SentGhost {
    class: Class,
    /// Where they extrapolate it to be, if the message arrived.
    state: State,
    to: Vec<NodeId>,
    /// Ticks since.
    age: u32,
    /// So often it is sent again at once.
    again: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Ghosts {
    seen: BTreeMap<ObjectId, Seen>,
    sent: BTreeMap<ObjectId, SentGhost>,
}

impl Ghosts {
    /// Everything that is seen, as it is taken to be.
    pub(super) fn objects(&self) -> impl Iterator<Item = Object> {
        self.seen.values().map(|seen| seen.object)
    }

    pub(super) fn knows(&self, id: ObjectId) -> bool {
        self.seen.contains_key(&id)
    }

    pub(super) fn holder(&self, id: ObjectId) -> Option<NodeId> {
        self.seen.get(&id).map(|seen| seen.holder)
    }

    /// It is held here from now on. The nodes that were sent it before are sent it with the next
    /// tick, if only that it is away.
    pub(super) fn come(&mut self, record: &Record, me: NodeId) {
        let Record { object, .. } = record;
        self.seen.remove(&object.id);
        let to = record.ghosts_at.iter().copied().filter(|node| *node != me).collect();
        let Object { class, state, .. } = *object;
        let sent = SentGhost { class, state, to, age: u32::MAX, again: REPEATS - 1 };
        self.sent.insert(object.id, sent);
    }

    /// It was held here and is on its way. Returns the nodes that were sent it.
    pub(super) fn leave(&mut self, record: &Record, to: NodeId) -> Vec<NodeId> {
        let Record { object, token, tick, .. } = *record;
        let seen = Seen { object, token, tick, holder: to, age: 0 };
        self.seen.insert(object.id, seen);
        self.sent.remove(&object.id).map(|sent| sent.to).unwrap_or_default()
    }

    /// One tick later.
    pub(super) fn advance(&mut self, rate: u32, heartbeat: u32) {
        for seen in self.seen.values_mut() {
            let from = Tick(seen.tick.0.saturating_add(u64::from(seen.age)));
            seen.object.state = seen.object.state.moved(from, rate);
            seen.age += 1;
        }
        self.seen.retain(|_, seen| seen.age <= heartbeat.saturating_mul(HEARTBEATS_MAX));
    }
}

/// A block with so much more on all sides.
fn grown(block: Block, by: i32) -> Block {
    Block {
        min: block.min.map(|along| along.saturating_sub(by)),
        max: block.max.map(|along| along.saturating_add(by)),
    }
}

impl FreeRunningNode {
    pub(super) fn see_ghosts(&mut self, from: NodeId, ghosts: Vec<Ghost>) {
        for Ghost { object, token, tick } in ghosts {
            let id = object.id;
            if self.ownership.held.contains_key(&id) {
                continue;
            }
            let known = self.ghosts.seen.get(&id).map(|seen| (seen.token, seen.tick));
            let room = known.is_some() || self.ghosts.seen.len() < super::ownership::OBJECTS_MAX;
            if room && known.is_none_or(|known| known < (token, tick)) {
                self.ghosts.seen.insert(id, Seen { object, token, tick, holder: from, age: 0 });
            }
        }
    }

    /// Others are too far away to touch anything here: contacts with them are over.
    pub(super) fn lose_ghosts(&mut self, away: Vec<(ObjectId, Token)>) {
        for (id, token) in away {
            if self.ghosts.seen.get(&id).is_some_and(|seen| seen.token <= token) {
                self.ghosts.seen.remove(&id);
                let contacts = self
                    .ownership
                    .held
                    .values_mut()
                    .filter_map(|record| record.contacts.get_mut(&id));
                contacts.for_each(|contact| contact.unseen = UNSEEN_MAX);
            }
        }
    }

    /// All nodes that may hold an object that this one touches. They hold what is centred in their
    /// regions, or a hysteresis beyond, and is not wide; a ghost of it is there before it is, if it
    /// comes no farther than the margin in the meantime.
    fn audience(&self, view: &View, object: &Object) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = if self.shapes.is_wide(object, self.tuning.largest) {
            view.nodes().collect()
        } else {
            let Self { tuning, .. } = self;
            let reach = match self.mutant {
                Some(Mutant::ShortGhosts) => 0,
                _ => tuning.largest + tuning.hysteresis + tuning.margin,
            };
            view.owners_meeting(&grown(self.shapes.block(object), reach))
        };
        nodes.retain(|node| *node != self.me.node);
        nodes
    }

    /// Sends others the objects that they would extrapolate to be elsewhere.
    pub(super) fn send_ghosts(&mut self, out: &mut Vec<Output>) {
        let (Some(view), Some(era)) = (&self.ground, self.era) else { return };
        let rate = self.tuning.timing.rate;
        let mut near: BTreeMap<NodeId, Vec<Ghost>> = BTreeMap::new();
        let mut away: BTreeMap<NodeId, Vec<(ObjectId, Token)>> = BTreeMap::new();
        let mut sent = std::mem::take(&mut self.ghosts.sent);
        sent.retain(|id, _| self.ownership.held.contains_key(id));
        for record in self.ownership.held.values() {
            let object = record.object;
            let to = self.audience(view, &object);
            let before = sent.remove(&object.id).map(|mut sent| {
                let from = Tick(record.tick.0.saturating_sub(1));
                sent.state = sent.state.moved(from, rate);
                sent.age = sent.age.saturating_add(1);
                sent
            });
            for node in before.iter().flat_map(|sent| &sent.to).filter(|node| !to.contains(node)) {
                away.entry(*node).or_default().push((object.id, record.token));
            }
            let off = |sent: &SentGhost| {
                sent.class != object.class
                    || is_off(&sent.state, &object.state, self.tuning.threshold)
            };
            let sent = match before {
                Some(sent) if sent.to == to && sent.age < self.tuning.heartbeat && !off(&sent) => {
                    if sent.again == 0 {
                        self.ghosts.sent.insert(object.id, sent);
                        continue;
                    }
                    SentGhost { again: sent.again - 1, ..sent }
                }
                Some(sent) if !off(&sent) && sent.to == to => SentGhost { age: 0, ..sent },
                _ => {
                    let (state, again) = (object.state, REPEATS - 1);
                    SentGhost { class: object.class, state, to: to.clone(), age: 0, again }
                }
            };
            self.ghosts.sent.insert(object.id, SentGhost { state: object.state, ..sent });
            let ghost = Ghost { object, token: record.token, tick: record.tick };
            for node in to {
                near.entry(node).or_default().push(ghost);
            }
        }
        let from = self.me.node;
        let nodes: BTreeSet<NodeId> = near.keys().chain(away.keys()).copied().collect();
        for to in nodes {
            let ghosts = near.remove(&to).unwrap_or_default();
            let away = away.remove(&to).unwrap_or_default();
            self.send(to, FreeRunningMessage::Ghosts { era, from, ghosts, away }, out);
        }
    }
}

/// Are they so far apart that others must hear of it?
pub(super) fn is_off(sent: &State, is: &State, threshold: i32) -> bool {
    let apart = |axis: usize| sent.position[axis].abs_diff(is.position[axis]);
    (0..3).any(|axis| apart(axis) > threshold.unsigned_abs()) || sent.spin != is.spin
}
