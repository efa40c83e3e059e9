//! The process that starts a world: directory, first node, gateway and edge server.

use crate::bootstrap;
use crate::clock::stopwatch;
use crate::directory_role::DirectoryRole;
use crate::edge::{EdgeLimits, EdgeSettings, WebHost};
use crate::files::{FileSystem, disk, log};
use crate::machine::Machine;
use crate::manifest::{NodeAssignment, OperationMode, PROTOCOL, WorldManifest};
use crate::process::{
    PlaceMaker, Process, ProcessParts, StartError, clock, folder, follower, grouping, random_u64,
    repair, timing,
};
use crate::registry::{Identity, NodeRegistry};
use crate::secret::Secret;
use crate::transport::{self, Engine, TransportAuth, TransportSettings};
use crate::view::{Controls, ViewFollower, ViewHub, ViewSettings};
use jostle_proto::{
    Block, Class, Form, FreeRunningNode, Gateway, GatewayId, GatewaySettings, Interest, Key,
    Library, Member, Node, NodeId, Object, ObjectId, PingRule, ShapeId, Shapes, Source, Span, Tick,
    Time, Timing, Tuning,
};
use jostle_store::{
    DirectoryError, DirectoryStart, DirectoryStore, MirroredError, MirroredFile, Recorder, Serving,
    Store, StoreSettings, Stored, start_directory,
};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The initial state of a world.
#[derive(Clone, Debug)]
pub struct InitialWorld {
    /// All objects.
    pub objects: Vec<Object>,
    /// All shapes.
    pub shapes: Shapes,
    /// Where most of it is.
    pub extent: Block,
    /// The shape of avatars.
    pub avatar: ShapeId,
    /// Where avatars enter the world.
    pub places: Block,
    /// Names of objects; pages show them.
    pub names: BTreeMap<ObjectId, String>,
}

/// Tokens, certificates and hosts.
#[derive(Clone, Debug, Default)]
pub struct AccessControl {
    /// Required of clients, if set.
    pub token: Option<Secret>,
    /// Required of nodes, if set.
    pub node_token: Option<Secret>,
    /// A folder with certificates, see [`crate::certificates::make`].
    pub certificates: Option<PathBuf>,
    /// Clients need no token, even where other machines reach the listeners.
    pub anyone: bool,
    /// Host names of the page besides `localhost` and addresses of this machine.
    pub hosts: Vec<WebHost>,
}

impl AccessControl {
    /// Settings of an edge server with this access control.
    pub(crate) fn edge(
        &self,
        (quic, web): (Option<SocketAddr>, Option<SocketAddr>),
        limits: EdgeLimits,
    ) -> EdgeSettings {
        let AccessControl { token, node_token, certificates, anyone, hosts } = self.clone();
        EdgeSettings { quic, web, token, node_token, certificates, anyone, hosts, limits }
    }
}

/// Files that a process writes.
#[derive(Clone, Debug, Default)]
pub struct OutputFiles {
    /// A recording.
    pub record: Option<PathBuf>,
    /// An event log of every message, for [`crate::event_log::read_event_logs`].
    pub events: Option<PathBuf>,
}

/// Settings of a serving process.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// The name of the world.
    pub name: String,
    /// The world, if nothing is stored.
    pub start: InitialWorld,
    /// Ticks per second.
    pub rate: u32,
    /// How nodes cooperate.
    pub operation: OperationMode,
    /// Backups of each node, see [`jostle_proto::View::backups`].
    pub backups: u8,
    /// Address of the edge server (UDP) and of the transport (TCP).
    pub listen: SocketAddr,
    /// Listen address for page, metrics and WebSockets.
    pub web: Option<SocketAddr>,
    /// Access control.
    pub guards: AccessControl,
    /// The folder of the store.
    pub store: Option<PathBuf>,
    /// Starts from the store even if living nodes have a part of the world, or if the directory's
    /// store is damaged.
    pub restore: bool,
    /// Other files to write.
    pub files: OutputFiles,
    /// The transport engine.
    pub engine: Engine,
    /// Settings of the gateway; key, shape and spawn area come from the world.
    pub gateway: GatewaySettings,
    /// Limits of the edge server.
    pub edge: EdgeLimits,
    /// Addresses of the directory replicas, numbered from 1; if empty the directory runs here.
    pub replicas: Vec<SocketAddr>,
    /// Controls that pages may use; none by default.
    pub controls: Controls,
}

impl ServeSettings {
    /// A world for clients on this machine, at ports that are free, with a page: 30 ticks a second,
    /// nodes in lockstep, and nothing is written.
    ///
    /// ```no_run
    /// use jostle_net::Process;
    /// use jostle_net::serve::{InitialWorld, ServeSettings};
    ///
    /// fn serve(start: InitialWorld) -> Result<Process, jostle_net::StartError> {
    ///     Process::serve(ServeSettings { rate: 60, ..ServeSettings::local("hall", start) })
    /// }
    /// ```
    #[must_use]
    pub fn local(name: &str, start: InitialWorld) -> ServeSettings {
        let here = SocketAddr::from(([127, 0, 0, 1], 0));
        ServeSettings {
            name: name.to_owned(),
            start,
            rate: 30,
            operation: OperationMode::Lockstep,
            backups: jostle_proto::BACKUPS,
            listen: here,
            web: Some(here),
            guards: AccessControl::default(),
            store: None,
            restore: false,
            files: OutputFiles::default(),
            engine: Engine::Zenoh,
            gateway: GatewaySettings::default(),
            edge: EdgeLimits::default(),
            replicas: Vec::new(),
            controls: Controls::default(),
        }
    }

    /// Checks that the settings are consistent, without opening or writing anything.
    ///
    /// # Errors
    /// If they are not.
    pub fn check(&self) -> Result<(), StartError> {
        let kept = self.store.is_some() || self.files.record.is_some();
        if kept && !self.operation.is_lockstep() {
            return Err(not_storable());
        }
        // Before anything is written.
        transport::check(&self.transport("world".to_owned()))?;
        self.edge().check()?;
        bootstrap::check(&self.replicas)
    }

    fn transport(&self, world: String) -> TransportSettings {
        let AccessControl { node_token, certificates, .. } = self.guards.clone();
        let replicas = self.replicas.iter();
        TransportSettings {
            world,
            listen: transport_address(self.listen, &self.engine),
            join: replicas.map(|it| bootstrap::transport_address(*it, &self.engine)).collect(),
            guard: TransportAuth { token: node_token, certificates },
            engine: self.engine.clone(),
        }
    }

    fn edge(&self) -> EdgeSettings {
        self.guards.edge((Some(self.listen), self.web), self.edge)
    }
}

/// A free-running world has no common ticks to store.
pub(crate) fn not_storable() -> StartError {
    let why = "a world without common ticks (--free-running) cannot be stored or recorded";
    StartError::Other(why.into())
}

/// What a serving process starts with.
pub(crate) struct ServerStart {
    pub(crate) identity: Identity,
    /// The directory and the registry of node numbers, if both are here.
    pub(crate) directory: Option<(DirectoryStore, NodeRegistry)>,
    pub(crate) node: Member,
    /// The first of its follower numbers.
    pub(crate) follower: u32,
    /// The objects of its node; `None` if others have the world.
    pub(crate) objects: Option<Vec<Object>>,
    pub(crate) tick: Tick,
    pub(crate) heard: Vec<(Source, u64)>,
    pub(crate) static_objects: Vec<Object>,
    pub(crate) shapes: Shapes,
    pub(crate) store: Option<Store>,
    pub(crate) newest: Option<Time>,
    /// The manifest of a running world, if directory replicas have it.
    pub(crate) manifest: Option<WorldManifest>,
    /// The mark that is written when the first replica starts.
    pub(crate) mark: Option<(MirroredFile, Identity)>,
}

/// Followers of this process: gateway, store, recording, view.
pub(crate) const FOLLOWERS: u32 = 4;

impl Process {
    /// Starts a world, or resumes the stored one.
    ///
    /// # Errors
    /// If something cannot be opened, or the store cannot be read.
    pub fn serve(settings: ServeSettings) -> Result<Process, StartError> {
        settings.check()?;
        let mut begun = match settings.replicas.is_empty() {
            true => begin(&settings)?,
            false => bootstrap::begin(&settings)?,
        };
        let Identity { world, key } = begun.identity.clone();
        let shapes = begun.shapes.clone();
        let mut contents = Library::of(&shapes, Span(0));
        let static_objects = postcard::to_allocvec(&begun.static_objects).map_err(|error| {
            StartError::Other(format!("cannot encode the immovable objects: {error}"))
        })?;
        let static_objects = contents.put(static_objects);
        let manifest = manifest(&settings, &begun, contents.forms());
        let timing = timing(manifest.rate);
        let gateway = GatewaySettings {
            key: Key(key),
            shape: manifest.avatar,
            places: manifest.places,
            limits: manifest.limits,
            ..settings.gateway
        };
        let replicas = match settings.replicas.is_empty() {
            true => None,
            false => {
                let (is_new, parts) = (begun.manifest.is_none(), (static_objects, key));
                let offer = bootstrap::offer(&settings, &manifest, is_new, parts, &mut contents)?;
                Some(offer.marking(begun.mark.take()))
            }
        };
        let place = move |node, follower, transport| NodeAssignment {
            node,
            life: 1,
            follower,
            transport,
            static_objects,
            key,
        };
        let clock = clock(begun.newest);
        let mut machines = roles(&settings, &manifest, timing, gateway, &mut begun)?;
        let registry = begun.directory.map(|(directory, registry)| {
            machines.push(Machine::Directory(Box::new(DirectoryRole::new(directory))));
            (registry, Box::new(place) as PlaceMaker)
        });
        let view_settings = ViewSettings {
            reach: reach(&gateway),
            names: settings.start.names.clone(),
            controls: settings.controls.clone(),
            ..ViewSettings::default()
        };
        let view = settings.web.map(|_| ViewHub::open(&manifest, &shapes, view_settings));
        if let Some((hub, _)) = &view {
            let id = follower(begun.follower + 3);
            machines.push(view_follower(&manifest, id, (&shapes, &begun.static_objects), hub));
        }
        Process::start(ProcessParts {
            machines,
            clock,
            manifest,
            shapes,
            contents,
            transport: settings.transport(world),
            edge: Some(settings.edge()),
            events: settings.files.events,
            registry,
            replicas,
            view,
        })
    }
}

/// The manifest: of the running world, or from the settings.
fn manifest(settings: &ServeSettings, begun: &ServerStart, forms: &[Form]) -> WorldManifest {
    let gate = begun.follower;
    if let Some(manifest) = &begun.manifest {
        return WorldManifest { gate, ..manifest.clone() };
    }
    WorldManifest {
        protocol: PROTOCOL,
        world: begun.identity.world.clone(),
        rate: settings.rate,
        operation: settings.operation,
        extent: settings.start.extent,
        forms: forms.to_vec(),
        avatar: settings.start.avatar,
        places: settings.start.places,
        limits: settings.gateway.limits,
        gate,
    }
}

/// The interest radius of clients in metres; `None` if they receive everything.
pub(crate) fn reach(gateway: &GatewaySettings) -> Option<f64> {
    match gateway.interest {
        Interest::Auras { reach } => Some(reach),
        // At least the neighbouring cubes.
        Interest::Regions { size } => Some(size),
        Interest::Everyone => None,
    }
}

/// The listen addresses of the transport. The QUIC engine cannot share the port with the edge
/// server, which uses QUIC, too.
pub(crate) fn transport_address(listen: SocketAddr, engine: &Engine) -> Vec<SocketAddr> {
    match engine {
        Engine::Zenoh => vec![listen],
        Engine::Quic => vec![SocketAddr::new(listen.ip(), 0)],
        Engine::Local(_) => Vec::new(),
    }
}

fn begin(settings: &ServeSettings) -> Result<ServerStart, StartError> {
    let (mut registry, stored, store) = open_store(settings)?;
    let before = registry.own();
    let (number, follower) = registry.number_own(FOLLOWERS)?;
    let node = Member { node: NodeId(number), life: 1 };
    let Stored { tick, heard, objects, shapes, .. } = stored;
    let objects: Vec<Object> = objects.values().copied().collect();
    let (directory, newest) = directory(settings, before, (node, tick, objects.len()))?;
    Ok(ServerStart {
        identity: registry.identity().clone(),
        directory: Some((directory, registry)),
        node,
        follower,
        static_objects: static_objects_of(&objects),
        objects: Some(objects),
        tick,
        heard,
        shapes,
        store,
        newest,
        manifest: None,
        mark: None,
    })
}

/// Opens the store, or takes the initial world.
fn open_store(
    settings: &ServeSettings,
) -> Result<(NodeRegistry, Stored, Option<Store>), StartError> {
    if let Some(path) = &settings.store {
        folder(path)?;
        repair(path)?;
    }
    let identity = Identity::draw(&settings.name)?;
    let registry = match NodeRegistry::open(settings.store.as_deref(), || identity.clone()) {
        Err(error) => {
            let what = "then the world has another name, and clients get new avatars";
            let error = refuse(settings, error, what)?;
            let path = settings.store.as_deref().unwrap_or(Path::new("."));
            tracing::error!("{error}: {what}");
            NodeRegistry::anew(path, identity)
        }
        Ok(registry) => registry,
    };
    let (stored, store) = stored(settings)?;
    Ok((registry, stored, store))
}

/// Damage is accepted with `--restore` only; errors of the file system never.
fn refuse(
    settings: &ServeSettings,
    error: MirroredError,
    what: &'static str,
) -> Result<MirroredError, StartError> {
    let is_damage = !matches!(error, MirroredError::File(_));
    if is_damage && settings.restore {
        Ok(error)
    } else {
        Err(StartError::MirroredFile(error, what))
    }
}

/// The stored directory, or a new one; and the newest time that it remembers. `before` is the node
/// that the serving process had before, which is gone.
fn directory(
    settings: &ServeSettings,
    before: Option<u32>,
    (node, tick, objects): (Member, Tick, usize),
) -> Result<(DirectoryStore, Option<Time>), StartError> {
    let start = DirectoryStart {
        timing: timing(settings.rate),
        grouping: grouping(settings.operation, settings.rate),
        extent: settings.start.extent,
        backups: settings.backups,
        restore: settings.restore,
        mutant: None,
    };
    let Some(path) = settings.store.as_deref().map(|store| store.join("directory")) else {
        tracing::info!("world starts at tick {} with {objects} objects", tick.0);
        return Ok((DirectoryStore::new(start.fresh(node)), None));
    };
    let serving = Serving { before: before.map(NodeId), node, tick, objects };
    let now = clock(None).now();
    let started =
        start_directory(&disk(), &path, &start, serving, now).map_err(|error| match error {
            DirectoryError::MirroredFile(error, what) => StartError::MirroredFile(error, what),
            DirectoryError::Record(error) => StartError::Record(error),
        })?;
    log(started.notices);
    Ok((started.directory_store, started.newest))
}

/// The immovable objects.
pub(crate) fn static_objects_of(objects: &[Object]) -> Vec<Object> {
    objects.iter().filter(|object| object.class == Class::Immovable).copied().collect()
}

impl Identity {
    /// A new world of that name.
    pub(crate) fn draw(name: &str) -> Result<Identity, StartError> {
        let world = format!("{name}-{:08x}", random_u64()? as u32);
        Ok(Identity { world, key: [random_u64()?, random_u64()?] })
    }
}

/// The stored world or the initial one, and its store.
pub(crate) fn stored(settings: &ServeSettings) -> Result<(Stored, Option<Store>), StartError> {
    let (stored, store) = match settings.store.as_deref() {
        Some(path) => {
            let found = Store::open(&disk(), path, StoreSettings::default())?;
            log(found.notices);
            (found.stored, Some(found.store))
        }
        None => (None, None),
    };
    let stored = stored.unwrap_or_else(|| Stored {
        tick: Tick(0),
        heard: Vec::new(),
        rate: settings.rate,
        objects: settings.start.objects.iter().copied().collect(),
        shapes: settings.start.shapes.clone(),
    });
    if stored.rate != settings.rate {
        let (is, asked) = (stored.rate, settings.rate);
        let what = format!("the stored world has {is} ticks per second, but --tick is {asked}");
        return Err(StartError::Other(what));
    }
    Ok((stored.all_at_home(), store))
}

/// A node of the manifest's operation mode.
pub(crate) fn node(
    manifest: &WorldManifest,
    member: Member,
    (shapes, static_objects): (&Shapes, &[Object]),
    timing: Timing,
    objects: Option<Vec<Object>>,
) -> Machine {
    match manifest.operation {
        OperationMode::Lockstep | OperationMode::Grouped => {
            let node = match objects {
                Some(objects) => Node::founder(member, shapes.clone(), timing, objects),
                None => Node::new(member, shapes.clone(), timing),
            };
            let node = node.with_stopwatch(stopwatch);
            let rule = PingRule::default();
            let node = match manifest.operation {
                OperationMode::Grouped => node.measuring(rule, static_objects.to_vec()),
                // Delays are shown on the page, which should follow changes quickly.
                _ => node.timing_others(PingRule { interval_max: rule.interval_min, ..rule }),
            };
            Machine::Node(Box::new(node))
        }
        OperationMode::FreeRunning { operations } => {
            let tuning = Tuning { timing, operations, ..Tuning::default() };
            let static_objects = Arc::new(static_objects.to_vec());
            let node = FreeRunningNode::new(member, shapes.clone(), static_objects, tuning);
            let node = match objects {
                Some(objects) => node.founding(objects),
                None => node,
            };
            Machine::FreeRunning(Box::new(node))
        }
    }
}

/// The gateway of an edge server, beside a node.
pub(crate) fn gateway(
    manifest: &WorldManifest,
    (id, beside): (GatewayId, NodeId),
    (shapes, static_objects): (&Shapes, &[Object]),
    settings: GatewaySettings,
) -> Machine {
    let gateway = Gateway::new(id, shapes.clone(), timing(manifest.rate), settings);
    Machine::Gateway(Box::new(match manifest.operation {
        OperationMode::Grouped => gateway.beside(beside),
        OperationMode::Lockstep => gateway,
        OperationMode::FreeRunning { .. } => gateway.free_running(static_objects),
    }))
}

/// The role that follows the world for viewers.
pub(crate) fn view_follower(
    manifest: &WorldManifest,
    id: GatewayId,
    (shapes, static_objects): (&Shapes, &[Object]),
    hub: &Arc<ViewHub>,
) -> Machine {
    let view_follower = ViewFollower::new(id, timing(manifest.rate), shapes.clone(), hub.clone());
    Machine::ViewFollower(Box::new(match manifest.operation.is_lockstep() {
        true => view_follower,
        false => view_follower.free_running(static_objects.to_vec()),
    }))
}

fn roles(
    settings: &ServeSettings,
    manifest: &WorldManifest,
    timing: Timing,
    gateway: GatewaySettings,
    begun: &mut ServerStart,
) -> Result<Vec<Machine>, StartError> {
    let forms = (&begun.shapes, &begun.static_objects[..]);
    let objects = begun.objects.take();
    let holds = objects.is_some();
    let first = match node(manifest, begun.node, forms, timing, objects) {
        Machine::Node(first) if holds => {
            Machine::Node(Box::new(first.going_on(begun.tick, begun.heard.clone())))
        }
        first => first,
    };
    let mut roles = vec![first];
    let gate = (follower(begun.follower), begun.node.node);
    roles.push(self::gateway(manifest, gate, forms, gateway));
    let world = (manifest.world.as_str(), &begun.shapes);
    let recorder = |further: u32| follower(begun.follower + further);
    if let Some(store) = begun.store.take() {
        let recorder = Recorder::to_store(recorder(1), world, timing, store);
        roles.push(Machine::Recorder(Box::new(recorder)));
    }
    if let Some(file) = &settings.files.record {
        let recorder = Recorder::to_file(&FileSystem, recorder(2), world, timing, file)?;
        roles.push(Machine::Recorder(Box::new(recorder)));
    }
    Ok(roles)
}
