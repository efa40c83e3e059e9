//! A cross section led along a spine (ISO/IEC 14772-1, 6.18).

use super::{Faces, Fault, check_triangles, spine};
use crate::nodes::Extrusion;
use glam::{DQuat, DVec2, DVec3, Vec2, Vec3};
use jostle_geom::Mesh;

/// None for an extrusion without a spine or without a cross section.
pub(super) fn extrusion(node: &Extrusion) -> Result<Option<Mesh>, Fault> {
    let (spine, section) = (&node.spine[..], &node.cross_section[..]);
    if spine.is_empty() || section.is_empty() {
        return Ok(None);
    }
    for (what, count) in [("spine", spine.len()), ("crossSection", section.len())] {
        if count < 2 {
            return Err(Fault::new(format!("the {what} has one point"), "at least two"));
        }
    }
    check_values("scale", node.scale.len(), spine.len())?;
    check_values("orientation", node.orientation.len(), spine.len())?;
    check_triangles(2.0 * spine.len() as f64 * section.len() as f64)?;
    // A closed cross section has its first point twice.
    let round = section.len() - usize::from(section.first() == section.last());
    let vertices = vertices(node, &section[..round]);
    let round = round as u32;
    let mut faces = Faces::turned_unless(node.ccw);
    for i in 0..spine.len() as u32 - 1 {
        let (below, above) = (i * round, (i + 1) * round);
        for j in 0..section.len() as u32 - 1 {
            let next = (j + 1) % round;
            faces.push([below + j, below + next, above + next, above + j]);
        }
    }
    // A cap without area is an edge of the sides.
    if round > 2 {
        let last = (spine.len() as u32 - 1) * round;
        if node.begin_cap {
            faces.push((0..round).rev());
        }
        if node.end_cap {
            faces.push(last..last + round);
        }
    }
    faces.into_mesh(vertices).map(Some)
}

/// One value applies to all points of the spine, and excess values are ignored. Too few values are
/// not defined, except that an empty list means the default.
fn check_values(what: &str, count: usize, points: usize) -> Result<(), Fault> {
    if count > 1 && count < points {
        let what = format!("{what} has {count} values for {points} points of the spine");
        return Err(Fault::new(what, format!("1 or {points}")));
    }
    Ok(())
}

/// The value at a point of the spine, see [`check_values`].
fn value_at<T: Copy>(values: &[T], point: usize) -> Option<T> {
    if values.len() == 1 { values.first().copied() } else { values.get(point).copied() }
}

/// The cross section at each point of the spine: scaled, turned by its orientation, laid into the
/// plane of the spine and moved to the point (6.18.2).
fn vertices(node: &Extrusion, section: &[Vec2]) -> Vec<Vec3> {
    let spine: Vec<DVec3> = node.spine.iter().map(|point| point.as_dvec3()).collect();
    let mut vertices = Vec::with_capacity(spine.len() * section.len());
    for (i, (point, plane)) in spine.iter().zip(spine::planes(&spine)).enumerate() {
        let scale = value_at(&node.scale, i).map_or(DVec2::ONE, |scale| scale.as_dvec2());
        let turn = value_at(&node.orientation, i).map_or(DQuat::IDENTITY, |r| r.quaternion());
        vertices.extend(section.iter().map(|corner| {
            let flat = corner.as_dvec2() * scale;
            (plane * (turn * DVec3::new(flat.x, 0.0, flat.y)) + point).as_vec3()
        }));
    }
    vertices
}
