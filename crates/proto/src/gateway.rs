//! The gateway connects untrusted clients to the groups that share a world.
//!
//! It replicates a group's world read-only, validates client inputs and forwards them, and sends
//! each client the state updates within its interest. It holds no authority: its state can be lost
//! at any time and is rebuilt from credentials and the world. Inputs are numbered by clients, and
//! the group follows each number once and in order ([`crate::Source::Avatar`]), whatever gateways
//! they come through.
//!
//! New avatars join the gateway's own group, which is that of the node beside it. An avatar whose
//! home is another group is served remotely through a group link (`group_link`), one per group.

mod arrive;
mod group_link;
mod interest;
mod judge;
mod limits;
mod rehome;
mod requests;
mod seal;
mod session;
mod state_update;

pub use arrive::AVATARS_FROM;
pub use interest::Interest;
pub(crate) use limits::shorten;
pub use limits::{Allowance, RateLimiter};
pub use seal::Key;

use crate::client::{ClientId, ClientMessage, GatewayMessage, Limits};
use crate::detect::Shapes;
use crate::groups::GroupId;
use crate::input::{ClientInput, GatewayId, Input};
use crate::message::{Commit, Message, Peers};
use crate::mutant::Mutant;
use crate::node::{Address, Output, Timing};
use crate::object::{NodeId, Object, ObjectId, ShapeId};
use crate::objects::Objects;
use crate::state::Block;
use crate::time::{Span, Tick, Time};
use crate::view::{Epoch, View};
use arrive::Host;
use group_link::{GROUP_LINKS_MAX, GroupLink, News};
use interest::look;
use session::{Session, Standing, pairs};
use state_update::Scene;
use std::collections::{BTreeMap, BTreeSet};

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
    /// Which objects a client is sent.
    pub interest: Interest,
    /// Bytes of a state update, at most.
    pub budget: usize,
    /// How many of the nearest are sent exactly, at most.
    pub near: usize,
    /// Ticks from one state update to the next.
    pub every: u64,
    /// State updates sent without a message of the client in between, at most: a client that
    /// reports seldom gets updates seldom.
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
    /// An avatar without an input at any gateway for so long, in the world's time, becomes absent.
    /// Clients repeat inputs more often ([`crate::ClientSettings::refresh`]).
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
    /// Messages that were rejected: no such connection or attempt, wrong credential, no room.
    pub refused: u64,
    /// Wants with a number that had been there.
    pub replays: u64,
    /// Wants for the avatar of another.
    pub foreign: u64,
    /// Wants that were cut down.
    pub corrected: u64,
    /// Messages beyond the rate limit.
    pub flooded: u64,
    /// Clients that were put out.
    pub kicked: u64,
    /// Times that a complete update had to follow because the client lost what it held, or sent
    /// nothing for too long.
    pub bases_lost: u64,
    /// State updates that were sent.
    pub updates: u64,
    /// Bytes in them.
    pub update_bytes: u64,
}

/// Inputs that wait for the group; with more, no new avatars are admitted.
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
    /// The node that it stands beside, and the newest view in which it knows where that was.
    beside: Option<(NodeId, Epoch)>,
    /// The group that it belongs to, once that is known.
    main: Option<GroupId>,
    group_links: BTreeMap<GroupId, GroupLink>,
    sessions: BTreeMap<ClientId, Session>,
    served: BTreeMap<ObjectId, ClientId>,
    hosts: BTreeMap<u32, Host>,
    /// How many avatars it has made.
    made: u64,
    counters: GatewayCounters,
    woke: Time,
    resend_at: Time,
}

impl Gateway {
    /// One that knows nothing yet, and belongs to the group that the world begins with.
    #[must_use]
    pub fn new(
        me: GatewayId,
        shapes: Shapes,
        timing: Timing,
        settings: GatewaySettings,
    ) -> Gateway {
        let main = GroupId(0);
        Gateway {
            me,
            shapes,
            timing,
            settings,
            mutant: None,
            beside: None,
            main: Some(main),
            group_links: BTreeMap::from([(main, GroupLink::new(Time(0), me, main, timing))]),
            sessions: BTreeMap::new(),
            served: BTreeMap::new(),
            hosts: BTreeMap::new(),
            made: 0,
            counters: GatewayCounters::default(),
            woke: Time(0),
            resend_at: Time(0),
        }
    }

    /// The same beside a node: it belongs to the group that this node is in, whichever that is.
    #[must_use]
    pub fn beside(self, node: NodeId) -> Gateway {
        let beside = Some((node, Epoch(0)));
        Gateway { beside, main: None, group_links: BTreeMap::new(), ..self }
    }

    /// The same for a free-running world, which has one group, and in which `static_objects` never
    /// move.
    #[must_use]
    pub fn free_running(self, static_objects: &[Object]) -> Gateway {
        let group_links = self.group_links.into_iter();
        let group_links =
            group_links.map(|(group, link)| (group, link.free_running(static_objects))).collect();
        Gateway { group_links, ..self }
    }

    /// The same with a defect, to test the checkers.
    #[must_use]
    pub fn with_mutant(self, mutant: Option<Mutant>) -> Gateway {
        Gateway { mutant, ..self }
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

    /// The group that it belongs to; none before it is known.
    #[must_use]
    pub fn group(&self) -> Option<GroupId> {
        self.main
    }

    fn main(&self) -> Option<&GroupLink> {
        self.group_links.get(&self.main?)
    }

    /// The last tick of its group that it has worked through, and how long ticks take
    /// ([`crate::Commit::dilation`]); none before it has the world.
    #[must_use]
    pub fn tick(&self) -> Option<(Tick, u32)> {
        let main = self.main()?;
        main.tick.map(|tick| (tick, main.dilation))
    }

    /// How many clients are in.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.served.len()
    }

    /// The world of its group.
    #[must_use]
    pub fn world(&self) -> Option<(Tick, &Objects)> {
        self.main()?.follower.world()
    }

    /// The last stable view of its group that it has heard of.
    #[must_use]
    pub fn view(&self) -> Option<&View> {
        self.main()?.follower.view()
    }

    /// What it has in its hands, how much of it, and how much that may be at most (rule R1).
    #[must_use]
    pub fn holdings(&self) -> [(&'static str, usize, usize); 7] {
        let sessions = self.settings.sessions;
        let most = |part: fn(&Session) -> usize| self.sessions.values().map(part).max();
        let inputs = self.group_links.values().map(GroupLink::waiting).max();
        let wants = self.group_links.values().map(GroupLink::wanting).sum();
        [
            ("group links", self.group_links.len(), GROUP_LINKS_MAX),
            ("sessions", self.sessions.len(), sessions),
            ("hosts", self.hosts.len(), arrive::HOSTS_MAX),
            ("inputs", inputs.unwrap_or(0), STREAM_MAX + 2 * sessions),
            ("wants", wants, sessions),
            (
                "state updates",
                most(|s| s.sent_updates.len()).unwrap_or(0),
                session::SENT_UPDATES_MAX,
            ),
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
        let followers = self.group_links.values().map(|link| link.follower.wake_at());
        followers.fold(self.resend_at, Time::min)
    }

    /// The clock says so.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        // After a pause, messages of clients wait to be read: their silence is not counted.
        if (now - self.woke).0 > self.settings.silence.0 / 2 {
            for session in self.sessions.values_mut() {
                session.heard = now;
            }
        }
        self.woke = now;
        let groups: Vec<GroupId> = self.group_links.keys().copied().collect();
        for &group in &groups {
            if let Some(link) = self.group_links.get_mut(&group) {
                link.follower.wake(now, out);
                // A free-running world comes on with the clock.
                self.follow(now, group, out);
            }
        }
        if now >= self.resend_at {
            self.resend_at = now + self.timing.resend;
            self.ask_beside(out);
            self.miss_silent(now);
            self.close_group_links(now);
            for group in groups {
                self.resend(now, group, out);
            }
        }
    }

    /// Says again what a group has not heard.
    fn resend(&mut self, now: Time, group: GroupId, out: &mut Vec<Output>) {
        let Some(link) = self.group_links.get(&group) else { return };
        // Wants go with the ticks, so that their way takes the same time; or by themselves.
        if now - link.ticked > self.timing.resend {
            self.push_inputs(group);
        }
        if let Some(link) = self.group_links.get_mut(&group) {
            link.send(true, out);
        }
    }

    /// Handles a message. One of a client can only be a client message.
    pub fn receive(&mut self, now: Time, from: Address, message: Message, out: &mut Vec<Output>) {
        match (from, message) {
            (Address::Client(client), Message::FromClient(message)) => {
                self.receive_client(now, client, message, out)
            }
            (Address::Client(_), _) => self.counters.refused += 1,
            (_, Message::Here { node, group, epoch }) => self.is_in(now, node, group, epoch),
            (_, Message::Peers(peers)) => self.groups_are(&peers, out),
            (_, message) => {
                if let Some(group) = self.group_of(&message)
                    && let Some(link) = self.group_links.get_mut(&group)
                {
                    link.follower.receive(now, message);
                    self.follow(now, group, out);
                }
            }
        }
    }

    /// Which group this is about. A share names its view and not its group; a free-running world
    /// has one group.
    fn group_of(&self, message: &Message) -> Option<GroupId> {
        match message {
            Message::View(view) => Some(view.group),
            Message::Published(commit) => Some(commit.group),
            Message::Share(_) | Message::FreeRunning(_) if self.group_links.len() == 1 => {
                self.group_links.keys().next().copied()
            }
            Message::Share(share) => {
                let knows = |link: &GroupLink| {
                    link.follower.view().is_some_and(|view| view.epoch == share.epoch)
                };
                self.group_links.iter().find(|(_, link)| knows(link)).map(|(group, _)| *group)
            }
            _ => None,
        }
    }

    /// Asks the node beside it which group that is in now.
    fn ask_beside(&self, out: &mut Vec<Output>) {
        if let Some((node, epoch)) = self.beside {
            out.push(Output::Send(Address::Node(node), Message::Where { from: self.me, epoch }));
        }
    }

    /// The node beside it is in this group.
    fn is_in(&mut self, now: Time, node: NodeId, group: GroupId, epoch: Epoch) {
        let news = self.beside.is_some_and(|(beside, known)| beside == node && known < epoch);
        if news && self.open(now, group) {
            self.beside = Some((node, epoch));
            self.main = Some(group);
        }
    }

    /// Opens a link to this group, if there is room. Returns whether there is one.
    fn open(&mut self, now: Time, group: GroupId) -> bool {
        if self.group_links.len() >= GROUP_LINKS_MAX && !self.group_links.contains_key(&group) {
            return false;
        }
        let (me, timing) = (self.me, self.timing);
        let link =
            self.group_links.entry(group).or_insert_with(|| GroupLink::new(now, me, group, timing));
        link.wanted = now;
        true
    }

    /// Links to groups in which no client is served are closed after a while.
    fn close_group_links(&mut self, now: Time) {
        let (main, sessions) = (self.main, &self.sessions);
        self.group_links.retain(|&group, link| {
            Some(group) == main
                || sessions.values().any(|session| session.home == group)
                || !link.is_done(now)
        });
    }

    /// The directory says which groups there are. Of one that has ended nothing is left.
    fn groups_are(&mut self, peers: &Peers, out: &mut Vec<Output>) {
        let listed = |group: GroupId| peers.groups.iter().any(|(known, _)| *known == group);
        for (&group, link) in &mut self.group_links {
            // One that has not begun is of a world that was begun anew since.
            let known = group < peers.next || link.follower.view().is_none();
            link.is_over |= known && !listed(group);
        }
        let is_over = |group| self.group_links.get(&group).is_some_and(|link| link.is_over);
        let gone = self.sessions.iter().filter(|(_, session)| is_over(session.home));
        let gone: Vec<ClientId> = gone.map(|(&client, _)| client).collect();
        for client in gone {
            self.leave_ended(client, out);
        }
    }

    fn receive_client(
        &mut self,
        now: Time,
        client: ClientId,
        message: ClientMessage,
        out: &mut Vec<Output>,
    ) {
        if !self.afford(now, client, &message, out) {
            return;
        }
        match message {
            ClientMessage::Hello(hello) => self.hello(now, client, hello, out),
            ClientMessage::Report(report) => self.report(now, client, report, out),
            ClientMessage::Bye { attempt } => {
                if self.sessions.get(&client).is_some_and(|session| session.attempt == attempt) {
                    self.part(client, arrive::Parting::Bye);
                }
            }
        }
    }

    fn send_to_client(&self, client: ClientId, message: GatewayMessage, out: &mut Vec<Output>) {
        out.push(Output::Send(Address::Client(client), Message::ToClient(message)));
    }

    /// The world of a group has perhaps come on.
    fn follow(&mut self, now: Time, group: GroupId, out: &mut Vec<Output>) {
        let Some(link) = self.group_links.get_mut(&group) else { return };
        let Some(News { tick, commits, jumped }) = link.come_on(now) else { return };
        let own = self.sessions.values_mut().filter(|session| session.home == group);
        for session in own.filter(|_| jumped) {
            session.followed = (link.heard_of(session.avatar), tick);
        }
        for commit in &commits {
            self.observe(group, commit);
        }
        self.look_after(group, tick, out);
        self.push_inputs(group);
        if let Some(link) = self.group_links.get_mut(&group) {
            link.send(false, out);
        }
        if tick.0.is_multiple_of(self.settings.every.max(1)) || commits.len() > 1 {
            self.show(group, out);
        }
    }

    fn observe(&mut self, group: GroupId, commit: &Commit) {
        for input in &commit.inputs {
            if let Input::Steer(want) = input
                && let Some(client) = self.served.get(&want.avatar)
                && let Some(session) = self.sessions.get_mut(client)
                && session.home == group
            {
                session.followed = (want.number, commit.tick);
            }
        }
        let touching = pairs(commit);
        for session in self.sessions.values_mut().filter(|session| session.home == group) {
            if self.mutant == Some(Mutant::ForgetContacts) {
                session.forget_contacts();
            }
            session.touched(commit.tick, &touching);
        }
    }

    /// What avatars of a group want is numbered for it.
    fn push_inputs(&mut self, group: GroupId) {
        let Some(link) = self.group_links.get_mut(&group) else { return };
        if link.has_turned() && self.mutant == Some(Mutant::WantTwice) {
            // "On leader change re-sends last input of each avatar", as if it were a new one.
            let own = self.sessions.values().filter(|session| session.home == group);
            for session in own.filter(|session| session.number > 0) {
                let Session { avatar, number, velocity, .. } = *session;
                let again = ClientInput { avatar, number, velocity, spin: [0; 3] };
                link.wants.entry(avatar).or_insert(again);
            }
        }
        link.push_inputs();
    }

    /// Sends every client of a group its state update.
    fn show(&mut self, group: GroupId, out: &mut Vec<Output>) {
        let Some(link) = self.group_links.get(&group) else { return };
        let Some((tick, objects)) = link.follower.world() else { return };
        let most = self.settings.unheard;
        let active = |session: &Session| {
            session.home == group && session.standing == Standing::Active && session.unheard < most
        };
        let viewers: BTreeSet<ObjectId> =
            self.sessions.values().filter(|s| active(s)).map(|session| session.avatar).collect();
        if viewers.is_empty() {
            return;
        }
        let mut seen = look(self.settings.interest, objects, &self.shapes, &viewers);
        let scene = Scene {
            tick,
            rate: self.timing.rate,
            dilation: link.dilation,
            objects,
            settings: &self.settings,
            mutant: self.mutant,
        };
        for (&client, session) in &mut self.sessions {
            if !active(session) {
                continue;
            }
            let seen = seen.remove(&session.avatar).unwrap_or_default();
            let Some((update, kept_up)) = scene.update(session, &seen) else { continue };
            session.unheard += 1;
            session.sees = seen.iter().map(|object| object.id).collect();
            self.counters.bases_lost += u64::from(!kept_up);
            self.counters.updates += 1;
            self.counters.update_bytes += (update.near.len() + update.far.len()) as u64;
            let message = Message::ToClient(GatewayMessage::StateUpdate(update));
            out.push(Output::Send(Address::Client(client), message));
        }
    }
}
