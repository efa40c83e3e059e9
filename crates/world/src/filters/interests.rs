//! Interests of one body or one group.

use crate::interest::{InterestTarget, QueryKind};

/// With which others, and what is asked. Sorted by the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interests(Vec<(InterestTarget, QueryKind)>);

impl Interests {
    pub(crate) fn get(&self, other: InterestTarget) -> Option<QueryKind> {
        let at = self.0.binary_search_by_key(&other, |&(target, _)| target).ok()?;
        Some(self.0[at].1)
    }

    pub(crate) fn set(&mut self, other: InterestTarget, kind: QueryKind) {
        match self.0.binary_search_by_key(&other, |&(target, _)| target) {
            Ok(at) => self.0[at].1 = kind,
            Err(at) => self.0.insert(at, (other, kind)),
        }
    }

    pub(crate) fn remove(&mut self, other: InterestTarget) -> bool {
        let at = self.0.binary_search_by_key(&other, |&(target, _)| target);
        at.map(|at| self.0.remove(at)).is_ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (InterestTarget, QueryKind)> + '_ {
        self.0.iter().copied()
    }

    /// The largest clearance that is asked for.
    pub(crate) fn reach(&self) -> f64 {
        self.0.iter().map(|(_, kind)| kind.reach()).fold(0.0, f64::max)
    }
}
