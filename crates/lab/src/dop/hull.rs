//! A convex hull that the caller supplies for a mesh, checked before it is used.

use glam::Vec3;
use jostle_geom::predicates::{Sign, orient3d};
use jostle_geom::{Mesh, NotClosed};

/// The vertices of a convex polytope that a mesh lies in.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenHull {
    vertices: Vec<Vec3>,
}

/// Why a mesh is not the hull of another.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenHullError {
    /// Its surface has a hole, or no area.
    NotClosed(Option<NotClosed>),
    /// A vertex of the mesh is beyond a face of the hull.
    Outside {
        /// Of the mesh.
        vertex: usize,
        /// Of the hull.
        triangle: usize,
    },
    /// The hull has a vertex on each side of one of its faces.
    NotConvex {
        /// Of the hull.
        triangle: usize,
    },
}

impl std::fmt::Display for GivenHullError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GivenHullError::NotClosed(Some(why)) => write!(f, "the hull is not closed: {why}"),
            GivenHullError::NotClosed(None) => write!(f, "the hull has no faces with an area"),
            GivenHullError::Outside { vertex, triangle } => {
                write!(f, "vertex {vertex} of the mesh is beyond triangle {triangle} of the hull")
            }
            GivenHullError::NotConvex { triangle } => {
                write!(f, "the hull has vertices on both sides of its triangle {triangle}")
            }
        }
    }
}

impl std::error::Error for GivenHullError {}

impl GivenHull {
    /// A closed mesh of triangles, all of them with everything on one side, exactly.
    ///
    /// Such triangles lie in the boundary of the hull of their corners, which is a sphere; and a
    /// closed surface in a sphere is all of it. So the half-spaces of the triangles together are
    /// that hull, and the mesh is inside.
    ///
    /// # Errors
    /// A surface that is open or not convex, or a vertex of the mesh that is outside of it.
    pub fn new(hull: &Mesh, mesh: &Mesh) -> Result<GivenHull, GivenHullError> {
        hull.clone().into_solid().map_err(|why| GivenHullError::NotClosed(Some(why)))?;
        let mut flat = true;
        for (triangle, &corners) in hull.triangles().iter().enumerate() {
            let [a, b, c] = corners.map(|v| hull.vertices()[v as usize].as_dvec3());
            let side = |p: &Vec3| orient3d(a, b, c, p.as_dvec3());
            let mut inside = Sign::Zero;
            for sign in hull.vertices().iter().map(side).filter(|&sign| sign != Sign::Zero) {
                if inside == Sign::Zero {
                    inside = sign;
                } else if inside != sign {
                    return Err(GivenHullError::NotConvex { triangle });
                }
            }
            // A triangle without area has nothing on either side, and says nothing.
            if inside == Sign::Zero {
                continue;
            }
            flat = false;
            let beyond = |p: &Vec3| ![Sign::Zero, inside].contains(&side(p));
            if let Some(vertex) = mesh.vertices().iter().position(beyond) {
                return Err(GivenHullError::Outside { vertex, triangle });
            }
        }
        let hull = GivenHull { vertices: hull.vertices().to_vec() };
        if flat { Err(GivenHullError::NotClosed(None)) } else { Ok(hull) }
    }

    /// Its vertices.
    #[must_use]
    pub fn vertices(&self) -> &[Vec3] {
        &self.vertices
    }
}
