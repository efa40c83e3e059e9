//! Two flat polygons touch iff an edge of one touches the other: the thesis' test, with exact signs
//! instead of its division.

use super::draw::Polygon;
use glam::DVec3;
use jostle_geom::predicates::{Axis, Sign, orient2d, orient3d};

pub(super) fn touch(a: &Polygon, b: &Polygon) -> bool {
    a.edges().any(|edge| edge_touches(edge, b)) || b.edges().any(|edge| edge_touches(edge, a))
}

/// Does a segment share a point with a polygon?
fn edge_touches([p, q]: [DVec3; 2], polygon: &Polygon) -> bool {
    let c = &polygon.corners;
    let [above, below] = [p, q].map(|end| orient3d(c[0], c[1], c[2], end));
    match (above, below) {
        (Sign::Zero, Sign::Zero) => in_plane([p, q], polygon),
        (Sign::Zero, _) => contains(polygon, p),
        (_, Sign::Zero) => contains(polygon, q),
        _ => above != below && passes([p, q], polygon),
    }
}

/// The axis along which the polygon is seen best. Any that it is not parallel to would do.
fn axis(polygon: &Polygon) -> Axis {
    let n = polygon.normal.abs();
    if n.x >= n.y && n.x >= n.z {
        Axis::X
    } else if n.y >= n.z {
        Axis::Y
    } else {
        Axis::Z
    }
}

/// A segment in the plane of the polygon.
fn in_plane([p, q]: [DVec3; 2], polygon: &Polygon) -> bool {
    let axis = axis(polygon);
    let crosses = |[u, v]: [DVec3; 2]| {
        let [a, b] = [u, v].map(|end| orient2d(axis, p, q, end));
        let [c, d] = [p, q].map(|end| orient2d(axis, u, v, end));
        if [a, b, c, d] == [Sign::Zero; 4] {
            return [u, v].into_iter().any(|end| between(end, p, q)) || between(p, u, v);
        }
        let splits = |s: Sign, t: Sign| s != t || s == Sign::Zero;
        splits(a, b) && splits(c, d)
    };
    polygon.edges().any(crosses) || contains(polygon, p)
}

/// Is a point on the line of `a` and `b` between them?
fn between(p: DVec3, a: DVec3, b: DVec3) -> bool {
    a.min(b).cmple(p).all() && p.cmple(a.max(b)).all()
}

/// Is a point of the plane in the polygon or on its rim?
fn contains(polygon: &Polygon, p: DVec3) -> bool {
    let axis = axis(polygon);
    let height = |v: DVec3| match axis {
        Axis::X => v.z,
        Axis::Y => v.x,
        Axis::Z => v.y,
    };
    let mut inside = false;
    for [u, v] in polygon.edges() {
        let side = orient2d(axis, u, v, p);
        if side == Sign::Zero && between(p, u, v) {
            return true;
        }
        let (low, high) = (height(u) > height(p), height(v) > height(p));
        if low != high && (side == Sign::Positive) == high {
            inside = !inside;
        }
    }
    inside
}

/// A segment whose ends are on two sides of the plane: does it pass through the polygon?
///
/// Seen along the segment, which is then a point x, the polygon is a polygon. Edges that cross a
/// ray from x away from the first corner are counted; "above the ray" is a side of the plane
/// through the segment and that corner.
fn passes([p, q]: [DVec3; 2], polygon: &Polygon) -> bool {
    let r = polygon.corners[0];
    let count = polygon.corners.len();
    let mut inside = false;
    for (i, [u, v]) in polygon.edges().enumerate() {
        let side = orient3d(p, q, u, v);
        if side == Sign::Zero {
            // x is on the line of this edge. No three corners in a row are on one line, so the next
            // corner is off it and shows on which sides of x the ends are.
            let off = polygon.corners[(i + 2) % count];
            let [s, t] = [u, v].map(|end| orient3d(p, q, off, end));
            if s != t || s == Sign::Zero {
                return true;
            }
            continue;
        }
        let [low, high] = [u, v].map(|end| orient3d(p, q, r, end) == Sign::Positive);
        if low != high && (side == Sign::Positive) == high {
            inside = !inside;
        }
    }
    inside
}
