//! Who is responsible for which part of the world, and who reports a pair.
//!
//! The world is cut in two again and again along planes; every machine owns one sub-tree of that
//! [`Tree`] (Storey 2006, 4.3.1.3). Regions include their lower faces and exclude their upper ones,
//! so that a point is in exactly one leaf. A pair of objects is known to every machine with a
//! region that it meets, and reported by the one that owns one point of it.

mod adapt;
mod share;
mod tree;

pub use adapt::Splits;
pub use tree::{Knot, NODES_MAX, Tree, TreeError, VERTICES_MAX, VertexId};

use crate::state::Block;

/// A part of the world: `min` belongs to it, `max` does not. In 64 bits because the world ends one
/// beyond the largest number of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region {
    /// The lowest corner.
    pub min: [i64; 3],
    /// One beyond the highest corner.
    pub max: [i64; 3],
}

impl Region {
    /// Every point there is.
    pub const WORLD: Region = Region { min: [i32::MIN as i64; 3], max: [i32::MAX as i64 + 1; 3] };

    /// Is the point in it?
    #[must_use]
    pub fn contains(&self, point: [i32; 3]) -> bool {
        (0..3).all(|axis| (self.min[axis]..self.max[axis]).contains(&i64::from(point[axis])))
    }

    /// Do they share a point?
    #[must_use]
    pub fn meets(&self, block: &Block) -> bool {
        (0..3).all(|axis| {
            i64::from(block.min[axis]) < self.max[axis]
                && self.min[axis] <= i64::from(block.max[axis])
        })
    }

    /// Is all of the block in it?
    #[must_use]
    pub fn holds(&self, block: &Block) -> bool {
        self.contains(block.min) && self.contains(block.max)
    }

    /// How many points there are between its sides along an axis.
    pub(crate) fn side(&self, axis: usize) -> i64 {
        self.max[axis] - self.min[axis]
    }

    /// The part below a cut and the part that begins with it.
    pub(crate) fn cut(&self, axis: usize, at: i32) -> [Region; 2] {
        let (mut below, mut above) = (*self, *self);
        below.max[axis] = i64::from(at);
        above.min[axis] = i64::from(at);
        [below, above]
    }
}

/// Which point of a pair decides who reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// [`Block::reference_point`]: is in both blocks, so its owner knows both.
    ReferencePoint,
    /// Between the centres (Storey 2006, 3.2.2.1 and 4.3.2.2). Loses pairs of unequal size, see
    /// [`reports`]; for laboratories only.
    Midpoint,
}

/// The point whose owner reports the pair.
///
/// With the thesis' rule these two, which overlap, are not reported; the border is at 5:
///
/// ```
/// use jostle_proto::{Block, NodeId, Rule, Tree, reports};
///
/// let large = Block { min: [-8000; 3], max: [8000; 3] };
/// let small = Block { min: [7500, -1000, -1000], max: [9500, 1000, 1000] };
/// let border = [[4999, 0, 0], [5001, 0, 0]];
/// let tree = Tree::shared_among(&[NodeId(1), NodeId(2)], &border)?;
/// let knows_both = |node| {
///     [large, small].iter().all(|block| tree.owners_meeting(block).any(|owner| owner == node))
/// };
/// assert!(large.meets(&small) && knows_both(NodeId(2)) && !knows_both(NodeId(1)));
/// assert_eq!(tree.owner_of(reports(&large, &small, Rule::Midpoint)), NodeId(1));
/// assert_eq!(tree.owner_of(reports(&large, &small, Rule::ReferencePoint)), NodeId(2));
/// # Ok::<(), jostle_proto::TreeError>(())
/// ```
#[must_use]
pub fn reports(a: &Block, b: &Block, rule: Rule) -> [i32; 3] {
    match rule {
        Rule::ReferencePoint => a.reference_point(b),
        Rule::Midpoint => [0, 1, 2].map(|axis: usize| {
            let corners = [a.min[axis], a.max[axis], b.min[axis], b.max[axis]];
            let middle = corners.into_iter().map(i64::from).sum::<i64>().div_euclid(4);
            i32::try_from(middle).unwrap_or(0)
        }),
    }
}

/// Is an object that reaches so far from its position ([`crate::Solid::reach`]) so large that every
/// machine is to know it? The ghosts of others then need to reach only `largest` beyond a border.
#[must_use]
pub fn is_wide(reach: i32, largest: i32) -> bool {
    reach > largest
}
