//! Which of many moving bodies touch?
//!
//! Bodies are inserted into a [`World`], moved and removed there, and [`World::step`] compares what
//! changed. A [`Body`] is a [`Shape`](jostle_geom::Shape) in a pose; a [`QueryKind`] is what is
//! asked about a pair; a [`Contact`] is what was found. Between steps, [`World::cast_ray`] and its
//! neighbours look for bodies by place.
//!
//! With the feature `detector`, `Modules` are callbacks that are called for events in a given
//! order, and a `Detector` is a world with its modules on a thread of its own.

mod advance;
pub mod aura;
mod bodies;
mod body;
pub mod broad;
mod broad_phase;
mod contact;
mod contacts;
#[cfg(feature = "detector")]
mod detector;
mod dynamics;
mod error;
mod filters;
mod id;
mod interest;
#[cfg(feature = "detector")]
mod modules;
mod motion;
pub mod pieces;
mod query;
mod report;
#[cfg(feature = "detector")]
mod request;
mod respond;
mod settings;
mod snapshot;
mod step;
#[cfg(feature = "detector")]
mod ticket;
mod workers;
mod world;

pub use advance::{Advanced, Hit};
pub use body::{Body, CollisionGroups, Mobility, Velocity};
pub use contact::{Certainty, Change, Contact, ContactData, Event, PairDistance};
#[cfg(feature = "detector")]
pub use detector::{
    Detector, DetectorError, DetectorSettings, Handle, Pace, PostError, Published, ShutdownError,
    StartError, WaitError,
};
pub use error::WorldError;
pub use id::{BodyId, GroupId};
pub use interest::{InterestTarget, Policy, QueryKind};
#[cfg(feature = "detector")]
pub use modules::{
    Actions, Call, Callback, ChangeFilter, Delivery, Module, ModuleId, ModuleRequest, Modules,
    Next, Subject,
};
pub use query::{BodyRayHit, NearestBody};
pub use report::{Counts, Limited, Report, Stopwatch, Times};
#[cfg(feature = "detector")]
pub use request::{Job, Reply, Request, RequestError};
pub use respond::{GravityTarget, Response, VelocityResponse};
pub use settings::Settings;
pub use snapshot::{LoadWorldError, Runtime};
#[cfg(feature = "detector")]
pub use ticket::Ticket;
pub use workers::{Workers, WorkersError};
pub use world::World;
