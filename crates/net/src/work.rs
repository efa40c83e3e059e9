//! A process that adds a machine to a world: a node, and a door of its own if wanted.

use crate::charter::{Charter, Place};
use crate::client::{Trust, ask_for_work};
use crate::door::{DoorLimits, DoorSettings};
use crate::files::FileSystem;
use crate::machine::Machine;
use crate::plane::{Engine, Guard, PlaneSettings};
use crate::process::{Parts, Process, StartError, clock, draw, follower, timing};
use crate::serve::{Files, Guards, gateway, node, plane_address, reach, unkept, watcher};
use crate::view::{Hub, Showing};
use jostle_proto::{GatewaySettings, Key, Library, Member, NodeId, Object, Shapes, Span};
use jostle_store::Recorder;
use std::net::{IpAddr, SocketAddr};

/// How a machine joins a world.
#[derive(Clone, Debug)]
pub struct NodeSettings {
    /// The door of the process that has the directory.
    pub join: SocketAddr,
    /// How that door is known to be the right one.
    pub trust: Trust,
    /// Where the plane listens.
    pub listen: SocketAddr,
    /// A door of its own: for QUIC, and for pages and WebSockets.
    pub door: Option<(SocketAddr, Option<SocketAddr>)>,
    /// What it shows, and what others must show at its door.
    pub guards: Guards,
    /// What is written.
    pub files: Files,
    /// What carries frames between processes.
    pub engine: Engine,
    /// How the gateway of its door is, and where avatars come in.
    pub gateway: GatewaySettings,
    /// How its door is.
    pub limits: DoorLimits,
}

/// Followers of such a process: a gateway, a recording, those who watch.
const FOLLOWERS: u32 = 3;

impl NodeSettings {
    fn door(&self) -> Option<DoorSettings> {
        self.door.map(|(quic, web)| self.guards.door((Some(quic), web), self.limits))
    }
}

impl Process {
    /// Joins a world.
    ///
    /// # Errors
    /// If nobody is there, or it is not let in.
    pub fn work(settings: NodeSettings) -> Result<Process, StartError> {
        if let Some(door) = settings.door() {
            // Before a number is given.
            door.check()?;
        }
        let name = draw()?;
        let token = settings.guards.node_token.as_ref();
        let (charter, place, contents) =
            ask_for_work(settings.join, token, &settings.trust, name, FOLLOWERS)?;
        let charter = Charter { gate: place.follower, ..charter };
        let shapes = contents.shapes().map_err(|error| StartError::Other(error.to_string()))?;
        let shapes = shapes.ok_or_else(lacks)?;
        let scenery = scenery(&contents, &place)?;
        let mut machines = roles(&settings, &charter, &place, (&shapes, &scenery))?;
        let guards = &settings.guards;
        let (token, certificates) = (guards.node_token.clone(), guards.certificates.clone());
        let plane = PlaneSettings {
            world: charter.world.clone(),
            listen: plane_address(settings.listen, &settings.engine),
            join: place.plane.iter().map(|it| reachable(*it, settings.join.ip())).collect(),
            guard: Guard { token, certificates },
            engine: settings.engine.clone(),
        };
        let door = settings.door();
        let watched = door.as_ref().is_some_and(|door| door.web.is_some());
        let showing = Showing { reach: reach(&settings.gateway), ..Showing::default() };
        let view = watched.then(|| Hub::open(&charter, &shapes, showing));
        if let Some((hub, _)) = &view {
            let id = follower(place.follower + 2);
            machines.push(watcher(&charter, id, (&shapes, &scenery), hub));
        }
        tracing::info!("admitted to {} as node {}", charter.world, place.node);
        Process::start(Parts {
            machines,
            clock: clock(None),
            charter,
            shapes,
            contents,
            plane,
            door,
            events: settings.files.events,
            reception: None,
            replicas: None,
            view,
        })
    }
}

impl Process {
    /// One more node of the same world, in a process of its own within this program.
    pub(crate) fn one_more_node(&self, engine: Engine) -> Result<(NodeId, Process), StartError> {
        let known = self.known();
        let place = (known.admit)(draw()?, 0).map_err(StartError::Other)?;
        let scenery = scenery(&known.contents, &place)?;
        let member = Member { node: NodeId(place.node), life: place.life };
        let forms = (&known.shapes, &scenery[..]);
        let node = node(&known.charter, member, forms, timing(known.charter.rate), None);
        Ok((member.node, self.beside(vec![node], engine)?))
    }

    /// Roles of the same world, in a process of their own within this program, without a door.
    pub(crate) fn beside(
        &self,
        machines: Vec<Machine>,
        engine: Engine,
    ) -> Result<Process, StartError> {
        let known = self.known();
        let plane = PlaneSettings {
            world: known.charter.world.clone(),
            listen: Vec::new(),
            join: Vec::new(),
            guard: Guard::default(),
            engine,
        };
        Process::start(Parts {
            machines,
            clock: clock(None),
            charter: known.charter.clone(),
            shapes: known.shapes.clone(),
            contents: Library::new(Span(0)),
            plane,
            door: None,
            events: None,
            reception: None,
            replicas: None,
            view: None,
        })
    }
}

pub(crate) fn lacks() -> StartError {
    StartError::Other("cannot fetch a shape of the world".into())
}

/// The immovable objects.
pub(crate) fn scenery(contents: &Library, place: &Place) -> Result<Vec<Object>, StartError> {
    let bytes = contents.get(place.scenery).ok_or_else(lacks)?;
    postcard::from_bytes(bytes)
        .map_err(|error| StartError::Other(format!("cannot read the immovable objects: {error}")))
}

/// A process that listens everywhere is where its door is.
pub(crate) fn reachable(address: SocketAddr, door: IpAddr) -> SocketAddr {
    let ip = if address.ip().is_unspecified() { door } else { address.ip() };
    SocketAddr::new(ip, address.port())
}

fn roles(
    settings: &NodeSettings,
    charter: &Charter,
    place: &Place,
    forms: (&Shapes, &[Object]),
) -> Result<Vec<Machine>, StartError> {
    let timing = timing(charter.rate);
    let member = Member { node: NodeId(place.node), life: place.life };
    let mut roles = vec![node(charter, member, forms, timing, None)];
    if settings.door.is_some() {
        let gateway = GatewaySettings {
            key: Key(place.key),
            shape: charter.avatar,
            limits: charter.limits,
            places: charter.places,
            ..settings.gateway
        };
        let gate = (follower(place.follower), member.node);
        roles.push(self::gateway(charter, gate, forms, gateway));
    }
    if let Some(file) = &settings.files.record {
        if !charter.operation.has_ticks() {
            return Err(unkept());
        }
        let id = follower(place.follower + 1);
        let world = (charter.world.as_str(), forms.0);
        let recorder = Recorder::to_file(&FileSystem, id, world, timing, file)?;
        roles.push(Machine::Recorder(Box::new(recorder)));
    }
    Ok(roles)
}
