//! Exact and fast collision detection for everything that shares a 3D world.
//!
//! ```
//! use jostle::glam::DVec3;
//! use jostle::{Model, Pair, Pose, Quality, solids};
//!
//! let cube = Model::build(solids::cuboid(DVec3::ONE)?, Quality::Default);
//! let beside = Pose::from_translation(DVec3::new(1.5, 0.25, 0.0))?;
//! let pair = Pair::new(&cube, &Pose::IDENTITY, &cube, &beside);
//! assert!(!pair.touches());
//! assert_eq!(pair.distance().map(|found| found.distance), Some(0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | you want | look at |
//! |---|---|
//! | two shapes: touching, faces, distance, clearance, relation | [`Pair`], for many [`Batch`] |
//! | where they touch, how deep, with which normals | [`Pair::contacts`], [`Pair::patches`] |
//! | the first contact of a motion | [`time_of_impact`] |
//! | one mesh: rays, closest points, containment | [`PosedModel`] |
//! | a mesh from a file | `Mesh::load` of `LoadMesh` (feature `scene`) |
//! | many bodies: events, responses, queries by place | `world` (feature `world`) |
//! | VRML97 and glTF scenes, checks of assemblies | `scene`, `stage` (feature `scene`) |
//! | a client of a shared world | `client` (feature `net`) |
//!
//! The features `scene` and `world` are on by default; without them the crate is geometry alone.
//! Positions and directions are those of [`glam`], re-exported in the version that is used here.

#[cfg(feature = "scene")]
pub mod files;
#[cfg(feature = "scene")]
mod load;

#[cfg(feature = "scene")]
pub use files::SceneFiles;
pub use glam;
#[doc(inline)]
pub use jostle_geom::*;
/// Shared worlds over the network.
#[cfg(feature = "net")]
pub use jostle_net as net;
/// A client of a shared world.
#[cfg(feature = "net")]
pub use jostle_net::client;
/// VRML97, glTF, OBJ, STL and PLY, from bytes to one kind of scene.
#[cfg(feature = "scene")]
pub use jostle_scene as scene;
/// A scene's nodes and a world's bodies, kept in step; checks of assemblies.
#[cfg(feature = "scene")]
pub use jostle_stage as stage;
/// Many moving bodies: contacts, events, responses, queries by place.
#[cfg(feature = "world")]
pub use jostle_world as world;
#[cfg(feature = "scene")]
pub use load::{LoadMesh, LoadMeshError};

/// Compiles and runs the programs of the README with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
