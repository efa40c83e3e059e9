//! Is a point inside of a solid? Exact.

use super::{PosedModel, usable, used_lanes};
use crate::tree::Child;
use crate::triangle::{RayCross, x_ray_crosses};
use glam::DVec3;

/// Where a point is, seen from a solid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Inside, and not on the surface.
    Inside,
    /// Outside, and not on the surface.
    Outside,
    /// A point of the surface.
    OnSurface,
}

/// Why there is no answer to inside or outside.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ContainsError {
    /// The mesh is not marked as solid.
    #[error("only a solid has an inside: the mesh must have passed Mesh::into_solid")]
    NotSolid,
    /// The point has components that are not finite, or of 2^129 and more.
    #[error("a point needs components below 2^129 in size, found {point}")]
    BadPoint {
        /// The point found.
        point: DVec3,
    },
}

impl PosedModel<'_> {
    /// Is `p` inside or outside of the solid, or on its surface? Exact for the placed triangles:
    /// inside means that a ray from `p` crosses the surface an odd number of times (see
    /// [`crate::Mesh::into_solid`]). Components of `p` below 2^-209 count as zero.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, PosedModel, Pose, Quality, Side, solids};
    ///
    /// let cube = solids::cuboid(DVec3::splat(2.0))?.into_solid()?;
    /// let cube = Model::build(cube, Quality::Default);
    /// let placed = PosedModel::new(&cube, &Pose::IDENTITY);
    /// assert_eq!(placed.contains(DVec3::ZERO)?, Side::Inside);
    /// assert_eq!(placed.contains(DVec3::new(1.0, 1.0, 0.25))?, Side::OnSurface);
    /// assert_eq!(placed.contains(DVec3::new(1.0, 1.0 + 1e-15, 0.0))?, Side::Outside);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A mesh that is not marked as solid; a point that is not finite or further out than 2^129.
    pub fn contains(&self, p: DVec3) -> Result<Side, ContainsError> {
        if !self.model.mesh.is_solid() {
            return Err(ContainsError::NotSolid);
        }
        let p = usable(p).ok_or(ContainsError::BadPoint { point: p })?;
        let local = self.local_ray(p, DVec3::X, f64::INFINITY);
        let mut inside = false;
        let mut open: Vec<Child> = Vec::with_capacity(64);
        let Some((root, lane)) = self.root() else { return Ok(Side::Outside) };
        open.extend(local.entry(&root, lane).map(|_| root.node.child[lane]));
        while let Some(child) = open.pop() {
            if child.is_leaf() {
                for triangle in child.triangles() {
                    match x_ray_crosses(p, &self.triangle(triangle)) {
                        RayCross::No => {}
                        RayCross::Yes => inside = !inside,
                        RayCross::OnTriangle => return Ok(Side::OnSurface),
                    }
                }
                continue;
            }
            let node = self.node(child);
            let entered = used_lanes(node.node).filter(|&k| local.entry(&node, k).is_some());
            open.extend(entered.map(|k| node.node.child[k]));
        }
        Ok(if inside { Side::Inside } else { Side::Outside })
    }
}
