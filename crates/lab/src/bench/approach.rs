//! Two copies of a solid come closer while one turns (Zachmann 2000, 3.5.10).
//!
//! Each copy is turned at random and scaled uniformly into a cube of side 2. The distance is that
//! of the centres of the boxes. For each distance, from out of reach downwards, the second copy
//! makes a full turn about z, with one question per step. What counts is the mean over the
//! interesting range: from two distances before the first contact to two after it. All of this is
//! repeated for several initial orientations, applied before anything is built. The thesis takes
//! 2000 steps and does not say how far apart distances are.

use super::{Method, Random, Stopwatch, oriented};
use crate::convex::HullError;
use crate::{Contender, Count};
use glam::{DQuat, DVec3};
use jostle_geom::{Mesh, MeshError, Pose, PoseError};
use std::f64::consts::TAU;
use std::time::Duration;

/// How much closer each distance is: a fortieth of the cube.
const DISTANCE_STEP: f64 = 0.05;
/// So many distances before the contact and after it are interesting.
const AROUND_CONTACT: usize = 2;
/// A turn is asked in so many parts; methods take turns after each.
const BLOCKS: usize = 4;

/// What is asked at each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Do the surfaces share a point?
    Touches,
    /// Which faces do?
    AllPairs,
}

/// How much is asked.
#[derive(Clone, Copy, Debug)]
pub struct Approach {
    /// Steps of a full turn.
    pub steps: u32,
    /// Initial orientations.
    pub orientations: u32,
    /// Decides about the orientations.
    pub seed: u64,
    /// What is asked.
    pub question: Question,
}

/// What a method took.
#[derive(Clone, Debug)]
pub struct Spent {
    /// The method.
    pub method: Method,
    /// How many questions.
    pub queries: u64,
    /// How many of them found a contact.
    pub hits: u64,
    /// For all of them.
    pub time: Duration,
    /// Of each block: seconds per question, in the order in which they were asked.
    pub blocks: Vec<f64>,
    /// For all of them.
    pub count: Count,
    /// To prepare both copies, in the mean over orientations.
    pub build: Duration,
    /// What is kept for both copies.
    pub bytes: usize,
}

/// Why a benchmark ended early.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A method answered other than the default hierarchy: one of them is wrong.
    #[error(
        "{method} answers other than the default hierarchy, the second object at {:?} turned by \
         {:?}",
        pose.translation(), pose.rotation()
    )]
    Disagreement {
        /// The name of the method.
        method: String,
        /// Where the second copy was.
        pose: Box<Pose>,
    },
    /// A mesh cannot be turned.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A place cannot be reached.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// A hull cannot be made.
    #[error(transparent)]
    Hull(#[from] HullError),
}

/// Asks all methods about a mesh, in turns. `done` hears after each orientation.
///
/// # Errors
/// A method that disagrees with the default hierarchy; meshes that cannot be turned.
pub fn approach(
    mesh: &Mesh,
    asked: Approach,
    methods: &[Method],
    now: Stopwatch,
    done: &mut dyn FnMut(),
) -> Result<Vec<Spent>, BenchError> {
    let mut random = Random::new(asked.seed);
    let mut total: Vec<Spent> = methods.iter().map(|&method| Spent::new(method)).collect();
    methods.iter().for_each(|method| method.prepare());
    for _ in 0..asked.orientations {
        let a = oriented(mesh, random.rotation())?;
        let b = oriented(mesh, random.rotation())?;
        let turns = interesting(&a, &b, asked.steps)?;
        let mut contenders = Vec::new();
        for spent in &mut total {
            let start = now();
            let contender = spent.method.build(&a, &b)?;
            spent.build += (now() - start) / asked.orientations;
            spent.bytes = contender.bytes();
            contenders.push(contender);
        }
        for (i, block) in turns.iter().flat_map(|turn| blocks(turn)).enumerate() {
            ask(&mut contenders, &mut total, block, i, (asked.question, now))?;
        }
        done();
    }
    Ok(total)
}

impl Spent {
    fn new(method: Method) -> Spent {
        Spent {
            method,
            queries: 0,
            hits: 0,
            time: Duration::ZERO,
            blocks: Vec::new(),
            count: Count::default(),
            build: Duration::ZERO,
            bytes: 0,
        }
    }

    /// Microseconds per question.
    #[must_use]
    pub fn micros(&self) -> f64 {
        self.time.as_secs_f64() * 1e6 / self.queries.max(1) as f64
    }
}

fn blocks(turn: &[Pose]) -> std::slice::Chunks<'_, Pose> {
    turn.chunks(turn.len().div_ceil(BLOCKS).max(1))
}

/// Queries all methods for the poses of a block; the first one changes from block to block.
fn ask(
    contenders: &mut [Box<dyn Contender + '_>],
    total: &mut [Spent],
    block: &[Pose],
    turn: usize,
    (question, now): (Question, Stopwatch),
) -> Result<(), BenchError> {
    let mut answers: Vec<Vec<u64>> = vec![Vec::new(); contenders.len()];
    for k in 0..contenders.len() {
        let i = (k + turn) % contenders.len();
        let (contender, spent) = (&mut contenders[i], &mut total[i]);
        let start = now();
        for pose in block {
            let (answer, count) = match question {
                Question::Touches => {
                    let (touches, count) = contender.touches(&Pose::IDENTITY, pose);
                    (u64::from(touches), count)
                }
                Question::AllPairs => {
                    let (pairs, count) = contender.all_pairs(&Pose::IDENTITY, pose);
                    (fingerprint(&pairs), count)
                }
            };
            spent.count += count;
            answers[i].push(answer);
        }
        let time = now() - start;
        spent.time += time;
        spent.blocks.push(time.as_secs_f64() / block.len().max(1) as f64);
        spent.queries += block.len() as u64;
        spent.hits += answers[i].iter().filter(|&&answer| answer != 0).count() as u64;
    }
    for (i, spent) in total.iter().enumerate() {
        if let Some(at) = (0..block.len()).find(|&at| answers[i][at] != answers[0][at]) {
            let (method, pose) = (spent.method.name(), Box::new(block[at]));
            return Err(BenchError::Disagreement { method, pose });
        }
    }
    Ok(())
}

/// All pairs as one number, 0 if there are none (FNV).
fn fingerprint(pairs: &[jostle_geom::FacePair]) -> u64 {
    if pairs.is_empty() {
        return 0;
    }
    let numbers = pairs.iter().flat_map(|pair| [pair.a, pair.b]);
    numbers
        .fold(0xcbf2_9ce4_8422_2325, |hash, n| (hash ^ u64::from(n)).wrapping_mul(0x100_0000_01b3))
}

/// Full turns at the distances around the first contact, which the default hierarchy finds.
fn interesting(a: &Mesh, b: &Mesh, steps: u32) -> Result<Vec<Vec<Pose>>, BenchError> {
    let mut ours = Method::Ours.build(a, b)?;
    let reach =
        |mesh: &Mesh| mesh.vertices().iter().map(|v| f64::from(v.length())).fold(0.0, f64::max);
    let far = reach(a) + reach(b) + AROUND_CONTACT as f64 * DISTANCE_STEP;
    let mut turns: Vec<Vec<Pose>> = Vec::new();
    let mut contact = None;
    for k in 0.. {
        let distance = far - k as f64 * DISTANCE_STEP;
        let turn = full_turn(distance, steps)?;
        let touches = |pose: &Pose| ours.touches(&Pose::IDENTITY, pose).0;
        if contact.is_none() && turn.iter().any(touches) {
            contact = Some(k);
        }
        turns.push(turn);
        if contact.is_some_and(|c| k == c + AROUND_CONTACT) || distance <= 0.0 {
            break;
        }
    }
    let skipped = turns.len().saturating_sub(2 * AROUND_CONTACT + 1);
    Ok(turns.split_off(skipped))
}

/// The second copy at a distance along x, turning about its own z axis.
fn full_turn(distance: f64, steps: u32) -> Result<Vec<Pose>, PoseError> {
    let pose = |step: u32| {
        let angle = TAU * f64::from(step) / f64::from(steps);
        Pose::new(DQuat::from_rotation_z(angle), DVec3::new(distance, 0.0, 0.0))
    };
    (0..steps).map(pose).collect()
}
