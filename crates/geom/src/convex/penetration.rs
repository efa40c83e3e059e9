//! How deep are two convex polytopes inside each other, and which way out is the shortest?
//!
//! The depth is the distance from zero to the boundary of the difference of the two (Cameron and
//! Culley, *Determining the Minimum Translational Distance Between Two Convex Polyhedra*, 1986).
//! The expanding polytope finds all closest facets of it up to rounding; these are parallel to a
//! facet of one of the two, or to an edge of each. From there the direction is computed anew, with
//! all its digits, and the depth along it from all corners.

use super::epa::{LastFace, expand};
use super::gjk::{Vertex, closest};
use super::hull::Hull;
use crate::Pose;
use glam::{DMat3, DVec3};

/// How two convex polytopes are inside each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Penetration {
    /// The length of the shortest translation after which they do not overlap.
    pub(crate) depth: f64,
    /// Its direction, for the second of the two: of length 1, in the world. Of directions that are
    /// equally short the first in dictionary order.
    pub(crate) way: DVec3,
    /// A deepest point of each in the world; the first is the second and `depth` times `way`. At a
    /// corner if there is one, of these at the one with the lowest number.
    pub(crate) points: [DVec3; 2],
}

/// Bounds closer than this part of the size of both end a search: some tens of roundings.
const ENOUGH: f64 = 1e-14;

/// Depths closer to each other than this part of the size are equally deep.
const TIE: f64 = 1e-12;

/// Components of directions closer than this are equal in dictionary order.
const SAME: f64 = 1e-9;

/// How deep `a` at `pose_a` and `b` at `pose_b` are inside each other; `None` if they are apart.
/// Depth and points are right to a small multiple of the rounding of all lengths involved.
pub(crate) fn penetration(a: &Hull, pose_a: &Pose, b: &Hull, pose_b: &Pose) -> Option<Penetration> {
    let pair = HullPair::new(a, pose_a, b, pose_b);
    let mut near = [0, 0];
    let mut support = |along: DVec3| pair.vertex(along, &mut near);
    let start = a.centre - pair.place(b.centre);
    let enough = ENOUGH * pair.size;
    let found = closest(&mut support, start, enough, 0.0);
    if found.at_least > 0.0 {
        return None;
    }
    let expansion = expand(&mut support, &found.simplex, enough, f64::INFINITY);
    let Some(expansion) = expansion.filter(|expansion| !expansion.faces.is_empty()) else {
        // They share a point and no more than rounding can show.
        let way = pose_a.transform_vector(found.way);
        let points = found.points.map(|p| pose_a.transform_point(p));
        return Some(Penetration { depth: 0.0, way, points });
    };
    let refined: Vec<Way> = expansion.faces.iter().map(|face| pair.refined(face)).collect();
    let least = refined.iter().map(|way| way.depth).fold(f64::INFINITY, f64::min);
    let ties = refined.iter().filter(|way| way.depth <= least + TIE * pair.size);
    let world = |way: &Way| (pose_a.transform_vector(way.along), *way);
    let first = ties.map(world).reduce(|best, way| {
        // Of the parts of one facet the one that zero is closest to.
        let better = is_before(way.0, best.0)
            || !is_before(best.0, way.0) && way.1.residual() < best.1.residual();
        if better { way } else { best }
    });
    let (way, found) = first?;
    let points = pair.deepest(&found).map(|p| pose_a.transform_point(p));
    Some(Penetration { depth: found.depth.max(0.0), way, points })
}

/// Dictionary order, up to rounding.
fn is_before(p: DVec3, q: DVec3) -> bool {
    let differs = (0..3).find(|&k| (p[k] - q[k]).abs() > SAME);
    differs.is_some_and(|k| p[k] < q[k])
}

/// A direction and how deep the two are along it, in the frame of the first.
#[derive(Clone, Copy)]
struct Way {
    along: DVec3,
    depth: f64,
    /// A point of each, from the expansion.
    points: [DVec3; 2],
}

impl Way {
    /// How far its points are from being `depth` apart along the way.
    fn residual(&self) -> f64 {
        let [a, b] = self.points;
        (a - b).distance(self.along * self.depth)
    }
}

/// Two hulls in the frame of the first.
struct HullPair<'a> {
    a: &'a Hull,
    b: &'a Hull,
    /// From the frame of the second.
    rotation: DMat3,
    offset: DVec3,
    size: f64,
}

impl<'a> HullPair<'a> {
    fn new(a: &'a Hull, pose_a: &Pose, b: &'a Hull, pose_b: &Pose) -> HullPair<'a> {
        let [x, y, z] = pose_b.rows();
        let columns = DMat3::from_cols(x, y, z).transpose();
        let seen = |axis: DVec3| pose_a.inverse_transform_vector(axis);
        let rotation =
            DMat3::from_cols(seen(columns.x_axis), seen(columns.y_axis), seen(columns.z_axis));
        let offset = pose_a.inverse_transform_point(pose_b.translation());
        let size = a.centre.length() + a.radius + b.centre.length() + b.radius + offset.length();
        HullPair { a, b, rotation, offset, size }
    }

    /// A point of the second hull.
    fn place(&self, p: DVec3) -> DVec3 {
        self.rotation * p + self.offset
    }

    /// A direction in the frame of the second hull.
    fn seen_from_b(&self, along: DVec3) -> DVec3 {
        let r = &self.rotation;
        DVec3::new(r.x_axis.dot(along), r.y_axis.dot(along), r.z_axis.dot(along))
    }

    /// The vertex of the difference furthest along a direction.
    fn vertex(&self, along: DVec3, near: &mut [u32; 2]) -> Vertex {
        near[0] = self.a.support(along, near[0]);
        near[1] = self.b.support(-self.seen_from_b(along), near[1]);
        let a = self.a.corners[near[0] as usize];
        let b = self.place(self.b.corners[near[1] as usize]);
        Vertex { at: a - b, a, b, corners: *near }
    }

    /// How deep they are along a direction of length 1: the largest difference of two corners.
    fn depth(&self, along: DVec3) -> f64 {
        self.a.reach(along) + self.b.reach(-self.seen_from_b(along)) - self.offset.dot(along)
    }

    /// The best of the directions that a facet of the difference can have: across a facet of one,
    /// or an edge of each.
    fn refined(&self, face: &LastFace) -> Way {
        let points = weighted(face);
        let mut best = Way { along: face.way, depth: self.depth(face.way), points };
        let mut own = false;
        let mut try_way = |along: DVec3| {
            let depth = self.depth(along);
            // What the two are made of has more digits than what was expanded.
            let better = depth < best.depth || (!own && depth <= best.depth + TIE * self.size);
            if better && along.distance(face.way) < 1e-3 {
                best = Way { along, depth, points };
                own = true;
            }
        };
        let is_near = |along: DVec3| along.dot(face.way) > 1.0 - 1e-9;
        let mut corners =
            [face.vertices.map(|v| v.corners[0]), face.vertices.map(|v| v.corners[1])];
        corners.iter_mut().for_each(|list| list.sort_unstable());
        for &corner in &corners[0] {
            let normals =
                self.a.facets_at(corner).iter().map(|&f| self.a.facets[f as usize].normal);
            normals.filter(|&n| is_near(n)).for_each(&mut try_way);
        }
        for &corner in &corners[1] {
            let normals =
                self.b.facets_at(corner).iter().map(|&f| self.b.facets[f as usize].normal);
            normals.map(|n| -(self.rotation * n)).filter(|&n| is_near(n)).for_each(&mut try_way);
        }
        for u in self.edges(self.a, &corners[0]) {
            for v in self.edges(self.b, &corners[1]) {
                let Some(n) = u.cross(self.rotation * v).try_normalize() else { continue };
                let n = if n.dot(face.way) < 0.0 { -n } else { n };
                if is_near(n) {
                    try_way(n);
                }
            }
        }
        best
    }

    /// The edges between some corners.
    fn edges(&self, hull: &Hull, corners: &[u32; 3]) -> Vec<DVec3> {
        let [p, q, r] = *corners;
        let pairs = [[p, q], [q, r], [p, r]].into_iter().filter(|[p, q]| p != q);
        let is_edge = |&[p, q]: &[u32; 2]| hull.neighbours(p).contains(&q);
        let at = |c: u32| hull.corners[c as usize];
        pairs.filter(is_edge).map(|[p, q]| at(q) - at(p)).collect()
    }

    /// The points of contact along a way: a corner of one that is a point of the other when moved,
    /// by number, those of the first hull first; otherwise what the expansion found.
    fn deepest(&self, way: &Way) -> [DVec3; 2] {
        let slack = TIE * self.size;
        let lift = way.along * way.depth;
        let along_b = -self.seen_from_b(way.along);
        let corner_a =
            self.lowest(self.a, way.along, |p| self.holds_in_b(p - lift, slack).then_some(p));
        if let Some(p) = corner_a {
            return [p, p - lift];
        }
        let corner_b = self.lowest(self.b, along_b, |p| {
            let p = self.place(p);
            holds(self.a, p + lift, slack).then_some(p)
        });
        match corner_b {
            Some(p) => [p + lift, p],
            None => {
                let [p, q] = way.points;
                // In the middle of what rounding left between them.
                let off = (p - q - lift) * 0.5;
                [p - off, q + off]
            }
        }
    }

    /// The corner with the lowest number of those furthest along a direction, of those that pass.
    fn lowest(
        &self,
        hull: &Hull,
        along: DVec3,
        pass: impl Fn(DVec3) -> Option<DVec3>,
    ) -> Option<DVec3> {
        let reach = hull.reach(along) - TIE * self.size;
        let far = (0u32..).zip(&hull.corners).filter(|(_, p)| p.dot(along) >= reach);
        let passed = far.filter_map(|(c, &p)| Some((hull.number(c), pass(p)?)));
        passed.min_by_key(|&(number, _)| number).map(|(_, p)| p)
    }

    fn holds_in_b(&self, p: DVec3, slack: f64) -> bool {
        holds(self.b, self.seen_from_b(p - self.offset), slack)
    }
}

fn holds(hull: &Hull, p: DVec3, slack: f64) -> bool {
    let above =
        |facet: &super::hull::Facet| facet.normal.dot(p - hull.corners[facet.ring[0] as usize]);
    hull.facets.iter().all(|facet| above(facet) <= slack)
}

/// The point of each hull for the point of a face of the difference that is closest to zero.
fn weighted(face: &LastFace) -> [DVec3; 2] {
    let [a, b, c] = face.vertices.map(|v| v.at);
    let foot = face.way * face.way.dot(a);
    let across = |p: DVec3, q: DVec3| (p - foot).cross(q - foot).dot(face.way).max(0.0);
    let weights = [across(b, c), across(c, a), across(a, b)];
    let sum: f64 = weights.iter().sum();
    let weights = if sum > 0.0 { weights.map(|w| w / sum) } else { [1.0, 0.0, 0.0] };
    let point = |of: fn(&Vertex) -> DVec3| {
        face.vertices.iter().zip(weights).map(|(v, weight)| of(v) * weight).sum()
    };
    [point(|v| v.a), point(|v| v.b)]
}
