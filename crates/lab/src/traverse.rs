//! The one simultaneous traversal of two trees (Zachmann 2000, 3.5.1; row Z5).
//!
//! Two nodes are opened only if their volumes overlap, and then both at once; where one is a leaf,
//! only the other. What a volume is, how it comes into a common frame and how two are compared is
//! up to a [`Method`]; what happens to two leaves is up to the caller. Children may be empty.

mod by_tree;
mod relative;
mod schedule;

pub use by_tree::ByTree;
pub(crate) use relative::ROUNDING;
pub use relative::{Relative, reach};
pub use schedule::Schedule;

use crate::Count;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// Which of the two trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node<'a> {
    /// Nothing is below.
    Empty,
    /// These triangles of the mesh.
    Leaf(&'a [u32]),
    /// Two nodes, by number.
    Inner([u32; 2]),
}

/// Two trees of volumes and a way to compare these: all that a tree needs to be a
/// [`crate::Contender`], by way of [`ByTree`]. Node 0 is the root.
///
/// **What it promises:** if a triangle below `a` and one below `b` share a point of the world where
/// [`jostle_geom::Pose::transform_point`] puts them, then `meet` finds that these two nodes
/// overlap. Rounding may only err that way.
pub trait Method {
    /// A node's volume, as two of them are compared: in a common frame.
    type Volume: Copy;

    /// What the overlap of two nodes shows about their children; `()` if nothing.
    type Meeting: Copy;

    /// What tables call it.
    fn name(&self) -> String;

    /// What it keeps in memory for the two meshes.
    fn bytes(&self) -> usize;

    /// A new question: the second tree is there, as seen from the first.
    fn begin(&mut self, relative: &Relative, count: &mut Count);

    /// What this node is. Never asked about a node that is below an empty one or a leaf.
    fn node(&self, side: Side, node: u32) -> Node<'_>;

    /// The node's volume in the common frame. `above` is that of the node it is a child of; the
    /// root has none. Not asked for empty nodes.
    fn volume(
        &mut self,
        side: Side,
        node: u32,
        above: Option<&Self::Volume>,
        count: &mut Count,
    ) -> Self::Volume;

    /// Whether two volumes overlap. `above` is the meeting of the two nodes that were opened to
    /// get here; the roots have none.
    fn meet(
        &mut self,
        a: &Self::Volume,
        b: &Self::Volume,
        above: Option<&Self::Meeting>,
        count: &mut Count,
    ) -> Option<Self::Meeting>;
}

/// Two nodes whose volumes overlap.
struct Met<M: Method> {
    nodes: [u32; 2],
    volumes: [M::Volume; 2],
    meeting: M::Meeting,
}

/// Where the next pair of nodes is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The newest: few pairs wait, and a contact is found early.
    DepthFirst,
    /// The oldest: if the search is cut short, all parts were looked at equally deep.
    BreadthFirst,
}

/// How much a search may do, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// In which order pairs of nodes are opened.
    pub order: Order,
    /// Most pairs of nodes that are opened and pairs of triangles that are tested, together. An
    /// operation budget and not a time, so that an answer depends on the question alone.
    pub budget: u64,
}

impl Search {
    /// Without an end, newest first.
    pub const WHOLE: Search = Search { order: Order::DepthFirst, budget: u64::MAX };
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every pair of nodes that overlaps was opened.
    Complete,
    /// The leaf work said that it is enough.
    Stopped,
    /// The budget was used up: what is not known must be taken as a contact.
    CutShort,
}

/// Opens pairs of overlapping nodes down to the leaves, and hands each pair of leaves to `leaves`.
///
/// The budget is looked at between pairs of nodes, so one pair of leaves may exceed it.
pub fn traverse<M: Method>(
    method: &mut M,
    search: Search,
    count: &mut Count,
    mut leaves: impl FnMut(&[u32], &[u32], &mut Count) -> ControlFlow<()>,
) -> End {
    let mut waiting: VecDeque<Met<M>> = VecDeque::new();
    waiting.extend(roots(method, count));
    let before = spent(count);
    loop {
        let next = match search.order {
            Order::DepthFirst => waiting.pop_back(),
            Order::BreadthFirst => waiting.pop_front(),
        };
        let Some(met) = next else { return End::Complete };
        if spent(count) - before >= search.budget {
            return End::CutShort;
        }
        count.visits += 1;
        let [a, b] = met.nodes;
        match (method.node(Side::A, a), method.node(Side::B, b)) {
            (Node::Empty, _) | (_, Node::Empty) => {}
            (Node::Leaf(a), Node::Leaf(b)) => {
                if leaves(a, b, count).is_break() {
                    return End::Stopped;
                }
            }
            (Node::Inner(a), Node::Inner(b)) => open(method, &met, [&a, &b], count, &mut waiting),
            (Node::Inner(a), Node::Leaf(_)) => open(method, &met, [&a, &[b]], count, &mut waiting),
            (Node::Leaf(_), Node::Inner(b)) => open(method, &met, [&[a], &b], count, &mut waiting),
        }
    }
}

/// What a budget is of.
fn spent(count: &Count) -> u64 {
    count.visits + count.triangle_tests
}

fn roots<M: Method>(method: &mut M, count: &mut Count) -> Option<Met<M>> {
    let empty = |side| method.node(side, 0) == Node::Empty;
    if empty(Side::A) || empty(Side::B) {
        return None;
    }
    let a = method.volume(Side::A, 0, None, count);
    let b = method.volume(Side::B, 0, None, count);
    count.volume_tests += 1;
    let meeting = method.meet(&a, &b, None, count)?;
    Some(Met { nodes: [0, 0], volumes: [a, b], meeting })
}

/// The pairs below an overlapping pair, as far as they overlap. Where a node is a leaf it stands
/// for itself.
fn open<M: Method>(
    method: &mut M,
    met: &Met<M>,
    below: [&[u32]; 2],
    count: &mut Count,
    waiting: &mut VecDeque<Met<M>>,
) {
    let volumes_a = below_volumes(method, Side::A, met, below[0], count);
    let volumes_b = below_volumes(method, Side::B, met, below[1], count);
    for (&a, volume_a) in below[0].iter().zip(&volumes_a) {
        for (&b, volume_b) in below[1].iter().zip(&volumes_b) {
            let (Some(volume_a), Some(volume_b)) = (volume_a, volume_b) else { continue };
            count.volume_tests += 1;
            if let Some(meeting) = method.meet(volume_a, volume_b, Some(&met.meeting), count) {
                waiting.push_back(Met { nodes: [a, b], volumes: [*volume_a, *volume_b], meeting });
            }
        }
    }
}

fn below_volumes<M: Method>(
    method: &mut M,
    side: Side,
    met: &Met<M>,
    below: &[u32],
    count: &mut Count,
) -> [Option<M::Volume>; 2] {
    let above = met.volumes[side as usize];
    let mut volumes = [None; 2];
    for (volume, &node) in volumes.iter_mut().zip(below) {
        *volume = if node == met.nodes[side as usize] {
            Some(above)
        } else if method.node(side, node) == Node::Empty {
            None
        } else {
            Some(method.volume(side, node, Some(&above), count))
        };
    }
    volumes
}
