//! Formulas of motion against numeric integration, and numbers that are refused.

mod reckon_common;

use glam::{DQuat, DVec3};
use jostle_geom::rotation_from_scaled_axis;
use jostle_proto::Time;
use jostle_proto::reckon::closed::Closed;
use jostle_proto::reckon::{Motion, Place, Rates, Refused, Tracker, Update, UpdateData, turn_of};
use reckon_common::{Dice, turned};

/// Many small steps, each with the velocities in the middle of it.
fn integrate(
    start: &Motion,
    seconds: f64,
    steps: u32,
    change: impl Fn(f64, DVec3) -> Rates,
) -> Motion {
    let step = seconds / f64::from(steps);
    let mut motion = *start;
    for i in 0..steps {
        let middle = change((f64::from(i) + 0.5) * step, motion.speed.linear);
        let speed = |speed: DVec3, change: DVec3| speed + change * (0.5 * step);
        let linear = speed(motion.speed.linear, middle.linear);
        let angular = speed(motion.speed.angular, middle.angular);
        motion.place.position += linear * step;
        motion.place.rotation =
            rotation_from_scaled_axis(angular * step).unwrap() * motion.place.rotation;
        motion.speed.linear += middle.linear * step;
        motion.speed.angular += middle.angular * step;
    }
    motion
}

fn assert_near(found: &Motion, right: &Motion, most: f64, what: &str) {
    let position = found.place.distance(&right.place);
    let rotation = turned(found.place.rotation, right.place.rotation);
    let speed = found.speed.linear.distance(right.speed.linear);
    let spin = found.speed.angular.distance(right.speed.angular);
    for off in [position, rotation, speed, spin] {
        assert!(off < most, "{what}: {off}\n{found:?}\n{right:?}");
    }
}

#[test]
fn both_orders_are_the_integral_of_their_accelerations() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let mut start = dice.motion();
        if seed % 2 == 0 {
            start.change = Rates::default();
        }
        let seconds = dice.number(0.0, 3.0);
        let slow = integrate(&start, seconds, 2000, |_, _| start.change);
        assert_near(&start.after(seconds), &slow, 1e-8, &format!("seed {seed}"));
    }
}

/// With another axis for the change the rotation is no longer exact, but off by the third power of
/// the time only.
#[test]
fn a_change_of_axis_costs_the_third_order() {
    let mut start = Motion::still(Place::at(DVec3::ZERO));
    start.speed.angular = DVec3::X;
    start.change.angular = DVec3::Y;
    let off = |seconds: f64| {
        let slow = integrate(&start, seconds, 4000, |_, _| start.change);
        turned(start.after(seconds).place.rotation, slow.place.rotation)
    };
    let (long, short) = (off(0.2), off(0.1));
    assert!(long > 1e-6 && (6.0..10.0).contains(&(long / short)), "{long} {short}");
}

#[test]
fn the_angle_of_a_rotation_as_the_library_has_it() {
    for seed in 0..20_000 {
        let mut dice = Dice(seed);
        let size = [3.1, 1.0, 1e-3, 1e-9][seed as usize % 4];
        let by = dice.direction() * dice.number(0.0, size);
        let rotation = rotation_from_scaled_axis(by).unwrap();
        let vector = rotation.xyz();
        let angle = 2.0 * vector.length().atan2(rotation.w);
        for same in [rotation, -rotation] {
            let found = turn_of(same);
            assert!(found.distance(by) < 4e-15 * (1.0 + by.length()), "seed {seed}: {found} {by}");
            assert!((found.length() - angle).abs() < 4e-15, "seed {seed}");
        }
    }
    assert_eq!(turn_of(DQuat::IDENTITY), DVec3::ZERO);
    let half = turn_of(DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0));
    assert!(half.distance(DVec3::Y * std::f64::consts::PI) < 1e-15, "{half}");
}

#[test]
fn formulas_are_the_integral_of_their_laws() {
    for seed in 0..150 {
        let mut dice = Dice(seed);
        let Motion { place: from, speed, .. } = dice.motion();
        let seconds = dice.number(0.0, 3.0);
        let spin = dice.direction() * dice.number(-2.0, 2.0);
        let centre = dice.vector(20.0);
        let slowing = dice.number(0.5, 9.0);
        let closed = match seed % 3 {
            0 => Closed::Projectile { from, speed, gravity: [0.3, -9.81, 0.1] },
            1 => Closed::Orbit { from, centre: centre.into(), spin: spin.into() },
            _ => Closed::Roll { from, velocity: speed.linear.into(), slowing },
        };
        let begin = closed.after(0.0);
        assert!(begin.place.position.distance(from.position) < 1e-12, "seed {seed}");
        let step = seconds / 4000.0;
        let law = |_: f64, velocity: DVec3| {
            let linear = match closed {
                Closed::Projectile { gravity, .. } => DVec3::from(gravity),
                Closed::Orbit { .. } => spin.cross(velocity + spin.cross(velocity) * (0.5 * step)),
                // Not more than it takes to stand.
                Closed::Roll { .. } => {
                    velocity.normalize_or_zero() * -slowing.min(velocity.length() / step)
                }
            };
            Rates { linear, angular: DVec3::ZERO }
        };
        let slow = integrate(&begin, seconds, 4000, law);
        let found = closed.after(seconds);
        assert_near(&found, &slow, 5e-3, &format!("seed {seed}"));
        // Its velocity and its acceleration are how it changes.
        let h = 1e-4;
        let rest = matches!(closed, Closed::Roll { .. })
            && (speed.linear.length() / slowing - seconds).abs() < 2.0 * h;
        if seconds > h && !rest {
            let (before, after) = (closed.after(seconds - h), closed.after(seconds + h));
            let slope = (after.place.position - before.place.position) / (2.0 * h);
            assert!(slope.distance(found.speed.linear) < 1e-5, "seed {seed}");
            let slope = (after.speed.linear - before.speed.linear) / (2.0 * h);
            assert!(slope.distance(found.change.linear) < 1e-4, "seed {seed}");
        }
    }
}

#[test]
fn an_orbit_keeps_its_distance_and_its_side() {
    let from = Place::at(DVec3::new(4.0, 7.0, 0.0));
    let closed = Closed::Orbit { from, centre: [1.0, 0.0, 0.0], spin: [0.0, 2.0, 0.0] };
    for i in 0..100 {
        let at = closed.after(f64::from(i) * 0.1).place;
        let arm = at.position - DVec3::new(1.0, 7.0, 0.0);
        assert!((arm.length() - 3.0).abs() < 1e-12 && arm.y.abs() < 1e-12);
        assert!((at.rotation * DVec3::X).distance(arm / 3.0) < 1e-12);
    }
}

/// Every number of an update in turn.
#[test]
fn numbers_that_are_none_are_refused() {
    let good = Motion::still(Place::at(DVec3::ZERO));
    let roll = Closed::Roll { from: good.place, velocity: [1.0, 0.0, 0.0], slowing: 1.0 };
    let projectile =
        Closed::Projectile { from: good.place, speed: good.speed, gravity: [0.0, -9.8, 0.0] };
    let orbit = Closed::Orbit { from: good.place, centre: [1.0; 3], spin: [1.0; 3] };
    let data = [
        UpdateData::Place(good.place),
        UpdateData::First(good.place, good.speed),
        UpdateData::Second(good),
        UpdateData::Closed(roll),
        UpdateData::Closed(projectile),
        UpdateData::Closed(orbit),
    ];
    let mut spoiled = 0;
    for data in data {
        let update = Update { seq: 0, stamp: Time(5), data };
        Tracker::default().take(&update).unwrap();
        let bytes = postcard::to_allocvec(&update).unwrap();
        assert_eq!(postcard::from_bytes::<Update>(&bytes).unwrap(), update);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e13] {
            // Numbers stand at the end, eight bytes each.
            for at in (3..bytes.len()).filter(|at| (bytes.len() - at).is_multiple_of(8)) {
                let mut bytes = bytes.clone();
                bytes[at..at + 8].copy_from_slice(&bad.to_le_bytes());
                let update: Update = postcard::from_bytes(&bytes).unwrap();
                let mut tracker = Tracker::default();
                let refused = tracker.take(&update);
                assert!(matches!(refused, Err(Refused::BadNumber(_))), "{update:?}");
                assert_eq!(tracker.path(), None);
                spoiled += 1;
            }
        }
    }
    assert!(spoiled > 200, "{spoiled}");
    let none = Place { position: DVec3::ZERO, rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0) };
    assert!(none.check().is_err());
    let gains = Closed::Roll { from: good.place, velocity: [1.0; 3], slowing: -1.0 };
    assert!(gains.check().is_err());
}

#[test]
fn any_bytes_are_taken_or_refused_and_what_is_shown_is_finite() {
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..20_000 {
        let mut dice = Dice(seed);
        let update = Update { seq: 1, stamp: Time(7), data: UpdateData::Second(dice.motion()) };
        let mut bytes = postcard::to_allocvec(&update).unwrap();
        for _ in 0..dice.below(4) {
            let at = dice.below(bytes.len() as u64) as usize;
            bytes[at] = dice.bits() as u8;
        }
        let Ok(update) = postcard::from_bytes::<Update>(&bytes) else { continue };
        let mut tracker = Tracker::default();
        match tracker.take(&update) {
            Ok(()) => {
                taken += 1;
                let shown = tracker.path().unwrap().at(Time(u64::MAX)).place;
                assert!(shown.position.is_finite() && shown.rotation.is_finite(), "seed {seed}");
            }
            Err(_) => refused += 1,
        }
    }
    assert!(taken > 1000 && refused > 100, "{taken} {refused}");
}
