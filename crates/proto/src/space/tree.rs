//! The distribution tree: cuts, regions, owners.
//!
//! Storey 2006, 4.3.1.3: the root is vertex 0, the children of p are 2p + 1 and 2p + 2; a machine
//! that stands at a vertex is responsible for everything below it and stands at no other.

use super::Region;
use crate::object::NodeId;
use crate::state::Block;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Machines that can share a world.
pub const NODES_MAX: usize = 1024;

/// Vertices of a tree; bounds what a message can make a machine build.
pub const VERTICES_MAX: usize = 1 << 16;

/// Cuts above a leaf: deeper vertices have ids beyond 64 bits.
pub(super) const DEPTH_MAX: u32 = 62;

/// A place in the tree: 0 is the root, the children of p are 2p + 1 (below) and 2p + 2 (above).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VertexId(pub u64);

impl VertexId {
    /// The whole world.
    pub const ROOT: VertexId = VertexId(0);

    /// The two parts of it, if ids are large enough.
    fn children(self) -> Option<[VertexId; 2]> {
        let below = self.0.checked_mul(2)?.checked_add(1)?;
        Some([VertexId(below), VertexId(below.checked_add(1)?)])
    }

    /// What it is a part of; the root is a part of nothing.
    #[must_use]
    pub fn parent(self) -> Option<VertexId> {
        Some(VertexId(self.0.checked_sub(1)? / 2))
    }

    /// Cuts above it.
    pub(super) fn depth(self) -> u32 {
        // Ids of depth d begin at 2^d - 1. The last id has no successor, and would be deeper.
        self.0.checked_add(1).map_or(u64::BITS, u64::ilog2)
    }
}

/// A vertex as it is written down: a tree is its vertices, each followed by those below its cut and
/// then those above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Knot {
    /// Axis (0, 1, 2) and the first coordinate above; a leaf has none.
    pub cut: Option<(u8, i32)>,
    /// Who stands here.
    pub owner: Option<NodeId>,
}

/// Why there is no such tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// The world needs an owner.
    #[error("a world needs at least one node")]
    NoNodes,
    /// See [`NODES_MAX`].
    #[error("{found} nodes; at most {NODES_MAX} can share a world")]
    TooManyNodes {
        /// So many.
        found: usize,
    },
    /// See [`VERTICES_MAX`].
    #[error("a tree of more than {VERTICES_MAX} vertices")]
    TooManyVertices,
    /// It has its part already.
    #[error("node {} would own two parts of the world", node.0)]
    Twice {
        /// The node.
        node: NodeId,
    },
    /// It owns nothing.
    #[error("node {} owns no part of the world", node.0)]
    Unknown {
        /// The node.
        node: NodeId,
    },
    /// A part has no owner, or two of them.
    #[error("vertex {}: a leaf must have exactly one owner at or above it", vertex.0)]
    Owners {
        /// The vertex.
        vertex: VertexId,
    },
    /// A cut must leave something on both sides.
    #[error("vertex {}: the cut is not inside of its region", vertex.0)]
    Cut {
        /// The vertex.
        vertex: VertexId,
    },
    /// Too many cuts above a vertex.
    #[error("vertex {}: deeper than {DEPTH_MAX} cuts", vertex.0)]
    Deep {
        /// The vertex.
        vertex: VertexId,
    },
    /// The vertices end too early, or go on after the last.
    #[error("after {after} vertices: the list ends too early or too late")]
    Length {
        /// So many vertices make sense.
        after: usize,
    },
    /// All regions are too small to be cut.
    #[error("no region can be cut in two")]
    NoRoom,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vertex {
    pub(super) id: VertexId,
    pub(super) region: Region,
    pub(super) knot: Knot,
    /// One beyond the last vertex below this one.
    pub(super) end: usize,
}

/// How machines share the world.
///
/// ```
/// use jostle_proto::{NodeId, Tree};
///
/// let nodes = [NodeId(1), NodeId(2), NodeId(3)];
/// let load: Vec<[i32; 3]> = (0..300).map(|x| [x, 0, 0]).collect();
/// let mut tree = Tree::shared_among(&nodes, &load)?;
/// for node in nodes {
///     assert_eq!(load.iter().filter(|&&point| tree.owner_of(point) == node).count(), 100);
/// }
/// tree.leave(NodeId(2))?;
/// assert_eq!(tree.owner_of([0, 0, 0]), NodeId(1));
/// # Ok::<(), jostle_proto::TreeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Knot>", into = "Vec<Knot>")]
pub struct Tree {
    /// In the order of [`Knot`]s; never empty.
    vertices: Vec<Vertex>,
}

impl TryFrom<Vec<Knot>> for Tree {
    type Error = TreeError;
    fn try_from(knots: Vec<Knot>) -> Result<Tree, TreeError> {
        Tree::from_knots(&knots)
    }
}

impl From<Tree> for Vec<Knot> {
    fn from(tree: Tree) -> Vec<Knot> {
        tree.knots()
    }
}

impl Tree {
    /// One machine owns everything.
    #[must_use]
    pub fn whole(node: NodeId) -> Tree {
        let knot = Knot { cut: None, owner: Some(node) };
        let root = Vertex { id: VertexId::ROOT, region: Region::WORLD, knot, end: 1 };
        Tree { vertices: vec![root] }
    }

    /// Checks everything: what comes out is a tree whose leaves cover the world and have one owner
    /// each.
    ///
    /// # Errors
    /// If it is none.
    pub fn from_knots(knots: &[Knot]) -> Result<Tree, TreeError> {
        if knots.len() > VERTICES_MAX {
            return Err(TreeError::TooManyVertices);
        }
        let mut vertices: Vec<Vertex> = Vec::with_capacity(knots.len());
        let mut nodes = BTreeSet::new();
        // What is to come: a vertex, its region, is it owned from above?
        let mut open = vec![(VertexId::ROOT, Region::WORLD, false)];
        for &knot in knots {
            let after = vertices.len();
            let (id, region, owned) = open.pop().ok_or(TreeError::Length { after })?;
            if owned && knot.owner.is_some() {
                return Err(TreeError::Owners { vertex: id });
            }
            if let Some(node) = knot.owner
                && !nodes.insert(node)
            {
                return Err(TreeError::Twice { node });
            }
            let owned = owned || knot.owner.is_some();
            match knot.cut {
                None if !owned => return Err(TreeError::Owners { vertex: id }),
                None => {}
                Some((axis, at)) => {
                    let axis = usize::from(axis);
                    let inside = |axis: usize| {
                        region.min[axis] < i64::from(at) && i64::from(at) < region.max[axis]
                    };
                    if axis > 2 || !inside(axis) {
                        return Err(TreeError::Cut { vertex: id });
                    }
                    let children = id.children().filter(|_| id.depth() < DEPTH_MAX);
                    let [below, above] = children.ok_or(TreeError::Deep { vertex: id })?;
                    let parts = region.cut(axis, at);
                    open.push((above, parts[1], owned));
                    open.push((below, parts[0], owned));
                }
            }
            vertices.push(Vertex { id, region, knot, end: 0 });
        }
        if !open.is_empty() {
            return Err(TreeError::Length { after: knots.len() });
        }
        if nodes.len() > NODES_MAX {
            return Err(TreeError::TooManyNodes { found: nodes.len() });
        }
        // Children come after their parents, so from the back their ends are known.
        for at in (0..vertices.len()).rev() {
            vertices[at].end = match vertices[at].knot.cut {
                None => at + 1,
                Some(_) => vertices[vertices[at + 1].end].end,
            };
        }
        Ok(Tree { vertices })
    }

    /// The tree as it is written down.
    #[must_use]
    pub fn knots(&self) -> Vec<Knot> {
        self.vertices.iter().map(|vertex| vertex.knot).collect()
    }

    pub(super) fn vertices(&self) -> &[Vertex] {
        &self.vertices
    }

    /// The leaf that a point is in.
    #[must_use]
    pub fn leaf_of(&self, point: [i32; 3]) -> VertexId {
        let mut at = 0;
        loop {
            let vertex = &self.vertices[at];
            match vertex.knot.cut {
                None => return vertex.id,
                Some(cut) => at = self.child(at, above(cut, point)),
            }
        }
    }

    /// Who is responsible for a point.
    #[must_use]
    pub fn owner_of(&self, point: [i32; 3]) -> NodeId {
        let mut at = 0;
        loop {
            let Knot { cut, owner } = self.vertices[at].knot;
            match (owner, cut) {
                (Some(node), _) => return node,
                (None, Some(cut)) => at = self.child(at, above(cut, point)),
                // Never: a leaf has an owner at or above it.
                (None, None) => return NodeId(0),
            }
        }
    }

    /// The leaves that a block meets, lower ones first.
    pub fn leaves_meeting<'a>(&'a self, block: &Block) -> impl Iterator<Item = VertexId> + 'a {
        self.meeting(*block, |vertex| vertex.knot.cut.is_none()).map(|vertex| vertex.id)
    }

    /// Those with a region that a block meets, each once.
    pub fn owners_meeting<'a>(&'a self, block: &Block) -> impl Iterator<Item = NodeId> + 'a {
        self.meeting(*block, |vertex| vertex.knot.owner.is_some())
            .filter_map(|vertex| vertex.knot.owner)
    }

    /// The highest vertices that the block meets and that are `wanted`.
    fn meeting(
        &self,
        block: Block,
        wanted: impl Fn(&Vertex) -> bool,
    ) -> impl Iterator<Item = &Vertex> {
        let mut at = 0;
        std::iter::from_fn(move || {
            while let Some(vertex) = self.vertices.get(at) {
                let meets = vertex.region.meets(&block);
                let found = meets && wanted(vertex);
                at = if found || !meets { vertex.end } else { at + 1 };
                if found {
                    return Some(vertex);
                }
            }
            None
        })
    }

    /// All leaves, lower ones first.
    pub fn leaves(&self) -> impl Iterator<Item = VertexId> + '_ {
        let leaves = self.vertices.iter().filter(|vertex| vertex.knot.cut.is_none());
        leaves.map(|vertex| vertex.id)
    }

    /// Who stands where, lower regions first.
    pub fn owners(&self) -> impl Iterator<Item = (VertexId, NodeId)> + '_ {
        let owned = |vertex: &Vertex| Some((vertex.id, vertex.knot.owner?));
        self.vertices.iter().filter_map(owned)
    }

    /// Where a machine stands.
    #[must_use]
    pub fn share_of(&self, node: NodeId) -> Option<VertexId> {
        self.owners().find(|&(_, owner)| owner == node).map(|(vertex, _)| vertex)
    }

    /// The part of the world below a vertex, if there is one of that id.
    #[must_use]
    pub fn region(&self, vertex: VertexId) -> Option<Region> {
        Some(self.vertices[*self.path(vertex)?.last()?].region)
    }

    /// The owner of all of a vertex: the node that stands at it or above it. None, if it is shared
    /// or not there.
    #[must_use]
    pub fn owner(&self, vertex: VertexId) -> Option<NodeId> {
        self.path(vertex)?.into_iter().find_map(|at| self.vertices[at].knot.owner)
    }

    /// Where the vertices from the root to this one are.
    fn path(&self, vertex: VertexId) -> Option<Vec<usize>> {
        if vertex.depth() > DEPTH_MAX {
            return None;
        }
        let mut path = vec![0];
        let mut at = 0;
        for level in (0..vertex.depth()).rev() {
            self.vertices[at].knot.cut?;
            // The bits of id + 1 after the first are the turns.
            at = self.child(at, (vertex.0 + 1) >> level & 1 == 1);
            path.push(at);
        }
        Some(path)
    }

    /// Only of vertices with a cut.
    pub(super) fn child(&self, at: usize, above: bool) -> usize {
        if above { self.vertices[at + 1].end } else { at + 1 }
    }
}

pub(super) fn above((axis, at): (u8, i32), point: [i32; 3]) -> bool {
    point[usize::from(axis)] >= at
}
