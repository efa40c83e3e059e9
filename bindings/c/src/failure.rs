//! Why a call fails: the text for `col_error_text` and the status for C.

use crate::geometry::COORDINATE_MAX;
use crate::types::{col_id, col_status};
use jostle_geom::solids::SolidError;
use jostle_geom::{MeshError, PoseError};
use jostle_world::WorldError;
use thiserror::Error;

#[derive(Clone, Debug, Error, PartialEq)]
pub(crate) enum Failure {
    #[error("{0} is a null pointer")]
    Null(&'static str),
    #[error("{0:#x} is no object and no switch of this world (deleted, or never created)")]
    Unknown(col_id),
    #[error("{0:#x} is a switch; expected an object")]
    NotAnObject(col_id),
    #[error("{0:#x} is an object; expected a switch")]
    NotASwitch(col_id),
    #[error("{0:#x} was given twice; expected two different objects")]
    Same(col_id),
    #[error("{what} has {value}; expected a finite number")]
    NotFinite { what: &'static str, value: f64 },
    #[error("{what} has {value}; expected at most {COORDINATE_MAX:e} in size")]
    TooLarge { what: &'static str, value: f64 },
    #[error("the tolerance is {0}; expected a number above 0")]
    BadTolerance(f64),
    #[error("the tolerance {tolerance} is too small for this place; above {least} is possible")]
    TooPrecise { tolerance: f64, least: f64 },
    #[error("child {index} was chosen; the switch {switch:#x} has {children} children")]
    NoSuchChild { switch: col_id, index: i32, children: usize },
    #[error("the last row of the transform is {0:?}; expected 0 0 0 1 (rows come one by one)")]
    LastRow([f64; 4]),
    #[error("object {0:#x} takes part and has unfinished triangles; call col_finish_object")]
    Unfinished(col_id),
    #[error("no tolerance is set; call col_set_tolerance first")]
    NoTolerance,
    #[error("too many {what}; the limit is {most}")]
    TooMany { what: &'static str, most: usize },
    #[error("{child:#x} cannot be a child of {parent:#x}, which is the same or below it")]
    Circle { child: col_id, parent: col_id },
    #[error("{0:#x} and {1:#x} did not collide in the last col_test")]
    NotReported(col_id, col_id),
    #[error("there are {total} results; there is room for {room}")]
    Truncated { total: usize, room: usize },
    #[error(transparent)]
    Pose(#[from] PoseError),
    #[error(transparent)]
    Solid(#[from] SolidError),
    #[error("a mistake in the library: {0}")]
    Mesh(#[from] MeshError),
    #[error("a mistake in the library: {0}")]
    World(#[from] WorldError),
    #[error("a mistake in the library: {0}")]
    Panic(String),
}

impl Failure {
    pub(crate) fn status(&self) -> col_status {
        match self {
            Failure::Null(_) => col_status::COL_NULL_POINTER,
            Failure::Unknown(_) => col_status::COL_UNKNOWN_OBJECT,
            Failure::NotAnObject(_) => col_status::COL_NOT_AN_OBJECT,
            Failure::NotASwitch(_) => col_status::COL_NOT_A_SWITCH,
            Failure::Same(_) => col_status::COL_SAME_OBJECT,
            Failure::NotFinite { .. } | Failure::Pose(PoseError::NotFinite { .. }) => {
                col_status::COL_NOT_FINITE
            }
            Failure::LastRow(_)
            | Failure::Pose(PoseError::NotARotation { .. } | PoseError::NoRotation { .. }) => {
                col_status::COL_NOT_RIGID
            }
            Failure::TooMany { .. } | Failure::Solid(SolidError::TooMany { .. }) => {
                col_status::COL_TOO_MANY
            }
            Failure::TooLarge { .. }
            | Failure::BadTolerance(_)
            | Failure::TooPrecise { .. }
            | Failure::NoSuchChild { .. }
            | Failure::Pose(PoseError::TooFar { .. })
            | Failure::Solid(_) => col_status::COL_OUT_OF_RANGE,
            Failure::Unfinished(_) => col_status::COL_UNFINISHED,
            Failure::NoTolerance => col_status::COL_NO_TOLERANCE,
            Failure::Circle { .. } => col_status::COL_CIRCLE,
            Failure::NotReported(..) => col_status::COL_NOT_REPORTED,
            Failure::Truncated { .. } => col_status::COL_TRUNCATED,
            // The calls check what they pass on, so a refusal further in is our mistake.
            Failure::Mesh(_) | Failure::World(_) | Failure::Panic(_) => col_status::COL_PANIC,
        }
    }
}
