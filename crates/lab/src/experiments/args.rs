//! What can be asked of `jostle lab`.

mod boxes;
mod regions;

use super::all::AllArgs;
use super::broad::Subject;
use super::bsp::BspArgs;
use super::convex::args::ConvexArgs;
use super::resting::RestingArgs;
use super::splits::SplitsArgs;
use super::ten_objects::Complexity;
use super::tightness::TightnessArgs;
use super::zachmann::args::ZachmannArgs;
use crate::aura::Method;
pub(crate) use boxes::{BoxtreeArgs, DeformArgs, LinksArgs, SolidsArgs, VoxelsArgs};
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use jostle_proto::GROUP_NODES_MAX;
use jostle_proto::reckon::Tracking;
pub(crate) use regions::RegionsArgs;
use std::path::PathBuf;

/// Threads beyond this are a typing error.
const THREADS_MAX: u64 = 1024;

/// Bodies beyond this would fill the memory of most machines.
const BODIES_MAX: u64 = 10_000_000;

/// In milliseconds; after more there would be nothing left to show of 15 seconds.
const LATENCY_MAX: u64 = 5_000;

/// What can be asked of `jostle lab`.
#[derive(Debug, Args)]
pub struct LabArgs {
    #[command(subcommand)]
    pub(crate) experiment: Experiment,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Experiment {
    /// Every experiment of the laboratory, written down as docs/laboratory.md with its plots
    #[command(after_help = super::all::EXAMPLES)]
    All(AllArgs),
    /// BoxTrees: which way of splitting needs the fewest tests? (Zachmann, 2000, 3.5.7)
    #[command(after_help = boxes::BOXTREE_EXAMPLES)]
    Boxtree(BoxtreeArgs),
    /// Moving boxes: what does each broad phase take to find the pairs that overlap?
    #[command(after_help = BROAD_EXAMPLES)]
    Broad(BroadArgs),
    /// The BSP trees of Storey's narrow phase, cut off at different depths (2006, 4.3.2.3)
    #[command(after_help = super::bsp::EXAMPLES)]
    Bsp(BspArgs),
    /// Bumpy models that bounce around in a cube: how long is a frame, and how much of it goes
    /// where? (V-COLLIDE, 1997, §4.3)
    #[command(after_help = BUNNIES_EXAMPLES)]
    Bunnies(BunniesArgs),
    /// Convex hulls: separating planes, closest faces and GJK (Zachmann, 2000, 3.4)
    #[command(after_help = super::convex::args::EXAMPLES)]
    Convex(ConvexArgs),
    /// Meshes that change their form: what does each method take for a frame? (Zachmann, 2000, 3.3
    /// and 3.7)
    #[command(after_help = boxes::DEFORM_EXAMPLES)]
    Deform(DeformArgs),
    /// Machines that measure how far they are from each other: who computes together? (Storey,
    /// 2006, 3.3.7 and 4.3.1.4)
    #[command(after_help = GROUPS_EXAMPLES)]
    Groups(GroupsArgs),
    /// An object of another host, messages late: how wrong is what is shown, and for how many
    /// bytes? (Ohlenburg, 2003, figures A.1 to A.12)
    #[command(after_help = LATENCY_EXAMPLES)]
    Latency(LatencyArgs),
    /// A turning copy of a solid: what do links between two trees save? (Zachmann, 2000, 3.5.11)
    #[command(after_help = boxes::LINKS_EXAMPLES)]
    Links(LinksArgs),
    /// Leaves that are cut and merged as objects gather: what do thresholds apart save? (Storey,
    /// 2006, 3.2.3)
    #[command(after_help = super::regions::EXAMPLES)]
    Regions(RegionsArgs),
    /// Re-aligned volumes of objects that rest: recognised by a counter or by their placement?
    /// (Ohlenburg, 2003, 3.2.5)
    #[command(after_help = super::resting::EXAMPLES)]
    Resting(RestingArgs),
    /// Moving spheres: how many comparisons does it take to find who hears whom? (Storey, Lu and
    /// Morgan, 2004, graphs 1 to 8)
    #[command(after_help = SPHERES_EXAMPLES)]
    Spheres(SpheresArgs),
    /// Split rules and leaf sizes of k-DOP trees: heights, times to build and to ask (Ohlenburg,
    /// 2003, tables 3.2 to 3.6, figure 3.8)
    #[command(after_help = super::splits::EXAMPLES)]
    Splits(SplitsArgs),
    /// One node and many: what does a step cost, and how much less does each have to do? (Storey,
    /// 2006, 5.4 to 5.6; beside it the thesis' tables 5.2, 5.4 and 5.7)
    #[command(after_help = STOREY_EXAMPLES)]
    Storey(StoreyArgs),
    /// Ten objects bounce about in a box: what does an exact test take? (Ohlenburg, 2003, tables
    /// 3.4 to 3.6)
    #[command(after_help = TEN_OBJECTS_EXAMPLES)]
    TenObjects(TenObjectsArgs),
    /// Boxes, spheres, oriented boxes and 18-DOPs of objects that turn: how much larger than the
    /// convex hull are they? (Ohlenburg, 2003, table 3.1)
    #[command(after_help = super::tightness::EXAMPLES)]
    Tightness(TightnessArgs),
    /// Points against voxels: how often is the answer wrong, and by how much? (Zachmann, 2000,
    /// 3.6.1)
    #[command(after_help = boxes::VOXELS_EXAMPLES)]
    Voxels(VoxelsArgs),
    /// Pair tests of the papers and ours: two copies come closer while one turns (Zachmann,
    /// 2000, 3.5.10)
    #[command(after_help = super::zachmann::args::EXAMPLES)]
    Zachmann(ZachmannArgs),
}

const BROAD_EXAMPLES: &str = "\
Examples:
  jostle lab broad --preset peers --n 10000 --steps 30 --threads 1 --json
  jostle lab broad --n 1000,10000,100000,1000000 --movers 0.1 --structure auto,cells,tree
  jostle lab broad --n 10000 --speed 0.01,0.1,1 --svg coherence.svg";

const BUNNIES_EXAMPLES: &str = "\
Examples:
  jostle lab bunnies
  jostle lab bunnies --n 50,100,200,400 --frames 600 --svg bunnies.svg";

const GROUPS_EXAMPLES: &str = "\
Examples:
  jostle lab groups
  jostle lab groups --n 8,16,32,64 --threshold 7.8,18.9 --size-max 64 --svg groups.svg";

const LATENCY_EXAMPLES: &str = "\
Examples:
  jostle lab latency --svg latency.svg
  jostle lab latency --latency 50,250 --tracking first,second,history --json";

const SPHERES_EXAMPLES: &str = "\
Examples:
  jostle lab spheres --svg spheres.svg
  jostle lab spheres --n 1000,4000,16000 --coverage 0.2 --method ordered-axis,ordered-columns";

const STOREY_EXAMPLES: &str = "\
Examples:
  jostle lab storey
  jostle lab storey --objects 4000 --nodes 1,8 --ticks 100 --svg storey.svg";

const TEN_OBJECTS_EXAMPLES: &str = "\
Examples:
  jostle lab ten-objects
  jostle lab ten-objects --complexity large --steps 2000 --json";

/// Lists are separated by commas; every combination is measured.
#[derive(Debug, Args)]
pub(crate) struct BroadArgs {
    /// How many boxes of side 1
    #[arg(long, value_delimiter = ',', value_parser = bodies(), value_name = "LIST",
        default_value = "1000,10000,100000")]
    pub(crate) n: Vec<u32>,
    /// Boxes per unit of volume
    #[arg(long, value_delimiter = ',', value_parser = parse_density, value_name = "LIST",
        default_value = "0.125")]
    pub(crate) density: Vec<f64>,
    /// The share of boxes that move, from 0 to 1
    #[arg(long, value_delimiter = ',', value_parser = parse_share, value_name = "LIST",
        default_value = "1")]
    pub(crate) movers: Vec<f64>,
    /// The largest motion along an axis in a step, in sides of a box
    #[arg(long, value_delimiter = ',', value_parser = parse_speed, value_name = "LIST",
        default_value = "0.1")]
    pub(crate) speed: Vec<f64>,
    /// Random seed of places and motions; not 0
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..),
        default_value = "88172645463325252")]
    pub(crate) seed: u64,
    /// Exactly the boxes that other libraries were measured with: density 1/8, all of them move, by
    /// a tenth of their side at most
    #[arg(long, conflicts_with_all = ["density", "movers", "speed", "seed"])]
    pub(crate) preset: Option<Preset>,
    /// How many steps are measured
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), default_value = "30")]
    pub(crate) steps: u32,
    /// How many threads; times are processor time for 1 and wall-clock time for more
    #[arg(long, value_delimiter = ',', value_parser = threads(), value_name = "LIST",
        default_value = "1")]
    pub(crate) threads: Vec<usize>,
    /// Which broad phases; world is a whole step of a world with exact tests [default: all, but
    /// all-pairs only for few boxes]
    #[arg(long, value_delimiter = ',', value_parser = subjects(), value_name = "LIST")]
    pub(crate) structure: Vec<Subject>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Preset {
    Peers,
}

#[derive(Debug, Args)]
pub(crate) struct BunniesArgs {
    /// How many models; the cube grows with them
    #[arg(long, value_delimiter = ',', value_parser = bodies(), value_name = "LIST",
        default_value = "10,20,30,40,50,60,70,80,90,100")]
    pub(crate) n: Vec<u32>,
    /// How many frames are measured
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), default_value = "300")]
    pub(crate) frames: u32,
    /// Random seed of places, rotations and velocities
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// How many threads; times are processor time for 1 and wall-clock time for more
    #[arg(long, value_parser = threads(), default_value = "1")]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GroupsArgs {
    /// How many machines
    #[arg(long, value_delimiter = ',', value_parser = machines(), value_name = "LIST",
        default_value = "4,8,16,32,64")]
    pub(crate) n: Vec<usize>,
    /// How long answers may take within a group, in milliseconds
    #[arg(long, value_delimiter = ',', value_parser = parse_milliseconds, value_name = "LIST",
        default_value = "8,19,40")]
    pub(crate) threshold: Vec<f64>,
    /// How large groups may be
    #[arg(long, value_parser = machines(), default_value = "8")]
    pub(crate) size_max: usize,
    /// Only groups of 1, 2, 4, 8 and so on
    #[arg(long)]
    pub(crate) halves: bool,
    /// How many times machines are placed anew
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), default_value = "20")]
    pub(crate) matrices: u32,
    /// Random seed of places and delays
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LatencyArgs {
    /// How long a message takes, in milliseconds
    #[arg(long, value_delimiter = ',', value_parser = latency(), value_name = "LIST",
        default_value = "10,100,200,500")]
    pub(crate) latency: Vec<u32>,
    /// How the other host extrapolates: by velocity, by acceleration too, or from three positions
    #[arg(long, value_delimiter = ',', value_parser = trackings(), value_name = "LIST",
        default_value = "first")]
    pub(crate) tracking: Vec<Tracking>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SpheresArgs {
    /// How many objects, each with a sphere in which it is noticed
    #[arg(long, value_delimiter = ',', value_parser = bodies(), value_name = "LIST",
        default_value = "1000,2000,3000,4000")]
    pub(crate) n: Vec<u32>,
    /// The volume of all spheres, overlapping or not, as a share of the world
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "0.01,0.05,0.1,0.2")]
    pub(crate) coverage: Vec<f64>,
    /// How many frames are measured
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), default_value = "20")]
    pub(crate) frames: u32,
    /// Random seed of places and where objects go
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// How relations are found [default: all]
    #[arg(long, value_delimiter = ',', value_parser = methods(), value_name = "LIST")]
    pub(crate) method: Vec<Method>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StoreyArgs {
    /// How many objects
    #[arg(long, value_delimiter = ',', value_parser = bodies(), value_name = "LIST",
        default_value = "500,1000,2000,4000")]
    pub(crate) objects: Vec<u32>,
    /// How many nodes
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024),
        value_name = "LIST", default_value = "1,2,4,8")]
    pub(crate) nodes: Vec<u32>,
    /// How many steps are measured
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), default_value = "60")]
    pub(crate) ticks: u32,
    /// Axis-aligned boxes instead of rotating meshes
    #[arg(long)]
    pub(crate) boxes: bool,
    /// Random seed of the world
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TenObjectsArgs {
    /// How fine the objects are
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "small,medium,large")]
    pub(crate) complexity: Vec<Complexity>,
    /// How many steps are measured
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), default_value = "600")]
    pub(crate) steps: u32,
    /// How many threads; times are processor time for 1 and wall-clock time for more
    #[arg(long, value_parser = threads(), default_value = "1")]
    pub(crate) threads: usize,
    /// Also ask the paper's trees about the same pairs: 18-DOPs, re-aligned by boundaries, split by
    /// longest side, splatter and min sum
    #[arg(long)]
    pub(crate) trees: bool,
    /// How many triangles a leaf of these trees may have
    #[arg(long, value_delimiter = ',', value_name = "LIST", default_value = "1,4,10,20",
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    pub(crate) threshold: Vec<usize>,
    /// Write the scenes as VRML97 files into this folder, and measure nothing
    #[arg(long, value_name = "DIR")]
    pub(crate) write: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write a plot
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// The name of a method on the command line and in tables: one word.
pub(crate) fn method_name(method: Method) -> &'static str {
    match method {
        Method::BruteForce => "brute-force",
        Method::ExpandingSphere => "expanding-sphere",
        Method::OrderedRelations => "ordered-relations",
        Method::OrderedAxis => "ordered-axis",
        Method::OrderedColumns => "ordered-columns",
    }
}

/// The name of a tracking on the command line and in tables: one word.
pub(crate) fn tracking_name(tracking: Tracking) -> &'static str {
    match tracking {
        Tracking::First => "first",
        Tracking::Second => "second",
        Tracking::History => "history",
    }
}

fn bodies() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(1..=BODIES_MAX)
}

fn machines() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=GROUP_NODES_MAX as u64)
}

fn threads() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=THREADS_MAX)
}

fn latency() -> RangedU64ValueParser<u32> {
    RangedU64ValueParser::new().range(0..=LATENCY_MAX)
}

fn trackings() -> impl TypedValueParser<Value = Tracking> {
    let all = [Tracking::First, Tracking::Second, Tracking::History];
    one_of(all.map(|tracking| (tracking_name(tracking), tracking)).to_vec())
}

fn subjects() -> impl TypedValueParser<Value = Subject> {
    one_of(Subject::all().map(|subject| (subject.name(), subject)).collect())
}

fn methods() -> impl TypedValueParser<Value = Method> {
    one_of(Method::ALL.map(|method| (method_name(method), method)).to_vec())
}

/// One of these names; any other is refused with the list of names.
pub(crate) fn one_of<T>(choices: Vec<(&'static str, T)>) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let names: Vec<&'static str> = choices.iter().map(|&(name, _)| name).collect();
    PossibleValuesParser::new(names).try_map(move |given| {
        let choice = choices.iter().find(|(name, _)| *name == given);
        choice.map(|&(_, choice)| choice).ok_or("unknown name")
    })
}

fn parse_density(text: &str) -> Result<f64, String> {
    parse_number(text, 1e-6, 1e3)
}

fn parse_share(text: &str) -> Result<f64, String> {
    parse_number(text, 0.0, 1.0)
}

fn parse_speed(text: &str) -> Result<f64, String> {
    parse_number(text, 0.0, 1e3)
}

fn parse_milliseconds(text: &str) -> Result<f64, String> {
    parse_number(text, 0.0, 1e6)
}

fn parse_number(text: &str, least: f64, most: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("expected a number from {least} to {most}")),
    }
}
