//! How do the papers' own algorithms compare, with each other and with ours?
//!
//! Every method here answers what [`jostle_geom::Pair`] answers, with the same exact test of two
//! triangles at its end, so methods may differ in time, memory and counts but never in an answer.
//! A [`Contender`] is two meshes prepared by one method. Nothing of this crate is on the path of
//! an ordinary query.

pub mod aura;
pub mod bench;
mod boxtree;
pub mod broad;
pub mod bsp;
mod contender;
pub mod convex;
mod count;
mod deform;
pub mod dop;
pub mod experiments;
mod frames;
mod hyperboloid;
mod near_contact;
mod negative;
mod ours;
pub mod reckon;
pub mod regions;
pub mod scenes;
mod surfaces;
mod thread;
pub mod traverse;
pub mod tree;
mod verdict;

pub use boxtree::{
    BoxTree, BoxTreeSettings, ClippedBoxTrees, Criterion, CriterionRow, RealignedBoxTrees,
    boxtree_criteria,
};
pub use contender::Contender;
pub use count::Count;
pub use deform::{
    BoxPipeline, DeformKind, DeformRow, DeformScene, Deforming, Frame, Renewal, Renewed,
    ThreadsError, Which, deform_row,
};
pub use hyperboloid::Hyperboloid;
pub use near_contact::NearContact;
pub use negative::{
    BracketSort, DopPairs, Fineness, GrowShrink, Keep, LinkRow, LinkedDops, PointsInVoxels,
    VoxelRow, link_row, voxel_row,
};
pub use ours::Ours;
pub use surfaces::Surfaces;
pub use thread::NutAndBolt;
pub use verdict::Verdict;
