//! The paper's experiment (§4, graphs 1 to 8): comparisons and time of every method, side by side.

use super::workload::{Setup, SetupError, Targets};
use super::{Finder, Method};
use jostle_world::aura::TooManyRelations;
use std::time::Duration;

/// Before the first frame is measured, as many pass as a target stays at most: by then objects have
/// gathered. But not more than this: the world would be long in coming.
const FRAMES_BEFORE_MOST: u32 = 10_000;

/// Relations per object beyond which a run is given up: some hundred times the usual.
const RELATIONS_PER_OBJECT: usize = 1000;

/// What one method did, per frame on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The method.
    pub method: Method,
    /// How many objects.
    pub objects: u32,
    /// The volume of all auras, overlapping or not, divided by the volume of the world.
    pub coverage: f64,
    /// Tests of an aura with an aura or with a relation.
    pub comparisons: f64,
    /// The same as a share of brute force: n(n−1)/2. Not a number for fewer than two objects.
    pub share: f64,
    /// How many relations there were.
    pub relations: f64,
    /// How long it took.
    pub time: Duration,
}

/// Why an experiment came to no end.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ExperimentError {
    /// There is no such workload.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The objects gathered so closely that relations cannot be counted.
    #[error(transparent)]
    TooManyRelations(#[from] TooManyRelations),
    /// Two methods gave different relations. This is an error in Jostle.
    #[error("{} and {} differ in frame {frame}", .first.name(), .second.name())]
    Differ {
        /// One of them.
        first: Method,
        /// The other.
        second: Method,
        /// From 0, counted from the first that was measured.
        frame: u32,
    },
}

/// Runs the methods on the same frames and checks that their relations are the same.
///
/// `now` is a clock: the time since any fixed moment. A clock that stands still gives times of 0
/// and changes nothing else.
///
/// ```
/// use jostle_lab::aura::{Method, experiment, workload::Setup};
/// use std::time::Duration;
///
/// let rows = experiment::run(Setup::new(300, 0.2, 1), 3, &Method::ALL, || Duration::ZERO)?;
/// assert_eq!(rows[0].comparisons, 300.0 * 299.0 / 2.0);
/// assert!(rows.iter().all(|row| row.relations == rows[0].relations));
/// # Ok::<(), experiment::ExperimentError>(())
/// ```
///
/// # Errors
/// If the setup is out of range, or there are more than a thousand relations to an object.
pub fn run(
    setup: Setup,
    frames: u32,
    methods: &[Method],
    now: fn() -> Duration,
) -> Result<Vec<Row>, ExperimentError> {
    let mut world = Targets::new(setup)?;
    let limit = setup.objects as usize * RELATIONS_PER_OBJECT;
    let mut finders: Vec<Finder> = methods.iter().map(|&method| Finder::new(method)).collect();
    let mut totals = vec![Total::default(); finders.len()];
    for _ in 0..setup.target_frames[1].min(FRAMES_BEFORE_MOST) {
        world.advance();
    }
    // In the first frame the methods learn the order from which they profit later.
    for finder in &mut finders {
        finder.relations(world.auras(), limit)?;
    }
    for frame in 0..frames {
        world.advance();
        let mut first = None;
        for (finder, total) in finders.iter_mut().zip(&mut totals) {
            let begin = now();
            let found = finder.relations(world.auras(), limit)?;
            total.time += now().saturating_sub(begin);
            total.comparisons += found.comparisons.total();
            total.relations += found.relations.len();
            let (method, relations) =
                first.get_or_insert((finder.method(), found.relations.clone()));
            if *relations != found.relations {
                let (first, second) = (*method, finder.method());
                return Err(ExperimentError::Differ { first, second, frame });
            }
        }
    }
    let rows = finders.iter().zip(totals);
    Ok(rows.map(|(finder, total)| total.row(finder.method(), &setup, frames)).collect())
}

#[derive(Clone, Copy, Debug, Default)]
struct Total {
    comparisons: u64,
    relations: usize,
    time: Duration,
}

impl Total {
    fn row(&self, method: Method, setup: &Setup, frames: u32) -> Row {
        let objects = f64::from(setup.objects);
        let frames = frames.max(1);
        let comparisons = self.comparisons as f64 / f64::from(frames);
        Row {
            method,
            objects: setup.objects,
            coverage: setup.coverage,
            comparisons,
            share: comparisons / (objects * (objects - 1.0) / 2.0),
            relations: self.relations as f64 / f64::from(frames),
            time: self.time / frames,
        }
    }
}
