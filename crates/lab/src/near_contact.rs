//! Poses of two copies of a solid near contact, one turning, as Zachmann has them (2000, 3.5.10).
//! For what [`crate::bench::approach`] does not ask, because it is about one method, or not exact.

use crate::{Contender, Ours};
use glam::{DQuat, DVec3};
use jostle_geom::{Mesh, Pose, Quality};
use std::f64::consts::TAU;

/// Zachmann's "interesting range": from two distances before contact to two after.
const BEFORE_AND_AFTER: u32 = 2;

/// How two copies of a solid come near each other.
///
/// The second copy stands at a distance along x and turns about z (tilted, so that faces of
/// symmetric solids do not lie flat on each other). Distances go down in steps until the two
/// touch at some angle.
#[derive(Clone, Copy, Debug)]
pub struct NearContact {
    /// How many angles there are at a distance. Zachmann has 2000.
    pub turns: u32,
    /// Distances differ by this share of the solid's width.
    pub step: f64,
}

impl NearContact {
    /// Distances that differ by 3 % of the solid's width, as in all experiments.
    #[must_use]
    pub fn new(turns: u32) -> NearContact {
        NearContact { turns, step: 0.03 }
    }

    /// Where the second copy is asked about, turn after turn: neighbours are near each other. The
    /// first stays at the origin. Empty for a mesh without triangles or without width.
    ///
    /// # Panics
    /// If the mesh is so large that a place beside it is no pose (2^100).
    #[must_use]
    pub fn poses(&self, mesh: &Mesh) -> Vec<Pose> {
        let width = 2.0 * mesh.vertices().iter().fold(0.0, |far: f32, v| far.max(v.length()));
        let step = f64::from(width) * self.step;
        if mesh.triangle_count() == 0 || step <= 0.0 {
            return Vec::new();
        }
        let mut ours = Ours::new(mesh, mesh, Quality::Default);
        let mut touches = |distance: f64| {
            let poses = self.turn(distance);
            poses.iter().any(|pose| ours.touches(&Pose::IDENTITY, pose).0)
        };
        // From where even turned copies do not reach each other.
        let begin = f64::from(width) + f64::from(BEFORE_AND_AFTER + 1) * step;
        let steps = (begin / step).ceil() as u32;
        let at = |i: u32| begin - f64::from(i) * step;
        let contact = (0..steps).find(|&i| touches(at(i))).unwrap_or(steps);
        let range = contact.saturating_sub(BEFORE_AND_AFTER)..=contact + BEFORE_AND_AFTER;
        range.flat_map(|i| self.turn(at(i))).collect()
    }

    fn turn(&self, distance: f64) -> Vec<Pose> {
        let tilt = DQuat::from_xyzw(0.1, 0.2, 0.0, 1.0).normalize();
        let pose = |i: u32| {
            let angle = TAU * f64::from(i) / f64::from(self.turns.max(1));
            let turn = DQuat::from_rotation_z(angle) * tilt;
            Pose::new(turn, DVec3::new(distance, 0.0, 0.0)).expect("a finite place")
        };
        (0..self.turns).map(pose).collect()
    }
}
