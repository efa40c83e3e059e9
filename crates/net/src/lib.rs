//! The machines of a shared world on a real network.
//!
//! Directory, nodes, gateways and clients are state machines without clock or socket
//! (`jostle-proto`). Here are their clock and their sockets, and all asynchronous code of Jostle:
//!
//! * [`plane`]: what carries frames between our own processes, and [`certificates`] for it;
//! * [`charter`]: what newcomers are told at the door;
//! * [`door`]: where clients come in, by QUIC and WebSocket;
//! * [`client`]: the other side of it;
//! * [`Process`]: the roles of a process, each in a thread: [`serve`] begins a world, [`work`] adds
//!   a machine to one;
//! * [`direct`]: a replica of the directory as a process of its own;
//! * [`demo`]: a whole world within one program, to be shown;
//! * [`view`]: what a page is shown, live or recorded;
//! * [`recording`] and [`witness`]: what happened, to be played again and to be judged.
//!
//! Nothing here decides anything about the world.

mod board;
pub mod certificates;
pub mod charter;
pub mod client;
mod clock;
pub mod demo;
mod dice;
pub mod direct;
pub mod door;
mod driver;
mod exposure;
mod files;
mod founding;
mod keeper;
mod ledger;
mod links;
mod machine;
mod memory;
mod name;
mod parcel;
mod paths;
mod peers;
pub mod plane;
mod private;
mod process;
pub mod recording;
mod seat;
pub mod secret;
pub mod serve;
pub mod view;
mod waiting;
pub mod witness;
pub mod work;

pub use clock::Clock;
pub use exposure::{Listener, Unguarded};
pub use jostle_store::{RecordError, StoreError, TwinError};
pub use ledger::LedgerError;
pub use paths::without_build_paths;
pub use peers::Versions;
pub use process::{Process, StartError};
pub use seat::SeatError;
pub use secret::Secret;
