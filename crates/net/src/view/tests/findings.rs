//! Contacts among immovable objects, against all with all.

use super::super::findings::{Findings, PairFinding, static_contacts};
use super::*;
use jostle_geom::Pose;
use std::time::Duration;

#[test]
fn static_contacts_are_those_of_all_with_all() {
    let (forms, mut touching, mut close) = (Forms::new(shapes(), Arc::default()), 0, 0);
    for seed in 1..=4 {
        println!("seed {seed}");
        let mut dice = Dice(seed);
        let mut objects = world(&mut dice, 60, i64::from(2 * METRE));
        // Most of them never move, and some do: those are no static contacts.
        for object in objects.clone().values().filter(|object| object.id.0 % 4 != 0) {
            objects.insert(Object { class: Class::Immovable, ..*object });
        }
        let scene = scene(&objects);
        for clearance in [None, Some(0.2)] {
            let mut slow = BTreeMap::new();
            let still: Vec<_> =
                scene.objects.iter().filter(|it| it.class == Class::Immovable).collect();
            for (at, a) in still.iter().enumerate() {
                for b in &still[at + 1..] {
                    let ((one, pose_a), (two, pose_b)) =
                        (forms.placed(a).expect("a form"), forms.placed(b).expect("a form"));
                    let found = Pair::new(one, &pose_a, two, &pose_b).distance();
                    let distance = found.expect("not empty").distance;
                    if distance <= clearance.unwrap_or(0.0) {
                        slow.insert([vec![a.id], vec![b.id]], distance);
                    }
                }
            }
            let found = static_contacts(&scene, &forms, clearance, None);
            assert!(found.complete);
            assert!(found.list.windows(2).all(|two| two[0].distance <= two[1].distance));
            for finding in &found.list {
                let touch = finding.distance == 0.0;
                assert_eq!(finding.kind, if touch { "touch" } else { "too_close" });
                touching += usize::from(touch);
                close += usize::from(!touch);
            }
            let found: BTreeMap<_, _> =
                found.list.into_iter().map(|it| (it.parts, it.distance)).collect();
            assert_eq!(found, slow);
        }
        let spent = static_contacts(&scene, &forms, Some(0.2), Some(Duration::ZERO));
        assert!(!spent.complete && spent.list.is_empty());
    }
    assert!(touching > 10 && close > 10, "{touching} {close}");
}

/// Two cubes with a gap of 0.1 mm, which is less than the unit of positions.
#[test]
fn exact_poses_decide_where_frames_are_too_coarse() {
    let place = |id: u64, x: f64| {
        let state = State { position: [(x * 4096.0).round() as i32, 0, 0], ..State::default() };
        Object { id: ObjectId(id), class: Class::Immovable, shape: ShapeId(1), state }
    };
    let objects: Objects = [place(1, 0.0), place(2, 0.8001)].into_iter().collect();
    let scene = scene(&objects);
    let at = |x: f64| Pose::from_translation(DVec3::new(x, 0.0, 0.0)).expect("a pose");
    let poses = BTreeMap::from([(ObjectId(1), at(0.0)), (ObjectId(2), at(0.8001))]);
    let rounded = static_contacts(&scene, &Forms::new(shapes(), Arc::default()), Some(0.01), None);
    let exact = static_contacts(&scene, &Forms::new(shapes(), Arc::new(poses)), Some(0.01), None);
    let distance = |found: &Findings| found.list.first().map(|it| it.distance);
    let found = distance(&exact).expect("a finding");
    assert!((found - 0.0001).abs() < 1e-7, "{found}");
    assert!((distance(&rounded).unwrap_or(0.0) - found).abs() > 1e-5);
}

#[test]
fn a_message_of_findings_is_bounded() {
    let finding = |id: u64| PairFinding {
        kind: "overlap",
        parts: [vec![ObjectId(id)], vec![ObjectId(id + 1)]],
        distance: 0.0,
        points: [DVec3::ZERO; 2],
        segments: vec![[DVec3::ZERO; 2]; 500],
    };
    let list: Vec<PairFinding> = (0..3000).map(finding).collect();
    let all = Findings { clearance: None, unit: String::new(), complete: true, list };
    let found = all.bounded();
    assert!(!found.complete);
    assert_eq!(found.list.len(), 2000);
    assert_eq!(found.list[0].segments.len(), 200);
    assert_eq!(found.list.iter().map(|it| it.segments.len()).sum::<usize>(), 20_000);
}
