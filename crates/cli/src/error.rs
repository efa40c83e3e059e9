//! Errors of the command: which file, what, where.

use jostle_geom::{PoseError, WeldError};
use jostle_lab::experiments::LabError;
use jostle_scene::{LoadError, ReadMeshError};
use jostle_stage::StageError;
use jostle_world::{WorkersError, WorldError};
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
    #[error("{file}: --query toi needs at least 2 poses, found {found}")]
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
    Lab(#[from] LabError),
    #[error(transparent)]
    Workers(#[from] WorkersError),
    #[error(transparent)]
    World(#[from] WorldError),
    #[error(transparent)]
    Pose(#[from] PoseError),
    #[error("cannot print: {0}")]
    Output(#[from] io::Error),
}

impl CliError {
    /// The error of a stage, with its file.
    pub(crate) fn stage(path: &Path, source: StageError) -> CliError {
        CliError::Stage { file: path.display().to_string(), source: Box::new(source) }
    }
}

impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> CliError {
        CliError::Output(error.into())
    }
}
