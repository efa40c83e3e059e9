//! How deep is the zero inside a convex set that is known by its support function?
//!
//! Van den Bergen, *Proximity Queries and Penetration Depth Computation on 3D Game Objects*, GDC
//! 2001 (the expanding polytope). A polytope inside of the set grows where its surface is closest
//! to zero. The distance of that face is a lower bound of the depth, how far the set reaches along
//! its normal an upper one. Where a polytope has several closest faces, all of them are found.

use super::gjk::Vertex;
use glam::DVec3;

/// A face of the polytope that the set does not reach beyond.
#[derive(Clone, Debug)]
pub(crate) struct LastFace {
    /// Outward, of length 1.
    pub(crate) way: DVec3,
    /// How far the set reaches along it.
    pub(crate) depth: f64,
    pub(crate) vertices: [Vertex; 3],
}

/// What an expansion found.
#[derive(Clone, Debug)]
pub(crate) struct Expansion {
    /// The depth is not less.
    pub(crate) at_least: f64,
    /// The depth is not more.
    pub(crate) at_most: f64,
    /// The closest faces, all that are as close as the closest up to the precision asked for.
    pub(crate) faces: Vec<LastFace>,
}

/// More faces than hulls of some thousand corners were seen to take.
const FACES_MAX: usize = 4096;

struct Face {
    vertices: [usize; 3],
    normal: DVec3,
    height: f64,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    /// The set does not reach beyond.
    Last,
    Removed,
}

/// Expands from a simplex that holds zero. Bounds closer than `enough` end the search, and so does
/// a depth that is surely above `limit`. `None` if the set is flat.
pub(crate) fn expand(
    mut support: impl FnMut(DVec3) -> Vertex,
    simplex: &[Vertex],
    enough: f64,
    limit: f64,
) -> Option<Expansion> {
    let first = tetrahedron(&mut support, simplex, enough)?;
    let mut polytope =
        Polytope { vertices: first.to_vec(), faces: Vec::new(), slack: enough * 0.25 };
    for ring in [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]] {
        polytope.add(ring);
    }
    let mut found = Expansion { at_least: 0.0, at_most: f64::INFINITY, faces: Vec::new() };
    let mut rim = Vec::new();
    while let Some(closest) = polytope.closest() {
        let (normal, height) = (polytope.faces[closest].normal, polytope.faces[closest].height);
        if height > found.at_most + enough {
            break;
        }
        if found.faces.is_empty() {
            found.at_least = found.at_least.max(height);
        }
        if height > limit {
            found.at_most = found.at_most.min(support(normal).at.dot(normal));
            break;
        }
        let vertex = support(normal);
        let reach = normal.dot(vertex.at);
        found.at_most = found.at_most.min(reach.max(height));
        if reach - height <= enough || polytope.faces.len() >= FACES_MAX {
            polytope.faces[closest].state = State::Last;
            let vertices = polytope.faces[closest].vertices.map(|v| polytope.vertices[v]);
            found.faces.push(LastFace { way: normal, depth: reach.max(height), vertices });
            if polytope.faces.len() >= FACES_MAX {
                break;
            }
            continue;
        }
        polytope.grow(closest, vertex, &mut rim);
    }
    found.at_least = found.at_least.min(found.at_most);
    let last = found.at_most + enough;
    found.faces.retain(|face| face.depth <= last);
    Some(found)
}

/// Four vertices with a volume, turning outward, beginning with those of a simplex.
fn tetrahedron(
    support: &mut impl FnMut(DVec3) -> Vertex,
    simplex: &[Vertex],
    enough: f64,
) -> Option<[Vertex; 4]> {
    let mut all = simplex.to_vec();
    if all.len() == 4 && volume(&all) == 0.0 {
        all.pop();
    }
    if all.is_empty() {
        all.push(support(DVec3::X));
    }
    if all.len() == 1 {
        let from = all[0].at;
        let both = [DVec3::X, DVec3::Y, DVec3::Z].into_iter().flat_map(|d| [d, -d]);
        all.push(both.map(&mut *support).find(|v| v.at.distance(from) > enough)?);
    }
    if all.len() == 2 {
        let along = all[1].at - all[0].at;
        let from = all[0].at;
        let (u, v) = along.normalize().any_orthonormal_pair();
        // Three ways around: at least one of them leaves the line if anything does.
        let ways = [u, v, -u, -v, (-u - v), (u - v)];
        let off = |w: &Vertex| (w.at - from).cross(along).length() > enough * along.length();
        all.push(ways.into_iter().map(&mut *support).find(off)?);
    }
    if all.len() == 3 {
        let from = all[0].at;
        let normal = (all[1].at - from).cross(all[2].at - from).try_normalize()?;
        let off = |w: &Vertex| (w.at - from).dot(normal).abs() > enough;
        all.push([normal, -normal].into_iter().map(&mut *support).find(off)?);
    }
    if volume(&all) > 0.0 {
        all.swap(0, 1);
    }
    all.try_into().ok()
}

fn volume(v: &[Vertex]) -> f64 {
    (v[1].at - v[0].at).cross(v[2].at - v[0].at).dot(v[3].at - v[0].at)
}

struct Polytope {
    vertices: Vec<Vertex>,
    faces: Vec<Face>,
    /// A face is seen from a vertex that is not this much below it.
    slack: f64,
}

impl Polytope {
    fn add(&mut self, vertices: [usize; 3]) {
        let [a, b, c] = vertices.map(|v| self.vertices[v].at);
        let normal = (b - a).cross(c - a);
        let (normal, height) = match normal.try_normalize() {
            Some(normal) => (normal, normal.dot(a).max(normal.dot(b)).max(normal.dot(c))),
            // Without area: never the closest, and seen from anywhere, so it goes with the next
            // face beside it.
            None => (DVec3::ZERO, f64::INFINITY),
        };
        self.faces.push(Face { vertices, normal, height, state: State::Open });
    }

    fn closest(&self) -> Option<usize> {
        let mut best: Option<usize> = None;
        for (i, face) in self.faces.iter().enumerate() {
            if face.state == State::Open
                && best.is_none_or(|known| face.height < self.faces[known].height)
            {
                best = Some(i);
            }
        }
        best.filter(|&i| self.faces[i].height < f64::INFINITY)
    }

    fn is_seen(&self, face: &Face, from: DVec3) -> bool {
        face.normal == DVec3::ZERO || face.normal.dot(from) - face.height > -self.slack
    }

    /// Adds a vertex: what it sees, from the face that it is above of on, is replaced.
    fn grow(&mut self, above: usize, vertex: Vertex, rim: &mut Vec<[usize; 2]>) {
        let from = vertex.at;
        let number = self.vertices.len();
        self.vertices.push(vertex);
        rim.clear();
        let remove = |faces: &mut Vec<Face>, i: usize, rim: &mut Vec<[usize; 2]>| {
            faces[i].state = State::Removed;
            let [a, b, c] = faces[i].vertices;
            for edge in [[a, b], [b, c], [c, a]] {
                match rim.iter().position(|&[p, q]| [q, p] == edge) {
                    Some(k) => drop(rim.swap_remove(k)),
                    None => rim.push(edge),
                }
            }
        };
        remove(&mut self.faces, above, rim);
        // Faces that share an edge with what is removed, until no other is seen. Also what is last:
        // coplanar faces are replaced together, or some would turn over.
        let seen = |face: &Face| face.state != State::Removed && self.is_seen(face, from);
        let mut seen: Vec<usize> =
            (0..self.faces.len()).filter(|&i| seen(&self.faces[i])).collect();
        while let Some(k) = seen.iter().position(|&i| {
            let [a, b, c] = self.faces[i].vertices;
            [[b, a], [c, b], [a, c]].iter().any(|edge| rim.contains(edge))
        }) {
            remove(&mut self.faces, seen.swap_remove(k), rim);
        }
        // In a fixed order: swapping leaves any.
        rim.sort_unstable();
        let before = self.faces.len();
        for &[a, b] in rim.iter() {
            self.add([a, b, number]);
        }
        for i in (0..before).rev() {
            if self.faces[i].state == State::Removed {
                self.faces.swap_remove(i);
            }
        }
    }
}
