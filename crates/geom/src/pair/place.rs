//! A place in two trees at once, and what is done there: open one box, or look at two leaves.

use super::Pair;
use crate::simd::prefetch;
use crate::tree::overlap::One;
use crate::tree::{Child, Lane, Node, Tree};

/// Two lanes whose boxes may overlap, and how many box tests led there: six bits of depth, then
/// 29 bits for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(pub(crate) u64);

pub(crate) const LANE_BITS: u32 = 29;
const DEPTH_SHIFT: u32 = 2 * LANE_BITS;

/// Depths from here on are not told apart.
pub(crate) const DEPTH_END: u32 = (1 << (64 - DEPTH_SHIFT)) - 1;

impl Entry {
    pub(crate) const ROOTS: Entry = Entry(0);

    #[inline(always)]
    pub(crate) fn lanes(self) -> (Lane, Lane) {
        let mask = (1 << LANE_BITS) - 1;
        (Lane((self.0 >> LANE_BITS & mask) as u32), Lane((self.0 & mask) as u32))
    }

    #[inline(always)]
    pub(crate) fn depth(self) -> u32 {
        (self.0 >> DEPTH_SHIFT) as u32
    }

    #[inline(always)]
    pub(crate) fn new(depth: u32, a: Lane, b: Lane) -> Entry {
        Entry(u64::from(depth) << DEPTH_SHIFT | u64::from(a.0) << LANE_BITS | u64::from(b.0))
    }
}

/// A node to be tested against one box, and where its lanes go: the entry of its first lane, and
/// where the lane number stands in it.
#[derive(Clone, Copy)]
pub(crate) struct Opening<'a> {
    pub(crate) node: &'a Node,
    pub(crate) one: One,
    pub(crate) one_is_leaf: bool,
    pub(crate) first: Entry,
    pub(crate) shift: u32,
}

impl<'a> Opening<'a> {
    /// Opens the larger of the two boxes; gaps up to `reach` count as overlap.
    #[inline(always)]
    pub(crate) fn new(pair: &Pair<'a>, entry: Entry, reach: f32) -> Opening<'a> {
        let (a, b) = entry.lanes();
        let (tree_a, tree_b) = (&pair.a.tree, &pair.b.tree);
        let (child_a, child_b) = (tree_a.child(a), tree_b.child(b));
        let descend_b =
            child_a.is_leaf() || (!child_b.is_leaf() && tree_b.size(b) > tree_a.size(a));
        let depth = (entry.depth() + 1).min(DEPTH_END);
        if descend_b {
            // The other side is likely to be opened next.
            if !child_a.is_leaf() {
                prefetch(&tree_a.nodes[child_a.node_index()]);
            }
            let (turn, shift) = &pair.relative.to_b;
            let index = child_b.node_index();
            Opening {
                node: &tree_b.nodes[index],
                one: One::new(&tree_a.obb(a), turn, *shift, reach),
                one_is_leaf: child_a.is_leaf(),
                first: Entry::new(depth, a, Lane::new(index, 0)),
                shift: 0,
            }
        } else {
            if !child_b.is_leaf() {
                prefetch(&tree_b.nodes[child_b.node_index()]);
            }
            let (turn, shift) = &pair.relative.to_a;
            let index = child_a.node_index();
            Opening {
                node: &tree_a.nodes[index],
                one: One::new(&tree_b.obb(b), turn, *shift, reach),
                one_is_leaf: child_b.is_leaf(),
                first: Entry::new(depth, Lane::new(index, 0), b),
                shift: LANE_BITS,
            }
        }
    }
}

/// Two leaves, and a bound on the distance between any two of their corners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafPair {
    pub(crate) a: Child,
    pub(crate) b: Child,
    pub(crate) reach: f64,
}

impl LeafPair {
    /// Which of the pairs (a0 b0, a0 b1, a1 b0, a1 b1) exist, a bit each.
    #[inline(always)]
    pub(crate) fn used(self) -> u8 {
        match (self.a.triangles().len(), self.b.triangles().len()) {
            (2, 2) => 0b1111,
            (2, _) => 0b0101,
            (_, 2) => 0b0011,
            _ => 0b0001,
        }
    }

    /// The triangles of one of these pairs.
    #[inline(always)]
    pub(crate) fn triangles(self, bit: usize) -> (usize, usize) {
        (self.a.triangles().start + bit / 2, self.b.triangles().start + bit % 2)
    }

    /// The leaves at an entry, whose boxes are at most `gap` apart.
    #[inline(always)]
    pub(crate) fn new(pair: &Pair<'_>, entry: Entry, gap: f32) -> LeafPair {
        let (a, b) = entry.lanes();
        let (tree_a, tree_b) = (&pair.a.tree, &pair.b.tree);
        let reach = diameter(tree_a, a) + diameter(tree_b, b);
        let reach = reach + 2.0 * f64::from(pair.relative.margin + gap);
        LeafPair { a: tree_a.child(a), b: tree_b.child(b), reach }
    }
}

/// Diameter of a lane's box, rounded up: two boxes that overlap hold no two points further apart
/// than the sum of theirs.
#[inline(always)]
fn diameter(tree: &Tree, lane: Lane) -> f64 {
    let (node, lane) = lane.split();
    let half = &tree.nodes[node].half;
    2.01 * f64::from(half[0][lane] + half[1][lane] + half[2][lane])
}
