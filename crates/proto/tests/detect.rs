//! The detector against comparing all with all, over ticks in which objects move, come, go, are
//! absent, change their form and their class.

use glam::DVec3;
use jostle_geom::{Model, Pair, Quality, solids};
use jostle_proto::{
    Certainty, Class, Detector, GroupId, Object, ObjectId, ShapeId, Shapes, Solid, State, Tick,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        jostle_dice::below(&mut self.0, end)
    }

    fn within(&mut self, most: i64) -> i64 {
        self.below(2 * most as u64 + 1) as i64 - most
    }
}

fn shapes() -> Shapes {
    let model = |mesh| Arc::new(Model::build(mesh, Quality::Fast));
    Shapes::new(vec![
        Solid::cuboid([2000; 3]),
        Solid::cuboid([6000, 1500, 3000]),
        Solid::mesh(model(solids::sphere(1.0, 0.05).unwrap())),
        Solid::mesh(model(solids::cuboid(DVec3::splat(2.0)).unwrap())),
    ])
}

fn object(id: u64, reach: i64, dice: &mut Dice) -> Object {
    let class = match dice.below(8) {
        0 => Class::Immovable,
        1 => Class::Avatar,
        2 => Class::Absent,
        3 => Class::Foreign(GroupId(1)),
        _ => Class::Dynamic,
    };
    // Some go through others in one tick.
    let fast = if dice.below(4) == 0 { 30_000 } else { 1500 };
    let state = State {
        position: [(); 3].map(|()| dice.within(reach) as i32),
        velocity: [(); 3].map(|()| dice.within(fast) as i16),
        spin: [(); 3].map(|()| dice.within(300) as i16),
        ..State::default()
    };
    Object { id: ObjectId(id), class, shape: ShapeId(dice.below(5) as u32), state }
}

fn touch(shapes: &Shapes, a: &Object, b: &Object) -> bool {
    if !shapes.block(a).meets(&shapes.block(b)) {
        return false;
    }
    let model = |object: &Object| shapes.get(object.shape)?.model.clone();
    match (model(a), model(b)) {
        (Some(of_a), Some(of_b)) => {
            let pose = |object: &Object| object.state.pose().unwrap();
            Pair::new(&of_a, &pose(a), &of_b, &pose(b)).touches()
        }
        _ => true,
    }
}

/// Did they touch at one of so many moments of the last tick?
fn met(shapes: &Shapes, a: &Object, b: &Object) -> bool {
    const MOMENTS: i32 = 200;
    let back = |object: &Object, part: i32| {
        let mut earlier = *object;
        if object.class == Class::Immovable {
            return earlier;
        }
        let step = object.state.last_step(30);
        for (along, step) in earlier.state.position.iter_mut().zip(step) {
            *along = along
                .saturating_sub((i64::from(step) * i64::from(part) / i64::from(MOMENTS)) as i32);
        }
        earlier
    };
    (0..=MOMENTS).any(|part| touch(shapes, &back(a, part), &back(b, part)))
}

fn all_pairs(shapes: &Shapes, objects: &BTreeMap<u64, Object>) -> BTreeSet<(u64, u64)> {
    let moved = |object: &Object| matches!(object.class, Class::Dynamic | Class::Avatar);
    let mut found = BTreeSet::new();
    for (a_id, a) in objects {
        for (b_id, b) in objects.range(a_id + 1..) {
            let absent = [a, b].iter().any(|object| object.class == Class::Absent);
            if absent || !(moved(a) || moved(b)) {
                continue;
            }
            if touch(shapes, a, b) {
                found.insert((*a_id, *b_id));
            }
        }
    }
    found
}

/// What does not touch now met something immovable in the last tick. How many?
fn check_the_rest<'a>(
    shapes: &Shapes,
    objects: &BTreeMap<u64, Object>,
    pairs: impl Iterator<Item = &'a (u64, u64)>,
) -> usize {
    let mut count = 0;
    for (a, b) in pairs {
        let (a, b) = (&objects[a], &objects[b]);
        assert!([a, b].iter().any(|object| object.class == Class::Immovable), "{a:?} {b:?}");
        assert!(met(shapes, a, b), "{a:?} {b:?}");
        count += 1;
    }
    count
}

#[test]
fn the_detector_finds_what_comparing_all_with_all_finds() {
    let shapes = shapes();
    let (mut sum, mut through) = (0, 0);
    for seed in 0..12 {
        let mut dice = Dice(seed);
        // Few and many, near the origin and at the end of the world.
        let (count, reach) = if seed % 2 == 0 { (12, 10_000) } else { (150, 40_000) };
        let far = if seed % 3 == 0 { i32::MAX - 40_000 } else { 0 };
        let mut objects: BTreeMap<u64, Object> =
            (0..count).map(|id| (id, object(id, reach, &mut dice))).collect();
        for object in objects.values_mut() {
            object.state.position[0] = object.state.position[0].saturating_add(far);
        }
        let mut detector = Detector::new(shapes.clone(), 30);
        for tick in 0..25 {
            for object in objects.values_mut().filter(|object| object.class != Class::Immovable) {
                object.state = object.state.moved(Tick(tick), 30);
            }
            for _ in 0..count / 8 {
                let id = dice.below(count * 2);
                if objects.remove(&id).is_none() {
                    objects.insert(id, object(id, reach, &mut dice));
                }
                let id = dice.below(count * 2);
                if let Some(changed) = objects.get_mut(&id) {
                    let other = object(id, reach, &mut dice);
                    (changed.class, changed.shape) = (other.class, other.shape);
                }
            }
            let list: Vec<Object> = objects.values().copied().collect();
            let touches = detector.touches(&list);
            let found: BTreeSet<(u64, u64)> = touches.iter().map(|t| (t.a.0, t.b.0)).collect();
            assert_eq!(found.len(), touches.len(), "seed {seed}, tick {tick}: a pair twice");
            sum += found.len();
            let now = all_pairs(&shapes, &objects);
            assert!(found.is_superset(&now), "seed {seed}, tick {tick}");
            through += check_the_rest(&shapes, &objects, found.difference(&now));
        }
    }
    assert!(sum > 1000 && through > 10, "{sum}, {through}");
}

/// Some move, some rest for a while, so that answers of the last tick count.
fn restless(seed: u64) -> impl Iterator<Item = BTreeMap<u64, Object>> {
    let mut dice = Dice(seed);
    let mut objects: BTreeMap<u64, Object> =
        (0..60).map(|id| (id, object(id, 14_000, &mut dice))).collect();
    for object in objects.values_mut() {
        object.shape = ShapeId(2 + object.shape.0 % 2);
    }
    (0..30).map(move |tick| {
        let part = tick / 5 % 3;
        for object in objects.values_mut().filter(|object| object.id.0 % 3 == part) {
            object.state = object.state.moved(Tick(tick), 30);
        }
        objects.clone()
    })
}

#[test]
fn with_few_operations_nothing_is_missed_and_what_is_exact_is_marked() {
    let shapes = shapes();
    // So many operations in a tick; and how many answers were exact, assumed, and wrongly assumed.
    for (operations, some_assumed) in [(0, true), (60, true), (900, true), (u64::MAX, false)] {
        let (mut exact, mut assumed, mut wrong) = (0, 0, 0);
        for seed in 0..4 {
            let mut detector = Detector::new(shapes.clone(), 30).within(operations);
            for (tick, objects) in restless(seed).enumerate() {
                let list: Vec<Object> = objects.values().copied().collect();
                let right = all_pairs(&shapes, &objects);
                let met_or_touches = |pair: &(u64, u64)| {
                    right.contains(pair) || met(&shapes, &objects[&pair.0], &objects[&pair.1])
                };
                let mut found = BTreeSet::new();
                for (touch, certainty) in detector.findings(&list) {
                    let pair = (touch.a.0, touch.b.0);
                    found.insert(pair);
                    let blocks = [pair.0, pair.1].map(|id| shapes.swept_block(&objects[&id], 30));
                    assert!(blocks[0].meets(&blocks[1]));
                    match certainty {
                        Certainty::Exact => {
                            exact += 1;
                            assert!(met_or_touches(&pair), "seed {seed}, tick {tick}: {pair:?}");
                        }
                        Certainty::Assumed => {
                            assumed += 1;
                            wrong += u32::from(!right.contains(&pair));
                        }
                    }
                }
                assert!(found.is_superset(&right), "seed {seed}, tick {tick}");
                if !some_assumed {
                    check_the_rest(&shapes, &objects, found.difference(&right));
                }
            }
        }
        assert_eq!(exact > 0, operations > 0, "{operations}: {exact}");
        assert_eq!((assumed > 0, wrong > 0), (some_assumed, some_assumed), "{operations}");
    }
}

#[test]
fn those_who_rest_are_remembered_rightly() {
    let shapes = shapes();
    for seed in 0..4 {
        let mut detector = Detector::new(shapes.clone(), 30);
        for (tick, objects) in restless(seed).enumerate() {
            let list: Vec<Object> = objects.values().copied().collect();
            let touches = detector.touches(&list);
            let found: BTreeSet<(u64, u64)> = touches.iter().map(|t| (t.a.0, t.b.0)).collect();
            let right = all_pairs(&shapes, &objects);
            assert!(found.is_superset(&right), "seed {seed}, tick {tick}");
            check_the_rest(&shapes, &objects, found.difference(&right));
            let fresh = Detector::new(shapes.clone(), 30).touches(&list);
            assert_eq!(touches, fresh, "seed {seed}, tick {tick}: what is remembered");
        }
    }
}
