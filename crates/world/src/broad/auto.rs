//! The structure that suits the boxes, judged by counting what it had to look at.
//!
//! Counts and not times decide, so that the same boxes give the same structure everywhere. Measured
//! by `jostle lab broad`: all pairs are fastest up to about 40 boxes that all move; cells are the
//! fastest of all for boxes of similar size; where sizes differ so much that cells have to look at
//! many boxes for each question, the tree takes over.

use super::all::AllPairs;
use super::near::{IndexKind, NearPairs};
use super::{BroadCounters, SlotPair};
use crate::{Aabb, Workers};

/// From this many boxes on, cells; below half of it, all pairs again.
const MANY: usize = 40;
/// A question to cells looks at about 80 boxes where sizes are similar. One that looks at more than
/// this costs more than one to the tree, which looks at 150 to 300.
const TESTS_PER_QUESTION_MAX: u64 = 400;
/// So many questions in all must have been too costly.
const QUESTIONS: u64 = 256;

#[derive(Clone, Debug)]
pub(super) struct Auto {
    inner: Inner,
    boxes: usize,
    /// Questions since the structure was chosen, and boxes looked at for them.
    questions: u64,
    tests: u64,
}

#[derive(Clone, Debug)]
enum Inner {
    AllPairs(AllPairs),
    Cells(NearPairs),
    Tree(NearPairs),
}

impl Default for Auto {
    fn default() -> Auto {
        let inner = Inner::AllPairs(AllPairs::default());
        Auto { inner, boxes: 0, questions: 0, tests: 0 }
    }
}

/// The same call on whatever structure it is.
macro_rules! on_inner {
    ($inner:expr, $structure:ident => $call:expr) => {
        match $inner {
            Inner::AllPairs($structure) => $call,
            Inner::Cells($structure) | Inner::Tree($structure) => $call,
        }
    };
}

impl Auto {
    pub(super) fn insert(&mut self, slot: u32, bounds: Aabb) {
        on_inner!(&mut self.inner, structure => structure.insert(slot, bounds));
        self.boxes += 1;
    }

    #[inline]
    pub(super) fn update(&mut self, slot: u32, bounds: Aabb) {
        on_inner!(&mut self.inner, structure => structure.update(slot, bounds));
    }

    pub(super) fn remove(&mut self, slot: u32) {
        on_inner!(&mut self.inner, structure => structure.remove(slot));
        self.boxes -= 1;
    }

    pub(super) fn query(&self, bounds: &Aabb, out: &mut Vec<u32>) {
        on_inner!(&self.inner, structure => structure.query(bounds, out));
    }

    pub(super) fn find_pairs(
        &mut self,
        workers: &Workers,
        out: &mut Vec<SlotPair>,
    ) -> BroadCounters {
        let counters = match &mut self.inner {
            Inner::AllPairs(all) => all.find_pairs(out),
            Inner::Cells(near) | Inner::Tree(near) => near.find_pairs(workers, out),
        };
        self.choose(counters, workers);
        counters
    }

    /// Another structure for the next steps, if the last ones spoke for it.
    fn choose(&mut self, counters: BroadCounters, workers: &Workers) {
        self.questions += counters.updates;
        self.tests += counters.box_tests;
        let costly =
            self.questions > QUESTIONS && self.tests > TESTS_PER_QUESTION_MAX * self.questions;
        let next = match &self.inner {
            Inner::AllPairs(_) if self.boxes >= MANY => NearPairs::new(IndexKind::Cells),
            Inner::Cells(_) if costly => NearPairs::new(IndexKind::Nodes),
            Inner::Cells(_) | Inner::Tree(_) if self.boxes < MANY / 2 => {
                let mut all = AllPairs::default();
                self.boxes_there().into_iter().for_each(|(slot, b)| all.insert(slot, b));
                all.find_pairs(&mut Vec::new()); // nothing has moved since
                self.inner = Inner::AllPairs(all);
                return;
            }
            _ => return,
        };
        self.change_to(next, workers);
    }

    fn boxes_there(&self) -> Vec<(u32, Aabb)> {
        on_inner!(&self.inner, structure => structure.all())
    }

    fn change_to(&mut self, mut next: NearPairs, workers: &Workers) {
        self.boxes_there().into_iter().for_each(|(slot, bounds)| next.insert(slot, bounds));
        next.find_pairs(workers, &mut Vec::new()); // nothing has moved since
        self.inner = match self.inner {
            Inner::AllPairs(_) => Inner::Cells(next),
            Inner::Cells(_) | Inner::Tree(_) => Inner::Tree(next),
        };
        (self.questions, self.tests) = (0, 0);
    }
}
