//! parry3d's side, in `f32`, as its users get it.

use crate::soup::Soup;
use anyhow::{Context, Result};
use jostle_geom::Pose;
use parry3d::math::{Mat3, Pose as ParryPose, Rot3, Vector};
use parry3d::query;
use parry3d::shape::TriMesh;

/// Which parry. Kept equal to Cargo.toml by hand: a crate cannot ask its dependency.
pub(crate) const VERSION: &str = "0.31.1 (f32)";

/// Two meshes of parry.
pub(crate) struct Parry {
    a: TriMesh,
    b: TriMesh,
}

/// What parry builds a mesh from: it takes these by value.
pub(crate) type Parts = (Vec<Vector>, Vec<[u32; 3]>);

pub(crate) fn parts(soup: &Soup) -> Parts {
    let vertices = soup.vertices.iter().map(|v| Vector::new(v[0], v[1], v[2])).collect();
    (vertices, soup.triangles.clone())
}

pub(crate) fn mesh((vertices, triangles): Parts) -> Result<TriMesh> {
    TriMesh::new(vertices, triangles).context("parry refuses the mesh")
}

/// A pose in parry's numbers.
pub(crate) fn pose(pose: &Pose) -> ParryPose {
    let (q, t) = (pose.rotation().as_quat(), pose.translation().as_vec3());
    let rotation = Rot3::from_xyzw(q.x, q.y, q.z, q.w).normalize();
    ParryPose::from_parts(Vector::new(t.x, t.y, t.z), rotation)
}

impl Parry {
    pub(crate) fn build(a: &Soup, b: &Soup) -> Result<Parry> {
        Ok(Parry { a: mesh(parts(a))?, b: mesh(parts(b))? })
    }

    pub(crate) fn touch(&self, pose: &ParryPose) -> bool {
        query::intersection_test(&ParryPose::IDENTITY, &self.a, pose, &self.b)
            .is_ok_and(|found| found.intersecting)
    }

    /// Collects all pairs; returns their number. parry has no such query: this is the dozen lines
    /// that a user can write over its public iterator of leaf pairs and its own triangle test.
    pub(crate) fn pairs(&self, pose: &ParryPose) -> usize {
        let turn = Mat3::from_quat(pose.rotation);
        let abs = Mat3::from_cols(turn.x_axis.abs(), turn.y_axis.abs(), turn.z_axis.abs());
        let mut found: Vec<(u32, u32)> = Vec::new();
        let candidates = self.a.bvh().leaf_pairs(self.b.bvh(), |in_a, in_b| {
            let middle = *pose * in_b.center();
            let reach = abs * ((in_b.maxs() - in_b.mins()) * 0.5);
            let (low, high) = (middle - reach, middle + reach);
            let (least, most) = (in_a.mins(), in_a.maxs());
            low.x <= most.x
                && high.x >= least.x
                && low.y <= most.y
                && high.y >= least.y
                && low.z <= most.z
                && high.z >= least.z
        });
        for (i, j) in candidates {
            let (a, b) = (self.a.triangle(i), self.b.triangle(j));
            if query::details::intersection_test_support_map_support_map(pose, &a, &b) {
                found.push((i, j));
            }
        }
        std::hint::black_box(found).len()
    }

    pub(crate) fn distance(&self, pose: &ParryPose) -> f64 {
        query::distance(&ParryPose::IDENTITY, &self.a, pose, &self.b)
            .map_or(f64::NAN, |d| f64::from(d.distance))
    }
}
