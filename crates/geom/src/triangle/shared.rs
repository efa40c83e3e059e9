//! What two triangles share, as what it is: a point, a segment or a piece of a plane.
//!
//! Which of the three is decided exactly; lengths and places are numbers as in [`super::common`].

use super::common::{overlap_corners, passage};
use super::flat::{self, Hull};
use super::touch::{arrange, before, ends, in_plane, intervals_meet, one_sided, sides};
use super::{Triangle, common};
use crate::predicates::{Axis, Sign, orient2d, orient3d};
use glam::DVec3;

/// What two touching triangles share.
#[derive(Clone, Debug)]
pub(crate) enum Shared {
    Point(DVec3),
    Segment {
        ends: [DVec3; 2],
        /// The edge that it is a part of, of the first triangle if it is one of both.
        edge: Option<[DVec3; 2]>,
    },
    /// Of two triangles in one plane: the corners of a convex polygon with area, in order.
    Polygon(Vec<DVec3>),
}

impl Shared {
    pub(crate) fn points(&self) -> &[DVec3] {
        match self {
            Shared::Point(point) => std::slice::from_ref(point),
            Shared::Segment { ends, .. } => ends,
            Shared::Polygon(corners) => corners,
        }
    }
}

/// What `a` and `b` share; `None` exactly if they do not touch.
pub(crate) fn shared(a: &Triangle, b: &Triangle) -> Option<Shared> {
    let (sides_of_b, sides_of_a) = (sides(a, b), sides(b, a));
    if one_sided(sides_of_b) || one_sided(sides_of_a) {
        return None;
    }
    if in_plane(sides_of_a) || in_plane(sides_of_b) {
        return flat_shared(a, b, [sides_of_a, sides_of_b]);
    }
    let [first, second] = arrange(a, sides_of_a, b, sides_of_b);
    if !intervals_meet(&first, &second, &mut 0) {
        return None;
    }
    let ends = common(a, b)?.ends;
    // One of the two intervals on the common line is a point, or they meet end to end: the signs
    // of `intervals_meet`.
    let meets_once = lone_corner(sides_of_a)
        || lone_corner(sides_of_b)
        || orient3d(first[0], first[1], second[0], second[1]) == Sign::Zero
        || orient3d(first[0], first[2], second[0], second[2]) == Sign::Zero;
    if meets_once {
        return Some(Shared::Point(ends[0] + (ends[1] - ends[0]) * 0.5));
    }
    let edge = edge_in_plane(a, sides_of_a).or_else(|| edge_in_plane(b, sides_of_b));
    Some(Shared::Segment { ends, edge })
}

/// One corner in the plane, and the two others on the same side of it.
fn lone_corner(sides: [Sign; 3]) -> bool {
    let count = |sign: Sign| sides.iter().filter(|&&s| s == sign).count();
    count(Sign::Zero) == 1 && (count(Sign::Positive) == 2 || count(Sign::Negative) == 2)
}

/// The edge of a triangle that lies in the plane of the other.
fn edge_in_plane(t: &Triangle, sides: [Sign; 3]) -> Option<[DVec3; 2]> {
    let in_plane = |i: &usize| sides[*i] == Sign::Zero && sides[(i + 1) % 3] == Sign::Zero;
    (0..3).find(in_plane).map(|i| [t[i], t[(i + 1) % 3]])
}

/// Where the planes do not cross; cases as in [`flat::touch`].
#[cold]
fn flat_shared(a: &Triangle, b: &Triangle, sides: [[Sign; 3]; 2]) -> Option<Shared> {
    if !flat::touch(a, b, sides) {
        return None;
    }
    let [sides_of_a, sides_of_b] = sides;
    if !in_plane(sides_of_a) {
        return Some(Shared::Point(passage(ends(a), b)));
    }
    if !in_plane(sides_of_b) {
        return Some(Shared::Point(passage(ends(b), a)));
    }
    let Some(axis) = flat::common_axis(a, b) else {
        let ([p, q], [r, s]) = (ends(a), ends(b));
        let shared = [if before(p, r) { r } else { p }, if before(q, s) { q } else { s }];
        return Some(of_ends(shared, Some([p, q])));
    };
    let (hull_a, hull_b) = (Hull::of(a), Hull::of(b));
    let mut corners = overlap_corners(axis, &hull_a, &hull_b);
    if let (Hull::Triangle(s), Hull::Triangle(t)) = (&hull_a, &hull_b)
        && !separated_by_edge(axis, s, t)
        && !separated_by_edge(axis, t, s)
    {
        return Some(Shared::Polygon(in_order(axis, corners)));
    }
    // A point or a segment. Its ends are corners of the two, or places where an edge passes
    // through another, which are corners of neither.
    corners.sort_unstable_by(|p, q| {
        let key = |p: &DVec3| p.to_array();
        key(p).partial_cmp(&key(q)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let shared = [*corners.first()?, *corners.last()?];
    let edge = match (&hull_a, &hull_b) {
        (Hull::Segment(edge), _) | (_, Hull::Segment(edge)) => Some(*edge),
        _ => edge_with(axis, &hull_a, shared),
    };
    Some(of_ends(shared, edge))
}

fn of_ends(ends: [DVec3; 2], edge: Option<[DVec3; 2]>) -> Shared {
    if ends[0] == ends[1] { Shared::Point(ends[0]) } else { Shared::Segment { ends, edge } }
}

/// The edge of a hull on whose line two points lie.
fn edge_with(axis: Axis, hull: &Hull, points: [DVec3; 2]) -> Option<[DVec3; 2]> {
    let on_line =
        |[q, r]: &[DVec3; 2]| points.iter().all(|&p| orient2d(axis, *q, *r, p) == Sign::Zero);
    hull.edges().find(on_line)
}

/// Has an edge of `t` all of `other` beyond it or on it? Then they share no area. In a plane one of
/// the edges of two triangles does that, if any line does.
fn separated_by_edge(axis: Axis, t: &Triangle, other: &Triangle) -> bool {
    let inside = orient2d(axis, t[0], t[1], t[2]);
    (0..3).any(|i| {
        let (q, r) = (t[i], t[(i + 1) % 3]);
        other.iter().all(|&p| orient2d(axis, q, r, p) != inside)
    })
}

/// The corners of a convex polygon in order, seen along the axis (Andrew 1979).
fn in_order(axis: Axis, mut corners: Vec<DVec3>) -> Vec<DVec3> {
    let (i, j) = axis.kept();
    corners.sort_unstable_by(|p, q| p[i].total_cmp(&q[i]).then(p[j].total_cmp(&q[j])));
    corners.dedup();
    let turn = |p: DVec3, q: DVec3, r: DVec3| {
        let (u, v) = (q - p, r - p);
        u[i] * v[j] - u[j] * v[i]
    };
    let chain = |points: &mut dyn Iterator<Item = DVec3>| {
        let mut chain: Vec<DVec3> = Vec::new();
        for point in points {
            while let [.., p, q] = chain[..]
                && turn(p, q, point) <= 0.0
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut around = chain(&mut corners.iter().copied());
    around.extend(chain(&mut corners.iter().rev().copied()));
    // A needle whose corners are in line but for rounding keeps them.
    if around.len() < 3 { corners } else { around }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(corners: [[f64; 2]; 3]) -> Triangle {
        corners.map(|[x, y]| DVec3::new(x, y, 0.0))
    }

    fn kind(a: &Triangle, b: &Triangle) -> &'static str {
        let of = |a, b| match shared(a, b) {
            None => "none",
            Some(Shared::Point(_)) => "point",
            Some(Shared::Segment { .. }) => "segment",
            Some(Shared::Polygon(_)) => "polygon",
        };
        assert_eq!(of(a, b), of(b, a), "{a:?}, {b:?}");
        of(a, b)
    }

    #[test]
    fn kinds_are_those_seen_by_eye() {
        let floor = flat([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]]);
        let step = f64::EPSILON;
        // In one plane: overlap, common edge, a part of an edge, a corner, next to nothing more.
        assert_eq!(kind(&floor, &flat([[1.0, 1.0], [9.0, 0.0], [0.0, 9.0]])), "polygon");
        assert_eq!(kind(&floor, &flat([[0.0, 0.0], [4.0, 0.0], [0.0, -4.0]])), "segment");
        assert_eq!(kind(&floor, &flat([[3.0, 0.0], [5.0, 0.0], [0.0, -4.0]])), "segment");
        assert_eq!(kind(&floor, &flat([[4.0, 0.0], [5.0, 0.0], [9.0, -4.0]])), "point");
        assert_eq!(kind(&floor, &flat([[2.0, 2.0], [5.0, 2.0], [2.0, 5.0]])), "point");
        let deeper = flat([[2.0, 2.0 - step], [5.0, 2.0], [2.0, 5.0]]);
        assert_eq!(kind(&floor, &deeper), "polygon");
        assert_eq!(kind(&floor, &flat([[4.1, 0.0], [5.0, 0.0], [9.0, -4.0]])), "none");
        // Standing on it: an edge, an edge that sticks out, a corner, and passing through.
        let upright = |[x, y]: [f64; 2], low: f64| {
            [DVec3::new(x, y, low), DVec3::new(x + 1.0, y, low), DVec3::new(x, y, 5.0)]
        };
        assert_eq!(kind(&floor, &upright([1.0, 1.0], 0.0)), "segment");
        assert_eq!(kind(&floor, &upright([3.5, 0.25], 0.0)), "segment");
        assert_eq!(kind(&floor, &upright([4.0, 0.0], 0.0)), "point");
        assert_eq!(kind(&floor, &upright([1.0, 1.0], -1.0)), "segment");
        assert_eq!(kind(&floor, &upright([4.0, 0.0], -1.0)), "point");
        let tip = [DVec3::new(1.0, 1.0, 0.0), DVec3::new(0.0, 1.0, 5.0), DVec3::new(1.0, 0.0, 5.0)];
        assert_eq!(kind(&floor, &tip), "point");
        // Without area.
        let needle = |p: DVec3, q: DVec3| [p, q, p];
        assert_eq!(kind(&floor, &needle(DVec3::ONE, -DVec3::ONE)), "point");
        assert_eq!(kind(&floor, &needle(DVec3::X, DVec3::X * 9.0)), "segment");
        assert_eq!(kind(&floor, &needle(DVec3::X, DVec3::X)), "point");
        let line = needle(DVec3::ZERO, DVec3::X);
        assert_eq!(kind(&line, &needle(DVec3::X, DVec3::X * 2.0)), "point");
        assert_eq!(kind(&line, &needle(DVec3::X * 0.5, DVec3::X * 2.0)), "segment");
        assert_eq!(kind(&line, &needle(DVec3::X * 0.5, DVec3::Y)), "point");
        assert_eq!(kind(&line, &needle(-DVec3::X, DVec3::Y)), "none");
    }

    #[test]
    fn overlaps_in_a_plane_have_their_corners_in_order() {
        let square = |corners: &[DVec3]| {
            let fan = corners.windows(2).map(|w| (w[0] - corners[0]).cross(w[1] - corners[0]));
            fan.fold(DVec3::ZERO, |sum, x| sum + x).length() * 0.5
        };
        let (s, t) = (
            flat([[0.0, 0.0], [6.0, 0.0], [3.0, 6.0]]),
            flat([[0.0, 4.0], [6.0, 4.0], [3.0, -2.0]]),
        );
        let Some(Shared::Polygon(corners)) = shared(&s, &t) else { panic!("they overlap") };
        // A star of two triangles: each loses three corners, of which one is 2 wide and 2 high,
        // and two are halves of what the sides cut off.
        assert_eq!(corners.len(), 6);
        assert!((square(&corners) - 12.0).abs() < 1e-12, "{}", square(&corners));
    }
}
