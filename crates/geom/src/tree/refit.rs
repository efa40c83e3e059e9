//! New boxes for the same tree, after vertices have moved.
//!
//! Each box keeps its axes and is fitted again to all corners below it, not to the boxes of its
//! children: that would be faster, and much looser for oriented boxes, level by level.
//! Whether nodes have frames of their own is decided anew.

use super::fit::Fit;
use super::{Child, Frame, Tree};
use crate::mesh::Vertices;
use crate::simd::Isa;
use glam::{Vec3, Vec3A};
use std::ops::Range;

impl Tree {
    /// Fits all boxes to vertices that have moved. The triangles must be those that the tree was
    /// made for, in its order.
    pub(crate) fn refit(&mut self, vertices: &Vertices, triangles: &[[u32; 3]]) {
        let Some(frame) = Frame::around(vertices, triangles) else { return };
        (self.origin, self.radius) = (frame.origin, frame.radius);
        self.frames.clear();
        if frame.is_too_wide(vertices, triangles) {
            self.set_frames(vertices, triangles);
        }
        let isa = Isa::best();
        let corner = |&v: &u32, origin: Vec3| vertices.local(v, origin);
        let all = triangles.as_flattened();
        let mut corners: Vec<Vec3A> = all.iter().map(|v| corner(v, frame.origin)).collect();
        for index in 0..self.nodes.len() {
            if let Some(own) = self.frames.get(index) {
                let span = self.triangles_of_node(index);
                let span = 3 * span.start..3 * span.end;
                let vertices = corners[span.clone()].iter_mut().zip(&all[span]);
                vertices.for_each(|(local, v)| *local = corner(v, own.origin));
            }
            for (lane, child) in self.nodes[index].child.into_iter().enumerate() {
                if child.is_empty() {
                    break;
                }
                let below = self.triangles_below(child);
                let axes = self.nodes[index].obb(lane).axes;
                let fit = Fit::along(isa, &corners[3 * below.start..3 * below.end], axes);
                self.nodes[index].set(lane, &fit.obb, fit.raw, child);
            }
        }
    }

    /// The triangles below a lane that is used.
    pub(super) fn triangles_below(&self, child: Child) -> Range<usize> {
        let (mut first, mut last) = (child, child);
        while !first.is_leaf() {
            first = self.nodes[first.node_index()].child[0];
        }
        while !last.is_leaf() {
            let lanes = &self.nodes[last.node_index()].child;
            let used = lanes.iter().take_while(|lane| !lane.is_empty()).count();
            last = lanes[used - 1];
        }
        first.triangles().start..last.triangles().end
    }
}
