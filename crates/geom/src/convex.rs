//! Convex solids: is a mesh one, what is the hull of points, and how far are two of them apart or
//! inside each other?
//!
//! Whether something is convex is decided exactly, once for a [`Model`](crate::Model). Distances
//! and depths are rounded, and each comes with a proved bound: a direction proves that two convex
//! sets are at least so far apart, and a point of their difference that they are at most so far.

mod decide;
mod epa;
mod gjk;
mod hull;
mod penetration;
mod wide;
mod wrap;

#[cfg(test)]
mod tests;

pub(crate) use decide::is_convex;
pub(crate) use epa::expand;
pub(crate) use gjk::{Found, Vertex, closest};
pub(crate) use hull::Hull;
pub(crate) use penetration::penetration;
pub(crate) use wrap::facets;
