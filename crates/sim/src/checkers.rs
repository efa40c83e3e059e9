//! Checkers, which see only what machines send to the outside and to each other.

mod between;
mod clients;
mod clients_view;
mod consensus;
mod frames;
mod free_running;
mod history;
mod one_machine;
mod one_owner;
mod pace;
mod rules;
mod sometimes;
mod stored;
mod views;
mod votes;

use crate::world::Start;
use between::Between;
use clients::Clients;
pub(crate) use clients::House;
use clients_view::ClientsView;
use consensus::Consensus;
use frames::Frames;
use free_running::{FreeRunning, News, Notes};
use jostle_directory::{Record, Replica};
use jostle_proto::client::Credential;
use jostle_proto::{
    Address, Class, Client, Commit, Directory, Epoch, Event, FreeRunningNode, Gateway, GroupId,
    Message, Node, NodeId, Object, ReplicaId, Shapes, State, Tick, Time, Tuning, View,
};
use one_machine::OneMachine;
use one_owner::OneOwner;
use pace::Pace;
pub use rules::RULES;
pub use sometimes::Sometimes;
use sometimes::Watch;
use std::collections::BTreeMap;
pub use stored::StoreCounts;
use stored::Stored;
pub(crate) use stored::{Harm, Harmed};
use views::Views;
use votes::Votes;

/// What went against a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which rule, by its number in the invariants.
    pub rule: &'static str,
    /// What happened.
    pub what: String,
    /// When it was found.
    pub time: Time,
}

/// What is against the rules: which, and what happened.
type Violations = Vec<(&'static str, String)>;

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
    pace: Pace,
}

/// All judges.
pub(crate) struct Checkers {
    worlds: BTreeMap<GroupId, Judged>,
    /// What a new group begins with.
    static_objects: Vec<Object>,
    shapes: Shapes,
    rate: u32,
    between: Between,
    votes: Votes,
    views: Views,
    frames: Frames,
    consensus: Consensus,
    watch: Watch,
    clients: Clients,
    clients_view: ClientsView,
    house: Option<House>,
    /// Present for a free-running group.
    free_running: Option<FreeRunning>,
    /// Of a world with a store.
    stored: Option<Stored>,
    violations: Vec<Violation>,
}

impl Checkers {
    pub(crate) fn new(
        objects: &[Object],
        shapes: &Shapes,
        rate: u32,
        house: Option<House>,
    ) -> Checkers {
        let one_machine = OneMachine::new(objects, shapes, rate);
        let first = Judged { one_machine, one_owner: OneOwner::default(), pace: Pace::new(rate) };
        let fixed = objects.iter().filter(|object| object.class == Class::Immovable);
        Checkers {
            worlds: BTreeMap::from([(GroupId(0), first)]),
            static_objects: fixed.copied().collect(),
            shapes: shapes.clone(),
            rate,
            between: Between::new(objects),
            votes: Votes::default(),
            views: Views::default(),
            frames: Frames::default(),
            consensus: Consensus::default(),
            watch: Watch::default(),
            clients: Clients::new(house),
            clients_view: ClientsView::default(),
            house,
            free_running: None,
            stored: None,
            violations: Vec::new(),
        }
    }

    /// The world of a group; a new one begins with the static objects.
    fn world(&mut self, group: GroupId) -> &mut Judged {
        let (static_objects, shapes, rate) = (&self.static_objects, &self.shapes, self.rate);
        self.worlds.entry(group).or_insert_with(|| Judged {
            one_machine: OneMachine::new(static_objects, shapes, rate),
            one_owner: OneOwner::default(),
            pace: Pace::new(rate),
        })
    }

    /// The world of a group that is judged from this tick on.
    pub(crate) fn begin_at(&mut self, group: GroupId, tick: Tick) {
        self.world(group).one_machine.begin_at(tick);
    }

    /// A machine has sent something.
    pub(crate) fn sent(&mut self, now: Time, from: Address, to: Address, message: &Message) {
        let mut violations = Vec::new();
        if let Some(group) = message.epoch().and_then(|epoch| self.views.group(epoch)) {
            let world = self.world(group);
            let Judged { one_owner, one_machine, .. } = world;
            let published = (one_machine.ticks(), one_machine.objects());
            one_owner.sent(to, message, published, &mut violations);
        }
        if let Message::Leave { epoch, .. } = message
            && let Some(group) = self.views.group(*epoch)
        {
            self.views.ended(group);
            self.watch.sometimes.groups_ended += 1;
        }
        let (worlds, free_running) = (&self.worlds, self.free_running.as_ref());
        let is_there =
            |credential: &Credential| between::truth(worlds, free_running, credential).is_some();
        self.clients.sent((from, to), message, is_there, &mut violations);
        self.clients_view.sent(from, to, message, &mut violations);
        self.views.sent(from, message, &mut violations);
        self.votes.sent(now, from, message, &mut violations);
        self.watch.sent(now, to, message);
        self.watch.sent_to_client(from, to, message);
        self.stored_sent(to, message);
        if let Some(free_running) = &mut self.free_running {
            let sometimes = &mut self.watch.sometimes;
            free_running.sent(
                now,
                from,
                to,
                message,
                &mut Notes { violations: &mut violations, sometimes },
            );
        }
        self.note(now, violations);
    }

    /// The directory has answered, of which nothing else is known.
    pub(crate) fn rests_on(&mut self, now: Time, asked: Time, index: u64) {
        let mut violations = Vec::new();
        self.consensus.rests_on(now, asked, index, &mut violations);
        self.note(now, violations);
    }

    /// A message was made into so many bytes.
    pub(crate) fn packed(&mut self, now: Time, link: (Address, Address), what: (&Message, usize)) {
        let (message, bytes) = what;
        let mut violations = Vec::new();
        self.frames.packed(link, message, bytes, &mut violations);
        self.note(now, violations);
    }

    /// A tick was published.
    pub(crate) fn published(&mut self, now: Time, commit: &Commit) {
        if self.is_of_world_before(now, commit) {
            return;
        }
        let mut violations = Vec::new();
        self.watch.halted.remove(&commit.group);
        let world = self.world(commit.group);
        world.pace.published(now, commit, &mut violations);
        if let Some(truth) = world.one_machine.published(commit, &mut violations) {
            self.stored_published(commit);
            let view = self.views.view_of(commit.epoch);
            if let Some(world) = self.worlds.get_mut(&commit.group) {
                world.one_owner.published(commit, &truth, view, &mut violations);
            }
            let objects = self.worlds.get(&commit.group).map(|world| world.one_machine.objects());
            let worlds = objects.map(|after| (&truth.objects, after));
            let between = &mut self.between;
            let kicks = worlds.map_or(0, |it| between.published(now, commit, it, &mut violations));
            self.watch.sometimes.kicks_between += kicks;
            if let Some(world) = self.worlds.get(&commit.group)
                && self.house.is_some()
            {
                let world = world.one_machine.objects();
                self.clients.published(commit, world, &mut violations);
                self.clients_view.published(commit, world);
            }
        }
        self.note(now, violations);
    }

    /// A message of an older view than its receiver had seen has changed something.
    pub(crate) fn old_message_counted(&mut self, now: Time, to: Address, epoch: Option<Epoch>) {
        let what = format!("a message of view {} changed {to:?}", epoch.map_or(0, |it| it.0));
        self.note(now, vec![("E1", what)]);
    }

    /// A client may hold something new.
    pub(crate) fn look(&mut self, now: Time, client: &mut Client) {
        let mut violations = Vec::new();
        self.clients_view.look(client, &mut violations);
        self.note(now, violations);
    }

    /// What a machine keeps, and how much of it it may keep.
    pub(crate) fn held(&mut self, now: Time, holdings: &[(&'static str, usize, usize)]) {
        let over = holdings.iter().filter(|(_, count, most)| count > most);
        let violations = over.map(|(what, count, most)| ("R1", format!("{count} {what} > {most}")));
        let violations = violations.collect();
        self.note(now, violations);
    }

    /// A node after something has happened to it.
    pub(crate) fn saw(&mut self, now: Time, node: &Node) {
        self.held(now, &node.holdings());
        if let Some((epoch, tick, pairs)) = node.compared()
            && let Some(group) = self.views.group(epoch)
        {
            self.world(group).one_owner.compared((epoch, tick), node.member().node, pairs);
        }
    }

    /// Where an avatar truly is: after the last published tick of its group, or with its holder.
    pub(crate) fn avatar(&self, credential: &Credential) -> Option<State> {
        between::truth(&self.worlds, self.free_running.as_ref(), credential)
    }

    /// A gateway after something has happened to it.
    pub(crate) fn gateway(&mut self, now: Time, who: Address, gateway: &Gateway) {
        self.held(now, &gateway.holdings());
        self.watch.gateway(who, gateway);
    }

    /// A gateway has died.
    pub(crate) fn gateway_crashed(&mut self) {
        self.watch.sometimes.gateway_crashes += 1;
    }

    /// Something is against a rule.
    pub(crate) fn note(&mut self, time: Time, violations: Vec<(&'static str, String)>) {
        let fresh = violations.into_iter().map(|(rule, what)| Violation { rule, what, time });
        self.violations.extend(fresh);
    }

    /// A node has died; `leads` if it led.
    pub(crate) fn crashed(&mut self, leads: bool) {
        self.watch.sometimes.leader_crashes += u64::from(leads);
    }

    /// A node has died with others.
    pub(crate) fn died_together(&mut self) {
        self.watch.sometimes.deaths_together += 1;
    }

    /// Was a node informed in the last second that its group cannot go on?
    pub(crate) fn heard_of_halt(&self, now: Time, node: NodeId) -> bool {
        self.watch.halts.get(&node).is_some_and(|at| now.0 <= at.0 + 1_000_000)
    }

    /// Groups that cannot go on, as was last said of them, and the nodes that are lost.
    pub(crate) fn halted(&self) -> &BTreeMap<GroupId, Vec<NodeId>> {
        &self.watch.halted
    }

    /// The directory has died; `changing` if a view was not stable.
    pub(crate) fn directory_crashed(&mut self, changing: bool) {
        self.watch.sometimes.directory_crashes += 1;
        self.watch.sometimes.directory_in_change += u64::from(changing);
    }

    /// Nothing fails in this run but that machines stand still.
    pub(crate) fn only_pauses(&mut self) {
        self.votes.only_pauses = true;
    }

    /// How long the directory's machines take at most to agree.
    pub(crate) fn directory_keeps(&mut self, microseconds: u64) {
        self.votes.keeping(microseconds);
    }

    /// The directory does nothing, or can keep nothing, for so many microseconds.
    pub(crate) fn directory_down(&mut self, microseconds: u64) {
        self.votes.down(microseconds);
    }

    /// A replica after something has happened to it, and what it has answered: when it was asked,
    /// and which entry the answer rests on.
    pub(crate) fn replica(&mut self, now: Time, replica: &Replica, answers: &[(Time, u64)]) {
        let mut violations = Vec::new();
        self.consensus.saw(replica, &mut violations);
        self.consensus.answered(now, answers, &mut violations);
        self.note(now, violations);
    }

    /// A replica writes to its disk.
    pub(crate) fn replica_writes(&mut self, now: Time, replica: &Replica, records: &[Record]) {
        let mut violations = Vec::new();
        self.consensus.writes(replica, records, &mut violations);
        self.note(now, violations);
    }

    /// A replica is down.
    pub(crate) fn replica_gone(&mut self, id: ReplicaId) {
        self.consensus.gone(id);
    }

    /// A replica is back, perhaps with a snapshot, and with a record cut off.
    pub(crate) fn replica_back(&mut self, snapshot: bool, torn: bool) {
        self.watch.sometimes.from_snapshot += u64::from(snapshot);
        self.watch.sometimes.torn += u64::from(torn);
    }

    /// A replica has no room.
    pub(crate) fn disk_full(&mut self) {
        self.watch.sometimes.disk_full += 1;
    }

    /// Replicas were to be changed.
    pub(crate) fn directory_changes(&mut self, done: bool) {
        self.watch.sometimes.replicas_changed += u64::from(done);
    }

    /// A replica leads the directory, and another one did before.
    pub(crate) fn directory_led(&mut self, now: Time, changing: bool, another: bool) {
        if another {
            self.votes.led(now);
        }
        self.watch.sometimes.directory_led += u64::from(another);
        self.watch.sometimes.led_in_change += u64::from(another && changing);
    }

    /// Ticks were published for a second in which the directory had no leader.
    pub(crate) fn went_on_without(&mut self) {
        self.watch.sometimes.without_majority += 1;
    }

    /// A machine stands still for long.
    pub(crate) fn paused(&mut self) {
        self.watch.sometimes.long_pauses += 1;
    }

    /// Machines fall into two sides.
    pub(crate) fn partition(&mut self) {
        self.watch.sometimes.partitions += 1;
    }

    /// Nothing fails any more.
    pub(crate) fn healed(&mut self, now: Time) {
        self.between.healed(now);
    }

    /// S1b, at the end, of the groups that there are.
    pub(crate) fn apart(&self, groups: &[GroupId]) -> Vec<(&'static str, String)> {
        let worlds = self.worlds.iter().filter(|(group, _)| groups.contains(group));
        let worlds = worlds.map(|(&group, world)| (group, world.one_machine.objects()));
        let mut violations = self.between.unfinished(groups);
        violations.extend(self.between.apart(worlds));
        violations
    }

    /// L3, at the end.
    pub(crate) fn open_ballots(
        &self,
        now: Time,
        directory: Option<&Directory>,
    ) -> Vec<(&'static str, String)> {
        self.votes.open(now, directory)
    }

    /// When the members of a group last changed.
    pub(crate) fn changed(&self, group: GroupId) -> Option<Time> {
        self.votes.changed(group)
    }

    /// When the newest view of any group was made.
    pub(crate) fn last_view(&self) -> Time {
        self.votes.last_view()
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

    /// From now on a free-running group is checked, in which messages take at most `news`
    /// microseconds unless one is reported as late.
    pub(crate) fn check_free_running(&mut self, start: &Start, tuning: Tuning, news: u64) {
        self.free_running = Some(FreeRunning::new(start, tuning, news, self.house));
    }

    /// The directory promises leases by a clock that is off by so many parts of a million.
    pub(crate) fn directory_drifts(&mut self, drift: i64) {
        self.free_running.iter_mut().for_each(|free_running| free_running.directory_drifts(drift));
    }

    /// A node after something has happened to it. `view` is the newest, if it is stable.
    pub(crate) fn free_running_observed(
        &mut self,
        now: Time,
        node: &FreeRunningNode,
        suspended: bool,
        view: Option<&View>,
    ) {
        let mut violations = Vec::new();
        if let Some(free_running) = &mut self.free_running {
            let sometimes = &mut self.watch.sometimes;
            let mut notes = Notes { violations: &mut violations, sometimes };
            for news in free_running.saw(now, node, suspended, view, &mut notes) {
                match news {
                    News::Followed(avatar, number, velocity) => {
                        self.clients.followed(avatar, number, velocity, &mut violations);
                    }
                    News::Removed(avatar, long) => {
                        self.clients.too_early(avatar, &format!("{long} ms"), &mut violations);
                    }
                }
            }
        }
        self.note(now, violations);
    }

    /// A contact was published.
    pub(crate) fn free_running_event(&mut self, now: Time, from: Address, event: Event) {
        let mut violations = Vec::new();
        if let (Some(free_running), Address::Node(node)) = (&mut self.free_running, from) {
            let sometimes = &mut self.watch.sometimes;
            free_running.on_event(
                now,
                node,
                event,
                &mut Notes { violations: &mut violations, sometimes },
            );
        }
        self.note(now, violations);
    }

    /// A message is lost, or comes at this moment, which is too late.
    pub(crate) fn late(&mut self, now: Time, from: Address, to: Address, until: Time) {
        // What gateways and nodes send each other has nothing to do with contacts.
        let outside = |who: Address| matches!(who, Address::Gateway(_) | Address::Gate(_));
        if let Some(free_running) =
            self.free_running.as_mut().filter(|_| !outside(from) && !outside(to))
        {
            [from, to].into_iter().for_each(|who| free_running.disturbed(who, until.max(now)));
        }
    }

    /// A machine does nothing until then.
    pub(crate) fn disturbed(&mut self, who: Address, until: Time) {
        self.free_running.iter_mut().for_each(|free_running| free_running.disturbed(who, until));
    }

    /// A node has died.
    pub(crate) fn free_running_gone(&mut self, node: NodeId) {
        let sometimes = &mut self.watch.sometimes;
        self.free_running.iter_mut().for_each(|free_running| free_running.gone(node, sometimes));
    }

    /// A millisecond has passed.
    pub(crate) fn free_running_check(&mut self, now: Time) {
        let mut violations = Vec::new();
        self.free_running
            .iter_mut()
            .for_each(|free_running| free_running.look(now, &mut violations));
        self.note(now, violations);
    }

    /// Nothing has failed for long: what is on its way now must have arrived in the end.
    pub(crate) fn free_running_mark(&mut self, view: Option<&View>) {
        self.free_running.iter_mut().for_each(|free_running| free_running.mark(view));
    }

    /// The end, in this view.
    pub(crate) fn free_running_end(&mut self, now: Time, view: &View) {
        let mut violations = Vec::new();
        self.free_running
            .iter_mut()
            .for_each(|free_running| free_running.end(view, &mut violations));
        self.note(now, violations);
    }

    pub(crate) fn sometimes(&self) -> Sometimes {
        let slowed = self.worlds.values().map(|world| world.pace.slowed).sum();
        let (changed_group, bases_lost) = (self.votes.moves(), self.clients_view.bases_lost);
        let contacts_judged = self.free_running.as_ref().map_or(0, FreeRunning::judged);
        let assumed = self.free_running.as_ref().map_or(0, FreeRunning::assumed);
        let known = self.watch.sometimes;
        let (moved_home, passed_on) = (self.between.moved, self.between.passed_on);
        let known = Sometimes { moved_home, passed_on, ..known };
        Sometimes { slowed, changed_group, bases_lost, contacts_judged, assumed, ..known }
    }

    pub(crate) fn failed(&self) -> bool {
        !self.violations.is_empty()
    }

    pub(crate) fn ticks_by_group(&self) -> BTreeMap<GroupId, u64> {
        if let Some(free_running) = &self.free_running {
            return BTreeMap::from([(GroupId(0), free_running.ticks())]);
        }
        self.worlds
            .iter()
            .map(|(&group, world)| (group, world.one_machine.published_ever()))
            .collect()
    }

    pub(crate) fn published_ticks(&self) -> u64 {
        let ticks = self.worlds.values().map(|world| world.one_machine.ticks()).sum();
        self.free_running.as_ref().map_or(ticks, FreeRunning::ticks)
    }

    pub(crate) fn collisions(&self) -> u64 {
        let found = self.worlds.values().map(|world| world.one_machine.collisions()).sum();
        self.free_running.as_ref().map_or(found, FreeRunning::contacts)
    }

    pub(crate) fn verdict(self) -> Verdict {
        Verdict { violations: self.violations }
    }
}
