//! The edge server: accepts clients, joining nodes and web pages from the network.
//!
//! A connection starts with a handshake ([`Handshake`]), which is answered with the world manifest
//! or a rejection with a reason. Then messages travel both ways between the client and the gateway
//! behind this server. Messages are rate-limited before they are decoded; validation is the
//! gateway's job. The identity of a client comes from its connection, never from a payload.
//!
//! * `quic`: messages as datagrams, contents over a stream;
//! * `web`: HTTP; `websocket`: messages over a WebSocket;
//! * `json`: a WebSocket for small tools; the server runs the client state machine for them;
//! * `page`: files of the page that shows the world, `meshes`: triangles for it, `web_view`: its
//!   WebSocket;
//! * `hosts`: checks of `Host` and `Origin`;
//! * `connections`: the connection table, with limits per host;
//! * `rate_limit`: limits per connection;
//! * `rejection`: reasons for which connections are rejected and closed.

mod connections;
mod hosts;
mod json;
mod json_messages;
mod meshes;
mod outbound;
mod page;
mod quic;
mod rate_limit;
mod rejection;
mod tls;
mod web;
mod web_view;
mod websocket;

use crate::Secret;
use crate::envelope;
use crate::exposure::{self, Listener, Unguarded};
use crate::manifest::{EdgeResponse, Handshake, NodeAssignment, PROTOCOL, Purpose, WorldManifest};
use crate::view::ViewHub;
use connections::{ConnectionSlot, ConnectionTable, Outbound};
use jostle_proto::{Allowance, ClientId, ClientMessage, GatewayMessage, Library, Shapes, Time};
pub(crate) use meshes::Meshes;
use rate_limit::{ConnectionLimiter, Verdict};
use rejection::{Disconnect, Rejection, TokenProblem};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, Runtime};

pub use hosts::WebHost;
pub(crate) use tls::ALPN;
pub(crate) use web::content_name;

/// Listen addresses and access control.
#[derive(Clone, Debug)]
pub struct EdgeSettings {
    /// For QUIC; port 0 takes any that is free.
    pub quic: Option<SocketAddr>,
    /// For HTTP and WebSockets.
    pub web: Option<SocketAddr>,
    /// Required of clients, if set.
    pub token: Option<Secret>,
    /// Required of nodes, if set.
    pub node_token: Option<Secret>,
    /// A directory with "door.pem", "door.key" and ca.pem. Without it a self-signed certificate is
    /// made, which clients cannot verify, and the web side is not encrypted.
    pub certificates: Option<PathBuf>,
    /// Clients need no token, even where other machines reach the listeners.
    pub anyone: bool,
    /// Host names of the web side besides `localhost` and addresses of this machine; pages of these
    /// hosts may connect, too.
    pub hosts: Vec<WebHost>,
    /// Rate limits and timeouts.
    pub limits: EdgeLimits,
}

impl EdgeSettings {
    /// Rejects listeners that need a token and have none.
    pub(crate) fn check(&self) -> Result<(), EdgeError> {
        if self.token.as_ref().is_some_and(|token| token.reveal().is_empty()) {
            return Err(EdgeError::EmptyToken);
        }
        let guarded = self.token.is_some() || self.anyone;
        for (listener, address) in [(Listener::Clients, self.quic), (Listener::Web, self.web)] {
            if let Some(address) = address {
                exposure::check(listener, address, guarded)?;
            }
        }
        Ok(())
    }
}

/// Rate limits, timeouts and numbers of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeLimits {
    /// Accepted connections, at most.
    pub connections: usize,
    /// Accepted connections from one host, at most.
    pub host_connections: usize,
    /// Connections of one listener that have not authenticated yet, at most; for HTTP, all that are
    /// not WebSockets of clients. When the limit is reached, the oldest one of the host with the
    /// most is displaced. QUIC and HTTP are limited separately.
    pub pending: usize,
    /// The same for one host.
    pub host_pending: usize,
    /// With more pending connections than this, QUIC requires address validation (a retry) first.
    pub unvalidated: usize,
    /// From the first packet to an encrypted connection; also for the head of an HTTP request.
    pub tls_handshake: Duration,
    /// From there to the complete [`Handshake`].
    pub handshake: Duration,
    /// A connection without a message for so long is closed.
    pub idle: Duration,
    /// Handshakes from one host.
    pub handshakes: Allowance,
    /// HTTP requests from one host.
    pub requests: Allowance,
    /// Messages of one connection.
    pub messages: Allowance,
    /// Bytes of one connection.
    pub bytes: Allowance,
    /// Messages beyond those limits are dropped; with more of them than this the connection is
    /// closed.
    pub excess: Allowance,
    /// A connection with so many malformed messages is closed.
    pub malformed: u32,
    /// Viewers, at most; they count as connections, too.
    pub viewers: usize,
    /// Queries of one viewer.
    pub questions: Allowance,
}

impl Default for EdgeLimits {
    /// Message limits are twice the gateway's, which can report to a client what it did wrong.
    fn default() -> EdgeLimits {
        EdgeLimits {
            connections: 512,
            host_connections: 32,
            pending: 1024,
            host_pending: 256,
            unvalidated: 64,
            tls_handshake: Duration::from_secs(2),
            handshake: Duration::from_secs(2),
            idle: Duration::from_secs(10),
            handshakes: Allowance { per_second: 20, most: 40 },
            requests: Allowance { per_second: 50, most: 200 },
            messages: Allowance { per_second: 240, most: 480 },
            bytes: Allowance { per_second: 128_000, most: 256_000 },
            excess: Allowance { per_second: 240, most: 2000 },
            malformed: 100,
            viewers: 64,
            questions: Allowance { per_second: 30, most: 60 },
        }
    }
}

/// Answers requests that concern replicas of the directory.
pub type ReplicaHandler = Box<dyn Fn(&Purpose) -> Option<EdgeResponse> + Send + Sync>;

/// What the edge server serves, and the callbacks into the rest of the process.
pub struct EdgeServices {
    /// The world manifest.
    pub manifest: WorldManifest,
    /// Shapes and other contents, addressed by their digest.
    pub contents: Library,
    /// All shapes.
    pub shapes: Shapes,
    /// The status of the world as JSON.
    pub status: Box<dyn Fn() -> String + Send + Sync>,
    /// The metrics in the text format of Prometheus.
    pub metrics: Box<dyn Fn() -> String + Send + Sync>,
    /// Admits a node: its address, its random name, and the number of its followers.
    pub admit: Box<dyn Fn(SocketAddr, u64, u32) -> Result<NodeAssignment, String> + Send + Sync>,
    /// Delivers a client message to the gateway. Must not block.
    pub deliver: Box<dyn Fn(ClientId, ClientMessage) + Send + Sync>,
    /// Answers requests about replicas of the directory, if there are replicas; `None` for other
    /// requests. May block for a moment.
    pub replicas: Option<ReplicaHandler>,
    /// Serves viewers, if there is a page.
    pub view: Option<Arc<ViewHub>>,
}

/// Why an edge server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum EdgeError {
    /// A listener would be reachable by other machines without authentication.
    #[error(transparent)]
    Unguarded(#[from] Unguarded),
    /// The token is empty.
    #[error("--token is empty: give one that is hard to guess, or none")]
    EmptyToken,
    /// The address is in use, or not one of this machine.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The listen address.
        address: SocketAddr,
        /// The reason given by the system.
        error: io::Error,
    },
    /// A certificate file is missing or malformed.
    #[error("server certificate in {place}: {why}")]
    Certificate {
        /// The file or directory.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// The system gives no threads.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
}

/// Counters of an edge server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeCounters {
    /// Accepted connections that are open now.
    pub connections: u64,
    /// Connections that have not authenticated yet, and those of HTTP.
    pub pending: u64,
    /// Rejected connections, by reason.
    pub rejected: Rejected,
    /// Accepted connections that were closed by the server because of what they did.
    pub disconnected: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Bytes of those.
    pub bytes_received: u64,
    /// Messages sent.
    pub messages_sent: u64,
    /// Bytes of those.
    pub bytes_sent: u64,
    /// Messages that were dropped because they exceeded the rate limit.
    pub excess: u64,
    /// Malformed messages.
    pub malformed: u64,
    /// Messages that were not sent because the reader is slow or gone.
    pub lost: u64,
}

/// Rejected connections, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejected {
    /// Unsupported protocol version.
    pub protocol: u64,
    /// Missing or invalid token or certificate.
    pub token: u64,
    /// Unknown `Host` or `Origin`.
    pub host: u64,
    /// A limit on connections or handshakes was reached.
    pub full: u64,
    /// The handshake timed out or was malformed.
    pub silent: u64,
    /// The request cannot be served here.
    pub work: u64,
}

/// What the TLS certificate of a peer says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PeerIdentity {
    Anonymous,
    NodeCertificate,
}

/// The counters behind [`EdgeCounters`], shared by all threads.
#[derive(Debug, Default)]
struct AtomicCounters {
    protocol: AtomicU64,
    token: AtomicU64,
    host: AtomicU64,
    full: AtomicU64,
    silent: AtomicU64,
    work: AtomicU64,
    disconnected: AtomicU64,
    messages_received: AtomicU64,
    bytes_received: AtomicU64,
    messages_sent: AtomicU64,
    bytes_sent: AtomicU64,
    excess: AtomicU64,
    malformed: AtomicU64,
    lost: AtomicU64,
}

fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

/// State that all connections share.
struct EdgeState {
    token: Option<Secret>,
    node_token: Option<Secret>,
    node_certificates: bool,
    hosts: Vec<WebHost>,
    limits: EdgeLimits,
    services: EdgeServices,
    connections: Arc<ConnectionTable>,
    meshes: Meshes,
    counters: AtomicCounters,
    opened: Instant,
    /// For sends from threads outside the runtime.
    runtime: Handle,
}

impl EdgeState {
    /// The time for state machines and rate limiters.
    fn now(&self) -> Time {
        Time(self.opened.elapsed().as_micros() as u64)
    }

    /// Decodes a handshake. The version is read first: in another version the rest may differ.
    fn read_handshake(bytes: &[u8]) -> Result<Handshake, Rejection> {
        let unreadable = |error: &dyn std::fmt::Display| Rejection::Unreadable(error.to_string());
        let protocol: (u32, _) =
            postcard::take_from_bytes(bytes).map_err(|error| unreadable(&error))?;
        if protocol.0 != PROTOCOL {
            return Err(Rejection::Protocol { found: protocol.0 });
        }
        envelope::open(bytes).map_err(|error| unreadable(&error))
    }

    /// Checks token, certificate and purpose of a handshake.
    fn authorize(&self, handshake: &Handshake, identity: PeerIdentity) -> Result<(), Rejection> {
        let shown = handshake.token.as_bytes();
        let fits = |token: &Option<Secret>| token.as_ref().is_some_and(|token| token.is(shown));
        let watched_only = self.services.view.as_ref().is_some_and(|hub| !hub.is_walkable());
        match handshake.purpose {
            Purpose::Status => self.authorize_status(handshake),
            _ if watched_only => Err(Rejection::Recording),
            Purpose::Play if self.is_replica() => Err(Rejection::Replica),
            Purpose::Play if self.token.is_none() || fits(&self.token) => Ok(()),
            Purpose::Play => Err(Rejection::Token(TokenProblem::of(&handshake.token))),
            Purpose::Join { .. } | Purpose::Replicate { .. } | Purpose::Change(_) => {
                self.authorize_node(&handshake.token, identity)
            }
        }
    }

    /// Checks the credentials of a node. The transport requires exactly what it was configured
    /// with, so whatever would fail there is rejected here, before a node number is assigned.
    fn authorize_node(&self, token: &str, identity: PeerIdentity) -> Result<(), Rejection> {
        let mut lacks = Vec::new();
        if self.node_certificates && identity != PeerIdentity::NodeCertificate {
            lacks.push("a node certificate (--tls; none was sent)".to_string());
        }
        match &self.node_token {
            Some(required) if !required.is(token.as_bytes()) => {
                lacks.push(format!("--node-token ({})", TokenProblem::of(token)));
            }
            None if !token.is_empty() => return Err(Rejection::NeedlessToken),
            Some(_) | None => {}
        }
        if lacks.is_empty() { Ok(()) } else { Err(Rejection::Node(lacks.join(" and "))) }
    }

    /// Returns true in the process of a directory replica, whose handler answers every purpose.
    fn is_replica(&self) -> bool {
        self.services.replicas.as_ref().is_some_and(|handler| handler(&Purpose::Play).is_some())
    }

    /// Status may be read with the token of clients or that of nodes.
    fn authorize_status(&self, handshake: &Handshake) -> Result<(), Rejection> {
        let tokens = [&self.token, &self.node_token];
        let mut shown = tokens.iter().filter_map(|token| token.as_ref());
        let fits = shown.any(|token| token.is(handshake.token.as_bytes()));
        let is_allowed = self.token.is_none() || fits;
        if is_allowed { Ok(()) } else { Err(Rejection::Token(TokenProblem::of(&handshake.token))) }
    }

    /// Counts and logs a rejected connection, without the token that was sent.
    fn reject(&self, remote: SocketAddr, rejection: &Rejection) {
        let counter = match rejection {
            Rejection::Protocol { .. } => &self.counters.protocol,
            Rejection::Token(_) | Rejection::Node(_) | Rejection::NeedlessToken => {
                &self.counters.token
            }
            Rejection::Host(_) | Rejection::Origin(_) => &self.counters.host,
            Rejection::Full | Rejection::HostFull | Rejection::TooOften | Rejection::Displaced => {
                &self.counters.full
            }
            Rejection::Late(_) | Rejection::Tls(_) | Rejection::Unreadable(_) => {
                &self.counters.silent
            }
            Rejection::Work(_) | Rejection::Replica | Rejection::Recording | Rejection::Unseen => {
                &self.counters.work
            }
        };
        count(counter, 1);
        // Rejections of one host are rate-limited in the log.
        if self.connections.may_log(remote) {
            let what = match rejection {
                Rejection::Node(_) | Rejection::NeedlessToken | Rejection::Work(_) => "node",
                _ => "connection",
            };
            let reason = rejection::one_line(&rejection.to_string());
            tracing::warn!(%remote, "{what} rejected: {reason}");
        }
    }

    /// A connection without any bytes, as browsers open in advance: no warning.
    fn unused(&self, remote: SocketAddr) {
        count(&self.counters.silent, 1);
        tracing::debug!(%remote, "connection closed: nothing was received");
    }

    /// Counts and logs an accepted connection that the server closes.
    fn disconnected(&self, remote: SocketAddr, why: &str) {
        count(&self.counters.disconnected, 1);
        tracing::warn!(%remote, "client disconnected: {why}");
    }

    /// Checks the rate, decodes a message and passes it to the gateway.
    fn receive(
        &self,
        slot: &ConnectionSlot,
        limiter: &mut ConnectionLimiter,
        bytes: &[u8],
    ) -> Verdict {
        let verdict = self.check_rate(limiter, bytes.len());
        if verdict != Verdict::Accept {
            return verdict;
        }
        match ClientMessage::read(bytes) {
            Ok(message) => {
                (self.services.deliver)(slot.client, message);
                Verdict::Accept
            }
            Err(_) => self.malformed(limiter),
        }
    }

    /// Counts a message and applies the rate limits, before it is decoded.
    fn check_rate(&self, limiter: &mut ConnectionLimiter, bytes: usize) -> Verdict {
        count(&self.counters.messages_received, 1);
        count(&self.counters.bytes_received, bytes as u64);
        let verdict = limiter.check(self.now(), bytes);
        if verdict != Verdict::Accept {
            count(&self.counters.excess, 1);
        }
        verdict
    }

    /// Counts a malformed message.
    fn malformed(&self, limiter: &mut ConnectionLimiter) -> Verdict {
        count(&self.counters.malformed, 1);
        limiter.malformed()
    }

    /// Counts a message that was sent.
    fn sent(&self, bytes: usize) {
        count(&self.counters.messages_sent, 1);
        count(&self.counters.bytes_sent, bytes as u64);
    }
}

/// A running edge server; it stops when dropped.
pub struct EdgeServer {
    edge: Arc<EdgeState>,
    runtime: Option<Runtime>,
    quic: Option<(quinn::Endpoint, SocketAddr)>,
    web: Option<SocketAddr>,
}

/// Encryption runs on these threads.
const THREADS: usize = 2;

/// Connected clients are notified of the shutdown, for at most this long.
const FAREWELL: Duration = Duration::from_millis(100);

impl EdgeServer {
    /// Starts the server.
    ///
    /// # Errors See [`EdgeError`].
    pub fn open(settings: EdgeSettings, services: EdgeServices) -> Result<EdgeServer, EdgeError> {
        settings.check()?;
        let EdgeSettings { quic, web, token, node_token, certificates, hosts, limits, .. } =
            settings;
        let tls = tls::Tls::new(certificates.as_deref())?;
        let runtime = crate::threads::runtime("edge", THREADS).map_err(EdgeError::Threads)?;
        let edge = Arc::new(EdgeState {
            token,
            node_token,
            node_certificates: certificates.is_some(),
            hosts,
            limits,
            meshes: Meshes::new(&services.manifest, &services.shapes),
            services,
            connections: Arc::new(ConnectionTable::new(limits)),
            counters: AtomicCounters::default(),
            opened: Instant::now(),
            runtime: runtime.handle().clone(),
        });
        let inside = runtime.enter();
        let listen = |address| move |error| EdgeError::Listen { address, error };
        let quic = match quic {
            Some(address) => {
                let endpoint = quic::listen(address, &tls, &limits)?;
                let address = endpoint.local_addr().map_err(listen(address))?;
                runtime.spawn(quic::serve(edge.clone(), endpoint.clone()));
                Some((endpoint, address))
            }
            None => None,
        };
        let web = match web {
            Some(address) => {
                let listener = web::listen(address).map_err(listen(address))?;
                let address = listener.local_addr().map_err(listen(address))?;
                runtime.spawn(web::serve(edge.clone(), listener, tls.web));
                Some(address)
            }
            None => None,
        };
        drop(inside);
        Ok(EdgeServer { edge, runtime: Some(runtime), quic, web })
    }

    /// Sends a message to a client. Never blocks: for a slow reader the oldest messages are
    /// dropped.
    pub fn send(&self, client: ClientId, message: &GatewayMessage) {
        let Some(client) = self.edge.connections.get(client) else { return };
        match &client.outbound {
            Outbound::Datagrams(outbound) => outbound.send(&self.edge, message),
            Outbound::Queue(outbound) => {
                count(&self.edge.counters.lost, outbound.push(message.clone()))
            }
            Outbound::ViewOnly => {}
        }
        if let GatewayMessage::Kicked { reason, .. } = message {
            let why = format!("too many rejected inputs ({reason:?})");
            self.edge.disconnected(client.remote, &why);
            if let Outbound::Datagrams(outbound) = &client.outbound {
                outbound.close_soon(&self.edge, why);
            }
        }
    }

    /// The address of the QUIC listener.
    #[must_use]
    pub fn quic_address(&self) -> Option<SocketAddr> {
        self.quic.as_ref().map(|(_, address)| *address)
    }

    /// The address of the HTTP listener.
    #[must_use]
    pub fn web_address(&self) -> Option<SocketAddr> {
        self.web
    }

    /// The current counters.
    #[must_use]
    pub fn counters(&self) -> EdgeCounters {
        let counters = &self.edge.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (pending, connections) = self.edge.connections.numbers();
        EdgeCounters {
            connections,
            pending,
            rejected: Rejected {
                protocol: read(&counters.protocol),
                token: read(&counters.token),
                host: read(&counters.host),
                full: read(&counters.full),
                silent: read(&counters.silent),
                work: read(&counters.work),
            },
            disconnected: read(&counters.disconnected),
            messages_received: read(&counters.messages_received),
            bytes_received: read(&counters.bytes_received),
            messages_sent: read(&counters.messages_sent),
            bytes_sent: read(&counters.bytes_sent),
            excess: read(&counters.excess),
            malformed: read(&counters.malformed),
            lost: read(&counters.lost),
        }
    }
}

impl Drop for EdgeServer {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let endpoint = self.quic.take().map(|(endpoint, _)| endpoint);
        if let Some(endpoint) = &endpoint {
            endpoint.close(quic::CLOSING, b"the server shuts down");
        }
        // On its own thread: a runtime must not be dropped inside another one.
        let end = std::thread::spawn(move || {
            if let Some(endpoint) = endpoint {
                let idle = async { tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await };
                let _ = runtime.block_on(idle);
            }
            runtime.shutdown_background();
        });
        // A panic was reported by the panic hook.
        let _ = end.join();
    }
}
