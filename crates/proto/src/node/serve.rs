//! For followers, which do not compute the world: every member keeps the last ticks, the leader
//! sends them when they are published, and at some ticks every member sends its share of the world
//! to the followers that need all of it.

use super::{Address, Node, Output, Phase};
use crate::held::Held;
use crate::input::GatewayId;
use crate::message::{Commit, Follow, Message, Share};
use crate::time::{Span, Tick, Time};
use crate::view::{Epoch, View};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Ticks that a member keeps: ten seconds at 60 per second.
pub(super) const KEPT: usize = 600;

/// Every so many ticks, shares of the world are sent.
const SHARE_EVERY: u64 = 16;

/// Ticks that are sent at once to a follower that has missed some.
const AT_ONCE: usize = 64;

/// A follower that has not been heard for so long is forgotten.
const PATIENCE: Span = Span::from_ms(3000);

/// Followers of a member; more are not served.
const FOLLOWERS_MAX: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Known {
    heard: Time,
    needs_all: bool,
}

/// What a member knows about its followers, and what it sends them.
#[derive(Clone, Debug, Default)]
pub(super) struct Serve {
    pub(super) kept: VecDeque<Arc<Commit>>,
    followers: BTreeMap<GatewayId, Known>,
}

impl Serve {
    /// See [`Node::holdings`].
    pub(super) fn holdings(&self) -> [(&'static str, usize, usize); 2] {
        [("ticks", self.kept.len(), KEPT), ("followers", self.followers.len(), FOLLOWERS_MAX)]
    }

    /// Remembers a tick.
    pub(super) fn keep(&mut self, commit: &Arc<Commit>) {
        while self.kept.back().is_some_and(|last| last.tick >= commit.tick) {
            self.kept.pop_back();
        }
        if self.kept.back().is_some_and(|last| last.tick.next() != commit.tick) {
            self.kept.clear();
        }
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(commit.clone());
    }

    /// Sends a published tick to all followers.
    pub(super) fn publish(&self, commit: &Arc<Commit>, out: &mut Vec<Output>) {
        for follower in self.followers.keys() {
            let message = Message::Published(commit.clone());
            out.push(Output::Send(address(*follower), message));
        }
    }
}

/// Where a follower is: one that speaks for its group is a node.
fn address(follower: GatewayId) -> Address {
    follower.node().map_or(Address::Gateway(follower), Address::Node)
}

impl Node {
    /// A follower asks; if it has missed ticks, the leader sends them again.
    pub(super) fn followed(&mut self, now: Time, follow: Follow, out: &mut Vec<Output>) {
        let group = self.settled.as_ref().map(|settled| settled.view.group);
        if group != Some(follow.group) {
            return;
        }
        let serve = &mut self.serve;
        serve.followers.retain(|_, known| now - known.heard <= PATIENCE);
        if serve.followers.len() >= FOLLOWERS_MAX && !serve.followers.contains_key(&follow.from) {
            return;
        }
        let known = Known { heard: now, needs_all: follow.have.is_none() };
        serve.followers.insert(follow.from, known);
        let mut published = self.lead_published();
        if follow.from.node().is_some() && published.is_none() {
            // A leader asks for what was before its time. The tick before the last that was
            // committed is published: the leader waits for that.
            let last = self.settled.as_ref().map_or(0, |settled| settled.last.tick.0);
            published = last.checked_sub(1).map(Tick);
        }
        let (Some(have), Some(published)) = (follow.have, published) else { return };
        let missed = self.serve.kept.iter().filter(|c| c.tick > have && c.tick <= published);
        for commit in missed.take(AT_ONCE) {
            let message = Message::Published(commit.clone());
            out.push(Output::Send(address(follow.from), message));
        }
    }

    /// The gateway beside this node asks which group it is in. Before the node is in one, and while
    /// that changes, there is nothing to say.
    pub(super) fn send_group(&self, to: GatewayId, known: Epoch, out: &mut Vec<Output>) {
        let Phase::Running { view, .. } = &self.phase else { return };
        if known < view.epoch {
            let (node, group, epoch) = (self.me.node, view.group, view.epoch);
            out.push(Output::Send(Address::Gateway(to), Message::Here { node, group, epoch }));
        }
    }

    /// Sends this member's share of the world after a tick to those that need all of it.
    pub(super) fn send_shares(
        &mut self,
        now: Time,
        view: &View,
        held: &Held,
        commit: &Commit,
        out: &mut Vec<Output>,
    ) {
        let Tick(tick) = commit.tick;
        if !tick.is_multiple_of(SHARE_EVERY) {
            return;
        }
        self.serve.followers.retain(|_, known| now - known.heard <= PATIENCE);
        for (follower, _) in self.serve.followers.iter().filter(|(_, known)| known.needs_all) {
            let share = Share {
                epoch: view.epoch,
                tick: commit.tick,
                from: self.me.node,
                members: view.ring.len() as u32,
                objects: held.mine.values().copied().collect(),
                heard: commit.heard.clone(),
            };
            out.push(Output::Send(address(*follower), Message::Share(share)));
        }
    }
}
