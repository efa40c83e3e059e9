//! The machines of a shared world on a real network.
//!
//! Directory, nodes, gateways and clients are state machines without clock or socket
//! (`jostle-proto`). Here are their clock and their sockets, and all asynchronous code of Jostle:
//!
//! * [`plane`]: what carries frames between our own processes, and [`certificates`] for it;
//! * [`charter`]: what newcomers are told at the door;
//! * [`door`]: where clients come in, by QUIC and WebSocket;
//! * [`client`]: the other side of it.
//!
//! Nothing here decides anything about the world.

pub mod certificates;
pub mod charter;
pub mod client;
pub mod door;
mod parcel;
pub mod plane;
pub mod secret;

pub use secret::Secret;
