//! A limit to what exact tests may cost in a tick: the time-critical narrow phase (Storey 2006,
//! 4.3.2.3) for a node of a free-running group.
//!
//! What `crates/world/src/step/budget.rs` does with a clock is done here with counted operations,
//! so that a seed remains a seed: pairs that were cheap last time come first, so that most have
//! their answer before the operations are used up; hierarchies are opened less deep after a tick
//! that did not suffice, and deeper again when there is room. What was cut short is assumed to
//! touch, and says so: nothing is missed silently.

use super::tests;
use jostle_geom::{Pair, SearchLimits, SearchResult};
use jostle_world::broad::SlotPair;
use serde::{Deserialize, Serialize};

/// How much is known about two objects that are said to touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Certainty {
    /// They do.
    Exact,
    /// They may: their boxes meet, and there was no time to look closer.
    Assumed,
}

/// No pair of trees is this deep: no limit (see [`SearchLimits::depth_max`]).
const DEPTH_FREE: u32 = 63;
/// A walk of less depth is hardly more exact than the boxes.
const DEPTH_LEAST: u32 = 2;
/// The first limit when operations get short: a pair of a million triangles each needs about 16.
const DEPTH_FIRST: u32 = 16;

/// How much may be done in a tick, and what the last ticks say about it.
#[derive(Clone, Debug)]
pub(super) struct Effort {
    /// Box and triangle tests in a tick.
    operations: u64,
    left: u64,
    depth_max: u32,
    /// A pair was not tested, or not to the end, because operations were used up.
    ran_out: bool,
    /// What every pair cost in the last tick, sorted by pair; and in this one, unsorted.
    costs: Vec<(SlotPair, u32)>,
    fresh: Vec<(SlotPair, u32)>,
}

impl Effort {
    pub(super) fn new(operations: u64) -> Effort {
        Effort {
            operations,
            left: operations,
            depth_max: DEPTH_FREE,
            ran_out: false,
            costs: Vec::new(),
            fresh: Vec::new(),
        }
    }

    /// What a pair cost when it was last looked at; nothing if it never was.
    pub(super) fn cost(&self, slots: SlotPair) -> u32 {
        let at = self.costs.binary_search_by_key(&slots, |(slots, _)| *slots);
        at.map_or(0, |at| self.costs[at].1)
    }

    /// Do they touch, as far as there are operations left to find out? None: they do not. And what
    /// it took.
    pub(super) fn look(&mut self, slots: SlotPair, pair: &Pair<'_>) -> (Option<Certainty>, u32) {
        if self.left == 0 {
            self.ran_out = true;
            // Its turn comes: what waits gets cheaper.
            let before = self.cost(slots);
            self.fresh.push((slots, before - before / 4));
            return (Some(Certainty::Assumed), 0);
        }
        let depth_max = if self.depth_max >= DEPTH_FREE { u32::MAX } else { self.depth_max };
        // One contact is enough for a yes.
        let mut search = pair.search(SearchLimits { contacts_max: 1, depth_max });
        search.run(self.left);
        let cost = tests(&search.counters());
        self.left = self.left.saturating_sub(u64::from(cost));
        self.fresh.push((slots, cost));
        let answer = match search.result() {
            SearchResult::Yes => Some(Certainty::Exact),
            SearchResult::No => None,
            SearchResult::Maybe => {
                self.ran_out |= self.left == 0;
                Some(Certainty::Assumed)
            }
        };
        (answer, cost)
    }

    /// The tick is over: less detail in the next one if this one did not suffice, more if much was
    /// left.
    pub(super) fn end(&mut self) {
        if self.ran_out {
            self.depth_max = (self.depth_max.min(DEPTH_FIRST + 1) - 1).max(DEPTH_LEAST);
        } else if self.left > self.operations / 2 {
            let deeper = self.depth_max + 1;
            self.depth_max = if self.depth_max > DEPTH_FIRST { DEPTH_FREE } else { deeper };
        }
        std::mem::swap(&mut self.costs, &mut self.fresh);
        self.costs.sort_unstable_by_key(|(slots, _)| *slots);
        self.fresh.clear();
        (self.left, self.ran_out) = (self.operations, false);
    }
}
