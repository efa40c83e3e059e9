//! What is connected with what: by the places of vertices, not by their numbers.

use super::{Mesh, NotClosed};
use glam::Vec3;

/// For each vertex the first vertex with the same coordinates, and whether there are two vertices
/// with the same coordinates at all. (0.0 and −0.0 are the same coordinate.)
///
/// An open-addressing table of vertex numbers; only lookups, so its order shows nowhere.
pub(super) fn places(vertices: &[Vec3]) -> (Vec<u32>, bool) {
    const FREE: u32 = u32::MAX;
    let size = (vertices.len() * 2).next_power_of_two();
    let mut table = vec![FREE; size];
    let mut any_equal = false;
    let places = vertices.iter().zip(0u32..).map(|(position, vertex)| {
        let mut slot = hash_of(*position) as usize & (size - 1);
        loop {
            match table[slot] {
                FREE => {
                    table[slot] = vertex;
                    return vertex;
                }
                other if vertices[other as usize] == *position => {
                    any_equal = true;
                    return other;
                }
                _ => slot = (slot + 1) & (size - 1),
            }
        }
    });
    (places.collect(), any_equal)
}

fn hash_of(position: Vec3) -> u64 {
    // Adding 0.0 turns −0.0 into 0.0.
    let [x, y, z] = position.to_array().map(|v| u64::from((v + 0.0).to_bits()));
    let mut hash = (x | y << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 32) ^ z).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 32)
}

/// The lowest-numbered vertex of each connected part of the surface, in increasing order.
pub(super) fn component_vertices(place: &[u32], triangles: &[[u32; 3]]) -> Vec<u32> {
    // Union-find; the root of a set is its lowest place.
    let mut parent: Vec<u32> = (0..place.len() as u32).collect();
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| place[vertex as usize]);
        let a = root_of(&mut parent, a);
        let b = root_of(&mut parent, b);
        parent[a.max(b) as usize] = a.min(b);
        let c = root_of(&mut parent, c);
        let ab = a.min(b);
        parent[ab.max(c) as usize] = ab.min(c);
    }
    const NONE: u32 = u32::MAX;
    let mut lowest = vec![NONE; place.len()];
    for &vertex in triangles.iter().flatten() {
        let root = root_of(&mut parent, place[vertex as usize]) as usize;
        lowest[root] = lowest[root].min(vertex);
    }
    let mut found: Vec<u32> = lowest.into_iter().filter(|&vertex| vertex != NONE).collect();
    found.sort_unstable();
    found
}

fn root_of(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        let grandparent = parent[parent[node as usize] as usize];
        parent[node as usize] = grandparent;
        node = grandparent;
    }
    node
}

/// One side of a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Side {
    /// The lower place of its two ends.
    pub(super) low: u32,
    /// The higher place.
    pub(super) high: u32,
    /// The triangle walks from high to low.
    pub(super) backward: bool,
    /// The triangle.
    pub(super) triangle: u32,
}

/// The sides of all triangles with three different corners, sorted, so that the sides that share
/// an edge stand together. Triangles with equal corners have each side there and back: they close
/// and open nothing.
pub(super) fn sorted_sides(place: &[u32], triangles: &[[u32; 3]]) -> Vec<Side> {
    let mut sides = Vec::with_capacity(triangles.len() * 3);
    for (triangle, corners) in (0u32..).zip(triangles) {
        let [a, b, c] = corners.map(|vertex| place[vertex as usize]);
        if a == b || b == c || c == a {
            continue;
        }
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let (low, high) = (from.min(to), from.max(to));
            sides.push(Side { low, high, backward: from > to, triangle });
        }
    }
    sides.sort_unstable();
    sides
}

/// Groups of sides that share an edge.
pub(super) fn edges(sides: &[Side]) -> impl Iterator<Item = &[Side]> {
    sides.chunk_by(|a, b| (a.low, a.high) == (b.low, b.high))
}

impl Mesh {
    /// Every edge has an even number of triangles.
    pub(super) fn check_closed(&self, place: &[u32]) -> Result<(), NotClosed> {
        let sides = sorted_sides(place, &self.triangles);
        let mut odd = edges(&sides).filter(|edge| edge.len() % 2 == 1);
        let Some(first) = odd.next() else { return Ok(()) };
        Err(NotClosed {
            edges: 1 + odd.count(),
            face: self.face_of(first[0].triangle),
            from: self.caller_vertex(first[0].low),
            to: self.caller_vertex(first[0].high),
        })
    }
}
