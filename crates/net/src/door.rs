//! The door: where clients, newcomers and the curious come in from the network.
//!
//! Whoever connects knocks first ([`Knock`]) and is told what kind of world this is, or is refused
//! with a reason. Then letters go both ways, between a client and the gateway behind this door.
//! The door counts and throws away before it decodes; what a letter may do is judged by the
//! gateway. Who says it is what the connection says: nothing in a letter can change that.
//!
//! * `quic`: letters as datagrams, contents over a stream;
//! * `web`: HTTP; `web_letters`: WebSockets for letters;
//! * `json`: WebSockets for small tools, the client's part played by the door;
//! * `page`: the page that shows the world, `meshes` the forms as it wants them, `web_view` what it
//!   is told;
//! * `hosts`: under which names the web side is used, and from which pages;
//! * `guests`: who is here, how many from where;
//! * `turnstile`: how much one connection may say.

mod guests;
mod hosts;
mod json;
mod json_words;
mod mailbox;
mod meshes;
mod page;
mod quic;
mod reasons;
mod tls;
mod turnstile;
mod web;
mod web_letters;
mod web_view;

use crate::Secret;
use crate::charter::{Answer, Charter, Knock, PROTOCOL, Place, Purpose};
use crate::exposure::{self, Listener, Unguarded};
use crate::parcel;
use crate::view::Hub;
use guests::{Guests, Outlet, Seat};
use jostle_proto::{Allowance, ClientId, ClientSays, GatewaySays, Library, Shapes, Time};
pub(crate) use meshes::Meshes;
use reasons::{Disconnect, No, Sent};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, Runtime};
use turnstile::{Turnstile, Verdict};

pub use hosts::WebHost;
pub(crate) use tls::ALPN;
pub(crate) use web::content_name;

/// Where the door is and who may come in.
#[derive(Clone, Debug)]
pub struct DoorSettings {
    /// For QUIC, if it is wanted; port 0 takes any that is free.
    pub quic: Option<SocketAddr>,
    /// For HTTP and WebSockets, if they are wanted.
    pub web: Option<SocketAddr>,
    /// Clients must show it, if there is one.
    pub token: Option<Secret>,
    /// Nodes must show it, if there is one.
    pub node_token: Option<Secret>,
    /// A directory with door.pem, door.key and ca.pem. Without, a certificate is made that nobody
    /// can check, and the web side is not encrypted.
    pub certificates: Option<PathBuf>,
    /// Clients need no token, also where other machines reach the listeners.
    pub anyone: bool,
    /// Names under which the web side may be used, besides `localhost` and addresses of this
    /// machine; also of hosts whose pages may use it.
    pub hosts: Vec<WebHost>,
    /// How much of everything.
    pub limits: DoorLimits,
}

impl DoorSettings {
    /// Do the listeners need a token that is not there?
    pub(crate) fn check(&self) -> Result<(), DoorError> {
        if self.token.as_ref().is_some_and(|token| token.reveal().is_empty()) {
            return Err(DoorError::EmptyToken);
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

/// How much of everything a door gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoorLimits {
    /// Connections that were let in, at most.
    pub connections: usize,
    /// Of those, from one host.
    pub host_connections: usize,
    /// Connections of one listener that have not authenticated yet, at most; with HTTP all that are
    /// no WebSockets of clients. If there are more, the oldest one of the host with the most gives
    /// way: QUIC and HTTP each have these places for themselves.
    pub waiting: usize,
    /// Of those, from one host.
    pub host_waiting: usize,
    /// With more waiting, who comes by QUIC must first show that its address is its own.
    pub unproven: usize,
    /// From the first packet to an encrypted connection; also for the head of an HTTP request.
    pub handshake: Duration,
    /// From there to the knock.
    pub knock: Duration,
    /// A connection that is silent for so long is closed.
    pub idle: Duration,
    /// Knocks from one host.
    pub knocks: Allowance,
    /// HTTP requests from one host.
    pub requests: Allowance,
    /// Letters of one connection.
    pub messages: Allowance,
    /// Bytes of one connection.
    pub bytes: Allowance,
    /// Letters beyond that are thrown away, and with more of those than this the connection is
    /// closed.
    pub excess: Allowance,
    /// A connection with so many letters that are none is closed.
    pub garbage: u32,
    /// Those who watch, at most; they are connections too.
    pub viewers: usize,
    /// What one of them may ask.
    pub questions: Allowance,
}

impl Default for DoorLimits {
    /// Letters twice as generous as the gateway's own limits, which it also has words for.
    fn default() -> DoorLimits {
        DoorLimits {
            connections: 512,
            host_connections: 32,
            waiting: 1024,
            host_waiting: 256,
            unproven: 64,
            handshake: Duration::from_secs(2),
            knock: Duration::from_secs(2),
            idle: Duration::from_secs(10),
            knocks: Allowance { per_second: 20, most: 40 },
            requests: Allowance { per_second: 50, most: 200 },
            messages: Allowance { per_second: 240, most: 480 },
            bytes: Allowance { per_second: 128_000, most: 256_000 },
            excess: Allowance { per_second: 240, most: 2000 },
            garbage: 100,
            viewers: 64,
            questions: Allowance { per_second: 30, most: 60 },
        }
    }
}

/// Answers to those who ask for replicas of the directory.
pub type ReplicaDesk = Box<dyn Fn(&Purpose) -> Option<Answer> + Send + Sync>;

/// What the door can say by itself, and whom it tells.
pub struct Lobby {
    /// What kind of world this is.
    pub charter: Charter,
    /// Forms by content, and whatever else may be fetched.
    pub contents: Library,
    /// All forms.
    pub shapes: Shapes,
    /// How the world is, as JSON.
    pub status: Box<dyn Fn() -> String + Send + Sync>,
    /// Counters, as Prometheus reads them.
    pub metrics: Box<dyn Fn() -> String + Send + Sync>,
    /// A process wants to work: where it is, its name, and how many followers it has.
    pub admit: Box<dyn Fn(SocketAddr, u64, u32) -> Result<Place, String> + Send + Sync>,
    /// A letter for the gateway. Must not block.
    pub letter: Box<dyn Fn(ClientId, ClientSays) + Send + Sync>,
    /// Answers about the replicas of the directory, if it has several; none to what is not about
    /// them. May take a moment.
    pub replicas: Option<ReplicaDesk>,
    /// Those who watch, if they can.
    pub view: Option<Arc<Hub>>,
}

/// Why a door cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    /// Other machines could come without authentication.
    #[error(transparent)]
    Unguarded(#[from] Unguarded),
    /// A token that everybody knows.
    #[error("--token is empty: give one that is hard to guess, or none")]
    EmptyToken,
    /// The address is taken, or not this machine's.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        error: io::Error,
    },
    /// The files are not there or are something else.
    #[error("server certificate in {place}: {why}")]
    Certificate {
        /// The file or directory.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// There are no threads.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
}

/// How often things happened at a door.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DoorCounters {
    /// Connections that are in now.
    pub connections: u64,
    /// Connections that wait to be let in now, and those of HTTP.
    pub waiting: u64,
    /// Who was refused, by reason.
    pub refused: Refused,
    /// Connections that the door has closed because of what they did.
    pub put_out: u64,
    /// Letters that came.
    pub letters_in: u64,
    /// Bytes of those.
    pub bytes_in: u64,
    /// Letters that were sent.
    pub letters_out: u64,
    /// Bytes of those.
    pub bytes_out: u64,
    /// Letters that came beyond the allowance and were thrown away.
    pub excess: u64,
    /// What came and was no letter.
    pub garbage: u64,
    /// Letters that were not sent because their reader is slow or gone.
    pub lost: u64,
}

/// How often somebody was refused, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Another version of the protocol.
    pub protocol: u64,
    /// No token, or a wrong one.
    pub token: u64,
    /// For a host or from a page that is not known here.
    pub host: u64,
    /// No room, or too often.
    pub full: u64,
    /// Said nothing, or nothing that could be understood.
    pub silent: u64,
    /// Cannot work here.
    pub work: u64,
}

/// Does who knocks have the certificate of a node?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    Nothing,
    NodeCertificate,
}

/// Counters that all threads of the door count in.
#[derive(Debug, Default)]
struct Tally {
    protocol: AtomicU64,
    token: AtomicU64,
    host: AtomicU64,
    full: AtomicU64,
    silent: AtomicU64,
    work: AtomicU64,
    put_out: AtomicU64,
    letters_in: AtomicU64,
    bytes_in: AtomicU64,
    letters_out: AtomicU64,
    bytes_out: AtomicU64,
    excess: AtomicU64,
    garbage: AtomicU64,
    lost: AtomicU64,
}

/// One more, or so many.
fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

/// What is behind the door, for everybody who stands in it.
struct House {
    token: Option<Secret>,
    node_token: Option<Secret>,
    node_certificates: bool,
    hosts: Vec<WebHost>,
    limits: DoorLimits,
    lobby: Lobby,
    guests: Arc<Guests>,
    meshes: Meshes,
    tally: Tally,
    opened: Instant,
    /// For threads that are not the door's.
    runtime: Handle,
}

impl House {
    /// The time for state machines.
    fn now(&self) -> Time {
        Time(self.opened.elapsed().as_micros() as u64)
    }

    /// What somebody wants, if it can be read. The protocol comes first: in another one the rest
    /// may look different.
    fn read_knock(bytes: &[u8]) -> Result<Knock, No> {
        let unreadable = |error: &dyn std::fmt::Display| No::Unreadable(error.to_string());
        let protocol: (u32, _) =
            postcard::take_from_bytes(bytes).map_err(|error| unreadable(&error))?;
        if protocol.0 != PROTOCOL {
            return Err(No::Protocol { found: protocol.0 });
        }
        parcel::open(bytes).map_err(|error| unreadable(&error))
    }

    /// May it have what it wants?
    fn judge(&self, knock: &Knock, proof: Proof) -> Result<(), No> {
        let shown = knock.token.as_bytes();
        let fits = |token: &Option<Secret>| token.as_ref().is_some_and(|token| token.is(shown));
        let watched_only = self.lobby.view.as_ref().is_some_and(|hub| !hub.is_walkable());
        match knock.purpose {
            Purpose::Status => self.may_look(knock),
            _ if watched_only => Err(No::Recording),
            Purpose::Play if self.is_replica() => Err(No::Replica),
            Purpose::Play if self.token.is_none() || fits(&self.token) => Ok(()),
            Purpose::Play => Err(No::Token(Sent::of(&knock.token))),
            Purpose::Work { .. } | Purpose::Replicate { .. } | Purpose::Change(_) => {
                self.judge_node(&knock.token, proof)
            }
        }
    }

    /// May it be a node? The plane wants all that it was given, certificate and token, and nothing
    /// else: whatever would fail there is refused here, before a number is given.
    fn judge_node(&self, token: &str, proof: Proof) -> Result<(), No> {
        let mut lacks = Vec::new();
        if self.node_certificates && proof != Proof::NodeCertificate {
            lacks.push("a node certificate (--tls; none was sent)".to_string());
        }
        match &self.node_token {
            Some(required) if !required.is(token.as_bytes()) => {
                lacks.push(format!("--node-token ({})", Sent::of(token)));
            }
            None if !token.is_empty() => return Err(No::NeedlessToken),
            Some(_) | None => {}
        }
        if lacks.is_empty() { Ok(()) } else { Err(No::Node(lacks.join(" and "))) }
    }

    /// Is there only a replica behind this door? It has something to say about everything.
    fn is_replica(&self) -> bool {
        self.lobby.replicas.as_ref().is_some_and(|desk| desk(&Purpose::Play).is_some())
    }

    /// May it see how the world is?
    fn may_look(&self, knock: &Knock) -> Result<(), No> {
        let tokens = [&self.token, &self.node_token];
        let mut shown = tokens.iter().filter_map(|token| token.as_ref());
        let fits = shown.any(|token| token.is(knock.token.as_bytes()));
        let is_allowed = self.token.is_none() || fits;
        if is_allowed { Ok(()) } else { Err(No::Token(Sent::of(&knock.token))) }
    }

    /// A connection is rejected: counted and logged. Never with the token that was sent.
    fn refused(&self, remote: SocketAddr, no: &No) {
        let counter = match no {
            No::Protocol { .. } => &self.tally.protocol,
            No::Token(_) | No::Node(_) | No::NeedlessToken => &self.tally.token,
            No::Host(_) | No::Origin(_) => &self.tally.host,
            No::Full | No::HostFull | No::TooOften | No::Displaced => &self.tally.full,
            No::Late(_) | No::Tls(_) | No::Unreadable(_) => &self.tally.silent,
            No::Work(_) | No::Replica | No::Recording | No::Unseen => &self.tally.work,
        };
        count(counter, 1);
        // A host that is refused all the time does not fill the log.
        if self.guests.may_log(remote) {
            let what = match no {
                No::Node(_) | No::NeedlessToken | No::Work(_) => "node",
                _ => "connection",
            };
            tracing::warn!(%remote, "{what} rejected: {}", reasons::one_line(&no.to_string()));
        }
    }

    /// A connection that was opened and never used, as browsers do in advance: no warning.
    fn unused(&self, remote: SocketAddr) {
        count(&self.tally.silent, 1);
        tracing::debug!(%remote, "connection closed: nothing was received");
    }

    /// A connection that was accepted is closed because of what it did.
    fn put_out(&self, remote: SocketAddr, why: &str) {
        count(&self.tally.put_out, 1);
        tracing::warn!(%remote, "client disconnected: {why}");
    }

    /// One letter, as bytes: to the gateway, if it is one and not one too many.
    fn letter(&self, seat: &Seat, turnstile: &mut Turnstile, letter: &[u8]) -> Verdict {
        let verdict = self.pass(turnstile, letter.len());
        if verdict != Verdict::Take {
            return verdict;
        }
        match ClientSays::read(letter) {
            Ok(says) => {
                (self.lobby.letter)(seat.client, says);
                Verdict::Take
            }
            Err(_) => self.garbage(turnstile),
        }
    }

    /// So many bytes have come.
    fn pass(&self, turnstile: &mut Turnstile, bytes: usize) -> Verdict {
        count(&self.tally.letters_in, 1);
        count(&self.tally.bytes_in, bytes as u64);
        let verdict = turnstile.pass(Instant::now(), bytes);
        if verdict != Verdict::Take {
            count(&self.tally.excess, 1);
        }
        verdict
    }

    /// And they were nothing.
    fn garbage(&self, turnstile: &mut Turnstile) -> Verdict {
        count(&self.tally.garbage, 1);
        turnstile.garbage()
    }

    /// A letter that was sent.
    fn sent(&self, bytes: usize) {
        count(&self.tally.letters_out, 1);
        count(&self.tally.bytes_out, bytes as u64);
    }
}

/// A door that is open until it is dropped.
pub struct Door {
    house: Arc<House>,
    runtime: Option<Runtime>,
    quic: Option<(quinn::Endpoint, SocketAddr)>,
    web: Option<SocketAddr>,
}

/// Threads of a door: letters are encrypted and decrypted on them.
const THREADS: usize = 2;

/// Who is in is told that the door closes; nobody waits longer for that.
const FAREWELL: Duration = Duration::from_millis(100);

impl Door {
    /// Opens a door; whoever comes from now on is let in.
    ///
    /// # Errors
    /// See [`DoorError`].
    pub fn open(settings: DoorSettings, lobby: Lobby) -> Result<Door, DoorError> {
        settings.check()?;
        let DoorSettings { quic, web, token, node_token, certificates, hosts, limits, .. } =
            settings;
        let tls = tls::Tls::new(certificates.as_deref())?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("door")
            .enable_all()
            .build()
            .map_err(DoorError::Threads)?;
        let house = Arc::new(House {
            token,
            node_token,
            node_certificates: certificates.is_some(),
            hosts,
            limits,
            meshes: Meshes::new(&lobby.charter, &lobby.shapes),
            lobby,
            guests: Arc::new(Guests::new(limits)),
            tally: Tally::default(),
            opened: Instant::now(),
            runtime: runtime.handle().clone(),
        });
        let inside = runtime.enter();
        let listen = |address| move |error| DoorError::Listen { address, error };
        let quic = match quic {
            Some(address) => {
                let endpoint = quic::listen(address, &tls, &limits)?;
                let address = endpoint.local_addr().map_err(listen(address))?;
                runtime.spawn(quic::serve(house.clone(), endpoint.clone()));
                Some((endpoint, address))
            }
            None => None,
        };
        let web = match web {
            Some(address) => {
                let listener = web::listen(address).map_err(listen(address))?;
                let address = listener.local_addr().map_err(listen(address))?;
                runtime.spawn(web::serve(house.clone(), listener, tls.web));
                Some(address)
            }
            None => None,
        };
        drop(inside);
        Ok(Door { house, runtime: Some(runtime), quic, web })
    }

    /// Tells a client something. Never waits: who is slow loses, and the newest wins.
    pub fn send(&self, client: ClientId, says: &GatewaySays) {
        let Some(guest) = self.house.guests.get(client) else { return };
        match &guest.outlet {
            Outlet::Datagrams(outlet) => outlet.send(&self.house, says),
            Outlet::Mailbox(mailbox) => count(&self.house.tally.lost, mailbox.put(says.clone())),
            Outlet::Watches => {}
        }
        if let GatewaySays::Kicked { reason, .. } = says {
            let why = format!("too many rejected inputs ({reason:?})");
            self.house.put_out(guest.remote, &why);
            if let Outlet::Datagrams(outlet) = &guest.outlet {
                outlet.close_soon(&self.house, why);
            }
        }
    }

    /// Where QUIC is spoken, if it is.
    #[must_use]
    pub fn quic_address(&self) -> Option<SocketAddr> {
        self.quic.as_ref().map(|(_, address)| *address)
    }

    /// Where HTTP is spoken, if it is.
    #[must_use]
    pub fn web_address(&self) -> Option<SocketAddr> {
        self.web
    }

    /// How often things happened.
    #[must_use]
    pub fn counters(&self) -> DoorCounters {
        let tally = &self.house.tally;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (waiting, connections) = self.house.guests.numbers();
        DoorCounters {
            connections,
            waiting,
            refused: Refused {
                protocol: read(&tally.protocol),
                token: read(&tally.token),
                host: read(&tally.host),
                full: read(&tally.full),
                silent: read(&tally.silent),
                work: read(&tally.work),
            },
            put_out: read(&tally.put_out),
            letters_in: read(&tally.letters_in),
            bytes_in: read(&tally.bytes_in),
            letters_out: read(&tally.letters_out),
            bytes_out: read(&tally.bytes_out),
            excess: read(&tally.excess),
            garbage: read(&tally.garbage),
            lost: read(&tally.lost),
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let endpoint = self.quic.take().map(|(endpoint, _)| endpoint);
        if let Some(endpoint) = &endpoint {
            endpoint.close(quic::CLOSING, b"the server shuts down");
        }
        // On a thread of its own, for a runtime must not end inside another one.
        let end = std::thread::spawn(move || {
            if let Some(endpoint) = endpoint {
                let idle = async { tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await };
                let _ = runtime.block_on(idle);
            }
            runtime.shutdown_background();
        });
        // That it panicked would have been said.
        let _ = end.join();
    }
}
