//! The directory as several replicas, each with a disk of its own, and what befalls them.

use super::disk::{Disk, Kept};
use super::machine::{Machine, Role};
use super::{Cluster, What};
use crate::dice::Dice;
use crate::faults::FaultProfile;
use crate::options::{Operation, Options};
use jostle_directory::{Basis, Change, Output, PeerMessage, Position, Record, Replica, Settings};
use jostle_proto::{Address, Directory, Message, Mutant, ReplicaId, Span, Time, Timing};
use std::collections::{BTreeMap, BTreeSet};

/// Chances are parts of a million, per millisecond if nothing else is said.
#[derive(Clone, Copy, Debug, Default)]
struct Faults {
    crash: u32,
    pause: u32,
    parted: u32,
    /// A link of a replica fails in one direction.
    cut: u32,
    /// A replica is cut off from the others, and nodes still reach it.
    island: u32,
    /// The machine dies while it writes, per write.
    tear: u32,
    /// Its disk is full for a while.
    full: u32,
    /// A replica is added or removed.
    change: u32,
    /// All replicas are restarted, one after the other.
    roll: u32,
    /// All replicas are down for a while; this and the next only in a free-running group.
    dark: u32,
    /// A node reaches no replica, or none reaches it, and others do.
    unheard: u32,
}

/// All replicas.
pub(super) struct Replicas {
    count: u32,
    dice: Dice,
    faults: Faults,
    settings: Settings,
    disks: BTreeMap<ReplicaId, Disk>,
    /// Those that came later have higher numbers.
    next: u16,
    /// Those that a leader has known.
    members: BTreeSet<ReplicaId>,
    /// The newest entry that any replica has followed, and the directory there if all that have
    /// followed it are down.
    newest: u64,
    held: Option<Directory>,
    /// Since when there is no leader, and how many ticks there were.
    leaderless: Option<(Time, u64)>,
    /// How far the leader's log is kept, since when, while there is more in it.
    unkept: Option<(u64, Time)>,
    /// Who led last, and in which term.
    led: Option<(ReplicaId, u64)>,
}

/// What happens to a replica.
pub(super) enum Event {
    Wake,
    Message(Message),
    Peer(Vec<u8>),
    Change(Change),
}

impl Replicas {
    /// What a seed draws; nothing for one replica.
    pub(super) fn draw(options: &Options, seed: u64, timing: Timing) -> Replicas {
        let Options { replicas: count, fault_profile, operation, .. } = *options;
        let free_running = operation == Operation::FreeRunning;
        let mut dice = Dice::new(seed ^ 0x4449_5245_4354_4f52);
        let campaign = fault_profile == FaultProfile::Campaign && count > 1;
        let all = dice.below(20) == 0;
        let mut pick = |most: u64| {
            let strength = dice.below(most + 1) as u32;
            if campaign && (all || dice.coin()) { strength } else { 0 }
        };
        let faults = Faults {
            crash: pick(2_000),
            pause: pick(1_000),
            parted: pick(1_500),
            cut: pick(3_000),
            island: pick(2_000),
            tear: pick(20_000),
            full: pick(500),
            change: pick(1_000),
            roll: pick(300),
            dark: if free_running { pick(600) } else { 0 },
            unheard: if free_running { pick(1_500) } else { 0 },
        };
        let settings =
            Settings { compact: 4 + dice.below(40), ..Settings::new(ReplicaId(0), timing) };
        let (disks, next, members) = (BTreeMap::new(), 0, BTreeSet::new());
        let (newest, held, leaderless, unkept, led) = (0, None, None, None, None);
        Replicas {
            count,
            dice,
            faults,
            settings,
            disks,
            next,
            members,
            newest,
            held,
            leaderless,
            unkept,
            led,
        }
    }

    /// Is the directory more than one machine?
    pub(super) fn are_there(&self) -> bool {
        self.count > 1
    }

    pub(super) fn heal(&mut self) {
        self.faults = Faults::default();
        self.disks.values_mut().for_each(Disk::heal);
    }

    fn settings(&self, id: ReplicaId, farthest: Span, mutant: Option<Mutant>) -> Settings {
        let Settings { timing, compact, .. } = self.settings;
        let settings = Settings::new(id, timing);
        Settings { compact, mutant, pace: settings.pace.over(farthest), ..settings }
    }

    /// The directory as it was last followed by any replica.
    pub(super) fn directory<'a>(
        &'a self,
        machines: &'a BTreeMap<Address, Machine>,
    ) -> Option<&'a Directory> {
        let newest = live(machines).find(|(_, it)| it.position().applied == self.newest);
        newest.and_then(|(_, replica)| replica.directory()).or(self.held.as_ref())
    }
}

/// All replicas that are up.
pub(super) fn live(
    machines: &BTreeMap<Address, Machine>,
) -> impl Iterator<Item = (ReplicaId, &Replica)> {
    let range = Address::Replica(ReplicaId(0))..=Address::Replica(ReplicaId(u16::MAX));
    machines.range(range).filter_map(|(address, machine)| match (address, &machine.role) {
        (Address::Replica(id), Some(Role::Replica(replica))) => Some((*id, &**replica)),
        _ => None,
    })
}

impl Cluster {
    /// All replicas of a directory that begins.
    pub(super) fn add_replicas(&mut self, directory: &Directory) {
        let voters: Vec<ReplicaId> = (0..self.replicas.count as u16).map(ReplicaId).collect();
        let founding = Record::founding(directory, &voters).unwrap_or_default();
        for &id in &voters {
            self.add_replica(id, &founding);
        }
        let span = i64::from(self.faults.drift);
        self.checkers.directory_drifts(span);
        self.replicas.newest = 1;
    }

    fn add_replica(&mut self, id: ReplicaId, records: &[Record]) {
        self.replicas.next = self.replicas.next.max(id.0 + 1);
        let mut disk = Disk::new(id);
        disk.write(records);
        disk.sync();
        self.replicas.disks.insert(id, disk);
        let settings = self.replicas.settings(id, Span(self.sites.farthest()), self.options.mutant);
        if self.sites.count > 1 {
            let site = self.replicas.dice.below(u64::from(self.sites.count)) as u32;
            self.sites.of.insert(Address::Replica(id), site);
        }
        match Replica::new(settings, records.to_vec()) {
            Ok(replica) => {
                self.add_machine(Address::Replica(id), Role::Replica(Box::new(replica)));
            }
            Err(error) => self.checkers.note(self.now, vec![("D3", error.to_string())]),
        }
    }

    /// Whom a message to the directory reaches.
    pub(super) fn replica_addresses(&self) -> Vec<Address> {
        self.replicas.disks.keys().map(|&id| Address::Replica(id)).collect()
    }

    /// Something happens to a replica; it may have to wait until that one goes on.
    pub(super) fn step_replica(&mut self, id: ReplicaId, event: Event) {
        let address = Address::Replica(id);
        let Some(machine) = self.machines.get_mut(&address) else { return };
        let (local, drift) = (machine.local(self.now), machine.drift);
        let Some(Role::Replica(replica)) = &mut machine.role else { return };
        let mut out = Vec::new();
        match event {
            Event::Wake => replica.wake(local, &mut out),
            Event::Message(message) => replica.receive(local, message, &mut out),
            Event::Peer(bytes) => match PeerMessage::decode(&bytes) {
                Ok(message) => replica.hear(local, &message, &mut out),
                Err(error) => {
                    return self.checkers.note(self.now, vec![("S2", error.to_string())]);
                }
            },
            Event::Change(change) => {
                let done = replica.change(local, change, &mut out);
                self.checkers.directory_changes(done.is_ok());
            }
        }
        let mut answers = Vec::new();
        for output in out {
            match output {
                Output::Write(records) => {
                    if !self.keep(id, &records, Kept::More) {
                        return;
                    }
                }
                Output::Replace(records) => {
                    if !self.keep(id, &records, Kept::All) {
                        return;
                    }
                }
                Output::SendPeer(to, message) => match message.encode() {
                    Ok(bytes) => self.transmit_peer(address, Address::Replica(to), bytes),
                    Err(error) => self.checkers.note(self.now, vec![("R1", error.to_string())]),
                },
                Output::Send { to, message, basis } => {
                    answers.push(self.in_true_time(basis, local, drift));
                    self.checkers.sent(self.now, Address::Directory, to, &message);
                    self.transmit(address, to, message);
                }
            }
        }
        self.judge_replica(id, &answers);
        self.set_alarm(address);
    }

    /// When the question came, by the true clock, or a little before.
    fn in_true_time(&self, basis: Basis, local: Time, drift: i64) -> (Time, u64) {
        let ago = i128::from((local - basis.asked).0) * 1_000_000 / i128::from(1_000_000 + drift);
        (Time(self.now.0.saturating_sub(ago as u64 + 2)), basis.index)
    }

    fn judge_replica(&mut self, id: ReplicaId, answers: &[(Time, u64)]) {
        let Some(machine) = self.machines.get(&Address::Replica(id)) else { return };
        let Some(Role::Replica(replica)) = &machine.role else { return };
        let position = replica.position();
        self.checkers.replica(self.now, replica, answers);
        if position.applied > self.replicas.newest {
            self.replicas.newest = position.applied;
            self.replicas.held = None;
        }
    }

    fn transmit_peer(&mut self, from: Address, to: Address, bytes: Vec<u8>) {
        self.outcome.messages += 1;
        for later in self.journeys(from, to) {
            self.after(later, What::Peer(to, from, bytes.clone()));
        }
    }

    /// A message between replicas arrives.
    pub(super) fn arrive_peer(&mut self, to: Address, from: Address, bytes: Vec<u8>) {
        let Some(machine) = self.machines.get(&to) else { return };
        let free = machine.paused.max(machine.busy);
        if free > self.now {
            return self.after(free.0 - self.now.0, What::Peer(to, from, bytes));
        }
        if let Address::Replica(id) = to {
            self.step_replica(id, Event::Peer(bytes));
        }
    }

    /// Writes to a replica's disk. False if that cannot be done, or the machine dies of it: then
    /// the replica is put away.
    fn keep(&mut self, id: ReplicaId, records: &[Record], how: Kept) -> bool {
        let late = self.options.mutant == Some(Mutant::SendBeforeSync);
        let tears = self.replicas.dice.once_in_million(self.replicas.faults.tear);
        if let Some(machine) = self.machines.get(&Address::Replica(id))
            && let Some(Role::Replica(replica)) = &machine.role
        {
            self.checkers.replica_writes(self.now, replica, records);
        }
        let now = self.now;
        let Some(disk) = self.replicas.disks.get_mut(&id) else { return false };
        if let Some(until) = disk.is_full(now) {
            self.checkers.disk_full();
            self.put_away(id, Span((until - now).0 + 1));
            return false;
        }
        if tears {
            disk.tear(records, how, &mut self.replicas.dice);
            let later = 50_000 + self.replicas.dice.below(1_000_000);
            self.put_away(id, Span(later));
            return false;
        }
        match how {
            Kept::More => disk.write(records),
            Kept::All => disk.replace(records),
        }
        if late {
            let later = self.replicas.dice.below(100_000);
            self.after(later, What::Sync(id));
        } else {
            disk.sync();
        }
        true
    }

    /// What was written is on disk at last.
    pub(super) fn sync(&mut self, id: ReplicaId) {
        self.replicas.disks.entry(id).and_modify(Disk::sync);
    }

    /// The replica's machine dies; it comes back after a while.
    fn put_away(&mut self, id: ReplicaId, later: Span) {
        let address = Address::Replica(id);
        let Some(machine) = self.machines.get_mut(&address) else { return };
        let Some(Role::Replica(replica)) = machine.role.take() else { return };
        machine.alarm += 1;
        let position = replica.position();
        let last = live(&self.machines).all(|(_, it)| it.position().applied < position.applied);
        if position.applied >= self.replicas.newest && last {
            self.replicas.held = replica.directory().cloned();
        }
        let directory = replica.directory();
        let changing = directory.is_some_and(|it| it.views().any(|(_, stable)| !stable));
        if position.leads {
            self.checkers.directory_crashed(changing);
        }
        self.replicas.disks.entry(id).and_modify(Disk::crash);
        if let Some(wire) = &mut self.wire {
            wire.crashed(address);
        }
        self.checkers.replica_gone(id);
        self.after(later.0, What::Recover(id));
    }

    /// So do all.
    pub(super) fn put_all_away(&mut self, later: Span) {
        let ids: Vec<ReplicaId> = self.replicas.disks.keys().copied().collect();
        ids.into_iter().for_each(|id| self.put_away(id, later));
    }

    /// A replica comes back with what is on its disk.
    pub(super) fn recover(&mut self, id: ReplicaId) {
        let settings = self.replicas.settings(id, Span(self.sites.farthest()), self.options.mutant);
        let Some(disk) = self.replicas.disks.get_mut(&id) else { return };
        let restored = match disk.read() {
            Ok(restored) => restored,
            Err(error) => return self.checkers.note(self.now, vec![("D3", error.to_string())]),
        };
        let snapshot = restored.records.iter().any(|record| match record {
            Record::Snapshot(snapshot) => snapshot.index > 1,
            _ => false,
        });
        self.checkers.replica_back(snapshot, restored.torn);
        match Replica::new(settings, restored.records) {
            Ok(replica) => {
                let address = Address::Replica(id);
                if let Some(machine) = self.machines.get_mut(&address) {
                    machine.role = Some(Role::Replica(Box::new(replica)));
                    machine.alarm += 1;
                    let alarm = machine.alarm;
                    self.after(0, What::Wake(address, alarm));
                }
            }
            Err(error) => self.checkers.note(self.now, vec![("D3", error.to_string())]),
        }
    }

    fn any_replica(&mut self) -> ReplicaId {
        let at = self.replicas.dice.below(self.replicas.disks.len() as u64);
        self.replicas.disks.keys().nth(at as usize).copied().unwrap_or(ReplicaId(0))
    }

    /// Throws for what befalls replicas.
    pub(super) fn replica_fate(&mut self) {
        if !self.replicas.are_there() {
            return;
        }
        self.watch_lead();
        let faults = self.replicas.faults;
        let soon = |dice: &mut Dice, now: Time| Time(now.0 + dice.below(2_000_000));
        if self.replicas.dice.once_in_million(faults.crash) {
            let id = self.any_replica();
            let later = Span(50_000 + self.replicas.dice.below(1_500_000));
            self.put_away(id, later);
        }
        if self.replicas.dice.once_in_million(faults.pause) {
            let (id, until) = (self.any_replica(), soon(&mut self.replicas.dice, self.now));
            self.machines.entry(Address::Replica(id)).and_modify(|it| it.paused = until);
        }
        if self.replicas.dice.once_in_million(faults.parted) {
            let (id, until) = (self.any_replica(), soon(&mut self.replicas.dice, self.now));
            self.machines.entry(Address::Replica(id)).and_modify(|it| it.parted = until);
        }
        if self.replicas.dice.once_in_million(faults.cut) {
            let (a, b) = (Address::Replica(self.any_replica()), self.any_replica());
            let node = self.replicas.dice.below(u64::from(self.nodes)) as u32;
            let node = Address::Node(jostle_proto::NodeId(node));
            let b = if self.replicas.dice.coin() { node } else { Address::Replica(b) };
            let link = if self.replicas.dice.coin() { (a, b) } else { (b, a) };
            let until = soon(&mut self.replicas.dice, self.now);
            self.cuts.insert(link, until);
        }
        if self.replicas.dice.once_in_million(faults.island) {
            let (id, until) = (self.any_replica(), soon(&mut self.replicas.dice, self.now));
            let me = Address::Replica(id);
            for other in self.replica_addresses().into_iter().filter(|other| *other != me) {
                self.cuts.insert((me, other), until);
                self.cuts.insert((other, me), until);
            }
        }
        if self.replicas.dice.once_in_million(faults.full) {
            let (id, until) = (self.any_replica(), soon(&mut self.replicas.dice, self.now));
            self.replicas.disks.entry(id).and_modify(|disk| disk.fill(until));
        }
        if self.replicas.dice.once_in_million(faults.roll) {
            let ids: Vec<ReplicaId> = self.replicas.disks.keys().copied().collect();
            for (at, id) in ids.into_iter().enumerate() {
                self.after(700_000 * at as u64, What::Fall(id));
            }
        }
        if self.replicas.dice.once_in_million(faults.change) {
            self.change_replicas();
        }
        if faults.dark > 0 && self.replicas.dice.once_in_million(faults.dark) {
            let latest = (self.heal_at - self.now).0 + 500_000;
            let later = 600_000 + self.replicas.dice.below(2_000_000);
            self.put_all_away(Span(later.min(latest)));
        }
        if faults.unheard > 0 && self.replicas.dice.once_in_million(faults.unheard) {
            let node = self.replicas.dice.below(u64::from(self.nodes)) as u32;
            let node = Address::Node(jostle_proto::NodeId(node));
            let mute = self.replicas.dice.coin();
            let until = Time(self.now.0 + 500_000 + self.replicas.dice.below(2_000_000));
            for replica in self.replica_addresses() {
                self.cuts.insert(if mute { (node, replica) } else { (replica, node) }, until);
            }
        }
    }

    /// A replica is restarted.
    pub(super) fn fall(&mut self, id: ReplicaId) {
        let later = Span(100_000 + self.replicas.dice.below(400_000));
        self.put_away(id, later);
    }

    /// Adds a replica, or removes one if there are more than at the beginning.
    fn change_replicas(&mut self) {
        let found = live(&self.machines).find(|(_, replica)| replica.position().leads);
        let Some((leader, voters)) = found.map(|(id, it)| (id, it.report().voters)) else { return };
        let known = &mut self.replicas.members;
        // Those that were removed are switched off. One that is yet to be added is not among them,
        // even if no replica seems to know it: that entry may be on its way.
        let (stay, gone): (Vec<ReplicaId>, Vec<ReplicaId>) =
            known.iter().partition(|id| voters.contains(id));
        *known = voters.iter().chain(&stay).copied().collect();
        for id in gone {
            self.machines.remove(&Address::Replica(id));
            self.replicas.disks.remove(&id);
        }
        let waiting = self.replicas.disks.keys().copied().find(|id| !voters.contains(id));
        let change = if voters.len() > self.replicas.count as usize {
            let at = self.replicas.dice.below(voters.len() as u64) as usize;
            Change::Remove(voters[at])
        } else if let Some(id) = waiting {
            Change::Add(id)
        } else {
            let id = ReplicaId(self.replicas.next);
            self.add_replica(id, &[]);
            Change::Add(id)
        };
        self.step_replica(leader, Event::Change(change));
    }

    /// The leader, and whether the world goes on while there is none.
    fn watch_lead(&mut self) {
        let leads = |id: &ReplicaId| {
            let machine = self.machines.get(&Address::Replica(*id));
            machine.is_some_and(|it| it.paused <= self.now && it.parted <= self.now)
        };
        // One that was cut off may believe for a while that it leads as before.
        let leaders = live(&self.machines).filter(|(id, it)| it.position().leads && leads(id));
        let leader = leaders.map(|(_, it)| it.position()).max_by_key(|position| position.term);
        match leader {
            Some(position) => {
                self.replicas.leaderless = None;
                self.watch_log(position);
                let lead = (position.id, position.term);
                if self.replicas.led != Some(lead) {
                    let directory = self.directory();
                    let changing =
                        directory.is_some_and(|it| it.views().any(|(_, stable)| !stable));
                    let another = self.replicas.led.is_some();
                    self.checkers.directory_led(self.now, changing, another);
                    self.replicas.led = Some(lead);
                }
            }
            None => {
                self.checkers.directory_down(1000);
                let ticks = self.checkers.published_ticks();
                let (since, then) = *self.replicas.leaderless.get_or_insert((self.now, ticks));
                if (self.now - since).0 == 1_000_000 && ticks > then + 5 {
                    self.checkers.went_on_without();
                }
            }
        }
    }

    /// What the leader decides may not be said before a majority has kept it. When that takes
    /// longer than messages do (they are lost, or a majority cannot be reached), the directory can
    /// do nothing about it.
    fn watch_log(&mut self, leader: Position) {
        let Position { commit, index, .. } = leader;
        let now = self.now;
        let since = match self.replicas.unkept {
            Some((then, since)) if then == commit => since,
            _ => now,
        };
        self.replicas.unkept = (commit < index).then_some((commit, since));
        let farthest = self.sites.farthest();
        if self.replicas.unkept.is_some_and(|(_, since)| (now - since).0 > farthest) {
            self.checkers.directory_down(1000);
        }
    }
}
