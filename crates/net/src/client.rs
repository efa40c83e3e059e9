//! A client of a shared world, for programs: it connects to a door, keeps an avatar and shows what
//! is around it. When the connection breaks it comes back by itself, to the same avatar.
//!
//! ```no_run
//! use jostle_net::client::{ClientOptions, Connection};
//!
//! let door = "127.0.0.1:7400".parse().expect("an address");
//! let connection = Connection::open(ClientOptions::to(door))?;
//! connection.steer([1.0, 0.0, 0.0], [0.0; 3]);
//! println!("{:?}, {} others", connection.own(), connection.others().len());
//! # Ok::<(), jostle_net::client::ClientError>(())
//! ```

mod dial;
mod run;
mod statistics;
mod trust;

pub(crate) use dial::ask_for_founding;
pub use dial::{ask_for_work, ask_to_change, fetch_status};
pub use statistics::Statistics;

use crate::Secret;
use crate::charter::Charter;
use dial::{Dialler, Line};
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

/// Whose doors are believed to be what they say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Anybody's: for loopback, or where somebody else has seen to it.
    Anyone,
    /// Those with a certificate of the authority in this file (ca.pem), for the door's address.
    Ca(PathBuf),
    /// The same with ca.pem of this directory, and node.pem and node.key are shown.
    Node(PathBuf),
}

/// What of the forms is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Their boxes, which came with the charter: enough to keep out of each other's way.
    Extents,
    /// Their triangles too, to show them.
    Triangles,
}

/// How a client connects.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Doors of the world, tried in their order.
    pub doors: Vec<SocketAddr>,
    /// Shown at the door.
    pub token: Option<Secret>,
    /// Whose doors are believed.
    pub trust: Trust,
    /// To come back to an avatar; none for a new one.
    pub credential: Option<Credential>,
    /// What of the forms is fetched.
    pub detail: Detail,
    /// What the state machine goes by.
    pub settings: ClientSettings,
}

impl ClientOptions {
    /// To one door: a new avatar, no token, anybody is believed, no triangles.
    #[must_use]
    pub fn to(door: SocketAddr) -> ClientOptions {
        ClientOptions {
            doors: vec![door],
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
    /// There was no door to try.
    #[error("no server address was given")]
    NoDoor,
    /// Nothing can be sent from here.
    #[error("cannot open a socket or start a thread: {0}")]
    Local(io::Error),
    /// A file with certificates is not there or something else.
    #[error("certificates in {place}: {why}")]
    Certificate {
        /// The file.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// The door does not answer, or is not the one that it should be.
    #[error("cannot connect to {door}: {why}")]
    Unreachable {
        /// Where.
        door: SocketAddr,
        /// What happened.
        why: String,
    },
    /// The door said no.
    #[error("rejected by {door}: {why}")]
    Refused {
        /// Where.
        door: SocketAddr,
        /// What it said.
        why: String,
    },
    /// The door said something else than was asked for.
    #[error("unexpected answer from {door}: {what}")]
    Unexpected {
        /// Where.
        door: SocketAddr,
        /// What it did.
        what: String,
    },
}

/// A body as people measure it.
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
    /// From whole numbers.
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

/// What a user and the task of its connection share.
struct Inner {
    client: Client,
    statistics: Statistics,
    last_words: Option<String>,
    /// The user wants to go.
    parting: Option<run::Parting>,
}

struct Shared {
    inner: Mutex<Inner>,
    /// The user wants something.
    changed: Notify,
    started: Instant,
}

impl Shared {
    fn now(&self) -> Time {
        Time(self.started.elapsed().as_micros() as u64)
    }

    /// Nothing is left half done when a thread panics here.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads, sockets and forms that many connections of one program share.
pub struct Clients {
    pool: Arc<Pool>,
}

struct Pool {
    /// None only while it ends.
    runtime: Option<Runtime>,
    dialler: Dialler,
    /// The forms of worlds with their triangles.
    forms: Mutex<Vec<(Vec<Form>, Shapes)>>,
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Nothing is waited for, so that it may happen anywhere.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The threads of a pool.
const THREADS: usize = 2;

impl Clients {
    /// For connections to come.
    ///
    /// # Errors
    /// [`ClientError::Local`].
    pub fn new() -> Result<Clients, ClientError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("clients")
            .enable_all()
            .build()
            .map_err(ClientError::Local)?;
        let inside = runtime.enter();
        let dialler = Dialler::new()?;
        drop(inside);
        let pool = Pool { runtime: Some(runtime), dialler, forms: Mutex::default() };
        Ok(Clients { pool: Arc::new(pool) })
    }

    /// Connects, and waits until a door has answered. Not to be called from asynchronous code.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn open(&self, options: ClientOptions) -> Result<Connection, ClientError> {
        let pool = self.pool.clone();
        let Some(runtime) = &pool.runtime else { return Err(ClientError::NoDoor) };
        let line = runtime.block_on(pool.dialler.dial_any(&options))?;
        let (line, shapes) = runtime.block_on(pool.shapes(line, options.detail))?;
        let charter = line.charter.clone();
        // Only the door knows the true one.
        let me = ClientId { host: 0, connection: 0 };
        let client = Client::new(me, vec![charter.gate], shapes.clone(), options.settings)
            .with_credential(options.credential);
        let shared = Arc::new(Shared {
            inner: Mutex::new(Inner {
                client,
                statistics: Statistics::default(),
                last_words: None,
                parting: None,
            }),
            changed: Notify::new(),
            started: Instant::now(),
        });
        let (ended, end) = std::sync::mpsc::channel();
        let task = run::run(shared.clone(), pool.dialler.clone(), options, line);
        runtime.spawn(async move {
            task.await;
            // Nobody may be waiting.
            let _ = ended.send(());
        });
        Ok(Connection { shared, charter, shapes, end, _pool: pool.clone() })
    }
}

impl Pool {
    /// The forms of the world at the other end of the line.
    async fn shapes(&self, mut line: Line, detail: Detail) -> Result<(Line, Shapes), ClientError> {
        let forms = line.charter.forms.clone();
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
        let door = line.door;
        let library = line.fetch_forms().await?;
        let unexpected = |what| ClientError::Unexpected { door, what };
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

/// A client that is connected, or is about to be again. Dropped, it says bye: who wants to come
/// back to the avatar in another life calls [`Connection::leave`].
pub struct Connection {
    shared: Arc<Shared>,
    charter: Charter,
    shapes: Shapes,
    end: std::sync::mpsc::Receiver<()>,
    /// Threads and socket last as long as somebody needs them.
    _pool: Arc<Pool>,
}

/// Saying bye takes no longer than this.
const FAREWELL: Duration = Duration::from_millis(300);

impl Connection {
    /// Connects with threads of its own. See [`Clients`] for many.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn open(options: ClientOptions) -> Result<Connection, ClientError> {
        Clients::new()?.open(options)
    }

    /// What kind of world this is.
    #[must_use]
    pub fn charter(&self) -> &Charter {
        &self.charter
    }

    /// The forms, as far as they were fetched.
    #[must_use]
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// The avatar is to go like this, in metres and radians per second; what is too much is cut
    /// down to what is allowed.
    pub fn steer(&self, velocity: [f64; 3], spin: [f64; 3]) {
        // `as` keeps to the range, and makes 0 of what is no number.
        let whole = |parts: [f64; 3]| parts.map(|part| (part / VELOCITY_UNIT).round() as i16);
        let now = self.shared.now();
        self.shared.lock().client.steer(now, whole(velocity), whole(spin));
        self.shared.changed.notify_one();
    }

    /// Is the avatar in the world, and the world heard of?
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.shared.lock().client.is_active()
    }

    /// The avatar.
    #[must_use]
    pub fn avatar(&self) -> Option<ObjectId> {
        self.shared.lock().client.avatar()
    }

    /// To come back to the avatar from anywhere.
    #[must_use]
    pub fn credential(&self) -> Option<Credential> {
        self.shared.lock().client.credential()
    }

    /// The avatar in the present, as it is predicted.
    #[must_use]
    pub fn own(&self) -> Option<Body> {
        self.shared.lock().client.own(self.shared.now()).map(|state| Body::of(&state))
    }

    /// The avatar as the world had it, and when.
    #[must_use]
    pub fn own_told(&self) -> Option<(Tick, Body)> {
        let told = self.shared.lock().client.own_told();
        told.map(|(tick, state)| (tick, Body::of(&state)))
    }

    /// Everything else that is known, where it is to be shown now.
    #[must_use]
    pub fn others(&self) -> Vec<Shown> {
        let now = self.shared.now();
        self.shared.lock().client.others(now)
    }

    /// The pairs that touch, as far as was told.
    #[must_use]
    pub fn contacts(&self) -> Vec<(ObjectId, ObjectId)> {
        self.shared.lock().client.contacts().collect()
    }

    /// Contacts that began or ended since this was asked last.
    #[must_use]
    pub fn take_contacts(&self) -> Vec<ContactChange> {
        self.shared.lock().client.take_contacts()
    }

    /// How often the world said something else about the avatar than was predicted.
    #[must_use]
    pub fn corrections(&self) -> u64 {
        self.shared.lock().client.corrections()
    }

    /// How much was said, and how long it took.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.shared.lock().statistics.clone()
    }

    /// What the other side said last when it refused something, or why the line broke.
    #[must_use]
    pub fn last_words(&self) -> Option<String> {
        self.shared.lock().last_words.clone()
    }

    /// Waits until the avatar is in the world; false if that takes longer.
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

    /// Goes without a word, so that the avatar can be come back to with the credential.
    pub fn leave(self) -> Option<Credential> {
        let credential = self.credential();
        self.part(run::Parting::Silent);
        credential
    }

    fn part(&self, parting: run::Parting) {
        self.shared.lock().parting.get_or_insert(parting);
        self.shared.changed.notify_one();
        // Whether it managed to or not.
        let _ = self.end.recv_timeout(FAREWELL);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.part(run::Parting::Bye);
    }
}
