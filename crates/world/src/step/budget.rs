//! The time-critical narrow phase: a budget, and how the last steps decide the next one's limits.
//!
//! Storey 2006 §4.3.2.3 adapts two numbers to the time that the last steps took: how deep
//! hierarchies are opened and how many points of contact are looked for. Zachmann's traversal
//! (2000, §3.5.1) looks at pairs in the order of their last cost, so that most pairs have their
//! answer before the time is up.

use super::narrow::{NarrowPhase, PairQuery, PairResult};
use crate::contact::Certainty;
use crate::id::BodyId;
use crate::report::{Limited, Stopwatch};
use jostle_geom::SearchLimits;
use std::time::Duration;

/// No pair of trees is this deep: no limit (see [`SearchLimits::depth_max`]).
const DEPTH_FREE: u32 = 63;
/// Opening less than this gives little more than the boxes do.
const DEPTH_LEAST: u32 = 2;
/// The first limit when time gets short: a pair of a million triangles each needs about 16.
const DEPTH_FIRST: u32 = 16;
const CONTACTS_FIRST: usize = 1024;
/// Pairs between two readings of the clock. A reading costs about as much as the cheapest pair.
const BATCH: usize = 32;

/// Limits that follow the clock, and what each pair cost in the last step.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    pub(crate) depth_max: u32,
    pub(crate) contacts_max: usize,
    /// Sorted by pair.
    pub(crate) costs: Vec<([BodyId; 2], u32)>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { depth_max: DEPTH_FREE, contacts_max: usize::MAX, costs: Vec::new() }
    }
}

impl Budget {
    fn limits(&self) -> SearchLimits {
        let depth_max = if self.depth_max >= DEPTH_FREE { u32::MAX } else { self.depth_max };
        SearchLimits { contacts_max: self.contacts_max, depth_max }
    }

    /// Less detail after a step that used its time up, more after one that had much left.
    fn adapt(&mut self, spent: Duration, budget: Duration, finished: bool) {
        if !finished || spent > budget {
            self.depth_max = (self.depth_max.min(DEPTH_FIRST + 1) - 1).max(DEPTH_LEAST);
            self.contacts_max = (self.contacts_max.min(2 * CONTACTS_FIRST) / 2).max(1);
        } else if spent * 2 < budget {
            let depth = if self.depth_max > DEPTH_FIRST { DEPTH_FREE } else { self.depth_max + 1 };
            self.depth_max = depth;
            let more = self.contacts_max.saturating_mul(2);
            self.contacts_max = if more > CONTACTS_FIRST { usize::MAX } else { more };
        }
    }

    /// Whether [`Self::adapt`] may lead to these numbers.
    pub(crate) fn is_possible(&self) -> bool {
        let depth = (DEPTH_LEAST..=DEPTH_FIRST + 1).contains(&self.depth_max);
        let contacts = (1..=CONTACTS_FIRST).contains(&self.contacts_max);
        (depth || self.depth_max == DEPTH_FREE)
            && (contacts || self.contacts_max == usize::MAX)
            && self.costs.is_sorted_by_key(|&(pair, _)| pair)
    }

    fn cost(&self, query: &PairQuery) -> u32 {
        let at = self.costs.binary_search_by_key(&query.pair(), |&(pair, _)| pair);
        at.map_or(0, |at| self.costs[at].1)
    }

    /// The results of all queries: exact, or within a budget by a clock.
    pub(super) fn run(
        &mut self,
        narrow: &NarrowPhase<'_>,
        queries: &[PairQuery],
        clock: Option<(Duration, Stopwatch)>,
    ) -> (Vec<PairResult>, Limited) {
        let Some((budget, read)) = clock else {
            return (narrow.run(queries, SearchLimits::default()), Limited::default());
        };
        let start = read();
        let mut limited = self.limited();
        let results = self.run_until(narrow, queries, || read().saturating_sub(start) >= budget);
        let spent = read().saturating_sub(start);
        let finished = results.iter().all(Option::is_some);
        let results: Vec<_> =
            results.into_iter().map(|r| r.unwrap_or_else(PairResult::assumed)).collect();
        self.remember_costs(queries, &results);
        self.adapt(spent, budget, finished);
        let pairs = queries.iter().zip(&results);
        let assumed = pairs.filter(|(_, result)| result.certainty == Certainty::Assumed);
        limited.conservative = assumed.map(|(query, _)| query.pair()).collect();
        (results, limited)
    }

    fn limited(&self) -> Limited {
        let SearchLimits { contacts_max, depth_max } = self.limits();
        Limited {
            depth_max: Some(depth_max).filter(|&most| most != u32::MAX),
            contacts_max: Some(contacts_max).filter(|&most| most != usize::MAX),
            conservative: Vec::new(),
        }
    }

    /// The results of as many queries as there is time for, the cheapest of the last step first.
    fn run_until(
        &self,
        narrow: &NarrowPhase<'_>,
        queries: &[PairQuery],
        is_over: impl Fn() -> bool,
    ) -> Vec<Option<PairResult>> {
        let mut order: Vec<u32> = (0..queries.len() as u32).collect();
        order.sort_by_cached_key(|&at| self.cost(&queries[at as usize]));
        let mut results: Vec<Option<PairResult>> = vec![None; queries.len()];
        let mut batch = Vec::with_capacity(BATCH);
        for some in order.chunks(BATCH) {
            if is_over() {
                break;
            }
            batch.clear();
            batch.extend(some.iter().map(|&at| queries[at as usize]));
            for (&at, result) in some.iter().zip(narrow.run(&batch, self.limits())) {
                results[at as usize] = Some(result);
            }
        }
        results
    }

    /// What was not looked at keeps its last cost, a little less each time, so that its turn comes.
    fn remember_costs(&mut self, queries: &[PairQuery], results: &[PairResult]) {
        let cost = |(query, result): (&PairQuery, &PairResult)| {
            let skipped = result.certainty == Certainty::Assumed && result.cost == 0;
            let before = self.cost(query);
            (query.pair(), if skipped { before - before / 4 } else { result.cost })
        };
        self.costs = queries.iter().zip(results).map(cost).collect();
    }
}
