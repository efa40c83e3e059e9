//! One mesh: the nearest hit of a ray, the closest point, and whether a point is inside.

use jostle::glam::DVec3;
use jostle::{Model, Pose, PosedModel, Quality, Ray, solids};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let ball = Model::build(solids::sphere(1.0, 0.001)?.into_solid()?, Quality::Default);
    let pose = Pose::from_translation(DVec3::new(0.0, 0.0, 5.0))?;
    let posed = PosedModel::new(&ball, &pose);

    let ray = Ray::new(DVec3::ZERO, DVec3::Z, f64::INFINITY)?;
    if let Some(hit) = posed.ray(&ray) {
        println!("hit face {} after {:.3}, at {}", hit.face, hit.distance, hit.point);
    }
    if let Some(closest) = posed.closest_point(DVec3::ZERO, f64::INFINITY) {
        println!("closest point {} at distance {:.3}", closest.point, closest.distance);
    }
    println!("its centre is {:?}", posed.contains(DVec3::Z * 5.0)?);
    Ok(())
}
