//! Small scenes whose states are known by their hashes: the same on every machine, for any number
//! of threads, any structure, with and without vector instructions.
//!
//! Nothing here uses the system's library for sines: places and rotations are sums, products and
//! square roots, and the solids are those that are the same everywhere (see `jostle_geom::solids`).
//! A change of the hashes is a change of answers, or of what a world remembers; the second kind
//! comes with a change of the file format, or should.

mod common;

use common::Rng;
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{Model, Pose, Quality, Shape, ShapeKind, simd, solids};
use jostle_world::broad::Structure;
use jostle_world::{
    Body, BodyId, CollisionGroups, GravityTarget, InterestTarget, Policy, QueryKind, Response,
    Settings, Velocity, VelocityResponse, Workers, World,
};

/// Hashes after every tenth step.
type Hashes = [u64; 4];

const BOXES: Hashes =
    [0xe8ca_e8b0_d26e_9860, 0x0c07_3783_26a1_fcc8, 0x5201_7ec2_5c6d_3de7, 0x351e_5665_9f12_9cd5];
const TUMBLING: Hashes =
    [0x935c_b947_5e27_bc4f, 0x577d_e54e_54b4_e7d4, 0xdc13_dc1b_f69f_2ddf, 0xc102_579e_2852_79db];
const COMING_AND_GOING: Hashes =
    [0x55f5_ced4_0df0_786c, 0xaed2_33ef_61c0_dc4d, 0xb136_0973_e293_a90a, 0x23b2_487a_5c36_0652];
const BOUNCING: Hashes =
    [0x918a_a94f_cd08_3282, 0x33f7_36cf_5c4f_a4cd, 0x1cec_2ce1_a683_6aed, 0x12a0_e95d_0c88_e2ae];

/// A pose that turns and wanders with the steps, without trigonometry.
fn wandering(start: DVec3, velocity: DVec3, step: u32) -> Pose {
    let time = f64::from(step);
    let far = start + velocity * time;
    // Back and forth between -3 and 3.
    let fold = |x: f64| ((x + 3.0).rem_euclid(12.0) - 6.0).abs() - 3.0;
    let turn = DQuat::from_xyzw(velocity.x * time, velocity.y * time, velocity.z * time, 1.0);
    Pose::new(turn, DVec3::new(fold(far.x), fold(far.y), fold(far.z))).expect("finite numbers")
}

/// Bodies with a start and a velocity, all of which wander.
struct Wanderers(Vec<(BodyId, DVec3, DVec3)>);

impl Wanderers {
    fn insert(world: &mut World, rng: &mut Rng, shapes: &[Shape], count: usize) -> Wanderers {
        let mut insert = |k: usize| {
            let (start, velocity) = (rng.point(3.0), rng.point(0.05));
            let body =
                Body::deforming(shapes[k % shapes.len()].clone(), wandering(start, velocity, 0));
            let body = body.with_velocity(Velocity::straight(velocity));
            (world.insert(body).expect("a good body"), start, velocity)
        };
        Wanderers((0..count).map(&mut insert).collect())
    }

    fn go(&self, world: &mut World, step: u32) {
        for &(id, start, velocity) in &self.0 {
            if world.has(id) {
                world.set_pose(id, wandering(start, velocity, step)).expect("it moves");
            }
        }
    }
}

fn hashes(world: &mut World, mut change: impl FnMut(&mut World, u32)) -> Hashes {
    let mut hashes = [0; 4];
    let mut contacts = 0;
    for step in 1..=40 {
        change(world, step);
        world.step();
        contacts += world.contacts().len();
        if step % 10 == 0 {
            hashes[step as usize / 10 - 1] = world.hash();
        }
    }
    assert!(contacts > 100, "{contacts} contacts are too few");
    hashes
}

/// Boxes and balls among fixed boxes.
fn boxes(settings: Settings) -> Hashes {
    let mut world = World::new(settings);
    let mut rng = Rng(1);
    let plate = Shape::cuboid(DVec3::new(8.0, 8.0, 0.5)).expect("a size");
    for z in [-3.0, 3.0] {
        let place = Pose::from_translation(DVec3::Z * z).expect("a place");
        world.insert(Body::fixed(plate.clone(), place)).expect("a good body");
    }
    let shapes = [
        Shape::cuboid(DVec3::new(0.5, 1.0, 0.75)).expect("a size"),
        Shape::sphere(0.5).expect("a radius"),
        Shape::cuboid(DVec3::splat(0.25)).expect("a size"),
    ];
    let wanderers = Wanderers::insert(&mut world, &mut rng, &shapes, 60);
    hashes(&mut world, |world, step| wanderers.go(world, step))
}

fn meshes() -> [Shape; 3] {
    let ball = solids::sphere(0.7, 0.1).expect("a ball").into_solid().expect("it is closed");
    let capsule = solids::capsule(0.3, 1.0, 0.1).expect("a capsule");
    let flake = solids::tetra_flake(1).expect("a flake");
    [(ball, Quality::Fast), (capsule, Quality::Default), (flake, Quality::Tight)]
        .map(|(mesh, quality)| Shape::mesh(Model::build(mesh, quality)))
}

/// Meshes with all questions about where they touch; one of them is bent again and again.
fn tumbling(settings: Settings) -> Hashes {
    let mut world =
        World::new(Settings { policy: Policy::Everything(QueryKind::Witness), ..settings });
    let wanderers = Wanderers::insert(&mut world, &mut Rng(2), &meshes(), 16);
    let ids: Vec<BodyId> = wanderers.0.iter().map(|&(id, ..)| id).collect();
    let asks =
        [QueryKind::AllPairs, QueryKind::Distance, QueryKind::Clearance(0.5), QueryKind::Volume];
    for (k, pair) in ids.windows(2).enumerate() {
        world.set_interest(pair[0], pair[1], asks[k % 4]).expect("both are there");
    }
    hashes(&mut world, |world, step| {
        wanderers.go(world, step);
        if step % 3 == 0 {
            let ShapeKind::Mesh(model) = world.shape(ids[0]).expect("it is there").kind() else {
                panic!("it is a mesh");
            };
            let mesh = model.mesh();
            let mut vertices = vec![Vec3::ZERO; mesh.vertices().len()];
            for (k, v) in (0u32..).zip(mesh.vertices()) {
                vertices[mesh.caller_vertex(k) as usize] = *v + Vec3::new(v.y * v.z, 0.0, 0.02);
            }
            world.deform(ids[0], &vertices).expect("as many vertices");
        }
    })
}

/// Bodies that come, go, rest, join groups and ignore each other.
fn coming_and_going(settings: Settings) -> Hashes {
    let mut world = World::new(settings);
    let mut rng = Rng(3);
    let shapes = meshes();
    let group = world.new_group(None).expect("no parent");
    let inner = world.new_group(Some(group)).expect("its parent is there");
    let mut all = Wanderers::insert(&mut world, &mut rng, &shapes, 30);
    hashes(&mut world, |world, step| {
        all.go(world, step);
        let ids: Vec<BodyId> = world.ids().collect();
        let [a, b] = [0; 2].map(|_| ids[rng.below(ids.len())]);
        let done = match step % 8 {
            0 => world.remove(a).map(drop),
            1 => world.disable(a),
            2 => ids.iter().try_for_each(|&id| world.enable(id).map(drop)),
            3 => world.set_group(a, Some(inner)),
            4 if a != b => world.ignore_pair(a, b),
            5 => world.set_collision_groups(a, CollisionGroups { memberships: 1, filter: 3 }),
            6 => world.set_interest(InterestTarget::Group(group), b, QueryKind::Clearance(0.25)),
            _ => Ok(()),
        };
        done.expect("all of them are there");
        let new = Wanderers::insert(world, &mut rng, &shapes, 1);
        all.0.extend(new.0);
    })
}

/// Bodies that fly and fall by themselves between walls, bounce, stop and are set back.
fn bouncing(settings: Settings) -> Hashes {
    let mut world = World::new(settings);
    let mut rng = Rng(4);
    world.set_gravity(DVec3::NEG_Z).expect("finite numbers");
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for side in [-3.5, 3.5] {
            let wall = Shape::cuboid(DVec3::splat(8.0) - axis * 7.0).expect("a size");
            let place = Pose::from_translation(axis * side).expect("a place");
            world.insert(Body::fixed(wall, place)).expect("a good body");
        }
    }
    let [_, capsule, flake] = meshes();
    let shapes = [capsule, Shape::sphere(0.5).expect("a radius"), flake];
    for k in 0..15 {
        let velocity = Velocity { linear: rng.point(4.0), angular: rng.point(1.0) };
        let kinds = [
            VelocityResponse::Bounce { restitution: 0.75 },
            VelocityResponse::Bounce { restitution: 1.0 },
            VelocityResponse::Stop,
            VelocityResponse::Keep,
        ];
        let response = Response { velocity: kinds[k % 4], set_back: k % 3 > 0 };
        let body = Body::moving(shapes[k % 3].clone(), rng.pose(2.0)).with_velocity(velocity);
        let body = body.with_response(response);
        let body = if k % 2 == 0 { body.with_continuous_motion() } else { body };
        let body =
            if k % 5 == 0 { body.with_gravity(GravityTarget::onto_everything()) } else { body };
        world.insert(body).expect("a good body");
    }
    hashes(&mut world, |world, _| {
        world.advance(0.0625).expect("a time");
    })
}

/// All scenes, as they are written above.
fn all(structure: Structure, threads: usize) -> [[String; 4]; 4] {
    let scenes: [fn(Settings) -> Hashes; 4] = [boxes, tumbling, coming_and_going, bouncing];
    scenes.map(|scene| {
        let workers = Workers::new(threads).expect("threads");
        written(scene(Settings { structure, workers, ..Settings::default() }))
    })
}

fn written(hashes: Hashes) -> [String; 4] {
    hashes.map(|hash| format!("{hash:#018x}"))
}

#[test]
fn the_hashes_are_those_of_every_other_machine() {
    let expected = [BOXES, TUMBLING, COMING_AND_GOING, BOUNCING].map(written);
    for scalar in [false, true] {
        // One test for all, because this is one switch for the whole process.
        simd::use_scalar_only(scalar);
        for structure in Structure::ALL {
            for threads in 1..=3 {
                let case = format!("{structure:?}, {threads} threads, scalar: {scalar}");
                assert_eq!(all(structure, threads), expected, "{case}");
            }
        }
    }
}
