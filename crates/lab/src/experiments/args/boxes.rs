//! What can be asked of the experiments about box trees, deforming meshes and what was not worth
//! it.

use super::{OutputArgs, one_of, parse_number, parse_share, threads};
use crate::bench::{Solid, oriented};
use crate::experiments::error::LabError;
use crate::{DeformKind, NearContact};
use clap::Args;
use clap::builder::{RangedU64ValueParser, TypedValueParser};
use glam::DQuat;
use jostle_geom::{Mesh, Pose};

/// Triangles of one mesh; the slowest methods take memory for pairs of them.
const TRIANGLES_MAX: u64 = 1_000_000;

/// Voxels along a side: 2^30 bits are 128 MB.
const VOXELS_MAX: u64 = 1024;

pub(crate) const BOXTREE_EXAMPLES: &str = "\
Examples:
  jostle lab boxtree
  jostle lab boxtree --triangles 20000 --solid torus --empty 0.1,0.2,1 --svg boxtree.svg";

pub(crate) const DEFORM_EXAMPLES: &str = "\
Examples:
  jostle lab deform
  jostle lab deform --scene sheets --triangles 1000,10000 --threads 2,4 --svg deform.svg";

pub(crate) const LINKS_EXAMPLES: &str = "\
Examples:
  jostle lab links
  jostle lab links --solid sphere,torus --triangles 5000,20000 --turns 2000 --svg links.svg";

pub(crate) const VOXELS_EXAMPLES: &str = "\
Examples:
  jostle lab voxels
  jostle lab voxels --voxels 32,128 --solid torus --json";

/// Two copies of each solid near contact.
#[derive(Debug, Args)]
pub(crate) struct SolidsArgs {
    /// Which solids
    #[arg(long, value_delimiter = ',', value_parser = solids(), value_name = "LIST",
        default_value = "sphere,torus,hyperboloid,flake")]
    pub(crate) solid: Vec<Solid>,
    /// About how many triangles a solid has
    #[arg(long, value_parser = triangles(), default_value = "5000")]
    pub(crate) triangles: usize,
    /// How many angles there are in a turn
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000), default_value = "100")]
    pub(crate) turns: u32,
}

impl SolidsArgs {
    /// A solid, and where its second copy is asked about.
    pub(crate) fn near_contact(&self, solid: Solid) -> Result<(Mesh, Vec<Pose>), LabError> {
        let mesh = oriented(&solid.mesh(self.triangles)?, DQuat::IDENTITY)?;
        let poses = NearContact::new(self.turns).poses(&mesh);
        Ok((mesh, poses))
    }
}

#[derive(Debug, Args)]
pub(crate) struct BoxtreeArgs {
    /// About how many triangles a solid has
    #[arg(long, value_parser = triangles(), default_value = "5000")]
    pub(crate) triangles: usize,
    /// Which solids
    #[arg(long, value_delimiter = ',', value_parser = solids(), value_name = "LIST",
        default_value = "sphere,torus,hyperboloid,flake")]
    pub(crate) solid: Vec<Solid>,
    /// Shares above which an empty part of a box is split off, from 0 to 1 (never)
    #[arg(long, value_delimiter = ',', value_parser = parse_share, value_name = "LIST",
        default_value = "0.05,0.1,0.2,0.3,0.5,1")]
    pub(crate) empty: Vec<f64>,
    /// How many angles there are in a turn
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000), default_value = "100")]
    pub(crate) turns: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DeformArgs {
    /// What deforms
    #[arg(long, value_delimiter = ',', value_parser = scenes(), value_name = "LIST",
        default_value = "sheets,tori,hyperboloid")]
    pub(crate) scene: Vec<DeformKind>,
    /// About how many triangles each of two meshes has
    #[arg(long, value_delimiter = ',', value_parser = triangles(), value_name = "LIST",
        default_value = "500,2000,8000")]
    pub(crate) triangles: Vec<usize>,
    /// How many frames are played
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), default_value = "60")]
    pub(crate) frames: u32,
    /// Also measure the box pipeline on this many threads, in wall-clock time
    #[arg(long, value_delimiter = ',', value_parser = threads(), value_name = "LIST",
        default_value = "2")]
    pub(crate) threads: Vec<usize>,
    /// Sorted brackets are left out above so many triangles: their matrix is large
    #[arg(long, value_parser = triangles(), default_value = "20000")]
    pub(crate) brackets_max: usize,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LinksArgs {
    /// Which solids
    #[arg(long, value_delimiter = ',', value_parser = solids(), value_name = "LIST",
        default_value = "sphere,torus,hyperboloid,flake")]
    pub(crate) solid: Vec<Solid>,
    /// About how many triangles a solid has
    #[arg(long, value_delimiter = ',', value_parser = triangles(), value_name = "LIST",
        default_value = "1000,5000,20000")]
    pub(crate) triangles: Vec<usize>,
    /// How many angles there are in a turn; the thesis has 2000
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000), default_value = "500")]
    pub(crate) turns: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct VoxelsArgs {
    /// Which solids
    #[arg(long, value_delimiter = ',', value_parser = solids(), value_name = "LIST",
        default_value = "sphere,torus")]
    pub(crate) solid: Vec<Solid>,
    /// About how many triangles a solid has
    #[arg(long, value_parser = triangles(), default_value = "5000")]
    pub(crate) triangles: usize,
    /// Voxels along each side of the grid; points are as near to each other as voxels
    #[arg(long, value_delimiter = ',', value_parser = voxels(), value_name = "LIST",
        default_value = "16,32,64,128")]
    pub(crate) voxels: Vec<usize>,
    /// How far apart the points of the cloud may be, in errors of the grid
    #[arg(long, value_parser = parse_radius, default_value = "1")]
    pub(crate) radius: f64,
    /// How many angles there are in a turn
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000), default_value = "200")]
    pub(crate) turns: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn parse_radius(text: &str) -> Result<f64, String> {
    parse_number(text, 0.1, 10.0)
}

fn triangles() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(16..=TRIANGLES_MAX)
}

fn voxels() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=VOXELS_MAX)
}

fn solids() -> impl TypedValueParser<Value = Solid> {
    one_of(Solid::ALL.map(|solid| (solid.name(), solid)).to_vec())
}

fn scenes() -> impl TypedValueParser<Value = DeformKind> {
    one_of(DeformKind::ALL.map(|kind| (kind.name(), kind)).to_vec())
}
