//! Heights over a grid (ISO/IEC 14772-1, 6.17).

use super::{Fault, check_size};
use crate::nodes::ElevationGrid;
use glam::Vec3;
use jostle_geom::Mesh;

/// None for a grid without faces.
pub(super) fn elevation_grid(node: &ElevationGrid) -> Result<Option<Mesh>, Fault> {
    let columns = dimension("xDimension", node.x_dimension)?;
    let rows = dimension("zDimension", node.z_dimension)?;
    let count = u64::from(columns) * u64::from(rows);
    if node.height.len() as u64 != count {
        let what = format!("there are {} heights", node.height.len());
        return Err(Fault::new(what, format!("{count}, which is {columns} times {rows}")));
    }
    if columns < 2 || rows < 2 {
        return Ok(None);
    }
    let x_spacing = check_size("xSpacing", node.x_spacing)?;
    let z_spacing = check_size("zSpacing", node.z_spacing)?;
    let at = |spacing: f64, step: usize| (spacing * step as f64) as f32;
    let lines = node.height.chunks(columns as usize).enumerate();
    let vertices = lines.flat_map(|(j, line)| {
        let z = at(z_spacing, j);
        line.iter().enumerate().map(move |(i, &height)| Vec3::new(at(x_spacing, i), height, z))
    });
    let ccw = node.ccw;
    let faces = (0..rows - 1).flat_map(|j| (0..columns - 1).map(move |i| (i, j))).map(|(i, j)| {
        let here = j * columns + i;
        let below = here + columns;
        // Counter-clockwise seen from above, where z runs down the page.
        if ccw { [here, below, below + 1, here + 1] } else { [here, here + 1, below + 1, below] }
    });
    Ok(Some(Mesh::from_polygons(vertices.collect(), faces)?))
}

fn dimension(what: &str, found: i32) -> Result<u32, Fault> {
    u32::try_from(found)
        .map_err(|_| Fault::new(format!("{what} is {found}"), "a number that is not negative"))
}
