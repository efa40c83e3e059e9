//! The smallest distance: best first.
//!
//! Pairs of boxes that overlap are followed depth first, the deepest on top; pairs with a gap wait
//! in a heap, the smallest gap first. What is further than the best distance found is never
//! opened (a prototype needed three to four times more tests depth first).

use super::Distance;
use super::leaf::LeafFilter;
use super::models::ModelPair;
use super::node_pair::{Expansion, LeafPair, NodePair};
use super::walk::Counters;
use super::within::SquaredDistances;
use crate::simd::{Isa, Kernel, Simd};
use crate::tree::Lane;
use crate::tree::overlap::Gaps;
use crate::triangle;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Ranks found by the fast kernel are within this factor of the truth: about 50 roundings of
/// 2^-53, and the error of the points is added apart.
const RANK_SLACK: f64 = 1.0 + 1e-12;

/// A search for the smallest distance of two surfaces. It can be paused and goes on from there.
/// Made by [`crate::Pair::search_distance`].
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Model, Pair, Pose, Quality, solids};
///
/// let ball = Model::build(solids::sphere(1.0, 0.001)?, Quality::Default);
/// let beside = Pose::from_translation(DVec3::new(3.0, 0.0, 0.0))?;
/// let pair = Pair::new(&ball, &Pose::IDENTITY, &ball, &beside);
/// let mut search = pair.search_distance().ok_or("spheres have no search")?;
/// while !search.run(10) {
///     assert!(search.lower_bound() <= 1.01); // a bound that grows with every run
/// }
/// assert!(search.found().is_some_and(|found| found.distance >= 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DistanceSearch<'a> {
    pair: ModelPair<'a>,
    isa: Isa,
    counters: Counters,
    /// Pairs whose boxes overlap, the most promising last.
    overlapping: Vec<NodePair>,
    /// Pairs with a gap: the bits of a positive `f32` (which order like the number), then the
    /// place in `waiting`. One number, so that the heap compares fast.
    apart: BinaryHeap<Reverse<u64>>,
    waiting: Vec<NodePair>,
    /// The closest of the newest, kept out of the heap: often it is the next.
    held: Option<u64>,
    /// Nothing further than this is of interest.
    limit: f64,
    /// The closest triangles so far.
    best: Option<(usize, usize)>,
    touching: bool,
    /// The surfaces are known not to touch.
    known_apart: bool,
}

impl<'a> DistanceSearch<'a> {
    pub(crate) fn new(pair: ModelPair<'a>) -> DistanceSearch<'a> {
        let (a, b) = (pair.a.tree.child(Lane::ROOT), pair.b.tree.child(Lane::ROOT));
        let mut overlapping = Vec::with_capacity(64);
        if !a.is_empty() && !b.is_empty() {
            overlapping.push(NodePair::ROOTS);
        }
        DistanceSearch {
            pair,
            isa: Isa::best(),
            counters: Counters::default(),
            overlapping,
            apart: BinaryHeap::with_capacity(256),
            waiting: Vec::with_capacity(256),
            held: None,
            limit: f64::INFINITY,
            best: None,
            touching: false,
            known_apart: false,
        }
    }

    /// For surfaces that are known not to touch: saves looking for contacts.
    pub(crate) fn known_apart(mut self) -> DistanceSearch<'a> {
        self.known_apart = true;
        self
    }

    /// Goes on for at most this many operations (a box against eight, or a pair of leaves); true
    /// when finished.
    pub fn run(&mut self, operations: u64) -> bool {
        let isa = self.isa;
        isa.run(Run { search: self, budget: operations })
    }

    /// The closest found so far; when finished, the smallest distance.
    #[must_use]
    pub fn found(&self) -> Option<Distance> {
        let (a, b) = self.best?;
        let pair = &self.pair;
        let closest = triangle::distance(&pair.triangle_a(a), &pair.triangle_b(b));
        Some(Distance {
            distance: closest.distance,
            point_a: closest.on_a,
            point_b: closest.on_b,
            faces: pair.faces(a, b),
        })
    }

    /// What it cost so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// No two points are closer than this.
    #[must_use]
    pub fn lower_bound(&self) -> f64 {
        if self.touching || !self.overlapping.is_empty() {
            return 0.0;
        }
        let closest = self.held.into_iter().chain(self.apart.peek().map(|Reverse(key)| *key));
        let open = closest.map(gap_of).fold(f64::INFINITY, f64::min);
        let error = 2.0 * self.pair.relative.point_error;
        open.min(self.limit / RANK_SLACK - error).max(0.0)
    }
}

impl DistanceSearch<'_> {
    /// Takes a new pair with a gap.
    #[inline(always)]
    fn hold(&mut self, key: u64) {
        match self.held {
            None => self.held = Some(key),
            Some(held) if key < held => {
                self.apart.push(Reverse(held));
                self.held = Some(key);
            }
            Some(_) => self.apart.push(Reverse(key)),
        }
    }

    /// Takes out the pair with the smallest gap.
    #[inline(always)]
    fn closest(&mut self) -> Option<u64> {
        let Some(held) = self.held.take() else {
            return self.apart.pop().map(|Reverse(key)| key);
        };
        match self.apart.peek_mut() {
            Some(mut top) if top.0 < held => {
                let Reverse(key) = std::mem::replace(&mut *top, Reverse(held));
                Some(key)
            }
            _ => Some(held),
        }
    }
}

/// A `f32` that is not below the limit.
fn limit_above(limit: f64) -> f32 {
    (limit as f32).next_up()
}

/// The gap in a key of the heap.
fn gap_of(key: u64) -> f64 {
    f64::from(f32::from_bits((key >> 32) as u32))
}

struct Run<'w, 'a> {
    search: &'w mut DistanceSearch<'a>,
    budget: u64,
}

impl Kernel for Run<'_, '_> {
    type Out = bool;

    #[inline(always)]
    fn run<S: Simd>(mut self) -> bool {
        loop {
            if self.search.touching {
                return true;
            }
            if self.budget == 0 {
                return self.search.overlapping.is_empty()
                    && self.search.held.is_none()
                    && self.search.apart.is_empty();
            }
            // Boxes inside are no closer than the boxes around them.
            let mut floor = f32::NEG_INFINITY;
            let node_pair = if let Some(node_pair) = self.search.overlapping.pop() {
                node_pair
            } else {
                let Some(key) = self.search.closest() else { return true };
                if gap_of(key) >= self.search.limit {
                    self.search.apart.clear();
                    return true;
                }
                floor = gap_of(key) as f32;
                self.search.waiting[key as u32 as usize]
            };
            self.budget -= 1;
            let (a, b) = node_pair.lanes();
            let (a, b) = (self.search.pair.a.tree.child(a), self.search.pair.b.tree.child(b));
            if a.is_leaf() && b.is_leaf() {
                self.leaves::<S>(node_pair, floor > 0.0);
            } else {
                self.expand::<S>(node_pair, floor);
            }
        }
    }
}

impl Run<'_, '_> {
    #[inline(always)]
    fn expand<S: Simd>(&mut self, node_pair: NodePair, floor: f32) {
        let search = &mut *self.search;
        let pair = &search.pair;
        let expansion = Expansion::new(pair, node_pair, 0.0);
        search.counters.box_tests += 1;
        let limit = limit_above(search.limit);
        let (gaps, mut rest) =
            Gaps { node: expansion.node, query: &expansion.query, limit }.run::<S>();
        let mut deepest = (f32::INFINITY, usize::MAX);
        while rest != 0 {
            let k = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let node_pair = NodePair(expansion.first.0 + ((k as u64) << expansion.shift));
            let gap = if gaps[k] > floor { gaps[k] } else { floor };
            if gap > 0.0 {
                let key = u64::from(gap.to_bits()) << 32 | search.waiting.len() as u64;
                search.waiting.push(node_pair);
                search.hold(key);
            } else {
                if gap < deepest.0 {
                    deepest = (gap, search.overlapping.len());
                }
                search.overlapping.push(node_pair);
            }
        }
        if deepest.1 < search.overlapping.len() {
            let last = search.overlapping.len() - 1;
            search.overlapping.swap(deepest.1, last);
        }
    }

    #[inline(always)]
    fn leaves<S: Simd>(&mut self, node_pair: NodePair, apart: bool) {
        let search = &mut *self.search;
        let pair = &search.pair;
        // The gap matters to the filter only, and boxes with a gap need no filter: they hold no
        // triangles that touch.
        let leaves = LeafPair::new(pair, node_pair, 0.0);
        search.counters.triangle_tests += u64::from(leaves.used().count_ones());
        if !apart && !search.known_apart {
            let verdict = LeafFilter { pair, leaves }.run::<S>();
            for bit in 0..4 {
                let (a, b) = leaves.triangles(bit);
                let mut touching = verdict.yes >> bit & 1 == 1;
                if verdict.unsure >> bit & 1 == 1 {
                    search.counters.unsure += 1;
                    touching = pair.triangles_touch(a, b);
                }
                if touching {
                    search.touching = true;
                    search.best = Some((a, b));
                    search.limit = 0.0;
                    return;
                }
            }
        }
        let squared = SquaredDistances { pair, leaves }.run::<S>();
        for (bit, squared) in squared.into_iter().enumerate() {
            if leaves.used() >> bit & 1 == 0 {
                continue;
            }
            let rank = squared.sqrt();
            if rank < search.limit {
                search.limit = rank;
                search.best = Some(leaves.triangles(bit));
            }
        }
    }
}
