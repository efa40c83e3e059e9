//! Clients come, fall silent, come back and go; avatars are in the world, absent, or no more.

use super::group_link::GroupLink;
use super::limits::RateLimiter;
use super::session::{Session, Standing};
use super::{Gateway, GatewaySettings, STREAM_MAX};
use crate::client::{ClientId, Credential, GatewayMessage, Hello, Refusal, Welcome};
use crate::groups::GroupId;
use crate::input::{GatewayId, Input};
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
    hellos: RateLimiter,
    heard: Time,
    banned: Time,
    avatars: VecDeque<(GroupId, ObjectId)>,
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

/// Ids of avatars that gateways make are not smaller than this: they have its bit; then which
/// gateway, its life, and a number.
pub const AVATARS_FROM: ObjectId = ObjectId(1 << 63);
const MADE: u64 = AVATARS_FROM.0;
const GATEWAY_SHIFT: u32 = 48;
const LIFE_SHIFT: u32 = 28;
const LIFE_MASK: u64 = (1 << (GATEWAY_SHIFT - LIFE_SHIFT)) - 1;
const NUMBER_MASK: u64 = (1 << LIFE_SHIFT) - 1;

fn avatar_id(gateway: GatewayId, number: u64) -> ObjectId {
    let GatewayId { number: which, life } = gateway;
    let which = u64::from(which) << GATEWAY_SHIFT & !MADE;
    let life = (u64::from(life) & LIFE_MASK) << LIFE_SHIFT;
    ObjectId(MADE | which | life | (number & NUMBER_MASK))
}

/// Has this gateway made that avatar, in whichever life?
pub(super) fn made_by(gateway: GatewayId, avatar: ObjectId) -> bool {
    let maker = |avatar: ObjectId| (avatar.0 & !MADE) >> GATEWAY_SHIFT;
    maker(avatar) == maker(avatar_id(gateway, 0))
}

impl Gateway {
    fn host(&mut self, now: Time, host: u32) -> Option<&mut Host> {
        if self.hosts.len() >= HOSTS_MAX && !self.hosts.contains_key(&host) {
            self.hosts.retain(|_, known| now - known.heard <= HOST_PATIENCE);
            if self.hosts.len() >= HOSTS_MAX {
                return None;
            }
        }
        let hellos = RateLimiter::full(now, self.settings.hellos);
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
            self.send_to_client(client, GatewayMessage::Refused { attempt, why }, out);
        }
    }

    pub(super) fn hello(
        &mut self,
        now: Time,
        client: ClientId,
        hello: Hello,
        out: &mut Vec<Output>,
    ) {
        let valid = hello.credential.filter(|credential| self.settings.key.fits(credential));
        if let Some(Credential { home, .. }) = valid
            && hello.protocol == PROTOCOL
        {
            self.open(now, home);
        }
        if let (Some(Credential { avatar, home, .. }), true) = (valid, hello.protocol == PROTOCOL) {
            let home = self.current_home(avatar, home);
            self.open(now, home);
        }
        // Who is not there yet, or behind, does not know what became of an avatar: silence, and
        // the client will ask again.
        let Some(home) = self.home_of(client, hello.attempt, valid) else { return };
        let applies = |credential: &Credential| valid.is_none() || credential.home == home;
        let since = hello.credential.filter(applies).map_or(Tick(0), |credential| credential.since);
        let tick = self.group_links.get(&home).and_then(GroupLink::known_tick);
        if tick.is_none_or(|tick| tick < since) {
            return;
        }
        let attempt = hello.attempt;
        if hello.protocol != PROTOCOL {
            return self.refuse(now, client, attempt, Refusal::Protocol, out);
        }
        if valid != hello.credential {
            return self.refuse(now, client, attempt, Refusal::Credential, out);
        }
        if let Some(session) = self.sessions.get_mut(&client) {
            if attempt < session.attempt {
                return;
            }
            if session.serves(attempt, valid) {
                if attempt > session.attempt {
                    session.renew(now, attempt);
                }
                session.heard = now;
                return self.settle(client, true, out);
            }
            self.part(client, Parting::Silence);
        }
        let known = valid.map(|credential| credential.avatar);
        let known = known.filter(|avatar| self.class_of(home, *avatar).is_some());
        if known.is_none() && valid.is_some_and(|credential| self.is_copied(credential.avatar)) {
            // It is on its way to another group.
            return;
        }
        if let (Some(credential), None) = (valid, known)
            && let Some(link) = self.group_links.get_mut(&home)
            && !link.is_gone(credential.avatar)
        {
            return;
        }
        if let Some(other) = known.and_then(|avatar| self.served.get(&avatar).copied()) {
            let attempt = self.sessions.get(&other).map_or(0, |session| session.attempt);
            self.send_to_client(
                other,
                GatewayMessage::Refused { attempt, why: Refusal::Replaced },
                out,
            );
            self.part(other, Parting::Moved);
        }
        self.let_in(now, (client, attempt), known.map(|avatar| (avatar, home)), out);
    }

    /// The group whose world says what a client will get: that of its avatar, or the one that new
    /// ones come into.
    fn home_of(
        &self,
        client: ClientId,
        attempt: u32,
        valid: Option<Credential>,
    ) -> Option<GroupId> {
        let session = self.sessions.get(&client);
        if let Some(session) = session.filter(|session| session.serves(attempt, valid)) {
            return Some(session.home);
        }
        let is_over = |group| self.group_links.get(&group).is_some_and(|link| link.is_over);
        let there = valid.map(|credential| self.current_home(credential.avatar, credential.home));
        let there = there.filter(|group| !is_over(*group));
        let there = there.filter(|_| self.mutant != Some(Mutant::ForgetHome));
        there.or(self.main)
    }

    /// A client gets the avatar that it has come back to, or a new one.
    fn let_in(
        &mut self,
        now: Time,
        (client, attempt): (ClientId, u32),
        known: Option<(ObjectId, GroupId)>,
        out: &mut Vec<Output>,
    ) {
        let Some(home) = known.map(|(_, home)| home).or(self.main) else { return };
        let link = self.group_links.get(&home).filter(|link| !link.is_over);
        let Some(tick) = link.and_then(GroupLink::known_tick) else { return };
        if !self.has_room(now, client, home) {
            return self.refuse(now, client, attempt, Refusal::Full, out);
        }
        let avatar = match known {
            Some((avatar, _)) => avatar,
            None => match self.enter(now, client.host, home) {
                Some(avatar) => avatar,
                None => return self.refuse(now, client, attempt, Refusal::Full, out),
            },
        };
        let Some(link) = self.group_links.get_mut(&home) else { return };
        let mut session = Session::new(now, attempt, (avatar, home), &self.settings);
        session.number = link.heard_of(avatar);
        session.followed = (session.number, tick);
        link.serves(avatar);
        self.sessions.insert(client, session);
        self.served.insert(avatar, client);
        self.counters.resumed += u64::from(known.is_some());
        self.settle(client, false, out);
    }

    /// The class of an avatar in its home, if it is there.
    fn class_of(&self, home: GroupId, avatar: ObjectId) -> Option<Class> {
        self.group_links.get(&home)?.class_of(avatar)
    }

    fn ask(&mut self, home: GroupId, input: Input) {
        if let Some(link) = self.group_links.get_mut(&home) {
            link.ask(input);
        }
    }

    fn has_room(&mut self, now: Time, client: ClientId, home: GroupId) -> bool {
        if self.mutant == Some(Mutant::UnboundedSessions) {
            return true;
        }
        let GatewaySettings { sessions, host_sessions, hellos, .. } = self.settings;
        let first = ClientId { host: client.host, connection: 0 };
        let last = ClientId { host: client.host, connection: u32::MAX };
        let room = self.sessions.len() < sessions
            && self.sessions.range(first..=last).count() < host_sessions
            && self.group_links.get(&home).is_some_and(|link| link.waiting() < STREAM_MAX);
        let Some(host) = self.host(now, client.host) else { return false };
        room && host.banned <= now && host.hellos.take(now, 1, hellos)
    }

    /// A new avatar comes into the world of a group.
    fn enter(&mut self, now: Time, host: u32, home: GroupId) -> Option<ObjectId> {
        let most = HOST_AVATARS + self.settings.host_sessions;
        let avatars = self.host(now, host)?.avatars.clone();
        if avatars.len() >= HOST_AVATARS {
            let class = |&(home, avatar): &(GroupId, ObjectId)| self.class_of(home, avatar);
            let oldest = avatars.iter().find(|it| class(it) == Some(Class::Absent)).copied();
            if let Some((home, oldest)) = oldest {
                self.ask(home, Input::Remove(oldest));
            }
            let left = avatars.into_iter().filter(|it @ (home, avatar)| {
                let link = self.group_links.get(home);
                let unsure = || link.is_some_and(|link| link.is_lost() || link.is_asked(*avatar));
                Some(*it) != oldest && (self.class_of(*home, *avatar).is_some() || unsure())
            });
            let left = left.collect();
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
        self.host(now, host)?.avatars.push_back((home, id));
        self.counters.entered += 1;
        self.ask(home, Input::Enter(object));
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
    fn settle(&mut self, client: ClientId, again: bool, out: &mut Vec<Output>) {
        let Some(session) = self.sessions.get_mut(&client) else { return };
        let Session { avatar, home, attempt, standing, number, .. } = *session;
        let Some(link) = self.group_links.get_mut(&home) else { return };
        let Some(tick) = link.known_tick().filter(|_| !link.is_asked(avatar)) else { return };
        match link.class_of(avatar) {
            Some(Class::Absent) => link.ask(Input::Return(avatar)),
            Some(_) if standing == Standing::Arriving || again => {
                let welcome = Welcome {
                    attempt,
                    credential: self.settings.key.credential(avatar, home, link.since(tick)),
                    limits: self.settings.limits,
                    tick,
                    rate: self.timing.rate,
                    after: number.max(link.heard_of(avatar)),
                };
                if standing == Standing::Arriving {
                    session.standing = Standing::Active;
                    session.velocity = link.velocity_of(avatar);
                }
                self.send_to_client(client, GatewayMessage::Welcome(welcome), out);
            }
            Some(_) => {}
            None if link.elsewhere(avatar).is_some() => self.follow_home(client, out),
            None => {
                self.send_to_client(
                    client,
                    GatewayMessage::Refused { attempt, why: Refusal::Gone },
                    out,
                );
                self.part(client, Parting::Moved);
            }
        }
    }

    /// A client is not served any more.
    pub(super) fn part(&mut self, client: ClientId, parting: Parting) {
        let Some(session) = self.sessions.remove(&client) else { return };
        let avatar = session.avatar;
        self.served.remove(&avatar);
        let Some(link) = self.group_links.get_mut(&session.home) else { return };
        link.part(avatar);
        match parting {
            Parting::Silence => {
                // Another gateway has it already if the group has heard more than this one.
                if link.heard_of(avatar) <= session.number {
                    let forget = self.mutant == Some(Mutant::ForgetAbsent);
                    let gone = if forget { Input::Remove(avatar) } else { Input::Absent(avatar) };
                    link.ask(gone);
                }
            }
            Parting::Bye => link.ask(Input::Remove(avatar)),
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

    /// After a tick of a group: avatars that have entered are welcomed, those that should be there
    /// are called back, those without a client become absent, and those absent for long are
    /// removed.
    pub(super) fn look_after(&mut self, group: GroupId, tick: Tick, out: &mut Vec<Output>) {
        let own = self.sessions.iter().filter(|(_, session)| session.home == group);
        let clients: Vec<ClientId> = own.map(|(client, _)| *client).collect();
        for client in clients {
            self.settle(client, false, out);
        }
        if let Some(link) = self.group_links.get_mut(&group) {
            link.mind(tick, &self.served, &self.settings);
        }
    }
}
