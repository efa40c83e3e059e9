//! Interests: who is compared with whom, and what is asked.

mod common;

use common::{Rng, shapes};
use glam::DVec3;
use jostle_geom::{Pair, Pose, Shape};
use jostle_world::{Body, BodyId, ContactData, Policy, QueryKind, Settings, World, WorldError};

fn at(x: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, 0.0, 0.0)).expect("a finite number")
}

fn cube() -> Shape {
    Shape::cuboid(DVec3::ONE).expect("a size")
}

fn only_interests() -> World {
    World::new(Settings { policy: Policy::InterestsOnly, ..Settings::default() })
}

fn cubes(world: &mut World, places: &[f64]) -> Vec<BodyId> {
    let insert = |&x: &f64| world.insert(Body::moving(cube(), at(x))).expect("a good body");
    places.iter().map(insert).collect()
}

#[test]
fn nothing_is_compared_without_interest() {
    let mut world = only_interests();
    let ids = cubes(&mut world, &[0.0, 0.5, 0.9]);
    world.step();
    assert!(world.contacts().is_empty());
    assert_eq!(world.report().counts.candidates, 3);
    assert_eq!(world.report().counts.tested, 0);

    world.set_interest(ids[0], ids[2], QueryKind::Touch).expect("both are there");
    world.step();
    let pairs: Vec<_> = world.contacts().iter().map(|c| [c.a, c.b]).collect();
    assert_eq!(pairs, [[ids[0], ids[2]]]);

    assert_eq!(world.remove_interest(ids[2], ids[0]), Ok(true));
    world.step();
    assert!(world.contacts().is_empty());
    assert_eq!(world.remove_interest(ids[2], ids[0]), Ok(false));
}

#[test]
fn each_kind_of_question_gets_its_kind_of_answer() {
    let mut world = only_interests();
    let ids = cubes(&mut world, &[0.0, 0.75, 2.0]);
    world.set_interest(ids[0], ids[1], QueryKind::Volume).expect("both are there");
    world.step();
    assert_eq!(world.contact(ids[0], ids[1]).map(|c| &c.data), Some(&ContactData::BoxesOverlap));

    world.set_interest(ids[1], ids[0], QueryKind::Witness).expect("both are there");
    world.step();
    let Some(ContactData::Witness(witness)) = world.contact(ids[0], ids[1]).map(|c| &c.data) else {
        panic!("no witness in {:?}", world.contacts());
    };
    assert!((0.25..=0.5).contains(&witness.point.x), "{witness:?}");

    world.set_interest(ids[1], ids[0], QueryKind::AllPairs).expect("both are there");
    world.step();
    let Some(ContactData::Faces(faces)) = world.contact(ids[1], ids[0]).map(|c| &c.data) else {
        panic!("no faces in {:?}", world.contacts());
    };
    let (shape, poses) = (cube(), [at(0.0), at(0.75)]);
    let expected = Pair::new(&shape, &poses[0], &shape, &poses[1]).all_pairs();
    assert_eq!(faces, &expected);

    world.set_interest(ids[0], ids[2], QueryKind::Distance).expect("both are there");
    world.step();
    assert_eq!(world.distances().len(), 1);
    assert_eq!(world.distances()[0].distance.distance, 1.0);
    world.set_pose(ids[2], at(1000.0)).expect("it moves");
    world.step();
    assert_eq!(world.distances()[0].distance.distance, 999.0, "however far");
    world.step();
    assert_eq!(world.distances().len(), 1, "what did not move is still known");
    world.remove(ids[2]).expect("it is there");
    world.step();
    assert!(world.distances().is_empty());
}

#[test]
fn the_distance_of_bodies_whose_boxes_overlap_is_measured_once() {
    let mut world = only_interests();
    let ids = cubes(&mut world, &[0.0, 1.0, 1.5]);
    for pair in ids.windows(2) {
        world.set_interest(pair[0], pair[1], QueryKind::Distance).expect("both are there");
    }
    let counts = world.step().counts;
    assert_eq!((counts.candidates, counts.tested, counts.contacts), (2, 2, 2));
    let distances: Vec<_> = world.distances().iter().map(|m| (m.a, m.distance.distance)).collect();
    assert_eq!(distances, [(ids[0], 0.0), (ids[1], 0.0)]);
}

#[test]
fn clearance_is_exact_at_its_border() {
    let mut world = only_interests();
    let ids = cubes(&mut world, &[0.0, 2.0]);
    world.set_interest(ids[0], ids[1], QueryKind::Clearance(0.5)).expect("both are there");
    for (x, expected) in [
        (2.0, None),
        (1.5, Some(ContactData::TooClose)),
        (1.5 + 1e-9, None),
        (1.0 + 1e-9, Some(ContactData::TooClose)),
        (1.0, Some(ContactData::Touching)),
        (-1.5, Some(ContactData::TooClose)),
        (-1.6, None),
    ] {
        world.set_pose(ids[1], at(x)).expect("it moves");
        world.step();
        let found = world.contact(ids[0], ids[1]).map(|c| c.data.clone());
        assert_eq!(found, expected, "at {x}");
    }
}

#[test]
fn a_group_is_all_its_members_and_the_nearest_interest_counts() {
    let mut world = only_interests();
    let cars = world.new_group(None).expect("a group");
    let wheels = world.new_group(Some(cars)).expect("a group");
    let ids = cubes(&mut world, &[0.0, 0.25, 0.5, 0.75]);
    world.set_group(ids[0], Some(cars)).expect("both are there");
    world.set_group(ids[1], Some(wheels)).expect("both are there");
    world.set_interest(cars, ids[2], QueryKind::Touch).expect("both are there");
    world.step();
    let pairs: Vec<_> = world.contacts().iter().map(|c| [c.a, c.b]).collect();
    assert_eq!(pairs, [[ids[0], ids[2]], [ids[1], ids[2]]]);
    assert_eq!(world.group_members(cars), Ok(vec![ids[0], ids[1]]));

    world.set_interest(ids[2], wheels, QueryKind::Volume).expect("both are there");
    world.step();
    let found: Vec<_> = world.contacts().iter().map(|c| c.data.clone()).collect();
    assert_eq!(found, [ContactData::Touching, ContactData::BoxesOverlap]);

    let bounds = world.group_bounds(cars).expect("a group").expect("two members");
    assert_eq!((bounds.min().x, bounds.max().x), (-0.5, 0.75));
    assert_eq!(world.remove_group(cars), Err(WorldError::GroupNotEmpty(cars)));
}

#[test]
fn boxes_of_groups_are_joined_and_compared() {
    let mut world = only_interests();
    let [left, right] = [world.new_group(None), world.new_group(None)].map(|g| g.expect("a group"));
    let ids = cubes(&mut world, &[0.0, 10.0, 5.0]);
    world.set_group(ids[0], Some(left)).expect("both are there");
    world.set_group(ids[1], Some(left)).expect("both are there");
    world.set_group(ids[2], Some(right)).expect("both are there");
    world.set_interest(left, right, QueryKind::Volume).expect("both are there");
    world.step();
    assert_eq!(world.group_overlaps(), [[left, right]], "5 is between 0 and 10");
    assert!(world.contacts().is_empty(), "no member overlaps a member");
    world.set_pose(ids[2], at(20.0)).expect("it moves");
    world.step();
    assert!(world.group_overlaps().is_empty());
}

#[test]
fn wrong_interests_are_refused_and_change_nothing() {
    let mut world = only_interests();
    let ids = cubes(&mut world, &[0.0, 0.5]);
    assert_eq!(
        world.set_interest(ids[0], ids[0], QueryKind::Touch),
        Err(WorldError::SameBody(ids[0]))
    );
    for value in [f64::NAN, f64::INFINITY, -1.0] {
        let refused = world.set_interest(ids[0], ids[1], QueryKind::Clearance(value));
        assert!(matches!(refused, Err(WorldError::Number { .. })), "{value}: {refused:?}");
    }
    world.remove(ids[1]).expect("it is there");
    let refused = world.set_interest(ids[0], ids[1], QueryKind::Touch);
    assert_eq!(refused, Err(WorldError::UnknownBody(ids[1])));
    world.step();
    assert!(world.contacts().is_empty());
}

#[test]
fn of_a_crowd_only_pairs_of_interest_are_tested() {
    let mut world = only_interests();
    let mut rng = Rng(5);
    let shapes = shapes();
    let insert = |world: &mut World, rng: &mut Rng| {
        world.insert(Body::moving(shapes[0].clone(), rng.pose(3.0))).expect("a good body")
    };
    let ids: Vec<_> = (0..1000).map(|_| insert(&mut world, &mut rng)).collect();
    for pair in ids.windows(2) {
        world.set_interest(pair[0], pair[1], QueryKind::Touch).expect("both are there");
    }
    let counts = world.step().counts;
    let bounds = |id| world.bounds(id).expect("it is there").expect("a ball has a box");
    let overlaps = |pair: &&[BodyId]| bounds(pair[0]).overlaps(&bounds(pair[1]));
    let expected = ids.windows(2).filter(overlaps).count();
    assert_eq!(counts.tested, expected);
    assert!(expected > 20 && counts.candidates > 100 * expected, "{expected} {counts:?}");
}

#[test]
fn a_body_that_is_inserted_into_a_group_is_measured_at_once() {
    let mut world = only_interests();
    let group = world.new_group(None).expect("a group");
    let ids = cubes(&mut world, &[10.0]);
    world.set_interest(group, ids[0], QueryKind::Distance).expect("both are there");
    world.insert(Body::moving(cube(), at(0.0)).with_group(group)).expect("a good body");
    world.step();
    let distances: Vec<_> = world.distances().iter().map(|m| m.distance.distance).collect();
    assert_eq!(distances, [9.0]);
}

#[test]
#[should_panic(expected = "clearance")]
fn a_policy_with_a_clearance_without_end_is_refused() {
    let policy = Policy::Everything(QueryKind::Clearance(f64::INFINITY));
    let _ = World::new(Settings { policy, ..Settings::default() });
}
