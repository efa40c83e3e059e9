//! A client of a shared world, for programs: it connects to a server, controls an avatar and knows
//! what is around it. When the connection breaks it reconnects by itself, with the same avatar.
//!
//! ```no_run
//! use jostle_net::client::{ClientOptions, Connection};
//!
//! let server = "127.0.0.1:7400".parse().expect("an address");
//! let connection = Connection::open(ClientOptions::to(server))?;
//! connection.send_input([1.0, 0.0, 0.0], [0.0; 3]);
//! println!("{:?}, {} others", connection.own(), connection.others().len());
//! # Ok::<(), jostle_net::client::ClientError>(())
//! ```

mod dial;
mod run;
mod statistics;
mod trust;

pub(crate) use dial::fetch_bootstrap;
pub use dial::{change_replicas, fetch_status, join_as_node};
pub use statistics::Statistics;

use crate::Secret;
use crate::manifest::WorldManifest;
use dial::{Dialler, ServerLink};
use jostle_proto::client::{ContactChange, Credential, Shown};
use jostle_proto::{
    Client, ClientId, ClientSettings, Form, ObjectId, POSITION_UNIT, Shapes, Solid, State, Tick,
    Time, VELOCITY_UNIT,
};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

/// How a client verifies a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Not at all: for loopback, or where the network is trusted.
    Anyone,
    /// By an authority (ca.pem) and the server's address.
    Ca(PathBuf),
    /// The same with ca.pem of this directory, and node.pem and node.key are presented.
    Node(PathBuf),
}

/// How much of the shapes is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Bounding boxes, which are in the manifest: enough to avoid collisions.
    Extents,
    /// Triangles, too, to render them.
    Triangles,
}

/// How a client connects.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Servers of the world, tried in order.
    pub servers: Vec<SocketAddr>,
    /// Sent in the handshake.
    pub token: Option<Secret>,
    /// How servers are verified.
    pub trust: Trust,
    /// Resumes an avatar; `None` for a new one.
    pub credential: Option<Credential>,
    /// How much of the shapes is fetched.
    pub detail: Detail,
    /// Settings of the client state machine.
    pub settings: ClientSettings,
}

impl ClientOptions {
    /// One server: a new avatar, no token, no verification, no triangles.
    #[must_use]
    pub fn to(server: SocketAddr) -> ClientOptions {
        ClientOptions {
            servers: vec![server],
            token: None,
            trust: Trust::Anyone,
            credential: None,
            detail: Detail::Extents,
            settings: ClientSettings::default(),
        }
    }
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No server address was given.
    #[error("no server address was given")]
    NoServer,
    /// No socket or thread.
    #[error("cannot open a socket or start a thread: {0}")]
    Local(io::Error),
    /// A certificate file is missing or malformed.
    #[error("certificates in {place}: {why}")]
    Certificate {
        /// The file.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server does not answer, or its certificate is not valid.
    #[error("cannot connect to {server}: {why}")]
    Unreachable {
        /// The server's address.
        server: SocketAddr,
        /// The reason.
        why: String,
    },
    /// The server rejected the connection.
    #[error("rejected by {server}: {why}")]
    Rejected {
        /// The server's address.
        server: SocketAddr,
        /// The reason it gave.
        why: String,
    },
    /// The server sent an unexpected answer.
    #[error("unexpected answer from {server}: {what}")]
    Unexpected {
        /// The server's address.
        server: SocketAddr,
        /// What it sent.
        what: String,
    },
}

/// A body in SI units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// In metres.
    pub position: [f64; 3],
    /// As a quaternion x, y, z, w.
    pub rotation: [f64; 4],
    /// In metres per second.
    pub velocity: [f64; 3],
    /// Axis times radians per second.
    pub spin: [f64; 3],
}

impl Body {
    /// Converts from whole units.
    #[must_use]
    pub fn of(state: &State) -> Body {
        let speed = |parts: [i16; 3]| parts.map(|part| f64::from(part) * VELOCITY_UNIT);
        Body {
            position: state.position.map(|along| f64::from(along) * POSITION_UNIT),
            rotation: state.rotation.quaternion().to_array(),
            velocity: speed(state.velocity),
            spin: speed(state.spin),
        }
    }
}

/// State shared by a [`Connection`] and its task.
struct Inner {
    client: Client,
    statistics: Statistics,
    last_error: Option<String>,
    /// Set when the user closes the connection.
    departure: Option<run::Departure>,
}

struct Shared {
    inner: Mutex<Inner>,
    /// Wakes the task.
    changed: Notify,
    started: Instant,
}

impl Shared {
    fn now(&self) -> Time {
        Time(self.started.elapsed().as_micros() as u64)
    }

    /// A poisoned lock is used: every update under it is complete at each step.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads, sockets and shapes shared by many connections of a program.
pub struct Clients {
    pool: Arc<Pool>,
}

struct Pool {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    dialler: Dialler,
    /// Shapes of worlds with their triangles.
    forms: Mutex<Vec<(Vec<Form>, Shapes)>>,
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Does not block, so it can be dropped anywhere.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Threads of the runtime.
const THREADS: usize = 2;

impl Clients {
    /// Starts the threads.
    ///
    /// # Errors
    /// [`ClientError::Local`].
    pub fn new() -> Result<Clients, ClientError> {
        let runtime = crate::threads::runtime("clients", THREADS).map_err(ClientError::Local)?;
        let inside = runtime.enter();
        let dialler = Dialler::new()?;
        drop(inside);
        let pool = Pool { runtime: Some(runtime), dialler, forms: Mutex::default() };
        Ok(Clients { pool: Arc::new(pool) })
    }

    /// Connects, and blocks until a server has answered. Not to be called from asynchronous code.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn open(&self, options: ClientOptions) -> Result<Connection, ClientError> {
        let pool = self.pool.clone();
        let Some(runtime) = &pool.runtime else { return Err(ClientError::NoServer) };
        let line = runtime.block_on(pool.dialler.dial_any(&options))?;
        let (line, shapes) = runtime.block_on(pool.shapes(line, options.detail))?;
        let manifest = line.manifest.clone();
        // The server assigns the real one.
        let me = ClientId { host: 0, connection: 0 };
        let client = Client::new(me, vec![manifest.gate], shapes.clone(), options.settings)
            .with_credential(options.credential);
        let shared = Arc::new(Shared {
            inner: Mutex::new(Inner {
                client,
                statistics: Statistics::default(),
                last_error: None,
                departure: None,
            }),
            changed: Notify::new(),
            started: Instant::now(),
        });
        let (ended, end) = std::sync::mpsc::channel();
        let task = run::run(shared.clone(), pool.dialler.clone(), options, line);
        runtime.spawn(async move {
            task.await;
            // The receiver may be gone.
            let _ = ended.send(());
        });
        Ok(Connection { shared, manifest, shapes, end, _pool: pool.clone() })
    }
}

impl Pool {
    /// The shapes of the world, cached by their manifest entries.
    async fn shapes(
        &self,
        mut line: ServerLink,
        detail: Detail,
    ) -> Result<(ServerLink, Shapes), ClientError> {
        let forms = line.manifest.forms.clone();
        if detail == Detail::Extents {
            let solids = forms.iter().map(Solid::outline);
            return Ok((line, Shapes::new(solids.collect())));
        }
        let known = |forms: &Vec<Form>| {
            let all = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter().find(|(known, _)| known == forms).map(|(_, shapes)| shapes.clone())
        };
        if let Some(shapes) = known(&forms) {
            return Ok((line, shapes));
        }
        let server = line.server;
        let library = line.fetch_forms().await?;
        let unexpected = |what| ClientError::Unexpected { server, what };
        let shapes = match library.shapes() {
            Ok(Some(shapes)) => shapes,
            Ok(None) => return Err(unexpected("not all forms".to_string())),
            Err(error) => return Err(unexpected(format!("a form that is none: {error}"))),
        };
        let mut all = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((forms, shapes.clone()));
        Ok((line, shapes))
    }
}

/// A connected client, which reconnects by itself. Dropping it says bye and removes the avatar; to
/// resume the avatar later, call [`Connection::leave`].
pub struct Connection {
    shared: Arc<Shared>,
    manifest: WorldManifest,
    shapes: Shapes,
    end: std::sync::mpsc::Receiver<()>,
    /// Keeps threads and sockets alive.
    _pool: Arc<Pool>,
}

/// Time for the bye message, at most.
const FAREWELL: Duration = Duration::from_millis(300);

impl Connection {
    /// Connects with threads of its own. See [`Clients`] for many connections.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn open(options: ClientOptions) -> Result<Connection, ClientError> {
        Clients::new()?.open(options)
    }

    /// The world manifest.
    #[must_use]
    pub fn manifest(&self) -> &WorldManifest {
        &self.manifest
    }

    /// The shapes, as far as they were fetched.
    #[must_use]
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// Sets the input of the avatar: velocity in metres and spin in radians per second. Values
    /// beyond the world's limits are cut down to them.
    pub fn send_input(&self, velocity: [f64; 3], spin: [f64; 3]) {
        // `as` saturates, and converts NaN to 0.
        let whole = |parts: [f64; 3]| parts.map(|part| (part / VELOCITY_UNIT).round() as i16);
        let now = self.shared.now();
        self.shared.lock().client.steer(now, whole(velocity), whole(spin));
        self.shared.changed.notify_one();
    }

    /// Returns true if the avatar is in the world and state updates arrive.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.shared.lock().client.is_active()
    }

    /// The id of the avatar.
    #[must_use]
    pub fn avatar(&self) -> Option<ObjectId> {
        self.shared.lock().client.avatar()
    }

    /// The credential with which the avatar can be resumed at any server of the world.
    #[must_use]
    pub fn credential(&self) -> Option<Credential> {
        self.shared.lock().client.credential()
    }

    /// The predicted present state of the avatar.
    #[must_use]
    pub fn own(&self) -> Option<Body> {
        self.shared.lock().client.own(self.shared.now()).map(|state| Body::of(&state))
    }

    /// The last state of the avatar that the world reported, and its tick.
    #[must_use]
    pub fn own_received(&self) -> Option<(Tick, Body)> {
        let reported = self.shared.lock().client.own_received();
        reported.map(|(tick, state)| (tick, Body::of(&state)))
    }

    /// All other known objects, where they are to be shown now.
    #[must_use]
    pub fn others(&self) -> Vec<Shown> {
        let now = self.shared.now();
        self.shared.lock().client.others(now)
    }

    /// Known touching pairs.
    #[must_use]
    pub fn contacts(&self) -> Vec<(ObjectId, ObjectId)> {
        self.shared.lock().client.contacts().collect()
    }

    /// Contact changes since the last call.
    #[must_use]
    pub fn take_contacts(&self) -> Vec<ContactChange> {
        self.shared.lock().client.take_contacts()
    }

    /// How often the world's state of the avatar differed from the prediction.
    #[must_use]
    pub fn corrections(&self) -> u64 {
        self.shared.lock().client.corrections()
    }

    /// Traffic and latencies.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.shared.lock().statistics.clone()
    }

    /// The last rejection, or the reason for which the connection broke.
    #[must_use]
    pub fn last_error(&self) -> Option<String> {
        self.shared.lock().last_error.clone()
    }

    /// Blocks until the avatar is in the world; returns false after the timeout.
    #[must_use]
    pub fn wait_until_active(&self, most: Duration) -> bool {
        let start = Instant::now();
        while !self.is_active() {
            if start.elapsed() >= most {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }

    /// Closes the connection without a bye, so that the avatar can be resumed with the credential.
    pub fn leave(self) -> Option<Credential> {
        let credential = self.credential();
        self.part(run::Departure::Detach);
        credential
    }

    fn part(&self, departure: run::Departure) {
        self.shared.lock().departure.get_or_insert(departure);
        self.shared.changed.notify_one();
        // Waits for the task, with a timeout.
        let _ = self.end.recv_timeout(FAREWELL);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.part(run::Departure::Leave);
    }
}
