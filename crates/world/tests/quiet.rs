//! What does not change is not looked at again, and a step can be kept within a budget.

mod common;

use common::{Rng, shapes};
use jostle_world::{Ask, Body, Certainty, Policy, Settings, World, WorldError};
use std::cell::Cell;
use std::time::Duration;

fn crowd(settings: Settings, n: usize, seed: u64) -> World {
    let mut world = World::new(settings);
    let mut rng = Rng(seed);
    let shapes = shapes();
    for k in 0..n {
        let body = Body::moving(shapes[k % 3].clone(), rng.pose(3.0));
        world.insert(body).expect("a good body");
    }
    world
}

#[test]
fn a_quiet_world_compares_nothing() {
    let mut world = crowd(Settings::default(), 100, 1);
    world.step();
    let contacts = world.contacts().to_vec();
    assert!(contacts.len() > 10);
    for _ in 0..20 {
        let counts = world.step().counts;
        assert_eq!((counts.changed, counts.candidates, counts.tested), (0, 0, 0));
        assert_eq!(world.contacts(), contacts);
    }
    assert_eq!(world.report().counts.box_tests, 0);
}

#[test]
fn contacts_that_are_visited_are_those_of_a_step_and_leave_no_trace() {
    for ask in [Ask::Touch, Ask::Witness, Ask::Clearance(0.125)] {
        let settings = Settings { policy: Policy::Everything(ask), ..Settings::default() };
        let mut world = crowd(settings, 100, 1);
        let mut twin = world.clone();
        for round in 0..3 {
            let mut visited = Vec::new();
            let tested = world.visit_contacts(&mut |contact| visited.push(contact.clone()));
            let counts = world.step().counts;
            assert_eq!(visited, world.contacts());
            assert!(visited.len() > 10 && (round > 0 || tested == counts.tested));
            assert_eq!(twin.step().events, world.report().events);
            assert_eq!((twin.contacts(), twin.hash()), (world.contacts(), world.hash()));
            let ids: Vec<_> = world.ids().collect();
            let (moved, gone) = (ids[3 * round], ids[3 * round + 1]);
            for world in [&mut world, &mut twin] {
                let pose = world.pose(ids[0]).expect("it is there");
                world.set_pose(moved, pose).expect("it moves");
                world.remove(gone).expect("it is there");
            }
        }
    }
}

#[test]
fn one_that_moves_is_compared_with_its_neighbours_only() {
    let mut world = crowd(Settings::default(), 100, 2);
    world.step();
    let id = world.ids().next().expect("somebody");
    let pose = world.pose(id).expect("it is there");
    world.set_pose(id, pose).expect("it moves");
    let counts = world.step().counts;
    assert_eq!(counts.changed, 1);
    assert!(counts.tested < 100, "{counts:?}");
    assert!(world.report().events.is_empty(), "it moved to where it was");
}

thread_local! {
    /// A clock that goes on by a fixed time whenever it is read.
    static CLOCK: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

fn read_clock() -> Duration {
    let (now, tick) = CLOCK.get();
    CLOCK.set((now + tick, tick));
    Duration::from_micros(now)
}

fn move_all(world: &mut World, rng: &mut Rng) {
    for id in world.ids().collect::<Vec<_>>() {
        world.set_pose(id, rng.pose(3.0)).expect("it moves");
    }
}

#[test]
fn a_budget_needs_a_clock() {
    let mut world = crowd(Settings::default(), 2, 3);
    let refused = world.step_within(Duration::from_millis(1)).err();
    assert_eq!(refused, Some(WorldError::NoStopwatch));
}

#[test]
fn a_short_budget_gives_conservative_answers_and_says_which() {
    for ask in [Ask::Touch, Ask::Witness, Ask::AllPairs] {
        let settings = Settings {
            policy: Policy::Everything(ask),
            stopwatch: Some(read_clock),
            ..Settings::default()
        };
        let mut world = crowd(settings.clone(), 120, 4);
        let mut twin = crowd(Settings { stopwatch: None, ..settings }, 120, 4);
        let mut rng = Rng(9);
        let (mut assumed, mut wrong) = (0, 0);
        for step in 0..40 {
            // The clock is slow for ten steps, far too fast for ten, and so on.
            let tick = if step / 10 % 2 == 0 { 1 } else { 2000 };
            CLOCK.set((0, tick));
            world.step_within(Duration::from_millis(10)).expect("there is a clock");
            twin.step();
            let conservative = world.report().limited.conservative.clone();
            assert!(conservative.is_sorted());
            for contact in twin.contacts() {
                let found = world.contact(contact.a, contact.b);
                assert!(found.is_some(), "step {step}: {contact:?} was missed");
            }
            for contact in world.contacts() {
                let listed = conservative.binary_search(&[contact.a, contact.b]).is_ok();
                let assumed_here = contact.certainty == Certainty::Assumed;
                assert_eq!(listed, assumed_here, "step {step}: {contact:?}");
                assumed += usize::from(assumed_here);
                if twin.contact(contact.a, contact.b).is_none() {
                    wrong += 1;
                    assert!(assumed_here, "step {step}: {contact:?} is wrong and not marked");
                } else if !assumed_here {
                    assert_eq!(Some(contact), twin.contact(contact.a, contact.b));
                }
            }
            let seed = rng.0;
            move_all(&mut world, &mut rng);
            move_all(&mut twin, &mut Rng(seed));
        }
        assert!(assumed > 0 && wrong > 0, "{ask:?}: {assumed} assumed, {wrong} wrong");
        let depth_max = world.report().limited.depth_max;
        assert_eq!(depth_max, Some(8), "ten steps were too long, from a first limit of 16");
    }
}

#[test]
fn detail_comes_back_when_there_is_time() {
    let settings = Settings { stopwatch: Some(read_clock), ..Settings::default() };
    let mut world = crowd(settings, 60, 5);
    let mut rng = Rng(10);
    for (tick, steps) in [(1_000_000, 30), (1, 30)] {
        for _ in 0..steps {
            CLOCK.set((0, tick));
            move_all(&mut world, &mut rng);
            world.step_within(Duration::from_millis(10)).expect("there is a clock");
        }
    }
    let limited = &world.report().limited;
    assert_eq!((limited.depth_max, limited.contacts_max), (None, None));
    assert!(limited.conservative.is_empty());
}
