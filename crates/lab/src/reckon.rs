//! The experiment of the thesis: how wrong is what another host shows, and for how many bytes?
//! (Ohlenburg 2003, 4.4 and appendix A; row O19)
//!
//! An object goes from z = 0 to z = −40π in 15 seconds (equation 4.7), between two walls that it
//! bounces off, first straight, then on humps of a sine past three objects of the other host.
//! The thesis leaves open, and here is chosen: the object is a cube 5.42 m wide that does not turn,
//! the walls are where it touches them at the stated times, the other objects are cubes of
//! 0.5 m, whose sides it misses by 4 cm, at negative z as the path is; both hosts have 60 frames
//! per second, the other one's half a frame later; an object is close within 0.5 s of contact of
//! the spheres; stamps are of a clock that both share.

use glam::DVec3;
use jostle_geom::{Model, Quality, rotation_from_scaled_axis, solids};
use jostle_proto::reckon::adapt::{Adaptive, Sphere};
use jostle_proto::reckon::predict::{Body, Obstacle, Response, Surroundings};
use jostle_proto::reckon::roles::{self, Role};
use jostle_proto::reckon::track::{Course, Path, Sender, Thresholds, Tracking};
use jostle_proto::reckon::{Convergence, Motion, Place, Rates, Receiver};
use jostle_proto::{Span, Time};
use std::collections::VecDeque;
use std::f64::consts::PI;
use std::sync::Arc;
use thiserror::Error;

/// How long it takes.
pub const LENGTH: Span = Span::from_ms(15_000);

/// When the object first bounces off a wall.
pub const FIRST_COLLISION: Time = Time(3_750_000);

/// When it does for the second time, at the end of the straight ways.
pub const SECOND_COLLISION: Time = Time(7_500_000);

const FRAMES_PER_SECOND: u64 = 60;
const WIDTH: f64 = 5.42;
/// Of the objects of the other host.
const OTHER_WIDTH: f64 = 0.5;
const OTHER_X: f64 = 8.0;
/// Of the walls, which are longer than the way.
const WALL_SIZE: DVec3 = DVec3::new(1.0, 20.0, 60.0 * PI);

/// What is done about latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Dead reckoning alone (figures A.1 to A.4).
    Plain,
    /// And remote collision prediction (figures A.5 to A.8).
    Predicted,
    /// And adaptive collision prediction tracking (figures A.9 to A.12).
    Adapted,
    /// And accelerations, sent in close proximity: not in the thesis. They lower the error that
    /// an update has when it arrives, which no number of updates does.
    Accelerated,
}

impl Scheme {
    /// In the order of the figures.
    pub const ALL: [Scheme; 4] =
        [Scheme::Plain, Scheme::Predicted, Scheme::Adapted, Scheme::Accelerated];
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// How long a message takes.
    pub latency: Span,
    /// What is done about it.
    pub scheme: Scheme,
    /// How the other host extrapolates; the thesis does not say, probably in first order.
    pub tracking: Tracking,
    /// How it corrects itself.
    pub convergence: Convergence,
    /// When the object sends an update: 0.5 m and 5 s in the thesis, 0.01 m in close proximity.
    pub adaptive: Adaptive,
}

impl Setup {
    /// With the thresholds of the thesis, first order and jumps.
    #[must_use]
    pub fn new(latency: Span, scheme: Scheme) -> Setup {
        let apart = Thresholds { error: 0.5, turn: 0.1, time: Span::from_ms(5000) };
        Setup {
            latency,
            scheme,
            tracking: Tracking::First,
            convergence: Convergence::Jump,
            adaptive: Adaptive { apart, close: Thresholds { error: 0.01, ..apart }, within: 0.5 },
        }
    }
}

/// A frame of the other host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The time.
    pub at: Time,
    /// Where the object is.
    pub truth: DVec3,
    /// Where it is shown.
    pub shown: DVec3,
    /// Is it in close proximity, in truth?
    pub close: bool,
}

impl Frame {
    /// How wrong it is, in metres.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.truth.distance(self.shown)
    }

    /// Is the object shown inside of one of the other host, which it never was?
    #[must_use]
    pub fn false_contact(&self) -> bool {
        let reach = 0.5 * (WIDTH + OTHER_WIDTH);
        others().iter().any(|other| (self.shown - *other).abs().max_element() < reach)
    }
}

/// A message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The time.
    pub at: Time,
    /// As encoded, without what a network puts around it.
    pub bytes: usize,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// From the first that shows the object.
    pub frames: Vec<Frame>,
    /// In order.
    pub sent: Vec<Sent>,
}

/// How wrong frames are, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Over the frames.
    pub mean: f64,
    /// In the worst of them.
    pub max: f64,
}

impl Outcome {
    /// Of the frames that are chosen; not a number for none.
    #[must_use]
    pub fn errors(&self, choose: impl Fn(&Frame) -> bool) -> Errors {
        let (mut count, mut sum, mut max) = (0u32, 0.0, f64::NAN);
        for frame in self.frames.iter().filter(|frame| choose(frame)) {
            count += 1;
            sum += frame.error();
            max = frame.error().max(max);
        }
        Errors { mean: sum / f64::from(count), max }
    }

    /// From the first collision until just before the second.
    #[must_use]
    pub fn after_first_collision(&self) -> Errors {
        self.errors(|frame| frame.at >= FIRST_COLLISION && frame.at < SECOND_COLLISION)
    }

    /// All messages together.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.sent.iter().map(|sent| sent.bytes).sum()
    }
}

/// The experiment could not be set up.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// Numbers of the setup.
    #[error(transparent)]
    BadNumber(#[from] jostle_proto::reckon::BadNumber),
    /// A cube.
    #[error(transparent)]
    Solid(#[from] solids::SolidError),
    /// An update that cannot be encoded.
    #[error(transparent)]
    Encode(#[from] postcard::Error),
}

/// Equation 4.7: where the object is, and how it moves; at a collision, how it moves then.
#[must_use]
pub fn truth(at: Time) -> Motion {
    let at = at.min(Time(0) + LENGTH);
    let seconds = (at - Time(0)).as_seconds();
    let speed = 40.0 * PI / LENGTH.as_seconds();
    let way = speed * seconds;
    let (x, slope, bend) = if at < FIRST_COLLISION {
        (way / 6.0, 1.0 / 6.0, 0.0)
    } else if at < SECOND_COLLISION {
        ((20.0 * PI - way) / 6.0, -1.0 / 6.0, 0.0)
    } else {
        // A hump lasts 1.875 s; times are whole microseconds, so where one begins is exact.
        let hump = (at - SECOND_COLLISION).0 % 1_875_000;
        let angle = PI * (hump as f64 / 1_875_000.0);
        // Half of a rotation's angle is in its quaternion.
        let (sin, cos) = rotation_from_scaled_axis(DVec3::X * (2.0 * angle))
            .map_or((0.0, 1.0), |turn| (turn.x, turn.w));
        (5.0 * sin, cos, -sin / 5.0)
    };
    let linear = DVec3::new(slope * speed, 0.0, -speed);
    let change = DVec3::new(bend * speed * speed, 0.0, 0.0);
    Motion {
        place: Place::at(DVec3::new(x, 0.0, -way)),
        speed: Rates { linear, angular: DVec3::ZERO },
        change: Rates { linear: change, angular: DVec3::ZERO },
    }
}

fn others() -> [DVec3; 3] {
    [27.5, 32.5, 37.5].map(|z| DVec3::new(OTHER_X, 0.0, -z * PI))
}

/// The walls, as far as the scheme wants them predicted.
fn surroundings(scheme: Scheme) -> Result<Surroundings, ExperimentError> {
    let model =
        |size| Ok::<_, ExperimentError>(Model::build(solids::cuboid(size)?, Quality::Default));
    let cube = Arc::new(model(DVec3::splat(WIDTH))?);
    let wall = Arc::new(model(WALL_SIZE)?);
    let body = Body { radius: cube.radius(), model: Some(cube) };
    let mut around = Surroundings::new(body, Response::Bounce)?;
    // To the other host the object is remote, the walls are of the scene, the others its own.
    let predicted = roles::method(Role::Remote, Role::Scene) == roles::Method::RemotePrediction;
    if scheme == Scheme::Plain || !predicted {
        return Ok(around);
    }
    let out = 0.5 * (WIDTH + WALL_SIZE.x);
    for x in [-out, 10.0 * PI / 6.0 + out] {
        let place = Place::at(DVec3::new(x, 0.0, -20.0 * PI));
        let path = Path { since: Time(0), course: Course::Even(Motion::still(place)) };
        let radius = wall.radius();
        around.add(Obstacle::Thing { path, radius, model: Some(Arc::clone(&wall)) })?;
    }
    Ok(around)
}

/// Runs the two hosts, one frame after the other.
///
/// # Errors
/// A setup with bad numbers.
pub fn run(setup: &Setup) -> Result<Outcome, ExperimentError> {
    let around = surroundings(setup.scheme)?;
    let half_diagonal = 3.0f64.sqrt() / 2.0;
    let other =
        |centre| Sphere { centre, velocity: DVec3::ZERO, radius: half_diagonal * OTHER_WIDTH };
    let others = others().map(other);
    let own = |motion: &Motion| Sphere {
        centre: motion.place.position,
        velocity: motion.speed.linear,
        radius: half_diagonal * WIDTH,
    };
    let mut sender = Sender::new(setup.tracking);
    let mut receiver = Receiver::new(setup.convergence);
    let mut on_its_way = VecDeque::new();
    let mut outcome = Outcome { frames: Vec::new(), sent: Vec::new() };
    let half_frame = Span(500_000 / FRAMES_PER_SECOND);
    for frame in 0..LENGTH.0 / 1_000_000 * FRAMES_PER_SECOND {
        let now = Time(frame * 1_000_000 / FRAMES_PER_SECOND);
        let moving = truth(now);
        let adaptive = &setup.adaptive;
        let close = setup.scheme >= Scheme::Adapted && adaptive.is_close(&own(&moving), &others);
        let thresholds = if close { &adaptive.close } else { &adaptive.apart };
        let accelerated = close && setup.scheme == Scheme::Accelerated;
        sender.set_tracking(if accelerated { Tracking::Second } else { setup.tracking });
        if let Some(update) = sender.step(now, &moving, thresholds, &around)? {
            outcome.sent.push(Sent { at: now, bytes: postcard::to_allocvec(&update)?.len() });
            on_its_way.push_back((now + setup.latency, update));
        }
        let now = now + half_frame;
        while let Some((_, update)) = on_its_way.front().filter(|(arrives, _)| *arrives <= now) {
            // Latency is even here, so that none overtakes another.
            let taken = receiver.receive(now, update, &around);
            debug_assert!(taken.is_ok(), "{taken:?}");
            on_its_way.pop_front();
        }
        let moving = truth(now);
        if let Some(shown) = receiver.show(now, &around) {
            let close = adaptive.is_close(&own(&moving), &others);
            let (truth, shown) = (moving.place.position, shown.position);
            outcome.frames.push(Frame { at: now, truth, shown, close });
        }
    }
    Ok(outcome)
}
