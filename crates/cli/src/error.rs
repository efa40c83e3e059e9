//! Why the command could not answer: which file, what, where.

use jostle_geom::{MeshError, PoseError};
use jostle_scene::LoadError;
use std::io;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("{file}: {source}")]
    Read { file: String, source: io::Error },
    #[error("{file}: cannot be written: {source}")]
    Write { file: String, source: io::Error },
    #[error("{file}: is read; --save-hierarchy needs another name")]
    WouldOverwrite { file: String },
    #[error("{file}: the name must end in .obj, .stl or .ply")]
    UnknownFormat { file: String },
    #[error("{file}: {source}")]
    Load { file: String, source: LoadError },
    #[error("{file}: {source}")]
    Mesh { file: String, source: MeshError },
    #[error("{file}: line {line}: {what}")]
    PoseLine { file: String, line: usize, what: String },
    #[error("{file}: --query toc needs at least 2 poses, found {found}")]
    TooFewPoses { file: String, found: usize },
    #[error("--motion screw, motion {motion} (the first is 0): {source}")]
    Motion { motion: usize, source: PoseError },
    #[error("{option} does not go with --query {query}; {instead}")]
    Option { option: &'static str, query: &'static str, instead: &'static str },
    #[error("cannot print: {0}")]
    Output(io::Error),
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
