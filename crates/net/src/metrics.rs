//! Metrics of a process: its roles report here; status (JSON) and metrics (Prometheus) are rendered
//! from it.

mod files;
mod halts;
mod load;
mod membership;
mod prevented;
mod recent;
mod replicas;

use crate::edge::EdgeCounters;
use crate::machine::Machine;
use crate::transport::TransportCounters;
use files::FileStatus;
use halts::HaltLog;
pub(crate) use halts::StatusHalt;
use jostle_proto::{
    Address, Certainty, ClientId, ClientMessage, Gateway, GatewayCounters, GatewayMessage, GroupId,
    GroupReport, Message, NodeId, Span, Tick, Time,
};
use load::{GroupLoad, LoadReports, StatusLoad};
pub(crate) use load::{LoadMeter, LoadReport, NodeTimings, StallLog};
use membership::MembershipLog;
use recent::{Percentiles, Rate, Samples};
pub(crate) use replicas::ReplicaStatus;
use replicas::{ReplicaReports, StatusReplica};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Without a tick for so long the world counts as stalled, and the dilation of its last tick is not
/// shown.
const STANDS: Span = Span::from_ms(2000);

/// Messages that were dropped.
#[derive(Debug, Default)]
pub(crate) struct DropCounters {
    /// The inbox of a role was full.
    pub(crate) overflow: AtomicU64,
    /// Malformed frames.
    pub(crate) malformed: AtomicU64,
}

#[derive(Debug, Default)]
struct MetricsState {
    groups: Vec<StatusGroup>,
    membership: MembershipLog,
    halts: HaltLog,
    replicas: ReplicaReports,
    /// Commits that this process has published as leader.
    published: u64,
    /// The group that the gateway belongs to.
    group: Option<GroupId>,
    tick: Option<(Tick, u32)>,
    tick_updated: Time,
    tick_rate: Rate,
    /// Tick intervals at the gateway.
    ticks: Samples,
    /// From a client's input to the state update that acknowledges it, at the gateway.
    input_latencies: Samples,
    waiting: BTreeMap<ClientId, (u64, Time)>,
    objects: usize,
    /// The gateway has received the world.
    has_world: bool,
    clients: usize,
    gateway: GatewayCounters,
    /// Contact changes in a free-running group, and how many of them were assumed.
    contacts: u64,
    assumed: u64,
    loads: LoadReports,
    /// The node here has its part of the world.
    takes_part: bool,
    /// Files that this process writes.
    files: FileStatus,
}

impl MetricsState {
    /// Takes over the groups as the directory reports them now.
    fn follow(&mut self, now: Time, groups: Vec<StatusGroup>) {
        for line in prevented::link_changes(&self.groups, &groups) {
            tracing::warn!("{line}");
        }
        self.groups = groups;
        for change in self.membership.follow(now, &self.groups) {
            change.log();
        }
        for group in &self.groups {
            if let Some(halt) = &group.halt
                && self.halts.report(now, GroupId(group.group))
            {
                tracing::error!("{}", halt.text);
            }
        }
        self.log_ended(now);
    }

    fn log_ended(&mut self, now: Time) {
        for group in self.halts.ended(now) {
            tracing::info!("group {} goes on", group.0);
        }
    }

    /// The load of the gateway's group; of all groups until that is known.
    fn group_load(&self, now: Time) -> Option<GroupLoad> {
        let own = self.groups.iter().find(|group| Some(GroupId(group.group)) == self.group);
        let is_in = |node: u32| {
            own.is_none_or(|group| group.members.iter().any(|member| member.node == node))
        };
        self.loads.group_load(now, is_in)
    }

    /// The dilation of the last tick; `None` if the world is stalled.
    fn dilation(&self, now: Time) -> Option<f64> {
        let (_, dilation) = self.tick.filter(|_| now - self.tick_updated <= STANDS)?;
        Some(f64::from(dilation) / 1000.0)
    }
}

/// The metrics of a process.
#[derive(Debug)]
pub(crate) struct Metrics {
    world: String,
    rate: u32,
    start: Time,
    state: Mutex<MetricsState>,
    pub(crate) drops: DropCounters,
}

/// Messages and bytes both ways: between nodes, and with clients.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Traffic {
    sent: u64,
    sent_bytes: u64,
    received: u64,
    received_bytes: u64,
    dropped: u64,
}

impl From<TransportCounters> for Traffic {
    fn from(between_nodes: TransportCounters) -> Traffic {
        let TransportCounters { sent, sent_bytes, received, received_bytes, refused, lost } =
            between_nodes;
        Traffic { sent, sent_bytes, received, received_bytes, dropped: refused + lost }
    }
}

impl From<&EdgeCounters> for Traffic {
    fn from(with_clients: &EdgeCounters) -> Traffic {
        Traffic {
            sent: with_clients.messages_sent,
            sent_bytes: with_clients.bytes_sent,
            received: with_clients.messages_received,
            received_bytes: with_clients.bytes_received,
            dropped: with_clients.lost,
        }
    }
}

/// After a gap, no more than this many ticks count as samples.
const AT_ONCE: u64 = 1024;

/// Named values that are gauges; all others are counters.
const GAUGES: [&str; 2] = ["edge_connections", "edge_pending"];

/// A named value.
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

/// A group in the status.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StatusGroup {
    group: u32,
    view: u64,
    stable: bool,
    leader: Option<u32>,
    backups: u8,
    /// Why it cannot go on, if it cannot.
    halt: Option<StatusHalt>,
    members: Vec<StatusMember>,
    /// Pairs of nodes that reach the directory but not each other.
    failing_links: Vec<(u32, u32)>,
}

#[derive(Serialize)]
struct Status<'a> {
    world: &'a str,
    up_seconds: f64,
    rate: u32,
    /// The group that the gateway here belongs to: new avatars join it, and ticks are its own.
    group: Option<u32>,
    tick: Option<u64>,
    /// Time since that tick arrived.
    tick_age_ms: Option<f64>,
    /// Duration of a tick relative to its nominal duration; 1 at full speed.
    dilation: Option<f64>,
    /// Over the last five seconds.
    ticks_per_second: f64,
    tick_ms: Option<Percentiles>,
    input_ms: Option<Percentiles>,
    objects: usize,
    clients: usize,
    groups: &'a [StatusGroup],
    /// What prevents progress; empty if nothing does.
    prevented: Vec<String>,
    /// Of the directory, if it is replicated.
    replicas: Vec<StatusReplica>,
    #[serde(flatten)]
    files: &'a FileStatus,
    /// Milliseconds per tick, of the node whose ticks take longest.
    stages: Option<BTreeMap<&'static str, f64>>,
    stages_node: Option<u32>,
    pairs_tested: Option<u64>,
    collisions: Option<u64>,
    /// The last report of each node.
    loads: Vec<StatusLoad>,
    nodes: Traffic,
    edge: Traffic,
    /// The old name of `edge`.
    door: Traffic,
    counters: BTreeMap<&'static str, u64>,
}

impl Metrics {
    pub(crate) fn new(world: &str, rate: u32, start: Time) -> Metrics {
        let (state, drops) = (Mutex::default(), DropCounters::default());
        Metrics { world: world.into(), rate, start, state, drops }
    }

    fn state(&self) -> MutexGuard<'_, MetricsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The nodes of the first group, sorted, if its view is stable.
    pub(crate) fn stable_nodes(&self) -> Option<Vec<NodeId>> {
        let state = self.state();
        let group = state.groups.first().filter(|group| group.stable)?;
        let mut nodes: Vec<NodeId> = group.members.iter().map(|it| NodeId(it.node)).collect();
        nodes.sort_unstable();
        Some(nodes)
    }

    /// Takes over the state of a role.
    pub(crate) fn update(&self, now: Time, machine: &Machine) {
        let mut state = self.state();
        match machine {
            Machine::Directory(directory) => {
                let directory_store = directory.directory_store();
                state.files.directory = Some(directory_store.status().clone());
                let groups = directory_store.report(now).iter().map(StatusGroup::from).collect();
                state.follow(now, groups);
            }
            Machine::Replica(replica) => {
                let (status, groups) = replica.status(now);
                state.receive_report(now, status, groups);
            }
            Machine::Gateway(gateway) => {
                state.gateway = gateway.counters();
                state.clients = gateway.clients();
                state.objects = gateway.world().map_or(0, |(_, objects)| objects.len());
                state.has_world |= gateway.world().is_some();
            }
            Machine::Node(node) => {
                state.takes_part |= node.tick().is_some();
                state.log_ended(now);
            }
            Machine::FreeRunning(node) => {
                state.takes_part |= node.is_running();
                state.log_ended(now);
            }
            Machine::Recorder(recorder) => state.files.update(recorder),
            Machine::ViewFollower(_) | Machine::BodySpawner(_) => {}
        }
    }

    /// Objects of the world as this process has it; `None` before its first tick.
    pub(crate) fn objects(&self) -> Option<usize> {
        let state = self.state();
        state.has_world.then_some(state.objects)
    }

    /// Returns true if the node here has been given its part of the world.
    pub(crate) fn takes_part(&self) -> bool {
        self.state().takes_part
    }

    /// Takes over the load report of a node, here or elsewhere.
    pub(crate) fn load(&self, now: Time, load: LoadReport) {
        let mut state = self.state();
        if let Some(left) = load.leaves() {
            state.membership.leave(left);
        }
        state.loads.receive_report(now, load);
    }

    /// Decodes such a report; returns false if it is malformed.
    pub(crate) fn load_bytes(&self, now: Time, bytes: &[u8]) -> bool {
        let load = postcard::from_bytes(bytes);
        load.map(|load| self.load(now, load)).is_ok()
    }

    /// A node was admitted by this process.
    pub(crate) fn admitted(&self, now: Time, node: u32, from: SocketAddr) {
        self.state().membership.admit(now, node, from);
    }

    /// The directory has reported to a node here that a group cannot go on.
    pub(crate) fn halted(&self, now: Time, group: GroupId, lost: &[NodeId], for_good: bool) {
        if self.state().halts.report(now, group) {
            tracing::error!("{}", halts::text(group, lost, for_good));
        }
    }

    /// Takes over the tick of the gateway. Returns true for the first one.
    pub(crate) fn tick_updated(&self, now: Time, gateway: &Gateway) -> bool {
        let mut state = self.state();
        let tick = gateway.tick();
        let first = state.tick.is_none() && tick.is_some();
        if std::mem::replace(&mut state.group, gateway.group()) != gateway.group() {
            // Each group counts its own ticks.
            state.tick = None;
        }
        if state.tick.is_none() && tick.is_some() {
            state.tick_rate.restart(now);
        }
        if let (Some((new, _)), Some((old, _))) = (tick, state.tick)
            && new > old
        {
            let ticks = new.0 - old.0;
            state.tick_rate.count(now, ticks);
            let each = Span((now - state.tick_updated).0 / ticks);
            for _ in 0..ticks.min(AT_ONCE) {
                state.ticks.push(now, each);
            }
        }
        if tick != state.tick {
            (state.tick, state.tick_updated) = (tick, now);
        }
        first
    }

    pub(crate) fn published(&self) {
        self.state().published += 1;
    }

    pub(crate) fn contact(&self, certainty: Certainty) {
        let mut state = self.state();
        state.contacts += 1;
        state.assumed += u64::from(certainty == Certainty::Assumed);
    }

    /// Remembers when a client's input arrived.
    pub(crate) fn input_received(&self, now: Time, client: Address, message: &Message) {
        if let (Address::Client(client), Message::FromClient(ClientMessage::Report(report))) =
            (client, message)
            && let Some(input) = report.input
        {
            let mut state = self.state();
            if state.waiting.len() > 4096 {
                state.waiting.clear();
            }
            state.waiting.entry(client).or_insert((input.number, now));
        }
    }

    /// Measures the latency of inputs that a state update acknowledges.
    pub(crate) fn update_sent(&self, now: Time, client: ClientId, message: &GatewayMessage) {
        if let GatewayMessage::StateUpdate(update) = message {
            let mut state = self.state();
            if let Some(&(number, since)) = state.waiting.get(&client)
                && update.followed >= number
            {
                state.waiting.remove(&client);
                state.input_latencies.push(now, now - since);
            }
        }
    }

    fn counters(&self, state: &MetricsState, more: &[Count]) -> BTreeMap<&'static str, u64> {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let gateway = &state.gateway;
        let mine: [Count; 16] = [
            ("published", state.published),
            ("contacts", state.contacts),
            ("contacts_assumed", state.assumed),
            ("inbox_overflows", count(&self.drops.overflow)),
            ("frames_malformed", count(&self.drops.malformed)),
            ("avatars_entered", gateway.entered),
            ("avatars_resumed", gateway.resumed),
            ("messages_rejected", gateway.refused),
            ("inputs_replayed", gateway.replays),
            ("inputs_foreign", gateway.foreign),
            ("inputs_corrected", gateway.corrected),
            ("messages_over_limit", gateway.flooded),
            ("clients_kicked", gateway.kicked),
            ("update_bases_lost", gateway.bases_lost),
            ("updates", gateway.updates),
            ("update_bytes", gateway.update_bytes),
        ];
        mine.iter().chain(more).copied().collect()
    }

    /// The status as JSON.
    pub(crate) fn status_json(&self, now: Time, traffic: [Traffic; 2], more: &[Count]) -> String {
        let state = self.state();
        let [nodes, edge] = traffic;
        let group_load = state.group_load(now);
        let age_ms = |_| (now - state.tick_updated).0 as f64 / 1000.0;
        let status = Status {
            world: &self.world,
            up_seconds: (now - self.start).0 as f64 / 1e6,
            rate: self.rate,
            group: state.group.map(|group| group.0),
            tick: state.tick.map(|(tick, _)| tick.0),
            tick_age_ms: state.tick.map(age_ms),
            dilation: state.dilation(now),
            ticks_per_second: (state.tick_rate.per_second(now) * 10.0).round() / 10.0,
            tick_ms: state.ticks.percentiles(now),
            input_ms: state.input_latencies.percentiles(now),
            objects: state.objects,
            clients: state.clients,
            groups: &state.groups,
            prevented: state.prevented(now),
            replicas: state.replicas.all(now),
            files: &state.files,
            stages_node: group_load.as_ref().map(|it| it.busiest),
            pairs_tested: group_load.as_ref().map(|it| it.pairs_tested),
            collisions: group_load.as_ref().map(|it| it.collisions),
            stages: group_load.map(|it| it.stages),
            loads: state.loads.all(now),
            nodes,
            edge,
            door: edge,
            counters: self.counters(&state, more),
        };
        serde_json::to_string(&status).unwrap_or_default()
    }

    /// The metrics in the text format of Prometheus.
    pub(crate) fn prometheus(&self, now: Time, traffic: [Traffic; 2], more: &[Count]) -> String {
        let state = self.state();
        let mut lines = Lines::default();
        lines.gauge("up_seconds", "", (now - self.start).0 as f64 / 1e6);
        lines.gauge("tick", "", state.tick.map_or(0.0, |(tick, _)| tick.0 as f64));
        if state.tick.is_some() {
            lines.gauge("tick_age_seconds", "", (now - state.tick_updated).0 as f64 / 1e6);
        }
        lines.gauge("dilation", "", state.dilation(now).unwrap_or(0.0));
        lines.gauge("ticks_per_second", "", state.tick_rate.per_second(now));
        lines.gauge("objects", "", state.objects as f64);
        lines.gauge("clients", "", state.clients as f64);
        for (name, samples) in [("tick", &state.ticks), ("input", &state.input_latencies)] {
            if let Some(Percentiles { p50, p99 }) = samples.percentiles(now) {
                let name = format!("{name}_seconds");
                lines.gauge(&name, "{quantile=\"0.5\"}", p50 / 1000.0);
                lines.gauge(&name, "{quantile=\"0.99\"}", p99 / 1000.0);
            }
        }
        if let Some(group_load) = state.group_load(now) {
            for (stage, ms) in group_load.stages {
                let label = format!("{{stage=\"{stage}\"}}");
                lines.gauge("stage_seconds", &label, ms / 1000.0);
            }
            lines.gauge("pairs_tested", "", group_load.pairs_tested as f64);
            lines.gauge("collisions", "", group_load.collisions as f64);
        }
        for load in state.loads.all(now) {
            load.gauges().for_each(|(name, label, value)| lines.gauge(name, &label, value));
        }
        for group in &state.groups {
            let label = format!("{{group=\"{}\"}}", group.group);
            lines.gauge("group_view", &label, group.view as f64);
            lines.gauge("group_members", &label, group.members.len() as f64);
            lines.gauge("group_backups", &label, f64::from(group.backups));
            lines.gauge("group_halted", &label, f64::from(u8::from(group.halt.is_some())));
            for member in &group.members {
                let label = format!("{{node=\"{}\"}}", member.node);
                lines.gauge("node_objects", &label, f64::from(member.objects));
            }
        }
        for replica in state.replicas.all(now) {
            replica.count(&mut lines);
        }
        state.files.count(&mut lines);
        for (peers, traffic) in ["nodes", "clients"].iter().zip(traffic) {
            for (way, messages, bytes) in [
                ("out", traffic.sent, traffic.sent_bytes),
                ("in", traffic.received, traffic.received_bytes),
            ] {
                let label = format!("{{peers=\"{peers}\",direction=\"{way}\"}}");
                lines.counter("messages_total", &label, messages);
                lines.counter("bytes_total", &label, bytes);
            }
            lines.counter("dropped_total", &format!("{{peers=\"{peers}\"}}"), traffic.dropped);
        }
        for (name, count) in self.counters(&state, more) {
            match GAUGES.contains(&name) {
                true => lines.gauge(name, "", count as f64),
                false => lines.counter(&format!("{name}_total"), "", count),
            }
        }
        lines.gauge("prevented", "", state.prevented(now).len() as f64);
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
            backups: report.backups,
            halt: report.halt.as_ref().map(|halt| StatusHalt::from((report.group, halt))),
            members: members.collect(),
            failing_links: report.failing_links.iter().map(|(a, b)| (a.0, b.0)).collect(),
        }
    }
}

/// Lines of metrics; the first of each name is preceded by its type.
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
