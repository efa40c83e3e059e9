//! `Box`, also one without thickness.

use super::{Fault, check_size};
use crate::nodes::Cuboid;
use glam::{DAffine3, DMat3, DVec3};
use jostle_geom::{Mesh, solids};

/// The standard wants sizes above 0; files in the wild have floors and screens with a size of 0
/// (ISO/IEC 14772-1, 6.7). Such a box is the rectangle, twice, that it collapses to.
pub(super) fn cuboid(node: &Cuboid) -> Result<Mesh, Fault> {
    let size = node.size;
    for (what, length) in
        [("size along x", size.x), ("size along y", size.y), ("size along z", size.z)]
    {
        if length != 0.0 {
            check_size(what, length)?;
        }
    }
    if size.min_element() > 0.0 {
        return Ok(solids::cuboid(size.as_dvec3())?);
    }
    let cube = solids::cuboid(DVec3::ONE)?;
    Ok(Mesh::join([(&cube, DAffine3::from_mat3(DMat3::from_diagonal(size.as_dvec3())))])?)
}
