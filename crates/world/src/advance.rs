//! Bodies that move by themselves, for a given time.
//!
//! A body moves with its velocity in a straight line and turns with its spin; gravity changes the
//! velocity once, before the body moves. No library trigonometry is involved: machines agree on
//! every bit.

mod flying;
mod meet;

use crate::body::Velocity;
use crate::id::BodyId;
use crate::world::{State, World, WorldError, check_number};
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

impl World {
    /// Moves all bodies that have a velocity, or fall, for `seconds`. The next step compares them.
    ///
    /// Bodies [with continuous motion](crate::Body::with_continuous_motion) do not jump. When one
    /// of them and another body meet on the way, both are placed just before that, about a
    /// millionth of the size of the smaller one apart, and respond at once, at the time of their
    /// meeting: bodies that bounce use up the rest of the time, with up to 8 changes of their way,
    /// others wait where they are. So they do not overlap afterwards, and the next step does not
    /// find them touching; [`Advanced::hits`] tells whom they met. What a body touches already does
    /// not stop it: it must be able to leave.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Pose, Shape, rotation_from_scaled_axis};
    /// use jostle_world::{Body, Response, Settings, Velocity, VelocityResponse, World};
    ///
    /// let mut world = World::new(Settings::default());
    /// let wall = Shape::cuboid(DVec3::new(0.01, 10.0, 10.0))?;
    /// world.insert(Body::fixed(wall, Pose::from_translation(DVec3::X * 5.0)?))?;
    /// let bounce = VelocityResponse::Bounce { restitution: 1.0 };
    /// let bullet = Body::moving(Shape::cuboid(DVec3::splat(0.01))?, Pose::IDENTITY)
    ///     .with_velocity(Velocity::straight(DVec3::X * 1000.0))
    ///     .with_response(Response { velocity: bounce, set_back: true })
    ///     .with_continuous_motion();
    /// let bullet = world.insert(bullet)?;
    ///
    /// let advanced = world.advance(1.0 / 30.0)?;
    /// assert_eq!(advanced.hits.len(), 1);
    /// assert_eq!(world.velocity(bullet)?.linear, DVec3::X * -1000.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`WorldError::Number`] for a time that is not a finite number from 0 on.
    pub fn advance(&mut self, seconds: f64) -> Result<Advanced, WorldError> {
        check_number("the time to advance", seconds)?;
        let mut advanced = Advanced::default();
        self.fall(seconds, &mut advanced);
        if self.movers.iter().any(|&slot| self.is_continuous(slot)) {
            let slices = self.slices(seconds);
            for slice in 0..slices as u32 {
                let part = seconds / slices;
                self.fly([f64::from(slice) * part, part], &mut advanced);
            }
        } else {
            self.jump(seconds, &mut advanced);
        }
        advanced.stopped.sort_unstable();
        advanced.stopped.dedup();
        Ok(advanced)
    }

    /// Adds to the velocities of falling bodies what gravity gives them in this time.
    fn fall(&mut self, seconds: f64, advanced: &mut Advanced) {
        let gained = self.gravity * seconds;
        if gained == DVec3::ZERO {
            return;
        }
        for slot in self.mover_slots() {
            let body = &mut self.members.at_mut(slot).body;
            if body.fall.is_none() {
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
        let spins = self.movers.iter().map(|&slot| self.members.at(slot).body.velocity.angular);
        let turned = spins.map(|spin| spin.length() * seconds).fold(0.0, f64::max);
        (turned / TURN_MAX).ceil().clamp(1.0, SLICES_MAX)
    }

    /// Where all bodies that move are after some time, by slot, if nothing is in their way.
    fn ends(&mut self, seconds: f64, advanced: &mut Advanced) -> Vec<(u32, Pose)> {
        let mut ends = Vec::with_capacity(self.movers.len());
        for slot in self.mover_slots() {
            let body = &self.members.at(slot).body;
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

    /// Nobody looks where it goes.
    fn jump(&mut self, seconds: f64, advanced: &mut Advanced) {
        for (slot, end) in self.ends(seconds, advanced) {
            self.land(slot, &end);
        }
    }

    fn mover_slots(&self) -> Vec<u32> {
        self.movers.iter().copied().collect()
    }

    /// Puts a body where its motion ends.
    fn land(&mut self, slot: u32, end: &Pose) {
        let body = &mut self.members.at_mut(slot).body;
        if body.pose != *end {
            body.pose = *end;
            self.mark(BodyId(self.members.key(slot)));
        }
    }

    /// For a body that would leave the range of poses.
    fn stop(&mut self, slot: u32, advanced: &mut Advanced) {
        let id = BodyId(self.members.key(slot));
        advanced.stopped.push(id);
        self.members.at_mut(slot).body.velocity = Velocity::default();
        self.note_activity(id);
    }

    /// Does a body look where it goes? One that is disabled meets nobody.
    fn is_continuous(&self, slot: u32) -> bool {
        let member = self.members.at(slot);
        member.body.continuous && member.state == State::Enabled
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
