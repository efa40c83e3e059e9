//! Shared worlds on a real network.
//!
//! Directory, nodes, gateways and clients are state machines without clock or socket
//! (`jostle-proto`). This crate drives them with a clock and sockets, and contains all asynchronous
//! code of Jostle:
//!
//! * [`transport`]: frames between processes, with [`certificates`];
//! * [`manifest`]: the handshake, and the world manifest;
//! * [`edge`]: the server for clients and pages, over QUIC, HTTP and WebSocket;
//! * [`client`]: the client side of it;
//! * [`Process`]: the roles of a process, each on its own thread: [`serve`] starts a world,
//!   [`node`] adds a machine to one;
//! * [`directory`]: a replica of the directory as a process of its own;
//! * [`demo`]: a whole world within one program;
//! * [`view`]: what a page is shown, live or recorded;
//! * [`recording`] and [`event_log`]: recordings for replay, and message logs for the checkers.
//!
//! It makes no decisions about the world.

mod bootstrap;
pub mod certificates;
pub mod client;
mod clock;
pub mod demo;
mod dice;
pub mod directory;
mod directory_role;
mod driver;
pub mod edge;
mod envelope;
pub mod event_log;
mod exposure;
mod files;
mod links;
mod machine;
pub mod manifest;
mod metrics;
mod name;
pub mod node;
mod paths;
mod peers;
mod pending;
mod private;
mod process;
pub mod recording;
mod registry;
mod replica_host;
pub mod secret;
pub mod serve;
mod threads;
pub mod transport;
pub mod view;
mod write_ahead_log;

pub use clock::Clock;
pub use exposure::{Listener, Unguarded};
pub use jostle_store::{MirroredError, RecordError, StoreError};
pub use paths::without_build_paths;
pub use peers::Versions;
pub use process::{Process, StartError};
pub use replica_host::ReplicaHostError;
pub use secret::Secret;
pub use write_ahead_log::WriteAheadLogError;
