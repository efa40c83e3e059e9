//! The plane on QUIC: every process is connected with every other. It shows that nothing above
//! depends on zenoh, and serves where zenoh is not wanted.
//!
//! Whoever connects shows the certificate of a node, and says of which world it is and where it
//! listens. Then both tell who else is there, and the names that they answer to. Each urgency has a
//! stream and a queue of its own, so that what is urgent does not stand behind what is large.

mod tls;

use super::{Deliver, LARGEST_MESSAGE, PlaneError, PlaneSettings, Sent, Urgency, is_name};
use crate::Secret;
use crate::waiting::WaitingRoom;
use quinn::{Connection, Endpoint, RecvStream, SendStream, VarInt};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// Messages that wait for one peer, for each urgency. A frozen peer is given up after a second.
const QUEUE: usize = 256;
/// Connections that have not authenticated yet, and of those from one host.
const STRANGERS: usize = 1024;
const HOST_STRANGERS: usize = 256;
/// With more of them, who calls must first show that its address is its own.
const UNPROVEN: usize = 64;
const PATIENCE: Duration = Duration::from_secs(2);
/// An address that was heard of is given up after so many attempts, about a minute.
const ATTEMPTS: u32 = 150;
/// The largest frame: a message, its name, and what is around.
const LARGEST_FRAME: usize = LARGEST_MESSAGE + 64;

#[derive(Serialize, Deserialize)]
enum Word {
    Hello { world: String, token: String, process: u64, listening: Vec<SocketAddr> },
    Answers(String),
    Others(Vec<SocketAddr>),
}

pub(super) struct Mesh {
    shared: Arc<Shared>,
    runtime: Option<tokio::runtime::Runtime>,
}

struct Shared {
    process: u64,
    world: String,
    token: Secret,
    listening: Vec<SocketAddr>,
    endpoints: Vec<Endpoint>,
    callers: [Option<Endpoint>; 2],
    deliver: Deliver,
    names: Mutex<HashSet<String>>,
    peers: Mutex<HashMap<u64, Peer>>,
    called: Mutex<HashSet<SocketAddr>>,
}

struct Peer {
    connection: Connection,
    /// Who has called; it decides between two connections of the same two processes.
    caller: u64,
    listening: Vec<SocketAddr>,
    names: HashSet<String>,
    words: mpsc::UnboundedSender<Word>,
    queues: [mpsc::Sender<Arc<Vec<u8>>>; 3],
}

impl Mesh {
    pub(super) fn open(settings: &PlaneSettings, deliver: Deliver) -> Result<Mesh, PlaneError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("plane")
            .enable_all()
            .build()
            .map_err(failed("start its threads"))?;
        let inside = runtime.enter();
        let identity = tls::Identity::new(&settings.guard, &settings.world)?;
        let server = identity.server()?;
        let client = identity.client()?;
        let mut endpoints = Vec::new();
        let mut listening = Vec::new();
        for &address in &settings.listen {
            let cannot = |reason| PlaneError::Listen { address, reason };
            let endpoint = Endpoint::server(server.clone(), address).map_err(cannot)?;
            listening.push(endpoint.local_addr().map_err(cannot)?);
            endpoints.push(endpoint);
        }
        let caller = |address: SocketAddr| {
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
            callers: any.map(caller),
            deliver,
            names: Mutex::default(),
            peers: Mutex::default(),
            called: Mutex::default(),
        });
        for endpoint in endpoints {
            runtime.spawn(listen(shared.clone(), endpoint));
        }
        for &address in &settings.join {
            call(&shared, address, u32::MAX);
        }
        drop(inside);
        Ok(Mesh { shared, runtime: Some(runtime) })
    }

    pub(super) fn answer_to(&self, name: &str) -> Result<(), PlaneError> {
        // Under the lock of the peers, so that a peer that comes now hears of it once or twice.
        let peers = held(&self.shared.peers);
        held(&self.shared.names).insert(name.to_owned());
        for peer in peers.values() {
            let _ = peer.words.send(Word::Answers(name.to_owned()));
        }
        Ok(())
    }

    pub(super) fn send(&self, name: &str, bytes: &[u8], urgency: Urgency) -> Sent {
        let mut sent = Sent::Given;
        let mut frame = None;
        for peer in held(&self.shared.peers).values().filter(|peer| peer.names.contains(name)) {
            let frame = frame.get_or_insert_with(|| Arc::new(framed(name, bytes)));
            if peer.queues[urgency as usize].try_send(frame.clone()).is_err() {
                sent = Sent::Lost;
            }
        }
        if held(&self.shared.names).contains(name) {
            (self.shared.deliver)(name, bytes);
        }
        sent
    }

    pub(super) fn listening(&self) -> &[SocketAddr] {
        &self.shared.listening
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let endpoints = || self.shared.endpoints.iter().chain(self.shared.callers.iter().flatten());
        for endpoint in endpoints() {
            endpoint.close(VarInt::from_u32(0), b"closed");
        }
        // A moment to say so; others would notice by themselves.
        runtime.block_on(async {
            for endpoint in endpoints() {
                let _ = timeout(Duration::from_millis(100), endpoint.wait_idle()).await;
            }
        });
        // Tasks hold the sockets: their ports are free when this returns.
        runtime.shutdown_timeout(PATIENCE);
    }
}

fn failed<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> PlaneError {
    move |reason| {
        let reason = crate::without_build_paths(&reason.to_string());
        PlaneError::Engine { what, reason }
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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
    let strangers = WaitingRoom::new(STRANGERS, HOST_STRANGERS);
    while let Some(incoming) = endpoint.accept().await {
        let unproven = !incoming.remote_address_validated();
        if unproven && incoming.may_retry() && strangers.count() >= UNPROVEN {
            // No state is kept for an address that may be another's.
            let _ = incoming.retry();
            continue;
        }
        let Ok(place) = strangers.enter(incoming.remote_address()) else {
            incoming.refuse();
            continue;
        };
        let shared = shared.clone();
        tokio::spawn(async move {
            let met = tokio::select! {
                () = place.displaced() => return,
                met = welcome(&shared, incoming) => met,
            };
            drop(place);
            if let Some((connection, met)) = met {
                live(&shared, connection, met).await;
            }
        });
    }
}

/// A connection that comes in, until it has authenticated.
async fn welcome(shared: &Shared, incoming: quinn::Incoming) -> Option<(Connection, Met)> {
    let connection = timeout(PATIENCE, incoming).await.ok()?.ok()?;
    let met = meet(shared, &connection, Side::Called).await?;
    Some((connection, met))
}

/// Calls an address, and again when the connection has ended, until it was in vain so many times.
fn call(shared: &Arc<Shared>, address: SocketAddr, attempts: u32) {
    if shared.listening.contains(&address) || !held(&shared.called).insert(address) {
        return;
    }
    let shared = shared.clone();
    tokio::spawn(async move {
        let mut in_vain = 0;
        while in_vain < attempts {
            match call_once(&shared, address).await {
                Some(process) if process == shared.process => return,
                Some(process) => {
                    in_vain = 0;
                    // Perhaps another connection with it was preferred.
                    while held(&shared.peers).contains_key(&process) {
                        sleep(Duration::from_millis(100)).await;
                    }
                }
                None => in_vain += 1,
            }
            sleep(Duration::from_millis(if in_vain < 3 { 100 } else { 400 })).await;
        }
        held(&shared.called).remove(&address);
    });
}

async fn call_once(shared: &Arc<Shared>, address: SocketAddr) -> Option<u64> {
    let endpoint = shared.callers[usize::from(address.is_ipv6())].as_ref()?;
    let connecting = endpoint.connect(address, "node").ok()?;
    let connection = timeout(PATIENCE, connecting).await.ok()?.ok()?;
    let met = meet(shared, &connection, Side::Calling).await?;
    let process = met.process;
    if process != shared.process {
        live(shared, connection, met).await;
    }
    Some(process)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Calling,
    Called,
}

/// Somebody who has proved to belong here.
struct Met {
    process: u64,
    caller: u64,
    listening: Vec<SocketAddr>,
    say: SendStream,
    hear: RecvStream,
}

async fn meet(shared: &Shared, connection: &Connection, side: Side) -> Option<Met> {
    if !tls::is_node(connection) {
        return refuse(connection);
    }
    let hello = Word::Hello {
        world: shared.world.clone(),
        token: shared.token.reveal().to_owned(),
        process: shared.process,
        listening: shared.listening.clone(),
    };
    let greet = async {
        let mut say = connection.open_uni().await.ok()?;
        say_word(&mut say, &hello).await?;
        let mut hear = connection.accept_uni().await.ok()?;
        Some((say, hear_word(&mut hear).await?, hear))
    };
    let (say, heard, hear) = timeout(PATIENCE, greet).await.ok()??;
    let Word::Hello { world, token, process, mut listening } = heard else { return None };
    if world != shared.world || !shared.token.is(token.as_bytes()) {
        return refuse(connection);
    }
    // Who listens everywhere does not know under which address others reach it.
    for address in listening.iter_mut().filter(|address| address.ip().is_unspecified()) {
        address.set_ip(connection.remote_address().ip());
    }
    let caller = if side == Side::Calling { shared.process } else { process };
    Some(Met { process, caller, listening, say, hear })
}

fn refuse(connection: &Connection) -> Option<Met> {
    let remote = connection.remote_address();
    tracing::warn!(%remote, "node link rejected: another world, token or certificate");
    connection.close(VarInt::from_u32(1), b"rejected: another world, token or certificate");
    None
}

/// Until the connection ends.
async fn live(shared: &Arc<Shared>, connection: Connection, met: Met) {
    let Met { process, caller, listening, mut say, mut hear } = met;
    let (words, mut to_say) = mpsc::unbounded_channel();
    let (queues, frames): (Vec<_>, Vec<_>) = (0..3).map(|_| mpsc::channel(QUEUE)).unzip();
    let Ok(queues) = queues.try_into() else { return };
    let names = HashSet::new();
    let peer = Peer { connection: connection.clone(), caller, listening, names, words, queues };
    if !enter(shared, process, peer) {
        connection.close(VarInt::from_u32(0), b"there is another");
        return;
    }
    for (urgency, frames) in frames.into_iter().enumerate() {
        tokio::spawn(carry(connection.clone(), frames, -(urgency as i32)));
    }
    tokio::spawn(async move {
        while let Some(word) = to_say.recv().await {
            if say_word(&mut say, &word).await.is_none() {
                return;
            }
        }
    });
    let reading = shared.clone();
    let streams = connection.clone();
    tokio::spawn(async move {
        while let Ok(stream) = streams.accept_uni().await {
            tokio::spawn(bring(reading.clone(), stream));
        }
    });
    while let Some(word) = hear_word(&mut hear).await {
        match word {
            Word::Answers(name) => {
                if let Some(peer) = held(&shared.peers).get_mut(&process) {
                    peer.names.insert(name);
                }
            }
            Word::Others(addresses) => {
                for address in addresses {
                    call(shared, address, ATTEMPTS);
                }
            }
            Word::Hello { .. } => break,
        }
    }
    let mut peers = held(&shared.peers);
    if peers.get(&process).is_some_and(|it| it.connection.stable_id() == connection.stable_id()) {
        peers.remove(&process);
    }
    connection.close(VarInt::from_u32(0), b"ended");
}

/// Of two connections between two processes both keep that which the greater one has called. Then
/// everybody is told what they need to know of each other.
fn enter(shared: &Shared, process: u64, peer: Peer) -> bool {
    let mut peers = held(&shared.peers);
    if let Some(old) = peers.get(&process) {
        let alive = old.connection.close_reason().is_none();
        if alive && old.caller != peer.caller && old.caller == process.max(shared.process) {
            return false;
        }
        old.connection.close(VarInt::from_u32(0), b"there is another");
    }
    let others = peers.iter().filter(|(other, _)| **other != process);
    let addresses = others.clone().flat_map(|(_, other)| other.listening.clone()).collect();
    for (_, other) in others {
        let _ = other.words.send(Word::Others(peer.listening.clone()));
    }
    let _ = peer.words.send(Word::Others(addresses));
    for name in held(&shared.names).iter() {
        let _ = peer.words.send(Word::Answers(name.clone()));
    }
    peers.insert(process, peer);
    true
}

async fn carry(connection: Connection, mut frames: mpsc::Receiver<Arc<Vec<u8>>>, priority: i32) {
    let Ok(mut stream) = connection.open_uni().await else { return };
    let _ = stream.set_priority(priority);
    while let Some(frame) = frames.recv().await {
        if stream.write_all(&frame).await.is_err() {
            return;
        }
    }
}

async fn bring(shared: Arc<Shared>, mut stream: RecvStream) {
    while let Some(frame) = hear_frame(&mut stream).await {
        let Some((&length, rest)) = frame.split_first() else { return };
        let Some((name, bytes)) = rest.split_at_checked(usize::from(length)) else { return };
        let Ok(name) = std::str::from_utf8(name) else { return };
        if is_name(name) && held(&shared.names).contains(name) {
            (shared.deliver)(name, bytes);
        }
    }
}

async fn hear_frame(stream: &mut RecvStream) -> Option<Vec<u8>> {
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

async fn hear_word(stream: &mut RecvStream) -> Option<Word> {
    postcard::from_bytes(&hear_frame(stream).await?).ok()
}

async fn say_word(stream: &mut SendStream, word: &Word) -> Option<()> {
    let bytes = postcard::to_allocvec(word).ok()?;
    stream.write_all(&(bytes.len() as u32).to_le_bytes()).await.ok()?;
    stream.write_all(&bytes).await.ok()
}
