//! A gateway: the door between clients, whom nobody trusts, and a group.
//!
//! It follows the group's world, says to the group what its clients want once it has judged it,
//! and tells each client what concerns it. It decides nothing about the world. What it knows may
//! be lost at any time: a client shows its credential at any gateway, and the world says what
//! became of its avatar. Wants are numbered by clients, and the group follows each number once and
//! in order ([`crate::Source::Avatar`]), whatever gateways they come through.

mod arrive;
mod errands;
mod glimpse;
mod interest;
mod judge;
mod limits;
mod seal;
mod session;

pub use interest::Interest;
pub use limits::Allowance;
pub(crate) use limits::shorten;
pub use seal::Key;

use crate::client::{ClientId, ClientSays, GatewaySays, Limits};
use crate::detect::Shapes;
use crate::follow::Follower;
use crate::input::{GatewayId, Input, Source, Stream, Want};
use crate::message::{Commit, Message};
use crate::mutant::Mutant;
use crate::node::{Address, Output, Timing};
use crate::object::{Class, Object, ObjectId, ShapeId};
use crate::objects::Objects;
use crate::state::Block;
use crate::time::{Span, Tick, Time};
use crate::view::{Epoch, View};
use arrive::Host;
use errands::Errands;
use glimpse::Scene;
use interest::look;
use session::{Session, Standing, pairs};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a gateway goes by.
#[derive(Clone, Copy, Debug)]
pub struct GatewaySettings {
    /// All gateways of a world have the same.
    pub key: Key,
    /// What avatars may do.
    pub limits: Limits,
    /// The form of an avatar.
    pub shape: ShapeId,
    /// Where avatars come into the world.
    pub places: Block,
    /// Who is told about what.
    pub interest: Interest,
    /// Bytes of a glimpse, at most.
    pub budget: usize,
    /// How many of the nearest are told exactly, at most.
    pub near: usize,
    /// Ticks from one glimpse to the next.
    pub every: u64,
    /// Glimpses for a client that says nothing in between, at most: who speaks seldom is told
    /// seldom.
    pub unheard: u32,
    /// Connections, at most.
    pub sessions: usize,
    /// Connections from one host, at most.
    pub host_sessions: usize,
    /// Messages of a connection.
    pub messages: Allowance,
    /// Bytes of a connection.
    pub bytes: Allowance,
    /// Attempts to connect from one host.
    pub hellos: Allowance,
    /// Who has so many is put out. One for a message too many; eight for wanting too much.
    pub strikes: u32,
    /// For how long, with all connections of its host.
    pub ban: Span,
    /// A client that is silent for so long is gone; its avatar is absent.
    pub silence: Span,
    /// Nobody has said for so long, in the world's time, what an avatar wants, at no gateway: it is
    /// absent. Clients say it more often ([`crate::ClientSettings::refresh`]).
    pub idle: Span,
    /// An avatar that is absent for so long, in the world's time, is removed.
    pub forget: Span,
}

impl Default for GatewaySettings {
    fn default() -> GatewaySettings {
        GatewaySettings {
            key: Key([0; 2]),
            limits: Limits { speed: 10 * 256, spin: 6 * 256, change: 100 * 256 },
            shape: ShapeId(0),
            places: Block { min: [0; 3], max: [0; 3] },
            interest: Interest::Auras { reach: 30.0 },
            budget: 1200,
            near: 32,
            every: 1,
            unheard: u32::MAX,
            sessions: 256,
            host_sessions: 20,
            messages: Allowance { per_second: 120, most: 120 },
            bytes: Allowance { per_second: 64_000, most: 64_000 },
            hellos: Allowance { per_second: 10, most: 10 },
            strikes: 64,
            ban: Span::from_ms(10_000),
            silence: Span::from_ms(2000),
            idle: Span::from_ms(8000),
            forget: Span::from_ms(600_000),
        }
    }
}

/// How often things happened, for operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GatewayCounters {
    /// New avatars.
    pub entered: u64,
    /// Avatars whose clients came back.
    pub resumed: u64,
    /// Letters that were not taken: no such connection or attempt, wrong credential, no room.
    pub refused: u64,
    /// Wants with a number that had been there.
    pub replays: u64,
    /// Wants for the avatar of another.
    pub foreign: u64,
    /// Wants that were cut down.
    pub corrected: u64,
    /// Letters beyond the allowance.
    pub flooded: u64,
    /// Clients that were put out.
    pub kicked: u64,
    /// Times that a whole glimpse had to follow because the client lost what it held, or said
    /// nothing for too long.
    pub bases_lost: u64,
    /// Glimpses that were sent.
    pub glimpses: u64,
    /// Bytes in them.
    pub glimpse_bytes: u64,
}

/// Numbers that wait for the group; with more, nobody new comes in.
const STREAM_MAX: usize = 256;

/// With more numbers waiting, wants are not put behind them but wait to be replaced by newer ones.
const STEERS_WAIT: usize = 8;

/// A gateway.
pub struct Gateway {
    me: GatewayId,
    shapes: Shapes,
    timing: Timing,
    settings: GatewaySettings,
    mutant: Option<Mutant>,
    follower: Follower,
    stream: Stream,
    /// In place of the stream, if the group is not synchronised.
    errands: Option<Errands>,
    sessions: BTreeMap<ClientId, Session>,
    served: BTreeMap<ObjectId, ClientId>,
    hosts: BTreeMap<u32, Host>,
    /// How many avatars it has made.
    made: u64,
    /// The number of the last thing said about an avatar's coming and going.
    asked: BTreeMap<ObjectId, u64>,
    /// Absent avatars, since when.
    absent: BTreeMap<ObjectId, Tick>,
    /// Avatars that others serve: the last want of each, and since when.
    elsewhere: BTreeMap<ObjectId, (u64, Tick)>,
    /// The newest want of each avatar that the group has not been told.
    wants: BTreeMap<ObjectId, Want>,
    /// The last tick that it has worked through.
    tick: Option<Tick>,
    /// When that was.
    ticked: Time,
    dilation: u32,
    counters: GatewayCounters,
    woke: Time,
    resend_at: Time,
    epoch: Epoch,
}

impl Gateway {
    /// One that knows nothing yet.
    #[must_use]
    pub fn new(
        me: GatewayId,
        shapes: Shapes,
        timing: Timing,
        settings: GatewaySettings,
    ) -> Gateway {
        Gateway {
            me,
            shapes,
            timing,
            settings,
            mutant: None,
            follower: Follower::new(me, timing),
            stream: Stream::new(Source::Gateway(me), 1),
            errands: None,
            sessions: BTreeMap::new(),
            served: BTreeMap::new(),
            hosts: BTreeMap::new(),
            made: 0,
            asked: BTreeMap::new(),
            absent: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
            wants: BTreeMap::new(),
            tick: None,
            ticked: Time(0),
            dilation: 1000,
            counters: GatewayCounters::default(),
            woke: Time(0),
            resend_at: Time(0),
            epoch: Epoch(0),
        }
    }

    /// The same with a mistake in it, to try the referees.
    #[must_use]
    pub fn with_mutant(self, mutant: Option<Mutant>) -> Gateway {
        Gateway { mutant, ..self }
    }

    /// The same for an unsynchronised group, in whose world `scenery` never moves.
    #[must_use]
    pub fn unsynchronised(self, scenery: &[Object]) -> Gateway {
        let follower = self.follower.unsynchronised(scenery);
        Gateway { follower, errands: Some(Errands::default()), ..self }
    }

    /// Which gateway, in which life.
    #[must_use]
    pub fn id(&self) -> GatewayId {
        self.me
    }

    /// How often things happened.
    #[must_use]
    pub fn counters(&self) -> GatewayCounters {
        self.counters
    }

    /// The last tick that it has worked through, and how long ticks take
    /// ([`crate::Commit::dilation`]); none before it has the world.
    #[must_use]
    pub fn tick(&self) -> Option<(Tick, u32)> {
        self.tick.map(|tick| (tick, self.dilation))
    }

    /// How many clients are in.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.served.len()
    }

    /// The world that it follows.
    #[must_use]
    pub fn world(&self) -> Option<(Tick, &Objects)> {
        self.follower.world()
    }

    /// What it has in its hands, how much of it, and how much that may be at most (rule R1).
    #[must_use]
    pub fn holdings(&self) -> [(&'static str, usize, usize); 6] {
        let sessions = self.settings.sessions;
        let most = |part: fn(&Session) -> usize| self.sessions.values().map(part).max();
        let steers = self.errands.as_ref().map_or(0, Errands::steers);
        [
            ("sessions", self.sessions.len(), sessions),
            ("hosts", self.hosts.len(), arrive::HOSTS_MAX),
            ("inputs", self.waiting(), STREAM_MAX + 2 * sessions),
            ("wants", self.wants.len().max(steers), sessions),
            ("glimpses", most(|s| s.told.len()).unwrap_or(0), session::TOLD_MAX),
            (
                "contacts",
                most(|s| s.changes.len().max(s.open_contacts())).unwrap_or(0),
                session::CONTACTS_MAX,
            ),
        ]
    }

    /// When it wants to be woken if nothing comes.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        self.follower.wake_at().min(self.resend_at)
    }

    /// The clock says so.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        // Whoever has slept has not heard those who spoke.
        if (now - self.woke).0 > self.settings.silence.0 / 2 {
            for session in self.sessions.values_mut() {
                session.heard = now;
            }
        }
        self.woke = now;
        self.follower.wake(now, out);
        self.follow(now, out);
        if now >= self.resend_at {
            self.resend_at = now + self.timing.resend;
            self.miss_silent(now);
            // Wants go with the ticks, so that their way takes the same time; or by themselves.
            if now - self.ticked > self.timing.resend {
                self.say_wants();
            }
            self.say(true, out);
        }
    }

    /// A message has come. One of a client can only be a letter.
    pub fn receive(&mut self, now: Time, from: Address, message: Message, out: &mut Vec<Output>) {
        match (from, message) {
            (Address::Client(client), Message::Asked(says)) => self.letter(now, client, says, out),
            (Address::Client(_), _) => self.counters.refused += 1,
            (_, message) => {
                self.follower.receive(now, message);
                self.follow(now, out);
            }
        }
    }

    fn letter(&mut self, now: Time, client: ClientId, says: ClientSays, out: &mut Vec<Output>) {
        if !self.afford(now, client, &says, out) {
            return;
        }
        match says {
            ClientSays::Hello(hello) => self.hello(now, client, hello, out),
            ClientSays::Report(report) => self.report(now, client, report, out),
            ClientSays::Bye { attempt } => {
                if self.sessions.get(&client).is_some_and(|session| session.attempt == attempt) {
                    self.part(client, arrive::Parting::Bye);
                }
            }
        }
    }

    fn tell(&self, client: ClientId, says: GatewaySays, out: &mut Vec<Output>) {
        out.push(Output::Send(Address::Client(client), Message::Told(says)));
    }

    /// The world has perhaps come on.
    fn follow(&mut self, now: Time, out: &mut Vec<Output>) {
        let commits: Vec<Arc<Commit>> = std::iter::from_fn(|| self.follower.take()).collect();
        let Some((tick, _)) = self.follower.world() else { return };
        if self.tick == Some(tick) {
            return;
        }
        let next = commits.first().map(|commit| commit.tick);
        if next.is_none() || next != self.tick.map(Tick::next) {
            self.jumped(tick);
        }
        for commit in &commits {
            self.observe(commit);
        }
        self.tick = Some(tick);
        self.ticked = now;
        let heard = self.follower.heard_of(self.stream.source());
        self.stream.heard(heard);
        self.asked.retain(|_, number| *number > heard);
        self.errands_seen();
        self.look_after(tick, out);
        self.say_wants();
        self.say(false, out);
        if tick.0.is_multiple_of(self.settings.every.max(1)) || commits.len() > 1 {
            self.show(tick, out);
        }
    }

    /// What happened in between is not known.
    fn jumped(&mut self, tick: Tick) {
        self.absent.clear();
        self.elsewhere.clear();
        for session in self.sessions.values_mut() {
            let number = self.follower.heard_of(Source::Avatar(session.avatar));
            session.followed = (number, tick);
        }
    }

    fn observe(&mut self, commit: &Commit) {
        self.dilation = commit.dilation;
        for input in &commit.inputs {
            if let Input::Steer(want) = input
                && let Some(client) = self.served.get(&want.avatar)
                && let Some(session) = self.sessions.get_mut(client)
            {
                session.followed = (want.number, commit.tick);
            }
        }
        let touching = pairs(commit);
        for session in self.sessions.values_mut() {
            if self.mutant == Some(Mutant::ForgetContacts) {
                session.forget_contacts();
            }
            session.touched(commit.tick, &touching);
        }
    }

    /// The newest wants, each avatar's newest only, are numbered for the group.
    fn say_wants(&mut self) {
        let epoch = self.follower.view().map_or(Epoch(0), |view| view.epoch);
        if self.mutant == Some(Mutant::WantTwice) && epoch != self.epoch {
            // "On leader change re-sends last input of each avatar", as if it were a new one.
            for session in self.sessions.values().filter(|session| session.number > 0) {
                let Session { avatar, number, velocity, .. } = *session;
                let again = Want { avatar, number, velocity, spin: [0; 3] };
                self.wants.entry(avatar).or_insert(again);
            }
        }
        self.epoch = epoch;
        if self.errands.is_some() {
            return;
        }
        if !self.wants.is_empty() && self.stream.waiting() < STEERS_WAIT {
            let wants = std::mem::take(&mut self.wants);
            self.stream.push(wants.into_values().map(Input::Steer).collect());
        }
    }

    /// Tells the leader what waits; everybody, in case it is another one, if `again`.
    fn say(&mut self, again: bool, out: &mut Vec<Output>) {
        if self.errands.is_some() {
            return self.say_errands(again, out);
        }
        let Some(view) = self.follower.view() else { return };
        let Some(inputs) = self.stream.message() else { return };
        let leader = view.leader().map(|leader| leader.node);
        for node in view.nodes().filter(|&node| again || Some(node) == leader) {
            out.push(Output::Send(Address::Node(node), Message::Inputs(inputs.clone())));
        }
    }

    /// Something is to become of an avatar.
    fn ask(&mut self, input: Input) {
        let number = match &mut self.errands {
            Some(errands) => {
                errands.ask(input, self.follower.view());
                u64::MAX
            }
            None => self.stream.push(vec![input]),
        };
        self.asked.insert(input.object(), number);
    }

    /// Everybody who is in is told what they see.
    fn show(&mut self, tick: Tick, out: &mut Vec<Output>) {
        let Some((_, objects)) = self.follower.world() else { return };
        let most = self.settings.unheard;
        let active =
            |session: &Session| session.standing == Standing::Active && session.unheard < most;
        let viewers: BTreeSet<ObjectId> =
            self.sessions.values().filter(|s| active(s)).map(|session| session.avatar).collect();
        if viewers.is_empty() {
            return;
        }
        let mut seen = look(self.settings.interest, objects, &self.shapes, &viewers);
        let scene = Scene {
            tick,
            rate: self.timing.rate,
            dilation: self.dilation,
            objects,
            settings: &self.settings,
            mutant: self.mutant,
        };
        for (&client, session) in &mut self.sessions {
            if !active(session) {
                continue;
            }
            let seen = seen.remove(&session.avatar).unwrap_or_default();
            let Some((glimpse, kept_up)) = scene.glimpse(session, &seen) else { continue };
            session.unheard += 1;
            session.sees = seen.iter().map(|object| object.id).collect();
            self.counters.bases_lost += u64::from(!kept_up);
            self.counters.glimpses += 1;
            self.counters.glimpse_bytes += (glimpse.near.len() + glimpse.far.len()) as u64;
            let message = Message::Told(GatewaySays::Glimpse(glimpse));
            out.push(Output::Send(Address::Client(client), message));
        }
    }

    /// The class of an avatar in the world, if it is there.
    fn class_of(&self, avatar: ObjectId) -> Option<Class> {
        let (_, objects) = self.follower.world()?;
        objects.get(&avatar).map(|object| object.class)
    }

    /// The last stable view that it has heard of.
    #[must_use]
    pub fn view(&self) -> Option<&View> {
        self.follower.view()
    }
}
