//! Jostle's side.

use crate::soup::Soup;
use anyhow::Result;
use glam::Vec3;
use jostle_geom::{Mesh, Model, Pair, Pose, Quality};

/// Two models of ours, built with the default quality.
pub(crate) struct Us {
    a: Model,
    b: Model,
}

/// The checked mesh of a soup.
pub(crate) fn mesh(soup: &Soup) -> Result<Mesh> {
    let vertices = soup.vertices.iter().map(|&v| Vec3::from(v)).collect();
    Ok(Mesh::from_triangles(vertices, soup.triangles.clone())?)
}

impl Us {
    pub(crate) fn build(a: &Soup, b: &Soup) -> Result<Us> {
        let build = |soup| Ok::<_, anyhow::Error>(Model::build(mesh(soup)?, Quality::Default));
        Ok(Us { a: build(a)?, b: build(b)? })
    }

    fn pair(&self, pose: &Pose) -> Pair<'_> {
        Pair::new(&self.a, &Pose::IDENTITY, &self.b, pose)
    }

    pub(crate) fn touch(&self, pose: &Pose) -> bool {
        self.pair(pose).touches()
    }

    /// Collects all pairs; returns their number.
    pub(crate) fn pairs(&self, pose: &Pose) -> usize {
        std::hint::black_box(self.pair(pose).all_pairs()).len()
    }

    pub(crate) fn distance(&self, pose: &Pose) -> f64 {
        self.pair(pose).distance().map_or(f64::NAN, |d| d.distance)
    }

    pub(crate) fn within(&self, pose: &Pose, distance: f64) -> bool {
        self.pair(pose).within(distance)
    }
}
