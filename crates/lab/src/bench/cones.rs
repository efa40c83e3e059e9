//! Two cones that bounce off each other: how often does the search for a separating plane end in
//! vain? (Zachmann 2000, 3.4.3, the table and figures 3.8 and 3.9.)

use super::{Air, BenchError, Flight, Method, Random, Solid, Stopwatch, oriented};
use crate::convex::{Hull, Placement, PlaneSettings, SeparatingPlane};
use glam::DQuat;
use jostle_geom::{Mesh, Pose};
use std::time::Duration;

/// The cones fill a cube of half side 1, so they are near each other all the time.
const AIR: Air = Air { room: 1.5, speed: 0.1, turn: 0.1 };

/// Two cones on their way, and when they touch.
#[derive(Clone, Debug)]
pub struct Cones {
    hull: Hull,
    path: Vec<([Pose; 2], bool)>,
}

/// What one way of searching made of it.
#[derive(Clone, Copy, Debug)]
pub struct ConeRow {
    /// How planes were searched.
    pub settings: PlaneSettings,
    /// Whether the plane of the last step was kept.
    pub kept: bool,
    /// Steps in which the cones do not touch.
    pub apart: u64,
    /// Of these, how many were not proved.
    pub unproved: u64,
    /// Planes that were tried, in steps in which the cones do not touch.
    pub planes: u64,
    /// For those steps.
    pub time: Duration,
}

impl ConeRow {
    /// The thesis' error: false collisions as a share of the steps without one.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.unproved as f64 / self.apart.max(1) as f64
    }
}

impl Cones {
    /// Lets them bounce for so many steps. The default hierarchy says when they touch.
    ///
    /// # Errors
    /// None that is known: the cone and its poses are made here.
    pub fn new(steps: u32, seed: u64) -> Result<Cones, BenchError> {
        let mesh = cone()?;
        let hull = Hull::of_mesh(&mesh)?;
        let mut exact = Method::Ours.build(&mesh, &mesh)?;
        let mut random = Random::new(seed);
        let mut cones = [0, 1].map(|_| Flight::new(AIR, &mut random));
        let mut path = Vec::new();
        for _ in 0..steps {
            cones.iter_mut().for_each(|cone| cone.step(AIR));
            let poses = [cones[0].pose(), cones[1].pose()];
            let touches = exact.touches(&poses[0], &poses[1]).0;
            if touches {
                Flight::bounce(&mut cones);
            }
            path.push((poses, touches));
        }
        Ok(Cones { hull, path })
    }

    /// Searches planes all along the way.
    #[must_use]
    pub fn search(&self, settings: PlaneSettings, kept: bool, now: Stopwatch) -> ConeRow {
        let mut plane = SeparatingPlane::new(settings);
        let (apart, unproved, planes, time) = (0, 0, 0, Duration::ZERO);
        let mut row = ConeRow { settings, kept, apart, unproved, planes, time };
        for ([a, b], touches) in &self.path {
            if !kept {
                plane.forget();
            }
            let start = now();
            let placement = Placement::new(&self.hull, a, &self.hull, b);
            let (proved, effort) = plane.proves_apart(&placement);
            let spent = now() - start;
            if !proved {
                plane.hear(*touches);
            }
            if !touches {
                row.apart += 1;
                row.unproved += u64::from(!proved);
                row.planes += effort.steps;
                row.time += spent;
            }
        }
        row
    }
}

fn cone() -> Result<Mesh, BenchError> {
    let mesh = Solid::Cone.mesh(64).expect("64 triangles are few");
    Ok(oriented(&mesh, DQuat::IDENTITY)?)
}
