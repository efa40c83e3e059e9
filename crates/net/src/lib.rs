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
mod driver;
pub mod edge;
mod envelope;
pub mod event_log;
mod exposure;
mod files;
mod keeper;
mod ledger;
mod links;
mod machine;
pub mod manifest;
mod memory;
mod metrics;
mod name;
pub mod node;
mod paths;
mod peers;
mod pending;
mod private;
mod process;
pub mod recording;
mod seat;
pub mod secret;
pub mod serve;
pub mod transport;
pub mod view;

pub use clock::Clock;
pub use exposure::{Listener, Unguarded};
pub use jostle_store::{RecordError, StoreError, TwinError};
pub use ledger::LedgerError;
pub use paths::without_build_paths;
pub use peers::Versions;
pub use process::{Process, StartError};
pub use seat::SeatError;
pub use secret::Secret;
