//! Tree against tree: one loop for every yes/no question, with pluggable work at the leaves
//! (Zachmann 2000, section 3.4: "simultaneous traversal").
//!
//! Two lists: places where two boxes may overlap, and pairs of leaves that wait for their
//! triangle test. Leaves are kept apart so that each loop does one kind of work. Two box tests at a
//! time took some 7 % off all-pairs queries; the two lists alone gained nothing measurable.

use super::large_leaf;
use super::leaf::LeafFilter;
use super::models::ModelPair;
use super::node_pair::{DEPTH_END, Expansion, LeafPair, NodePair};
use crate::simd::{Isa, Kernel, Simd};
use crate::tree::Lane;
use crate::tree::overlap::{Overlap, OverlapDepth};
use std::ops::ControlFlow;

/// What a query cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Tests of one box against the up to eight boxes of a node.
    pub box_tests: u64,
    /// Pairs of triangles looked at.
    pub triangle_tests: u64,
    /// Pairs that the filter could not decide, so that exact arithmetic did.
    pub unsure: u64,
}

/// A stack that takes up to eight entries at a time, chosen by a mask, without a branch. Small
/// ones need no memory from the heap.
#[derive(Clone, Debug)]
struct List<const INLINE: usize> {
    inline: [NodePair; INLINE],
    /// Takes over when `inline` is full; empty until then.
    spilled: Vec<NodePair>,
    len: usize,
}

/// `LANES[mask]` lists the set bits of `mask`, in order.
static LANES: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if mask >> bit & 1 == 1 {
                table[mask][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        mask += 1;
    }
    table
};

impl<const INLINE: usize> List<INLINE> {
    fn new() -> Self {
        List { inline: [NodePair::ROOTS; INLINE], spilled: Vec::new(), len: 0 }
    }

    #[inline(always)]
    fn slots(&mut self) -> &mut [NodePair] {
        if self.spilled.is_empty() { &mut self.inline } else { &mut self.spilled }
    }

    #[inline(always)]
    fn push(&mut self, node_pair: NodePair) {
        self.push_lanes(1, node_pair, 0);
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<NodePair> {
        let last = self.len.checked_sub(1)?;
        self.len = last;
        Some(self.slots()[last])
    }

    /// Appends `first` with each set bit of `mask` added at `shift`.
    #[inline(always)]
    fn push_lanes(&mut self, mask: u8, first: NodePair, shift: u32) {
        let len = self.len;
        if len + 8 > self.slots().len() {
            self.grow();
        }
        let lanes = &LANES[usize::from(mask)];
        let slots = &mut self.slots()[len..len + 8];
        for k in 0..8 {
            slots[k] = NodePair(first.0 + (u64::from(lanes[k]) << shift));
        }
        self.len += mask.count_ones() as usize;
    }

    #[cold]
    fn grow(&mut self) {
        let mut more = self.slots().to_vec();
        more.resize(2 * more.len(), NodePair::ROOTS);
        self.spilled = more;
    }
}

/// How many pairs of leaves wait, at least, before their triangles are looked at.
const LEAVES_AT_ONCE: usize = 24;

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The work at a leaf said stop.
    Stopped,
    /// Everything was visited.
    Finished,
    /// The budget is used up; the walk can go on.
    Paused,
}

/// In which order lanes are visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As they come.
    Any,
    /// The lane that overlaps deepest first: finds a contact soonest.
    Deepest,
}

/// What is done with two leaves whose boxes may overlap.
pub(crate) trait LeafWork {
    /// Looks at the triangles of two leaves; breaks to stop the walk.
    fn leaves<S: Simd>(
        &mut self,
        pair: &ModelPair<'_>,
        counters: &mut Counters,
        leaves: LeafPair,
    ) -> ControlFlow<()>;
}

/// A walk over the pairs of lanes that may touch. It can be paused after any test and goes on
/// from there.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    pub(crate) counters: Counters,
    /// Whether boxes at the depth limit overlapped, so that the answer may be yes.
    pub(crate) cut_short: bool,
    isa: Isa,
    order: Order,
    /// Gaps up to this count as overlap.
    gap: f32,
    depth_max: u32,
    boxes: List<64>,
    leaves: List<{ LEAVES_AT_ONCE + 16 }>,
}

impl Walk {
    /// A walk over everything closer than `gap`.
    #[inline(always)]
    pub(crate) fn new(pair: &ModelPair<'_>, order: Order, gap: f32) -> Walk {
        let (mut boxes, mut leaves) = (List::new(), List::new());
        let (a, b) = (pair.a.tree.child(Lane::ROOT), pair.b.tree.child(Lane::ROOT));
        if a.is_empty() || b.is_empty() {
            // Nothing touches nothing.
        } else if a.is_leaf() && b.is_leaf() {
            leaves.push(NodePair::ROOTS);
        } else {
            boxes.push(NodePair::ROOTS);
        }
        Walk {
            counters: Counters::default(),
            cut_short: false,
            isa: Isa::best(),
            order,
            gap,
            depth_max: DEPTH_END,
            boxes,
            leaves,
        }
    }

    /// Looks no deeper than this many box tests.
    pub(crate) fn with_depth_max(mut self, depth_max: u32) -> Walk {
        self.depth_max = depth_max.min(DEPTH_END);
        self
    }

    /// Walks on until done, stopped, or after `budget` box and leaf tests; always over the pair
    /// that it was made for.
    pub(crate) fn run(
        &mut self,
        pair: &ModelPair<'_>,
        budget: u64,
        work: &mut impl LeafWork,
    ) -> End {
        let isa = self.isa;
        isa.run(Run { walk: self, pair, budget, work })
    }
}

/// The loop as a kernel: compiled as a whole for the instruction set, so that box and triangle
/// tests need no call.
struct Run<'w, 'a, W> {
    walk: &'w mut Walk,
    pair: &'w ModelPair<'a>,
    budget: u64,
    work: &'w mut W,
}

impl<W: LeafWork> Kernel for Run<'_, '_, W> {
    type Out = End;

    #[inline(always)]
    fn run<S: Simd>(mut self) -> End {
        loop {
            match self.walk.order {
                Order::Any => {
                    while self.walk.leaves.len < LEAVES_AT_ONCE && self.budget > 0 {
                        let Some(first) = self.walk.boxes.pop() else { break };
                        self.budget -= 1;
                        let unlimited = self.walk.depth_max == DEPTH_END;
                        let second = if unlimited { self.walk.boxes.pop() } else { None };
                        if let Some(second) = second {
                            self.budget = self.budget.saturating_sub(1);
                            self.expand_two::<S>(first, second);
                        } else {
                            self.expand::<S>(first);
                        }
                    }
                }
                Order::Deepest => {
                    while self.walk.leaves.len == 0 && self.budget > 0 {
                        let Some(node_pair) = self.walk.boxes.pop() else { break };
                        self.budget -= 1;
                        self.expand_deepest::<S>(node_pair);
                    }
                }
            }
            if self.budget == 0 {
                return End::Paused;
            }
            if self.walk.leaves.len == 0 {
                return End::Finished;
            }
            while let Some(node_pair) = self.walk.leaves.pop() {
                if self.budget == 0 {
                    self.walk.leaves.len += 1;
                    return End::Paused;
                }
                self.budget -= 1;
                if self.leaves::<S>(node_pair).is_break() {
                    return End::Stopped;
                }
            }
        }
    }
}

impl<'a, W: LeafWork> Run<'_, 'a, W> {
    /// The larger of two boxes is to be opened; `None` at the depth limit.
    #[inline(always)]
    fn prepare(&mut self, node_pair: NodePair) -> Option<Expansion<'a>> {
        if node_pair.depth() >= self.walk.depth_max && self.walk.depth_max < DEPTH_END {
            self.walk.cut_short = true;
            return None;
        }
        self.walk.counters.box_tests += 1;
        if self.pair.relative.framed && large_leaf::is_far(self.pair, node_pair, self.walk.gap) {
            return None;
        }
        Some(Expansion::new(self.pair, node_pair, self.walk.gap))
    }

    /// Keeps the lanes of `mask`: leaf against leaf waits for its triangle test.
    #[inline(always)]
    fn keep<S: Simd>(&mut self, expansion: &Expansion<'_>, mask: u8) -> u8 {
        let mut boxes = mask;
        if expansion.query_is_leaf {
            let leaf = expansion.node.leaf_lanes::<S>();
            self.walk.leaves.push_lanes(mask & leaf, expansion.first, expansion.shift);
            boxes &= !leaf;
        }
        self.walk.boxes.push_lanes(boxes, expansion.first, expansion.shift);
        boxes
    }

    #[inline(always)]
    fn expand<S: Simd>(&mut self, node_pair: NodePair) {
        let Some(expansion) = self.prepare(node_pair) else { return };
        let mask = Overlap(expansion.node, &expansion.query).run::<S>();
        self.keep::<S>(&expansion, mask);
    }

    /// Opens two places at once, where there is no depth limit: their box tests do not wait for
    /// each other.
    #[inline(always)]
    fn expand_two<S: Simd>(&mut self, first: NodePair, second: NodePair) {
        let (one, two) = match (self.prepare(first), self.prepare(second)) {
            (Some(one), Some(two)) => (one, two),
            (None, None) => return,
            (Some(only), None) | (None, Some(only)) => {
                let mask = Overlap(only.node, &only.query).run::<S>();
                self.keep::<S>(&only, mask);
                return;
            }
        };
        let mask_one = Overlap(one.node, &one.query).run::<S>();
        let mask_two = Overlap(two.node, &two.query).run::<S>();
        self.keep::<S>(&one, mask_one);
        self.keep::<S>(&two, mask_two);
    }

    /// Opens a place and leaves the lane that overlaps deepest on top.
    #[inline(always)]
    fn expand_deepest<S: Simd>(&mut self, node_pair: NodePair) {
        let Some(expansion) = self.prepare(node_pair) else { return };
        let (mask, depth) = OverlapDepth(expansion.node, &expansion.query).run::<S>();
        let mask = self.keep::<S>(&expansion, mask);
        let count = mask.count_ones() as usize;
        if count > 1 {
            let lanes = &LANES[usize::from(mask)];
            let mut deepest = 0;
            for rank in 1..count {
                if depth[lanes[rank] as usize] < depth[lanes[deepest] as usize] {
                    deepest = rank;
                }
            }
            let end = self.walk.boxes.len;
            self.walk.boxes.slots().swap(end - count + deepest, end - 1);
        }
    }

    #[inline(always)]
    fn leaves<S: Simd>(&mut self, node_pair: NodePair) -> ControlFlow<()> {
        let leaves = LeafPair::new(self.pair, node_pair, self.walk.gap);
        self.work.leaves::<S>(self.pair, &mut self.walk.counters, leaves)
    }
}

/// Touching triangle pairs, each given to `visit`.
pub(crate) struct Touching<V>(pub(crate) V);

impl<V: FnMut(usize, usize) -> ControlFlow<()>> LeafWork for Touching<V> {
    #[inline(always)]
    fn leaves<S: Simd>(
        &mut self,
        pair: &ModelPair<'_>,
        counters: &mut Counters,
        leaves: LeafPair,
    ) -> ControlFlow<()> {
        let verdict = LeafFilter { pair, leaves }.run::<S>();
        counters.triangle_tests += u64::from(leaves.used().count_ones());
        let mut rest = verdict.yes | verdict.unsure;
        while rest != 0 {
            let bit = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let (a, b) = leaves.triangles(bit);
            if verdict.yes >> bit & 1 == 0 {
                counters.unsure += 1;
                if !pair.triangles_touch(a, b) {
                    continue;
                }
            }
            (self.0)(a, b)?;
        }
        ControlFlow::Continue(())
    }
}
