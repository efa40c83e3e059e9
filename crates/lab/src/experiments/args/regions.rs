//! What can be asked of the experiment about leaves that follow the population.

use super::{OutputArgs, bodies};
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct RegionsArgs {
    /// How many objects
    #[arg(long, value_delimiter = ',', value_parser = bodies(), value_name = "LIST",
        default_value = "500,1000,2000,4000")]
    pub(crate) objects: Vec<u32>,
    /// Pairs of thresholds: two leaves with fewer objects are merged, a leaf with more is cut
    #[arg(long, value_delimiter = ',', value_parser = parse_thresholds, value_name = "LIST",
        default_value = "4/6,5/6,6/6,8/12,16/24")]
    pub(crate) thresholds: Vec<[usize; 2]>,
    /// The volume of all auras, of radius 1, as a share of the world
    #[arg(long, default_value = "0.2")]
    pub(crate) coverage: f64,
    /// How many frames are measured
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), default_value = "1000")]
    pub(crate) frames: u32,
    /// Random seed of places and where objects go
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn parse_thresholds(text: &str) -> Result<[usize; 2], String> {
    let numbers = text.split_once('/').and_then(|(merge, split)| {
        let numbers = [merge.parse().ok()?, split.parse().ok()?];
        (1 <= numbers[0] && numbers[0] <= numbers[1] && numbers[1] <= 10_000).then_some(numbers)
    });
    numbers.ok_or_else(|| "expected MERGE/SPLIT from 1/1 to 10000/10000, such as 4/6".to_owned())
}
