//! All machines, one queue of events, one clock that goes from event to event.

mod crowd;
mod fate;
mod hostile;
mod machine;

use crate::dice::Dice;
use crate::faults::{Faults, Weather};
use crate::referee::{Referees, Sometimes, Verdict};
use crate::world::{Matter, Start, draw};
use crowd::{Crowd, OVERHEARD};
use jostle_proto::{
    Address, ClientId, ClientSays, Directory, GatewayId, Input, Member, Message, Mutant, Node,
    NodeId, Output, Source, Stream, Time, Timing, Want,
};
use machine::{Machine, Role};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Nodes at the beginning.
    pub nodes: u32,
    /// Objects, without the six walls.
    pub objects: u32,
    /// Clients; gateways for them if there are any.
    pub clients: u32,
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
    /// To whom, from whom.
    Deliver(Address, Address, Message),
    Wake(Address, u64),
    /// A millisecond has passed: faults are thrown for.
    Fate,
    /// Somebody steers an avatar.
    Steer,
    Revive(NodeId),
    /// A client's user does something.
    Whim(usize),
    /// A client comes back.
    ComeBack(usize),
    /// A gateway comes back.
    Reopen(Address),
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
    crowd: Crowd,
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
        let crowd = Crowd::draw(options.clients, options.weather, &start, &mut dice);
        let house = crowd.house(options.rate);
        let referees = Referees::new(&start.objects, &start.shapes, options.rate, house);
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
            machines: BTreeMap::new(),
            nodes: 0,
            cuts: BTreeMap::new(),
            referees,
            outcome: Outcome::default(),
            hand: Stream::new(Source::Gateway(HAND), 1),
            wants: 0,
            crowd,
            heal_at,
        };
        cluster.add_machine(Address::Directory, Role::Directory(Box::new(directory)));
        for _ in 0..options.nodes.max(1) {
            cluster.add_node();
        }
        cluster.add_crowd();
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
        let shapes = self.start.shapes.clone();
        let node = if id == NodeId(0) {
            Node::founder(member, shapes, self.timing, self.start.objects.iter().copied())
        } else {
            Node::new(member, shapes, self.timing)
        };
        let node = node.with_mutant(self.options.mutant);
        self.add_machine(Address::Node(id), Role::Node(Box::new(node)));
    }

    fn directory(&self) -> Option<&Directory> {
        match self.machines.get(&Address::Directory)?.role.as_ref()? {
            Role::Directory(directory) => Some(directory),
            _ => None,
        }
    }

    fn node(&self, id: NodeId) -> Option<&Node> {
        match self.machines.get(&Address::Node(id))?.role.as_ref()? {
            Role::Node(node) => Some(node),
            _ => None,
        }
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
                self.directory().map_or(0, |directory| directory.view().epoch.0),
                self.directory().is_some_and(Directory::is_stable)
            );
            self.referees.note(self.now, vec![("L1", what)]);
        }
        self.judge_clients();
    }

    fn heal(&mut self) {
        self.faults = self.faults.healed();
        self.crowd.heal();
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
                self.crowd_fate();
                self.after(1000, What::Fate);
            }
            What::Steer => {
                self.steer();
                let later = 10_000 + self.dice.below(60_000);
                self.after(later, What::Steer);
            }
            What::Revive(id) => self.revive(id),
            What::Whim(at) => self.whim(at),
            What::ComeBack(at) => self.come_back(at),
            What::Reopen(gate) => self.reopen(gate),
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
        if machine.paused > self.now {
            let later = machine.paused.0 - self.now.0;
            return self.after(later, What::Deliver(to, from, message));
        }
        let local = machine.local(self.now);
        let Some(role) = &mut machine.role else { return };
        let mut out = Vec::new();
        role.receive(local, from, message, &mut out);
        self.judge_role(key);
        self.work(key, out);
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
        let local = machine.local(self.now);
        let Some(role) = &mut machine.role else { return };
        let mut out = Vec::new();
        role.wake(local, &mut out);
        self.judge_role(who);
        self.work(who, out);
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
                    self.referees.sent(self.now, from, to, &message);
                    self.overhear(&message);
                    self.transmit(from, to, message);
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
        let faults = self.crowd.line(from, to).unwrap_or(self.faults);
        let Faults { delay, jitter, loss, doubled, clogged, .. } = faults;
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
            self.after(later, What::Deliver(to, from, message.clone()));
        }
    }

    fn is_cut(&self, from: Address, to: Address) -> bool {
        let (from, to) = (place_of(from), place_of(to));
        let parted = |who| self.machines.get(&who).is_some_and(|m| m.parted > self.now);
        let cut = self.cuts.get(&(from, to)).is_some_and(|until| *until > self.now);
        cut || parted(from) || parted(to)
    }

    /// Hostile clients know what others say, except for credentials: lines are encrypted, and
    /// whoever has one's credential is one.
    fn overhear(&mut self, message: &Message) {
        if let Message::Asked(says) = message
            && !matches!(says, ClientSays::Hello(hello) if hello.credential.is_some())
        {
            self.crowd.overheard.push_back(*says);
            if self.crowd.overheard.len() > OVERHEARD {
                self.crowd.overheard.pop_front();
            }
        }
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
        self.hand.push(vec![Input::Steer(want)]);
        let Some(inputs) = self.hand.message() else { return };
        for id in (0..self.nodes).map(NodeId) {
            let message = Message::Inputs(inputs.clone());
            self.transmit(Address::Gateway(HAND), Address::Node(id), message);
        }
    }

    /// What can be seen of a machine from outside. What hostile clients see is their own affair.
    fn judge_role(&mut self, who: Address) {
        let honest = |id: ClientId| !self.crowd.people[id.host as usize].hostile;
        let role = self.machines.get_mut(&who).and_then(|machine| machine.role.as_mut());
        match role {
            Some(Role::Client(client)) if honest(client.id()) => {
                self.referees.look(self.now, client);
            }
            Some(Role::Gateway(gateway)) => self.referees.held(self.now, &gateway.holdings()),
            Some(Role::Node(node)) => self.referees.held(self.now, &node.holdings()),
            _ => {}
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

/// Where a machine is kept: a gateway by its number, whatever life it is in.
fn place_of(address: Address) -> Address {
    match address {
        Address::Gateway(id) => Address::Gate(id.number),
        other => other,
    }
}
