//! The transport on QUIC: a full mesh of connections. It shows that nothing above depends on zenoh,
//! and is an alternative to it.
//!
//! A peer authenticates with a node certificate and a hello, which names its world and its listen
//! addresses. Then both sides exchange the addresses of other peers and the names that they have
//! subscribed to. Each priority has its own stream and queue, so that urgent messages do not wait
//! behind large ones.

mod tls;

use super::{
    Deliver, LARGEST_MESSAGE, SendOutcome, TransportError, TransportSettings, Urgency, is_name,
};
use crate::Secret;
use crate::pending::PendingConnections;
use quinn::{Connection, Endpoint, RecvStream, SendStream, VarInt};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// Messages queued for one peer and priority. A frozen peer is dropped after a second.
const QUEUE: usize = 256;
/// Control messages queued for one peer. A peer that does not read them is disconnected; it dials
/// again, and then receives the current state.
const CONTROL_QUEUE: usize = 1024;
/// Names that one peer may subscribe to, and addresses in one control message.
const NAMES_MAX: usize = 1024;
/// Connections that have not authenticated yet, in total and from one host.
const PENDING_MAX: usize = 1024;
const HOST_PENDING_MAX: usize = 256;
/// With more of them, address validation (a retry) is required first.
const UNVALIDATED: usize = 64;
const PATIENCE: Duration = Duration::from_secs(2);
/// An address learned from a peer is given up after so many attempts, about a minute.
const ATTEMPTS: u32 = 150;
/// The largest frame: a message, its name, and the headers.
const LARGEST_FRAME: usize = LARGEST_MESSAGE + 64;

#[derive(Serialize, Deserialize)]
enum ControlMessage {
    Hello { world: String, token: String, process: u64, listening: Vec<SocketAddr> },
    Answers(String),
    Others(Vec<SocketAddr>),
}

pub(super) struct QuicMesh {
    shared: Arc<Shared>,
    runtime: Option<tokio::runtime::Runtime>,
}

struct Shared {
    process: u64,
    world: String,
    token: Secret,
    listening: Vec<SocketAddr>,
    endpoints: Vec<Endpoint>,
    dialers: [Option<Endpoint>; 2],
    deliver: Deliver,
    names: Mutex<HashSet<String>>,
    peers: Mutex<HashMap<u64, Peer>>,
    dialed: Mutex<HashSet<SocketAddr>>,
}

struct Peer {
    connection: Connection,
    /// The process that dialed: of two connections between the same processes it decides which one
    /// is kept.
    dialer: u64,
    listening: Vec<SocketAddr>,
    names: HashSet<String>,
    control: mpsc::Sender<ControlMessage>,
    queues: [mpsc::Sender<Arc<Vec<u8>>>; 3],
}

impl Peer {
    fn notify(&self, message: ControlMessage) {
        if self.control.try_send(message).is_err() {
            self.connection.close(VarInt::from_u32(0), b"control messages are not read");
        }
    }
}

impl QuicMesh {
    pub(super) fn open(
        settings: &TransportSettings,
        deliver: Deliver,
    ) -> Result<QuicMesh, TransportError> {
        let runtime =
            crate::threads::runtime("transport", 2).map_err(failed("start its threads"))?;
        let inside = runtime.enter();
        let identity = tls::Identity::new(&settings.guard, &settings.world)?;
        let server = identity.server()?;
        let client = identity.client()?;
        let mut endpoints = Vec::new();
        let mut listening = Vec::new();
        for &address in &settings.listen {
            let cannot = |reason| TransportError::Listen { address, reason };
            let endpoint = Endpoint::server(server.clone(), address).map_err(cannot)?;
            listening.push(endpoint.local_addr().map_err(cannot)?);
            endpoints.push(endpoint);
        }
        let dialer = |address: SocketAddr| {
            let mut endpoint = Endpoint::client(address).ok()?;
            endpoint.set_default_client_config(client.clone());
            Some(endpoint)
        };
        let any: [SocketAddr; 2] =
            [(Ipv4Addr::UNSPECIFIED, 0).into(), (Ipv6Addr::UNSPECIFIED, 0).into()];
        let shared = Arc::new(Shared {
            process: tls::random()?,
            world: settings.world.clone(),
            token: settings.guard.token.clone().unwrap_or_else(|| Secret::new("")),
            listening,
            endpoints: endpoints.clone(),
            dialers: any.map(dialer),
            deliver,
            names: Mutex::default(),
            peers: Mutex::default(),
            dialed: Mutex::default(),
        });
        for endpoint in endpoints {
            runtime.spawn(listen(shared.clone(), endpoint));
        }
        for &address in &settings.join {
            dial(&shared, address, u32::MAX);
        }
        drop(inside);
        Ok(QuicMesh { shared, runtime: Some(runtime) })
    }

    pub(super) fn answer_to(&self, name: &str) -> Result<(), TransportError> {
        // Under the lock of the peers, so that a new peer learns of it at least once.
        let peers = locked(&self.shared.peers);
        locked(&self.shared.names).insert(name.to_owned());
        for peer in peers.values() {
            peer.notify(ControlMessage::Answers(name.to_owned()));
        }
        Ok(())
    }

    pub(super) fn send(&self, name: &str, bytes: &[u8], urgency: Urgency) -> SendOutcome {
        let mut sent = SendOutcome::Queued;
        let mut frame = None;
        for peer in locked(&self.shared.peers).values().filter(|peer| peer.names.contains(name)) {
            let frame = frame.get_or_insert_with(|| Arc::new(framed(name, bytes)));
            if peer.queues[urgency as usize].try_send(frame.clone()).is_err() {
                sent = SendOutcome::Dropped;
            }
        }
        if locked(&self.shared.names).contains(name) {
            (self.shared.deliver)(name, bytes);
        }
        sent
    }

    pub(super) fn listening(&self) -> &[SocketAddr] {
        &self.shared.listening
    }
}

impl Drop for QuicMesh {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let endpoints = || self.shared.endpoints.iter().chain(self.shared.dialers.iter().flatten());
        for endpoint in endpoints() {
            endpoint.close(VarInt::from_u32(0), b"closed");
        }
        // Time to send the close frames; otherwise peers would time out.
        runtime.block_on(async {
            for endpoint in endpoints() {
                let _ = timeout(Duration::from_millis(100), endpoint.wait_idle()).await;
            }
        });
        // Tasks hold the sockets: their ports are free when this returns.
        runtime.shutdown_timeout(PATIENCE);
    }
}

fn failed<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> TransportError {
    move |reason| {
        let reason = crate::without_build_paths(&reason.to_string());
        TransportError::Engine { what, reason }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The length of the rest, the length of the name, the name, the message.
fn framed(name: &str, bytes: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(5 + name.len() + bytes.len());
    frame.extend_from_slice(&((1 + name.len() + bytes.len()) as u32).to_le_bytes());
    frame.push(name.len() as u8);
    frame.extend_from_slice(name.as_bytes());
    frame.extend_from_slice(bytes);
    frame
}

async fn listen(shared: Arc<Shared>, endpoint: Endpoint) {
    let pending = PendingConnections::new(PENDING_MAX, HOST_PENDING_MAX);
    while let Some(incoming) = endpoint.accept().await {
        let unvalidated = !incoming.remote_address_validated();
        if unvalidated && incoming.may_retry() && pending.count() >= UNVALIDATED {
            // No state is kept for an unvalidated address.
            let _ = incoming.retry();
            continue;
        }
        let Ok(place) = pending.enter(incoming.remote_address()) else {
            incoming.refuse();
            continue;
        };
        let shared = shared.clone();
        tokio::spawn(async move {
            let authenticated = tokio::select! {
                () = place.displaced() => return,
                authenticated = welcome(&shared, incoming) => authenticated,
            };
            drop(place);
            if let Some((connection, authenticated)) = authenticated {
                run_peer(&shared, connection, authenticated).await;
            }
        });
    }
}

/// Accepts a connection and authenticates the peer.
async fn welcome(
    shared: &Shared,
    incoming: quinn::Incoming,
) -> Option<(Connection, AuthenticatedPeer)> {
    let connection = timeout(PATIENCE, incoming).await.ok()?.ok()?;
    let authenticated = authenticate(shared, &connection, Side::Acceptor).await?;
    Some((connection, authenticated))
}

/// Dials an address, and again when the connection ends, until so many attempts in a row have
/// failed.
fn dial(shared: &Arc<Shared>, address: SocketAddr, attempts: u32) {
    if shared.listening.contains(&address) || !locked(&shared.dialed).insert(address) {
        return;
    }
    let shared = shared.clone();
    tokio::spawn(async move {
        let mut failed_attempts = 0;
        while failed_attempts < attempts {
            match dial_once(&shared, address).await {
                Some(process) if process == shared.process => return,
                Some(process) => {
                    failed_attempts = 0;
                    // Another connection to the same process may have been preferred.
                    while locked(&shared.peers).contains_key(&process) {
                        sleep(Duration::from_millis(100)).await;
                    }
                }
                None => failed_attempts += 1,
            }
            sleep(Duration::from_millis(if failed_attempts < 3 { 100 } else { 400 })).await;
        }
        locked(&shared.dialed).remove(&address);
    });
}

async fn dial_once(shared: &Arc<Shared>, address: SocketAddr) -> Option<u64> {
    let endpoint = shared.dialers[usize::from(address.is_ipv6())].as_ref()?;
    let connecting = endpoint.connect(address, "node").ok()?;
    let connection = timeout(PATIENCE, connecting).await.ok()?.ok()?;
    let authenticated = authenticate(shared, &connection, Side::Initiator).await?;
    let process = authenticated.process;
    if process != shared.process {
        run_peer(shared, connection, authenticated).await;
    }
    Some(process)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Initiator,
    Acceptor,
}

/// A peer after authentication.
struct AuthenticatedPeer {
    process: u64,
    dialer: u64,
    listening: Vec<SocketAddr>,
    outgoing: SendStream,
    incoming_control: RecvStream,
}

async fn authenticate(
    shared: &Shared,
    connection: &Connection,
    side: Side,
) -> Option<AuthenticatedPeer> {
    if !tls::is_node(connection) {
        return reject(connection);
    }
    let hello = ControlMessage::Hello {
        world: shared.world.clone(),
        token: shared.token.reveal().to_owned(),
        process: shared.process,
        listening: shared.listening.clone(),
    };
    let exchange = async {
        let mut outgoing = connection.open_uni().await.ok()?;
        write_control(&mut outgoing, &hello).await?;
        let mut incoming_control = connection.accept_uni().await.ok()?;
        Some((outgoing, read_control(&mut incoming_control).await?, incoming_control))
    };
    let (outgoing, hello, incoming_control) = timeout(PATIENCE, exchange).await.ok()??;
    let ControlMessage::Hello { world, token, process, mut listening } = hello else { return None };
    if world != shared.world || !shared.token.is(token.as_bytes()) {
        return reject(connection);
    }
    // A peer that listens on all addresses does not know under which one it is reached.
    for address in listening.iter_mut().filter(|address| address.ip().is_unspecified()) {
        address.set_ip(connection.remote_address().ip());
    }
    let dialer = if side == Side::Initiator { shared.process } else { process };
    Some(AuthenticatedPeer { process, dialer, listening, outgoing, incoming_control })
}

fn reject(connection: &Connection) -> Option<AuthenticatedPeer> {
    let remote = connection.remote_address();
    tracing::warn!(%remote, "node link rejected: another world, token or certificate");
    connection.close(VarInt::from_u32(1), b"rejected: another world, token or certificate");
    None
}

/// Runs a peer until its connection ends.
async fn run_peer(shared: &Arc<Shared>, connection: Connection, authenticated: AuthenticatedPeer) {
    let AuthenticatedPeer { process, dialer, listening, mut outgoing, mut incoming_control } =
        authenticated;
    let (control, mut control_queue) = mpsc::channel(CONTROL_QUEUE);
    let (queues, frames): (Vec<_>, Vec<_>) = (0..3).map(|_| mpsc::channel(QUEUE)).unzip();
    let Ok(queues) = queues.try_into() else { return };
    let names = HashSet::new();
    let peer = Peer { connection: connection.clone(), dialer, listening, names, control, queues };
    if !register_peer(shared, process, peer) {
        connection.close(VarInt::from_u32(0), b"there is another");
        return;
    }
    for (urgency, frames) in frames.into_iter().enumerate() {
        tokio::spawn(write_frames(connection.clone(), frames, -(urgency as i32)));
    }
    tokio::spawn(async move {
        while let Some(message) = control_queue.recv().await {
            if write_control(&mut outgoing, &message).await.is_none() {
                return;
            }
        }
    });
    let reading = shared.clone();
    let streams = connection.clone();
    tokio::spawn(async move {
        while let Ok(stream) = streams.accept_uni().await {
            tokio::spawn(read_frames(reading.clone(), stream));
        }
    });
    while let Some(message) = read_control(&mut incoming_control).await {
        match message {
            ControlMessage::Answers(name) => {
                let mut peers = locked(&shared.peers);
                if let Some(peer) = peers.get_mut(&process)
                    && is_name(&name)
                    && peer.names.len() < NAMES_MAX
                {
                    peer.names.insert(name);
                }
            }
            ControlMessage::Others(addresses) => {
                for address in addresses.into_iter().take(NAMES_MAX) {
                    dial(shared, address, ATTEMPTS);
                }
            }
            ControlMessage::Hello { .. } => break,
        }
    }
    let mut peers = locked(&shared.peers);
    if peers.get(&process).is_some_and(|it| it.connection.stable_id() == connection.stable_id()) {
        peers.remove(&process);
    }
    connection.close(VarInt::from_u32(0), b"ended");
}

/// Registers a peer. Of two connections between the same two processes both keep the one that the
/// process with the greater number dialed. Then all peers learn of each other.
fn register_peer(shared: &Shared, process: u64, peer: Peer) -> bool {
    let mut peers = locked(&shared.peers);
    if let Some(old) = peers.get(&process) {
        let alive = old.connection.close_reason().is_none();
        if alive && old.dialer != peer.dialer && old.dialer == process.max(shared.process) {
            return false;
        }
        old.connection.close(VarInt::from_u32(0), b"there is another");
    }
    let others = peers.iter().filter(|(other, _)| **other != process);
    let addresses = others.clone().flat_map(|(_, other)| other.listening.clone()).collect();
    for (_, other) in others {
        other.notify(ControlMessage::Others(peer.listening.clone()));
    }
    peer.notify(ControlMessage::Others(addresses));
    for name in locked(&shared.names).iter() {
        peer.notify(ControlMessage::Answers(name.clone()));
    }
    peers.insert(process, peer);
    true
}

async fn write_frames(
    connection: Connection,
    mut frames: mpsc::Receiver<Arc<Vec<u8>>>,
    priority: i32,
) {
    let Ok(mut stream) = connection.open_uni().await else { return };
    let _ = stream.set_priority(priority);
    while let Some(frame) = frames.recv().await {
        if stream.write_all(&frame).await.is_err() {
            return;
        }
    }
}

async fn read_frames(shared: Arc<Shared>, mut stream: RecvStream) {
    while let Some(frame) = read_frame(&mut stream).await {
        let Some((&length, rest)) = frame.split_first() else { return };
        let Some((name, bytes)) = rest.split_at_checked(usize::from(length)) else { return };
        let Ok(name) = std::str::from_utf8(name) else { return };
        if is_name(name) && locked(&shared.names).contains(name) {
            (shared.deliver)(name, bytes);
        }
    }
}

async fn read_frame(stream: &mut RecvStream) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await.ok()?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LARGEST_FRAME {
        return None;
    }
    let mut frame = vec![0; length];
    stream.read_exact(&mut frame).await.ok()?;
    Some(frame)
}

async fn read_control(stream: &mut RecvStream) -> Option<ControlMessage> {
    postcard::from_bytes(&read_frame(stream).await?).ok()
}

async fn write_control(stream: &mut SendStream, message: &ControlMessage) -> Option<()> {
    let bytes = postcard::to_allocvec(message).ok()?;
    stream.write_all(&(bytes.len() as u32).to_le_bytes()).await.ok()?;
    stream.write_all(&bytes).await.ok()
}
