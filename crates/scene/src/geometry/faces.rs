//! Face sets and their points (ISO/IEC 14772-1, 6.23 and 6.12).

use super::{Faces, Fault};
use crate::nodes::{IndexedFaceSet, Kind};
use crate::scene::{NodeId, Scene};
use glam::Vec3;
use jostle_geom::Mesh;

/// The points of a `coord` field, if it has any.
pub(super) fn points(scene: &Scene, coord: Option<NodeId>) -> Result<Option<&[Vec3]>, Fault> {
    match coord.and_then(|id| scene.kind(id)) {
        None | Some(Kind::Unknown(_)) => Ok(None),
        Some(Kind::Coordinate(node)) => Ok(Some(&node.point)),
        Some(other) => Err(Fault::new(format!("coord is a {}", other.name()), "a Coordinate")),
    }
}

pub(super) fn face_set(node: &IndexedFaceSet, points: &[Vec3]) -> Result<Mesh, Fault> {
    let mut faces = Faces::turned_unless(node.ccw);
    // The -1 after the last face may be missing; after a last face that has one, nothing follows.
    for (face, corners) in node.coord_index.split(|&index| index == -1).enumerate() {
        let bad = corners.iter().find(|&&index| index < 0 || index as usize >= points.len());
        if let Some(index) = bad {
            let what = format!("face {face} (counted from 0) names point {index}");
            let expected = match points.len() {
                0 => "no faces, because there are no points".to_string(),
                count => format!("0 to {} for a point, or -1 for the end of a face", count - 1),
            };
            return Err(Fault::new(what, expected));
        }
        faces.push(corners.iter().map(|&index| index as u32));
    }
    if points.len() <= faces.corners.len() {
        return faces.into_mesh(points.to_vec());
    }
    // Many face sets may share a long list of points. Each takes only what it uses, so that all
    // together do not take more memory than a small multiple of the file.
    let mut used = faces.corners.clone();
    used.sort_unstable();
    used.dedup();
    for corner in &mut faces.corners {
        // Every corner is in the list.
        *corner = used.partition_point(|&index| index < *corner) as u32;
    }
    faces.into_mesh(used.iter().map(|&index| points[index as usize]).collect())
}
