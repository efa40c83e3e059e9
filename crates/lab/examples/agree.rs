//! Every method against geom at many poses of all mesh pairs of the tests:
//! `cargo run --release -p jostle-lab --example agree -- --poses 100000 --seed 1`.
//!
//! `--poses` is how many poses all mesh pairs get together; a quarter of them are at random, a
//! quarter at whole numbers, half at the border of touching and apart.

#[path = "../tests/common/mod.rs"]
mod common;

use common::methods::METHODS;
use common::{Make, Random, Tally, agree_on, cases, poses};
use jostle_geom::{Mesh, Quality};
use jostle_lab::convex::{Filter, HullFilter};
use jostle_lab::{
    BoxPipeline, BoxTreeSettings, BracketSort, ClippedBoxTrees, Contender, DopPairs, GrowShrink,
    Keep, LinkedDops, Ours, RealignedBoxTrees,
};

/// What are no trees of one volume.
const OTHERS: [(&str, Make); 3] =
    [("box trees and pipelines", boxes), ("links", links), ("hulls before ours", hulls)];

fn boxes<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    let settings = BoxTreeSettings::default();
    vec![
        Box::new(RealignedBoxTrees::new(a, b, &settings)),
        Box::new(ClippedBoxTrees::new(a, b, &settings)),
        Box::new(BoxPipeline::new(a, b)),
        Box::new(GrowShrink::new(a, b)),
        Box::new(BracketSort::new(a, b)),
    ]
}

fn links<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    let pairs = |keep| Box::new(DopPairs::new(a, b, keep));
    vec![pairs(Keep::Nothing), pairs(Keep::Aligned), Box::new(LinkedDops::new(a, b))]
}

/// None for meshes that have no hull.
fn hulls<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    let filtered = |filter| {
        let then = Box::new(Ours::new(a, b, Quality::Default));
        HullFilter::new(a, b, filter, then).map(|one| Box::new(one) as _).ok()
    };
    Filter::all().into_iter().filter_map(filtered).collect()
}

fn main() -> Result<(), String> {
    let (count, seed) = options(std::env::args().skip(1))?;
    let cases = cases();
    let each = count.div_ceil(cases.len());
    let mut all = Tally::default();
    for (index, case) in cases.iter().enumerate() {
        let poses = poses(case, &mut Random(seed.wrapping_add(index as u64)), each);
        let mut tally = Tally::default();
        for (_, make) in METHODS.into_iter().chain(OTHERS) {
            tally = agree_on(case, &poses, make);
        }
        println!("{:28} {:8} touching {:8} apart", case.name, tally.touching, tally.apart);
        all.touching += tally.touching;
        all.apart += tally.apart;
    }
    let poses = all.touching + all.apart;
    println!("{poses} poses of {} mesh pairs: {} touching, {} apart", cases.len(), all.touching, {
        all.apart
    });
    println!("all answers are those of geom, yes or no and all pairs, for:");
    for (name, make) in METHODS.into_iter().chain(OTHERS) {
        let ball = &cases[1];
        let names: Vec<String> = make(&ball.a, &ball.b).iter().map(|one| one.name()).collect();
        println!("  {name}: {}", names.join(", "));
    }
    Ok(())
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<(usize, u64), String> {
    let (mut poses, mut seed) = (1000, 1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a number"))?;
        let bad = |_| format!("{name} needs a whole number, found {value}");
        match &name[..] {
            "--poses" => poses = value.parse().map_err(bad)?,
            "--seed" => seed = value.parse().map_err(bad)?,
            _ => return Err(format!("expected --poses or --seed, found {name}")),
        }
    }
    Ok((poses, seed))
}
