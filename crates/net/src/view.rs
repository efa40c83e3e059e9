//! What a page is shown of a world, live or recorded: docs/view-protocol.md.
//!
//! * `snapshot`: the world at a tick; `frames`: its encoding; `queries`: rays, contacts, clearance;
//!   `findings`: touching pairs of parts, of a check or among immovable objects;
//! * `hub`: all viewers; `viewer`: one of them; `query_service`: the thread that answers queries;
//! * `follower`: the role that follows a live world; [`Player`]: plays a recording; [`SceneView`]:
//!   shows a world that one program computes alone;
//! * `messages`: JSON messages; [`Controls`]: what a page may change.

mod controls;
mod findings;
mod follower;
mod frames;
mod hub;
mod loaded_recording;
mod messages;
mod player;
mod queries;
mod query_service;
mod scene_view;
mod snapshot;
mod viewer;

pub use controls::{Control, Controls, Key, KeyBinding};
pub use findings::{FINDINGS_MAX, Findings, PairFinding};
pub use hub::ViewHub;
pub use player::{Player, PlayerSettings};
pub use scene_view::{Picture, SceneView, SceneViewSettings};

pub(crate) use follower::ViewFollower;
pub(crate) use hub::{ViewSettings, ViewerSlot};
pub(crate) use messages::{ViewMessage, ViewRequest};
pub(crate) use queries::RayQuery;
pub(crate) use viewer::{Topic, Viewer};

#[cfg(test)]
mod tests;
