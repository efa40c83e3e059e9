//! Motions with a formula: sent once, right for ever (Ohlenburg 2003, 4.2.4; row O14).
//!
//! A ball that flies, rolls or circles follows physical laws. Its position after any latency is
//! known exactly from how it began, so one update is enough; a world may have such objects beside
//! those that are extrapolated ([`super::UpdateData::Closed`]).

use super::motion::{BadNumber, Motion, Place, Rates, check_number, check_vector, turned};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A motion with a formula, from how it begins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Closed {
    /// Thrown: accelerated by gravity alone, spinning as it was.
    Projectile {
        /// Where it begins.
        from: Place,
        /// How it is thrown.
        speed: Rates,
        /// In metres per second and second.
        gravity: [f64; 3],
    },
    /// On a circle, always with the same side to its centre.
    Orbit {
        /// Where it begins.
        from: Place,
        /// Any point of the axis.
        centre: [f64; 3],
        /// The direction of the axis times radians per second.
        spin: [f64; 3],
    },
    /// Slowed down evenly until it rests, as a ball on a table.
    Roll {
        /// Where it begins.
        from: Place,
        /// In metres per second.
        velocity: [f64; 3],
        /// By how much it loses speed, in metres per second and second.
        slowing: f64,
    },
}

impl Closed {
    /// Where it is, and how it moves, so many seconds after it began.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_proto::reckon::{Place, closed::Closed};
    ///
    /// // A ball that stops after two seconds and ten metres, and stays there.
    /// let from = Place::at(DVec3::ZERO);
    /// let ball = Closed::Roll { from, velocity: [10.0, 0.0, 0.0], slowing: 5.0 };
    /// assert_eq!(ball.after(2.0).place.position, DVec3::new(10.0, 0.0, 0.0));
    /// assert_eq!(ball.after(9.0), ball.after(7.0));
    /// ```
    #[must_use]
    pub fn after(&self, seconds: f64) -> Motion {
        match *self {
            Closed::Projectile { from, speed, gravity } => {
                let change = Rates { linear: gravity.into(), angular: DVec3::ZERO };
                Motion { place: from, speed, change }.after(seconds)
            }
            Closed::Orbit { from, centre, spin } => {
                let (centre, spin) = (DVec3::from(centre), DVec3::from(spin));
                let by = turned(glam::DQuat::IDENTITY, spin * seconds);
                let arm = by * (from.position - centre);
                let linear = spin.cross(arm);
                Motion {
                    place: Place {
                        position: centre + arm,
                        rotation: turned(from.rotation, spin * seconds),
                    },
                    speed: Rates { linear, angular: spin },
                    change: Rates { linear: spin.cross(linear), angular: DVec3::ZERO },
                }
            }
            Closed::Roll { from, velocity, slowing } => {
                let velocity = DVec3::from(velocity);
                let speed = velocity.length();
                // An object at rest stays so; one that is not slowed down never comes to rest.
                let rests = if speed > 0.0 { speed / slowing } else { 0.0 };
                let mut motion = Motion::still(from);
                if speed > 0.0 {
                    motion.speed.linear = velocity;
                    motion.change.linear = velocity * (-slowing / speed);
                }
                let motion = motion.after(seconds.min(rests));
                if seconds < rests { motion } else { Motion::still(motion.place) }
            }
        }
    }

    /// # Errors
    /// Numbers that are not finite or too large; a slowing below zero.
    pub fn check(&self) -> Result<(), BadNumber> {
        match *self {
            Closed::Projectile { from, speed, gravity } => {
                from.check()?;
                speed.check()?;
                check_vector(gravity.into(), "gravity")
            }
            Closed::Orbit { from, centre, spin } => {
                from.check()?;
                check_vector(centre.into(), "centre")?;
                check_vector(spin.into(), "spin")
            }
            Closed::Roll { from, velocity, slowing } => {
                from.check()?;
                check_vector(velocity.into(), "velocity")?;
                check_number(slowing, "slowing")?;
                if slowing >= 0.0 { Ok(()) } else { Err(BadNumber { what: "slowing" }) }
            }
        }
    }

    /// Set off again from here with another velocity: by the same law, except that nothing holds
    /// it on a circle any more.
    pub(crate) fn onward_from(&self, here: Motion) -> Option<Closed> {
        let (from, speed) = (here.place, here.speed);
        match *self {
            Closed::Projectile { gravity, .. } => Some(Closed::Projectile { from, speed, gravity }),
            Closed::Roll { slowing, .. } => {
                Some(Closed::Roll { from, velocity: speed.linear.into(), slowing })
            }
            Closed::Orbit { .. } => None,
        }
    }
}
