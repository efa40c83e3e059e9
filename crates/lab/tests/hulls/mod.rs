//! Hulls and poses that tests of convex methods draw, and the slow obvious answers.
#![allow(dead_code)] // every test program uses a part of it

use glam::{DQuat, DVec3, Vec3};
use jostle_geom::Pose;
use jostle_geom::predicates::{Sign, orient3d};
use jostle_geom::triangle::{Triangle, distance, triangles_touch};
use jostle_lab::convex::{Dimension, Hull};
use jostle_oracle::rng::Rng;

/// Rotations whose matrices are whole numbers, so that placing rounds nothing.
const TURNS: [[f64; 4]; 6] = [
    [0.0, 0.0, 0.0, 1.0],
    [0.0, 0.0, 1.0, 1.0],
    [1.0, 0.0, 0.0, 1.0],
    [1.0, 1.0, 1.0, 1.0],
    [0.0, 1.0, 0.0, 0.0],
    [1.0, -1.0, 1.0, 1.0],
];

pub(crate) fn point(rng: &mut Rng) -> DVec3 {
    DVec3::new(rng.unit(), rng.unit(), rng.unit())
}

pub(crate) fn any_turn(rng: &mut Rng) -> DQuat {
    DQuat::from_xyzw(rng.unit(), rng.unit(), rng.unit(), rng.unit() + 1e-3).normalize()
}

/// A turn by quarters about axes and diagonals.
pub(crate) fn whole_turn(rng: &mut Rng) -> DQuat {
    DQuat::from_array(rng.pick(&TURNS))
}

/// A hull of a few points, on a small grid or anywhere; often flat, sometimes a point.
pub(crate) fn any_hull(rng: &mut Rng, whole: bool) -> Hull {
    let count = 1 + rng.below(14) as usize;
    let flat = rng.below(5) == 0;
    let point = |rng: &mut Rng| {
        let p = if whole {
            DVec3::new(rng.below(7) as f64, rng.below(7) as f64, rng.below(7) as f64) - 3.0
        } else {
            point(rng) * 3.0
        };
        let p = if flat { p.with_z(0.0) } else { p };
        p.as_vec3()
    };
    let points: Vec<Vec3> = (0..count).map(|_| point(rng)).collect();
    Hull::of_points(&points).expect("finite points")
}

pub(crate) fn placed(hull: &Hull, pose: &Pose) -> Vec<DVec3> {
    hull.corners().iter().map(|&corner| pose.transform_point(corner)).collect()
}

/// The triangles of a hull in the world; of a segment or a point those that it is.
pub(crate) fn triangles(hull: &Hull, pose: &Pose) -> Vec<Triangle> {
    let at = placed(hull, pose);
    if hull.triangles().is_empty() {
        return vec![[at[0], at[at.len() - 1], at[at.len() - 1]]];
    }
    hull.triangles().iter().map(|t| t.map(|corner| at[corner as usize])).collect()
}

/// Is the point inside a placed hull or on it? Exact for these numbers.
fn inside(p: DVec3, hull: &Hull, surface: &[Triangle]) -> bool {
    hull.dimension() == Dimension::Solid
        && surface.iter().all(|[a, b, c]| orient3d(*a, *b, *c, p) != Sign::Positive)
}

/// Do two placed hulls share a point? All triangles, one by one, then a corner inside.
pub(crate) fn touch(a: &Hull, pose_a: &Pose, b: &Hull, pose_b: &Pose) -> bool {
    let (s, t) = (triangles(a, pose_a), triangles(b, pose_b));
    s.iter().any(|s| t.iter().any(|t| triangles_touch(s, t)))
        || inside(s[0][0], b, &t)
        || inside(t[0][0], a, &s)
}

/// How far apart are the surfaces of two placed hulls? All triangles, one by one.
pub(crate) fn surface_distance(a: &Hull, pose_a: &Pose, b: &Hull, pose_b: &Pose) -> f64 {
    let (a, b) = (triangles(a, pose_a), triangles(b, pose_b));
    let all = a.iter().flat_map(|s| b.iter().map(|t| distance(s, t).distance));
    all.fold(f64::INFINITY, f64::min)
}

/// Poses of two hulls: anywhere near; exactly touching in whole numbers; barely apart or barely
/// overlapping in rounded numbers.
pub(crate) fn poses(rng: &mut Rng, a: &Hull, b: &Hull, whole: bool) -> [Pose; 2] {
    let turn = if whole { whole_turn } else { any_turn };
    let (turn_a, turn_b) = (turn(rng), turn(rng));
    let far = rng.pick(&[0.0, 0.0, 1e6]);
    let shift = (point(rng) * far).round();
    let first = Pose::new(turn_a, shift).expect("a finite place");
    let unshifted = Pose::new(turn_b, DVec3::ZERO).expect("a turn");
    let on_a = first.transform_point(mix(rng, a, whole));
    let on_b = unshifted.transform_point(mix(rng, b, whole));
    let apart = match rng.below(4) {
        0 => DVec3::ZERO,
        1 => point(rng).normalize_or_zero() * 10f64.powi(-(rng.below(17) as i32)),
        2 if whole => (point(rng) * 6.0).round(),
        _ => point(rng) * 8.0,
    };
    [first, Pose::new(turn_b, on_a - on_b + apart).expect("a finite place")]
}

/// A corner, or the middle of two: on the hull or in it.
fn mix(rng: &mut Rng, hull: &Hull, whole: bool) -> DVec3 {
    let [p, q] = [0, 1].map(|_| hull.corners()[rng.below(hull.corners().len() as u64) as usize]);
    if whole || rng.below(2) == 0 { p } else { (p + q) * 0.5 }
}
