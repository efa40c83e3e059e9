//! Two hulls at two poses, and the one proof that they are apart.
//!
//! Every method of this module ends here: it has a direction along which it believes the hulls to
//! be apart, and [`Placement::gap`] either proves it or does not. "Apart" is about the vertices as
//! [`Pose::transform_point`] puts them, which is what the exact test of triangles is about too; so
//! no pair that touches is ever dismissed, whatever rounding does.
//!
//! **The bound.** Let n be a direction in the world, u = 2^-53, and p a vertex of a mesh whose pose
//! has the matrix R (its rows are no longer than 1 + 2^-50) and the translation t.
//! * `Pose::transform_point` rounds each coordinate three times: it is off from R p + t by at most
//!   3.01 u (|p| + |t|), which moves n · x by at most 3.01 u |n|₁ (|p| + |t|).
//! * w = Rᵀ n as computed is off by 3.01 u |n| in each component, and by far less for components
//!   that are dropped (2^-200); w · p is then off from Rᵀ n · p by at most 5.3 u |n| |p|.
//! * w · p as computed: 3.1 u |n| |p|.
//! * n · (t − t′) as computed: 4.1 u |n|₁ (|t| + |t′|).
//! * Two sums of such numbers: 2.1 u |n|₁ (|p| + |q| + |t| + |t′|).
//!
//! Together below 18 u |n|₁ (|p| + |q| + |t| + |t′|); 32 leaves room. The corner p that is lowest
//! along w is lowest *exactly* ([`Hull::lowest`]), and lowest of the mesh's vertices, because none
//! of them is outside of the hull. So a computed gap above the bound is a gap.

use super::Hull;
use crate::Count;
use glam::DVec3;
use jostle_geom::Pose;
use std::ops::AddAssign;

/// What a convex test cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Planes that were tried, pairs of faces that were walked to, or simplices.
    pub steps: u64,
    /// Corners that were looked at on the way downhill.
    pub corners: u64,
    /// Pairs of faces whose distance was computed.
    pub distances: u64,
}

impl AddAssign for Effort {
    fn add_assign(&mut self, more: Effort) {
        self.steps += more.steps;
        self.corners += more.corners;
        self.distances += more.distances;
    }
}

impl Effort {
    /// In the terms of all methods: one volume test, and five operations for each corner that was
    /// looked at. A distance of two faces counts as a comparison.
    #[must_use]
    pub fn count(&self) -> Count {
        Count {
            volume_tests: 1,
            operations: 5 * self.corners,
            comparisons: self.corners + self.distances,
            ..Count::default()
        }
    }
}

/// Two hulls at two poses.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// The hulls.
    pub hulls: [&'a Hull; 2],
    /// Where their meshes are.
    pub poses: [&'a Pose; 2],
}

/// How two hulls lie along a direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// The lowest corner of the first hull and the highest of the second.
    pub(super) corners: [u32; 2],
    /// How high these are, as computed.
    pub(super) heights: [f64; 2],
    /// The first hull is wholly above the second. Proved.
    pub(super) proved: bool,
}

impl<'a> Placement<'a> {
    /// Two hulls at two poses.
    #[must_use]
    pub fn new(a: &'a Hull, pose_a: &'a Pose, b: &'a Hull, pose_b: &'a Pose) -> Placement<'a> {
        Placement { hulls: [a, b], poses: [pose_a, pose_b] }
    }

    /// How the first hull lies above the second along `direction`, walking from `start`. Heights
    /// are relative to the first hull's translation.
    pub(super) fn gap(&self, direction: DVec3, start: [u32; 2], effort: &mut Effort) -> Gap {
        let [a, b] = self.hulls;
        let [w, v] = self.poses.map(|pose| pose.inverse_transform_vector(direction));
        let low = a.lowest(w, start[0], &mut effort.corners);
        let high = b.lowest(-v, start[1], &mut effort.corners);
        let [from, to] = self.poses.map(Pose::translation);
        let height = w.dot(a.corners()[low as usize]);
        let top = v.dot(b.corners()[high as usize]) + direction.dot(to - from);
        let size = |v: DVec3| v.x.abs() + v.y.abs() + v.z.abs();
        let reach = a.reach() + b.reach() + size(from) + size(to);
        let bound = 32.0 * (f64::EPSILON * 0.5) * size(direction) * reach;
        Gap { corners: [low, high], heights: [height, top], proved: height - top > bound }
    }

    /// Where a corner of one of the hulls is, up to rounding.
    pub(super) fn corner(&self, side: usize, corner: u32) -> DVec3 {
        self.poses[side].transform_point(self.hulls[side].corners()[corner as usize])
    }

    /// Where the middles of the bounding boxes are.
    pub(super) fn centres(&self) -> [DVec3; 2] {
        [0, 1].map(|side| self.poses[side].transform_point(self.hulls[side].centre()))
    }
}
