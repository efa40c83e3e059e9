//! One object orbits another (Zachmann 2000, 3.4.3, figures 3.11 to 3.13): what do convex methods
//! take at which distance, speed and size? If it only turned, a plane once found would always do.

use super::{BenchError, Method, Random, Stopwatch};
use crate::Contender;
use crate::convex::{Effort, Filter, Hull, Placement};
use glam::DQuat;
use jostle_geom::{Mesh, Pose};
use std::time::Duration;

/// Who is asked.
#[derive(Clone, Debug)]
pub enum OrbitMethod {
    /// A convex test alone.
    Convex(Filter),
    /// A whole method that answers exactly.
    Exact(Method),
}

impl OrbitMethod {
    /// What tables call it.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            OrbitMethod::Convex(filter) => filter.name().to_owned(),
            OrbitMethod::Exact(method) => method.name(),
        }
    }
}

/// Two copies of a mesh, one orbiting the other.
#[derive(Clone, Copy, Debug)]
pub struct Orbit {
    /// Of the centres.
    pub distance: f64,
    /// Degrees per step.
    pub speed: f64,
    /// How many steps.
    pub samples: u32,
}

/// What a method took.
#[derive(Clone, Debug)]
pub struct OrbitRow {
    /// The name of the method.
    pub name: String,
    /// For all steps.
    pub time: Duration,
    /// For all steps, of a convex test.
    pub effort: Effort,
    /// Steps in which the objects do not touch and the method did not show it.
    pub unproved: u64,
    /// Steps in which the objects touch.
    pub touching: u64,
}

/// Steps that one method is asked before the next one's turn.
const BLOCK: usize = 50;

enum Asked<'a> {
    Convex(Filter),
    Exact(Box<dyn Contender + 'a>),
}

impl Orbit {
    /// Asks all methods, in turns.
    ///
    /// # Errors An exact method that disagrees with the default hierarchy, a convex one that calls
    /// apart what touches; distances that no pose has.
    pub fn run(
        &self,
        mesh: &Mesh,
        methods: &[OrbitMethod],
        now: Stopwatch,
    ) -> Result<Vec<OrbitRow>, BenchError> {
        let hull = Hull::of_mesh(mesh)?;
        let mut truth = Method::Ours.build(mesh, mesh)?;
        let poses = self.poses()?;
        let mut asked = Vec::new();
        for method in methods {
            asked.push(match method {
                OrbitMethod::Convex(filter) => Asked::Convex(filter.clone()),
                OrbitMethod::Exact(method) => Asked::Exact(method.build(mesh, mesh)?),
            });
        }
        let mut rows: Vec<OrbitRow> = methods.iter().map(OrbitRow::new).collect();
        for (turn, block) in poses.chunks(BLOCK).enumerate() {
            let touching: Vec<bool> =
                block.iter().map(|pose| truth.touches(&Pose::IDENTITY, pose).0).collect();
            for k in 0..asked.len() {
                let i = (k + turn) % asked.len();
                let start = now();
                let found: Vec<(bool, Effort)> =
                    block.iter().map(|pose| asked[i].apart(&hull, pose)).collect();
                rows[i].time += now() - start;
                let exact = matches!(asked[i], Asked::Exact(_));
                rows[i].judge(&found, &touching, (exact, block))?;
            }
        }
        Ok(rows)
    }

    /// Around a slanted axis, so that no symmetry of the mesh is met again and again.
    fn poses(&self) -> Result<Vec<Pose>, BenchError> {
        let axis = Random::new(1).direction();
        let first = axis.any_orthonormal_vector() * self.distance;
        let pose = |step: u32| {
            let turn = DQuat::from_axis_angle(axis, (f64::from(step) * self.speed).to_radians());
            Ok(Pose::new(turn, turn * first)?)
        };
        (0..self.samples).map(pose).collect()
    }
}

impl Asked<'_> {
    fn apart(&mut self, hull: &Hull, pose: &Pose) -> (bool, Effort) {
        match self {
            Asked::Convex(filter) => {
                filter.proves_apart(&Placement::new(hull, &Pose::IDENTITY, hull, pose))
            }
            Asked::Exact(method) => (!method.touches(&Pose::IDENTITY, pose).0, Effort::default()),
        }
    }
}

impl OrbitRow {
    fn new(method: &OrbitMethod) -> OrbitRow {
        let (effort, time) = (Effort::default(), Duration::ZERO);
        OrbitRow { name: method.name(), time, effort, unproved: 0, touching: 0 }
    }

    fn judge(
        &mut self,
        found: &[(bool, Effort)],
        touching: &[bool],
        (exact, block): (bool, &[Pose]),
    ) -> Result<(), BenchError> {
        for (i, (&(apart, effort), &touches)) in found.iter().zip(touching).enumerate() {
            if apart == touches && (exact || touches) {
                let (method, pose) = (self.name.clone(), Box::new(block[i]));
                return Err(BenchError::Disagreement { method, pose });
            }
            self.effort += effort;
            self.unproved += u64::from(!apart && !touches);
            self.touching += u64::from(touches);
        }
        Ok(())
    }
}
