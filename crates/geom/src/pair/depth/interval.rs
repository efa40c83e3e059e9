//! While one triangle moves along a direction: from when to when does it touch another one?
//!
//! Two convex polygons are apart if and only if one of a few axes separates them: the two normals,
//! the nine crossed edges, and in one plane the normals of the edges. Along each axis the times
//! without a gap are an interval. Whole numbers give whole times: nothing here is enlarged by a
//! tolerance, and what is computed from the times is checked by exact decisions.

use crate::triangle::Triangle;
use glam::DVec3;

/// Crossed edges with a smaller sine than the root of this have no direction.
const PARALLEL: f64 = 1e-16;

/// A direction is along a plane if its sine to it is below this.
const ALONG: f64 = 1e-12;

/// Two extents that share less than this part of all lengths involved only touch.
const GRAZE: f64 = 1.0 / (1u64 << 44) as f64;

/// When two triangles touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) first: f64,
    pub(super) last: f64,
    /// A length that is off by x makes them off by no more than x times this.
    pub(super) slow: f64,
}

/// A direction that may separate two triangles.
pub(super) struct Axis {
    pub(super) normal: DVec3,
    /// From the highest point of the second to the lowest of the first: below zero if they
    /// overlap along the axis.
    pub(super) low: f64,
    /// From the lowest point of the second to the highest of the first.
    pub(super) high: f64,
    /// What a length along the axis may be off by.
    pub(super) noise: f64,
}

/// Calls `look` with every axis that matters until it gives false; false if it did.
pub(super) fn all_axes(a: &Triangle, b: &Triangle, mut look: impl FnMut(&Axis) -> bool) -> bool {
    let origin = a[0];
    let (a, b) = (a.map(|p| p - origin), b.map(|p| p - origin));
    let size = a.iter().chain(&b).fold(0.0f64, |most, p| most.max(p.abs().max_element()));
    let mut axis = |normal: DVec3| {
        let extent = |t: &Triangle| {
            let [p, q, r] = t.map(|p| p.dot(normal));
            (p.min(q).min(r), p.max(q).max(r))
        };
        let (own, other) = (extent(&a), extent(&b));
        let noise = GRAZE * size * normal.length();
        look(&Axis { normal, low: own.0 - other.1, high: own.1 - other.0, noise })
    };
    let edges = |t: &Triangle| [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
    let (along_a, along_b) = (edges(&a), edges(&b));
    let cross = |u: DVec3, v: DVec3| {
        let w = u.cross(v);
        let is_one = w.length_squared() > PARALLEL * u.length_squared() * v.length_squared();
        is_one.then_some(w)
    };
    let normals = [&along_a, &along_b].map(|along| cross(along[0], along[1]));
    for normal in normals.into_iter().flatten() {
        if !axis(normal) {
            return false;
        }
    }
    for u in along_a {
        for v in along_b {
            if cross(u, v).is_some_and(|w| !axis(w)) {
                return false;
            }
        }
    }
    let flat = match normals {
        [Some(u), Some(v)] => cross(u, v).is_none(),
        _ => true,
    };
    if flat && let Some(normal) = normals[0].or(normals[1]) {
        let mut in_plane = along_a.into_iter().chain(along_b);
        return in_plane.all(|u| cross(normal, u).is_none_or(&mut axis));
    }
    true
}

/// When `a` and `b + t·n` touch; `None` if never, or if they only graze each other: if `n` is
/// along a side of both that they touch in.
pub(super) fn touching_times(a: &Triangle, b: &Triangle, n: DVec3) -> Option<Times> {
    let (mut first, mut last) = (f64::NEG_INFINITY, f64::INFINITY);
    // What each of the bounds may be off by.
    let (mut noise_first, mut noise_last) = (0.0, 0.0);
    let mut slow = 0.0f64;
    let meet = all_axes(a, b, |axis| {
        let speed = axis.normal.dot(n);
        if speed.abs() <= ALONG * axis.normal.length() {
            return axis.low < -axis.noise && axis.high > axis.noise;
        }
        let (s, t) = (axis.low / speed, axis.high / speed);
        let (s, t) = if speed > 0.0 { (s, t) } else { (t, s) };
        let noise = axis.noise / speed.abs();
        if s > first || t < last {
            slow = slow.max(axis.normal.length() / speed.abs());
        }
        if s > first {
            (first, noise_first) = (s, noise);
        }
        if t < last {
            (last, noise_last) = (t, noise);
        }
        first <= last + (noise_first + noise_last)
    });
    meet.then(|| Times { first: first.min(last), last: last.max(first), slow })
}
