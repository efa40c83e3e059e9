//! Two models in two poses: every question that can be asked of them.

mod distance;
mod leaf;
mod near;
mod place;
mod relative;
mod walk;

use crate::triangle::{Triangle, triangles_touch};
use crate::{Model, Pose};
use distance::DistanceSearch;
use glam::DVec3;
use near::Nearer;
use relative::Relative;
use std::ops::ControlFlow;
pub use walk::Counters;
use walk::{End, Order, Touching, Walk};

/// Two models, each in its pose.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    a: &'a Model,
    pose_a: Pose,
    b: &'a Model,
    pose_b: Pose,
    relative: Relative,
}

/// Two faces that touch, as their callers counted them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FacePair {
    /// Face of the first model.
    pub a: u32,
    /// Face of the second model.
    pub b: u32,
}

/// A proof that two models touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Witness {
    /// The touching faces.
    pub faces: FacePair,
    /// A point common to both, in the world, within rounding.
    pub point: DVec3,
}

/// How far apart two models are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Smallest distance between the two surfaces; 0 exactly when they touch.
    pub distance: f64,
    /// The closest point on the first model, in the world.
    pub point_a: DVec3,
    /// The closest point on the second model, in the world.
    pub point_b: DVec3,
    /// The faces that these points lie on.
    pub faces: FacePair,
}

impl<'a> Pair<'a> {
    /// `a` in `pose_a` and `b` in `pose_b`.
    #[must_use]
    pub fn new(a: &'a Model, pose_a: &Pose, b: &'a Model, pose_b: &Pose) -> Pair<'a> {
        let relative = Relative::new(a, pose_a, b, pose_b);
        Pair { a, pose_a: *pose_a, b, pose_b: *pose_b, relative }
    }

    /// Do they share at least one point?
    #[must_use]
    pub fn touches(&self) -> bool {
        let mut walk = Walk::new(*self, Order::Deepest, 0.0);
        walk.run(u64::MAX, &mut Touching(|_, _| ControlFlow::Break(()))) == End::Stopped
    }

    /// Two touching faces and a common point, if they touch.
    #[must_use]
    pub fn witness(&self) -> Option<Witness> {
        None
    }

    /// Every touching pair of faces, sorted.
    #[must_use]
    pub fn all_pairs(&self) -> Vec<FacePair> {
        let mut found = Vec::new();
        let (mesh_a, mesh_b) = (&self.a.mesh, &self.b.mesh);
        let mut walk = Walk::new(*self, Order::Any, 0.0);
        walk.run(
            u64::MAX,
            &mut Touching(|a, b| {
                found.push(FacePair { a: mesh_a.face_of(a as u32), b: mesh_b.face_of(b as u32) });
                ControlFlow::Continue(())
            }),
        );
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What [`Pair::all_pairs`] costs.
    #[must_use]
    pub fn all_pairs_counters(&self) -> Counters {
        let mut walk = Walk::new(*self, Order::Any, 0.0);
        walk.run(u64::MAX, &mut Touching(|_, _| ControlFlow::Continue(())));
        walk.counters
    }
    /// What touch costs.
    #[must_use]
    pub fn touch_counters(&self) -> Counters {
        let mut walk = Walk::new(*self, Order::Deepest, 0.0);
        walk.run(u64::MAX, &mut Touching(|_, _| ControlFlow::Break(())));
        walk.counters
    }

    /// The exact answer for two triangles.
    #[cold]
    fn triangles_touch(&self, a: usize, b: usize) -> bool {
        triangles_touch(&self.placed_a(a), &self.placed_b(b))
    }

    /// The smallest distance; `None` if one of the models is empty.
    #[must_use]
    pub fn distance(&self) -> Option<Distance> {
        let mut search = DistanceSearch::new(*self, f64::INFINITY);
        search.run(u64::MAX);
        search.found()
    }

    /// Is the smallest distance at most `distance`?
    #[must_use]
    pub fn within(&self, distance: f64) -> bool {
        let mut walk = Walk::new(*self, Order::Deepest, distance as f32 * 1.000_001);
        walk.run(u64::MAX, &mut Nearer(distance)) == End::Stopped
    }

    fn faces(&self, a: usize, b: usize) -> FacePair {
        FacePair { a: self.a.mesh.face_of(a as u32), b: self.b.mesh.face_of(b as u32) }
    }

    pub(crate) fn placed_a(&self, triangle: usize) -> Triangle {
        self.a.mesh.triangles[triangle].map(|v| self.pose_a.place(self.a.mesh.vertices[v as usize]))
    }

    pub(crate) fn placed_b(&self, triangle: usize) -> Triangle {
        self.b.mesh.triangles[triangle].map(|v| self.pose_b.place(self.b.mesh.vertices[v as usize]))
    }
}
impl Pair<'_> {
    /// What distance costs.
    #[must_use]
    pub fn distance_counters(&self) -> Counters {
        let mut search = DistanceSearch::new(*self, f64::INFINITY);
        search.run(u64::MAX);
        search.counters
    }
}
