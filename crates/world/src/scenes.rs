//! Named scenes, shared by experiments, tests and benchmarks.

use crate::aabb::Aabb;
use crate::body::{Body, Velocity};
use crate::report::Report;
use crate::respond::{Response, VelocityResponse};
use crate::settings::Settings;
use crate::shape::Shape;
use crate::world::World;
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{Mesh, Model, Pose, Quality, solids};
use std::sync::Arc;

/// Bumpy bodies that bounce around in a cube (V-COLLIDE, Hudson et al. 1997, §4.3).
///
/// All have the same mesh of 576 triangles; the paper's rabbit has 575. Each has 8 cubic metres of
/// the cube to itself, whatever their number, and is 1.2 m long at most. They fly and turn at
/// random and bounce off each other and the walls without loss.
///
/// ```
/// use jostle_world::scenes::Bunnies;
///
/// let mut world = Bunnies { count: 50, seed: 1 }.world(Default::default());
/// let contacts: usize = (0..30).map(|_| Bunnies::frame(&mut world).counts.contacts).sum();
/// assert!(contacts > 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bunnies {
    /// How many.
    pub count: usize,
    /// Decides about places, rotations, velocities and spins.
    pub seed: u64,
}

impl Bunnies {
    /// How long a frame is, in seconds.
    pub const FRAME: f64 = 1.0 / 30.0;
    /// Metres per second; a tenth of their size in a frame.
    const SPEED: f64 = 3.0;
    /// Radians per second.
    const SPIN: f64 = 3.0;
    /// No point of a body is further from its origin.
    const REACH: f64 = 0.6;

    /// The walls, which come first, and the bodies, none of which touches another.
    #[must_use]
    pub fn world(&self, settings: Settings) -> World {
        let mut random = Random::new(self.seed);
        let mut world = World::new(settings);
        // Cells of a cube, with one body at a random place in each of the first ones.
        let cells = (1..).find(|cells| cells * cells * cells >= self.count).unwrap_or(1);
        let side = (8.0 * self.count.max(1) as f64).cbrt();
        let cell = side / cells as f64;
        let room = 0.5 * cell - Self::REACH;
        add_walls(&mut world, side);
        let bounce = VelocityResponse::Bounce { restitution: 1.0 };
        let response = Response { velocity: bounce, set_back: true };
        let shape = Shape::mesh(bumpy_model());
        for i in 0..self.count {
            let at = [i % cells, i / cells % cells, i / (cells * cells)].map(|k| k as f64 + 0.5);
            let place = DVec3::from_array(at) * cell - 0.5 * side + random.vector() * room;
            let velocity = Velocity {
                linear: random.vector() * Self::SPEED,
                angular: random.vector() * Self::SPIN,
            };
            let pose = Pose::new(random.rotation(), place).expect("places in a cube are finite");
            let body = Body::moving(shape.clone(), pose).with_velocity(velocity);
            world.insert(body.with_response(response)).expect("velocities are finite");
        }
        world
    }

    /// One frame: bodies move, are compared, and respond.
    pub fn frame(world: &mut World) -> Arc<Report> {
        world.advance(Self::FRAME).expect("the time of a frame is a number above 0");
        world.step()
    }
}

/// [`Bunnies`] with the settings that worlds have by default.
#[must_use]
pub fn bunnies(count: usize, seed: u64) -> World {
    Bunnies { count, seed }.world(Settings::default())
}

/// Six walls, a metre thick, around the cube of this side about zero.
fn add_walls(world: &mut World, side: f64) {
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let (mut size, mut place) = (DVec3::splat(side + 2.0), DVec3::ZERO);
            (size[axis], place[axis]) = (1.0, sign * (0.5 * side + 0.5));
            let wall = Shape::cuboid(size).expect("the size of a cube is a good dimension");
            let pose = Pose::from_translation(place).expect("places around a cube are finite");
            world.insert(Body::fixed(wall, pose)).expect("walls have no velocity");
        }
    }
}

/// A capsule with bumps and two ears. No library trigonometry: the same on every machine.
fn bumpy_model() -> Arc<Model> {
    let smooth = solids::capsule(0.3, 0.5, 0.3 / 60.0).expect("the dimensions are good");
    let bumpy = |v: &Vec3| {
        let p = v.as_dvec3();
        let bumps = 1.0 + 20.0 * p.x * p.y * p.z + 2.0 * p.x * p.x - 1.5 * p.y * p.y;
        let ears = if p.z > 0.35 { 0.5 * p.x.abs() } else { 0.0 };
        p * bumps + DVec3::Z * ears
    };
    let points: Vec<DVec3> = smooth.vertices().iter().map(bumpy).collect();
    let longest = points.iter().map(|p| p.length()).fold(0.0, f64::max);
    let scale = 0.99 * Bunnies::REACH / longest;
    let vertices = points.iter().map(|p| (p * scale).as_vec3()).collect();
    let mesh = Mesh::from_triangles(vertices, smooth.triangles().to_vec());
    Arc::new(Model::build(mesh.expect("bumps are finite"), Quality::Default))
}

/// The moving boxes of the broad phase benchmark that other libraries were measured with: n boxes
/// of side 1 in a cube of 8n cubic metres, all of them moving. Numbers are made in the same order
/// as there and are the same to the bit (given the same cube root in the system's library).
///
/// ```
/// use jostle_world::scenes::PeerBoxes;
///
/// let mut boxes = PeerBoxes::new(1000);
/// let before = boxes.boxes().next();
/// boxes.step();
/// assert_ne!(boxes.boxes().next(), before);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PeerBoxes {
    places: Vec<DVec3>,
    velocities: Vec<DVec3>,
    side: f64,
}

impl PeerBoxes {
    /// `count` boxes.
    #[must_use]
    pub fn new(count: usize) -> PeerBoxes {
        let mut random = Random(88_172_645_463_325_252);
        let side = (count as f64 * 8.0).cbrt();
        let mut boxes = PeerBoxes { places: Vec::new(), velocities: Vec::new(), side };
        for _ in 0..count {
            let place = [random.unit() * side, random.unit() * side, random.unit() * side];
            let mut speed = || (random.unit() - 0.5) * 0.2;
            boxes.places.push(DVec3::from_array(place));
            boxes.velocities.push(DVec3::new(speed(), speed(), speed()));
        }
        boxes
    }

    /// Moves every box. One whose centre left the cube turns round.
    pub fn step(&mut self) {
        for (place, velocity) in self.places.iter_mut().zip(&mut self.velocities) {
            for axis in 0..3 {
                place[axis] += velocity[axis];
                if place[axis] < 0.0 || place[axis] > self.side {
                    velocity[axis] = -velocity[axis];
                }
            }
        }
    }

    /// The boxes where they are now.
    pub fn boxes(&self) -> impl Iterator<Item = Aabb> + '_ {
        let half = Vec3::splat(0.5);
        self.places.iter().map(move |place| {
            let centre = place.as_vec3();
            Aabb::around(centre - half, centre + half)
        })
    }

    /// The centres of the boxes.
    #[must_use]
    pub fn places(&self) -> &[DVec3] {
        &self.places
    }
}

/// Xorshift (Marsaglia 2003) with the shifts of the peers' program.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        // Spread over all bits; never zero, where it would stay.
        Random(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// Components from −1 to 1.
    fn vector(&mut self) -> DVec3 {
        let mut one = || 2.0 * self.unit() - 1.0;
        DVec3::new(one(), one(), one())
    }

    /// Any rotation.
    fn rotation(&mut self) -> DQuat {
        loop {
            let (v, w) = (self.vector(), 2.0 * self.unit() - 1.0);
            let rotation = DQuat::from_xyzw(v.x, v.y, v.z, w);
            if (0.01..1.0).contains(&rotation.length_squared()) {
                return rotation;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bunny_is_closed_small_enough_and_has_576_triangles() {
        let model = bumpy_model();
        let mesh = model.mesh();
        assert_eq!(mesh.triangle_count(), 576);
        assert!(mesh.clone().into_solid().is_ok());
        let longest = mesh.vertices().iter().map(|v| v.as_dvec3().length()).fold(0.0, f64::max);
        assert!((0.5..Bunnies::REACH).contains(&longest), "{longest}");
    }

    /// The number comes from the rules of the peers' program, written down a second time in another
    /// language.
    #[test]
    fn boxes_are_where_the_peers_have_them() {
        let mut boxes = PeerBoxes::new(1000);
        (0..100).for_each(|_| boxes.step());
        let numbers = boxes.places().iter().flat_map(|place| place.to_array());
        let hash = numbers.fold(0xcbf2_9ce4_8422_2325, |hash: u64, x| {
            (hash ^ x.to_bits()).wrapping_mul(0x0100_0000_01b3)
        });
        assert_eq!(hash, 0xcc9d_75b1_3f04_2621, "{hash:#x}");
    }

    #[test]
    fn every_bunny_has_its_place() {
        for count in [0, 1, 2, 9, 28, 50, 65] {
            let mut world = bunnies(count, 3);
            assert_eq!(world.len(), 6 + count);
            assert!(world.step().events.is_empty(), "{count}");
        }
    }
}
