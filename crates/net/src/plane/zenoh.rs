//! The plane on zenoh: a peer that others find by gossip, and a key for each name. No other file
//! knows zenoh.
//!
//! Measured with zenoh 1.10.2 by `examples/plane_rtt.rs` on two cores that did other work as well:
//! round trip of 1 kB 0.1 ms (p99 0.1 to 0.3 ms), over TLS the same; of 200 kB 0.3 ms, over TLS
//! 0.6 ms. While a peer was frozen no send took longer than 4 ms, the slice of another process, and
//! mostly none longer than 0.3 ms. So there is no queue of our own in between.

use super::{Deliver, PlaneError, PlaneSettings, Sent, Urgency};
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

/// Somebody may take a port between our finding it free and zenoh's taking it.
const ATTEMPTS: usize = 8;

/// Connections that have not authenticated yet. zenoh has no limit per address and lets nothing
/// give way, so idle connections keep nodes out once there are so many of them, and stay for two
/// seconds. A stock listener has 100; 2,000 idle connections kept nodes out of one with 256
/// (decision 40). Each takes an open file.
const PENDING: usize = 4096;

pub(super) struct Session {
    session: ::zenoh::Session,
    /// `jostle/<world>/`
    prefix: String,
    listening: Vec<SocketAddr>,
    deliver: Deliver,
    answered: Mutex<HashMap<String, Subscriber<()>>>,
    /// Dropped, it ends the thread that mends.
    _mending: mpsc::Sender<()>,
}

impl Session {
    pub(super) fn open(settings: &PlaneSettings, deliver: Deliver) -> Result<Session, PlaneError> {
        let any_port = settings.listen.iter().any(|address| address.port() == 0);
        let mut attempt = 1;
        loop {
            let listening = free_ports(&settings.listen)?;
            match open(settings, &listening) {
                Ok(session) => {
                    let prefix = format!("jostle/{}/", settings.world);
                    let _mending = Mender::start(session.clone(), settings, &prefix)?;
                    let answered = Mutex::default();
                    return Ok(Session { session, prefix, listening, deliver, answered, _mending });
                }
                Err(_) if any_port && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn answer_to(&self, name: &str) -> Result<(), PlaneError> {
        let mut answered = held(&self.answered);
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

    pub(super) fn send(&self, name: &str, bytes: &[u8], urgency: Urgency) -> Sent {
        let priority = match urgency {
            Urgency::Now => Priority::RealTime,
            Urgency::Tick => Priority::InteractiveHigh,
            Urgency::Bulk => Priority::Background,
        };
        // Not `express`: it is no faster, and each message would take a place in the queue by
        // itself: of 200 in a row 15 arrived.
        let put = self
            .session
            .put(format!("{}{name}", self.prefix), bytes)
            .priority(priority)
            .congestion_control(CongestionControl::Drop)
            .wait();
        if put.is_ok() { Sent::Given } else { Sent::Lost }
    }

    pub(super) fn listening(&self) -> &[SocketAddr] {
        &self.listening
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Others would notice by themselves after the lease; nothing is lost if this fails.
        let _ = self.session.close().wait();
    }
}

/// Makes links again that broke.
///
/// When two peers lose their link while both keep that to a third, they never find each other
/// again: zenoh calls only the addresses anew that it was given, and gossip is told once. So all
/// say twice a second with whom they are connected. Who hears of somebody that it is not connected
/// with opens another session for a moment: that finds everybody, and tells everybody of everybody.
struct Mender {
    session: ::zenoh::Session,
    /// Where it says with whom it is connected. Names have no capitals.
    key: String,
    settings: PlaneSettings,
    heard: Arc<Mutex<Heard>>,
    /// For how many rounds they have been missing.
    missing: HashMap<String, u32>,
    /// To be waited after the next attempt, which may be in vain for ever.
    pause: Duration,
}

/// Who has said when with whom it is connected.
type Heard = HashMap<String, (Instant, Vec<String>)>;

impl Mender {
    const ROUND: Duration = Duration::from_millis(500);
    /// More than the lease, and than another's session for a moment.
    const ROUNDS: u32 = 4;
    /// A group stands still as long as two of its members do not hear each other.
    const LONGEST_PAUSE: Duration = Duration::from_secs(4);

    fn start(
        session: ::zenoh::Session,
        settings: &PlaneSettings,
        prefix: &str,
    ) -> Result<mpsc::Sender<()>, PlaneError> {
        let key = format!("{prefix}WHO");
        let heard: Arc<Mutex<Heard>> = Arc::default();
        let hears = heard.clone();
        session
            .declare_subscriber(&key)
            .callback(move |sample| {
                let text = sample.payload().try_to_string().unwrap_or_default().into_owned();
                let mut words = text.split(' ').map(str::to_owned);
                if let Some(who) = words.next() {
                    held(&hears).insert(who, (Instant::now(), words.collect()));
                }
            })
            .background()
            .wait()
            .map_err(failed("hear of others"))?;
        let settings = PlaneSettings { listen: vec![], ..settings.clone() };
        let (missing, pause) = (HashMap::new(), Self::ROUND);
        let mut mender = Mender { session, key, settings, heard, missing, pause };
        let (stop, stopped) = mpsc::channel();
        let run = move || {
            let mut wait = Self::ROUND;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = Self::ROUND;
                if mender.is_somebody_missing() {
                    let moment = open(&mender.settings, &[]);
                    let _ = stopped.recv_timeout(Self::ROUND);
                    drop(moment);
                    mender.missing.clear();
                    wait = mender.pause;
                    mender.pause = (mender.pause * 2).min(Self::LONGEST_PAUSE);
                }
            }
        };
        let thread = std::thread::Builder::new().name("plane mends".to_owned()).spawn(run);
        thread.map_err(failed("start a thread"))?;
        Ok(stop)
    }

    /// Says with whom we are connected, and compares with what others have said lately.
    fn is_somebody_missing(&mut self) -> bool {
        let me = self.session.zid().to_string();
        let peers = self.session.info().peers_zid().wait();
        let mut known: Vec<String> = peers.map(|peer| peer.to_string()).collect();
        known.insert(0, me);
        // Who does not hear it hears the next one.
        let _ = self
            .session
            .put(&self.key, known.join(" "))
            .priority(Priority::Background)
            .congestion_control(CongestionControl::Drop)
            .wait();
        let mut heard = held(&self.heard);
        heard.retain(|_, (when, _)| when.elapsed() < Self::ROUND * Self::ROUNDS);
        let named: HashSet<&String> = heard.values().flat_map(|(_, whom)| whom).collect();
        let absent = named.into_iter().filter(|who| !known.contains(who));
        let rounds = |who: &String| self.missing.get(who).map_or(1, |rounds| rounds + 1);
        self.missing = absent.map(|who| (who.clone(), rounds(who))).collect();
        if self.missing.is_empty() {
            self.pause = Self::ROUND;
        }
        self.missing.values().any(|&rounds| rounds > Self::ROUNDS)
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> PlaneError {
    move |reason| {
        let reason = crate::without_build_paths(&reason.to_string());
        PlaneError::Engine { what, reason }
    }
}

/// zenoh tells which port it has taken only by an interface that may change; so we take free ones.
fn free_ports(listen: &[SocketAddr]) -> Result<Vec<SocketAddr>, PlaneError> {
    // Held until all are found, so that no port is found twice.
    let mut held = Vec::new();
    let mut free = Vec::new();
    for &address in listen {
        let cannot = |reason| PlaneError::Listen { address, reason };
        let listener = TcpListener::bind(address).map_err(cannot)?;
        free.push(listener.local_addr().map_err(cannot)?);
        held.push(listener);
    }
    Ok(free)
}

fn open(
    settings: &PlaneSettings,
    listening: &[SocketAddr],
) -> Result<::zenoh::Session, PlaneError> {
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
        // What zenoh says about a bad value could show it.
        config.insert_json5("transport/auth/usrpwd", &access.to_string()).map_err(|_| {
            PlaneError::Engine { what: "use its token", reason: "zenoh refuses it".to_owned() }
        })?;
    }
    // zenoh writes its configuration to the log, and with it the password: not to ours.
    tracing::subscriber::with_default(NoSubscriber::default(), || ::zenoh::open(config).wait())
        .map_err(failed("open a session"))
}

/// What zenoh shows and compares instead of the token, which may hold what its file may not.
fn password(token: &str, world: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
    hexadecimal(hmac::sign(&key, format!("jostle plane {world}").as_bytes()).as_ref())
}

/// zenoh reads the passwords that it accepts from a file. A pipe leaves no trace on disk.
fn offer(text: &str) -> Result<PipeReader, PlaneError> {
    let (reader, mut writer) = std::io::pipe().map_err(failed("make a pipe"))?;
    writer.write_all(text.as_bytes()).map_err(failed("fill a pipe"))?;
    Ok(reader)
}

fn configuration(settings: &PlaneSettings, listening: &[SocketAddr]) -> Result<Value, PlaneError> {
    let certificates = settings.guard.certificates.as_deref();
    let endpoints = |addresses: &[SocketAddr]| -> Vec<String> {
        let place = |address| match certificates {
            Some(_) => format!("tls/{address}#tls_handshake_timeout_ms=2000"),
            None => format!("tcp/{address}"),
        };
        addresses.iter().map(place).collect()
    };
    let mut config = json!({
        // Routers would need no mending, but when one of them closes, others of 1.10.2 panic.
        "mode": "peer",
        "scouting": { "multicast": { "enabled": false }, "gossip": { "enabled": true } },
        "listen": { "endpoints": endpoints(listening), "exit_on_failure": true },
        "connect": {
            "endpoints": endpoints(&settings.join),
            // In the background, for ever.
            "timeout_ms": -1,
            "exit_on_failure": false,
            "retry": {
                "period_init_ms": 100,
                "period_max_ms": 400,
                "period_increase_factor": 2,
            },
        },
        // Whoever opens does not wait for others.
        "open": { "return_conditions": { "connect_scouted": false, "declares": false } },
        "transport": {
            "unicast": {
                "open_timeout": 2000,
                // What is beyond this is closed at once, a node like any other: see PENDING.
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

/// Who finds no room in the queue to a peer does not wait for it; therefore it is as long as zenoh
/// allows, 16 batches of 64 kB for each urgency.
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

/// Both sides show a certificate of our authority.
///
/// zenoh also trusts the public authorities when it calls. They sign no certificate with the common
/// name "node", and without it nothing is said: see [`access`]. So the host name need not be looked
/// at, and certificates hold wherever a process runs.
fn tls(directory: &Path) -> Result<Value, PlaneError> {
    // Read here first, because what zenoh says about a missing file does not say which.
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

/// Only nodes may say something, only in their world. What is declared is filtered as well: without
/// that right nobody would learn who answers to what.
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
