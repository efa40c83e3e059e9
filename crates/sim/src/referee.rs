//! Judges that see only what machines tell the outside and each other.

mod clients;
mod clients_view;
mod one_machine;
mod one_owner;
mod sometimes;
mod views;

use clients::Clients;
pub(crate) use clients::House;
use clients_view::ClientsView;
use jostle_proto::{Address, Client, Commit, Message, Object, Objects, Shapes, Time};
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
pub const RULES: [(&str, &str); 17] = [
    ("A2", "an object has one owner in a tick"),
    ("A5", "no object is lost"),
    ("C1", "what is published is what one machine would have found"),
    ("C2", "a pair is reported by one node"),
    ("C3", "ticks are published without gaps, and never in other words"),
    ("E1", "views are made from older ones"),
    ("E2", "a view has one leader, a tick one result"),
    ("E3", "whoever is left out has a buddy who is not"),
    ("E4", "every region has an owner who is a member"),
    ("S1", "copies of an object are the same"),
    ("C4", "contacts told to a client begin and end by turns"),
    ("S2", "what a client has decoded is the world, told against what it holds"),
    ("S3", "wants are followed once and in order, and nobody goes too fast"),
    ("R1", "nobody's hands are fuller than allowed"),
    ("R2", "an avatar moves only by its own client"),
    ("L4'", "clients come back to their avatars, and predict what is"),
    ("L1", "when nothing fails any more the world goes on"),
];

/// What is against the rules: which, and what happened.
type Said = Vec<(&'static str, String)>;

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
    clients: Clients,
    clients_view: ClientsView,
    house: Option<House>,
    violations: Vec<Violation>,
}

impl Referees {
    pub(crate) fn new(
        objects: &[Object],
        shapes: &Shapes,
        rate: u32,
        house: Option<House>,
    ) -> Referees {
        Referees {
            one_machine: OneMachine::new(objects, shapes, rate),
            one_owner: OneOwner::default(),
            views: Views::default(),
            watch: Watch::default(),
            clients: Clients::new(house),
            clients_view: ClientsView::default(),
            house,
            violations: Vec::new(),
        }
    }

    /// A machine has sent something.
    pub(crate) fn sent(&mut self, now: Time, from: Address, to: Address, message: &Message) {
        let mut said = Vec::new();
        let world = self.one_machine.objects();
        self.one_owner.sent(to, message, world, &mut said);
        self.clients.sent(from, to, message, world, &mut said);
        self.clients_view.sent(from, to, message, &mut said);
        self.views.sent(from, message, &mut said);
        self.watch.sent(to, message);
        self.watch.letter(from, to, message);
        self.note(now, said);
    }

    /// A tick was published.
    pub(crate) fn published(&mut self, now: Time, commit: &Commit) {
        let mut said = Vec::new();
        let before = self.one_machine.ticks();
        self.one_machine.published(commit, &mut said);
        if self.house.is_some() && self.one_machine.ticks() > before {
            let world = self.one_machine.objects();
            self.clients.published(commit, world, &mut said);
            self.clients_view.published(commit.tick, world);
        }
        self.note(now, said);
    }

    /// A client may hold something new.
    pub(crate) fn look(&mut self, now: Time, client: &mut Client) {
        let mut said = Vec::new();
        self.clients_view.look(client, &mut said);
        self.note(now, said);
    }

    /// What somebody has in their hands, and how much of it they may have.
    pub(crate) fn held(&mut self, now: Time, holdings: &[(&'static str, usize, usize)]) {
        let over = holdings.iter().filter(|(_, count, most)| count > most);
        let said = over.map(|(what, count, most)| ("R1", format!("{count} {what} > {most}")));
        let said = said.collect();
        self.note(now, said);
    }

    /// The world after the last published tick.
    pub(crate) fn world(&self) -> &Objects {
        self.one_machine.objects()
    }

    /// A gateway has died.
    pub(crate) fn gateway_crashed(&mut self) {
        self.watch.sometimes.gateway_crashes += 1;
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
        Sometimes { bases_lost: self.clients_view.bases_lost, ..self.watch.sometimes }
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
