//! A test server: directory, node and gateway on a thread, in real time, with an edge server.

// Every test file uses a part of it.
#![allow(dead_code)]

use jostle_net::edge::{EdgeLimits, EdgeServer, EdgeServices, EdgeSettings};
use jostle_net::manifest::{NodeAssignment, OperationMode, PROTOCOL, WorldManifest};
use jostle_proto::{
    Address, Allowance, Block, Class, ClientId, ClientMessage, Content, Directory, Gateway,
    GatewayCounters, GatewayId, GatewaySettings, Library, Member, Message, Node, NodeId, Object,
    ObjectId, Objects, Output, ShapeId, Shapes, Solid, Span, State, Tick, Time, Timing, advance,
    apply,
};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) const METRE: i32 = 4096;
pub(crate) const RATE: u32 = 30;
pub(crate) const WALL: ObjectId = ObjectId(1);
pub(crate) const BALL: ObjectId = ObjectId(2);
pub(crate) const TOKEN: &str = "open sesame";
pub(crate) const NODE_TOKEN: &str = "let me work";
pub(crate) const STATIC_OBJECTS: &[u8] = b"the immovable things";

/// Waits until a value is found; fails after a timeout, naming what it waited for.
pub(crate) fn until<Value>(what: &str, mut found: impl FnMut() -> Option<Value>) -> Value {
    let start = Instant::now();
    loop {
        if let Some(value) = found() {
            return value;
        }
        assert!(start.elapsed() < Duration::from_secs(9), "never came: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a condition holds.
pub(crate) fn until_true(what: &str, mut holds: impl FnMut() -> bool) {
    until(what, || holds().then_some(()));
}

/// State that a test can inspect while the world runs.
#[derive(Default)]
pub(crate) struct Observed {
    pub(crate) tick: Tick,
    pub(crate) world: Objects,
    pub(crate) gateway: GatewayCounters,
    pub(crate) messages: u64,
}

pub(crate) struct TestServer {
    pub(crate) edge: Arc<EdgeServer>,
    pub(crate) observed: Arc<Mutex<Observed>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

pub(crate) fn shapes() -> Shapes {
    let solid = Solid::cuboid;
    Shapes::new(vec![solid([METRE / 4; 3]), solid([METRE / 2, 20 * METRE, 20 * METRE])])
}

/// A wall four metres ahead, and a ball at rest nearby.
fn objects() -> Vec<Object> {
    let at = |position| State { position, ..State::default() };
    let wall = Object {
        id: WALL,
        class: Class::Immovable,
        shape: ShapeId(1),
        state: at([4 * METRE, 0, 0]),
    };
    let ball = Object {
        id: BALL,
        class: Class::Dynamic,
        shape: ShapeId(0),
        state: at([-6 * METRE, 3 * METRE, 0]),
    };
    vec![wall, ball]
}

/// Generous: all clients of a test come from the same host.
pub(crate) fn gateway_settings() -> GatewaySettings {
    GatewaySettings {
        places: Block { min: [0, -10 * METRE, 0], max: [0, 10 * METRE, 0] },
        hellos: Allowance { per_second: 200, most: 400 },
        host_sessions: 256,
        ..GatewaySettings::default()
    }
}

pub(crate) fn edge_settings() -> EdgeSettings {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    EdgeSettings {
        quic: Some(any),
        web: Some(any),
        token: None,
        node_token: None,
        certificates: None,
        anyone: false,
        hosts: Vec::new(),
        limits: EdgeLimits {
            host_connections: 256,
            handshakes: Allowance { per_second: 200, most: 400 },
            ..EdgeLimits::default()
        },
    }
}

fn services(deliver: Box<dyn Fn(ClientId, ClientMessage) + Send + Sync>) -> EdgeServices {
    let mut contents = Library::of(&shapes(), Span::from_ms(50));
    let static_objects = contents.put(STATIC_OBJECTS.to_vec());
    EdgeServices {
        manifest: WorldManifest {
            protocol: PROTOCOL,
            world: "ground".to_string(),
            rate: RATE,
            operation: OperationMode::Lockstep,
            extent: Block { min: [-100 * METRE; 3], max: [100 * METRE; 3] },
            forms: contents.forms().to_vec(),
            avatar: ShapeId(0),
            places: Block { min: [-METRE; 3], max: [METRE; 3] },
            limits: GatewaySettings::default().limits,
            gate: 0,
        },
        contents,
        shapes: shapes(),
        status: Box::new(|| "{\"well\":true}".to_string()),
        metrics: Box::new(|| "jostle_up 1\n".to_string()),
        admit: Box::new(move |_, name, followers| match name {
            0 => Err("0 is no valid name".to_string()),
            _ => Ok(place(static_objects, followers)),
        }),
        deliver,
        replicas: None,
        view: None,
    }
}

/// Services without a world.
pub(crate) fn silent_services() -> EdgeServices {
    services(Box::new(|_, _| {}))
}

fn place(static_objects: Content, followers: u32) -> NodeAssignment {
    let transport = vec!["127.0.0.1:9".parse().unwrap()];
    NodeAssignment { node: 7, life: 1, follower: followers, transport, static_objects, key: [0; 2] }
}

/// The roles behind the edge server.
struct Machines {
    directory: Directory,
    node: Node,
    gateway: Gateway,
    world: Objects,
    tick: Tick,
    queue: VecDeque<(Address, Address, Message)>,
    edge: Arc<EdgeServer>,
}

impl Machines {
    fn send(&mut self, from: Address, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Event(_) => {}
                Output::Publish(commit) if commit.tick == self.tick.next() => {
                    advance(&mut self.world, self.tick, RATE);
                    apply(&mut self.world, &commit, |_| true);
                    self.tick = commit.tick;
                }
                Output::Publish(_) => {}
                Output::Send(Address::Client(client), Message::ToClient(message)) => {
                    self.edge.send(client, &message);
                }
                Output::Send(to, message) => self.queue.push_back((from, to, message)),
            }
        }
    }

    fn deliver(&mut self, now: Time) {
        while let Some((from, to, message)) = self.queue.pop_front() {
            let mut out = Vec::new();
            match to {
                Address::Directory => self.directory.receive(now, message, &mut out),
                Address::Node(_) => self.node.receive(now, message, &mut out),
                _ => self.gateway.receive(now, from, message, &mut out),
            }
            self.send(to, out);
        }
    }

    fn wake(&mut self, now: Time) {
        let mut out = Vec::new();
        self.directory.wake(now, &mut out);
        self.send(Address::Directory, std::mem::take(&mut out));
        if now >= self.node.wake_at() {
            self.node.wake(now, &mut out);
            self.send(Address::Node(NodeId(0)), std::mem::take(&mut out));
        }
        if now >= self.gateway.wake_at() {
            self.gateway.wake(now, &mut out);
            self.send(Address::Gate(0), out);
        }
    }

    fn wake_at(&self) -> Time {
        self.directory.wake_at().min(self.node.wake_at()).min(self.gateway.wake_at())
    }

    fn run(
        mut self,
        messages: &Receiver<(ClientId, ClientMessage)>,
        stop: &AtomicBool,
        observed: &Mutex<Observed>,
    ) {
        let start = Instant::now();
        let mut count = 0;
        while !stop.load(Ordering::Relaxed) {
            let now = Time(start.elapsed().as_micros() as u64);
            self.wake(now);
            self.deliver(now);
            if let Ok(mut observed) = observed.lock()
                && observed.tick != self.tick
            {
                *observed = Observed {
                    tick: self.tick,
                    world: self.world.clone(),
                    gateway: self.gateway.counters(),
                    messages: count,
                };
            }
            let pause = Duration::from_micros((self.wake_at() - now).0.min(20_000));
            let mut next = messages.recv_timeout(pause).ok();
            while let Some((client, message)) = next {
                count += 1;
                let now = Time(start.elapsed().as_micros() as u64);
                let mut out = Vec::new();
                let message = Message::FromClient(message);
                self.gateway.receive(now, Address::Client(client), message, &mut out);
                self.send(Address::Gate(0), out);
                self.deliver(now);
                next = messages.try_recv().ok();
            }
        }
    }
}

impl TestServer {
    pub(crate) fn new() -> TestServer {
        TestServer::with(edge_settings(), gateway_settings())
    }

    /// A server that requires tokens.
    pub(crate) fn guarded() -> TestServer {
        let token = Some(jostle_net::Secret::new(TOKEN));
        let node_token = Some(jostle_net::Secret::new(NODE_TOKEN));
        TestServer::with(EdgeSettings { token, node_token, ..edge_settings() }, gateway_settings())
    }

    pub(crate) fn with(edge: EdgeSettings, gateway: GatewaySettings) -> TestServer {
        let (sender, messages) = channel();
        let services = services(Box::new(move |client, message| {
            let _ = sender.send((client, message));
        }));
        let edge = Arc::new(EdgeServer::open(edge, services).unwrap());
        let member = Member { node: NodeId(0), life: 1 };
        let extent = Block { min: [-100 * METRE; 3], max: [100 * METRE; 3] };
        let timing = Timing { rate: RATE, ..Timing::default() };
        let gate = GatewayId { number: 0, life: 1 };
        let machines = Machines {
            directory: Directory::new(member, extent, timing),
            node: Node::founder(member, shapes(), timing, objects()),
            gateway: Gateway::new(gate, shapes(), timing, gateway),
            world: objects().into_iter().collect(),
            tick: Tick(0),
            queue: VecDeque::new(),
            edge: edge.clone(),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let observed = Arc::new(Mutex::new(Observed::default()));
        let thread = std::thread::spawn({
            let (stop, observed) = (stop.clone(), observed.clone());
            move || machines.run(&messages, &stop, &observed)
        });
        TestServer { edge, observed, stop, thread: Some(thread) }
    }

    pub(crate) fn quic(&self) -> SocketAddr {
        self.edge.quic_address().unwrap()
    }

    pub(crate) fn web(&self) -> SocketAddr {
        self.edge.web_address().unwrap()
    }

    /// The state of an object in the world.
    pub(crate) fn state(&self, id: ObjectId) -> Option<State> {
        self.observed.lock().unwrap().world.get(&id).map(|object| object.state)
    }

    pub(crate) fn gateway(&self) -> GatewayCounters {
        self.observed.lock().unwrap().gateway
    }

    /// The response to a request, with its head.
    pub(crate) fn get(&self, page: &str, head: &str) -> String {
        let mut stream = TcpStream::connect(self.web()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let host = self.web();
        let request =
            format!("GET {page} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{head}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // A malformed request is not answered.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }
}
