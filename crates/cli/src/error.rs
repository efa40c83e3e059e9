//! Why the command could not answer: which file, what, where.

use jostle_geom::solids::SolidError;
use jostle_geom::{MeshError, PoseError, WeldError};
use jostle_lab::bench::BenchError;
use jostle_lab::convex::HullError;
use jostle_lab::tree::SplitError;
use jostle_proto::TooManyNodes;
use jostle_scene::{LoadError, ReadMeshError};
use jostle_stage::StageError;
use jostle_world::aura::experiment::ExperimentError;
use jostle_world::{ShapeError, WorkersError, WorldError};
use std::io;
use std::path::Path;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("{file}: {source}")]
    Read { file: String, source: io::Error },
    #[error("{file}: cannot be written: {source}")]
    Write { file: String, source: io::Error },
    #[error("{file}: is read; --save-hierarchy needs another name")]
    WouldOverwrite { file: String },
    #[error("{file}: {source}")]
    Load { file: String, source: LoadError },
    #[error("{file}: {source}")]
    ReadMesh { file: String, source: ReadMeshError },
    #[error("{file}: {source}")]
    Weld { file: String, source: WeldError },
    #[error("{file}: line {line}: {what}")]
    PoseLine { file: String, line: usize, what: String },
    #[error("{file}: --query toc needs at least 2 poses, found {found}")]
    TooFewPoses { file: String, found: usize },
    #[error("--motion screw, motion {motion} (the first is 0): {source}")]
    Motion { motion: usize, source: PoseError },
    #[error("{option} does not go with --query {query}; {instead}")]
    Option { option: &'static str, query: &'static str, instead: &'static str },
    #[error("{file}: {source}")]
    Stage { file: String, source: Box<StageError> },
    #[error("{option} names step {step}; the run has steps 1 to {steps}")]
    NoStep { option: &'static str, step: u64, steps: u64 },
    #[error("--send before step {step}: {what}")]
    Send { step: u64, what: String },
    #[error("{nodes} nodes did not form one group within 5 simulated seconds")]
    NotTogether { nodes: u32 },
    #[error("there is no experiment {name}; expected one of {known}")]
    UnknownExperiment { name: String, known: String },
    #[error("{0}")]
    Share(String),
    #[error(
        "--unit is for OBJ, STL and PLY, which do not say their unit; {file} is in metres by its \
         format"
    )]
    UnitKnown { file: String },
    #[error("--show needs the unit of {file}, which does not say it; give --unit")]
    ShowNeedsUnit { file: String },
    #[error("--pose: no file is called {name:?}; there are {known}")]
    NoPart { name: String, known: String },
    #[error("{file}: {what}")]
    Assembly { file: String, what: String },
    #[error("{file}: line {line}: {what}")]
    Accept { file: String, line: usize, what: String },
    #[error("{option} would overwrite {file}, which is read; choose another name")]
    OverwritesInput { option: &'static str, file: String },
    #[error(
        "--write-accept needs every finding: {found} were found and the first {listed} are kept; \
         --max-findings {found} keeps all"
    )]
    AcceptsUnlisted { found: usize, listed: usize },
    #[error("--fail-on clearance needs --clearance")]
    NeedsClearance,
    #[error(transparent)]
    Bench(#[from] BenchError),
    #[error(transparent)]
    Solid(#[from] SolidError),
    #[error(transparent)]
    Split(#[from] SplitError),
    #[error(transparent)]
    Groups(#[from] TooManyNodes),
    #[error(transparent)]
    Workers(#[from] WorkersError),
    #[error(transparent)]
    Spheres(#[from] ExperimentError),
    #[error(transparent)]
    Latency(#[from] jostle_proto::reckon::experiment::ExperimentError),
    #[error(transparent)]
    World(#[from] WorldError),
    #[error(transparent)]
    Threads(#[from] jostle_lab::ThreadsError),
    #[error(transparent)]
    Shape(#[from] ShapeError),
    #[error(transparent)]
    Pose(#[from] PoseError),
    #[error(
        "{n} boxes, step {step} (the first is 0): {} finds {} pairs and {} finds {}, which are not \
         the same; this is an error in Jostle",
        found[0].0, found[0].1, found[1].0, found[1].1
    )]
    PairsDiffer { n: u32, step: usize, found: [(&'static str, usize); 2] },
    #[error("cannot print: {0}")]
    Output(io::Error),
}

impl CliError {
    /// A scene that could not be staged.
    pub(crate) fn stage(path: &Path, source: StageError) -> CliError {
        CliError::Stage { file: path.display().to_string(), source: Box::new(source) }
    }
}

impl From<MeshError> for CliError {
    fn from(error: MeshError) -> CliError {
        CliError::Bench(error.into())
    }
}

impl From<HullError> for CliError {
    fn from(error: HullError) -> CliError {
        CliError::Bench(error.into())
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        CliError::Output(error)
    }
}

impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> CliError {
        CliError::Output(error.into())
    }
}
