//! A group link: what a gateway knows of one group, and what it sends to it.
//!
//! An avatar is at home in one group at a time, so a gateway has a link to the group that it
//! belongs to, and one to every other group in which it serves an avatar.

use super::arrive::{AVATARS_FROM, made_by};
use super::requests::PendingRequests;
use super::{GatewaySettings, STEERS_WAIT, STREAM_MAX};
use crate::client::ClientId;
use crate::follow::Follower;
use crate::groups::GroupId;
use crate::input::{ClientInput, GatewayId, Input, Source, Stream};
use crate::message::{Commit, Message};
use crate::node::{Address, Output, Timing};
use crate::object::{Class, Object, ObjectId};
use crate::relay::is_home;
use crate::time::{Span, Tick, Time};
use crate::view::Epoch;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Group links, at most: as many as there can be groups.
pub(super) const GROUP_LINKS_MAX: usize = 64;

/// A link that was not used for so long is closed, if nothing is left to do in it.
const LINGER: Span = Span::from_ms(5000);

/// A link to a group.
pub(super) struct GroupLink {
    pub(super) me: GatewayId,
    group: GroupId,
    timing: Timing,
    pub(super) follower: Follower,
    pub(super) stream: Stream,
    /// In place of the stream, if the group is not synchronised.
    pub(super) requests: Option<PendingRequests>,
    /// The number of the last thing said about an avatar's coming and going.
    pub(super) asked: BTreeMap<ObjectId, u64>,
    /// Absent avatars, since when.
    absent: BTreeMap<ObjectId, Tick>,
    /// Avatars that others serve: the last want of each, and since when.
    elsewhere: BTreeMap<ObjectId, (u64, Tick)>,
    /// The newest input of each avatar that the group has not been sent.
    pub(super) wants: BTreeMap<ObjectId, ClientInput>,
    /// The last tick that was worked through.
    pub(super) tick: Option<Tick>,
    /// When that was.
    pub(super) ticked: Time,
    pub(super) dilation: u32,
    epoch: Epoch,
    /// When it was last used.
    pub(super) wanted: Time,
    /// There is no such group any more.
    pub(super) is_over: bool,
}

/// The world of a group has come on.
pub(super) struct News {
    pub(super) tick: Tick,
    pub(super) commits: Vec<Arc<Commit>>,
    /// What happened in between is not known.
    pub(super) jumped: bool,
}

impl GroupLink {
    /// One that knows nothing yet.
    pub(super) fn new(now: Time, me: GatewayId, group: GroupId, timing: Timing) -> GroupLink {
        GroupLink {
            me,
            group,
            timing,
            follower: Follower::new(me, timing).of(group),
            stream: Stream::new(Source::Gateway(me), 1).to(group),
            requests: None,
            asked: BTreeMap::new(),
            absent: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
            wants: BTreeMap::new(),
            tick: None,
            ticked: Time(0),
            dilation: 1000,
            epoch: Epoch(0),
            wanted: now,
            is_over: false,
        }
    }

    /// The same for a free-running world.
    pub(super) fn free_running(self, static_objects: &[Object]) -> GroupLink {
        let follower = self.follower.free_running(static_objects);
        GroupLink { follower, requests: Some(PendingRequests::default()), ..self }
    }

    /// How much the group has not done yet.
    pub(super) fn waiting(&self) -> usize {
        self.requests.as_ref().map_or_else(|| self.stream.waiting(), PendingRequests::len)
    }

    /// How many avatars want something that the group has not followed yet.
    pub(super) fn wanting(&self) -> usize {
        self.wants.len().max(self.requests.as_ref().map_or(0, PendingRequests::steers))
    }

    /// From when on gateways know an avatar that is here at this tick. Ticks of a free-running
    /// world are each gateway's own.
    pub(super) fn since(&self, tick: Tick) -> Tick {
        if self.requests.is_some() { Tick(0) } else { tick }
    }

    /// Takes the ticks that its follower has come to, if there are any.
    pub(super) fn come_on(&mut self, now: Time) -> Option<News> {
        let commits: Vec<Arc<Commit>> = std::iter::from_fn(|| self.follower.take()).collect();
        let (tick, _) = self.follower.world()?;
        if self.tick == Some(tick) {
            return None;
        }
        let next = commits.first().map(|commit| commit.tick);
        let jumped = next.is_none() || next != self.tick.map(Tick::next);
        if jumped {
            self.absent.clear();
            self.elsewhere.clear();
        }
        let heard = self.follower.heard_of(self.stream.source());
        if self.tick.is_none() {
            // The numbers of a link that was closed and is opened again go on.
            self.stream = Stream::new(self.stream.source(), heard + 1).to(self.group);
        }
        if let Some(last) = commits.last() {
            self.dilation = last.dilation;
        }
        // Several ticks may come at once: who was back in between has not been absent since before.
        for input in commits.iter().flat_map(|commit| &commit.inputs) {
            if let Input::Return(avatar) = input {
                self.absent.remove(avatar);
            }
        }
        self.tick = Some(tick);
        self.ticked = now;
        self.stream.heard(heard);
        self.asked.retain(|_, number| *number > heard);
        self.drop_completed();
        Some(News { tick, commits, jumped })
    }

    /// The last tick that was worked through, while the world after it is at hand. A follower that
    /// has missed a tick for too long gives its world up and asks for another one; until that comes
    /// nothing is known of any avatar, which is not the same as that it is not there.
    pub(super) fn known_tick(&self) -> Option<Tick> {
        self.tick.filter(|_| self.follower.world().is_some())
    }

    /// It had a world and has given it up.
    pub(super) fn is_lost(&self) -> bool {
        self.tick.is_some() && self.follower.world().is_none()
    }

    fn get(&self, avatar: ObjectId) -> Option<&Object> {
        self.follower.world()?.1.get(&avatar).filter(|object| is_home(object.class))
    }

    /// The class of an avatar, if it is in the world and at home here.
    pub(super) fn class_of(&self, avatar: ObjectId) -> Option<Class> {
        self.get(avatar).map(|object| object.class)
    }

    /// The group that an avatar is at home in, or on its way to, if it is here as another group's.
    pub(super) fn elsewhere(&self, avatar: ObjectId) -> Option<GroupId> {
        self.follower.world()?.1.get(&avatar)?.class.elsewhere()
    }

    pub(super) fn velocity_of(&self, avatar: ObjectId) -> [i16; 3] {
        self.get(avatar).map_or([0; 3], |object| object.state.velocity)
    }

    /// The last want of an avatar that the group has taken.
    pub(super) fn heard_of(&self, avatar: ObjectId) -> u64 {
        self.follower.heard_of(Source::Avatar(avatar))
    }

    /// Something is to become of an avatar.
    pub(super) fn ask(&mut self, input: Input) {
        let number = match &mut self.requests {
            Some(requests) => {
                requests.ask(input, self.follower.view());
                u64::MAX
            }
            None => self.stream.push(vec![input]),
        };
        if let Some(id) = input.object() {
            self.asked.insert(id, number);
        }
    }

    /// Is something to become of it that the group has not heard yet?
    pub(super) fn is_asked(&self, avatar: ObjectId) -> bool {
        self.asked.contains_key(&avatar)
    }

    /// An avatar is served here now.
    pub(super) fn serves(&mut self, avatar: ObjectId) {
        self.elsewhere.remove(&avatar);
    }

    /// An avatar is not served here any more.
    pub(super) fn part(&mut self, avatar: ObjectId) {
        self.wants.remove(&avatar);
        self.requests.iter_mut().for_each(|requests| requests.part(avatar));
    }

    /// Is the group in another view than when this was last asked?
    pub(super) fn has_turned(&mut self) -> bool {
        let epoch = self.follower.view().map_or(Epoch(0), |view| view.epoch);
        std::mem::replace(&mut self.epoch, epoch) != epoch
    }

    /// The newest wants, each avatar's newest only, are numbered for the group.
    pub(super) fn push_inputs(&mut self) {
        if self.requests.is_none() && !self.wants.is_empty() && self.stream.waiting() < STEERS_WAIT
        {
            let wants = std::mem::take(&mut self.wants);
            self.stream.push(wants.into_values().map(Input::Steer).collect());
        }
    }

    /// Sends the leader what waits; with `again` all members, in case another one leads.
    pub(super) fn send(&mut self, again: bool, out: &mut Vec<Output>) {
        if self.requests.is_some() {
            return self.send_requests(again, out);
        }
        let Some(view) = self.follower.view() else { return };
        let Some(inputs) = self.stream.message() else { return };
        let leader = view.leader().map(|leader| leader.node);
        for node in view.nodes().filter(|&node| again || Some(node) == leader) {
            out.push(Output::Send(Address::Node(node), Message::Inputs(inputs.clone())));
        }
    }

    /// After a tick: avatars without a client become absent, and those absent for long are removed.
    pub(super) fn mind(
        &mut self,
        tick: Tick,
        served: &BTreeMap<ObjectId, ClientId>,
        settings: &GatewaySettings,
    ) {
        let Some((_, objects)) = self.follower.world() else { return };
        let avatars: Vec<(ObjectId, Class)> = objects
            .from(AVATARS_FROM)
            .filter(|object| !served.contains_key(&object.id))
            .map(|object| (object.id, object.class))
            .collect();
        self.absent.retain(|id, _| objects.get(id).is_some_and(|o| o.class == Class::Absent));
        self.elsewhere.retain(|id, _| objects.get(id).is_some_and(|o| o.class == Class::Avatar));
        for (avatar, class) in avatars {
            if self.is_asked(avatar) || self.waiting() >= STREAM_MAX {
                continue;
            }
            match class {
                Class::Absent => self.mind_absent(avatar, tick, settings.forget),
                Class::Avatar => self.mind_elsewhere(avatar, tick, settings.idle),
                _ => {}
            }
        }
    }

    /// So many ticks; others than the one that made an avatar wait twice as long.
    fn ticks(&self, span: Span, avatar: ObjectId) -> u64 {
        let ticks = span.0.saturating_mul(u64::from(self.timing.rate)) / 1_000_000;
        if made_by(self.me, avatar) { ticks } else { ticks.saturating_mul(2) }
    }

    fn mind_absent(&mut self, avatar: ObjectId, tick: Tick, forget: Span) {
        let since = *self.absent.entry(avatar).or_insert(tick);
        if tick.0 - since.0.min(tick.0) >= self.ticks(forget, avatar) {
            self.ask(Input::Remove(avatar));
        }
    }

    fn mind_elsewhere(&mut self, avatar: ObjectId, tick: Tick, idle: Span) {
        let heard = self.heard_of(avatar);
        let (number, since) = *self.elsewhere.entry(avatar).or_insert((heard, tick));
        if number != heard {
            self.elsewhere.insert(avatar, (heard, tick));
        } else if tick.0 - since.0.min(tick.0) >= self.ticks(idle, avatar) {
            self.ask(Input::Absent(avatar));
        }
    }

    /// Can it be closed, if no avatar is served in it? The gateway that has made an avatar stays
    /// linked as long as the avatar is there.
    pub(super) fn is_done(&self, now: Time) -> bool {
        let objects = self.follower.world().into_iter().flat_map(|(_, it)| it.from(AVATARS_FROM));
        let mut mine = objects.filter(|it| is_home(it.class) && made_by(self.me, it.id));
        let nothing_left = self.waiting() == 0 && !self.is_lost() && mine.next().is_none();
        now - self.wanted > LINGER && (self.is_over || nothing_left)
    }
}
