//! Sets of directions for DOPs: how well they are spread, and how many correspondences rotations
//! have: `cargo run --release -p jostle-lab --example directions -- 100000`.
//!
//! Zachmann (2000, 3.5.9) finds 96 correspondences for k = 6 and 16,255 for k = 14. A number near
//! that of the rotations that were drawn says only that there are at least so many.

use glam::{DMat3, DVec3};
use jostle_lab::bench::Random;
use jostle_lab::dop::{GenericDop, NormalSet, NormalSetError};
use std::collections::HashSet;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rotations: usize = std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse())?;
    println!("   k  angle  of Fejes Toth's bound  of the flat bound  correspondences");
    let standard =
        [NormalSet::axes(), NormalSet::octahedron(), NormalSet::fourteen(), NormalSet::klosowski()];
    for set in &standard {
        show("  standard", set, rotations);
    }
    let spread = (6..=32).step_by(2).map(|k| NormalSet::spread(k, 1));
    for set in spread.collect::<Result<Vec<_>, NormalSetError>>()? {
        show("", &set, rotations);
    }
    Ok(())
}

fn show(note: &str, set: &NormalSet, rotations: usize) {
    let generic = GenericDop::new(set);
    let mut random = Random::new(1);
    let found: HashSet<Vec<[usize; 3]>> = (0..rotations)
        .map(|_| {
            let turn = DMat3::from_quat(random.rotation());
            let directions = set.half().iter().flat_map(|&d: &DVec3| [turn * d, turn * -d]);
            directions.map(|direction| generic.row(direction).planes).collect()
        })
        .collect();
    println!(
        "{:4} {:5.1}° {:21.1} % {:16.1} % {:16}{note}",
        set.k(),
        set.least_angle().to_degrees(),
        100.0 * set.quality(),
        100.0 * set.quality_flat(),
        found.len(),
    );
}
