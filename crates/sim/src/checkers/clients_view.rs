//! S2, C4, R1: what a client has decoded is the world, deltas are based on what it has
//! acknowledged, contacts begin and end by turns, and no machine keeps more than allowed.

use super::Violations;
use jostle_proto::client::{ClientMessage, ContactChange, GatewayMessage, Report, StateUpdate};
use jostle_proto::wire::light::POSITION_ERROR;
use jostle_proto::{
    Address, Client, ClientId, Commit, GroupId, Message, Object, ObjectId, Objects, Tick,
};
use std::collections::{BTreeMap, BTreeSet};

/// Ticks of each group whose worlds are kept to compare with.
const WORLDS: usize = 128;

#[derive(Default)]
pub(super) struct ClientsView {
    worlds: BTreeMap<GroupId, BTreeMap<Tick, Objects>>,
    acked: BTreeMap<(ClientId, u32), BTreeSet<Tick>>,
    /// What a client held when it was last looked at.
    looked: BTreeMap<ClientId, (u32, Tick)>,
    touching: BTreeMap<ClientId, (u32, BTreeSet<(ObjectId, ObjectId)>)>,
    delta_updates: BTreeSet<(ClientId, u32)>,
    pub(super) bases_lost: u64,
}

impl ClientsView {
    pub(super) fn published(&mut self, commit: &Commit, world: &Objects) {
        let worlds = self.worlds.entry(commit.group).or_default();
        worlds.insert(commit.tick, world.clone());
        if worlds.len() > WORLDS {
            worlds.pop_first();
        }
    }

    pub(super) fn sent(
        &mut self,
        from: Address,
        to: Address,
        message: &Message,
        violations: &mut Violations,
    ) {
        match (from, to, message) {
            (Address::Client(client), _, Message::FromClient(ClientMessage::Report(report))) => {
                let Report { attempt, ack, .. } = report;
                self.acked.entry((client, *attempt)).or_default().extend(*ack);
            }
            (
                _,
                Address::Client(client),
                Message::ToClient(GatewayMessage::StateUpdate(update)),
            ) => {
                self.update(client, update, violations);
            }
            _ => {}
        }
    }

    fn update(&mut self, client: ClientId, update: &StateUpdate, violations: &mut Violations) {
        let key = (client, update.attempt);
        match update.base {
            Some(base) => {
                self.delta_updates.insert(key);
                if !self.acked.get(&key).is_some_and(|acked| acked.contains(&base)) {
                    let tick = update.tick.0;
                    let what = format!("{}: tick {tick} is a delta to {}", client.host, base.0);
                    violations.push(("S2", what));
                }
            }
            None => self.bases_lost += u64::from(self.delta_updates.remove(&key)),
        }
    }

    /// A client may hold something new.
    pub(super) fn look(&mut self, client: &mut Client, violations: &mut Violations) {
        for change in client.take_contacts() {
            self.contact(client, &change, violations);
        }
        for (what, count, most) in client.holdings() {
            if count > most {
                violations.push(("R1", format!("a client has {count} {what}, more than {most}")));
            }
        }
        let Some(near) = client.sees() else { return };
        let (id, seen) = (client.id(), (client.attempt(), near.tick()));
        if self.looked.insert(id, seen) == Some(seen) {
            return;
        }
        let home = client.credential().map(|credential| credential.home);
        let worlds = home.and_then(|home| self.worlds.get(&home));
        let Some(world) = worlds.and_then(|worlds| worlds.get(&near.tick())) else { return };
        let tick = near.tick().0;
        for object in near.objects() {
            if world.get(&object.id).map(Object::for_clients) != Some(*object) {
                let what = format!("{}: object {:x} in tick {tick}", id.host, object.id.0);
                violations.push(("S2", what));
            }
        }
        if client.avatar().is_some_and(|avatar| near.get(avatar).is_none()) {
            violations
                .push(("S2", format!("{}: its own avatar is missing in tick {tick}", id.host)));
        }
        for (other, state) in client.sees_far() {
            let right = world.get(other).map(|object| object.state.position);
            let near = |right: [i32; 3]| {
                (0..3).all(|axis| (right[axis] - state.position[axis]).abs() <= POSITION_ERROR)
            };
            if !right.is_some_and(near) {
                let what = format!("{}: far object {:x} in tick {tick}", id.host, other.0);
                violations.push(("S2", what));
            }
        }
    }

    fn contact(&mut self, client: &Client, change: &ContactChange, violations: &mut Violations) {
        let (attempt, touching) = self.touching.entry(client.id()).or_default();
        if *attempt != client.attempt() {
            (*attempt, *touching) = (client.attempt(), BTreeSet::new());
        }
        let pair = (change.a, change.b);
        let fresh = if change.begins { touching.insert(pair) } else { touching.remove(&pair) };
        if !fresh {
            let what = format!("{}: {change:?} for the second time", client.id().host);
            violations.push(("C4", what));
        }
    }
}
