//! Which of many moving bodies touch, and who wants to know?
//!
//! A [`World`] is the one door: bodies are inserted, moved and removed there, and [`World::step`]
//! compares what changed. A [`Body`] is a [`Shape`] in a pose; [`QueryKind`] says what somebody wants to
//! know about a pair; a [`Contact`] is what was found. [`Modules`] are callbacks that hear of it in
//! a given order, and a [`Detector`] is a world with its modules on a thread of its own.

mod aabb;
mod advance;
pub mod aura;
mod body;
pub mod broad;
mod contact;
mod detector;
mod id;
mod interest;
mod modules;
pub mod pieces;
mod report;
mod request;
mod respond;
pub mod scenes;
mod shape;
mod snapshot;
mod step;
mod ticket;
mod workers;
mod world;

pub use aabb::Aabb;
pub use advance::{Advanced, Hit};
pub use body::{Body, CollisionGroups, Mobility, Velocity};
pub use contact::{Certainty, Change, Contact, ContactData, Event, PairDistance};
pub use detector::{
    Detector, DetectorSettings, Handle, Pace, Published, Refused, ShutdownError, StartError,
    Trouble, WaitError,
};
pub use id::{BodyId, GroupId};
pub use interest::{InterestTarget, Policy, QueryKind};
pub use modules::{
    Actions, Call, Callback, Delivery, Module, ModuleId, ModuleRequest, Modules, Next, Subject,
    Wants,
};
pub use report::{Counts, Limited, Report, Stopwatch, Times};
pub use request::{Job, Reply, Request, RequestError};
pub use respond::{GravityTarget, Response, VelocityResponse};
pub use shape::{Shape, ShapeError, ShapeKind, ShapePair};
pub use snapshot::{LoadWorldError, Runtime};
pub use ticket::Ticket;
pub use workers::{Workers, WorkersError};
pub use world::{Settings, World, WorldError};
