//! A process that adds a machine to a world: a node, optionally with an edge server.

use crate::client::{Trust, join_as_node};
use crate::edge::{EdgeLimits, EdgeSettings};
use crate::files::FileSystem;
use crate::machine::Machine;
use crate::manifest::{NodeAssignment, WorldManifest};
use crate::process::{Process, ProcessParts, StartError, clock, follower, random_u64, timing};
use crate::serve::{
    AccessControl, OutputFiles, gateway, node, not_storable, reach, transport_address,
    view_follower,
};
use crate::transport::{Engine, TransportAuth, TransportSettings};
use crate::view::{ViewHub, ViewSettings};
use jostle_proto::{GatewaySettings, Key, Library, Member, NodeId, Object, Shapes, Span};
use jostle_store::Recorder;
use std::net::{IpAddr, SocketAddr};

/// Settings of a joining node.
#[derive(Clone, Debug)]
pub struct NodeSettings {
    /// The address of the serving process or of a directory replica.
    pub join: SocketAddr,
    /// How that server is verified.
    pub trust: Trust,
    /// Listen address of the transport.
    pub listen: SocketAddr,
    /// Addresses of its own edge server: for QUIC, and for HTTP.
    pub edge: Option<(SocketAddr, Option<SocketAddr>)>,
    /// Its credentials, and those required at its edge server.
    pub guards: AccessControl,
    /// Files to write.
    pub files: OutputFiles,
    /// The transport engine.
    pub engine: Engine,
    /// Settings of the gateway of its edge server.
    pub gateway: GatewaySettings,
    /// Limits of its edge server.
    pub limits: EdgeLimits,
}

/// Followers of such a process: gateway, recording, view.
const FOLLOWERS: u32 = 3;

impl NodeSettings {
    fn edge(&self) -> Option<EdgeSettings> {
        self.edge.map(|(quic, web)| self.guards.edge((Some(quic), web), self.limits))
    }
}

impl Process {
    /// Joins a world.
    ///
    /// # Errors
    /// If no server answers, or it rejects the node.
    pub fn join(settings: NodeSettings) -> Result<Process, StartError> {
        if let Some(edge) = settings.edge() {
            // Checked before a node number is assigned.
            edge.check()?;
        }
        let name = random_u64()?;
        let token = settings.guards.node_token.as_ref();
        let (manifest, place, contents) =
            join_as_node(settings.join, token, &settings.trust, name, FOLLOWERS)?;
        let manifest = WorldManifest { gate: place.follower, ..manifest };
        let shapes = contents.shapes().map_err(|error| StartError::Other(error.to_string()))?;
        let shapes = shapes.ok_or_else(lacks)?;
        let static_objects = static_objects(&contents, &place)?;
        let mut machines = roles(&settings, &manifest, &place, (&shapes, &static_objects))?;
        let guards = &settings.guards;
        let (token, certificates) = (guards.node_token.clone(), guards.certificates.clone());
        let transport = TransportSettings {
            world: manifest.world.clone(),
            listen: transport_address(settings.listen, &settings.engine),
            join: place.transport.iter().map(|it| reachable(*it, settings.join.ip())).collect(),
            guard: TransportAuth { token, certificates },
            engine: settings.engine.clone(),
        };
        let edge = settings.edge();
        let watched = edge.as_ref().is_some_and(|edge| edge.web.is_some());
        let view_settings =
            ViewSettings { reach: reach(&settings.gateway), ..ViewSettings::default() };
        let view = watched.then(|| ViewHub::open(&manifest, &shapes, view_settings));
        if let Some((hub, _)) = &view {
            let id = follower(place.follower + 2);
            machines.push(view_follower(&manifest, id, (&shapes, &static_objects), hub));
        }
        tracing::info!("admitted to {} as node {}", manifest.world, place.node);
        Process::start(ProcessParts {
            machines,
            clock: clock(None),
            manifest,
            shapes,
            contents,
            transport,
            edge,
            events: settings.files.events,
            registry: None,
            replicas: None,
            view,
        })
    }
}

impl Process {
    /// Adds a node of the same world, as a process of its own within this program.
    pub(crate) fn add_node(&self, engine: Engine) -> Result<(NodeId, Process), StartError> {
        let known = self.known();
        let place = (known.admit)(random_u64()?, 0).map_err(StartError::Other)?;
        let static_objects = static_objects(&known.contents, &place)?;
        let member = Member { node: NodeId(place.node), life: place.life };
        let forms = (&known.shapes, &static_objects[..]);
        let node = node(&known.manifest, member, forms, timing(known.manifest.rate), None);
        Ok((member.node, self.spawn_roles(vec![node], engine)?))
    }

    /// Runs roles of the same world as a process of their own within this program, without an edge
    /// server.
    pub(crate) fn spawn_roles(
        &self,
        machines: Vec<Machine>,
        engine: Engine,
    ) -> Result<Process, StartError> {
        let known = self.known();
        let transport = TransportSettings {
            world: known.manifest.world.clone(),
            listen: Vec::new(),
            join: Vec::new(),
            guard: TransportAuth::default(),
            engine,
        };
        Process::start(ProcessParts {
            machines,
            clock: clock(None),
            manifest: known.manifest.clone(),
            shapes: known.shapes.clone(),
            contents: Library::new(Span(0)),
            transport,
            edge: None,
            events: None,
            registry: None,
            replicas: None,
            view: None,
        })
    }
}

pub(crate) fn lacks() -> StartError {
    StartError::Other("cannot fetch a shape of the world".into())
}

/// The immovable objects.
pub(crate) fn static_objects(
    contents: &Library,
    place: &NodeAssignment,
) -> Result<Vec<Object>, StartError> {
    let bytes = contents.get(place.static_objects).ok_or_else(lacks)?;
    postcard::from_bytes(bytes)
        .map_err(|error| StartError::Other(format!("cannot read the immovable objects: {error}")))
}

/// A process that listens on all addresses is reached at that of its edge server.
pub(crate) fn reachable(address: SocketAddr, edge: IpAddr) -> SocketAddr {
    let ip = if address.ip().is_unspecified() { edge } else { address.ip() };
    SocketAddr::new(ip, address.port())
}

fn roles(
    settings: &NodeSettings,
    manifest: &WorldManifest,
    place: &NodeAssignment,
    forms: (&Shapes, &[Object]),
) -> Result<Vec<Machine>, StartError> {
    let timing = timing(manifest.rate);
    let member = Member { node: NodeId(place.node), life: place.life };
    let mut roles = vec![node(manifest, member, forms, timing, None)];
    if settings.edge.is_some() {
        let gateway = GatewaySettings {
            key: Key(place.key),
            shape: manifest.avatar,
            limits: manifest.limits,
            places: manifest.places,
            ..settings.gateway
        };
        let gate = (follower(place.follower), member.node);
        roles.push(self::gateway(manifest, gate, forms, gateway));
    }
    if let Some(file) = &settings.files.record {
        if !manifest.operation.is_lockstep() {
            return Err(not_storable());
        }
        let id = follower(place.follower + 1);
        let world = (manifest.world.as_str(), forms.0);
        let recorder = Recorder::to_file(&FileSystem, id, world, timing, file)?;
        roles.push(Machine::Recorder(Box::new(recorder)));
    }
    Ok(roles)
}
