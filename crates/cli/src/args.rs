//! The command line: commands, options and help.

use crate::check::args::CheckArgs;
use crate::input::parse_pose;
use crate::mesh::LengthUnit;
use crate::query::Query;
use crate::scene::args::RunArgs;
use crate::share::args::{
    BotsArgs, DemoArgs, DirectoryArgs, JudgeArgs, NodeArgs, ReplayArgs, ServeArgs, StatusArgs,
};
use crate::sim::SimArgs;
use clap::{Parser, Subcommand, ValueEnum};
use jostle_geom::Pose;
use jostle_lab::experiments::LabArgs;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// What touches what? Exact and fast collision detection.
///
/// Exit codes: 0 done; 1 the answer is what --fail-on names; 2 bad input, with an error on stderr.
#[derive(Debug, Parser)]
#[command(name = "jostle", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Two models: do they touch, where, how far apart, and when?
    #[command(after_help = PAIR_EXAMPLES)]
    Pair(Box<PairArgs>),
    /// One model: size, contents and defects of its mesh, memory and build time
    #[command(after_help = MESH_EXAMPLES)]
    Mesh(MeshArgs),
    /// A scene or an assembly: which parts touch, or come too close?
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Box<CheckArgs>),
    /// Simulate a scene: velocities, collision responses, sensors and keys, step by step
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Simulate a cluster under seeded faults and check that it keeps the rules of the protocol
    #[command(after_help = SIM_EXAMPLES)]
    Sim(SimArgs),
    /// A shared world in one process, with a page: four nodes, 3000 bodies, 200 bots
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(DemoArgs),
    /// Serve a shared world: directory, first node and gateway in one process
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(Box<ServeArgs>),
    /// Add this machine to a shared world as a node
    #[command(after_help = NODE_EXAMPLES)]
    Node(Box<NodeArgs>),
    /// Run one replica of the directory of a shared world, so that any process may fail
    #[command(after_help = DIRECTORY_EXAMPLES)]
    Directory(Box<DirectoryArgs>),
    /// Connect simulated clients to a shared world
    #[command(after_help = BOTS_EXAMPLES)]
    Bots(Box<BotsArgs>),
    /// Print the status of a shared world
    Status(StatusArgs),
    /// Compute a recorded world again and compare every tick
    Replay(ReplayArgs),
    /// Check the event logs of all processes of a world against the rules of the protocol
    Judge(JudgeArgs),
    /// Measure the library and the algorithms of the papers: tables, JSON and plots
    Lab(LabArgs),
}

const PAIR_EXAMPLES: &str = "\
Examples:
  jostle pair cup.obj table.stl
  jostle pair cup.obj table.stl --pose-a \"0 0 0.8 0 0 0 1\" --query distance
  jostle pair cup.obj table.stl --poses path.txt --query within=0.01 --fail-on clearance
  jostle pair cup.obj table.stl --query toi --pose-a-end \"0 0 -1 0 0 0 1\"
  jostle pair cup.obj table.stl --query pairs --segments --json
  jostle pair gearbox.glb gearbox.glb --part-a Shaft --part-b Housing --query distance
  jostle pair pin.stl block.stl --solid --weld 1e-6 --query relation";

const DEMO_EXAMPLES: &str = "\
Examples:
  jostle demo
  jostle demo --bodies 500 --bots 20 --nodes 2 --listen 127.0.0.1:0
  jostle demo --no-open --seconds 30 --verbose";

const SERVE_EXAMPLES: &str = "\
Examples:
  jostle serve
  jostle serve --generate balls,3000 --tick 60
  jostle serve --scene scenes/car.wrl --store world
  jostle serve --listen 0.0.0.0:7447 --tls certificates --token TOKEN";

const NODE_EXAMPLES: &str = "\
Examples:
  jostle node --join 127.0.0.1:7447
  jostle node --join 10.0.0.1:7447 --listen 10.0.0.2:0 --tls certificates";

const DIRECTORY_EXAMPLES: &str = "\
Examples:
  jostle serve --replicas 127.0.0.1:7501,127.0.0.1:7502,127.0.0.1:7503
  jostle directory --id 1 --join 127.0.0.1:7447 --store one
  jostle directory --store one
  jostle directory --id 4 --join 127.0.0.1:7501 --listen 127.0.0.1:7504 --store four
  jostle directory --leave 2 --join 127.0.0.1:7501";

const BOTS_EXAMPLES: &str = "\
Examples:
  jostle bots --join 127.0.0.1:7447 --avatars 20
  jostle bots --join 127.0.0.1:7447 --avatars 200 --motion crowd --seconds 30";

const MESH_EXAMPLES: &str = "\
Examples:
  jostle mesh cup.obj
  jostle mesh cup.obj --json --solid
  jostle mesh gearbox.glb --part Shaft --unit mm
  jostle mesh cup.obj --quality tight --save-hierarchy cup.hierarchy
  jostle pair cup.obj table.stl --hierarchy-a cup.hierarchy";

const CHECK_EXAMPLES: &str = "\
Examples:
  jostle check gearbox.wrl
  jostle check gearbox.glb --clearance 0.002 --fail-on clearance
  jostle check plate.stl bolt.stl --unit mm --pose bolt=\"10mm 0 0 0 0 0 1\"
  jostle check assembly.json --clearance 0.5mm --show mm --report report.html
  jostle check gearbox.wrl --ignore 'BOLT*,NUT*' --all-pairs --json
  jostle check gearbox.wrl --accept approved.jsonl --write-accept
  jostle check gearbox.wrl --accept approved.jsonl --fail-on overlap";

const RUN_EXAMPLES: &str = "\
Examples:
  jostle run room.wrl --steps 300 --dt 0.02
  jostle run room.wrl --key 10:Up --key 40:Left+Shift --record room.jsonl
  jostle run room.wrl --walk \"0 0 -1\" --json";

const SIM_EXAMPLES: &str = "\
Examples:
  jostle sim --seeds 1000
  jostle sim --seed 259 --mutant publish-early --json";

#[derive(Debug, clap::Args)]
pub(crate) struct PairArgs {
    /// The first model: OBJ, STL, PLY, glTF (.glb, .gltf) or VRML97 (.wrl, .wrz)
    pub(crate) a: PathBuf,
    /// The second model
    pub(crate) b: PathBuf,
    /// The query: touch, witness, pairs, distance, within=D, relation, overlaps (do the insides of
    /// solids share a point?), classify=T (the same with a tolerance), depth, clearing=X,Y,Z (how
    /// far B must move that way), contacts (points, normals, gaps or depths), contacts=D (also
    /// where they are as close as this), patches (what they share, as points, curves and areas) or
    /// toi (the time of the first contact)
    #[arg(long, default_value = "touch", value_parser = Query::parse)]
    pub(crate) query: Query,
    /// Exit with code 1 if the models touch in any pose (touch), or come as close as the query
    /// within=D asks (clearance); with toi, if any motion leads to contact or could not be followed
    /// to its end
    #[arg(long, value_name = "WHAT")]
    pub(crate) fail_on: Option<FailOn>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) pairs: PairsArgs,
    #[command(flatten)]
    pub(crate) motion: MotionArgs,
    /// Use only this part of A: a name, or names along a path such as CAR/WHEEL
    #[arg(long, value_name = "NAME", help_heading = "Models")]
    pub(crate) part_a: Option<String>,
    /// Use only this part of B
    #[arg(long, value_name = "NAME", help_heading = "Models")]
    pub(crate) part_b: Option<String>,
    /// A hierarchy of A that `jostle mesh --save-hierarchy` wrote; one that does not match the
    /// model causes a warning and is built anew
    #[arg(long, value_name = "FILE", help_heading = "Models")]
    pub(crate) hierarchy_a: Option<PathBuf>,
    /// The same for B
    #[arg(long, value_name = "FILE", help_heading = "Models")]
    pub(crate) hierarchy_b: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Print the summary only
    #[arg(long, help_heading = "Output")]
    pub(crate) summary: bool,
    /// Add the mean cost of a query to the summary: box tests, triangle tests, and triangle
    /// tests that needed exact arithmetic; with touch, pairs, distance and within
    #[arg(long, help_heading = "Output")]
    pub(crate) counters: bool,
}

/// The poses of the models.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Places")]
pub(crate) struct PlaceArgs {
    /// Pose of A: "tx ty tz qx qy qz qw"
    #[arg(long, value_name = "POSE", value_parser = parse_pose, allow_hyphen_values = true)]
    pub(crate) pose_a: Option<Pose>,
    /// Pose of B: "tx ty tz qx qy qz qw"
    #[arg(long, value_name = "POSE", value_parser = parse_pose, allow_hyphen_values = true)]
    pub(crate) pose_b: Option<Pose>,
    /// Poses of B relative to A, one per line: 9 rotation numbers by rows and 3 of translation,
    /// or "tx ty tz qx qy qz qw"; empty lines and # comments are skipped. With toi, B moves from
    /// each pose to the next: N poses are N - 1 motions
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["pose_a", "pose_b", "pose_a_end", "pose_b_end"]
    )]
    pub(crate) poses: Option<PathBuf>,
    /// Use only the first N poses of the file, and read no further
    #[arg(long, value_name = "N", requires = "poses")]
    pub(crate) first: Option<NonZeroUsize>,
}

/// What the query `pairs` lists.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "With --query pairs")]
pub(crate) struct PairsArgs {
    /// Also print the shared segment of each pair of triangles that touches
    #[arg(long)]
    pub(crate) segments: bool,
    /// Stop at N touching pairs of triangles
    #[arg(long, value_name = "N", conflicts_with = "segments")]
    pub(crate) contacts_max: Option<NonZeroUsize>,
}

/// How models move.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "With --query toi")]
pub(crate) struct MotionArgs {
    /// Pose of A at the end of its motion [default: its pose at the start]
    #[arg(long, value_name = "POSE", value_parser = parse_pose, allow_hyphen_values = true)]
    pub(crate) pose_a_end: Option<Pose>,
    /// Pose of B at the end of its motion [default: its pose at the start]
    #[arg(long, value_name = "POSE", value_parser = parse_pose, allow_hyphen_values = true)]
    pub(crate) pose_b_end: Option<Pose>,
    /// How models move from pose to pose [default: linear]
    #[arg(long, value_name = "KIND")]
    pub(crate) motion: Option<MotionKind>,
    /// The longest time between "still free" and "in contact", as a part of the motion
    /// [default: 1e-6]
    #[arg(long, value_name = "T", value_parser = parse_tolerance, allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MeshArgs {
    /// The model: OBJ, STL, PLY, glTF (.glb, .gltf) or VRML97 (.wrl, .wrz)
    pub(crate) file: PathBuf,
    /// Use only this part of the file: a name, or names along a path such as CAR/WHEEL
    #[arg(long, value_name = "NAME", help_heading = "Models")]
    pub(crate) part: Option<String>,
    /// The unit of the lengths that are printed: um, mm, cm, m, km, in or ft. VRML97 and glTF files
    /// are in metres and are converted; numbers of OBJ, STL and PLY files are taken to be in this
    /// unit
    #[arg(long, value_name = "UNIT", value_parser = LengthUnit::parse, help_heading = "Output")]
    pub(crate) unit: Option<LengthUnit>,
    /// A hierarchy that --save-hierarchy wrote; one that does not match the model causes a warning
    /// and is built anew
    #[arg(long, value_name = "FILE", help_heading = "Models")]
    pub(crate) hierarchy: Option<PathBuf>,
    /// Write the hierarchy to a file, for --hierarchy, --hierarchy-a and --hierarchy-b
    #[arg(long, value_name = "OUT", help_heading = "Models")]
    pub(crate) save_hierarchy: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

/// Options for loading models and printing results.
#[derive(Debug, clap::Args)]
pub(crate) struct ModelArgs {
    /// How much work goes into building hierarchies; it does not change results
    #[arg(long, default_value = "default", help_heading = "Models")]
    pub(crate) quality: Quality,
    /// Closed models are solid: what lies inside touches them
    #[arg(long, help_heading = "Models")]
    pub(crate) solid: bool,
    /// Join vertices that are at most this far apart, in the unit of the file [default: join none]
    #[arg(long, value_name = "T", value_parser = parse_weld, allow_hyphen_values = true,
        help_heading = "Models")]
    pub(crate) weld: Option<f64>,
    /// Also read files that a model names outside its folder
    #[arg(long, help_heading = "Models")]
    pub(crate) allow_outside: bool,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MotionKind {
    /// The origin of the model moves straight, and the model turns about it.
    Linear,
    /// The model turns about a fixed axis and moves along it.
    Screw,
}

/// A tolerance for `--weld`.
pub(crate) fn parse_weld(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(tolerance) if tolerance.is_finite() && tolerance >= 0.0 => Ok(tolerance),
        _ => Err(format!("expected a length, 0 or more, such as 1e-6, found {text:?}")),
    }
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(time) if time.is_finite() && time >= 0.0 => Ok(time),
        _ => Err(format!("expected a part of the motion, 0 or more, found {text:?}")),
    }
}
