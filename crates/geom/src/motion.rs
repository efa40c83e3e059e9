//! How a shape moves from one pose to another, and when two moving shapes touch.
//!
//! Every motion here turns about an axis of constant direction at constant speed, so the velocity
//! of a point of the model is a constant *drift* and a *swirl* that turns with the model: a vector
//! of constant length, normal to the axis. The search for the time of impact needs nothing else of
//! a motion, see [`Twist`].

mod advance;
mod angle;
mod clearance;
mod round;
mod sphere;
mod time_of_impact;

use crate::limits::TRANSLATION_MAX;
use crate::{Pose, PoseError};
use angle::{angle_of, sin_cos};
pub use clearance::{Clearance, ClearanceLimits, clearance_over};
use glam::{DQuat, DVec3};
pub use time_of_impact::{TimeOfImpact, TimeOfImpactLimits, time_of_impact};

/// The motion of one model from a start pose at time 0 to an end pose at time 1.
///
/// [`Motion::at`] gives the pose at any time between. It is the same to the bit on every machine:
/// no sine of a system's library is involved.
///
/// The rotation goes the short way round. For half a turn both ways are equally short: it is then
/// right-handed about the axis whose first component other than zero is positive. Rounding of
/// the two poses decides for what is nearly half a turn. For a certain way, or more than half a
/// turn, put several motions one after the other.
///
/// ```
/// use glam::{DQuat, DVec3};
/// use jostle_geom::{Motion, Pose};
///
/// let quarter = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
/// let end = Pose::new(quarter, DVec3::new(2.0, 0.0, 0.0))?;
///
/// // The origin of the mesh goes straight, or on an arc about (1, 1, 0).
/// let linear = Motion::linear(&Pose::IDENTITY, &end).at(0.5).translation();
/// assert!(linear.distance(DVec3::new(1.0, 0.0, 0.0)) < 1e-15);
/// let screw = Motion::screw(&Pose::IDENTITY, &end)?.at(0.5).translation();
/// assert!(screw.distance(DVec3::new(1.0, 1.0 - 2f64.sqrt(), 0.0)) < 1e-15);
/// # Ok::<(), jostle_geom::PoseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    start: Pose,
    end: Pose,
    /// Direction of the axis, in the world.
    axis: DVec3,
    /// Half of the angle turned, from 0 to π/2.
    half_angle: f64,
    /// The constant part of the velocity of every point.
    drift: DVec3,
    /// Axis times angle that it turns by.
    turn: DVec3,
    /// What the mesh origin moves on an arc from start to end: normal to the axis; zero if the
    /// origin moves straight.
    arc: DVec3,
}

impl Motion {
    /// No motion.
    #[must_use]
    pub fn still(pose: &Pose) -> Motion {
        Motion {
            start: *pose,
            end: *pose,
            axis: DVec3::Z,
            half_angle: 0.0,
            drift: DVec3::ZERO,
            turn: DVec3::ZERO,
            arc: DVec3::ZERO,
        }
    }

    /// The origin of the mesh moves along a straight line at constant speed, and the mesh turns
    /// about it at constant angular speed (slerp).
    #[must_use]
    pub fn linear(start: &Pose, end: &Pose) -> Motion {
        let (axis, half_angle) = turn_between(start.rotation(), end.rotation());
        let drift = end.translation() - start.translation();
        let turn = axis * (2.0 * half_angle);
        Motion { start: *start, end: *end, axis, half_angle, drift, turn, arc: DVec3::ZERO }
    }

    /// The same motion with a turn (axis times angle, in radians) that the caller knows better than
    /// two poses give it: they have it with the rounding of two quaternions, but a pose that was
    /// computed from an angular velocity turns by that times the time. It must be the turn of this
    /// motion but for rounding. Poses do not depend on it, nor does the time of impact of two
    /// models; that of a sphere and a model does, by rounding.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Motion, Pose, rotation_from_scaled_axis};
    ///
    /// let turn = DVec3::new(0.1, 0.2, 0.3);
    /// let end = Pose::new(rotation_from_scaled_axis(turn).unwrap(), DVec3::X)?;
    /// let motion = Motion::linear(&Pose::IDENTITY, &end);
    /// assert!(motion.turn().distance(turn) < 1e-15);
    /// assert_eq!(motion.with_turn(turn).turn(), turn);
    /// # Ok::<(), jostle_geom::PoseError>(())
    /// ```
    #[must_use]
    pub fn with_turn(self, turn: DVec3) -> Motion {
        Motion { turn, ..self }
    }

    /// The mesh turns about a fixed axis in the world and moves along it, both at constant speed,
    /// like a screw (Chasles: any two poses are joined by one). Which point of the mesh is its
    /// origin does not matter. Without rotation this is [`Motion::linear`].
    ///
    /// # Errors
    /// Poses so far out that the arc between them might leave the range of translations.
    pub fn screw(start: &Pose, end: &Pose) -> Result<Motion, PoseError> {
        let linear = Motion::linear(start, end);
        let (translation, way) = (start.translation(), linear.drift);
        // No point of the arc is further from the start than the end is.
        if translation.length() + way.length() >= TRANSLATION_MAX {
            return Err(PoseError::TooFar { translation });
        }
        if linear.half_angle == 0.0 {
            return Ok(linear);
        }
        let drift = linear.axis * linear.axis.dot(way);
        Ok(Motion { drift, arc: way - drift, ..linear })
    }

    /// The pose at time `s`: up to 0 (and for NaN) the start pose, from 1 on the end pose, to the
    /// bit.
    #[must_use]
    pub fn at(&self, s: f64) -> Pose {
        if s >= 1.0 {
            return self.end;
        }
        if s.is_nan() || s <= 0.0 || self.start == self.end {
            return self.start;
        }
        let rotation = if self.half_angle == 0.0 {
            self.start.rotation()
        } else {
            let (sin, cos) = sin_cos(self.half_angle * s);
            let turn = self.axis * sin;
            DQuat::from_xyzw(turn.x, turn.y, turn.z, cos) * self.start.rotation()
        };
        // Cannot fail: the rotation is a product of two of length 1, and the translation is
        // between the two ends or was checked by `screw`.
        Pose::new(rotation, self.translation(s)).unwrap_or(self.start)
    }

    /// The pose at time 0.
    #[must_use]
    pub fn start(&self) -> Pose {
        self.start
    }

    /// The pose at time 1.
    #[must_use]
    pub fn end(&self) -> Pose {
        self.end
    }

    /// The axis times the angle, in radians, that it turns by from time 0 to time 1.
    #[must_use]
    pub fn turn(&self) -> DVec3 {
        self.turn
    }

    fn translation(&self, s: f64) -> DVec3 {
        let (start, end) = (self.start.translation(), self.end.translation());
        if self.arc == DVec3::ZERO {
            return (start + self.drift * s).clamp(start.min(end), start.max(end));
        }
        // In the plane normal to the axis, written with complex numbers and the half angle h, the
        // origin moves by (e^2ihs − 1) / (e^2ih − 1) of the arc, which is
        // sin(hs) / sin(h) · e^ih(s − 1). This needs no point of the axis, which may be far away.
        let part = sin_cos(self.half_angle * s).0 / sin_cos(self.half_angle).0;
        start + self.drift * s + self.turned_arc(self.half_angle * (s - 1.0)) * part
    }

    fn turned_arc(&self, angle: f64) -> DVec3 {
        let (sin, cos) = sin_cos(angle);
        self.arc * cos + self.axis.cross(self.arc) * sin
    }

    /// How the model moves at time `s`.
    fn twist(&self, s: f64) -> Twist {
        let swirl = if self.arc == DVec3::ZERO {
            DVec3::ZERO
        } else {
            // The derivative of the above: h / sin(h) · e^ih(2s − 1) of the arc.
            let speed = self.half_angle / sin_cos(self.half_angle).0;
            self.turned_arc(self.half_angle * (2.0 * s - 1.0)) * speed
        };
        let turning = 2.0 * self.half_angle;
        Twist {
            origin: self.at(s).translation(),
            drift: self.drift,
            swirl,
            axis: self.axis,
            turning,
        }
    }

    /// No component of a translation of this motion is larger, up to rounding.
    fn reach(&self) -> f64 {
        self.start.translation().length() + self.drift.length() + self.arc.length()
    }
}

/// How a model moves at one time.
///
/// The velocity of the point x is `drift` + w, with the swirl
/// w = `swirl` + `turning` · `axis` × (x − `origin`). As the model moves, `drift` stays and w
/// turns about `axis` with the angular speed `turning`; so its length is constant, and the length
/// of the acceleration is `turning` · |w|.
#[derive(Clone, Copy, Debug)]
struct Twist {
    /// Where the origin of the mesh is.
    origin: DVec3,
    drift: DVec3,
    /// The swirl of the origin.
    swirl: DVec3,
    axis: DVec3,
    turning: f64,
}

impl Twist {
    /// The swirl of the point `x` of the model.
    fn swirl_at(&self, x: DVec3) -> DVec3 {
        self.swirl + self.axis.cross(x - self.origin) * self.turning
    }
}

/// Axis and half angle of the short way from one rotation to another.
fn turn_between(from: DQuat, to: DQuat) -> (DVec3, f64) {
    let turn = to * from.conjugate();
    let (vector, cos) = (DVec3::new(turn.x, turn.y, turn.z), turn.w);
    let sin = vector.length();
    // Below this the turn is none to the last bit of any coordinate, and dividing by it is risky.
    if from == to || sin < 1e-30 {
        return (DVec3::Z, 0.0);
    }
    let axis = vector / sin;
    let first = [axis.x, axis.y, axis.z].into_iter().find(|&x| x != 0.0).unwrap_or(1.0);
    let long_way = if cos == 0.0 { first < 0.0 } else { cos < 0.0 };
    let length = (sin * sin + cos * cos).sqrt();
    let half_angle = angle_of(sin / length, cos.abs() / length);
    (if long_way { -axis } else { axis }, half_angle)
}
