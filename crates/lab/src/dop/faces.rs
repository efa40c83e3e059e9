//! The boundary of a DOP, polygon by polygon: Ohlenburg's clipping (2003, 3.2.3, figure 3.7).
//!
//! For every plane a large square, clipped by all other planes. A point where an edge crosses a
//! plane is interpolated between the ends of the edge, so it lies on the edge, and on the plane up
//! to 8v·L with v = 2⁻⁵³ and L the size of the numbers: what is computed is the polygon of planes
//! that are moved by at most that, however small the angles are.

use super::NormalSet;
use glam::DVec3;

/// The polygons of all planes; empty for those that are not part of the boundary.
#[derive(Clone, Debug)]
pub(crate) struct Faces {
    offsets: Vec<f64>,
    /// No vertex is further than this from the origin.
    far: f64,
    polygons: Vec<Vec<DVec3>>,
}

impl Faces {
    /// Of the DOP with these offsets. No vertex may be further than `far` from the origin.
    pub(crate) fn new(normals: &NormalSet, offsets: &[f64], far: f64) -> Faces {
        let mut faces = Faces { offsets: offsets.to_vec(), far, polygons: Vec::new() };
        faces.polygons = (0..normals.k()).map(|i| faces.polygon(normals, i)).collect();
        faces
    }

    /// A large square on a plane, clipped by all planes that are not parallel to it.
    fn polygon(&self, normals: &NormalSet, i: usize) -> Vec<DVec3> {
        let normal = normals.normal(i);
        let across = normal.any_orthonormal_vector();
        let (u, w) = (across * self.far, normal.cross(across) * self.far);
        let foot = normal * self.offsets[i];
        let mut polygon = vec![foot + u + w, foot - u + w, foot - u - w, foot + u - w];
        let mut clipped = Vec::new();
        for j in not_parallel(normals, i) {
            clip(&mut polygon, normals.normal(j), self.offsets[j], &mut clipped);
        }
        polygon
    }

    /// Moves one plane inwards.
    pub(crate) fn cut(&mut self, normals: &NormalSet, i: usize, offset: f64) {
        self.offsets[i] = offset;
        let mut clipped = Vec::new();
        for j in not_parallel(normals, i) {
            clip(&mut self.polygons[j], normals.normal(i), offset, &mut clipped);
        }
        self.polygons[i] = self.polygon(normals, i);
    }

    pub(crate) fn offset(&self, i: usize) -> f64 {
        self.offsets[i]
    }

    /// All corners, each as often as it is in a polygon.
    pub(crate) fn points(&self) -> impl Iterator<Item = DVec3> {
        self.polygons.iter().flatten().copied()
    }

    /// All corners, those that are closer than `near` along every axis once.
    pub(crate) fn corners(&self, near: f64) -> Vec<DVec3> {
        let mut corners: Vec<DVec3> = Vec::new();
        for point in self.points() {
            let known = |corner: &DVec3| (*corner - point).abs().max_element() < near;
            if !corners.iter().any(known) {
                corners.push(point);
            }
        }
        corners
    }

    /// What is inside: pyramids from a point to all polygons.
    fn volume(&self) -> f64 {
        let Some(top) = self.points().next() else { return 0.0 };
        let pyramid = |polygon: &Vec<DVec3>| {
            let [first, rest @ ..] = &polygon[..] else { return 0.0 };
            let parts = rest.windows(2).map(|edge| (edge[0] - first).cross(edge[1] - first));
            let area: DVec3 = parts.sum();
            (area.dot(*first - top) / 6.0).abs()
        };
        self.polygons.iter().map(pyramid).sum()
    }
}

/// The volume of the DOP with these offsets, one for each of the k directions.
///
/// # Panics
/// If there are fewer offsets than directions.
#[must_use]
pub fn volume(normals: &NormalSet, offsets: &[f64]) -> f64 {
    let Some(Own { faces, size, .. }) = Own::new(normals, offsets) else { return 0.0 };
    faces.volume() * size.powi(3)
}

/// The vertices of the DOP with these offsets, up to rounding; none if it is one point.
///
/// # Panics
/// If there are fewer offsets than directions.
#[must_use]
pub fn vertices(normals: &NormalSet, offsets: &[f64]) -> Vec<DVec3> {
    let Some(Own { faces, size, middle }) = Own::new(normals, offsets) else { return Vec::new() };
    faces.corners(1e-12).iter().map(|corner| *corner * size + middle).collect()
}

/// A DOP around its own middle and of size 1, so that neither a far place nor a size costs digits.
struct Own {
    faces: Faces,
    size: f64,
    middle: DVec3,
}

impl Own {
    fn new(normals: &NormalSet, offsets: &[f64]) -> Option<Own> {
        let half = normals.half();
        let width = |i: usize| offsets[i] + offsets[i + half.len()];
        let size = (0..half.len()).map(width).fold(0.0, f64::max);
        if size == 0.0 || !size.is_finite() {
            return None;
        }
        // A point about in the middle, from the first three directions, the most perpendicular.
        let matrix = glam::DMat3::from_cols(half[0], half[1], half[2]).transpose();
        let along = |i: usize| (offsets[i] - offsets[i + half.len()]) * 0.5;
        let middle = matrix.inverse() * DVec3::new(along(0), along(1), along(2));
        let moved = |i: usize| (offsets[i] - normals.normal(i).dot(middle)) / size;
        let moved: Vec<f64> = (0..normals.k()).map(moved).collect();
        let faces = Faces::new(normals, &moved, 8.0 * NormalSet::REACH_MAX);
        Some(Own { faces, size, middle })
    }
}

fn not_parallel(normals: &NormalSet, i: usize) -> impl Iterator<Item = usize> + use<> {
    let (k, half) = (normals.k(), normals.half().len());
    (0..k).filter(move |j| j % half != i % half)
}

/// Keeps what is not beyond the plane. The five cases of figure 3.7 are two: a corner stays or
/// goes, and where an edge crosses the plane a corner comes in.
fn clip(polygon: &mut Vec<DVec3>, normal: DVec3, offset: f64, clipped: &mut Vec<DVec3>) {
    let beyond = |p: DVec3| normal.dot(p) - offset;
    if polygon.iter().all(|&p| beyond(p) <= 0.0) {
        return;
    }
    clipped.clear();
    for (i, &p) in polygon.iter().enumerate() {
        let q = polygon[(i + 1) % polygon.len()];
        let (dp, dq) = (beyond(p), beyond(q));
        if dp <= 0.0 {
            clipped.push(p);
        }
        if (dp < 0.0 && dq > 0.0) || (dp > 0.0 && dq < 0.0) {
            clipped.push(p + (q - p) * (dp / (dp - dq)));
        }
    }
    std::mem::swap(polygon, clipped);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_of_known_solids() {
        let cube = volume(&NormalSet::axes(), &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
        assert!((cube - 48.0).abs() < 1e-12, "{cube}");
        let distance = 1.0 / 3f64.sqrt();
        let octahedron = volume(&NormalSet::octahedron(), &[distance; 8]);
        assert!((octahedron - 4.0 / 3.0).abs() < 1e-12, "{octahedron}");
        // A cube of side 2 that the other planes just touch, far from the origin.
        let normals = NormalSet::klosowski();
        let far = DVec3::new(1e3, -2e3, 5e2);
        let offsets: Vec<f64> = (0..18)
            .map(|i| normals.normal(i))
            .map(|n| n.dot(far) + n.x.abs() + n.y.abs() + n.z.abs())
            .collect();
        let cube = volume(&normals, &offsets);
        assert!((cube - 8.0).abs() < 1e-9, "{cube}");
        // A rhombic dodecahedron around a sphere of radius 1: 4·√2.
        let edges = NormalSet::new(&normals.half()[3..]).expect("six directions");
        let dodecahedron = volume(&edges, &[1.0; 12]);
        assert!((dodecahedron - 32f64.sqrt()).abs() < 1e-12, "{dodecahedron}");
    }
}
