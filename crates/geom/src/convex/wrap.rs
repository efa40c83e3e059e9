//! The facets of the convex hull of points, by gift wrapping (Chand and Kapur, *An Algorithm for
//! Convex Polytopes*, Journal of the ACM 17, 1970). Exact.
//!
//! Each facet is found whole, with all points in its plane, so coplanar and collinear points need
//! no special case: only strict corners remain. That takes a look at all points for each facet,
//! which is as good as any method for hulls of a few hundred points.

use crate::predicates::{Axis, Plane, Sign, orient2d};
use glam::DVec3;
use std::collections::BTreeSet;

/// The facets of the hull of some points as polygons of point numbers, counter-clockwise seen from
/// outside; `None` if all points lie in one plane. Of points in the same place the first is used.
/// The points must be as exact predicates need them.
pub(crate) fn facets(points: &[DVec3]) -> Option<Vec<Vec<u32>>> {
    let wrap = Wrap { points, distinct: distinct(points) };
    let first = wrap.first_facet()?;
    let mut facets = Vec::new();
    let mut done = BTreeSet::new();
    let mut open = Vec::new();
    let mut add = |facet: Vec<u32>, open: &mut Vec<[u32; 2]>, done: &mut BTreeSet<[u32; 2]>| {
        for k in 0..facet.len() {
            let edge = [facet[k], facet[(k + 1) % facet.len()]];
            done.insert(edge);
            open.push(edge);
        }
        facets.push(facet);
    };
    add(first, &mut open, &mut done);
    while let Some([from, to]) = open.pop() {
        if !done.contains(&[to, from]) {
            add(wrap.facet_at(to, from)?, &mut open, &mut done);
        }
    }
    Some(facets)
}

/// The first of each group of points in the same place, in increasing order.
fn distinct(points: &[DVec3]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    let key = |&i: &u32| points[i as usize].to_array();
    order.sort_by(|i, j| less(key(i), key(j)).then(i.cmp(j)));
    order.dedup_by_key(|i| key(i));
    order.sort_unstable();
    order
}

/// The dictionary order of coordinates; 0 and −0 are equal.
fn less<const N: usize>(p: [f64; N], q: [f64; N]) -> std::cmp::Ordering {
    p.partial_cmp(&q).unwrap_or(std::cmp::Ordering::Equal)
}

struct Wrap<'a> {
    points: &'a [DVec3],
    distinct: Vec<u32>,
}

impl Wrap<'_> {
    fn at(&self, i: u32) -> DVec3 {
        self.points[i as usize]
    }

    /// Some facet. A line in the plane of x and y that has all points on one side is a plane
    /// along z there: it holds a facet, or an edge that a facet can be found at.
    fn first_facet(&self) -> Option<Vec<u32>> {
        let key = |i: u32| self.at(i).to_array();
        let lowest = self.distinct.iter().copied().min_by(|&i, &j| less(key(i), key(j)))?;
        let p = self.at(lowest);
        let apart = |q: DVec3| (p.x, p.y) != (q.x, q.y);
        let others = self.distinct.iter().copied().filter(|&i| apart(self.at(i)));
        // All points seen along z are on the left of the line from `lowest` to this one.
        let turn =
            others.reduce(|most, i| match orient2d(Axis::Z, p, self.at(most), self.at(i)) {
                Sign::Negative => i,
                _ => most,
            })?;
        let q = self.at(turn);
        let on_line = |i: &u32| orient2d(Axis::Z, p, q, self.at(*i)) == Sign::Zero;
        let wall: Vec<u32> = self.distinct.iter().copied().filter(on_line).collect();
        if wall.len() == self.distinct.len() {
            return None;
        }
        let off_line = |i: &&u32| !collinear(p, q, self.at(**i));
        match wall.iter().find(off_line) {
            Some(&third) => {
                // Outside is on the right of the line.
                let inside = self.distinct.iter().find(|i| !on_line(i))?;
                let side = Plane::through(&[p, q, self.at(third)]).side(self.at(*inside), &mut 0);
                let corners = if side == Sign::Negative { [p, q] } else { [q, p] };
                Some(polygon(self.points, wall, [corners[0], corners[1], self.at(third)]))
            }
            None => {
                let last = wall.iter().copied().max_by(|&i, &j| less(key(i), key(j)))?;
                self.facet_at(lowest, last)
            }
        }
    }

    /// The facet on the left of the edge from `from` to `to`, seen from outside; the edge must be
    /// one of the hull. `None` if all points lie in one plane.
    fn facet_at(&self, from: u32, to: u32) -> Option<Vec<u32>> {
        let (a, b) = (self.at(from), self.at(to));
        let mut plane: Option<(Plane, DVec3)> = None;
        let mut in_plane = Vec::new();
        let mut below = false;
        for &i in &self.distinct {
            let p = self.at(i);
            if i == from || i == to {
                continue;
            }
            let side = match &plane {
                None if collinear(a, b, p) => continue,
                None => Sign::Positive,
                Some((plane, _)) => plane.side(p, &mut 0),
            };
            match side {
                Sign::Positive => {
                    below |= plane.is_some();
                    plane = Some((Plane::through(&[a, b, p]), p));
                    in_plane = vec![from, to, i];
                }
                Sign::Zero => in_plane.push(i),
                Sign::Negative => below = true,
            }
        }
        let (_, third) = plane.filter(|_| below)?;
        Some(polygon(self.points, in_plane, [a, b, third]))
    }
}

/// Do three points lie on one line? Exact.
pub(super) fn collinear(a: DVec3, b: DVec3, c: DVec3) -> bool {
    Axis::ALL.iter().all(|&axis| orient2d(axis, a, b, c) == Sign::Zero)
}

/// The strict corners of the convex hull of points in one plane, turning as `turn` does, which are
/// three points of the plane that are not on one line (Andrew's monotone chain).
fn polygon(points: &[DVec3], mut numbers: Vec<u32>, turn: [DVec3; 3]) -> Vec<u32> {
    let [a, b, c] = turn;
    let seen = |axis: &Axis| orient2d(*axis, a, b, c);
    let axis = Axis::ALL.into_iter().find(|axis| seen(axis) != Sign::Zero).unwrap_or(Axis::X);
    let (x, y) = axis.kept();
    let at = |i: u32| points[i as usize];
    numbers.sort_by(|&i, &j| less([at(i)[x], at(i)[y]], [at(j)[x], at(j)[y]]));
    let chain = |numbers: &mut dyn Iterator<Item = u32>| {
        let mut chain: Vec<u32> = Vec::new();
        for i in numbers {
            while let [.., p, q] = chain[..]
                && orient2d(axis, at(p), at(q), at(i)) != Sign::Positive
            {
                chain.pop();
            }
            chain.push(i);
        }
        chain.pop();
        chain
    };
    let mut ring = chain(&mut numbers.iter().copied());
    ring.extend(chain(&mut numbers.iter().rev().copied()));
    if seen(&axis) == Sign::Negative {
        ring.reverse();
    }
    ring
}
