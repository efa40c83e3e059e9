//! The reference for the exact decisions: slow, obvious, and sharing no code with what it checks.
//!
//! [`whole`] turns `f64` coordinates into whole numbers without loss, [`separation`] decides by
//! separating directions on those, [`metric`] measures distances, [`cases`] draws triangles where
//! the kernels are weak, and [`exact::run`] compares. [`polycubes`] checks relations of whole
//! solids by counting cells. Never part of the shipped library.

pub mod cases;
pub mod exact;
pub mod metric;
pub mod options;
pub mod polycubes;
pub mod rng;
pub mod separation;
pub mod whole;
