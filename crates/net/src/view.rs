//! What a page is shown of a world, live or recorded: docs/view-protocol.md.
//!
//! * `scene`: the world at a tick; `frames`: as it is sent; `questions`: rays, contacts, clearance;
//!   `findings`: pairs of parts that touch, as a check or the contacts of immovable objects;
//! * `hub`: all who watch; `viewer`: one of them; `desk`: where questions are answered;
//! * `watcher`: the role that follows a live world; [`Player`]: a recording that is played;
//!   [`Show`]: a world that one program computes alone;
//! * `words`: what is said in JSON; [`Controls`]: what a page may ask for besides looking.

mod controls;
mod desk;
mod film;
mod findings;
mod frames;
mod hub;
mod player;
mod questions;
mod scene;
mod show;
mod viewer;
mod watcher;
mod words;

pub use controls::{Control, Controls, Key, KeyBinding};
pub use findings::{FINDINGS_MAX, Findings, PairFinding};
pub use hub::Hub;
pub use player::{Player, PlayerSettings};
pub use show::{Picture, Show, ShowSettings};

pub(crate) use hub::{Place, Showing};
pub(crate) use questions::Glance;
pub(crate) use viewer::{Topic, Viewer};
pub(crate) use watcher::Watcher;
pub(crate) use words::{Asks, Tells};

#[cfg(test)]
mod tests;
