//! Adaptive collision prediction tracking: more updates while a collision is likely (Ohlenburg
//! 2003, 4.4.2; row O17).
//!
//! (Equation 4.10 of the thesis lacks the motion; meant is the difference of 4.9 and 4.8.)

use super::motion::{BadNumber, check_number, check_vector};
use super::track::Thresholds;
use glam::DVec3;

/// A sphere that holds an object, however it is turned, and where it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Now.
    pub centre: DVec3,
    /// In metres per second.
    pub velocity: DVec3,
    /// In metres.
    pub radius: f64,
}

impl Sphere {
    /// # Errors
    /// Numbers that are not finite or too large; a radius below zero.
    pub fn check(&self) -> Result<(), BadNumber> {
        check_vector(self.centre, "centre")?;
        check_vector(self.velocity, "velocity")?;
        check_number(self.radius, "radius")?;
        if self.radius >= 0.0 { Ok(()) } else { Err(BadNumber { what: "radius" }) }
    }
}

/// When two spheres that go straight begin and end to share points, in seconds from now; before
/// now if negative. Nothing if they never do, and nothing if they move alike, for then they always
/// do or never (equation 4.12).
///
/// ```
/// use glam::DVec3;
/// use jostle_proto::reckon::adapt::{Sphere, contact_times};
///
/// let still = Sphere { centre: DVec3::X * 10.0, velocity: DVec3::ZERO, radius: 1.0 };
/// let moving = Sphere { centre: DVec3::ZERO, velocity: DVec3::X * 2.0, radius: 1.0 };
/// assert_eq!(contact_times(&moving, &still), Some([4.0, 6.0]));
/// ```
#[must_use]
pub fn contact_times(p: &Sphere, q: &Sphere) -> Option<[f64; 2]> {
    let away = q.centre - p.centre;
    let way = q.velocity - p.velocity;
    let reach = p.radius + q.radius;
    let (squared, half) = (way.length_squared(), away.dot(way));
    let outside = away.length_squared() - reach * reach;
    let inner = half * half - squared * outside;
    if squared == 0.0 || inner < 0.0 || inner.is_nan() {
        return None;
    }
    // The sum of equal signs has no difference of nearly equal numbers; the other root follows
    // from the product of both.
    let sum = if half < 0.0 { half - inner.sqrt() } else { half + inner.sqrt() };
    let one = -sum / squared;
    let other = if sum == 0.0 { one } else { -outside / sum };
    Some([one.min(other), one.max(other)])
}

/// How near a contact of two spheres is, in seconds: zero while they share points, twice the time
/// since they last did. Nothing if they never meet.
///
/// The past counts because where the other host shows the object is the past: it has still to
/// follow round the turn that avoided the collision.
#[must_use]
pub fn nearness(p: &Sphere, q: &Sphere) -> Option<f64> {
    let reach = p.radius + q.radius;
    if p.centre.distance_squared(q.centre) <= reach * reach {
        return Some(0.0);
    }
    let [begin, end] = contact_times(p, q)?;
    let weighed = |time: f64| if time < 0.0 { -2.0 * time } else { time };
    Some(weighed(begin).min(weighed(end)))
}

/// Thresholds that depend on how near others are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive {
    /// While no other object is near.
    pub apart: Thresholds,
    /// In close proximity.
    pub close: Thresholds,
    /// A contact that is nearer than this is close proximity, in seconds (definition 6).
    pub within: f64,
}

impl Adaptive {
    /// Is one of the others in close proximity, so that [`Adaptive::close`] holds? The others are
    /// those for which [`super::roles::method`] says so.
    #[must_use]
    pub fn is_close(&self, own: &Sphere, others: &[Sphere]) -> bool {
        others.iter().any(|other| nearness(own, other).is_some_and(|time| time < self.within))
    }
}
