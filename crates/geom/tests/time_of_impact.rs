//! The time of impact against a slow twin: the exact touch test at many times.

use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{
    Mesh, Model, Motion, Pair, Pose, Quality, TimeOfImpact, TimeOfImpactLimits, solids,
    time_of_impact,
};
use std::f64::consts::{FRAC_PI_2, PI};

const SAMPLES: u32 = 2000;

fn model(mesh: Mesh) -> Model {
    Model::build(mesh, Quality::Default)
}

fn cuboid(x: f64, y: f64, z: f64) -> Model {
    model(solids::cuboid(DVec3::new(x, y, z)).unwrap())
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z)).unwrap()
}

fn turned(rotation: DQuat, x: f64, y: f64, z: f64) -> Pose {
    Pose::new(rotation, DVec3::new(x, y, z)).unwrap()
}

/// Two models that move.
struct Case<'a> {
    a: (&'a Model, Motion),
    b: (&'a Model, Motion),
    limits: TimeOfImpactLimits,
}

impl Case<'_> {
    fn pair(&self, s: f64) -> Pair<'_> {
        Pair::new(self.a.0, &self.a.1.at(s), self.b.0, &self.b.1.at(s))
    }

    /// The first of evenly spread times at which they touch.
    fn first_touch(&self) -> Option<f64> {
        (0..=SAMPLES).map(|i| f64::from(i) / f64::from(SAMPLES)).find(|&s| self.pair(s).touches())
    }

    fn ask(&self) -> TimeOfImpact {
        let ((a, motion_a), (b, motion_b)) = (&self.a, &self.b);
        time_of_impact(*a, motion_a, *b, motion_b, &self.limits)
    }

    /// The answer, after everything that it promises was checked.
    fn checked(&self, name: &str) -> TimeOfImpact {
        let answer = self.ask();
        let swapped = Case { a: self.b, b: self.a, limits: self.limits };
        // Both take other steps, so one may have used them up before the other.
        let kinds = [answer, swapped.ask()];
        if !kinds.iter().any(|kind| matches!(kind, TimeOfImpact::Unknown { .. })) {
            let [one, other] = kinds.map(|kind| std::mem::discriminant(&kind));
            assert_eq!(one, other, "{name}: the other way round");
        }
        let first = self.first_touch();
        match answer {
            TimeOfImpact::Never => assert_eq!(first, None, "{name}: passed over"),
            TimeOfImpact::AtStart => assert_eq!(first, Some(0.0), "{name}"),
            TimeOfImpact::Unknown { free } => {
                assert!(first.is_none_or(|s| s > free), "{name}: {answer:?} {first:?}");
            }
            TimeOfImpact::During { free, contact, closest } => {
                assert!(first.is_none_or(|s| s > free), "{name}: {answer:?} {first:?}");
                assert!((0.0..=1.0).contains(&free) && free <= contact && contact <= 1.0);
                // Times just before, where evenly spread ones may be too coarse.
                for k in 0..40 {
                    let s = free - free * 0.5f64.powi(k + 10);
                    assert!(!self.pair(s).touches(), "{name}: touch at {s}, {answer:?}");
                }
                assert!(!self.pair(free).touches(), "{name}: {answer:?}");
                if self.pair(contact).touches() {
                    assert!(contact - free <= self.limits.time, "{name}");
                    assert_eq!(closest.distance, 0.0, "{name}");
                    let faces = self.pair(contact).all_pairs();
                    assert!(faces.binary_search(&closest.faces).is_ok(), "{name}: {answer:?}");
                } else {
                    assert_eq!(free, contact, "{name}");
                    let rounding = 1e-12 * (1.0 + closest.point_a.length());
                    let limit = self.limits.distance.max(rounding);
                    assert!(closest.distance <= limit, "{name}: {answer:?}");
                    let apart = closest.point_a.distance(closest.point_b);
                    assert!((apart - closest.distance).abs() <= rounding, "{name}: {answer:?}");
                }
            }
        }
        answer
    }
}

fn during(answer: TimeOfImpact) -> (f64, f64) {
    let TimeOfImpact::During { free, contact, .. } = answer else { panic!("{answer:?}") };
    (free, contact)
}

/// A small generator, so that a seed is all there is to print.
struct Draw(u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        jostle_dice::part(&mut self.0)
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }

    fn pose(&mut self, from: DVec3, spread: f64) -> Pose {
        let v = self.vector();
        let rotation = DQuat::from_xyzw(v.x, v.y, v.z, self.unit() * 2.0 - 1.0);
        Pose::new(rotation, from + self.vector() * spread).unwrap()
    }

    fn motion(&mut self, center: DVec3) -> Motion {
        let (start, end) = (self.pose(center, 2.0), self.pose(center, 2.0));
        match (self.unit() * 5.0) as u32 {
            0 => Motion::still(&start),
            1 | 2 => Motion::linear(&start, &end),
            _ => Motion::screw(&start, &end).unwrap(),
        }
    }
}

#[test]
fn random_motions_agree_with_sampling() {
    let shapes = [
        cuboid(1.0, 0.7, 0.4),
        cuboid(2.0, 2.0, 0.001),
        cuboid(3.0, 0.05, 0.05),
        model(solids::sphere(0.5, 0.03).unwrap()),
        model(solids::BumpyTorus::plain(1.0, 0.3, [16, 8]).mesh().unwrap()),
        model(solids::tetra_flake(2).unwrap()),
    ];
    let (mut never, mut touched, mut start) = (0, 0, 0);
    for seed in 0..150 {
        let mut draw = Draw(seed * 7919 + 1);
        let mut shape = || &shapes[(draw.unit() * shapes.len() as f64) as usize];
        let (a, b) = (shape(), shape());
        // Far from the world's zero too.
        let center = draw.vector() * if seed % 4 == 0 { 1e6 } else { 0.0 };
        let (motion_a, motion_b) = (draw.motion(center), draw.motion(center));
        let limits = TimeOfImpactLimits { time: 1e-7, distance: 1e-8, steps_max: 10_000 };
        let case = Case { a: (a, motion_a), b: (b, motion_b), limits };
        match case.checked(&format!("seed {seed}")) {
            TimeOfImpact::Never => never += 1,
            TimeOfImpact::AtStart => start += 1,
            TimeOfImpact::During { free, contact, .. } => {
                touched += 1;
                assert!(contact - free <= 1e-7, "seed {seed}");
            }
            TimeOfImpact::Unknown { free } => panic!("seed {seed}: {free}"),
        }
    }
    assert!(never > 20 && touched > 20 && start > 5, "{never} {touched} {start}");
}

#[test]
fn bullets_do_not_tunnel() {
    let wall = cuboid(1e-6, 10.0, 10.0);
    let bullets = [
        model(solids::sphere(0.01, 1e-4).unwrap()),
        cuboid(1e-6, 0.1, 0.1),
        cuboid(0.1, 1e-6, 0.1),
    ];
    for (i, bullet) in bullets.iter().enumerate() {
        for speed in [1.0, 1e3, 1e6] {
            let turn = DQuat::from_rotation_y(2.0);
            let (from, to) = (at(-0.73 * speed, 1.0, 2.0), turned(turn, 0.27 * speed, 1.0, 2.0));
            let motion = Motion::linear(&from, &to);
            let limits =
                TimeOfImpactLimits { time: 1e-14, distance: 1e-9 * speed, steps_max: 1000 };
            let case =
                Case { a: (bullet, motion), b: (&wall, Motion::still(&at(0.0, 0.0, 0.0))), limits };
            let few = (0..=10).any(|k| case.pair(f64::from(k) / 10.0).touches());
            let (free, contact) = during(case.checked(&format!("bullet {i} speed {speed}")));
            assert!((free - 0.73).abs() < 0.1 / speed && contact <= 0.73, "{free} {contact}");
            assert!(!few || speed < 1e3);
        }
    }
}

#[test]
fn a_bar_turns_against_a_post() {
    let (bar, post) = (cuboid(2.0, 0.02, 0.02), cuboid(0.02, 0.02, 4.0));
    // The post's axis at 60 degrees and 0.8 from the centre; the post is turned with the bar's
    // final direction, so flat sides meet: at the angle of 60 degrees less 0.02/0.8 or so.
    let direction = DQuat::from_rotation_z(PI / 3.0);
    let place = direction * DVec3::new(0.8, 0.0, 0.0);
    let still = Motion::still(&turned(direction, place.x, place.y, place.z));
    let spin = |angle: f64| {
        Motion::linear(&at(0.0, 0.0, 0.0), &turned(DQuat::from_rotation_z(angle), 0.0, 0.0, 0.0))
    };
    let limits = TimeOfImpactLimits { time: 1e-9, ..TimeOfImpactLimits::default() };
    let angle = 3.0;
    let case = Case { a: (&bar, spin(angle)), b: (&post, still), limits };
    let (free, contact) = during(case.checked("bar"));
    // The upper side of the bar meets the near corner of the post at radius r: its angle there is
    // that of the corner less asin(half/r).
    let half = f64::from(0.01f32);
    let r = (0.8 - half).hypot(half);
    let expected = (PI / 3.0 - 2.0 * (half / r).asin()) / angle;
    assert!(free <= expected && expected <= contact && contact - free <= 1e-9, "{free} {expected}");
    // It stops short of the post.
    let case = Case { a: (&bar, spin(1.0)), b: (&post, still), limits };
    assert_eq!(case.checked("short"), TimeOfImpact::Never);
}

/// A strip of a helicoid about the z-axis through (3, 0): `turns` turns of the given pitch.
fn thread(inner: f32, outer: f32, pitch: f32, turns: f32) -> Model {
    let steps = 96;
    let vertices = (0..=steps)
        .flat_map(|i| {
            let t = (i as f32 / steps as f32 - 0.5) * turns;
            let (sin, cos) = (t * std::f32::consts::TAU).sin_cos();
            [inner, outer].map(|r| Vec3::new(3.0 + r * cos, r * sin, pitch * t))
        })
        .collect();
    let faces = (0..steps).map(|i: u32| [2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2]);
    model(Mesh::from_polygons(vertices, faces).unwrap())
}

#[test]
fn a_bolt_turns_in_its_nut() {
    let pitch = 0.4;
    let (bolt, nut) = (thread(0.2, 1.0, 0.4, 3.0), thread(0.6, 1.4, 0.4, 6.0));
    let between = Motion::still(&at(0.0, 0.0, 0.5 * pitch));
    // A turn about the axis at x = 3, with the advance that the pitch asks for or another.
    let screw = |angle: f64, advance: f64| {
        let rotation = DQuat::from_rotation_z(angle);
        let shift = DVec3::new(3.0, 0.0, 0.0) - rotation * DVec3::new(3.0, 0.0, 0.0);
        turned(rotation, shift.x, shift.y, advance)
    };
    let limits = TimeOfImpactLimits { time: 1e-6, distance: 1e-9, steps_max: 5000 };
    let start = screw(0.0, 0.0);
    let fits = screw(3.0, pitch * 3.0 / (2.0 * PI));
    let case = |motion| Case { a: (&bolt, motion), b: (&nut, between), limits };
    assert_eq!(case(Motion::screw(&start, &fits).unwrap()).checked("fits"), TimeOfImpact::Never);
    // The same ends, but the origin of the mesh goes straight: the bolt leaves its axis.
    during(case(Motion::linear(&start, &fits)).checked("straight"));
    // The wrong way round.
    let wrong = screw(3.0, -pitch * 3.0 / (2.0 * PI));
    during(case(Motion::screw(&start, &wrong).unwrap()).checked("wrong"));
}

#[test]
fn still_models_and_empty_ones() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let empty = model(Mesh::from_triangles(vec![], vec![]).unwrap());
    let limits = TimeOfImpactLimits::default();
    let still = |x| Motion::still(&at(x, 0.0, 0.0));
    let case = |b, x| Case { a: (&cube, still(0.0)), b: (b, still(x)), limits };
    assert_eq!(case(&cube, 1.0).checked("touching"), TimeOfImpact::AtStart);
    assert_eq!(case(&cube, 1.0 + 1e-9).checked("apart"), TimeOfImpact::Never);
    assert_eq!(case(&cube, 7.0).checked("far apart"), TimeOfImpact::Never);
    assert_eq!(case(&empty, 0.0).checked("empty"), TimeOfImpact::Never);
    // Leaves at once, but did touch.
    let away = Motion::linear(&at(1.0, 0.0, 0.0), &at(5.0, 0.0, 0.0));
    let case = Case { a: (&cube, still(0.0)), b: (&cube, away), limits };
    assert_eq!(case.checked("leaves"), TimeOfImpact::AtStart);
}

#[test]
fn sliding_along_is_no_contact() {
    let (table, cube) = (cuboid(10.0, 10.0, 1.0), cuboid(1.0, 1.0, 1.0));
    let below = Motion::still(&at(0.0, 0.0, 0.0));
    let spin = DQuat::from_rotation_z(2.0);
    for gap in [1e-3, 1e-6, 1e-9, 1e-10] {
        for distance in [0.0, 1e-2] {
            let limits = TimeOfImpactLimits { distance, ..TimeOfImpactLimits::default() };
            let height = 1.0 + gap;
            let ends = [
                (at(-3.0, -1.0, height), at(4.0, 2.0, height)),
                (at(-3.0, -1.0, height), turned(spin, 4.0, 2.0, height)),
                // It lifts off.
                (at(-3.0, -1.0, height), at(4.0, 2.0, height + 2.0)),
            ];
            for (i, (from, to)) in ends.iter().enumerate() {
                let case =
                    Case { a: (&cube, Motion::linear(from, to)), b: (&table, below), limits };
                assert_eq!(case.checked(&format!("{i} {gap} {distance}")), TimeOfImpact::Never);
            }
            // It comes down a little too far.
            let sinks = Motion::linear(&at(-3.0, 0.0, height), &at(3.0, 0.0, 1.0 - gap));
            let case = Case { a: (&cube, sinks), b: (&table, below), limits };
            let (free, _) = during(case.checked(&format!("sinks {gap} {distance}")));
            assert!(free <= 0.5 && (free > 0.49 || distance > gap || gap < 1e-9), "{free}");
        }
    }
}

/// The tip of a turning bar passes a wall in a distance that is far below any step.
#[test]
fn grazing_ends() {
    let (bar, wall) = (cuboid(2.0, 0.2, 0.2), cuboid(0.5, 9.0, 9.0));
    let tip = 1f64.hypot(f64::from(0.1f32));
    let spin = |s: f64| turned(DQuat::from_rotation_z(s * FRAC_PI_2), 0.0, 0.0, 0.0);
    let turn = Motion::linear(&spin(-0.4), &spin(0.7));
    let mut kinds = [0; 2];
    for gap in [1e-2, 1e-5, 1e-8, 1e-11, 0.0, -1e-11, -1e-8, -1e-5, -1e-2] {
        let still = Motion::still(&at(tip + 0.25 + gap, 0.0, 0.0));
        for distance in [0.0, 1e-7] {
            let limits = TimeOfImpactLimits { distance, ..TimeOfImpactLimits::default() };
            let case = Case { a: (&bar, turn), b: (&wall, still), limits };
            match case.checked(&format!("gap {gap} distance {distance}")) {
                TimeOfImpact::Never => kinds[0] += 1,
                TimeOfImpact::During { .. } => kinds[1] += 1,
                other => panic!("gap {gap} distance {distance}: {other:?}"),
            }
            let never = case.ask() == TimeOfImpact::Never;
            assert!(if gap > 1e-10 + distance { never } else { gap > 0.0 || !never }, "{gap}");
        }
    }
    assert!(kinds[0] > 2 && kinds[1] > 2, "{kinds:?}");
}

#[test]
fn a_budget_ends_conservatively() {
    let torus = model(solids::BumpyTorus::plain(1.0, 0.3, [24, 12]).mesh().unwrap());
    let spin = DQuat::from_xyzw(0.4, -0.3, 0.5, 0.6);
    let motion = Motion::screw(&at(-4.0, 0.3, 0.2), &turned(spin, 1.0, 0.0, 0.0)).unwrap();
    let mut last = 0.0;
    let mut known = 0;
    for steps_max in 0..30 {
        let limits = TimeOfImpactLimits { steps_max, ..TimeOfImpactLimits::default() };
        let still = Motion::still(&Pose::IDENTITY);
        match (Case { a: (&torus, motion), b: (&torus, still), limits }).checked("budget") {
            TimeOfImpact::Unknown { free } => {
                assert!(free > last || steps_max == 0 && free == 0.0, "{steps_max}: {free}");
                last = free;
            }
            TimeOfImpact::During { .. } => known += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(last > 0.3 && known > 0, "{last} {known}");
}

/// Bits that are the same on every machine. (Another hierarchy may change the last of them: a time
/// may be found safe by boxes or by triangles.)
#[test]
fn golden_bits() {
    let (a, b) = (cuboid(1.0, 2.0, 3.0), cuboid(0.5, 4.0, 3.0));
    let ends = [(0.1, -0.7, 0.2, 0.5), (-0.3, 0.2, 0.6, 0.1)]
        .map(|(x, y, z, w)| (DQuat::from_xyzw(x, y, z, w), DQuat::from_xyzw(y, w, -x, z)));
    let far = (turned(ends[0].0, -6.0, 1.0, 0.5), turned(ends[0].1, 5.0, -0.5, 0.75));
    let near = (turned(ends[1].0, -1.0, 0.25, 0.5), turned(ends[1].1, 0.5, 0.0, 1.0));
    let limits = TimeOfImpactLimits::default();
    let linear = (Motion::linear(&far.0, &far.1), Motion::linear(&near.0, &near.1));
    let screw = (Motion::screw(&far.0, &far.1).unwrap(), Motion::screw(&near.0, &near.1).unwrap());
    let found = [linear, screw].map(|(motion_a, motion_b)| {
        let case = Case { a: (&a, motion_a), b: (&b, motion_b), limits };
        let (free, contact) = during(case.checked("golden"));
        [free.to_bits(), contact.to_bits()]
    });
    let expected = [
        [0x3fcf_29b8_2986_381e, 0x3fcf_29c0_8d02_0878],
        [0x3fce_4bd2_2e5b_17a1, 0x3fce_4bda_91d6_e7fb],
    ];
    assert_eq!(found, expected, "{found:#018x?}");
}
