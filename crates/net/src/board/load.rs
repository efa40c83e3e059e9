//! What nodes spend their time on. Each node reports it to every process that has a door, so that
//! status and page show the nodes that are alive, wherever they run.

use jostle_proto::{LooseNode, Member, Node, Span, Stages, Time, Waiting};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Stage times are means over about this long,
const SECOND: Span = Span::from_ms(1000);
/// or over as long as a slow world takes for its next tick, but not longer.
const SLOWEST: Span = Span::from_ms(5000);

/// A node that has not reported for so long does not count any more,
const STALE: Span = Span::from_ms(2000);
/// and is not listed any more after so long.
const FORGOTTEN: Span = Span::from_ms(10_000);

/// Nodes that are listed.
const NODES_MAX: usize = 1024;

/// What a node has spent since it began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// In its machine.
    pub(crate) stages: Stages,
    /// On frames that came.
    pub(crate) unpacking: Duration,
    /// On messages that went.
    pub(crate) sending: Duration,
}

/// The stages of a tick, by name, in the order in which a report has them.
const STAGES: [&str; 5] = ["move", "bundles", "detect", "commit", "send"];

impl Spent {
    fn stages(&self) -> [Duration; 5] {
        let Stages { moving, bundles, detect, commit, .. } = self.stages;
        [moving, bundles + self.unpacking, detect, commit, self.sending]
    }
}

/// What a node reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    node: u32,
    life: u32,
    /// It is about to stop.
    leaving: bool,
    /// None if it had no tick lately, or has no ticks that a group agrees on.
    work: Option<Work>,
    /// What it has been waiting for, if that is long.
    waits: Option<String>,
}

/// What its ticks were like lately.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Work {
    ticks_per_second: f64,
    /// Milliseconds per tick, in the order of [`STAGES`].
    stages: [f64; 5],
    /// Pairs that it compared in its last tick.
    pairs_tested: u64,
    /// Pairs that touched in that tick, anywhere in the group.
    collisions: u64,
}

impl Load {
    /// Of a node without anything to report besides that it is there.
    pub(crate) fn idle(member: Member) -> Load {
        Load { node: member.node.0, life: member.life, leaving: false, work: None, waits: None }
    }

    /// Of a node whose group has no ticks that all agree on.
    pub(crate) fn free_running(now: Time, node: &LooseNode) -> Load {
        let long = node.waiting(now).filter(|(_, since)| *since >= LONG);
        let waits = long.map(|(nodes, since)| {
            let nodes: Vec<String> = nodes.iter().map(|node| node.0.to_string()).collect();
            let seconds = since.0 as f64 / 1e6;
            format!("no acknowledgement from nodes {} ({seconds:.1} s)", nodes.join(", "))
        });
        Load { waits, ..Load::idle(node.member()) }
    }

    /// Of a node that stops.
    pub(crate) fn leaving(member: Member) -> Load {
        Load { leaving: true, ..Load::idle(member) }
    }

    /// The node and its life, if it is about to stop.
    pub(super) fn leaves(&self) -> Option<(u32, u32)> {
        self.leaving.then_some((self.node, self.life))
    }
}

/// Waiting for less than this is ordinary.
const LONG: Span = Span::from_ms(1000);

/// Text about a wait, at most; nodes name others in it.
const WAITS_MAX: usize = 256;

fn waits_long(waiting: Option<Waiting>) -> Option<String> {
    waiting.filter(|it| it.since >= LONG).map(|it| it.to_string())
}

/// Whether a node here is known to be held up: one line in the log when that begins, and one when
/// it is over.
#[derive(Debug, Default)]
pub(crate) struct Stall(Option<Time>);

impl Stall {
    pub(crate) fn follow(&mut self, now: Time, load: &Load) {
        match (&load.waits, self.0) {
            (Some(waits), None) => {
                self.0 = Some(now);
                tracing::warn!("node {}: {waits}", load.node);
            }
            (None, Some(since)) => {
                self.0 = None;
                let seconds = ((now - since).0 + LONG.0) as f64 / 1e6;
                tracing::info!("node {} goes on after {seconds:.1} s", load.node);
            }
            _ => {}
        }
    }
}

impl Work {
    fn step_ms(&self) -> f64 {
        self.stages.iter().sum()
    }
}

/// Measures one node.
#[derive(Debug, Default)]
pub(crate) struct LoadMeter(VecDeque<(Time, Spent)>);

impl LoadMeter {
    /// What the node reports now.
    pub(crate) fn measure(&mut self, now: Time, node: &Node, spent: Spent) -> Load {
        let counted = (node.pairs_tested(), node.collisions() as u64);
        let work = self.work(now, spent, counted);
        Load { work, waits: waits_long(node.waiting(now)), ..Load::idle(node.member()) }
    }

    fn work(&mut self, now: Time, spent: Spent, counted: (u64, u64)) -> Option<Work> {
        self.0.push_back((now, spent));
        let ticks = spent.stages.ticks;
        let is_enough = |at: Time, then: &Spent| {
            let some = ticks > then.stages.ticks;
            (now - at >= SECOND && some) || now - at >= SLOWEST
        };
        while self.0.get(1).is_some_and(|(at, then)| is_enough(*at, then)) {
            self.0.pop_front();
        }
        let (at, first) = self.0.front()?;
        let ticks = ticks.checked_sub(first.stages.ticks).filter(|ticks| *ticks > 0)? as f64;
        let each = |index: usize| {
            let took = spent.stages()[index].saturating_sub(first.stages()[index]);
            (took.as_secs_f64() * 1e6 / ticks).round() / 1000.0
        };
        Some(Work {
            ticks_per_second: ticks * 1e6 / ((now - *at).0 as f64).max(1.0),
            stages: std::array::from_fn(each),
            pairs_tested: counted.0,
            collisions: counted.1,
        })
    }
}

/// One node as status lists it.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct StatusLoad {
    node: u32,
    /// Since it reported.
    age_ms: f64,
    ticks_per_second: Option<f64>,
    step_ms: Option<f64>,
    pairs_tested: Option<u64>,
    /// What it has been waiting for, if that is long.
    waits: Option<String>,
}

impl StatusLoad {
    /// As gauges for Prometheus: name, label, value.
    pub(super) fn gauges(&self) -> impl Iterator<Item = (&'static str, String, f64)> {
        let label = format!("{{node=\"{}\"}}", self.node);
        let all = [
            ("node_report_age_seconds", Some(self.age_ms / 1000.0)),
            ("node_step_seconds", self.step_ms.map(|ms| ms / 1000.0)),
            ("node_ticks_per_second", self.ticks_per_second),
            ("node_pairs_tested", self.pairs_tested.map(|pairs| pairs as f64)),
        ];
        all.into_iter().filter_map(move |(name, value)| Some((name, label.clone(), value?)))
    }
}

/// The nodes of a group together; nothing of it is known if none of them reports.
#[derive(Debug, PartialEq)]
pub(super) struct Together {
    /// Of the busiest node, whose ticks take longest: milliseconds per tick by name of stage.
    pub(super) stages: BTreeMap<&'static str, f64>,
    pub(super) busiest: u32,
    pub(super) pairs_tested: u64,
    pub(super) collisions: u64,
}

/// What all nodes have reported, and when.
#[derive(Debug, Default)]
pub(super) struct Loads(BTreeMap<u32, (Time, Load)>);

impl Loads {
    pub(super) fn hear(&mut self, now: Time, mut load: Load) {
        load.waits = load.waits.filter(|waits| waits.len() <= WAITS_MAX);
        self.0.retain(|_, (at, _)| now - *at < FORGOTTEN);
        if load.leaving {
            self.0.remove(&load.node);
        } else if self.0.len() < NODES_MAX || self.0.contains_key(&load.node) {
            self.0.insert(load.node, (now, load));
        }
    }

    /// Everything that was heard lately, with its age.
    pub(super) fn all(&self, now: Time) -> Vec<StatusLoad> {
        let recent = self.0.values().filter(|(at, _)| now - *at < FORGOTTEN);
        let shown = recent.map(|(at, load)| {
            let fresh = now - *at < STALE;
            let work = load.work.filter(|_| fresh);
            StatusLoad {
                node: load.node,
                age_ms: (now - *at).0 as f64 / 1000.0,
                ticks_per_second: work.map(|work| (work.ticks_per_second * 10.0).round() / 10.0),
                step_ms: work.map(|work| (work.step_ms() * 1000.0).round() / 1000.0),
                pairs_tested: work.map(|work| work.pairs_tested),
                waits: load.waits.clone().filter(|_| fresh),
            }
        });
        shown.collect()
    }

    /// What nodes have been waiting for, those that report.
    pub(super) fn prevented(&self, now: Time) -> Vec<String> {
        let fresh = self.0.values().filter(|(at, _)| now - *at < STALE);
        let waits = fresh.filter_map(|(_, load)| Some((load.node, load.waits.as_ref()?)));
        waits.map(|(node, waits)| format!("node {node}: {waits}")).collect()
    }

    /// Those nodes together that are in the group.
    pub(super) fn together(&self, now: Time, is_in: impl Fn(u32) -> bool) -> Option<Together> {
        let fresh = self.0.values().filter(|(at, load)| now - *at < STALE && is_in(load.node));
        let working: Vec<(u32, Work)> =
            fresh.filter_map(|(_, load)| Some((load.node, load.work?))).collect();
        let step = |work: &Work| work.step_ms();
        let (busiest, work) = working.iter().max_by(|a, b| step(&a.1).total_cmp(&step(&b.1)))?;
        Some(Together {
            stages: STAGES.into_iter().zip(work.stages).collect(),
            busiest: *busiest,
            pairs_tested: working.iter().map(|(_, work)| work.pairs_tested).sum(),
            collisions: working.iter().map(|(_, work)| work.collisions).max().unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_proto::{Awaits, NodeId, Tick};

    fn ms(ms: u64) -> Time {
        Time(0) + Span::from_ms(ms)
    }

    fn member(node: u32) -> Member {
        Member { node: NodeId(node), life: 1 }
    }

    fn load(node: u32, detect: f64, pairs_tested: u64) -> Load {
        let stages = [0.5, 0.0, detect, 0.0, 0.0];
        let work = Work { ticks_per_second: 30.0, stages, pairs_tested, collisions: 3 };
        Load { work: Some(work), ..Load::idle(member(node)) }
    }

    fn spent(ticks: u64, detect_ms: u64) -> Spent {
        let detect = Duration::from_millis(detect_ms);
        Spent { stages: Stages { ticks, detect, ..Stages::default() }, ..Spent::default() }
    }

    /// The story: node 0 is killed, and its step time, pairs and chart stand there for ever while
    /// the page says "live".
    #[test]
    fn what_a_dead_node_last_reported_does_not_stay_and_the_others_count() {
        let mut loads = Loads::default();
        loads.hear(ms(0), load(0, 9.0, 100));
        loads.hear(ms(0), load(1, 2.0, 40));
        let both = loads.together(ms(100), |_| true).expect("two nodes report");
        assert_eq!((both.busiest, both.pairs_tested, both.collisions), (0, 140, 3));
        assert_eq!(both.stages["detect"], 9.0);
        // Node 0 is silent from now on.
        loads.hear(ms(3000), load(1, 2.0, 40));
        let one = loads.together(ms(3000), |_| true).expect("one node reports");
        assert_eq!((one.busiest, one.pairs_tested), (1, 40));
        let listed = loads.all(ms(3000));
        assert_eq!((listed[0].node, listed[0].age_ms, listed[0].step_ms), (0, 3000.0, None));
        assert_eq!((listed[1].node, listed[1].age_ms, listed[1].step_ms), (1, 0.0, Some(2.5)));
        // Nobody reports: nothing is known, and nothing is listed after a while.
        assert_eq!(loads.together(ms(6000), |_| true), None);
        assert_eq!(loads.all(ms(20_000)), []);
    }

    #[test]
    fn what_a_node_waits_for_is_named_as_long_as_it_reports() {
        let waiting = |ms| Waiting {
            awaits: Awaits::Bundles(Tick(1234)),
            nodes: vec![NodeId(3)],
            since: Span::from_ms(ms),
        };
        assert_eq!(waits_long(Some(waiting(400))), None);
        let waits = waits_long(Some(waiting(4100)));
        let mut loads = Loads::default();
        loads.hear(ms(0), Load { waits, ..load(0, 1.0, 1) });
        loads.hear(ms(0), load(1, 1.0, 1));
        let expected = ["node 0: tick 1234 waits for node 3: no bundle (4.1 s)"];
        assert_eq!(loads.prevented(ms(100)), expected);
        assert!(loads.prevented(ms(5000)).is_empty());
    }

    #[test]
    fn nodes_of_other_groups_and_those_that_leave_do_not_count() {
        let mut loads = Loads::default();
        loads.hear(ms(0), load(0, 9.0, 100));
        loads.hear(ms(0), load(1, 2.0, 40));
        let own = loads.together(ms(0), |node| node == 1).expect("it reports");
        assert_eq!((own.busiest, own.pairs_tested), (1, 40));
        loads.hear(ms(0), Load::leaving(member(1)));
        assert_eq!(loads.together(ms(0), |node| node == 1), None);
    }

    #[test]
    fn a_meter_measures_the_last_second_and_a_node_without_ticks_has_nothing_to_report() {
        let mut meter = LoadMeter::default();
        assert!(meter.work(ms(0), spent(0, 0), (0, 0)).is_none());
        // Ten ticks of 4 ms each in the first second, then ten of 1 ms.
        for it in 1..=10 {
            let _ = meter.work(ms(it * 100), spent(it, 4 * it), (7, 2));
        }
        for it in 11..=20 {
            let _ = meter.work(ms(it * 100), spent(it, 30 + it), (7, 2));
        }
        let work = meter.work(ms(2100), spent(21, 51), (7, 2)).expect("it ticks");
        assert_eq!((work.stages[2], work.ticks_per_second), (1.0, 10.0));
        assert_eq!((work.pairs_tested, work.collisions), (7, 2));
        // One tick in four seconds is still measured; none in five are none.
        let slow = meter.work(ms(6000), spent(22, 61), (7, 2)).expect("it ticks slowly");
        assert!(slow.ticks_per_second < 1.0, "{slow:?}");
        for it in 61..=120 {
            let _ = meter.work(ms(it * 100), spent(22, 61), (7, 2));
        }
        assert!(meter.work(ms(12_100), spent(22, 61), (7, 2)).is_none());
    }
}
