//! The serving process: the directory with its memory, the recorder of the store and a node, on a
//! machine with one disk. It dies alone or with all others, its disk fails, and what is on the disk
//! is damaged while it is down.
//!
//! It has dice of its own: what else happens in a run is drawn as if there were none.

mod damage;
mod start;

use super::machine::Role;
use super::{Cluster, What};
use crate::dice::Dice;
use crate::faults::FaultProfile;
use crate::options::{Operation, Options};
use crate::world::FOUNDER;
use damage::Damage;
use jostle_proto::{
    Address, GatewayId, GroupId, Holders, Member, NodeId, Source, Span, Stream, Time, View,
};
use jostle_store::{DiskFault, MemoryDisk, StoreSettings, Stored};
pub(super) use start::Start;

/// The number of the recorder, as one that follows.
const RECORDER: u32 = u32::MAX / 2;

/// One run of so many has a store without being asked to.
const ONE_OF: u64 = 4;

/// Nodes have so long to answer when the directory starts, and then some.
const ANSWER: u64 = 6_000_000;

/// What the log says is done after this.
const READS_THE_LOG: Span = Span::from_ms(3000);

/// What befalls the process and its disk, in parts of a million and millisecond.
#[derive(Clone, Copy, Debug, Default)]
struct Troubles {
    /// The disk is full, or writes or syncs fail, for a while.
    disk: u32,
    /// The machine dies during an operation of the disk.
    dies_writing: u32,
    /// The process is killed, or its machine dies.
    dies: u32,
}

/// All machines stop.
#[derive(Clone, Copy, Debug)]
struct Outage {
    at: u64,
    /// Machines die; otherwise processes are stopped in order.
    power: bool,
    /// One node is not stopped, but paused until so long afterwards.
    slow: Option<u64>,
}

/// Something that happens to the serving process.
#[derive(Clone, Copy, Debug)]
pub(super) enum Moment {
    Outage,
    Start(Start),
}

/// The serving process.
pub(super) struct Serving {
    dice: Dice,
    disk: MemoryDisk,
    settings: StoreSettings,
    troubles: Troubles,
    outage: Option<Outage>,
    /// Is what is on the disk damaged while the process is down?
    damages: bool,
    damage: Option<Damage>,
    /// Until when the disk does something wrong.
    fails_until: Time,
    /// Its node.
    node: NodeId,
    /// The incarnation of its recorder.
    life: u32,
    up: bool,
    /// When the directory last started.
    started: Time,
    /// What its node holds, as it was stored.
    offered: Option<(Member, Stored)>,
    /// How often the world had been restored.
    restorations: u64,
    /// The views that the directory remembers, and beside which no world may be restored; none if
    /// the operator decides that the stored world counts.
    views: Vec<View>,
    /// The members of stable views when it died.
    members: Vec<Member>,
    /// Since when no node has the world.
    gone: Option<Time>,
    /// When the last start is expected.
    last_start: u64,
}

impl Serving {
    /// None if the seed does not draw one, and the options do not ask for it.
    pub(super) fn draw(seed: u64, options: &Options) -> Option<Serving> {
        let mut dice = Dice::new(seed ^ 0x5354_4f52_4544);
        let campaign = options.fault_profile == FaultProfile::Campaign;
        let single = options.operation == Operation::Lockstep
            && (options.sites, options.replicas, options.clients) == (1, 1, 0)
            && !options.disaster;
        let drawn = dice.below(ONE_OF) == 0 && campaign && options.mutant.is_none();
        if !single || !drawn && !options.store {
            return None;
        }
        let mut pick = |most: u64| {
            let strength = dice.below(most + 1) as u32;
            if campaign && dice.coin() { strength } else { 0 }
        };
        let troubles = Troubles { disk: pick(2_000), dies_writing: pick(600), dies: pick(400) };
        let settings = StoreSettings {
            long: 20_000 + dice.below(2_000_000),
            work: 1_000 + dice.below(20_000),
            sync: Span(50_000 + dice.below(1_000_000)),
            retry: Span(50_000 + dice.below(1_000_000)),
            mutant: options.mutant,
        };
        let length = (options.seconds * 1e6) as u64;
        let at = length * (50 + dice.below(120)) / 100;
        let power = dice.coin();
        let slow = if dice.coin() { Some(dice.below(12_000_000)) } else { None };
        let outage = (campaign && dice.below(4) > 0).then_some(Outage { at, power, slow });
        let damages = campaign && dice.coin();
        let last_start = outage.map_or(0, |outage| outage.at);
        Some(Serving {
            dice,
            disk: MemoryDisk::default(),
            settings,
            troubles,
            outage,
            damages,
            damage: None,
            fails_until: Time(0),
            node: FOUNDER.node,
            life: 0,
            up: true,
            started: Time(0),
            offered: None,
            restorations: 0,
            views: Vec::new(),
            members: Vec::new(),
            gone: None,
            last_start,
        })
    }

    fn moment(&mut self, most: u64) -> u64 {
        50_000 + self.dice.below(most)
    }

    /// Nothing fails any more. An outage may be yet to come.
    pub(super) fn heal(&mut self) {
        self.troubles = Troubles::default();
        self.disk.heal();
        if !self.disk.is_dead() {
            self.disk.start_again();
        }
    }

    /// When the world has been restored at the latest, if it has to be.
    pub(super) fn settled_at(&self) -> u64 {
        self.last_start + ANSWER
    }

    fn recorder(&self) -> GatewayId {
        GatewayId { number: RECORDER, life: self.life }
    }
}

impl Cluster {
    /// Adds what a serving process has besides directory and node.
    pub(super) fn plan_serving(&mut self) {
        let Some(serving) = &self.serving else { return };
        if let Some(Outage { at, .. }) = serving.outage {
            self.after(at, What::Serving(Moment::Outage));
        }
        self.checkers.judge_stored();
    }

    pub(super) fn serving_moment(&mut self, moment: Moment) {
        match moment {
            Moment::Outage => self.outage(),
            Moment::Start(start) => self.start_serving(start),
        }
    }

    /// If the world is lost although one was offered (those who seemed to live have died since),
    /// the operator does what the log says, and starts the serving process again.
    fn operate(&mut self) {
        let gone = self.directory().map(|it| it.holders(it.newest_time())) == Some(Holders::Gone);
        let now = self.now;
        let Some(serving) = self.serving.as_mut().filter(|serving| serving.up) else { return };
        if !gone || now.0 < serving.started.0 + ANSWER {
            serving.gone = None;
        } else if now - *serving.gone.get_or_insert(now) > READS_THE_LOG {
            serving.gone = None;
            self.checkers.stored_counts().operated += 1;
            self.stop_serving(false);
        }
    }

    /// Throws for what befalls the serving process.
    pub(super) fn serving_fate(&mut self) {
        self.operate();
        let now = self.now;
        let Some(serving) = self.serving.as_mut().filter(|serving| serving.up) else { return };
        let Troubles { disk, dies_writing, dies } = serving.troubles;
        if serving.fails_until <= now {
            serving.disk.heal();
        }
        if serving.dice.once_in_million(disk) {
            let fault = match serving.dice.below(3) {
                0 => DiskFault::Full { short: serving.dice.below(300) as usize },
                1 => DiskFault::Write,
                _ => DiskFault::Sync,
            };
            serving.disk.fail(fault);
            serving.fails_until = Time(now.0 + serving.dice.below(2_000_000));
            self.checkers.stored_counts().fault(fault);
        }
        if serving.dice.once_in_million(dies_writing) {
            let operations = serving.dice.below(60);
            serving.disk.die_in(operations);
        }
        if serving.dice.once_in_million(dies) {
            let power = serving.dice.coin();
            let node = serving.node;
            // One time in four whatever is lost by that: then the world is restored.
            if serving.dice.below(4) == 0 || self.bears_death(node) {
                self.stop_serving(power);
            }
        }
    }

    /// A disk that has died takes the process with it. Is the world another one than before?
    pub(super) fn look_at_serving(&mut self) {
        let Some(serving) = self.serving.as_mut().filter(|serving| serving.up) else { return };
        if serving.disk.is_dead() {
            let power = serving.dice.below(4) > 0;
            self.checkers.stored_counts().deaths_in_a_write += 1;
            return self.stop_serving(power);
        }
        if let Some(machine) = self.machines.get(&Address::Gate(RECORDER))
            && let Some(Role::Recorder(recorder)) = &machine.role
        {
            self.checkers.store_reports(self.now, recorder.status().1.tick);
        }
        let Some(restorations) = self.directory().map(jostle_proto::Directory::restorations) else {
            return;
        };
        let Some(serving) = &mut self.serving else { return };
        if restorations > std::mem::replace(&mut serving.restorations, restorations) {
            self.restored();
        }
    }

    /// The world goes on from what was stored.
    fn restored(&mut self) {
        let Some(serving) = &self.serving else { return };
        let Some((member, stored)) = serving.offered.clone() else {
            let what = "the world was restored, and no node offers one".to_owned();
            return self.checkers.note(self.now, vec![("P3", what)]);
        };
        let views = self.directory().map(|it| it.views().map(|(view, _)| view.clone()).collect());
        let views: Vec<View> = views.unwrap_or_default();
        let mut violations = Vec::new();
        // P3: only if the living could not go on.
        let since = serving.started;
        let heard = |it: Member| it != member && self.is_undisturbed(it, since);
        let could = |view: &View| view.unrecoverable(heard).is_empty();
        if !serving.views.is_empty() && serving.views.iter().all(could) {
            violations
                .push(("P3", format!("the world of {member:?} was restored beside the living")));
        }
        let before = |it: &Member| !serving.views.is_empty() && serving.members.contains(it);
        let mut ring = views.iter().flat_map(|view| view.ring.iter());
        if let Some(old) = ring.find(|it| before(it)) {
            violations.push(("P3", format!("{old:?} is in the restored world of {member:?}")));
        }
        self.checkers.note(self.now, violations);
        let newest = self.directory().map(jostle_proto::Directory::newest).unwrap_or_default();
        self.checkers.world_restored(self.now, newest, &stored);
        // The sources of inputs have been sent that more was followed than is true now.
        if let Some(hand) = self.hands.get_mut(&GroupId(0))
            && let Source::Gateway(id) = hand.stream.source()
        {
            let source = Source::Gateway(GatewayId { life: id.life + 1, ..id });
            hand.stream = Stream::new(source, 1);
        }
    }

    /// Was nothing wrong with this member since then, so that the directory must have heard it?
    fn is_undisturbed(&self, member: Member, since: Time) -> bool {
        let Some(machine) = self.machines.get(&Address::Node(member.node)) else { return false };
        let up = machine.role.as_ref().and_then(Role::member).is_some_and(|(is, _)| is == member);
        let cut = |(link, until): (&(Address, Address), &Time)| {
            let ends = [link.0, link.1];
            *until > since
                && ends.contains(&Address::Node(member.node))
                && ends.contains(&Address::Directory)
        };
        up && machine.paused <= since && machine.parted <= since && !self.cuts.iter().any(cut)
    }

    /// All machines stop at once.
    fn outage(&mut self) {
        let Some(serving) = &self.serving else { return };
        let Some(Outage { power, slow, .. }) = serving.outage else { return };
        if !serving.up || self.directory().is_none_or(|directory| !directory.is_stable()) {
            return self.after(20_000, What::Serving(Moment::Outage));
        }
        self.checkers.stored_counts().outage(power);
        let own = serving.node;
        let nodes: Vec<NodeId> = (0..self.nodes).map(NodeId).filter(|it| *it != own).collect();
        if !power
            && let Some(machine) = self.machines.get_mut(&Address::Gate(RECORDER))
            && let Some(Role::Recorder(recorder)) = &mut machine.role
        {
            recorder.finish();
        }
        self.look_at_serving();
        self.stop_serving(power);
        let slow_one = slow.map(|_| nodes[self.any_of(nodes.len())..].first().copied());
        for id in nodes {
            if let (Some(Some(slow_one)), Some(long)) = (slow_one, slow)
                && slow_one == id
            {
                let until = Time(self.now.0 + long);
                self.machines.entry(Address::Node(id)).and_modify(|it| it.paused = until);
                continue;
            }
            let later = self.serving.as_mut().map_or(0, |serving| serving.moment(4_000_000));
            self.kill(id, later);
        }
    }

    fn any_of(&mut self, count: usize) -> usize {
        self.serving.as_mut().map_or(0, |serving| serving.dice.below(count as u64) as usize)
    }

    /// The serving process ends: by itself, or with its machine.
    fn stop_serving(&mut self, power: bool) {
        // What could not be written may not have been promised.
        let written = |role: &Role| match role {
            Role::DirectoryStore(directory_store) => directory_store.status().trouble.is_none(),
            _ => false,
        };
        let directory = self.machines.get(&Address::Directory).and_then(|it| it.role.as_ref());
        let mut views =
            if directory.is_some_and(written) { self.known_views() } else { Vec::new() };
        views.retain(|view| view.epoch.0 == 0 || self.checkers.was_sent(view.epoch));
        let members = self.directory().map(|it| it.settled_members().collect());
        let changing = self.directory().is_some_and(|it| it.views().any(|(_, stable)| !stable));
        let Some(serving) = &mut self.serving else { return };
        (serving.up, serving.views) = (false, views);
        serving.members = members.unwrap_or_default();
        let later = serving.moment(1_500_000);
        serving.last_start = self.now.0 + later;
        let (disk, dice) = (&serving.disk, &mut serving.dice);
        if power {
            disk.crash(&mut |end| dice.below(end));
        } else {
            disk.start_again();
        }
        disk.heal();
        let node = serving.node;
        self.damage_store();
        self.checkers.directory_crashed(changing);
        self.checkers.directory_down(later + ANSWER);
        for address in [Address::Directory, Address::Gate(RECORDER)] {
            if let Some(machine) = self.machines.get_mut(&address) {
                machine.role = None;
                machine.alarm += 1;
            }
            if let Some(wire) = &mut self.wire {
                wire.crashed(address);
            }
        }
        self.kill_for_good(node);
        self.after(later, What::Serving(Moment::Start(Start::Stored)));
    }
}

impl Cluster {
    /// L7: when its disk works again the store catches up.
    pub(super) fn judge_store(&mut self) {
        let Some(serving) = &self.serving else { return };
        let machine = self.machines.get(&Address::Gate(RECORDER));
        let Some(Role::Recorder(recorder)) = machine.and_then(|machine| machine.role.as_ref())
        else {
            let what = format!("there is no recorder; up: {}", serving.up);
            return self.checkers.note(self.now, vec![("L7", what)]);
        };
        let (ticks, (_, status)) = (self.checkers.published_ticks(), recorder.status());
        let late = u64::from(self.options.rate) * 3;
        if status.trouble.is_some() || status.tick.unwrap_or(0) + late < ticks {
            let what = format!("tick {ticks} is published, the store is at {status:?}");
            self.checkers.note(self.now, vec![("L7", what)]);
        }
    }
}
