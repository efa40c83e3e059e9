//! The process that a world begins with: directory, first node, gateway and door.

use crate::charter::{Charter, Operation, PROTOCOL, Place};
use crate::clock::stopwatch;
use crate::door::{DoorLimits, DoorSettings, WebHost};
use crate::files::{FileSystem, disk, log};
use crate::founding;
use crate::keeper::Remembered;
use crate::machine::Machine;
use crate::memory::{Identity, Reception};
use crate::plane::{self, Engine, Guard, PlaneSettings};
use crate::process::{
    Parts, PlaceMaker, Process, StartError, clock, draw, folder, follower, grouping, repair, timing,
};
use crate::secret::Secret;
use crate::view::{Controls, Hub, Showing, Watcher};
use jostle_proto::{
    Block, Class, Form, Gateway, GatewayId, GatewaySettings, Interest, Key, Library, LooseNode,
    Member, Node, NodeId, Object, ObjectId, PingRule, ShapeId, Shapes, Source, Span, Tick, Time,
    Timing, Tuning,
};
use jostle_store::{
    DirectoryError, DirectoryStart, Keeper, Recorder, Serving, Store, StoreSettings, Stored, Twin,
    TwinError, start_directory,
};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A world to begin with.
#[derive(Clone, Debug)]
pub struct Start {
    /// Everything in it.
    pub objects: Vec<Object>,
    /// All forms.
    pub shapes: Shapes,
    /// Where most of it is.
    pub extent: Block,
    /// The form of avatars.
    pub avatar: ShapeId,
    /// Where avatars come in.
    pub places: Block,
    /// What those objects are called that have a name; pages show it.
    pub names: BTreeMap<ObjectId, String>,
}

/// Who may come.
#[derive(Clone, Debug, Default)]
pub struct Guards {
    /// Clients must show it.
    pub token: Option<Secret>,
    /// Nodes must show it.
    pub node_token: Option<Secret>,
    /// A folder with certificates, see [`crate::certificates::make`].
    pub certificates: Option<PathBuf>,
    /// Clients may connect without a token also where other machines reach the listeners.
    pub anyone: bool,
    /// Names under which pages may be used, besides `localhost` and addresses of this machine.
    pub hosts: Vec<WebHost>,
}

impl Guards {
    /// An edge server that they guard.
    pub(crate) fn door(
        &self,
        (quic, web): (Option<SocketAddr>, Option<SocketAddr>),
        limits: DoorLimits,
    ) -> DoorSettings {
        let Guards { token, node_token, certificates, anyone, hosts } = self.clone();
        DoorSettings { quic, web, token, node_token, certificates, anyone, hosts, limits }
    }
}

/// What a process writes.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// A recording.
    pub record: Option<PathBuf>,
    /// Every message, for [`crate::witness::events`].
    pub events: Option<PathBuf>,
}

/// How a world is served.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// The name of the world.
    pub name: String,
    /// What is in it, if nothing is stored.
    pub start: Start,
    /// Ticks per second.
    pub rate: u32,
    /// How nodes work together.
    pub operation: Operation,
    /// How many backups each node has, see [`jostle_proto::View::backups`].
    pub backups: u8,
    /// Where the door is (UDP), and the plane of nodes (TCP).
    pub listen: SocketAddr,
    /// Where pages, metrics and WebSockets are.
    pub web: Option<SocketAddr>,
    /// Who may come.
    pub guards: Guards,
    /// Where the world survives.
    pub store: Option<PathBuf>,
    /// The world begins with what is stored even if nodes live that have a part of it, or if what
    /// the directory remembers is damaged.
    pub restore: bool,
    /// What is written besides.
    pub files: Files,
    /// What carries frames between processes.
    pub engine: Engine,
    /// How the gateway is; key, form and places come from the world.
    pub gateway: GatewaySettings,
    /// How the door is.
    pub door: DoorLimits,
    /// Where the replicas of the directory are, numbered from 1; with none the directory is here.
    pub replicas: Vec<SocketAddr>,
    /// What pages may ask for besides looking; by default nothing.
    pub controls: Controls,
}

impl ServeSettings {
    /// Do the settings go together? Nothing is opened or written for that.
    ///
    /// # Errors
    /// If it would be refused to serve.
    pub fn check(&self) -> Result<(), StartError> {
        let kept = self.store.is_some() || self.files.record.is_some();
        if kept && !self.operation.has_ticks() {
            return Err(unkept());
        }
        // Before anything is written.
        plane::check(&self.plane("world".to_owned()))?;
        self.door().check()?;
        founding::check(&self.replicas)
    }

    fn plane(&self, world: String) -> PlaneSettings {
        let Guards { node_token, certificates, .. } = self.guards.clone();
        let replicas = self.replicas.iter();
        PlaneSettings {
            world,
            listen: plane_address(self.listen, &self.engine),
            join: replicas.map(|it| founding::plane(*it, &self.engine)).collect(),
            guard: Guard { token: node_token, certificates },
            engine: self.engine.clone(),
        }
    }

    fn door(&self) -> DoorSettings {
        self.guards.door((Some(self.listen), self.web), self.door)
    }
}

/// What has no ticks cannot be kept.
pub(crate) fn unkept() -> StartError {
    let why = "a world without common ticks (--unsync) cannot be stored or recorded";
    StartError::Other(why.into())
}

/// A world that is about to begin.
pub(crate) struct Beginning {
    pub(crate) identity: Identity,
    /// The directory, and who gives numbers, if both are here.
    pub(crate) directory: Option<(Keeper, Reception)>,
    pub(crate) node: Member,
    /// The first of its followers' numbers.
    pub(crate) follower: u32,
    /// What the node begins with; nothing if others have the world.
    pub(crate) objects: Option<Vec<Object>>,
    pub(crate) tick: Tick,
    pub(crate) heard: Vec<(Source, u64)>,
    pub(crate) scenery: Vec<Object>,
    pub(crate) shapes: Shapes,
    pub(crate) store: Option<Store>,
    pub(crate) newest: Option<Time>,
    /// What the world is already, if replicas of a directory have it.
    pub(crate) charter: Option<Charter>,
    /// What says that the world has begun, when the first replica begins.
    pub(crate) mark: Option<(Twin, Identity)>,
}

/// Followers of this process: the gateway, the journal, a recording, those who watch.
pub(crate) const FOLLOWERS: u32 = 4;

impl Process {
    /// Begins a world, or goes on with the one that is stored.
    ///
    /// # Errors
    /// If something cannot be opened, or what is stored cannot be read.
    pub fn serve(settings: ServeSettings) -> Result<Process, StartError> {
        settings.check()?;
        let mut begun = match settings.replicas.is_empty() {
            true => begin(&settings)?,
            false => founding::begin(&settings)?,
        };
        let Identity { world, key } = begun.identity.clone();
        let shapes = begun.shapes.clone();
        let mut contents = Library::of(&shapes, Span(0));
        let scenery = postcard::to_allocvec(&begun.scenery).map_err(|error| {
            StartError::Other(format!("cannot encode the immovable objects: {error}"))
        })?;
        let scenery = contents.put(scenery);
        let charter = charter(&settings, &begun, contents.forms());
        let timing = timing(charter.rate);
        let gateway = GatewaySettings {
            key: Key(key),
            shape: charter.avatar,
            places: charter.places,
            limits: charter.limits,
            ..settings.gateway
        };
        let replicas = match settings.replicas.is_empty() {
            true => None,
            false => {
                let (is_new, parts) = (begun.charter.is_none(), (scenery, key));
                let offer = founding::offer(&settings, &charter, is_new, parts, &mut contents)?;
                Some(offer.marking(begun.mark.take()))
            }
        };
        let place =
            move |node, follower, plane| Place { node, life: 1, follower, plane, scenery, key };
        let clock = clock(begun.newest);
        let mut machines = roles(&settings, &charter, timing, gateway, &mut begun)?;
        let reception = begun.directory.map(|(directory, reception)| {
            machines.push(Machine::Directory(Box::new(Remembered::new(directory))));
            (reception, Box::new(place) as PlaceMaker)
        });
        let showing = Showing {
            reach: reach(&gateway),
            names: settings.start.names.clone(),
            controls: settings.controls.clone(),
            ..Showing::default()
        };
        let view = settings.web.map(|_| Hub::open(&charter, &shapes, showing));
        if let Some((hub, _)) = &view {
            let id = follower(begun.follower + 3);
            machines.push(watcher(&charter, id, (&shapes, &begun.scenery), hub));
        }
        Process::start(Parts {
            machines,
            clock,
            charter,
            shapes,
            contents,
            plane: settings.plane(world),
            door: Some(settings.door()),
            events: settings.files.events,
            reception,
            replicas,
            view,
        })
    }
}

/// What kind of world it is: as it was founded, or as it is to be.
fn charter(settings: &ServeSettings, begun: &Beginning, forms: &[Form]) -> Charter {
    let gate = begun.follower;
    if let Some(charter) = &begun.charter {
        return Charter { gate, ..charter.clone() };
    }
    Charter {
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

/// How far clients see, in metres; none if everything.
pub(crate) fn reach(gateway: &GatewaySettings) -> Option<f64> {
    match gateway.interest {
        Interest::Auras { reach } => Some(reach),
        // At least the neighbouring cubes.
        Interest::Regions { size } => Some(size),
        Interest::Everyone => None,
    }
}

/// Where the plane listens. Our own engine cannot share the port with the door, which is QUIC too.
pub(crate) fn plane_address(listen: SocketAddr, engine: &Engine) -> Vec<SocketAddr> {
    match engine {
        Engine::Zenoh => vec![listen],
        Engine::Quic => vec![SocketAddr::new(listen.ip(), 0)],
        Engine::Local(_) => Vec::new(),
    }
}

fn begin(settings: &ServeSettings) -> Result<Beginning, StartError> {
    let (mut reception, stored, store) = open_store(settings)?;
    let before = reception.own();
    let (number, follower) = reception.number_own(FOLLOWERS)?;
    let node = Member { node: NodeId(number), life: 1 };
    let Stored { tick, heard, objects, shapes, .. } = stored;
    let objects: Vec<Object> = objects.values().copied().collect();
    let (directory, newest) = directory(settings, before, (node, tick, objects.len()))?;
    Ok(Beginning {
        identity: reception.identity().clone(),
        directory: Some((directory, reception)),
        node,
        follower,
        scenery: scenery_of(&objects),
        objects: Some(objects),
        tick,
        heard,
        shapes,
        store,
        newest,
        charter: None,
        mark: None,
    })
}

/// What is in the store, or the beginning of a world.
fn open_store(settings: &ServeSettings) -> Result<(Reception, Stored, Option<Store>), StartError> {
    if let Some(path) = &settings.store {
        folder(path)?;
        repair(path)?;
    }
    let identity = Identity::draw(&settings.name)?;
    let reception = match Reception::open(settings.store.as_deref(), || identity.clone()) {
        Err(error) => {
            let what = "then the world has another name, and clients get new avatars";
            let error = refuse(settings, error, what)?;
            let path = settings.store.as_deref().unwrap_or(Path::new("."));
            tracing::error!("{error}: {what}");
            Reception::anew(path, identity)
        }
        Ok(reception) => reception,
    };
    let (stored, store) = stored(settings)?;
    Ok((reception, stored, store))
}

/// Damage that only `--restore` takes; the file system's errors never.
fn refuse(
    settings: &ServeSettings,
    error: TwinError,
    what: &'static str,
) -> Result<TwinError, StartError> {
    let is_damage = !matches!(error, TwinError::File(_));
    if is_damage && settings.restore { Ok(error) } else { Err(StartError::Twin(error, what)) }
}

/// The directory as it was, or a new one; and the newest time that it remembers. `before` is the
/// node that the serving process had before, which died with it.
fn directory(
    settings: &ServeSettings,
    before: Option<u32>,
    (node, tick, objects): (Member, Tick, usize),
) -> Result<(Keeper, Option<Time>), StartError> {
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
        return Ok((Keeper::new(start.fresh(node)), None));
    };
    let serving = Serving { before: before.map(NodeId), node, tick, objects };
    let now = clock(None).now();
    let started =
        start_directory(&disk(), &path, &start, serving, now).map_err(|error| match error {
            DirectoryError::Twin(error, what) => StartError::Twin(error, what),
            DirectoryError::Record(error) => StartError::Record(error),
        })?;
    log(started.notices);
    Ok((started.keeper, started.newest))
}

/// What never moves.
pub(crate) fn scenery_of(objects: &[Object]) -> Vec<Object> {
    objects.iter().filter(|object| object.class == Class::Immovable).copied().collect()
}

impl Identity {
    /// Of a new world of that name.
    pub(crate) fn draw(name: &str) -> Result<Identity, StartError> {
        let world = format!("{name}-{:08x}", draw()? as u32);
        Ok(Identity { world, key: [draw()?, draw()?] })
    }
}

/// The world as it is stored, or as it begins; and where it will be stored.
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

/// A node of either kind.
pub(crate) fn node(
    charter: &Charter,
    member: Member,
    (shapes, scenery): (&Shapes, &[Object]),
    timing: Timing,
    objects: Option<Vec<Object>>,
) -> Machine {
    match charter.operation {
        Operation::Synchronised | Operation::Grouped => {
            let node = match objects {
                Some(objects) => Node::founder(member, shapes.clone(), timing, objects),
                None => Node::new(member, shapes.clone(), timing),
            };
            let node = node.with_stopwatch(stopwatch);
            let rule = PingRule::default();
            let node = match charter.operation {
                Operation::Grouped => node.measuring(rule, scenery.to_vec()),
                // Shown to those who watch, who want to see soon what has changed.
                _ => node.timing_others(PingRule { interval_max: rule.interval_min, ..rule }),
            };
            Machine::Node(Box::new(node))
        }
        Operation::Unsynchronised { operations } => {
            let tuning = Tuning { timing, operations, ..Tuning::default() };
            let scenery = Arc::new(scenery.to_vec());
            let node = LooseNode::new(member, shapes.clone(), scenery, tuning);
            let node = match objects {
                Some(objects) => node.founding(objects),
                None => node,
            };
            Machine::Loose(Box::new(node))
        }
    }
}

/// The gateway of a door, beside a node.
pub(crate) fn gateway(
    charter: &Charter,
    (id, beside): (GatewayId, NodeId),
    (shapes, scenery): (&Shapes, &[Object]),
    settings: GatewaySettings,
) -> Machine {
    let gateway = Gateway::new(id, shapes.clone(), timing(charter.rate), settings);
    Machine::Gateway(Box::new(match charter.operation {
        Operation::Grouped => gateway.beside(beside),
        Operation::Synchronised => gateway,
        Operation::Unsynchronised { .. } => gateway.unsynchronised(scenery),
    }))
}

/// Whoever shows the world to those who watch.
pub(crate) fn watcher(
    charter: &Charter,
    id: GatewayId,
    (shapes, scenery): (&Shapes, &[Object]),
    hub: &Arc<Hub>,
) -> Machine {
    let watcher = Watcher::new(id, timing(charter.rate), shapes.clone(), hub.clone());
    Machine::Watcher(Box::new(match charter.operation.has_ticks() {
        true => watcher,
        false => watcher.unsynchronised(scenery.to_vec()),
    }))
}

fn roles(
    settings: &ServeSettings,
    charter: &Charter,
    timing: Timing,
    gateway: GatewaySettings,
    begun: &mut Beginning,
) -> Result<Vec<Machine>, StartError> {
    let forms = (&begun.shapes, &begun.scenery[..]);
    let objects = begun.objects.take();
    let holds = objects.is_some();
    let first = match node(charter, begun.node, forms, timing, objects) {
        Machine::Node(first) if holds => {
            Machine::Node(Box::new(first.going_on(begun.tick, begun.heard.clone())))
        }
        first => first,
    };
    let mut roles = vec![first];
    let gate = (follower(begun.follower), begun.node.node);
    roles.push(self::gateway(charter, gate, forms, gateway));
    let world = (charter.world.as_str(), &begun.shapes);
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
