//! Why a call fails: the text for `col_error_text` and the status for C.

use crate::geometry::COORDINATE_MAX;
use crate::types::{col_id, col_status};
use jostle_geom::solids::SolidError;
use jostle_geom::{ContactsError, DepthError, MeshError, OverlapsError, PoseError};
use jostle_world::WorldError;
use thiserror::Error;

#[derive(Clone, Debug, Error, PartialEq)]
pub(crate) enum Failure {
    #[error("{0} is NULL")]
    Null(&'static str),
    #[error("id {0:#x} is neither an object nor a switch of this world: deleted, or never created")]
    Unknown(col_id),
    #[error("id {0:#x} is a switch; this call takes an object")]
    NotAnObject(col_id),
    #[error("id {0:#x} is an object; this call takes a switch")]
    NotASwitch(col_id),
    #[error("id {0:#x} was given twice; this call takes two different ids")]
    Same(col_id),
    #[error("{what} contains {value}; every number must be finite")]
    NotFinite { what: &'static str, value: f64 },
    #[error("{what} contains {value:e}; the largest absolute value is {COORDINATE_MAX:e}")]
    TooLarge { what: &'static str, value: f64 },
    #[error("the tolerance is {0}; it must be greater than 0")]
    BadTolerance(f64),
    #[error(
        "the tolerance {tolerance:e} is finer than single precision at this distance from the \
         object's origin; it must be greater than {least:e}"
    )]
    TooPrecise { tolerance: f64, least: f64 },
    #[error("switch {switch:#x} has no child {index}: it has {children}, from 0; -1 chooses none")]
    NoSuchChild { switch: col_id, index: i32, children: usize },
    #[error(
        "the last row of the transform is {0:?}; expected 0 0 0 1 (the matrix is row-major, with \
         the translation in elements 3, 7 and 11)"
    )]
    LastRow([f64; 4]),
    #[error(
        "object {0:#x} has triangles that were added after its last col_finish_object; call \
         col_finish_object, or deactivate it"
    )]
    Unfinished(col_id),
    #[error(
        "no tolerance was set; call col_set_tolerance before adding a sphere, cylinder or cone"
    )]
    NoTolerance,
    #[error("too many {what}; the limit is {most}")]
    TooMany { what: &'static str, most: usize },
    #[error("{child:#x} cannot be a child of switch {parent:#x}: it would be its own ancestor")]
    Circle { child: col_id, parent: col_id },
    #[error("objects {0:#x} and {1:#x} are not a collision of the last col_test")]
    NotReported(col_id, col_id),
    #[error("the buffer holds {room} of {total} results; the first {room} were written")]
    Truncated { total: usize, room: usize },
    #[error("{}", of_pose(.0))]
    Pose(#[from] PoseError),
    #[error(transparent)]
    Solid(#[from] SolidError),
    #[error("objects {0:#x} and {1:#x} have no contacts: {2}")]
    NoContacts(col_id, col_id, ContactsError),
    #[error("objects {0:#x} and {1:#x} have no depth: {why}", why = of_depth(.2))]
    NoDepth(col_id, col_id, DepthError),
    #[error("internal error, please report it: {0}")]
    Mesh(#[from] MeshError),
    #[error("internal error, please report it: {0}")]
    World(#[from] WorldError),
    #[error("internal error, please report it: {0}")]
    Panic(String),
}

/// A pose comes from C as a matrix of 16 numbers, so its errors speak of that.
fn of_pose(error: &PoseError) -> String {
    match error {
        PoseError::NotARotation { rows } => format!(
            "the first three columns of the transform, {}, {} and {} by rows, are not a rotation: \
             rows must be of length 1 and at right angles (to 1e-3), without scale or reflection",
            rows[0], rows[1], rows[2]
        ),
        PoseError::TooFar { translation } => {
            format!("the translation {translation} is too large; the limit is 2^100, about 1.3e30")
        }
        // Checked before a pose is made of the matrix.
        PoseError::NotFinite { .. }
        | PoseError::NoRotation { .. }
        | PoseError::NotAffine { .. } => error.to_string(),
    }
}

/// A model comes from C as an object, which is solid if it is closed.
fn of_depth(error: &DepthError) -> String {
    let closed = "closed; each of its edges must have an even number of triangles";
    match error {
        DepthError::NoInside(OverlapsError::FirstNotSolid) => format!("the first is not {closed}"),
        DepthError::NoInside(OverlapsError::SecondNotSolid) => {
            format!("the second is not {closed}")
        }
        DepthError::NoInside(OverlapsError::NeitherSolid) => format!("neither is {closed}"),
        other => other.to_string(),
    }
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
            | Failure::Pose(
                PoseError::NotARotation { .. }
                | PoseError::NoRotation { .. }
                | PoseError::NotAffine { .. },
            ) => col_status::COL_NOT_RIGID,
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
            Failure::NoContacts(_, _, ContactsError::Reach(_)) => col_status::COL_OUT_OF_RANGE,
            Failure::NoContacts(..) => col_status::COL_NO_CONTACTS,
            Failure::NoDepth(_, _, DepthError::NoInside(_)) => col_status::COL_NO_INSIDE,
            Failure::NoDepth(..) => col_status::COL_OUT_OF_RANGE,
            Failure::Truncated { .. } => col_status::COL_TRUNCATED,
            // The calls check their arguments, so an error further in is a bug of the binding.
            Failure::Mesh(_) | Failure::World(_) | Failure::Panic(_) => col_status::COL_PANIC,
        }
    }
}
