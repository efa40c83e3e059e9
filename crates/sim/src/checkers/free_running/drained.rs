//! L2: when nothing fails any more, everything that is on its way arrives: objects, nudges, and
//! what is to be published.

use super::Violations;
use super::sight::Sight;
use jostle_proto::{Episode, Event, Having, ObjectId, Token};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum OnItsWay {
    Object(ObjectId, Token),
    Nudge(ObjectId, ObjectId, Episode),
    Event(Event),
}

/// An object that changes holders oftener than this between the mark and the end never stays as
/// long as a backup needs to be updated: what it owes goes with it. (Twelve metres a second through
/// regions of two metres; a fault campaign in 2500 has one that stays so until the end.)
const RESTLESS: u64 = 8;

#[derive(Default)]
pub(super) struct Drained {
    then: BTreeMap<OnItsWay, Token>,
}

fn on_their_way(sight: &Sight) -> BTreeMap<OnItsWay, Token> {
    let mut found = BTreeMap::new();
    for (having, record) in sight.nodes.values().flat_map(|seen| seen.records.values()) {
        let token = record.token;
        if *having == Having::Escrow {
            found.insert(OnItsWay::Object(record.object.id, token), token);
        }
        let nudges = record.nudges.iter();
        found.extend(nudges.map(|n| (OnItsWay::Nudge(n.lead, n.object, n.episode), token)));
        found.extend(record.owed.iter().map(|event| (OnItsWay::Event(*event), token)));
    }
    found
}

impl Drained {
    /// Remembers what is on its way now.
    pub(super) fn mark(&mut self, sight: &Sight) {
        self.then = on_their_way(sight);
    }

    /// Nothing of that may be on its way still.
    pub(super) fn end(&self, sight: &Sight, violations: &mut Violations) {
        let still = on_their_way(sight).into_iter().find(|(what, token)| {
            let then = self.then.get(what);
            then.is_some_and(|then| then.era != token.era || token.hop <= then.hop + RESTLESS)
        });
        if let Some((still, _)) = still {
            violations.push(("L2", format!("still on its way: {still:?}")));
        }
    }
}
