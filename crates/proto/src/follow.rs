//! The world of a group as seen by a follower, which computes no collisions: a gateway, another
//! group, a recording, a page.
//!
//! All changes are in the published ticks, so a follower that has the world at one tick and all
//! ticks after it has the world, bit by bit; the digest in every tick confirms it. The world at one
//! tick comes from all members, each sending its share. A free-running world has no such ticks; it
//! is followed by the follower's own clock (`free_running`).

mod free_running;

use crate::free_running::FreeRunningMessage;
use crate::groups::GroupId;
use crate::held::{advance, apply};
use crate::input::{GatewayId, Source};
use crate::message::{Commit, Follow, Message, Share};
use crate::node::{Address, Output, Timing};
use crate::object::{NodeId, Object, ObjectId, digest};
use crate::objects::Objects;
use crate::time::{Span, Tick, Time};
use crate::view::{Epoch, View};
use free_running::FreeRunning;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Ticks that may come too early and are kept.
const EARLY_MAX: usize = 256;

/// A gap that is not filled for so long is not filled any more: the world is asked for anew.
const PATIENCE: Span = Span::from_ms(2000);

/// Follows the world of a group.
#[derive(Clone, Debug)]
pub struct Follower {
    me: GatewayId,
    group: GroupId,
    timing: Timing,
    view: Option<View>,
    /// The world after this tick; none before it is known.
    world: Option<(Tick, Objects)>,
    heard: Vec<(Source, u64)>,
    early: BTreeMap<Tick, Arc<Commit>>,
    shares: BTreeMap<(Epoch, Tick), BTreeMap<NodeId, Share>>,
    /// Ticks that its owner has not taken yet.
    fresh: VecDeque<Arc<Commit>>,
    /// When it last came on.
    moved: Time,
    ask_at: Time,
    /// Present if the world is free-running.
    free_running: Option<FreeRunning>,
}

impl Follower {
    /// One that knows nothing yet, of the group that the world begins with.
    #[must_use]
    pub fn new(me: GatewayId, timing: Timing) -> Follower {
        Follower {
            me,
            group: GroupId(0),
            timing,
            view: None,
            world: None,
            heard: Vec::new(),
            early: BTreeMap::new(),
            shares: BTreeMap::new(),
            fresh: VecDeque::new(),
            moved: Time(0),
            ask_at: Time(0),
            free_running: None,
        }
    }

    /// The same for a free-running world, in which `static_objects` never move: ticks are its own,
    /// and [`Follower::take`] returns them without a digest, with what touches and which inputs
    /// were followed.
    #[must_use]
    pub fn free_running(self, static_objects: &[Object]) -> Follower {
        let free_running = Some(FreeRunning::new(self.timing.rate, static_objects));
        Follower { free_running, ..self }
    }

    /// The same for another group.
    #[must_use]
    pub fn of(self, group: GroupId) -> Follower {
        Follower { group, ..self }
    }

    /// The last stable view that it has heard of.
    #[must_use]
    pub fn view(&self) -> Option<&View> {
        self.view.as_ref()
    }

    /// The last tick that it has, and the world after it.
    #[must_use]
    pub fn world(&self) -> Option<(Tick, &Objects)> {
        if let Some(free_running) = &self.free_running {
            return free_running.world();
        }
        self.world.as_ref().map(|(tick, objects)| (*tick, objects))
    }

    /// How far the group has come with all sources, as of that tick; sorted.
    #[must_use]
    pub fn heard(&self) -> &[(Source, u64)] {
        &self.heard
    }

    /// How far the group has come with a source, as of that tick.
    #[must_use]
    pub fn heard_of(&self, source: Source) -> u64 {
        if let Some(free_running) = &self.free_running {
            return free_running.heard_of(source);
        }
        let at = self.heard.binary_search_by_key(&source, |&(source, _)| source);
        at.ok().and_then(|at| self.heard.get(at)).map_or(0, |&(_, number)| number)
    }

    /// In a free-running world: the node that was last heard to have an object.
    #[must_use]
    pub fn holder(&self, id: ObjectId) -> Option<NodeId> {
        self.free_running.as_ref().and_then(|free_running| free_running.holder(id))
    }

    /// In a free-running world: how often all members have sent all that they have.
    #[must_use]
    pub fn sweeps(&self) -> u64 {
        self.free_running.as_ref().map_or(0, FreeRunning::sweeps)
    }

    /// When it wants to be woken if nothing comes.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        self.free_running
            .as_ref()
            .map_or(self.ask_at, |free_running| free_running.wake_at().min(self.ask_at))
    }

    /// The clock says so: asks directory and members, who answer what it has missed.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        let epoch = self.view.as_ref().map_or(Epoch(0), |view| view.epoch);
        if let Some(free_running) = &mut self.free_running {
            free_running.wake(now, self.group, epoch);
        }
        if now < self.ask_at {
            return;
        }
        self.ask_at = now + self.timing.resend;
        if self.world.is_some() && now - self.moved > PATIENCE && !self.early.is_empty() {
            self.forget(now);
        }
        let have = self.world.as_ref().map(|(tick, _)| *tick);
        let follow = Message::Follow(Follow { from: self.me, group: self.group, epoch, have });
        out.push(Output::Send(Address::Directory, follow.clone()));
        for node in self.view.iter().flat_map(View::nodes) {
            out.push(Output::Send(Address::Node(node), follow.clone()));
        }
    }

    /// A message of the group or of the directory has come.
    pub fn receive(&mut self, now: Time, message: Message) {
        match message {
            Message::View(view)
                if view.group == self.group
                    && self.view.as_ref().is_none_or(|known| known.epoch < view.epoch) =>
            {
                let before = self.view.replace(view).map(|before| before.epoch.incarnation());
                let restored = self.view.as_ref().map(|view| view.epoch.incarnation()) > before;
                if restored && before.is_some() {
                    // The world goes on from an earlier tick.
                    self.early.clear();
                    self.fresh.clear();
                    self.forget(now);
                }
                self.ask_at = now;
            }
            Message::FreeRunning(FreeRunningMessage::Shown(shown)) => {
                if let (Some(free_running), Some(view)) = (&mut self.free_running, &self.view) {
                    free_running.shown(shown, view);
                }
            }
            Message::Share(share) => self.share(now, share),
            Message::Published(commit) => self.published(now, commit),
            _ => {}
        }
    }

    /// The next tick that its owner has not seen, in order. (After a gap that could not be filled
    /// there is a jump.)
    pub fn take(&mut self) -> Option<Arc<Commit>> {
        if let Some(free_running) = &mut self.free_running {
            return free_running.take();
        }
        self.fresh.pop_front()
    }

    fn forget(&mut self, now: Time) {
        self.world = None;
        self.moved = now;
        self.shares.clear();
    }

    fn share(&mut self, now: Time, share: Share) {
        if self.world.is_some() {
            return;
        }
        let (key, members) = ((share.epoch, share.tick), share.members as usize);
        let shares = self.shares.entry(key).or_default();
        shares.insert(share.from, share);
        if shares.len() < members {
            while self.shares.len() > 2 {
                self.shares.pop_first();
            }
            return;
        }
        let Some(shares) = self.shares.remove(&key) else { return };
        self.shares.clear();
        self.heard = shares.values().next().map(|share| share.heard.clone()).unwrap_or_default();
        let objects = shares.into_values().flat_map(|share| share.objects);
        self.world = Some((key.1, objects.collect()));
        self.moved = now;
        self.come_on(now);
    }

    fn published(&mut self, now: Time, commit: Arc<Commit>) {
        if commit.group != self.group {
            return;
        }
        let have = self.world.as_ref().map(|(tick, _)| *tick);
        if have.is_some_and(|have| commit.tick <= have) {
            return;
        }
        self.early.insert(commit.tick, commit);
        if self.early.len() > EARLY_MAX {
            self.early.pop_first();
        }
        self.come_on(now);
    }

    fn come_on(&mut self, now: Time) {
        while let Some((tick, objects)) = &mut self.world {
            self.early.retain(|early, _| early > tick);
            let Some(commit) = self.early.remove(&tick.next()) else { return };
            advance(objects, *tick, self.timing.rate);
            if digest(objects.values()) != commit.digest {
                return self.forget(now);
            }
            apply(objects, &commit, |_| true);
            *tick = commit.tick;
            self.heard.clone_from(&commit.heard);
            self.moved = now;
            self.fresh.push_back(commit);
        }
    }
}
