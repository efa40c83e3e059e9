//! Rotations between rotations and from one direction to another. All trigonometry of the event
//! engine stands here, because axis and angle cannot be had without it; sums, products and square
//! roots are the same on every machine, sines and arc tangents may differ in the last bit.

use crate::scene::Rotation;
use glam::{DQuat, DVec3};

/// Below this angle an arc is as good as straight: its sine differs from it by less than a
/// rounding.
const STRAIGHT: f64 = 1e-8;

/// The rotation as axis and angle, the angle from 0 to pi.
pub(super) fn to_rotation(quaternion: DQuat) -> Rotation {
    let q = if quaternion.w < 0.0 { -quaternion } else { quaternion };
    let sine = q.xyz().length();
    if sine > 0.0 {
        Rotation { axis: (q.xyz() / sine).as_vec3(), angle: (2.0 * sine.atan2(q.w)) as f32 }
    } else {
        Rotation::NONE
    }
}

/// Part of the shortest way from one rotation to another, at constant speed (6.32). At the ends
/// the rotations themselves, as they were written.
pub(super) fn between_rotations(from: Rotation, to: Rotation, part: f64) -> Rotation {
    if part <= 0.0 || from == to {
        return from;
    }
    if part >= 1.0 {
        return to;
    }
    let a = from.quaternion();
    let b = to.quaternion();
    let b = if a.dot(b) < 0.0 { -b } else { b };
    // The arc tangent is exact for near and for opposite quaternions, unlike the arc cosine.
    let angle = 2.0 * (b - a).length().atan2((b + a).length());
    let (first, second) = weights(angle, part);
    let q = a * first + b * second;
    to_rotation(q / q.length())
}

/// Part of the shorter arc from one direction to another, at constant speed (6.31). Opposite
/// directions have no shorter arc; the first is kept.
pub(super) fn between_directions(from: DVec3, to: DVec3, part: f64) -> DVec3 {
    let (a, b) = (from.normalize_or_zero(), to.normalize_or_zero());
    let angle = 2.0 * (b - a).length().atan2((b + a).length());
    let (first, second) = weights(angle, part);
    (a * first + b * second).try_normalize().unwrap_or(a)
}

/// How much of both ends of an arc make the point at `part` of it.
fn weights(angle: f64, part: f64) -> (f64, f64) {
    let sine = angle.sin();
    if sine.abs() < STRAIGHT {
        return (1.0 - part, part);
    }
    ((angle * (1.0 - part)).sin() / sine, (angle * part).sin() / sine)
}

/// The shortest rotation that turns one direction into another; opposite ones about any axis
/// across. None for a direction without length.
pub(super) fn from_to(from: DVec3, to: DVec3) -> Option<DQuat> {
    let (a, b) = (from.try_normalize()?, to.try_normalize()?);
    let half = a + b;
    match half.try_normalize() {
        Some(half) => {
            let across = a.cross(half);
            Some(DQuat::from_xyzw(across.x, across.y, across.z, a.dot(half)).normalize())
        }
        None => {
            let across = a.any_orthonormal_vector();
            Some(DQuat::from_xyzw(across.x, across.y, across.z, 0.0))
        }
    }
}

/// The angle about +y by which one place is turned to another, from -pi to pi; 0 if one of them is
/// on the axis.
pub(super) fn angle_about_y(from: DVec3, to: DVec3) -> f64 {
    let cross = from.z * to.x - from.x * to.z;
    let dot = from.x * to.x + from.z * to.z;
    cross.atan2(dot)
}

/// Returns true if the acute angle between a direction and the y axis is less than `angle`.
pub(super) fn is_near_y(direction: DVec3, angle: f64) -> bool {
    direction.x.hypot(direction.z).atan2(direction.y.abs()) < angle
}
