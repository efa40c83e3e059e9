//! Why a scene cannot be staged.

use jostle_geom::{MeshError, PoseError, ShapeError, WeldError};
use jostle_scene::{FieldError, GeometryError, PlayError, WalkError};
use jostle_world::WorldError;

/// Why a scene cannot be staged.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The scene goes round, or is too deep or too large.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// A geometry node makes no surface.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// A surface that does not fit into a mesh where it stands.
    #[error("{place}: {source}")]
    Mesh {
        /// Where the geometry stands in its file.
        place: String,
        /// What is wrong.
        source: MeshError,
    },
    /// A distance to weld at that is none.
    #[error(transparent)]
    Weld(#[from] WeldError),
    /// A place in the world that is no place.
    #[error("{name}: {source}")]
    Pose {
        /// The body.
        name: String,
        /// What is wrong.
        source: PoseError,
    },
    /// A size of the avatar that is no size.
    #[error("avatarSize: {0}")]
    Avatar(#[from] ShapeError),
    /// An event that a node does not have.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A time that is no time.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// The world refused something.
    #[error(transparent)]
    World(#[from] WorldError),
}
