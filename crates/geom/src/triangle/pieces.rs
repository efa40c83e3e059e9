//! A triangle cut into convex pieces along what it shares with other triangles, and a point inside
//! each piece. Exact.
//!
//! Everything happens in the triangle's own coordinates: (u, v) stands for
//! p + u (q − p) + v (r − p), with rational u and v. Points are (U, V, W) with u = U / W,
//! v = V / W, W > 0; lines are (a, b, c) with a u + b v + c = 0. So a cross product makes the line
//! through two points and the point on two lines, and a dot product gives the side. Each corner of
//! a piece is made of two lines that were given, never of earlier corners, so numbers do not grow
//! from cut to cut.
//!
//! A cut goes through the whole piece that its segment enters: there may be more pieces than cells
//! of the arrangement, but no piece has a point of a given segment in its inside, and so all of a
//! piece lies in one cell.

use super::Triangle;
use crate::predicates::point::{ExactPoint, Whole3};
use crate::predicates::whole::{cross, dot, minus, whole, whole_above};
use crate::predicates::{Axis, Sign, orient2d};
use glam::DVec3;
use num_bigint::BigInt;
use num_traits::{One, Zero};
use std::ops::ControlFlow;

/// A triangle with area, to be cut.
pub(crate) struct Face {
    corners: Triangle,
    /// Seen along this axis it has area.
    axis: Axis,
}

/// A segment, or a point, that no piece may have in its inside.
pub(crate) struct Cut {
    ends: [Whole3; 2],
    line: Whole3,
}

/// A convex piece of a face. Its corners turn left.
#[derive(Clone)]
pub(crate) struct Piece {
    corners: Vec<Whole3>,
    /// The line from each corner to the next; the piece is on its positive side.
    edges: Vec<Whole3>,
}

impl Face {
    /// `None` for a triangle without area.
    pub(crate) fn new(corners: &Triangle) -> Option<Face> {
        let [p, q, r] = *corners;
        let seen = |axis: &Axis| orient2d(*axis, p, q, r) != Sign::Zero;
        Some(Face { corners: *corners, axis: Axis::ALL.into_iter().find(seen)? })
    }

    /// What the face may share with `t`: where `t` meets its plane, also beyond its edges.
    pub(crate) fn cuts(&self, t: &Triangle, cuts: &mut Vec<Cut>) {
        if self.has_beyond_an_edge(t) {
            return;
        }
        let mut met = self.section(t);
        if let [a, b, c] = &met[..] {
            cuts.push(Cut::between(a.clone(), b.clone()));
            cuts.push(Cut::between(b.clone(), c.clone()));
            cuts.push(Cut::between(c.clone(), a.clone()));
            return;
        }
        if let [first, .., last] = &met[..] {
            cuts.push(Cut::between(first.clone(), last.clone()));
        } else if let Some(point) = met.pop() {
            cuts.push(Cut::between(point.clone(), point));
        }
    }

    /// The corners of what `t` and the plane of the face share: three if `t` lies in the plane,
    /// else at most two.
    pub(crate) fn section(&self, t: &Triangle) -> Vec<Whole3> {
        let (corners, heights) = self.corners_and_heights(t);
        if heights.iter().all(BigInt::is_zero) {
            return corners.to_vec();
        }
        // One or two different points, since not all of `t` is in the plane.
        let mut met: Vec<Whole3> = Vec::with_capacity(3);
        for i in 0..3 {
            let j = (i + 1) % 3;
            if heights[i].is_zero() {
                met.push(corners[i].clone());
            } else if Sign::of_whole(&heights[i]) == Sign::of_whole(&heights[j]).flip() {
                met.push(weighted(&corners[i], &heights[j], &corners[j], &heights[i]));
            }
        }
        met
    }

    /// Is `t`, seen along the axis, beyond or on an edge of the face? Most triangles that touch the
    /// face are, and they do not enter it.
    fn has_beyond_an_edge(&self, t: &Triangle) -> bool {
        let [p, q, r] = self.corners;
        let inwards = orient2d(self.axis, p, q, r);
        let beyond = |[from, to]: [DVec3; 2]| {
            t.iter().all(|&corner| orient2d(self.axis, from, to, corner) != inwards)
        };
        [[p, q], [q, r], [r, p]].into_iter().any(beyond)
    }

    /// The corners of `t`, seen along the axis, in the coordinates of the face, and how far they
    /// are above its plane, all in one unit.
    fn corners_and_heights(&self, t: &Triangle) -> ([Whole3; 3], [BigInt; 3]) {
        let [a, b, c] = self.corners;
        let [d, e, f] = *t;
        let numbers = [
            a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, d.x, d.y, d.z, e.x, e.y, e.z, f.x, f.y,
            f.z,
        ];
        let [ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz, ex, ey, ez, fx, fy, fz] =
            whole(numbers);
        let origin = [ax, ay, az];
        let (u, v) = (minus(&[bx, by, bz], &origin), minus(&[cx, cy, cz], &origin));
        let normal = cross(&u, &v);
        let (i, j) = self.axis.kept();
        let area = |p: &Whole3, q: &Whole3| &p[i] * &q[j] - &p[j] * &q[i];
        let whole_area = area(&u, &v);
        let offsets = [[dx, dy, dz], [ex, ey, ez], [fx, fy, fz]].map(|p| minus(&p, &origin));
        let heights = [0, 1, 2].map(|k| dot(&normal, &offsets[k]));
        let corners = offsets.map(|p| positive([area(&p, &v), area(&u, &p), whole_area.clone()]));
        (corners, heights)
    }

    /// The point of the plane with these coordinates.
    pub(crate) fn point(&self, [u, v, w]: &Whole3) -> ExactPoint {
        let [a, b, c] = self.corners;
        let numbers = [a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z];
        let ([ax, ay, az, bx, by, bz, cx, cy, cz], unit) = whole_above(i32::MAX, numbers);
        let rest = w - u - v;
        let mix = |a: BigInt, b: BigInt, c: BigInt| a * &rest + b * u + c * v;
        ExactPoint::new([mix(ax, bx, cx), mix(ay, by, cy), mix(az, bz, cz)], w.clone(), unit)
    }

    /// A point that is inside both, for a triangle that crosses the face.
    pub(crate) fn crossing_point(&self, t: &Triangle) -> Option<ExactPoint> {
        let mut cuts = Vec::new();
        self.cuts(t, &mut cuts);
        let [Cut { ends, line }] = <[Cut; 1]>::try_from(cuts).ok()?;
        // Along the common line: where `t` begins and ends, and where the face does.
        let [below, _] = Piece::whole().split(&line);
        let chord = below.corners.into_iter().filter(|corner| dot(&line, corner).is_zero());
        let mut along: Vec<Whole3> = ends.into_iter().chain(chord).collect();
        along.sort_by(|p, q| {
            let less = |k: usize| (&p[k] * &q[2]).cmp(&(&q[k] * &p[2]));
            less(0).then_with(|| less(1))
        });
        let [_, low, high, _] = <[Whole3; 4]>::try_from(along).ok()?;
        Some(self.point(&weighted(&low, &high[2].clone(), &high, &low[2].clone())))
    }
}

/// Cuts `whole` and calls `look` with every piece, until it breaks.
pub(crate) fn cut_in_pieces(
    cuts: &[Cut],
    whole: Piece,
    look: &mut impl FnMut(&Piece) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut open: Vec<(Piece, Vec<&Cut>)> = vec![(whole, cuts.iter().collect())];
    while let Some((piece, mut cuts)) = open.pop() {
        cuts.retain(|cut| piece.is_entered_by(cut));
        if cuts.is_empty() {
            look(&piece)?;
            continue;
        }
        // Cuts come in the order of a hierarchy, so one from the middle splits them well.
        let cut = cuts.swap_remove(cuts.len() / 2);
        let [below, above] = piece.split(&cut.line);
        open.push((below, cuts.clone()));
        open.push((above, cuts));
    }
    ControlFlow::Continue(())
}

/// The mean of two points with W > 0, each multiplied by the size of its weight.
pub(super) fn weighted(p: &Whole3, weight_p: &BigInt, q: &Whole3, weight_q: &BigInt) -> Whole3 {
    let (f, g) = (weight_p.magnitude(), weight_q.magnitude());
    let (f, g) = (BigInt::from(f.clone()), BigInt::from(g.clone()));
    [0, 1, 2].map(|k| &p[k] * &f + &q[k] * &g)
}

/// The same point with W > 0.
fn positive(p: Whole3) -> Whole3 {
    if Sign::of_whole(&p[2]) == Sign::Negative { p.map(|x| -x) } else { p }
}

impl Cut {
    fn between(p: Whole3, q: Whole3) -> Cut {
        let mut line = cross(&p, &q);
        if line.iter().all(BigInt::is_zero) {
            // A point: any line through it does.
            line = [p[2].clone(), BigInt::zero(), -&p[0]];
        }
        Cut { ends: [p, q], line }
    }
}

impl Piece {
    /// A whole face.
    pub(crate) fn whole() -> Piece {
        let number = |x: i32| BigInt::from(x);
        let vectors = |all: [[i32; 3]; 3]| all.map(|v| v.map(number)).to_vec();
        Piece {
            corners: vectors([[0, 0, 1], [1, 0, 1], [0, 1, 1]]),
            edges: vectors([[0, 1, 0], [-1, -1, 1], [1, 0, 0]]),
        }
    }

    /// Has the inside of the piece a point of the cut?
    ///
    /// Its line must have corners on both sides, and then the segment misses the chord, an open
    /// segment of the same line, iff both its ends are beyond the same edge.
    fn is_entered_by(&self, cut: &Cut) -> bool {
        let side = |line: &Whole3, p: &Whole3| Sign::of_whole(&dot(line, p));
        let sides: Vec<Sign> = self.corners.iter().map(|p| side(&cut.line, p)).collect();
        let beyond = |edge: &Whole3| cut.ends.iter().all(|end| side(edge, end) != Sign::Positive);
        sides.contains(&Sign::Positive)
            && sides.contains(&Sign::Negative)
            && !self.edges.iter().any(beyond)
    }

    /// The parts on the negative and on the positive side of a line that has corners on both.
    fn split(&self, line: &Whole3) -> [Piece; 2] {
        let sides: Vec<Sign> = self.corners.iter().map(|p| Sign::of_whole(&dot(line, p))).collect();
        [Sign::Negative, Sign::Positive].map(|kept| {
            let towards =
                || if kept == Sign::Positive { line.clone() } else { line.clone().map(|x| -x) };
            let mut part = Piece { corners: Vec::new(), edges: Vec::new() };
            for (i, corner) in self.corners.iter().enumerate() {
                let next = sides[(i + 1) % sides.len()];
                let leaves = sides[i] != kept.flip() && next == kept.flip();
                if sides[i] != kept.flip() {
                    part.corners.push(corner.clone());
                    let on_line = leaves && sides[i] == Sign::Zero;
                    part.edges.push(if on_line { towards() } else { self.edges[i].clone() });
                }
                if sides[i] == next.flip() && sides[i] != Sign::Zero {
                    part.corners.push(positive(cross(&self.edges[i], line)));
                    part.edges.push(if leaves { towards() } else { self.edges[i].clone() });
                }
            }
            part
        })
    }

    /// A point inside the piece: near its middle, with as few digits as will do.
    pub(crate) fn inner_point(&self) -> Whole3 {
        let mut bits = 2u32;
        loop {
            let unit = BigInt::one() << bits;
            // Of the first three corners, which are not on one line.
            let mean = |k: usize| {
                let sum: BigInt = self.corners[..3].iter().map(|p| (&p[k] << bits) / &p[2]).sum();
                (sum + 1) / 3
            };
            let point = [mean(0), mean(1), unit];
            if self.edges.iter().all(|edge| Sign::of_whole(&dot(edge, &point)) == Sign::Positive) {
                return point;
            }
            bits *= 2;
        }
    }
}

/// Points of a segment, one between each two places where it may enter or leave one of the
/// triangles.
pub(crate) fn segment_points(ends: [DVec3; 2], triangles: &[Triangle]) -> Vec<ExactPoint> {
    // Parts of the way as fractions with a denominator above zero.
    let mut places = vec![(BigInt::zero(), BigInt::one()), (BigInt::one(), BigInt::one())];
    for t in triangles {
        push_places(ends, t, &mut places);
    }
    places.sort_by(|p, q| (&p.0 * &q.1).cmp(&(&q.0 * &p.1)));
    let [p, q] = ends;
    let ([px, py, pz, qx, qy, qz], unit) = whole_above(i32::MAX, [p.x, p.y, p.z, q.x, q.y, q.z]);
    let between = |step: &[(BigInt, BigInt)]| {
        let [(m, k), (n, l)] = step else { return None };
        let (part, all) = (m * l + n * k, BigInt::from(2) * k * l);
        let rest = &all - &part;
        let mix = |p: &BigInt, q: &BigInt| p * &rest + q * &part;
        let point = [mix(&px, &qx), mix(&py, &qy), mix(&pz, &qz)];
        (m * l != n * k).then(|| ExactPoint::new(point, all, unit))
    };
    places.windows(2).filter_map(between).collect()
}

/// Adds where the segment may enter or leave `t`: where it passes the plane, where it is seen to
/// pass an edge along any axis, and where a corner is, which matters if it is on the same line.
fn push_places([p, q]: [DVec3; 2], t: &Triangle, places: &mut Vec<(BigInt, BigInt)>) {
    let [a, b, c] = *t;
    let numbers = [p.x, p.y, p.z, q.x, q.y, q.z, a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z];
    let [px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz] = whole(numbers);
    let (p, q) = ([px, py, pz], [qx, qy, qz]);
    let corners = [[ax, ay, az], [bx, by, bz], [cx, cy, cz]];
    // Where a function that is linear along the segment is zero, given its values at the ends.
    let mut push = |at_p: BigInt, at_q: BigInt| {
        let mut fall = &at_p - at_q;
        let mut part = at_p;
        if Sign::of_whole(&fall) == Sign::Negative {
            (part, fall) = (-part, -fall);
        }
        if Sign::of_whole(&part) == Sign::Positive && part < fall {
            places.push((part, fall));
        }
    };
    let [a, b, c] = &corners;
    let normal = cross(&minus(b, a), &minus(c, a));
    push(dot(&normal, &minus(&p, a)), dot(&normal, &minus(&q, a)));
    for (i, from) in corners.iter().enumerate() {
        let along = minus(&corners[(i + 1) % 3], from);
        let [hands_p, hands_q] = [&p, &q].map(|end| cross(&along, &minus(end, from)));
        for (hand_p, hand_q) in hands_p.into_iter().zip(hands_q) {
            push(hand_p, hand_q);
        }
        for k in 0..3 {
            push(&p[k] - &from[k], &q[k] - &from[k]);
        }
    }
}
