//! The tests as they were measured in the thesis: plain numbers, and what is in doubt is decided by
//! whatever rounding makes of it.

use super::draw::Polygon;
use glam::{DVec2, DVec3};
use jostle_geom::triangle::Triangle;

/// Möller, *A Fast Triangle-Triangle Intersection Test*, Journal of Graphics Tools 2, 1997: both
/// triangles meet the common line of their planes in an interval.
pub(super) fn triangles_touch(a: &Triangle, b: &Triangle) -> bool {
    let plane = |t: &Triangle| {
        let normal = (t[1] - t[0]).cross(t[2] - t[0]);
        (normal, normal.dot(t[0]))
    };
    let ((n, d), (m, e)) = (plane(a), plane(b));
    let of_b = b.map(|corner| n.dot(corner) - d);
    if one_sided(&of_b) {
        return false;
    }
    let of_a = a.map(|corner| m.dot(corner) - e);
    if one_sided(&of_a) {
        return false;
    }
    if of_a == [0.0; 3] {
        return flat(a, b, n);
    }
    let line = n.cross(m);
    let [a, b] = [interval(a, &of_a, line), interval(b, &of_b, line)];
    a[0] <= b[1] && b[0] <= a[1]
}

fn one_sided(heights: &[f64]) -> bool {
    heights.iter().all(|&h| h > 0.0) || heights.iter().all(|&h| h < 0.0)
}

/// Where a triangle meets the line: where its edges cross the plane, and corners in it.
fn interval(t: &Triangle, heights: &[f64; 3], line: DVec3) -> [f64; 2] {
    let mut ends = [f64::INFINITY, f64::NEG_INFINITY];
    let mut add = |x: f64| ends = [ends[0].min(x), ends[1].max(x)];
    for i in 0..3 {
        let j = (i + 1) % 3;
        let (p, q) = (line.dot(t[i]), line.dot(t[j]));
        if heights[i] == 0.0 {
            add(p);
        }
        if heights[i] * heights[j] < 0.0 {
            add(p + (q - p) * (heights[i] / (heights[i] - heights[j])));
        }
    }
    ends
}

fn flat(a: &Triangle, b: &Triangle, normal: DVec3) -> bool {
    let [a, b] = [a, b].map(|t| t.map(|corner| seen(corner, normal)));
    flat_touch(&a, &b)
}

/// The thesis' test: an edge crosses the plane in a point, by one division, and the point is in the
/// polygon or not, in two dimensions.
pub(super) fn edges_touch(a: &Polygon, b: &Polygon) -> bool {
    edges_pass(a, b) || edges_pass(b, a)
}

fn edges_pass(a: &Polygon, b: &Polygon) -> bool {
    let (n, d) = (b.normal, b.normal.dot(b.corners[0]));
    let seen_b = || -> Vec<DVec2> { b.corners.iter().map(|&corner| seen(corner, n)).collect() };
    let mut polygon: Vec<DVec2> = Vec::new();
    for [p, q] in a.edges() {
        let (above, below) = (n.dot(p) - d, n.dot(q) - d);
        if (above > 0.0 && below > 0.0) || (above < 0.0 && below < 0.0) {
            continue;
        }
        if polygon.is_empty() {
            polygon = seen_b();
        }
        if above == below {
            let a: Vec<DVec2> = a.corners.iter().map(|&corner| seen(corner, n)).collect();
            return flat_touch(&a, &polygon);
        }
        let x = p + (q - p) * (above / (above - below));
        if contains(&polygon, seen(x, n)) {
            return true;
        }
    }
    false
}

/// Without the coordinate along which the normal is longest.
fn seen(p: DVec3, normal: DVec3) -> DVec2 {
    let n = normal.abs();
    if n.x >= n.y && n.x >= n.z {
        DVec2::new(p.y, p.z)
    } else if n.y >= n.z {
        DVec2::new(p.z, p.x)
    } else {
        DVec2::new(p.x, p.y)
    }
}

fn contains(polygon: &[DVec2], p: DVec2) -> bool {
    let mut inside = false;
    for (i, &v) in polygon.iter().enumerate() {
        let u = polygon[(i + polygon.len() - 1) % polygon.len()];
        let side = (v - u).perp_dot(p - u);
        if side == 0.0 && u.min(v).cmple(p).all() && p.cmple(u.max(v)).all() {
            return true;
        }
        if (u.y > p.y) != (v.y > p.y) && (side > 0.0) == (v.y > p.y) {
            inside = !inside;
        }
    }
    inside
}

fn flat_touch(a: &[DVec2], b: &[DVec2]) -> bool {
    let edges = |p: &[DVec2]| -> Vec<[DVec2; 2]> {
        (0..p.len()).map(|i| [p[i], p[(i + 1) % p.len()]]).collect()
    };
    let crosses = |[p, q]: [DVec2; 2], [u, v]: [DVec2; 2]| {
        let side = |a: DVec2, b: DVec2, c: DVec2| (b - a).perp_dot(c - a);
        side(p, q, u) * side(p, q, v) <= 0.0 && side(u, v, p) * side(u, v, q) <= 0.0
    };
    let others = edges(b);
    edges(a).into_iter().any(|edge| others.iter().any(|&other| crosses(edge, other)))
        || contains(b, a[0])
        || contains(a, b[0])
}
