//! What fits into a state update: the nearest objects exactly, some of the others roughly; distant
//! objects are sent seldom, but all in turn.

use super::GatewaySettings;
use super::session::{CONTACTS_AT_ONCE, Session};
use crate::client::{ContactChange, StateUpdate};
use crate::mutant::Mutant;
use crate::object::{Class, Object, ObjectId, ShapeId};
use crate::objects::Objects;
use crate::state::{POSITION_UNIT, State};
use crate::time::Tick;
use crate::wire::{Snapshot, light};
use std::cmp::Reverse;

/// Bytes of an update besides near, far and contacts, at most: numbers of up to ten bytes each.
const FRAME: usize = 64;

/// Bytes of a change of a contact, at most.
const CONTACT: usize = 41;

/// About as many bytes are needed for a distant object; the first try.
const FAR: usize = 24;

/// Class and shape of one of those, at most.
const KIND: usize = 6;

/// What state updates are made from.
pub(super) struct Scene<'a> {
    pub(super) tick: Tick,
    pub(super) rate: u32,
    pub(super) dilation: u32,
    pub(super) objects: &'a Objects,
    pub(super) settings: &'a GatewaySettings,
    pub(super) mutant: Option<Mutant>,
}

impl<'a> Scene<'a> {
    /// The next update for a session, and whether its client kept up with them. Nothing if the
    /// avatar is not in the world.
    pub(super) fn update(
        &self,
        session: &mut Session,
        seen: &[&'a Object],
    ) -> Option<(StateUpdate, bool)> {
        let own = self.objects.get(&session.avatar)?;
        let with_distance = |object: &&'a Object| (distance(&own.state, &object.state), *object);
        let mut order: Vec<(u64, &Object)> = seen.iter().map(with_distance).collect();
        let nearer = |(far, object): &(u64, &Object)| (object.id != own.id, *far, object.id);
        // Only the nearest need be in order.
        let near = order.len().min(self.settings.near.max(1));
        if near < order.len() {
            order.select_nth_unstable_by_key(near, nearer);
        }
        if let Some(nearest) = order.get_mut(..near) {
            nearest.sort_unstable_by_key(nearer);
        }
        let contacts: Vec<ContactChange> =
            session.changes.iter().take(CONTACTS_AT_ONCE).copied().collect();
        let budget = self.settings.budget.saturating_sub(FRAME + CONTACT * contacts.len());
        let (near, base, bytes) = self.near(session, &order, budget)?;
        let rest = budget.saturating_sub(bytes.len());
        let (far, kinds) = self.far(session, own, order.get(near.objects().len()..)?, rest);
        let until = contacts.last().map_or(session.changed, |change| change.number);
        let kept_up = session.sent(near, until);
        let (followed, followed_at) = session.followed;
        let update = StateUpdate {
            attempt: session.attempt,
            tick: self.tick,
            dilation: self.dilation,
            base,
            near: bytes,
            far,
            kinds,
            followed,
            followed_at,
            contacts,
        };
        Some((update, kept_up))
    }

    /// As many of the nearest as fit into two thirds of the budget, the avatar always.
    fn near(
        &self,
        session: &Session,
        order: &[(u64, &Object)],
        budget: usize,
    ) -> Option<(Snapshot, Option<Tick>, Vec<u8>)> {
        let base = match self.mutant {
            Some(Mutant::UnackedBase) => session.sent_updates.back().map(|sent| &sent.near),
            _ => session.base(),
        };
        let mut count = order.len().min(self.settings.near).max(1);
        loop {
            let nearest =
                order.get(..count)?.iter().map(|(_, object)| object.for_clients()).collect();
            let near = Snapshot::new(self.tick, nearest).ok()?;
            let mut bytes = Vec::new();
            match base {
                Some(base) => near.encode_since(base, self.rate, &mut bytes),
                None => near.encode(&mut bytes),
            }
            let most = if count < order.len() { budget * 2 / 3 } else { budget };
            if bytes.len() <= most || count == 1 {
                return Some((near, base.map(Snapshot::tick), bytes));
            }
            count = (count * 3 / 4).max(1);
        }
    }

    /// Those whose turn it is: the nearer, the more often; the urgency of each grows until it is
    /// sent.
    fn far(
        &self,
        session: &mut Session,
        own: &Object,
        others: &[(u64, &Object)],
        budget: usize,
    ) -> (Vec<u8>, Vec<(Class, ShapeId)>) {
        let before = std::mem::take(&mut session.urgency);
        let mut waiting: Vec<(u32, &Object)> = others
            .iter()
            .map(|&(far, object)| {
                let known = before.binary_search_by_key(&object.id, |(id, _)| *id).ok();
                let waited = known.and_then(|at| before.get(at)).map_or(0, |(_, waited)| *waited);
                (waited.saturating_add(1 + (64 / (1 + far)) as u32), object)
            })
            .collect();
        let later = |&(urgency, object): &(u32, &Object)| (Reverse(urgency), object.id);
        let mut count = (budget / FAR).min(waiting.len());
        if count < waiting.len() {
            waiting.select_nth_unstable_by_key(count, later);
        }
        if let Some(first) = waiting.get_mut(..count) {
            first.sort_unstable_by_key(later);
        }
        let (bytes, sent) = loop {
            let mut sent: Vec<&Object> =
                waiting.iter().take(count).map(|(_, object)| *object).collect();
            sent.sort_unstable_by_key(|object| object.id);
            let states: Vec<(ObjectId, State)> =
                sent.iter().map(|object| (object.id, object.state)).collect();
            let mut bytes = Vec::new();
            let written = light::encode(own.state.position, &states, &mut bytes);
            let fits = bytes.len() + KIND * sent.len() <= budget;
            if count == 0 || (written.is_ok() && fits) {
                break (bytes, sent);
            }
            count = count * 3 / 4;
        };
        session.urgency =
            waiting.iter().skip(count).map(|(urgency, object)| (object.id, *urgency)).collect();
        session.urgency.sort_unstable();
        (bytes, sent.iter().map(|object| (object.for_clients().class, object.shape)).collect())
    }
}

/// In whole metres.
fn distance(a: &State, b: &State) -> u64 {
    let squares = (0..3).map(|axis| {
        let apart = i64::from(a.position[axis]) - i64::from(b.position[axis]);
        apart as f64 * apart as f64
    });
    (squares.sum::<f64>().sqrt() * POSITION_UNIT) as u64
}
