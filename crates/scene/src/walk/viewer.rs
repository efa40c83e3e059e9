//! Billboards and levels of detail, which depend on the viewer.

use crate::nodes::{Billboard, Lod};
use crate::placement::Placement;
use glam::{DMat3, DQuat, DVec3};

/// The viewer of the scene, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewer {
    /// The position.
    pub position: DVec3,
    /// The rotation of the viewer from looking along −z with y up.
    pub orientation: DQuat,
}

impl Default for Viewer {
    /// The default `Viewpoint` (ISO/IEC 14772-1, 6.53).
    fn default() -> Viewer {
        Viewer { position: DVec3::new(0.0, 0.0, 10.0), orientation: DQuat::IDENTITY }
    }
}

/// Which level of an `LOD` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LodRule {
    /// The one for the distance of the viewer, as for looking at it (6.26).
    ByViewer,
    /// Always the first and most detailed, so that collisions do not depend on the
    /// viewer (V-COLLIDE, 4.1).
    Finest,
}

/// A vector shorter than this part of another has no direction of its own.
const SHORT: f64 = 1e-9;

impl Viewer {
    /// The level of an `LOD` for the distance of this viewer, in the coordinates of the node. The
    /// standard leaves the choice to the browser if there are no ranges; here it is the finest.
    pub(super) fn level_of(&self, node: &Lod, placement: &Placement) -> usize {
        // What is flat in the world has no distance inside; it is taken as far away.
        let distance = placement
            .inverse_transform_point(self.position)
            .map_or(f64::INFINITY, |viewer| viewer.distance(node.center.as_dvec3()));
        let level = node.range.iter().take_while(|&&range| distance >= f64::from(range)).count();
        level.min(node.level.len().saturating_sub(1))
    }

    /// How a `Billboard` in `outside` turns (6.6). Where the standard leaves it undefined, it does
    /// not turn.
    pub(super) fn turn_of(&self, node: &Billboard, outside: &Placement) -> DQuat {
        let Some(to_viewer) = outside.inverse_transform_point(self.position) else {
            return DQuat::IDENTITY;
        };
        let axis = node.axis_of_rotation.as_dvec3();
        let turn = if axis == DVec3::ZERO {
            self.facing(to_viewer, outside)
        } else {
            axis.try_normalize().and_then(|axis| turn_about(axis, to_viewer))
        };
        turn.unwrap_or(DQuat::IDENTITY)
    }

    /// z points to the viewer, and y as far as possible along the viewer's.
    fn facing(&self, to_viewer: DVec3, outside: &Placement) -> Option<DQuat> {
        let up = outside.inverse_transform_vector(self.orientation * DVec3::Y)?.try_normalize()?;
        let z = to_viewer.try_normalize()?;
        let x = up.cross(z);
        if x.length() < SHORT {
            return None;
        }
        let x = x.normalize();
        Some(DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z)))
    }
}

/// The turn about `axis` (of length 1) that brings z into the half plane of the axis and
/// `to_viewer`.
fn turn_about(axis: DVec3, to_viewer: DVec3) -> Option<DQuat> {
    let across = |v: DVec3| {
        let across = v - axis * axis.dot(v);
        (across.length() > SHORT * v.length()).then(|| across.normalize())
    };
    let (from, to) = (across(DVec3::Z)?, across(to_viewer)?);
    let (cos, sin) = (from.dot(to), axis.dot(from.cross(to)));
    // Sine and cosine of half the angle by square roots, which all machines agree on.
    let (half_sin, half_cos) = if cos >= 0.0 {
        let half_cos = (0.5 + 0.5 * cos).sqrt();
        (0.5 * sin / half_cos, half_cos)
    } else {
        let half_sin = (0.5 - 0.5 * cos).sqrt();
        (half_sin, 0.5 * sin / half_sin)
    };
    let turn = axis * half_sin;
    Some(DQuat::from_xyzw(turn.x, turn.y, turn.z, half_cos).normalize())
}
