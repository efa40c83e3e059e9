//! Named scenes, shared by experiments, tests and benchmarks.

mod peer_boxes;

use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{Mesh, Model, Pose, Quality, Shape, solids};
use jostle_world::{Body, Report, Response, Settings, Velocity, VelocityResponse, World};
pub use peer_boxes::PeerBoxes;
use peer_boxes::Random;
use std::sync::Arc;

/// Bumpy bodies that bounce around in a cube (V-COLLIDE, Hudson et al. 1997, §4.3).
///
/// All have the same mesh of 576 triangles; the paper's rabbit has 575. Each has 8 cubic metres of
/// the cube to itself, whatever their number, and is 1.2 m long at most. They fly and turn at
/// random and bounce off each other and the walls without loss.
///
/// ```
/// use jostle_lab::scenes::Bunnies;
///
/// let mut world = Bunnies { count: 50, seed: 1 }.world(Default::default());
/// let contacts: usize = (0..30).map(|_| Bunnies::frame(&mut world).counts.contacts).sum();
/// assert!(contacts > 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bunnies {
    /// The number of bodies.
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
        let mut random = random(self.seed);
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
            let place = DVec3::from_array(at) * cell - 0.5 * side + vector(&mut random) * room;
            let velocity = Velocity {
                linear: vector(&mut random) * Self::SPEED,
                angular: vector(&mut random) * Self::SPIN,
            };
            let pose =
                Pose::new(rotation(&mut random), place).expect("places in a cube are finite");
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

/// Spread over all bits; never zero, where it would stay.
fn random(seed: u64) -> Random {
    Random(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
}

/// Components from −1 to 1.
fn vector(random: &mut Random) -> DVec3 {
    let mut one = || 2.0 * random.unit() - 1.0;
    DVec3::new(one(), one(), one())
}

/// Any rotation.
fn rotation(random: &mut Random) -> DQuat {
    loop {
        let (v, w) = (vector(random), 2.0 * random.unit() - 1.0);
        let rotation = DQuat::from_xyzw(v.x, v.y, v.z, w);
        if (0.01..1.0).contains(&rotation.length_squared()) {
            return rotation;
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
