//! What is extrapolated never enters others, and contacts are where dense sampling finds them.

mod reckon_common;

use glam::DVec3;
use jostle_geom::{Model, Pair, Pose, Quality, solids};
use jostle_proto::reckon::closed::Closed;
use jostle_proto::reckon::predict::{Body, Obstacle, Response, SKIN, Surroundings, follow, sweep};
use jostle_proto::reckon::track::{Course, Path};
use jostle_proto::reckon::{Convergence, Motion, Place, Receiver, Sender, Thresholds, Tracking};
use jostle_proto::{Span, Time};
use reckon_common::Dice;
use std::sync::Arc;

const FRAME: u64 = 16_667;
const RADIUS: f64 = 0.5;
const ROOM: f64 = 6.0;

fn still(position: DVec3) -> Path {
    Path { since: Time(0), course: Course::Even(Motion::still(Place::at(position))) }
}

fn going(position: DVec3, velocity: DVec3) -> Path {
    let mut motion = Motion::still(Place::at(position));
    motion.speed.linear = velocity;
    Path { since: Time(0), course: Course::Even(motion) }
}

fn ball(path: Path, radius: f64) -> Obstacle {
    Obstacle::Thing { path, radius, model: None }
}

fn around(response: Response, obstacles: Vec<Obstacle>) -> Surroundings {
    let body = Body { radius: RADIUS, model: None };
    let mut around = Surroundings::new(body, response).unwrap();
    obstacles.into_iter().for_each(|obstacle| around.add(obstacle).unwrap());
    around
}

fn walls() -> Vec<Obstacle> {
    let sides = [DVec3::X, DVec3::Y, DVec3::Z].into_iter().flat_map(|side| [side, -side]);
    sides.map(|normal| Obstacle::Wall { normal, offset: -ROOM }).collect()
}

/// How far the surfaces are apart; below zero if they overlap.
fn gap(position: DVec3, balls: &[(DVec3, f64)]) -> f64 {
    let apart = |&(centre, radius): &(DVec3, f64)| position.distance(centre) - radius - RADIUS;
    let walls = ROOM - RADIUS - position.abs().max_element();
    balls.iter().map(apart).fold(walls, f64::min)
}

#[test]
fn the_first_contact_is_where_dense_sampling_finds_it() {
    let (mut met, mut missed) = (0, 0);
    for seed in 0..400 {
        let mut dice = Dice(seed);
        let (from, centre, drift) = (dice.vector(4.0), dice.vector(4.0), dice.vector(3.0));
        // Aimed, more or less.
        let velocity = centre - from + drift + dice.vector(2.0);
        if from.distance(centre) < 1.6 {
            continue;
        }
        let around = around(Response::Stop, vec![ball(going(centre, drift), 1.0)]);
        let end = Time(2_000_000);
        let path = follow(going(from, velocity), Time(0), end, &around);
        let sampled = (0..=200_000)
            .map(|i| f64::from(i) * 1e-5)
            .find(|&t| (from + velocity * t).distance(centre + drift * t) <= RADIUS + 1.0 + SKIN);
        match sampled {
            Some(t) => {
                met += 1;
                let found = (path.since - Time(0)).as_seconds();
                assert!(found <= t && t - found < 1.2e-5, "seed {seed}: {found} {t}");
                let at = path.at(path.since).place.position;
                assert!(at.distance(from + velocity * found) < 1e-9, "seed {seed}");
            }
            None => {
                missed += 1;
                assert_eq!(path.since, Time(0), "seed {seed}");
            }
        }
    }
    assert!(met > 100 && missed > 100, "{met} {missed}");
}

#[test]
fn bounces_off_walls_are_as_in_a_mirror() {
    let around = around(Response::Bounce, walls());
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let (from, velocity) = (dice.vector(5.0), dice.vector(9.0));
        let path = follow(going(from, velocity), Time(0), Time(3_000_000), &around);
        let found = path.at(Time(3_000_000)).place.position;
        // The slow twin: each coordinate goes to and fro on its own.
        let side = ROOM - RADIUS - SKIN;
        let mirrored = |start: f64, speed: f64| {
            let way = (start + speed * 3.0 + side).rem_euclid(4.0 * side);
            if way < 2.0 * side { way - side } else { 3.0 * side - way }
        };
        for axis in 0..3 {
            let right = mirrored(from[axis], velocity[axis]);
            // A microsecond early at each of a few walls.
            assert!((found[axis] - right).abs() < 2e-4, "seed {seed}: {found} {right}");
        }
    }
}

/// The truth bounces about and turns at will among balls and walls, and keeps a millimetre away.
struct Truth {
    motion: Motion,
    balls: Vec<(DVec3, f64)>,
}

impl Truth {
    fn new(dice: &mut Dice) -> Truth {
        let balls: Vec<(DVec3, f64)> =
            (0..4).map(|_| (dice.vector(ROOM), dice.number(0.5, 1.5))).collect();
        loop {
            let position = dice.vector(ROOM);
            if gap(position, &balls) > 0.01 {
                return Truth { motion: Motion::still(Place::at(position)), balls };
            }
        }
    }

    fn step(&mut self, dice: &mut Dice) {
        if dice.below(20) == 0 {
            self.motion.speed.linear = dice.vector(8.0);
            self.motion.change.linear = dice.vector(8.0);
            self.motion.speed.angular = dice.vector(1.0);
        }
        let next = self.motion.after(FRAME as f64 / 1e6);
        if gap(next.place.position, &self.balls) > 0.001 {
            self.motion = next;
        } else {
            self.motion.speed.linear = -self.motion.speed.linear;
            self.motion.change.linear = DVec3::ZERO;
        }
    }
}

#[test]
fn what_is_shown_never_enters_others_whatever_is_lost() {
    let (mut near, mut plain_inside) = (0, 0);
    for seed in 0..120 {
        let mut dice = Dice(seed);
        let tracking = [Tracking::First, Tracking::Second, Tracking::History][seed as usize % 3];
        let response = [Response::Stop, Response::Bounce][seed as usize / 3 % 2];
        let smooth = Span::from_ms(150);
        let convergence = [
            Convergence::Jump,
            Convergence::Line(smooth),
            Convergence::Curve(smooth),
            Convergence::History,
        ][seed as usize / 6 % 4];
        let mut truth = Truth::new(&mut dice);
        let mut obstacles = walls();
        obstacles.extend(truth.balls.iter().map(|&(centre, radius)| ball(still(centre), radius)));
        let around = around(response, obstacles);
        let nothing = Surroundings::default();
        let thresholds = Thresholds { error: 0.4, turn: 0.5, time: Span::from_ms(3000) };
        let mut sender = Sender::new(tracking);
        let (mut receiver, mut plain) =
            (Receiver::new(convergence), Receiver::new(Convergence::Jump));
        let mut on_its_way = Vec::new();
        for frame in 0..600 {
            let now = Time(frame * FRAME);
            let update = sender.step(now, &truth.motion, &thresholds, &around).unwrap();
            if let Some(update) = update
                && (frame == 0 || dice.below(4) > 0)
            {
                on_its_way.push((now + Span(dice.below(400_000)), update));
            }
            for (_, update) in on_its_way.extract_if(.., |(arrives, _)| *arrives <= now) {
                // Some are overtaken.
                let taken = receiver.receive(now, &update, &around);
                assert_eq!(taken.is_ok(), plain.receive(now, &update, &nothing).is_ok());
            }
            if let Some(shown) = receiver.show(now, &around) {
                let gap = gap(shown.position, &truth.balls);
                assert!(gap > 0.0, "seed {seed} frame {frame}: {gap} {convergence:?} {tracking:?}");
                near += u32::from(gap < 2.0 * SKIN);
            }
            let plain = plain.show(now, &nothing);
            plain_inside +=
                u32::from(plain.is_some_and(|shown| gap(shown.position, &truth.balls) < 0.0));
            truth.step(&mut dice);
        }
    }
    // It would have, and it was held back.
    assert!(near > 1000 && plain_inside > 1000, "{near} {plain_inside}");
}

/// The sender foresees the bounces that others show, so it knows how wrong they are.
#[test]
fn without_latency_the_sender_knows_what_others_predict() {
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let tracking = [Tracking::First, Tracking::Second, Tracking::History][seed as usize % 3];
        let mut truth = Truth::new(&mut dice);
        let mut obstacles = walls();
        obstacles.extend(truth.balls.iter().map(|&(centre, radius)| ball(still(centre), radius)));
        let around = around(Response::Bounce, obstacles);
        let thresholds = Thresholds { error: 0.4, turn: 0.5, time: Span::from_ms(3000) };
        let (mut sender, mut receiver) = (Sender::new(tracking), Receiver::new(Convergence::Jump));
        for frame in 0..400 {
            let now = Time(frame * FRAME);
            let update = sender.step(now, &truth.motion, &thresholds, &around).unwrap();
            update.iter().for_each(|update| receiver.receive(now, update, &around).unwrap());
            let shown = receiver.show(now, &around).unwrap();
            let error = shown.distance(&truth.motion.place);
            assert!(error <= 0.4, "seed {seed} frame {frame}: {error}");
            truth.step(&mut dice);
        }
    }
}

#[test]
fn models_come_as_close_as_the_skin_and_do_not_touch() {
    let model = |size| Arc::new(Model::build(solids::cuboid(size).unwrap(), Quality::Default));
    let (cube, plank) = (model(DVec3::ONE), model(DVec3::new(0.2, 3.0, 3.0)));
    let body = Body { radius: cube.radius(), model: Some(Arc::clone(&cube)) };
    let mut stopped = 0;
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let mut around = Surroundings::new(body.clone(), Response::Stop).unwrap();
        let place = Place { position: dice.vector(1.0), rotation: dice.rotation() };
        let mut moving = Motion::still(place);
        moving.speed.linear = dice.vector(1.0);
        moving.speed.angular = dice.vector(1.0);
        let path = Path { since: Time(0), course: Course::Even(moving) };
        let radius = plank.radius();
        around.add(Obstacle::Thing { path, radius, model: Some(Arc::clone(&plank)) }).unwrap();
        let start = dice.direction() * 5.0;
        let mut flying = dice.motion();
        flying.place.position = start;
        flying.speed.linear = -start;
        let expected = follow(
            Path { since: Time(0), course: Course::Even(flying) },
            Time(0),
            Time(3_000_000),
            &around,
        );
        let pose =
            |motion: &Motion| Pose::new(motion.place.rotation, motion.place.position).unwrap();
        let touch = |path: &Path, at: Time| {
            let (a, b) = (path.at(at), moving.after((at - Time(0)).as_seconds()));
            Pair::new(&cube, &pose(&a), &plank, &pose(&b)).touches()
        };
        // Up to the last contact the way is free. (Later ones push it on.)
        assert!(!touch(&expected, expected.since), "seed {seed}");
        if expected.since > Time(0) {
            stopped += 1;
            let (a, b) = (
                expected.at(expected.since),
                moving.after((expected.since - Time(0)).as_seconds()),
            );
            let apart = Pair::new(&cube, &pose(&a), &plank, &pose(&b)).distance().unwrap().distance;
            assert!(apart < 0.05, "seed {seed}: {apart}");
        }
    }
    assert!(stopped > 20, "{stopped}");
}

#[test]
fn who_is_pushed_gives_way_and_who_leaves_is_let_go() {
    // A ball rolls into something that stands.
    let pusher = going(DVec3::X * -5.0, DVec3::X * 2.0);
    let pushed = around(Response::Stop, vec![ball(pusher, 1.0)]);
    let path = follow(still(DVec3::ZERO), Time(0), Time(4_000_000), &pushed);
    let found = path.at(Time(4_000_000)).place.position.x;
    assert!((found - (3.0 + 1.5 + SKIN)).abs() < 1e-5, "{found}");
    // Something that overlaps by what an update says, and leaves.
    let inside = around(Response::Stop, vec![ball(still(DVec3::ZERO), 1.0)]);
    let leaving = going(DVec3::X, DVec3::X);
    assert_eq!(follow(leaving, Time(0), Time(1_000_000), &inside), leaving);
    let deeper = going(DVec3::X, -DVec3::X);
    let held = follow(deeper, Time(0), Time(1_000_000), &inside);
    assert_eq!(held.at(Time(1_000_000)).place.position, DVec3::X);
}

#[test]
fn thrown_balls_bounce_under_gravity_and_rolling_ones_come_to_rest() {
    let floor = Obstacle::Wall { normal: DVec3::Y, offset: 0.0 };
    let around = around(Response::Bounce, vec![floor]);
    let from = Place::at(DVec3::new(0.0, RADIUS + SKIN + 1.0, 0.0));
    let mut speed = Motion::still(from).speed;
    speed.linear = DVec3::X;
    let thrown = Closed::Projectile { from, speed, gravity: [0.0, -8.0, 0.0] };
    let path = Path { since: Time(0), course: Course::Closed(thrown) };
    // Falls for half a second, and is up again after a whole one.
    let up = follow(path, Time(0), Time(1_000_000), &around).at(Time(1_000_000)).place.position;
    assert!(up.distance(DVec3::new(1.0, from.position.y, 0.0)) < 2e-3, "{up}");

    let from = Place::at(DVec3::new(0.0, 4.0, 0.0));
    let rolling = Closed::Roll { from, velocity: [0.0, -4.0, 0.0], slowing: 1.0 };
    let path = Path { since: Time(0), course: Course::Closed(rolling) };
    let rest = follow(path, Time(0), Time(20_000_000), &around).at(Time(20_000_000));
    // Eight metres in all, thrown back at the wall.
    let right = 8.0 - (4.0 - RADIUS - SKIN) + RADIUS + SKIN;
    assert!((rest.place.position.y - right).abs() < 2e-2, "{rest:?} {right}");
    assert_eq!(rest.speed.linear, DVec3::ZERO);
}

/// Frame by frame, turning, against a plank that stands, or drifts.
#[test]
fn models_do_not_touch_in_any_frame() {
    let model = |size| Arc::new(Model::build(solids::cuboid(size).unwrap(), Quality::Default));
    let (cube, plank) = (model(DVec3::ONE), model(DVec3::new(0.2, 3.0, 3.0)));
    let pose = |place: &Place| Pose::new(place.rotation, place.position).unwrap();
    let mut contacts = 0;
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let response = [Response::Bounce, Response::Stop][seed as usize % 2];
        let body = Body { radius: cube.radius(), model: Some(Arc::clone(&cube)) };
        let mut around = Surroundings::new(body, response).unwrap();
        let mut standing =
            Motion::still(Place { position: dice.vector(1.0), rotation: dice.rotation() });
        standing.speed.linear = dice.vector(0.5) * f64::from(seed as u32 / 2 % 2);
        let plank_path = Path { since: Time(0), course: Course::Even(standing) };
        let thing = Some(Arc::clone(&plank));
        around
            .add(Obstacle::Thing { path: plank_path, radius: plank.radius(), model: thing })
            .unwrap();
        let mut flying = dice.motion();
        flying.place.position = dice.direction() * 5.0;
        flying.speed.linear = -flying.place.position;
        flying.change.linear = DVec3::ZERO;
        let mut path = Path { since: Time(0), course: Course::Even(flying) };
        for frame in 1..180 {
            let now = Time(frame * FRAME);
            let next = follow(path, Time((frame - 1) * FRAME), now, &around);
            contacts += u32::from(next.since != path.since);
            path = next;
            let (a, b) = (path.at(now).place, plank_path.at(now).place);
            let touch = Pair::new(&cube, &pose(&a), &plank, &pose(&b)).touches();
            assert!(!touch, "seed {seed} frame {frame}");
        }
    }
    assert!(contacts > 30, "{contacts}");
}

/// A slot with hardly more room than the object has: thousands of bounces in no time end in rest;
/// and between a wall and something that pushes there is no good place, but an end.
#[test]
fn who_is_wedged_in_rests() {
    let side = |normal: DVec3| Obstacle::Wall { normal, offset: -(RADIUS + SKIN + 1e-6) };
    let slot = around(Response::Bounce, vec![side(DVec3::X), side(-DVec3::X)]);
    let path = follow(going(DVec3::ZERO, DVec3::X * 90.0), Time(0), Time(5_000_000), &slot);
    assert_eq!(path.at(Time(5_000_000)).speed.linear, DVec3::ZERO);
    assert!(path.at(Time(5_000_000)).place.position.x.abs() <= 1e-6 + 1e-12);
    for response in [Response::Stop, Response::Bounce] {
        let pusher = ball(going(DVec3::X * -5.0, DVec3::X * 2.0), 1.0);
        let around = around(response, vec![side(-DVec3::X), pusher]);
        let path = follow(still(DVec3::ZERO), Time(0), Time(9_000_000), &around);
        assert!(path.at(Time(9_000_000)).place.position.x.abs() <= 1e-5, "{path:?}");
    }
}

#[test]
fn bad_surroundings_are_refused() {
    let mut around = Surroundings::default();
    let wall = |normal, offset| Obstacle::Wall { normal, offset };
    assert!(around.add(wall(DVec3::NAN, 0.0)).is_err());
    assert!(around.add(wall(DVec3::X * 2.0, 0.0)).is_err());
    assert!(around.add(wall(DVec3::X, f64::INFINITY)).is_err());
    assert!(around.add(ball(still(DVec3::NAN), 1.0)).is_err());
    assert!(around.add(ball(still(DVec3::ZERO), -1.0)).is_err());
    assert!(around.add(ball(still(DVec3::ZERO), f64::NAN)).is_err());
    assert!(Surroundings::new(Body { radius: f64::NAN, model: None }, Response::Stop).is_err());
    assert!(around.is_empty());
    let [a, b] = [DVec3::ZERO, DVec3::X].map(Place::at);
    assert_eq!(sweep(&a, &b, [Time(0), Time(1)], &around), b);
}
