//! Contacts with points, normals, and gaps or depths: those of each pair asked by itself, and yes
//! and no as without them.

mod common;

use common::Rng;
use glam::{DVec3, Vec3};
use jostle_geom::solids::{cuboid, sphere};
use jostle_geom::{Mesh, Model, Pair, Pose, Quality, Shape, Spacing};
use jostle_world::{
    Body, BodyId, Contact, ContactData, Policy, QueryKind, Response, Settings, Velocity,
    VelocityResponse, Workers, World,
};
use std::sync::Arc;

const REACH: f64 = 0.125;

fn mesh(mesh: Mesh) -> Shape {
    Shape::mesh(Arc::new(Model::build(mesh, Quality::Default)))
}

/// Solids, a surface, a sphere and a cuboid.
fn shapes() -> Vec<Shape> {
    let sheet = [Vec3::new(-1.0, -1.0, 0.0), Vec3::X, Vec3::new(-0.5, 1.0, 0.25)];
    vec![
        mesh(cuboid(DVec3::ONE).unwrap().into_solid().unwrap()),
        mesh(sphere(0.6, 0.05).unwrap().into_solid().unwrap()),
        mesh(Mesh::from_triangles(sheet.to_vec(), vec![[0, 1, 2]]).unwrap()),
        Shape::sphere(0.5).unwrap(),
        Shape::cuboid(DVec3::new(1.0, 0.5, 2.0)).unwrap(),
    ]
}

fn world_of(kind: QueryKind, threads: usize, bodies: usize) -> (World, Vec<BodyId>) {
    let workers = Workers::new(threads).unwrap();
    let policy = Policy::Everything(kind);
    let mut world = World::new(Settings { policy, workers, ..Settings::default() });
    let (shapes, mut rng) = (shapes(), Rng(7));
    let ids = (0..bodies).map(|i| {
        let pose = Pose::from_translation(rng.point(2.0)).unwrap();
        world.insert(Body::moving(shapes[i % shapes.len()].clone(), pose)).unwrap()
    });
    let ids = ids.collect();
    (world, ids)
}

/// Moves all bodies, the same way in every world.
fn shake(world: &mut World, ids: &[BodyId], seed: u64) {
    let mut rng = Rng(seed);
    for &id in ids {
        let from = world.pose(id).unwrap().translation();
        let pose = Pose::from_translation(from + rng.point(0.3)).unwrap();
        world.set_pose(id, pose).unwrap();
    }
}

#[test]
fn points_are_those_of_each_pair_and_yes_and_no_those_of_clearance() {
    let (mut with, ids) = world_of(QueryKind::Contacts(REACH), 1, 24);
    let (mut without, _) = world_of(QueryKind::Clearance(REACH), 1, 24);
    let mut seen = [0; 4];
    for seed in 0..6 {
        shake(&mut with, &ids, seed);
        shake(&mut without, &ids, seed);
        let [one, other] = [with.step(), without.step()];
        assert_eq!(one.events, other.events);
        assert_eq!(one.counts, other.counts);
        assert_eq!(with.contacts().len(), without.contacts().len());
        for (contact, plain) in with.contacts().iter().zip(without.contacts()) {
            let Contact { a, b, data, certainty } = contact;
            assert_eq!((a, b, certainty), (&plain.a, &plain.b, &plain.certainty));
            assert_eq!(contact.is_touching(), plain.is_touching(), "{contact:?}");
            let shape = |id| with.shape(id).unwrap();
            let (pose_a, pose_b) = (with.pose(*a).unwrap(), with.pose(*b).unwrap());
            let alone = Pair::new(shape(*a), &pose_a, shape(*b), &pose_b).contacts(REACH);
            match data {
                ContactData::Points(found) => {
                    assert_eq!(alone.as_ref().ok(), Some(&**found));
                    let deep = matches!(found.points[0].spacing, Spacing::Depth(_));
                    seen[usize::from(deep)] += 1;
                }
                ContactData::Touching => {
                    assert!(alone.is_err(), "{contact:?}");
                    seen[2] += 1;
                }
                other => panic!("{other:?}: {alone:?}"),
            }
        }
        seen[3] += usize::from(one.events.is_empty());
    }
    assert!(seen[..3].iter().all(|&count| count > 3), "{seen:?}");
}

#[test]
fn points_are_the_same_for_any_number_of_threads() {
    let run = |threads: usize| {
        let (mut world, ids) = world_of(QueryKind::Contacts(REACH), threads, 40);
        let step = |seed| {
            shake(&mut world, &ids, seed);
            world.step();
            (world.contacts().to_vec(), world.hash())
        };
        (0..3).map(step).collect::<Vec<_>>()
    };
    let one = run(1);
    assert!(one.iter().any(|(contacts, _)| contacts.len() > 16));
    for threads in [2, 3, 8] {
        assert_eq!(run(threads), one, "{threads} threads");
    }
}

#[test]
fn only_pairs_with_the_interest_have_points() {
    let settings = Settings::default();
    let mut world = World::new(settings);
    let cube = Shape::cuboid(DVec3::ONE).unwrap();
    let insert = |world: &mut World, x: f64| {
        let pose = Pose::from_translation(DVec3::X * x).unwrap();
        world.insert(Body::moving(cube.clone(), pose)).unwrap()
    };
    let ids = [0.0, 1.0, 2.125].map(|x| insert(&mut world, x));
    world.set_interest(ids[1], ids[2], QueryKind::Contacts(0.25)).unwrap();
    world.step();
    assert_eq!(world.contact(ids[0], ids[1]).map(|c| &c.data), Some(&ContactData::Touching));
    let Some(ContactData::Points(found)) = world.contact(ids[1], ids[2]).map(|c| &c.data) else {
        panic!("{:?}", world.contacts());
    };
    assert_eq!(found.points.len(), 4);
    assert!(found.points.iter().all(|c| c.spacing == Spacing::Gap(0.125) && c.normal == -DVec3::X));
    assert!(!world.is_touching(ids[1], ids[2]));
    assert!(world.set_interest(ids[0], ids[2], QueryKind::Contacts(-1.0)).is_err());
}

#[test]
fn a_body_that_starts_in_a_wall_bounces_along_the_normal_of_its_deepest_contact() {
    // The witness of the overlap may lie on any face of the wall; its way out is the front.
    let policy = Policy::Everything(QueryKind::Contacts(0.0));
    let mut world = World::new(Settings { policy, ..Settings::default() });
    let wall = cuboid(DVec3::new(2.0, 20.0, 20.0)).unwrap().into_solid().unwrap();
    world.insert(Body::fixed(mesh(wall), Pose::IDENTITY)).unwrap();
    let bounce = VelocityResponse::Bounce { restitution: 1.0 };
    let cube = mesh(cuboid(DVec3::ONE).unwrap().into_solid().unwrap());
    let at = Pose::from_translation(DVec3::new(1.25, 9.75, 0.3)).unwrap();
    let body = Body::moving(cube, at)
        .with_velocity(Velocity { linear: DVec3::new(-1.0, 0.5, 0.25), angular: DVec3::ZERO })
        .with_response(Response { velocity: bounce, set_back: false });
    let id = world.insert(body).unwrap();
    world.step();
    let velocity = world.velocity(id).unwrap().linear;
    assert!((velocity - DVec3::new(1.0, 0.5, 0.25)).length() < 1e-9, "{velocity}");
}
