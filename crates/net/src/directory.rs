//! A process that is one replica of a world's directory, with an edge server for joining nodes.

use crate::bootstrap::{Bootstrap, BootstrapOffer, WAIT, transport_address};
use crate::client::{ClientError, change_replicas, fetch_bootstrap};
use crate::edge::{EdgeLimits, EdgeSettings};
use crate::files::{disk, log};
use crate::machine::Machine;
use crate::manifest::{NodeAssignment, ReplicaChange, ReplicaStart};
use crate::node::lacks;
use crate::peers::Versions;
use crate::process::{
    Process, ProcessParts, StartError, clock, folder, random_u64, repair, timing,
};
use crate::registry::{Allocator, Identity, NodeRegistry, REPLICAS_END};
use crate::replica_host::{ReplicaHost, ReplicaHostError};
use crate::serve::AccessControl;
use crate::transport::{Engine, TransportAuth, TransportSettings};
use crate::write_ahead_log::WriteAheadLog;
use jostle_directory::Settings;
use jostle_proto::{Content, Library, ReplicaId, Span};
use jostle_store::{MirroredFile, MirroredKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// Settings of a directory replica.
#[derive(Clone, Debug)]
pub struct DirectorySettings {
    /// Its number, from 1. Not needed when its store exists.
    pub id: Option<u16>,
    /// The address of the serving process or of another replica, from which a new replica fetches
    /// the bootstrap record; it is retried until it answers.
    pub join: Option<SocketAddr>,
    /// Its address, if it is not one of the initial replicas: it is added to them.
    pub listen: Option<SocketAddr>,
    /// The folder of its log.
    pub store: PathBuf,
    /// Listen address for page, status and metrics.
    pub web: Option<SocketAddr>,
    /// Access control.
    pub guards: AccessControl,
    /// Longest round trip between replicas.
    pub round_trip: Span,
    /// An event log of every message, for [`crate::event_log::read_event_logs`].
    pub events: Option<PathBuf>,
    /// The transport engine.
    pub engine: Engine,
    /// Limits of its edge server.
    pub limits: EdgeLimits,
    /// Protocol versions between replicas; others than [`Versions::OURS`] are for tests.
    pub versions: Versions,
}

const KIND: MirroredKind =
    MirroredKind { magic: *b"JOREP\0\0\x02", name: "identity of the replica" };

/// Interval of attempts to connect.
const AGAIN: Duration = Duration::from_millis(500);

/// Attempts to be added while there is no leader.
const ATTEMPTS: usize = 20;

/// What a replica stores besides its log, permanently.
#[derive(Serialize, Deserialize)]
struct Kept {
    id: u16,
    /// Its address.
    place: SocketAddr,
    bootstrap: Bootstrap,
    /// All shapes, and the immovable objects.
    contents: Vec<Vec<u8>>,
}

impl Process {
    /// Starts a new replica, or resumes the stored one.
    ///
    /// # Errors
    /// If something cannot be opened, or its log is damaged.
    pub fn directory_replica(settings: DirectorySettings) -> Result<Process, StartError> {
        // Checked before it is added to the others.
        settings.guards.edge((settings.listen, settings.web), settings.limits).check()?;
        folder(&settings.store)?;
        repair(&settings.store)?;
        let kept = match kept(&settings.store)? {
            Some(kept) => kept.checked(&settings)?,
            None => create_store(&settings)?,
        };
        let Kept { id, place: address, bootstrap, contents } = kept;
        let Bootstrap { manifest, static_objects, key, replicas, .. } = bootstrap.clone();
        let mut library = Library::awaiting(manifest.forms.clone(), Span(0));
        for bytes in contents {
            library.put(bytes);
        }
        let offered = library.put(bootstrap.bytes()?);
        let shapes = library.shapes().map_err(|error| StartError::Other(error.to_string()))?;
        let shapes = shapes.ok_or_else(lacks)?;
        let replica = Settings::new(ReplicaId(id), timing(manifest.rate));
        let replica = Settings { pace: replica.pace.over(settings.round_trip), ..replica };
        let mut replica = ReplicaHost::open(replica, &settings.store.join(LOG), settings.versions)?;
        replica.set_address(Some(address));
        let others: BTreeSet<SocketAddr> =
            replicas.values().copied().chain(settings.join).filter(|it| *it != address).collect();
        let engine = settings.engine.clone();
        let transports: Vec<SocketAddr> = replicas
            .values()
            .chain([&address])
            .map(|address| transport_address(*address, &engine))
            .collect();
        let place = move |node, follower, _| {
            let transport = transports.clone();
            NodeAssignment { node, life: 1, follower, transport, static_objects, key }
        };
        let identity = || Identity { world: manifest.world.clone(), key };
        let registry = NodeRegistry::open(Some(&settings.store), identity).map_err(|error| {
            StartError::Other(format!("{error}; see \"A damaged log\" in docs/shared-worlds.md"))
        })?;
        let registry = registry.among(Allocator::Replica(id));
        tracing::info!("directory replica {id} of world {}", manifest.world);
        Process::start(ProcessParts {
            machines: vec![Machine::Replica(Box::new(replica))],
            clock: clock(None),
            shapes,
            contents: library,
            transport: settings.transport(&manifest.world, address, &others),
            edge: Some(settings.edge(address)),
            events: settings.events.clone(),
            registry: Some((registry, Box::new(place))),
            replicas: Some(BootstrapOffer {
                bootstrap: offered,
                begins: None,
                begun: Mutex::default(),
                addresses: others.into_iter().collect(),
                gives: true,
                clock: clock(None),
                mark: Mutex::default(),
            }),
            view: None,
            manifest,
        })
    }
}

impl DirectorySettings {
    fn transport(
        &self,
        world: &str,
        address: SocketAddr,
        others: &BTreeSet<SocketAddr>,
    ) -> TransportSettings {
        let AccessControl { node_token, certificates, .. } = self.guards.clone();
        let listen = match self.engine {
            Engine::Local(_) => Vec::new(),
            Engine::Zenoh | Engine::Quic => {
                vec![transport_address(self.listen.unwrap_or(address), &self.engine)]
            }
        };
        TransportSettings {
            world: world.into(),
            listen,
            join: others.iter().map(|other| transport_address(*other, &self.engine)).collect(),
            guard: TransportAuth { token: node_token, certificates },
            engine: self.engine.clone(),
        }
    }

    fn edge(&self, address: SocketAddr) -> EdgeSettings {
        self.guards.edge((Some(self.listen.unwrap_or(address)), self.web), self.limits)
    }
}

const LOG: &str = "log";
const KEPT: &str = "replica";

fn kept(store: &Path) -> Result<Option<Kept>, StartError> {
    let found = MirroredFile::open(&disk(), &store.join(KEPT), KIND).map_err(|error| {
        StartError::Other(format!("{error}; see \"A damaged log\" in docs/shared-worlds.md"))
    })?;
    log(found.notices);
    Ok(found.value)
}

impl Kept {
    /// Checks that the stored replica is the requested one.
    fn checked(self, settings: &DirectorySettings) -> Result<Kept, StartError> {
        if let Some(id) = settings.id.filter(|id| *id != self.id) {
            let (store, is) = (settings.store.display(), self.id);
            return Err(StartError::Other(format!(
                "{store} belongs to replica {is}, not to replica {id}"
            )));
        }
        Ok(self)
    }
}

/// Creates the store of a new replica.
fn create_store(settings: &DirectorySettings) -> Result<Kept, StartError> {
    let store = settings.store.display();
    let wrong = |what: &str| StartError::Other(format!("{store} is empty: {what}"));
    let id = settings.id.ok_or_else(|| wrong("say which replica this is, with --id"))?;
    let join = settings.join.ok_or_else(|| wrong("say where the world is, with --join"))?;
    if u32::from(id) >= REPLICAS_END || id == 0 {
        return Err(StartError::Other(format!(
            "replicas are numbered from 1 to {}",
            REPLICAS_END - 1
        )));
    }
    let (mut bootstrap, library) = wait_for(join, None, settings)?;
    let (begins, place) = match (bootstrap.replicas.get(&id), settings.listen) {
        (Some(place), None) => (true, *place),
        (Some(place), Some(listen)) if listen.port() == place.port() => (true, *place),
        (Some(place), Some(listen)) => {
            let what = format!("the world knows replica {id} at {place}, not at {listen}");
            return Err(StartError::Other(what));
        }
        // Once it is a member, the others send it the log.
        (None, Some(listen)) if listen.port() != 0 && !listen.ip().is_unspecified() => {
            (false, listen)
        }
        (None, _) => {
            return Err(StartError::Other(format!(
                "the world did not begin with replica {id}: to add it, say with --listen where \
                 others can reach it"
            )));
        }
    };
    match begins {
        true => {
            let begin = ReplicaStart { replica: id, name: random_u64()? };
            bootstrap = wait_for(join, Some(begin), settings)?.0;
        }
        false => add(join, id, settings)?,
    }
    let log = std::mem::take(&mut bootstrap.log);
    let bytes = |content: Content| library.get(content).map(|bytes| bytes.to_vec());
    let forms = bootstrap.manifest.forms.iter().filter_map(|form| form.content);
    let contents: BTreeSet<Content> = forms.chain([bootstrap.static_objects]).collect();
    let contents = contents.into_iter().filter_map(bytes).collect();
    WriteAheadLog::create(&settings.store.join(LOG), ReplicaId(id), &log)
        .map_err(ReplicaHostError::from)?;
    let kept = Kept { id, place, bootstrap, contents };
    // Written last: with this file the replica has started, and must never be without its log.
    MirroredFile::anew(&disk(), &settings.store.join(KEPT), KIND).save(&kept)?;
    Ok(kept)
}

/// Fetches the bootstrap record; retries while the server is unreachable.
fn wait_for(
    join: SocketAddr,
    begin: Option<ReplicaStart>,
    settings: &DirectorySettings,
) -> Result<(Bootstrap, Library), StartError> {
    let (token, trust) = (settings.guards.node_token.as_ref(), settings.guards.trust());
    let mut logged = false;
    loop {
        match fetch_bootstrap(join, token, &trust, begin) {
            Ok(create_store) => return Ok(create_store),
            Err(error @ ClientError::Unreachable { .. }) => {
                if !logged {
                    tracing::warn!("waiting for the world: {error}");
                }
                logged = true;
                std::thread::sleep(AGAIN);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Asks to be added to the replicas, which then send it the log. A replica that is a member already
/// but has no store has lost its log, and must not start with an empty one.
fn add(join: SocketAddr, id: u16, settings: &DirectorySettings) -> Result<(), StartError> {
    let (token, trust) = (settings.guards.node_token.as_ref(), settings.guards.trust());
    let mut answer = Ok(());
    for _ in 0..ATTEMPTS {
        answer = change_replicas(join, token, &trust, ReplicaChange::Add(id));
        match &answer {
            Err(ClientError::Rejected { why, .. }) if why.ends_with(WAIT) => {}
            _ => break,
        }
        std::thread::sleep(AGAIN);
    }
    answer.map_err(|error| {
        StartError::Other(format!(
            "replica {id} is not added: {error}. One that has lost its store must be removed first \
             (jostle directory --leave), and come back with another number"
        ))
    })
}
