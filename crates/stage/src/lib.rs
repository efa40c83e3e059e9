//! Which bodies does a scene become, and how do they move?
//!
//! A [`Stage`] holds a scene with its events ([`jostle_scene::Play`]) and the world that it has
//! become ([`jostle_world::World`]), and keeps the two in step: what the scene's events change
//! moves bodies; what bodies run into leaves as events of the scene. [`check()`] answers the
//! engineer's question about a scene that stands still.

mod check;
mod drive;
mod error;
mod follow;
mod hierarchy;
mod lone;
mod names;
mod plan;
mod roles;
mod shapes;
mod stage;
mod tell;
mod visitor;

pub use check::{Checked, Checking, FACES_MAX, Finding, FindingKind, Pieces, check, check_stage};
pub use error::StageError;
pub use hierarchy::{HierarchyFiles, LoadHierarchy, SaveHierarchy};
pub use stage::{Scenery, Stage, Staging};
pub use tell::{Happening, What};
