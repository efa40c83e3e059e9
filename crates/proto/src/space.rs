//! Who owns which part of space: a tree of cuts along the axes, with one node at each leaf.

use crate::object::NodeId;
use crate::state::Block;
use serde::{Deserialize, Serialize};

/// A tree of cuts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tree {
    /// All of it belongs to one node.
    Leaf(NodeId),
    /// Below `at` on this axis the first, from there on the second.
    Cut(u8, i32, Box<Tree>, Box<Tree>),
}

impl Tree {
    /// Cuts a box in equal parts, one for each node.
    #[must_use]
    pub fn among(nodes: &[NodeId], block: Block) -> Tree {
        match nodes {
            [] => Tree::Leaf(NodeId(0)),
            [one] => Tree::Leaf(*one),
            _ => {
                let (low, high) = nodes.split_at(nodes.len() / 2);
                let size = |axis: usize| i64::from(block.max[axis]) - i64::from(block.min[axis]);
                let axis = [0, 1, 2].into_iter().max_by_key(|&axis| (size(axis), 2 - axis));
                let axis = axis.unwrap_or(0);
                let part = size(axis) * low.len() as i64 / nodes.len() as i64;
                let at = (i64::from(block.min[axis]) + part) as i32;
                let (mut below, mut above) = (block, block);
                below.max[axis] = at;
                above.min[axis] = at;
                Tree::Cut(
                    axis as u8,
                    at,
                    Box::new(Tree::among(low, below)),
                    Box::new(Tree::among(high, above)),
                )
            }
        }
    }

    /// The node that owns a point.
    #[must_use]
    pub fn owner_at(&self, point: [i32; 3]) -> NodeId {
        match self {
            Tree::Leaf(node) => *node,
            Tree::Cut(axis, at, below, above) => {
                let along = point[usize::from(*axis).min(2)];
                if along < *at { below.owner_at(point) } else { above.owner_at(point) }
            }
        }
    }

    /// The nodes whose regions a block meets, sorted.
    #[must_use]
    pub fn owners_meeting(&self, block: &Block) -> Vec<NodeId> {
        let mut owners = Vec::new();
        self.collect(block, &mut owners);
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// All nodes that own something, sorted.
    #[must_use]
    pub fn owners(&self) -> Vec<NodeId> {
        self.owners_meeting(&Block { min: [i32::MIN; 3], max: [i32::MAX; 3] })
    }

    fn collect(&self, block: &Block, owners: &mut Vec<NodeId>) {
        match self {
            Tree::Leaf(node) => owners.push(*node),
            Tree::Cut(axis, at, below, above) => {
                let axis = usize::from(*axis).min(2);
                if block.min[axis] < *at {
                    below.collect(block, owners);
                }
                if block.max[axis] >= *at {
                    above.collect(block, owners);
                }
            }
        }
    }
}
