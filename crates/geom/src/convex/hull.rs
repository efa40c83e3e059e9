//! A convex polytope with what searches over it need: facets with normals, edges, neighbours.

use super::wrap::facets;
use crate::mesh::Mesh;
use crate::posed_model::exact_normal;
use glam::DVec3;

/// A facet of a [`Hull`].
#[derive(Clone, Debug)]
pub(crate) struct Facet {
    /// Outward, of length 1.
    pub(crate) normal: DVec3,
    /// Its corners, counter-clockwise seen from outside.
    pub(crate) ring: Vec<u32>,
}

/// A convex polytope with an inside, in coordinates of its mesh.
#[derive(Clone, Debug)]
pub(crate) struct Hull {
    pub(crate) corners: Vec<DVec3>,
    /// What the caller of the mesh counts each corner as.
    numbers: Vec<u32>,
    /// The other ends of the edges of corner i are `next[first[i]..first[i + 1]]`.
    first: Vec<u32>,
    next: Vec<u32>,
    pub(crate) facets: Vec<Facet>,
    /// The facets at each corner, by `facets_first`.
    facets_first: Vec<u32>,
    facets_at: Vec<u32>,
    pub(crate) centre: DVec3,
    /// No corner is further from the centre.
    pub(crate) radius: f64,
}

/// Up to this many corners all are looked at: then it is not worth walking along edges.
const FEW: usize = 12;

impl Hull {
    /// Of more corners than this no hull is made of a mesh: gift wrapping looks at all of them for
    /// each facet.
    pub(crate) const CORNERS_MAX: usize = 4096;

    /// The hull of the vertices of a mesh that its triangles use; `None` if they lie in one plane,
    /// or if they are too many.
    pub(crate) fn of_mesh(mesh: &Mesh) -> Option<Hull> {
        let mut used: Vec<u32> = mesh.triangles.as_flattened().to_vec();
        used.sort_unstable();
        used.dedup();
        // Each place once: the caller's order decides which of equal vertices gives the number.
        let place = |v: u32| mesh.vertices.at(v).to_array().map(|x| (x + 0.0).to_bits());
        used.sort_by_cached_key(|&v| (place(v), mesh.caller_vertex(v)));
        used.dedup_by_key(|v| place(*v));
        if used.len() > Hull::CORNERS_MAX {
            return None;
        }
        used.sort_by_key(|&v| mesh.caller_vertex(v));
        let points: Vec<DVec3> = used.iter().map(|&v| mesh.vertices.at(v)).collect();
        let mut hull = Hull::new(&points, &facets(&points)?);
        hull.numbers.iter_mut().for_each(|i| *i = mesh.caller_vertex(used[*i as usize]));
        Some(hull)
    }

    /// From all points and the facets of their hull.
    pub(crate) fn new(points: &[DVec3], rings: &[Vec<u32>]) -> Hull {
        let mut numbers: Vec<u32> = rings.iter().flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let corners: Vec<DVec3> = numbers.iter().map(|&i| points[i as usize]).collect();
        let renumbered = |i: &u32| numbers.partition_point(|n| n < i) as u32;
        let facet = |ring: &Vec<u32>| {
            let ring: Vec<u32> = ring.iter().map(renumbered).collect();
            Facet { normal: facet_normal(&corners, &ring), ring }
        };
        let facets: Vec<Facet> = rings.iter().map(facet).collect();
        let (first, next) = by_corner(corners.len(), edges(&facets));
        let at =
            (0u32..).zip(&facets).flat_map(|(f, facet)| facet.ring.iter().map(move |&c| (c, f)));
        let (facets_first, facets_at) = by_corner(corners.len(), at.collect());
        let low = corners.iter().fold(DVec3::INFINITY, |low, &p| low.min(p));
        let high = corners.iter().fold(DVec3::NEG_INFINITY, |high, &p| high.max(p));
        let centre = low * 0.5 + high * 0.5;
        let radius = corners.iter().map(|p| p.distance(centre)).fold(0.0, f64::max);
        let radius = radius * (1.0 + 4.0 * f64::EPSILON);
        Hull { corners, numbers, first, next, facets, facets_first, facets_at, centre, radius }
    }

    /// The caller's number of a corner.
    pub(crate) fn number(&self, corner: u32) -> u32 {
        self.numbers[corner as usize]
    }

    /// The other ends of the edges at a corner.
    pub(crate) fn neighbours(&self, corner: u32) -> &[u32] {
        let corner = corner as usize;
        &self.next[self.first[corner] as usize..self.first[corner + 1] as usize]
    }

    /// The facets at a corner.
    pub(crate) fn facets_at(&self, corner: u32) -> &[u32] {
        let corner = corner as usize;
        &self.facets_at[self.facets_first[corner] as usize..self.facets_first[corner + 1] as usize]
    }

    /// The corner furthest along a direction, looked for along edges from a corner that may be
    /// near it.
    #[inline]
    pub(crate) fn support(&self, along: DVec3, near: u32) -> u32 {
        let height = |corner: u32| self.corners[corner as usize].dot(along);
        let mut best = (height(near), near);
        if self.corners.len() <= FEW {
            for corner in 0..self.corners.len() as u32 {
                let height = height(corner);
                if height > best.0 {
                    best = (height, corner);
                }
            }
            return best.1;
        }
        loop {
            let from = best.1;
            for &corner in self.neighbours(from) {
                let height = height(corner);
                if height > best.0 {
                    best = (height, corner);
                }
            }
            if best.1 == from {
                return from;
            }
        }
    }

    /// How far it reaches along a direction: a look at all corners.
    pub(crate) fn reach(&self, along: DVec3) -> f64 {
        self.corners.iter().map(|p| p.dot(along)).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The normal of the triangle of a polygon that is widest.
fn facet_normal(corners: &[DVec3], ring: &[u32]) -> DVec3 {
    let at = |k: usize| corners[ring[k % ring.len()] as usize];
    let mut widest = (-1.0, 1);
    for k in 1..ring.len() - 1 {
        let area = (at(k) - at(0)).cross(at(k + 1) - at(0)).length_squared();
        if area > widest.0 {
            widest = (area, k);
        }
    }
    let k = widest.1;
    exact_normal(&[at(0), at(k), at(k + 1)])
}

/// Each edge in both directions: it is one of a facet on each side.
fn edges(facets: &[Facet]) -> Vec<(u32, u32)> {
    let around = |ring: &[u32]| {
        let next = ring.iter().cycle().skip(1);
        ring.iter().copied().zip(next.copied()).collect::<Vec<_>>()
    };
    facets.iter().flat_map(|facet| around(&facet.ring)).collect()
}

/// Lists by corner, one after the other, and where each begins.
fn by_corner(corners: usize, mut pairs: Vec<(u32, u32)>) -> (Vec<u32>, Vec<u32>) {
    pairs.sort_unstable();
    let first =
        (0..=corners as u32).map(|c| pairs.partition_point(|&(corner, _)| corner < c) as u32);
    (first.collect(), pairs.iter().map(|&(_, item)| item).collect())
}
