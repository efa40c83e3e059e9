//! Two models in two poses: every question that can be asked of them.

use crate::{Model, Pose};
use glam::DVec3;

/// Two models, each in its pose.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    a: &'a Model,
    pose_a: Pose,
    b: &'a Model,
    pose_b: Pose,
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
        Pair { a, pose_a: *pose_a, b, pose_b: *pose_b }
    }

    /// Do they share at least one point?
    #[must_use]
    pub fn touches(&self) -> bool {
        let _ = (self.a, self.pose_a, self.b, self.pose_b);
        false
    }

    /// Two touching faces and a common point, if they touch.
    #[must_use]
    pub fn witness(&self) -> Option<Witness> {
        None
    }

    /// Every touching pair of faces, sorted.
    #[must_use]
    pub fn all_pairs(&self) -> Vec<FacePair> {
        Vec::new()
    }

    /// The smallest distance; `None` if one of the models is empty.
    #[must_use]
    pub fn distance(&self) -> Option<Distance> {
        None
    }

    /// Is the smallest distance at most `distance`?
    #[must_use]
    pub fn within(&self, distance: f64) -> bool {
        let _ = distance;
        false
    }
}
