//! Which of many moving bodies touch, and who wants to know?
//!
//! A [`World`] is the one door: bodies are inserted, moved and removed there, and [`World::step`]
//! compares what changed. A [`Body`] is a [`Shape`] in a pose; [`Ask`] says what somebody wants to
//! know about a pair; a [`Contact`] is what was found.

mod aabb;
mod body;
pub mod broad;
mod contact;
mod id;
mod interest;
mod report;
mod respond;
mod shape;
mod step;
mod workers;
mod world;

pub use aabb::Aabb;
pub use body::{Body, Layers, Mobility, Velocity};
pub use contact::{Certainty, Change, Contact, Event, Found, Measured};
pub use id::{BodyId, GroupId};
pub use interest::{Ask, Party, Policy};
pub use report::{Counts, Limited, Report, Stopwatch, Times};
pub use respond::{Response, VelocityResponse};
pub use shape::{Shape, ShapeKind, ShapePair};
pub use workers::{Workers, WorkersError};
pub use world::{Settings, World, WorldError};
