//! Which pairs are asked about, and what is asked.
//!
//! Zachmann's collision interest matrix (§3.9) and Ohlenburg's interest lists (§3.3), kept
//! sparsely: each body and each group has a short sorted list of whom it is interested in and of
//! whom it ignores. Nothing here grows with the square of the number of bodies.

use crate::id::{BodyId, GroupId};

/// What is asked about a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueryKind {
    /// Do their boxes overlap? Between groups: the joined boxes of all members.
    Volume,
    /// Do they touch?
    Touch,
    /// Do they touch, and which two faces, where?
    Witness,
    /// Every pair of faces that touches.
    AllPairs,
    /// How far apart are they, however far? Asked whenever one of them moved.
    Distance,
    /// Do they touch or are they closer than this?
    Clearance(f64),
}

impl QueryKind {
    /// How far the boxes of both must reach beyond the bodies.
    pub(crate) fn reach(self) -> f64 {
        if let QueryKind::Clearance(distance) = self { distance } else { 0.0 }
    }
}

/// What a world asks about pairs that nobody expressed an interest in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// This about every pair that layers, families and ignore lists leave.
    Everything(QueryKind),
    /// Nothing: only pairs of interest exist.
    InterestsOnly,
}

/// One side of an interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InterestTarget {
    /// A body.
    Body(BodyId),
    /// All bodies in a group and in the groups inside it.
    Group(GroupId),
}

impl From<BodyId> for InterestTarget {
    fn from(id: BodyId) -> InterestTarget {
        InterestTarget::Body(id)
    }
}

impl From<GroupId> for InterestTarget {
    fn from(id: GroupId) -> InterestTarget {
        InterestTarget::Group(id)
    }
}

/// The interests of one party: with whom, and what is asked. Sorted by the other party.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interests(Vec<(InterestTarget, QueryKind)>);

impl Interests {
    pub(crate) fn get(&self, other: InterestTarget) -> Option<QueryKind> {
        let at = self.0.binary_search_by_key(&other, |&(party, _)| party).ok()?;
        Some(self.0[at].1)
    }

    pub(crate) fn set(&mut self, other: InterestTarget, ask: QueryKind) {
        match self.0.binary_search_by_key(&other, |&(party, _)| party) {
            Ok(at) => self.0[at].1 = ask,
            Err(at) => self.0.insert(at, (other, ask)),
        }
    }

    pub(crate) fn remove(&mut self, other: InterestTarget) -> bool {
        let at = self.0.binary_search_by_key(&other, |&(party, _)| party);
        at.map(|at| self.0.remove(at)).is_ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (InterestTarget, QueryKind)> + '_ {
        self.0.iter().copied()
    }

    pub(crate) fn reach(&self) -> f64 {
        self.0.iter().map(|(_, ask)| ask.reach()).fold(0.0, f64::max)
    }
}
