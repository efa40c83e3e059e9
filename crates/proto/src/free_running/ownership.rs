//! What a node holds, what it hands over, and what others do to its objects.

use super::keep::Gated;
use super::record::{Episode, Nudge, Record, Token};
use super::{FreeRunningMessage, FreeRunningNode};
use crate::mutant::Mutant;
use crate::node::Output;
use crate::object::{NodeId, ObjectId};
use crate::time::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Objects that a node has ever seen in an era. Of more it takes none: they stay in escrow.
pub(super) const OBJECTS_MAX: usize = 1 << 20;

/// Leads of which an object remembers that they have nudged it.
const TAKEN_MAX: usize = 256;

/// An object on its way.
#[derive(Clone, Debug)]
pub(super) struct Escrow {
    /// The next holder, the only one under this token.
    pub(super) to: NodeId,
    pub(super) record: Record,
    sent: Time,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Ownership {
    pub(super) held: BTreeMap<ObjectId, Record>,
    pub(super) escrow: BTreeMap<ObjectId, Escrow>,
    /// The largest token that was seen here, in this era.
    pub(super) seen: BTreeMap<ObjectId, Token>,
}

impl Ownership {
    pub(super) fn hold(&mut self, record: Record) {
        let id = record.object.id;
        self.seen.insert(id, record.token);
        // What comes back was taken over: the old message needs no answer any more.
        self.escrow.remove(&id);
        self.held.insert(id, record);
    }

    /// All copies.
    pub(super) fn records(&self) -> impl Iterator<Item = &Record> {
        let escrow = self.escrow.values().map(|escrow| &escrow.record);
        self.held.values().chain(escrow)
    }

    pub(super) fn get(&self, id: ObjectId) -> Option<&Record> {
        self.held.get(&id).or_else(|| self.escrow.get(&id).map(|escrow| &escrow.record))
    }
}

impl FreeRunningNode {
    /// Puts on their way all objects that have left this node's region.
    pub(super) fn hand_over(&mut self, now: Time, out: &mut Vec<Output>) {
        let Some(view) = self.ground.as_ref().filter(|_| self.mutant != Some(Mutant::HoldOn))
        else {
            return;
        };
        let tree = &view.tree;
        let mine = tree.share_of(self.me.node).and_then(|vertex| tree.region(vertex));
        let Some(mine) = mine else { return };
        let room = i64::from(self.tuning.hysteresis);
        let outside = |position: [i32; 3]| {
            (0..3).any(|axis| {
                let at = i64::from(position[axis]);
                at < mine.min[axis] - room || at >= mine.max[axis] + room
            })
        };
        let leaving: Vec<(ObjectId, NodeId)> = self
            .ownership
            .held
            .values()
            .filter(|record| outside(record.object.state.position))
            .map(|record| (record.object.id, tree.owner_of(record.object.state.position)))
            .filter(|(id, to)| *to != self.me.node && !self.ownership.escrow.contains_key(id))
            .collect();
        for (id, to) in leaving {
            self.put_on_its_way(id, to, now, out);
        }
    }

    fn put_on_its_way(&mut self, id: ObjectId, to: NodeId, now: Time, out: &mut Vec<Output>) {
        let (Some(mut record), Some(era)) = (self.ownership.held.remove(&id), self.era) else {
            return;
        };
        if self.mutant == Some(Mutant::KeepUntilAck) {
            self.ownership.held.insert(id, record.clone());
        }
        self.turns += 1;
        if self.mutant != Some(Mutant::SameToken) {
            record.token = record.token.next();
        }
        self.ownership.seen.insert(id, record.token);
        record.ghosts_at = self.ghosts.leave(&record, to);
        record.ghosts_at.push(self.me.node);
        self.keep.touch(id);
        let message = FreeRunningMessage::Transfer {
            era,
            from: self.me.node,
            record: Box::new(record.clone()),
        };
        self.send(to, message, out);
        if self.mutant != Some(Mutant::RelinquishOnSend) {
            self.ownership.escrow.insert(id, Escrow { to, record, sent: now });
        }
    }

    pub(super) fn transfers_again(&mut self, now: Time, out: &mut Vec<Output>) {
        let Some(era) = self.era else { return };
        if self.mutant == Some(Mutant::NoResend) {
            return;
        }
        let (from, resend) = (self.me.node, self.tuning.timing.resend);
        let mut messages = Vec::new();
        for escrow in self.ownership.escrow.values_mut() {
            if now - escrow.sent >= resend {
                escrow.sent = now;
                let record = Box::new(escrow.record.clone());
                messages.push((escrow.to, FreeRunningMessage::Transfer { era, from, record }));
            }
        }
        for (to, message) in messages {
            self.send(to, message, out);
        }
    }

    /// Another node hands an object over. The answer lets that node forget it, so it waits until
    /// the backups have everything that is here now: also when the object was seen, or has gone on,
    /// before.
    pub(super) fn take_over(&mut self, from: NodeId, record: Record, out: &mut Vec<Output>) {
        let (id, token) = (record.object.id, record.token);
        let Some(era) = self.era else { return };
        let known = self.ownership.seen.get(&id).copied();
        let fresh = known.is_none_or(|known| token > known);
        if fresh || self.mutant == Some(Mutant::StaleToken) {
            if self.ownership.seen.len() >= OBJECTS_MAX && known.is_none() {
                return;
            }
            self.adopt(record);
            self.flush(out);
        }
        let answer = FreeRunningMessage::TransferAck { era, object: id, token };
        self.keep.gate(Gated::FreeRunningMessage(from, answer));
    }

    /// An object is this node's from now on, with all that it owes.
    pub(super) fn adopt(&mut self, mut record: Record) {
        let id = record.object.id;
        for nudge in &mut record.nudges {
            nudge.ready = false;
        }
        self.keep.touch(id);
        for event in &record.owed {
            self.keep.gate(Gated::Event(id, record.token, *event));
        }
        for nudge in &record.nudges {
            self.keep.gate(Gated::Nudge(record.token, *nudge));
        }
        self.turns += 1;
        self.ghosts.come(&record, self.me.node);
        self.ownership.hold(record);
    }

    pub(super) fn taken_over(&mut self, id: ObjectId, token: Token) {
        if self.ownership.escrow.get(&id).is_some_and(|escrow| escrow.record.token == token) {
            self.turns += 1;
            self.ownership.escrow.remove(&id);
            if self.mutant == Some(Mutant::KeepUntilAck) {
                self.ownership.held.remove(&id);
            }
            self.keep.lose(id);
        }
    }

    /// A contact that another node decided about happens to an object, with the next tick.
    pub(super) fn nudge(&mut self, from: NodeId, nudge: Nudge) {
        let Some(era) = self.era else { return };
        let Nudge { lead, object, episode, .. } = nudge;
        let Some(record) = self.ownership.held.get(&object) else {
            if self.is_buried(object) {
                let answer =
                    FreeRunningMessage::NudgeAck { era, lead, object, episode, passed_on: false };
                self.keep.gate(Gated::FreeRunningMessage(from, answer));
            }
            return;
        };
        let taken = record.taken.get(&lead).is_some_and(|taken| *taken >= episode);
        if taken && self.mutant != Some(Mutant::NudgeTwice) {
            let answer =
                FreeRunningMessage::NudgeAck { era, lead, object, episode, passed_on: false };
            self.keep.gate(Gated::FreeRunningMessage(from, answer));
        } else if self.nudges.len() < OBJECTS_MAX {
            self.nudges.entry((object, lead)).or_insert((from, nudge));
        }
    }

    /// What others have done to objects here happens now.
    pub(super) fn take_nudges(&mut self) {
        let Some(era) = self.era else { return };
        for ((id, lead), (from, nudge)) in std::mem::take(&mut self.nudges) {
            let Some(record) = self.ownership.held.get_mut(&id) else { continue };
            nudge.apply(&mut record.object);
            record.nudged += u64::from(from != self.me.node);
            record.taken.insert(lead, nudge.episode);
            while record.taken.len() > TAKEN_MAX {
                let oldest = record.taken.iter().min_by_key(|(_, episode)| **episode);
                let Some(oldest) = oldest.map(|(lead, _)| *lead) else { break };
                record.taken.remove(&oldest);
            }
            self.keep.touch(id);
            let Nudge { episode, .. } = nudge;
            let answer =
                FreeRunningMessage::NudgeAck { era, lead, object: id, episode, passed_on: false };
            self.keep.gate(Gated::FreeRunningMessage(from, answer));
        }
    }

    /// A nudge has arrived. Reports where its lead has gone, if it is not here any more: a lead
    /// that is faster than its answers would never receive them (a fault campaign found that).
    pub(super) fn nudged(
        &mut self,
        lead: ObjectId,
        object: ObjectId,
        episode: Episode,
    ) -> Option<NodeId> {
        let Some(record) = self.ownership.held.get_mut(&lead) else {
            let escrow = self.ownership.escrow.get(&lead).map(|escrow| escrow.to);
            return escrow.or_else(|| self.ghosts.holder(lead));
        };
        let before = record.nudges.len();
        record.nudges.retain(|known| (known.object, known.episode) != (object, episode));
        if record.nudges.len() < before {
            self.keep.touch(lead);
        }
        None
    }

    /// Sends the nudges that are due; of each pair the oldest, so that they arrive in order. First
    /// to the node that the other object was last seen with, then to all.
    pub(super) fn nudges_again(&mut self, everybody: bool, out: &mut Vec<Output>) {
        let (Some(era), Some(view)) = (self.era, &self.ground) else { return };
        let nodes: Vec<NodeId> = view.nodes().collect();
        let from = self.me.node;
        let mut messages = Vec::new();
        for record in self.ownership.held.values() {
            let mut done = BTreeSet::new();
            for nudge in &record.nudges {
                if !done.insert(nudge.object) || !nudge.ready {
                    continue;
                }
                let message = FreeRunningMessage::Nudge { era, from, nudge: *nudge };
                if self.ownership.held.contains_key(&nudge.object) {
                    messages.push((from, message));
                } else if let Some(holder) = self.ghosts.holder(nudge.object).filter(|_| !everybody)
                {
                    messages.push((holder, message));
                } else {
                    let others = nodes.iter().filter(|node| **node != from);
                    messages.extend(others.map(|node| (*node, message.clone())));
                }
            }
        }
        for (to, message) in messages {
            self.send(to, message, out);
        }
    }
}
