//! How far apart are two triangles, and where are they closest?
//!
//! The closest points of two convex polygons lie on an edge of each, or on a corner of one and
//! the face of the other: nine pairs of edges and six of corner and face. As in PQP (Larsen,
//! Gottschalk, Lin, Manocha, *Fast Proximity Queries with Swept Sphere Volumes*, 1999) the search
//! ends with the edges if the plane between the points found separates the triangles. Numbers are
//! taken relative to a corner, so that far from the origin nothing is lost but the last bits of
//! the coordinates.
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
const SLACK: f64 = 1.0 / (1u64 << 48) as f64;

/// A plane that separates by more than this, relative to the extent, proves that the triangles
/// are apart. Coordinates relative to a corner are within u of the extent, the ends of the dot
/// products within another 4u: 2^-48 = 32u leaves room.
const PROOF: f64 = 1.0 / (1u64 << 48) as f64;

/// A plane must show this much more than the limit asked for, relative to the extent: more than
/// the errors of the plane (as for [`PROOF`]) and of the distance that would be computed.
const LIMIT_MARGIN: f64 = 1.0 / (1u64 << 45) as f64;

/// The distance from `a` to `b` and where they are closest.
///
/// The distance is within a small multiple of the rounding of the triangles' joint extent. For
/// triangles that do not touch, but are closer than rounding can resolve, the distance is the
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
    Local::of(a, b).distance(a, b)
}

/// [`distance`] if it is below `limit`, else `None`. Much quicker than asking and comparing if
/// the triangles are clearly further apart, and never different.
#[must_use]
pub fn distance_below(a: &Triangle, b: &Triangle, limit: f64) -> Option<TriangleDistance> {
    let local = Local::of(a, b);
    if local.surely_beyond(limit) {
        return None;
    }
    let found = local.distance(a, b);
    (found.distance < limit).then_some(found)
}

/// Two triangles in coordinates relative to a corner of the first.
struct Local {
    a: Triangle,
    b: Triangle,
    origin: DVec3,
    extent: f64,
}

impl Local {
    #[inline]
    fn of(a: &Triangle, b: &Triangle) -> Local {
        let origin = a[0];
        let (a, b) = (a.map(|p| p - origin), b.map(|p| p - origin));
        Local { a, b, origin, extent: extent(&a).max(extent(&b)) }
    }

    /// Does a plane across the line of the centers, or parallel to one of the triangles, show
    /// that the distance is at least `limit`, and would be found to be?
    #[inline]
    fn surely_beyond(&self, limit: f64) -> bool {
        let Local { a, b, .. } = self;
        let reach = limit + LIMIT_MARGIN * self.extent;
        let shows =
            |v: DVec3, gap: f64| gap > 0.0 && gap * gap > reach * reach * v.length_squared();
        let centers = (b[0] + b[1] + b[2]) - (a[0] + a[1] + a[2]);
        if shows(centers, separation(a, b, centers)) {
            return true;
        }
        [a, b].into_iter().any(|t| {
            let v = (t[1] - t[0]).cross(t[2] - t[0]);
            let v = if v.dot(centers) < 0.0 { -v } else { v };
            shows(v, separation(a, b, v))
        })
    }

    /// The distance; `a` and `b` are the triangles as given, for the exact test.
    fn distance(&self, a: &Triangle, b: &Triangle) -> TriangleDistance {
        let closest = closest_pair(&self.a, &self.b, self.extent);
        let between = closest.between();
        let length = between.length();
        let apart = separation(&self.a, &self.b, between) > PROOF * self.extent * length;
        if !apart && triangles_touch(a, b) {
            // Exact, so `common` finds a point; the other value is never needed.
            let shared = common(a, b).map_or(self.origin, |c| c.point());
            return TriangleDistance { distance: 0.0, on_a: shared, on_b: shared };
        }
        TriangleDistance {
            distance: length.max(f64::MIN_POSITIVE),
            on_a: self.origin + closest.on_a,
            on_b: self.origin + closest.on_b,
        }
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
    if let Some(q) = Face::of(&local).foot(DVec3::ZERO)
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

/// The closest points found, by trying every pair of features unless a plane shows sooner that
/// nothing closer can come. Tries all pairs of edges before it looks: stopping in between costs
/// more in branches that cannot be predicted than it saves.
fn closest_pair(a: &Triangle, b: &Triangle, extent: f64) -> Points {
    let (edges_a, edges_b) = (edges(a), edges(b));
    let mut best = Points { on_a: a[0], on_b: b[0] };
    let mut best_squared = f64::INFINITY;
    for edge_a in &edges_a {
        for edge_b in &edges_b {
            let found = closest_on_edges(edge_a, edge_b);
            let squared = found.between().length_squared();
            if squared < best_squared {
                (best, best_squared) = (found, squared);
            }
        }
    }
    let shown = separation(a, b, best.between());
    if best_squared - shown <= SLACK * extent * best_squared.sqrt() {
        return best;
    }
    let face_a = Face::of(a);
    for &p in b {
        if let Some(foot) = face_a.foot(p) {
            let squared = p.distance_squared(foot);
            if squared < best_squared {
                (best, best_squared) = (Points { on_a: foot, on_b: p }, squared);
            }
        }
    }
    let face_b = Face::of(b);
    for &p in a {
        if let Some(foot) = face_b.foot(p) {
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

/// A segment and what every question about it needs.
struct Edge {
    start: DVec3,
    along: DVec3,
    squared: f64,
    /// One over `squared`; zero for a point, so that all positions on it come out as its start.
    inverse: f64,
}

#[inline]
fn edges(t: &Triangle) -> [Edge; 3] {
    [0, 1, 2].map(|i| {
        let along = t[(i + 1) % 3] - t[i];
        let squared = along.length_squared();
        let inverse = if squared > 0.0 { 1.0 / squared } else { 0.0 };
        Edge { start: t[i], along, squared, inverse }
    })
}

/// The closest points of two segments.
#[inline]
fn closest_on_edges(d: &Edge, e: &Edge) -> Points {
    let w = e.start - d.start;
    let (dw, ew, de) = (d.along.dot(w), e.along.dot(w), d.along.dot(e.along));
    let squares = d.squared * e.squared;
    let sine = squares - de * de;
    // Where the lines are closest, as a part of `d`.
    let s = if sine > SMALL_ANGLE * squares {
        (dw * e.squared - de * ew) / sine
    } else {
        small_angle_part(d.along, e.along, w)
    };
    // The nearest to that on `e`, and the nearest to this on `d`: nothing new unless an end came
    // in between, and then what is wanted.
    let t = ((s.clamp(0.0, 1.0) * de - ew) * e.inverse).clamp(0.0, 1.0);
    let s = ((t * de + dw) * d.inverse).clamp(0.0, 1.0);
    Points { on_a: d.start + d.along * s, on_b: e.start + e.along * t }
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

/// A triangle and what is needed to drop points on it: its longest edge and the height on that.
///
/// Position along the edge and across it are found one after the other, each from what the one
/// before leaves over. Barycentric coordinates would not do: those of a needle are off by u·L/w,
/// which moves the foot along the needle by that part of its length.
struct Face {
    start: DVec3,
    edge: DVec3,
    edge_squared: f64,
    /// From the longest edge to the corner opposite to it, normal to the edge.
    height: DVec3,
    height_squared: f64,
    /// Where on the edge the foot of that corner is, from 0 to 1.
    apex: f64,
}

impl Face {
    #[inline]
    fn of(t: &Triangle) -> Face {
        let squared = [0, 1, 2].map(|i| t[i].distance_squared(t[(i + 1) % 3]));
        let first = if squared[0] >= squared[1] && squared[0] >= squared[2] {
            0
        } else if squared[1] >= squared[2] {
            1
        } else {
            2
        };
        let start = t[first];
        let edge = t[(first + 1) % 3] - start;
        let side = t[(first + 2) % 3] - start;
        let apex = ratio(side.dot(edge), squared[first]);
        let height = side - edge * apex;
        let height_squared = height.length_squared();
        Face { start, edge, edge_squared: squared[first], height, height_squared, apex }
    }

    /// The foot of `p` if it is inside.
    #[inline]
    fn foot(&self, p: DVec3) -> Option<DVec3> {
        let from_start = p - self.start;
        let x = from_start.dot(self.edge) / self.edge_squared;
        // Written so that the NaN of a degenerate triangle is refused too.
        if !(0.0..=1.0).contains(&x) {
            return None;
        }
        let y = (from_start - self.edge * x).dot(self.height) / self.height_squared;
        let inside = y >= 0.0 && y * self.apex <= x && y * (1.0 - self.apex) <= 1.0 - x;
        inside.then(|| self.start + self.edge * x + self.height * y)
    }
}
