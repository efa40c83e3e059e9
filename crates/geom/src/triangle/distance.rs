//! How far apart are two triangles, and where are they closest?
//!
//! The closest points of two convex polygons lie on an edge of each, or on a corner of one and
//! the face of the other: nine pairs of edges and six of corner and face. As in PQP (Larsen,
//! Gottschalk, Lin, Manocha, *Fast Proximity Queries with Swept Sphere Volumes*, 1999) the search
//! ends early when the plane between two points found separates the triangles. Numbers are taken
//! relative to a corner, so that far from the origin nothing is lost but the last bits of the
//! coordinates.
//!
//! The formulas are chosen so that the error of the distance stays a small multiple of the
//! rounding of the extent L of the two triangles, also where the *place* is not well defined:
//!
//! * Two lines at a small angle: where they are closest is known to L·u/sin, which changes the
//!   distance by sin times that, if computed from cross products; dot products square the sine,
//!   and are used for larger angles only.
//! * A corner over a needle of width w: its foot moves by at most w and by at most h·u·L/w, for
//!   a height h; either changes the distance by less than the square over 2h. The smaller of
//!   the two is largest for w² = h·u·L, and then it is u·L/2.
//!
//! That the distance is zero is never a matter of rounding: it is zero iff the triangles touch.

use super::{Triangle, common, triangles_touch};
use glam::DVec3;

/// How far apart two triangles are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleDistance {
    /// The smallest distance; exactly 0 iff the triangles touch.
    pub distance: f64,
    /// A closest point of the first triangle, in the world.
    pub on_a: DVec3,
    /// A closest point of the second triangle, in the world.
    pub on_b: DVec3,
}

/// The search for the closest pair ends early if the separation shown by a plane is this close
/// to the distance found, relative to the extent.
const SLACK: f64 = 1.0 / (1u64 << 44) as f64;

/// A plane that separates by more than this, relative to the extent, proves that the triangles
/// are apart. Coordinates relative to a corner are within u of the extent, the ends of the dot
/// products within another 4u: 2^-48 = 32u leaves room.
const PROOF: f64 = 1.0 / (1u64 << 48) as f64;

/// The distance from `a` to `b` and where they are closest.
///
/// The distance is within a small multiple of the rounding of the triangles' joint extent. For
/// triangles that do not touch, but are closer than rounding can tell, the distance is the
/// smallest normal `f64` rather than zero.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::triangle::distance;
///
/// let floor = [DVec3::ZERO, DVec3::X, DVec3::Y];
/// let tip = [DVec3::new(0.2, 0.2, 3.0), DVec3::new(0.0, 0.0, 9.0), DVec3::new(1.0, 0.0, 9.0)];
/// let apart = distance(&floor, &tip);
/// assert_eq!(apart.distance, 3.0);
/// assert!(apart.on_a.distance(DVec3::new(0.2, 0.2, 0.0)) < 1e-15);
/// ```
#[must_use]
pub fn distance(a: &Triangle, b: &Triangle) -> TriangleDistance {
    let origin = a[0];
    let (local_a, local_b) = (a.map(|p| p - origin), b.map(|p| p - origin));
    let extent = extent(&local_a).max(extent(&local_b));
    let closest = closest_pair(&local_a, &local_b, extent);
    let between = closest.between();
    let length = between.length();
    let apart = separation(&local_a, &local_b, between) > PROOF * extent * length;
    if !apart && triangles_touch(a, b) {
        // Exact, so `common` finds a point; the other value is never needed.
        let shared = common(a, b).map_or(origin, |c| c.point());
        return TriangleDistance { distance: 0.0, on_a: shared, on_b: shared };
    }
    TriangleDistance {
        distance: length.max(f64::MIN_POSITIVE),
        on_a: origin + closest.on_a,
        on_b: origin + closest.on_b,
    }
}

/// The point of `t` closest to `p`, within rounding.
#[must_use]
pub fn closest_point(p: DVec3, t: &Triangle) -> DVec3 {
    let local = t.map(|q| q - p);
    let mut best = local[0];
    for i in 0..3 {
        let q = closest_on_segment(DVec3::ZERO, local[i], local[(i + 1) % 3] - local[i]);
        if q.length_squared() < best.length_squared() {
            best = q;
        }
    }
    if let Some(q) = Face::of(&local).foot(DVec3::ZERO, best.length_squared(), extent(&local))
        && q.length_squared() < best.length_squared()
    {
        best = q;
    }
    p + best
}

/// The largest coordinate, without its sign.
#[inline]
fn extent(t: &Triangle) -> f64 {
    t[0].abs().max(t[1].abs()).max(t[2].abs()).max_element()
}

/// A point of each triangle.
#[derive(Clone, Copy)]
struct Points {
    on_a: DVec3,
    on_b: DVec3,
}

impl Points {
    #[inline]
    fn between(&self) -> DVec3 {
        self.on_b - self.on_a
    }
}

fn closest_pair(a: &Triangle, b: &Triangle, extent: f64) -> Points {
    let edges = |t: &Triangle| [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
    let (edges_a, edges_b) = (edges(a), edges(b));
    let mut best = Points { on_a: a[0], on_b: b[0] };
    let mut best_squared = best.between().length_squared();
    for i in 0..3 {
        for j in 0..3 {
            let found = closest_on_segments(a[i], edges_a[i], b[j], edges_b[j]);
            let v = found.between();
            let squared = v.length_squared();
            if squared > best_squared {
                continue;
            }
            (best, best_squared) = (found, squared);
            // The corners that are on neither edge: are they behind the points found?
            let behind = (a[(i + 2) % 3] - found.on_a).dot(v) <= 0.0
                && (b[(j + 2) % 3] - found.on_b).dot(v) >= 0.0;
            if behind && squared - separation(a, b, v) <= SLACK * extent * squared.sqrt() {
                return best;
            }
        }
    }
    let face_a = Face::of(a);
    for &p in b {
        if let Some(foot) = face_a.foot(p, best_squared, extent) {
            let squared = p.distance_squared(foot);
            if squared < best_squared {
                (best, best_squared) = (Points { on_a: foot, on_b: p }, squared);
            }
        }
    }
    let face_b = Face::of(b);
    for &p in a {
        if let Some(foot) = face_b.foot(p, best_squared, extent) {
            let squared = p.distance_squared(foot);
            if squared < best_squared {
                (best, best_squared) = (Points { on_a: p, on_b: foot }, squared);
            }
        }
    }
    best
}

/// How far `b` is beyond `a` along `v`, times the length of `v`.
#[inline]
fn separation(a: &Triangle, b: &Triangle, v: DVec3) -> f64 {
    let [a, b] = [a, b].map(|t| t.map(|p| p.dot(v)));
    b[0].min(b[1]).min(b[2]) - a[0].max(a[1]).max(a[2])
}

/// Squared sine of the angle between two edges below which cross products are used.
const SMALL_ANGLE: f64 = 0.01;

/// The closest points of the segments from `p` along `d` and from `q` along `e`.
#[inline]
fn closest_on_segments(p: DVec3, d: DVec3, q: DVec3, e: DVec3) -> Points {
    let w = q - p;
    let (dd, de, ee) = (d.dot(d), d.dot(e), e.dot(e));
    let (dw, ew) = (d.dot(w), e.dot(w));
    let sine = dd * ee - de * de;
    // Where the lines are closest, as a part of `d`.
    let s = if sine > SMALL_ANGLE * (dd * ee) {
        (dw * ee - de * ew) / sine
    } else {
        small_angle_part(d, e, w)
    };
    let s = s.clamp(0.0, 1.0);
    // The best on the other segment for it, and if that is beyond an end, the best for that end.
    let t = s * de - ew;
    let (s, t) = if t <= 0.0 {
        (ratio(dw, dd), 0.0)
    } else if t >= ee {
        (ratio(dw + de, dd), 1.0)
    } else {
        (s, t / ee)
    };
    Points { on_a: p + d * s, on_b: q + e * t }
}

fn small_angle_part(d: DVec3, e: DVec3, w: DVec3) -> f64 {
    let normal = d.cross(e);
    let squared = normal.length_squared();
    if squared > 0.0 { w.cross(e).dot(normal) / squared } else { 0.0 }
}

/// x / y, but from 0 to 1, and 0 if y is zero.
#[inline]
fn ratio(x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if x >= y {
        if y > 0.0 { 1.0 } else { 0.0 }
    } else {
        x / y
    }
}

/// The point closest to `p` on the segment from `q` along `e`.
#[inline]
fn closest_on_segment(p: DVec3, q: DVec3, e: DVec3) -> DVec3 {
    q + e * ratio((p - q).dot(e), e.dot(e))
}

/// A triangle and what is needed to drop points on it.
struct Face {
    corners: Triangle,
    normal: DVec3,
    squared: f64,
    /// For each edge the vector in the plane, normal to the edge and pointing inside.
    inward: [DVec3; 3],
}

impl Face {
    #[inline]
    fn of(t: &Triangle) -> Face {
        let edges = [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
        let normal = edges[0].cross(edges[1]);
        Face {
            corners: *t,
            normal,
            squared: normal.length_squared(),
            inward: edges.map(|e| normal.cross(e)),
        }
    }

    /// The foot of `p` if it is inside and may be nearer than the root of `best_squared`.
    #[inline]
    fn foot(&self, p: DVec3, best_squared: f64, extent: f64) -> Option<DVec3> {
        let [r0, r1, r2] = self.corners.map(|q| p - q);
        // Not "height ≥ best": for a needle the computed height can be too large by its error.
        let height = self.normal.dot(r0).abs() - HEIGHT_ERROR * (extent * extent * extent);
        if height > 0.0 && height * height > best_squared * self.squared {
            return None;
        }
        let parts = [self.inward[1].dot(r1), self.inward[2].dot(r2), self.inward[0].dot(r0)];
        if self.squared <= 0.0 || parts.iter().any(|&x| x < 0.0) {
            return None;
        }
        // Each part belongs to the corner opposite to its edge; they sum to `squared`.
        let all = parts[0] + parts[1] + parts[2];
        if all <= 0.0 {
            return None;
        }
        let [a, b, c] = self.corners;
        Some(a + (b - a) * (parts[1] / all) + (c - a) * (parts[2] / all))
    }
}

/// Error of a determinant of three differences, relative to the cube of the extent: 9u times six
/// terms of up to 2³ each, rounded up.
const HEIGHT_ERROR: f64 = 512.0 * f64::EPSILON;
