//! The paper's own trees in the same scenes: 18-DOPs, re-aligned by boundaries, with its three
//! split rules and its thresholds. The scene is played with the default hierarchy, poses of objects
//! whose boxes overlap are written down, and each tree is asked about them.

use super::super::clock::{Clock, milliseconds};
use crate::Contender;
use crate::dop::{BoundaryWay, DopTree, DopTrees, NormalSet};
use crate::experiments::error::LabError;
use crate::traverse::ByTree;
use crate::tree::{SplitRule, Splitting};
use jostle_geom::{Mesh, Model, Pair, Pose, ShapeKind};
use jostle_stage::Stage;
use jostle_world::BodyId;
use std::sync::Arc;
use std::time::Duration;

pub(super) const RULES: [SplitRule; 3] =
    [SplitRule::LongestSide, SplitRule::Splatter, SplitRule::MinSum];

/// Questions of a scene: all objects have one mesh.
#[derive(Default)]
pub(super) struct Recorded {
    model: Option<Arc<Model>>,
    questions: Vec<[Pose; 2]>,
}

/// What one tree took.
pub(super) struct Asked {
    pub(super) bytes: usize,
    pub(super) ms_per_pair: f64,
}

impl Recorded {
    /// Writes down where the objects are whose boxes overlap.
    pub(super) fn record(&mut self, stage: &Stage) {
        let world = stage.world();
        let ring = |id: BodyId| match world.shape(id).ok()?.kind() {
            ShapeKind::Mesh(model) => Some(Arc::clone(model)),
            _ => None,
        };
        let models: Vec<(BodyId, Arc<Model>)> =
            world.ids().filter_map(|id| Some((id, ring(id)?))).collect();
        // Walls may be meshes too; the objects are the finest.
        let Some((_, finest)) =
            models.iter().max_by_key(|(_, model)| model.mesh().triangle_count())
        else {
            return;
        };
        let ids: Vec<BodyId> =
            models.iter().filter(|(_, model)| Arc::ptr_eq(model, finest)).map(|m| m.0).collect();
        for (i, &a) in ids.iter().enumerate() {
            for &b in &ids[i + 1..] {
                let (Ok(Some(box_a)), Ok(Some(box_b))) = (world.bounds(a), world.bounds(b)) else {
                    continue;
                };
                if let (true, Ok(pose_a), Ok(pose_b)) =
                    (box_a.overlaps(&box_b), world.pose(a), world.pose(b))
                {
                    self.questions.push([pose_a, pose_b]);
                }
            }
        }
        self.model.get_or_insert_with(|| Arc::clone(finest));
    }

    /// How many questions there are.
    pub(super) fn count(&self) -> usize {
        self.questions.len()
    }

    /// Builds the tree of one splitting and asks all questions; nothing without objects.
    pub(super) fn ask(&self, splitting: Splitting) -> Result<Option<Asked>, LabError> {
        let Some(model) = &self.model else { return Ok(None) };
        let mesh: &Mesh = model.mesh();
        let normals = NormalSet::klosowski();
        let tree = DopTree::build(mesh, &normals, splitting);
        let bytes = tree.clone().with_boundary(mesh, BoundaryWay::Own).bytes();
        let second = tree.clone().with_boundary(mesh, BoundaryWay::Own);
        let mut contender = ByTree::new(mesh, mesh, DopTrees::of([tree, second], normals));
        let now = Clock::ThreadCpu.reader();
        let mut time = Duration::ZERO;
        for (question, [pose_a, pose_b]) in self.questions.iter().enumerate() {
            let begin = now();
            let (touches, _) = contender.touches(pose_a, pose_b);
            time += now().saturating_sub(begin);
            if touches != Pair::new(model, pose_a, model, pose_b).touches() {
                return Err(LabError::Disagrees { method: "18-DOPs by boundaries", question });
            }
        }
        let ms_per_pair = milliseconds(time) / self.questions.len().max(1) as f64;
        Ok(Some(Asked { bytes, ms_per_pair }))
    }
}
