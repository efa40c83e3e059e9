//! The transport on zenoh: a peer that others find by gossip, and a key for each name. No other
//! file uses zenoh.
//!
//! Measured with zenoh 1.10.2 by `examples/transport_rtt.rs` on two cores that did other work as
//! well: round trip of 1 kB 0.1 ms (p99 0.1 to 0.3 ms), over TLS the same; of 200 kB 0.3 ms, over
//! TLS 0.6 ms. While a peer was frozen no send took longer than 4 ms, the time slice of another
//! process, and mostly none longer than 0.3 ms. So there is no queue of our own in between.

use super::{Deliver, SendOutcome, TransportError, TransportSettings, Urgency};
use crate::certificates::{self, Role, hexadecimal};
use ::zenoh::Wait;
use ::zenoh::pubsub::Subscriber;
use ::zenoh::qos::{CongestionControl, Priority};
use ring::hmac;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::io::{PipeReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::subscriber::NoSubscriber;

/// A port may be taken between finding it free and opening it.
const ATTEMPTS: usize = 8;

/// Connections that have not authenticated yet. zenoh has no limit per address and displaces
/// nothing, so this many idle connections keep nodes out, for two seconds each. A stock listener
/// has 100; 2,000 idle connections kept nodes out of one with 256 (decision 40). Each takes an open
/// file.
const PENDING: usize = 4096;

pub(super) struct Session {
    session: ::zenoh::Session,
    /// `jostle/<world>/`
    prefix: String,
    listening: Vec<SocketAddr>,
    deliver: Deliver,
    answered: Mutex<HashMap<String, Subscriber<()>>>,
    /// Dropping it stops the repair thread.
    _repair: mpsc::Sender<()>,
}

impl Session {
    pub(super) fn open(
        settings: &TransportSettings,
        deliver: Deliver,
    ) -> Result<Session, TransportError> {
        let any_port = settings.listen.iter().any(|address| address.port() == 0);
        let mut attempt = 1;
        loop {
            let listening = free_ports(&settings.listen)?;
            match open(settings, &listening) {
                Ok(session) => {
                    let prefix = format!("jostle/{}/", settings.world);
                    let _repair = MeshRepair::start(session.clone(), settings, &prefix)?;
                    let answered = Mutex::default();
                    return Ok(Session { session, prefix, listening, deliver, answered, _repair });
                }
                Err(_) if any_port && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn answer_to(&self, name: &str) -> Result<(), TransportError> {
        let mut answered = locked(&self.answered);
        if answered.contains_key(name) {
            return Ok(());
        }
        let deliver = self.deliver.clone();
        let own = name.to_owned();
        let subscriber = self
            .session
            .declare_subscriber(format!("{}{name}", self.prefix))
            .callback(move |sample| deliver(&own, &sample.payload().to_bytes()))
            .wait()
            .map_err(failed("answer to a name"))?;
        answered.insert(name.to_owned(), subscriber);
        Ok(())
    }

    pub(super) fn send(&self, name: &str, bytes: &[u8], urgency: Urgency) -> SendOutcome {
        let priority = match urgency {
            Urgency::Now => Priority::RealTime,
            Urgency::Tick => Priority::InteractiveHigh,
            Urgency::Bulk => Priority::Background,
        };
        // Not `express`: it is no faster, and each message would take its own batch in the queue:
        // of 200 in a row 15 arrived.
        let put = self
            .session
            .put(format!("{}{name}", self.prefix), bytes)
            .priority(priority)
            .congestion_control(CongestionControl::Drop)
            .wait();
        if put.is_ok() { SendOutcome::Queued } else { SendOutcome::Dropped }
    }

    pub(super) fn listening(&self) -> &[SocketAddr] {
        &self.listening
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Otherwise peers notice after the lease; nothing is lost if this fails.
        let _ = self.session.close().wait();
    }
}

/// Repairs broken links.
///
/// When two peers lose their link while both keep one to a third, they never find each other again:
/// zenoh redials only configured addresses, and gossip is sent once. So all peers publish twice a
/// second with whom they are connected. A peer that learns of one it has no link to opens a second
/// session for a moment: that one finds all peers, and its gossip introduces all of them to each
/// other.
struct MeshRepair {
    session: ::zenoh::Session,
    /// The key of these reports. Role names have no capitals.
    key: String,
    settings: TransportSettings,
    reports: Arc<Mutex<LinkReports>>,
    /// For how many rounds each peer has been missing.
    missing: HashMap<String, u32>,
    /// Pause after the next attempt, which may fail forever.
    pause: Duration,
}

/// The last report of each peer, and when it arrived.
type LinkReports = HashMap<String, (Instant, Vec<String>)>;

impl MeshRepair {
    const ROUND: Duration = Duration::from_millis(500);
    /// Longer than the lease, and than a second session of another peer.
    const ROUNDS: u32 = 4;
    /// A lockstep group is stalled while two of its members have no link.
    const LONGEST_PAUSE: Duration = Duration::from_secs(4);

    fn start(
        session: ::zenoh::Session,
        settings: &TransportSettings,
        prefix: &str,
    ) -> Result<mpsc::Sender<()>, TransportError> {
        let key = format!("{prefix}WHO");
        let reports: Arc<Mutex<LinkReports>> = Arc::default();
        let reports_in = reports.clone();
        session
            .declare_subscriber(&key)
            .callback(move |sample| {
                let text = sample.payload().try_to_string().unwrap_or_default().into_owned();
                let mut words = text.split(' ').map(str::to_owned);
                if let Some(who) = words.next() {
                    locked(&reports_in).insert(who, (Instant::now(), words.collect()));
                }
            })
            .background()
            .wait()
            .map_err(failed("hear of others"))?;
        let settings = TransportSettings { listen: vec![], ..settings.clone() };
        let (missing, pause) = (HashMap::new(), Self::ROUND);
        let mut repair = MeshRepair { session, key, settings, reports, missing, pause };
        let (stop, stopped) = mpsc::channel();
        let run = move || {
            let mut wait = Self::ROUND;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = Self::ROUND;
                if repair.is_peer_missing() {
                    let moment = open(&repair.settings, &[]);
                    let _ = stopped.recv_timeout(Self::ROUND);
                    drop(moment);
                    repair.missing.clear();
                    wait = repair.pause;
                    repair.pause = (repair.pause * 2).min(Self::LONGEST_PAUSE);
                }
            }
        };
        let thread = std::thread::Builder::new().name("link repair".to_owned()).spawn(run);
        thread.map_err(failed("start a thread"))?;
        Ok(stop)
    }

    /// Publishes our links, and compares them with recent reports of others.
    fn is_peer_missing(&mut self) -> bool {
        let me = self.session.zid().to_string();
        let peers = self.session.info().peers_zid().wait();
        let mut known: Vec<String> = peers.map(|peer| peer.to_string()).collect();
        known.insert(0, me);
        // A lost report is followed by the next one.
        let _ = self
            .session
            .put(&self.key, known.join(" "))
            .priority(Priority::Background)
            .congestion_control(CongestionControl::Drop)
            .wait();
        let mut reports = locked(&self.reports);
        reports.retain(|_, (when, _)| when.elapsed() < Self::ROUND * Self::ROUNDS);
        let named: HashSet<&String> = reports.values().flat_map(|(_, links)| links).collect();
        let absent = named.into_iter().filter(|who| !known.contains(who));
        let rounds = |who: &String| self.missing.get(who).map_or(1, |rounds| rounds + 1);
        self.missing = absent.map(|who| (who.clone(), rounds(who))).collect();
        if self.missing.is_empty() {
            self.pause = Self::ROUND;
        }
        self.missing.values().any(|&rounds| rounds > Self::ROUNDS)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> TransportError {
    move |reason| {
        let reason = crate::without_build_paths(&reason.to_string());
        TransportError::Engine { what, reason }
    }
}

/// zenoh gives the port that it listens on by an unstable interface only, so free ones are found
/// first.
fn free_ports(listen: &[SocketAddr]) -> Result<Vec<SocketAddr>, TransportError> {
    // Held until all are found, so that no port is found twice.
    let mut locked = Vec::new();
    let mut free = Vec::new();
    for &address in listen {
        let cannot = |reason| TransportError::Listen { address, reason };
        let listener = TcpListener::bind(address).map_err(cannot)?;
        free.push(listener.local_addr().map_err(cannot)?);
        locked.push(listener);
    }
    Ok(free)
}

fn open(
    settings: &TransportSettings,
    listening: &[SocketAddr],
) -> Result<::zenoh::Session, TransportError> {
    let mut config = ::zenoh::Config::from_json5(&configuration(settings, listening)?.to_string())
        .map_err(failed("be configured"))?;
    let mut dictionary = None;
    if let Some(token) = &settings.guard.token {
        let password = password(token.reveal(), &settings.world);
        let read = dictionary.insert(offer(&format!("node:{password}"))?);
        let access = json!({
            "user": "node",
            "password": password,
            "dictionary_file": format!("/dev/fd/{}", read.as_raw_fd()),
        });
        // The error text of zenoh could contain the value.
        config.insert_json5("transport/auth/usrpwd", &access.to_string()).map_err(|_| {
            TransportError::Engine { what: "use its token", reason: "zenoh refuses it".to_owned() }
        })?;
    }
    // zenoh logs its configuration with the password: not to our log.
    tracing::subscriber::with_default(NoSubscriber::default(), || ::zenoh::open(config).wait())
        .map_err(failed("open a session"))
}

/// What zenoh sends instead of the token, which may contain characters that its file may not.
fn password(token: &str, world: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
    hexadecimal(hmac::sign(&key, format!("jostle plane {world}").as_bytes()).as_ref())
}

/// zenoh reads accepted passwords from a file. A pipe leaves no trace on disk.
fn offer(text: &str) -> Result<PipeReader, TransportError> {
    let (reader, mut writer) = std::io::pipe().map_err(failed("make a pipe"))?;
    writer.write_all(text.as_bytes()).map_err(failed("fill a pipe"))?;
    Ok(reader)
}

fn configuration(
    settings: &TransportSettings,
    listening: &[SocketAddr],
) -> Result<Value, TransportError> {
    let certificates = settings.guard.certificates.as_deref();
    let endpoints = |addresses: &[SocketAddr]| -> Vec<String> {
        let place = |address| match certificates {
            Some(_) => format!("tls/{address}#tls_handshake_timeout_ms=2000"),
            None => format!("tcp/{address}"),
        };
        addresses.iter().map(place).collect()
    };
    let mut config = json!({
        // Routers would need no repair, but when one of them closes, others of 1.10.2 panic.
        "mode": "peer",
        "scouting": { "multicast": { "enabled": false }, "gossip": { "enabled": true } },
        "listen": { "endpoints": endpoints(listening), "exit_on_failure": true },
        "connect": {
            "endpoints": endpoints(&settings.join),
            // In the background, forever.
            "timeout_ms": -1,
            "exit_on_failure": false,
            "retry": {
                "period_init_ms": 100,
                "period_max_ms": 400,
                "period_increase_factor": 2,
            },
        },
        // Opening does not wait for peers.
        "open": { "return_conditions": { "connect_scouted": false, "declares": false } },
        "transport": {
            "unicast": {
                "open_timeout": 2000,
                // Connections beyond this are closed at once, also those of nodes: see PENDING.
                "accept_timeout": 2000,
                "accept_pending": PENDING,
            },
            "link": {
                "protocols": [if certificates.is_some() { "tls" } else { "tcp" }],
                "tx": { "lease": 1000, "keep_alive": 4, "queue": queue() },
                "rx": { "max_message_size": 262_144 },
            },
        },
    });
    if let Some(directory) = certificates {
        config["transport"]["link"]["tls"] = tls(directory)?;
        config["access_control"] = access(&settings.world);
    }
    Ok(config)
}

/// When the queue to a peer is full, messages are dropped; therefore it is as long as zenoh allows,
/// 16 batches of 64 kB for each priority.
fn queue() -> Value {
    json!({
        "size": {
            "control": 16,
            "real_time": 16,
            "interactive_high": 16,
            "interactive_low": 1,
            "data_high": 1,
            "data": 16,
            "data_low": 1,
            "background": 16,
        },
        "congestion_control": {
            "drop": { "wait_before_drop": 0, "max_wait_before_drop_fragments": 0 },
        },
    })
}

/// Both sides present a certificate of our authority.
///
/// When dialing, zenoh also trusts public authorities. They sign no certificate with the common
/// name "node", without which no message is accepted: see [`access`]. So the host name need not be
/// verified, and certificates are valid wherever a process runs.
fn tls(directory: &Path) -> Result<Value, TransportError> {
    // Read here first, because the error of zenoh does not say which file is missing.
    certificates::roots(directory, Role::Node)?;
    certificates::chain(directory, Role::Node)?;
    certificates::key(directory, Role::Node)?;
    let certificate = Role::Node.certificate(directory);
    let key = Role::Node.key(directory);
    Ok(json!({
        "root_ca_certificate": certificates::authority(directory, Role::Node),
        "enable_mtls": true,
        "listen_certificate": certificate,
        "listen_private_key": key,
        "connect_certificate": certificate,
        "connect_private_key": key,
        "verify_name_on_connect": false,
    }))
}

/// Only nodes may publish, and only in their world. Declarations are filtered as well: without that
/// permission no peer would learn of subscriptions.
fn access(world: &str) -> Value {
    json!({
        "enabled": true,
        "default_permission": "deny",
        "rules": [{
            "id": "speak",
            "messages": ["put", "declare_subscriber"],
            "flows": ["egress", "ingress"],
            "permission": "allow",
            "key_exprs": [format!("jostle/{world}/**")],
        }],
        "subjects": [{ "id": "nodes", "cert_common_names": [Role::Node.name()] }],
        "policies": [{ "rules": ["speak"], "subjects": ["nodes"] }],
    })
}
