//! How far apart are two parts, and do they keep a clearance?

use jostle::glam::DVec3;
use jostle::{Model, Pair, Pose, Quality, solids};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let shaft = Model::build(solids::cylinder(0.5, 4.0, 0.001)?, Quality::Default);
    let plate = Model::build(solids::cuboid(DVec3::new(0.02, 2.0, 2.0))?, Quality::Default);
    let beside = Pose::from_translation(DVec3::X * 0.53)?;
    let pair = Pair::new(&shaft, &Pose::IDENTITY, &plate, &beside);

    if let Some(found) = pair.distance() {
        println!("{:.4} m from {} to {}", found.distance, found.point_a, found.point_b);
        println!("faces {} and {}", found.faces.a, found.faces.b);
    }
    // Much cheaper than the distance if only the answer matters.
    println!("closer than 50 mm: {}", pair.within(0.05));
    println!("closer than 10 mm: {}", pair.within(0.01));
    Ok(())
}
