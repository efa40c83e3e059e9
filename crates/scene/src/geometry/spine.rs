//! The spine-aligned cross-section planes of an extrusion (ISO/IEC 14772-1, 6.18.2 and 6.18.3).
//!
//! The standard's words, and what they leave open:
//! * "Coincident" are points with the same numbers that follow each other. They count as one.
//! * "Collinear" are points that may be so before their coordinates were rounded to `f32`: the
//!   direction of a cross product below that is noise, and would twist a straight slanted bar.
//! * Where the spine turns back exactly, so that y would be zero, y is the way the spine came.
//! * A spine that is one point has the plane y = 0, which makes surfaces of revolution.
//! * A spine straight down has a half turn about z.

use glam::{DMat3, DVec3};

/// How much rounding to `f32` moves the three ends of two vectors, as part of the largest
/// coordinate: twice √3 · 2^-24 for each vector, a little less than 2^-22.
const ROUNDING: f64 = 1.0 / (1 << 22) as f64;

/// For each point the directions x, y and z of its plane, of length 1. The cross section lies in
/// x and z.
pub(super) fn planes(spine: &[DVec3]) -> Vec<DMat3> {
    let mut knots = spine.to_vec();
    knots.dedup();
    let planes = match knots[..] {
        [] => return Vec::new(),
        [_] => vec![DMat3::IDENTITY],
        _ => planes_of_knots(&knots),
    };
    let mut knot = 0;
    let mut before = spine[0];
    let at_points = spine.iter().map(|&point| {
        knot += usize::from(point != before);
        before = point;
        planes[knot]
    });
    at_points.collect()
}

/// The planes of at least two points, none of which equals the next.
fn planes_of_knots(knots: &[DVec3]) -> Vec<DMat3> {
    let last = knots.len() - 1;
    let closed = knots[0] == knots[last];
    // The points before and after each; none beyond the ends of an open spine.
    let around = |i: usize| {
        let before = if i > 0 { Some(knots[i - 1]) } else { closed.then(|| knots[last - 1]) };
        let after = if i < last { Some(knots[i + 1]) } else { closed.then(|| knots[1]) };
        (before, after)
    };
    let own_z = |i: usize| match around(i) {
        (Some(before), Some(after)) => normal(knots[i], after, before),
        _ => None,
    };
    let first_z = (0..=last).find_map(own_z).or_else(|| normal_of_all(knots));
    let Some(first_z) = first_z else {
        return vec![turn_from_y((knots[1] - knots[0]).normalize()); knots.len()];
    };
    let mut z = first_z;
    let mut planes: Vec<DMat3> = (0..=last)
        .map(|i| {
            let own = own_z(i).unwrap_or(z);
            z = if own.dot(z) < 0.0 { -own } else { own };
            plane(direction(knots[i], around(i)), z)
        })
        .collect();
    if closed {
        planes[last] = planes[0];
    }
    planes
}

/// y, before it has length 1.
fn direction(point: DVec3, around: (Option<DVec3>, Option<DVec3>)) -> DVec3 {
    match around {
        (Some(before), Some(after)) if after != before => after - before,
        (Some(before), _) => point - before,
        (None, Some(after)) => after - point,
        (None, None) => DVec3::Y,
    }
}

/// (a − corner) × (b − corner), or none if the three are collinear.
fn normal(corner: DVec3, a: DVec3, b: DVec3) -> Option<DVec3> {
    let size = corner.abs().max(a.abs()).max(b.abs()).max_element();
    let (a, b) = (a - corner, b - corner);
    let normal = a.cross(b);
    (normal.length() > ROUNDING * size * (a.length() + b.length())).then(|| normal.normalize())
}

/// A normal of a spine whose steps are so small that no three neighbours have one, or none if all
/// of it is straight.
fn normal_of_all(knots: &[DVec3]) -> Option<DVec3> {
    let start = knots[0];
    let furthest = |size: &dyn Fn(DVec3) -> f64| {
        knots.iter().copied().max_by(|&a, &b| size(a).total_cmp(&size(b)))
    };
    let far = furthest(&|p| p.distance_squared(start))?;
    let aside = furthest(&|p| (far - start).cross(p - start).length_squared())?;
    normal(start, far, aside)
}

/// The plane with this y. z comes from neighbours and is made normal to y, which changes it by
/// rounding only where the standard's rules apply.
fn plane(y: DVec3, z: DVec3) -> DMat3 {
    let y = y.normalize();
    let across = z - y * z.dot(y);
    let z = if across.length() > 1e-6 { across.normalize() } else { y.any_orthonormal_vector() };
    DMat3::from_cols(y.cross(z), y, z)
}

/// The shortest turn from the y axis to `to`, which has length 1.
fn turn_from_y(to: DVec3) -> DMat3 {
    let level = to.x * to.x + to.z * to.z;
    if level == 0.0 {
        let up = to.y.signum();
        return DMat3::from_cols(DVec3::X * up, DVec3::Y * up, DVec3::Z);
    }
    // 1 / (1 + y), without the loss of digits near −1.
    let k = if to.y > 0.0 { 1.0 / (1.0 + to.y) } else { (1.0 - to.y) / level };
    let mixed = -k * to.x * to.z;
    DMat3::from_cols(
        DVec3::new(1.0 - k * to.x * to.x, -to.x, mixed),
        to,
        DVec3::new(mixed, -to.z, 1.0 - k * to.z * to.z),
    )
}
