//! One part moves past another: the distance at each of a thousand poses.
//!
//! `cargo run --release --example many_poses -- moving.stl fixed.stl`; without files, two balls.

use jostle::glam::{DQuat, DVec3};
use jostle::{Batch, LoadMesh, Mesh, Model, Pose, Quality, solids};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let (moving, fixed) = match files.as_slice() {
        [moving, fixed] => (Mesh::load(moving)?, Mesh::load(fixed)?),
        _ => (solids::sphere(0.5, 0.001)?, solids::sphere(1.0, 0.001)?),
    };
    let moving = Model::build(moving, Quality::Default);
    let fixed = Model::build(fixed, Quality::Default);

    // Along the x axis, turning about the z axis.
    let at = |step: i32| {
        let along = f64::from(step) / 1000.0;
        let turn = DQuat::from_rotation_z(along * std::f64::consts::TAU);
        Pose::new(turn, DVec3::new(4.0 * along - 2.0, 1.2, 0.0))
    };
    let path = (0..1000).map(at).collect::<Result<Vec<Pose>, _>>()?;

    // On all cores, in the order of the poses; `Pair::new` and `Pair::distance` ask about one.
    let distances = Batch::new(&fixed, &Pose::IDENTITY, &moving, &path).distances();
    for (step, found) in distances.iter().enumerate().step_by(100) {
        match found {
            Some(found) => println!("pose {step}: {:.4} from {}", found.distance, found.point_a),
            None => println!("pose {step}: one of the models is empty"),
        }
    }
    Ok(())
}
