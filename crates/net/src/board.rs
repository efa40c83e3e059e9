//! What a process shows to those who watch: its roles write here, `status` and `metrics` read.

mod replicas;
mod stages;

use crate::machine::Machine;
use jostle_proto::{
    Address, Certainty, ClientId, ClientSays, Gateway, GatewayCounters, GatewaySays, GroupId,
    GroupReport, Message, Node, NodeId, Span, Tick, Time,
};
pub(crate) use replicas::ReplicaStatus;
use replicas::{Heard, StatusReplica};
use serde::{Deserialize, Serialize};
pub(crate) use stages::Spent;
use stages::Workload;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Samples that percentiles are of.
const SAMPLES: usize = 1024;

/// The newest so many of a kind of times.
#[derive(Debug, Default)]
struct Samples(VecDeque<u64>);

impl Samples {
    fn push(&mut self, span: Span) {
        if self.0.len() == SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(span.0);
    }

    fn percentiles(&self) -> Option<Percentiles> {
        let mut sorted: Vec<u64> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        let at = |part: usize| sorted.get((sorted.len().saturating_sub(1)) * part / 100);
        let (p50, p99) = (at(50)?, at(99)?);
        Some(Percentiles { p50: *p50 as f64 / 1000.0, p99: *p99 as f64 / 1000.0 })
    }
}

/// In milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
struct Percentiles {
    p50: f64,
    p99: f64,
}

/// Mail that was dropped, and frames that were refused.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    /// A role had too much to do.
    pub(crate) overflow: AtomicU64,
    /// Bytes that are no frame.
    pub(crate) garbage: AtomicU64,
}

#[derive(Debug, Default)]
struct Shown {
    groups: Vec<StatusGroup>,
    replicas: Heard,
    /// Ticks that this process has published as leader.
    published: u64,
    /// The group that the gateway belongs to.
    group: Option<GroupId>,
    tick: Option<(Tick, u32)>,
    ticked: Time,
    /// From one tick to the next at the gateway.
    ticks: Samples,
    /// From a client's wish to the glimpse in which it is followed, at the gateway.
    wishes: Samples,
    waiting: BTreeMap<ClientId, (u64, Time)>,
    objects: usize,
    clients: usize,
    gateway: GatewayCounters,
    /// Beginnings and ends of contacts in an unsynchronised group, and how many were assumed.
    contacts: u64,
    assumed: u64,
    workload: Workload,
}

/// The board of a process.
#[derive(Debug)]
pub(crate) struct Board {
    world: String,
    rate: u32,
    start: Time,
    shown: Mutex<Shown>,
    pub(crate) losses: Losses,
}

/// Bytes and messages that went both ways, of the plane and of the door.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Traffic {
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) received: u64,
    pub(crate) received_bytes: u64,
    pub(crate) dropped: u64,
}

/// A number by name, for metrics.
pub(crate) type Count = (&'static str, u64);

#[derive(Debug, Serialize, Deserialize)]
struct StatusMember {
    node: u32,
    life: u32,
    objects: u32,
    silent_ms: f64,
    region: Option<[[f64; 3]; 2]>,
    delays_ms: BTreeMap<u32, f64>,
}

/// A group as it is shown.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StatusGroup {
    group: u32,
    view: u64,
    stable: bool,
    leader: Option<u32>,
    members: Vec<StatusMember>,
}

#[derive(Serialize)]
struct Status<'a> {
    world: &'a str,
    up_seconds: f64,
    rate: u32,
    /// The group that the gateway here belongs to: new avatars come into it, and ticks are its own.
    group: Option<u32>,
    tick: Option<u64>,
    /// How much longer ticks take than they should; 1 if they do not.
    dilation: Option<f64>,
    ticks_per_second: f64,
    tick_ms: Option<Percentiles>,
    input_ms: Option<Percentiles>,
    objects: usize,
    clients: usize,
    groups: &'a [StatusGroup],
    /// Of the directory, if it has several.
    replicas: Vec<StatusReplica<'a>>,
    /// Milliseconds per tick, of the nodes of this process.
    stages: BTreeMap<&'static str, f64>,
    pairs_tested: Option<u64>,
    collisions: Option<usize>,
    nodes: Traffic,
    door: Traffic,
    counters: BTreeMap<&'static str, u64>,
}

impl Board {
    pub(crate) fn new(world: &str, rate: u32, start: Time) -> Board {
        let (shown, losses) = (Mutex::default(), Losses::default());
        Board { world: world.into(), rate, start, shown, losses }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The nodes of the first group, sorted, if each is known to have its part.
    pub(crate) fn settled_nodes(&self) -> Option<Vec<NodeId>> {
        let shown = self.shown();
        let group = shown.groups.first().filter(|group| group.stable)?;
        let mut nodes: Vec<NodeId> = group.members.iter().map(|it| NodeId(it.node)).collect();
        nodes.sort_unstable();
        Some(nodes)
    }

    /// A role has done something.
    pub(crate) fn see(&self, now: Time, machine: &Machine) {
        let mut shown = self.shown();
        match machine {
            Machine::Directory(keeper) => {
                shown.groups = keeper.report(now).iter().map(StatusGroup::from).collect();
            }
            Machine::Replica(seat) => {
                let (status, groups) = seat.status(now);
                shown.hear(now, status, groups);
            }
            Machine::Gateway(gateway) => {
                shown.gateway = gateway.counters();
                shown.clients = gateway.clients();
                shown.objects = gateway.world().map_or(0, |(_, objects)| objects.len());
            }
            Machine::Node(_)
            | Machine::Loose(_)
            | Machine::Recorder(_)
            | Machine::Watcher(_)
            | Machine::Stock(_) => {}
        }
    }

    /// What a node has spent its time on.
    pub(crate) fn spent(&self, now: Time, node: &Node, spent: Spent) {
        self.shown().workload.see(now, node, spent);
    }

    /// The gateway may have a new tick. Says whether it is the first one.
    pub(crate) fn ticked(&self, now: Time, gateway: &Gateway) -> bool {
        let mut shown = self.shown();
        let tick = gateway.tick();
        let first = shown.tick.is_none() && tick.is_some();
        if std::mem::replace(&mut shown.group, gateway.group()) != gateway.group() {
            // Groups count their ticks each for itself.
            shown.tick = None;
        }
        if let (Some((new, _)), Some((old, _))) = (tick, shown.tick)
            && new > old
        {
            let each = Span((now - shown.ticked).0 / (new.0 - old.0));
            for _ in old.0..new.0.min(old.0 + SAMPLES as u64) {
                shown.ticks.push(each);
            }
        }
        if tick != shown.tick {
            (shown.tick, shown.ticked) = (tick, now);
        }
        first
    }

    pub(crate) fn published(&self) {
        self.shown().published += 1;
    }

    pub(crate) fn contact(&self, certainty: Certainty) {
        let mut shown = self.shown();
        shown.contacts += 1;
        shown.assumed += u64::from(certainty == Certainty::Assumed);
    }

    /// A client wishes something.
    pub(crate) fn asked(&self, now: Time, client: Address, message: &Message) {
        if let (Address::Client(client), Message::Asked(ClientSays::Report(report))) =
            (client, message)
            && let Some(want) = report.want
        {
            let mut shown = self.shown();
            if shown.waiting.len() > 4096 {
                shown.waiting.clear();
            }
            shown.waiting.entry(client).or_insert((want.number, now));
        }
    }

    /// A client is told something.
    pub(crate) fn told_client(&self, now: Time, client: ClientId, says: &GatewaySays) {
        if let GatewaySays::Glimpse(glimpse) = says {
            let mut shown = self.shown();
            if let Some(&(number, since)) = shown.waiting.get(&client)
                && glimpse.followed >= number
            {
                shown.waiting.remove(&client);
                shown.wishes.push(now - since);
            }
        }
    }

    fn counters(&self, shown: &Shown, more: &[Count]) -> BTreeMap<&'static str, u64> {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let gateway = &shown.gateway;
        let mine: [Count; 16] = [
            ("published", shown.published),
            ("contacts", shown.contacts),
            ("contacts_assumed", shown.assumed),
            ("mail_overflow", count(&self.losses.overflow)),
            ("frames_refused", count(&self.losses.garbage)),
            ("avatars_entered", gateway.entered),
            ("avatars_resumed", gateway.resumed),
            ("letters_refused", gateway.refused),
            ("letters_replayed", gateway.replays),
            ("wants_foreign", gateway.foreign),
            ("wants_corrected", gateway.corrected),
            ("letters_flooded", gateway.flooded),
            ("clients_kicked", gateway.kicked),
            ("bases_lost", gateway.bases_lost),
            ("glimpses", gateway.glimpses),
            ("glimpse_bytes", gateway.glimpse_bytes),
        ];
        mine.iter().chain(more).copied().collect()
    }

    /// Everything, as JSON.
    pub(crate) fn status(&self, now: Time, traffic: [Traffic; 2], more: &[Count]) -> String {
        let shown = self.shown();
        let tick_ms = shown.ticks.percentiles();
        let mean = shown.ticks.0.iter().sum::<u64>() as f64 / shown.ticks.0.len().max(1) as f64;
        let fresh = now - shown.ticked <= Span::from_ms(2000);
        let [nodes, door] = traffic;
        let (pairs_tested, collisions) = shown.workload.pairs().unzip();
        let status = Status {
            world: &self.world,
            up_seconds: (now - self.start).0 as f64 / 1e6,
            rate: self.rate,
            group: shown.group.map(|group| group.0),
            tick: shown.tick.map(|(tick, _)| tick.0),
            dilation: shown.tick.map(|(_, dilation)| f64::from(dilation) / 1000.0),
            ticks_per_second: if fresh && mean > 0.0 { 1e6 / mean } else { 0.0 },
            tick_ms,
            input_ms: shown.wishes.percentiles(),
            objects: shown.objects,
            clients: shown.clients,
            groups: &shown.groups,
            replicas: shown.replicas.all(now),
            stages: shown.workload.stages(),
            pairs_tested,
            collisions,
            nodes,
            door,
            counters: self.counters(&shown, more),
        };
        serde_json::to_string(&status).unwrap_or_default()
    }

    /// The same as Prometheus reads it.
    pub(crate) fn metrics(&self, now: Time, traffic: [Traffic; 2], more: &[Count]) -> String {
        let shown = self.shown();
        let mut lines = Lines::default();
        lines.gauge("up_seconds", "", (now - self.start).0 as f64 / 1e6);
        lines.gauge("tick", "", shown.tick.map_or(0.0, |(tick, _)| tick.0 as f64));
        lines.gauge("dilation", "", shown.tick.map_or(0.0, |(_, it)| f64::from(it) / 1000.0));
        lines.gauge("objects", "", shown.objects as f64);
        lines.gauge("clients", "", shown.clients as f64);
        for (name, samples) in [("tick", &shown.ticks), ("input", &shown.wishes)] {
            if let Some(Percentiles { p50, p99 }) = samples.percentiles() {
                let name = format!("{name}_seconds");
                lines.gauge(&name, "{quantile=\"0.5\"}", p50 / 1000.0);
                lines.gauge(&name, "{quantile=\"0.99\"}", p99 / 1000.0);
            }
        }
        for (stage, ms) in shown.workload.stages() {
            let label = format!("{{stage=\"{stage}\"}}");
            lines.gauge("stage_seconds", &label, ms / 1000.0);
        }
        for group in &shown.groups {
            let label = format!("{{group=\"{}\"}}", group.group);
            lines.gauge("group_view", &label, group.view as f64);
            lines.gauge("group_members", &label, group.members.len() as f64);
            for member in &group.members {
                let label = format!("{{node=\"{}\"}}", member.node);
                lines.gauge("node_objects", &label, f64::from(member.objects));
            }
        }
        for replica in shown.replicas.all(now) {
            replica.count(&mut lines);
        }
        for (plane, traffic) in ["nodes", "door"].iter().zip(traffic) {
            for (way, messages, bytes) in [
                ("out", traffic.sent, traffic.sent_bytes),
                ("in", traffic.received, traffic.received_bytes),
            ] {
                let label = format!("{{plane=\"{plane}\",way=\"{way}\"}}");
                lines.counter("messages_total", &label, messages);
                lines.counter("bytes_total", &label, bytes);
            }
            lines.counter("dropped_total", &format!("{{plane=\"{plane}\"}}"), traffic.dropped);
        }
        for (name, count) in self.counters(&shown, more) {
            lines.counter(&format!("{name}_total"), "", count);
        }
        lines.0
    }
}

impl From<&GroupReport> for StatusGroup {
    fn from(report: &GroupReport) -> StatusGroup {
        let metres = |corner: [i64; 3]| corner.map(|along| along as f64 / 4096.0);
        let delay = |(node, span): &(NodeId, Span)| (node.0, span.0 as f64 / 1000.0);
        let members = report.members.iter().map(|member| StatusMember {
            node: member.member.node.0,
            life: member.member.life,
            objects: member.objects,
            silent_ms: member.silent.0 as f64 / 1000.0,
            region: member.region.map(|region| [metres(region.min), metres(region.max)]),
            delays_ms: member.delays.iter().map(delay).collect(),
        });
        StatusGroup {
            group: report.group.0,
            view: report.epoch.0,
            stable: report.stable,
            leader: report.leader.map(|leader| leader.0),
            members: members.collect(),
        }
    }
}

/// Lines of metrics; the first of each name says what kind it is.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, kind: &str, name: &str, label: &str, value: &str) {
        let head = format!("# TYPE jostle_{name} {kind}\n");
        if !self.0.contains(&head) {
            self.0.push_str(&head);
        }
        self.0.push_str(&format!("jostle_{name}{label} {value}\n"));
    }

    fn gauge(&mut self, name: &str, label: &str, value: f64) {
        self.line("gauge", name, label, &value.to_string());
    }

    fn counter(&mut self, name: &str, label: &str, value: u64) {
        self.line("counter", name, label, &value.to_string());
    }
}
