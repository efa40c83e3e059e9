//! What the methods of this folder take for two rigid copies near contact.

use super::{Fineness, PointsInVoxels};
use crate::{Contender, Count, NearContact};
use jostle_geom::{Mesh, Model, Pair, Pose, Quality};
use std::time::Duration;

/// What a method took for a turning copy, all questions together.
#[derive(Clone, Debug)]
pub struct LinkRow {
    /// Of the method.
    pub name: String,
    /// How many questions.
    pub questions: usize,
    /// How often the answer was yes.
    pub touching: usize,
    /// What they took.
    pub count: Count,
    /// How long.
    pub time: Duration,
}

/// Asks a method about poses, one after the other, the first mesh at the origin.
pub fn link_row(
    method: &mut dyn Contender,
    poses: &[Pose],
    now: &mut dyn FnMut() -> Duration,
) -> LinkRow {
    let (mut count, mut touching) = (Count::default(), 0);
    let begin = now();
    for pose in poses {
        let (touches, cost) = method.touches(&Pose::IDENTITY, pose);
        touching += usize::from(touches);
        count += cost;
    }
    let time = now().saturating_sub(begin);
    LinkRow { name: method.name(), questions: poses.len(), touching, count, time }
}

/// How right points against voxels were for a turning copy.
#[derive(Clone, Debug)]
pub struct VoxelRow {
    /// How fine.
    pub fineness: Fineness,
    /// ε = √3·s/(2n).
    pub error: f64,
    /// What a yes promises: no further apart than this.
    pub promised: f64,
    /// Of grid and cloud.
    pub bytes: usize,
    /// Points of the cloud.
    pub points: usize,
    /// How many the thesis' formula gives for the same radius: 1.3 · 4/3 · (s/2r)².
    pub thesis_points: f64,
    /// How many questions.
    pub questions: usize,
    /// Answers of yes although the surfaces are apart.
    pub wrong_yes: usize,
    /// The largest distance at such an answer.
    pub farthest_yes: f64,
    /// Answers of no although the surfaces touch.
    pub wrong_no: usize,
    /// How long all questions took.
    pub time: Duration,
    /// How long the exact answers of the default hierarchy took.
    pub exact_time: Duration,
}

/// Two copies of a mesh near contact, with points of the second and voxels of the first.
pub fn voxel_row(
    mesh: &Mesh,
    approach: &NearContact,
    fineness: Fineness,
    now: &mut dyn FnMut() -> Duration,
) -> VoxelRow {
    let voxels = PointsInVoxels::new(mesh, mesh, fineness);
    let model = Model::build(mesh.clone(), Quality::Default);
    let side = voxels.error() * 2.0 / 3f64.sqrt() * fineness.voxels.max(1) as f64;
    let mut row = VoxelRow {
        fineness,
        error: voxels.error(),
        promised: voxels.apart_at_most(),
        bytes: voxels.bytes(),
        points: voxels.points().len(),
        thesis_points: 1.3 * 4.0 / 3.0 * (side / (2.0 * fineness.radius)).powi(2),
        questions: 0,
        wrong_yes: 0,
        farthest_yes: 0.0,
        wrong_no: 0,
        time: Duration::ZERO,
        exact_time: Duration::ZERO,
    };
    for pose in approach.poses(mesh) {
        let begin = now();
        let (guess, _) = voxels.touches(&pose, &Pose::IDENTITY);
        let asked = now();
        let pair = Pair::new(&model, &Pose::IDENTITY, &model, &pose);
        let exact = pair.touches();
        row.exact_time += now().saturating_sub(asked);
        row.time += asked.saturating_sub(begin);
        row.questions += 1;
        if guess && !exact {
            let apart = pair.distance().map_or(0.0, |distance| distance.distance);
            row.wrong_yes += 1;
            row.farthest_yes = row.farthest_yes.max(apart);
        }
        row.wrong_no += usize::from(exact && !guess);
    }
    row
}
