//! What can be asked on the command line.

use crate::input::parse_pose;
use crate::query::Query;
use clap::{Parser, Subcommand, ValueEnum};
use jostle_geom::Pose;
use std::path::PathBuf;

/// What touches what? Exact and fast collision detection.
#[derive(Debug, Parser)]
#[command(name = "jostle", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Two models: do they touch, where, how far apart, and when?
    Pair(Box<PairArgs>),
    /// One model: what is in it, what is odd about it, what does it take?
    Mesh(MeshArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct PairArgs {
    /// The first model: OBJ, STL or PLY
    pub(crate) a: PathBuf,
    /// The second model
    pub(crate) b: PathBuf,
    /// What to ask: touch, witness, pairs, distance or within=D
    #[arg(long, default_value = "touch", value_parser = Query::parse)]
    pub(crate) query: Query,
    /// Where the first model is: "tx ty tz qx qy qz qw"
    #[arg(long, value_name = "POSE", value_parser = parse_pose, allow_hyphen_values = true)]
    pub(crate) pose_a: Option<Pose>,
    /// Where the second model is: "tx ty tz qx qy qz qw"
    #[arg(long, value_name = "POSE", value_parser = parse_pose, allow_hyphen_values = true)]
    pub(crate) pose_b: Option<Pose>,
    /// Poses of B relative to A, one per line: 9 rotation numbers by rows and 3 of translation,
    /// or "tx ty tz qx qy qz qw"; empty lines and # comments are skipped
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pose_a", "pose_b"])]
    pub(crate) poses: Option<PathBuf>,
    /// Exit with code 1 if any pose touches, or comes as close as within=D
    #[arg(long, value_name = "WHAT")]
    pub(crate) fail_on: Option<FailOn>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MeshArgs {
    /// The model: OBJ, STL or PLY
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

/// How models are prepared and answers printed.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArgs {
    /// How much work goes into the hierarchy; the answers are the same
    #[arg(long, default_value = "default")]
    pub(crate) quality: Quality,
    /// Closed models are solid: what lies inside touches them
    #[arg(long)]
    pub(crate) solid: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Quality {
    Fast,
    Default,
    Tight,
}

impl From<Quality> for jostle_geom::Quality {
    fn from(quality: Quality) -> jostle_geom::Quality {
        match quality {
            Quality::Fast => jostle_geom::Quality::Fast,
            Quality::Default => jostle_geom::Quality::Default,
            Quality::Tight => jostle_geom::Quality::Tight,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// They touch.
    Touch,
    /// They are as close as the query within=D asks.
    Clearance,
}
