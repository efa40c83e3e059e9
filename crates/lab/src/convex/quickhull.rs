//! Quickhull on exact predicates (Barber, Dobkin, Huhdanpaa, *The Quickhull Algorithm for Convex
//! Hulls*, ACM TOMS 22, 1996).
//!
//! A point is outside a facet if it is strictly above it, decided without rounding. So the facets
//! that a point sees are connected, their rim is one loop, no new triangle is without area (the
//! point is in no plane of a facet that it sees, so on no line of such a facet's edge), and nothing
//! has to be joined or widened, which is most of the published program. Points in the plane of a
//! facet leave triangles in one plane behind; [`super::merge`] makes them whole again.
//!
//! Why not a crate: those we know of (`parry3d`, `chull`) decide with tolerances, and a hull that a
//! vertex sticks out of, by however little, would dismiss pairs that touch.

use super::Dimension;
use glam::DVec3;
use jostle_geom::predicates::{Axis, Sign, orient2d, orient3d};

const NONE: u32 = u32::MAX;

/// What the points span, and loops of points: triangles of a solid; both sides of a polygon; the
/// ends of a segment; a point. Points are sorted by x, y, z and each is there once.
pub(super) fn facets(points: &[DVec3]) -> (Dimension, Vec<Vec<u32>>) {
    let Some(first) = farthest(points, |p| p.distance_squared(points[0]), |p| p != points[0])
    else {
        return (Dimension::Point, vec![vec![0]]);
    };
    let (a, b) = (points[0], points[first as usize]);
    let from_line = |p: DVec3| (b - a).cross(p - a).length_squared();
    let Some(second) = farthest(points, from_line, |p| normal_axis(a, b, p).is_some()) else {
        // On a line, the sorted order is the order along it.
        return (Dimension::Segment, vec![vec![0, points.len() as u32 - 1]]);
    };
    let c = points[second as usize];
    let normal = (b - a).cross(c - a);
    let from_plane = |p: DVec3| normal.dot(p - a).abs();
    match farthest(points, from_plane, |p| orient3d(a, b, c, p) != Sign::Zero) {
        None => (Dimension::Polygon, polygon(points, [a, b, c])),
        Some(third) => (Dimension::Solid, solid(points, [0, first, second, third])),
    }
}

/// The point for which `far` is largest, if it is `good`; else the first that is.
fn farthest(
    points: &[DVec3],
    far: impl Fn(DVec3) -> f64,
    good: impl Fn(DVec3) -> bool,
) -> Option<u32> {
    let by = |&(_, p): &(usize, &DVec3), &(_, q): &(usize, &DVec3)| far(*p).total_cmp(&far(*q));
    let (best, point) = points.iter().enumerate().max_by(|a, b| by(a, b))?;
    let found = if good(*point) { Some(best) } else { points.iter().position(|&p| good(p)) };
    found.map(|i| i as u32)
}

/// An axis along which three points do not look like a line; none if they lie on one.
pub(super) fn normal_axis(a: DVec3, b: DVec3, c: DVec3) -> Option<Axis> {
    Axis::ALL.into_iter().find(|&axis| orient2d(axis, a, b, c) != Sign::Zero)
}

/// Both sides of the hull of points in a plane (Andrew's monotone chain). The points are sorted by
/// x, y, z; seen along an axis that the plane is not parallel to they are still sorted along some
/// direction, and those that look the same are the same.
fn polygon(points: &[DVec3], [a, b, c]: [DVec3; 3]) -> Vec<Vec<u32>> {
    let axis = normal_axis(a, b, c).expect("the three points are on no line");
    let key = |p: DVec3| match axis {
        Axis::X => [p.y, p.z],
        Axis::Y => [p.z, p.x],
        Axis::Z => [p.x, p.y],
    };
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_unstable_by(|&i, &j| {
        let (p, q) = (key(points[i as usize]), key(points[j as usize]));
        p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1]))
    });
    let chain = |order: &mut dyn Iterator<Item = u32>| {
        let mut chain: Vec<u32> = Vec::new();
        for i in order {
            let turns = |p: u32, q: u32| {
                let [p, q, r] = [p, q, i].map(|k| points[k as usize]);
                orient2d(axis, p, q, r) == Sign::Positive
            };
            while let [.., p, q] = chain[..] {
                if turns(p, q) {
                    break;
                }
                chain.pop();
            }
            chain.push(i);
        }
        chain.pop();
        chain
    };
    let mut front = chain(&mut order.iter().copied());
    front.extend(chain(&mut order.iter().rev().copied()));
    let back = front.iter().rev().copied().collect();
    vec![front, back]
}

struct Facet {
    corners: [u32; 3],
    /// The facet across each edge; edge i goes from corner i to the next.
    across: [u32; 3],
    /// Points above it that belong to no other facet.
    above: Vec<u32>,
    alive: bool,
}

struct Growing<'a> {
    points: &'a [DVec3],
    facets: Vec<Facet>,
    /// Facets that may have points above them.
    open: Vec<u32>,
    /// For each point the new facet whose rim edge begins there.
    begins: Vec<u32>,
}

fn solid(points: &[DVec3], [a, b, c, d]: [u32; 4]) -> Vec<Vec<u32>> {
    let at = |i: u32| points[i as usize];
    // Outward facets turn left seen from outside, so `d` must be below the first.
    let (b, c) =
        if orient3d(at(a), at(b), at(c), at(d)) == Sign::Positive { (c, b) } else { (b, c) };
    let mut hull =
        Growing { points, facets: Vec::new(), open: Vec::new(), begins: vec![NONE; points.len()] };
    for (corners, across) in [
        ([a, b, c], [1, 2, 3]),
        ([a, d, b], [3, 2, 0]),
        ([b, d, c], [1, 3, 0]),
        ([c, d, a], [2, 1, 0]),
    ] {
        hull.facets.push(Facet { corners, across, above: Vec::new(), alive: true });
    }
    let rest = (0..points.len() as u32).filter(|i| ![a, b, c, d].contains(i)).collect();
    hull.hand_out(rest, 0);
    while let Some(facet) = hull.open.pop() {
        hull.grow(facet);
    }
    let alive = hull.facets.iter().filter(|facet| facet.alive);
    alive.map(|facet| facet.corners.to_vec()).collect()
}

impl Growing<'_> {
    fn sees(&self, point: u32, facet: u32) -> bool {
        let [a, b, c] = self.facets[facet as usize].corners.map(|i| self.points[i as usize]);
        orient3d(a, b, c, self.points[point as usize]) == Sign::Positive
    }

    /// Gives each point to the first facet from `from` on that it sees; the rest is inside.
    fn hand_out(&mut self, points: Vec<u32>, from: usize) {
        for point in points {
            let all = from as u32..self.facets.len() as u32;
            let mut seen = all.filter(|&facet| self.sees(point, facet));
            if let Some(facet) = seen.next() {
                self.facets[facet as usize].above.push(point);
            }
        }
        let open = (from..self.facets.len()).filter(|&i| !self.facets[i].above.is_empty());
        self.open.extend(open.map(|i| i as u32));
    }

    /// Brings the point farthest above a facet into the hull.
    fn grow(&mut self, facet: u32) {
        let Some(tip) = self.farthest_above(facet) else { return };
        let (seen, rim) = self.horizon(facet, tip);
        let mut orphans = Vec::new();
        for &facet in &seen {
            let facet = &mut self.facets[facet as usize];
            facet.alive = false;
            orphans.append(&mut facet.above);
        }
        let first = self.facets.len();
        for (i, &(from, to, outside)) in rim.iter().enumerate() {
            let new = (first + i) as u32;
            self.begins[from as usize] = new;
            let (corners, across) = ([from, to, tip], [outside, NONE, NONE]);
            self.facets.push(Facet { corners, across, above: Vec::new(), alive: true });
            let twin = &mut self.facets[outside as usize];
            let edge = (0..3).find(|&k| twin.corners[k] == to && twin.corners[(k + 1) % 3] == from);
            twin.across[edge.expect("the rim is an edge of the facet outside it")] = new;
        }
        for new in first..self.facets.len() {
            let next = self.begins[self.facets[new].corners[1] as usize];
            self.facets[new].across[1] = next;
            self.facets[next as usize].across[2] = new as u32;
        }
        orphans.retain(|&point| point != tip);
        self.hand_out(orphans, first);
    }

    /// The point farthest above a facet; none if there is none or the facet is gone.
    fn farthest_above(&self, facet: u32) -> Option<u32> {
        let Facet { corners, above, alive: true, .. } = &self.facets[facet as usize] else {
            return None;
        };
        let [a, b, c] = corners.map(|i| self.points[i as usize]);
        let normal = (b - a).cross(c - a);
        let height = |i: &u32| normal.dot(self.points[*i as usize] - a);
        above.iter().copied().max_by(|i, j| height(i).total_cmp(&height(j)))
    }

    /// The facets that a point sees, and the rim around them: from, to, the facet outside.
    fn horizon(&mut self, facet: u32, tip: u32) -> (Vec<u32>, Vec<(u32, u32, u32)>) {
        let mut seen = vec![facet];
        let mut rim = Vec::new();
        let mut next = 0;
        // Facets that are seen are marked by not being alive.
        self.facets[facet as usize].alive = false;
        while next < seen.len() {
            let Facet { corners, across, .. } = self.facets[seen[next] as usize];
            next += 1;
            for k in 0..3 {
                let other = across[k];
                if !self.facets[other as usize].alive {
                    continue;
                }
                if self.sees(tip, other) {
                    self.facets[other as usize].alive = false;
                    seen.push(other);
                } else {
                    rim.push((corners[k], corners[(k + 1) % 3], other));
                }
            }
        }
        (seen, rim)
    }
}
