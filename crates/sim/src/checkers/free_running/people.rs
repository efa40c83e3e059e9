//! Avatars of clients in a free-running world. S3: the inputs that an avatar has followed rise,
//! nothing that the outside has seen it follow is undone, and it keeps to the speed limit. A4: it
//! enters once. A3, A5: one that the outside has seen is not lost, and one that was removed is
//! forgotten when no node has a copy, and does not come back.

use super::super::Sometimes;
use super::super::clients::{House, PER_SECOND, SLACK};
use super::Violations;
use super::sight::{Change, Sight};
use jostle_proto::{
    Address, Class, Epoch, FreeRunningMessage, FreeRunningNode, GatewayMessage, Having, Message,
    NodeId, ObjectId, Record, Tick, Time, Token,
};
use std::collections::{BTreeMap, BTreeSet};

/// An avatar as it was last seen with its holder.
struct Seen {
    token: Token,
    tick: Tick,
    heard: u64,
    place: [i32; 3],
}

/// What has become of an avatar.
pub(crate) enum News {
    /// It has followed the input with this number, and moves like this.
    Followed(ObjectId, u64, [i16; 3]),
    /// It was removed after it had been absent for so many milliseconds, which is not long.
    Removed(ObjectId, u64),
}

pub(super) struct People {
    house: Option<House>,
    /// Avatars that the outside has seen, and the last inputs that it has seen them follow.
    shown: BTreeMap<ObjectId, u64>,
    seen: BTreeMap<ObjectId, Seen>,
    /// Since when they are absent, and how long they last were, in microseconds.
    absent: BTreeMap<ObjectId, Time>,
    was_absent: BTreeMap<ObjectId, u64>,
    /// Those that were reported as removed.
    over: BTreeSet<ObjectId>,
    /// Those of which no node has anything any more, from this era on.
    buried: BTreeMap<ObjectId, Epoch>,
    /// Those whose holders died, until their clients are let in again.
    bereft: BTreeSet<ObjectId>,
}

/// Was it brought in by a gateway?
pub(super) fn is_made(id: ObjectId) -> bool {
    id.0 >> 63 == 1
}

impl People {
    pub(super) fn new(house: Option<House>) -> People {
        People {
            house,
            shown: BTreeMap::new(),
            seen: BTreeMap::new(),
            absent: BTreeMap::new(),
            was_absent: BTreeMap::new(),
            over: BTreeSet::new(),
            buried: BTreeMap::new(),
            bereft: BTreeSet::new(),
        }
    }

    pub(super) fn sent(&mut self, to: Address, message: &Message, sometimes: &mut Sometimes) {
        match message {
            Message::FreeRunning(FreeRunningMessage::Shown(shown)) => {
                for sight in shown.sights.iter().filter(|sight| is_made(sight.ghost.object.id)) {
                    let heard = self.shown.entry(sight.ghost.object.id).or_insert(0);
                    *heard = (*heard).max(sight.heard);
                }
            }
            Message::FreeRunning(FreeRunningMessage::Transfer { record, .. })
                if is_made(record.object.id) =>
            {
                let goes = record.object.state.velocity != [0; 3];
                sometimes.handed_over_steered += u64::from(goes);
            }
            Message::ToClient(GatewayMessage::Welcome(welcome))
                if matches!(to, Address::Client(_)) =>
            {
                let back = self.bereft.remove(&welcome.credential.avatar);
                sometimes.resumed_after_death += u64::from(back);
            }
            _ => {}
        }
    }

    /// Looks at a node that has changed.
    pub(super) fn saw(
        &mut self,
        now: Time,
        node: &FreeRunningNode,
        change: &Change,
        sight: &Sight,
        violations: &mut Violations,
    ) -> Vec<News> {
        let era = node.era().unwrap_or(Epoch(0));
        for &id in change.over.iter().filter(|_| !change.anew) {
            // A node in another era has lost it, or will when it hears of this one.
            let mut copies =
                sight.copies(id).filter(|(_, _, record)| record.token.era == era).peekable();
            let copied = copies.peek().is_some();
            // One that is handed over is still held as what it is.
            if copies.all(|(_, _, record)| !record.over) {
                self.buried.insert(id, era);
                if copied {
                    violations.push(("A3", format!("avatar {:x} was forgotten too early", id.0)));
                }
            }
        }
        let mut news = Vec::new();
        for (having, record) in node.holds().filter(|(_, record)| is_made(record.object.id)) {
            let id = record.object.id;
            if self.buried.get(&id).is_some_and(|era| *era <= record.token.era) {
                violations.push(("A5", format!("avatar {:x} was removed and is back", id.0)));
            }
            if having == Having::Held {
                news.extend(self.wait(now, record));
                news.extend(self.walk(record, violations));
            }
        }
        news
    }

    /// An avatar waits for its client.
    fn wait(&mut self, now: Time, record: &Record) -> Option<News> {
        let id = record.object.id;
        if record.over {
            let absent = self.absent.remove(&id).map(|since| (now - since).0);
            let long = absent.into_iter().chain(self.was_absent.get(&id).copied()).max();
            let long = long.unwrap_or(0);
            let house = self.house.filter(|_| self.over.insert(id))?;
            // Clocks of gateways are wrong by at most 2 in 100.
            let forget = house.forget * 1_000_000 / u64::from(house.rate) / 100 * 97;
            return (long < forget).then_some(News::Removed(id, long / 1000));
        }
        match record.object.class {
            Class::Absent => drop(self.absent.entry(id).or_insert(now)),
            _ => {
                let since = self.absent.remove(&id);
                self.was_absent.extend(since.map(|since| (id, (now - since).0)));
            }
        }
        None
    }

    fn walk(&mut self, record: &Record, violations: &mut Violations) -> Option<News> {
        let Record { object, token, tick, heard, .. } = *record;
        let (id, state) = (object.id, object.state);
        let house = self.house?;
        let speed = state.velocity.iter().map(|&part| f64::from(part).powi(2)).sum::<f64>().sqrt();
        if speed > f64::from(house.limits.speed) {
            violations.push(("S3", format!("avatar {:x} goes {:?}", id.0, state.velocity)));
        }
        let before = self.seen.get(&id);
        if before.is_some_and(|before| before.token > token) {
            return None;
        }
        if before.is_some_and(|before| before.token == token && before.tick > tick) {
            violations.push(("A4", format!("avatar {:x} begins anew under {token:?}", id.0)));
        }
        let shown = self.shown.get(&id).copied().unwrap_or(0);
        if heard < shown {
            violations.push(("S3", format!("avatar {:x} forgot want {shown}, has {heard}", id.0)));
        }
        if let Some(before) = before.filter(|before| before.token.era == token.era) {
            if heard < before.heard {
                let last = before.heard;
                violations.push(("S3", format!("avatar {:x} followed {heard} after {last}", id.0)));
            }
            let far = f64::from(house.limits.speed) * PER_SECOND / f64::from(house.rate) + SLACK;
            let far = far * tick.0.saturating_sub(before.tick.0) as f64;
            let apart = |axis: usize| f64::from(state.position[axis] - before.place[axis]).powi(2);
            let way = (0..3).map(apart).sum::<f64>().sqrt();
            if way > far {
                violations.push(("S3", format!("avatar {:x} went {way} > {far}", id.0)));
            }
        }
        let news = before.is_none_or(|before| before.heard < heard) && heard > 0;
        self.seen.insert(id, Seen { token, tick, heard, place: state.position });
        news.then_some(News::Followed(id, heard, state.velocity))
    }

    /// A node has died with all that it had.
    pub(super) fn gone(&mut self, node: NodeId, sight: &Sight) {
        let seen = sight.nodes.get(&node).into_iter().flat_map(|seen| seen.records.values());
        let held = seen.filter(|(having, _)| *having == Having::Held);
        self.bereft.extend(held.map(|(_, record)| record.object.id).filter(|id| is_made(*id)));
    }

    /// Was it removed, and forgotten by all that are in the era in which that was?
    pub(super) fn is_buried(&self, id: ObjectId) -> bool {
        self.buried.contains_key(&id)
    }

    /// Those that must have a holder.
    pub(super) fn there(&self) -> impl Iterator<Item = ObjectId> {
        self.shown.keys().copied().filter(|id| !self.over.contains(id))
    }
}
