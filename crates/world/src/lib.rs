//! Which of many moving bodies touch, and who wants to know?

mod aabb;
pub mod broad;
mod shape;
mod workers;

pub use aabb::Aabb;
pub use shape::{Shape, ShapeError, ShapeKind, ShapePair};
pub use workers::{Workers, WorkersError};
