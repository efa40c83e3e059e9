//! What runs into something immovable does not get through it, however thin it is and however fast
//! the other one: on one machine, on many in lockstep, and on many that run freely.

mod walls_groups;

use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{Mesh, Model, Quality, solids};
use jostle_proto::{
    Class, ClientInput, Commit, Detector, Input, Object, ObjectId, Objects, POSITION_UNIT,
    Rotation, ShapeId, Shapes, Solid, State, Tick, advance, apply,
};
use std::sync::Arc;

const RATE: u32 = 30;

/// One machine, all of the world.
struct World {
    objects: Objects,
    detector: Detector,
    tick: Tick,
}

impl World {
    fn new(shapes: Vec<Solid>, objects: &[Object]) -> World {
        let detector = Detector::new(Shapes::new(shapes), RATE);
        World { objects: objects.iter().copied().collect(), detector, tick: Tick(0) }
    }

    /// One tick; the pairs that touched.
    fn step(&mut self, inputs: Vec<Input>) -> usize {
        advance(&mut self.objects, self.tick, RATE);
        let touches = self.detector.touches(self.objects.as_slice());
        let found = touches.len();
        self.tick = self.tick.next();
        let commit = Commit { tick: self.tick, touches, inputs, ..Commit::default() };
        apply(&mut self.objects, &commit, |_| true);
        found
    }

    fn state(&self, id: u64) -> State {
        self.objects.get(&ObjectId(id)).unwrap().state
    }

    fn x(&self, id: u64) -> f64 {
        place(&self.state(id)).x
    }
}

fn place(state: &State) -> DVec3 {
    DVec3::from_array(state.position.map(f64::from)) * POSITION_UNIT
}

fn state(at: [f64; 3], velocity: [f64; 3]) -> State {
    State {
        position: at.map(|along| (along / POSITION_UNIT) as i32),
        velocity: velocity.map(|along| (along * 256.0) as i16),
        ..State::default()
    }
}

fn object(id: u64, class: Class, state: State) -> Object {
    Object { id: ObjectId(id), class, shape: ShapeId(id as u32), state }
}

fn mesh(mesh: Mesh) -> Solid {
    Solid::mesh(Arc::new(Model::build(mesh, Quality::Fast)))
}

fn ball(radius: f64) -> Solid {
    mesh(solids::sphere(radius, radius / 20.0).unwrap())
}

/// So thick along x, 40 m along the others.
fn wall(thick: f64) -> Solid {
    mesh(solids::cuboid(DVec3::new(thick, 40.0, 40.0)).unwrap())
}

fn still(id: u64, at: [f64; 3]) -> Object {
    object(id, Class::Immovable, state(at, [0.0; 3]))
}

fn turned(mut object: Object, turn: DQuat) -> Object {
    object.state.rotation = Rotation::from_quaternion(turn);
    object
}

/// What becomes of a velocity along x at a wall. A contact changes it by 128 m/s at most: what
/// comes faster than 64 leaves slower than it came.
fn reflected(state: &State) -> [i16; 3] {
    let [x, ..] = state.velocity;
    [(-i32::from(x)).max(i32::from(x) - 32768) as i16, 0, 0]
}

fn steer(avatar: u64, number: u64, velocity: [f64; 3]) -> Input {
    let velocity = velocity.map(|along| (along * 256.0) as i16);
    Input::Steer(ClientInput { avatar: ObjectId(avatar), number, velocity, spin: [0; 3] })
}

#[test]
fn a_ball_bounces_off_a_wall_however_thin_and_fast() {
    for radius in [0.02, 0.1, 0.5] {
        for thick in [0.001, 0.01, 0.2, 2.0] {
            for speed in [0.3, 2.0, 9.0, 40.0, 127.0] {
                let flight = state([-6.0, 0.3, -0.2], [speed, 0.0, 0.0]);
                let objects = [object(0, Class::Dynamic, flight), still(1, [0.0; 3])];
                let mut world = World::new(vec![ball(radius), wall(thick)], &objects);
                let (mut met, mut far) = (0, f64::MIN);
                for _ in 0..(7.0 / speed * f64::from(RATE)) as u32 + 2 {
                    met += world.step(Vec::new());
                    far = far.max(world.x(0));
                }
                let what = format!("ball of {radius}, wall of {thick}, {speed} m/s");
                assert_eq!(met, 1, "{what}");
                assert!(far < -thick / 2.0 - radius * 0.9, "{what}: got to {far}");
                assert_eq!(world.state(0).velocity, reflected(&flight), "{what}");
            }
        }
    }
}

#[test]
fn a_box_without_triangles_bounces_too() {
    for speed in [2.0, 40.0, 127.0] {
        let flight = state([-6.0, 0.3, -0.2], [speed, 0.0, 0.0]);
        let objects = [object(0, Class::Dynamic, flight), still(1, [0.0; 3])];
        let solids = vec![Solid::cuboid([400; 3]), Solid::cuboid([40, 81920, 81920])];
        let mut world = World::new(solids, &objects);
        let mut met = 0;
        for _ in 0..(7.0 / speed * f64::from(RATE)) as u32 + 2 {
            met += world.step(Vec::new());
            assert!(world.state(0).position[0] < -440, "{speed} m/s");
        }
        assert_eq!((met, world.state(0).velocity), (1, reflected(&flight)), "{speed} m/s");
    }
}

#[test]
fn a_ball_bounces_off_a_slope_as_off_a_mirror() {
    let turn = DQuat::from_rotation_z(0.5) * DQuat::from_rotation_y(-0.4);
    let normal = turn * DVec3::NEG_X;
    let velocity = DVec3::new(8.0, 1.0, -2.0);
    let flight = state([-3.0, 0.0, 0.0], velocity.to_array());
    let objects = [object(0, Class::Dynamic, flight), turned(still(1, [0.0; 3]), turn)];
    let mut world = World::new(vec![ball(0.2), wall(0.1)], &objects);
    let met: usize = (0..30).map(|_| world.step(Vec::new())).sum();
    assert_eq!(met, 1);
    let mirrored = velocity - normal * (2.0 * velocity.dot(normal));
    let back = DVec3::from_array(world.state(0).velocity.map(f64::from)) / 256.0;
    assert!(back.distance(mirrored) < 0.1, "{back} and not {mirrored}");
}

#[test]
fn balls_that_meet_exchange_their_velocities_along_the_line_between_them() {
    // In either order of ids.
    for first in [-1.0, 1.0] {
        let at = |side: f64| [0.55 * side, 0.15 * side, 0.0];
        let toward = |side: f64| [-2.0 * side, 0.0, 0.0];
        let objects = [
            object(0, Class::Dynamic, state(at(first), toward(first))),
            object(1, Class::Dynamic, state(at(-first), toward(-first))),
        ];
        let mut world = World::new(vec![ball(0.5), ball(0.5)], &objects);
        for _ in 0..10 {
            world.step(Vec::new());
        }
        let [a, b] = [0, 1].map(|id| world.state(id).velocity);
        let sum = [0, 1, 2].map(|axis: usize| a[axis] + b[axis]);
        assert_eq!(sum, [0; 3], "{a:?} {b:?}");
        let away = DVec3::from_array(a.map(f64::from)).dot(DVec3::from_array(at(first)));
        assert!(away > 0.0, "they part: {a:?}");
        // Off centre: some of it goes sideways, the way they are apart.
        assert!(f64::from(a[1]) * first > 30.0, "{a:?}");
    }
}

#[test]
fn a_corner_that_comes_down_on_a_floor_goes_up() {
    let turn = DQuat::from_rotation_x(0.7) * DQuat::from_rotation_z(0.6);
    let fall = state([0.3, 2.0, 0.2], [0.0, -3.0, 0.0]);
    let floor = mesh(solids::cuboid(DVec3::new(40.0, 0.1, 40.0)).unwrap());
    let cube = mesh(solids::cuboid(DVec3::ONE).unwrap());
    let objects = [turned(object(0, Class::Dynamic, fall), turn), still(1, [0.0; 3])];
    let mut world = World::new(vec![cube, floor], &objects);
    let met: usize = (0..25).map(|_| world.step(Vec::new())).sum();
    assert_eq!((met, world.state(0).velocity), (1, [0, 768, 0]));
}

#[test]
fn something_long_that_turns_into_a_wall_does_not_get_through() {
    let mut rod = object(0, Class::Dynamic, state([-3.0, 0.0, 0.0], [0.8, 0.0, 0.0]));
    rod.state.spin = [0, 0, 900];
    let shapes = vec![mesh(solids::cuboid(DVec3::new(4.0, 0.2, 0.2)).unwrap()), wall(0.3)];
    let mut world = World::new(shapes, &[rod, still(1, [0.0; 3])]);
    for _ in 0..300 {
        world.step(Vec::new());
        assert!(world.x(0) < 0.0);
    }
    assert!(world.state(0).velocity[0] < 0);
}

/// A floor of many triangles, flat but for rounding.
fn tiles() -> Mesh {
    const SIDE: u32 = 24;
    let at = |n: u32| n as f32 * 0.5 - 6.0;
    let corner = |x: u32, z: u32| x * (SIDE + 1) + z;
    let vertices = (0..=SIDE).flat_map(|x| (0..=SIDE).map(move |z| Vec3::new(at(x), 0.0, at(z))));
    let tile = |x: u32, z: u32| {
        let [a, b, c, d] = [corner(x, z), corner(x, z + 1), corner(x + 1, z + 1), corner(x + 1, z)];
        [[a, b, c], [a, c, d]]
    };
    let all = (0..SIDE).flat_map(|x| (0..SIDE).map(move |z| (x, z)));
    let triangles: Vec<[u32; 3]> = all.flat_map(|(x, z)| tile(x, z)).collect();
    Mesh::from_triangles(vertices.collect(), triangles).unwrap()
}

#[test]
fn an_avatar_slides_over_a_floor_of_triangles_without_being_held_up() {
    let walk = [1.5, -0.7, 0.4];
    let objects = [object(0, Class::Avatar, state([-5.0, 0.5, -2.0], walk)), still(1, [0.0; 3])];
    let mut world = World::new(vec![ball(0.4), mesh(tiles())], &objects);
    for number in 1..=120 {
        world.step(vec![steer(0, number, walk)]);
        let DVec3 { x, y, z } = place(&world.state(0));
        let way = number as f64 / f64::from(RATE);
        assert!((x - (1.5 * way - 5.0)).abs() < 0.02, "tick {number}: x {x}");
        assert!((z - (0.4 * way - 2.0)).abs() < 0.02, "tick {number}: z {z}");
        assert!(y > 0.39, "tick {number}: y {y}");
    }
}

#[test]
fn an_avatar_does_not_walk_through_a_wall() {
    for speed in [1.4, 10.0] {
        for thick in [0.01, 0.2] {
            let walk = [speed, 0.3, 0.0];
            let start = state([-2.0, 0.0, 0.0], walk);
            let objects = [object(0, Class::Avatar, start), still(1, [0.0; 3])];
            let mut world = World::new(vec![ball(0.4), wall(thick)], &objects);
            for number in 1..=150 {
                world.step(vec![steer(0, number, walk)]);
                assert!(world.x(0) < -0.38, "{speed} m/s, {thick} m: {}", world.x(0));
            }
            let DVec3 { x, y, .. } = place(&world.state(0));
            assert!(x > -thick / 2.0 - 0.41, "it stands before the wall, not at {x}");
            assert!((y - 1.5).abs() < 0.02, "it slides along: {y}");
            // And away from it.
            for number in 151..=180 {
                world.step(vec![steer(0, number, [-1.0, 0.0, 0.0])]);
            }
            assert!(world.x(0) < x - 0.9);
        }
    }
}

#[test]
fn an_avatar_that_begins_inside_something_gets_out() {
    for toward in [[-1.5, 0.0, 0.0], [0.0, 0.0, 1.5], [1.5, 0.0, 0.0]] {
        // In the middle of a thick wall near its edge, and half in a thin one.
        for (thick, at) in [(4.0, [-1.0, 0.0, 19.0]), (0.2, [-0.2, 0.0, 19.0])] {
            let start = state(at, toward);
            let objects = [object(0, Class::Avatar, start), still(1, [0.0; 3])];
            let mut world = World::new(vec![ball(0.4), wall(thick)], &objects);
            for number in 1..=120 {
                world.step(vec![steer(0, number, toward)]);
            }
            let gone = (place(&world.state(0)) - DVec3::from_array(at)).length();
            // Half in a thin wall, deeper in is no way out.
            let deeper = thick < 1.0 && toward[0] > 0.0;
            assert!(if deeper { gone < 0.5 } else { gone > 5.0 }, "{thick} m, {toward:?}: {gone}");
        }
    }
}

#[test]
fn blocks_hold_every_vertex_and_no_more_than_the_turned_box() {
    let mut seed = 7u64;
    let mut part = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f64 / f64::from(1 << 23) - 1.0
    };
    let (mut at_rest, mut cut) = (0, 0);
    for case in 0..400 {
        let size = DVec3::new(part(), part(), part()).abs() * 30.0 + 0.01;
        let middle = DVec3::new(part(), part(), part()) * 20.0 * f64::from(case % 2);
        let made = solids::cuboid(size).unwrap();
        let vertices = made.vertices().iter().map(|vertex| *vertex + middle.as_vec3()).collect();
        let made = Mesh::from_triangles(vertices, made.triangles().to_vec()).unwrap();
        let model = Arc::new(Model::build(made, Quality::Fast));
        let solid = Solid::mesh(model.clone());
        let turn = DQuat::from_xyzw(part(), part(), part(), part());
        let far = if case % 5 == 0 { 2e9 } else { 1e5 };
        let state = State {
            position: [part(), part(), part()].map(|along| (along * far) as i32),
            rotation: if case % 4 == 0 {
                Rotation::default()
            } else {
                Rotation::from_quaternion(turn)
            },
            ..State::default()
        };
        let block = solid.block(&state);
        let pose = state.pose().unwrap();
        let placed = model.mesh().vertices().iter().map(|vertex| pose.transform_point(*vertex));
        let placed: Vec<DVec3> = placed.map(|vertex| vertex / POSITION_UNIT).collect();
        for axis in 0..3 {
            let along = placed.iter().map(|vertex| vertex[axis]);
            let low = along.clone().fold(f64::INFINITY, f64::min);
            let high = along.fold(f64::NEG_INFINITY, f64::max);
            let (min, max) = (f64::from(block.min[axis]), f64::from(block.max[axis]));
            assert!(min <= low && high <= max, "case {case}: {min} {low} {high} {max}");
            // The corners of a box are its vertices, rounded outward by up to one unit before and
            // after it is turned.
            let slack = if state.rotation == Rotation::default() { 1.0 } else { 2.0 + 3f64.sqrt() };
            assert!(low - min <= slack && max - high <= slack, "case {case}: {low} {min}");
        }
        at_rest += usize::from(state.rotation == Rotation::default());
        cut += usize::from(middle == DVec3::ZERO);
    }
    assert!(at_rest > 50 && cut > 50);
    // A ball needs no more when it is turned.
    let turn = Rotation::from_quaternion(DQuat::from_rotation_z(0.7));
    let block = ball(1.0).block(&State { rotation: turn, ..State::default() });
    assert!(block.max.iter().all(|along| (4000..=4098).contains(along)), "{block:?}");
}
