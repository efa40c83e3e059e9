//! Which machine computes what, in messages?
//!
//! Directory, node, leader, gateway and client are state machines: they are given the time and
//! one input, and give back outputs. There is no clock here, no socket, no thread and no dice;
//! the simulator and the network drive the same code and treat every transport as one that
//! loses, doubles and reorders. What machines must agree on is fixed-point and simulated as such.

mod object;
pub mod reckon;
mod state;
mod time;

pub use object::{Class, NodeId, Object, ObjectId, ShapeId, Solid};
pub use state::{Block, POSITION_UNIT, Rotation, State, VELOCITY_UNIT};
pub use time::{Span, Tick, Time};
