//! A mesh ready for queries: the mesh and its hierarchy.

use crate::mesh::Mesh;
use crate::tree::{self, Tree};

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
    pub(crate) tree: Tree,
}

impl Model {
    /// Builds the hierarchy of a mesh.
    #[must_use]
    pub fn build(mut mesh: Mesh, quality: Quality) -> Model {
        let (tree, order) = tree::build::build(&mesh.vertices, &mesh.triangles, quality);
        mesh.reorder(&order);
        Model { mesh, tree }
    }

    /// The mesh. Its triangles stand in the order of the hierarchy; faces keep their numbers.
    #[must_use]
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Bytes of memory that mesh and hierarchy take together.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.mesh.bytes() + self.tree.bytes()
    }
}
