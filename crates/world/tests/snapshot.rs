//! Worlds that are saved and loaded, or cloned, go on like the original, to the bit.

mod common;
mod drive;

use drive::{Driver, cube, lived, observe, runtime, settings, sharing};
use glam::{DVec3, Vec3};
use jostle_geom::{Model, Pose, Quality, Shape, ShapeKind, solids};
use jostle_world::broad::Structure;
use jostle_world::{
    Body, BodyId, CollisionGroups, LoadWorldError, Policy, QueryKind, Response, Runtime, Settings,
    Velocity, VelocityResponse, World,
};
use std::sync::Arc;

/// The original, and copies of it that were made by saving or cloning at random moments.
fn go_on(structure: Structure, policy: Policy, seed: u64) -> usize {
    let what = format!("{structure:?}, {policy:?}, seed {seed}");
    let mut driver = Driver::new(seed);
    let mut worlds = vec![World::new(Settings { structure, policy, ..settings(1) })];
    driver.fill(&mut worlds, 45);
    let mut contacts = 0;
    for step in 0..60 {
        driver.change(&mut worlds);
        // Before and after steps, so that changes wait for the next one or do not.
        if driver.rng.below(6) == 0 {
            let from = driver.rng.below(worlds.len());
            let copy = if driver.rng.below(3) == 0 {
                worlds[from].clone()
            } else {
                let saved = worlds[from].save();
                let threads = 1 + driver.rng.below(3);
                let loaded = World::load(&saved, runtime(threads)).expect(&what);
                assert!(loaded.save() == saved, "{what}, step {step}");
                loaded
            };
            assert_eq!(sharing(&copy), sharing(&worlds[from]), "{what}, step {step}");
            worlds.truncate(3);
            worlds.push(copy);
        }
        if driver.rng.below(5) > 0 {
            driver.step(&mut worlds);
        }
        let expected = observe(&worlds[0]);
        for (number, world) in worlds.iter().enumerate().skip(1) {
            assert_eq!(observe(world), expected, "{what}, step {step}, world {number}");
        }
        contacts += worlds[0].contacts().len();
    }
    assert!(driver.refused.iter().all(|&n| n > 20), "{what}: {:?}", driver.refused);
    contacts
}

#[test]
fn loaded_and_cloned_worlds_go_on_like_the_original() {
    for (seed, structure) in (1..).zip(Structure::ALL) {
        let contacts = go_on(structure, Policy::Everything(QueryKind::Touch), seed);
        assert!(contacts > 500, "{structure:?}: {contacts} contacts");
    }
}

#[test]
fn so_do_worlds_with_other_questions() {
    let everything = [
        QueryKind::Witness,
        QueryKind::AllPairs,
        QueryKind::Clearance(0.3),
        QueryKind::Contacts(0.3),
    ]
    .map(Policy::Everything);
    for (seed, policy) in (11..).zip(everything.into_iter().chain([Policy::InterestsOnly])) {
        let contacts = go_on(Structure::Auto, policy, seed);
        assert!(contacts > 10, "{policy:?}: {contacts} contacts");
    }
}

#[test]
fn any_structure_and_any_number_of_threads_have_the_same_hash() {
    for seed in 21..24 {
        let mut driver = Driver::new(seed);
        let world =
            |(number, structure)| World::new(Settings { structure, ..settings(1 + number % 3) });
        let mut worlds: Vec<World> = Structure::ALL.into_iter().enumerate().map(world).collect();
        driver.fill(&mut worlds, 45);
        for step in 0..40 {
            driver.change(&mut worlds);
            driver.step(&mut worlds);
            let expected = observe(&worlds[0]);
            for world in &worlds[1..] {
                let structure = world.settings().structure;
                assert_eq!(observe(world), expected, "{structure:?}, seed {seed}, step {step}");
            }
        }
    }
}

#[test]
fn going_back_to_a_clone_gives_the_same_again() {
    let mut worlds = [lived(31, 40, 20)];
    let before = worlds[0].clone();
    let mut seen = Vec::new();
    for round in 0..2 {
        worlds[0] = before.clone();
        let mut driver = Driver::new(32);
        let hashes: Vec<u64> = (0..10)
            .map(|_| {
                driver.change(&mut worlds);
                driver.step(&mut worlds);
                worlds[0].hash()
            })
            .collect();
        assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]));
        seen.push(hashes);
        assert_eq!(sharing(&before), sharing(&before.clone()), "round {round}");
    }
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn a_clone_shares_meshes_until_they_change() {
    let mut world = World::new(Settings::default());
    let mesh = solids::sphere(1.0, 0.1).expect("a ball");
    let model = Arc::new(Model::build(mesh, Quality::Fast));
    let ids = [0, 1].map(|_| {
        let shape = Shape::mesh(Arc::clone(&model));
        world.insert(Body::deforming(shape, Pose::IDENTITY)).expect("a good body")
    });
    let mesh_of = |world: &World, k: usize| match world.shape(ids[k]).expect("it is there").kind() {
        ShapeKind::Mesh(model) => Arc::clone(model),
        _ => panic!("it was a mesh"),
    };
    let mut copy = world.clone();
    assert!(Arc::ptr_eq(&mesh_of(&copy, 0), &model) && Arc::ptr_eq(&mesh_of(&copy, 1), &model));
    let moved: Vec<Vec3> = vec![Vec3::ZERO; model.mesh().vertices().len()];
    copy.deform(ids[0], &moved).expect("as many vertices as before");
    assert!(!Arc::ptr_eq(&mesh_of(&copy, 0), &model) && Arc::ptr_eq(&mesh_of(&copy, 1), &model));
    assert!(Arc::ptr_eq(&mesh_of(&world, 0), &model));
    // Two that look the same and are not shared stay two.
    copy.deform(ids[1], &moved).expect("as many vertices as before");
    let loaded = World::load(&copy.save(), Runtime::default()).expect("it was saved");
    assert_eq!(sharing(&loaded), [Some(0), Some(1)]);
    // The hash does not see whether they are shared.
    let shared = mesh_of(&copy, 0);
    copy.set_shape(ids[0], Shape::mesh(Arc::clone(&shared))).expect("it is there");
    copy.step();
    let mut twin = copy.clone();
    copy.set_shape(ids[1], Shape::mesh(Arc::clone(&shared))).expect("it is there");
    twin.set_shape(ids[1], Shape::mesh(shared.as_ref().clone())).expect("it is there");
    assert_ne!(sharing(&copy), sharing(&twin));
    assert_eq!(copy.hash(), twin.hash());
}

#[test]
fn shared_meshes_are_written_once() {
    let mut world = World::new(Settings::default());
    let mesh = solids::sphere(1.0, 0.002).expect("a ball");
    let model = Arc::new(Model::build(mesh, Quality::Fast));
    let boxes = cube(1.0);
    let add = |world: &mut World| {
        for shape in [Shape::mesh(Arc::clone(&model)), boxes.clone()] {
            world.insert(Body::moving(shape, Pose::IDENTITY)).expect("a good body");
        }
    };
    add(&mut world);
    let one = world.save().len();
    (0..9).for_each(|_| add(&mut world));
    let ten = world.save().len();
    assert!(one > 50_000 && ten < one + 9 * 400, "{one} and {ten} bytes");
}

#[test]
fn what_did_not_change_is_not_compared_after_loading() {
    for structure in Structure::ALL {
        let mut world = World::new(Settings { structure, ..settings(1) });
        for k in 0..100 {
            let place = Pose::from_translation(DVec3::X * (0.9 * f64::from(k)));
            let body = Body::moving(cube(1.0), place.expect("a place"));
            world.insert(body).expect("a good body");
        }
        world.step();
        let mut loaded = World::load(&world.save(), runtime(1)).expect("it was saved");
        assert_eq!(loaded.report().counts, world.report().counts);
        let counts = loaded.step().counts;
        let compared = (counts.changed, counts.candidates, counts.tested, counts.contacts);
        assert_eq!(compared, (0, 0, 0, 99), "{structure:?}");
        let id = loaded.ids().nth(50).expect("a hundred bodies");
        let pose = loaded.pose(id).expect("it is there");
        loaded.set_pose(id, pose).expect("it moves");
        let counts = loaded.step().counts;
        assert_eq!((counts.changed, counts.candidates), (1, 2), "{structure:?}");
    }
}

type Change = fn(&mut World, [BodyId; 2]);

#[test]
fn the_hash_depends_on_every_part_of_the_state() {
    let world = lived(41, 20, 30);
    let mut ids = world.ids().filter(|&id| world.is_enabled(id) == Ok(true));
    let (a, b) = (ids.next().expect("a body"), ids.next().expect("another"));
    let mut seen = vec![world.hash()];
    let mut changes: Vec<(&str, Change)> = Vec::new();
    let mut change = |what, change: Change| changes.push((what, change));
    change("velocity", |w, [a, _]| {
        w.set_velocity(a, Velocity::straight(DVec3::Z * 5.0)).expect("it is there");
    });
    change("the sign of a zero", |w, [a, _]| {
        w.set_velocity(a, Velocity::straight(DVec3::new(0.0, -0.0, 5.0))).expect("it is there");
    });
    change("layers", |w, [a, _]| {
        w.set_collision_groups(a, CollisionGroups { memberships: 9, filter: 3 })
            .expect("it is there");
    });
    change("response", |w, [a, _]| {
        let response = Response { velocity: VelocityResponse::Stop, set_back: true };
        w.set_response(a, Some(response)).expect("it is there");
    });
    change("shape", |w, [a, _]| w.set_shape(a, cube(3.0)).expect("it is there"));
    change("another shape", |w, [a, _]| w.set_shape(a, cube(3.1)).expect("it is there"));
    change("sphere", |w, [a, _]| {
        w.set_shape(a, Shape::sphere(3.0).expect("a radius")).expect("it is there");
    });
    change("capsule", |w, [a, _]| {
        w.set_shape(a, Shape::capsule(1.0, 2.0).expect("a size")).expect("it is there");
    });
    change("cylinder", |w, [a, _]| {
        w.set_shape(a, Shape::cylinder(1.0, 2.0).expect("a size")).expect("it is there");
    });
    change("cone", |w, [a, _]| {
        w.set_shape(a, Shape::cone(1.0, 2.0).expect("a size")).expect("it is there");
    });
    change("hull", |w, [a, _]| {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        w.set_shape(a, Shape::convex_hull(&corners).expect("a solid")).expect("it is there");
    });
    change("ignored", |w, [a, b]| w.ignore_pair(a, b).expect("both are there"));
    change("interest", |w, [a, b]| {
        w.set_interest(a, b, QueryKind::Clearance(77.0)).expect("both are there");
    });
    change("group", |w, _| {
        w.new_group(None).expect("no parent");
    });
    change("disabled", |w, [a, _]| w.disable(a).expect("it is there"));
    change("enabled again", |w, [a, _]| {
        w.disable(a).expect("it is there");
        w.enable(a).expect("it is there");
    });
    change("removed", |w, [a, _]| drop(w.remove(a).expect("it is there")));
    change("a name that was used", |w, _| {
        let id = w.insert(Body::moving(cube(1.0), Pose::IDENTITY)).expect("a good body");
        w.remove(id).expect("it is there");
    });
    change("a step", |w, _| drop(w.step().clone()));
    for (what, change) in changes {
        let mut changed = world.clone();
        change(&mut changed, [a, b]);
        let hash = changed.hash();
        assert!(!seen.contains(&hash), "{what}");
        seen.push(hash);
        let loaded = World::load(&changed.save(), runtime(1)).expect(what);
        assert_eq!(loaded.hash(), hash, "{what}");
    }
    let policy = Policy::InterestsOnly;
    let empty = |settings: Settings| World::new(settings).hash();
    assert_ne!(empty(Settings { policy, ..settings(1) }), empty(settings(1)));
}

#[test]
fn an_empty_world_can_be_saved() {
    let world = World::new(Settings::default());
    let loaded = World::load(&world.save(), Runtime::default()).expect("it was saved");
    assert!(loaded.is_empty());
    assert_eq!(loaded.hash(), world.hash());
    assert_eq!(World::load(&[], Runtime::default()).err(), {
        Some(LoadWorldError::WrongLength { expected: 28, found: 0 })
    });
}
