//! Exact and fast collision detection for everything that shares a 3D world.
//!
//! This crate is the door: it re-exports the crates behind it under one name. Positions and
//! directions are those of [`glam`], re-exported in the version that is used here.

pub mod files;
mod load;

pub use files::SceneFiles;
pub use glam;
pub use jostle_geom::*;
/// How does it travel? Shared worlds over the network.
#[cfg(feature = "net")]
pub use jostle_net as net;
/// A client of a shared world.
#[cfg(feature = "net")]
pub use jostle_net::client;
/// What is in this file? VRML97, glTF, OBJ, STL and PLY from bytes to one kind of scene.
pub use jostle_scene as scene;
/// Which bodies does a scene become, and how do they move?
pub use jostle_stage as stage;
/// Which of many moving bodies touch, and who wants to know?
pub use jostle_world as world;
pub use load::{LoadMesh, LoadMeshError};

/// Compiles and runs the programs of the README with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
