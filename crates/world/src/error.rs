//! Why a world refuses something, and the checks of numbers that come in.

use crate::body::Velocity;
use crate::id::{BodyId, GroupId};
use crate::respond::{Response, VelocityResponse};
use glam::DVec3;
use thiserror::Error;

/// Why a world refuses something. It is then as it was.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum WorldError {
    /// The body is not, or no longer, in this world.
    #[error("{0} is not in this world (removed, or never inserted)")]
    UnknownBody(BodyId),
    /// The group is not, or no longer, in this world.
    #[error("{0} is not in this world")]
    UnknownGroup(GroupId),
    /// A group that is still used cannot be removed.
    #[error("{0} still has members; remove or move them first")]
    GroupNotEmpty(GroupId),
    /// Fixed bodies stay where they are.
    #[error("{0} is fixed; insert it as a moving body to move it")]
    Fixed(BodyId),
    /// Only deforming meshes change their vertices.
    #[error("{0} is not a deforming mesh; insert it as one, or replace its shape")]
    NotDeforming(BodyId),
    /// A velocity with a number that is not finite.
    #[error("velocity {0:?} has a number that is not finite")]
    Velocity(Velocity),
    /// A gravity with a number that is not finite.
    #[error("gravity {0} has a number that is not finite")]
    Gravity(DVec3),
    /// A distance or time that is not a finite number from 0 on.
    #[error("{what} is {value}; expected a finite number from 0 on")]
    Number {
        /// What the number is.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A point that is not finite or has a component above 2^100.
    #[error("a point needs finite components of at most 2^100 in size, found {0}")]
    Point(DVec3),
    /// A pair of one body with itself.
    #[error("{0} cannot be paired with itself")]
    SameBody(BodyId),
    /// Vertices that the mesh refuses.
    #[error("new vertices of {id}: {reason}")]
    Vertices {
        /// The body.
        id: BodyId,
        /// What is wrong with them.
        reason: String,
    },
    /// A step within a budget needs a clock.
    #[error("a budget needs a stopwatch; the settings have none")]
    NoStopwatch,
}

pub(crate) fn check_velocity(velocity: Velocity) -> Result<(), WorldError> {
    if velocity.is_finite() { Ok(()) } else { Err(WorldError::Velocity(velocity)) }
}

pub(crate) fn check_response(response: Option<Response>) -> Result<(), WorldError> {
    match response.map(|response| response.velocity) {
        Some(VelocityResponse::Bounce { restitution }) => check_number("restitution", restitution),
        _ => Ok(()),
    }
}

/// Accepts finite numbers from 0 on.
pub(crate) fn check_number(what: &'static str, value: f64) -> Result<(), WorldError> {
    let good = value.is_finite() && value >= 0.0;
    if good { Ok(()) } else { Err(WorldError::Number { what, value }) }
}
