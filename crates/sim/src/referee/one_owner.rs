//! A2, A5, C2, S1: in a tick no object is lost or handed to two, nobody reports a pair that another
//! reports, and copies of an object with the same tick are the same.

use jostle_proto::{
    Address, Bundle, Commit, Done, Epoch, Message, NodeId, Object, ObjectId, Objects, Tick,
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct OneOwner {
    /// For each of the newest ticks: whom an object was given to.
    given: BTreeMap<(Epoch, Tick), BTreeMap<ObjectId, NodeId>>,
    /// And how it was described, to whomever.
    told: BTreeMap<(Epoch, Tick), BTreeMap<ObjectId, Object>>,
    /// Who reported a pair.
    reported: BTreeMap<(Epoch, Tick), BTreeMap<(ObjectId, ObjectId), NodeId>>,
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
        said: &mut Vec<(&'static str, String)>,
    ) {
        match (message, to) {
            (Message::Bundle(bundle), Address::Node(to)) => self.bundle(to, bundle, said),
            (Message::Done(done), _) => self.done(done, said),
            (Message::Commit(commit), _) => self.committed(commit, published, said),
            _ => {}
        }
        while self.given.len() > 4 {
            self.given.pop_first();
        }
        while self.told.len() > 4 {
            self.told.pop_first();
        }
        while self.reported.len() > 4 {
            self.reported.pop_first();
        }
    }

    fn bundle(&mut self, to: NodeId, bundle: &Bundle, said: &mut Vec<(&'static str, String)>) {
        let key = (bundle.epoch, bundle.tick);
        let given = self.given.entry(key).or_default();
        let owned = bundle.backup.iter().map(|object| (bundle.from, *object));
        let handed = bundle.transfers.iter().map(|object| (to, *object));
        for (owner, object) in owned.chain(handed).chain(bundle.entrusted.iter().copied()) {
            let known = *given.entry(object.id).or_insert(owner);
            if known != owner {
                let (a, b) = (known.0, owner.0);
                let what = format!("object {} belongs to {a} and to {b}", object.id.0);
                said.push(("A2", format!("tick {}: {what}", bundle.tick.0)));
            }
        }
        let told = self.told.entry(key).or_default();
        let copies = bundle.entrusted.iter().map(|(_, object)| object);
        let whole = bundle.backup.iter().chain(&bundle.transfers).chain(&bundle.ghosts);
        for object in whole.chain(copies) {
            if *told.entry(object.id).or_insert(*object) != *object {
                let id = object.id.0;
                said.push(("S1", format!("tick {}: object {id} differs", bundle.tick.0)));
            }
        }
    }

    /// Everybody has told what they hold: nothing may be missing. (One who is alone tells nobody.)
    ///
    /// What they held is the world after the tick before, which is published when all have told;
    /// or, when a view begins, the world of this tick, which is published just before. Either way
    /// the published world is the right one. A leader that was left out does not know that its
    /// time is over, and what it commits is of another time.
    fn committed(
        &mut self,
        commit: &Commit,
        (last, world): (u64, &Objects),
        said: &mut Vec<(&'static str, String)>,
    ) {
        let key = (commit.epoch, commit.tick);
        let begins = self.committed.last().is_none_or(|(epoch, _)| *epoch != commit.epoch);
        if !self.committed.insert(key) || last + u64::from(!begins) != commit.tick.0 {
            return;
        }
        while self.committed.len() > 16 {
            self.committed.pop_first();
        }
        let Some(given) = self.given.get(&key) else { return };
        let tick = commit.tick.0;
        if let Some(lost) = world.keys().find(|id| !given.contains_key(id)) {
            let (held, all) = (given.len(), world.len());
            let what = format!("{held} of {all} objects have an owner, {} has none", lost.0);
            said.push(("A5", format!("tick {tick}: {what}")));
        }
        if let Some(extra) = given.keys().find(|id| !world.contains_key(id)) {
            said.push(("A2", format!("tick {tick}: there is no object {}", extra.0)));
        }
    }

    fn done(&mut self, done: &Done, said: &mut Vec<(&'static str, String)>) {
        let reported = self.reported.entry((done.epoch, done.tick)).or_default();
        for touch in &done.touches {
            let by = *reported.entry((touch.a, touch.b)).or_insert(done.from);
            if by != done.from {
                let (a, b) = (touch.a.0, touch.b.0);
                let what = format!("pair {a}, {b} is reported by {} and {}", by.0, done.from.0);
                said.push(("C2", format!("tick {}: {what}", done.tick.0)));
            }
        }
    }
}
