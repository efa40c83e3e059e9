//! Transport of frames between the processes of a world: addressed by name, non-blocking,
//! unreliable.
//!
//! Every process opens one transport, and those that know one address find all others. Frames to a
//! name go to all processes that have subscribed to it; the protocol above tolerates loss. There
//! are three engines: [zenoh](https://zenoh.io), our own over QUIC, which shows that nothing above
//! depends on zenoh, and one in memory within a program.
//!
//! [`TransportAuth`] says who may take part.

mod local;
mod quic;
mod zenoh;

pub use local::{NetworkConditions, Switch};

use crate::Secret;
use crate::certificates::CertificateError;
use crate::exposure::{self, Listener, Unguarded};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use thiserror::Error;

/// Larger messages are rejected. The limit of the receiving side is a little higher.
pub const LARGEST_MESSAGE: usize = 200_000;

/// Settings of a transport.
#[derive(Clone, Debug)]
pub struct TransportSettings {
    /// Worlds are isolated from each other. ASCII letters, digits, `-` and `_`.
    pub world: String,
    /// Listen addresses. Port 0 takes a free one.
    pub listen: Vec<SocketAddr>,
    /// Addresses of other processes. They need not be running yet.
    pub join: Vec<SocketAddr>,
    /// Who may take part.
    pub guard: TransportAuth,
    /// The engine; the same for all processes of a world.
    pub engine: Engine,
}

/// Authentication between processes. With neither, the transport listens on loopback only.
///
/// With zenoh a token authenticates the dialing side only, and frames are not encrypted: it is for
/// private networks. Certificates authenticate both sides and encrypt. With QUIC a token does so,
/// too.
#[derive(Clone, Debug, Default)]
pub struct TransportAuth {
    /// A secret that all processes of the world share.
    pub token: Option<Secret>,
    /// A directory made by [`certificates::make`](crate::certificates::make).
    pub certificates: Option<PathBuf>,
}

/// What carries the frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The zenoh library, over TCP or TLS.
    Zenoh,
    /// Our own engine over QUIC.
    Quic,
    /// In memory, to other processes of the same program. Nothing listens.
    Local(Switch),
}

/// The priority of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Commits, views, flushes: all members wait for them.
    Now,
    /// Bundles of a tick.
    Tick,
    /// Chunks and shares: not urgent.
    Bulk,
}

/// Receives the name and the frame. Called by threads of the engine: it must not block.
pub type Deliver = Arc<dyn Fn(&str, &[u8]) + Send + Sync>;

/// Why an operation of a transport failed.
#[derive(Debug, Error)]
pub enum TransportError {
    /// Not a valid world name.
    #[error("world name {0:?}: expected 1 to 64 characters: A-Z, a-z, 0-9, - and _")]
    World(String),
    /// Not a valid name on the transport.
    #[error("{0:?} is not a transport name: expected 1 to 32 characters: a-z and 0-9")]
    Name(String),
    /// A listener would be reachable by other machines without authentication.
    #[error(transparent)]
    Unguarded(#[from] Unguarded),
    /// The token is empty.
    #[error("--node-token is empty: give one that is hard to guess, or none")]
    EmptyToken,
    /// Certificates cannot be read.
    #[error("certificates for nodes: {0}")]
    Certificates(#[from] CertificateError),
    /// The address is in use, or not one of this machine.
    #[error("cannot listen for nodes on {address}: {reason}")]
    Listen {
        /// The listen address.
        address: SocketAddr,
        /// The reason given by the system.
        reason: std::io::Error,
    },
    /// The engine failed.
    #[error("node transport: cannot {what}: {reason}")]
    Engine {
        /// What it should have done.
        what: &'static str,
        /// Its error.
        reason: String,
    },
}

/// Counters of a transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransportCounters {
    /// Messages passed to the engine.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Messages delivered.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Messages rejected: larger than [`LARGEST_MESSAGE`], or with an invalid name.
    pub refused: u64,
    /// Messages that the engine has dropped. zenoh does not report that.
    pub lost: u64,
}

#[derive(Default)]
struct Counts {
    sent: AtomicU64,
    sent_bytes: AtomicU64,
    received: AtomicU64,
    received_bytes: AtomicU64,
    refused: AtomicU64,
    lost: AtomicU64,
}

/// A transport; it closes when dropped.
pub struct Transport {
    engine: Backend,
    counts: Arc<Counts>,
}

enum Backend {
    Zenoh(zenoh::Session),
    Quic(quic::QuicMesh),
    Local(local::Port),
}

impl Transport {
    /// Opens a transport. Returns at once; connecting is retried in the background.
    ///
    /// # Errors
    /// If authentication is required, or it cannot listen.
    pub fn open(
        settings: &TransportSettings,
        deliver: Deliver,
    ) -> Result<Transport, TransportError> {
        check(settings)?;
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        let deliver: Deliver = Arc::new(move |name, bytes| {
            counted.received.fetch_add(1, Relaxed);
            counted.received_bytes.fetch_add(bytes.len() as u64, Relaxed);
            deliver(name, bytes);
        });
        let engine = match &settings.engine {
            Engine::Zenoh => Backend::Zenoh(zenoh::Session::open(settings, deliver)?),
            Engine::Quic => Backend::Quic(quic::QuicMesh::open(settings, deliver)?),
            Engine::Local(switch) => Backend::Local(local::Port::open(switch, settings, deliver)),
        };
        Ok(Transport { engine, counts })
    }

    /// Subscribes to a name. Remote processes learn of it a little later.
    ///
    /// # Errors
    /// If it is not a valid name.
    pub fn answer_to(&self, name: &str) -> Result<(), TransportError> {
        if !is_name(name) {
            return Err(TransportError::Name(name.to_owned()));
        }
        match &self.engine {
            Backend::Zenoh(session) => session.answer_to(name),
            Backend::Quic(mesh) => mesh.answer_to(name),
            Backend::Local(port) => {
                port.answer_to(name);
                Ok(())
            }
        }
    }

    /// Sends to all subscribers of a name. Never blocks: for a slow receiver messages are dropped.
    ///
    /// If this transport has subscribed to the name itself, the message is delivered before this
    /// returns.
    pub fn send(&self, name: &str, bytes: &[u8], urgency: Urgency) {
        if bytes.len() > LARGEST_MESSAGE || !is_name(name) {
            self.counts.refused.fetch_add(1, Relaxed);
            return;
        }
        let sent = match &self.engine {
            Backend::Zenoh(session) => session.send(name, bytes, urgency),
            Backend::Quic(mesh) => mesh.send(name, bytes, urgency),
            Backend::Local(port) => port.send(name, bytes),
        };
        match sent {
            SendOutcome::Queued => {
                self.counts.sent.fetch_add(1, Relaxed);
                self.counts.sent_bytes.fetch_add(bytes.len() as u64, Relaxed);
            }
            SendOutcome::Dropped => {
                self.counts.lost.fetch_add(1, Relaxed);
            }
        }
    }

    /// The listen addresses with real ports; empty within one program.
    #[must_use]
    pub fn listening(&self) -> Vec<SocketAddr> {
        match &self.engine {
            Backend::Zenoh(session) => session.listening().to_vec(),
            Backend::Quic(mesh) => mesh.listening().to_vec(),
            Backend::Local(_) => Vec::new(),
        }
    }

    /// The current counters.
    #[must_use]
    pub fn counters(&self) -> TransportCounters {
        TransportCounters {
            sent: self.counts.sent.load(Relaxed),
            sent_bytes: self.counts.sent_bytes.load(Relaxed),
            received: self.counts.received.load(Relaxed),
            received_bytes: self.counts.received_bytes.load(Relaxed),
            refused: self.counts.refused.load(Relaxed),
            lost: self.counts.lost.load(Relaxed),
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counters = self.counters();
        formatter
            .debug_struct("Transport")
            .field("listening", &self.listening())
            .field("counters", &counters)
            .finish_non_exhaustive()
    }
}

/// What an engine did with a message.
enum SendOutcome {
    Queued,
    Dropped,
}

pub(crate) fn check(settings: &TransportSettings) -> Result<(), TransportError> {
    let world = &settings.world;
    let fits =
        |character: u8| character.is_ascii_alphanumeric() || character == b'-' || character == b'_';
    if world.is_empty() || world.len() > 64 || !world.bytes().all(fits) {
        return Err(TransportError::World(world.clone()));
    }
    let TransportAuth { token, certificates } = &settings.guard;
    if token.as_ref().is_some_and(|token| token.reveal().is_empty()) {
        return Err(TransportError::EmptyToken);
    }
    let guarded = token.is_some() || certificates.is_some();
    for &address in &settings.listen {
        exposure::check(Listener::Nodes, address, guarded)?;
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let fits = |character: u8| character.is_ascii_lowercase() || character.is_ascii_digit();
    !name.is_empty() && name.len() <= 32 && name.bytes().all(fits)
}
