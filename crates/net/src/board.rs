//! What a process shows to those who watch: its roles write here, `status` and `metrics` read.

mod files;
mod halts;
mod load;
mod prevented;
mod recent;
mod replicas;
mod roster;

use crate::machine::Machine;
use files::Files;
use halts::Halts;
pub(crate) use halts::StatusHalt;
use jostle_proto::{
    Address, Certainty, ClientId, ClientSays, Gateway, GatewayCounters, GatewaySays, GroupId,
    GroupReport, Message, NodeId, Span, Tick, Time,
};
pub(crate) use load::{Load, LoadMeter, Spent, Stall};
use load::{Loads, StatusLoad, Together};
use recent::{Percentiles, Rate, Samples};
pub(crate) use replicas::ReplicaStatus;
use replicas::{Heard, StatusReplica};
use roster::Roster;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A world without a tick for so long stands still, and what its last tick was like is not known.
const STANDS: Span = Span::from_ms(2000);

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
    roster: Roster,
    halts: Halts,
    replicas: Heard,
    /// Ticks that this process has published as leader.
    published: u64,
    /// The group that the gateway belongs to.
    group: Option<GroupId>,
    tick: Option<(Tick, u32)>,
    ticked: Time,
    tick_rate: Rate,
    /// From one tick to the next at the gateway.
    ticks: Samples,
    /// From a client's wish to the glimpse in which it is followed, at the gateway.
    wishes: Samples,
    waiting: BTreeMap<ClientId, (u64, Time)>,
    objects: usize,
    /// The gateway has had the world.
    counted: bool,
    clients: usize,
    gateway: GatewayCounters,
    /// Beginnings and ends of contacts in an unsynchronised group, and how many were assumed.
    contacts: u64,
    assumed: u64,
    loads: Loads,
    /// The node here has its part of the world.
    takes_part: bool,
    /// What this process writes.
    files: Files,
}

impl Shown {
    /// The groups as the directory has them now.
    fn follow(&mut self, now: Time, groups: Vec<StatusGroup>) {
        for line in prevented::link_changes(&self.groups, &groups) {
            tracing::warn!("{line}");
        }
        self.groups = groups;
        for change in self.roster.follow(now, &self.groups) {
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

    /// The nodes of the gateway's group together; of all groups as long as they are not known.
    fn together(&self, now: Time) -> Option<Together> {
        let own = self.groups.iter().find(|group| Some(GroupId(group.group)) == self.group);
        let is_in = |node: u32| {
            own.is_none_or(|group| group.members.iter().any(|member| member.node == node))
        };
        self.loads.together(now, is_in)
    }

    /// The last tick, and since when; none of a world that stands still.
    fn dilation(&self, now: Time) -> Option<f64> {
        let (_, dilation) = self.tick.filter(|_| now - self.ticked <= STANDS)?;
        Some(f64::from(dilation) / 1000.0)
    }
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

/// Ticks that come together, as after a gap, are not more samples of durations than this.
const AT_ONCE: u64 = 1024;

/// Those among the numbers by name that are not counted up: how many there are now.
const GO_DOWN: [&str; 2] = ["door_connections", "door_waiting"];

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
    backups: u8,
    /// Why it cannot go on, if it cannot.
    halt: Option<StatusHalt>,
    members: Vec<StatusMember>,
    /// Pairs of nodes that both reach the directory and do not reach each other.
    failing_links: Vec<(u32, u32)>,
}

#[derive(Serialize)]
struct Status<'a> {
    world: &'a str,
    up_seconds: f64,
    rate: u32,
    /// The group that the gateway here belongs to: new avatars come into it, and ticks are its own.
    group: Option<u32>,
    tick: Option<u64>,
    /// Since that tick came.
    tick_age_ms: Option<f64>,
    /// How much longer ticks take than they should; 1 if they do not.
    dilation: Option<f64>,
    /// Over the last five seconds.
    ticks_per_second: f64,
    tick_ms: Option<Percentiles>,
    input_ms: Option<Percentiles>,
    objects: usize,
    clients: usize,
    groups: &'a [StatusGroup],
    /// What prevents progress; nothing of a world that goes on.
    prevented: Vec<String>,
    /// Of the directory, if it has several.
    replicas: Vec<StatusReplica>,
    #[serde(flatten)]
    files: &'a Files,
    /// Milliseconds per tick, of the node whose ticks take longest.
    stages: Option<BTreeMap<&'static str, f64>>,
    stages_node: Option<u32>,
    pairs_tested: Option<u64>,
    collisions: Option<u64>,
    /// What each node has reported.
    loads: Vec<StatusLoad>,
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
            Machine::Directory(directory) => {
                let keeper = directory.keeper();
                shown.files.directory = Some(keeper.status().clone());
                let groups = keeper.report(now).iter().map(StatusGroup::from).collect();
                shown.follow(now, groups);
            }
            Machine::Replica(seat) => {
                let (status, groups) = seat.status(now);
                shown.hear(now, status, groups);
            }
            Machine::Gateway(gateway) => {
                shown.gateway = gateway.counters();
                shown.clients = gateway.clients();
                shown.objects = gateway.world().map_or(0, |(_, objects)| objects.len());
                shown.counted |= gateway.world().is_some();
            }
            Machine::Node(node) => {
                shown.takes_part |= node.tick().is_some();
                shown.log_ended(now);
            }
            Machine::Loose(node) => {
                shown.takes_part |= node.is_running();
                shown.log_ended(now);
            }
            Machine::Recorder(recorder) => shown.files.see(recorder),
            Machine::Watcher(_) | Machine::Stock(_) => {}
        }
    }

    /// Objects of the world as this process has it; none before it has a tick.
    pub(crate) fn objects(&self) -> Option<usize> {
        let shown = self.shown();
        shown.counted.then_some(shown.objects)
    }

    /// Has the node here been given its part of the world?
    pub(crate) fn takes_part(&self) -> bool {
        self.shown().takes_part
    }

    /// A node here or elsewhere reports what it spends its time on.
    pub(crate) fn load(&self, now: Time, load: Load) {
        let mut shown = self.shown();
        if let Some(left) = load.leaves() {
            shown.roster.leave(left);
        }
        shown.loads.hear(now, load);
    }

    /// The same as bytes. Returns whether they are a report.
    pub(crate) fn load_bytes(&self, now: Time, bytes: &[u8]) -> bool {
        let load = postcard::from_bytes(bytes);
        load.map(|load| self.load(now, load)).is_ok()
    }

    /// A node was given its number at the door here.
    pub(crate) fn admitted(&self, now: Time, node: u32, from: SocketAddr) {
        self.shown().roster.admit(now, node, from);
    }

    /// The directory tells a node here that a group cannot go on.
    pub(crate) fn halted(&self, now: Time, group: GroupId, lost: &[NodeId], for_good: bool) {
        if self.shown().halts.report(now, group) {
            tracing::error!("{}", halts::text(group, lost, for_good));
        }
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
        if shown.tick.is_none() && tick.is_some() {
            shown.tick_rate.restart(now);
        }
        if let (Some((new, _)), Some((old, _))) = (tick, shown.tick)
            && new > old
        {
            let ticks = new.0 - old.0;
            shown.tick_rate.count(now, ticks);
            let each = Span((now - shown.ticked).0 / ticks);
            for _ in 0..ticks.min(AT_ONCE) {
                shown.ticks.push(now, each);
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
                shown.wishes.push(now, now - since);
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
        let [nodes, door] = traffic;
        let together = shown.together(now);
        let age_ms = |_| (now - shown.ticked).0 as f64 / 1000.0;
        let status = Status {
            world: &self.world,
            up_seconds: (now - self.start).0 as f64 / 1e6,
            rate: self.rate,
            group: shown.group.map(|group| group.0),
            tick: shown.tick.map(|(tick, _)| tick.0),
            tick_age_ms: shown.tick.map(age_ms),
            dilation: shown.dilation(now),
            ticks_per_second: (shown.tick_rate.per_second(now) * 10.0).round() / 10.0,
            tick_ms: shown.ticks.percentiles(now),
            input_ms: shown.wishes.percentiles(now),
            objects: shown.objects,
            clients: shown.clients,
            groups: &shown.groups,
            prevented: shown.prevented(now),
            replicas: shown.replicas.all(now),
            files: &shown.files,
            stages_node: together.as_ref().map(|it| it.busiest),
            pairs_tested: together.as_ref().map(|it| it.pairs_tested),
            collisions: together.as_ref().map(|it| it.collisions),
            stages: together.map(|it| it.stages),
            loads: shown.loads.all(now),
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
        if shown.tick.is_some() {
            lines.gauge("tick_age_seconds", "", (now - shown.ticked).0 as f64 / 1e6);
        }
        lines.gauge("dilation", "", shown.dilation(now).unwrap_or(0.0));
        lines.gauge("ticks_per_second", "", shown.tick_rate.per_second(now));
        lines.gauge("objects", "", shown.objects as f64);
        lines.gauge("clients", "", shown.clients as f64);
        for (name, samples) in [("tick", &shown.ticks), ("input", &shown.wishes)] {
            if let Some(Percentiles { p50, p99 }) = samples.percentiles(now) {
                let name = format!("{name}_seconds");
                lines.gauge(&name, "{quantile=\"0.5\"}", p50 / 1000.0);
                lines.gauge(&name, "{quantile=\"0.99\"}", p99 / 1000.0);
            }
        }
        if let Some(together) = shown.together(now) {
            for (stage, ms) in together.stages {
                let label = format!("{{stage=\"{stage}\"}}");
                lines.gauge("stage_seconds", &label, ms / 1000.0);
            }
            lines.gauge("pairs_tested", "", together.pairs_tested as f64);
            lines.gauge("collisions", "", together.collisions as f64);
        }
        for load in shown.loads.all(now) {
            load.gauges().for_each(|(name, label, value)| lines.gauge(name, &label, value));
        }
        for group in &shown.groups {
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
        for replica in shown.replicas.all(now) {
            replica.count(&mut lines);
        }
        shown.files.count(&mut lines);
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
            match GO_DOWN.contains(&name) {
                true => lines.gauge(name, "", count as f64),
                false => lines.counter(&format!("{name}_total"), "", count),
            }
        }
        lines.gauge("prevented", "", shown.prevented(now).len() as f64);
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
