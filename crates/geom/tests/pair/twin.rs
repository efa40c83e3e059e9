//! The slow obvious twin: every triangle of one with every triangle of the other.

use glam::DVec3;
use jostle_geom::triangle::{self, Triangle, closest_point, triangles_touch};
use jostle_geom::{FacePair, Mesh, NearPair, Pose};
use std::cell::OnceCell;

/// Placed triangles with the faces that they are part of.
pub(crate) struct Twin {
    a: Vec<(u32, Triangle)>,
    b: Vec<(u32, Triangle)>,
    /// The largest placed coordinate, without its sign: what roundings are relative to.
    pub(crate) size: f64,
    // Each is asked for several times.
    distance: OnceCell<Option<f64>>,
    touching: OnceCell<Vec<FacePair>>,
}

fn placed(mesh: &Mesh, pose: &Pose) -> Vec<(u32, Triangle)> {
    let place = |v: u32| pose.transform_point(mesh.vertices()[v as usize]);
    let triangles = mesh.triangles().iter().zip(0u32..);
    triangles.map(|(t, i)| (mesh.face_of(i), t.map(place))).collect()
}

/// How far `point` is from a face: from the nearest of its triangles.
fn off_face(side: &[(u32, Triangle)], face: u32, point: DVec3) -> f64 {
    let of_face = side.iter().filter(|t| t.0 == face);
    let far = of_face.map(|(_, t)| closest_point(point, t).distance(point));
    far.fold(f64::INFINITY, f64::min)
}

impl Twin {
    pub(crate) fn new(a: &Mesh, pose_a: &Pose, b: &Mesh, pose_b: &Pose) -> Twin {
        let (a, b) = (placed(a, pose_a), placed(b, pose_b));
        let corners = a.iter().chain(&b).flat_map(|(_, t)| t);
        let size = corners.fold(0.0, |size: f64, p| size.max(p.abs().max_element()));
        Twin { a, b, size, distance: OnceCell::new(), touching: OnceCell::new() }
    }

    /// What a few roundings of the coordinates amount to.
    pub(crate) fn rounding(&self) -> f64 {
        64.0 * 2f64.powi(-53) * self.size
    }

    fn pairs(&self) -> impl Iterator<Item = (FacePair, &Triangle, &Triangle)> {
        self.a.iter().flat_map(|(face_a, a)| {
            self.b.iter().map(move |(face_b, b)| (FacePair { a: *face_a, b: *face_b }, a, b))
        })
    }

    /// The smallest distance of any two triangles.
    pub(crate) fn distance(&self) -> Option<f64> {
        let all = || self.pairs().map(|(_, a, b)| triangle::distance(a, b).distance);
        *self.distance.get_or_init(|| all().min_by(f64::total_cmp))
    }

    /// All triangles at most `reach` apart.
    pub(crate) fn near(&self, reach: f64) -> Vec<NearPair> {
        let near = self.pairs().filter_map(|(faces, a, b)| {
            let found = triangle::distance(a, b);
            let points = [found.on_a, found.on_b];
            (found.distance <= reach).then_some(NearPair { faces, gap: found.distance, points })
        });
        near.collect()
    }

    /// The touching triangles by their faces, sorted, as often as there are.
    pub(crate) fn touching(&self) -> Vec<FacePair> {
        let find = || {
            let touching = self.pairs().filter(|(_, a, b)| triangles_touch(a, b));
            let mut faces: Vec<FacePair> = touching.map(|(faces, _, _)| faces).collect();
            faces.sort_unstable();
            faces
        };
        self.touching.get_or_init(find).clone()
    }

    /// How far a point is from the two faces, the worse of both.
    pub(crate) fn off_faces(&self, faces: FacePair, on_a: DVec3, on_b: DVec3) -> f64 {
        off_face(&self.a, faces.a, on_a).max(off_face(&self.b, faces.b, on_b))
    }
}
