//! Have three triangles a point in common? Exact, and where the first of them holds it.
//!
//! In the plane of one of them the others are points, segments or triangles with rational corners
//! ([`super::pieces`]), and cutting convex sets by lines leaves something or nothing.

use super::Triangle;
use super::pieces::{Face, weighted};
use super::touch::ends;
use crate::predicates::Sign;
use crate::predicates::point::{ExactPoint, Whole3};
use crate::predicates::whole::{cross, dot};
use num_bigint::BigInt;
use num_traits::Zero;

/// Do three triangles, of which each two touch, have a common point?
pub(crate) fn three_meet(triangles: [&Triangle; 3]) -> bool {
    let with_area = triangles.iter().find_map(|t| Face::new(t));
    let Some(plane) = with_area.or_else(|| plane_of_segments(triangles)) else {
        // All on one line, where any intervals that meet in pairs meet (Helly).
        return true;
    };
    let [a, b, c] = triangles.map(|t| plane.section(t));
    !clipped(clipped(a, &b), &c).is_empty()
}

/// A plane that holds two of three segments, of which each two touch, if not all are on one line.
fn plane_of_segments(segments: [&Triangle; 3]) -> Option<Face> {
    let [a, b, c] = segments.map(ends);
    let corners = [b[0], b[1], c[0], c[1]];
    corners.into_iter().find_map(|corner| Face::new(&[a[0], a[1], corner])).or_else(|| {
        // The first is a point, or the others are on its line.
        c.into_iter().find_map(|corner| Face::new(&[b[0], b[1], corner]))
    })
}

/// A point inside the polygon that two triangles in one plane share, if they share one.
pub(crate) fn point_of_overlap(a: &Triangle, b: &Triangle) -> Option<ExactPoint> {
    let plane = Face::new(a)?;
    let corners = clipped(plane.section(a), &plane.section(b));
    // In the middle between each corner and what came before: a mean in which all take part.
    let middle = |p: Whole3, q: Whole3| weighted(&p, &q[2], &q, &p[2]);
    Some(plane.point(&corners.into_iter().reduce(middle)?))
}

/// What is left of the convex hull of one to three or more points in that of others, as corners.
fn clipped(corners: Vec<Whole3>, by: &[Whole3]) -> Vec<Whole3> {
    borders(by).iter().fold(corners, |corners, line| kept(&corners, line))
}

/// The part of a convex polygon, segment or point on the positive side of a line, or on the line.
fn kept(corners: &[Whole3], line: &Whole3) -> Vec<Whole3> {
    let heights: Vec<BigInt> = corners.iter().map(|p| dot(line, p)).collect();
    let mut kept = Vec::with_capacity(corners.len() + 1);
    for (i, corner) in corners.iter().enumerate() {
        let j = (i + 1) % corners.len();
        let (here, next) = (Sign::of_whole(&heights[i]), Sign::of_whole(&heights[j]));
        if here != Sign::Negative {
            kept.push(corner.clone());
        }
        if here != Sign::Zero && here == next.flip() {
            kept.push(weighted(corner, &heights[j], &corners[j], &heights[i]));
        }
    }
    kept
}

/// Lines whose positive sides together, with the lines themselves, are the convex hull of the
/// points. Points are (U, V, W) with W above zero.
fn borders(points: &[Whole3]) -> Vec<Whole3> {
    if let [p, q, r] = points {
        let edges = [cross(p, q), cross(q, r), cross(r, p)];
        match Sign::of_whole(&dot(&edges[0], r)) {
            Sign::Positive => return edges.to_vec(),
            Sign::Negative => return edges.map(negated).to_vec(),
            Sign::Zero => {}
        }
    }
    let Some((low, high)) = extremes(points) else { return Vec::new() };
    let line = cross(low, high);
    if line.iter().all(BigInt::is_zero) {
        // A point: where both coordinates are its own.
        let [u, v, w] = low;
        let (along_u, along_v) = ([w.clone(), BigInt::zero(), -u], [BigInt::zero(), w.clone(), -v]);
        return vec![negated(along_u.clone()), along_u, negated(along_v.clone()), along_v];
    }
    // Across the segment at both ends: the normals of these lines are its direction.
    let along = [0, 1].map(|k| &high[k] * &low[2] - &low[k] * &high[2]);
    let across = |p: &Whole3| {
        [&along[0] * &p[2], &along[1] * &p[2], -(&along[0] * &p[0] + &along[1] * &p[1])]
    };
    vec![negated(line.clone()), line, across(low), negated(across(high))]
}

fn negated(line: Whole3) -> Whole3 {
    line.map(|x| -x)
}

/// The first and the last of points on one line, by U / W and then by V / W.
fn extremes(points: &[Whole3]) -> Option<(&Whole3, &Whole3)> {
    let order = |p: &&Whole3, q: &&Whole3| {
        let less = |k: usize| (&p[k] * &q[2]).cmp(&(&q[k] * &p[2]));
        less(0).then_with(|| less(1))
    };
    Some((points.iter().min_by(order)?, points.iter().max_by(order)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn three_that_meet_in_pairs_need_not_meet() {
        let triangle = |c: [[f64; 3]; 3]| c.map(DVec3::from_array);
        let floor = triangle([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 0.0]]);
        let wall = |x: f64, y: f64| triangle([[x, y, -1.0], [x, y, 1.0], [x + 2.0, y + 1.0, 0.0]]);
        let both = [wall(1.0, 1.0), triangle([[2.0, 0.0, 1.0], [2.0, 4.0, 1.0], [2.0, 1.5, 0.0]])];
        // The tip of the second ends in the first, on the floor; then a step beside it.
        assert!(three_meet([&floor, &both[0], &both[1]]));
        let mut beside = both[1];
        beside[2].y += f64::EPSILON * 2.0;
        assert!(!three_meet([&floor, &both[0], &beside]));
        for order in [[1, 0, 2], [2, 1, 0], [1, 2, 0]] {
            let all = [&floor, &both[0], &both[1]];
            assert!(three_meet(order.map(|i| all[i])), "{order:?}");
        }
        // Three sides of a triangle as segments, and three spokes of a wheel.
        let segment = |p: [f64; 3], q: [f64; 3]| triangle([p, q, q]);
        let [p, q, r] = [[0.0, 0.0, 1.0], [1.0, 0.0, 2.0], [0.0, 1.0, 4.0]];
        assert!(!three_meet([&segment(p, q), &segment(q, r), &segment(r, p)]));
        assert!(three_meet([&segment(p, q), &segment(p, r), &segment([0.0, 0.0, 9.0], p)]));
        assert!(three_meet([&segment(p, p), &segment(p, r), &segment(q, p)]));
        let line = |x: f64, y: f64| segment([x, x, x], [y, y, y]);
        assert!(three_meet([&line(0.0, 3.0), &line(1.0, 4.0), &line(2.0, 5.0)]));
    }

    #[test]
    fn a_point_of_the_overlap_is_inside_both() {
        let triangle = |c: [[f64; 2]; 3]| c.map(|[x, y]| DVec3::new(x, y, x - y));
        let a = triangle([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]]);
        let b = triangle([[1.0, 1.0], [4.0, 1.0], [1.0, 4.0]]);
        let point = point_of_overlap(&a, &b).map(|p| p.near());
        assert!(point.is_some_and(|p| p.x > 1.0 && p.y > 1.0 && p.x + p.y < 3.0), "{point:?}");
        let apart = triangle([[5.0, 5.0], [6.0, 5.0], [5.0, 6.0]]);
        assert!(point_of_overlap(&a, &apart).is_none());
    }
}
