//! Checkers of a free-running group. They see messages and what is published, and may ask every
//! node after every event what it holds.

mod contacts;
mod drained;
mod episodes;
mod exact;
mod leases;
mod one_holder;
mod orphans;
mod people;
mod places;
mod sight;

use super::{House, Sometimes};
use crate::world::Start;
use contacts::Contacts;
use drained::Drained;
use episodes::Episodes;
use exact::Exact;
use jostle_proto::{
    Address, Certainty, Edge, Event, FreeRunningMessage, FreeRunningNode, Message, NodeId, Object,
    ObjectId, State, Time, Tuning, View,
};
use leases::Leases;
use one_holder::OneHolder;
use orphans::Orphans;
pub(super) use people::News;
use people::People;
use sight::Sight;

/// What was said against rules.
type Violations = Vec<(&'static str, String)>;

/// Where judges write down what they see.
pub(super) struct Notes<'a> {
    pub(super) violations: &'a mut Violations,
    pub(super) sometimes: &'a mut Sometimes,
}

pub(super) struct FreeRunning {
    tuning: Tuning,
    sight: Sight,
    one_holder: OneHolder,
    orphans: Orphans,
    leases: Leases,
    episodes: Episodes,
    contacts: Contacts,
    exact: Exact,
    drained: Drained,
    people: People,
    begun: u64,
    assumed: u64,
    /// The newest view some time before the end.
    marked: Option<View>,
}

impl FreeRunning {
    pub(super) fn new(
        start: &Start,
        tuning: Tuning,
        news: u64,
        house: Option<House>,
    ) -> FreeRunning {
        let still = |object: &&Object| object.class == jostle_proto::Class::Immovable;
        let moving = start.objects.iter().filter(|object| !still(object)).map(|object| object.id);
        FreeRunning {
            tuning,
            sight: Sight::default(),
            one_holder: OneHolder::default(),
            orphans: Orphans::new(moving),
            leases: Leases::new(tuning.timing),
            episodes: Episodes::default(),
            contacts: Contacts::new(start, tuning, news),
            exact: Exact::new(start, tuning),
            drained: Drained::default(),
            people: People::new(house),
            begun: 0,
            assumed: 0,
            marked: None,
        }
    }

    pub(super) fn directory_drifts(&mut self, drift: i64) {
        self.leases.directory_drifts(drift);
    }

    /// Ticks of all nodes together.
    pub(super) fn ticks(&self) -> u64 {
        self.sight.ticks()
    }

    /// Contacts that were published.
    pub(super) fn contacts(&self) -> u64 {
        self.begun
    }

    /// Of those, contacts that were not said to be exact.
    pub(super) fn assumed(&self) -> u64 {
        self.assumed
    }

    /// Pairs that were judged for being missed.
    pub(super) fn judged(&self) -> u64 {
        self.contacts.judged
    }

    pub(super) fn sent(
        &mut self,
        now: Time,
        from: Address,
        to: Address,
        message: &Message,
        notes: &mut Notes<'_>,
    ) {
        self.leases.sent(now, from, to, message, notes);
        self.people.sent(to, message, notes.sometimes);
        match message {
            Message::View(view) => self.contacts.changed(now, view.epoch),
            Message::FreeRunning(FreeRunningMessage::Settled { epoch, .. }) => {
                self.contacts.settled(now, *epoch)
            }
            _ => {}
        }
        let (Message::FreeRunning(message), Address::Node(node)) = (message, from) else { return };
        self.one_holder.sent(node, message, notes.violations);
        self.episodes.sent(message, notes.violations);
        if let FreeRunningMessage::Transfer { .. } = message {
            notes.sometimes.transfers += 1;
            notes.sometimes.handed_in_change += u64::from(!self.orphans.is_settled());
        }
    }

    pub(super) fn saw(
        &mut self,
        now: Time,
        node: &FreeRunningNode,
        suspended: bool,
        view: Option<&View>,
        notes: &mut Notes<'_>,
    ) -> Vec<News> {
        let id = node.member().node;
        if suspended || !node.is_running() {
            self.contacts.disturbed(id, now);
        }
        notes.sometimes.lease_ran_out += u64::from(self.sight.suspend(id, suspended));
        let Some(change) = self.sight.update(node) else { return Vec::new() };
        if self.leases.is_by_word(now, id) {
            notes.sometimes.ticks_by_word += change.ticks;
        }
        self.one_holder.saw(node, &change, &self.sight, notes);
        self.orphans.saw(view, self.people.there(), &self.sight, notes.violations);
        self.contacts.saw(now, node, &self.sight);
        self.exact.saw(node, notes.violations);
        self.people.saw(now, node, &change, &self.sight, notes.violations)
    }

    /// Where an avatar truly is, with its holder or on its way; none if it is not in the world.
    pub(super) fn state(&self, id: ObjectId) -> Option<State> {
        let newest = self.sight.copies(id).max_by_key(|(_, _, record)| record.token);
        // A member that stands still may have one of an older era for long.
        let there = newest.filter(|(_, _, record)| !record.over && !self.people.is_buried(id));
        there.map(|(_, _, record)| record.object.state)
    }

    pub(super) fn on_event(
        &mut self,
        now: Time,
        from: NodeId,
        event: Event,
        notes: &mut Notes<'_>,
    ) {
        self.leases.spoke(now, from, notes.violations);
        let fresh = self.episodes.on_event(&event, notes.violations);
        let by_word = fresh && self.leases.is_by_word(now, from);
        notes.sometimes.contacts_by_word += u64::from(by_word);
        self.begun += u64::from(fresh && event.edge == Edge::Begin);
        self.assumed += u64::from(fresh && event.certainty == Certainty::Assumed);
        if fresh {
            self.contacts.on_event(now, from, &event);
        }
    }

    pub(super) fn disturbed(&mut self, who: Address, until: Time) {
        if let Address::Node(node) = who {
            self.contacts.disturbed(node, until);
        }
    }

    pub(super) fn gone(&mut self, node: NodeId, sometimes: &mut Sometimes) {
        sometimes.crash_with_escrow += u64::from(self.sight.has_escrow(node));
        self.contacts.died();
        self.one_holder.gone(node, &self.sight);
        self.people.gone(node, &self.sight);
        self.sight.gone(node);
    }

    pub(super) fn look(&mut self, now: Time, violations: &mut Violations) {
        self.contacts.look(now, &self.episodes, &self.sight, violations);
    }

    pub(super) fn mark(&mut self, view: Option<&View>) {
        self.drained.mark(&self.sight);
        self.marked = view.cloned();
    }

    pub(super) fn end(&mut self, view: &View, violations: &mut Violations) {
        self.orphans.end(self.people.there(), &self.sight, violations);
        self.drained.end(&self.sight, violations);
        self.episodes.end(&self.sight, violations);
        let views: Vec<&View> = self.marked.iter().chain([view]).collect();
        places::judge(&views, &self.sight, &self.tuning, violations);
    }
}
