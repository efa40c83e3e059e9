//! When do two moving parts first touch? Nothing is sampled, so nothing tunnels.

use jostle::glam::DVec3;
use jostle::{
    Model, Motion, Pose, Quality, TimeOfImpact, TimeOfImpactLimits, solids, time_of_impact,
};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let wall = Model::build(solids::cuboid(DVec3::new(0.001, 10.0, 10.0))?, Quality::Default);
    let bullet = Model::build(solids::sphere(0.01, 1e-4)?, Quality::Default);
    let from = Pose::from_translation(DVec3::X * -100.0)?;
    let to = Pose::from_translation(DVec3::X * 60.0)?;

    let flight = Motion::linear(&from, &to);
    let still = Motion::still(&Pose::IDENTITY);
    match time_of_impact(&bullet, &flight, &wall, &still, &TimeOfImpactLimits::default()) {
        TimeOfImpact::Never => println!("they never touch"),
        TimeOfImpact::AtStart => println!("they touch already"),
        TimeOfImpact::During { free, contact, closest } => {
            println!("free up to {free:.6} of the motion, in contact at {contact:.6}");
            println!("faces {} and {}, at {}", closest.faces.a, closest.faces.b, closest.point_a);
        }
        TimeOfImpact::Unknown { free } => println!("free up to {free:.6}, then undecided"),
    }
    Ok(())
}
