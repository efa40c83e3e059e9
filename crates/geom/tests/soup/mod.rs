//! What several tests need: random numbers, random triangles, and the slow obvious twin.

#![allow(dead_code, reason = "not every test uses all of it")]

use glam::{DQuat, DVec3, Vec3};
use jostle_geom::triangle::{Triangle, triangles_touch};
use jostle_geom::{FacePair, Mesh, Pose, Quality};

pub(crate) const QUALITIES: [Quality; 3] = [Quality::Fast, Quality::Default, Quality::Tight];

/// splitmix64: every seed gives another sequence, the same on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        jostle_dice::bits(&mut self.0)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// From -1 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn vector(&mut self) -> DVec3 {
        DVec3::new(self.unit(), self.unit(), self.unit())
    }

    pub(crate) fn rotation(&mut self) -> DQuat {
        DQuat::from_xyzw(self.unit(), self.unit(), self.unit(), self.unit() + 1e-3)
    }

    pub(crate) fn pose(&mut self, reach: f64) -> Pose {
        let rotation = self.rotation();
        Pose::new(rotation, self.vector() * reach).unwrap()
    }
}

/// Without triangles, with one, with the same one many times, and with polygons whose triangles
/// cannot be distinguished.
pub(crate) fn degenerate_meshes() -> Vec<Mesh> {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y, -Vec3::ZERO];
    let repeated: Vec<u32> = [0, 1, 2].repeat(5);
    vec![
        Mesh::from_triangles(Vec::new(), Vec::new()).unwrap(),
        Mesh::from_triangles(corners.clone(), Vec::new()).unwrap(),
        Mesh::from_triangles(corners.clone(), vec![[0, 1, 2]]).unwrap(),
        Mesh::from_triangles(corners.clone(), vec![[2, 1, 3]; 50]).unwrap(),
        Mesh::from_polygons(corners, [repeated.clone(), repeated]).unwrap(),
    ]
}

/// Triangles of size `spread` in a cube of size `scale`, some of them segments or points.
pub(crate) fn soup(random: &mut Random, count: usize, scale: f32, spread: f32) -> Mesh {
    let mut vertices = Vec::new();
    for _ in 0..count {
        let middle = random.vector().as_vec3();
        let mut corner = || (middle + random.vector().as_vec3() * spread) * scale;
        let [a, b, c] = [corner(), corner(), corner()];
        vertices.extend(match random.below(12) {
            0 => [a, b, b],
            1 => [a, a, a],
            2 => [a, b, (a + b) * 0.5],
            _ => [a, b, c],
        });
    }
    own_corners(vertices)
}

/// Corners on a grid of `cells`³ integer points, so that much coincides.
pub(crate) fn grid_soup(random: &mut Random, count: usize, cells: usize, size: f32) -> Mesh {
    let mut at = || random.below(cells) as f32 * size;
    own_corners((0..3 * count).map(|_| Vec3::new(at(), at(), at())).collect())
}

/// Each three vertices are a triangle.
pub(crate) fn own_corners(vertices: Vec<Vec3>) -> Mesh {
    let triangles = (0..vertices.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Mesh::from_triangles(vertices, triangles).unwrap()
}

/// Polygons of 1 to 7 corners over shared vertices, crossing and repeating themselves.
pub(crate) fn polygon_soup(random: &mut Random, faces: usize) -> Mesh {
    let vertices = (0..40).map(|_| random.vector().as_vec3()).collect();
    let polygons: Vec<Vec<u32>> = (0..faces)
        .map(|_| (0..1 + random.below(7)).map(|_| random.below(40) as u32).collect())
        .collect();
    Mesh::from_polygons(vertices, polygons).unwrap()
}

fn placed(mesh: &Mesh, pose: &Pose) -> Vec<Triangle> {
    let place = |v: u32| pose.transform_point(mesh.vertices()[v as usize]);
    mesh.triangles().iter().map(|t| t.map(place)).collect()
}

/// Every triangle against every triangle.
pub(crate) fn brute_pairs(a: &Mesh, pose_a: &Pose, b: &Mesh, pose_b: &Pose) -> Vec<FacePair> {
    let (placed_a, placed_b) = (placed(a, pose_a), placed(b, pose_b));
    let mut pairs = Vec::new();
    for (i, one) in (0u32..).zip(&placed_a) {
        for (j, other) in (0u32..).zip(&placed_b) {
            if triangles_touch(one, other) {
                pairs.push(FacePair { a: a.face_of(i), b: b.face_of(j) });
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
