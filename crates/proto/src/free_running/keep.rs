//! Copies at the backups, and what waits for them.
//!
//! A node numbers what it sends to its backups. Each message holds everything that changed since
//! the last number that this backup acknowledged, so any of them may be lost. What cannot be taken
//! back waits at the gate until *every* backup has acknowledged the number that has what it follows
//! from: any one of them may be the only one that is left, and the node that takes this node's
//! place from its copies knows about it.
//!
//! An acknowledgement is also a promise. No view can leave a node out without the copies of one of
//! its backups, and a backup holds them back until what it has promised is over: so a node that the
//! directory does not answer goes on by the word of its backups. It needs the word of all of them:
//! any one that has not promised could be the one that a view without this node is made with.

use super::record::{Event, Nudge, Record, Token};
use super::{Backup, FreeRunningMessage, FreeRunningNode, believed};
use crate::mutant::Mutant;
use crate::node::{Output, Timing};
use crate::object::{NodeId, ObjectId};
use crate::time::{Span, Time};
use crate::view::{Epoch, Member, View};
use std::collections::{BTreeMap, VecDeque};

/// A node with so many unanswered messages makes no more ticks.
pub(super) const GATE_MAX: usize = 1 << 14;

/// What waits for the backups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gated {
    /// To be published, for the object that decided and under its token: one that went away and
    /// came back has brought with it what it still owes, in the right order.
    Event(ObjectId, Token, Event),
    /// To be sent to the other object's holder.
    Nudge(Token, Nudge),
    /// An answer.
    FreeRunningMessage(NodeId, FreeRunningMessage),
}

/// One who keeps copies for this node.
#[derive(Clone, Copy, Debug)]
struct Link {
    to: Member,
    /// See [`Backup::stream`].
    stream: Epoch,
    /// The last number that it answered.
    acked: Option<u64>,
    /// Does the gate wait for it?
    required: bool,
    /// What it must have before a view may hold in which it becomes a backup.
    need: Option<u64>,
    /// Until when it lets no view without this node come about, by this node's clock.
    vouches: Time,
}

impl Link {
    /// One who has nothing yet.
    fn new(to: Member, stream: Epoch) -> Link {
        Link { to, stream, acked: None, required: false, need: None, vouches: Time(0) }
    }
}

/// What is kept for another.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    era: Epoch,
    stream: Epoch,
    number: u64,
    pub(super) records: BTreeMap<ObjectId, Record>,
    /// When it was last answered that they are here, by this node's clock.
    answered: Time,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Keep {
    /// The last number that was sent.
    number: u64,
    /// Something has changed since.
    dirty: bool,
    /// When numbers were first sent, as long as an answer to them is worth something.
    sent: Vec<(u64, Time)>,
    /// With which number an object last changed, or went.
    changed: BTreeMap<ObjectId, u64>,
    gone: BTreeMap<ObjectId, u64>,
    links: Vec<Link>,
    gate: VecDeque<(u64, Gated)>,
    /// For others.
    pub(super) kept: BTreeMap<Member, Kept>,
}

impl Keep {
    /// The beginning of an era: the backups have everything already.
    pub(super) fn begin(view: &View, me: Member, era: Epoch, kept: Vec<Record>) -> Keep {
        let mut keep = Keep::default();
        let link = |to| Link { acked: Some(0), required: true, ..Link::new(to, era) };
        keep.links.extend(view.backups_of(me.node).map(link));
        for owner in view.backed_up_by(me.node) {
            let (records, answered) = (BTreeMap::new(), Time(0));
            keep.kept.insert(owner, Kept { era, stream: era, number: 0, records, answered });
        }
        for record in kept {
            let owner = view.owner(record.object.state.position);
            let of = |kept: &(&Member, &mut Kept)| kept.0.node == owner;
            if let Some((_, kept)) = keep.kept.iter_mut().find(of) {
                kept.records.insert(record.object.id, record);
            }
        }
        keep
    }

    /// An object is here now, or has changed.
    pub(super) fn touch(&mut self, id: ObjectId) {
        self.dirty = true;
        self.gone.remove(&id);
        self.changed.insert(id, self.number + 1);
    }

    /// An object is not here any more.
    pub(super) fn lose(&mut self, id: ObjectId) {
        self.dirty = true;
        self.changed.remove(&id);
        self.gone.insert(id, self.number + 1);
    }

    /// Lets something wait until all backups have everything that is here now.
    pub(super) fn gate(&mut self, what: Gated) {
        let number = self.number + u64::from(self.dirty);
        let waits = |(_, other): &(u64, Gated)| {
            matches!(what, Gated::FreeRunningMessage(..)) && *other == what
        };
        if self.gate.len() < 2 * GATE_MAX && !self.gate.iter().any(waits) {
            self.gate.push_back((number, what));
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.gate.len() >= GATE_MAX
    }

    /// Whom copies go to: the backups of the stable view, whom the gate waits for; and, so that a
    /// newer view can become stable, those of that one. They begin with nothing.
    pub(super) fn link(&mut self, stable: &[Member], next: &[Member], stream: Epoch) {
        let known = |to: Member| self.links.iter().find(|link| link.to == to).copied();
        let old = stable.iter().map(|&to| {
            let link = known(to).unwrap_or(Link::new(to, stream));
            Link { required: true, need: None, ..link }
        });
        let new = next.iter().filter(|to| !stable.contains(to));
        self.links = old.chain(new.map(|&to| Link::new(to, stream))).collect();
    }

    /// A view holds: only its backups count.
    pub(super) fn link_only(&mut self, backups: &[Member], stream: Epoch) {
        self.links.retain(|link| backups.contains(&link.to));
        for &to in backups {
            if !self.links.iter().any(|link| link.to == to) {
                self.links.push(Link::new(to, stream));
            }
        }
        for link in &mut self.links {
            (link.required, link.need) = (true, None);
        }
    }

    /// May a view hold in which these are the backups? Only if each of them has all that the
    /// outside has seen; from the moment one has anything the gate waits for it too.
    pub(super) fn is_kept_by(&mut self, backups: &[Member]) -> bool {
        let number = self.stamp();
        let mut all = true;
        for backup in backups {
            let link = self.links.iter_mut().find(|link| link.to == *backup);
            all &= link.is_some_and(|link| match link.acked {
                None => false,
                // It was one before.
                Some(_) if link.required && link.need.is_none() => true,
                Some(acked) => {
                    link.required = true;
                    acked >= *link.need.get_or_insert(number)
                }
            });
        }
        all
    }

    /// Until when all nodes vouch for this one that keep its copies in a view that may be stable;
    /// one whose answer the gate does not wait for is in no such view. A node without backups
    /// cannot be replaced, so it is vouched for without end.
    pub(super) fn vouched_until(&self, mutant: Option<Mutant>) -> Time {
        let required = self.links.iter().filter(|link| link.required).map(|link| link.vouches);
        let until = match mutant {
            Some(Mutant::AnyWord) => required.max(),
            _ => required.min(),
        };
        until.unwrap_or(Time(u64::MAX))
    }

    /// Until when this node has promised to let no view come about that leaves a member out.
    pub(super) fn promised_until(&self, view: &View, promise: Span) -> Time {
        let lost = self.kept.iter().filter(|(member, _)| !view.has(**member));
        lost.map(|(_, kept)| kept.answered + promise).max().unwrap_or(Time(0))
    }

    /// Those that have not acknowledged everything, with the last number that they have.
    pub(super) fn lacking(&self) -> impl Iterator<Item = (NodeId, u64)> {
        let links = self.links.iter().filter(|link| link.acked < Some(self.number));
        links.map(|link| (link.to.node, link.acked.map_or(0, |acked| acked + 1)))
    }

    /// The number with which backups get what is here now.
    pub(super) fn stamp(&self) -> u64 {
        self.number + u64::from(self.dirty)
    }

    /// Has no backup a copy of this one, which is not here?
    pub(super) fn is_rid_of(&self, id: ObjectId) -> bool {
        !self.changed.contains_key(&id) && !self.gone.contains_key(&id)
    }

    /// The number up to which all that must have copies have them.
    pub(super) fn open_to(&self, mutant: Option<Mutant>) -> u64 {
        let required = self.links.iter().filter(|link| link.required);
        let acked = required.map(|link| link.acked.unwrap_or(0));
        let open = if mutant == Some(Mutant::FirstAck) { acked.max() } else { acked.min() };
        open.unwrap_or(u64::MAX)
    }
}

impl FreeRunningNode {
    /// Sends the backups what has changed.
    pub(super) fn flush(&mut self, out: &mut Vec<Output>) {
        let Some(era) = self.era.filter(|_| self.is_running()) else { return };
        if self.keep.dirty {
            self.keep.dirty = false;
            self.keep.number += 1;
            let (now, promise) = (self.now, self.promise());
            self.keep.sent.retain(|&(_, sent)| sent + promise > now);
            self.keep.sent.push((self.keep.number, now));
        }
        let (number, from) = (self.keep.number, self.me);
        let mut messages = Vec::new();
        for Link { to, stream, acked, .. } in &self.keep.links {
            if *acked == Some(number) {
                continue;
            }
            let new = |stamp: &u64| acked.is_none_or(|acked| *stamp > acked);
            let ids = self.keep.changed.iter().filter(|(_, stamp)| new(stamp));
            let records = match acked {
                None => self.ownership.records().cloned().collect(),
                Some(_) => ids.filter_map(|(id, _)| self.ownership.get(*id)).cloned().collect(),
            };
            let gone = self.keep.gone.iter().filter(|(_, stamp)| acked.is_some() && new(stamp));
            let gone = gone.map(|(id, _)| *id).collect();
            let (stream, since) = (*stream, *acked);
            let backup = Backup { era, from, stream, number, since, records, gone };
            messages.push((to.node, FreeRunningMessage::Backup(backup)));
        }
        let least = self.keep.links.iter().map(|link| link.acked.unwrap_or(0)).min();
        self.keep.gone.retain(|_, stamp| least.is_some_and(|least| *stamp > least));
        for (to, message) in messages {
            self.send(to, message, out);
        }
    }

    /// Asks the backups for their promises if nothing has been sent for a while: a node that holds
    /// nothing, or may not send, needs them too. It changes nothing, so it is sent in any case.
    pub(super) fn ask_backups(&mut self, out: &mut Vec<Output>) {
        let last = self.keep.sent.last().map_or(Time(0), |&(_, sent)| sent);
        if self.now - last >= self.tuning.timing.alive {
            self.keep.dirty = true;
            self.flush(out);
        }
    }

    /// How long a backup's word counts since it was given, by its clock. The directory makes a view
    /// without a node when a lease has passed since that one spoke to it, which it does so often:
    /// so a backup whose node died has not to wait longer than the directory.
    pub(super) fn promise(&self) -> Span {
        let Timing { lease, alive, .. } = self.tuning.timing;
        Span(lease.0.saturating_sub(alive.0))
    }

    /// Another node's copies. In a view that has lost a member nothing moves any more.
    pub(super) fn keep_backup(&mut self, backup: Backup, out: &mut Vec<Output>) {
        let Backup { era, from, stream, number, since, records, gone } = backup;
        let change = self.change.as_ref();
        if change.is_some_and(|change| change.lost) || stream > self.seen {
            return;
        }
        let views = self.ground.iter().chain(change.map(|change| &change.view));
        if !views.into_iter().any(|view| view.has(from)) {
            return;
        }
        let known = self.keep.kept.get(&from).map(|kept| (kept.era, kept.stream, kept.number));
        if known.is_none_or(|known| known < (era, stream, number)) {
            let kept = match (since, self.keep.kept.remove(&from)) {
                (None, _) => Some(BTreeMap::new()),
                (Some(since), Some(kept))
                    if (kept.era, kept.stream) == (era, stream) && kept.number >= since =>
                {
                    Some(kept.records)
                }
                (_, other) => {
                    // Something is missing in between.
                    other.into_iter().for_each(|kept| {
                        self.keep.kept.insert(from, kept);
                    });
                    None
                }
            };
            let Some(mut kept) = kept else { return };
            for id in gone {
                kept.remove(&id);
            }
            kept.extend(records.into_iter().map(|record| (record.object.id, record)));
            let answered = self.now;
            self.keep.kept.insert(from, Kept { era, stream, number, records: kept, answered });
        }
        let same = |kept: &&mut Kept| (kept.era, kept.stream) == (era, stream);
        if let Some(kept) = self.keep.kept.get_mut(&from).filter(same) {
            kept.answered = self.now;
            let answer =
                FreeRunningMessage::BackupAck { era, from: self.me, stream, number: kept.number };
            self.send(from.node, answer, out);
        }
    }

    /// A backup has copies.
    pub(super) fn backed_up(
        &mut self,
        from: Member,
        stream: Epoch,
        number: u64,
        out: &mut Vec<Output>,
    ) {
        if number > self.keep.number {
            return;
        }
        let sent = self.keep.sent.iter().find(|(sent, _)| *sent == number);
        let vouches = sent.map_or(Time(0), |&(_, sent)| sent + believed(self.promise()));
        let same = |link: &&mut Link| link.to == from && link.stream == stream;
        if let Some(link) = self.keep.links.iter_mut().find(same) {
            link.acked = link.acked.max(Some(number));
            link.vouches = link.vouches.max(vouches);
        }
        if self.change.as_ref().is_some_and(|change| !change.ready) {
            self.send_ready(out);
        }
    }

    /// Says what may be said now.
    pub(super) fn release(&mut self, out: &mut Vec<Output>) {
        if !self.is_running() {
            return;
        }
        let early = self.mutant == Some(Mutant::AckEarly);
        let open = if early { u64::MAX } else { self.keep.open_to(self.mutant) };
        let mut nudges = false;
        while self.keep.gate.front().is_some_and(|(number, _)| *number <= open) {
            let Some((_, what)) = self.keep.gate.pop_front() else { break };
            match what {
                Gated::FreeRunningMessage(to, message) => self.send(to, message, out),
                Gated::Event(lead, token, event) => {
                    // If it has gone on, then with what it owes.
                    if let Some(record) = self.ownership.held.get_mut(&lead)
                        && record.token == token
                        && record.owed.contains(&event)
                    {
                        record.owed.retain(|owed| *owed != event);
                        self.keep.touch(lead);
                        self.emit(event, out);
                    }
                }
                Gated::Nudge(token, nudge) => {
                    if let Some(record) = self.ownership.held.get_mut(&nudge.lead)
                        && record.token == token
                    {
                        let same = |known: &&mut Nudge| {
                            (known.object, known.episode) == (nudge.object, nudge.episode)
                        };
                        record.nudges.iter_mut().filter(same).for_each(|nudge| {
                            nudge.ready = true;
                            nudges = true;
                        });
                    }
                }
            }
        }
        self.show_kept(open, out);
        if nudges {
            self.nudges_again(false, out);
        }
    }
}
