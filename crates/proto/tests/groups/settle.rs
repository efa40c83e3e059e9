//! Conflicting reports.

use super::random::Random;
use glam::DQuat;
use jostle_proto::{
    GroupId, NodeId, ObjectId, Opposing, Report, Rotation, State, Tolerance, decider, settle,
};

fn report(from: u32, weight: u32, position: [i32; 3]) -> Report {
    Report { from: NodeId(from), weight, state: State { position, ..State::default() } }
}

#[test]
fn reports_within_tolerance_are_left_alone() {
    let reports = [report(5, 1, [0; 3]), report(2, 3, [4, -4, 0]), report(1, 3, [0, 0, 4])];
    let settled = settle(&reports[..2], &Tolerance::WITHIN).unwrap();
    assert_eq!((settled.state, settled.corrected), (reports[1].state, vec![]));
    // The lowest id of those that count most.
    let settled = settle(&reports, &Tolerance::WITHIN).unwrap();
    assert_eq!((settled.state, settled.corrected), (reports[2].state, vec![]));
    assert_eq!(settle(&[], &Tolerance::WITHIN), None);
    assert_eq!(settle(&[report(1, 0, [0; 3])], &Tolerance::WITHIN), None);
}

#[test]
fn reports_beyond_it_become_their_weighted_mean() {
    let reports = [report(5, 1, [0, 10, -7]), report(2, 3, [5, 10, -8])];
    let settled = settle(&reports, &Tolerance::WITHIN).unwrap();
    // 3.75, 10, -7.75.
    assert_eq!(settled.state.position, [4, 10, -8]);
    assert_eq!(settled.corrected, [NodeId(2), NodeId(5)]);
    assert_eq!(settle(&reports, &Tolerance::BETWEEN).unwrap().corrected, []);
    // A member that was right is not corrected.
    let reports = [report(5, 1, [0; 3]), report(2, 1, [20; 3]), report(3, 1, [10; 3])];
    assert_eq!(settle(&reports, &Tolerance::WITHIN).unwrap().corrected, [NodeId(2), NodeId(5)]);
}

#[test]
fn rotations_meet_half_way_whatever_their_sign() {
    let turned = |angle: f64| {
        let (sine, cosine) = (angle / 2.0).sin_cos();
        Rotation::from_quaternion(DQuat::from_xyzw(0.0, sine, 0.0, cosine))
    };
    let with = |from, rotation| Report {
        from: NodeId(from),
        weight: 1,
        state: State { rotation, ..State::default() },
    };
    for (a, b) in [(0.0, 0.4), (3.0, 3.4), (-3.4, -3.0), (6.2, 6.4), (4.6, 4.8)] {
        let settled = settle(&[with(1, turned(a)), with(2, turned(b))], &Tolerance::BETWEEN);
        let found = settled.unwrap().state.rotation.quaternion();
        let half = turned((a + b) / 2.0).quaternion();
        assert!(found.dot(half).abs() > 1.0 - 1e-10, "{a} {b}: {found} {half}");
    }
    let near = [with(1, turned(1.0)), with(2, turned(1.001))];
    assert_eq!(settle(&near, &Tolerance::WITHIN).unwrap().corrected, []);
}

/// The mean in floating point is close to the one in whole numbers, and the order of reports does
/// not matter.
#[test]
fn means_agree_with_floating_point_in_any_order() {
    let (mut agreed, mut corrected) = (0, 0);
    for seed in 0..500 {
        let mut random = Random(seed);
        let spread = [3, 1000, u64::from(u32::MAX)][random.below(3) as usize];
        let mut reports: Vec<Report> = (0..1 + random.below(6))
            .map(|from| {
                let mut part = || random.below(spread) as i32;
                let mut report = report(from as u32, 0, [part(), part(), part()]);
                report.state.velocity = [part() as i16; 3];
                report.weight = [1, 2, 1000, u32::MAX][random.below(4) as usize];
                report
            })
            .collect();
        let settled = settle(&reports, &Tolerance::WITHIN).unwrap();
        if settled.corrected.is_empty() {
            agreed += 1;
            assert!(reports.iter().any(|report| report.state == settled.state));
        } else {
            corrected += 1;
            let weights: f64 = reports.iter().map(|report| f64::from(report.weight)).sum();
            for axis in 0..3 {
                let mean = |part: &dyn Fn(&State) -> f64| {
                    let sum = |it: &Report| f64::from(it.weight) * part(&it.state);
                    reports.iter().map(sum).sum::<f64>() / weights
                };
                let off =
                    mean(&|it| it.position[axis].into()) - f64::from(settled.state.position[axis]);
                let slower =
                    mean(&|it| it.velocity[axis].into()) - f64::from(settled.state.velocity[axis]);
                assert!(off.abs() <= 0.51 && slower.abs() <= 0.51, "seed {seed}: {off} {slower}");
            }
        }
        reports.reverse();
        assert_eq!(settle(&reports, &Tolerance::WITHIN), Some(settled), "seed {seed}");
    }
    assert!(agreed > 50 && corrected > 50, "{agreed} {corrected}");
}

#[test]
fn both_groups_name_the_same_decider() {
    let [a, b] = [(ObjectId(3), GroupId(9)), (ObjectId(4), GroupId(1))];
    assert_eq!(decider(&Opposing { objects: [a, b] }), GroupId(9));
    assert_eq!(decider(&Opposing { objects: [b, a] }), GroupId(9));
}
