//! Who decides, if machines fail?
//!
//! The directory as 1, 3 or 5 [`Replica`]s of one log, any minority of which may die. A replica is
//! a state machine like those of `jostle-proto`: it is given the time and one input, and gives
//! back what is to be done, in order. There is no clock here, no socket, no file, no thread and
//! no dice; the simulator and the network drive the same code. Consensus is `raft` (raft-rs),
//! which nothing outside of this crate names; its messages and records are our own, with caps.

mod convert;
mod lead;
mod logfile;
mod peer;
mod record;
mod replica;
mod report;
mod settings;
mod store;

pub use logfile::{LogError, Restored, begin_log, read_log, write_log};
pub use peer::{MESSAGE_MAX, PeerError, PeerMessage};
pub use record::{Change, LogEntry, Payload, Record, STATE_MAX, Snapshot};
pub use replica::Replica;
pub use report::{PeerReport, Position, ReplicaReport};
pub use settings::{Basis, Output, Pace, Refused, RestoreError, Settings};
