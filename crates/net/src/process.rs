//! A process of a shared world: its roles, each on its own thread, with transport and edge server.

use crate::bootstrap::BootstrapOffer;
use crate::clock::Clock;
use crate::driver::{Driver, InboxItem, Inboxes, LocalClients, ProcessContext, inboxes};
use crate::edge::{EdgeError, EdgeServer, EdgeServices, EdgeSettings};
use crate::event_log::EventLog;
use crate::machine::Machine;
use crate::manifest::{NodeAssignment, OperationMode, WorldManifest};
use crate::metrics::{Metrics, Traffic};
use crate::private;
use crate::registry::NodeRegistry;
use crate::replica_host::ReplicaHostError;
use crate::transport::{Deliver, Transport, TransportError, TransportSettings};
use crate::view::ViewHub;
use crate::{client, name};
use jostle_proto::{
    Address, ClientId, ClientMessage, GatewayId, GatewayMessage, GroupRules, Grouping, Library,
    Message, NodeId, PollSettings, Shapes, Span, Thresholds, Time, Timing, thresholds,
};
use jostle_store::{MirroredError, RecordError, ReplayError, StoreError};
use ring::rand::{SecureRandom, SystemRandom};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval of checks whether the node here has joined.
const JOIN_POLL: Duration = Duration::from_millis(20);

/// Why a process cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The edge server failed.
    #[error(transparent)]
    Edge(#[from] EdgeError),
    /// A directory replica failed.
    #[error(transparent)]
    Replica(#[from] ReplicaHostError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The stored world cannot be read.
    #[error("cannot read the stored world: {0}")]
    Store(#[from] StoreError),
    /// A file beside the stored world is damaged.
    #[error("{0}. Put a copy of one of them there, or start with --restore: {1}")]
    MirroredFile(MirroredError, &'static str),
    /// A recording cannot be played.
    #[error("{0}")]
    Recording(ReplayError),
    /// Joining the world failed.
    #[error("cannot join: {0}")]
    Join(#[from] client::ClientError),
    /// Another error.
    #[error("{0}")]
    Other(String),
}

/// A running process; it stops when dropped.
pub struct Process {
    inboxes: Inboxes,
    threads: Vec<JoinHandle<()>>,
    context: Arc<ProcessContext>,
    known: WorldInfo,
    status: Arc<dyn Fn() -> String + Send + Sync>,
    hub: Option<Arc<ViewHub>>,
}

/// What a process consists of.
pub(crate) struct ProcessParts {
    pub(crate) machines: Vec<Machine>,
    pub(crate) clock: Clock,
    pub(crate) manifest: WorldManifest,
    pub(crate) shapes: Shapes,
    pub(crate) contents: Library,
    pub(crate) transport: TransportSettings,
    pub(crate) edge: Option<EdgeSettings>,
    pub(crate) events: Option<PathBuf>,
    /// Admits nodes, in the process that has the directory.
    pub(crate) registry: Option<(NodeRegistry, PlaceMaker)>,
    /// Answers about directory replicas, if there are any.
    pub(crate) replicas: Option<BootstrapOffer>,
    /// The view hub and its threads.
    pub(crate) view: Option<View>,
}

/// The view hub and its threads.
pub(crate) type View = (Arc<ViewHub>, Vec<JoinHandle<()>>);

/// Makes the assignment of a new node from its number, its first follower number and the transport
/// addresses.
pub(crate) type PlaceMaker = Box<dyn Fn(u32, u32, Vec<SocketAddr>) -> NodeAssignment + Send>;

/// What a process knows about its world, for others in the same program.
pub(crate) struct WorldInfo {
    pub(crate) manifest: WorldManifest,
    pub(crate) shapes: Shapes,
    pub(crate) contents: Library,
    /// Admits a node by its random name and its number of followers.
    pub(crate) admit: Admit,
    gateway: Option<Address>,
}

impl Process {
    /// Starts all roles.
    pub(crate) fn start(parts: ProcessParts) -> Result<Process, StartError> {
        let ProcessParts { machines, clock, manifest, .. } = &parts;
        let (clock, rate) = (*clock, manifest.rate);
        let metrics = Arc::new(Metrics::new(&manifest.world, rate, clock.now()));
        let roles: Vec<Address> = machines.iter().map(Machine::address).collect();
        let gateway = machines.iter().find_map(|machine| match machine {
            Machine::Gateway(gateway) => Some(Address::Gateway(gateway.id())),
            _ => None,
        });
        let (inboxes, mut readers) = inboxes(roles.iter().copied(), &metrics);
        let deliver = deliver(&inboxes, &metrics, clock);
        let transport = Transport::open(&parts.transport, deliver)?;
        // Messages to the directory go to all of its replicas.
        let directory = inboxes.replica().map(|_| Address::Directory);
        for role in roles.iter().copied().chain(directory) {
            transport.answer_to(&name::of(role).unwrap_or_default())?;
        }
        if parts.edge.is_some() {
            transport.answer_to(name::STATUS_REPORTS)?;
            transport.answer_to(name::LOAD_REPORTS)?;
        }
        let known = WorldInfo {
            manifest: parts.manifest,
            shapes: parts.shapes,
            contents: parts.contents,
            admit: admission(parts.registry, transport.listening()),
            gateway,
        };
        let context_later: Arc<OnceLock<Arc<ProcessContext>>> = Arc::default();
        let (show, count) = status_functions(&context_later);
        let event_log = parts.events.as_deref().map(EventLog::new).transpose()?;
        let (hub, mut threads) = parts.view.unzip();
        let mut threads = threads.take().unwrap_or_default();
        let edge = match parts.edge {
            Some(settings) => {
                let shows = (show.clone(), count);
                let mut services = services(&known, &inboxes, shows, (clock, metrics.clone()));
                services.view = hub.clone();
                services.replicas = parts.replicas.map(|offer| offer.handler(&inboxes, &metrics));
                Some(EdgeServer::open(settings, services)?)
            }
            None => None,
        };
        let local_clients = LocalClients::default();
        let inboxes_too = inboxes.clone();
        let context = ProcessContext {
            clock,
            inboxes: inboxes_too,
            transport,
            edge,
            local_clients,
            metrics,
            event_log,
        };
        let context = Arc::new(context);
        let _first = context_later.set(context.clone());
        for machine in parts.machines {
            let address = machine.address();
            let Some(inbox) = readers.remove(&address) else { continue };
            let driver = Driver::new(machine, inbox, context.clone(), rate);
            let name = name::of(address).unwrap_or_default();
            let thread = std::thread::Builder::new().name(name).spawn(move || driver.run());
            threads.push(thread.map_err(|error| StartError::Other(error.to_string()))?);
        }
        Ok(Process { inboxes, threads, context, known, status: show, hub })
    }

    /// The transport address that other processes can join, if there is one outside this program.
    #[must_use]
    pub fn transport_address(&self) -> Option<SocketAddr> {
        self.context.transport.listening().first().copied()
    }

    /// The nodes that this process started with.
    pub(crate) fn nodes(&self) -> Vec<NodeId> {
        let node = |role: &Address| match role {
            Address::Node(node) => Some(*node),
            _ => None,
        };
        self.inboxes.roles().filter_map(node).collect()
    }

    /// All nodes of the first group, sorted, if the directory is here and the view is stable.
    pub(crate) fn stable_nodes(&self) -> Option<Vec<NodeId>> {
        self.context.metrics.stable_nodes()
    }

    pub(crate) fn known(&self) -> &WorldInfo {
        &self.known
    }

    /// Stops one role; the others continue. Returns whether it was there.
    pub(crate) fn end_role(&self, role: Address) -> bool {
        self.inboxes.stop_one(role)
    }

    /// Connects clients of this program: messages to them go to `sender`; theirs are validated by
    /// the gateway like those of other clients. `None` without a gateway.
    pub(crate) fn connect_local(
        &self,
        sender: SyncSender<(ClientId, GatewayMessage)>,
    ) -> Option<SendFn> {
        let gateway = self.known.gateway?;
        self.context.local_clients.set(sender);
        let inboxes = self.inboxes.clone();
        Some(Box::new(move |client, message| {
            let (from, message) = (Address::Client(client), Message::FromClient(message));
            inboxes.put(gateway, InboxItem::Message { from, message });
        }))
    }

    /// The QUIC address of the edge server.
    #[must_use]
    pub fn edge_address(&self) -> Option<SocketAddr> {
        self.context.edge.as_ref().and_then(EdgeServer::quic_address)
    }

    /// The HTTP address of the edge server.
    #[must_use]
    pub fn web_address(&self) -> Option<SocketAddr> {
        self.context.edge.as_ref().and_then(EdgeServer::web_address)
    }

    /// Sends a message to all viewers, and to new viewers first: the `demo` message of
    /// docs/view-protocol.md. It replaces the last one.
    pub fn set_view_state(&self, text: String) {
        if let Some(hub) = &self.hub {
            hub.set_state(text);
        }
    }

    /// The number of objects in the world as this process has it; `None` before its first tick.
    #[must_use]
    pub fn objects(&self) -> Option<usize> {
        self.context.metrics.objects()
    }

    /// The name of the world.
    #[must_use]
    pub fn world_name(&self) -> &str {
        &self.known.manifest.world
    }

    /// Blocks until the node here has its part of the world, or until the timeout. Returns whether
    /// it has.
    #[must_use]
    pub fn wait_until_joined(&self, patience: Duration) -> bool {
        let begin = Instant::now();
        while !self.context.metrics.takes_part() {
            if begin.elapsed() >= patience {
                return false;
            }
            std::thread::sleep(JOIN_POLL.min(patience));
        }
        true
    }

    /// The status as JSON.
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
        // A request of a page may hold the last reference on one of these threads.
        let me = std::thread::current().id();
        for thread in self.threads.drain(..).filter(|thread| thread.thread().id() != me) {
            if thread.join().is_err() {
                tracing::error!("internal error: a thread panicked");
            }
        }
    }
}

type StatusFn = Arc<dyn Fn() -> String + Send + Sync>;

/// Routes frames of the transport to the metrics and to the inboxes of roles.
fn deliver(inboxes: &Inboxes, metrics: &Arc<Metrics>, clock: Clock) -> Deliver {
    let (inboxes, metrics) = (inboxes.clone(), metrics.clone());
    Arc::new(move |name: &str, bytes: &[u8]| {
        let is_valid = match name {
            name::STATUS_REPORTS => metrics.receive_report(clock.now(), bytes),
            name::LOAD_REPORTS => metrics.load_bytes(clock.now(), bytes),
            name => return inboxes.arrived(name, bytes),
        };
        if !is_valid {
            metrics.drops.malformed.fetch_add(1, Ordering::Relaxed);
        }
    })
}

/// What the edge server serves.
fn services(
    known: &WorldInfo,
    inboxes: &Inboxes,
    (show, count): (StatusFn, StatusFn),
    (clock, metrics): (Clock, Arc<Metrics>),
) -> EdgeServices {
    let (gateway, client_inboxes, admit) = (known.gateway, inboxes.clone(), known.admit.clone());
    EdgeServices {
        manifest: known.manifest.clone(),
        contents: known.contents.clone(),
        shapes: known.shapes.clone(),
        status: Box::new(move || show()),
        metrics: Box::new(move || count()),
        admit: Box::new(move |remote, name, followers| {
            let place = admit(name, followers)?;
            metrics.admitted(clock.now(), place.node, remote);
            Ok(place)
        }),
        deliver: Box::new(move |client, message| {
            if let Some(gateway) = gateway {
                let (from, message) = (Address::Client(client), Message::FromClient(message));
                client_inboxes.put(gateway, InboxItem::Message { from, message });
            }
        }),
        replicas: None,
        view: None,
    }
}

/// Functions for status and metrics; empty texts until the roles run.
fn status_functions(context: &Arc<OnceLock<Arc<ProcessContext>>>) -> (StatusFn, StatusFn) {
    let (one, other) = (context.clone(), context.clone());
    let status = move || {
        one.get().map(|context| {
            context.metrics.status_json(context.clock.now(), traffic(context), &counts(context))
        })
    };
    let metrics = move || {
        let shown = |context: &Arc<ProcessContext>| {
            context.metrics.prometheus(context.clock.now(), traffic(context), &counts(context))
        };
        other.get().map(shown)
    };
    let or_nothing = |shown: Option<String>| shown.unwrap_or_default();
    (Arc::new(move || or_nothing(status())), Arc::new(move || or_nothing(metrics())))
}

fn traffic(context: &ProcessContext) -> [Traffic; 2] {
    let edge = context.edge.as_ref().map(EdgeServer::counters).unwrap_or_default();
    [context.transport.counters().into(), Traffic::from(&edge)]
}

fn counts(context: &ProcessContext) -> Vec<crate::metrics::Count> {
    let Some(edge) = context.edge.as_ref().map(EdgeServer::counters) else { return Vec::new() };
    vec![
        ("edge_connections", edge.connections),
        ("edge_pending", edge.pending),
        ("edge_rejected_protocol", edge.rejected.protocol),
        ("edge_rejected_token", edge.rejected.token),
        ("edge_rejected_host", edge.rejected.host),
        ("edge_rejected_full", edge.rejected.full),
        ("edge_rejected_silent", edge.rejected.silent),
        ("edge_rejected_work", edge.rejected.work),
        ("edge_disconnected", edge.disconnected),
        ("edge_over_limit", edge.excess),
        ("edge_malformed", edge.malformed),
    ]
}

/// How a local client sends a message.
pub(crate) type SendFn = Box<dyn Fn(ClientId, ClientMessage) + Send>;

type Admit = Arc<dyn Fn(u64, u32) -> Result<NodeAssignment, String> + Send + Sync>;

fn admission(registry: Option<(NodeRegistry, PlaceMaker)>, transport: Vec<SocketAddr>) -> Admit {
    let Some(registry) = registry else {
        return Arc::new(|_, _| {
            Err("the directory is not here: join at the serving process".into())
        });
    };
    let registry = Mutex::new(registry);
    Arc::new(move |name, followers| {
        let mut locked = registry.lock().map_err(|_| "the server shuts down".to_string())?;
        let (registry, place) = &mut *locked;
        registry.admit(name, followers, |node, follower| place(node, follower, transport.clone()))
    })
}

/// Timing for real machines: one that is busy for half a second is not declared dead.
pub(crate) fn timing(rate: u32) -> Timing {
    Timing { rate, lease: Span::from_ms(1000), ..Timing::default() }
}

/// A member is excluded when its delay exceeds the inclusion threshold by this.
const SURELY_FAR: Span = Span::from_ms(100);

/// The grouping rules of an operation mode.
pub(crate) fn grouping(operation: OperationMode, rate: u32) -> Grouping {
    match operation {
        OperationMode::Lockstep | OperationMode::FreeRunning { .. } => Grouping::Together,
        OperationMode::Grouped => {
            let near = thresholds(rate, Span::from_ms(5), Span::from_ms(2));
            // Delays are measured between roles, so an overloaded machine seems far away. Excluding
            // it would give every group the whole world to compute, and overload more machines. So
            // only a member far beyond doubt is excluded.
            let rejection = Span(near.inclusion.0 + SURELY_FAR.0);
            let thresholds = Thresholds { rejection, ..near };
            let polls = PollSettings { rejection, ..PollSettings::default() };
            // Processes that start together may need some seconds to find each other on the
            // transport; a node that is not measured until then would get a group of its own.
            let patience = Span::from_ms(6000);
            Grouping::ByDelay(GroupRules { thresholds, polls, patience })
        }
    }
}

/// The id of a follower of this process.
pub(crate) fn follower(number: u32) -> GatewayId {
    GatewayId { number, life: 1 }
}

/// A random number.
pub(crate) fn random_u64() -> Result<u64, StartError> {
    let mut bytes = [0; 8];
    let drawn = SystemRandom::new().fill(&mut bytes);
    drawn.map_err(|_| StartError::Other("the system gives no random numbers".into()))?;
    Ok(u64::from_le_bytes(bytes))
}

/// The clock of a process, not before a remembered time.
pub(crate) fn clock(remembered: Option<Time>) -> Clock {
    Clock::start().not_before(remembered.unwrap_or(Time(0)))
}

/// Creates a folder if missing.
pub(crate) fn folder(path: &Path) -> Result<(), StartError> {
    private::folder(path).map_err(|error| StartError::Other(format!("{}: {error}", path.display())))
}

/// Removes permissions of other users from a store.
pub(crate) fn repair(path: &Path) -> Result<(), StartError> {
    private::repair(path).map_err(|error| StartError::Other(format!("{}: {error}", path.display())))
}
