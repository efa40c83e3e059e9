//! A place in two trees at once, and what is done there: open one box, or look at two leaves.

use super::models::ModelPair;
use crate::simd::prefetch;
use crate::tree::overlap::QueryObb;
use crate::tree::{Child, Lane, Node, Tree};

/// Two lanes whose boxes may overlap, and how many box tests led there: six bits of depth, then
/// 29 bits for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodePair(pub(crate) u64);

pub(crate) const LANE_BITS: u32 = 29;
const DEPTH_SHIFT: u32 = 2 * LANE_BITS;

const _: () = assert!(crate::Mesh::TRIANGLES_MAX * crate::tree::WIDTH <= 1 << LANE_BITS);

/// Depths from here on are counted as this one.
pub(crate) const DEPTH_END: u32 = (1 << (64 - DEPTH_SHIFT)) - 1;

impl NodePair {
    pub(crate) const ROOTS: NodePair = NodePair(0);

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
    pub(crate) fn new(depth: u32, a: Lane, b: Lane) -> NodePair {
        NodePair(u64::from(depth) << DEPTH_SHIFT | u64::from(a.0) << LANE_BITS | u64::from(b.0))
    }
}

/// A node to be tested against one box, and where its lanes go: the pair with its first lane, and
/// where the lane number stands in it.
#[derive(Clone, Copy)]
pub(crate) struct Expansion<'a> {
    pub(crate) node: &'a Node,
    pub(crate) query: QueryObb,
    pub(crate) query_is_leaf: bool,
    pub(crate) first: NodePair,
    pub(crate) shift: u32,
}

impl<'a> Expansion<'a> {
    /// Opens the larger of the two boxes; gaps up to `gap` count as overlap.
    #[inline(always)]
    pub(crate) fn new(pair: &ModelPair<'a>, node_pair: NodePair, gap: f32) -> Expansion<'a> {
        // Both sides through the same code, chosen by index: which side is opened is hard to
        // predict, so a branch would cost more than the loads.
        let trees = [&pair.a.tree, &pair.b.tree];
        let (a, b) = node_pair.lanes();
        let lanes = [a, b];
        let children = [trees[0].child(a), trees[1].child(b)];
        let larger_b = !children[1].is_leaf() & (trees[1].size(b) > trees[0].size(a));
        let opened = usize::from(children[0].is_leaf() | larger_b);
        let other = 1 - opened;
        // The other side is likely to be opened next.
        let next = if children[other].is_leaf() { 0 } else { children[other].node_index() };
        prefetch(&trees[other].nodes[next]);
        let (turn, shift) = &pair.relative.into[opened];
        let (mut shift, mut margin) = (*shift, pair.relative.margin);
        let index = children[opened].node_index();
        if pair.relative.framed {
            let (own, others) = (trees[opened].frame(index), trees[other].frame_of(lanes[other]));
            let frames = if opened == 0 { (own, others) } else { (others, own) };
            let between = pair.relative.between(frames.0, frames.1);
            (shift, margin) = (between.shift[opened], between.margin);
        }
        let first = [Lane::new(index, 0), lanes[other]];
        let depth = (node_pair.depth() + 1).min(DEPTH_END);
        Expansion {
            node: &trees[opened].nodes[index],
            query: QueryObb::new(&trees[other].obb(lanes[other]), turn, shift, margin + gap),
            query_is_leaf: children[other].is_leaf(),
            first: NodePair::new(depth, first[opened], first[other]),
            shift: if opened == 0 { LANE_BITS } else { 0 },
        }
    }
}

/// Two leaves, and a bound on the distance between any two of their corners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafPair {
    pub(crate) a: Child,
    pub(crate) b: Child,
    pub(crate) reach: f64,
    /// As [`Relative::point_error`](super::relative::Relative), for these leaves.
    pub(crate) point_error: f64,
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

    /// The leaves of a pair of lanes whose boxes are at most `gap` apart.
    #[inline(always)]
    pub(crate) fn new(pair: &ModelPair<'_>, node_pair: NodePair, gap: f32) -> LeafPair {
        let (a, b) = node_pair.lanes();
        let (tree_a, tree_b) = (&pair.a.tree, &pair.b.tree);
        let (mut margin, mut point_error) = (pair.relative.margin, pair.relative.point_error);
        if pair.relative.framed {
            let between = pair.relative.between(tree_a.frame_of(a), tree_b.frame_of(b));
            (margin, point_error) = (between.margin, between.point_error);
        }
        let reach = diameter(tree_a, a) + diameter(tree_b, b);
        let reach = reach + 2.0 * f64::from(margin + gap);
        LeafPair { a: tree_a.child(a), b: tree_b.child(b), reach, point_error }
    }
}

/// Bound on the diameter of a lane's box as a multiple of the sum of its half extents.
///
/// A point of the box is centre + Σ aₖ·dualₖ with |aₖ| ≤ halfₖ, and the dual of an axis is longer
/// than 1 by less than 2^-11 (`AXIS_SLACK` in `posed_model.rs`), so two points are at most
/// 2·(1 + 2^-11)·Σ halfₖ apart. The sum in `f32` loses at most 2·2^-24 of itself. Together below
/// 2.001; the rest is room.
const DIAMETER: f64 = 2.01;

/// Diameter of a lane's box, rounded up: two boxes that overlap hold no two points further apart
/// than the sum of theirs.
#[inline(always)]
fn diameter(tree: &Tree, lane: Lane) -> f64 {
    let (node, lane) = lane.split();
    let half = &tree.nodes[node].half;
    DIAMETER * f64::from(half[0][lane] + half[1][lane] + half[2][lane])
}
