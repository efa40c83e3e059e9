//! How far is the zero from a convex set that is known by its support function?
//!
//! Gilbert, Johnson and Keerthi, *A Fast Procedure for Computing the Distance Between Complex
//! Objects in Three-Dimensional Space*, IEEE Journal of Robotics and Automation 4, 1988. The set
//! is the difference of two convex sets. A few of its points (a simplex) give the distance from
//! above, a direction in which all of it lies on one side gives it from below; the search ends
//! when the two meet. Where rounding stops it earlier, numbers of twice the digits take it on.

use super::wide::{self, WideVector};
use glam::DVec3;

/// A point of the difference of two sets: `a` − `b`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vertex {
    pub(crate) at: DVec3,
    pub(crate) a: DVec3,
    pub(crate) b: DVec3,
    /// The numbers of the corners; 0 for what is round.
    pub(crate) corners: [u32; 2],
}

/// What a search found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The two sets are at least so far apart. 0 or below if no direction separates them.
    pub(crate) at_least: f64,
    /// They are at most so far apart; 0 if a common point was found.
    pub(crate) at_most: f64,
    /// A point of each, `at_most` apart.
    pub(crate) points: [DVec3; 2],
    /// From the second set towards the first: the direction of `at_least`, of length 1.
    pub(crate) way: DVec3,
    /// The points of the difference that `points` are between.
    pub(crate) simplex: Vec<Vertex>,
}

/// Half of all pairs of round shapes take 12 steps. After so many the digits of `f64` rarely
/// suffice.
const STEPS_FAST: usize = 32;

/// More steps than any pair of shapes was seen to take; what is known by then is returned.
const STEPS_MAX: usize = 200;

/// The distance of two sets. `support` gives the vertex of their difference that is furthest along
/// a direction (of any length); bounds closer than `enough` end the search, and so does a proof
/// that they are further apart than `limit`.
///
/// First in `f64`. What that does not prove, that they touch first of all, is left to numbers of
/// twice the digits.
pub(crate) fn closest(
    mut support: impl FnMut(DVec3) -> Vertex,
    start: DVec3,
    enough: f64,
    limit: f64,
) -> Found {
    let start = if start == DVec3::ZERO { DVec3::X } else { start };
    let mut simplex = Simplex::default();
    simplex.push(support(-start));
    let nearest = simplex.vertices[0].at;
    let mut search =
        Search { simplex, nearest, at_least: f64::NEG_INFINITY, way: DVec3::X, enough, limit };
    if !search.is_proved_fast(&mut support) {
        search.go_on_wide(&mut support);
    }
    let Search { simplex, nearest, at_least, way, .. } = search;
    // The weights are rounded, and for needles so much that the direction between the points
    // shows it.
    let [a, b] = simplex.points();
    let off = (nearest - (a - b)) * 0.5;
    let points = [a + off, b - off];
    let simplex = simplex.vertices[..simplex.count].to_vec();
    Found { at_least, at_most: nearest.length(), points, way, simplex }
}

/// What is known so far.
struct Search {
    simplex: Simplex,
    nearest: DVec3,
    at_least: f64,
    way: DVec3,
    enough: f64,
    limit: f64,
}

impl Search {
    /// Is zero on the simplex?
    fn is_zero(&self) -> bool {
        let length = self.nearest.length();
        length <= self.enough * 1e-3 || length == 0.0
    }

    /// The next vertex, which may raise the lower bound; `None` if nothing is left to prove. Not
    /// where `is_zero`.
    fn next(&mut self, support: &mut impl FnMut(DVec3) -> Vertex) -> Option<Vertex> {
        let vertex = support(-self.nearest);
        let length = self.nearest.length();
        let direction = self.nearest / length;
        let proved = direction.dot(vertex.at);
        if proved > self.at_least {
            (self.at_least, self.way) = (proved, direction);
        }
        // By the direction of the points themselves: after an earlier one they may still be off
        // by the square root of what is left of the distance.
        (length - proved > self.enough && self.at_least <= self.limit).then_some(vertex)
    }

    fn is_proved_fast(&mut self, support: &mut impl FnMut(DVec3) -> Vertex) -> bool {
        for _ in 0..STEPS_FAST {
            if self.is_zero() {
                return false;
            }
            let Some(vertex) = self.next(support) else { return true };
            if self.simplex.holds(&vertex) {
                return false;
            }
            let before = self.simplex;
            self.simplex.push(vertex);
            let Some(next) = self.simplex.reduce() else { return false };
            // Written so that NaN ends the search.
            let closer = next.length_squared() < self.nearest.length_squared();
            if !closer {
                self.simplex = before;
                return false;
            }
            self.nearest = next;
        }
        false
    }

    fn go_on_wide(&mut self, support: &mut impl FnMut(DVec3) -> Vertex) {
        let mut best: Option<WideVector> = None;
        for _ in 0..STEPS_MAX {
            let before = self.simplex;
            let Some(next) = self.simplex.reduce_wide() else {
                self.nearest = DVec3::ZERO; // inside
                return;
            };
            // Written so that NaN ends the search.
            let is_closer =
                |known: &WideVector| next.length_squared().is_less_than(known.length_squared());
            if !best.as_ref().is_none_or(is_closer) {
                self.simplex = before;
                self.simplex.pop();
                return;
            }
            best = Some(next);
            self.nearest = next.value();
            if self.is_zero() {
                return;
            }
            let Some(vertex) = self.next(support) else { return };
            if self.simplex.holds(&vertex) {
                return;
            }
            self.simplex.push(vertex);
        }
        // The last vertex has no weight yet.
        if self.simplex.reduce_wide().is_none() {
            self.nearest = DVec3::ZERO;
        }
    }
}

/// Up to four points and the weights with which they make the point closest to zero.
#[derive(Clone, Copy)]
struct Simplex {
    vertices: [Vertex; 4],
    weights: [f64; 4],
    count: usize,
}

impl Default for Simplex {
    fn default() -> Simplex {
        let none = Vertex { at: DVec3::ZERO, a: DVec3::ZERO, b: DVec3::ZERO, corners: [0; 2] };
        Simplex { vertices: [none; 4], weights: [1.0, 0.0, 0.0, 0.0], count: 0 }
    }
}

impl Simplex {
    fn push(&mut self, vertex: Vertex) {
        self.vertices[self.count] = vertex;
        self.count += 1;
    }

    /// Without the last vertex, which has no weight yet.
    fn pop(&mut self) {
        self.count -= 1;
    }

    fn holds(&self, vertex: &Vertex) -> bool {
        self.vertices[..self.count].iter().any(|known| known.at == vertex.at)
    }

    /// The point of each set.
    fn points(&self) -> [DVec3; 2] {
        let weighted = |of: fn(&Vertex) -> DVec3| {
            let parts = self.vertices[..self.count].iter().zip(self.weights);
            parts.map(|(vertex, weight)| of(vertex) * weight).sum()
        };
        [weighted(|v| v.a), weighted(|v| v.b)]
    }

    /// Keeps what is needed for the point closest to zero, and gives that; `None` if zero is
    /// inside.
    fn reduce(&mut self) -> Option<DVec3> {
        let at = self.vertices.map(|v| v.at);
        let (weights, nearest) = match self.count {
            1 => ([1.0, 0.0, 0.0, 0.0], at[0]),
            2 => on_segment(at[0], at[1]),
            3 => on_triangle([at[0], at[1], at[2]]),
            _ => on_tetrahedron(&at)?,
        };
        self.keep(weights);
        Some(nearest)
    }

    /// As [`Simplex::reduce`], in twice the digits.
    fn reduce_wide(&mut self) -> Option<WideVector> {
        let at = self.vertices.map(|v| v.at);
        let (weights, nearest) = wide::nearest(&at[..self.count]);
        self.keep(weights);
        nearest
    }

    /// Keeps what has a weight.
    fn keep(&mut self, weights: [f64; 4]) {
        let mut kept = Simplex::default();
        for (vertex, weight) in self.vertices.into_iter().zip(weights).take(self.count) {
            if weight > 0.0 {
                kept.weights[kept.count] = weight;
                kept.push(vertex);
            }
        }
        *self = kept;
    }
}

type Weighted = ([f64; 4], DVec3);

/// Bound on the rounding of a determinant, as part of the lengths of its columns: some tens of
/// 2^-53.
const NOISE: f64 = 1e-14;

fn on_segment(a: DVec3, b: DVec3) -> Weighted {
    let ab = b - a;
    let size = ab.length_squared();
    let t = if size > 0.0 { (-a.dot(ab) / size).clamp(0.0, 1.0) } else { 0.0 };
    // From the nearer end, which loses fewer digits.
    let point = if t < 0.5 { a + ab * t } else { b - ab * (1.0 - t) };
    ([1.0 - t, t, 0.0, 0.0], point)
}

/// The point of a triangle closest to zero (Ericson, *Real-Time Collision Detection*, 2005,
/// section 5.1.5, with the regions of the edges decided across the plane: dot products of corners
/// cancel for needles).
fn on_triangle([a, b, c]: [DVec3; 3]) -> Weighted {
    let normal = normal_of(a, b, c);
    let size = normal.length_squared();
    let mut best: Option<Weighted> = None;
    if size > 0.0 {
        let across = |p: DVec3, q: DVec3| (q - p).cross(-p).dot(normal);
        let (wc, wa, wb) = (across(a, b), across(b, c), across(c, a));
        if wa > 0.0 && wb > 0.0 && wc > 0.0 {
            let sum = wa + wb + wc;
            let weights = [wa / sum, wb / sum, wc / sum, 0.0];
            // The height over the plane, from the corner closest to zero.
            let lowest = [a, b, c]
                .into_iter()
                .min_by(|p, q| p.length_squared().total_cmp(&q.length_squared()));
            let foot = normal * (normal.dot(lowest.unwrap_or(a)) / size);
            // The foot has the better direction, unless the normal has no right digit: then only
            // what lies between the corners is surely a point of the set.
            let between = a * weights[0] + b * weights[1] + c * weights[2];
            let reach = a.abs().max(b.abs()).max(c.abs()).max_element();
            let is_foot = foot.distance(between) <= 4.0 * NOISE * reach;
            return (weights, if is_foot { foot } else { between });
        }
    }
    let mut add = |(weights, point): Weighted, place: [usize; 2]| {
        if best.is_none_or(|(_, known)| point.length_squared() < known.length_squared()) {
            let mut placed = [0.0; 4];
            (placed[place[0]], placed[place[1]]) = (weights[0], weights[1]);
            best = Some((placed, point));
        }
    };
    add(on_segment(a, b), [0, 1]);
    add(on_segment(b, c), [1, 2]);
    add(on_segment(c, a), [2, 0]);
    best.unwrap_or(([1.0, 0.0, 0.0, 0.0], a))
}

/// The normal of a triangle, as long as twice its area: from its two shorter sides, which loses
/// the fewest digits for needles.
fn normal_of(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    let sides = [b - a, c - b, a - c];
    let [ab, bc, ca] = sides.map(DVec3::length_squared);
    if ab >= bc && ab >= ca {
        sides[1].cross(sides[2])
    } else if bc >= ca {
        sides[2].cross(sides[0])
    } else {
        sides[0].cross(sides[1])
    }
}

/// `None` if zero is inside.
fn on_tetrahedron(at: &[DVec3; 4]) -> Option<Weighted> {
    let mut best: Option<Weighted> = None;
    for out in 0..4 {
        let [i, j, k] = others(out);
        let (a, b, c) = (at[i], at[j], at[k]);
        let normal = normal_of(a, b, c);
        let (own, zero) = (normal.dot(at[out] - a), -normal.dot(a));
        // Zero and the fourth corner on one side, surely: not this face. A flat tetrahedron has no
        // inside; those of round shapes get flatter and flatter.
        let noise = NOISE * (b - a).length() * (c - a).length();
        let is_sure = own.abs() > noise * (at[out] - a).length() && zero.abs() > noise * a.length();
        if own * zero > 0.0 && is_sure {
            continue;
        }
        let (weights, point) = on_triangle([a, b, c]);
        if best.is_none_or(|(_, known)| point.length_squared() < known.length_squared()) {
            let mut placed = [0.0; 4];
            (placed[i], placed[j], placed[k]) = (weights[0], weights[1], weights[2]);
            best = Some((placed, point));
        }
    }
    best
}

fn others(out: usize) -> [usize; 3] {
    [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]][out]
}
