//! Errors of making and stepping a stage.

use jostle_geom::{MeshError, PoseError, ShapeError, WeldError};
use jostle_scene::{FieldError, GeometryError, PlayError, WalkError};
use jostle_world::WorldError;

/// Why a stage cannot be made or stepped.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The scene contains itself, or is too deep or too large.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// A geometry node is invalid.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// A surface that cannot be joined into the mesh of its body.
    #[error("{place}: {source}")]
    Mesh {
        /// The position of the geometry in its file.
        place: String,
        /// What is wrong.
        source: MeshError,
    },
    /// An invalid distance for welding.
    #[error(transparent)]
    Weld(#[from] WeldError),
    /// An invalid pose.
    #[error("{name}: {source}")]
    Pose {
        /// The body.
        name: String,
        /// What is wrong.
        source: PoseError,
    },
    /// An invalid size of the avatar.
    #[error("avatarSize: {0}")]
    Avatar(#[from] ShapeError),
    /// An event that a node does not have.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// An invalid time step, or a node that the running scene does not have.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// The world rejected an operation.
    #[error(transparent)]
    World(#[from] WorldError),
}
