//! BoxTrees (Zachmann 2000, 3.5.4 to 3.5.7): boxes along the axes of the object, where a child is
//! its father with one side moved.
//!
//! So a node needs no box: an axis, two cuts and two children are enough, 16 bytes. The box of a
//! node follows from the cuts above it. Leaves are no nodes; they are named in the slot of a child.

mod build;
mod clip;
mod criteria;
mod realign;

pub use clip::ClippedBoxTrees;
pub use criteria::{CriterionRow, boxtree_criteria};
pub use realign::RealignedBoxTrees;

use crate::frames::Bounds;
use jostle_geom::Mesh;

/// Which axis is the best to split along: the penalty functions of Zachmann 2000, 3.5.7, with his
/// numbers. 12 and 14 are not defined there.
///
/// For an axis, "overlap" is how far the low half reaches into the high half (negative if there is
/// a gap), "extent" is of the tight box of the polygons unless it says "node".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// 1: least overlap minus extent. Zachmann's best.
    #[default]
    OverlapMinusExtent,
    /// 2: least volume of the overlap (counted negative for a gap).
    OverlapVolume,
    /// 3: least overlap relative to the extent.
    OverlapPerExtent,
    /// 4: largest extent.
    LongestSide,
    /// 5: counts of polygons most alike.
    Balance,
    /// 6: least overlap.
    Overlap,
    /// 7: balance, then overlap minus extent.
    BalanceThenOverlap,
    /// 8: balance, then largest extent.
    BalanceThenLongest,
    /// 9: as 8, with the extent of the node.
    BalanceThenLongestNode,
    /// 10: as 7, with the extent of the node.
    BalanceThenOverlapNode,
    /// 11: the axes in turn. A control.
    InTurn,
    /// 13: most overlap. Zachmann's worst.
    MostOverlap,
}

impl Criterion {
    /// All, in Zachmann's order.
    pub const ALL: [Criterion; 12] = [
        Criterion::OverlapMinusExtent,
        Criterion::OverlapVolume,
        Criterion::OverlapPerExtent,
        Criterion::LongestSide,
        Criterion::Balance,
        Criterion::Overlap,
        Criterion::BalanceThenOverlap,
        Criterion::BalanceThenLongest,
        Criterion::BalanceThenLongestNode,
        Criterion::BalanceThenOverlapNode,
        Criterion::InTurn,
        Criterion::MostOverlap,
    ];

    /// Zachmann's number.
    #[must_use]
    pub fn number(self) -> u32 {
        let place = Criterion::ALL.iter().position(|&criterion| criterion == self);
        let place = place.map_or(0, |place| place as u32 + 1);
        if place == 12 { 13 } else { place }
    }
}

/// How a BoxTree is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxTreeSettings {
    /// How the axis of a split is chosen.
    pub criterion: Criterion,
    /// An empty part at one side of a box is split off if it is more than this share of the box.
    /// 1 or more: never.
    pub empty_share: f64,
    /// Half the thickness of cutting planes, as a share of the longest side of the root: who
    /// reaches over a plane by less is still on its side.
    pub thickness: f64,
}

impl Default for BoxTreeSettings {
    /// Criterion 1, and the empty share that `jostle lab boxtree` finds best of 0.05 to 1 (the
    /// optimum is flat below 0.2); a thickness above the rounding of `f32`.
    fn default() -> BoxTreeSettings {
        BoxTreeSettings {
            criterion: Criterion::OverlapMinusExtent,
            empty_share: 0.1,
            thickness: 1e-6,
        }
    }
}

/// How the children of a node lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Children {
    /// Each polygon is in one of them, and they may overlap: for re-alignment.
    Overlap,
    /// They share one plane, and polygons that cross it are in both: for clipping.
    Partition,
}

/// An inner node: 16 bytes.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// [`Children::Overlap`]: how far the low child's high side is below the father's, and the
    /// high child's low side above the father's ("offsets from the opposite sides", 3.5.6).
    /// [`Children::Partition`]: the position of the common plane, twice.
    cuts: [f32; 2],
    /// The children; bits 29 and 30 of the first are the axis.
    slots: [u32; 2],
}

const _: () = assert!(size_of::<Node>() == 16);

/// Set in a slot that names a leaf.
const LEAF: u32 = 1 << 31;
const AXIS_SHIFT: u32 = 29;
const INDEX: u32 = (1 << AXIS_SHIFT) - 1;
/// The index of a child that is not there.
const NOBODY: u32 = INDEX;
/// Set in the last member of a leaf.
const LAST: u32 = 1 << 31;

/// What a slot names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Child {
    Empty,
    /// A triangle, or with [`Children::Partition`] where its members begin.
    Leaf(u32),
    Node(u32),
}

impl Child {
    fn read(slot: u32) -> Child {
        match slot & INDEX {
            index if slot & LEAF != 0 => Child::Leaf(index),
            NOBODY => Child::Empty,
            index => Child::Node(index),
        }
    }

    fn write(self) -> u32 {
        match self {
            Child::Empty => NOBODY,
            Child::Leaf(index) => LEAF | index,
            Child::Node(index) => index,
        }
    }
}

impl Node {
    fn new(axis: usize, cuts: [f32; 2], children: [Child; 2]) -> Node {
        let [low, high] = children.map(Child::write);
        Node { cuts, slots: [low | (axis as u32) << AXIS_SHIFT, high] }
    }

    fn axis(&self) -> usize {
        (self.slots[0] >> AXIS_SHIFT & 3) as usize
    }

    fn children(&self) -> [Child; 2] {
        self.slots.map(Child::read)
    }
}

/// A mesh in a tree of boxes along its axes.
///
/// ```
/// use jostle_geom::solids::BumpyTorus;
/// use jostle_lab::{BoxTree, BoxTreeSettings};
///
/// let torus = BumpyTorus::plain(1.0, 0.3, [24, 12]).mesh()?;
/// let tree = BoxTree::partition(&torus, &BoxTreeSettings::default());
/// assert!(tree.empty_volume() > 0.3, "much of a torus' box is empty");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BoxTree {
    nodes: Vec<Node>,
    root: Child,
    bounds: Bounds,
    /// Of leaves with several triangles, the last of each leaf marked; unused if children overlap.
    members: Vec<u32>,
    children: Children,
    /// How many cuts a box has at most: so often its sides were rounded.
    depth: usize,
    /// By how much a triangle may reach out of its boxes.
    delta: f64,
    /// The share of the root's volume that was split off as empty.
    empty_volume: f64,
}

impl BoxTree {
    /// The tree of [`RealignedBoxTrees`]: a triangle to a leaf, children may overlap.
    #[must_use]
    pub fn new(mesh: &Mesh, settings: &BoxTreeSettings) -> BoxTree {
        build::build(mesh, settings, Children::Overlap)
    }

    /// The tree of [`ClippedBoxTrees`]: children are a partition of their father, and triangles
    /// that cross the plane between them are in both.
    #[must_use]
    pub fn partition(mesh: &Mesh, settings: &BoxTreeSettings) -> BoxTree {
        build::build(mesh, settings, Children::Partition)
    }

    /// What it takes in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.members.capacity() * size_of::<u32>()
    }

    /// How many inner nodes.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The most nodes from the root to a leaf.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The share of the root's volume that was split off as empty boxes. Where children overlap,
    /// what is empty in both counts twice.
    #[must_use]
    pub fn empty_volume(&self) -> f64 {
        self.empty_volume
    }

    /// The triangles of a leaf.
    fn members(&self, leaf: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        let listed = self.members.get(leaf as usize..).unwrap_or_default();
        let end = listed.iter().position(|member| member & LAST != 0).map_or(0, |last| last + 1);
        let alone = (self.children == Children::Overlap).then_some(leaf);
        alone.into_iter().chain(listed[..end].iter().map(|member| member & !LAST))
    }
}
