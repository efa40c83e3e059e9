//! What is connected with what: by the places of vertices, not by their numbers.

use super::{Mesh, NotClosed, Vertices};
use glam::{DVec3, Vec3};

/// For each vertex the first vertex with the same coordinates, and whether there are two vertices
/// with the same coordinates at all. (0.0 and −0.0 are the same coordinate.)
///
/// An open-addressing table of vertex numbers; only lookups, so its order shows nowhere.
pub(super) fn places(vertices: &Vertices) -> (Vec<u32>, bool) {
    match vertices.exact() {
        None => places_of(vertices.rounded(), hash_of),
        Some(exact) => places_of(exact, hash_of_exact),
    }
}

fn places_of<Point: Copy + PartialEq>(
    vertices: &[Point],
    hash_of: impl Fn(Point) -> u64,
) -> (Vec<u32>, bool) {
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

fn hash_of_exact(position: DVec3) -> u64 {
    let [x, y, z] = position.to_array().map(|v| (v + 0.0).to_bits());
    let mut hash = (x ^ y.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 32) ^ z.rotate_left(17)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 32)
}

/// The lowest-numbered vertex of each connected part of the surface, in increasing order.
pub(super) fn component_vertices(place: &[u32], triangles: &[[u32; 3]]) -> Vec<u32> {
    let mut parent = connected(place, triangles);
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

/// Is there at least one of these vertices in each connected part of the surface?
pub(super) fn reach_all_parts(place: &[u32], triangles: &[[u32; 3]], vertices: &[u32]) -> bool {
    let mut parent = connected(place, triangles);
    let mut reached = vec![false; place.len()];
    for &vertex in vertices {
        reached[root_of(&mut parent, place[vertex as usize]) as usize] = true;
    }
    let mut corners = triangles.iter().map(|&[vertex, _, _]| vertex);
    corners.all(|vertex| reached[root_of(&mut parent, place[vertex as usize]) as usize])
}

/// Union-find over places; the root of a set is its lowest place.
fn connected(place: &[u32], triangles: &[[u32; 3]]) -> Vec<u32> {
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
    parent
}

/// How many connected lines these edges make; `places` is the number of places.
pub(super) fn connected_lines(places: usize, edges: &[[u32; 2]]) -> usize {
    if edges.is_empty() {
        return 0;
    }
    let mut parent: Vec<u32> = (0..places as u32).collect();
    for edge in edges {
        let [a, b] = edge.map(|place| root_of(&mut parent, place));
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut roots: Vec<u32> = edges.iter().map(|[a, _]| root_of(&mut parent, *a)).collect();
    roots.sort_unstable();
    roots.dedup();
    roots.len()
}

/// The lowest member of the set that a node of a union-find belongs to.
pub(super) fn root_of(parent: &mut [u32], mut node: u32) -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator, so that the cases are the same on every run.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, limit: u32) -> u32 {
            jostle_dice::below(&mut self.0, limit.into()) as u32
        }

        /// Few places, so that many vertices share one; also −0.0.
        fn position(&mut self) -> Vec3 {
            const VALUES: [f32; 4] = [0.0, -0.0, 1.0, 1e-40];
            Vec3::from([(); 3].map(|()| VALUES[self.below(4) as usize]))
        }
    }

    /// The slow twin: labels spread until nothing changes. One lowest vertex per label.
    fn parts(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Vec<u32> {
        let mut label: Vec<u32> = (0..vertices.len() as u32).collect();
        loop {
            let before = label.clone();
            for i in 0..vertices.len() {
                for j in 0..vertices.len() {
                    let (i32, j32) = (i as u32, j as u32);
                    let linked = vertices[i] == vertices[j]
                        || triangles.iter().any(|t| t.contains(&i32) && t.contains(&j32));
                    if linked {
                        label[i] = label[i].min(label[j]);
                    }
                }
            }
            if label == before {
                break;
            }
        }
        let mut used: Vec<u32> = triangles.iter().flatten().copied().collect();
        used.sort_unstable();
        let mut seen = Vec::new();
        used.retain(|&vertex| {
            let new = !seen.contains(&label[vertex as usize]);
            seen.push(label[vertex as usize]);
            new
        });
        used
    }

    #[test]
    fn parts_and_closedness_equal_their_slow_twins() {
        let mut closed = [0; 2];
        for seed in 0..3000 {
            let mut dice = Dice(seed);
            let count = 1 + dice.below(12);
            let vertices: Vec<Vec3> = (0..count).map(|_| dice.position()).collect();
            let triangles: Vec<[u32; 3]> =
                (0..dice.below(8)).map(|_| [(); 3].map(|()| dice.below(count))).collect();
            let mut mesh = Mesh::from_triangles(vertices.clone(), triangles.clone()).unwrap();
            assert_eq!(mesh.component_vertices, parts(&vertices, &triangles), "seed {seed}");
            // All of them reach all parts, and all but one do not.
            let (place, _) = places(&vertices.clone().into());
            let kept = &mesh.component_vertices;
            assert!(reach_all_parts(&place, &triangles, kept), "seed {seed}");
            if let Some((_, fewer)) = kept.split_first() {
                assert!(!reach_all_parts(&place, &triangles, fewer), "seed {seed}");
            }

            let at = |vertex: u32| vertices[vertex as usize];
            let sides: Vec<[Vec3; 2]> = triangles
                .iter()
                .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
                .map(|side| side.map(at))
                .collect();
            let uses = |[a, b]: [Vec3; 2]| {
                sides.iter().filter(|&&side| side == [a, b] || side == [b, a]).count()
            };
            let even = sides.iter().all(|&[a, b]| a == b || uses([a, b]) % 2 == 0);
            assert_eq!(mesh.clone().into_solid().is_ok(), even, "seed {seed}");
            closed[usize::from(even && !triangles.is_empty())] += 1;

            let moved: Vec<Vec3> = (0..count).map(|_| dice.position()).collect();
            let had_duplicates = mesh.seams;
            mesh.set_vertices(&moved).unwrap();
            let expected = parts(&moved, &triangles);
            if had_duplicates {
                assert_eq!(mesh.component_vertices, expected, "seed {seed}");
            } else {
                let kept = &mesh.component_vertices;
                assert!(expected.iter().all(|vertex| kept.contains(vertex)), "seed {seed}");
            }
        }
        assert!(closed.iter().all(|&count| count > 100), "{closed:?}");
    }
}
