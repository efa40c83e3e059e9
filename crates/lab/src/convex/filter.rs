//! Hulls as a filter before another method (Zachmann 2000, 3.9).

use super::{
    Effort, FaceTracker, Gjk, Hull, HullError, Neighbours, Placement, PlaneSettings,
    SeparatingPlane, Tracked,
};
use crate::{Contender, Count};
use jostle_geom::{FacePair, Mesh, Pose};

/// One of the convex tests, with what it keeps of a pair.
#[derive(Clone, Debug)]
pub enum Filter {
    /// Learned planes.
    Planes(SeparatingPlane),
    /// Closest faces, followed.
    Faces(FaceTracker),
    /// The reference.
    Gjk(Gjk),
}

impl Filter {
    /// All of them, as they are compared.
    #[must_use]
    pub fn all() -> Vec<Filter> {
        vec![
            Filter::Planes(SeparatingPlane::new(PlaneSettings::default())),
            Filter::Faces(FaceTracker::new(Neighbours::Edges)),
            Filter::Faces(FaceTracker::new(Neighbours::Corners)),
            Filter::Gjk(Gjk::new()),
        ]
    }

    /// What tables call it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Filter::Planes(_) => "separating planes",
            Filter::Faces(tracker) => match tracker.neighbours() {
                Neighbours::Edges => "closest faces, edges",
                Neighbours::Corners => "closest faces, corners",
            },
            Filter::Gjk(_) => "GJK",
        }
    }

    /// Are the two hulls apart? Yes is proved.
    pub fn proves_apart(&mut self, placement: &Placement<'_>) -> (bool, Effort) {
        match self {
            Filter::Planes(planes) => planes.proves_apart(placement),
            Filter::Faces(tracker) => {
                let (found, effort) = tracker.track(placement);
                (found != Tracked::Maybe, effort)
            }
            Filter::Gjk(gjk) => gjk.proves_apart(placement),
        }
    }

    /// What the exact test found after this one had proved nothing.
    pub fn hear(&mut self, touches: bool) {
        if let Filter::Planes(planes) = self {
            planes.hear(touches);
        }
    }
}

/// Hulls of two meshes as a filter before another method: what is proved apart is not asked about.
pub struct HullFilter<'a> {
    hulls: [Hull; 2],
    filter: Filter,
    then: Box<dyn Contender + 'a>,
}

impl<'a> HullFilter<'a> {
    /// Builds the hulls of both meshes. `then` must be about the same two.
    ///
    /// # Errors
    /// A mesh without triangles has no hull.
    pub fn new(
        a: &Mesh,
        b: &Mesh,
        filter: Filter,
        then: Box<dyn Contender + 'a>,
    ) -> Result<HullFilter<'a>, HullError> {
        Ok(HullFilter { hulls: [Hull::of_mesh(a)?, Hull::of_mesh(b)?], filter, then })
    }

    fn apart(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        let [a, b] = &self.hulls;
        let placement = Placement::new(a, pose_a, b, pose_b);
        let (apart, effort) = self.filter.proves_apart(&placement);
        (apart, effort.count())
    }
}

impl Contender for HullFilter<'_> {
    fn name(&self) -> String {
        format!("{}, then {}", self.filter.name(), self.then.name())
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        let (apart, mut count) = self.apart(pose_a, pose_b);
        if apart {
            return (false, count);
        }
        let (touches, more) = self.then.touches(pose_a, pose_b);
        self.filter.hear(touches);
        count += more;
        (touches, count)
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        let (apart, mut count) = self.apart(pose_a, pose_b);
        if apart {
            return (Vec::new(), count);
        }
        let (pairs, more) = self.then.all_pairs(pose_a, pose_b);
        self.filter.hear(!pairs.is_empty());
        count += more;
        (pairs, count)
    }

    fn bytes(&self) -> usize {
        self.hulls.iter().map(Hull::bytes).sum::<usize>() + self.then.bytes()
    }
}
