//! A node of a free-running group: it moves what it holds by its own clock and waits for no other
//! node (Storey 2006, 3.3.8: the second kind of operation).
//!
//! * An object has one *holder*, which has its token. A holder whose object leaves its region puts
//!   it into *escrow* under the next token and sends it to the owner of the region until that one
//!   answers. A node that sees a token that is not larger than the last one only answers.
//! * Others know an object as a *ghost*: its last known state, extrapolated (dead reckoning).
//! * Everything that a node holds is with its *backups* too. What cannot be taken back (an event,
//!   an answer, a nudge) is sent only when all backups have what it follows from.
//! * A node sends only while its *lease* lasts, or the promises of all its backups that no other
//!   node takes its place.
//! * A view that loses no member changes nothing until it is stable; then objects go to their new
//!   owners as they always do. In a view that has lost a member all stop, all copies are compared,
//!   and the latest of each object is granted anew, in a new *era*: older tokens, and messages of
//!   older eras, change nothing any more.

mod change;
mod ghosts;
mod keep;
mod message;
mod ownership;
mod people;
mod record;
mod serve;
mod tick;
mod waits;

pub use message::{Backup, Entry, FreeRunningMessage, Ghost, Shown, Sight};
pub use record::{Contact, Edge, Episode, Event, Nudge, Record, Token};

use crate::detect::{Detector, Shapes};
use crate::input::{ClientInput, Input, Inputs};
use crate::links::Probes;
use crate::load::NodeLoad;
use crate::message::Message;
use crate::mutant::Mutant;
use crate::node::{Address, Output, Timing};
use crate::object::{Class, NodeId, Object, ObjectId};
use crate::time::{Span, Time};
use crate::view::{Epoch, Member, View};
use change::Change;
use ghosts::Ghosts;
use keep::Keep;
use ownership::Ownership;
use people::People;
pub(crate) use serve::ROUND;
use serve::Serve;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The parameters of a free-running group. All its members have the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// How long things take.
    pub timing: Timing,
    /// Objects with a longer half edge are sent to all members; in units of positions, as all
    /// lengths here.
    pub largest: i32,
    /// An object is handed over when its centre is farther outside than this.
    pub hysteresis: i32,
    /// Others are sent an object again when their extrapolation would be this far from where it is.
    pub threshold: i32,
    /// How far an object may come while others hear of it.
    pub margin: i32,
    /// They are sent it every so many ticks in any case.
    pub heartbeat: u32,
    /// Box and triangle tests that a node may make in a tick; what it cannot find out with them is
    /// assumed to touch, and reported as assumed. None: it looks at everything to the end.
    pub operations: Option<u64>,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            timing: Timing::default(),
            largest: 4096,
            hysteresis: 1024,
            threshold: 205,
            margin: 8192,
            heartbeat: 4,
            operations: None,
        }
    }
}

/// How a node has an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Having {
    /// Its word counts.
    Held,
    /// It is on its way to another.
    Escrow,
}

/// A node of a free-running group.
#[derive(Clone)]
pub struct FreeRunningNode {
    me: Member,
    tuning: Tuning,
    shapes: Shapes,
    /// What never moves: every node has the same table (Storey 2006, 3.2.1).
    static_objects: Arc<Vec<Object>>,
    mutant: Option<Mutant>,
    detector: Detector,
    /// The last view that it knows to be stable.
    ground: Option<View>,
    /// See [`Token::era`]. A node that came into a view and did not receive the era does not know
    /// it.
    era: Option<Epoch>,
    /// A newer view, which may come to nothing.
    change: Option<Change>,
    /// The newest view that was seen.
    seen: Epoch,
    /// By its own clock.
    lease_until: Time,
    /// The moment at which it works, by its own clock.
    now: Time,
    ownership: Ownership,
    ghosts: Ghosts,
    keep: Keep,
    probes: Probes,
    /// Nudges that are applied with the next tick, by object and lead, and their senders.
    nudges: BTreeMap<(ObjectId, ObjectId), (NodeId, Nudge)>,
    /// Inputs that are followed with the next tick.
    inputs: BTreeMap<ObjectId, ClientInput>,
    people: People,
    serve: Serve,
    tick_at: Time,
    resend_at: Time,
    alive_at: Time,
    ticks: u64,
    /// Counts changes of what is in its hands.
    turns: u64,
    /// Messages to itself.
    own: VecDeque<FreeRunningMessage>,
}

impl FreeRunningNode {
    /// A node that will ask to be let in.
    #[must_use]
    pub fn new(
        me: Member,
        shapes: Shapes,
        static_objects: Arc<Vec<Object>>,
        tuning: Tuning,
    ) -> FreeRunningNode {
        let detector = Detector::new(shapes.clone(), tuning.timing.rate);
        FreeRunningNode {
            me,
            tuning,
            detector: match tuning.operations {
                Some(operations) => detector.within(operations),
                None => detector,
            },
            shapes,
            static_objects,
            mutant: None,
            ground: None,
            era: None,
            change: None,
            seen: Epoch(0),
            lease_until: Time(0),
            now: Time(0),
            ownership: Ownership::default(),
            ghosts: Ghosts::default(),
            keep: Keep::default(),
            probes: Probes::default(),
            nudges: BTreeMap::new(),
            inputs: BTreeMap::new(),
            people: People::default(),
            serve: Serve::default(),
            tick_at: Time(0),
            resend_at: Time(0),
            alive_at: Time(0),
            ticks: 0,
            turns: 0,
            own: VecDeque::new(),
        }
    }

    /// The node that a world begins with: alone in view 0, with all objects that move.
    ///
    /// ```
    /// use jostle_proto::{
    ///     Class, FreeRunningNode, Having, Member, NodeId, Object, ObjectId, ShapeId, Shapes,
    ///     State, Tuning,
    /// };
    /// use std::sync::Arc;
    ///
    /// let (class, state) = (Class::Dynamic, State::default());
    /// let ball = Object { id: ObjectId(1), class, shape: ShapeId(0), state };
    /// let me = Member { node: NodeId(0), life: 1 };
    /// let static_objects = Arc::new(Vec::new());
    /// let node = FreeRunningNode::new(me, Shapes::default(), static_objects, Tuning::default());
    /// let node = node.founding([ball]);
    /// assert!(node.holds().all(|(having, record)| {
    ///     having == Having::Held && record.object == ball
    /// }));
    /// ```
    #[must_use]
    pub fn founding(mut self, objects: impl IntoIterator<Item = Object>) -> FreeRunningNode {
        let moves = objects.into_iter().filter(|object| object.class != Class::Immovable);
        for object in moves {
            self.ownership.hold(Record::new(object));
        }
        self.ground = Some(View::first(self.me));
        self.era = Some(Epoch(0));
        self
    }

    /// The same with a defect, to test the checkers.
    #[must_use]
    pub fn with_mutant(self, mutant: Option<Mutant>) -> FreeRunningNode {
        FreeRunningNode { mutant, ..self }
    }

    /// Which node, in which life.
    #[must_use]
    pub fn member(&self) -> Member {
        self.me
    }

    /// Everything that it holds or has on its way; for operators.
    pub fn holds(&self) -> impl Iterator<Item = (Having, &Record)> {
        let held = self.ownership.held.values().map(|record| (Having::Held, record));
        let escrow = self.ownership.escrow.values().map(|escrow| (Having::Escrow, &escrow.record));
        held.chain(escrow)
    }

    /// An object as it was compared with others in the last tick, before contacts changed it; for
    /// operators.
    #[must_use]
    pub fn compared(&self, id: ObjectId) -> Option<&Object> {
        self.detector.compared(id)
    }

    /// How many ticks it has made; for operators.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Changes whenever what it holds may have changed; for operators.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// What it has in its hands for people, how much of it, and how much that may be at most (rule
    /// R1).
    pub fn holdings(&self) -> impl Iterator<Item = (&'static str, usize, usize)> {
        self.people.holdings().into_iter().chain(self.serve.holdings())
    }

    /// The last view that it knows to be stable; for operators.
    #[must_use]
    pub fn settled_in(&self) -> Option<&View> {
        self.ground.as_ref()
    }

    /// The era that it is in; for operators.
    #[must_use]
    pub fn era(&self) -> Option<Epoch> {
        self.era
    }

    /// Must it be silent at this moment of its own clock?
    #[must_use]
    pub fn is_suspended(&self, now: Time) -> bool {
        if self.lease_until == Time(0) {
            // The directory has never answered.
            return true;
        }
        now >= self.lease_until && now >= self.vouched_until()
    }

    /// Until when it may go on although the directory does not answer. In a view that has lost a
    /// member there is nothing to go on with.
    fn vouched_until(&self) -> Time {
        match self.mutant {
            Some(Mutant::IgnoreLease) => Time(u64::MAX),
            Some(Mutant::DirectoryOnly) => Time(0),
            _ if self.is_running() => self.keep.vouched_until(self.mutant),
            _ => Time(0),
        }
    }

    /// Does it go from tick to tick?
    #[must_use]
    pub fn is_running(&self) -> bool {
        let stopped = self.change.as_ref().is_some_and(|change| change.lost);
        self.ground.is_some() && self.era.is_some() && !stopped
    }

    /// When it wants to be woken if nothing comes.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        let tick = if self.is_running() { self.tick_at } else { Time(u64::MAX) };
        self.resend_at.min(self.alive_at).min(tick)
    }

    /// To be called when due: ticks, repetitions, reports.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.check_pause(now);
        self.now = now;
        let first = out.len();
        let resends = now >= self.resend_at;
        if resends {
            self.resend_at = self.wait_for_promises(now + self.tuning.timing.resend);
            self.send_again(now, out);
        }
        if now >= self.tick_at {
            let period = Span(1_000_000 / u64::from(self.tuning.timing.rate.max(1)));
            // Lost time is not made up for.
            self.tick_at = (self.tick_at + period).max(now);
            if self.is_running() && !self.is_suspended(now) {
                self.tick(now, out);
            }
        }
        self.run_own(out);
        self.hush(now, first, out);
        if resends {
            self.probe(now, out);
        }
        if now >= self.alive_at {
            self.alive_at = now + self.tuning.timing.alive;
            self.send_alive(now, out);
            self.report_unreached(now, out);
            self.ask_backups(out);
        }
    }

    /// Handles a message.
    pub fn receive(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        self.check_pause(now);
        self.now = now;
        if matches!(message, Message::Ping { .. } | Message::Pong { .. } | Message::Probe(_)) {
            return self.linked(now, &message, out);
        }
        let first = out.len();
        match message {
            Message::Reset { life } => self.reset(life),
            Message::View(view) => self.new_view(view, out),
            Message::Lease { sent, span } => self.lease(sent, span),
            // A node that may not send does not take messages either: others repeat them.
            Message::FreeRunning(message) if message.is_of_copies() || !self.is_suspended(now) => {
                self.read(message, out);
            }
            Message::StableKept(epoch) if !self.is_suspended(now) => self.lead_stable(epoch, out),
            Message::Inputs(inputs) => self.hear_inputs(inputs),
            Message::Follow(follow) => self.followed(now, follow),
            _ => {}
        }
        self.run_own(out);
        if !self.is_suspended(now) {
            self.release(out);
        }
        self.hush(now, first, out);
    }

    fn run_own(&mut self, out: &mut Vec<Output>) {
        while let Some(message) = self.own.pop_front() {
            self.read(message, out);
        }
    }

    /// After its lease a node sends nothing (rule A7) but what is needed to come back when no node
    /// may send.
    fn hush(&self, now: Time, first: usize, out: &mut Vec<Output>) {
        if self.is_suspended(now) && (self.ground.is_some() || self.change.is_some()) {
            let later = out.split_off(first);
            out.extend(later.into_iter().filter(|output| match output {
                Output::Send(_, Message::FreeRunning(message)) => message.is_of_copies(),
                _ => false,
            }));
        }
    }

    /// The directory leaves no node out before `span` has passed by its clock since it heard the
    /// node, which was after `sent`.
    fn lease(&mut self, sent: Time, span: Span) {
        self.lease_until = self.lease_until.max(sent + believed(span));
    }

    /// This life is over.
    fn reset(&mut self, life: u32) {
        if life < self.me.life {
            return;
        }
        self.me.life = life + 1;
        self.people = People::default();
        self.serve = Serve::default();
        self.forget();
    }

    /// Nothing is left in its hands.
    fn forget(&mut self) {
        self.turns += 1;
        self.ground = None;
        self.era = None;
        self.change = None;
        self.lease_until = Time(0);
        self.ownership = Ownership::default();
        self.ghosts = Ghosts::default();
        self.keep = Keep::default();
        self.nudges.clear();
        self.inputs.clear();
        self.own.clear();
    }

    fn send_alive(&mut self, now: Time, out: &mut Vec<Output>) {
        let message = if self.ground.is_none() && self.change.is_none() {
            Message::Join(self.me)
        } else {
            let objects = self.ownership.held.values().map(|record| &record.object);
            let load = NodeLoad::of(objects, self.detector.took(), 1);
            Message::Alive { member: self.me, epoch: self.seen, sent: now, load }
        };
        out.push(Output::Send(Address::Directory, message));
    }

    fn hear_inputs(&mut self, inputs: Inputs) {
        for input in inputs.inputs.into_iter().flatten() {
            if let Input::Steer(input) = input
                && self.ownership.held.contains_key(&input.avatar)
            {
                let known = self.inputs.entry(input.avatar).or_insert(input);
                if known.number < input.number {
                    *known = input;
                }
            } else {
                self.called(input);
            }
        }
    }

    fn read(&mut self, message: FreeRunningMessage, out: &mut Vec<Output>) {
        match message {
            FreeRunningMessage::Copies { epoch, from, records } => {
                self.lead_copies(epoch, from, records, out)
            }
            FreeRunningMessage::Grants { epoch, yours, kept } => {
                self.granted(epoch, yours, kept, out)
            }
            FreeRunningMessage::Ready { epoch, from } => self.lead_ready(epoch, from, out),
            FreeRunningMessage::Settled { epoch, era } => self.settled(epoch, era, out),
            FreeRunningMessage::Backup(backup) => self.keep_backup(backup, out),
            FreeRunningMessage::BackupAck { era, from, stream, number }
                if self.era == Some(era) =>
            {
                self.backed_up(from, stream, number, out);
            }
            FreeRunningMessage::Transfer { era, from, record } if self.counts(era) => {
                self.take_over(from, *record, out);
            }
            FreeRunningMessage::TransferAck { era, object, token } if self.counts(era) => {
                self.taken_over(object, token);
            }
            FreeRunningMessage::Ghosts { era, from, ghosts, away } if self.counts(era) => {
                self.see_ghosts(from, ghosts);
                self.lose_ghosts(away);
            }
            FreeRunningMessage::Nudge { era, from, nudge } if self.counts(era) => {
                self.nudge(from, nudge)
            }
            FreeRunningMessage::NudgeAck { era, lead, object, episode, passed_on }
                if self.counts(era) =>
            {
                let gone = self.nudged(lead, object, episode);
                if let Some(to) = gone.filter(|to| !passed_on && *to != self.me.node) {
                    let message = FreeRunningMessage::NudgeAck {
                        era,
                        lead,
                        object,
                        episode,
                        passed_on: true,
                    };
                    self.send(to, message, out);
                }
            }
            FreeRunningMessage::Buried { era, from, tombstones } if self.counts(era) => {
                self.answer_tombstones(from, tombstones, out);
            }
            FreeRunningMessage::Clean { era, from, tombstones } if self.counts(era) => {
                self.is_clean(from, tombstones)
            }
            FreeRunningMessage::Enter(entry) => self.enter(entry, out),
            // Of another era, or in the wrong moment: it will come again if it still matters.
            _ => {}
        }
    }

    /// Do messages of this era change anything now?
    fn counts(&self, era: Epoch) -> bool {
        self.is_running() && self.era == Some(era)
    }

    /// Sends again what was not answered.
    fn send_again(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.ground.is_none() && self.change.is_none() {
            return;
        }
        self.change_again(out);
        if self.is_running() {
            self.transfers_again(now, out);
            self.nudges_again(true, out);
            self.resend_tombstones(out);
        }
    }

    fn send(&mut self, to: NodeId, message: FreeRunningMessage, out: &mut Vec<Output>) {
        if to == self.me.node {
            self.own.push_back(message);
        } else {
            out.push(Output::Send(Address::Node(to), Message::FreeRunning(message)));
        }
    }

    fn emit(&self, event: Event, out: &mut Vec<Output>) {
        out.push(Output::Event(event));
    }
}

/// How much of a span another machine's clock shows at least while this passes here. Clocks are
/// wrong by at most 2 in 100 each: a slow one here needs 0.94 / 0.98 = 0.96 of the span's true
/// time, a fast one there at least 1 / 1.02 = 0.98.
fn believed(span: Span) -> Span {
    Span(span.0 / 100 * 94)
}
