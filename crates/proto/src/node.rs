//! A node: its share of the world, tick by tick, and what it does when the members change.
//!
//! A tick (bundle, done, commit): every member moves its objects and sends each other
//! member what reaches into that one's regions, what belongs to it from now on, and, for its
//! backups, a copy of everything. Once it has heard from all it looks for collisions and reports
//! those whose reference point it owns to the leader, which commits the tick when all have
//! reported.
//!
//! A change of members: the directory names a new view, and the last *stable* one, from which it is
//! made. Members report to the new leader how far they are; it goes on from the last tick that was
//! committed to any member. Then every object is handed to its owner in the new view, where it
//! stands. Only when the directory has recorded that this is done may a member forget what it held
//! in the stable view: if the new view fails too, it begins again from there.

mod count;
mod lead;
mod monitor;
mod serve;
mod stages;
mod turn;
mod waits;

use crate::client::ClientId;
use crate::detect::{Detector, Shapes};
use crate::free_running::Event;
use crate::groups::GroupId;
use crate::held::Held;
use crate::input::{GatewayId, Source};
use crate::links::Probes;
use crate::message::{Bundle, Commit, Flush, Message};
use crate::mutant::Mutant;
use crate::object::{NodeId, Object, ReplicaId};
use crate::objects::Objects;
use crate::relay::Relay;
use crate::round::Round;
use crate::space::NODES_MAX;
use crate::time::{Span, Tick, Time};
use crate::view::{Epoch, Member, View};
use count::Count;
use lead::Lead;
use monitor::Monitor;
use serve::Serve;
use stages::Laps;
pub use stages::Stages;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
pub use waits::{Awaits, Waiting};

/// The sender or receiver of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// The directory. If it has several replicas, all of them: their leader answers.
    Directory,
    /// One replica of the directory.
    Replica(ReplicaId),
    /// A node.
    Node(NodeId),
    /// A gateway.
    Gateway(GatewayId),
    /// A gateway as its clients know it: whatever life it is in.
    Gate(u32),
    /// A client.
    Client(ClientId),
}

/// What a machine does: a message to send, or a tick to publish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this.
    Send(Address, Message),
    /// Send all followers that this holds. It will never be taken back; the same tick may be
    /// published again, with the same content.
    Publish(Arc<Commit>),
    /// The same in a free-running group: two objects have begun, or ceased, to touch.
    Event(Event),
}

/// How long things take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Ticks per second.
    pub rate: u32,
    /// What was not answered is sent again after this.
    pub resend: Span,
    /// How often a node reports to the directory that it is alive.
    pub alive: Span,
    /// How long the directory believes it without hearing.
    pub lease: Span,
    /// The least time between two views.
    pub settle: Span,
}

impl Timing {
    /// A process that runs later than it asked to be woken by more than this was paused.
    pub(crate) fn pause(&self) -> Span {
        Span(self.lease.0 / 2)
    }

    /// A member that is waited for and has not answered for so long cannot be reached. Longer than
    /// a lease: a node that is dead or paused is no matter of links.
    pub(crate) fn unreached(&self) -> Span {
        Span(self.lease.0 / 2 * 3)
    }
}

impl Default for Timing {
    fn default() -> Timing {
        Timing {
            rate: 60,
            resend: Span::from_ms(50),
            alive: Span::from_ms(100),
            lease: Span::from_ms(500),
            settle: Span::from_ms(100),
        }
    }
}

/// What a member holds in the last view that it knows to be stable.
#[derive(Clone, Debug)]
struct Settled {
    view: View,
    last: Arc<Commit>,
    held: Held,
    /// The tick after that, if all have sent and nothing was committed yet: another member may have
    /// seen it committed.
    pending: Option<Round>,
}

#[derive(Clone, Debug)]
enum Phase {
    /// Not known to the directory.
    Out,
    /// Waits to hear where the view goes on from.
    Flushing(View),
    /// Hands every object to its owner in the new view.
    Refreshing { view: View, round: Box<Round>, last: Arc<Commit> },
    /// Goes from tick to tick.
    Running { view: View, round: Box<Round> },
    /// Was alone in a group in which nothing is at home, and waits for that group to end.
    Leaving(View),
}

/// A node. A copy of one does the same when it hears the same.
#[derive(Clone)]
pub struct Node {
    me: Member,
    shapes: Shapes,
    timing: Timing,
    mutant: Option<Mutant>,
    detector: Detector,
    settled: Option<Settled>,
    phase: Phase,
    lead: Lead,
    serve: Serve,
    /// Measures delays; none if the directory keeps all nodes together.
    monitor: Option<Monitor>,
    /// Speaks for the group to other groups, if this member leads.
    relay: Option<Box<Relay>>,
    /// What a new group begins with.
    static_objects: Vec<Object>,
    /// Bundles that came before their time, of the newest view.
    early: BTreeMap<(Tick, NodeId), Bundle>,
    /// What was sent in the last exchange, for members that missed it.
    bundles_sent: BTreeMap<NodeId, Bundle>,
    /// The newest view that was seen.
    seen: Epoch,
    resend_at: Time,
    alive_at: Time,
    /// When it last ran.
    stepped: Time,
    probes: Probes,
    /// What it waits for, and since when; none before it runs for the first time.
    stage_since: Option<(u64, Time)>,
    /// What it has to do.
    count: Count,
    /// Messages to itself.
    own: VecDeque<Message>,
    laps: Laps,
    /// It holds a stored world that may count, see `directory/restore.rs`.
    offers: bool,
}

impl Node {
    /// A node that will ask to be let in.
    #[must_use]
    pub fn new(me: Member, shapes: Shapes, timing: Timing) -> Node {
        Node {
            me,
            detector: Detector::new(shapes.clone(), timing.rate),
            shapes,
            timing,
            mutant: None,
            settled: None,
            phase: Phase::Out,
            lead: Lead::default(),
            serve: Serve::default(),
            monitor: None,
            relay: None,
            static_objects: Vec::new(),
            early: BTreeMap::new(),
            bundles_sent: BTreeMap::new(),
            seen: Epoch(0),
            resend_at: Time(0),
            alive_at: Time(0),
            stepped: Time(0),
            probes: Probes::default(),
            stage_since: None,
            count: Count::default(),
            own: VecDeque::new(),
            laps: Laps::default(),
            offers: false,
        }
    }

    /// The node that a world begins with: alone in view 0, with all objects.
    #[must_use]
    pub fn founder(
        me: Member,
        shapes: Shapes,
        timing: Timing,
        objects: impl IntoIterator<Item = Object>,
    ) -> Node {
        let held = Held { mine: objects.into_iter().collect(), copies: BTreeMap::new() };
        let settled = Settled { view: View::first(me), last: Arc::default(), held, pending: None };
        Node { settled: Some(settled), ..Node::new(me, shapes, timing) }
    }

    /// The same, of a world that has come this far and has heard this much: one that was stored.
    #[must_use]
    pub fn going_on(self, tick: Tick, heard: Vec<(Source, u64)>) -> Node {
        let last = Arc::new(Commit { tick, heard, ..Commit::default() });
        let settled = self.settled.map(|settled| Settled { last, ..settled });
        Node { settled, offers: true, ..self }
    }

    /// The same with a defect, to test the checkers.
    #[must_use]
    pub fn with_mutant(self, mutant: Option<Mutant>) -> Node {
        Node { mutant, ..self }
    }

    /// Which node, in which life.
    #[must_use]
    pub fn member(&self) -> Member {
        self.me
    }

    /// What it has in its hands for others, how much of it, and how much that may be at most
    /// (rule R1).
    #[must_use]
    pub fn holdings(&self) -> [(&'static str, usize, usize); 3] {
        let [ticks, followers] = self.serve.holdings();
        // Of this tick and of the next, of all members.
        let early = ("early bundles", self.early.len(), 2 * NODES_MAX);
        [ticks, followers, early]
    }

    /// When it wants to be woken if nothing comes.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        let lead = self.lead.wake_at().unwrap_or(Time(u64::MAX));
        let groups = self.groups_wake_at().unwrap_or(Time(u64::MAX));
        self.resend_at.min(self.alive_at).min(lead).min(groups)
    }

    /// To be called when due: ticks, repetitions, reports.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.check_pause(now);
        if now >= self.alive_at {
            self.alive_at = now + self.timing.alive;
            self.send_alive(now, out);
            self.report_delays(out);
            self.report_unreached(now, out);
        }
        if now >= self.resend_at {
            self.resend_at = now + self.timing.resend;
            self.send_again(out);
            self.probe(now, out);
        }
        self.lead_on(now, out);
        self.measure(now, out);
        self.run_own(now, out);
        self.note_progress(now);
    }

    /// Handles a message.
    pub fn receive(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        self.check_pause(now);
        self.take(now, message, out);
        self.run_own(now, out);
        self.note_progress(now);
    }

    fn run_own(&mut self, now: Time, out: &mut Vec<Output>) {
        loop {
            while let Some(message) = self.own.pop_front() {
                self.take(now, message, out);
            }
            self.relay_on(now, out);
            if self.own.is_empty() {
                return;
            }
        }
    }

    fn take(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        match message {
            Message::Reset { life } => self.reset(life, out),
            Message::View(view) => self.new_view(now, view, out),
            Message::Flush(flush) => self.lead_flush(flush, out),
            Message::Resume(resume) => self.resume(now, resume, out),
            Message::Bundle(bundle) => self.bundle(now, bundle, out),
            Message::Done(done) => {
                let begin = self.laps.now();
                self.lead_done(now, done, out);
                self.laps.stages.commit += self.laps.now() - begin;
            }
            Message::StableKept(epoch) => self.lead_stable(now, epoch, out),
            Message::Commit(commit) => self.commit(now, commit, out),
            Message::Inputs(inputs) => self.lead_inputs(inputs, out),
            Message::Greet(inputs) => self.lead_greeted(inputs, out),
            Message::Follow(follow) => self.followed(now, follow, out),
            Message::Where { from, epoch } => self.send_group(from, epoch, out),
            // Its ticks need an answer of every member, so it needs no lease.
            Message::Lease { .. } => {}
            message @ (Message::Published(_) | Message::Share(_)) => {
                self.relayed(now, message, out);
            }
            Message::MayLeave(epoch) => self.may_leave(now, epoch, out),
            message => self.monitored(now, message, out),
        }
    }

    /// This life is over.
    fn reset(&mut self, life: u32, out: &mut Vec<Output>) {
        if life < self.me.life {
            return;
        }
        self.me.life = life + 1;
        self.settled = None;
        self.phase = Phase::Out;
        self.lead = Lead::default();
        self.serve = Serve::default();
        self.relay = None;
        self.early.clear();
        self.bundles_sent.clear();
        self.send_again(out);
    }

    fn new_view(&mut self, now: Time, view: View, out: &mut Vec<Output>) {
        if view.epoch <= self.seen || !view.has(self.me) {
            return;
        }
        self.seen = view.epoch;
        self.early.clear();
        self.bundles_sent.clear();
        self.put_down(&view);
        let lives = |settled: &Settled| {
            settled.view.epoch == view.base
                && settled.view.group == view.group
                && view.base_ring.contains(&self.me)
        };
        self.settled = self.settled.take().filter(lives);
        self.found(&view);
        self.lead = Lead::new(&view, self.me, now, self.mutant);
        self.phase = Phase::Flushing(view);
        self.resend_at = now + self.timing.resend;
        self.send_flush(out);
    }

    /// What is in hand when the view changes is put where the next one looks for it.
    fn put_down(&mut self, next: &View) {
        match std::mem::replace(&mut self.phase, Phase::Out) {
            Phase::Running { round, .. } => {
                if let Some(settled) = &mut self.settled
                    && round.complete.is_some()
                    && self.mutant != Some(Mutant::DropPendingTick)
                {
                    settled.pending = Some(*round);
                }
            }
            // The view was stable, although this member was not notified.
            Phase::Refreshing { view, round, last }
                if view.epoch == next.base && view.group == next.group =>
            {
                if let Some(complete) = round.complete {
                    let held = Held::begin(complete);
                    self.settled = Some(Settled { view, last, held, pending: None });
                }
            }
            _ => {}
        }
    }

    /// A new group begins with the static objects.
    fn found(&mut self, view: &View) {
        if self.settled.is_some()
            || view.group == GroupId(0)
            || view.base != Epoch(0)
            || view.base_ring != [self.me]
        {
            return;
        }
        let mine: Objects = self.static_objects.iter().copied().collect();
        let view = View { group: view.group, ..View::first(self.me) };
        let last = Arc::new(Commit { group: view.group, ..Commit::default() });
        let held = Held { mine, copies: BTreeMap::new() };
        self.settled = Some(Settled { view, last, held, pending: None });
    }

    fn send_flush(&mut self, out: &mut Vec<Output>) {
        let Phase::Flushing(view) = &self.phase else { return };
        let Some(leader) = view.leader() else { return };
        let last = self.settled.as_ref().map(|settled| settled.last.clone());
        let flush = Flush { epoch: view.epoch, from: self.me, last };
        self.send(leader.node, Message::Flush(flush), out);
    }

    fn send_alive(&mut self, now: Time, out: &mut Vec<Output>) {
        if matches!(self.phase, Phase::Out) && self.settled.is_none() {
            return;
        }
        let load = self.load(now);
        let (member, epoch) = (self.me, self.seen);
        let alive = Message::Alive { member, epoch, sent: now, load };
        out.push(Output::Send(Address::Directory, alive));
    }

    /// Sends again what the present phase waits for.
    fn send_again(&mut self, out: &mut Vec<Output>) {
        match &self.phase {
            // As long as it offers a stored world it only reports that it is alive: to join is to
            // drop it.
            Phase::Out if self.offers && self.settled.is_some() => {}
            Phase::Out => {
                out.push(Output::Send(Address::Directory, Message::Join(self.me)));
            }
            Phase::Flushing(_) => self.send_flush(out),
            Phase::Leaving(view) => {
                let leave = Message::Leave { epoch: view.epoch, from: self.me };
                out.push(Output::Send(Address::Directory, leave));
            }
            Phase::Refreshing { round, .. } | Phase::Running { round, .. } => {
                if round.complete.is_some() {
                    self.send_done(out);
                } else {
                    self.send_bundles(true, out);
                }
            }
        }
        self.lead_again(out);
    }

    fn send(&mut self, to: NodeId, message: Message, out: &mut Vec<Output>) {
        if to == self.me.node {
            self.own.push_back(message);
        } else {
            out.push(Output::Send(Address::Node(to), message));
        }
    }
}
