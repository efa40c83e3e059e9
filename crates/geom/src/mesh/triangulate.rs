//! Polygons to triangles: ear clipping with exact orientation tests.
//!
//! A polygon is projected along the axis that is closest to its normal (Newell's sum), which
//! drops one coordinate and rounds nothing. In the projection, a vertex is an *ear* if it is
//! strictly convex and no other vertex lies in the closed triangle of it and its two neighbours.
//! A polygon whose edges do not cross or touch, with or without vertices on straight edges, always
//! has two ears, none of them flat (Meisters, "Polygons have ears", 1975). Only vertices that are
//! reflex or straight need be looked for in an ear, and a vertex that is no ear becomes one only
//! when a neighbour is clipped; so about 3 n vertices are tested, each against a small tree
//! ([`Blockers`]) of the reflex and straight ones. A polygon of 100,000 vertices takes about 0.1 s;
//! the worst that was found, a comb with a long slanted back, where thin triangles run along many
//! straight vertices, takes 0.9 s.
//!
//! Polygons that touch or cross themselves, or that have no area, may run out of ears. Then
//! straight vertices are clipped, and when there are none of these either, any vertex: what comes
//! out still has n − 2 triangles, every edge of the polygon is an edge of one of them, and
//! nothing loops. This module accepts any numbers, also those that are not finite.

use super::Vertices;
use glam::{DVec2, DVec3};
use robust::{Coord, orient2d};
use std::collections::VecDeque;

mod blockers;

use blockers::{Blockers, is_apart};

/// Up to this many vertices, going through the polygon is faster than a tree. Measured on stars,
/// where both take the same time at about 90.
const TREE_FROM: usize = 80;

/// Memory that is used again for each polygon.
#[derive(Default)]
pub(super) struct Triangulator {
    points: Vec<DVec2>,
    previous: Vec<u32>,
    next: Vec<u32>,
    /// How often the neighbours of a vertex have changed; entries of the queue with an older
    /// number are void. `CLIPPED` when the vertex is gone.
    version: Vec<u32>,
    /// Vertices to be tested, with their version.
    queue: VecDeque<(u32, u32)>,
    /// Vertices that were found to be straight when tested.
    straight: Vec<u32>,
    blockers: Blockers,
    /// Vertices that are left.
    left: usize,
}

const CLIPPED: u32 = u32::MAX;

impl Triangulator {
    /// Appends the triangles of a polygon: n − 2 of them, or one if n is 1 or 2.
    pub(super) fn push_triangles(
        &mut self,
        vertices: &Vertices,
        polygon: &[u32],
        out: &mut Vec<[u32; 3]>,
    ) {
        match *polygon {
            [] => {}
            [a] => out.push([a, a, a]),
            [a, b] => out.push([a, b, b]),
            [a, b, c] => out.push([a, b, c]),
            _ => {
                project(vertices, polygon, &mut self.points);
                if let [a, b, c, d] = *polygon
                    && is_convex_quad(&self.points)
                {
                    out.push([a, b, c]);
                    out.push([a, c, d]);
                    return;
                }
                self.clip_all(|[p, v, n]| {
                    out.push([p, v, n].map(|local| polygon[local as usize]));
                });
            }
        }
    }

    /// Clips vertex after vertex, and emits each triangle, until two are left.
    fn clip_all(&mut self, mut emit: impl FnMut([u32; 3])) {
        self.start();
        let mut cursor = 0;
        // All vertices are tested anew once half of those at the last such round are gone.
        let mut retest_at = self.left / 2;
        while self.left > 3 {
            let vertex = if let Some(ear) = self.next_ear() {
                ear
            } else if let Some(vertex) = self.next_straight() {
                vertex
            } else if self.left <= retest_at {
                retest_at = self.left / 2;
                self.requeue_all(cursor);
                continue;
            } else {
                self.any_vertex(cursor)
            };
            let [previous, next] = self.neighbours(vertex);
            emit([previous, vertex, next]);
            self.clip(vertex);
            cursor = next;
        }
        let [previous, next] = self.neighbours(cursor);
        // The rotation that begins with the vertex that the caller named first.
        let mut last = [previous, cursor, next];
        while last[0] > last[1] || last[0] > last[2] {
            last.rotate_left(1);
        }
        emit(last);
    }

    /// All vertices linked in a ring and queued from the second on, so that the first triangle of
    /// a convex polygon is that of its first three vertices.
    fn start(&mut self) {
        let count = self.points.len() as u32;
        self.left = self.points.len();
        self.previous.clear();
        self.previous.extend((0..count).map(|v| if v == 0 { count - 1 } else { v - 1 }));
        self.next.clear();
        self.next.extend((0..count).map(|v| if v + 1 == count { 0 } else { v + 1 }));
        self.version.clear();
        self.version.resize(self.points.len(), 0);
        self.queue.clear();
        self.queue.extend((1..count).chain([0]).map(|vertex| (vertex, 0)));
        self.straight.clear();
        self.blockers.clear();
        if self.points.len() >= TREE_FROM {
            self.blockers.build(&self.points);
            for vertex in 0..count {
                self.update_blocker(vertex);
            }
        }
    }

    fn neighbours(&self, vertex: u32) -> [u32; 2] {
        [self.previous[vertex as usize], self.next[vertex as usize]]
    }

    fn point(&self, vertex: u32) -> DVec2 {
        self.points[vertex as usize]
    }

    /// Positive if the polygon turns left at the vertex, zero if it goes straight on or back.
    fn turn(&self, vertex: u32) -> f64 {
        let [previous, next] = self.neighbours(vertex);
        turn(self.point(previous), self.point(vertex), self.point(next))
    }

    fn update_blocker(&mut self, vertex: u32) {
        if self.points.len() >= TREE_FROM {
            let blocks = self.turn(vertex) <= 0.0;
            self.blockers.set(vertex, blocks);
        }
    }

    /// The next vertex of the queue that can be clipped: an ear, or one in the same place as a
    /// neighbour, whose triangle is a segment.
    fn next_ear(&mut self) -> Option<u32> {
        while let Some((vertex, version)) = self.queue.pop_front() {
            if self.version[vertex as usize] != version {
                continue;
            }
            let turn = self.turn(vertex);
            if turn > 0.0 && self.is_empty_ear(vertex) {
                return Some(vertex);
            }
            if turn == 0.0 {
                let [previous, next] = self.neighbours(vertex).map(|v| self.point(v));
                if self.point(vertex) == previous || self.point(vertex) == next {
                    return Some(vertex);
                }
                self.straight.push(vertex);
            }
        }
        None
    }

    fn next_straight(&mut self) -> Option<u32> {
        while let Some(vertex) = self.straight.pop() {
            if self.version[vertex as usize] != CLIPPED && self.turn(vertex) == 0.0 {
                return Some(vertex);
            }
        }
        None
    }

    /// A vertex to be clipped although it is no ear: convex if one is near.
    fn any_vertex(&self, cursor: u32) -> u32 {
        let ring = std::iter::successors(Some(cursor), |&v| Some(self.next[v as usize]));
        ring.take(8).find(|&vertex| self.turn(vertex) > 0.0).unwrap_or(cursor)
    }

    fn requeue_all(&mut self, cursor: u32) {
        let ring = std::iter::successors(Some(cursor), |&v| Some(self.next[v as usize]));
        for vertex in ring.take(self.left) {
            self.queue.push_back((vertex, self.version[vertex as usize]));
        }
    }

    /// The neighbours go to the end of the queue, also if they are in it already: so every other
    /// vertex of a round polygon is clipped first, and its triangles are not all slivers from one
    /// vertex.
    fn clip(&mut self, vertex: u32) {
        let [previous, next] = self.neighbours(vertex);
        self.next[previous as usize] = next;
        self.previous[next as usize] = previous;
        self.version[vertex as usize] = CLIPPED;
        self.left -= 1;
        if self.points.len() >= TREE_FROM {
            self.blockers.set(vertex, false);
        }
        for neighbour in [next, previous] {
            self.update_blocker(neighbour);
            let version = &mut self.version[neighbour as usize];
            *version += 1;
            self.queue.push_back((neighbour, *version));
        }
    }

    /// Whether the closed triangle of a convex vertex and its neighbours holds no other vertex.
    fn is_empty_ear(&self, vertex: u32) -> bool {
        let [previous, next] = self.neighbours(vertex);
        let corners = [previous, vertex, next];
        let triangle = corners.map(|v| self.point(v));
        let blocks = |other: u32| !corners.contains(&other) && self.blocks(triangle, other);
        if self.points.len() >= TREE_FROM {
            return !self.blockers.any_in(triangle, blocks);
        }
        let mut other = self.next[next as usize];
        while other != previous {
            if blocks(other) && self.turn(other) <= 0.0 {
                return false;
            }
            other = self.next[other as usize];
        }
        true
    }

    /// Whether a vertex lies in a closed triangle that turns left. One that has the same place as
    /// a corner (polygons with holes are written so) is in the way only if the polygon goes on
    /// from there into the triangle.
    fn blocks(&self, triangle: [DVec2; 3], other: u32) -> bool {
        let [a, b, c] = triangle;
        let point = self.point(other);
        if is_apart([point, point], triangle) {
            return false;
        }
        let Some(corner) = triangle.iter().position(|&corner| corner == point) else {
            return turn(a, b, point) >= 0.0
                && turn(b, c, point) >= 0.0
                && turn(c, a, point) >= 0.0;
        };
        let (left, right) = (triangle[(corner + 2) % 3], triangle[(corner + 1) % 3]);
        self.neighbours(other).iter().any(|&neighbour| {
            let end = self.point(neighbour);
            turn(point, right, end) > 0.0 && turn(point, left, end) < 0.0
        })
    }
}

/// Exact sign of the area of the triangle a b c, positive if it turns left.
fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    let [a, b, c] = [a, b, c].map(|p| Coord { x: p.x, y: p.y });
    orient2d(a, b, c)
}

fn is_convex_quad(points: &[DVec2]) -> bool {
    let corner = |i: usize| turn(points[i], points[(i + 1) % 4], points[(i + 2) % 4]) > 0.0;
    (0..4).all(corner)
}

/// Drops the coordinate in which the polygon is flattest, and mirrors if needed, so that the
/// projection turns left.
fn project(vertices: &Vertices, polygon: &[u32], points: &mut Vec<DVec2>) {
    let at = |i: usize| vertices.at(polygon[i]);
    let origin = at(0);
    let (mut normal, mut size) = (DVec3::ZERO, DVec3::ZERO);
    for i in 1..polygon.len() - 1 {
        let (p, q) = (at(i) - origin, at(i + 1) - origin);
        normal += p.cross(q);
        size += terms_of_cross(p.abs(), q.abs());
    }
    let strength = normal.abs();
    let axis = if strength == DVec3::ZERO {
        // No area: any projection in which it is longest will do.
        let spread = (0..polygon.len()).fold(DVec3::ZERO, |far, i| far.max((at(i) - origin).abs()));
        axis_of_largest(-spread)
    } else {
        axis_of_largest(strength)
    };
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    points.clear();
    points.extend(polygon.iter().map(|&vertex| {
        let position = vertices.at(vertex).to_array();
        DVec2::new(position[u], position[v])
    }));
    // Rounding error of the sum, generously: one part in 2^50 of the terms, for each term.
    let error = size[axis] * polygon.len() as f64 / (1u64 << 50) as f64;
    let turns_right =
        if strength[axis] > error { normal[axis] < 0.0 } else { turn_at_extreme(points) < 0.0 };
    if turns_right {
        points.iter_mut().for_each(|point| point.x = -point.x);
    }
}

/// The sums of products that make up a cross product, without the minus signs.
fn terms_of_cross(p: DVec3, q: DVec3) -> DVec3 {
    DVec3::new(p.y * q.z + p.z * q.y, p.z * q.x + p.x * q.z, p.x * q.y + p.y * q.x)
}

fn axis_of_largest(v: DVec3) -> usize {
    if v.x >= v.y && v.x >= v.z {
        0
    } else if v.y >= v.z {
        1
    } else {
        2
    }
}

/// The turn at the lowest of the leftmost points: exactly the orientation of a polygon whose edges
/// do not cross. Zero if the polygon turns back there.
fn turn_at_extreme(points: &[DVec2]) -> f64 {
    let before = |a: DVec2, b: DVec2| a.x < b.x || (a.x == b.x && a.y < b.y);
    let extreme =
        (1..points.len()).fold(0, |best, i| if before(points[i], points[best]) { i } else { best });
    let differs = |&i: &usize| points[i] != points[extreme];
    let after = (extreme..points.len()).chain(0..extreme).find(differs);
    let ahead = (0..extreme).rev().chain((extreme..points.len()).rev()).find(differs);
    match (ahead, after) {
        (Some(p), Some(n)) => turn(points[p], points[extreme], points[n]),
        _ => 0.0,
    }
}
