//! When members come and go.
//!
//! A view that loses no member: all go on as before and have their new backups keep copies too;
//! when all are ready the directory records the view, and only then its regions count. So a node
//! that has just joined holds nothing before the view is stable, and if the view fails nothing has
//! changed.
//!
//! A view that has lost a member: all stop and send the leader every copy that they have. Of each
//! object the one with the largest token, and among these the latest, is granted to the owner of
//! its place, and to that one's backups. A node that has promised a lost member that it may go on
//! waits with that until the promise is over. Nothing of this counts before the view is stable: if
//! it fails, all go on from what they had, or the next view asks for it again.

use super::keep::Keep;
use super::record::{Record, Token};
use super::{FreeRunningMessage, FreeRunningNode, Ghosts, Ownership};
use crate::message::Message;
use crate::mutant::Mutant;
use crate::node::{Address, Output};
use crate::object::{NodeId, ObjectId};
use crate::time::Time;
use crate::view::{Epoch, Member, View};
use std::collections::{BTreeMap, BTreeSet};

/// What a member is granted, and what it keeps for another.
#[derive(Clone, Debug, Default)]
struct Grant {
    yours: Vec<Record>,
    kept: Vec<Record>,
}

/// A view that is not known to be stable.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) view: View,
    /// Is a member of the stable view not in it?
    pub(super) lost: bool,
    /// What will be this member's.
    grant: Option<Grant>,
    pub(super) ready: bool,
    lead: Lead,
}

/// What the leader of the view knows.
#[derive(Clone, Debug, Default)]
struct Lead {
    copies: BTreeMap<NodeId, Vec<Record>>,
    grants: Option<BTreeMap<NodeId, Grant>>,
    ready: BTreeSet<NodeId>,
}

impl FreeRunningNode {
    pub(super) fn new_view(&mut self, view: View, out: &mut Vec<Output>) {
        if view.epoch <= self.seen || !view.has(self.me) {
            return;
        }
        if self.change.as_ref().is_some_and(|change| change.view.epoch == view.base) {
            // It was stable, although this member was not notified.
            self.settle(None);
        }
        let based = self.ground.as_ref().map(|ground| ground.epoch) == Some(view.base);
        if !view.base_ring.contains(&self.me) {
            // It is new here; what it has is of another world.
            let (alive_until, seen) = (self.lease_until, self.seen);
            self.forget();
            (self.lease_until, self.seen) = (alive_until, seen);
        } else if !based {
            return;
        }
        self.seen = view.epoch;
        let lost = view.base_ring.iter().any(|member| !view.has(*member));
        let lead = Lead::default();
        let backups = |view: &View| view.backups_of(self.me.node).collect::<Vec<_>>();
        let stable = self.ground.as_ref().map(backups).unwrap_or_default();
        let next = if lost || self.ground.is_none() { Vec::new() } else { backups(&view) };
        self.keep.link(&stable, &next, view.epoch);
        self.change = Some(Change { view, lost, grant: None, ready: false, lead });
        self.resend_at = self.wait_for_promises(self.resend_at);
        self.change_again(out);
    }

    /// Says again what the new view needs.
    pub(super) fn change_again(&mut self, out: &mut Vec<Output>) {
        let Some(change) = &self.change else { return };
        let (epoch, leader) = (change.view.epoch, change.view.leader());
        let Some(leader) = leader else { return };
        if change.lost && change.grant.is_none() {
            if self.promised() > self.now && self.mutant != Some(Mutant::BreakPromise) {
                return;
            }
            let records = self.copies();
            let copies = FreeRunningMessage::Copies { epoch, from: self.me, records };
            self.send(leader.node, copies, out);
        } else {
            self.send_ready(out);
        }
        self.lead_again(out);
    }

    /// Until when members that the new view has lost may go on by this one's word.
    fn promised(&self) -> Time {
        let change = self.change.as_ref().filter(|change| change.lost);
        let promise = self.promise();
        change.map_or(Time(0), |change| self.keep.promised_until(&change.view, promise))
    }

    /// When that is over, if it is before this; copies are sent then.
    pub(super) fn wait_for_promises(&self, otherwise: Time) -> Time {
        let promised = self.promised();
        if promised > self.now { promised.min(otherwise) } else { otherwise }
    }

    /// Every copy that this member has: its own, and those that it kept for the lost.
    fn copies(&self) -> Vec<Record> {
        let Some(change) = &self.change else { return Vec::new() };
        let mut records: Vec<Record> = self.ownership.records().cloned().collect();
        if self.mutant != Some(Mutant::NoBackup) {
            let lost = self.keep.kept.iter().filter(|(member, _)| !change.view.has(**member));
            records.extend(lost.flat_map(|(_, kept)| kept.records.values().cloned()));
        }
        records
    }

    /// Reports to the leader, if it is so, that as far as this member is concerned the view may
    /// hold.
    pub(super) fn send_ready(&mut self, out: &mut Vec<Output>) {
        let Some(change) = &mut self.change else { return };
        let backups: Vec<Member> = change.view.backups_of(self.me.node).collect();
        // One who does not know the era has nothing yet.
        let ready = match (change.lost, self.era) {
            (true, _) => change.grant.is_some(),
            (false, None) => true,
            (false, Some(_)) => self.keep.is_kept_by(&backups),
        };
        change.ready |= ready;
        if let (true, Some(leader)) = (change.ready, change.view.leader()) {
            let message = FreeRunningMessage::Ready { epoch: change.view.epoch, from: self.me };
            self.send(leader.node, message, out);
        }
    }

    pub(super) fn granted(
        &mut self,
        epoch: Epoch,
        yours: Vec<Record>,
        kept: Vec<Record>,
        out: &mut Vec<Output>,
    ) {
        let Some(change) = &mut self.change else { return };
        if change.view.epoch == epoch && change.lost && change.grant.is_none() {
            change.grant = Some(Grant { yours, kept });
            self.send_ready(out);
        }
    }

    /// The leader says that the view is stable.
    pub(super) fn settled(&mut self, epoch: Epoch, era: Epoch, out: &mut Vec<Output>) {
        let of_this = |change: &Change| change.view.epoch == epoch && change.ready;
        if self.change.as_ref().is_some_and(of_this) {
            self.settle(Some(era));
            self.flush(out);
        }
    }

    /// The newest view is stable: what it says counts.
    fn settle(&mut self, era: Option<Epoch>) {
        let Some(Change { view, lost, grant, .. }) = self.change.take() else { return };
        self.turns += 1;
        if let (true, Some(Grant { yours, kept })) = (lost, grant) {
            let era = view.epoch;
            self.keep = Keep::begin(&view, self.me, era, kept);
            self.ownership = Ownership::default();
            self.ghosts = Ghosts::default();
            self.nudges.clear();
            for record in yours {
                self.adopt(record);
            }
            self.era = Some(era);
        } else {
            self.era = self.era.or(era);
            let me = self.me.node;
            let mine = |member: &Member| view.has(*member) && view.is_backup(me, member.node);
            self.keep.kept.retain(|member, _| mine(member));
            self.keep.link_only(&view.backups_of(me).collect::<Vec<_>>(), view.epoch);
        }
        self.ground = Some(view);
    }

    pub(super) fn lead_copies(
        &mut self,
        epoch: Epoch,
        from: Member,
        records: Vec<Record>,
        out: &mut Vec<Output>,
    ) {
        let Some(change) = self.leading(epoch) else { return };
        if !change.lost || !change.view.has(from) {
            return;
        }
        let Change { view, lead, .. } = change;
        lead.copies.entry(from.node).or_insert(records);
        let mut fresh = false;
        if lead.grants.is_none() && view.nodes().all(|node| lead.copies.contains_key(&node)) {
            let copies = std::mem::take(&mut lead.copies).into_values().flatten();
            lead.grants = Some(grants(view, copies));
            fresh = true;
        }
        let Some(grants) = &lead.grants else { return };
        let mut messages = Vec::new();
        // A message that arrives twice means that the answer was lost, so it is answered again.
        for (&to, grant) in grants.iter().filter(|(to, _)| fresh || **to == from.node) {
            let Grant { yours, kept } = grant.clone();
            messages.push((to, FreeRunningMessage::Grants { epoch, yours, kept }));
        }
        for (to, message) in messages {
            self.send(to, message, out);
        }
    }

    /// The change to this view, if it is under way and this member leads.
    fn leading(&mut self, epoch: Epoch) -> Option<&mut Change> {
        let me = self.me;
        let leads =
            |change: &&mut Change| change.view.epoch == epoch && change.view.leader() == Some(me);
        self.change.as_mut().filter(leads)
    }

    pub(super) fn lead_ready(&mut self, epoch: Epoch, from: Member, out: &mut Vec<Output>) {
        if let Some(change) = self.leading(epoch) {
            if change.view.has(from) {
                change.lead.ready.insert(from.node);
                self.lead_again(out);
            }
            return;
        }
        // It is stable, and that one has not heard.
        if let (Some(ground), Some(era)) = (&self.ground, self.era)
            && ground.epoch == epoch
            && ground.leader() == Some(self.me)
        {
            self.send(from.node, FreeRunningMessage::Settled { epoch, era }, out);
        }
    }

    /// Members that the leader of a new view has not heard what it needs from.
    pub(super) fn change_lacks(&self) -> Vec<NodeId> {
        let Some(change) = &self.change else { return Vec::new() };
        let lead = &change.lead;
        let copies = change.lost && lead.grants.is_none();
        let has = |node: &NodeId| match copies {
            true => lead.copies.contains_key(node),
            false => lead.ready.contains(node),
        };
        change.view.nodes().filter(|node| !has(node)).collect()
    }

    fn lead_again(&mut self, out: &mut Vec<Output>) {
        let from = self.me;
        let Some(change) = &self.change else { return };
        let all = change.view.nodes().all(|node| change.lead.ready.contains(&node));
        if change.view.leader() == Some(from) && all {
            let stable = Message::Stable { epoch: change.view.epoch, from };
            out.push(Output::Send(Address::Directory, stable));
        }
    }

    /// The directory has recorded the view.
    pub(super) fn lead_stable(&mut self, epoch: Epoch, out: &mut Vec<Output>) {
        let Some(change) = self.leading(epoch) else { return };
        if !change.ready {
            return;
        }
        self.settle(None);
        let (Some(view), Some(era)) = (&self.ground, self.era) else { return };
        let others: Vec<NodeId> = view.nodes().filter(|node| *node != self.me.node).collect();
        for node in others {
            self.send(node, FreeRunningMessage::Settled { epoch, era }, out);
        }
        self.flush(out);
    }
}

/// Who gets what: of each object the copy with the largest token, and among these the latest.
fn grants(view: &View, copies: impl Iterator<Item = Record>) -> BTreeMap<NodeId, Grant> {
    let mut best: BTreeMap<ObjectId, Record> = BTreeMap::new();
    for record in copies {
        let id = record.object.id;
        if best.get(&id).is_none_or(|known| known.age() < record.age()) {
            best.insert(id, record);
        }
    }
    let mut grants: BTreeMap<NodeId, Grant> =
        view.nodes().map(|node| (node, Grant::default())).collect();
    // No node has anything else when the new era begins: what is over need not be remembered.
    let over: BTreeSet<ObjectId> =
        best.values().filter(|record| record.is_settled()).map(|record| record.object.id).collect();
    for mut record in best.into_values().filter(|record| !over.contains(&record.object.id)) {
        record.nudges.retain(|nudge| !over.contains(&nudge.object));
        let record = Record { token: Token { era: view.epoch, hop: 0 }, ..record };
        let owner = view.owner(record.object.state.position);
        for backup in view.backups_of(owner) {
            if let Some(grant) = grants.get_mut(&backup.node) {
                grant.kept.push(record.clone());
            }
        }
        if let Some(grant) = grants.get_mut(&owner) {
            grant.yours.push(record);
        }
    }
    grants
}
