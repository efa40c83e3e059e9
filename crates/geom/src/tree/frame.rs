//! What the boxes of a node are relative to.
//!
//! Boxes are `f32`, and each is off by a few roundings of the largest number in its frame
//! (`pair/relative.rs`). With one frame for the whole mesh, the slack that pays for this is about
//! 1e-5 of the radius of the mesh, which is nothing beside ordinary triangles. But one vertex that
//! strays 100,000 times as far as the others makes the slack larger than all the rest of the mesh:
//! then every box overlaps every other one, and a query looks at all pairs of triangles. Such
//! meshes get a frame for each node, with the slack of what is in the node. It costs a placement
//! in `f64` for each node that is opened, so ordinary meshes keep the one frame.

use super::{Child, Lane, Node, Tree};
use crate::mesh::Vertices;
use glam::{DVec3, Vec3};
use std::ops::Range;

/// Coordinates are relative to `origin`, and nothing is further from there than `radius`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    /// In mesh coordinates.
    pub(crate) origin: Vec3,
    pub(crate) radius: f32,
}

/// Triangles smaller than this part of the radius of the mesh are fine: the slack of one frame for
/// all, 64 · 2^-24 of two radii and a distance, would be more than a tenth of their size.
const FINE: f32 = 1.0 / (1 << 13) as f32;

/// So few fine triangles are looked at one by one in less time than frames would cost.
const FEW: usize = 256;

impl Frame {
    /// Centre of the used vertices, and a bound on their distance from it.
    pub(crate) fn around(vertices: &Vertices, triangles: &[[u32; 3]]) -> Option<Frame> {
        Frame::of(vertices, triangles.as_flattened().iter().copied())
    }

    /// The same for some of the vertices; their order does not matter.
    pub(super) fn of(vertices: &Vertices, some: impl Iterator<Item = u32>) -> Option<Frame> {
        match vertices.exact() {
            None => Frame::of_points(some.map(|v| vertices.rounded()[v as usize])),
            Some(exact) => Frame::of_exact_points(some.map(|v| exact[v as usize])),
        }
    }

    /// The origin is rounded to `f32`, which the radius pays for.
    fn of_exact_points(points: impl Iterator<Item = DVec3>) -> Option<Frame> {
        let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        let (lo, hi) = points.fold(none, |(lo, hi), v| (lo.min(v), hi.max(v)));
        if lo.x > hi.x {
            return None;
        }
        let origin = (lo * 0.5 + hi * 0.5).as_vec3();
        let half = (hi - origin.as_dvec3()).max(origin.as_dvec3() - lo);
        let radius = (half.length() * (1.0 + 1e-6)) as f32;
        Some(Frame { origin, radius })
    }

    fn of_points(points: impl Iterator<Item = Vec3>) -> Option<Frame> {
        let none = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (lo, hi) = points.fold(none, |(lo, hi), v| (lo.min(v), hi.max(v)));
        if lo.x > hi.x {
            return None;
        }
        let origin = lo * 0.5 + hi * 0.5;
        let half = (hi - origin).max(origin - lo).as_dvec3();
        // Rounded up: one part in a million covers the rounding of this line many times.
        let radius = (half.length() * (1.0 + 1e-6)) as f32;
        Some(Frame { origin, radius })
    }

    /// Are there so many fine triangles that each node needs a frame? Depends on the triangles
    /// only, in whatever order, so that a hierarchy that was loaded or refitted is like one that
    /// was built.
    pub(super) fn is_too_wide(self, vertices: &Vertices, triangles: &[[u32; 3]]) -> bool {
        let fine = self.radius * FINE;
        let is_fine = |triangle: &&[u32; 3]| match vertices.exact() {
            None => {
                let [a, b, c] = triangle.map(|v| vertices.rounded()[v as usize]);
                (a.max(b).max(c) - a.min(b).min(c)).max_element() < fine
            }
            Some(exact) => {
                let [a, b, c] = triangle.map(|v| exact[v as usize]);
                (a.max(b).max(c) - a.min(b).min(c)).max_element() < f64::from(fine)
            }
        };
        triangles.iter().filter(is_fine).take(FEW).count() == FEW
    }
}

impl Tree {
    /// The frame of a node.
    #[inline]
    pub(crate) fn frame(&self, node: usize) -> Frame {
        let whole = Frame { origin: self.origin, radius: self.radius };
        self.frames.get(node).copied().unwrap_or(whole)
    }

    /// The frame that the box of a lane is in.
    #[inline]
    pub(crate) fn frame_of(&self, lane: Lane) -> Frame {
        self.frame(lane.split().0)
    }

    /// The triangles below a node; there are some.
    pub(super) fn triangles_of_node(&self, index: usize) -> Range<usize> {
        let lanes = &self.nodes[index].child;
        let used = lanes.iter().take_while(|lane| !lane.is_empty()).count();
        let last: Child = lanes[used.saturating_sub(1)];
        self.triangles_below(lanes[0]).start..self.triangles_below(last).end
    }

    /// Gives each node a frame, for triangles in the order of the tree.
    pub(super) fn set_frames(&mut self, vertices: &Vertices, triangles: &[[u32; 3]]) {
        let whole = Frame { origin: self.origin, radius: self.radius };
        let frame = |index: usize| {
            Frame::around(vertices, &triangles[self.triangles_of_node(index)]).unwrap_or(whole)
        };
        self.frames = (0..self.nodes.len()).map(frame).collect();
    }
}

/// The nodes of a tree, with what their coordinates need.
#[derive(Clone, Copy)]
pub(crate) struct FramedNode<'a> {
    pub(crate) node: &'a Node,
    /// From the origin of the tree to that of the node.
    pub(crate) shift: glam::DVec3,
    /// The radius of the node's own frame; 0 if it has none.
    pub(crate) radius: f64,
}

impl Tree {
    #[inline]
    pub(crate) fn framed_node(&self, index: usize) -> FramedNode<'_> {
        let node = &self.nodes[index];
        match self.frames.get(index) {
            None => FramedNode { node, shift: glam::DVec3::ZERO, radius: 0.0 },
            Some(frame) => FramedNode {
                node,
                shift: frame.origin.as_dvec3() - self.origin.as_dvec3(),
                radius: f64::from(frame.radius),
            },
        }
    }
}
