//! Why an experiment came to no end.

use crate::aura::experiment::ExperimentError;
use crate::bench::BenchError;
use crate::convex::HullError;
use crate::regions::RegionsError;
use crate::tree::SplitError;
use jostle_geom::solids::SolidError;
use jostle_geom::{MeshError, PoseError, ShapeError};
use jostle_proto::TooManyNodes;
use jostle_scene::LoadError;
use jostle_stage::StageError;
use jostle_world::{WorkersError, WorldError};
use std::io;

/// Why an experiment came to no end.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A plot or a document.
    #[error("{file}: cannot be written: {source}")]
    Write {
        /// Its path.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// A scene of an experiment that cannot be read. This is an error in Jostle.
    #[error("{file}: {source}")]
    Load {
        /// Its name.
        file: String,
        /// Why.
        source: LoadError,
    },
    /// A scene of an experiment that cannot be staged. This is an error in Jostle.
    #[error("{file}: {source}")]
    Stage {
        /// Its name.
        file: String,
        /// Why.
        source: Box<StageError>,
    },
    /// Simulated nodes that did not find each other.
    #[error("{nodes} nodes did not form one group within 5 simulated seconds")]
    NotTogether {
        /// The number of nodes.
        nodes: u32,
    },
    /// `jostle lab all --only` with a name that no experiment has.
    #[error("there is no experiment {name}; expected one of {known}")]
    UnknownExperiment {
        /// As given.
        name: String,
        /// All names.
        known: String,
    },
    /// A section of the document whose command cannot be parsed. This is an error in Jostle.
    #[error("{0}")]
    Section(String),
    /// A benchmark of pairs.
    #[error(transparent)]
    Bench(#[from] BenchError),
    /// A solid.
    #[error(transparent)]
    Solid(#[from] SolidError),
    /// A tree of a split rule.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// Groups of nodes.
    #[error(transparent)]
    Groups(#[from] TooManyNodes),
    /// Threads.
    #[error(transparent)]
    Workers(#[from] WorkersError),
    /// Moving spheres.
    #[error(transparent)]
    Spheres(#[from] ExperimentError),
    /// Messages that are late.
    #[error(transparent)]
    Latency(#[from] crate::reckon::ExperimentError),
    /// A world.
    #[error(transparent)]
    World(#[from] WorldError),
    /// Threads of the deforming meshes.
    #[error(transparent)]
    Threads(#[from] crate::ThreadsError),
    /// A shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A pose.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// Two broad phases that disagree.
    #[error(
        "{n} boxes, step {step} (the first is 0): {} finds {} pairs and {} finds {}, which are not \
         the same; this is an error in Jostle",
        found[0].0, found[0].1, found[1].0, found[1].1
    )]
    PairsDiffer {
        /// How many boxes.
        n: u32,
        /// In which step.
        step: usize,
        /// The two names, and how many pairs each found.
        found: [(&'static str, usize); 2],
    },
    /// A method that gives another answer than the default hierarchy. This is an error in Jostle.
    #[error("{method}: a wrong answer to question {question} (the first is 0); an error in Jostle")]
    Disagrees {
        /// Its name.
        method: &'static str,
        /// Which one.
        question: usize,
    },
    /// Leaves that follow the population.
    #[error(transparent)]
    Regions(#[from] RegionsError),
    /// The table or the JSON.
    #[error("cannot print: {0}")]
    Output(#[from] io::Error),
}

impl From<MeshError> for LabError {
    fn from(error: MeshError) -> LabError {
        LabError::Bench(error.into())
    }
}

impl From<HullError> for LabError {
    fn from(error: HullError) -> LabError {
        LabError::Bench(error.into())
    }
}

impl From<serde_json::Error> for LabError {
    fn from(error: serde_json::Error) -> LabError {
        LabError::Output(error.into())
    }
}
