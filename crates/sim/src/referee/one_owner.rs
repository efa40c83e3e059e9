//! A2, A5, C2, S1: in a tick no object is lost or handed to two, nobody reports a pair that another
//! reports, and copies of an object with the same tick are the same.

use jostle_proto::{Address, Bundle, Commit, Done, Epoch, Message, NodeId, Object, ObjectId, Tick};
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct OneOwner {
    /// For each of the newest ticks: whom an object was given to.
    given: BTreeMap<(Epoch, Tick), BTreeMap<ObjectId, NodeId>>,
    /// And how it was described, to whomever.
    told: BTreeMap<(Epoch, Tick), BTreeMap<ObjectId, Object>>,
    /// Who reported a pair.
    reported: BTreeMap<(Epoch, Tick), BTreeMap<(ObjectId, ObjectId), NodeId>>,
    /// The last tick whose owners were counted.
    counted: (Epoch, Tick),
}

impl OneOwner {
    /// As far as the world is published, it has come to this tick and has so many objects.
    pub(super) fn sent(
        &mut self,
        to: Address,
        message: &Message,
        published: (u64, usize),
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
    /// When a tick is committed first, the one before it is published; where a view begins, the
    /// tick that it goes on from. A leader that was left out does not know that its time is over.
    fn committed(
        &mut self,
        commit: &Commit,
        (last, objects): (u64, usize),
        said: &mut Vec<(&'static str, String)>,
    ) {
        let key = (commit.epoch, commit.tick);
        if key <= self.counted {
            return;
        }
        let begins = commit.epoch != self.counted.0;
        self.counted = key;
        if last + u64::from(!begins) != commit.tick.0 {
            return;
        }
        if let Some(given) = self.given.get(&key)
            && given.len() != objects
        {
            let rule = if given.len() > objects { "A2" } else { "A5" };
            let what = format!("{} of {objects} objects have an owner", given.len());
            said.push((rule, format!("tick {}: {what}", commit.tick.0)));
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
