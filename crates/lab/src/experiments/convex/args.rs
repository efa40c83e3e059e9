//! What can be asked of `jostle lab convex`.

use crate::experiments::args::OutputArgs;
use clap::Args;
use clap::builder::RangedU64ValueParser;

pub(crate) const EXAMPLES: &str = "\
Examples:
  jostle lab convex --svg convex.svg
  jostle lab convex --distance 1.9,2.00006,2.05 --samples 5000 --json";

/// Lists are separated by commas.
#[derive(Debug, Args)]
pub(crate) struct ConvexArgs {
    /// How many steps two cones bounce about
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        default_value = "2000")]
    pub(crate) steps: u32,
    /// How many steps an orbit has; the thesis takes 5000
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        default_value = "400")]
    pub(crate) samples: u32,
    /// Distances of the centres of two spheres of radius 1
    #[arg(long, value_delimiter = ',', value_parser = parse_distance, value_name = "LIST",
        default_value = "1,1.5,1.8,1.9,1.95,2.00006,2.01,2.05,2.1,2.2,2.5,3")]
    pub(crate) distance: Vec<f64>,
    /// Degrees of the orbit in a step
    #[arg(long, value_delimiter = ',', value_parser = parse_degrees, value_name = "LIST",
        default_value = "0.5,1,2,5,10,20,45,90")]
    pub(crate) degrees: Vec<f64>,
    /// About how many triangles each sphere has
    #[arg(long, value_delimiter = ',', value_parser = triangles(), value_name = "LIST",
        default_value = "100,500,2000,8000,32000")]
    pub(crate) triangles: Vec<usize>,
    /// How many objects a crowd has
    #[arg(long, value_delimiter = ',', value_parser = crowd(), value_name = "LIST",
        default_value = "10,20,30,40,80,160")]
    pub(crate) n: Vec<usize>,
    /// How many frames a crowd is watched
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000), default_value = "60")]
    pub(crate) frames: u32,
    /// Random seed of places, rotations and velocities
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn triangles() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(16..=2_000_000)
}

/// All pairs of them have a plane each.
fn crowd() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=2000)
}

fn parse_distance(text: &str) -> Result<f64, String> {
    between(text, 0.0, 1000.0)
}

fn parse_degrees(text: &str) -> Result<f64, String> {
    between(text, 0.0, 360.0)
}

fn between(text: &str, least: f64, most: f64) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("expected a number from {least} to {most}")),
    }
}
