//! Meshes that change their form (Zachmann 2000, 3.3 and 3.7): methods, and things to try them on.

mod ours;
mod pipeline;
mod report;
mod scenes;
mod sorted;

pub use ours::{Renewal, Renewed};
pub use pipeline::{BoxPipeline, ThreadsError};
pub(crate) use pipeline::{face_pairs, placed};
pub use report::{DeformRow, deform_row};
pub use scenes::{DeformKind, DeformScene, Frame};
pub(crate) use sorted::sort_nearly;

use crate::{Contender, Count};
use glam::Vec3;
use jostle_geom::MeshError;

/// One of the two meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The first.
    A,
    /// The second.
    B,
}

impl Which {
    pub(crate) fn index(self) -> usize {
        match self {
            Which::A => 0,
            Which::B => 1,
        }
    }
}

/// A method whose meshes may change their form between questions.
pub trait Deforming: Contender {
    /// Moves the vertices of a mesh, given in the order in which it was made.
    ///
    /// # Errors
    /// As [`jostle_geom::Mesh::set_vertices`]. Nothing is changed then.
    fn set_vertices(&mut self, which: Which, positions: &[Vec3]) -> Result<Count, MeshError>;
}
