//! A whole shared world within one program: directory, several nodes that can be killed and added,
//! a simulated network between them, bodies and bots.
//!
//! Everything works as elsewhere, except that frames between processes pass through a [`Switch`] in
//! memory, and that bots are clients without a socket.

mod bots;
mod spawner;

pub(crate) use spawner::BodySpawner;

use crate::machine::Machine;
use crate::manifest::OperationMode;
use crate::name;
use crate::process::{Process, StartError, timing};
use crate::serve::{AccessControl, InitialWorld, ServeSettings};
use crate::transport::{Engine, NetworkConditions, Switch};
use crate::view::{Control, Controls};
use bots::Bots;
use jostle_proto::{Address, Class, GatewaySettings, Interest, NodeId};
use serde::Serialize;
use spawner::SpawnStatus;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

/// Nodes, at most: they share one machine.
pub const NODES_MAX: usize = 8;

/// Bodies, at most.
pub const BODIES_MAX: u64 = 10_000;

/// Bots, at most.
pub const BOTS_MAX: u32 = 1000;

/// Largest delay of frames in milliseconds. With more delay or loss, nodes would declare each other
/// dead again and again.
pub const DELAY_MS_MAX: f64 = 300.0;
/// Largest loss of frames; see [`DELAY_MS_MAX`].
pub const LOSS_MAX: f64 = 0.3;

/// Jitter as a fraction of the delay.
const JITTER: f64 = 0.1;

/// Interest radius of clients, in metres: enough to avoid each other.
const REACH: f64 = 12.0;

/// State updates for a client that sends nothing in between, at most. People send something every
/// other tick and miss none; bots send once a second, and fewer updates are enough for them. (200
/// clients over QUIC that receive all updates take 1.8 cores, half of that at the gateway and the
/// edge server.)
const UNHEARD: u32 = 3;

/// Settings of a demo.
#[derive(Clone, Debug)]
pub struct DemoSettings {
    /// The world. Bots enter where it says, and then move all over it.
    pub start: InitialWorld,
    /// Ticks per second.
    pub rate: u32,
    /// Nodes at the start.
    pub nodes: usize,
    /// Number of bots.
    pub bots: u32,
    /// Seed of bots and of packet loss.
    pub seed: u64,
    /// Listen address for clients.
    pub listen: SocketAddr,
    /// Listen address of the page.
    pub web: Option<SocketAddr>,
    /// Access control.
    pub guards: AccessControl,
}

/// The current settings, for the page: `docs/view-protocol.md`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename = "demo")]
pub struct DemoState {
    /// Nodes that have not been killed.
    pub nodes: Vec<u32>,
    /// The simulated network between them.
    pub network: NetworkState,
    /// Target number of bodies.
    pub bodies: u64,
    /// Number of bots.
    pub bots: u32,
}

/// The simulated network between processes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NetworkState {
    /// Delay in milliseconds.
    pub delay_ms: f64,
    /// Loss rate, from 0 to 1.
    pub loss: f64,
}

/// Figures of a running demo.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DemoFigures {
    /// The last tick.
    pub tick: u64,
    /// Duration of a tick relative to its nominal duration; 1 at full speed.
    pub dilation: f64,
    /// All objects in the world.
    pub objects: u64,
    /// Of those, moving bodies.
    pub bodies: u64,
    /// Bots that are in the world.
    pub bots: u64,
    /// Touching pairs.
    pub touching: u64,
}

/// Why a request is rejected.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum DemoError {
    /// There is no such node.
    #[error("there is no node {0}")]
    NoNode(u32),
    /// The world would end with its last node.
    #[error("node {0} is the last one: the world would end with it")]
    LastNode(u32),
    /// Other nodes could not take over yet.
    #[error("the nodes are still sharing out the world; try again in a moment")]
    Unstable,
    /// The limit of nodes is reached.
    #[error("a demo has at most {NODES_MAX} nodes")]
    TooManyNodes,
    /// More bodies than allowed.
    #[error("{0} bodies; expected 0 to {BODIES_MAX}")]
    TooManyBodies(u64),
    /// Delay out of range.
    #[error("a delay of {0} ms; expected 0 to {DELAY_MS_MAX}")]
    Delay(f64),
    /// Loss out of range.
    #[error("a loss of {0}; expected 0 to {LOSS_MAX}, as a part of one")]
    Loss(f64),
    /// The node could not be started.
    #[error("the node could not be started: {0}")]
    Start(String),
}

/// A demo that runs until it is dropped. All methods may be called from any thread.
pub struct Demo {
    // Dropped in this order: users before what they use.
    bot_clients: Bots,
    nodes: Mutex<BTreeMap<u32, NodeHost>>,
    _spawner: Process,
    world: Process,
    switch: Switch,
    status: Arc<SpawnStatus>,
    bots: u32,
}

/// Which process runs a node.
enum NodeHost {
    /// The process with directory and edge server.
    Server,
    /// A process of its own.
    Own(Box<Process>),
}

impl Demo {
    /// Starts the demo.
    ///
    /// # Errors
    /// If the edge server cannot start, or a number is out of range.
    pub fn start(settings: DemoSettings) -> Result<Arc<Demo>, StartError> {
        let DemoSettings { start, rate, nodes, bots, seed, listen, web, guards } = settings;
        let moving = start.objects.iter().filter(|object| object.class == Class::Dynamic);
        let bodies = moving.count() as u64;
        check(nodes, bodies, bots).map_err(StartError::Other)?;
        let switch = Switch::new(seed)?;
        let status = Arc::new(SpawnStatus::default());
        status.want(bodies);
        let spawner = BodySpawner::new(
            status.clone(),
            (&start.objects, &start.shapes),
            start.extent,
            timing(rate),
            seed.wrapping_add(1),
        );
        let area = start.extent;
        let later: Arc<OnceLock<Weak<Demo>>> = Arc::default();
        let settings = serve_settings(start, rate, bots, (listen, web), &switch);
        let controls = controls(later.clone());
        let world = Process::serve(ServeSettings { guards, controls, ..settings })?;
        let spawner =
            world.spawn_roles(vec![Machine::BodySpawner(Box::new(spawner))], local(&switch))?;
        let first = world.nodes().first().map_or(0, |node| node.0);
        let bot_clients = Bots::start(&world, bots, area, seed.wrapping_add(2))?;
        let nodes_now = Mutex::new([(first, NodeHost::Server)].into_iter().collect());
        let demo =
            Demo { bot_clients, nodes: nodes_now, _spawner: spawner, world, switch, status, bots };
        for _ in 1..nodes {
            demo.add().map_err(|error| StartError::Other(error.to_string()))?;
        }
        let demo = Arc::new(demo);
        let _first = later.set(Arc::downgrade(&demo));
        demo.publish_state();
        Ok(demo)
    }

    /// Executes a request of a page.
    fn control(&self, control: Control) -> Result<(), DemoError> {
        match control {
            Control::Kill(node) => self.kill(node),
            Control::Add => self.add().map(|_| ()),
            Control::Network { delay_ms, loss } => self.network(delay_ms, loss),
            Control::Bodies(count) => self.bodies(count),
            // Controls of scenes and recordings are not offered by a demo.
            Control::Key(_)
            | Control::Play
            | Control::Pause
            | Control::Speed(_)
            | Control::Seek(_)
            | Control::Step(_)
            | Control::Collision(_) => Ok(()),
        }
    }

    /// Sends the current settings to viewers.
    fn publish_state(&self) {
        self.world.set_view_state(self.state().text());
    }

    /// The process with directory and edge server.
    #[must_use]
    pub fn world(&self) -> &Process {
        &self.world
    }

    /// Kills a node without a goodbye. The others notice, and take over its objects.
    ///
    /// # Errors
    /// If there is no such node, it is the last one, or the view is not stable yet: the
    /// others could not take over.
    pub fn kill(&self, node: u32) -> Result<(), DemoError> {
        let mut nodes = self.nodes();
        if !nodes.contains_key(&node) {
            return Err(DemoError::NoNode(node));
        }
        if nodes.len() == 1 {
            return Err(DemoError::LastNode(node));
        }
        if !self.all_stable(&nodes) {
            return Err(DemoError::Unstable);
        }
        let role = Address::Node(NodeId(node));
        match nodes.remove(&node) {
            Some(NodeHost::Own(process)) => {
                let _was_there = self.switch.cut(&name::of(role).unwrap_or_default());
                drop(process);
            }
            Some(NodeHost::Server) => {
                self.world.end_role(role);
            }
            None => {}
        }
        drop(nodes);
        tracing::info!("node {node} killed from the page");
        self.publish_state();
        Ok(())
    }

    /// Adds a node, which takes over a part of the world.
    ///
    /// # Errors
    /// If there are too many.
    pub fn add(&self) -> Result<u32, DemoError> {
        let mut nodes = self.nodes();
        if nodes.len() >= NODES_MAX {
            return Err(DemoError::TooManyNodes);
        }
        let added = self.world.add_node(local(&self.switch));
        let (node, process) = added.map_err(|error| DemoError::Start(error.to_string()))?;
        nodes.insert(node.0, NodeHost::Own(Box::new(process)));
        drop(nodes);
        self.publish_state();
        Ok(node.0)
    }

    /// Sets the simulated network between processes.
    ///
    /// # Errors
    /// See [`DELAY_MS_MAX`] and [`LOSS_MAX`].
    pub fn network(&self, delay_ms: f64, loss: f64) -> Result<(), DemoError> {
        if !(0.0..=DELAY_MS_MAX).contains(&delay_ms) {
            return Err(DemoError::Delay(delay_ms));
        }
        if !(0.0..=LOSS_MAX).contains(&loss) {
            return Err(DemoError::Loss(loss));
        }
        let delay = Duration::from_secs_f64(delay_ms / 1000.0);
        self.switch.set(NetworkConditions { delay, jitter: delay.mul_f64(JITTER), loss });
        self.publish_state();
        Ok(())
    }

    /// Sets the target number of bodies, which is reached within a few seconds.
    ///
    /// # Errors
    /// If it is more than [`BODIES_MAX`].
    pub fn bodies(&self, count: u64) -> Result<(), DemoError> {
        if count > BODIES_MAX {
            return Err(DemoError::TooManyBodies(count));
        }
        self.status.want(count);
        self.publish_state();
        Ok(())
    }

    /// The current settings.
    #[must_use]
    pub fn state(&self) -> DemoState {
        let conditions = self.switch.conditions();
        let network = NetworkState {
            delay_ms: conditions.delay.as_secs_f64() * 1000.0,
            loss: conditions.loss,
        };
        DemoState {
            nodes: self.nodes().keys().copied().collect(),
            network,
            bodies: self.status.wanted(),
            bots: self.bots,
        }
    }

    /// The current figures.
    #[must_use]
    pub fn figures(&self) -> DemoFigures {
        self.status.figures(self.bot_clients.active())
    }

    /// Returns true if the view is stable: every node has its part, and backups have copies.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.all_stable(&self.nodes())
    }

    fn all_stable(&self, nodes: &BTreeMap<u32, NodeHost>) -> bool {
        let members = self.world.stable_nodes();
        members.is_some_and(|members| members.iter().map(|node| &node.0).eq(nodes.keys()))
    }

    /// A poisoned lock is used: every update under it is complete at each step.
    fn nodes(&self) -> MutexGuard<'_, BTreeMap<u32, NodeHost>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DemoState {
    /// As JSON for the page.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Controls for pages; they work once the demo runs.
fn controls(later: Arc<OnceLock<Weak<Demo>>>) -> Controls {
    Controls::new(&["kill", "add", "network", "bodies"], move |control| {
        let demo = later.get().and_then(Weak::upgrade);
        let demo = demo.ok_or("the demonstration is just beginning, or ending")?;
        demo.control(control).map_err(|error| error.to_string())
    })
}

fn local(switch: &Switch) -> Engine {
    Engine::Local(switch.clone())
}

fn check(nodes: usize, bodies: u64, bots: u32) -> Result<(), String> {
    if !(1..=NODES_MAX).contains(&nodes) {
        return Err(format!("{nodes} nodes; expected 1 to {NODES_MAX}"));
    }
    if bodies > BODIES_MAX {
        return Err(DemoError::TooManyBodies(bodies).to_string());
    }
    if bots > BOTS_MAX {
        return Err(format!("{bots} bots; expected 0 to {BOTS_MAX}"));
    }
    Ok(())
}

fn serve_settings(
    start: InitialWorld,
    rate: u32,
    bots: u32,
    (listen, web): (SocketAddr, Option<SocketAddr>),
    switch: &Switch,
) -> ServeSettings {
    let usual = GatewaySettings::default();
    let gateway = GatewaySettings {
        interest: Interest::Auras { reach: REACH },
        unheard: UNHEARD,
        sessions: usual.sessions + bots as usize,
        ..usual
    };
    ServeSettings {
        rate,
        listen,
        web,
        engine: local(switch),
        gateway,
        // Delays are set by hand here, so distant nodes are not excluded.
        operation: OperationMode::Lockstep,
        ..ServeSettings::local("demo", start)
    }
}
