//! Judges that see only what machines tell the outside and each other.

mod loose;
mod one_machine;
mod one_owner;
mod sometimes;
mod views;

use crate::world::{Matter, Start};
use jostle_proto::{
    Address, Commit, Event, LooseNode, Message, NodeId, Object, Shapes, Time, Tuning, View,
};
use loose::{Loose, Notes};
use one_machine::OneMachine;
use one_owner::OneOwner;
pub use sometimes::Sometimes;
use sometimes::Watch;
use views::Views;

/// What went against a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which rule, by its number in the invariants.
    pub rule: &'static str,
    /// What happened.
    pub what: String,
    /// When.
    pub time: Time,
}

/// The rules that are judged here, by their numbers in the list of invariants, each in a few words.
pub const RULES: [(&str, &str); 19] = [
    ("A1", "whoever has an older token of an object is silent about it"),
    ("A2", "an object has one owner in a tick"),
    ("A3", "an object that is handed over is with one holder, or on its way"),
    ("A4", "a token is given once, and never a smaller one"),
    ("A5", "no object is lost"),
    ("A6", "an object is held where it is"),
    ("A7", "whose lease is over is silent"),
    ("C1", "what is published is what one machine would have found"),
    ("C2", "a pair is reported by one node"),
    ("C3", "ticks are published without gaps, and never in other words"),
    ("C4", "contacts begin and end once, and are felt once"),
    ("C5", "contacts are missed by no more than news takes to come"),
    ("E1", "views are made from older ones"),
    ("E2", "a view has one leader, a tick one result"),
    ("E3", "whoever is left out has a buddy who is not"),
    ("E4", "every region has an owner who is a member"),
    ("S1", "copies of an object are the same"),
    ("L1", "when nothing fails any more the world goes on"),
    ("L2", "and everything that is on its way arrives"),
];

/// What the judges say about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The first things that went wrong; none if nothing did.
    pub violations: Vec<Violation>,
}

/// All judges.
pub(crate) struct Referees {
    one_machine: OneMachine,
    one_owner: OneOwner,
    views: Views,
    watch: Watch,
    /// In an unsynchronised group.
    loose: Option<Loose>,
    violations: Vec<Violation>,
}

impl Referees {
    pub(crate) fn new(objects: &[Object], shapes: &Shapes, rate: u32) -> Referees {
        Referees {
            one_machine: OneMachine::new(objects, shapes, rate),
            one_owner: OneOwner::new(objects),
            views: Views::default(),
            watch: Watch::default(),
            loose: None,
            violations: Vec::new(),
        }
    }

    /// A machine has sent something.
    pub(crate) fn sent(&mut self, now: Time, from: Address, to: Address, message: &Message) {
        let mut said = Vec::new();
        self.one_owner.sent(to, message, &mut said);
        self.views.sent(from, message, &mut said);
        self.watch.sent(to, message);
        if let Some(loose) = &mut self.loose {
            let sometimes = &mut self.watch.sometimes;
            loose.sent(now, from, to, message, &mut Notes { said: &mut said, sometimes });
        }
        self.note(now, said);
    }

    /// A tick was published.
    pub(crate) fn published(&mut self, now: Time, commit: &Commit) {
        let mut said = Vec::new();
        self.one_machine.published(commit, &mut said);
        self.note(now, said);
    }

    /// Something is against a rule.
    pub(crate) fn note(&mut self, time: Time, said: Vec<(&'static str, String)>) {
        let fresh = said.into_iter().map(|(rule, what)| Violation { rule, what, time });
        self.violations.extend(fresh);
    }

    /// A node has died; `leads` if it led.
    pub(crate) fn crashed(&mut self, leads: bool) {
        self.watch.sometimes.leader_crashes += u64::from(leads);
    }

    /// From now on an unsynchronised group is judged, in which letters take at most `news`
    /// microseconds unless it is said that one is late.
    pub(crate) fn judge_loose(&mut self, start: &Start, tuning: Tuning, news: u64, matter: Matter) {
        self.loose = Some(Loose::new(start, tuning, news, matter));
    }

    /// The directory promises leases by a clock that is off by so many parts of a million.
    pub(crate) fn directory_drifts(&mut self, drift: i64) {
        self.loose.iter_mut().for_each(|loose| loose.directory_drifts(drift));
    }

    /// A node after something has happened to it. `view` is the newest, if it is stable.
    pub(crate) fn loose_saw(
        &mut self,
        now: Time,
        node: &LooseNode,
        suspended: bool,
        view: Option<&View>,
    ) {
        let mut said = Vec::new();
        if let Some(loose) = &mut self.loose {
            let sometimes = &mut self.watch.sometimes;
            let mut notes = Notes { said: &mut said, sometimes };
            loose.saw(now, node, suspended, view, &mut notes);
        }
        self.note(now, said);
    }

    /// A contact was published.
    pub(crate) fn loose_happened(&mut self, now: Time, from: Address, event: Event) {
        let mut said = Vec::new();
        if let (Some(loose), Address::Node(node)) = (&mut self.loose, from) {
            loose.happened(now, node, event, &mut said);
        }
        self.note(now, said);
    }

    /// A message is lost, or comes at this moment, which is too late.
    pub(crate) fn late(&mut self, now: Time, from: Address, to: Address, until: Time) {
        if let Some(loose) = &mut self.loose {
            [from, to].into_iter().for_each(|who| loose.disturbed(who, until.max(now)));
        }
    }

    /// A machine does nothing until then.
    pub(crate) fn disturbed(&mut self, who: Address, until: Time) {
        self.loose.iter_mut().for_each(|loose| loose.disturbed(who, until));
    }

    /// A node has died.
    pub(crate) fn loose_gone(&mut self, node: NodeId) {
        let sometimes = &mut self.watch.sometimes;
        self.loose.iter_mut().for_each(|loose| loose.gone(node, sometimes));
    }

    /// A millisecond has passed.
    pub(crate) fn loose_look(&mut self, now: Time) {
        let mut said = Vec::new();
        self.loose.iter_mut().for_each(|loose| loose.look(now, &mut said));
        self.note(now, said);
    }

    /// Nothing has failed for long: what is on its way now must have arrived in the end.
    pub(crate) fn loose_mark(&mut self) {
        self.loose.iter_mut().for_each(Loose::mark);
    }

    /// The end, in this view.
    pub(crate) fn loose_end(&mut self, now: Time, view: &View) {
        let mut said = Vec::new();
        self.loose.iter_mut().for_each(|loose| loose.end(view, &mut said));
        self.note(now, said);
    }

    pub(crate) fn sometimes(&self) -> Sometimes {
        let contacts_judged = self.loose.as_ref().map_or(0, Loose::judged);
        Sometimes { contacts_judged, ..self.watch.sometimes }
    }

    pub(crate) fn failed(&self) -> bool {
        !self.violations.is_empty()
    }

    pub(crate) fn published_ticks(&self) -> u64 {
        self.loose.as_ref().map_or(self.one_machine.ticks(), Loose::ticks)
    }

    pub(crate) fn collisions(&self) -> u64 {
        self.loose.as_ref().map_or(self.one_machine.collisions(), Loose::contacts)
    }

    pub(crate) fn verdict(self) -> Verdict {
        Verdict { violations: self.violations }
    }
}
