//! All machines, one queue of events, one clock that goes from event to event.

mod deaths;
mod disk;
mod fate;
mod fault_bursts;
mod free_running;
mod hands;
mod healed;
mod hostile;
mod lasting;
mod machine;
mod replicas;
mod serving;
mod simulated_clients;
mod sites;
mod wire;

use crate::checkers::Checkers;
use crate::dice::Dice;
use crate::faults::Faults;
use crate::options::{Operation, Options, Outcome};
use crate::world::{FOUNDER, Start, draw};
use deaths::Deaths;
use fault_bursts::FaultBursts;
use free_running::{Hour, REST};
use hands::{HAND, Hand};
use jostle_proto::{
    Address, Class, ClientId, ClientMessage, Directory, Epoch, FreeRunningNode, GroupId, Member,
    Message, Node, NodeId, Object, Output, ReplicaId, Source, Stream, Time, Timing, Tuning,
};
use lasting::Lasting;
use machine::{Machine, Role, directory_of};
use replicas::{Event, Replicas};
use serving::{Moment, Serving};
use simulated_clients::{OVERHEARD, SimulatedClients};
pub(crate) use sites::RULES;
use sites::{Sites, ping_rule};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use wire::{Packet, Wire};

#[derive(Debug)]
enum What {
    /// To whom, from whom.
    Deliver(Address, Address, Message),
    /// The same with a frame.
    Arrive(Address, Address, Packet),
    Wake(Address, u64),
    /// A millisecond has passed: faults are thrown for.
    Fate,
    /// An avatar is steered.
    Steer,
    Revive(NodeId),
    /// A node dies, if the objects of no member are lost by that.
    Die(NodeId),
    /// A node and all its backups die.
    Disaster,
    /// The directory comes back.
    Restart,
    /// One replica to another.
    Peer(Address, Address, Vec<u8>),
    /// A replica comes back.
    Recover(ReplicaId),
    /// A replica is restarted.
    Fall(ReplicaId),
    /// What a replica has written is on its disk.
    Sync(ReplicaId),
    /// A client's user does something.
    UserAction(usize),
    /// A client comes back.
    ComeBack(usize),
    /// A gateway comes back.
    Reopen(Address),
    /// All replicas are down for a while.
    Dark(Hour),
    /// Machines stand still for long.
    Pause(usize),
    /// Something happens to the serving process.
    Serving(Moment),
}

struct Cluster {
    options: Options,
    now: Time,
    dice: Dice,
    faults: Faults,
    start: Start,
    timing: Timing,
    tuning: Tuning,
    static_objects: Arc<Vec<Object>>,
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    waiting: BTreeMap<u64, What>,
    number: u64,
    machines: BTreeMap<Address, Machine>,
    /// How many nodes there ever were.
    nodes: u32,
    /// Links that fail, in one direction, until when.
    cuts: BTreeMap<(Address, Address), Time>,
    checkers: Checkers,
    outcome: Outcome,
    /// The inputs that avatars were sent.
    hands: BTreeMap<GroupId, Hand>,
    sites: Sites,
    replicas: Replicas,
    fault_bursts: FaultBursts,
    deaths: Deaths,
    lasting: Lasting,
    wants: u64,
    /// When a node died and in which view, until ticks are published in a later one.
    died: Option<(Time, Epoch)>,
    /// The ticks of nodes that go on in the dark.
    in_the_dark: BTreeMap<NodeId, u64>,
    simulated_clients: SimulatedClients,
    serving: Option<Serving>,
    heal_at: Time,
    /// The ends of all links, if messages go through their bytes.
    wire: Option<Wire>,
}

/// Runs a seed to its end, or to the first violation.
#[must_use]
pub fn run(seed: u64, options: Options) -> Outcome {
    let mut cluster = Cluster::new(seed, options);
    cluster.go();
    cluster.finish()
}

impl Cluster {
    fn new(seed: u64, options: Options) -> Cluster {
        let mut dice = Dice::new(seed);
        let mut start = draw(options.objects, options.matter, options.layout, &mut dice);
        let mut faults = Faults::draw(options.fault_profile, &mut dice);
        let wire = Wire::draw(seed, &options, &mut faults);
        let mut sites = Sites::draw(options.sites, options.fault_profile, &mut dice);
        let lasting = Lasting::draw(seed, &options);
        let mut faults = lasting.faults(sites.soften(faults));
        let fault_bursts = lasting.spare(seed, &mut sites, options.fault_profile);
        let deaths = Deaths::draw(seed, &options, lasting.only_pauses);
        start.objects = sites.hold_back(std::mem::take(&mut start.objects), &mut dice);
        start.avatars.retain(|id| start.objects.iter().any(|object| object.id == *id));
        let timing = Timing { rate: options.rate, ..Timing::default() };
        let directory = Directory::grouping(FOUNDER, start.extent, timing, sites.grouping());
        let directory = directory.with_mutant(options.mutant).with_backups(options.backups);
        let stream = Stream::new(Source::Gateway(HAND), 1);
        let hand = Hand { stream, avatars: start.avatars.clone() };
        let simulated_clients =
            SimulatedClients::draw(options.clients, options.fault_profile, &start, &mut dice);
        let house = simulated_clients.house(options.rate);
        let mut checkers = Checkers::new(&start.objects, &start.shapes, options.rate, house);
        if options.replicas > 1 {
            checkers.directory_keeps(sites.farthest());
        }
        if lasting.only_pauses {
            checkers.only_pauses();
        }
        let tuning = Tuning { operations: options.operations, ..tuning(timing) };
        let static_objects = static_objects(&start);
        if options.operation == Operation::FreeRunning {
            // No node waits for a slow one there; how late news may be is a bound that is
            // configured.
            faults.slow = 0;
            checkers.check_free_running(&start, tuning, faults.delay + faults.jitter);
        }
        let replicas = Replicas::draw(&options, seed, timing);
        let heal_at = Time((options.seconds * 1e6) as u64);
        let mut cluster = Cluster {
            options,
            now: Time(0),
            dice,
            faults,
            start,
            timing,
            tuning,
            static_objects,
            queue: BinaryHeap::new(),
            waiting: BTreeMap::new(),
            number: 0,
            machines: BTreeMap::new(),
            nodes: 0,
            cuts: BTreeMap::new(),
            checkers,
            outcome: Outcome::default(),
            hands: BTreeMap::from([(GroupId(0), hand)]),
            sites,
            replicas,
            fault_bursts,
            deaths,
            lasting,
            wants: 0,
            died: None,
            in_the_dark: BTreeMap::new(),
            simulated_clients,
            serving: Serving::draw(seed, &options),
            heal_at,
            wire,
        };
        cluster.begin(directory);
        cluster
    }

    /// Adds all machines, and what happens by itself.
    fn begin(&mut self, directory: Directory) {
        self.add_directory(directory);
        for _ in 0..self.options.nodes.max(1) {
            self.add_node();
        }
        self.add_simulated_clients();
        self.add_recorder(None);
        self.after(1000, What::Fate);
        self.after(20_000, What::Steer);
        if self.options.disaster {
            self.after(self.heal_at.0 / 2, What::Disaster);
        }
        self.plan_pauses();
        self.plan_serving();
    }

    /// The directory, as one machine or as several.
    fn add_directory(&mut self, directory: Directory) {
        if self.replicas.are_there() {
            return self.add_replicas(&directory);
        }
        let role = match self.first_directory_store(FOUNDER) {
            Some(directory_store) => Role::DirectoryStore(Box::new(directory_store)),
            None => Role::Directory(Box::new(directory)),
        };
        self.add_machine(Address::Directory, role);
        let drift = self.machines.get(&Address::Directory).map_or(0, |machine| machine.drift);
        self.checkers.directory_drifts(drift);
    }

    fn add_machine(&mut self, address: Address, role: Role) {
        let span = i64::from(self.faults.drift);
        let drift = self.dice.between(-span, span);
        self.machines.insert(address, Machine::new(role, drift));
        let later = self.dice.below(50_000);
        self.after(later, What::Wake(address, 0));
    }

    fn add_node(&mut self) {
        let id = NodeId(self.nodes);
        self.nodes += 1;
        let member = Member { node: id, life: 1 };
        if self.sites.count > 1 {
            // The world begins where the directory is.
            let site = if id == NodeId(0) { 0 } else { self.dice.below(self.sites.count.into()) };
            self.sites.of.insert(Address::Node(id), site as u32);
        }
        let (role, address) = (self.fresh(member, id == NodeId(0)), Address::Node(id));
        self.add_machine(address, role);
        let slow = self.dice.below(u64::from(self.faults.slow) + 1);
        let slow = if self.dice.coin() { slow } else { 0 };
        self.machines.entry(address).and_modify(|machine| machine.slow = slow);
    }

    /// A node at the beginning of a life. The founder has the world.
    fn fresh(&self, member: Member, founds: bool) -> Role {
        let (shapes, timing, mutant) =
            (self.start.shapes.clone(), self.timing, self.options.mutant);
        let objects = self.start.objects.iter().copied();
        match self.options.operation {
            Operation::Lockstep => {
                let node = match founds {
                    true => Node::founder(member, shapes, timing, objects),
                    false => Node::new(member, shapes, timing),
                };
                let node = node.with_mutant(mutant);
                let node = match self.sites.count {
                    0 | 1 => node,
                    _ => node.measuring(ping_rule(), self.static_objects.to_vec()),
                };
                Role::Node(Box::new(node))
            }
            Operation::FreeRunning => {
                let node =
                    FreeRunningNode::new(member, shapes, self.static_objects.clone(), self.tuning);
                let node = if founds { node.founding(objects) } else { node };
                Role::FreeRunning(Box::new(node.with_mutant(mutant)))
            }
        }
    }

    fn directory(&self) -> Option<&Directory> {
        directory_of(&self.machines, &self.replicas)
    }

    /// A node's life, and whether it takes part; none while it is down.
    fn member(&self, id: NodeId) -> Option<(Member, bool)> {
        self.machines.get(&Address::Node(id))?.role.as_ref()?.member()
    }

    fn after(&mut self, microseconds: u64, what: What) {
        self.number += 1;
        self.queue.push(Reverse((Time(self.now.0 + microseconds), self.number)));
        self.waiting.insert(self.number, what);
    }

    fn go(&mut self) {
        let mut end = self.planned_end();
        let mut healed = false;
        let mut ticks_then = None;
        let mut marked = false;
        while let Some(Reverse((time, number))) = self.queue.pop() {
            let Some(what) = self.waiting.remove(&number) else { continue };
            self.now = time;
            self.outcome.events += 1;
            if !healed && self.now >= self.heal_at {
                healed = true;
                self.heal();
            }
            if healed && ticks_then.is_none() && self.now.0 >= self.settled_at() + 3_000_000 {
                ticks_then = Some(self.checkers.ticks_by_group());
            }
            if !marked && self.now.0 + 1_500_000 > end.0 {
                marked = true;
                let view = directory_of(&self.machines, &self.replicas).map(Directory::view);
                self.checkers.free_running_mark(view);
            }
            end = end.max(Time(self.settled_at() + self.heal_at.0 + 3_000_000));
            while self.now > end && self.is_still_moving(end) {
                end = Time(end.0 + 1_000_000);
            }
            if self.now > end || self.checkers.failed() {
                break;
            }
            self.happen(what);
            self.look_at_serving();
        }
        if self.checkers.failed() || self.judge_halts() {
            return;
        }
        if self.options.operation == Operation::FreeRunning
            && let Some(directory) = directory_of(&self.machines, &self.replicas)
        {
            self.checkers.free_running_end(self.now, directory.view());
        }
        self.judge_store();
        self.judge_healed(&ticks_then.unwrap_or_default());
        self.judge_clients();
    }

    /// When a run ends, if nothing is on its way by then.
    fn planned_end(&self) -> Time {
        // Groups take longer to come to rest.
        let rest = if self.sites.count > 1 { 9_000_000 } else { 3_000_000 };
        let rest = if self.has_darkness() { REST } else { rest };
        Time(self.heal_at.0 * 2 + rest)
    }

    fn heal(&mut self) {
        self.faults = self.faults.healed();
        self.sites.heal();
        self.replicas.heal();
        self.fault_bursts.heal();
        self.deaths.heal();
        self.serving.iter_mut().for_each(Serving::heal);
        self.lasting.heal();
        self.checkers.healed(self.now);
        self.simulated_clients.heal();
        self.cuts.clear();
        self.plan_darkness();
        for machine in self.machines.values_mut() {
            machine.parted = self.now;
            machine.paused = self.now;
            machine.slow = 0;
        }
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Deliver(to, from, message) => self.deliver(to, from, message),
            What::Arrive(to, from, packet) => self.arrive(to, from, packet),
            What::Wake(who, alarm) => self.wake(who, alarm),
            What::Fate => {
                self.fate();
                self.replica_fate();
                self.draw_bursts();
                self.death_fate();
                self.serving_fate();
                self.simulated_clients_fate();
                self.checkers.free_running_check(self.now);
                self.after(1000, What::Fate);
            }
            What::Steer => {
                self.steer();
                let later = 10_000 + self.dice.below(60_000);
                self.after(later, What::Steer);
            }
            What::Revive(id) => self.revive(id),
            What::Die(id) => self.die(id),
            What::Disaster => self.disaster(),
            What::Restart => self.restart_directory(),
            What::Peer(to, from, bytes) => self.arrive_peer(to, from, bytes),
            What::Recover(id) => self.recover(id),
            What::Fall(id) => self.fall(id),
            What::Sync(id) => self.sync(id),
            What::UserAction(at) => self.user_action(at),
            What::ComeBack(at) => self.come_back(at),
            What::Reopen(gate) => self.reopen(gate),
            What::Dark(hour) => self.dark(hour),
            What::Pause(at) => self.pause(at),
            What::Serving(moment) => self.serving_moment(moment),
        }
    }

    fn deliver(&mut self, to: Address, from: Address, message: Message) {
        let key = place_of(to);
        let Some(machine) = self.machines.get_mut(&key) else { return };
        if let Address::Gateway(id) = to
            && machine.life != id.life
        {
            return;
        }
        let free = machine.paused.max(machine.busy);
        if free > self.now {
            return self.after(free.0 - self.now.0, What::Deliver(to, from, message));
        }
        let (local, slow) = (machine.local(self.now), machine.slow);
        if let Address::Replica(id) = to {
            return self.step_replica(id, Event::Message(message));
        }
        let Some(role) = &mut machine.role else { return };
        let mut out = Vec::new();
        let old = role.progress_before(&message);
        let what = old.and_then(|_| message.epoch());
        role.receive(local, from, message, &mut out);
        machine.busy = Time(self.now.0 + slow);
        if old.is_some() && old != role.progress() {
            self.checkers.old_message_counted(self.now, to, what);
        }
        self.judge_role(key);
        self.work(key, out);
        self.watch(key);
        self.set_alarm(key);
    }

    fn wake(&mut self, who: Address, alarm: u64) {
        let Some(machine) = self.machines.get_mut(&who) else { return };
        if alarm != machine.alarm {
            return;
        }
        if machine.paused > self.now {
            let later = machine.paused.0 - self.now.0;
            return self.after(later, What::Wake(who, alarm));
        }
        if let Address::Replica(id) = who {
            return self.step_replica(id, Event::Wake);
        }
        let local = machine.local(self.now);
        let Some(role) = &mut machine.role else { return };
        let mut out = Vec::new();
        role.wake(local, &mut out);
        self.judge_role(who);
        self.work(who, out);
        self.watch(who);
        self.set_alarm(who);
    }

    /// Asks a machine when it wants to be woken; older alarms are off.
    fn set_alarm(&mut self, who: Address) {
        let Some(machine) = self.machines.get_mut(&who) else { return };
        let Some(at) = machine.wake_at(self.now) else { return };
        machine.alarm += 1;
        let alarm = machine.alarm;
        self.after(at.0 - self.now.0, What::Wake(who, alarm));
    }

    fn work(&mut self, from: Address, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Send(to, message) => {
                    self.checkers.sent(self.now, from, to, &message);
                    self.overhear(&message);
                    self.transmit(from, to, message);
                }
                Output::Event(event) => {
                    self.trace(event.a.0 << 32 ^ event.b.0 << 8 ^ event.edge as u64);
                    self.checkers.free_running_event(self.now, from, event);
                }
                Output::Publish(commit) => {
                    self.trace(commit.tick.0 ^ (commit.touches.len() as u64) << 40);
                    if let Some((when, _)) =
                        self.died.take_if(|(_, in_view)| *in_view < commit.epoch)
                    {
                        self.outcome.recoveries.push(self.now - when);
                    }
                    if let Some(Hand { stream, .. }) = self.hands.get_mut(&commit.group) {
                        stream.heard(commit.heard_of(stream.source()));
                    }
                    self.checkers.published(self.now, &commit);
                    self.welcome(commit.group);
                }
            }
        }
    }

    fn transmit(&mut self, from: Address, to: Address, message: Message) {
        if to == Address::Directory && self.replicas.are_there() {
            for replica in self.replica_addresses() {
                self.transmit(from, replica, message.clone());
            }
            return;
        }
        self.outcome.messages += 1;
        if self.wire.is_some() {
            return self.transmit_frames(from, to, message);
        }
        for later in self.journeys(from, to) {
            self.after(later, What::Deliver(to, from, message.clone()));
        }
    }

    /// Hostile clients know what others send, except for credentials: lines are encrypted, and a
    /// client with another's credential is that client.
    fn overhear(&mut self, message: &Message) {
        if let Message::FromClient(message) = message
            && !matches!(message, ClientMessage::Hello(hello) if hello.credential.is_some())
        {
            self.simulated_clients.overheard.push_back(*message);
            if self.simulated_clients.overheard.len() > OVERHEARD {
                self.simulated_clients.overheard.pop_front();
            }
        }
    }

    fn trace(&mut self, number: u64) {
        let mixed = (self.outcome.trace ^ number).wrapping_mul(0x0000_0100_0000_01b3);
        self.outcome.trace = mixed.rotate_left(17);
    }

    /// What can be seen of a machine from outside. What hostile clients see is not checked.
    fn judge_role(&mut self, who: Address) {
        let honest = |id: ClientId| !self.simulated_clients.people[id.host as usize].hostile;
        let role = self.machines.get_mut(&who).and_then(|machine| machine.role.as_mut());
        match role {
            Some(Role::Client(client)) if honest(client.id()) => {
                self.checkers.look(self.now, client);
            }
            Some(Role::Gateway(gateway)) => self.checkers.gateway(self.now, who, gateway),
            Some(Role::Node(node)) => self.checkers.saw(self.now, node),
            Some(Role::FreeRunning(node)) => {
                let holdings: Vec<_> = node.holdings().collect();
                self.checkers.held(self.now, &holdings);
            }
            _ => {}
        }
    }

    fn finish(self) -> Outcome {
        let views = self.directory().map_or(0, |directory| directory.newest().0);
        let (ticks, collisions) = (self.checkers.published_ticks(), self.checkers.collisions());
        let sometimes = self.checkers.sometimes();
        let objects = if self.wire.is_some() { self.start.objects.len() as u64 } else { 0 };
        Outcome {
            verdict: self.checkers.verdict(),
            sometimes,
            ticks,
            collisions,
            views,
            object_ticks: objects * ticks,
            ..self.outcome
        }
    }
}

/// Where a machine is kept: a gateway by its number, whatever life it is in.
fn place_of(address: Address) -> Address {
    match address {
        Address::Gateway(id) => Address::Gate(id.number),
        other => other,
    }
}

/// The parameters of free-running groups in these worlds: what is longer than three metres is wide.
fn tuning(timing: Timing) -> Tuning {
    Tuning { timing, largest: 6144, ..Tuning::default() }
}

/// What never moves.
fn static_objects(start: &Start) -> Arc<Vec<Object>> {
    let still = start.objects.iter().filter(|object| object.class == Class::Immovable);
    Arc::new(still.copied().collect())
}
