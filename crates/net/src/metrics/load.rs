//! Load reports. Each node sends them to all processes with an edge server, so that status and page
//! show the living nodes, wherever they run.

use jostle_proto::{FreeRunningNode, Member, Node, Span, Stages, Time, Waiting};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Stage times are means over about this long,
const SECOND: Span = Span::from_ms(1000);
/// or over the time that a slow world takes for its next tick, up to this.
const SLOWEST: Span = Span::from_ms(5000);

/// A report is stale after this time,
const STALE: Span = Span::from_ms(2000);
/// and its node is no longer listed after this.
const FORGOTTEN: Span = Span::from_ms(10_000);

/// Nodes that are listed, at most.
const NODES_MAX: usize = 1024;

/// Time that a node has spent since it started.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeTimings {
    /// In its state machine.
    pub(crate) stages: Stages,
    /// Decoding received frames.
    pub(crate) unpacking: Duration,
    /// Encoding and sending messages.
    pub(crate) sending: Duration,
}

/// Names of the stages of a tick, in the order of reports.
const STAGES: [&str; 5] = ["move", "bundles", "detect", "commit", "send"];

impl NodeTimings {
    fn stages(&self) -> [Duration; 5] {
        let Stages { moving, bundles, detect, commit, .. } = self.stages;
        [moving, bundles + self.unpacking, detect, commit, self.sending]
    }
}

/// A load report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoadReport {
    node: u32,
    life: u32,
    /// The node is about to stop.
    leaving: bool,
    /// `None` without a recent tick, or in a free-running group.
    work: Option<TickLoad>,
    /// What the node has been waiting for, if for long.
    waits: Option<String>,
}

/// Recent ticks of a node.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct TickLoad {
    ticks_per_second: f64,
    /// Milliseconds per tick, in the order of [`STAGES`].
    stages: [f64; 5],
    /// Pairs that it tested in its last tick.
    pairs_tested: u64,
    /// Touching pairs in that tick, in the whole group.
    collisions: u64,
}

impl LoadReport {
    /// Of a node that reports only its presence.
    pub(crate) fn idle(member: Member) -> LoadReport {
        LoadReport {
            node: member.node.0,
            life: member.life,
            leaving: false,
            work: None,
            waits: None,
        }
    }

    /// Of a node in a free-running group.
    pub(crate) fn free_running(now: Time, node: &FreeRunningNode) -> LoadReport {
        let long = node.waiting(now).filter(|(_, since)| *since >= LONG);
        let waits = long.map(|(nodes, since)| {
            let nodes: Vec<String> = nodes.iter().map(|node| node.0.to_string()).collect();
            let seconds = since.0 as f64 / 1e6;
            format!("no acknowledgement from nodes {} ({seconds:.1} s)", nodes.join(", "))
        });
        LoadReport { waits, ..LoadReport::idle(node.member()) }
    }

    /// Of a node that stops.
    pub(crate) fn leaving(member: Member) -> LoadReport {
        LoadReport { leaving: true, ..LoadReport::idle(member) }
    }

    /// The node and its incarnation, if it is about to stop.
    pub(super) fn leaves(&self) -> Option<(u32, u32)> {
        self.leaving.then_some((self.node, self.life))
    }
}

/// Shorter waits are not reported.
const LONG: Span = Span::from_ms(1000);

/// Bytes of that text, at most: it comes from other nodes.
const WAITS_MAX: usize = 256;

fn waits_long(waiting: Option<Waiting>) -> Option<String> {
    waiting.filter(|it| it.since >= LONG).map(|it| it.to_string())
}

/// Logs when a node here begins to wait for long, and when it continues.
#[derive(Debug, Default)]
pub(crate) struct StallLog(Option<Time>);

impl StallLog {
    pub(crate) fn follow(&mut self, now: Time, load: &LoadReport) {
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

impl TickLoad {
    fn step_ms(&self) -> f64 {
        self.stages.iter().sum()
    }
}

/// Measures the load of one node.
#[derive(Debug, Default)]
pub(crate) struct LoadMeter(VecDeque<(Time, NodeTimings)>);

impl LoadMeter {
    /// The report of a node in a lockstep group.
    pub(crate) fn measure(&mut self, now: Time, node: &Node, spent: NodeTimings) -> LoadReport {
        let has_world = (node.pairs_tested(), node.collisions() as u64);
        let work = self.work(now, spent, has_world);
        LoadReport { work, waits: waits_long(node.waiting(now)), ..LoadReport::idle(node.member()) }
    }

    fn work(&mut self, now: Time, spent: NodeTimings, has_world: (u64, u64)) -> Option<TickLoad> {
        self.0.push_back((now, spent));
        let ticks = spent.stages.ticks;
        let is_enough = |at: Time, then: &NodeTimings| {
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
        Some(TickLoad {
            ticks_per_second: ticks * 1e6 / ((now - *at).0 as f64).max(1.0),
            stages: std::array::from_fn(each),
            pairs_tested: has_world.0,
            collisions: has_world.1,
        })
    }
}

/// One node in the status.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct StatusLoad {
    node: u32,
    /// Age of its report.
    age_ms: f64,
    ticks_per_second: Option<f64>,
    step_ms: Option<f64>,
    pairs_tested: Option<u64>,
    /// What it has been waiting for, if for long.
    waits: Option<String>,
}

impl StatusLoad {
    /// Gauges for Prometheus: name, label, value.
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

/// The load of a group; `None` if no node reports.
#[derive(Debug, PartialEq)]
pub(super) struct GroupLoad {
    /// Of the node whose ticks take longest: milliseconds per tick by stage.
    pub(super) stages: BTreeMap<&'static str, f64>,
    pub(super) busiest: u32,
    pub(super) pairs_tested: u64,
    pub(super) collisions: u64,
}

/// The last report of each node, and when it arrived.
#[derive(Debug, Default)]
pub(super) struct LoadReports(BTreeMap<u32, (Time, LoadReport)>);

impl LoadReports {
    pub(super) fn receive_report(&mut self, now: Time, mut load: LoadReport) {
        load.waits = load.waits.filter(|waits| waits.len() <= WAITS_MAX);
        self.0.retain(|_, (at, _)| now - *at < FORGOTTEN);
        if load.leaving {
            self.0.remove(&load.node);
        } else if self.0.len() < NODES_MAX || self.0.contains_key(&load.node) {
            self.0.insert(load.node, (now, load));
        }
    }

    /// All recent reports with their age.
    pub(super) fn all(&self, now: Time) -> Vec<StatusLoad> {
        let recent = self.0.values().filter(|(at, _)| now - *at < FORGOTTEN);
        let state = recent.map(|(at, load)| {
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
        state.collect()
    }

    /// What reporting nodes have been waiting for.
    pub(super) fn prevented(&self, now: Time) -> Vec<String> {
        let fresh = self.0.values().filter(|(at, _)| now - *at < STALE);
        let waits = fresh.filter_map(|(_, load)| Some((load.node, load.waits.as_ref()?)));
        waits.map(|(node, waits)| format!("node {node}: {waits}")).collect()
    }

    /// The combined load of the nodes for which `is_in` is true.
    pub(super) fn group_load(&self, now: Time, is_in: impl Fn(u32) -> bool) -> Option<GroupLoad> {
        let fresh = self.0.values().filter(|(at, load)| now - *at < STALE && is_in(load.node));
        let working: Vec<(u32, TickLoad)> =
            fresh.filter_map(|(_, load)| Some((load.node, load.work?))).collect();
        let step = |work: &TickLoad| work.step_ms();
        let (busiest, work) = working.iter().max_by(|a, b| step(&a.1).total_cmp(&step(&b.1)))?;
        Some(GroupLoad {
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

    fn load(node: u32, detect: f64, pairs_tested: u64) -> LoadReport {
        let stages = [0.5, 0.0, detect, 0.0, 0.0];
        let work = TickLoad { ticks_per_second: 30.0, stages, pairs_tested, collisions: 3 };
        LoadReport { work: Some(work), ..LoadReport::idle(member(node)) }
    }

    fn spent(ticks: u64, detect_ms: u64) -> NodeTimings {
        let detect = Duration::from_millis(detect_ms);
        NodeTimings {
            stages: Stages { ticks, detect, ..Stages::default() },
            ..NodeTimings::default()
        }
    }

    /// The story: node 0 is killed, but its step time, pairs and chart remain while the page says
    /// "live".
    #[test]
    fn what_a_dead_node_last_reported_does_not_stay_and_the_others_count() {
        let mut loads = LoadReports::default();
        loads.receive_report(ms(0), load(0, 9.0, 100));
        loads.receive_report(ms(0), load(1, 2.0, 40));
        let both = loads.group_load(ms(100), |_| true).expect("two nodes report");
        assert_eq!((both.busiest, both.pairs_tested, both.collisions), (0, 140, 3));
        assert_eq!(both.stages["detect"], 9.0);
        // Node 0 is silent from now on.
        loads.receive_report(ms(3000), load(1, 2.0, 40));
        let one = loads.group_load(ms(3000), |_| true).expect("one node reports");
        assert_eq!((one.busiest, one.pairs_tested), (1, 40));
        let listed = loads.all(ms(3000));
        assert_eq!((listed[0].node, listed[0].age_ms, listed[0].step_ms), (0, 3000.0, None));
        assert_eq!((listed[1].node, listed[1].age_ms, listed[1].step_ms), (1, 0.0, Some(2.5)));
        // Without reports nothing is known, and after a while nothing is listed.
        assert_eq!(loads.group_load(ms(6000), |_| true), None);
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
        let mut loads = LoadReports::default();
        loads.receive_report(ms(0), LoadReport { waits, ..load(0, 1.0, 1) });
        loads.receive_report(ms(0), load(1, 1.0, 1));
        let expected = ["node 0: tick 1234 waits for node 3: no bundle (4.1 s)"];
        assert_eq!(loads.prevented(ms(100)), expected);
        assert!(loads.prevented(ms(5000)).is_empty());
    }

    #[test]
    fn nodes_of_other_groups_and_those_that_leave_do_not_count() {
        let mut loads = LoadReports::default();
        loads.receive_report(ms(0), load(0, 9.0, 100));
        loads.receive_report(ms(0), load(1, 2.0, 40));
        let own = loads.group_load(ms(0), |node| node == 1).expect("it reports");
        assert_eq!((own.busiest, own.pairs_tested), (1, 40));
        loads.receive_report(ms(0), LoadReport::leaving(member(1)));
        assert_eq!(loads.group_load(ms(0), |node| node == 1), None);
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
        // One tick in four seconds is still measured; none in five are not.
        let slow = meter.work(ms(6000), spent(22, 61), (7, 2)).expect("it ticks slowly");
        assert!(slow.ticks_per_second < 1.0, "{slow:?}");
        for it in 61..=120 {
            let _ = meter.work(ms(it * 100), spent(22, 61), (7, 2));
        }
        assert!(meter.work(ms(12_100), spent(22, 61), (7, 2)).is_none());
    }
}
