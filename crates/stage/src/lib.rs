//! Which bodies does a scene become, and how do they move?
//!
//! A [`Stage`] holds a scene with its events ([`jostle_scene::Play`]) and the world that was made
//! of it ([`jostle_world::World`]), and keeps the two in sync: changed fields of the scene move
//! bodies, and collisions of bodies are sent as events of the scene's nodes. [`check()`] reports
//! which parts of a scene touch or come too close.

mod avatar;
mod check;
mod drive;
mod error;
mod events;
mod hierarchy;
mod isolated;
mod names;
mod plan;
mod roles;
mod shapes;
mod stage;
mod sync;

pub use check::{
    CheckOptions, CheckReport, DEPTHS_MAX, FACES_MAX, Finding, FindingDepth, FindingKind,
    NamedFaces, check, check_stage,
};
pub use error::StageError;
pub use events::{StageEvent, StageEventKind};
pub use hierarchy::{HierarchyFiles, LoadHierarchy, SaveHierarchy};
pub use stage::{Stage, StageOptions, StaticPairs};
pub use sync::SyncCounts;
