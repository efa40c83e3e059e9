//! Binary trees of bounding volumes, and the rules by which they are split.

mod aabb;
pub(crate) mod bytes;
mod covariance;
mod obb;
mod objects;
mod shape;
mod sphere;
mod split;
mod splits;
mod stamps;
mod tightness;
mod volume;

pub use aabb::{Aabb, AlignedAabb};
pub use bytes::LoadError;
pub use obb::Obb;
pub use objects::Object;
pub use shape::TreeShape;
pub use sphere::{AlignedSphere, Sphere};
pub use split::{SplitRule, Splitting};
pub use splits::{Proximity, SplitError, SplitRow};
pub use tightness::{AXES, Percent, Tightness, tightness};
pub use volume::{Volume, VolumeTree, VolumeTrees};

pub(crate) use split::{Guide, corners};
pub(crate) use stamps::{Freshness, Stamps};
pub(crate) use volume::up;
