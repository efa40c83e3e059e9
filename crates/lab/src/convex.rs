//! Convex hulls, and three ways to see that two of them are apart (Zachmann 2000, 3.4).
//!
//! A hull is a tight volume around a mesh that can be tested without a tree. It serves as a filter
//! before an exact test: what is called apart is apart, and the rest is left to the exact test. So
//! [`HullFilter`] answers as the method behind it does.

mod apart;
mod crowd;
mod exact;
mod faces;
mod filter;
mod gjk;
mod hull;
mod merge;
mod planes;
mod quickhull;
mod simplex;

pub use apart::{Effort, Placement};
pub use crowd::{Crowd, CrowdCost, Stage};
pub use faces::{FaceTracker, Neighbours, Tracked};
pub use filter::{Filter, HullFilter};
pub use gjk::{Gjk, GjkAnswer};
pub use hull::{Dimension, Hull, HullError};
pub use planes::{PlaneSettings, SeparatingPlane, Start, Stop};
