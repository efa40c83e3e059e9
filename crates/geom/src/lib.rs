//! Do these two shapes touch, where, how far apart, and when?
//!
//! A [`Mesh`] is polygon soup, checked; a [`Model`] is a mesh with its hierarchy, ready for
//! queries; a [`Shape`] is a mesh, a sphere or a cuboid; a [`Pose`] says where a shape is. A
//! [`Pair`] of posed shapes answers questions about the two, a [`PosedModel`] those about one, and
//! [`time_of_impact`] finds when two shapes in [`Motion`] first touch.

mod aabb;
mod checksum;
mod convex;
mod fit;
pub mod limits;
mod mesh;
mod model;
mod motion;
mod pair;
mod pose;
mod posed_model;
pub mod predicates;
mod rotation;
mod shape;
pub mod simd;
pub mod solids;
mod tree;
pub mod triangle;

pub use aabb::Aabb;
pub use checksum::Checksum;
pub use fit::{Fit, FitLimits, fit};
pub use mesh::{
    ClosingGap, Mesh, MeshError, MeshIssue, MeshReport, NON_PLANAR_BOUND, NotClosed, OffsetError,
    OffsetReport, ReportText, SLIVER_BOUND, WeldError, WeldReport,
};
pub use model::{LoadModelError, Model, Quality};
pub use motion::{
    Clearance, ClearanceLimits, Motion, TimeOfImpact, TimeOfImpactLimits, clearance_over,
    time_of_impact,
};
pub use pair::{
    Batch, Class, Clearing, ClosestContact, ContactPoint, Contacts, ContactsError, Counters,
    DepthError, Distance, DistanceSearch, Effort, FacePair, Immersion, NearPair, OverlapsError,
    Pair, Patch, PatchExtent, PatchesError, Relation, SearchLimits, SearchResult, SearchStatus,
    Separation, SharedSegment, Spacing, TouchSearch, Witness,
};
pub use pose::{Pose, PoseError, PosePartsError};
pub use posed_model::{
    ClipDepth, ClosestPoint, ContainsError, FrustumSide, Plane, PlaneError, PosedModel, Ray,
    RayError, RayHit, Side, frustum_planes,
};
pub use rotation::rotation_from_scaled_axis;
pub use shape::{Shape, ShapeError, ShapeKind, ShapeRef};
pub use tree::bytes::LoadHierarchyError;
