//! All machines, one queue of events, one clock that goes from event to event.

mod fate;
mod machine;

use crate::dice::Dice;
use crate::faults::{Faults, Weather};
use crate::referee::{Referees, Sometimes, Verdict};
use crate::world::{Matter, Start, draw};
use jostle_proto::{
    Address, Class, Directory, GatewayId, Input, Inputs, LooseNode, Member, Message, Mutant, Node,
    NodeId, Object, Output, Source, Stream, Time, Timing, Tuning, Want,
};
use machine::{Machine, Role};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

/// How a group works together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operation {
    /// A tick waits for all members.
    #[default]
    Synchronised,
    /// Nobody waits for anybody.
    Unsynchronised,
}

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Nodes at the beginning.
    pub nodes: u32,
    /// Objects, without the six walls.
    pub objects: u32,
    /// What they are made of.
    pub matter: Matter,
    /// Seconds in which things go wrong; as many again in which they do not.
    pub seconds: f64,
    /// How much goes wrong.
    pub weather: Weather,
    /// A mistake to build in.
    pub mutant: Option<Mutant>,
    /// Ticks per second.
    pub rate: u32,
    /// How the group works together.
    pub operation: Operation,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What the judges say.
    pub verdict: Verdict,
    /// Ticks that were published.
    pub ticks: u64,
    /// Collisions in them.
    pub collisions: u64,
    /// Messages that were sent.
    pub messages: u64,
    /// Nodes that died.
    pub crashes: u64,
    /// Views that the directory made.
    pub views: u64,
    /// What must happen now and then.
    pub sometimes: Sometimes,
    /// Events that were worked through.
    pub events: u64,
    /// The same for the same seed, whatever machine it runs on.
    pub trace: u64,
}

#[derive(Debug)]
enum What {
    /// To whom, from whom.
    Deliver(Address, Address, Message),
    Wake(Address, u64),
    /// A millisecond has passed: faults are thrown for.
    Fate,
    /// Somebody steers an avatar.
    Steer,
    Revive(NodeId),
}

/// Whoever steers the avatars that the world begins with.
const HAND: GatewayId = GatewayId { number: u32::MAX, life: 1 };

struct Cluster {
    options: Options,
    now: Time,
    dice: Dice,
    faults: Faults,
    start: Start,
    timing: Timing,
    tuning: Tuning,
    scenery: Arc<Vec<Object>>,
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    waiting: BTreeMap<u64, What>,
    number: u64,
    machines: BTreeMap<Address, Machine>,
    /// How many nodes there ever were.
    nodes: u32,
    /// Links that fail, in one direction, until when.
    cuts: BTreeMap<(Address, Address), Time>,
    referees: Referees,
    outcome: Outcome,
    /// What avatars were told to do.
    hand: Stream,
    wants: u64,
    heal_at: Time,
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
        let start = draw(options.objects, options.matter, &mut dice);
        let faults = Faults::draw(options.weather, &mut dice);
        let timing = Timing { rate: options.rate, ..Timing::default() };
        let founder = Member { node: NodeId(0), life: 1 };
        let directory = Directory::new(founder, start.extent, timing).with_mutant(options.mutant);
        let mut referees = Referees::new(&start.objects, &start.shapes, options.rate);
        let (tuning, scenery) = (tuning(timing), scenery(&start));
        if options.operation == Operation::Unsynchronised {
            referees.judge_loose(&start, tuning, faults.delay + faults.jitter, options.matter);
        }
        let heal_at = Time((options.seconds * 1e6) as u64);
        let mut cluster = Cluster {
            options,
            now: Time(0),
            dice,
            faults,
            start,
            timing,
            tuning,
            scenery,
            queue: BinaryHeap::new(),
            waiting: BTreeMap::new(),
            number: 0,
            machines: BTreeMap::new(),
            nodes: 0,
            cuts: BTreeMap::new(),
            referees,
            outcome: Outcome::default(),
            hand: Stream::new(Source::Gateway(HAND), 1),
            wants: 0,
            heal_at,
        };
        cluster.add_machine(Address::Directory, Role::Directory(Box::new(directory)));
        let drift = cluster.machines.get(&Address::Directory).map_or(0, |machine| machine.drift);
        cluster.referees.directory_drifts(drift);
        for _ in 0..options.nodes.max(1) {
            cluster.add_node();
        }
        cluster.after(1000, What::Fate);
        cluster.after(20_000, What::Steer);
        cluster
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
        let role = self.fresh(member, id == NodeId(0));
        self.add_machine(Address::Node(id), role);
    }

    /// A node at the beginning of a life. The founder has the world.
    fn fresh(&self, member: Member, founds: bool) -> Role {
        let (shapes, timing, mutant) =
            (self.start.shapes.clone(), self.timing, self.options.mutant);
        let objects = self.start.objects.iter().copied();
        match self.options.operation {
            Operation::Synchronised => {
                let node = match founds {
                    true => Node::founder(member, shapes, timing, objects),
                    false => Node::new(member, shapes, timing),
                };
                Role::Node(Box::new(node.with_mutant(mutant)))
            }
            Operation::Unsynchronised => {
                let node = LooseNode::new(member, shapes, self.scenery.clone(), self.tuning);
                let node = if founds { node.founding(objects) } else { node };
                Role::Loose(Box::new(node.with_mutant(mutant)))
            }
        }
    }

    fn directory(&self) -> Option<&Directory> {
        directory_of(&self.machines)
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
        let end = Time(self.heal_at.0 * 2 + 3_000_000);
        let mut healed = false;
        let mut ticks_then = 0;
        let mut marked = false;
        while let Some(Reverse((time, number))) = self.queue.pop() {
            let Some(what) = self.waiting.remove(&number) else { continue };
            self.now = time;
            self.outcome.events += 1;
            if !healed && self.now >= self.heal_at {
                healed = true;
                self.heal();
            }
            if healed && ticks_then == 0 && self.now.0 >= self.heal_at.0 + 3_000_000 {
                ticks_then = self.referees.published_ticks().max(1);
            }
            if !marked && self.now.0 + 1_500_000 > end.0 {
                marked = true;
                self.referees.loose_mark();
            }
            if self.now > end || self.referees.failed() {
                break;
            }
            self.happen(what);
        }
        if self.referees.failed() {
            return;
        }
        if let Some(directory) = directory_of(&self.machines) {
            self.referees.loose_end(self.now, directory.view());
        }
        // L1: three seconds after the faults have stopped, ticks are committed again.
        if self.referees.published_ticks() <= ticks_then {
            let what = format!(
                "no tick after {} although nothing fails any more; view {}, stable: {}",
                ticks_then,
                self.directory().map_or(0, |directory| directory.view().epoch.0),
                self.directory().is_some_and(Directory::is_stable)
            );
            self.referees.note(self.now, vec![("L1", what)]);
        }
    }

    fn heal(&mut self) {
        self.faults = self.faults.healed();
        self.cuts.clear();
        for machine in self.machines.values_mut() {
            machine.parted = self.now;
            machine.paused = self.now;
        }
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Deliver(to, from, message) => self.deliver(to, from, message),
            What::Wake(who, alarm) => self.wake(who, alarm),
            What::Fate => {
                self.fate();
                self.referees.loose_look(self.now);
                self.after(1000, What::Fate);
            }
            What::Steer => {
                self.steer();
                let later = 10_000 + self.dice.below(60_000);
                self.after(later, What::Steer);
            }
            What::Revive(id) => self.revive(id),
        }
    }

    fn deliver(&mut self, to: Address, from: Address, message: Message) {
        let Some(machine) = self.machines.get_mut(&to) else { return };
        if machine.paused > self.now {
            let later = machine.paused.0 - self.now.0;
            return self.after(later, What::Deliver(to, from, message));
        }
        let local = machine.local(self.now);
        let Some(role) = &mut machine.role else { return };
        let mut out = Vec::new();
        role.receive(local, from, message, &mut out);
        self.work(to, out);
        self.watch(to);
        self.set_alarm(to);
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
        let local = machine.local(self.now);
        let Some(role) = &mut machine.role else { return };
        let mut out = Vec::new();
        role.wake(local, &mut out);
        self.work(who, out);
        self.watch(who);
        self.set_alarm(who);
    }

    /// The referees look at a node of an unsynchronised group, and at all of them now and then.
    fn watch(&mut self, who: Address) {
        let Some(machine) = self.machines.get(&who) else { return };
        let directory = directory_of(&self.machines);
        if let (Some(Role::Loose(node)), Some(directory)) = (&machine.role, directory) {
            let view = directory.is_stable().then(|| directory.view());
            let local = machine.local(self.now);
            self.referees.loose_saw(self.now, node, node.is_suspended(local), view);
        }
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
                    self.referees.sent(self.now, from, to, &message);
                    self.transmit(from, to, message);
                }
                Output::Happened(event) => {
                    self.trace(event.a.0 << 32 ^ event.b.0 << 8 ^ event.edge as u64);
                    self.referees.loose_happened(self.now, from, event);
                }
                Output::Publish(commit) => {
                    self.trace(commit.tick.0 ^ (commit.touches.len() as u64) << 40);
                    self.hand.heard(commit.heard_of(self.hand.source()));
                    self.referees.published(self.now, &commit);
                }
            }
        }
    }

    fn transmit(&mut self, from: Address, to: Address, message: Message) {
        self.outcome.messages += 1;
        let Faults { delay, jitter, loss, doubled, clogged, .. } = self.faults;
        if self.is_cut(from, to) || self.dice.once_in_million(loss) {
            self.referees.late(self.now, from, to, self.now);
            return;
        }
        let copies = 1 + u32::from(self.dice.once_in_million(doubled));
        for _ in 0..copies {
            let mut later = delay + self.dice.below(jitter + 1);
            if self.dice.once_in_million(clogged) {
                later += self.dice.below(1_000_000);
                self.referees.late(self.now, from, to, Time(self.now.0 + later));
            }
            self.trace(later);
            self.after(later, What::Deliver(to, from, message.clone()));
        }
    }

    fn is_cut(&self, from: Address, to: Address) -> bool {
        let parted = |who| self.machines.get(&who).is_some_and(|m| m.parted > self.now);
        let cut = self.cuts.get(&(from, to)).is_some_and(|until| *until > self.now);
        cut || parted(from) || parted(to)
    }

    fn trace(&mut self, number: u64) {
        let mixed = (self.outcome.trace ^ number).wrapping_mul(0x0000_0100_0000_01b3);
        self.outcome.trace = mixed.rotate_left(17);
    }

    /// Somebody tells all nodes what avatars are to do, until it has happened; whoever leads hears
    /// it.
    fn steer(&mut self) {
        if self.start.avatars.is_empty() {
            return;
        }
        let at = self.dice.below(self.start.avatars.len() as u64) as usize;
        let avatar = self.start.avatars[at];
        self.wants += 1;
        let velocity = [(); 3].map(|()| self.dice.between(-3000, 3000) as i16);
        let want = Want { avatar, number: self.wants, velocity, spin: [0; 3] };
        let steer = vec![Input::Steer(want)];
        let inputs = match self.options.operation {
            // Only the newest counts, and nobody answers.
            Operation::Unsynchronised => {
                let (source, first) = (self.hand.source(), self.wants);
                Some(Inputs { source, first, inputs: vec![steer] })
            }
            Operation::Synchronised => {
                self.hand.push(steer);
                self.hand.message()
            }
        };
        let Some(inputs) = inputs else { return };
        for id in (0..self.nodes).map(NodeId) {
            let message = Message::Inputs(inputs.clone());
            self.transmit(Address::Gateway(HAND), Address::Node(id), message);
        }
    }

    fn finish(self) -> Outcome {
        let views = self.directory().map_or(0, |directory| directory.view().epoch.0);
        let (ticks, collisions) = (self.referees.published_ticks(), self.referees.collisions());
        let sometimes = self.referees.sometimes();
        Outcome {
            verdict: self.referees.verdict(),
            sometimes,
            ticks,
            collisions,
            views,
            ..self.outcome
        }
    }
}

fn directory_of(machines: &BTreeMap<Address, Machine>) -> Option<&Directory> {
    match machines.get(&Address::Directory)?.role.as_ref()? {
        Role::Directory(directory) => Some(directory),
        Role::Node(_) | Role::Loose(_) => None,
    }
}

/// How an unsynchronised group works in these worlds: what is longer than three metres is wide.
fn tuning(timing: Timing) -> Tuning {
    Tuning { timing, largest: 6144, ..Tuning::default() }
}

/// What never moves.
fn scenery(start: &Start) -> Arc<Vec<Object>> {
    let still = start.objects.iter().filter(|object| object.class == Class::Immovable);
    Arc::new(still.copied().collect())
}
