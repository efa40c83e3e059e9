//! A whole shared world within one program, to be shown: directory, several nodes that can be
//! killed and added, a network between them that can be made bad, bodies and people who walk about.
//!
//! Everything is as it is elsewhere, only that frames between processes go through a [`Switch`] in
//! memory, and that bots are clients without a socket.

mod stock;
mod walkers;

pub(crate) use stock::Stock;

use crate::charter::Operation;
use crate::door::DoorLimits;
use crate::machine::Machine;
use crate::name;
use crate::plane::{Engine, Switch, Weather};
use crate::process::{Process, StartError, timing};
use crate::serve::{Files, Guards, ServeSettings, Start};
use crate::view::{Control, Controls};
use jostle_proto::{Address, BACKUPS, Class, GatewaySettings, Interest, NodeId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;
use stock::Shelf;
use walkers::Walkers;

/// Nodes, at most: they share one machine.
pub const NODES_MAX: usize = 8;

/// Bodies, at most.
pub const BODIES_MAX: u64 = 10_000;

/// Bots, at most.
pub const BOTS_MAX: u32 = 1000;

/// How long frames may take, in milliseconds, and how many may be lost. With more, nodes would take
/// each other for dead again and again.
pub const DELAY_MS_MAX: f64 = 300.0;
/// See [`DELAY_MS_MAX`].
pub const LOSS_MAX: f64 = 0.3;

/// Frames take up to this part of the delay longer or shorter.
const JITTER: f64 = 0.1;

/// How far people see, in metres: as far as they need to keep out of each other's way.
const REACH: f64 = 12.0;

/// Glimpses for who says nothing in between: people say something in every other tick and miss
/// none, bots speak once a second and are not told what they would not look at. (200 clients over
/// QUIC that are told all they can be take 1.8 cores, half of that at the gateway and the door.)
const UNHEARD: u32 = 3;

/// What is shown.
#[derive(Clone, Debug)]
pub struct DemoSettings {
    /// The world. Bots come in where it says, and then walk all over it.
    pub start: Start,
    /// Ticks per second.
    pub rate: u32,
    /// How many nodes there are at first.
    pub nodes: usize,
    /// How many walk about.
    pub bots: u32,
    /// Decides where they go, and what gets lost.
    pub seed: u64,
    /// Where clients come in.
    pub listen: SocketAddr,
    /// Where the page is.
    pub web: Option<SocketAddr>,
    /// Who may come.
    pub guards: Guards,
}

/// How it is set, for the page: `docs/view-protocol.md`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename = "demo")]
pub struct DemoState {
    /// The nodes that have not been killed.
    pub nodes: Vec<u32>,
    /// Between them.
    pub network: NetworkState,
    /// How many are wanted.
    pub bodies: u64,
    /// How many walk about.
    pub bots: u32,
}

/// What frames between processes go through.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NetworkState {
    /// How long they take, in milliseconds.
    pub delay_ms: f64,
    /// How many get lost, as a part of one.
    pub loss: f64,
}

/// How it goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DemoFigures {
    /// The last tick that was heard of.
    pub tick: u64,
    /// How much longer ticks take than they should; 1 if they do not.
    pub dilation: f64,
    /// Everything in the world.
    pub objects: u64,
    /// Of those, bodies that move.
    pub bodies: u64,
    /// Bots that are in the world.
    pub bots: u64,
    /// Pairs that touch.
    pub touching: u64,
}

/// Why something is not done.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum DemoError {
    /// Nobody has this number.
    #[error("there is no node {0}")]
    NoNode(u32),
    /// The world would be gone.
    #[error("node {0} is the last one: the world would end with it")]
    LastNode(u32),
    /// Somebody else would have had to take over from this one.
    #[error("the nodes are still sharing out the world; try again in a moment")]
    Unsettled,
    /// There are enough.
    #[error("a demo has at most {NODES_MAX} nodes")]
    TooManyNodes,
    /// There would be too many.
    #[error("{0} bodies; expected 0 to {BODIES_MAX}")]
    TooManyBodies(u64),
    /// Not a network that anybody could work with.
    #[error("a delay of {0} ms; expected 0 to {DELAY_MS_MAX}")]
    Delay(f64),
    /// The same.
    #[error("a loss of {0}; expected 0 to {LOSS_MAX}, as a part of one")]
    Loss(f64),
    /// A node could not begin.
    #[error("the node could not be started: {0}")]
    Start(String),
}

/// A demonstration that runs until it is dropped. Everything may be called from any thread.
pub struct Demo {
    // Dropped in this order: who needs others before those.
    walkers: Walkers,
    nodes: Mutex<BTreeMap<u32, Seat>>,
    _stock: Process,
    world: Process,
    switch: Switch,
    shelf: Arc<Shelf>,
    bots: u32,
}

/// Where a node is.
enum Seat {
    /// In the process that also has directory and door.
    Serving,
    /// In one of its own.
    Own(Box<Process>),
}

impl Demo {
    /// Begins.
    ///
    /// # Errors
    /// If the door cannot be opened, or too much is wanted.
    pub fn start(settings: DemoSettings) -> Result<Arc<Demo>, StartError> {
        let DemoSettings { start, rate, nodes, bots, seed, listen, web, guards } = settings;
        let moving = start.objects.iter().filter(|object| object.class == Class::Dynamic);
        let bodies = moving.count() as u64;
        check(nodes, bodies, bots).map_err(StartError::Other)?;
        let switch = Switch::new(seed)?;
        let shelf = Arc::new(Shelf::default());
        shelf.wanted.store(bodies, Relaxed);
        let stock = Stock::new(
            shelf.clone(),
            (&start.objects, &start.shapes),
            start.extent,
            timing(rate),
            seed.wrapping_add(1),
        );
        let ground = start.extent;
        let later: Arc<OnceLock<Weak<Demo>>> = Arc::default();
        let settings = serve_settings(start, rate, bots, (listen, web), &switch);
        let controls = controls(later.clone());
        let world = Process::serve(ServeSettings { guards, controls, ..settings })?;
        let stock = world.beside(vec![Machine::Stock(Box::new(stock))], local(&switch))?;
        let first = world.nodes().first().map_or(0, |node| node.0);
        let walkers = Walkers::start(&world, bots, ground, seed.wrapping_add(2))?;
        let nodes_now = Mutex::new([(first, Seat::Serving)].into_iter().collect());
        let demo = Demo { walkers, nodes: nodes_now, _stock: stock, world, switch, shelf, bots };
        for _ in 1..nodes {
            demo.add().map_err(|error| StartError::Other(error.to_string()))?;
        }
        let demo = Arc::new(demo);
        let _first = later.set(Arc::downgrade(&demo));
        demo.tell();
        Ok(demo)
    }

    /// What a page asks for.
    fn control(&self, control: Control) -> Result<(), DemoError> {
        match control {
            Control::Kill(node) => self.kill(node),
            Control::Add => self.add().map(|_| ()),
            Control::Network { delay_ms, loss } => self.network(delay_ms, loss),
            Control::Bodies(count) => self.bodies(count),
            // Those of scenes and recordings are not among the words of a demonstration.
            Control::Key(_)
            | Control::Play
            | Control::Pause
            | Control::Speed(_)
            | Control::Seek(_)
            | Control::Step(_)
            | Control::Collision(_) => Ok(()),
        }
    }

    /// Those who watch are told how it is set.
    fn tell(&self) {
        self.world.tell_viewers(self.state().text());
    }

    /// The process with directory and door.
    #[must_use]
    pub fn world(&self) -> &Process {
        &self.world
    }

    /// A node ends without a word. Others notice, and take over what it had.
    ///
    /// # Errors
    /// If there is no such node, it is the last one, or the others have not shared out the world
    /// since the last one came or went: they could not take over.
    pub fn kill(&self, node: u32) -> Result<(), DemoError> {
        let mut nodes = self.nodes();
        if !nodes.contains_key(&node) {
            return Err(DemoError::NoNode(node));
        }
        if nodes.len() == 1 {
            return Err(DemoError::LastNode(node));
        }
        if !self.is_settled(&nodes) {
            return Err(DemoError::Unsettled);
        }
        let role = Address::Node(NodeId(node));
        match nodes.remove(&node) {
            Some(Seat::Own(process)) => {
                let _was_there = self.switch.cut(&name::of(role).unwrap_or_default());
                drop(process);
            }
            Some(Seat::Serving) => {
                self.world.end_role(role);
            }
            None => {}
        }
        drop(nodes);
        tracing::info!("node {node} killed from the page");
        self.tell();
        Ok(())
    }

    /// One more node. It is given a part of the world.
    ///
    /// # Errors
    /// If there are too many.
    pub fn add(&self) -> Result<u32, DemoError> {
        let mut nodes = self.nodes();
        if nodes.len() >= NODES_MAX {
            return Err(DemoError::TooManyNodes);
        }
        let added = self.world.one_more_node(local(&self.switch));
        let (node, process) = added.map_err(|error| DemoError::Start(error.to_string()))?;
        nodes.insert(node.0, Seat::Own(Box::new(process)));
        drop(nodes);
        self.tell();
        Ok(node.0)
    }

    /// How frames between processes travel from now on.
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
        self.switch.set(Weather { delay, jitter: delay.mul_f64(JITTER), loss });
        self.tell();
        Ok(())
    }

    /// So many bodies are wanted. They come and go within a few seconds.
    ///
    /// # Errors
    /// If it is more than [`BODIES_MAX`].
    pub fn bodies(&self, count: u64) -> Result<(), DemoError> {
        if count > BODIES_MAX {
            return Err(DemoError::TooManyBodies(count));
        }
        self.shelf.wanted.store(count, Relaxed);
        self.tell();
        Ok(())
    }

    /// How it is set.
    #[must_use]
    pub fn state(&self) -> DemoState {
        let weather = self.switch.weather();
        let network =
            NetworkState { delay_ms: weather.delay.as_secs_f64() * 1000.0, loss: weather.loss };
        DemoState {
            nodes: self.nodes().keys().copied().collect(),
            network,
            bodies: self.shelf.wanted.load(Relaxed),
            bots: self.bots,
        }
    }

    /// How it goes.
    #[must_use]
    pub fn figures(&self) -> DemoFigures {
        DemoFigures {
            tick: self.shelf.tick.load(Relaxed),
            dilation: self.shelf.dilation.load(Relaxed) as f64 / 1000.0,
            objects: self.shelf.objects.load(Relaxed),
            bodies: self.shelf.bodies.load(Relaxed),
            bots: self.walkers.active(),
            touching: self.shelf.touching.load(Relaxed),
        }
    }

    /// Does every node have its part, and somebody a copy of it?
    #[must_use]
    pub fn settled(&self) -> bool {
        self.is_settled(&self.nodes())
    }

    fn is_settled(&self, nodes: &BTreeMap<u32, Seat>) -> bool {
        let members = self.world.settled_nodes();
        members.is_some_and(|members| members.iter().map(|node| &node.0).eq(nodes.keys()))
    }

    /// Nothing is left half done when a thread panics here.
    fn nodes(&self) -> MutexGuard<'_, BTreeMap<u32, Seat>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DemoState {
    /// As the page reads it.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a page may ask for, once there is a demonstration.
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
    start: Start,
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
        name: "demo".into(),
        start,
        rate,
        // Delays are set by hand here: whoever is far away is to stay in.
        operation: Operation::Synchronised,
        backups: BACKUPS,
        listen,
        web,
        guards: Guards::default(),
        store: None,
        restore: false,
        files: Files::default(),
        engine: local(switch),
        gateway,
        door: DoorLimits::default(),
        replicas: Vec::new(),
        controls: Controls::default(),
    }
}
