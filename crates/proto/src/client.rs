//! A client: connects, shows the world, and says what its avatar wants.
//!
//! ```text
//! Connecting -> Active -> (silence, or refused) -> Connecting with the same credential
//! ```
//!
//! It has no clock but the times that it is given, trusts one gateway at a time, and depends on
//! none of them: what it needs to reconnect is its credential.

mod message;
mod others;
mod own;

pub use message::{
    ClientId, ClientMessage, ContactChange, Credential, GatewayMessage, Hello, Limits, Reason,
    Refusal, Report, StateUpdate, Welcome,
};
pub use others::Shown;

use crate::detect::Shapes;
use crate::gateway::shorten;
use crate::input::ClientInput;
use crate::message::Message;
use crate::node::{Address, Output};
use crate::object::{Class, Object, ObjectId, ShapeId};
use crate::reckon::Place;
use crate::state::State;
use crate::time::{Span, Tick, Time};
use crate::wire::{PROTOCOL, Snapshot, light};
use others::Others;
use own::Own;
use std::collections::{BTreeSet, VecDeque};

/// What a client goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientSettings {
    /// A greeting that is not answered is sent again after this.
    pub resend: Span,
    /// A gateway that says nothing for so long is left for the next one.
    pub patience: Span,
    /// The shortest interval between two reports while another avatar is near (row O17).
    pub close: Span,
    /// The same while no other is near.
    pub apart: Span,
    /// Near is who would be touched within this, in seconds.
    pub within: f64,
    /// The input is sent again after this interval even if it has not changed, so that the world
    /// knows that the client is still there.
    pub refresh: Span,
}

impl Default for ClientSettings {
    fn default() -> ClientSettings {
        ClientSettings {
            resend: Span::from_ms(250),
            patience: Span::from_ms(1500),
            close: Span::from_ms(16),
            apart: Span::from_ms(66),
            within: 1.0,
            refresh: Span::from_ms(2000),
        }
    }
}

/// State updates that are kept, because the next one may be a delta to any of them.
const KEPT_MAX: usize = 64;

/// Objects in one state update, at most: what 1200 bytes can hold and more.
const SEEN_MAX: usize = 4096;

/// Changes of contacts that wait to be taken.
const CHANGES_MAX: usize = 1024;

/// Every connection begins a new block of numbers of this size: what an earlier one may have said
/// last is below it.
const NUMBERS: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Says hello until it is answered.
    Connecting {
        since: Time,
    },
    Active {
        heard: Time,
    },
    /// It said bye.
    Out,
}

/// A client.
///
/// ```
/// use jostle_proto::{Address, Client, ClientId, ClientSettings, Output, Shapes, Time};
///
/// let me = ClientId { host: 1, connection: 0 };
/// let mut client = Client::new(me, vec![7, 8], Shapes::default(), ClientSettings::default());
/// let mut out = Vec::new();
/// client.wake(Time(0), &mut out);
/// assert!(matches!(out[..], [Output::Send(Address::Gate(7), _)]));
/// assert!(!client.is_active());
/// client.steer(Time(10), [256, 0, 0], [0; 3]);
/// assert_eq!(client.own(Time(20)), None);
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    me: ClientId,
    /// The gateways that it may go to; it is with this one.
    gates: Vec<u32>,
    at: usize,
    shapes: Shapes,
    settings: ClientSettings,
    phase: Phase,
    attempt: u32,
    credential: Option<Credential>,
    limits: Option<Limits>,
    own: Own,
    others: Others,
    kept: VecDeque<Snapshot>,
    /// Distant objects of the newest update, in the rough encoding.
    far: Vec<(ObjectId, State)>,
    touching: BTreeSet<(ObjectId, ObjectId)>,
    changes: VecDeque<ContactChange>,
    changed: u64,
    /// The last number that was used.
    number: u64,
    /// What the user wants, and whether it has been said.
    motion: ([i16; 3], [i16; 3]),
    input_sent: bool,
    input_sent_at: Time,
    reported_at: Time,
    wake_at: Time,
}

impl Client {
    /// One that knows nothing but where gateways are.
    #[must_use]
    pub fn new(me: ClientId, gates: Vec<u32>, shapes: Shapes, settings: ClientSettings) -> Client {
        Client {
            me,
            gates,
            at: 0,
            shapes,
            settings,
            phase: Phase::Connecting { since: Time(0) },
            attempt: 1,
            credential: None,
            limits: None,
            own: Own::new(60),
            others: Others::default(),
            kept: VecDeque::new(),
            far: Vec::new(),
            touching: BTreeSet::new(),
            changes: VecDeque::new(),
            changed: 0,
            number: 0,
            motion: ([0; 3], [0; 3]),
            input_sent: false,
            input_sent_at: Time(0),
            reported_at: Time(0),
            wake_at: Time(0),
        }
    }

    /// One that was there before.
    #[must_use]
    pub fn with_credential(self, credential: Option<Credential>) -> Client {
        Client { credential, ..self }
    }

    /// Which connection.
    #[must_use]
    pub fn id(&self) -> ClientId {
        self.me
    }

    /// To be kept for the next time.
    #[must_use]
    pub fn credential(&self) -> Option<Credential> {
        self.credential
    }

    /// Is it in?
    #[must_use]
    pub fn is_active(&self) -> bool {
        matches!(self.phase, Phase::Active { .. })
    }

    /// The gateway that it is with, or tries.
    #[must_use]
    pub fn gate(&self) -> u32 {
        self.gates.get(self.at).copied().unwrap_or(0)
    }

    /// Its avatar.
    #[must_use]
    pub fn avatar(&self) -> Option<ObjectId> {
        self.credential.map(|credential| credential.avatar)
    }

    /// The attempt that it is in.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The user wants the avatar to go like this. More than is allowed is cut down.
    pub fn steer(&mut self, now: Time, velocity: [i16; 3], spin: [i16; 3]) {
        self.motion = (velocity, spin);
        self.input_sent = false;
        if self.is_active() {
            self.wake_at = self.wake_at.min((self.reported_at + self.settings.close).max(now));
        }
    }

    /// The own avatar in the present: where it will be when what is wanted now is followed.
    #[must_use]
    pub fn own(&self, now: Time) -> Option<State> {
        self.own.now(now)
    }

    /// The tick that the present is.
    #[must_use]
    pub fn present(&self, now: Time) -> Option<Tick> {
        self.own.present(now)
    }

    /// The own avatar for the eye: errors of the prediction are led away smoothly.
    pub fn own_shown(&mut self, now: Time) -> Option<Place> {
        self.own.shown(now)
    }

    /// The own avatar as of the newest state update.
    #[must_use]
    pub fn own_received(&self) -> Option<(Tick, State)> {
        self.own.last_received()
    }

    /// How often the world said something else about the avatar than was predicted.
    #[must_use]
    pub fn corrections(&self) -> u64 {
        self.own.corrections()
    }

    /// Everything else that is known, as it is shown now.
    pub fn others(&mut self, now: Time) -> Vec<Shown> {
        self.others.forget(now);
        let avatar = self.avatar();
        let own = self.own.now(now).zip(avatar).map(|(state, id)| self.own_object(id, state));
        let Client { others, own: mine, shapes, .. } = self;
        others.shown(now, own, shapes, |tick| mine.time_of(tick))
    }

    fn own_object(&self, id: ObjectId, state: State) -> Object {
        let known = self.kept.back().and_then(|seen| seen.get(id));
        let shape = known.map_or(ShapeId(0), |object| object.shape);
        Object { id, class: Class::Avatar, shape, state }
    }

    /// The pairs that touch, as far as they were reported.
    pub fn contacts(&self) -> impl Iterator<Item = (ObjectId, ObjectId)> + '_ {
        self.touching.iter().copied()
    }

    /// Contacts that began or ended and were not taken yet, in order.
    pub fn take_contacts(&mut self) -> Vec<ContactChange> {
        self.changes.drain(..).collect()
    }

    /// The objects that the newest state update has exactly.
    #[must_use]
    pub fn sees(&self) -> Option<&Snapshot> {
        self.kept.back()
    }

    /// The objects that it has roughly.
    #[must_use]
    pub fn sees_far(&self) -> &[(ObjectId, State)] {
        &self.far
    }

    /// What it has in its hands, how much of it, and how much that may be at most (rule R1).
    #[must_use]
    pub fn holdings(&self) -> [(&'static str, usize, usize); 4] {
        [
            ("others", self.others.len(), others::OTHERS_MAX),
            ("state updates", self.kept.len(), KEPT_MAX),
            ("wants", self.own.pending(), own::PENDING_MAX),
            ("changes", self.changes.len(), CHANGES_MAX),
        ]
    }

    /// It will not come back.
    pub fn bye(&mut self, out: &mut Vec<Output>) {
        self.send(ClientMessage::Bye { attempt: self.attempt }, out);
        self.phase = Phase::Out;
        self.credential = None;
        self.wake_at = Time(u64::MAX / 4);
    }

    /// When it wants to be woken if nothing comes.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        self.wake_at
    }

    fn send(&self, message: ClientMessage, out: &mut Vec<Output>) {
        out.push(Output::Send(Address::Gate(self.gate()), Message::FromClient(message)));
    }

    /// The clock says so.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        if now < self.wake_at {
            return;
        }
        match self.phase {
            Phase::Out => self.wake_at = Time(u64::MAX / 4),
            Phase::Connecting { since } if now - since > self.settings.patience => {
                self.connect(now, 1, out);
            }
            Phase::Connecting { .. } => self.greet(now, out),
            Phase::Active { heard } if now - heard > self.settings.patience => {
                self.connect(now, 1, out);
            }
            Phase::Active { .. } => self.report(now, out),
        }
    }

    /// Tries again, so many gateways further.
    fn connect(&mut self, now: Time, further: usize, out: &mut Vec<Output>) {
        self.at = (self.at + further) % self.gates.len().max(1);
        self.attempt = self.attempt.saturating_add(1);
        self.phase = Phase::Connecting { since: now };
        self.greet(now, out);
    }

    fn greet(&mut self, now: Time, out: &mut Vec<Output>) {
        self.wake_at = now + self.settings.resend;
        let Client { credential, attempt, .. } = *self;
        self.send(ClientMessage::Hello(Hello { credential, protocol: PROTOCOL, attempt }), out);
    }

    /// Says what it has seen and, if that is new or was long ago, what it wants.
    fn report(&mut self, now: Time, out: &mut Vec<Output>) {
        let refresh = now - self.input_sent_at >= self.settings.refresh;
        let want = if !self.input_sent || refresh { self.next_want(now) } else { None };
        let ack = self.kept.back().map(Snapshot::tick);
        self.send(ClientMessage::Report(Report { attempt: self.attempt, ack, want }), out);
        self.reported_at = now;
        self.wake_at = now + self.pace(now);
    }

    fn next_want(&mut self, now: Time) -> Option<ClientInput> {
        let (avatar, limits) = (self.avatar()?, self.limits?);
        // Said again, it is what the avatar does anyway: it may have run into something.
        let (velocity, spin) = match self.own.now(now) {
            Some(state) if self.input_sent => (state.velocity, state.spin),
            _ => self.motion,
        };
        self.number = self.number.saturating_add(1);
        let velocity = shorten(velocity, u64::from(limits.speed));
        let spin = shorten(spin, u64::from(limits.spin));
        let want = ClientInput { avatar, number: self.number, velocity, spin };
        self.input_sent = true;
        self.input_sent_at = now;
        self.own.want(now, want);
        Some(want)
    }

    /// The time to the next report: short while a contact is near.
    fn pace(&self, now: Time) -> Span {
        let own = self.own.now(now).zip(self.avatar());
        let near = own
            .and_then(|(state, id)| self.others.nearest(&self.own_object(id, state), &self.shapes));
        let close = near.is_some_and(|seconds| seconds < self.settings.within);
        if close { self.settings.close } else { self.settings.apart }
    }

    /// Handles a message of a gateway.
    pub fn receive(
        &mut self,
        now: Time,
        from: Address,
        message: GatewayMessage,
        out: &mut Vec<Output>,
    ) {
        if from != Address::Gate(self.gate())
            || message.attempt() != self.attempt
            || self.phase == Phase::Out
        {
            return;
        }
        match message {
            GatewayMessage::Welcome(welcome) => self.welcome(now, &welcome),
            GatewayMessage::StateUpdate(update) => self.update(now, update),
            GatewayMessage::Correct { want, reason, .. } => self.correct(now, want, reason),
            GatewayMessage::Kicked { .. } => self.later(now, 1),
            GatewayMessage::Refused { why, .. } => self.refused(now, why, out),
        }
    }

    /// Another gateway, after a while.
    fn later(&mut self, now: Time, further: usize) {
        self.at = (self.at + further) % self.gates.len().max(1);
        self.attempt = self.attempt.saturating_add(1);
        self.phase = Phase::Connecting { since: now };
        self.wake_at = now + self.settings.resend;
    }

    fn refused(&mut self, now: Time, why: Refusal, out: &mut Vec<Output>) {
        match why {
            Refusal::Unknown if self.is_active() => self.connect(now, 0, out),
            Refusal::Gone | Refusal::Credential => {
                self.credential = None;
                self.later(now, 0);
            }
            Refusal::Unknown => {}
            Refusal::Protocol | Refusal::Full | Refusal::Replaced => self.later(now, 1),
        }
    }

    fn welcome(&mut self, now: Time, welcome: &Welcome) {
        if self.is_active() {
            return;
        }
        let Welcome { credential, limits, rate, after, .. } = *welcome;
        if self.avatar() != Some(credential.avatar) || self.own.last_received().is_none() {
            self.own = Own::new(rate);
            self.others.clear();
        }
        self.own.reconnect();
        self.credential = Some(credential);
        self.limits = Some(limits);
        self.kept.clear();
        self.far.clear();
        self.touching.clear();
        self.changed = 0;
        let block = (self.number.max(after) >> NUMBERS).saturating_add(1);
        self.number = if block >> (64 - NUMBERS) == 0 { block << NUMBERS } else { u64::MAX };
        self.phase = Phase::Active { heard: now };
        self.input_sent = false;
        self.wake_at = now;
    }

    fn correct(&mut self, now: Time, want: ClientInput, reason: Reason) {
        self.own.correct(now, want);
        if reason == Reason::Change && want.number == self.number {
            // Not all at once; the rest is asked for with the next report.
            self.input_sent = false;
        }
    }

    fn update(&mut self, now: Time, update: StateUpdate) {
        let Phase::Active { heard } = &mut self.phase else { return };
        *heard = now;
        if self.kept.back().is_some_and(|newest| newest.tick() >= update.tick) {
            return;
        }
        let near = match update.base {
            None => Snapshot::decode(&update.near, SEEN_MAX),
            Some(base) => {
                let known = self.kept.iter().find(|kept| kept.tick() == base);
                match known {
                    Some(known) => Snapshot::decode_since(known, &update.near, SEEN_MAX),
                    None => return self.kept.clear(),
                }
            }
        };
        let Some(near) = near.ok().filter(|near| near.tick() == update.tick) else {
            // It holds something else than the gateway thinks; a whole one will come.
            return self.kept.clear();
        };
        if let Some(base) = update.base {
            self.kept.retain(|kept| kept.tick() >= base);
        }
        self.take_in(now, &update, &near);
        self.kept.push_back(near);
        if self.kept.len() > KEPT_MAX {
            self.kept.pop_front();
        }
    }

    fn take_in(&mut self, now: Time, update: &StateUpdate, near: &Snapshot) {
        let StateUpdate { tick, dilation, followed, followed_at, .. } = *update;
        self.far = light::decode(&update.far, SEEN_MAX).unwrap_or_default();
        self.others.forget(now);
        let avatar = self.avatar();
        for object in near.objects() {
            if Some(object.id) == avatar {
                let received = (tick, object.class, object.state);
                self.own.receive(now, received, dilation, (followed, followed_at));
            } else {
                self.others.receive(now, tick, *object);
            }
        }
        for (&(id, state), &(class, shape)) in self.far.iter().zip(&update.kinds) {
            if Some(id) != avatar {
                self.others.receive(now, tick, Object { id, class, shape, state });
            }
        }
        for change in &update.contacts {
            if change.number <= self.changed {
                continue;
            }
            self.changed = change.number;
            let pair = (change.a, change.b);
            if change.begins && self.touching.len() < CHANGES_MAX {
                self.touching.insert(pair);
            } else {
                self.touching.remove(&pair);
            }
            if self.changes.len() >= CHANGES_MAX {
                self.changes.pop_front();
            }
            self.changes.push_back(*change);
        }
    }
}
