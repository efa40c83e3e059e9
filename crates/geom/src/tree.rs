//! The hierarchy: what a node is, in memory.
//!
//! A node holds up to eight boxes, each with its own orientation, as structure of arrays, so that
//! one box can be tested against all eight at a time. Boxes are stored relative to a [`Frame`]: the
//! tree's `origin`, the centre of the mesh, so that a mesh far from its own zero loses nothing; or,
//! where the triangles are too small for that, a frame for each node (`tree/frame.rs`).
//!
//! Node 0 has one lane, the whole mesh; so a place in the tree is always a *lane*, and every lane
//! has a box and a child. The triangles of a lane are a contiguous range of the mesh's triangles.
//!
//! 320 bytes a node, five cache lines: centres and half extents in `f32`, two axes of each box
//! as 16-bit integers, the third by cross product (a prototype found it as fast as `f32` axes,
//! a third less memory).

pub(crate) mod build;
pub(crate) mod bytes;
mod fit;
mod frame;
pub(crate) mod overlap;
mod refit;
mod split;
pub(crate) mod sweep;
mod validate;

use crate::simd::{F32x8, Simd};
pub(crate) use frame::{Frame, FramedNode};
use glam::{Vec3, Vec3A};

/// Boxes per node.
pub(crate) const WIDTH: usize = 8;

/// Most triangles in a leaf. Two triangles that share an edge fit a box as flat as one does
/// (measured by a prototype); four were slower in every query.
pub(crate) const LEAF_MAX: usize = 2;

/// What an axis component of 1 is stored as.
pub(crate) const AXIS_ONE: f32 = 32767.0;

/// Scale of a stored axis component.
pub(crate) const AXIS_UNIT: f32 = 1.0 / AXIS_ONE;

/// Up to eight boxes with their children. Unused lanes come last, have [`Child::EMPTY`] and a
/// negative half extent.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Node {
    pub(crate) center: [[f32; WIDTH]; 3],
    pub(crate) half: [[f32; WIDTH]; 3],
    /// First axis x, y, z, then second axis x, y, z.
    pub(crate) axis: [[i16; WIDTH]; 6],
    pub(crate) child: [Child; WIDTH],
}

const _: () = assert!(size_of::<Node>() == 320);

/// What lies below a lane: a node, or a leaf with its first triangle and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Child(pub(crate) u32);

impl Child {
    /// Nothing: an unused lane.
    pub(crate) const EMPTY: Child = Child(u32::MAX);
    const LEAF: u32 = 1 << 31;

    pub(crate) fn node(index: usize) -> Child {
        debug_assert!(index < Self::LEAF as usize);
        Child(index as u32)
    }

    pub(crate) fn leaf(first: usize, count: usize) -> Child {
        debug_assert!(first < 1 << 29 && (1..=LEAF_MAX).contains(&count));
        Child(Self::LEAF | (first as u32) << 1 | (count as u32 - 1))
    }

    #[inline(always)]
    pub(crate) fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    #[inline(always)]
    pub(crate) fn is_leaf(self) -> bool {
        self.0 & Self::LEAF != 0
    }

    #[inline(always)]
    pub(crate) fn node_index(self) -> usize {
        self.0 as usize
    }

    /// The triangles of a leaf.
    #[inline(always)]
    pub(crate) fn triangles(self) -> std::ops::Range<usize> {
        let first = ((self.0 & !Self::LEAF) >> 1) as usize;
        first..first + 1 + (self.0 & 1) as usize
    }
}

/// One lane of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane(pub(crate) u32);

impl Lane {
    /// The lane that holds the whole mesh.
    pub(crate) const ROOT: Lane = Lane(0);

    #[inline(always)]
    pub(crate) fn new(node: usize, lane: usize) -> Lane {
        Lane((node * WIDTH + lane) as u32)
    }

    #[inline(always)]
    pub(crate) fn split(self) -> (usize, usize) {
        (self.0 as usize / WIDTH, self.0 as usize % WIDTH)
    }
}

/// A box with an orientation. It holds every point p with |axis_k · (p − center)| ≤ half_k.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Obb {
    pub(crate) center: Vec3A,
    pub(crate) half: Vec3A,
    pub(crate) axes: [Vec3A; 3],
}

/// The hierarchy of one mesh.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    /// What box coordinates are relative to, in mesh coordinates.
    pub(crate) origin: Vec3,
    /// No vertex is further than this from `origin`.
    pub(crate) radius: f32,
    /// What the boxes of each node are relative to, if that is not `origin`; otherwise empty.
    pub(crate) frames: Vec<Frame>,
}

impl Node {
    pub(crate) const UNUSED: Node = Node {
        center: [[0.0; WIDTH]; 3],
        half: [[-1e30; WIDTH]; 3],
        axis: [[0; WIDTH]; 6],
        child: [Child::EMPTY; WIDTH],
    };

    /// Puts a box whose axes came from [`stored_axes`] into a lane.
    pub(crate) fn set(&mut self, lane: usize, obb: &Obb, raw: [i16; 6], child: Child) {
        for k in 0..3 {
            self.center[k][lane] = obb.center[k];
            self.half[k][lane] = obb.half[k];
        }
        for (axis, raw) in self.axis.iter_mut().zip(raw) {
            axis[lane] = raw;
        }
        self.child[lane] = child;
    }

    /// The box of a lane.
    #[inline(always)]
    pub(crate) fn obb(&self, lane: usize) -> Obb {
        let axis = |k: usize| self.axis[k][lane] as f32;
        let u = Vec3A::new(axis(0), axis(1), axis(2)) * AXIS_UNIT;
        let v = Vec3A::new(axis(3), axis(4), axis(5)) * AXIS_UNIT;
        let three =
            |from: &[[f32; WIDTH]; 3]| Vec3A::new(from[0][lane], from[1][lane], from[2][lane]);
        Obb { center: three(&self.center), half: three(&self.half), axes: [u, v, u.cross(v)] }
    }

    /// Bit k says whether lane k is a leaf or unused.
    #[inline(always)]
    pub(crate) fn leaf_lanes<S: Simd>(&self) -> u8 {
        let [a, b, c, d, e, f, g, h] = self.child;
        S::F::top_bits(&[a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0])
    }

    /// Largest half extent of a lane: how big it is, for choosing which side to descend.
    #[inline(always)]
    pub(crate) fn size(&self, lane: usize) -> f32 {
        let [x, y, z] = [self.half[0][lane], self.half[1][lane], self.half[2][lane]];
        let larger = if x > y { x } else { y };
        if larger > z { larger } else { z }
    }
}

impl Tree {
    #[inline(always)]
    pub(crate) fn child(&self, lane: Lane) -> Child {
        let (node, lane) = lane.split();
        self.nodes[node].child[lane]
    }

    #[inline(always)]
    pub(crate) fn obb(&self, lane: Lane) -> Obb {
        let (node, lane) = lane.split();
        self.nodes[node].obb(lane)
    }

    #[inline(always)]
    pub(crate) fn size(&self, lane: Lane) -> f32 {
        let (node, lane) = lane.split();
        self.nodes[node].size(lane)
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.frames.capacity() * size_of::<Frame>()
    }
}

/// Rounds two orthonormal axes to what a node stores, and gives the three axes that
/// [`Node::obb`] will give back, to the bit.
pub(crate) fn stored_axes(axes: [Vec3A; 3]) -> ([i16; 6], [Vec3A; 3]) {
    // Not `f32::round`: without SSE4.1 that is a call into the C library.
    let raw = |x: f32| {
        let x = (x * AXIS_ONE).clamp(-AXIS_ONE, AXIS_ONE);
        (x + if x < 0.0 { -0.5 } else { 0.5 }) as i16
    };
    let [u, v, _] = axes;
    let raw = [raw(u.x), raw(u.y), raw(u.z), raw(v.x), raw(v.y), raw(v.z)];
    let back = |k: usize| {
        Vec3A::new(f32::from(raw[k]), f32::from(raw[k + 1]), f32::from(raw[k + 2])) * AXIS_UNIT
    };
    let (u, v) = (back(0), back(3));
    (raw, [u, v, u.cross(v)])
}
