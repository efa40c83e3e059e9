//! Pairs of bodies whose distance is wanted, however far apart they are. The broad phase cannot
//! find those.
//!
//! The pairs follow from the interests that ask for a distance and from who is in which group. They
//! are found at the next step after one of these changed, and not at each change: a scene that is
//! set up with n interests would look n times at all of them.

use crate::id::BodyId;
use crate::interest::{InterestTarget, QueryKind};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default)]
pub(super) struct DistancePairs {
    /// Interests that ask for a distance, the smaller target first.
    interests: BTreeSet<[InterestTarget; 2]>,
    /// Sorted.
    pairs: Vec<[BodyId; 2]>,
    /// Interests or groups changed since the pairs were found.
    stale: bool,
}

impl DistancePairs {
    /// Notes that an interest changed. An interest of another kind matters, too: it may hide or
    /// show one between groups further out.
    pub(super) fn note(
        &mut self,
        a: InterestTarget,
        b: InterestTarget,
        before: Option<QueryKind>,
        after: Option<QueryKind>,
    ) {
        if before == after {
            return;
        }
        let pair = if a <= b { [a, b] } else { [b, a] };
        if before == Some(QueryKind::Distance) {
            self.interests.remove(&pair);
            self.stale = true;
        }
        if after == Some(QueryKind::Distance) {
            self.interests.insert(pair);
        }
        self.note_members();
    }

    /// Notes that the members of a group changed.
    pub(super) fn note_members(&mut self) {
        self.stale |= !self.interests.is_empty();
    }

    pub(super) fn interests(&self) -> &BTreeSet<[InterestTarget; 2]> {
        &self.interests
    }

    /// The pairs, unless they have to be found again.
    pub(super) fn known(&self) -> Option<&[[BodyId; 2]]> {
        (!self.stale).then_some(&self.pairs)
    }

    pub(super) fn set(&mut self, pairs: Vec<[BodyId; 2]>) {
        self.pairs = pairs;
        self.stale = false;
    }
}
