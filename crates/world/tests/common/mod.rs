//! What the tests of worlds share: a generator of numbers with a seed, and shapes.
#![allow(dead_code)] // each test program uses some of it

use glam::{DQuat, DVec3};
use jostle_geom::{Model, Pose, Quality, Shape, solids};
use std::sync::Arc;

/// SplitMix64 (Steele, Lea and Flood 2014): the same numbers on every machine.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        jostle_dice::bits(&mut self.0)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn point(&mut self, half: f64) -> DVec3 {
        DVec3::from_array([0; 3].map(|_| (self.unit() * 2.0 - 1.0) * half))
    }

    pub(crate) fn pose(&mut self, half: f64) -> Pose {
        let axis = self.point(1.0);
        let turn = DQuat::from_xyzw(axis.x, axis.y, axis.z, self.unit() + 0.01).normalize();
        Pose::new(turn, self.point(half)).expect("finite numbers")
    }
}

/// A few shapes of about unit size: sphere, box, mesh and the empty mesh.
pub(crate) fn shapes() -> Vec<Shape> {
    let torus = solids::BumpyTorus::plain(0.5, 0.2, [16, 8]);
    let torus = torus.mesh().expect("a torus of few triangles");
    let empty = jostle_geom::Mesh::from_triangles(Vec::new(), Vec::new()).expect("an empty mesh");
    vec![
        Shape::sphere(0.5).expect("a radius"),
        Shape::cuboid(DVec3::new(1.0, 0.5, 0.75)).expect("a size"),
        Shape::mesh(Arc::new(Model::build(torus, Quality::Default))),
        Shape::mesh(Arc::new(Model::build(empty, Quality::Default))),
    ]
}
