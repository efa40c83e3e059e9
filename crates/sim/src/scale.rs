//! What a tick costs on one node and on many, when nothing fails (Storey 2006, 5.4 to 5.6).
//!
//! All nodes run in one thread, one after the other, and each is timed by itself: the busiest one
//! is as long as a tick would take if each had a machine of its own and messages took no time.
//! Twice: once while they take turns, and once with each going through the same messages alone, as
//! it would on a machine of its own (see `tape`).

mod tape;

use crate::dice::Dice;
use crate::world::{Layout, Matter, draw};
use jostle_proto::{Address, Directory, Member, Message, Node, NodeId, Output, Time, Timing};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use tape::{Heard, Tape};

/// What is to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// How many nodes.
    pub nodes: u32,
    /// How many objects, without the six walls.
    pub objects: u32,
    /// How many ticks.
    pub ticks: u32,
    /// What objects are made of.
    pub matter: Matter,
    /// Decides about the world.
    pub seed: u64,
}

/// What nodes do in a tick, in numbers that no clock and no other program can change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Pairs that had to be decided about.
    pub pairs: f64,
    /// Objects that were moved.
    pub moved: f64,
    /// States of objects that were sent to others: handed over, shown to a neighbour, copied to a
    /// backup.
    pub sent: f64,
}

impl Work {
    fn each(self, other: Work, both: impl Fn(f64, f64) -> f64) -> Work {
        Work {
            pairs: both(self.pairs, other.pairs),
            moved: both(self.moved, other.moved),
            sent: both(self.sent, other.sent),
        }
    }

    fn plus(self, other: Work) -> Work {
        self.each(other, |a, b| a + b)
    }
}

/// What a tick took, in the mean over all ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// On whichever node was the busiest in each tick.
    pub busiest: Duration,
    /// On all nodes, in the mean.
    pub mean: Duration,
    /// On the leader.
    pub leader: Duration,
}

impl Times {
    /// Adds a tick, and how long each node took for it.
    fn add(&mut self, spent: &BTreeMap<NodeId, Duration>, leader: Option<NodeId>) {
        let sum: Duration = spent.values().sum();
        self.busiest += spent.values().max().copied().unwrap_or_default();
        self.mean += sum / spent.len().max(1) as u32;
        self.leader += leader.and_then(|id| spent.get(&id)).copied().unwrap_or_default();
    }

    fn over(self, ticks: u32) -> Times {
        let Times { busiest, mean, leader } = self;
        Times { busiest: busiest / ticks, mean: mean / ticks, leader: leader / ticks }
    }
}

/// What a tick cost, in the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scaled {
    /// Each node alone with what it heard.
    pub alone: Times,
    /// The nodes in turns, as they ran.
    pub in_turns: Times,
    /// Messages.
    pub messages: f64,
    /// Of all nodes together.
    pub all: Work,
    /// Of the node that has the most of each to do.
    pub most: Work,
    /// Pairs that touched.
    pub collisions: f64,
}

struct Bench {
    now: Time,
    directory: Directory,
    nodes: BTreeMap<NodeId, Node>,
    queue: VecDeque<(Address, Message)>,
    stopwatch: fn() -> Duration,
    spent: BTreeMap<NodeId, Duration>,
    /// Of this tick.
    work: BTreeMap<NodeId, Work>,
    sums: Scaled,
    ticks: u32,
    /// What nodes hear in the ticks that are measured, and in a few before.
    tape: Option<Tape>,
    /// Who leads in each of those.
    leaders: Vec<Option<NodeId>>,
    measuring: bool,
}

/// Measures; `stopwatch` reads a clock, since there is none here. None if the nodes do not come
/// together.
#[must_use]
pub fn measure(scale: Scale, stopwatch: fn() -> Duration) -> Option<Scaled> {
    let mut bench = Bench::new(scale, stopwatch);
    // The nodes come together within the first seconds of the world.
    while bench.now < Time(5_000_000) && !bench.is_together(scale.nodes) {
        bench.advance();
    }
    if !bench.is_together(scale.nodes) {
        return None;
    }
    for _ in 0..(SETTLING / u64::from(scale.objects.max(1))).clamp(WARM_UP_LEAST, WARM_UP_MOST) {
        bench.tick();
    }
    bench.tape = Some(Tape::new(&bench.nodes));
    for _ in 0..LEAD_IN {
        bench.tick();
    }
    (bench.measuring, bench.ticks, bench.sums) = (true, 0, Scaled::default());
    while bench.ticks < scale.ticks.max(1) {
        bench.tick();
    }
    bench.play();
    Some(bench.means())
}

/// Ticks before the first that is measured: in four seconds the directory hears what all nodes have
/// to do and cuts the regions anew, as it does in any group that lasts. Of very large worlds fewer,
/// so that objects times ticks do not get more than this; their regions stay as they were cut at
/// first, evenly.
const WARM_UP_MOST: u64 = 240;
const WARM_UP_LEAST: u64 = 5;
const SETTLING: u64 = 5_000_000;

/// Ticks that a node goes through alone before the first that is measured, to find its caches as
/// it left them.
const LEAD_IN: usize = 4;

impl Bench {
    fn new(scale: Scale, stopwatch: fn() -> Duration) -> Bench {
        let start = draw(scale.objects, scale.matter, Layout::Uniform, &mut Dice::new(scale.seed));
        let timing = Timing { rate: 60, ..Timing::default() };
        let member = |number| Member { node: NodeId(number), life: 1 };
        let founder = Node::founder(member(0), start.shapes.clone(), timing, start.objects);
        let others = (1..scale.nodes)
            .map(|n| (NodeId(n), Node::new(member(n), start.shapes.clone(), timing)));
        Bench {
            now: Time(0),
            directory: Directory::new(member(0), start.extent, timing),
            nodes: others.chain([(NodeId(0), founder)]).collect(),
            queue: VecDeque::new(),
            stopwatch,
            spent: BTreeMap::new(),
            work: BTreeMap::new(),
            sums: Scaled::default(),
            ticks: 0,
            tape: None,
            leaders: Vec::new(),
            measuring: false,
        }
    }

    fn is_together(&self, nodes: u32) -> bool {
        let ticking = self.nodes.values().all(|node| node.tick().is_some());
        self.directory.is_stable() && self.directory.view().ring.len() == nodes as usize && ticking
    }

    /// Goes on until the next tick is published.
    fn tick(&mut self) {
        let before = self.ticks;
        while self.ticks == before {
            self.advance();
        }
    }

    /// Delivers what is on its way, or lets time pass until a node wants to be woken.
    fn advance(&mut self) {
        if let Some((to, message)) = self.queue.pop_front() {
            let mut out = Vec::new();
            match to {
                Address::Directory => self.directory.receive(self.now, message, &mut out),
                Address::Node(id) => {
                    self.record(id, |now| Heard::Received(now, message.clone()));
                    let begin = (self.stopwatch)();
                    if let Some(node) = self.nodes.get_mut(&id) {
                        node.receive(self.now, message, &mut out);
                    }
                    self.add_time(id, begin);
                }
                _ => {}
            }
            return self.work(out);
        }
        let wakes = self.nodes.values().map(Node::wake_at).chain([self.directory.wake_at()]);
        let next = wakes.min().unwrap_or(self.now);
        self.now = self.now.max(next);
        let mut out = Vec::new();
        if self.directory.wake_at() <= self.now {
            self.directory.wake(self.now, &mut out);
        }
        let is_due = |node: &Node| node.wake_at() <= self.now;
        let due = self.nodes.iter().filter(|(_, node)| is_due(node)).map(|(id, _)| *id);
        for id in due.collect::<Vec<_>>() {
            self.record(id, Heard::Woken);
            let begin = (self.stopwatch)();
            if let Some(node) = self.nodes.get_mut(&id) {
                node.wake(self.now, &mut out);
            }
            self.add_time(id, begin);
        }
        self.work(out);
    }

    fn record(&mut self, id: NodeId, heard: impl FnOnce(Time) -> Heard) {
        if let Some(tape) = &mut self.tape {
            tape.add(id, heard(self.now));
        }
    }

    fn add_time(&mut self, id: NodeId, begin: Duration) {
        let time = (self.stopwatch)().saturating_sub(begin);
        *self.spent.entry(id).or_default() += time;
    }

    fn work(&mut self, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Send(to, message) => {
                    self.sums.messages += 1.0;
                    if let Message::Bundle(bundle) = &message {
                        let objects = bundle.transfers.len() + bundle.ghosts.len();
                        let kept = bundle.backup.len() + bundle.entrusted.len();
                        let work = self.work.entry(bundle.from).or_default();
                        work.sent += (objects + kept) as f64;
                    }
                    self.queue.push_back((to, message));
                }
                Output::Publish(commit) => {
                    self.sums.collisions += commit.touches.len() as f64;
                    self.end_tick();
                }
                // Of a free-running group.
                Output::Event(_) => {}
            }
        }
    }

    fn end_tick(&mut self) {
        self.ticks += 1;
        let leader = self.directory.view().leader().map(|leader| leader.node);
        if let Some(tape) = &mut self.tape {
            tape.end_tick();
            self.leaders.push(leader);
        }
        let spent = std::mem::take(&mut self.spent);
        let mut work = std::mem::take(&mut self.work);
        if !self.measuring {
            return;
        }
        for (id, node) in &self.nodes {
            let work = work.entry(*id).or_default();
            work.pairs = node.pairs_tested() as f64;
            work.moved = node.moved() as f64;
        }
        let all = work.values().copied().fold(Work::default(), Work::plus);
        let most = work.values().fold(Work::default(), |most, work| most.each(*work, f64::max));
        self.sums.all = self.sums.all.plus(all);
        self.sums.most = self.sums.most.plus(most);
        self.sums.in_turns.add(&spent, leader);
    }

    /// Lets every node go through what it heard alone.
    fn play(&mut self) {
        let Some(tape) = self.tape.take() else { return };
        let played = tape.play(self.stopwatch);
        for (tick, &leader) in self.leaders.iter().enumerate().skip(LEAD_IN) {
            let spent = |(&id, times): (&NodeId, &Vec<Duration>)| Some((id, *times.get(tick)?));
            self.sums.alone.add(&played.iter().filter_map(spent).collect(), leader);
        }
    }

    fn means(&self) -> Scaled {
        let (sums, ticks) = (&self.sums, self.ticks.max(1));
        Scaled {
            alone: sums.alone.over(ticks),
            in_turns: sums.in_turns.over(ticks),
            messages: sums.messages / f64::from(ticks),
            all: sums.all.each(sums.all, |sum, _| sum / f64::from(ticks)),
            most: sums.most.each(sums.most, |sum, _| sum / f64::from(ticks)),
            collisions: sums.collisions / f64::from(ticks),
        }
    }
}
