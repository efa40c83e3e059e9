//! The same question about many poses.

use super::{Distance, Pair};
use crate::Pose;
use crate::shape::ShapeRef;
use rayon::prelude::*;

/// Two shapes, the second at many poses: grasps, steps of a path, places to try.
///
/// Queries run on the threads of the current `rayon` pool: all cores, unless the call comes
/// from inside `rayon::ThreadPool::install`. Answers come in the order of the poses and are the
/// same, to the bit, as those of a [`Pair`] for each of them, for any number of threads.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Batch, Model, Pose, Quality, solids};
///
/// let cube = Model::build(solids::cuboid(DVec3::ONE)?, Quality::Default);
/// let poses = [0.5, 1.0, 1.5, 3.0].map(|x| Pose::from_translation(DVec3::X * x));
/// let poses = poses.into_iter().collect::<Result<Vec<_>, _>>()?;
/// let batch = Batch::new(&cube, &Pose::IDENTITY, &cube, &poses);
/// assert_eq!(batch.touches(), [true, true, false, false]);
/// let distances: Vec<f64> = batch.distances().iter().flatten().map(|d| d.distance).collect();
/// assert_eq!(distances, [0.0, 0.0, 0.5, 2.0]);
/// assert_eq!(batch.map(|pair| pair.within(0.5)), [true, true, true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    a: ShapeRef<'a>,
    pose_a: Pose,
    b: ShapeRef<'a>,
    poses_b: &'a [Pose],
}

/// Poses that a thread takes at a time, at least: a touch query takes about a microsecond, handing
/// out work about as long.
const POSES_AT_ONCE: usize = 16;

impl<'a> Batch<'a> {
    /// `a` at `pose_a`, and `b` at each of `poses_b`.
    #[must_use]
    pub fn new(
        a: impl Into<ShapeRef<'a>>,
        pose_a: &Pose,
        b: impl Into<ShapeRef<'a>>,
        poses_b: &'a [Pose],
    ) -> Batch<'a> {
        Batch { a: a.into(), pose_a: *pose_a, b: b.into(), poses_b }
    }

    /// [`Pair::touches`] for each pose.
    #[must_use]
    pub fn touches(&self) -> Vec<bool> {
        self.map(Pair::touches)
    }

    /// [`Pair::distance`] for each pose.
    #[must_use]
    pub fn distances(&self) -> Vec<Option<Distance>> {
        self.map(Pair::distance)
    }

    /// Any function of the pair, for each pose.
    pub fn map<R: Send>(&self, query: impl Fn(&Pair<'a>) -> R + Sync) -> Vec<R> {
        let at = |pose_b: &Pose| query(&Pair::new(self.a, &self.pose_a, self.b, pose_b));
        self.poses_b.par_iter().with_min_len(POSES_AT_ONCE).map(at).collect()
    }
}
