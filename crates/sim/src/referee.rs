//! Judges that see only what machines tell the outside and each other.

mod between;
mod one_machine;
mod one_owner;
mod sometimes;
mod views;
mod votes;

use between::Between;
use jostle_proto::{Address, Class, Commit, Epoch, GroupId, Message, Object, Shapes, Time};
use one_machine::OneMachine;
use one_owner::OneOwner;
pub use sometimes::Sometimes;
use sometimes::Watch;
use std::collections::BTreeMap;
use views::Views;
use votes::Votes;

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
pub const RULES: [(&str, &str); 18] = [
    ("A2", "an object has one owner in a tick"),
    ("A5", "no object is lost"),
    ("C1", "what is published is what one machine would have found"),
    ("C2", "a pair is reported by one node"),
    ("C3", "ticks are published without gaps, and never in other words"),
    ("E1", "views are made from older ones, and messages of an older one change nothing"),
    ("E2", "a view has one leader, a tick one result, a node one group"),
    ("E3", "whoever is left out has a buddy who is not"),
    ("E4", "every region has an owner who is a member"),
    ("E5", "who is let in is near, who is put out is far, and nobody moves too often"),
    ("E6", "a vote counts once, in its ballot, and decides as it was counted"),
    ("H1", "an object is at home in one group"),
    ("K1", "what a group decides about another one's object happens to it once"),
    ("S1", "copies of an object are the same"),
    ("S1b", "copies in other groups come near what they are copies of"),
    ("L1", "when nothing fails any more the world goes on"),
    ("L3", "every ballot ends in time"),
    ("L4", "who is near to a larger group with room comes into it"),
];

/// What the judges say about a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The first things that went wrong; none if nothing did.
    pub violations: Vec<Violation>,
}

/// A group's world.
struct Judged {
    one_machine: OneMachine,
    one_owner: OneOwner,
}

/// All judges.
pub(crate) struct Referees {
    worlds: BTreeMap<GroupId, Judged>,
    /// What a new group begins with.
    scenery: Vec<Object>,
    shapes: Shapes,
    rate: u32,
    between: Between,
    votes: Votes,
    views: Views,
    watch: Watch,
    violations: Vec<Violation>,
}

impl Referees {
    pub(crate) fn new(objects: &[Object], shapes: &Shapes, rate: u32) -> Referees {
        let one_machine = OneMachine::new(objects, shapes, rate);
        let first = Judged { one_machine, one_owner: OneOwner::default() };
        let fixed = objects.iter().filter(|object| object.class == Class::Immovable);
        Referees {
            worlds: BTreeMap::from([(GroupId(0), first)]),
            scenery: fixed.copied().collect(),
            shapes: shapes.clone(),
            rate,
            between: Between::new(objects),
            votes: Votes::default(),
            views: Views::default(),
            watch: Watch::default(),
            violations: Vec::new(),
        }
    }

    /// The world of a group; a new one begins with the scenery.
    fn world(&mut self, group: GroupId) -> &mut Judged {
        let (scenery, shapes, rate) = (&self.scenery, &self.shapes, self.rate);
        self.worlds.entry(group).or_insert_with(|| Judged {
            one_machine: OneMachine::new(scenery, shapes, rate),
            one_owner: OneOwner::default(),
        })
    }

    /// A machine has sent something.
    pub(crate) fn sent(&mut self, now: Time, from: Address, to: Address, message: &Message) {
        let mut said = Vec::new();
        if let Some(group) = message.epoch().and_then(|epoch| self.views.group(epoch)) {
            let world = self.world(group);
            let (last, objects) = (world.one_machine.ticks(), world.one_machine.objects().len());
            world.one_owner.sent(to, message, (last, objects), &mut said);
        }
        if let Message::Leave { epoch, .. } = message
            && let Some(group) = self.views.group(*epoch)
        {
            self.views.ended(group);
            self.watch.sometimes.groups_ended += 1;
        }
        self.views.sent(from, message, &mut said);
        self.votes.sent(now, from, message, &mut said);
        self.watch.sent(to, message);
        self.note(now, said);
    }

    /// A tick was published.
    pub(crate) fn published(&mut self, now: Time, commit: &Commit) {
        let mut said = Vec::new();
        let world = self.world(commit.group);
        if world.one_machine.published(commit, &mut said) {
            let objects = world.one_machine.objects().clone();
            let kicks = self.between.published(now, commit, objects, &mut said);
            self.watch.sometimes.kicks_between += kicks;
        }
        self.note(now, said);
    }

    /// A message of an older view than its receiver had seen has changed something.
    pub(crate) fn old_message_counted(&mut self, now: Time, to: Address, epoch: Option<Epoch>) {
        let what = format!("a message of view {} changed {to:?}", epoch.map_or(0, |it| it.0));
        self.note(now, vec![("E1", what)]);
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

    /// The directory has died; `changing` if a view was not stable.
    pub(crate) fn directory_crashed(&mut self, changing: bool) {
        self.watch.sometimes.directory_crashes += 1;
        self.watch.sometimes.directory_in_change += u64::from(changing);
    }

    /// The directory does nothing for so many microseconds.
    pub(crate) fn directory_down(&mut self, microseconds: u64) {
        self.votes.down(microseconds);
    }

    /// Nothing fails any more.
    pub(crate) fn healed(&mut self, now: Time) {
        self.between.healed(now);
    }

    /// S1b, at the end, of the groups that there are.
    pub(crate) fn apart(&self, groups: &[GroupId]) -> Vec<(&'static str, String)> {
        let worlds = self.worlds.iter().filter(|(group, _)| groups.contains(group));
        self.between.apart(worlds.map(|(&group, world)| (group, world.one_machine.objects())))
    }

    /// L3, at the end.
    pub(crate) fn open_ballots(&self, now: Time) -> Vec<(&'static str, String)> {
        self.votes.open(now)
    }

    /// When the members of a group last changed.
    pub(crate) fn changed(&self, group: GroupId) -> Option<Time> {
        self.votes.changed(group)
    }

    /// When the members of any group last changed.
    pub(crate) fn last_change(&self) -> Time {
        self.votes.last_change()
    }

    /// The objects of a group, as far as they are published.
    pub(crate) fn objects(&self, group: GroupId) -> impl Iterator<Item = &Object> {
        let world = self.worlds.get(&group).into_iter();
        world.flat_map(|world| world.one_machine.objects().values())
    }

    pub(crate) fn sometimes(&self) -> Sometimes {
        Sometimes { changed_group: self.votes.moves(), ..self.watch.sometimes }
    }

    pub(crate) fn failed(&self) -> bool {
        !self.violations.is_empty()
    }

    pub(crate) fn ticks_by_group(&self) -> BTreeMap<GroupId, u64> {
        self.worlds.iter().map(|(&group, world)| (group, world.one_machine.ticks())).collect()
    }

    pub(crate) fn published_ticks(&self) -> u64 {
        self.worlds.values().map(|world| world.one_machine.ticks()).sum()
    }

    pub(crate) fn collisions(&self) -> u64 {
        self.worlds.values().map(|world| world.one_machine.collisions()).sum()
    }

    pub(crate) fn verdict(self) -> Verdict {
        Verdict { violations: self.violations }
    }
}
