//! Two meshes in one frame: boxes, where the second is seen from the first, and how far rounding
//! can lead astray.
//!
//! Box arithmetic of this crate runs in `f64` on mesh coordinates, which are `f32` and so exact.
//! What rounds is the way from one frame to the other. [`Frames::slack`] bounds that, and boxes
//! are grown by it once, before they are compared: rounding can then only err towards "overlap".

use crate::traverse::Relative;
use glam::DVec3;
use jostle_geom::{Mesh, Pose};

/// A box along the axes of some frame. Empty if some low is above its high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) low: DVec3,
    pub(crate) high: DVec3,
}

impl Bounds {
    pub(crate) const EMPTY: Bounds = Bounds { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY };

    pub(crate) fn of(points: impl IntoIterator<Item = DVec3>) -> Bounds {
        let grow = |b: Bounds, p: DVec3| Bounds { low: b.low.min(p), high: b.high.max(p) };
        points.into_iter().fold(Bounds::EMPTY, grow)
    }

    /// Of a triangle of a mesh, in the frame of the mesh: exact.
    pub(crate) fn of_triangle(mesh: &Mesh, triangle: u32) -> Bounds {
        let corner = |v: u32| mesh.vertices()[v as usize].as_dvec3();
        Bounds::of(mesh.triangles()[triangle as usize].map(corner))
    }

    pub(crate) fn joined(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub(crate) fn grown(self, by: f64) -> Bounds {
        Bounds { low: self.low - DVec3::splat(by), high: self.high + DVec3::splat(by) }
    }

    pub(crate) fn extent(&self) -> DVec3 {
        self.high - self.low
    }

    /// The largest size of a coordinate sum: no point of the box is further from zero. 0 if empty.
    pub(crate) fn reach(&self) -> f64 {
        if self.low.x > self.high.x {
            return 0.0;
        }
        let far = self.low.abs().max(self.high.abs());
        far.x + far.y + far.z
    }

    pub(crate) fn meets(&self, other: &Bounds) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }
}

/// An affine map between two frames: rotation by rows, then a shift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Map {
    pub(crate) rows: [DVec3; 3],
    pub(crate) shift: DVec3,
}

impl Map {
    pub(crate) fn point(&self, p: DVec3) -> DVec3 {
        self.turn(p) + self.shift
    }

    /// A direction.
    pub(crate) fn turn(&self, d: DVec3) -> DVec3 {
        DVec3::from_array(self.rows.map(|row| row.dot(d)))
    }

    /// The box around a mapped box (an empty one stays empty).
    pub(crate) fn enclose(&self, b: &Bounds) -> Bounds {
        if b.low.x > b.high.x {
            return Bounds::EMPTY;
        }
        let corner = |i: u32| {
            let pick = |axis: usize| if i >> axis & 1 == 0 { b.low[axis] } else { b.high[axis] };
            DVec3::new(pick(0), pick(1), pick(2))
        };
        Bounds::of((0..8).map(|i| self.point(corner(i))))
    }
}

/// Where two meshes are, seen from each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frames {
    /// From the frame of the second mesh to that of the first.
    pub(crate) to_a: Map,
    /// The other way.
    pub(crate) to_b: Map,
    relative: Relative,
}

impl Frames {
    /// `reach` is how far each mesh reaches from its own zero, see [`Bounds::reach`].
    pub(crate) fn new(reach: [f64; 2], pose_a: &Pose, pose_b: &Pose) -> Frames {
        let relative = Relative::new(reach, pose_a, pose_b);
        let [x, y, z] = relative.rows;
        let columns = [0, 1, 2].map(|i| DVec3::new(x[i], y[i], z[i]));
        Frames {
            to_a: Map { rows: relative.rows, shift: relative.shift },
            to_b: Map { rows: columns, shift: -relative.turn_back(relative.shift) },
            relative,
        }
    }

    /// By how much boxes must be grown if numbers go through `roundings` operations after a point
    /// was brought over. Each, on numbers up to twice [`Relative::length`], rounds by at most 2 ·
    /// 2^-53 of it; the rest is [`Relative::slack`], which holds in both frames.
    pub(crate) fn slack(&self, roundings: usize) -> f64 {
        self.relative.slack + 2.0 * roundings as f64 * 2f64.powi(-53) * self.relative.length
    }

    /// No number of a question is larger, see [`Relative::length`].
    pub(crate) fn length(&self) -> f64 {
        self.relative.length
    }
}
