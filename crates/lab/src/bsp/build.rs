//! Building a tree of planes: each node is parted by the plane of one of its triangles, or by one
//! across an axis, whichever parts best.

use crate::traverse::{ROUNDING, reach};
use crate::tree::corners;
use glam::DVec3;
use jostle_geom::Mesh;
use std::ops::Range;

/// A node of so many triangles is not parted.
const LEAF_MAX: usize = 4;

/// Triangles that cross a plane are in both halves; without an end to the depth, soups would fill
/// the memory.
const DEPTH_MAX: u32 = 24;

/// So many planes of triangles are tried.
const CANDIDATES: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    triangles: Vec<u32>,
    pub(super) depth: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The box around all triangles of the node, cut off at planes across axes above it: what is on
    /// the other side, the node there has.
    pub(super) low: DVec3,
    pub(super) high: DVec3,
    /// The plane normal·x = offset; zero in a leaf.
    pub(super) normal: DVec3,
    pub(super) offset: f64,
    /// In front of the plane and behind it.
    pub(super) children: Option<[u32; 2]>,
    /// Of a leaf.
    range: Range<u32>,
}

impl Tree {
    pub(super) fn build(mesh: &Mesh) -> Tree {
        let corners = corners(mesh);
        // A product of a unit normal and a point is off by less, and so is the plane itself.
        let margin = 64.0 * ROUNDING * reach(mesh);
        let mut building = Building {
            corners,
            margin,
            tree: Tree { nodes: Vec::new(), triangles: Vec::new(), depth: 0 },
        };
        let all: Vec<u32> = (0..mesh.triangle_count() as u32).collect();
        if !all.is_empty() {
            building.node(&all, [DVec3::NEG_INFINITY, DVec3::INFINITY], 0);
        }
        building.tree
    }

    pub(super) fn triangles_of(&self, node: u32) -> &[u32] {
        let Range { start, end } = self.nodes[node as usize].range;
        &self.triangles[start as usize..end as usize]
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.triangles[..])
    }
}

struct Building {
    corners: Vec<[DVec3; 3]>,
    margin: f64,
    tree: Tree,
}

impl Building {
    /// Returns the number of the new node. `cell` is what planes across axes have left.
    fn node(&mut self, triangles: &[u32], cell: [DVec3; 2], depth: u32) -> u32 {
        let at = self.tree.nodes.len();
        let points = || triangles.iter().flat_map(|&t| self.corners[t as usize]);
        let (low, high) =
            points().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
        let (low, high) = (low.max(cell[0]), high.min(cell[1]));
        let node =
            Node { low, high, normal: DVec3::ZERO, offset: 0.0, children: None, range: 0..0 };
        self.tree.nodes.push(node);
        self.tree.depth = self.tree.depth.max(depth);
        let plane = if triangles.len() > LEAF_MAX && depth < DEPTH_MAX {
            self.best_plane(triangles, [low, high])
        } else {
            None
        };
        let Some((normal, offset)) = plane else {
            let start = self.tree.triangles.len() as u32;
            self.tree.triangles.extend(triangles);
            self.tree.nodes[at].range = start..self.tree.triangles.len() as u32;
            return at as u32;
        };
        let [front, back] = self.parted(triangles, normal, offset);
        let [mut above, mut below] = [cell; 2];
        if let Some(axis) = DVec3::AXES.iter().position(|axis| *axis == normal) {
            above[0][axis] = above[0][axis].max(offset - self.margin);
            below[1][axis] = below[1][axis].min(offset + self.margin);
        }
        let children = [self.node(&front, above, depth + 1), self.node(&back, below, depth + 1)];
        let node = &mut self.tree.nodes[at];
        (node.normal, node.offset, node.children) = (normal, offset, Some(children));
        at as u32
    }

    /// The plane whose fuller side has the fewest triangles; none if no plane parts them.
    fn best_plane(&self, triangles: &[u32], [low, high]: [DVec3; 2]) -> Option<(DVec3, f64)> {
        let step = triangles.len().div_ceil(CANDIDATES);
        let own = triangles.iter().step_by(step).filter_map(|&t| {
            let [a, b, c] = self.corners[t as usize];
            let normal = (b - a).cross(c - a).try_normalize()?;
            Some((normal, normal.dot(a)))
        });
        let axes = DVec3::AXES.into_iter().map(|axis| {
            let centroid = |&t: &u32| self.corners[t as usize].iter().sum::<DVec3>().dot(axis);
            (axis, triangles.iter().map(centroid).sum::<f64>() / (3 * triangles.len()) as f64)
        });
        let size = high - low;
        let fuller = |&(normal, offset): &(DVec3, f64)| {
            let counts = self.parted(triangles, normal, offset).map(|side| side.len());
            counts[0].max(counts[1])
        };
        let planes = own.chain(axes).map(|plane| (fuller(&plane), plane));
        let best = planes.min_by_key(|&(fuller, _)| fuller);
        // A point, or what all crosses all.
        let parts = |fuller: usize| fuller * 10 <= triangles.len() * 9 && size != DVec3::ZERO;
        best.filter(|&(fuller, _)| parts(fuller)).map(|(_, plane)| plane)
    }

    /// In front and behind; what crosses the plane, or may by rounding, is in both.
    fn parted(&self, triangles: &[u32], normal: DVec3, offset: f64) -> [Vec<u32>; 2] {
        let along = |t: u32| self.corners[t as usize].map(|p| normal.dot(p) - offset);
        let choose = |wanted: &dyn Fn(f64) -> bool| {
            let some = |&&t: &&u32| along(t).into_iter().any(wanted);
            triangles.iter().filter(some).copied().collect()
        };
        [choose(&|d| d >= -self.margin), choose(&|d| d <= self.margin)]
    }
}
