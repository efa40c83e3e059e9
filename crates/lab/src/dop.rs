//! Discrete oriented polytopes (k-DOPs): what lies between k/2 pairs of parallel planes whose
//! directions are the same for all nodes of a tree (rows O2, Z7, Z8).

mod boundary;
mod coded;
mod faces;
mod generic;
mod hull;
mod normals;
mod spread;
mod tree;
mod trees;

pub use boundary::BoundaryWay;
pub use coded::{octants, realisable};
pub use faces::{vertices, volume};
pub use generic::{GenericDop, Row};
pub use hull::{GivenHull, GivenHullError};
pub use normals::{NormalSet, NormalSetError};
pub use tree::DopTree;
pub use trees::{DopTrees, Realignment};
