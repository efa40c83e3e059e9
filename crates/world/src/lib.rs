//! Which of many moving bodies touch, and who wants to know?

mod aabb;
pub mod aura;
pub mod broad;
mod workers;

pub use aabb::Aabb;
pub use workers::{Workers, WorkersError};
