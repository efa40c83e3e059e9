//! The default hierarchy, fitted to new positions or built anew.

use super::{Deforming, Which};
use crate::ours::count;
use crate::{Contender, Count};
use glam::Vec3;
use jostle_geom::{FacePair, Mesh, MeshError, Model, Pair, Pose, Quality};

/// What is done with the default hierarchy when positions are new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// Its boxes are fitted to them.
    Refit,
    /// It is built anew.
    Rebuild,
}

/// The default hierarchy of meshes that change, built fast.
#[derive(Clone, Debug)]
pub struct Renewed {
    models: [Model; 2],
    renewal: Renewal,
}

impl Renewed {
    /// Builds both hierarchies.
    #[must_use]
    pub fn new(a: &Mesh, b: &Mesh, renewal: Renewal) -> Renewed {
        let models = [a, b].map(|mesh| Model::build(mesh.clone(), Quality::Fast));
        Renewed { models, renewal }
    }

    fn pair(&self, pose_a: &Pose, pose_b: &Pose) -> Pair<'_> {
        Pair::new(&self.models[0], pose_a, &self.models[1], pose_b)
    }
}

impl Contender for Renewed {
    fn name(&self) -> String {
        match self.renewal {
            Renewal::Refit => "ours, refitted".to_owned(),
            Renewal::Rebuild => "ours, rebuilt".to_owned(),
        }
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        let (touches, cost) = self.pair(pose_a, pose_b).touches_counted();
        (touches, count(cost))
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        let (pairs, cost) = self.pair(pose_a, pose_b).all_pairs_counted();
        (pairs, count(cost))
    }

    fn bytes(&self) -> usize {
        self.models.iter().map(|model| model.memory_usage() - model.mesh().memory_usage()).sum()
    }
}

impl Deforming for Renewed {
    fn set_vertices(&mut self, which: Which, positions: &[Vec3]) -> Result<Count, MeshError> {
        let model = &mut self.models[which.index()];
        match self.renewal {
            Renewal::Refit => model.refit(positions)?,
            Renewal::Rebuild => {
                let mut mesh = model.mesh().clone();
                mesh.set_vertices(positions)?;
                *model = Model::build(mesh, Quality::Fast);
            }
        }
        Ok(Count::default())
    }
}
