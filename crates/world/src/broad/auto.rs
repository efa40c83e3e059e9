//! The structure that suits the boxes, judged by counting what it had to look at.
//!
//! Counts and not times decide, so that the same boxes give the same structure everywhere. Measured
//! by `jostle lab broad`: all pairs are as fast as cells up to about 20 boxes that all move; cells
//! are the fastest of all for boxes of similar size. Where sizes differ so much that cells have to
//! look at many boxes for each query, the tree takes over.

use super::all::AllPairs;
use super::near::{IndexKind, NearPairs, QueryCounts};
use super::{BroadCounters, SlotPair};
use crate::Workers;
use jostle_geom::Aabb;

/// From this many boxes on, cells; below half of it, all pairs again.
const MANY: usize = 20;
/// A query of cells looks at about 80 boxes where sizes are similar and boxes are not crowded,
/// and a crowd gives many near pairs. Looking at more than this for each query and each pair
/// means that cells do not fit; the tree looks at 150 to 400 for a query.
const TESTS_PER_QUERY: u64 = 400;
const TESTS_PER_PAIR: u64 = 16;
/// So many queries must have been made before they count as too costly.
const QUERIES: u64 = 256;
/// So many boxes are a sample of a larger number. All with all of them takes some milliseconds.
const SAMPLE: usize = 4096;

#[derive(Clone, Debug)]
pub(super) struct Auto {
    inner: Inner,
    boxes: usize,
    /// What queries cost since cells were chosen.
    counts: QueryCounts,
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
        Auto { inner, boxes: 0, counts: QueryCounts::default() }
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
        if let Inner::AllPairs(all) = &mut self.inner
            && self.boxes >= MANY
        {
            let moved = all.take_moved();
            let boxes = all.all();
            self.inner = if cells_suit(&boxes, workers) {
                let cells = NearPairs::new(IndexKind::Cells);
                Inner::Cells(filled(cells, &boxes, &moved, workers))
            } else {
                let tree = NearPairs::new(IndexKind::Nodes);
                Inner::Tree(filled(tree, &boxes, &moved, workers))
            };
            self.counts = QueryCounts::default();
        }
        match &mut self.inner {
            Inner::AllPairs(all) => all.find_pairs(out),
            Inner::Tree(near) | Inner::Cells(near) => {
                let counters = near.find_pairs(workers, out);
                self.reconsider(workers);
                counters
            }
        }
    }

    /// Another structure for the next steps, if the last ones spoke for it.
    fn reconsider(&mut self, workers: &Workers) {
        let (Inner::Cells(near) | Inner::Tree(near)) = &mut self.inner else { return };
        self.counts += near.take_counts();
        if self.boxes < MANY / 2 {
            let mut all = AllPairs::default();
            near.all().into_iter().for_each(|(slot, bounds)| all.insert(slot, bounds));
            all.find_pairs(&mut Vec::new()); // nothing has moved since
            self.inner = Inner::AllPairs(all);
        } else if matches!(self.inner, Inner::Cells(_)) && self.counts.is_too_much() {
            let (tree, boxes) = (NearPairs::new(IndexKind::Nodes), self.all());
            self.inner = Inner::Tree(filled(tree, &boxes, &[], workers));
        }
    }

    fn all(&self) -> Vec<(u32, Aabb)> {
        on_inner!(&self.inner, structure => structure.all())
    }
}

impl QueryCounts {
    fn is_too_much(&self) -> bool {
        let fair = TESTS_PER_QUERY * self.queries + TESTS_PER_PAIR * self.pairs;
        self.queries > QUERIES && self.tests > fair
    }
}

/// Will cells do with these boxes? Where they do not, the first step alone can take minutes: with
/// 300,000 boxes in one cell, each query looks at all of them. So samples of two sizes are queried
/// first, and what a query looks at is taken to grow on as it does from one to the other.
fn cells_suit(boxes: &[(u32, Aabb)], workers: &Workers) -> bool {
    if boxes.len() < 2 * SAMPLE {
        return true;
    }
    let sample = |count: usize| {
        let mut cells = NearPairs::new(IndexKind::Cells);
        let sample = boxes.iter().step_by(boxes.len() / count).take(count);
        (0..).zip(sample).for_each(|(slot, &(_, bounds))| cells.insert(slot, bounds));
        cells.find_pairs(workers, &mut Vec::new());
        cells.take_counts()
    };
    let (small, large) = (sample(SAMPLE / 2), sample(SAMPLE));
    // In thousandths for each query.
    let rate = |count: u64, queries: u64| count * 1000 / queries.max(1);
    let of_all = |small: u64, large: u64| {
        let growth = large.saturating_sub(small) * (boxes.len() - SAMPLE) as u64;
        large + growth / (SAMPLE as u64 / 2)
    };
    let tests = of_all(rate(small.tests, small.queries), rate(large.tests, large.queries));
    let pairs = of_all(rate(small.pairs, small.queries), rate(large.pairs, large.queries));
    tests <= 1000 * TESTS_PER_QUERY + TESTS_PER_PAIR * pairs
}

/// A structure with these boxes, of which only `moved` have moved.
fn filled(
    mut structure: NearPairs,
    boxes: &[(u32, Aabb)],
    moved: &[u32],
    workers: &Workers,
) -> NearPairs {
    boxes.iter().for_each(|&(slot, bounds)| structure.insert(slot, bounds));
    if moved.len() < boxes.len() {
        structure.find_pairs(workers, &mut Vec::new());
        for slot in moved {
            let at = boxes.binary_search_by_key(slot, |&(slot, _)| slot);
            let at = at.expect("what moved is there");
            structure.update(*slot, boxes[at].1);
        }
    }
    structure
}
