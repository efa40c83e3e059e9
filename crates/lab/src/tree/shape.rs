//! Which triangles are below which node: the part of a tree that does not depend on its volumes.

use super::bytes::LoadError;
use super::split::{Guide, Splitting};
use crate::traverse::Node;
use jostle_geom::Mesh;
use std::ops::Range;

/// A binary tree over the triangles of a mesh. Node 0 is the root; the two children of a node are
/// neighbours, and come after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeShape {
    links: Vec<Link>,
    /// Triangles of the mesh, those of a leaf beside each other.
    triangles: Vec<u32>,
}

/// One node: eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The first child, or the first of the leaf's triangles.
    pub(crate) first: u32,
    /// How many triangles; 0 for an inner node.
    pub(crate) count: u32,
}

impl TreeShape {
    /// Splits all triangles until no node has more than the splitting allows. A node of more always
    /// gets two children that are not empty, whatever the rule says.
    pub(crate) fn build(mesh: &Mesh, splitting: Splitting, guide: &Guide) -> TreeShape {
        let mut triangles: Vec<u32> = (0..mesh.triangle_count() as u32).collect();
        let mut links = Vec::new();
        if triangles.is_empty() {
            return TreeShape { links, triangles };
        }
        let mut splitter = splitting.rule.splitter(mesh, guide);
        links.push(Link { first: 0, count: 0 });
        let mut open = vec![(0, 0..triangles.len())];
        while let Some((node, range)) = open.pop() {
            if range.len() <= splitting.leaf_max.get() {
                links[node] = Link { first: range.start as u32, count: range.len() as u32 };
                continue;
            }
            let some = &mut triangles[range.clone()];
            let (length, middle) = (some.len(), splitter.split(some));
            let left = if middle == 0 || middle == length { length / 2 } else { middle };
            let (first, cut) = (links.len(), range.start + left);
            links[node].first = first as u32;
            links.extend([Link { first: 0, count: 0 }; 2]);
            open.push((first + 1, cut..range.end));
            open.push((first, range.start..cut));
        }
        TreeShape { links, triangles }
    }

    pub(super) fn parts(&self) -> (&[Link], &[u32]) {
        (&self.links, &self.triangles)
    }

    /// A tree of numbers that came from outside: children come after their node, every node but
    /// the root is the child of one, leaves have the triangles in the order of the tree, and every
    /// triangle is there once.
    pub(super) fn checked(links: Vec<Link>, triangles: Vec<u32>) -> Result<TreeShape, LoadError> {
        let mut seen = vec![false; triangles.len()];
        for &triangle in &triangles {
            match seen.get_mut(triangle as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(LoadError::BadTriangles),
            }
        }
        // Depth first, left before right: leaves then follow each other without a gap, which also
        // rules out that a node is met twice, because each has at least one triangle below it.
        let mut at = 0;
        let mut met = 0;
        let mut open = if links.is_empty() { vec![] } else { vec![0] };
        while let Some(node) = open.pop() {
            let Link { first, count } = links[node];
            let (first, bad) = (first as usize, LoadError::BadLink { node });
            met += 1;
            if count > 0 {
                if first != at || count as usize > triangles.len() - at {
                    return Err(bad);
                }
                at += count as usize;
            } else if first <= node || first + 1 >= links.len() || met > links.len() {
                return Err(bad);
            } else {
                open.extend([first + 1, first]);
            }
        }
        if at != triangles.len() || met != links.len() {
            return Err(LoadError::BadLink { node: met.min(links.len()) });
        }
        Ok(TreeShape { links, triangles })
    }

    /// What a node is; every number of a tree without triangles is an empty node.
    ///
    /// # Panics
    /// If a tree with triangles has no such node.
    #[inline]
    #[must_use]
    pub fn node(&self, node: u32) -> Node<'_> {
        if self.links.is_empty() {
            return Node::Empty;
        }
        let Link { first, count } = self.links[node as usize];
        if count == 0 {
            Node::Inner([first, first + 1])
        } else {
            Node::Leaf(&self.triangles[first as usize..(first + count) as usize])
        }
    }

    /// How many nodes, leaves included.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.links.len()
    }

    /// How many leaves.
    #[must_use]
    pub fn leaf_count(&self) -> usize {
        self.links.iter().filter(|link| link.count > 0).count()
    }

    /// The triangles of the mesh in the order of the tree.
    #[must_use]
    pub fn triangles(&self) -> &[u32] {
        &self.triangles
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.links[..]) + size_of_val(&self.triangles[..])
    }

    /// How far each node is below the root.
    #[must_use]
    pub fn levels(&self) -> Vec<u32> {
        let mut levels = vec![0; self.links.len()];
        for (node, link) in self.links.iter().enumerate().filter(|(_, link)| link.count == 0) {
            let first = link.first as usize;
            levels[first] = levels[node] + 1;
            levels[first + 1] = levels[node] + 1;
        }
        levels
    }

    /// How far the deepest leaf is below the root.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.levels().into_iter().max().unwrap_or(0)
    }

    /// The part of [`TreeShape::triangles`] that is below each node.
    #[must_use]
    pub fn ranges(&self) -> Vec<Range<usize>> {
        let mut ranges: Vec<Range<usize>> = vec![0..0; self.links.len()];
        for (node, link) in self.links.iter().enumerate().rev() {
            let first = link.first as usize;
            ranges[node] = if link.count > 0 {
                first..first + link.count as usize
            } else {
                ranges[first].start..ranges[first + 1].end
            };
        }
        ranges
    }

    /// One value for every node, from the leaves up: `leaf` of the leaf's triangles, `join` of what
    /// the two children have.
    pub(crate) fn bottom_up<V: Clone>(
        &self,
        mut leaf: impl FnMut(&[u32]) -> V,
        mut join: impl FnMut(&V, &V) -> V,
    ) -> Vec<V> {
        let mut values: Vec<Option<V>> = vec![None; self.links.len()];
        for node in (0..self.links.len()).rev() {
            let value = match self.node(node as u32) {
                Node::Empty => continue,
                Node::Leaf(triangles) => leaf(triangles),
                Node::Inner([left, right]) => {
                    let child = |child: u32| values[child as usize].as_ref();
                    let children = (child(left), child(right));
                    let (Some(left), Some(right)) = children else { continue };
                    join(left, right)
                }
            };
            values[node] = Some(value);
        }
        values.into_iter().flatten().collect()
    }
}
