//! For followers of a free-running world: a member sends them what it has, when their extrapolation
//! would be off, and in any case once in a round. What it sends waits until its backups have it, so
//! nothing is visible outside that a crash could undo.

use super::ghosts::is_off;
use super::{FreeRunningMessage, FreeRunningNode, Ghost, Shown, Sight};
use crate::input::GatewayId;
use crate::message::{Follow, Message};
use crate::mutant::Mutant;
use crate::node::{Address, Output};
use crate::object::{Class, Object, ObjectId};
use crate::state::State;
use crate::time::{Span, Tick, Time};
use std::collections::{BTreeMap, VecDeque};

/// Ticks in which everything is sent once.
pub(crate) const ROUND: u64 = 8;

/// A follower that has not been heard for so long is forgotten.
const PATIENCE: Span = Span::from_ms(3000);

/// Followers of a member; more are not served.
const FOLLOWERS_MAX: usize = 256;

/// Messages that wait for the backups; the oldest are forgotten, as if they were lost.
const WAITING_MAX: usize = 256;

/// Objects in a message.
const SIGHTS_MAX: usize = 512;

/// What followers were sent about an object.
#[derive(Clone, Debug)]
struct SentObject {
    class: Class,
    /// Where they extrapolate it to be, if the message arrived.
    state: State,
    heard: u64,
    touching: Vec<ObjectId>,
    /// It is sent once more: a message may be lost.
    again: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Serve {
    followers: BTreeMap<GatewayId, Time>,
    sent: BTreeMap<ObjectId, SentObject>,
    round: u64,
    part: u32,
    /// With the number that the backups must have.
    waiting: VecDeque<(u64, Shown)>,
}

impl Serve {
    /// Is a gateway with this number heard?
    pub(super) fn is_followed_by(&self, number: u32) -> bool {
        self.followers.keys().any(|follower| follower.number == number)
    }

    /// See [`FreeRunningNode::holdings`].
    pub(super) fn holdings(&self) -> [(&'static str, usize, usize); 2] {
        [
            ("followers", self.followers.len(), FOLLOWERS_MAX),
            ("sights", self.waiting.len(), WAITING_MAX),
        ]
    }
}

impl FreeRunningNode {
    /// A follower asks for the world.
    pub(super) fn followed(&mut self, now: Time, follow: Follow) {
        let group = self.ground.as_ref().map(|view| view.group);
        let followers = &mut self.serve.followers;
        followers.retain(|_, heard| now - *heard <= PATIENCE);
        let room = followers.len() < FOLLOWERS_MAX || followers.contains_key(&follow.from);
        if group == Some(follow.group) && room {
            followers.insert(follow.from, now);
        }
    }

    /// After a tick: what followers must hear.
    pub(super) fn show(&mut self, now: Time) {
        let Some(era) = self.era else { return };
        self.serve.followers.retain(|_, heard| now - *heard <= PATIENCE);
        if self.serve.followers.is_empty() {
            (self.serve.sent, self.serve.waiting) = (BTreeMap::new(), VecDeque::new());
            return;
        }
        let turn = self.ticks % ROUND;
        if turn == 0 {
            (self.serve.round, self.serve.part) = (self.serve.round + 1, 0);
        }
        let sights = self.sights(turn);
        let last = turn + 1 == ROUND;
        let (round, from, stamp) = (self.serve.round, self.me, self.keep.stamp());
        let mut rest = sights.as_slice();
        while !rest.is_empty() || last {
            let (first, behind) = rest.split_at(rest.len().min(SIGHTS_MAX));
            rest = behind;
            let part = self.serve.part;
            self.serve.part += 1;
            let parts = (last && rest.is_empty()).then_some(self.serve.part);
            let shown = Shown { era, from, round, part, parts, sights: first.to_vec() };
            self.serve.waiting.push_back((stamp, shown));
            if parts.is_some() {
                break;
            }
        }
        while self.serve.waiting.len() > WAITING_MAX {
            self.serve.waiting.pop_front();
        }
    }

    /// Those whose turn it is, and those that followers would take to be something else.
    fn sights(&mut self, turn: u64) -> Vec<Sight> {
        let rate = self.tuning.timing.rate;
        let mut before = std::mem::take(&mut self.serve.sent);
        let mut sights = Vec::new();
        for record in self.ownership.records().filter(|record| !record.over) {
            let Object { id, class, state, .. } = record.object;
            let sent = before.remove(&id).map(|mut sent| {
                let from = Tick(record.tick.0.saturating_sub(1));
                sent.state = sent.state.moved(from, rate);
                sent
            });
            let touching: Vec<ObjectId> = record.contacts.keys().copied().collect();
            let same = |sent: &SentObject| {
                // The place of an own avatar must be known to the last unit.
                let there = match class {
                    Class::Dynamic => !is_off(&sent.state, &state, self.tuning.threshold),
                    _ => sent.state == state,
                };
                there
                    && (sent.class, sent.heard) == (class, record.heard)
                    && sent.touching == touching
            };
            let (same, again) =
                sent.as_ref().map_or((false, false), |sent| (same(sent), sent.again));
            if same && !again && id.0 % ROUND != turn {
                self.serve.sent.extend(sent.map(|sent| (id, sent)));
                continue;
            }
            let heard = record.heard;
            let ghost = Ghost { object: record.object, token: record.token, tick: record.tick };
            sights.push(Sight { ghost, heard, touching: touching.clone() });
            self.serve.sent.insert(id, SentObject { class, state, heard, touching, again: !same });
        }
        sights
    }

    /// Sends what the backups have up to this number.
    pub(super) fn show_kept(&mut self, open: u64, out: &mut Vec<Output>) {
        let open = if self.mutant == Some(Mutant::ShowEarly) { u64::MAX } else { open };
        while let Some((stamp, shown)) = self.serve.waiting.front() {
            let counts = self.era == Some(shown.era);
            if counts && *stamp > open {
                return;
            }
            let Some((_, shown)) = self.serve.waiting.pop_front().filter(|_| counts) else {
                continue;
            };
            for follower in self.serve.followers.keys() {
                let message = Message::FreeRunning(FreeRunningMessage::Shown(shown.clone()));
                out.push(Output::Send(Address::Gateway(*follower), message));
            }
        }
    }
}
