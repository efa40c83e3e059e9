//! Clients come, fall silent, come back and go; avatars are in the world, absent, or no more.

use super::limits::Bucket;
use super::session::{Session, Standing};
use super::{Gateway, GatewaySettings, STREAM_MAX};
use crate::client::{ClientId, GatewaySays, Hello, Refusal, Welcome};
use crate::input::{GatewayId, Input, Source};
use crate::mutant::Mutant;
use crate::node::Output;
use crate::object::{Class, Object, ObjectId};
use crate::state::State;
use crate::time::{Span, Tick, Time};
use crate::wire::PROTOCOL;
use std::collections::VecDeque;

/// Hosts that are remembered.
pub(super) const HOSTS_MAX: usize = 4096;

/// A host that has said nothing for so long is forgotten when there is no room.
const HOST_PATIENCE: Span = Span::from_ms(60_000);

/// Avatars of one host besides those that its connections serve: the oldest absent one goes when
/// there are more, so that a host that asks for new ones again and again fills nothing but its own.
const HOST_AVATARS: usize = 3;

/// What is known of a machine that clients come from.
#[derive(Clone, Debug)]
pub(super) struct Host {
    hellos: Bucket,
    heard: Time,
    banned: Time,
    avatars: VecDeque<ObjectId>,
}

/// How a client leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parting {
    /// It will come back, perhaps.
    Silence,
    /// It will not.
    Bye,
    /// Its avatar is served elsewhere, or is no more.
    Moved,
}

/// Ids of avatars that gateways make have this bit; then which gateway, its life, and a number.
const MADE: u64 = 1 << 63;
const GATEWAY_SHIFT: u32 = 48;
const LIFE_SHIFT: u32 = 28;
const LIFE_MASK: u64 = (1 << (GATEWAY_SHIFT - LIFE_SHIFT)) - 1;
const NUMBER_MASK: u64 = (1 << LIFE_SHIFT) - 1;

pub(super) fn avatar_id(gateway: GatewayId, number: u64) -> ObjectId {
    let GatewayId { number: which, life } = gateway;
    let which = u64::from(which) << GATEWAY_SHIFT & !MADE;
    let life = (u64::from(life) & LIFE_MASK) << LIFE_SHIFT;
    ObjectId(MADE | which | life | (number & NUMBER_MASK))
}

/// The number of the gateway that has made an avatar.
fn home(avatar: ObjectId) -> u64 {
    (avatar.0 & !MADE) >> GATEWAY_SHIFT
}

impl Gateway {
    fn host(&mut self, now: Time, host: u32) -> Option<&mut Host> {
        if self.hosts.len() >= HOSTS_MAX && !self.hosts.contains_key(&host) {
            self.hosts.retain(|_, known| now - known.heard <= HOST_PATIENCE);
            if self.hosts.len() >= HOSTS_MAX {
                return None;
            }
        }
        let hellos = Bucket::full(now, self.settings.hellos);
        let fresh = Host { hellos, heard: now, banned: Time(0), avatars: VecDeque::new() };
        let host = self.hosts.entry(host).or_insert(fresh);
        host.heard = now;
        Some(host)
    }

    pub(super) fn ban(&mut self, now: Time, host: u32) {
        let until = now + self.settings.ban;
        if let Some(host) = self.host(now, host) {
            host.banned = until;
        }
    }

    /// Says no, if the host may be answered at all.
    pub(super) fn refuse(
        &mut self,
        now: Time,
        client: ClientId,
        attempt: u32,
        why: Refusal,
        out: &mut Vec<Output>,
    ) {
        self.counters.refused += 1;
        let allowance = self.settings.hellos;
        if self.host(now, client.host).is_some_and(|host| host.hellos.take(now, 1, allowance)) {
            self.tell(client, GatewaySays::Refused { attempt, why }, out);
        }
    }

    pub(super) fn hello(
        &mut self,
        now: Time,
        client: ClientId,
        hello: Hello,
        out: &mut Vec<Output>,
    ) {
        // Who is not there yet, or behind, does not know what became of an avatar: silence, and
        // the client will ask again.
        let since = hello.credential.map_or(Tick(0), |credential| credential.since);
        let Some(tick) = self.tick.filter(|tick| since <= *tick) else { return };
        let attempt = hello.attempt;
        if hello.protocol != PROTOCOL {
            return self.refuse(now, client, attempt, Refusal::Protocol, out);
        }
        let valid = hello.credential.filter(|credential| self.settings.key.fits(credential));
        if valid != hello.credential {
            return self.refuse(now, client, attempt, Refusal::Credential, out);
        }
        if let Some(session) = self.sessions.get_mut(&client) {
            if attempt < session.attempt {
                return;
            }
            if valid.is_none_or(|credential| credential.avatar == session.avatar) {
                if attempt > session.attempt {
                    session.renew(now, attempt);
                }
                session.heard = now;
                return self.settle(client, tick, true, out);
            }
            self.part(client, Parting::Silence);
        }
        let known = valid.map(|credential| credential.avatar);
        let known = known.filter(|avatar| self.class_of(*avatar).is_some());
        if let (Some(credential), None) = (valid, known)
            && !self.is_gone(credential.avatar)
        {
            return;
        }
        if let Some(other) = known.and_then(|avatar| self.served.get(&avatar).copied()) {
            let attempt = self.sessions.get(&other).map_or(0, |session| session.attempt);
            self.tell(other, GatewaySays::Refused { attempt, why: Refusal::Replaced }, out);
            self.part(other, Parting::Moved);
        }
        if !self.has_room(now, client) {
            return self.refuse(now, client, attempt, Refusal::Full, out);
        }
        let avatar = match known {
            Some(avatar) => avatar,
            None => match self.enter(now, client.host) {
                Some(avatar) => avatar,
                None => return self.refuse(now, client, attempt, Refusal::Full, out),
            },
        };
        let mut session = Session::new(now, attempt, avatar, &self.settings);
        session.number = self.follower.heard_of(Source::Avatar(avatar));
        session.followed = (session.number, tick);
        self.sessions.insert(client, session);
        self.served.insert(avatar, client);
        self.elsewhere.remove(&avatar);
        self.counters.resumed += u64::from(known.is_some());
        self.settle(client, tick, false, out);
    }

    fn has_room(&mut self, now: Time, client: ClientId) -> bool {
        if self.mutant == Some(Mutant::UnboundedSessions) {
            return true;
        }
        let GatewaySettings { sessions, host_sessions, hellos, .. } = self.settings;
        let first = ClientId { host: client.host, connection: 0 };
        let last = ClientId { host: client.host, connection: u32::MAX };
        let room = self.sessions.len() < sessions
            && self.sessions.range(first..=last).count() < host_sessions
            && self.waiting() < STREAM_MAX;
        let Some(host) = self.host(now, client.host) else { return false };
        room && host.banned <= now && host.hellos.take(now, 1, hellos)
    }

    /// A new avatar comes into the world.
    fn enter(&mut self, now: Time, host: u32) -> Option<ObjectId> {
        let most = HOST_AVATARS + self.settings.host_sessions;
        let avatars = self.host(now, host)?.avatars.clone();
        if avatars.len() >= HOST_AVATARS {
            let gone = |avatar: &&ObjectId| self.class_of(**avatar) == Some(Class::Absent);
            let oldest = avatars.iter().find(gone).copied();
            if let Some(oldest) = oldest {
                self.ask(Input::Remove(oldest));
            }
            let left = avatars.iter().filter(|avatar| {
                Some(**avatar) != oldest
                    && (self.class_of(**avatar).is_some() || self.asked.contains_key(avatar))
            });
            let left: VecDeque<ObjectId> = left.copied().collect();
            self.host(now, host)?.avatars = left;
        }
        if self.host(now, host)?.avatars.len() >= most
            && self.mutant != Some(Mutant::UnboundedSessions)
        {
            return None;
        }
        self.made += 1;
        let id = avatar_id(self.me, self.made);
        let state = State { position: self.place(id), ..State::default() };
        let object = Object { id, class: Class::Avatar, shape: self.settings.shape, state };
        self.host(now, host)?.avatars.push_back(id);
        self.counters.entered += 1;
        self.ask(Input::Enter(object));
        Some(id)
    }

    /// Somewhere in the block where avatars come in: the digest of the id spreads them.
    fn place(&self, id: ObjectId) -> [i32; 3] {
        let state = State::default();
        let object = Object { id, class: Class::Avatar, shape: self.settings.shape, state };
        let mut bits = object.digest();
        let block = self.settings.places;
        [0, 1, 2].map(|axis: usize| {
            let (low, high) = (i64::from(block.min[axis]), i64::from(block.max[axis]));
            let part = (bits & 0xffff) as i64;
            bits >>= 16;
            (low + (high - low).max(0) * part / 0xffff) as i32
        })
    }

    /// Sees to it that the avatar of a connection is in the world, and says so when it is.
    fn settle(&mut self, client: ClientId, tick: Tick, again: bool, out: &mut Vec<Output>) {
        let Some(session) = self.sessions.get(&client) else { return };
        let Session { avatar, attempt, standing, number, .. } = *session;
        if self.asked.contains_key(&avatar) {
            return;
        }
        match self.class_of(avatar) {
            Some(Class::Absent) => self.ask(Input::Return(avatar)),
            Some(_) if standing == Standing::Arriving || again => {
                let after = number.max(self.follower.heard_of(Source::Avatar(avatar)));
                // Ticks of an unsynchronised world are each gateway's own.
                let since = if self.errands.is_some() { Tick(0) } else { tick };
                let welcome = Welcome {
                    attempt,
                    credential: self.settings.key.credential(avatar, since),
                    limits: self.settings.limits,
                    tick,
                    rate: self.timing.rate,
                    after,
                };
                let velocity = self.velocity_of(avatar);
                if let Some(session) = self.sessions.get_mut(&client)
                    && standing == Standing::Arriving
                {
                    session.standing = Standing::Active;
                    session.velocity = velocity;
                }
                self.tell(client, GatewaySays::Welcome(welcome), out);
            }
            Some(_) => {}
            None => {
                self.tell(client, GatewaySays::Refused { attempt, why: Refusal::Gone }, out);
                self.part(client, Parting::Moved);
            }
        }
    }

    fn velocity_of(&self, avatar: ObjectId) -> [i16; 3] {
        let object = self.follower.world().and_then(|(_, objects)| objects.get(&avatar));
        object.map_or([0; 3], |object| object.state.velocity)
    }

    /// A client is not served any more.
    pub(super) fn part(&mut self, client: ClientId, parting: Parting) {
        let Some(session) = self.sessions.remove(&client) else { return };
        let avatar = session.avatar;
        self.served.remove(&avatar);
        self.wants.remove(&avatar);
        self.errands.iter_mut().for_each(|errands| errands.part(avatar));
        match parting {
            Parting::Silence => {
                // Another gateway has it already if the group has heard more than this one.
                if self.follower.heard_of(Source::Avatar(avatar)) <= session.number {
                    let forget = self.mutant == Some(Mutant::ForgetAbsent);
                    let gone = if forget { Input::Remove(avatar) } else { Input::Absent(avatar) };
                    self.ask(gone);
                }
            }
            Parting::Bye => self.ask(Input::Remove(avatar)),
            Parting::Moved => {}
        }
    }

    /// Clients that have said nothing for too long are gone.
    pub(super) fn miss_silent(&mut self, now: Time) {
        let silence = self.settings.silence;
        let silent = |session: &&Session| now - session.heard > silence;
        let gone: Vec<ClientId> = self
            .sessions
            .iter()
            .filter(|(_, session)| silent(session))
            .map(|(client, _)| *client)
            .collect();
        for client in gone {
            self.part(client, Parting::Silence);
        }
    }

    /// After a tick: avatars that came are welcomed, those that should be there are called back,
    /// those that nobody serves are absent, and those absent for long are removed.
    pub(super) fn look_after(&mut self, tick: Tick, out: &mut Vec<Output>) {
        let clients: Vec<ClientId> = self.sessions.keys().copied().collect();
        for client in clients {
            self.settle(client, tick, false, out);
        }
        let Some((_, objects)) = self.follower.world() else { return };
        let avatars: Vec<(ObjectId, Class)> = objects
            .from(ObjectId(MADE))
            .filter(|object| !self.served.contains_key(&object.id))
            .map(|object| (object.id, object.class))
            .collect();
        self.absent.retain(|id, _| objects.get(id).is_some_and(|o| o.class == Class::Absent));
        self.elsewhere.retain(|id, _| objects.get(id).is_some_and(|o| o.class == Class::Avatar));
        for (avatar, class) in avatars {
            if self.asked.contains_key(&avatar) || self.waiting() >= STREAM_MAX {
                continue;
            }
            match class {
                Class::Absent => self.mind_absent(avatar, tick),
                Class::Avatar => self.mind_elsewhere(avatar, tick),
                _ => {}
            }
        }
    }

    /// So many ticks; others than the one that made an avatar wait twice as long.
    fn ticks(&self, span: Span, avatar: ObjectId) -> u64 {
        let ticks = span.0.saturating_mul(u64::from(self.timing.rate)) / 1_000_000;
        let mine = home(avatar) == home(avatar_id(self.me, 0));
        if mine { ticks } else { ticks.saturating_mul(2) }
    }

    fn mind_absent(&mut self, avatar: ObjectId, tick: Tick) {
        let since = *self.absent.entry(avatar).or_insert(tick);
        if tick.0 - since.0.min(tick.0) >= self.ticks(self.settings.forget, avatar) {
            self.ask(Input::Remove(avatar));
        }
    }

    fn mind_elsewhere(&mut self, avatar: ObjectId, tick: Tick) {
        let heard = self.follower.heard_of(Source::Avatar(avatar));
        let (number, since) = *self.elsewhere.entry(avatar).or_insert((heard, tick));
        if number != heard {
            self.elsewhere.insert(avatar, (heard, tick));
        } else if tick.0 - since.0.min(tick.0) >= self.ticks(self.settings.idle, avatar) {
            self.ask(Input::Absent(avatar));
        }
    }
}
