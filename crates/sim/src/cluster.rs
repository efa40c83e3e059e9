//! All machines, one queue of events, one clock that goes from event to event.

use crate::dice::Dice;
use crate::faults::{Faults, Weather};
use crate::referee::{Referees, Sometimes, Verdict};
use crate::world::{Matter, Start, draw};
use jostle_proto::{
    Address, Directory, Member, Message, Mutant, Node, NodeId, Output, Time, Timing, Want,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

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
    Deliver(Address, Message),
    Wake(Address, u64),
    /// A millisecond has passed: faults are thrown for.
    Fate,
    /// Somebody steers an avatar.
    Steer,
    Revive(NodeId),
}

/// A machine and what is wrong with it.
struct Machine {
    node: Option<Node>,
    /// Until when it stands still.
    paused: Time,
    /// Until when nobody reaches it.
    parted: Time,
    /// Of its clock, in parts of a million.
    drift: i64,
    /// Numbers its alarms: only the newest counts.
    alarm: u64,
    /// Its last life, which a machine must remember whatever else it forgets.
    life: u32,
}

struct Cluster {
    options: Options,
    now: Time,
    dice: Dice,
    faults: Faults,
    start: Start,
    timing: Timing,
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    waiting: BTreeMap<u64, What>,
    number: u64,
    directory: Directory,
    directory_paused: Time,
    directory_alarm: u64,
    machines: BTreeMap<NodeId, Machine>,
    /// Links that fail, in one direction, until when.
    cuts: BTreeMap<(Address, Address), Time>,
    referees: Referees,
    outcome: Outcome,
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
        let referees = Referees::new(&start.objects, &start.shapes, options.rate);
        let heal_at = Time((options.seconds * 1e6) as u64);
        let mut cluster = Cluster {
            options,
            now: Time(0),
            dice,
            faults,
            start,
            timing,
            queue: BinaryHeap::new(),
            waiting: BTreeMap::new(),
            number: 0,
            directory,
            directory_paused: Time(0),
            directory_alarm: 0,
            machines: BTreeMap::new(),
            cuts: BTreeMap::new(),
            referees,
            outcome: Outcome::default(),
            wants: 0,
            heal_at,
        };
        for number in 0..options.nodes.max(1) {
            cluster.add_machine(NodeId(number));
        }
        cluster.after(1000, What::Fate);
        cluster.after(0, What::Wake(Address::Directory, 0));
        cluster.after(20_000, What::Steer);
        cluster
    }

    fn add_machine(&mut self, id: NodeId) {
        let member = Member { node: id, life: 1 };
        let shapes = self.start.shapes.clone();
        let node = if id == NodeId(0) {
            Node::founder(member, shapes, self.timing, self.start.objects.iter().copied())
        } else {
            Node::new(member, shapes, self.timing)
        };
        let node = Some(node.with_mutant(self.options.mutant));
        let span = i64::from(self.faults.drift);
        let drift = self.dice.between(-span, span);
        let machine = Machine { node, paused: Time(0), parted: Time(0), drift, alarm: 0, life: 1 };
        self.machines.insert(id, machine);
        let later = self.dice.below(50_000);
        self.after(later, What::Wake(Address::Node(id), 0));
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
            if self.now > end || self.referees.failed() {
                break;
            }
            self.happen(what);
        }
        if self.referees.failed() {
            return;
        }
        // L1: three seconds after the faults have stopped, ticks are committed again.
        if self.referees.published_ticks() <= ticks_then {
            let what = format!(
                "no tick after {} although nothing fails any more; view {}, stable: {}",
                ticks_then,
                self.directory.view().epoch.0,
                self.directory.is_stable()
            );
            self.referees.note(self.now, vec![("L1", what)]);
        }
    }

    fn heal(&mut self) {
        self.faults = self.faults.healed();
        self.cuts.clear();
        self.directory_paused = self.now;
        for machine in self.machines.values_mut() {
            machine.parted = self.now;
            machine.paused = self.now;
        }
    }

    fn happen(&mut self, what: What) {
        match what {
            What::Deliver(to, message) => self.deliver(to, message),
            What::Wake(who, alarm) => self.wake(who, alarm),
            What::Fate => {
                self.fate();
                self.after(1000, What::Fate);
            }
            What::Steer => {
                self.steer();
                let later = 10_000 + self.dice.below(60_000);
                self.after(later, What::Steer);
            }
            What::Revive(id) => {
                if let Some(machine) = self.machines.get_mut(&id) {
                    machine.life += 1;
                    let member = Member { node: id, life: machine.life };
                    let fresh = Node::new(member, self.start.shapes.clone(), self.timing)
                        .with_mutant(self.options.mutant);
                    machine.node = Some(fresh);
                    machine.alarm += 1;
                    let alarm = machine.alarm;
                    self.after(0, What::Wake(Address::Node(id), alarm));
                }
            }
        }
    }

    /// A machine's own time: its clock may be too fast or too slow.
    fn local(&self, id: NodeId) -> Time {
        let drift = self.machines.get(&id).map_or(0, |machine| machine.drift);
        Time((i128::from(self.now.0) * i128::from(1_000_000 + drift) / 1_000_000) as u64)
    }

    fn deliver(&mut self, to: Address, message: Message) {
        let mut out = Vec::new();
        match to {
            Address::Directory => {
                if self.directory_paused > self.now {
                    let later = self.directory_paused.0 - self.now.0;
                    return self.after(later, What::Deliver(to, message));
                }
                self.directory.receive(self.now, message, &mut out);
            }
            Address::Node(id) => {
                let local = self.local(id);
                let Some(machine) = self.machines.get_mut(&id) else { return };
                if machine.paused > self.now {
                    let later = machine.paused.0 - self.now.0;
                    return self.after(later, What::Deliver(to, message));
                }
                let Some(node) = &mut machine.node else { return };
                node.receive(local, message, &mut out);
            }
            Address::Outside => {}
        }
        self.work(to, out);
        self.set_alarm(to);
    }

    fn wake(&mut self, who: Address, alarm: u64) {
        let mut out = Vec::new();
        match who {
            Address::Directory => {
                if alarm != self.directory_alarm {
                    return;
                }
                if self.directory_paused > self.now {
                    let later = self.directory_paused.0 - self.now.0;
                    return self.after(later, What::Wake(who, alarm));
                }
                self.directory.wake(self.now, &mut out);
            }
            Address::Node(id) => {
                let local = self.local(id);
                let Some(machine) = self.machines.get_mut(&id) else { return };
                if alarm != machine.alarm {
                    return;
                }
                if machine.paused > self.now {
                    let later = machine.paused.0 - self.now.0;
                    return self.after(later, What::Wake(who, alarm));
                }
                let Some(node) = &mut machine.node else { return };
                node.wake(local, &mut out);
            }
            Address::Outside => return,
        }
        self.work(who, out);
        self.set_alarm(who);
    }

    /// Asks a machine when it wants to be woken; older alarms are off.
    fn set_alarm(&mut self, who: Address) {
        let (at, alarm) = match who {
            Address::Directory => {
                self.directory_alarm += 1;
                (self.directory.wake_at(), self.directory_alarm)
            }
            Address::Node(id) => {
                let local = self.local(id);
                let Some(machine) = self.machines.get_mut(&id) else { return };
                let Some(node) = &machine.node else { return };
                machine.alarm += 1;
                let wait = (node.wake_at() - local).0;
                let real = i128::from(wait) * 1_000_000 / i128::from(1_000_000 + machine.drift);
                (Time(self.now.0 + real as u64 + 1), machine.alarm)
            }
            Address::Outside => return,
        };
        let later = at.0.saturating_sub(self.now.0).max(1);
        self.after(later, What::Wake(who, alarm));
    }

    fn work(&mut self, from: Address, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Send(to, message) => {
                    self.referees.sent(self.now, from, to, &message);
                    self.transmit(from, to, message);
                }
                Output::Publish(commit) => {
                    self.trace(commit.tick.0 ^ (commit.touches.len() as u64) << 40);
                    self.referees.published(self.now, &commit);
                }
            }
        }
    }

    fn transmit(&mut self, from: Address, to: Address, message: Message) {
        self.outcome.messages += 1;
        let Faults { delay, jitter, loss, doubled, clogged, .. } = self.faults;
        if self.is_cut(from, to) || self.dice.once_in_million(loss) {
            return;
        }
        let copies = 1 + u32::from(self.dice.once_in_million(doubled));
        for _ in 0..copies {
            let mut later = delay + self.dice.below(jitter + 1);
            if self.dice.once_in_million(clogged) {
                later += self.dice.below(1_000_000);
            }
            self.trace(later);
            self.after(later, What::Deliver(to, message.clone()));
        }
    }

    fn is_cut(&self, from: Address, to: Address) -> bool {
        let parted = |who| match who {
            Address::Node(id) => self.machines.get(&id).is_some_and(|m| m.parted > self.now),
            _ => false,
        };
        let cut = self.cuts.get(&(from, to)).is_some_and(|until| *until > self.now);
        cut || parted(from) || parted(to)
    }

    fn trace(&mut self, number: u64) {
        let mixed = (self.outcome.trace ^ number).wrapping_mul(0x0000_0100_0000_01b3);
        self.outcome.trace = mixed.rotate_left(17);
    }

    fn any_node(&mut self) -> Option<NodeId> {
        let at = self.dice.below(self.machines.len() as u64) as usize;
        self.machines.keys().nth(at).copied()
    }

    /// Throws for every kind of fault.
    fn fate(&mut self) {
        let Faults { cut, parted, crash, pause, directory_pause, join, .. } = self.faults;
        if self.dice.once_in_million(cut)
            && let (Some(a), Some(b)) = (self.any_node(), self.any_node())
        {
            let to = if self.dice.below(4) == 0 { Address::Directory } else { Address::Node(b) };
            let link =
                if self.dice.coin() { (Address::Node(a), to) } else { (to, Address::Node(a)) };
            let until = Time(self.now.0 + self.dice.below(2_000_000));
            self.cuts.insert(link, until);
        }
        if self.dice.once_in_million(parted)
            && let Some(id) = self.any_node()
        {
            let until = Time(self.now.0 + self.dice.below(2_000_000));
            self.machines.entry(id).and_modify(|machine| machine.parted = until);
        }
        if self.dice.once_in_million(pause)
            && let Some(id) = self.any_node()
        {
            let until = Time(self.now.0 + self.dice.below(2_000_000));
            self.machines.entry(id).and_modify(|machine| machine.paused = until);
        }
        if self.dice.once_in_million(directory_pause) {
            self.directory_paused = Time(self.now.0 + self.dice.below(1_000_000));
        }
        if self.dice.once_in_million(crash) {
            self.crash();
        }
        if self.dice.once_in_million(join) && self.machines.len() < 8 {
            self.add_machine(NodeId(self.machines.len() as u32));
        }
    }

    /// Kills a node, if the cluster can bear it: one between two stable views (the budget that one
    /// buddy each gives).
    fn crash(&mut self) {
        let Some(id) = self.any_node() else { return };
        let view = self.directory.view();
        let lives = |id: NodeId| self.machines.get(&id).is_some_and(|m| m.node.is_some());
        let whole = self.directory.is_stable()
            && view.ring.len() > 1
            && view.nodes().all(lives)
            && view.ring.iter().all(|member| {
                let node = self.machines.get(&member.node).and_then(|m| m.node.as_ref());
                node.is_some_and(|node| node.member() == *member && node.tick().is_some())
            });
        if !whole {
            return;
        }
        if let Some(machine) = self.machines.get_mut(&id)
            && let Some(node) = machine.node.take()
        {
            machine.life = node.member().life;
            machine.alarm += 1;
            self.outcome.crashes += 1;
            let leads = self.directory.view().leader().is_some_and(|leader| leader.node == id);
            self.referees.crashed(leads);
            let later = 200_000 + self.dice.below(2_000_000);
            self.after(later, What::Revive(id));
        }
    }

    /// Somebody outside tells all nodes what an avatar wants; whoever leads hears it.
    fn steer(&mut self) {
        if self.start.avatars.is_empty() {
            return;
        }
        let at = self.dice.below(self.start.avatars.len() as u64) as usize;
        let avatar = self.start.avatars[at];
        self.wants += 1;
        let velocity = [(); 3].map(|()| self.dice.between(-3000, 3000) as i16);
        let want = Want { avatar, number: self.wants, velocity };
        let nodes: Vec<NodeId> = self.machines.keys().copied().collect();
        for id in nodes {
            self.transmit(Address::Outside, Address::Node(id), Message::Want(want));
        }
    }

    fn finish(self) -> Outcome {
        let views = self.directory.view().epoch.0;
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
