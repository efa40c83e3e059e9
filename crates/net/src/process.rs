//! A process of a shared world: its roles, each in a thread, with plane and door.

use crate::board::{Board, Traffic};
use crate::charter::{Charter, Operation, Place};
use crate::clock::Clock;
use crate::door::{Door, DoorError, DoorSettings, Lobby};
use crate::driver::{Driver, Inboxes, Insiders, Mail, Means, inboxes};
use crate::founding::Offer;
use crate::machine::Machine;
use crate::memory::Reception;
use crate::plane::{Plane, PlaneCounters, PlaneError, PlaneSettings};
use crate::private;
use crate::seat::SeatError;
use crate::view::Hub;
use crate::witness::Witness;
use crate::{client, name};
use jostle_proto::{
    Address, ClientId, ClientSays, GatewayId, GatewaySays, GroupRules, Grouping, Library, Message,
    NodeId, PollSettings, Shapes, Span, Thresholds, Time, Timing, thresholds,
};
use jostle_store::{RecordError, ReplayError, StoreError, TwinError};
use ring::rand::{SecureRandom, SystemRandom};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it is looked whether the node here has joined.
const JOIN_POLL: Duration = Duration::from_millis(20);

/// Why a process cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The plane.
    #[error(transparent)]
    Plane(#[from] PlaneError),
    /// The door.
    #[error(transparent)]
    Door(#[from] DoorError),
    /// A replica of the directory.
    #[error(transparent)]
    Replica(#[from] SeatError),
    /// A file.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The stored world.
    #[error("cannot read the stored world: {0}")]
    Store(#[from] StoreError),
    /// A file beside it.
    #[error("{0}. Put a copy of one of them there, or start with --restore: {1}")]
    Twin(TwinError, &'static str),
    /// A recording that is to be shown.
    #[error("{0}")]
    Recording(ReplayError),
    /// The world cannot be joined.
    #[error("cannot join: {0}")]
    Join(#[from] client::ClientError),
    /// Something else.
    #[error("{0}")]
    Other(String),
}

/// A process that runs; it ends when this is dropped.
pub struct Process {
    inboxes: Inboxes,
    threads: Vec<JoinHandle<()>>,
    means: Arc<Means>,
    known: Known,
    status: Arc<dyn Fn() -> String + Send + Sync>,
    hub: Option<Arc<Hub>>,
}

/// What a process is made of.
pub(crate) struct Parts {
    pub(crate) machines: Vec<Machine>,
    pub(crate) clock: Clock,
    pub(crate) charter: Charter,
    pub(crate) shapes: Shapes,
    pub(crate) contents: Library,
    pub(crate) plane: PlaneSettings,
    pub(crate) door: Option<DoorSettings>,
    pub(crate) events: Option<PathBuf>,
    /// Gives numbers to newcomers, in the process that has the directory.
    pub(crate) reception: Option<(Reception, PlaceMaker)>,
    /// What newcomers are told of the directory's replicas, if it has several.
    pub(crate) replicas: Option<Offer>,
    /// Those who watch, and the threads that serve them.
    pub(crate) view: Option<View>,
}

/// Those who watch, and the threads that serve them.
pub(crate) type View = (Arc<Hub>, Vec<JoinHandle<()>>);

/// What a newcomer with these numbers is told, when the plane listens there.
pub(crate) type PlaceMaker = Box<dyn Fn(u32, u32, Vec<SocketAddr>) -> Place + Send>;

/// What a process knows of its world, for others in the same program.
pub(crate) struct Known {
    pub(crate) charter: Charter,
    pub(crate) shapes: Shapes,
    pub(crate) contents: Library,
    /// Gives numbers to a newcomer with a name and so many followers.
    pub(crate) admit: Admit,
    gateway: Option<Address>,
}

impl Process {
    /// Starts all roles.
    pub(crate) fn start(parts: Parts) -> Result<Process, StartError> {
        let Parts { machines, clock, charter, .. } = &parts;
        let (clock, rate) = (*clock, charter.rate);
        let board = Arc::new(Board::new(&charter.world, rate, clock.now()));
        let roles: Vec<Address> = machines.iter().map(Machine::address).collect();
        let gateway = machines.iter().find_map(|machine| match machine {
            Machine::Gateway(gateway) => Some(Address::Gateway(gateway.id())),
            _ => None,
        });
        let (inboxes, mut readers) = inboxes(roles.iter().copied(), &board);
        let arrivals = inboxes.clone();
        let shows = board.clone();
        let deliver = Arc::new(move |name: &str, bytes: &[u8]| {
            let understood = match name {
                name::BOARDS => shows.hear(clock.now(), bytes),
                name::LOADS => shows.load_bytes(clock.now(), bytes),
                name => return arrivals.arrived(name, bytes),
            };
            if !understood {
                shows.losses.garbage.fetch_add(1, Ordering::Relaxed);
            }
        });
        let plane = Plane::open(&parts.plane, deliver)?;
        // What is said to the directory is said to all of its replicas.
        let directory = inboxes.replica().map(|_| Address::Directory);
        for role in roles.iter().copied().chain(directory) {
            plane.answer_to(&name::of(role).unwrap_or_default())?;
        }
        if parts.door.is_some() {
            plane.answer_to(name::BOARDS)?;
            plane.answer_to(name::LOADS)?;
        }
        let known = Known {
            charter: parts.charter,
            shapes: parts.shapes,
            contents: parts.contents,
            admit: admission(parts.reception, plane.listening()),
            gateway,
        };
        let means_later: Arc<OnceLock<Arc<Means>>> = Arc::default();
        let (show, count) = watching(&means_later);
        let witness = parts.events.as_deref().map(Witness::new).transpose()?;
        let (hub, mut threads) = parts.view.unzip();
        let mut threads = threads.take().unwrap_or_default();
        let door = match parts.door {
            Some(settings) => {
                let shows = (show.clone(), count);
                let mut lobby = lobby(&known, &inboxes, shows, (clock, board.clone()));
                lobby.view = hub.clone();
                lobby.replicas = parts.replicas.map(|offer| offer.desk(&inboxes, &board));
                Some(Door::open(settings, lobby)?)
            }
            None => None,
        };
        let insiders = Insiders::default();
        let inboxes_too = inboxes.clone();
        let means = Means { clock, inboxes: inboxes_too, plane, door, insiders, board, witness };
        let means = Arc::new(means);
        let _first = means_later.set(means.clone());
        for machine in parts.machines {
            let address = machine.address();
            let Some(inbox) = readers.remove(&address) else { continue };
            let driver = Driver::new(machine, inbox, means.clone(), rate);
            let name = name::of(address).unwrap_or_default();
            let thread = std::thread::Builder::new().name(name).spawn(move || driver.run());
            threads.push(thread.map_err(|error| StartError::Other(error.to_string()))?);
        }
        Ok(Process { inboxes, threads, means, known, status: show, hub })
    }

    /// Where other processes can join the plane, if they can from outside this program.
    #[must_use]
    pub fn plane_address(&self) -> Option<SocketAddr> {
        self.means.plane.listening().first().copied()
    }

    /// The nodes that this process began with.
    pub(crate) fn nodes(&self) -> Vec<NodeId> {
        let node = |role: &Address| match role {
            Address::Node(node) => Some(*node),
            _ => None,
        };
        self.inboxes.roles().filter_map(node).collect()
    }

    /// All nodes of the first group, sorted, if the directory is here and each has its part.
    pub(crate) fn settled_nodes(&self) -> Option<Vec<NodeId>> {
        self.means.board.settled_nodes()
    }

    pub(crate) fn known(&self) -> &Known {
        &self.known
    }

    /// Ends one role; the others go on. Says whether it was there.
    pub(crate) fn end_role(&self, role: Address) -> bool {
        self.inboxes.stop_one(role)
    }

    /// Lets clients of this program in: what is told to them goes to `told`, and what they say is
    /// judged by the gateway like everybody's. None if there is no gateway.
    pub(crate) fn let_in(&self, told: SyncSender<(ClientId, GatewaySays)>) -> Option<SayFn> {
        let gateway = self.known.gateway?;
        self.means.insiders.set(told);
        let inboxes = self.inboxes.clone();
        Some(Box::new(move |client, says| {
            let (from, message) = (Address::Client(client), Message::Asked(says));
            inboxes.put(gateway, Mail::Whole { from, message });
        }))
    }

    /// Where clients and newcomers knock, if there is a door.
    #[must_use]
    pub fn door_address(&self) -> Option<SocketAddr> {
        self.means.door.as_ref().and_then(Door::quic_address)
    }

    /// Where pages and WebSockets are, if there are any.
    #[must_use]
    pub fn web_address(&self) -> Option<SocketAddr> {
        self.means.door.as_ref().and_then(Door::web_address)
    }

    /// Says something to all who watch, and to all who come to watch from now on as the first
    /// thing: the `demo` message of docs/view-protocol.md. Only the last text counts.
    pub fn tell_viewers(&self, text: String) {
        if let Some(hub) = &self.hub {
            hub.set_state(text);
        }
    }

    /// How many objects are in the world as this process has it; none before it has a tick of it.
    #[must_use]
    pub fn objects(&self) -> Option<usize> {
        self.means.board.objects()
    }

    /// The name of the world.
    #[must_use]
    pub fn world_name(&self) -> &str {
        &self.known.charter.world
    }

    /// Waits until the node here has its part of the world, but not longer than this. Returns
    /// whether it has.
    #[must_use]
    pub fn wait_until_joined(&self, patience: Duration) -> bool {
        let begin = Instant::now();
        while !self.means.board.takes_part() {
            if begin.elapsed() >= patience {
                return false;
            }
            std::thread::sleep(JOIN_POLL.min(patience));
        }
        true
    }

    /// How it is, as JSON.
    #[must_use]
    pub fn status(&self) -> String {
        (self.status)()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.inboxes.stop();
        if let Some(hub) = &self.hub {
            hub.close();
        }
        // A page may have asked for something that outlived everybody else.
        let me = std::thread::current().id();
        for thread in self.threads.drain(..).filter(|thread| thread.thread().id() != me) {
            if thread.join().is_err() {
                tracing::error!("internal error: a thread panicked");
            }
        }
    }
}

type Show = Arc<dyn Fn() -> String + Send + Sync>;

/// What a door can say by itself, and whom it tells.
fn lobby(
    known: &Known,
    inboxes: &Inboxes,
    (show, count): (Show, Show),
    (clock, board): (Clock, Arc<Board>),
) -> Lobby {
    let (gateway, letters, admit) = (known.gateway, inboxes.clone(), known.admit.clone());
    Lobby {
        charter: known.charter.clone(),
        contents: known.contents.clone(),
        shapes: known.shapes.clone(),
        status: Box::new(move || show()),
        metrics: Box::new(move || count()),
        admit: Box::new(move |remote, name, followers| {
            let place = admit(name, followers)?;
            board.admitted(clock.now(), place.node, remote);
            Ok(place)
        }),
        letter: Box::new(move |client, says| {
            if let Some(gateway) = gateway {
                let (from, message) = (Address::Client(client), Message::Asked(says));
                letters.put(gateway, Mail::Whole { from, message });
            }
        }),
        replicas: None,
        view: None,
    }
}

/// Status and metrics, once there is something to show.
fn watching(means: &Arc<OnceLock<Arc<Means>>>) -> (Show, Show) {
    let (one, other) = (means.clone(), means.clone());
    let status = move || {
        one.get().map(|means| means.board.status(means.clock.now(), traffic(means), &counts(means)))
    };
    let metrics = move || {
        let shown = |means: &Arc<Means>| {
            means.board.metrics(means.clock.now(), traffic(means), &counts(means))
        };
        other.get().map(shown)
    };
    let or_nothing = |shown: Option<String>| shown.unwrap_or_default();
    (Arc::new(move || or_nothing(status())), Arc::new(move || or_nothing(metrics())))
}

fn traffic(means: &Means) -> [Traffic; 2] {
    let PlaneCounters { sent, sent_bytes, received, received_bytes, refused, lost } =
        means.plane.counters();
    let nodes = Traffic { sent, sent_bytes, received, received_bytes, dropped: refused + lost };
    let door = means.door.as_ref().map(Door::counters).unwrap_or_default();
    let door = Traffic {
        sent: door.letters_out,
        sent_bytes: door.bytes_out,
        received: door.letters_in,
        received_bytes: door.bytes_in,
        dropped: door.lost,
    };
    [nodes, door]
}

fn counts(means: &Means) -> Vec<crate::board::Count> {
    let Some(door) = means.door.as_ref().map(Door::counters) else { return Vec::new() };
    vec![
        ("door_connections", door.connections),
        ("door_waiting", door.waiting),
        ("door_refused_protocol", door.refused.protocol),
        ("door_refused_token", door.refused.token),
        ("door_refused_host", door.refused.host),
        ("door_refused_full", door.refused.full),
        ("door_refused_silent", door.refused.silent),
        ("door_refused_work", door.refused.work),
        ("door_put_out", door.put_out),
        ("door_excess", door.excess),
        ("door_garbage", door.garbage),
    ]
}

/// How a client of this program says something.
pub(crate) type SayFn = Box<dyn Fn(ClientId, ClientSays) + Send>;

type Admit = Arc<dyn Fn(u64, u32) -> Result<Place, String> + Send + Sync>;

fn admission(reception: Option<(Reception, PlaceMaker)>, plane: Vec<SocketAddr>) -> Admit {
    let Some(reception) = reception else {
        return Arc::new(|_, _| {
            Err("the directory is not here: join at the serving process".into())
        });
    };
    let reception = Mutex::new(reception);
    Arc::new(move |name, followers| {
        let mut locked = reception.lock().map_err(|_| "the server shuts down".to_string())?;
        let (reception, place) = &mut *locked;
        reception.admit(name, followers, |node, follower| place(node, follower, plane.clone()))
    })
}

/// How long things take in earnest: a machine that is busy for half a second is not dead.
pub(crate) fn timing(rate: u32) -> Timing {
    Timing { rate, lease: Span::from_ms(1000), ..Timing::default() }
}

/// A member is put out if it takes so much longer to answer than who comes in may take.
const SURELY_FAR: Span = Span::from_ms(100);

/// How nodes are grouped.
pub(crate) fn grouping(operation: Operation, rate: u32) -> Grouping {
    match operation {
        Operation::Synchronised | Operation::Unsynchronised { .. } => Grouping::Together,
        Operation::Grouped => {
            let near = thresholds(rate, Span::from_ms(5), Span::from_ms(2));
            // Delays are measured from role to role, so a machine that has too much to do seems far
            // away. Putting it out would give everybody the whole world to compute: then more
            // machines have too much to do. So only who is far beyond doubt is put out.
            let rejection = Span(near.inclusion.0 + SURELY_FAR.0);
            let thresholds = Thresholds { rejection, ..near };
            let polls = PollSettings { rejection, ..PollSettings::default() };
            // Processes that come at the same time may need some seconds to find each other on the
            // plane; who is not measured until then would get a group of its own.
            let patience = Span::from_ms(6000);
            Grouping::ByDelay(GroupRules { thresholds, polls, patience })
        }
    }
}

/// A follower of a process.
pub(crate) fn follower(number: u32) -> GatewayId {
    GatewayId { number, life: 1 }
}

/// A number that nobody else draws.
pub(crate) fn draw() -> Result<u64, StartError> {
    let mut bytes = [0; 8];
    let drawn = SystemRandom::new().fill(&mut bytes);
    drawn.map_err(|_| StartError::Other("the system gives no random numbers".into()))?;
    Ok(u64::from_le_bytes(bytes))
}

/// The clock of a process that remembers this time.
pub(crate) fn clock(remembered: Option<Time>) -> Clock {
    Clock::start().not_before(remembered.unwrap_or(Time(0)))
}

/// A folder, made if it is not there.
pub(crate) fn folder(path: &Path) -> Result<(), StartError> {
    private::folder(path).map_err(|error| StartError::Other(format!("{}: {error}", path.display())))
}

/// No other user can read what is in this store.
pub(crate) fn repair(path: &Path) -> Result<(), StartError> {
    private::repair(path).map_err(|error| StartError::Other(format!("{}: {error}", path.display())))
}
