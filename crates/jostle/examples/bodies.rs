//! Many bodies: they move, hit each other, bounce, and can be asked for by place.

use jostle::glam::DVec3;
use jostle::world::{Body, Response, Settings, Velocity, VelocityResponse, World};
use jostle::{Pose, Ray, Shape};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut world = World::new(Settings::default());
    let wall = Shape::cuboid(DVec3::new(1.0, 10.0, 10.0))?;
    world.insert(Body::fixed(wall, Pose::from_translation(DVec3::X * 5.0)?))?;
    let velocity = VelocityResponse::Bounce { restitution: 1.0 };
    let ball = Body::moving(Shape::sphere(0.5)?, Pose::IDENTITY)
        .with_velocity(Velocity::straight(DVec3::X * 3.0))
        .with_response(Response { velocity, set_back: true });
    let ball = world.insert(ball)?;

    for step in 0..90 {
        world.advance(1.0 / 30.0)?;
        for event in &world.step().events {
            println!("step {step}: {} and {}: {:?}", event.a, event.b, event.change);
        }
    }
    println!("the ball now moves with {}", world.velocity(ball)?.linear);

    let ray = Ray::new(DVec3::Y * -20.0, DVec3::new(5.0, 20.0, 0.0), f64::INFINITY)?;
    if let Some(first) = world.cast_ray(&ray) {
        println!("a ray meets {} after {:.2}", first.id, first.hit.distance);
    }
    Ok(())
}
