//! Exact and fast collision detection for everything that shares a 3D world.
//!
//! This crate is the door: it re-exports the crates behind it under one name.

pub use jostle_geom::*;
