//! Operations in any order: found by `proptest`, which prints the shortest sequence that fails.

use super::judge::Judge;
use glam::Vec3;
use jostle_geom::Aabb;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Operation {
    /// Inserts the box, or moves it if the slot is taken.
    Put(u32, Aabb),
    /// Says that the box moved, and leaves it where it is.
    Touch(u32),
    Remove(u32),
    /// Removes the box and inserts another into the same slot.
    Replace(u32, Aabb),
    FindPairs,
}

/// Whole numbers, so that faces coincide; now and then scaled to extremes.
fn bounds() -> impl Strategy<Value = Aabb> {
    let corner = [-4..4i8, -4..4i8, -4..4i8].prop_map(|c| Vec3::from_array(c.map(f32::from)));
    let size = [0..4i8, 0..4i8, 0..4i8].prop_map(|s| Vec3::from_array(s.map(f32::from)));
    let scale = prop_oneof![12 => Just(1.0), 1 => Just(1e30f32), 1 => Just(1e-6), 1 => Just(1e3)];
    (corner, size, scale)
        .prop_map(|(corner, size, scale)| Aabb::around(corner * scale, (corner + size) * scale))
}

fn operation() -> impl Strategy<Value = Operation> {
    let slot = 0..14u32;
    prop_oneof![
        6 => (slot.clone(), bounds()).prop_map(|(slot, bounds)| Operation::Put(slot, bounds)),
        1 => slot.clone().prop_map(Operation::Touch),
        2 => slot.clone().prop_map(Operation::Remove),
        1 => (slot, bounds()).prop_map(|(slot, bounds)| Operation::Replace(slot, bounds)),
        3 => Just(Operation::FindPairs),
    ]
}

fn carry_out(judge: &mut Judge, operation: &Operation) {
    match *operation {
        Operation::Put(slot, bounds) if judge.get(slot).is_some() => judge.update(slot, bounds),
        Operation::Put(slot, bounds) => judge.insert(slot, bounds),
        Operation::Touch(slot) => {
            if let Some(bounds) = judge.get(slot) {
                judge.update(slot, bounds);
            }
        }
        Operation::Remove(slot) => {
            if judge.get(slot).is_some() {
                judge.remove(slot);
            }
        }
        Operation::Replace(slot, bounds) => {
            if judge.get(slot).is_some() {
                judge.remove(slot);
            }
            judge.insert(slot, bounds);
        }
        Operation::FindPairs => judge.check(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_operations_in_any_order(operations in vec(operation(), 1..90)) {
        let mut judge = Judge::new("any operations".into());
        for operation in &operations {
            carry_out(&mut judge, operation);
        }
        judge.check();
    }
}

#[test]
fn both_answers_occur_among_such_boxes() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut judge = Judge::new("boxes as drawn".into());
    for slot in 0..200 {
        judge.insert(slot, bounds().new_tree(&mut runner).unwrap().current());
    }
    judge.check();
    assert!(judge.seen.iter().all(|&seen| seen > 500), "lopsided: {:?}", judge.seen);
}
