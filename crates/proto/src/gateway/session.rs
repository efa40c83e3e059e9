//! What a gateway knows about a connection.

use super::GatewaySettings;
use super::limits::RateLimiter;
use crate::client::{ContactChange, Credential};
use crate::groups::GroupId;
use crate::message::Commit;
use crate::object::ObjectId;
use crate::time::{Tick, Time};
use crate::wire::Snapshot;
use std::collections::{BTreeSet, VecDeque};

/// State updates that are kept until one of them is acknowledged.
pub(super) const SENT_UPDATES_MAX: usize = 32;

/// Contacts of one client that are open, and changes that wait for it, at most.
pub(super) const CONTACTS_MAX: usize = 256;

/// Changes of contacts in one state update.
pub(super) const CONTACTS_AT_ONCE: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Its avatar is not in the world yet, or not yet again.
    Arriving,
    Active,
}

/// A state update that was sent.
#[derive(Clone, Debug)]
pub(super) struct SentUpdate {
    pub(super) near: Snapshot,
    /// The last change of a contact that was in it, or in one before it.
    pub(super) contacts: u64,
}

/// A connection.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) avatar: ObjectId,
    /// The group that the avatar is at home in.
    pub(super) home: GroupId,
    pub(super) attempt: u32,
    pub(super) standing: Standing,
    pub(super) heard: Time,
    /// State updates that it was sent since then.
    pub(super) unheard: u32,
    /// The last want that was taken.
    pub(super) number: u64,
    /// What it was.
    pub(super) velocity: [i16; 3],
    pub(super) messages: RateLimiter,
    pub(super) bytes: RateLimiter,
    pub(super) change: RateLimiter,
    pub(super) strikes: u32,
    pub(super) sent_updates: VecDeque<SentUpdate>,
    /// The newest of those that the client holds.
    pub(super) acked: Option<Tick>,
    /// How urgent it is to send a distant object.
    pub(super) urgency: Vec<(ObjectId, u32)>,
    /// What it sees, by rising ids.
    pub(super) sees: Vec<ObjectId>,
    touching: BTreeSet<(ObjectId, ObjectId)>,
    pub(super) changes: VecDeque<ContactChange>,
    /// How many changes there were.
    pub(super) changed: u64,
    /// The last want that the world has followed, and when.
    pub(super) followed: (u64, Tick),
}

impl Session {
    pub(super) fn new(
        now: Time,
        attempt: u32,
        (avatar, home): (ObjectId, GroupId),
        settings: &GatewaySettings,
    ) -> Session {
        Session {
            avatar,
            home,
            attempt,
            standing: Standing::Arriving,
            heard: now,
            unheard: 0,
            number: 0,
            velocity: [0; 3],
            messages: RateLimiter::full(now, settings.messages),
            bytes: RateLimiter::full(now, settings.bytes),
            change: RateLimiter::full(now, settings.limits.change_allowance()),
            strikes: 0,
            sent_updates: VecDeque::new(),
            acked: None,
            urgency: Vec::new(),
            sees: Vec::new(),
            touching: BTreeSet::new(),
            changes: VecDeque::new(),
            changed: 0,
            followed: (0, Tick(0)),
        }
    }

    /// Is it this session that a hello of its client asks for? Within an attempt a client says the
    /// same hello until it is answered. One that asked for an avatar that is no more has got a new
    /// one; its hello that was under way meanwhile must not get it another one.
    pub(super) fn serves(&self, attempt: u32, valid: Option<Credential>) -> bool {
        attempt == self.attempt || valid.is_none_or(|credential| credential.avatar == self.avatar)
    }

    /// The same client begins anew: what it held of the last attempt is not counted on. What it
    /// has used up stays used up.
    pub(super) fn renew(&mut self, now: Time, attempt: u32) {
        self.attempt = attempt;
        self.standing = Standing::Arriving;
        self.heard = now;
        self.unheard = 0;
        self.sent_updates.clear();
        self.acked = None;
        self.urgency.clear();
        self.touching.clear();
        self.changes.clear();
        self.changed = 0;
    }

    /// The client holds this update. False if no delta can be sent any more.
    pub(super) fn ack(&mut self, ack: Option<Tick>) -> bool {
        let Some(tick) = ack else {
            let lost = self.acked.is_some();
            self.acked = None;
            return !lost;
        };
        let Some(at) = self.sent_updates.iter().position(|sent| sent.near.tick() == tick) else {
            return true;
        };
        // Those before it are not needed any more.
        self.sent_updates.drain(..at);
        self.acked = Some(tick);
        if let Some(until) = self.sent_updates.front().map(|sent| sent.contacts) {
            self.changes.retain(|change| change.number > until);
        }
        true
    }

    /// What deltas are based on.
    pub(super) fn base(&self) -> Option<&Snapshot> {
        let acked = self.acked?;
        self.sent_updates.iter().map(|sent| &sent.near).find(|near| near.tick() == acked)
    }

    /// A state update was sent. False if the client has acknowledged none for too long, so that
    /// what it held is given up.
    pub(super) fn sent(&mut self, near: Snapshot, contacts: u64) -> bool {
        self.sent_updates.push_back(SentUpdate { near, contacts });
        if self.sent_updates.len() <= SENT_UPDATES_MAX {
            return true;
        }
        let lost = self.sent_updates.pop_front().map(|sent| sent.near.tick());
        let had = self.acked.is_some() && lost == self.acked;
        if had {
            self.acked = None;
        }
        !had
    }

    /// Contacts of what it sees.
    pub(super) fn touched(&mut self, tick: Tick, now: &[(ObjectId, ObjectId)]) {
        let ended = self.touching.iter().filter(|pair| now.binary_search(pair).is_err());
        let ended = ended.map(|pair| (*pair, false));
        let room = CONTACTS_MAX.saturating_sub(self.touching.len());
        let begun = self.begun(now).into_iter().take(room).map(|pair| (pair, true));
        let changes: Vec<_> = ended.chain(begun).collect();
        for ((a, b), begins) in changes {
            // What there is no room for waits.
            if self.changes.len() >= CONTACTS_MAX {
                return;
            }
            if begins {
                self.touching.insert((a, b));
            } else {
                self.touching.remove(&(a, b));
            }
            self.changed += 1;
            let number = self.changed;
            self.changes.push_back(ContactChange { number, tick, a, b, begins });
        }
    }

    /// Those of the pairs that it sees and has not been sent, in their order. What it sees is a
    /// small part of a large world, so that is what is gone through.
    fn begun(&self, now: &[(ObjectId, ObjectId)]) -> Vec<(ObjectId, ObjectId)> {
        let (mut rest, mut begun) = (now, Vec::new());
        for id in &self.sees {
            rest = rest.get(rest.partition_point(|(a, _)| a < id)..).unwrap_or_default();
            let own = rest.iter().take_while(|(a, _)| a == id);
            let new = own.filter(|pair| {
                self.sees.binary_search(&pair.1).is_ok() && !self.touching.contains(*pair)
            });
            begun.extend(new);
        }
        begun
    }

    /// A mistake that can be built in.
    pub(super) fn forget_contacts(&mut self) {
        self.touching.clear();
    }

    pub(super) fn open_contacts(&self) -> usize {
        self.touching.len()
    }
}

/// The pairs that touch in a tick, in order.
pub(super) fn pairs(commit: &Commit) -> Vec<(ObjectId, ObjectId)> {
    let mut pairs: Vec<_> = commit.touches.iter().map(|touch| (touch.a, touch.b)).collect();
    pairs.sort_unstable();
    pairs
}
