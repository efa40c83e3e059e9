//! What can be asked of `jostle lab zachmann`.

use crate::bench::{Method, Solid};
use crate::experiments::args::OutputArgs;
use clap::Args;
use clap::builder::RangedU64ValueParser;

pub(crate) const EXAMPLES: &str = "\
Examples:
  jostle lab zachmann
  jostle lab zachmann --solid torus --triangles 1000,10000,100000 --method ours,obb,dop-24
  jostle lab zachmann --steps 2000 --orientations 5 --svg zachmann.svg --json > zachmann.json";

/// Triangles beyond this would take hours.
const TRIANGLES_MAX: u64 = 2_000_000;

/// Lists are separated by commas; every combination is measured. Every answer of every method is
/// compared with that of the default hierarchy.
#[derive(Debug, Args)]
pub(crate) struct ZachmannArgs {
    /// Which objects: sphere, torus, hyperboloid, bumpy, flake, cone
    #[arg(long, value_delimiter = ',', value_parser = parse_solid, value_name = "LIST",
        default_value = "sphere,torus,hyperboloid,bumpy,flake,cone")]
    pub(crate) solid: Vec<Solid>,
    /// About how many triangles each copy has; with many, leave out boxtree-clipped and pipeline
    #[arg(long, value_delimiter = ',', value_parser = triangles(), value_name = "LIST",
        default_value = "1000")]
    pub(crate) triangles: Vec<usize>,
    /// Steps of a full turn at each distance; the thesis takes 2000
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000), default_value = "60")]
    pub(crate) steps: u32,
    /// How many times the copies are turned and built anew
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000), default_value = "3")]
    pub(crate) orientations: u32,
    /// Random seed of orientations and polygons
    #[arg(long, default_value = "2000")]
    pub(crate) seed: u64,
    /// Ask for all pairs of faces instead of yes or no
    #[arg(long)]
    pub(crate) all_pairs: bool,
    /// Which methods, beside ours [default: all]
    #[arg(long, value_delimiter = ',', value_parser = parse_method, value_name = "LIST")]
    pub(crate) method: Vec<Method>,
    /// About how many triangles meshes have whose building is timed; 0 for none
    #[arg(long, value_delimiter = ',', value_parser = parse_build, value_name = "LIST",
        default_value = "12544,22952,73984")]
    pub(crate) build: Vec<usize>,
    /// How many pairs of polygons of each kind are tested; 0 for none
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=10_000_000),
        default_value = "40000")]
    pub(crate) polygons: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl ZachmannArgs {
    pub(super) fn methods(&self) -> Vec<Method> {
        if self.method.is_empty() { Method::all() } else { self.method.clone() }
    }

    /// Without the 0 that means none.
    pub(super) fn build_sizes(&self) -> impl Iterator<Item = usize> {
        self.build.iter().copied().filter(|&size| size > 0)
    }
}

fn triangles() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(16..=TRIANGLES_MAX)
}

fn parse_build(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(number) if number as u64 <= TRIANGLES_MAX => Ok(number),
        _ => Err(format!("expected a number from 0 to {TRIANGLES_MAX}")),
    }
}

fn parse_solid(text: &str) -> Result<Solid, String> {
    let names = Solid::ALL.map(Solid::name).join(", ");
    let found = Solid::ALL.into_iter().find(|solid| solid.name() == text);
    found.ok_or_else(|| format!("expected one of {names}"))
}

fn parse_method(text: &str) -> Result<Method, String> {
    let all = Method::all();
    let names: Vec<String> = all.iter().map(|method| method.name()).collect();
    let found = all.into_iter().find(|method| method.name() == text);
    found.ok_or_else(|| format!("expected one of {}", names.join(", ")))
}
