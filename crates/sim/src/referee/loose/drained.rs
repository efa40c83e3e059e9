//! L2: when nothing fails any more, everything that is on its way arrives: objects, nudges, and
//! what is to be published.

use super::Said;
use super::sight::Sight;
use jostle_proto::{Episode, Event, Having, ObjectId, Token};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OnItsWay {
    Object(ObjectId, Token),
    Nudge(ObjectId, ObjectId, Episode),
    Event(Event),
}

#[derive(Default)]
pub(super) struct Drained {
    then: BTreeSet<OnItsWay>,
}

fn on_their_way(sight: &Sight) -> BTreeSet<OnItsWay> {
    let mut found = BTreeSet::new();
    for (having, record) in sight.nodes.values().flat_map(|seen| seen.records.values()) {
        if *having == Having::Escrow {
            found.insert(OnItsWay::Object(record.object.id, record.token));
        }
        let nudges = record.nudges.iter();
        found.extend(nudges.map(|n| OnItsWay::Nudge(n.lead, n.object, n.episode)));
        found.extend(record.owed.iter().map(|event| OnItsWay::Event(*event)));
    }
    found
}

impl Drained {
    /// Remembers what is on its way now.
    pub(super) fn mark(&mut self, sight: &Sight) {
        self.then = on_their_way(sight);
    }

    /// Nothing of that may be on its way still.
    pub(super) fn end(&self, sight: &Sight, said: &mut Said) {
        if let Some(still) = on_their_way(sight).intersection(&self.then).next() {
            said.push(("L2", format!("still on its way: {still:?}")));
        }
    }
}
