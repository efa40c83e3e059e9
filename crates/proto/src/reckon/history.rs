//! The position-history protocol: motion from the last three places (Singhal and Cheriton, 1994;
//! Ohlenburg 2003, 4.2.3; row O13).
//!
//! Updates have no velocities. The angle at the middle one of three positions distinguishes a sharp
//! turn, after which only the two newest are good for extrapolation, from smooth motion, through
//! whose three places goes a parabola.
//!
//! Equations 4.4 and 4.6 of the thesis are misprinted: a parabola through the three positions has
//! −(1/δ₋₁ + 1/δ₋₂) before x₋₁ in its velocity, and 2 + 2δ₋₁/(δ₋₁ + δ₋₂) before x₀ in its
//! continuation. Both follow here from divided differences.

use super::motion::{BadNumber, Motion, Place, Rates, turn_of};
use crate::time::Time;
use glam::DVec3;

/// A place with its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Was {
    /// The moment.
    pub stamp: Time,
    /// The pose at that moment.
    pub place: Place,
}

/// Which angles at the middle of three positions mean what, as cosines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Angles {
    /// A smaller angle than this one is a sharp turn.
    pub sharp: f64,
    /// A larger angle than this one is nearly straight.
    pub straight: f64,
}

impl Default for Angles {
    /// Sharp below 135°, nearly straight above 175°.
    fn default() -> Angles {
        Angles { sharp: -std::f64::consts::FRAC_1_SQRT_2, straight: -0.996_194_698_091_745_5 }
    }
}

impl Angles {
    /// # Errors
    /// What is not the cosine of an angle; sharp angles that are larger than straight ones.
    pub fn check(&self) -> Result<(), BadNumber> {
        let cosines = [self.sharp, self.straight].iter().all(|cosine| cosine.abs() <= 1.0);
        if cosines && self.straight <= self.sharp {
            Ok(())
        } else {
            Err(BadNumber { what: "cosine of an angle" })
        }
    }
}

/// What three positions show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bend {
    /// Tracked in first order; the old places say nothing about what comes.
    Sharp,
    /// Tracked and converged to in second order.
    Smooth,
    /// Tracked in second order, converged to on a line.
    Straight,
}

/// What the newest places, newest first, show. Less than three are as good as a sharp turn: there
/// is nothing to bend.
#[must_use]
pub fn bend(newest: &[Was], angles: &Angles) -> Bend {
    let [now, before, first, ..] = newest else { return Bend::Sharp };
    let ahead = now.place.position - before.place.position;
    let back = first.place.position - before.place.position;
    let sizes = ahead.length() * back.length();
    if sizes == 0.0 {
        // Something began or ended to move: its older places say nothing.
        return Bend::Sharp;
    }
    let cosine = ahead.dot(back) / sizes;
    match cosine {
        _ if cosine > angles.sharp => Bend::Sharp,
        _ if cosine < angles.straight => Bend::Straight,
        _ => Bend::Smooth,
    }
}

/// The motion that the newest places, newest first, continue as, at the time of the newest.
///
/// Rotations are handled as positions are, by the angles from the newest one.
#[must_use]
pub fn continued(newest: &[Was], angles: &Angles) -> Option<Motion> {
    let (&now, older) = newest.split_first()?;
    let Some(&before) = older.first() else { return Some(Motion::still(now.place)) };
    let away = |was: Was| Rates {
        linear: was.place.position - now.place.position,
        angular: turn_of(was.place.rotation * now.place.rotation.conjugate()),
    };
    let last = seconds(now, before);
    let first_order =
        |rates: Rates| Rates { linear: rates.linear / -last, angular: rates.angular / -last };
    let one = away(before);
    let mut motion = Motion { speed: first_order(one), ..Motion::still(now.place) };
    if bend(newest, angles) == Bend::Sharp {
        return Some(motion);
    }
    let Some(&first) = older.get(1) else { return Some(motion) };
    let two = away(first);
    let previous = seconds(before, first);
    let parabola = |one: DVec3, two: DVec3| through(one, last, two, previous);
    (motion.speed.linear, motion.change.linear) = parabola(one.linear, two.linear);
    (motion.speed.angular, motion.change.angular) = parabola(one.angular, two.angular);
    Some(motion)
}

/// Velocity and acceleration at 0, and at time 0, of the parabola that is also at `one` at time
/// −`last` and at `two` at time −`last` − `previous`.
fn through(one: DVec3, last: f64, two: DVec3, previous: f64) -> (DVec3, DVec3) {
    let newer = -one / last;
    let older = (one - two) / previous;
    let half = (newer - older) / (last + previous);
    (newer + half * last, half * 2.0)
}

/// Stamps of a history ascend strictly, so this is not zero.
fn seconds(later: Was, earlier: Was) -> f64 {
    (later.stamp - earlier.stamp).as_seconds().max(1e-6)
}
