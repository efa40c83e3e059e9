//! Bodies that move by themselves, and what stops those in continuous motion.

mod moving;

use glam::{DQuat, DVec2, DVec3};
use jostle_geom::solids::{self, BumpyTorus};
use jostle_geom::{Model, Motion, Pair, Pose, Quality, Shape};
use jostle_world::broad::Structure;
use jostle_world::{
    Body, BodyId, Response, Settings, Velocity, VelocityResponse, Workers, World, WorldError,
};
use moving::world;
use moving::{Random, add_walls, at, ball, bounce, cuboid, energy, first_overlap, state, straight};

const FRAME: f64 = 1.0 / 30.0;

fn torus(size: f64) -> Shape {
    let torus = BumpyTorus::plain(0.7 * size, 0.3 * size, [16, 8]);
    Shape::mesh(Model::build(torus.mesh().unwrap(), Quality::Default))
}

/// A wall of one thin sheet, without inside.
fn sheet(size: f64) -> Shape {
    let mesh = solids::grid(DVec2::splat(size), [5, 5], |_| 0.0).unwrap();
    Shape::mesh(Model::build(mesh, Quality::Default))
}

#[test]
fn a_body_moves_with_its_velocity_and_turns_with_its_spin() {
    let mut world = world();
    let velocity = Velocity { linear: DVec3::new(1.0, -2.0, 4.0), angular: DVec3::Z * 3.0 };
    let id = world.insert(Body::moving(ball(1.0), at(1.0, 1.0, 1.0)).with_velocity(velocity));
    let still = world.insert(Body::moving(ball(1.0), at(9.0, 9.0, 9.0))).unwrap();
    let fixed = Body::fixed(ball(1.0), at(-9.0, 0.0, 0.0)).with_velocity(velocity);
    let fixed = world.insert(fixed).unwrap();
    world.step();
    world.advance(0.5).unwrap();
    let pose = world.pose(id.unwrap()).unwrap();
    assert_eq!(pose.translation(), DVec3::new(1.5, 0.0, 3.0));
    let right = DQuat::from_rotation_z(1.5);
    assert!((pose.rotation() - right).length() < 1e-15, "{pose:?}");
    assert_eq!(world.pose(still).unwrap(), at(9.0, 9.0, 9.0));
    assert_eq!(world.pose(fixed).unwrap(), at(-9.0, 0.0, 0.0));
    assert_eq!(world.step().counts.changed, 1);
}

#[test]
fn a_time_that_is_none_is_refused() {
    for seconds in [-1.0, f64::NAN, f64::INFINITY] {
        let error = world().advance(seconds).unwrap_err();
        assert!(matches!(error, WorldError::Number { .. }), "{error}");
    }
    assert!(world().set_gravity(DVec3::NAN).is_err());
    let bad = Body::moving(ball(1.0), Pose::IDENTITY).with_response(bounce(f64::NAN));
    assert!(world().insert(bad).is_err());
}

#[test]
fn who_leaves_the_range_of_poses_stops_and_is_reported() {
    for continuous in [false, true] {
        let mut world = world();
        let body = Body::moving(ball(1.0), Pose::IDENTITY).with_velocity(straight(1e31, 0.0, 0.0));
        let body = if continuous { body.with_continuous_motion() } else { body };
        let id = world.insert(body).unwrap();
        assert_eq!(world.advance(0.01).unwrap().stopped, []);
        assert_eq!(world.advance(1.0).unwrap().stopped, [id]);
        assert_eq!(world.pose(id).unwrap(), at(1e29, 0.0, 0.0));
        assert_eq!(world.velocity(id).unwrap(), Velocity::default());
        let spin = Velocity { linear: DVec3::ZERO, angular: DVec3::splat(f64::MAX) };
        world.set_velocity(id, spin).unwrap();
        assert_eq!(world.advance(100.0).unwrap().stopped, [id]);
    }
}

/// A bullet of size 0.01 flies 33 m at a wall of thickness 0.01, or of none.
fn shoot(random: &mut Random, continuous: bool, response: Option<Response>) -> (World, Shot) {
    let bullet = match random.index(3) {
        0 => cuboid(0.01, 0.01, 0.01),
        1 => ball(0.005),
        _ => torus(0.005),
    };
    let wall = if random.index(2) == 0 { cuboid(4.0, 4.0, 0.01) } else { sheet(4.0) };
    let centre = random.vector(20.0);
    let wall_pose = Pose::new(random.rotation(), centre).unwrap();
    let spot = DVec3::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0), 0.0);
    let direction = loop {
        let direction = random.direction();
        if direction.z.abs() > 0.02 {
            break wall_pose.transform_vector(direction);
        }
    };
    let from = wall_pose.transform_point(spot) - direction * random.between(1.0, 20.0);
    let spin = random.direction() * random.between(0.0, 50.0);
    let velocity = Velocity { linear: direction * 1000.0, angular: spin };
    let mut world = world();
    let wall = world.insert(Body::fixed(wall, wall_pose)).unwrap();
    let pose = Pose::new(random.rotation(), from).unwrap();
    let body = Body::moving(bullet, pose).with_velocity(velocity);
    let body = if continuous { body.with_continuous_motion() } else { body };
    let body = if let Some(response) = response { body.with_response(response) } else { body };
    let bullet = world.insert(body).unwrap();
    (
        world,
        Shot { wall, bullet, velocity, side: wall_pose.inverse_transform_point(from).z.signum() },
    )
}

struct Shot {
    wall: BodyId,
    bullet: BodyId,
    velocity: Velocity,
    side: f64,
}

impl Shot {
    /// On the side of the wall where it came from?
    fn is_before(&self, world: &World) -> bool {
        let bullet = world.pose(self.bullet).unwrap().translation();
        world.pose(self.wall).unwrap().inverse_transform_point(bullet).z * self.side > 0.0
    }
}

#[test]
fn no_bullet_passes_a_thin_wall() {
    for seed in 0..3000 {
        let (mut world, shot) = shoot(&mut Random::new(seed), true, None);
        let advanced = world.advance(FRAME).unwrap();
        assert!(shot.is_before(&world), "seed {seed}");
        assert_eq!(advanced.hits.len(), 1, "seed {seed}: {advanced:?}");
        let hit = advanced.hits[0];
        assert_eq!([hit.a, hit.b], [shot.wall, shot.bullet]);
        assert!(0.0 < hit.time && hit.time < FRAME);
        assert!(!world.is_touching(shot.wall, shot.bullet));
        // It waits there with its velocity, and goes on waiting.
        assert_eq!(world.velocity(shot.bullet).unwrap(), shot.velocity);
        world.step();
        world.advance(FRAME).unwrap();
        assert!(shot.is_before(&world), "seed {seed}");
    }
}

#[test]
fn bullets_bounce_off_thin_walls() {
    for seed in 0..1000 {
        let (mut world, shot) = shoot(&mut Random::new(seed), true, Some(bounce(1.0)));
        let advanced = world.advance(FRAME).unwrap();
        assert!(shot.is_before(&world), "seed {seed}");
        let normal = world.pose(shot.wall).unwrap().transform_vector(DVec3::Z) * shot.side;
        let mirrored = shot.velocity.linear - 2.0 * normal * shot.velocity.linear.dot(normal);
        let found = world.velocity(shot.bullet).unwrap().linear;
        assert!(found.distance(mirrored) < 1e-3, "seed {seed}: {found} {mirrored} {advanced:?}");
        assert_eq!(advanced.hits.len(), 1, "seed {seed}");
    }
}

#[test]
fn without_continuous_motion_bullets_pass() {
    let mut passed = 0;
    for seed in 0..300 {
        let (mut world, shot) = shoot(&mut Random::new(seed), false, None);
        assert!(world.advance(FRAME).unwrap().hits.is_empty());
        passed += usize::from(!shot.is_before(&world));
    }
    assert!(passed > 290, "{passed}");
}

#[test]
fn bullets_that_miss_fly_on() {
    let mut random = Random::new(1);
    for case in 0..300 {
        let (mut world, shot) = shoot(&mut random, true, None);
        // Past the wall: along its plane, or away from it.
        let pose = world.pose(shot.wall).unwrap();
        let past = pose.transform_vector(DVec3::new(random.unit(), 0.3, 0.0));
        let away = if case % 2 == 0 { past } else { -shot.velocity.linear };
        let velocity = Velocity { linear: away.normalize() * 1000.0, ..shot.velocity };
        world.set_velocity(shot.bullet, velocity).unwrap();
        let from = world.pose(shot.bullet).unwrap().translation();
        assert!(world.advance(FRAME).unwrap().hits.is_empty(), "case {case}");
        let to = world.pose(shot.bullet).unwrap().translation();
        assert_eq!(to, from + velocity.linear * FRAME);
    }
}

/// The slow, obvious twin: two bodies on their way are looked at 500 times.
#[test]
fn hits_are_when_many_looks_see_them() {
    const LOOKS: u32 = 500;
    let (mut met, mut passed) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut world = world();
        let mut add = |continuous: bool, random: &mut Random| {
            let shape = match random.index(3) {
                0 => cuboid(0.3, 2.0, 1.0),
                1 => ball(random.between(0.1, 1.0)),
                _ => torus(1.0),
            };
            let side = if continuous { -1.0 } else { 1.0 };
            let from = DVec3::X * 3.0 * side + random.vector(1.0);
            let linear = DVec3::X * -120.0 * side + random.vector(40.0);
            let velocity = Velocity { linear, angular: random.vector(30.0) };
            let pose = Pose::new(random.rotation(), from).unwrap();
            let body = Body::moving(shape, pose).with_velocity(velocity);
            let body = if continuous { body.with_continuous_motion() } else { body };
            world.insert(body).unwrap()
        };
        let (a, b) = (add(true, &mut random), add(false, &mut random));
        let start = [a, b].map(|id| world.pose(id).unwrap());
        let mut free = world.clone();
        free.set_continuous_motion(a, false).unwrap();
        free.advance(FRAME).unwrap();
        let ways = [a, b].map(|id| world.pose(id).unwrap()).into_iter().zip([a, b]);
        let ways: Vec<Motion> =
            ways.map(|(from, id)| Motion::linear(&from, &free.pose(id).unwrap())).collect();
        let shapes = [a, b].map(|id| world.shape(id).unwrap().clone());
        let touch = |s: f64| {
            let (p, q) = (ways[0].at(s), ways[1].at(s));
            Pair::new(&shapes[0], &p, &shapes[1], &q).touches()
        };
        if touch(0.0) {
            continue;
        }
        let seen = (0..=LOOKS).map(|i| f64::from(i) / f64::from(LOOKS)).find(|&s| touch(s));
        let hits = world.advance(FRAME).unwrap().hits;
        let hit = hits.first().map(|hit| hit.time / FRAME);
        match (seen, hit) {
            (Some(seen), Some(hit)) => {
                met += 1;
                assert!(hit <= seen, "seed {seed}: {hit} {seen}");
            }
            (Some(seen), None) => panic!("seed {seed}: {start:?} missed at {seen}"),
            (None, None) => passed += 1,
            (None, Some(_)) => {}
        }
        if let Some(hit) = hit {
            let (p, q) = (ways[0].at(hit), ways[1].at(hit));
            let gap = Pair::new(&shapes[0], &p, &shapes[1], &q).distance().unwrap().distance;
            assert!(0.0 < gap && gap < 1e-3, "seed {seed}: {gap}");
        }
    }
    assert!(met > 100 && passed > 50, "{met} {passed}");
}

#[test]
fn a_blade_stops_at_a_pillar() {
    // Half a blade is 2 long; the pillar stands 1.5 from the axis, a twentieth of a turn ahead.
    for (spin, continuous) in [(30.0, true), (600.0, true), (600.0, false)] {
        for is_ball in [true, false] {
            let mut world = world();
            let ahead = DQuat::from_rotation_z(0.3) * DVec3::X * 1.5;
            let shape = if is_ball { ball(0.05) } else { cuboid(0.1, 0.1, 1.0) };
            let pillar = Body::fixed(shape, Pose::from_translation(ahead).unwrap());
            world.insert(pillar).unwrap();
            let velocity = Velocity { linear: DVec3::ZERO, angular: DVec3::Z * spin };
            let blade = Body::moving(cuboid(4.0, 0.01, 0.1), Pose::IDENTITY);
            let blade = blade.with_velocity(velocity);
            let blade = if continuous { blade.with_continuous_motion() } else { blade };
            let blade = world.insert(blade).unwrap();
            let hits = world.advance(FRAME).unwrap().hits;
            let along = world.pose(blade).unwrap().transform_vector(DVec3::X);
            let angle = along.y.atan2(along.x);
            assert_eq!(hits.is_empty(), !continuous);
            assert_eq!((0.2..0.3).contains(&angle), continuous, "{spin} {is_ball}: {angle}");
        }
    }
}

#[test]
fn a_blade_meets_what_is_outside_of_the_boxes_of_both_ends() {
    let mut world = world();
    world.insert(Body::fixed(cuboid(0.1, 0.1, 1.0), at(1.9, 0.0, 0.0))).unwrap();
    let velocity = Velocity { linear: DVec3::ZERO, angular: DVec3::Z * 60.0 };
    let pose = Pose::new(DQuat::from_rotation_z(-1.0), DVec3::ZERO).unwrap();
    let blade = Body::moving(cuboid(4.0, 0.01, 0.1), pose).with_velocity(velocity);
    let blade = world.insert(blade.with_continuous_motion()).unwrap();
    assert_eq!(world.advance(FRAME).unwrap().hits.len(), 1);
    let along = world.pose(blade).unwrap().transform_vector(DVec3::X);
    assert!(along.x > 0.99 && along.y < 0.0, "{along}");
}

#[test]
fn a_blade_that_bounces_turns_back() {
    let mut world = world();
    let post = Body::fixed(cuboid(0.1, 0.1, 1.0), at(1.5, 0.5, 0.0));
    world.insert(post).unwrap();
    let velocity = Velocity { linear: DVec3::ZERO, angular: DVec3::Z * 30.0 };
    let blade = Body::moving(cuboid(4.0, 0.01, 0.1), Pose::IDENTITY).with_velocity(velocity);
    let blade = blade.with_response(bounce(1.0)).with_continuous_motion();
    let blade = world.insert(blade).unwrap();
    assert_eq!(world.advance(FRAME).unwrap().hits.len(), 1);
    assert_eq!(world.velocity(blade).unwrap().angular, DVec3::Z * -30.0);
    let along = world.pose(blade).unwrap().transform_vector(DVec3::X);
    assert!(along.y < -0.1, "it used up the rest of the time: {along}");
}

#[test]
fn a_driven_blade_sweeps_a_ball_away() {
    let mut world = world();
    let velocity = Velocity { linear: DVec3::ZERO, angular: DVec3::Z * 30.0 };
    let blade = Body::moving(cuboid(4.0, 0.01, 0.1), Pose::IDENTITY).with_velocity(velocity);
    let blade = world.insert(blade).unwrap();
    let thing = Body::moving(ball(0.05), at(1.5, 0.5, 0.0)).with_response(bounce(1.0));
    let thing = thing.with_velocity(straight(0.0, -1e-9, 0.0)).with_continuous_motion();
    let thing = world.insert(thing).unwrap();
    let hits = world.advance(FRAME).unwrap().hits;
    assert_eq!(hits.len(), 1);
    // Hit at 1.58 from the axis, by what moves at 30 times that.
    let speed = world.velocity(thing).unwrap().linear.length();
    assert!((2.0 * 30.0 * 1.57..2.0 * 30.0 * 1.6).contains(&speed), "{speed}");
    assert_eq!(world.velocity(blade).unwrap(), velocity);
    assert_eq!(first_overlap(&world, &[]), None);
}

#[test]
fn bullets_meet_head_on() {
    let mut turned_back = 0;
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let mut world = world();
        let direction = random.direction();
        let middle = random.vector(10.0);
        let shapes = [cuboid(0.02, 0.02, 0.02), ball(0.01), torus(0.02)];
        let mut add = |side: f64, random: &mut Random| {
            let place = middle + direction * (side * random.between(5.0, 8.0));
            let place = place + random.vector(0.002);
            let velocity = Velocity::straight(direction * (-1000.0 * side));
            let shape = shapes[random.index(2 + usize::from(side > 0.0))].clone();
            let pose = Pose::new(random.rotation(), place).unwrap();
            let body = Body::moving(shape, pose).with_velocity(velocity);
            world.insert(body.with_response(bounce(1.0)).with_continuous_motion()).unwrap()
        };
        let (a, b) = (add(-1.0, &mut random), add(1.0, &mut random));
        let hits = world.advance(FRAME).unwrap().hits;
        assert!(!hits.is_empty(), "seed {seed}");
        assert_eq!(first_overlap(&world, &[]), None, "seed {seed}");
        // Corners that graze each other pass; all others turn back.
        let along = |id: BodyId| world.pose(id).unwrap().translation().dot(direction);
        let turned = hits[0].normal.dot(direction).abs() > 0.75;
        assert!(!turned || along(a) < along(b), "seed {seed} {hits:?}");
        turned_back += usize::from(turned);
        let momentum = world.velocity(a).unwrap().linear + world.velocity(b).unwrap().linear;
        assert!(momentum.length() < 1e-9, "seed {seed}: {momentum}");
        assert!((energy(&world) / 2e6 - 1.0).abs() < 1e-9, "seed {seed}");
    }
    assert!((300..500).contains(&turned_back), "{turned_back}");
}

#[test]
fn equal_bodies_swap_their_velocities_exactly() {
    for shape in [cuboid(1.0, 1.0, 1.0), ball(0.5)] {
        let mut world = world();
        let mut add = |x: f64, v: f64| {
            let body = Body::moving(shape.clone(), at(x, 0.0, 0.0));
            let body = body.with_velocity(straight(v, 0.0, 0.0)).with_response(bounce(1.0));
            world.insert(body.with_continuous_motion()).unwrap()
        };
        let (a, b) = (add(-2.0, 30.0), add(2.0, -120.0));
        world.advance(0.1).unwrap();
        assert_eq!(world.velocity(a).unwrap(), straight(-120.0, 0.0, 0.0));
        assert_eq!(world.velocity(b).unwrap(), straight(30.0, 0.0, 0.0));
        // 3 apart at 150 per second: they meet after a fifth of the time at -1.4 and -0.4.
        let x = |id| world.pose(id).unwrap().translation().x;
        assert!((x(a) - (-1.4 - 120.0 * 0.08)).abs() < 1e-4, "{}", x(a));
        assert!((x(b) - (-0.4 + 30.0 * 0.08)).abs() < 1e-4, "{}", x(b));
    }
}

#[test]
fn a_ball_at_rest_is_set_in_motion() {
    let mut world = world();
    let at_rest = Body::moving(ball(0.5), at(3.0, 0.0, 0.0)).with_response(bounce(1.0));
    let at_rest = world.insert(at_rest).unwrap();
    let cue = Body::moving(ball(0.5), Pose::IDENTITY).with_velocity(straight(100.0, 0.0, 0.0));
    let cue = world.insert(cue.with_response(bounce(1.0)).with_continuous_motion()).unwrap();
    world.advance(0.1).unwrap();
    assert_eq!(world.velocity(at_rest).unwrap(), straight(100.0, 0.0, 0.0));
    let left = world.velocity(cue).unwrap().linear.length();
    assert!(left <= 1e-4, "{left}");
    let x = world.pose(at_rest).unwrap().translation().x;
    assert!((x - 11.0).abs() < 1e-4, "{x}");
}

#[test]
fn stop_and_keep_in_continuous_motion() {
    for (velocity, left) in [(VelocityResponse::Stop, 0.0), (VelocityResponse::Keep, 900.0)] {
        let mut world = world();
        world.insert(Body::fixed(cuboid(0.01, 9.0, 9.0), at(5.0, 0.0, 0.0))).unwrap();
        let body = Body::moving(ball(0.5), Pose::IDENTITY).with_velocity(straight(900.0, 0.0, 0.0));
        let body = body.with_response(Response { velocity, set_back: true });
        let id = world.insert(body.with_continuous_motion()).unwrap();
        for _ in 0..3 {
            world.advance(FRAME).unwrap();
            world.step();
        }
        assert_eq!(world.velocity(id).unwrap(), straight(left, 0.0, 0.0));
        assert!((world.pose(id).unwrap().translation().x - 4.495).abs() < 1e-5);
    }
}

/// Twenty bodies of all kinds with spins in a closed box, fast enough to cross it in a frame.
fn crowd(seed: u64, settings: Settings) -> World {
    let mut random = Random::new(seed);
    let mut world = World::new(settings);
    add_walls(&mut world, 8.0);
    for i in 0..20 {
        let place = DVec3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9));
        let shape = match i % 3 {
            0 => cuboid(0.8, 1.0, 0.6),
            1 => ball(0.5),
            _ => torus(0.5),
        };
        let pose = Pose::new(random.rotation(), (place - 1.0) * 2.2).unwrap();
        let linear = random.direction() * 50.0;
        let velocity = Velocity { linear, angular: random.vector(10.0) };
        let body = Body::moving(shape, pose).with_velocity(velocity);
        world.insert(body.with_response(bounce(1.0)).with_continuous_motion()).unwrap();
    }
    world
}

#[test]
fn nobody_leaves_the_box_and_nothing_gains_speed() {
    let mut world = crowd(7, Settings::default());
    let walls: Vec<BodyId> = world.ids().take(6).collect();
    assert_eq!(first_overlap(&world, &walls), None);
    let before = energy(&world);
    let (mut hits, mut still) = (0, 0);
    for frame in 0..1000 {
        let poses = world.ids().skip(6).map(|id| (id, world.pose(id).unwrap()));
        let poses: Vec<(BodyId, Pose)> = poses.collect();
        hits += world.advance(FRAME).unwrap().hits.len();
        still += poses.into_iter().filter(|&(id, pose)| world.pose(id).unwrap() == pose).count();
        assert_eq!(first_overlap(&world, &walls), None, "frame {frame}");
        assert!(world.step().events.is_empty(), "frame {frame}");
        for id in world.ids().skip(6) {
            let place = world.pose(id).unwrap().translation();
            assert!(place.abs().max_element() < 4.0, "frame {frame}: {id} {place}");
        }
    }
    assert!(hits > 5000, "{hits}");
    assert!(still < 200, "bodies that did not move in a frame: {still} of 20000");
    let after = energy(&world);
    assert!((after / before - 1.0).abs() < 1e-9, "{before} {after}");
}

#[test]
fn the_same_bits_for_any_structure_any_number_of_threads_and_from_a_clone() {
    let run = |mut world: World, frames: usize| {
        for _ in 0..frames {
            world.advance(FRAME).unwrap();
            world.step();
        }
        world
    };
    let alone = run(crowd(3, Settings::default()), 60);
    let workers = Workers::new(2).unwrap();
    let shared = run(crowd(3, Settings { workers, ..Settings::default() }), 60);
    assert_eq!(state(&alone), state(&shared));
    for structure in Structure::ALL {
        let world = run(crowd(3, Settings { structure, ..Settings::default() }), 60);
        assert_eq!(state(&alone), state(&world), "{structure:?}");
    }
    let half = run(crowd(3, Settings::default()), 30);
    assert_ne!(state(&half), state(&alone));
    assert_eq!(state(&run(half.clone(), 30)), state(&alone));
}

#[test]
fn a_body_slides_along_a_floor() {
    let shapes = [ball(0.5), cuboid(1.0, 1.0, 1.0), torus(0.5)];
    for (i, shape) in shapes.into_iter().enumerate() {
        let mut random = Random::new(i as u64);
        let mut world = world();
        let tilt = Pose::new(random.rotation(), random.vector(5.0)).unwrap();
        let floor = Shape::cuboid(DVec3::new(100.0, 100.0, 1.0)).unwrap();
        world.insert(Body::fixed(floor, tilt)).unwrap();
        let start = tilt.transform_point(DVec3::new(-40.0, 0.0, 1.5));
        let pose = Pose::new(tilt.rotation(), start).unwrap();
        let along = tilt.transform_vector(DVec3::new(60.0, 0.0, -1.0));
        let body = Body::moving(shape, pose).with_velocity(Velocity::straight(along));
        let body = body.with_response(bounce(0.0)).with_continuous_motion();
        let id = world.insert(body).unwrap();
        for _ in 0..30 {
            world.advance(FRAME).unwrap();
        }
        let place = tilt.inverse_transform_point(world.pose(id).unwrap().translation());
        assert!((place.x - 20.0).abs() < 0.1, "shape {i}: {place}");
        assert!(first_overlap(&world, &[]).is_none(), "shape {i}");
    }
}

#[test]
fn what_a_body_touches_already_does_not_hold_it() {
    for shape in [cuboid(1.0, 1.0, 1.0), ball(0.5)] {
        let mut world = world();
        world.insert(Body::fixed(cuboid(1.0, 9.0, 9.0), Pose::IDENTITY)).unwrap();
        let body = Body::moving(shape, at(0.7, 0.0, 0.0)).with_velocity(straight(9.0, 0.0, 0.0));
        let id = world.insert(body.with_continuous_motion()).unwrap();
        assert!(world.advance(1.0).unwrap().hits.is_empty());
        assert_eq!(world.pose(id).unwrap(), at(9.7, 0.0, 0.0));
    }
}

#[test]
fn disabled_and_ignored_bodies_are_not_in_the_way() {
    for way in 0..3 {
        let mut world = world();
        let wall = world.insert(Body::fixed(cuboid(1.0, 9.0, 9.0), at(5.0, 0.0, 0.0))).unwrap();
        let body = Body::moving(ball(0.5), Pose::IDENTITY).with_velocity(straight(99.0, 0.0, 0.0));
        let id = world.insert(body.with_continuous_motion()).unwrap();
        world.step();
        match way {
            0 => world.disable(wall).unwrap(),
            1 => world.disable(id).unwrap(),
            _ => world.ignore_pair(id, wall).unwrap(),
        }
        world.advance(1.0).unwrap();
        assert_eq!(world.pose(id).unwrap(), at(99.0, 0.0, 0.0), "way {way}");
    }
}

#[test]
fn walls_that_were_just_moved_stop_bullets() {
    let mut world = world();
    let wall = world.insert(Body::moving(cuboid(0.01, 9.0, 9.0), at(-50.0, 0.0, 0.0))).unwrap();
    let body = Body::moving(ball(0.5), Pose::IDENTITY).with_velocity(straight(99.0, 0.0, 0.0));
    let id = world.insert(body.with_continuous_motion()).unwrap();
    world.step();
    world.set_pose(wall, at(50.0, 0.0, 0.0)).unwrap();
    assert_eq!(world.advance(1.0).unwrap().hits.len(), 1);
    assert!(world.pose(id).unwrap().translation().x < 49.5);
}
