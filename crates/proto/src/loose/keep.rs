//! Copies at the buddy, and what waits for them.
//!
//! A node numbers what it tells its buddy. Each message holds everything that changed since the
//! last number that was answered, so any of them may be lost. What cannot be taken back waits at
//! the gate until the number is answered that has what it follows from: so whoever comes after
//! this node knows about it.
//!
//! An answer is also a promise. No view can leave a node out without the copies that its buddy has,
//! and the buddy holds them back until what it has promised is over: so a node that the directory
//! does not answer goes on by its buddy's word.

use super::record::{Event, Nudge, Record, Token};
use super::{Backup, Letter, LooseNode, believed};
use crate::mutant::Mutant;
use crate::node::{Output, Timing};
use crate::object::{NodeId, ObjectId};
use crate::time::{Span, Time};
use crate::view::{Epoch, Member, View};
use std::collections::{BTreeMap, VecDeque};

/// A node with so much to say that nobody answers makes no more ticks.
pub(super) const GATE_MAX: usize = 1 << 14;

/// What waits for the buddy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gated {
    /// To be published, for the object that decided and under its token: one that went away and
    /// came back has brought with it what it still owes, in the right order.
    Event(ObjectId, Token, Event),
    /// To be told to the other object's holder.
    Nudge(Token, Nudge),
    /// An answer.
    Letter(NodeId, Letter),
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
    /// Until when it lets no view without this node come about, by this node's clock.
    vouches: Time,
}

impl Link {
    /// One who has nothing yet.
    fn new(to: Member, stream: Epoch) -> Link {
        Link { to, stream, acked: None, required: false, vouches: Time(0) }
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
    /// The last number that was told.
    number: u64,
    /// Something has changed since.
    dirty: bool,
    /// When numbers were first told, as long as an answer to them is worth something.
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
    /// The beginning of an era: the buddy has everything already.
    pub(super) fn begin(view: &View, me: Member, era: Epoch, kept: Vec<Record>) -> Keep {
        let mut keep = Keep::default();
        let buddy = buddy_of(view, me.node);
        let link = |to| Link { acked: Some(0), required: true, ..Link::new(to, era) };
        keep.links.extend(buddy.map(link));
        if let Some(before) = view.ring.iter().find(|m| view.buddy(m.node) == Some(me.node)) {
            let records = kept.into_iter().map(|record| (record.object.id, record)).collect();
            let answered = Time(0);
            keep.kept.insert(*before, Kept { era, stream: era, number: 0, records, answered });
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

    /// Lets something wait until the buddy has all that is here now.
    pub(super) fn gate(&mut self, what: Gated) {
        let number = self.number + u64::from(self.dirty);
        let waits = |(_, other): &(u64, Gated)| matches!(what, Gated::Letter(..)) && *other == what;
        if self.gate.len() < 2 * GATE_MAX && !self.gate.iter().any(waits) {
            self.gate.push_back((number, what));
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.gate.len() >= GATE_MAX
    }

    /// Whom copies go to: the buddy of the stable view, whom the gate waits for; and, so that a
    /// newer view can become stable, the buddy of that one. That one begins with nothing.
    pub(super) fn link(&mut self, ground: Option<Member>, next: Option<Member>, stream: Epoch) {
        let known = |to: Member| self.links.iter().find(|link| link.to == to).copied();
        let fresh = |to| Link::new(to, stream);
        let mut links = Vec::new();
        if let Some(to) = ground {
            links.push(Link { required: true, ..known(to).unwrap_or(fresh(to)) });
        }
        if let Some(to) = next.filter(|next| ground != Some(*next)) {
            links.push(fresh(to));
        }
        self.links = links;
    }

    /// A view holds: only its buddy counts.
    pub(super) fn link_only(&mut self, buddy: Option<Member>, stream: Epoch) {
        self.links.retain(|link| Some(link.to) == buddy);
        if let (true, Some(to)) = (self.links.is_empty(), buddy) {
            self.links.push(Link::new(to, stream));
        }
        self.links.iter_mut().for_each(|link| link.required = true);
    }

    /// May a view hold in which this one is the buddy? Only if it has all that the outside has
    /// seen; from the moment it has anything the gate waits for it too.
    pub(super) fn is_kept_by(&mut self, buddy: Member, need: &mut Option<u64>) -> bool {
        let number = self.number + u64::from(self.dirty);
        let Some(link) = self.links.iter_mut().find(|link| link.to == buddy) else { return false };
        let Some(acked) = link.acked else { return false };
        if link.required && need.is_none() {
            // It was the buddy before.
            return true;
        }
        link.required = true;
        acked >= *need.get_or_insert(number)
    }

    /// Until when those vouch for this node who keep its copies in a view that may be stable; one
    /// whose answer the gate does not wait for is in no such view. Nobody can do without a node
    /// that is alone, so there it is for ever.
    pub(super) fn vouched_until(&self) -> Time {
        let required = self.links.iter().filter(|link| link.required);
        required.map(|link| link.vouches).min().unwrap_or(Time(u64::MAX))
    }

    /// Until when this node has promised to let no view come about that leaves somebody out.
    pub(super) fn promised_until(&self, view: &View, promise: Span) -> Time {
        let lost = self.kept.iter().filter(|(member, _)| !view.has(**member));
        lost.map(|(_, kept)| kept.answered + promise).max().unwrap_or(Time(0))
    }

    /// Those that have not acknowledged everything, with the last number that they have.
    pub(super) fn lacking(&self) -> impl Iterator<Item = (NodeId, u64)> {
        let links = self.links.iter().filter(|link| link.acked < Some(self.number));
        links.map(|link| (link.to.node, link.acked.map_or(0, |acked| acked + 1)))
    }

    /// The number with which buddies get what is here now.
    pub(super) fn stamp(&self) -> u64 {
        self.number + u64::from(self.dirty)
    }

    /// Has no buddy a copy of this one, which is not here?
    pub(super) fn is_rid_of(&self, id: ObjectId) -> bool {
        !self.changed.contains_key(&id) && !self.gone.contains_key(&id)
    }

    /// The number up to which everybody who must have copies has them.
    pub(super) fn open_to(&self) -> u64 {
        let required = self.links.iter().filter(|link| link.required);
        required.map(|link| link.acked.unwrap_or(0)).min().unwrap_or(u64::MAX)
    }
}

/// Who keeps copies for a node, in its life.
pub(super) fn buddy_of(view: &View, node: NodeId) -> Option<Member> {
    let buddy = view.buddy(node)?;
    view.ring.iter().find(|member| member.node == buddy).copied()
}

impl LooseNode {
    /// Tells the buddies what has changed.
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
        let mut letters = Vec::new();
        for Link { to, stream, acked, .. } in &self.keep.links {
            if *acked == Some(number) {
                continue;
            }
            let new = |stamp: &u64| acked.is_none_or(|acked| *stamp > acked);
            let ids = self.keep.changed.iter().filter(|(_, stamp)| new(stamp));
            let records = match acked {
                None => self.hands.records().cloned().collect(),
                Some(_) => ids.filter_map(|(id, _)| self.hands.get(*id)).cloned().collect(),
            };
            let gone = self.keep.gone.iter().filter(|(_, stamp)| acked.is_some() && new(stamp));
            let gone = gone.map(|(id, _)| *id).collect();
            let (stream, since) = (*stream, *acked);
            let backup = Backup { era, from, stream, number, since, records, gone };
            letters.push((to.node, Letter::Backup(backup)));
        }
        let least = self.keep.links.iter().map(|link| link.acked.unwrap_or(0)).min();
        self.keep.gone.retain(|_, stamp| least.is_some_and(|least| *stamp > least));
        for (to, letter) in letters {
            self.send(to, letter, out);
        }
    }

    /// Asks the buddies for their word if nothing has been told for a while: one who holds nothing,
    /// or may not speak, needs it too. It changes nothing, so it is said in any case.
    pub(super) fn ask_buddies(&mut self, out: &mut Vec<Output>) {
        let last = self.keep.sent.last().map_or(Time(0), |&(_, sent)| sent);
        if self.now - last >= self.tuning.timing.alive {
            self.keep.dirty = true;
            self.flush(out);
        }
    }

    /// How long a buddy's word counts since it was given, by its clock. The directory makes a view
    /// without a node when a lease has passed since that one spoke to it, which it does so often:
    /// so a buddy whose node died has not to wait longer than the directory.
    pub(super) fn promise(&self) -> Span {
        let Timing { lease, alive, .. } = self.tuning.timing;
        Span(lease.0.saturating_sub(alive.0))
    }

    /// Another node's copies. In a view that has lost somebody nothing moves any more.
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
            let answer = Letter::BackupAck { era, from: self.me, stream, number: kept.number };
            self.send(from.node, answer, out);
        }
    }

    /// A buddy has copies.
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
        let told = self.keep.sent.iter().find(|(told, _)| *told == number);
        let vouches = told.map_or(Time(0), |&(_, sent)| sent + believed(self.promise()));
        let same = |link: &&mut Link| link.to == from && link.stream == stream;
        if let Some(link) = self.keep.links.iter_mut().find(same) {
            link.acked = link.acked.max(Some(number));
            link.vouches = link.vouches.max(vouches);
        }
        if self.change.as_ref().is_some_and(|change| !change.ready) {
            self.tell_ready(out);
        }
    }

    /// Says what may be said now.
    pub(super) fn release(&mut self, out: &mut Vec<Output>) {
        if !self.is_running() {
            return;
        }
        let early = self.mutant == Some(Mutant::SayEarly);
        let open = if early { u64::MAX } else { self.keep.open_to() };
        let mut nudges = false;
        while self.keep.gate.front().is_some_and(|(number, _)| *number <= open) {
            let Some((_, what)) = self.keep.gate.pop_front() else { break };
            match what {
                Gated::Letter(to, letter) => self.send(to, letter, out),
                Gated::Event(lead, token, event) => {
                    // If it has gone on, then with what it owes.
                    if let Some(record) = self.hands.held.get_mut(&lead)
                        && record.token == token
                        && record.owed.contains(&event)
                    {
                        record.owed.retain(|owed| *owed != event);
                        self.keep.touch(lead);
                        self.say(event, out);
                    }
                }
                Gated::Nudge(token, nudge) => {
                    if let Some(record) = self.hands.held.get_mut(&nudge.lead)
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
