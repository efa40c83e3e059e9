//! Do these two shapes touch, where, how far apart, and when?
//!
//! Three nouns: a [`Mesh`] is polygon soup, checked; a [`Model`] is a mesh with its hierarchy,
//! ready for queries; a [`Pose`] says where a model is. A [`Pair`] of posed models answers
//! questions about the two.

pub mod limits;
mod mesh;
mod model;
mod pair;
mod pose;
pub mod predicates;
pub mod simd;
pub mod solids;
mod tree;
pub mod triangle;

pub use mesh::{Finding, Mesh, MeshError, MeshReport, NON_PLANAR_BOUND, NotClosed};
pub use model::{Model, Quality};
pub use pair::{Counters, Distance, FacePair, Pair, Witness};
pub use pose::{Pose, PoseError};
pub use tree::bytes::LoadTreeError;
