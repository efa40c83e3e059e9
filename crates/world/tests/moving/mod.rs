//! What the tests of motion share: seeded numbers, bodies, and looking for overlaps the slow way.
#![allow(dead_code)] // each test file uses a part of it

use glam::{DQuat, DVec3};
use jostle_geom::{Pair, Pose, Shape};
use jostle_world::{Body, BodyId, Response, Settings, Velocity, VelocityResponse, World};

/// Xorshift: the same numbers everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// In a cube around zero.
    pub(crate) fn vector(&mut self, size: f64) -> DVec3 {
        let mut one = || self.between(-size, size);
        DVec3::new(one(), one(), one())
    }

    pub(crate) fn direction(&mut self) -> DVec3 {
        loop {
            let v = self.vector(1.0);
            if (0.01..1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }

    pub(crate) fn rotation(&mut self) -> DQuat {
        DQuat::from_axis_angle(self.direction(), self.between(0.0, 6.0))
    }

    pub(crate) fn index(&mut self, count: usize) -> usize {
        ((self.unit() * count as f64) as usize).min(count - 1)
    }
}

pub(crate) fn world() -> World {
    World::new(Settings::default())
}

pub(crate) fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z)).unwrap()
}

pub(crate) fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(DVec3::new(x, y, z)).unwrap()
}

pub(crate) fn ball(radius: f64) -> Shape {
    Shape::sphere(radius).unwrap()
}

pub(crate) fn straight(x: f64, y: f64, z: f64) -> Velocity {
    Velocity::straight(DVec3::new(x, y, z))
}

pub(crate) fn bounce(restitution: f64) -> Response {
    Response { velocity: VelocityResponse::Bounce { restitution }, set_back: true }
}

/// Six walls, 1 thick, around the cube of this side about zero.
pub(crate) fn add_walls(world: &mut World, side: f64) {
    let off = 0.5 * side + 0.5;
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let (mut size, mut place) = (DVec3::splat(side + 2.0), DVec3::ZERO);
            (size[axis], place[axis]) = (1.0, sign * off);
            let pose = Pose::from_translation(place).unwrap();
            world.insert(Body::fixed(Shape::cuboid(size).unwrap(), pose)).unwrap();
        }
    }
}

/// The first two bodies, not both fixed, that touch where they are now.
pub(crate) fn first_overlap(world: &World, fixed: &[BodyId]) -> Option<[BodyId; 2]> {
    let ids: Vec<BodyId> = world.ids().collect();
    for (i, &a) in ids.iter().enumerate() {
        for &b in &ids[i + 1..] {
            if fixed.contains(&a) && fixed.contains(&b) {
                continue;
            }
            let (pose_a, pose_b) = (world.pose(a).unwrap(), world.pose(b).unwrap());
            let (shape_a, shape_b) = (world.shape(a).unwrap(), world.shape(b).unwrap());
            if Pair::new(shape_a, &pose_a, shape_b, &pose_b).touches() {
                return Some([a, b]);
            }
        }
    }
    None
}

/// Twice the kinetic energy of bodies of mass 1.
pub(crate) fn energy(world: &World) -> f64 {
    world.ids().map(|id| world.velocity(id).unwrap().linear.length_squared()).sum()
}

/// All poses and velocities, to the bit.
pub(crate) fn state(world: &World) -> Vec<u64> {
    let mut bits = Vec::new();
    for id in world.ids() {
        let (pose, velocity) = (world.pose(id).unwrap(), world.velocity(id).unwrap());
        let (t, q) = (pose.translation(), pose.rotation());
        let numbers = [t, velocity.linear, velocity.angular].map(|v| v.to_array());
        bits.extend(numbers.as_flattened().iter().chain(&q.to_array()).map(|x| x.to_bits()));
    }
    bits
}
