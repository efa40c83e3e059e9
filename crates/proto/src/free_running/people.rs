//! Avatars of clients: how they come into a free-running world, are absent, come back, and leave.
//!
//! There is no order that all agree on, so nothing here rests on one. An avatar enters at one
//! member in one of its incarnations, which remembers that. All later changes are made by its
//! holder, and a gateway asks for them until it sees them. One that is removed stays as a record of
//! its removal (`Record::over`): it has the largest token, so no older copy wins against it. It is
//! dropped when every member has reported that neither it nor its backups have any copy, or when a
//! new era begins and no node has one.

use super::ownership::OBJECTS_MAX;
use super::record::{Record, Token};
use super::{Entry, FreeRunningMessage, FreeRunningNode};
use crate::input::Input;
use crate::mutant::Mutant;
use crate::node::Output;
use crate::object::{Class, NodeId, ObjectId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Gateways of which it is remembered what they brought. Of more nothing is taken, unless some of
/// them are silent.
pub(super) const GATEWAYS_MAX: usize = 256;

/// Avatars of a gateway that have entered and are not known to it to have; more wait.
pub(super) const TAKEN_MAX: usize = 4096;

/// Forgotten ones that are remembered to answer for.
const BURIED_MAX: usize = 1024;

/// Tombstones that are asked about at a time.
const TOMBSTONES_AT_ONCE: usize = 64;

/// What a gateway brought, in the newest life of it that was heard.
#[derive(Clone, Debug)]
struct Entered {
    life: u32,
    /// See [`Entry::over`].
    over: ObjectId,
    taken: BTreeSet<ObjectId>,
}

/// One that has left the world and is remembered.
#[derive(Clone, Debug)]
struct Tombstone {
    token: Token,
    /// The backups must have this number.
    stamp: u64,
    /// Who has nothing of it.
    clean: BTreeSet<NodeId>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct People {
    /// By the numbers of gateways.
    entered: BTreeMap<u32, Entered>,
    /// What happens to avatars with the next tick.
    calls: BTreeMap<ObjectId, Input>,
    tombstones: BTreeMap<ObjectId, Tombstone>,
    /// Those that were forgotten here last.
    buried: VecDeque<ObjectId>,
}

impl People {
    /// See [`FreeRunningNode::holdings`].
    pub(super) fn holdings(&self) -> [(&'static str, usize, usize); 2] {
        let taken = self.entered.values().map(|entered| entered.taken.len()).max();
        [("gateways", self.entered.len(), GATEWAYS_MAX), ("entered", taken.unwrap_or(0), TAKEN_MAX)]
    }
}

impl FreeRunningNode {
    /// Avatars come into the world here. Those that have been here do not come again.
    pub(super) fn enter(&mut self, entry: Entry, out: &mut Vec<Output>) {
        let Entry { to, from, over, objects } = entry;
        let (Some(era), true) = (self.era, self.is_running() && to == self.me) else { return };
        let known = self.people.entered.get(&from.number).map(|entered| entered.life);
        if known.is_none() && self.people.entered.len() >= GATEWAYS_MAX {
            // Those that are silent bring no avatars; should one send again, what it brought in
            // this era is known by its tokens.
            let serve = &self.serve;
            self.people.entered.retain(|number, _| serve.is_followed_by(*number));
        }
        if known.is_some_and(|life| life > from.life)
            || (known.is_none() && self.people.entered.len() >= GATEWAYS_MAX)
        {
            return;
        }
        if known != Some(from.life) {
            let fresh = Entered { life: from.life, over, taken: BTreeSet::new() };
            self.people.entered.insert(from.number, fresh);
        }
        let Some(entered) = self.people.entered.get_mut(&from.number) else { return };
        entered.over = entered.over.max(over);
        entered.taken = entered.taken.split_off(&ObjectId(entered.over.0.saturating_add(1)));
        let twice = self.mutant == Some(Mutant::EnterTwice);
        let mut fresh = Vec::new();
        for object in objects {
            let id = object.id;
            let new = id > entered.over && !entered.taken.contains(&id);
            let unseen = !self.ownership.seen.contains_key(&id) || twice;
            let room = entered.taken.len() < TAKEN_MAX && self.ownership.seen.len() < OBJECTS_MAX;
            if object.class == Class::Avatar && (new || twice) && unseen && room {
                entered.taken.insert(id);
                let token = Token { era, hop: 0 };
                fresh.push(Record { token, ..Record::new(object) });
            }
        }
        let some = !fresh.is_empty();
        fresh.into_iter().for_each(|record| self.adopt(record));
        if some {
            self.flush(out);
        }
    }

    /// Something is to become of an avatar.
    pub(super) fn called(&mut self, input: Input) {
        let Some(id) = input.object() else { return };
        if matches!(input, Input::Absent(_) | Input::Return(_) | Input::Remove(_))
            && self.ownership.held.contains_key(&id)
        {
            self.people.calls.insert(id, input);
        }
    }

    pub(super) fn follow_calls(&mut self) {
        for (id, input) in std::mem::take(&mut self.people.calls) {
            let Some(record) = self.ownership.held.get_mut(&id) else { continue };
            let avatar = matches!(record.object.class, Class::Avatar | Class::Absent);
            if record.over || !avatar {
                continue;
            }
            match input.change(record.object) {
                Some(object) => record.object = object,
                None => {
                    record.over = true;
                    record.object =
                        Input::Absent(id).change(record.object).unwrap_or(record.object);
                }
            }
        }
    }

    /// Asks the others whether they have any copy of those that have left the world, and forgets
    /// those of which none is left.
    pub(super) fn resend_tombstones(&mut self, out: &mut Vec<Output>) {
        let (Some(era), Some(view)) = (self.era, &self.ground) else { return };
        let me = self.me.node;
        let others: Vec<NodeId> = view.nodes().filter(|node| *node != me).collect();
        let (stamp, open) = (self.keep.stamp(), self.keep.open_to(self.mutant));
        let hasty = self.mutant == Some(Mutant::BuryAtOnce);
        let mut tombstones = BTreeMap::new();
        let settled = self.ownership.held.values().filter(|record| record.is_settled());
        for record in settled.take(TOMBSTONES_AT_ONCE) {
            let (id, token) = (record.object.id, record.token);
            let known = self.people.tombstones.remove(&id).filter(|known| known.token == token);
            tombstones
                .insert(id, known.unwrap_or(Tombstone { token, stamp, clean: BTreeSet::new() }));
        }
        let done: Vec<ObjectId> = tombstones
            .iter()
            .filter(|(_, tombstone)| {
                let clean = others.iter().all(|node| tombstone.clean.contains(node));
                hasty || (clean && tombstone.stamp <= open)
            })
            .map(|(id, _)| *id)
            .collect();
        for id in done {
            tombstones.remove(&id);
            self.ownership.held.remove(&id);
            self.keep.lose(id);
            self.turns += 1;
            self.bury(id);
        }
        let asked: Vec<_> =
            tombstones.iter().map(|(id, tombstone)| (*id, tombstone.token)).collect();
        self.people.tombstones = tombstones;
        if !asked.is_empty() {
            for node in others {
                let tombstones = asked.clone();
                self.send(node, FreeRunningMessage::Buried { era, from: me, tombstones }, out);
            }
        }
    }

    /// Another holds what is over. Whatever comes later with an older token is not taken.
    pub(super) fn answer_tombstones(
        &mut self,
        to: NodeId,
        mut tombstones: Vec<(ObjectId, Token)>,
        out: &mut Vec<Output>,
    ) {
        let Some(era) = self.era else { return };
        for record in self.ownership.held.values_mut() {
            let before = record.nudges.len();
            record.nudges.retain(|nudge| !tombstones.iter().any(|(id, _)| *id == nudge.object));
            if record.nudges.len() < before {
                self.keep.touch(record.object.id);
            }
        }
        tombstones.retain(|(id, _)| self.ownership.get(*id).is_none() && self.keep.is_rid_of(*id));
        for (id, token) in &tombstones {
            if let Some(seen) = self.ownership.seen.get_mut(id) {
                *seen = (*seen).max(*token);
            }
        }
        if !tombstones.is_empty() {
            self.send(to, FreeRunningMessage::Clean { era, from: self.me.node, tombstones }, out);
        }
    }

    fn bury(&mut self, id: ObjectId) {
        self.people.buried.push_back(id);
        if self.people.buried.len() > BURIED_MAX {
            self.people.buried.pop_front();
        }
    }

    /// Was it forgotten here? Then whatever is to happen to it has happened.
    pub(super) fn is_buried(&self, id: ObjectId) -> bool {
        self.people.buried.contains(&id)
    }

    /// Another has nothing of these.
    pub(super) fn is_clean(&mut self, from: NodeId, tombstones: Vec<(ObjectId, Token)>) {
        for (id, token) in tombstones {
            if let Some(tombstone) =
                self.people.tombstones.get_mut(&id).filter(|it| it.token == token)
            {
                tombstone.clean.insert(from);
            }
        }
    }
}
