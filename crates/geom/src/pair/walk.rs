//! Tree against tree: one loop for every question of touching.

use super::Pair;
use super::leaf::LeafFilter;
use crate::simd::Isa;
use crate::tree::overlap::{One, Overlap, OverlapDepth};
use crate::tree::{Child, Lane, Tree};
use crate::triangle::triangles_touch;
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

/// Two lanes whose boxes may overlap.
#[derive(Clone, Copy, Debug)]
struct Entry {
    a: Lane,
    b: Lane,
}

/// A walk over the pairs of lanes that may touch. It can be stopped after any triangle pair and
/// goes on from there.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'a> {
    pair: Pair<'a>,
    isa: Isa,
    stack: Vec<Entry>,
    pub(crate) counters: Counters,
}

/// In which order lanes are visited.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// As they come.
    Any,
    /// The lane that overlaps deepest first: finds a contact soonest (HIERARCHY-STUDY.md 5).
    Deepest,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(pair: Pair<'a>) -> Walk<'a> {
        let mut stack = Vec::with_capacity(128);
        if !pair.a.tree.child(Lane::ROOT).is_empty() && !pair.b.tree.child(Lane::ROOT).is_empty() {
            stack.push(Entry { a: Lane::ROOT, b: Lane::ROOT });
        }
        Walk { pair, isa: Isa::best(), stack, counters: Counters::default() }
    }

    /// Visits touching triangle pairs until `visit` breaks or none are left.
    #[inline(always)]
    pub(crate) fn run(
        &mut self,
        order: Order,
        mut visit: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while let Some(Entry { a, b }) = self.stack.pop() {
            let (tree_a, tree_b) = (&self.pair.a.tree, &self.pair.b.tree);
            let (child_a, child_b) = (tree_a.child(a), tree_b.child(b));
            if child_a.is_leaf() && child_b.is_leaf() {
                self.leaves(a, b, &mut visit)?;
                continue;
            }
            let descend_b =
                child_a.is_leaf() || (!child_b.is_leaf() && tree_b.size(b) > tree_a.size(a));
            let r = &self.pair.relative;
            let (one, node, tree) = if descend_b {
                let one = One::new(&tree_a.obb(a), &r.to_b.0, r.to_b.1, r.margin);
                (one, child_b.node_index(), tree_b)
            } else {
                let one = One::new(&tree_b.obb(b), &r.to_a.0, r.to_a.1, r.margin);
                (one, child_a.node_index(), tree_a)
            };
            self.counters.box_tests += 1;
            let entry =
                |lane: Lane| if descend_b { Entry { a, b: lane } } else { Entry { a: lane, b } };
            match order {
                Order::Any => {
                    let mask = self.isa.run(Overlap(&tree.nodes[node], &one));
                    for k in lanes(mask, tree, node) {
                        self.stack.push(entry(Lane::new(node, k)));
                    }
                }
                Order::Deepest => {
                    let (mask, depth) = self.isa.run(OverlapDepth(&tree.nodes[node], &one));
                    let mut deepest = None;
                    for k in lanes(mask, tree, node) {
                        match deepest {
                            Some(d) if depth[k] >= depth[d] => {
                                self.stack.push(entry(Lane::new(node, k)));
                            }
                            other => {
                                if let Some(d) = other {
                                    self.stack.push(entry(Lane::new(node, d)));
                                }
                                deepest = Some(k);
                            }
                        }
                    }
                    if let Some(d) = deepest {
                        self.stack.push(entry(Lane::new(node, d)));
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn leaves(
        &mut self,
        a: Lane,
        b: Lane,
        visit: &mut impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (tree_a, tree_b) = (&self.pair.a.tree, &self.pair.b.tree);
        let (leaf_a, leaf_b) = (tree_a.child(a), tree_b.child(b));
        let filter = LeafFilter {
            a: self.pair.a,
            b: self.pair.b,
            relative: &self.pair.relative,
            leaf_a,
            leaf_b,
            reach: reach(tree_a, a) + reach(tree_b, b) + f64::from(self.pair.relative.margin),
        };
        let verdict = self.isa.run(filter);
        self.counters.triangle_tests +=
            (leaf_a.triangles().len() * leaf_b.triangles().len()) as u64;
        let mut rest = verdict.yes | verdict.unsure;
        while rest != 0 {
            let bit = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let (ta, tb) = (leaf_a.triangles().start + bit / 2, leaf_b.triangles().start + bit % 2);
            if verdict.yes >> bit & 1 == 0 {
                self.counters.unsure += 1;
                if !self.exact(ta, tb) {
                    continue;
                }
            }
            visit(ta, tb)?;
        }
        ControlFlow::Continue(())
    }

    #[cold]
    fn exact(&self, triangle_a: usize, triangle_b: usize) -> bool {
        triangles_touch(&self.pair.placed_a(triangle_a), &self.pair.placed_b(triangle_b))
    }
}

/// Bound on the distance of two points in a lane's box, doubled: two overlapping boxes of these
/// extents hold no two points further apart than the sum.
#[inline(always)]
fn reach(tree: &Tree, lane: Lane) -> f64 {
    let (node, lane) = lane.split();
    let half = &tree.nodes[node].half;
    2.5 * f64::from(half[0][lane] + half[1][lane] + half[2][lane])
}

#[inline(always)]
fn lanes(mask: u8, tree: &Tree, node: usize) -> impl Iterator<Item = usize> + '_ {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let k = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (k < 8).then_some(k)
    })
    .take_while(move |&k| tree.nodes[node].child[k] != Child::EMPTY)
}
