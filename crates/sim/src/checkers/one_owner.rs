//! A2, A5, C2, C7, S1: in a tick no object is lost or handed to two, no member compares or reports
//! a pair that another does, and what is sent of an object is what one machine has.

use super::one_machine::Truth;
use jostle_proto::{
    Address, Bundle, Commit, Done, Epoch, Input, Message, NodeId, Object, ObjectId, Objects, Tick,
    View,
};
use std::collections::{BTreeMap, BTreeSet};

type Violations = Vec<(&'static str, String)>;

/// Ticks, and views, that are remembered.
const KEPT: usize = 4;

#[derive(Default)]
pub(super) struct OneOwner {
    /// For each of the newest views: whom an object was last given to, and when.
    owners: BTreeMap<Epoch, BTreeMap<ObjectId, (Tick, NodeId)>>,
    /// And who handed it out when the view began.
    givers: BTreeMap<Epoch, BTreeMap<ObjectId, NodeId>>,
    /// And the tick that it began with.
    began: BTreeMap<Epoch, Tick>,
    /// For each of the newest ticks: the state that was sent of an object.
    states: BTreeMap<(Epoch, Tick), BTreeMap<ObjectId, Object>>,
    /// Who reported a pair.
    reported: BTreeMap<(Epoch, Tick), BTreeMap<(ObjectId, ObjectId), NodeId>>,
    /// How many pairs each member has compared.
    compared: BTreeMap<(Epoch, Tick), BTreeMap<NodeId, u64>>,
    /// Ticks that were committed: who commits one again says nothing new.
    committed: BTreeSet<(Epoch, Tick)>,
}

impl OneOwner {
    /// The last published tick, and the world after it.
    pub(super) fn sent(
        &mut self,
        to: Address,
        message: &Message,
        published: (u64, &Objects),
        violations: &mut Violations,
    ) {
        match (message, to) {
            (Message::Bundle(bundle), Address::Node(to)) => self.bundle(to, bundle, violations),
            (Message::Done(done), _) => self.done(done, violations),
            (Message::Commit(commit), _) => self.committed(commit, published, violations),
            _ => {}
        }
    }

    fn bundle(&mut self, to: NodeId, bundle: &Bundle, violations: &mut Violations) {
        let &Bundle { epoch, tick, from, .. } = bundle;
        let begins = *self.began.entry(epoch).or_insert(tick) == tick;
        newest(&mut self.began);
        let owners = self.owners.entry(epoch).or_default();
        let owned = bundle.backup.iter().map(|object| (from, object));
        let handed = bundle.transfers.iter().map(|object| (to, object));
        let entrusted = bundle.entrusted.iter().map(|(owner, object)| (*owner, object));
        for (owner, object) in owned.chain(handed).chain(entrusted) {
            let (when, known) = *owners.entry(object.id).or_insert((tick, owner));
            if tick < when {
                // Sent again to a member that has missed it.
                continue;
            }
            // When a view begins any member may hand over what it had; later only the owner.
            let right = match begins || when == tick {
                true => known == owner,
                false => known == from,
            };
            if !right {
                let (id, a, b) = (object.id.0, known.0, owner.0);
                let what = format!("object {id} belongs to {a}, and {} says to {b}", from.0);
                violations.push(("A2", format!("tick {}: {what}", tick.0)));
            }
            owners.insert(object.id, (tick, owner));
        }
        newest(&mut self.owners);
        if begins {
            self.handed_out(bundle, violations);
        }
        let states = self.states.entry((epoch, tick)).or_default();
        let copies = bundle.entrusted.iter().map(|(_, object)| object);
        let whole = bundle.backup.iter().chain(&bundle.transfers).chain(&bundle.ghosts);
        for object in whole.chain(copies) {
            if *states.entry(object.id).or_insert(*object) != *object {
                violations.push(("S1", format!("tick {}: object {} differs", tick.0, object.id.0)));
            }
        }
        newest(&mut self.states);
    }

    /// When a view begins one member hands out an object: its last owner, or one heir of that one.
    fn handed_out(&mut self, bundle: &Bundle, violations: &mut Violations) {
        let givers = self.givers.entry(bundle.epoch).or_default();
        let entrusted = bundle.entrusted.iter().map(|(_, object)| object);
        for object in bundle.backup.iter().chain(&bundle.transfers).chain(entrusted) {
            let giver = *givers.entry(object.id).or_insert(bundle.from);
            if giver != bundle.from {
                let (id, a, b) = (object.id.0, giver.0, bundle.from.0);
                let what = format!("object {id} is handed out by {a} and by {b}");
                violations.push(("A2", format!("view {}: {what}", bundle.epoch.0)));
            }
        }
        newest(&mut self.givers);
    }

    /// A view begins: all members have sent what they hold, and nothing may be missing or other
    /// than it is in the published world. (A single member sends no bundles. A leader that was left
    /// out does not know that its time is over, and what it commits is of another time.)
    fn committed(
        &mut self,
        commit: &Commit,
        (last, world): (u64, &Objects),
        violations: &mut Violations,
    ) {
        let key = (commit.epoch, commit.tick);
        let fresh = self.committed.insert(key);
        while self.committed.len() > 16 {
            self.committed.pop_first();
        }
        let begins = self.began.get(&commit.epoch) == Some(&commit.tick);
        // An object that comes in is with the owner of the place, wherever a copy of it was before.
        if let Some(owners) = self.owners.get_mut(&commit.epoch).filter(|_| fresh && !begins) {
            for input in &commit.inputs {
                if let Input::Enter(object) | Input::Arrive(object, _) = input
                    && owners.get(&object.id).is_some_and(|(when, _)| *when <= commit.tick)
                {
                    owners.remove(&object.id);
                }
            }
        }
        if !fresh || !begins || last != commit.tick.0 {
            return;
        }
        let Some(owners) = self.owners.get(&commit.epoch) else { return };
        let tick = commit.tick.0;
        if let Some(lost) = world.keys().find(|id| !owners.contains_key(id)) {
            let (held, all) = (owners.len(), world.len());
            let what = format!("{held} of {all} objects have an owner, {} has none", lost.0);
            violations.push(("A5", format!("tick {tick}: {what}")));
        }
        if let Some(extra) = owners.keys().find(|id| !world.contains_key(id)) {
            violations.push(("A2", format!("tick {tick}: there is no object {}", extra.0)));
        }
        self.compare(key, world, violations);
    }

    /// Is the sent state the true one?
    fn compare(&self, key: (Epoch, Tick), world: &Objects, violations: &mut Violations) {
        let states = self.states.get(&key).into_iter().flat_map(BTreeMap::values);
        for object in states {
            if world.get(&object.id) != Some(object) {
                violations
                    .push(("S1", format!("tick {}: object {} is other", key.1.0, object.id.0)));
            }
        }
    }

    /// A node of a view has looked at a tick.
    pub(super) fn compared(&mut self, key: (Epoch, Tick), node: NodeId, pairs: u64) {
        self.compared.entry(key).or_default().insert(node, pairs);
        newest(&mut self.compared);
    }

    /// A new tick, as one machine has it before anything is done to it.
    pub(super) fn published(
        &mut self,
        commit: &Commit,
        truth: &Truth,
        view: Option<&View>,
        violations: &mut Violations,
    ) {
        let key = (commit.epoch, commit.tick);
        let Some(view) = view else { return };
        // Alone, or again in the next view.
        if self.began.get(&commit.epoch).is_none_or(|began| *began >= commit.tick) {
            return;
        }
        let tick = commit.tick.0;
        self.compare(key, &truth.objects, violations);
        if let Some(compared) = self.compared.get(&key)
            && compared.len() == view.ring.len()
        {
            let sum: u64 = compared.values().sum();
            if sum != truth.compared {
                let what = format!("{sum} pairs were compared, there are {}", truth.compared);
                violations.push(("C7", format!("tick {tick}: {what}")));
            }
        }
        let Some(owners) = self.owners.get(&commit.epoch) else { return };
        for object in truth.objects.values() {
            let owner = view.owner(object.state.position);
            // One that came in since then need not have been sent. What was handed over in the tick
            // after this one is known already.
            if let Some((_, known)) = owners.get(&object.id).filter(|(when, _)| when.0 <= tick)
                && *known != owner
            {
                let (id, a, b) = (object.id.0, known.0, owner.0);
                let what = format!("object {id} is where {b} is, and was left with {a}");
                violations.push(("A5", format!("tick {tick}: {what}")));
            }
        }
    }

    fn done(&mut self, done: &Done, violations: &mut Violations) {
        let reported = self.reported.entry((done.epoch, done.tick)).or_default();
        for touch in &done.touches {
            let by = *reported.entry((touch.a, touch.b)).or_insert(done.from);
            if by != done.from {
                let (a, b) = (touch.a.0, touch.b.0);
                let what = format!("pair {a}, {b} is reported by {} and {}", by.0, done.from.0);
                violations.push(("C2", format!("tick {}: {what}", done.tick.0)));
            }
        }
        newest(&mut self.reported);
    }
}

/// Forgets all but the newest.
fn newest<K: Ord, V>(map: &mut BTreeMap<K, V>) {
    while map.len() > KEPT {
        map.pop_first();
    }
}
