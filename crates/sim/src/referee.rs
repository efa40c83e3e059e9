//! Judges that see only what machines tell the outside and each other.

mod frames;
mod one_machine;
mod one_owner;
mod pace;
mod sometimes;
mod views;

use frames::Frames;
use jostle_proto::{Address, Commit, Message, Object, Shapes, Time};
use one_machine::OneMachine;
use one_owner::OneOwner;
use pace::Pace;
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
pub const RULES: &[(&str, &str)] = &[
    ("A2", "an object has one owner in a tick"),
    ("A5", "no object is lost"),
    ("C1", "what is published is what one machine would have found"),
    ("C2", "a pair is reported by one node"),
    ("C3", "ticks are published without gaps, and never in other words"),
    ("E1", "views are made from older ones"),
    ("E2", "a view has one leader, a tick one result"),
    ("E3", "whoever is left out has a buddy who is not"),
    ("E4", "every region has an owner who is a member"),
    ("R1", "a bundle costs at most 8 bytes for an object that was told before"),
    ("R2", "a damaged frame changes nothing"),
    ("S1", "copies of an object are the same"),
    ("R3", "a group that is slow says so"),
    ("S2", "what comes out of a link is what was put in"),
    ("L1", "when nothing fails any more the world goes on"),
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
    pace: Pace,
    frames: Frames,
    watch: Watch,
    violations: Vec<Violation>,
}

impl Referees {
    pub(crate) fn new(objects: &[Object], shapes: &Shapes, rate: u32) -> Referees {
        Referees {
            one_machine: OneMachine::new(objects, shapes, rate),
            one_owner: OneOwner::new(objects),
            views: Views::default(),
            pace: Pace::new(rate),
            frames: Frames::default(),
            watch: Watch::default(),
            violations: Vec::new(),
        }
    }

    /// A machine has sent something.
    pub(crate) fn sent(&mut self, now: Time, from: Address, to: Address, message: &Message) {
        let mut said = Vec::new();
        self.one_owner.sent(to, message, &mut said);
        self.views.sent(from, message, &mut said);
        self.watch.sent(to, message);
        self.note(now, said);
    }

    /// A message was made into so many bytes.
    pub(crate) fn packed(&mut self, now: Time, link: (Address, Address), what: (&Message, usize)) {
        let (message, bytes) = what;
        let mut said = Vec::new();
        self.frames.packed(link, message, bytes, &mut said);
        self.note(now, said);
    }

    /// A tick was published.
    pub(crate) fn published(&mut self, now: Time, commit: &Commit) {
        let mut said = Vec::new();
        self.one_machine.published(commit, &mut said);
        self.pace.published(now, commit, &mut said);
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

    pub(crate) fn sometimes(&self) -> Sometimes {
        Sometimes { slowed: self.pace.slowed, ..self.watch.sometimes }
    }

    pub(crate) fn failed(&self) -> bool {
        !self.violations.is_empty()
    }

    pub(crate) fn published_ticks(&self) -> u64 {
        self.one_machine.ticks()
    }

    pub(crate) fn collisions(&self) -> u64 {
        self.one_machine.collisions()
    }

    pub(crate) fn verdict(self) -> Verdict {
        Verdict { violations: self.violations }
    }
}
