//! Remote collision prediction: what is extrapolated does not enter others while the update about
//! its collision is on its way (Ohlenburg 2003, 4.4.1; row O16).
//!
//! Plain dead reckoning lets an object that has bounced go on into the wall until the news
//! arrives. Here its path is followed from the stamp of the newest update, and where it would come
//! into contact, it is set just before, and stops or bounces. A sender that does the same with
//! the same surroundings knows what the others show, and sends nothing if they are right.

use super::motion::{BadNumber, Motion, Place, Rates, check_number, check_vector};
use super::track::{Course, Path};
use crate::time::{Span, Time};
use glam::DVec3;
use jostle_geom::{Model, Pose, TimeOfImpact, TimeOfImpactLimits, time_of_impact};
use std::sync::Arc;

/// What is closer than this and approaching is in contact: a unit of position.
pub const SKIN: f64 = crate::state::POSITION_UNIT;

/// Curved ways are followed in pieces of this length, from multiples of it, whenever one asks: so
/// every host takes the same pieces.
const PIECE: Span = Span(15_625);
/// Longer ways are followed in longer pieces.
const PIECES_MAX: u64 = 1024;
/// After so many contacts without a free piece of way between, the object is wedged in, and rests.
const CONTACTS_MAX: u32 = 64;

/// What the object is to those around it.
#[derive(Clone, Debug)]
pub struct Body {
    /// Of a sphere about its position that it is in; against spheres and walls it is that sphere.
    pub radius: f64,
    /// Its triangles, for those that have some too.
    pub model: Option<Arc<Model>>,
}

/// What happens at a predicted contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// It rests, or is pushed.
    Stop,
    /// It is thrown back as from a mirror; what accelerates it stays as it is.
    Bounce,
}

/// Something that the object stays out of.
#[derive(Clone, Debug)]
pub enum Obstacle {
    /// All points p with `normal`·p below `offset`. The normal has length 1.
    Wall {
        /// Out of the wall.
        normal: DVec3,
        /// How far out its surface is.
        offset: f64,
    },
    /// Something that may move.
    Thing {
        /// Where it is expected.
        path: Path,
        /// Of a sphere about its position that it is in.
        radius: f64,
        /// Its triangles; without them, or against a body without, it is that sphere.
        model: Option<Arc<Model>>,
    },
}

/// What a host knows of the surroundings of a remote object. By default there is nothing.
#[derive(Clone, Debug)]
pub struct Surroundings {
    body: Body,
    response: Response,
    obstacles: Vec<Obstacle>,
}

impl Default for Surroundings {
    fn default() -> Surroundings {
        let body = Body { radius: 0.0, model: None };
        Surroundings { body, response: Response::Stop, obstacles: Vec::new() }
    }
}

impl Surroundings {
    /// Empty ones.
    ///
    /// # Errors
    /// A radius that is not finite, or below zero.
    pub fn new(body: Body, response: Response) -> Result<Surroundings, BadNumber> {
        check_radius(body.radius)?;
        Ok(Surroundings { body, response, obstacles: Vec::new() })
    }

    /// One more. Which pairs are predicted, [`super::roles::method`] says.
    ///
    /// # Errors
    /// Numbers that are not finite or too large; a normal that is not of length 1.
    pub fn add(&mut self, obstacle: Obstacle) -> Result<(), BadNumber> {
        match &obstacle {
            Obstacle::Wall { normal, offset } => {
                check_vector(*normal, "normal of a wall")?;
                check_number(*offset, "offset of a wall")?;
                if (normal.length() - 1.0).abs() > 1e-9 {
                    return Err(BadNumber { what: "normal of a wall" });
                }
            }
            Obstacle::Thing { path, radius, .. } => {
                path.check()?;
                check_radius(*radius)?;
            }
        }
        self.obstacles.push(obstacle);
        Ok(())
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.obstacles.is_empty()
    }

    fn all_straight(&self) -> bool {
        self.obstacles.iter().all(|obstacle| match obstacle {
            Obstacle::Wall { .. } => true,
            Obstacle::Thing { path, .. } => path.is_straight(),
        })
    }
}

fn check_radius(radius: f64) -> Result<(), BadNumber> {
    check_number(radius, "radius")?;
    if radius >= 0.0 { Ok(()) } else { Err(BadNumber { what: "radius" }) }
}

/// A piece of way: nearly straight.
struct Piece {
    from: Place,
    to: Place,
    times: [Time; 2],
}

/// The first contact on a piece of way.
#[derive(Clone, Copy, Debug)]
struct Hit {
    /// The part of the piece that is free.
    free: f64,
    /// From the obstacle to the body; none if unknown.
    normal: Option<DVec3>,
    /// Of the obstacle, where the contact is.
    velocity: DVec3,
}

/// The path that is expected at `now`, if `path` was free of contact up to `since`.
#[must_use]
pub fn follow(mut path: Path, since: Time, now: Time, around: &Surroundings) -> Path {
    if around.is_empty() {
        return path;
    }
    let mut at = since.max(path.since);
    let mut contacts = 0;
    while at < now {
        let end = piece_end(&path, at, now, around);
        let piece = Piece { from: path.at(at).place, to: path.at(end).place, times: [at, end] };
        let Some(hit) = around.first_hit(&piece) else {
            at = end;
            contacts = 0;
            continue;
        };
        let (when, place) = piece.just_before(&hit);
        contacts += 1;
        if contacts > CONTACTS_MAX {
            return Path { since: when, course: Course::Even(Motion::still(place)) };
        }
        let here = Motion { place, ..path.at(when) };
        path = Path { since: when, course: respond(&path.course, here, &hit, around.response) };
        at = when;
    }
    path
}

fn piece_end(path: &Path, at: Time, now: Time, around: &Surroundings) -> Time {
    if path.is_straight() && around.all_straight() {
        return now;
    }
    let pieces = (now - at).0 / PIECE.0 / PIECES_MAX + 1;
    let length = PIECE.0 * pieces;
    Time((at.0 / length + 1).saturating_mul(length)).min(now)
}

fn respond(course: &Course, here: Motion, hit: &Hit, response: Response) -> Course {
    // Without a normal it is turned back.
    let relative = here.speed.linear - hit.velocity;
    let normal = hit.normal.or_else(|| (-relative).try_normalize()).unwrap_or(DVec3::ZERO);
    let approach = relative.dot(normal);
    if response == Response::Stop || approach >= 0.0 {
        let pushed = normal * hit.velocity.dot(normal).max(0.0);
        let speed = Rates { linear: pushed, angular: DVec3::ZERO };
        return Course::Even(Motion { speed, ..Motion::still(here.place) });
    }
    let linear = here.speed.linear - normal * (2.0 * approach);
    let here = Motion { speed: Rates { linear, ..here.speed }, ..here };
    match course {
        Course::Closed(closed) => {
            let free = Motion { change: Rates::default(), ..here };
            closed.onward_from(here).map_or(Course::Even(free), Course::Closed)
        }
        Course::Even(_) => Course::Even(here),
    }
}

/// The last place on the way from one to another, between two times, before the body comes into
/// contact; the end if it does not.
#[must_use]
pub fn sweep(from: &Place, to: &Place, times: [Time; 2], around: &Surroundings) -> Place {
    let piece = Piece { from: *from, to: *to, times };
    around.first_hit(&piece).map_or(*to, |hit| from.toward(to, hit.free))
}

impl Piece {
    /// Times are whole microseconds; the place is where the piece is then.
    fn just_before(&self, hit: &Hit) -> (Time, Place) {
        let all = (self.times[1] - self.times[0]).0;
        let gone = ((all as f64 * hit.free) as u64).min(all);
        let part = if all == 0 { 0.0 } else { gone as f64 / all as f64 };
        (self.times[0] + Span(gone), self.from.toward(&self.to, part))
    }
}

impl Surroundings {
    /// If two are equally early, the one that was added first.
    fn first_hit(&self, piece: &Piece) -> Option<Hit> {
        let mut first: Option<Hit> = None;
        for obstacle in &self.obstacles {
            let hit = self.hit(obstacle, piece);
            if let Some(hit) = hit
                && first.is_none_or(|first| hit.free < first.free)
            {
                first = Some(hit);
            }
        }
        first
    }

    fn hit(&self, obstacle: &Obstacle, piece: &Piece) -> Option<Hit> {
        let radius = self.body.radius;
        match obstacle {
            &Obstacle::Wall { normal, offset } => {
                let above = |place: &Place| normal.dot(place.position) - offset - radius - SKIN;
                let free = first_below(above(&piece.from), above(&piece.to))?;
                Some(Hit { free, normal: Some(normal), velocity: DVec3::ZERO })
            }
            Obstacle::Thing { path, radius: other, model } => {
                let motions = piece.times.map(|time| path.at(time));
                let from = piece.from.position - motions[0].place.position;
                let to = piece.to.position - motions[1].place.position;
                let velocity = motions[0].speed.linear;
                match (&self.body.model, model) {
                    (Some(body), Some(model)) => {
                        let reach = body.radius() + model.radius() + SKIN;
                        if !comes_within(from, to - from, reach) {
                            return None;
                        }
                        model_hit(body, piece, model, &motions)
                    }
                    _ => {
                        let free = first_within(from, to - from, radius + other + SKIN)?;
                        let normal = (from + (to - from) * free).try_normalize();
                        Some(Hit { free, normal, velocity })
                    }
                }
            }
        }
    }
}

/// The part of the way on which a height that changes evenly is not below zero, if it gets there.
/// If it is below already it is in contact if it sinks.
fn first_below(start: f64, end: f64) -> Option<f64> {
    if start <= 0.0 {
        return (end < start).then_some(0.0);
    }
    (end < 0.0).then(|| start / (start - end))
}

/// The part of the way along `way` on which a point is not within `radius` of the origin, if it
/// gets there. If it is within already it is in contact if it comes closer.
fn first_within(from: DVec3, way: DVec3, radius: f64) -> Option<f64> {
    let approach = from.dot(way);
    if approach >= 0.0 {
        return None;
    }
    let outside = from.length_squared() - radius * radius;
    if outside <= 0.0 {
        return Some(0.0);
    }
    let inner = approach * approach - way.length_squared() * outside;
    if inner < 0.0 {
        return None;
    }
    // Of the two ways to write a root the one that takes no difference of nearly equal numbers.
    let part = outside / (inner.sqrt() - approach);
    (part <= 1.0).then_some(part)
}

/// Does a point come within `radius` of the origin anywhere along `way`?
fn comes_within(from: DVec3, way: DVec3, radius: f64) -> bool {
    let squared = way.length_squared();
    let closest = if squared > 0.0 { (-from.dot(way) / squared).clamp(0.0, 1.0) } else { 0.0 };
    (from + way * closest).length_squared() <= radius * radius
}

/// Models that touch when the piece begins are not kept apart: the update says so itself.
fn model_hit(body: &Model, piece: &Piece, model: &Model, motions: &[Motion; 2]) -> Option<Hit> {
    let [Motion { place: from, speed, .. }, Motion { place: to, .. }] = motions;
    let body_motion = straight(&piece.from, &piece.to)?;
    let motion = straight(from, to)?;
    // With no time to probe, the answer is the moment when they are as close as the skin.
    let limits = TimeOfImpactLimits { time: 0.0, distance: SKIN, ..TimeOfImpactLimits::default() };
    match time_of_impact(body, &body_motion, model, &motion, &limits) {
        TimeOfImpact::Never | TimeOfImpact::AtStart => None,
        TimeOfImpact::During { free, closest, .. } => {
            let arm = closest.point_b - from.toward(to, free).position;
            Some(Hit {
                free,
                normal: (closest.point_a - closest.point_b).try_normalize(),
                velocity: speed.linear + speed.angular.cross(arm),
            })
        }
        TimeOfImpact::Unknown { free } => Some(Hit { free, normal: None, velocity: speed.linear }),
    }
}

fn straight(from: &Place, to: &Place) -> Option<jostle_geom::Motion> {
    let pose = |place: &Place| Pose::new(place.rotation, place.position).ok();
    Some(jostle_geom::Motion::linear(&pose(from)?, &pose(to)?))
}
