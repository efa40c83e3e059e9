//! What carries frames between our own processes: to a name, without waiting, without promise.
//!
//! Every process of a world opens one plane. Those that know one address find all others. Whoever
//! answers to a name gets what is sent to it; frames may get lost; the protocol above lives with
//! that. Three engines do it: [zenoh](https://zenoh.io), one of our own over QUIC that shows that
//! nothing above depends on zenoh, and one within a program that has no network at all.
//!
//! Who may take part is said by [`Guard`]: see there what tokens and certificates are worth.

mod local;
mod quic;
mod zenoh;

pub use local::{Switch, Weather};

use crate::Secret;
use crate::certificates::CertificateError;
use crate::exposure::{self, Listener, Unguarded};
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use thiserror::Error;

/// Larger messages are refused. The receiving side has a limit too, a little above.
pub const LARGEST_MESSAGE: usize = 200_000;

/// How a process takes part.
#[derive(Clone, Debug)]
pub struct PlaneSettings {
    /// Others do not hear each other. Letters, digits, `-` and `_`.
    pub world: String,
    /// Where others may come in. Port 0 takes a free one.
    pub listen: Vec<SocketAddr>,
    /// Where others are. They need not be there yet.
    pub join: Vec<SocketAddr>,
    /// Who may take part.
    pub guard: Guard,
    /// What carries the frames. All processes of a world have the same.
    pub engine: Engine,
}

/// Who may take part. With neither, the plane listens on loopback only.
///
/// A token keeps out who does not know it. With zenoh it proves who calls to who listens, not the
/// other way round, and frames can be read on the way: it is for networks of one's own.
/// Certificates prove both and encrypt. With QUIC a token does so, too.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// What all processes of the world know.
    pub token: Option<Secret>,
    /// A directory made by [`certificates::make`](crate::certificates::make).
    pub certificates: Option<PathBuf>,
}

/// What carries the frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The zenoh library, over TCP or TLS.
    Zenoh,
    /// Our own, over QUIC.
    Quic,
    /// Through this switch, to other processes of the same program. Nothing listens.
    Local(Switch),
}

/// What must not wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// Commits, views, flushes: everybody waits for them.
    Now,
    /// Bundles of a tick.
    Tick,
    /// Pieces and shares: they may take a while.
    Bulk,
}

/// Gets the name and what was sent to it. Called by threads of the engine: it must be quick.
pub type Deliver = Arc<dyn Fn(&str, &[u8]) + Send + Sync>;

/// Why a plane does not do something.
#[derive(Debug, Error)]
pub enum PlaneError {
    /// Not a name for a world.
    #[error("world name {0:?}: expected 1 to 64 letters, digits, - and _")]
    World(String),
    /// Not a name to answer to.
    #[error("{0:?} is not a transport name: expected 1 to 32 small letters and digits")]
    Name(String),
    /// Everybody could take part.
    #[error(transparent)]
    Unguarded(#[from] Unguarded),
    /// A token that everybody knows.
    #[error("--node-token is empty: give one that is hard to guess, or none")]
    EmptyToken,
    /// No certificates where they should be.
    #[error("certificates for nodes: {0}")]
    Certificates(#[from] CertificateError),
    /// Somebody else has the port, or the address is not ours.
    #[error("cannot listen for nodes on {address}: {reason}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// By the system.
        reason: std::io::Error,
    },
    /// The engine does not do its work.
    #[error("node transport: cannot {what}: {reason}")]
    Engine {
        /// What it should have done.
        what: &'static str,
        /// What it says.
        reason: String,
    },
}

/// What has gone through since the plane was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlaneCounters {
    /// Messages given to the engine.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Messages delivered.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Messages not sent: larger than [`LARGEST_MESSAGE`], or to what is not a name.
    pub refused: u64,
    /// Messages of which the engine says that it has lost them, on purpose or not. zenoh does not
    /// say.
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

/// Takes part in a world until it is dropped.
pub struct Plane {
    engine: Running,
    counts: Arc<Counts>,
}

enum Running {
    Zenoh(zenoh::Session),
    Quic(quic::Mesh),
    Local(local::Port),
}

impl Plane {
    /// Takes part. Returns at once, also if nobody is there to join: that is tried again and again.
    ///
    /// # Errors
    /// If it is not guarded, or cannot listen.
    pub fn open(settings: &PlaneSettings, deliver: Deliver) -> Result<Plane, PlaneError> {
        check(settings)?;
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        let deliver: Deliver = Arc::new(move |name, bytes| {
            counted.received.fetch_add(1, Relaxed);
            counted.received_bytes.fetch_add(bytes.len() as u64, Relaxed);
            deliver(name, bytes);
        });
        let engine = match &settings.engine {
            Engine::Zenoh => Running::Zenoh(zenoh::Session::open(settings, deliver)?),
            Engine::Quic => Running::Quic(quic::Mesh::open(settings, deliver)?),
            Engine::Local(switch) => Running::Local(local::Port::open(switch, settings, deliver)),
        };
        Ok(Plane { engine, counts })
    }

    /// What is sent to this name arrives here from now on, a little later from far away.
    ///
    /// # Errors
    /// If it is not a name.
    pub fn answer_to(&self, name: &str) -> Result<(), PlaneError> {
        if !is_name(name) {
            return Err(PlaneError::Name(name.to_owned()));
        }
        match &self.engine {
            Running::Zenoh(session) => session.answer_to(name),
            Running::Quic(mesh) => mesh.answer_to(name),
            Running::Local(port) => {
                port.answer_to(name);
                Ok(())
            }
        }
    }

    /// Sends to whoever answers to a name, or to nobody. Never waits; who does not keep up loses.
    ///
    /// If this plane answers to the name itself, it is delivered before this returns.
    pub fn send(&self, name: &str, bytes: &[u8], urgency: Urgency) {
        if bytes.len() > LARGEST_MESSAGE || !is_name(name) {
            self.counts.refused.fetch_add(1, Relaxed);
            return;
        }
        let sent = match &self.engine {
            Running::Zenoh(session) => session.send(name, bytes, urgency),
            Running::Quic(mesh) => mesh.send(name, bytes, urgency),
            Running::Local(port) => port.send(name, bytes),
        };
        match sent {
            Sent::Given => {
                self.counts.sent.fetch_add(1, Relaxed);
                self.counts.sent_bytes.fetch_add(bytes.len() as u64, Relaxed);
            }
            Sent::Lost => {
                self.counts.lost.fetch_add(1, Relaxed);
            }
        }
    }

    /// Where others may come in, with real ports; nowhere if it is within one program.
    #[must_use]
    pub fn listening(&self) -> Vec<SocketAddr> {
        match &self.engine {
            Running::Zenoh(session) => session.listening().to_vec(),
            Running::Quic(mesh) => mesh.listening().to_vec(),
            Running::Local(_) => Vec::new(),
        }
    }

    /// What has gone through.
    #[must_use]
    pub fn counters(&self) -> PlaneCounters {
        PlaneCounters {
            sent: self.counts.sent.load(Relaxed),
            sent_bytes: self.counts.sent_bytes.load(Relaxed),
            received: self.counts.received.load(Relaxed),
            received_bytes: self.counts.received_bytes.load(Relaxed),
            refused: self.counts.refused.load(Relaxed),
            lost: self.counts.lost.load(Relaxed),
        }
    }
}

impl fmt::Debug for Plane {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counters = self.counters();
        formatter
            .debug_struct("Plane")
            .field("listening", &self.listening())
            .field("counters", &counters)
            .finish_non_exhaustive()
    }
}

/// What an engine says about a message.
enum Sent {
    Given,
    Lost,
}

pub(crate) fn check(settings: &PlaneSettings) -> Result<(), PlaneError> {
    let world = &settings.world;
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    if world.is_empty() || world.len() > 64 || !world.bytes().all(fits) {
        return Err(PlaneError::World(world.clone()));
    }
    let Guard { token, certificates } = &settings.guard;
    if token.as_ref().is_some_and(|token| token.reveal().is_empty()) {
        return Err(PlaneError::EmptyToken);
    }
    let guarded = token.is_some() || certificates.is_some();
    for &address in &settings.listen {
        exposure::check(Listener::Nodes, address, guarded)?;
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let fits = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    !name.is_empty() && name.len() <= 32 && name.bytes().all(fits)
}
