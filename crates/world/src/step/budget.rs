//! The time-critical narrow phase: a budget, and how the last steps decide the next one's limits.
//!
//! Storey 2006 §4.3.2.3 adapts two numbers to the time that the last steps took: how deep
//! hierarchies are opened and how many points of contact are looked for. Zachmann's traversal
//! (digest, item 19) looks at pairs in the order of their last cost, so that most pairs have their
//! answer before the time is up.

use super::narrow::{Question, Verdict};
use super::{Limited, World};
use crate::contact::Certainty;
use crate::id::BodyId;
use jostle_geom::SearchLimits;
use std::time::Duration;

/// No pair of trees is this deep: no limit (see [`SearchLimits::depth_max`]).
const DEPTH_FREE: u32 = 63;
/// Opening less than this tells little more than the boxes do.
const DEPTH_LEAST: u32 = 2;
/// The first limit when time gets short: a pair of a million triangles each needs about 16.
const DEPTH_FIRST: u32 = 16;
const CONTACTS_FIRST: usize = 1024;
/// Pairs between two looks at the clock. A look costs about as much as the cheapest pair.
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

    fn is_free(&self) -> bool {
        self.limits() == SearchLimits::default()
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

    /// Are these numbers that [`Self::adapt`] may meet?
    pub(crate) fn is_possible(&self) -> bool {
        let depth = (DEPTH_LEAST..=DEPTH_FIRST + 1).contains(&self.depth_max);
        let contacts = (1..=CONTACTS_FIRST).contains(&self.contacts_max);
        (depth || self.depth_max == DEPTH_FREE)
            && (contacts || self.contacts_max == usize::MAX)
            && self.costs.is_sorted_by_key(|&(pair, _)| pair)
    }

    fn cost(&self, question: &Question) -> u32 {
        let at = self.costs.binary_search_by_key(&question.pair(), |&(pair, _)| pair);
        at.map_or(0, |at| self.costs[at].1)
    }
}

impl World {
    /// Answers all questions, exactly or within a budget.
    pub(super) fn judge(
        &mut self,
        questions: &[Question],
        budget: Option<Duration>,
    ) -> Vec<Verdict> {
        match (budget, self.settings.stopwatch) {
            (Some(budget), Some(read)) => self.judge_within(questions, budget, read),
            _ => self.judge_all(questions, SearchLimits::default()),
        }
    }

    fn judge_within(
        &mut self,
        questions: &[Question],
        budget: Duration,
        read: fn() -> Duration,
    ) -> Vec<Verdict> {
        let start = read();
        let limits = self.budget.limits();
        if !self.budget.is_free() {
            let contacts_max = Some(limits.contacts_max).filter(|&most| most != usize::MAX);
            let depth_max = Some(limits.depth_max).filter(|&most| most != u32::MAX);
            self.report.limited = Limited { depth_max, contacts_max, conservative: Vec::new() };
        }
        let mut order: Vec<u32> = (0..questions.len() as u32).collect();
        order.sort_by_cached_key(|&at| self.budget.cost(&questions[at as usize]));

        let mut verdicts: Vec<Option<Verdict>> = vec![None; questions.len()];
        let mut finished = true;
        let mut batch = Vec::with_capacity(BATCH);
        for some in order.chunks(BATCH) {
            if read().saturating_sub(start) >= budget {
                finished = false;
                break;
            }
            batch.clear();
            batch.extend(some.iter().map(|&at| questions[at as usize]));
            for (&at, verdict) in some.iter().zip(self.judge_all(&batch, limits)) {
                verdicts[at as usize] = Some(verdict);
            }
        }
        let spent = read().saturating_sub(start);
        let verdicts: Vec<_> =
            verdicts.into_iter().map(|v| v.unwrap_or_else(Verdict::assumed)).collect();
        self.remember_costs(questions, &verdicts);
        self.budget.adapt(spent, budget, finished);
        verdicts
    }

    /// What was not looked at keeps its last cost, a little less each time, so that its turn comes.
    fn remember_costs(&mut self, questions: &[Question], verdicts: &[Verdict]) {
        let cost = |(question, verdict): (&Question, &Verdict)| {
            let skipped = verdict.certainty == Certainty::Assumed && verdict.cost == 0;
            let before = self.budget.cost(question);
            (question.pair(), if skipped { before - before / 4 } else { verdict.cost })
        };
        self.budget.costs = questions.iter().zip(verdicts).map(cost).collect();
    }
}
