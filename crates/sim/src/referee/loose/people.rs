//! Avatars of clients in an unsynchronised world. S3: what an avatar has followed rises, nothing
//! that the outside has seen it follow is undone, and it goes no faster than anybody may. A3, A5:
//! one that the outside has seen is not lost, and one that was removed is forgotten when nobody has
//! a copy, and does not come back.

use super::super::Sometimes;
use super::super::clients::{House, PER_SECOND, SLACK};
use super::Said;
use super::sight::{Change, Sight};
use jostle_proto::{
    Address, GatewaySays, Having, Letter, LooseNode, Message, NodeId, ObjectId, Record, Tick, Token,
};
use std::collections::{BTreeMap, BTreeSet};

/// An avatar as it was last seen with its holder.
struct Seen {
    token: Token,
    tick: Tick,
    heard: u64,
    place: [i32; 3],
}

/// An avatar that has followed a wish: which number, and how it goes now.
pub(crate) type Followed = (ObjectId, u64, [i16; 3]);

pub(super) struct People {
    house: Option<House>,
    /// Avatars that the outside has seen, and the last wishes that it has seen them follow.
    shown: BTreeMap<ObjectId, u64>,
    seen: BTreeMap<ObjectId, Seen>,
    /// Somebody has said that they are over.
    over: BTreeSet<ObjectId>,
    /// Nobody has anything of them any more.
    buried: BTreeSet<ObjectId>,
    /// Those whose holders died, until their clients are let in again.
    bereft: BTreeSet<ObjectId>,
}

/// Was it brought in by a gateway?
fn is_made(id: ObjectId) -> bool {
    id.0 >> 63 == 1
}

impl People {
    pub(super) fn new(house: Option<House>) -> People {
        People {
            house,
            shown: BTreeMap::new(),
            seen: BTreeMap::new(),
            over: BTreeSet::new(),
            buried: BTreeSet::new(),
            bereft: BTreeSet::new(),
        }
    }

    pub(super) fn sent(&mut self, to: Address, message: &Message, sometimes: &mut Sometimes) {
        match message {
            Message::Loose(Letter::Shown(shown)) => {
                for sight in shown.sights.iter().filter(|sight| is_made(sight.ghost.object.id)) {
                    let heard = self.shown.entry(sight.ghost.object.id).or_insert(0);
                    *heard = (*heard).max(sight.heard);
                }
            }
            Message::Loose(Letter::Transfer { record, .. }) if is_made(record.object.id) => {
                let goes = record.object.state.velocity != [0; 3];
                sometimes.handed_over_steered += u64::from(goes);
            }
            Message::Told(GatewaySays::Welcome(welcome)) if matches!(to, Address::Client(_)) => {
                let back = self.bereft.remove(&welcome.credential.avatar);
                sometimes.resumed_after_death += u64::from(back);
            }
            _ => {}
        }
    }

    /// Looks at a node that has changed; gives the avatars that have followed a wish.
    pub(super) fn saw(
        &mut self,
        node: &LooseNode,
        change: &Change,
        sight: &Sight,
        said: &mut Said,
    ) -> Vec<Followed> {
        for &id in change.over.iter().filter(|_| !change.anew) {
            // One that is handed over is still with somebody as what it is.
            if sight.copies(id).all(|(_, _, record)| !record.over) {
                self.buried.insert(id);
                if sight.copies(id).next().is_some() {
                    said.push(("A3", format!("avatar {:x} was forgotten too early", id.0)));
                }
            }
        }
        let mut followed = Vec::new();
        for (having, record) in node.holds().filter(|(_, record)| is_made(record.object.id)) {
            let id = record.object.id;
            if self.buried.contains(&id) {
                said.push(("A5", format!("avatar {:x} was removed and is back", id.0)));
            }
            if record.over {
                self.over.insert(id);
            }
            if having == Having::Held {
                followed.extend(self.walk(record, said));
            }
        }
        followed
    }

    fn walk(&mut self, record: &Record, said: &mut Said) -> Option<Followed> {
        let Record { object, token, tick, heard, .. } = *record;
        let (id, state) = (object.id, object.state);
        let house = self.house?;
        let speed = state.velocity.iter().map(|&part| f64::from(part).powi(2)).sum::<f64>().sqrt();
        if speed > f64::from(house.limits.speed) {
            said.push(("S3", format!("avatar {:x} goes {:?}", id.0, state.velocity)));
        }
        let before = self.seen.get(&id);
        if before.is_some_and(|before| before.token > token) {
            return None;
        }
        let shown = self.shown.get(&id).copied().unwrap_or(0);
        if heard < shown {
            said.push(("S3", format!("avatar {:x} forgot want {shown}, has {heard}", id.0)));
        }
        if let Some(before) = before.filter(|before| before.token.era == token.era) {
            if heard < before.heard {
                let last = before.heard;
                said.push(("S3", format!("avatar {:x} followed {heard} after {last}", id.0)));
            }
            let far = f64::from(house.limits.speed) * PER_SECOND / f64::from(house.rate) + SLACK;
            let far = far * tick.0.saturating_sub(before.tick.0) as f64;
            let apart = |axis: usize| f64::from(state.position[axis] - before.place[axis]).powi(2);
            let way = (0..3).map(apart).sum::<f64>().sqrt();
            if way > far {
                said.push(("S3", format!("avatar {:x} went {way} > {far}", id.0)));
            }
        }
        let news = before.is_none_or(|before| before.heard < heard) && heard > 0;
        self.seen.insert(id, Seen { token, tick, heard, place: state.position });
        news.then_some((id, heard, state.velocity))
    }

    /// A node has died with all that it had.
    pub(super) fn gone(&mut self, node: NodeId, sight: &Sight) {
        let seen = sight.nodes.get(&node).into_iter().flat_map(|seen| seen.records.values());
        let held = seen.filter(|(having, _)| *having == Having::Held);
        self.bereft.extend(held.map(|(_, record)| record.object.id).filter(|id| is_made(*id)));
    }

    /// Those that must be with somebody.
    pub(super) fn there(&self) -> impl Iterator<Item = ObjectId> {
        self.shown.keys().copied().filter(|id| !self.over.contains(id))
    }
}
