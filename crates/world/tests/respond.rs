//! What bodies do about what they touch: velocities, the way back, floors.

mod moving;

use glam::{DQuat, DVec3};
use jostle_geom::solids::BumpyTorus;
use jostle_geom::{Model, Pose, Quality, Shape};
use jostle_world::{
    Body, BodyId, CollisionGroups, GravityTarget, Policy, QueryKind, Response, Settings, Stopwatch,
    Velocity, VelocityResponse, World,
};
use moving::{Random, add_walls, at, ball, bounce, cuboid, energy, first_overlap, straight, world};
use std::time::Duration;

const FRAME: f64 = 1.0 / 30.0;

fn keep(velocity: VelocityResponse) -> Response {
    Response { velocity, set_back: false }
}

/// A wall with its face at x = 5.
fn wall() -> Body {
    Body::fixed(cuboid(2.0, 20.0, 20.0), at(6.0, 0.0, 0.0))
}

/// A cube whose face is at x = 4.75; it flies into the wall in half a second.
fn flying_cube(response: Response) -> Body {
    let cube = Body::moving(cuboid(1.0, 1.0, 1.0), at(4.25, 0.5, 0.25));
    cube.with_velocity(straight(1.5, 0.7, -0.1)).with_response(response)
}

fn frame(world: &mut World, seconds: f64) {
    world.advance(seconds).unwrap();
    world.step();
}

#[test]
fn a_wall_mirrors_the_velocity_exactly() {
    for (restitution, left) in [(1.0, -1.5), (0.5, -0.75), (0.0, 0.0)] {
        for set_back in [true, false] {
            let mut world = world();
            world.insert(wall()).unwrap();
            let velocity = VelocityResponse::Bounce { restitution };
            let cube = world.insert(flying_cube(Response { velocity, set_back })).unwrap();
            world.step();
            frame(&mut world, 0.5);
            assert_eq!(world.contacts().len(), 1);
            assert_eq!(world.report().counts.responses, 1);
            assert_eq!(world.velocity(cube).unwrap(), straight(left, 0.7, -0.1));
        }
    }
}

#[test]
fn walls_along_all_axes_mirror_exactly() {
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            for shape in [cuboid(1.0, 1.0, 1.0), ball(0.5)] {
                let mut world = world();
                add_walls(&mut world, 4.0);
                let mut linear = DVec3::new(0.3, -0.2, 0.1);
                linear[axis] = sign * 40.0;
                let body = Body::moving(shape, at(0.1, 0.2, 0.3));
                let body = body.with_velocity(Velocity::straight(linear));
                let id = world.insert(body.with_response(bounce(1.0))).unwrap();
                world.step();
                frame(&mut world, 0.05);
                linear[axis] = -linear[axis];
                assert_eq!(world.velocity(id).unwrap().linear, linear);
            }
        }
    }
}

#[test]
fn stop_and_keep() {
    let responses = [
        (VelocityResponse::Stop, Velocity::default()),
        (VelocityResponse::Keep, straight(1.5, 0.7, -0.1)),
    ];
    for (velocity, left) in responses {
        let mut world = world();
        world.insert(wall()).unwrap();
        let cube = world.insert(flying_cube(keep(velocity))).unwrap();
        world.step();
        frame(&mut world, 0.5);
        assert_eq!(world.velocity(cube).unwrap(), left);
        assert_eq!(world.pose(cube).unwrap(), at(5.0, 0.85, 0.2), "not set back");
    }
}

#[test]
fn set_back_is_to_the_last_free_pose_with_its_rotation() {
    let mut world = world();
    world.insert(wall()).unwrap();
    let cube = world.insert(flying_cube(bounce(1.0))).unwrap();
    let velocity = Velocity { linear: DVec3::X * 0.5, angular: DVec3::new(0.1, 0.2, 0.7) };
    world.set_velocity(cube, velocity).unwrap();
    world.step();
    let mut free = world.pose(cube).unwrap();
    for _ in 0..100 {
        frame(&mut world, FRAME);
        if !world.contacts().is_empty() {
            break;
        }
        free = world.pose(cube).unwrap();
        assert_eq!(world.velocity(cube).unwrap(), velocity);
    }
    assert_eq!(world.contacts().len(), 1);
    assert_eq!(world.pose(cube).unwrap(), free);
    assert_ne!(free.rotation(), DQuat::IDENTITY);
    assert_eq!(first_overlap(&world, &[]), None);
    assert_eq!(world.velocity(cube).unwrap().linear, DVec3::X * -0.5);
    // It is looked at again, and free.
    let report = world.step();
    assert_eq!((report.counts.changed, report.events.len()), (1, 1));
    assert!(world.contacts().is_empty());
}

#[test]
fn who_is_moved_into_a_wall_by_hand_goes_back() {
    let mut world = world();
    world.insert(wall()).unwrap();
    let cube = world.insert(flying_cube(bounce(1.0))).unwrap();
    world.set_velocity(cube, Velocity::default()).unwrap();
    world.step();
    world.set_pose(cube, at(6.0, 0.0, 0.0)).unwrap();
    world.step();
    assert_eq!(world.pose(cube).unwrap(), at(4.25, 0.5, 0.25));
    assert_eq!(world.velocity(cube).unwrap(), Velocity::default());
}

#[test]
fn going_back_is_not_done_where_it_helps_nobody() {
    // A slab without response comes to the cube: it cannot go back out of it, so it is pushed.
    let mut world = world();
    let slab = Body::moving(cuboid(1.0, 9.0, 9.0), at(-3.0, 0.0, 0.0));
    world.insert(slab.with_velocity(straight(2.0, 0.0, 0.0))).unwrap();
    let cube = Body::moving(cuboid(1.0, 1.0, 1.0), Pose::IDENTITY).with_response(bounce(1.0));
    let cube = world.insert(cube).unwrap();
    world.step();
    frame(&mut world, 1.25);
    assert_eq!(world.contacts().len(), 1);
    assert_eq!(world.velocity(cube).unwrap(), straight(4.0, 0.0, 0.0));
    for _ in 0..8 {
        frame(&mut world, 0.0625);
    }
    assert!(world.contacts().is_empty());
    assert_eq!(world.pose(cube).unwrap(), at(2.0, 0.0, 0.0));
}

#[test]
fn a_ring_around_a_rod_does_not_get_stuck() {
    // The rod is nearer to the side of the ring that leaves it; the other side hits it.
    let mut world = world();
    world.insert(Body::fixed(cuboid(0.1, 0.1, 4.0), at(0.0, -0.2, 0.0))).unwrap();
    let ring = BumpyTorus::plain(0.6, 0.1, [24, 8]).mesh().unwrap();
    let ring = Shape::mesh(Model::build(ring, Quality::Default));
    let ring = Body::moving(ring, Pose::IDENTITY).with_velocity(straight(0.0, -7.0, 0.0));
    let ring = world.insert(ring.with_response(bounce(1.0))).unwrap();
    world.step();
    assert!(world.contacts().is_empty());
    frame(&mut world, 0.1);
    assert_eq!(world.contacts().len(), 1);
    assert_eq!(world.pose(ring).unwrap(), Pose::IDENTITY);
    assert_eq!(world.velocity(ring).unwrap(), straight(0.0, 7.0, 0.0));
}

#[test]
fn two_bodies_share_a_bounce() {
    for shape in [cuboid(1.0, 1.0, 1.0), ball(0.5)] {
        let mut world = world();
        let mut add = |x: f64, velocity: Velocity, restitution: f64| {
            let body = Body::moving(shape.clone(), at(x, 0.0, 0.0)).with_velocity(velocity);
            world.insert(body.with_response(bounce(restitution))).unwrap()
        };
        let a = add(-1.0, straight(2.0, 1.0, 0.0), 1.0);
        let b = add(1.0, straight(-1.0, 0.0, 1.0), 1.0);
        let c = add(11.0, straight(2.0, 0.0, 0.0), 1.0);
        let d = add(13.0, straight(-2.0, 0.0, 0.0), 0.5);
        world.step();
        frame(&mut world, 0.5);
        assert_eq!(world.contacts().len(), 2);
        let found = [a, b, c, d].map(|id| world.velocity(id).unwrap());
        let swapped = [straight(-1.0, 1.0, 0.0), straight(2.0, 0.0, 1.0)];
        let slower = [straight(-1.0, 0.0, 0.0), straight(1.0, 0.0, 0.0)];
        assert_eq!(found, [swapped, slower].as_flattened());
        assert_eq!(first_overlap(&world, &[]), None);
    }
}

#[test]
fn who_does_not_respond_is_a_wall_that_moves() {
    let mut world = world();
    let truck = Body::moving(cuboid(1.0, 1.0, 1.0), at(-1.0, 0.0, 0.0));
    let truck = world.insert(truck.with_velocity(straight(2.0, 0.0, 0.0))).unwrap();
    let fly = Body::moving(cuboid(1.0, 1.0, 1.0), at(1.0, 0.0, 0.0));
    let fly = fly.with_velocity(straight(-1.0, 0.5, 0.0)).with_response(bounce(1.0));
    let fly = world.insert(fly).unwrap();
    world.step();
    frame(&mut world, 0.5);
    assert_eq!(world.velocity(fly).unwrap(), straight(5.0, 0.5, 0.0));
    assert_eq!(world.velocity(truck).unwrap(), straight(2.0, 0.0, 0.0));
}

#[test]
fn several_walls_at_once() {
    // Four tiles in one plane throw a cube back as one wall does; a corner turns it round.
    let mut world = world();
    for (y, z) in [(-5.0, -5.0), (5.0, -5.0), (-5.0, 5.0), (5.0, 5.0)] {
        world.insert(Body::fixed(cuboid(2.0, 10.0, 10.0), at(6.0, y, z))).unwrap();
    }
    let cube = Body::moving(cuboid(1.0, 1.0, 1.0), at(4.25, 0.1, 0.1)).with_response(bounce(1.0));
    let cube = world.insert(cube.with_velocity(straight(1.5, 0.0, 0.0))).unwrap();
    world.step();
    frame(&mut world, 0.5);
    assert_eq!(world.contacts().len(), 4);
    assert_eq!(world.velocity(cube).unwrap(), straight(-1.5, 0.0, 0.0));

    let mut world = moving::world();
    add_walls(&mut world, 4.0);
    let cube = Body::moving(cuboid(1.0, 1.0, 1.0), at(1.4, 1.3, 1.2)).with_response(bounce(0.5));
    let cube = world.insert(cube.with_velocity(straight(2.0, 3.0, 4.0))).unwrap();
    world.step();
    frame(&mut world, 0.1);
    assert_eq!(world.contacts().len(), 3);
    assert_eq!(world.velocity(cube).unwrap(), straight(-1.0, -1.5, -2.0));
}

#[test]
fn a_spin_that_hits_turns_round() {
    let mut world = world();
    world.insert(wall()).unwrap();
    let stick = Body::moving(cuboid(0.2, 4.0, 0.2), at(4.0, 0.0, 0.0));
    let velocity = Velocity { linear: DVec3::ZERO, angular: DVec3::Z * -1.0 };
    let stick = stick.with_velocity(velocity).with_response(bounce(0.5));
    let stick = world.insert(stick).unwrap();
    world.step();
    for _ in 0..60 {
        frame(&mut world, FRAME);
        assert_eq!(first_overlap(&world, &[]), None);
    }
    assert_eq!(world.velocity(stick).unwrap().angular, DVec3::Z * 0.5);
}

#[test]
fn what_is_only_near_or_not_asked_about_is_not_responded_to() {
    let ask = |ask: Option<QueryKind>| {
        let policy = ask.map_or(Policy::InterestsOnly, Policy::Everything);
        let mut world = World::new(Settings { policy, ..Settings::default() });
        world.insert(wall()).unwrap();
        let cube = world.insert(flying_cube(bounce(1.0))).unwrap();
        world.step();
        frame(&mut world, 0.5);
        world.velocity(cube).unwrap().linear.x
    };
    assert_eq!(ask(None), 1.5);
    assert_eq!(ask(Some(QueryKind::Volume)), 1.5);
    for yes in [
        QueryKind::Touch,
        QueryKind::Witness,
        QueryKind::AllPairs,
        QueryKind::Clearance(1.0),
        QueryKind::Contacts(1.0),
    ] {
        assert_eq!(ask(Some(yes)), -1.5, "{yes:?}");
    }
    let mut world = world();
    world
        .insert(wall().with_collision_groups(CollisionGroups { memberships: 1, filter: 1 }))
        .unwrap();
    let layers = CollisionGroups { memberships: 2, filter: 2 };
    let cube = world.insert(flying_cube(bounce(1.0)).with_collision_groups(layers)).unwrap();
    frame(&mut world, 0.5);
    assert_eq!(world.velocity(cube).unwrap().linear.x, 1.5);
}

#[test]
fn interests_of_a_responder_in_the_distance_of_a_wall() {
    let policy = Policy::InterestsOnly;
    let mut world = World::new(Settings { policy, ..Settings::default() });
    let wall = world.insert(wall()).unwrap();
    let cube = world.insert(flying_cube(bounce(1.0))).unwrap();
    world.set_interest(wall, cube, QueryKind::Distance).unwrap();
    world.step();
    frame(&mut world, 0.5);
    assert_eq!(world.velocity(cube).unwrap().linear.x, -1.5);
}

#[test]
fn without_time_to_look_only_real_contacts_are_responded_to() {
    for (x, touches) in [(1.8, false), (1.2, true)] {
        let stopwatch: Stopwatch = || Duration::from_secs(1);
        let mut world = World::new(Settings { stopwatch: Some(stopwatch), ..Settings::default() });
        world.insert(Body::fixed(ball(1.0), Pose::IDENTITY)).unwrap();
        let body = Body::moving(ball(1.0), at(x + 1.0, x, 0.0)).with_response(bounce(1.0));
        let id = world.insert(body.with_velocity(straight(-1.0, 0.0, 0.0))).unwrap();
        world.step();
        world.advance(1.0).unwrap();
        let report = world.step_within(Duration::ZERO).unwrap();
        assert_eq!(report.limited.conservative.len(), 1);
        assert_eq!(report.counts.responses, usize::from(touches));
        assert_eq!(world.velocity(id).unwrap() != straight(-1.0, 0.0, 0.0), touches);
    }
}

/// Two floors, with their faces at z = 0 and z = −5.
fn floors(world: &mut World) -> [BodyId; 2] {
    [-1.0, -6.0].map(|z| world.insert(Body::fixed(cuboid(9.0, 9.0, 2.0), at(0.0, 0.0, z))).unwrap())
}

fn fall_for(world: &mut World, frames: usize) {
    world.set_gravity(DVec3::Z * -9.81).unwrap();
    world.step();
    for _ in 0..frames {
        frame(world, 0.01);
    }
}

#[test]
fn bodies_fall_only_if_asked_to_and_rest_on_floors() {
    for continuous in [false, true] {
        for shape in [cuboid(1.0, 1.0, 1.0), ball(0.5)] {
            let mut world = world();
            floors(&mut world);
            let body = |x: f64| {
                let body = Body::moving(shape.clone(), at(x, 0.0, 2.0));
                if continuous { body.with_continuous_motion() } else { body }
            };
            let everything = GravityTarget::onto_everything();
            let falls = world.insert(body(-2.0).with_gravity(everything)).unwrap();
            let floats = world.insert(body(2.0)).unwrap();
            fall_for(&mut world, 300);
            let rest = world.pose(falls).unwrap().translation();
            let slack = if continuous { 1e-5 } else { 1e-3 };
            assert!((0.5..0.5 + slack).contains(&rest.z), "{rest}");
            assert_eq!((rest.x, rest.y), (-2.0, 0.0));
            assert!(world.velocity(falls).unwrap().linear.length() < 0.1);
            assert_eq!(world.pose(floats).unwrap(), at(2.0, 0.0, 2.0));
        }
    }
}

#[test]
fn who_falls_passes_what_is_not_its_floor() {
    for continuous in [false, true] {
        let mut world = world();
        let [upper, lower] = floors(&mut world);
        let group = world.new_group(None).unwrap();
        world.set_group(lower, Some(group)).unwrap();
        let mut add = |x: f64, fall: GravityTarget| {
            let body = Body::moving(ball(0.4), at(x, 0.0, 2.0)).with_gravity(fall);
            let body = if continuous { body.with_continuous_motion() } else { body };
            world.insert(body).unwrap()
        };
        let on_upper = add(-3.0, GravityTarget::onto([upper]));
        let on_lower = add(-1.0, GravityTarget::onto([lower]));
        let in_group = add(1.0, GravityTarget::onto([group]));
        let on_any = add(3.0, GravityTarget::default());
        fall_for(&mut world, 300);
        let height = |id: BodyId| world.pose(id).unwrap().translation().z;
        for (id, floor) in [(on_upper, 0.0), (on_lower, -5.0), (in_group, -5.0), (on_any, 0.0)] {
            let above = height(id) - floor - 0.4;
            assert!((0.0..1e-3).contains(&above), "{continuous} {id}: {above}");
        }
        // A floor that goes no longer holds.
        world.remove(upper).unwrap();
        fall_for(&mut world, 300);
        let gone = world.pose(on_upper).unwrap().translation().z;
        assert!(gone < -30.0, "{gone}");
        assert!((world.pose(on_any).unwrap().translation().z + 4.6).abs() < 1e-2);
    }
}

#[test]
fn a_falling_ball_bounces_and_loses_height() {
    for continuous in [false, true] {
        let mut world = world();
        floors(&mut world);
        let body = Body::moving(ball(0.5), at(0.0, 0.0, 2.5)).with_response(bounce(0.5));
        let body = body.with_gravity(GravityTarget::onto_everything());
        let body = if continuous { body.with_continuous_motion() } else { body };
        let id = world.insert(body).unwrap();
        world.set_gravity(DVec3::Z * -9.81).unwrap();
        let mut tops = Vec::new();
        let mut last = world.velocity(id).unwrap().linear.z;
        for _ in 0..400 {
            frame(&mut world, 0.005);
            let now = world.velocity(id).unwrap().linear.z;
            if last > 0.0 && now <= 0.0 {
                tops.push(world.pose(id).unwrap().translation().z - 0.5);
            }
            last = now;
        }
        // Half of the speed is a quarter of the height: 2, 0.5, 0.125, ...
        let right = [0.5, 0.125, 0.03125];
        let slack = if continuous { 0.02 } else { 0.1 };
        for (found, right) in tops.iter().zip(right) {
            assert!((found - right).abs() < slack, "{continuous}: {tops:?}");
        }
        assert!(tops.len() >= 3, "{tops:?}");
    }
}

/// A crowd of all kinds with spins, in steps that are large for its size.
#[test]
fn bodies_that_are_set_back_never_overlap_and_keep_moving() {
    for seed in 0..3 {
        let mut random = Random::new(seed);
        let mut world = world();
        add_walls(&mut world, 7.0);
        let walls: Vec<BodyId> = world.ids().collect();
        let torus = BumpyTorus::plain(0.5, 0.2, [16, 8]).mesh().unwrap();
        let torus = Shape::mesh(Model::build(torus, Quality::Default));
        for i in 0..27 {
            let place = DVec3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9));
            let shape = [cuboid(1.2, 1.0, 0.6), ball(0.6), torus.clone()][random.index(3)].clone();
            let pose = Pose::new(random.rotation(), (place - 1.0) * 2.1).unwrap();
            let velocity = Velocity { linear: random.vector(8.0), angular: random.vector(6.0) };
            let body = Body::moving(shape, pose).with_velocity(velocity);
            world.insert(body.with_response(bounce(1.0))).unwrap();
        }
        assert_eq!(first_overlap(&world, &walls), None);
        let before = energy(&world);
        let mut contacts = 0;
        let mut places: Vec<Pose> = Vec::new();
        for step in 0..600 {
            frame(&mut world, FRAME);
            contacts += world.contacts().len();
            assert_eq!(first_overlap(&world, &walls), None, "seed {seed} step {step}");
            if step == 400 {
                places = world.ids().map(|id| world.pose(id).unwrap()).collect();
            }
        }
        assert!(contacts > 1000, "seed {seed}: {contacts}");
        let after = energy(&world);
        assert!((after / before - 1.0).abs() < 1e-9, "seed {seed}: {before} {after}");
        for (id, place) in world.ids().zip(places).skip(6) {
            let way = world.pose(id).unwrap().translation() - place.translation();
            assert!(way.length() > 0.01, "seed {seed}: {id} is stuck");
        }
    }
}

#[test]
fn a_body_without_a_response_does_not_respond() {
    let mut world = world();
    world.insert(wall()).unwrap();
    let cube = world.insert(flying_cube(bounce(1.0))).unwrap();
    world.set_response(cube, None).unwrap();
    world.step();
    frame(&mut world, 0.25);
    assert_eq!((world.contacts().len(), world.report().counts.responses), (1, 0));
    assert_eq!(world.velocity(cube).unwrap(), straight(1.5, 0.7, -0.1));
    // With a response set while it touches, it has no better place to go to, and only turns.
    world.set_response(cube, Some(bounce(1.0))).unwrap();
    frame(&mut world, 0.1);
    assert_eq!(world.velocity(cube).unwrap(), straight(-1.5, 0.7, -0.1));
    frame(&mut world, 0.5);
    assert!(world.contacts().is_empty());
}
