//! The plane on zenoh: a peer that others find by gossip, and a key for each name. No other file
//! knows zenoh.
//!
//! Measured with zenoh 1.10.2 (`cargo run --release -p jostle-net --example plane_rtt`): TODO

use super::{Deliver, PlaneError, PlaneSettings, Sent, Urgency};
use crate::certificates::{self, Role, hexadecimal};
use ::zenoh::Wait;
use ::zenoh::pubsub::Subscriber;
use ::zenoh::qos::{CongestionControl, Priority};
use ring::hmac;
use serde_json::{Value, json};
use std::io::{PipeReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tracing::subscriber::NoSubscriber;

/// Somebody may take a port between our finding it free and zenoh's taking it.
const ATTEMPTS: usize = 8;

pub(super) struct Session {
    session: ::zenoh::Session,
    /// `jostle/<world>/`
    prefix: String,
    listening: Vec<SocketAddr>,
    deliver: Deliver,
    answered: Mutex<Vec<Subscriber<()>>>,
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
                    let answered = Mutex::default();
                    return Ok(Session { session, prefix, listening, deliver, answered });
                }
                Err(_) if any_port && attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn answer_to(&self, name: &str) -> Result<(), PlaneError> {
        let deliver = self.deliver.clone();
        let subscriber = self
            .session
            .declare_subscriber(format!("{}{name}", self.prefix))
            .callback(move |sample| {
                let key = sample.key_expr().as_str();
                let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
                deliver(name, &sample.payload().to_bytes());
            })
            .wait()
            .map_err(failed("answer to a name"))?;
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).push(subscriber);
        Ok(())
    }

    pub(super) fn send(&self, name: &str, bytes: &[u8], urgency: Urgency) -> Sent {
        let priority = match urgency {
            Urgency::Now => Priority::RealTime,
            Urgency::Tick => Priority::InteractiveHigh,
            Urgency::Bulk => Priority::Background,
        };
        let put = self
            .session
            .put(format!("{}{name}", self.prefix), bytes)
            .priority(priority)
            .congestion_control(CongestionControl::Drop)
            .express(urgency == Urgency::Now)
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

fn failed<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> PlaneError {
    move |reason| PlaneError::Engine { what, reason: reason.to_string() }
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
                // 150 connections that say nothing keep everybody out of a stock listener.
                "accept_timeout": 2000,
                "accept_pending": 256,
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
    certificates::roots(directory)?;
    certificates::chain(directory, Role::Node)?;
    certificates::key(directory, Role::Node)?;
    let certificate = Role::Node.certificate(directory);
    let key = Role::Node.key(directory);
    Ok(json!({
        "root_ca_certificate": certificates::authority(directory),
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
