//! Touching and crossing of two triangles by separating directions, on whole numbers.
//!
//! The kernels reason with sides of planes. This oracle uses another theorem: two convex sets A
//! and B are apart exactly when the origin is outside D = A − B. Then some direction separates
//! them strictly, and it can be found among few:
//!
//! * D is a solid: its faces are normal to a face of A, a face of B, or an edge of each. All of
//!   these are crossed pairs of edges.
//! * D is flat: the normal of its plane (a crossed pair of edges, too) if the origin is off that
//!   plane, else a direction in the plane, normal to an edge.
//! * D is a segment along e: with w from A to B, the part of w that is normal to e if the origin
//!   is off that line, else e itself.
//! * D is a point: w.
//!
//! The relative interiors meet exactly when the origin is in the relative interior of D. For a
//! solid D that means strictly inside of every face.

use crate::whole::Point;
use num_traits::{Num, NumRef, RefNum};

/// The requirements on a number type: whole numbers that do not overflow in this use.
pub trait Number: Num + NumRef + Ord + Clone {}
impl<T: Num + NumRef + Ord + Clone> Number for T {}

/// The relation of two triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No common point.
    Apart,
    /// A common point, but not as in `Crossing`.
    Touching,
    /// Two proper triangles in different planes whose relative interiors share a point.
    Crossing,
}

/// Decides about the triangles `points[0..3]` and `points[3..6]`.
///
/// # Panics
/// If there are not six points.
pub fn judge<T: Number>(points: &[Point<T>]) -> Verdict
where
    for<'r> &'r T: RefNum<T>,
{
    let (a, b) = points.split_at(3);
    let edges_a = edges(a);
    let edges_b = edges(b);
    let (normal_a, normal_b) = (cross(&edges_a[0], &edges_a[1]), cross(&edges_b[0], &edges_b[1]));
    let proper = !is_zero(&normal_a) && !is_zero(&normal_b);
    let mut crossed = vec![normal_a, normal_b];
    crossed.extend(edges_a.iter().flat_map(|e| edges_b.iter().map(|f| cross(e, f))));
    crossed.retain(|d| !is_zero(d));

    let mut strictly_inside = true;
    for d in &crossed {
        match gap(a, b, d) {
            Gap::Apart => return Verdict::Apart,
            Gap::Border => strictly_inside = false,
            Gap::Overlap => {}
        }
    }
    let edges: Vec<_> = edges_a.into_iter().chain(edges_b).filter(|e| !is_zero(e)).collect();
    let Some(normal) = crossed.first() else {
        return if apart_on_a_line(a, b, &edges) { Verdict::Apart } else { Verdict::Touching };
    };
    if edges.iter().all(|e| dot(e, normal).is_zero()) {
        let apart = edges.iter().any(|e| gap(a, b, &cross(e, normal)) == Gap::Apart);
        return if apart { Verdict::Apart } else { Verdict::Touching };
    }
    if proper && strictly_inside { Verdict::Crossing } else { Verdict::Touching }
}

/// The case that all edges are parallel or there are none.
fn apart_on_a_line<T: Number>(a: &[Point<T>], b: &[Point<T>], edges: &[Point<T>]) -> bool
where
    for<'r> &'r T: RefNum<T>,
{
    let w = minus(&b[0], &a[0]);
    let Some(e) = edges.first() else {
        return !is_zero(&w);
    };
    let across = cross(&cross(e, &w), e);
    gap(a, b, e) == Gap::Apart || (!is_zero(&across) && gap(a, b, &across) == Gap::Apart)
}

#[derive(PartialEq)]
enum Gap {
    /// A strict gap.
    Apart,
    /// They end where the other begins.
    Border,
    /// Each shadow extends beyond the ends of the other.
    Overlap,
}

/// How the shadows of the two sets lie along `d`.
fn gap<T: Number>(a: &[Point<T>], b: &[Point<T>], d: &Point<T>) -> Gap
where
    for<'r> &'r T: RefNum<T>,
{
    let [(low_a, high_a), (low_b, high_b)] = [a, b].map(|t| {
        let [p, q, r] = [0, 1, 2].map(|i| dot(&t[i], d));
        let (low, high) = if p < q { (p, q) } else { (q, p) };
        if r < low {
            (r, high)
        } else if r > high {
            (low, r)
        } else {
            (low, high)
        }
    });
    if high_a < low_b || high_b < low_a {
        Gap::Apart
    } else if high_a == low_b || high_b == low_a {
        Gap::Border
    } else {
        Gap::Overlap
    }
}

fn edges<T: Number>(t: &[Point<T>]) -> [Point<T>; 3]
where
    for<'r> &'r T: RefNum<T>,
{
    [minus(&t[1], &t[0]), minus(&t[2], &t[1]), minus(&t[0], &t[2])]
}

/// p − q.
pub fn minus<T: Number>(p: &Point<T>, q: &Point<T>) -> Point<T>
where
    for<'r> &'r T: RefNum<T>,
{
    [0, 1, 2].map(|i| &p[i] - &q[i])
}

/// p · q.
pub fn dot<T: Number>(p: &Point<T>, q: &Point<T>) -> T
where
    for<'r> &'r T: RefNum<T>,
{
    &p[0] * &q[0] + &p[1] * &q[1] + &p[2] * &q[2]
}

/// p × q.
pub fn cross<T: Number>(p: &Point<T>, q: &Point<T>) -> Point<T>
where
    for<'r> &'r T: RefNum<T>,
{
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| &p[i] * &q[j] - &p[j] * &q[i])
}

fn is_zero<T: Number>(p: &Point<T>) -> bool {
    p.iter().all(T::is_zero)
}
