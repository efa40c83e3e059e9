//! The default hierarchy of `jostle-geom`, as one contender among the others.

use crate::{Contender, Count};
use jostle_geom::{Counters, FacePair, Mesh, Model, Pair, Pose, Quality};

/// The hierarchy that every ordinary query uses.
#[derive(Clone, Debug)]
pub struct Ours {
    a: Model,
    b: Model,
}

impl Ours {
    /// Builds both hierarchies.
    #[must_use]
    pub fn new(a: &Mesh, b: &Mesh, quality: Quality) -> Ours {
        Ours { a: Model::build(a.clone(), quality), b: Model::build(b.clone(), quality) }
    }
}

impl Contender for Ours {
    fn name(&self) -> String {
        "ours".to_owned()
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        let (touches, cost) = Pair::new(&self.a, pose_a, &self.b, pose_b).touches_counted();
        (touches, count(cost))
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        let (pairs, cost) = Pair::new(&self.a, pose_a, &self.b, pose_b).all_pairs_counted();
        (pairs, count(cost))
    }

    fn bytes(&self) -> usize {
        let of = |model: &Model| model.memory_usage() - model.mesh().memory_usage();
        of(&self.a) + of(&self.b)
    }
}

/// A test of one box against eight counts as eight, although lanes may be empty.
pub(crate) fn count(cost: Counters) -> Count {
    Count {
        visits: cost.box_tests,
        volume_tests: cost.box_tests * 8,
        triangle_tests: cost.triangle_tests,
        ..Count::default()
    }
}
