//! Several pairs and not enough time for all: those that were cheap last time go first.

use crate::{Count, Verdict};

/// What each pair cost last time (Zachmann 2000, 3.5.1: ascending order of the last frame's cost,
/// so that as many pairs as possible are decided before the time is over).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    last: Vec<u64>,
}

impl Schedule {
    /// So many pairs, of which nothing is known yet.
    #[must_use]
    pub fn new(pairs: usize) -> Schedule {
        Schedule { last: vec![0; pairs] }
    }

    /// The pairs in ascending order of what they cost last time; equal ones by number.
    #[must_use]
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.last.len()).collect();
        order.sort_by_key(|&pair| self.last[pair]);
        order
    }

    /// Asks about every pair in that order. `ask` gets the number of the pair and how much of
    /// the budget is left; with nothing left a pair is not asked about, keeps its cost, and may
    /// touch. Verdicts come by the number of the pair.
    pub fn run(
        &mut self,
        budget: u64,
        mut ask: impl FnMut(usize, u64) -> (Verdict, Count),
    ) -> Vec<Verdict> {
        let mut verdicts = vec![Verdict::MayTouch; self.last.len()];
        let mut left = budget;
        for pair in self.order() {
            if left == 0 {
                break;
            }
            let (verdict, count) = ask(pair, left);
            let cost = super::spent(&count);
            verdicts[pair] = verdict;
            self.last[pair] = cost;
            left = left.saturating_sub(cost);
        }
        verdicts
    }
}
