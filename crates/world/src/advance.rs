//! Bodies that move by themselves, for a given time.
//!
//! A body moves with its velocity in a straight line and turns with its spin; gravity changes the
//! velocity once, before the body moves. No library trigonometry is involved: machines agree on
//! every bit.

mod flying;
mod meet;

use crate::body::Velocity;
use crate::broad::Structure;
use crate::dynamics::Dynamics;
use crate::id::BodyId;
use crate::workers::Workers;
use glam::DVec3;
use jostle_geom::{Pose, rotation_from_scaled_axis};

/// What happened on the way.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advanced {
    /// Bodies that met, at least one of them in continuous motion, in the order of time, then of
    /// pairs.
    pub hits: Vec<Hit>,
    /// Bodies that would have left the range of poses
    /// ([`TRANSLATION_MAX`](jostle_geom::limits::TRANSLATION_MAX)) and stopped instead; sorted.
    pub stopped: Vec<BodyId>,
}

/// Two bodies that met on their way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The body with the smaller id.
    pub a: BodyId,
    /// The body with the larger id.
    pub b: BodyId,
    /// When, in seconds since the advance began.
    pub time: f64,
    /// Of the face that was hit, from `b` towards `a`, of length 1.
    pub normal: DVec3,
    /// Where, on the surface of `b`.
    pub point: DVec3,
}

/// The most that a body may turn, in radians, in one piece of motion: well below half a turn, for
/// [`Motion`](jostle_geom::Motion) goes the short way round.
const TURN_MAX: f64 = 2.0;

/// The most pieces that spin may cut an advance into. Bodies that turn more than 10 times in one
/// advance are not seen in all the poses that they turn through.
const SLICES_MAX: f64 = 32.0;

/// How an advance looks for bodies that meet: settings that change no answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    pub(crate) structure: Structure,
    pub(crate) workers: &'a Workers,
}

impl Dynamics<'_> {
    /// Moves all bodies that have a velocity, or fall, for a number of seconds from 0 on.
    pub(crate) fn advance(&mut self, seconds: f64, search: Search<'_>) -> Advanced {
        let mut advanced = Advanced::default();
        self.apply_gravity(seconds, &mut advanced);
        if self.motion.movers().iter().any(|&slot| self.is_continuous(slot)) {
            let slices = self.slices(seconds);
            for slice in 0..slices as u32 {
                let part = seconds / slices;
                let clock = [f64::from(slice) * part, part];
                self.advance_continuously(clock, search, &mut advanced);
            }
        } else {
            self.advance_directly(seconds, &mut advanced);
        }
        advanced.stopped.sort_unstable();
        advanced.stopped.dedup();
        advanced
    }

    /// Adds to the velocities of falling bodies what gravity gives them in this time.
    fn apply_gravity(&mut self, seconds: f64, advanced: &mut Advanced) {
        let gained = self.motion.gravity * seconds;
        if gained == DVec3::ZERO {
            return;
        }
        for slot in self.mover_slots() {
            let body = self.bodies.body_mut(slot);
            if body.gravity.is_none() {
                continue;
            }
            let linear = body.velocity.linear + gained;
            if linear.is_finite() {
                body.velocity.linear = linear;
            } else {
                self.stop(slot, advanced);
            }
        }
    }

    /// Into how many parts of equal time this advance is cut, so that no body turns far in one.
    fn slices(&self, seconds: f64) -> f64 {
        let movers = self.motion.movers().iter();
        let spins = movers.map(|&slot| self.bodies.body(slot).velocity.angular);
        let turned = spins.map(|spin| spin.length() * seconds).fold(0.0, f64::max);
        (turned / TURN_MAX).ceil().clamp(1.0, SLICES_MAX)
    }

    /// Where all bodies that move are after some time, by slot, if nothing is in their way. Bodies
    /// that would leave the range of poses stop.
    fn ends(&mut self, seconds: f64, advanced: &mut Advanced) -> Vec<(u32, Pose)> {
        let mut ends = Vec::with_capacity(self.motion.movers().len());
        for slot in self.mover_slots() {
            let body = self.bodies.body(slot);
            if body.velocity == Velocity::default() {
                continue;
            }
            match moved(&body.pose, body.velocity, seconds) {
                Some(end) => ends.push((slot, end)),
                None => self.stop(slot, advanced),
            }
        }
        ends
    }

    /// Moves all bodies whatever is in their way.
    fn advance_directly(&mut self, seconds: f64, advanced: &mut Advanced) {
        for (slot, end) in self.ends(seconds, advanced) {
            self.set_pose(slot, &end);
        }
    }

    fn mover_slots(&self) -> Vec<u32> {
        self.motion.movers().iter().copied().collect()
    }

    /// Stops a body that would leave the range of poses.
    fn stop(&mut self, slot: u32, advanced: &mut Advanced) {
        advanced.stopped.push(self.bodies.id(slot));
        self.set_velocity(slot, Velocity::default());
    }

    /// Whether a body is stopped by what is in its way. A disabled body meets no other.
    fn is_continuous(&self, slot: u32) -> bool {
        self.bodies.body(slot).continuous && self.bodies.is_enabled(slot)
    }
}

/// Where a body is after some time; `None` for what is out of range.
fn moved(pose: &Pose, velocity: Velocity, seconds: f64) -> Option<Pose> {
    let translation = pose.translation() + velocity.linear * seconds;
    let rotation = pose.rotation();
    if velocity.angular == DVec3::ZERO {
        return Pose::new(rotation, translation).ok();
    }
    Pose::new(rotation_from_scaled_axis(velocity.angular * seconds)? * rotation, translation).ok()
}
