//! Senders, receivers and histories of places: when updates are due, that time never goes back, and
//! how what is shown converges.

mod reckon_common;

use glam::DVec3;
use jostle_proto::reckon::closed::Closed;
use jostle_proto::reckon::history::{Angles, Bend, Was, bend, continued};
use jostle_proto::reckon::predict::Surroundings;
use jostle_proto::reckon::{
    Convergence, Motion, Place, Receiver, Refused, Sender, Thresholds, Tracking, Update, UpdateData,
};
use jostle_proto::{Span, Time};
use reckon_common::{Dice, turned};

const FRAME: u64 = 16_667;

fn thresholds() -> Thresholds {
    Thresholds { error: 0.3, turn: 0.2, time: Span::from_ms(2000) }
}

/// An object that turns now and then.
fn wander(dice: &mut Dice, truth: &mut Motion) {
    if dice.below(30) == 0 {
        truth.speed.linear = dice.vector(5.0);
        truth.change.linear = dice.vector(5.0);
        truth.speed.angular = dice.vector(2.0);
    }
    *truth = truth.after(FRAME as f64 / 1e6);
}

#[test]
fn without_latency_nobody_is_wrong_by_more_than_the_thresholds() {
    let around = Surroundings::default();
    for seed in 0..60 {
        let tracking = [Tracking::First, Tracking::Second, Tracking::History][seed as usize % 3];
        let mut dice = Dice(seed);
        let (mut sender, mut receiver) = (Sender::new(tracking), Receiver::new(Convergence::Jump));
        let mut truth = dice.motion();
        let (mut sent, mut last) = (0, Time(0));
        for frame in 0..600 {
            let now = Time(frame * FRAME);
            let due = sender.step(now, &truth, &thresholds(), &around).unwrap();
            // The slow twin: what the receiver shows without this update.
            let shown = receiver.show(now, &around);
            let wrong = shown.is_none_or(|shown| {
                let angle = shown.rotation.angle_between(truth.place.rotation);
                shown.distance(&truth.place) > 0.3 || angle > 0.2 || now - last >= thresholds().time
            });
            assert_eq!(due.is_some(), wrong, "seed {seed} frame {frame}");
            if let Some(update) = due {
                receiver.receive(now, &update, &around).unwrap();
                (sent, last) = (sent + 1, now);
            }
            let shown = receiver.show(now, &around).unwrap();
            assert!(shown.distance(&truth.place) <= 0.3, "seed {seed} frame {frame}");
            wander(&mut dice, &mut truth);
        }
        assert!((5..300).contains(&sent), "seed {seed}: {sent}");
    }
}

#[test]
fn who_stands_still_is_heard_of_when_the_time_is_up() {
    let around = Surroundings::default();
    let mut sender = Sender::new(Tracking::First);
    let truth = Motion::still(Place::at(DVec3::ONE));
    let sent: Vec<u64> = (0..600)
        .map(|frame| frame * FRAME)
        .filter(|&now| sender.step(Time(now), &truth, &thresholds(), &around).unwrap().is_some())
        .collect();
    assert_eq!(sent, [0, 120 * FRAME, 240 * FRAME, 360 * FRAME, 480 * FRAME]);
    // Twice in the same moment, or before: nothing new.
    let now = Time(480 * FRAME);
    let far = Motion::still(Place::at(DVec3::ONE * 9.0));
    assert_eq!(sender.step(now, &far, &thresholds(), &around), Ok(None));
    assert_eq!(sender.step(Time(0), &far, &thresholds(), &around), Ok(None));
    let none = Motion::still(Place::at(DVec3::NAN));
    assert!(sender.step(Time(u64::MAX), &none, &thresholds(), &around).is_err());
    let never = Thresholds { error: f64::NAN, ..thresholds() };
    assert!(sender.step(Time(u64::MAX), &far, &never, &around).is_err());
}

/// Loss, doubles and reordering: what is shown is always that of the newest update that has come.
#[test]
fn receivers_never_go_back_in_time() {
    let around = Surroundings::default();
    let mut overtaken = 0;
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let mut arrivals: Vec<(u64, Update)> = Vec::new();
        for seq in 0..60 {
            let stamp = Time(1 + seq * 50_000);
            let data = match dice.below(3) {
                0 => UpdateData::First(dice.motion().place, dice.motion().speed),
                1 => UpdateData::Second(dice.motion()),
                _ => UpdateData::Place(dice.motion().place),
            };
            for _ in 0..[0, 1, 1, 1, 2][dice.below(5) as usize] {
                arrivals.push((stamp.0 + dice.below(400_000), Update { seq, stamp, data }));
            }
        }
        arrivals.sort_by_key(|&(at, update)| (at, update.seq));
        let mut receiver = Receiver::new(Convergence::Jump);
        let mut newest: Option<u64> = None;
        let mut shown_at = Time(0);
        for &(at, update) in &arrivals {
            let fresh = newest.is_none_or(|newest| update.seq > newest);
            let before = receiver.path();
            let taken = receiver.receive(Time(at), &update, &around);
            assert_eq!(taken.is_ok(), fresh, "seed {seed}: {taken:?}");
            if fresh {
                newest = Some(update.seq);
            } else {
                overtaken += 1;
                assert_eq!(taken, Err(Refused::Stale { seq: update.seq }));
                assert_eq!(receiver.path(), before, "seed {seed}");
            }
            let stamp = receiver.stamp().unwrap();
            assert_eq!(stamp.0, 1 + newest.unwrap() * 50_000, "seed {seed}");
            // Asked about the past, it answers about the last moment.
            let place = receiver.show(Time(at), &around).unwrap();
            assert!(Time(at) >= shown_at);
            shown_at = Time(at);
            assert_eq!(
                receiver.show(Time(at.saturating_sub(dice.below(9_000))), &around),
                Some(place)
            );
        }
    }
    assert!(overtaken > 1000, "{overtaken}");
}

#[test]
fn updates_from_the_future_are_refused() {
    let around = Surroundings::default();
    let mut receiver = Receiver::new(Convergence::Jump);
    let data = UpdateData::Place(Place::at(DVec3::ZERO));
    let update = Update { seq: 9, stamp: Time(5_000_001), data };
    let refused = receiver.receive(Time(4_000_000), &update, &around);
    assert_eq!(refused, Err(Refused::Early { by: Span(1_000_001) }));
    assert_eq!(receiver.show(Time(4_000_000), &around), None);
    receiver.receive(Time(4_000_001), &update, &around).unwrap();
    assert_eq!(receiver.show(Time(4_000_001), &around), Some(Place::at(DVec3::ZERO)));
}

/// The polynomial of Lagrange through the three places, as slow and obvious as it gets.
#[test]
fn smooth_histories_continue_on_the_parabola_through_three_places() {
    let always = Angles { sharp: 1.0, straight: -1.0 };
    for seed in 0..500 {
        let mut dice = Dice(seed);
        let times = [0.0, -dice.number(0.02, 1.0), -1.0 - dice.number(0.02, 1.0)];
        let places = [dice.vector(9.0), dice.vector(9.0), dice.vector(9.0)];
        let (start, axis) = (dice.rotation(), dice.direction());
        let angles = [0.0, dice.number(-1.0, 1.0), dice.number(-2.0, 2.0)];
        let history: Vec<Was> = (0..3)
            .map(|i| Was {
                stamp: Time((4e6 + times[i] * 1e6).round() as u64),
                place: Place {
                    position: places[i],
                    rotation: jostle_geom::rotation_from_scaled_axis(axis * angles[i]).unwrap()
                        * start,
                },
            })
            .collect();
        let times = [0, 1, 2].map(|i| (history[i].stamp.0 as f64 - 4e6) / 1e6);
        let lagrange = |at: f64| -> [f64; 3] {
            [[0, 1, 2], [1, 0, 2], [2, 0, 1]].map(|[i, j, k]| {
                (at - times[j]) * (at - times[k]) / ((times[i] - times[j]) * (times[i] - times[k]))
            })
        };
        let motion = continued(&history, &always).unwrap();
        for at in [times[2], times[1], 0.0, -times[1], 0.5, 2.0] {
            let weights = lagrange(at);
            let right: DVec3 = (0..3).map(|i| places[i] * weights[i]).sum();
            let found = motion.after(at).place;
            let scale = 1.0 + weights.iter().map(|weight| weight.abs()).sum::<f64>();
            assert!(found.position.distance(right) < 1e-11 * scale, "seed {seed} at {at}");
            let angle: f64 = (0..3).map(|i| angles[i] * weights[i]).sum();
            let right = jostle_geom::rotation_from_scaled_axis(axis * angle).unwrap() * start;
            assert!(turned(found.rotation, right) < 1e-11 * scale, "seed {seed} at {at}");
        }
    }
}

fn history(positions: &[[f64; 2]]) -> Vec<Was> {
    let newest = positions.iter().rev().enumerate();
    newest
        .map(|(i, &[x, z])| Was {
            stamp: Time(9_000_000 - 100_000 * i as u64),
            place: Place::at(DVec3::new(x, 0.0, z)),
        })
        .collect()
}

#[test]
fn bends_are_sharp_smooth_or_straight() {
    let angles = Angles::default();
    for (positions, expected) in [
        (&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.01]][..], Bend::Straight),
        (&[[0.0, 0.0], [1.0, 0.0], [1.9, 0.4]], Bend::Smooth),
        (&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], Bend::Sharp),
        (&[[0.0, 0.0], [1.0, 0.0], [0.0, 0.1]], Bend::Sharp),
        (&[[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]], Bend::Sharp),
        (&[[0.0, 0.0], [1.0, 0.0]], Bend::Sharp),
    ] {
        let history = history(positions);
        assert_eq!(bend(&history, &angles), expected, "{positions:?}");
        let motion = continued(&history, &angles).unwrap();
        if expected == Bend::Sharp {
            let way = history[0].place.position - history[1].place.position;
            assert!(motion.speed.linear.distance(way / 0.1) < 1e-12, "{positions:?}");
            assert_eq!(motion.change.linear, DVec3::ZERO);
        }
    }
    let one = continued(&history(&[[3.0, 4.0]]), &angles).unwrap();
    assert_eq!(one, Motion::still(Place::at(DVec3::new(3.0, 0.0, 4.0))));
    assert_eq!(continued(&[], &angles), None);
    assert!(Angles { sharp: f64::NAN, straight: -1.0 }.check().is_err());
    assert!(Angles { sharp: -0.9, straight: 0.9 }.check().is_err());
}

/// Every way to converge begins where the object was shown, has no jumps, and ends on the path.
#[test]
fn convergence_is_smooth_and_ends_on_the_path() {
    let around = Surroundings::default();
    for seed in 0..100 {
        let mut dice = Dice(seed);
        let time = Span::from_ms(100 + dice.below(400));
        let all = [Convergence::Line(time), Convergence::Curve(time), Convergence::History];
        let convergence = all[seed as usize % 3];
        let mut receiver = Receiver::new(convergence);
        let update = |seq, stamp, dice: &mut Dice| {
            let data = match convergence {
                Convergence::History => UpdateData::Place(Place::at(dice.vector(2.0))),
                _ => UpdateData::First(Place::at(dice.vector(2.0)), dice.motion().speed),
            };
            Update { seq, stamp: Time(stamp), data }
        };
        let mut shown: Option<Place> = None;
        for frame in 0..600u64 {
            let now = Time(frame * 1_000);
            if frame % 250 == 0 {
                let update = update(frame, frame * 1_000 + 1, &mut dice);
                receiver.receive(now, &update, &around).unwrap();
            }
            let place = receiver.show(now, &around).unwrap();
            if let Some(before) = shown {
                // A jump would be metres; corrections are not that fast in a millisecond.
                assert!(before.distance(&place) < 0.3, "seed {seed} frame {frame}");
            }
            shown = Some(place);
            let since = frame % 250;
            let over = match convergence {
                Convergence::History => false,
                _ => frame < 250 || since * 1_000 > time.0,
            };
            if over {
                assert_eq!(place, receiver.path().unwrap().at(now).place, "seed {seed}");
            }
        }
    }
}

#[test]
fn jumps_are_at_once_and_lines_are_lines() {
    let around = Surroundings::default();
    let update = |seq, x| {
        let data = UpdateData::Place(Place::at(DVec3::X * x));
        Update { seq, stamp: Time(seq * 1_000_000), data }
    };
    for (convergence, expected) in
        [(Convergence::Jump, [8.0, 8.0]), (Convergence::Line(Span::from_ms(400)), [2.0, 6.0])]
    {
        let mut receiver = Receiver::new(convergence);
        // Places alone would be extrapolated; a thing at rest is not.
        let rest = |update: Update| match update.data {
            UpdateData::Place(place) => {
                Update { data: UpdateData::Second(Motion::still(place)), ..update }
            }
            _ => update,
        };
        receiver.receive(Time(0), &rest(update(0, 0.0)), &around).unwrap();
        receiver.show(Time(1_000_000), &around);
        receiver.receive(Time(1_000_000), &rest(update(1, 8.0)), &around).unwrap();
        let at = |ms: u64, receiver: &mut Receiver| {
            receiver.show(Time(1_000_000 + 1000 * ms), &around).unwrap().position.x
        };
        let found = [at(100, &mut receiver), at(300, &mut receiver)];
        assert!(
            (found[0] - expected[0]).abs() + (found[1] - expected[1]).abs() < 1e-12,
            "{found:?}"
        );
        assert_eq!(at(400, &mut receiver), 8.0);
    }
}

/// The parabola sets off as the object was seen to move: the first millisecond is as the last one.
#[test]
fn curves_have_no_kink_where_they_begin() {
    let around = Surroundings::default();
    let moving = |position, velocity| {
        let mut motion = Motion::still(Place::at(position));
        motion.speed.linear = velocity;
        UpdateData::Second(motion)
    };
    let kink = |convergence| {
        let mut receiver = Receiver::new(convergence);
        let first = Update { seq: 0, stamp: Time(0), data: moving(DVec3::ZERO, DVec3::X * 3.0) };
        receiver.receive(Time(0), &first, &around).unwrap();
        let data = moving(DVec3::Y * 4.0, DVec3::Z);
        let second = Update { seq: 1, stamp: Time(1_000_000), data };
        let mut shown = Vec::new();
        for ms in 998..1002 {
            if ms == 1001 {
                receiver.receive(Time(ms * 1000), &second, &around).unwrap();
            }
            shown.push(receiver.show(Time(ms * 1000), &around).unwrap().position);
        }
        let velocity = |i: usize| (shown[i + 1] - shown[i]) / 1e-3;
        velocity(2).distance(velocity(1))
    };
    // Twice what is left of the way, over the square of the time: 60 m/s² or so.
    assert!(kink(Convergence::Curve(Span::from_ms(400))) < 0.06);
    assert!(kink(Convergence::Line(Span::from_ms(400))) > 5.0);
}

/// One message, whatever the latency.
#[test]
fn a_formula_is_sent_once() {
    let around = Surroundings::default();
    let from = Place::at(DVec3::new(0.0, 1.0, 0.0));
    let mut speed = Motion::still(from).speed;
    speed.linear = DVec3::new(50.0, 2.0, 0.0);
    let ball = Closed::Projectile { from, speed, gravity: [0.0, -9.81, 0.0] };
    let mut sender = Sender::new(Tracking::First);
    let mut receiver = Receiver::new(Convergence::Jump);
    let update = sender.launch(Time(0), ball).unwrap();
    let exact = Thresholds { error: 1e-9, turn: 1e-9, time: Span::from_ms(5000) };
    receiver.receive(Time(480_000), &update, &around).unwrap();
    for frame in 1..60 {
        let now = Time(frame * FRAME);
        let truth = ball.after((now - Time(0)).as_seconds());
        assert_eq!(sender.step(now, &truth, &exact, &around), Ok(None));
        let shown = receiver.show(now, &around).unwrap();
        assert_eq!(shown, truth.place);
    }
    let bad = Closed::Projectile { from, speed, gravity: [f64::NAN; 3] };
    assert!(sender.launch(Time(9_000_000), bad).is_err());
}
