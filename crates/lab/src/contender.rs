//! The one interface of all methods, so that one harness can ask them all.

use crate::Count;
use jostle_geom::{FacePair, Pose};

/// Two meshes, prepared by one method, that can be asked at any two poses.
///
/// Methods may keep what they learn from one question to the next (vertices that were placed, a
/// plane that separated the two), so asking changes them; it never changes an answer.
pub trait Contender {
    /// What tables call it.
    fn name(&self) -> String;

    /// Do the two surfaces share a point?
    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count);

    /// All pairs of faces that share a point, in ascending order, each once.
    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count);

    /// What the method keeps in memory for the two meshes, without the meshes themselves.
    fn bytes(&self) -> usize;
}
