//! The time of impact where a sphere is involved, against looking at many times one by one.

use super::{Dice, shapes};
use glam::DVec3;
use jostle_geom::{
    Model, Motion, Pair, Pose, Quality, Shape, TimeOfImpact, TimeOfImpactLimits, solids,
    time_of_impact,
};

/// How many times are looked at.
const SAMPLES: u32 = 200;

struct Moving<'a> {
    a: &'a Shape,
    motion_a: Motion,
    b: &'a Shape,
    motion_b: Motion,
    limits: TimeOfImpactLimits,
}

impl Moving<'_> {
    fn impact(&self) -> TimeOfImpact {
        time_of_impact(self.a, &self.motion_a, self.b, &self.motion_b, &self.limits)
    }

    fn swapped(&self) -> TimeOfImpact {
        time_of_impact(self.b, &self.motion_b, self.a, &self.motion_a, &self.limits)
    }

    fn touches(&self, time: f64) -> bool {
        let (pose_a, pose_b) = (self.motion_a.at(time), self.motion_b.at(time));
        Pair::new(self.a, &pose_a, self.b, &pose_b).touches()
    }

    /// Checks what is promised; gives the number of the kind of answer.
    fn check(&self, about: &str) -> usize {
        let found = self.impact();
        let (kind, free) = match found {
            TimeOfImpact::AtStart => {
                assert!(self.touches(0.0), "{about}");
                return 0;
            }
            TimeOfImpact::During { free, contact, closest } => {
                assert_eq!(free, contact, "{about}");
                let reach = self.a.radius() + self.b.radius() + 10.0;
                assert!(closest.distance <= self.limits.distance + 1e-9 * reach, "{about}");
                assert!(closest.distance > 0.0, "{about}: {closest:?}");
                (1, free)
            }
            TimeOfImpact::Never => (2, 1.0),
            TimeOfImpact::Unknown { free } => (3, free),
        };
        for sample in 0..=SAMPLES {
            let time = f64::from(sample) / f64::from(SAMPLES) * free;
            assert!(!self.touches(time), "{about}: touches at {time}, {found:?}");
        }
        kind
    }
}

/// Through the middle of the scene, more or less, or at rest near it.
fn any_motion(dice: &mut Dice, kind: usize) -> Motion {
    let from = dice.vector() * [3.0, 8.0, 8.0][kind];
    let to = dice.vector() * 2.0 - from;
    let from = Pose::new(dice.rotation(), from).unwrap();
    let to = Pose::new(dice.rotation(), to).unwrap();
    match kind {
        0 => Motion::still(&from),
        1 => Motion::linear(&from, &to),
        _ => Motion::screw(&from, &to).unwrap(),
    }
}

/// Draws pairs in motion, compares each with looking at many times one by one, in both orders, and
/// counts the kinds of answers.
pub(super) fn agree_with_sampling(
    seed: u64,
    cases: usize,
    [first, second]: [&[(&'static str, Shape)]; 2],
) -> [usize; 4] {
    let mut dice = Dice(seed);
    let mut kinds = [0; 4];
    for case in 0..cases {
        let (name_a, a) = &first[dice.below(first.len())];
        let (name_b, b) = &second[dice.below(second.len())];
        let (motion_a, motion_b) = (dice.below(3), dice.below(3));
        let moving = Moving {
            a,
            motion_a: any_motion(&mut dice, motion_a),
            b,
            motion_b: any_motion(&mut dice, motion_b),
            limits: TimeOfImpactLimits {
                distance: [0.0, 1e-6, 1e-3][case % 3],
                ..TimeOfImpactLimits::default()
            },
        };
        let about = format!("seed {seed}, case {case}: {name_a} and {name_b}");
        kinds[moving.check(&about)] += 1;
        // Either order finds the same, but for the rounding of the smallest distance.
        match (moving.impact(), moving.swapped()) {
            (TimeOfImpact::During { free, .. }, TimeOfImpact::During { free: other, .. }) => {
                assert!((free - other).abs() < 1e-2, "{about}: {free} {other}");
            }
            (TimeOfImpact::Unknown { .. }, _) | (_, TimeOfImpact::Unknown { .. }) => {}
            (one, other) => {
                let [one, other] = [&one, &other].map(std::mem::discriminant);
                assert_eq!(one, other, "{about}");
            }
        }
    }
    kinds
}

#[test]
fn spheres_agree_with_sampling() {
    let shapes = shapes(1.0);
    let kinds = agree_with_sampling(41, 1500, [&shapes[..3], &shapes]);
    assert!(kinds[..3].iter().all(|&n| n > 50), "lopsided: {kinds:?}");
    assert!(kinds[3] < 30, "too often unknown: {kinds:?}");
}

/// A fast sphere and a thin plate: nothing that looks at some times only would see the impact.
#[test]
fn a_fast_sphere_does_not_pass_through_a_thin_plate() {
    let plate = Shape::cuboid(DVec3::new(1e-6, 10.0, 10.0)).unwrap();
    let still = Motion::still(&Pose::IDENTITY);
    for radius in [0.0, 1e-3, 1.0] {
        let ball = Shape::sphere(radius).unwrap();
        let [from, to] = [-1e4, 1e4].map(|x| Pose::from_translation(DVec3::X * x).unwrap());
        let flight = Motion::linear(&from, &to);
        let limits = TimeOfImpactLimits::default();
        let found = time_of_impact(&ball, &flight, &plate, &still, &limits);
        let TimeOfImpact::During { free, closest, .. } = found else { panic!("{found:?}") };
        assert!((free - (0.5 - radius / 2e4)).abs() < 1e-9, "{radius}: {found:?}");
        assert!(closest.point_b.x.abs() < 1e-5, "{radius}: {found:?}");
    }
}

/// Where the centres move straight there is a formula for two spheres; for a sphere and a mesh
/// there is a search.
#[test]
fn two_spheres_meet_when_one_meets_a_fine_mesh_of_the_other() {
    let ball = Shape::sphere(1.0).unwrap();
    let mesh = solids::sphere(1.0, 1e-2).unwrap().into_solid().unwrap();
    let mesh = Shape::mesh(Model::build(mesh, Quality::Default));
    let mut dice = Dice(42);
    let limits = TimeOfImpactLimits { distance: 1e-6, ..TimeOfImpactLimits::default() };
    let mut met = 0;
    for case in 0..100 {
        let from = dice.vector() * 8.0;
        let [from, to] = [from, dice.vector() - from];
        let [from, to] = [from, to].map(|p| Pose::new(dice.rotation(), p).unwrap());
        let (flight, still) = (Motion::linear(&from, &to), Motion::still(&Pose::IDENTITY));
        let of = |b| time_of_impact(&ball, &flight, b, &still, &limits);
        match (of(&ball), of(&mesh)) {
            (TimeOfImpact::During { free, .. }, TimeOfImpact::During { free: late, .. }) => {
                // The mesh is inside of the sphere, by a hundredth at most.
                assert!(free <= late && late < free + 0.02, "case {case}: {free} {late}");
                met += 1;
            }
            (one, other) => assert_eq!(one, other, "case {case}"),
        }
    }
    assert!(met > 50, "{met}");
}
