//! Do these two shapes touch, where, how far apart, and when?
//!
//! Three nouns: a [`Mesh`] is polygon soup, checked; a [`Model`] is a mesh with its hierarchy,
//! ready for queries; a [`Pose`] says where a model is. A [`Pair`] of posed models answers
//! questions about the two, a [`Placed`] model those about one, and [`time_of_contact`] tells
//! when two models in [`Motion`] first touch.

mod checksum;
pub mod limits;
mod mesh;
mod model;
mod motion;
mod pair;
mod pose;
pub mod predicates;
pub mod simd;
mod single;
pub mod solids;
mod tree;
pub mod triangle;
mod turn;

pub use checksum::Checksum;
pub use mesh::{
    Finding, Gap, Mesh, MeshError, MeshReport, NON_PLANAR_BOUND, NotClosed, ReportText,
    SLIVER_BOUND, WeldError, WeldReport,
};
pub use model::{LoadModelError, Model, Quality};
pub use motion::{Contact, ContactLimits, Motion, time_of_contact};
pub use pair::{
    Answer, Batch, Counters, Distance, DistanceSearch, FacePair, Limits, OverlapsError, Pair,
    Progress, Relation, SharedSegment, TouchSearch, Witness,
};
pub use pose::{Pose, PoseError, PosePartsError};
pub use single::{
    ClipDepth, ClosestPoint, ContainsError, FrustumSide, Placed, Plane, PlaneError, Ray, RayError,
    RayHit, Side, frustum_planes,
};
pub use tree::bytes::LoadTreeError;
pub use turn::turn;
