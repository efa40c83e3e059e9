//! The connection table: who is connected, and rate limits per host.

use super::outbound::OutboundQueue;
use super::quic::Datagrams;
use super::{EdgeLimits, Rejection};
use crate::clock::Clock;
use crate::driver::LocalClients;
use crate::pending::PendingConnections;
use jostle_proto::{Allowance, ClientId, RateLimiter, Time};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Hosts in the table; idle hosts with full rate limiters are evicted.
const HOSTS_MAX: usize = 4096;

/// Log lines about one host.
const LINES: Allowance = Allowance { per_second: 2, most: 20 };

/// How messages reach a client.
pub(super) enum Outbound {
    /// Over QUIC.
    Datagrams(Datagrams),
    /// Through the queue of a WebSocket task.
    Queue(Arc<OutboundQueue>),
    /// A viewer receives no client messages.
    ViewOnly,
}

/// An accepted connection.
pub(super) struct ClientConnection {
    pub(super) remote: SocketAddr,
    pub(super) outbound: Outbound,
}

struct HostEntry {
    connections: usize,
    handshakes: RateLimiter,
    requests: RateLimiter,
    lines: RateLimiter,
}

struct HostTable {
    hosts: HashMap<u32, HostEntry>,
    connections: usize,
    /// The last connection number.
    next: u32,
}

/// All connections of the server.
pub(super) struct ConnectionTable {
    limits: EdgeLimits,
    clock: Clock,
    /// QUIC connections that have not authenticated yet.
    pub(super) quic: Arc<PendingConnections>,
    /// HTTP connections, and WebSockets that have not authenticated yet.
    pub(super) web: Arc<PendingConnections>,
    table: Mutex<HostTable>,
    here: RwLock<HashMap<ClientId, Arc<ClientConnection>>>,
    /// Hashes IPv6 prefixes, so that collisions cannot be chosen.
    salt: RandomState,
}

/// An entry in the connection table; removed when dropped.
pub(super) struct ConnectionSlot {
    connections: Arc<ConnectionTable>,
    pub(super) client: ClientId,
}

impl ConnectionTable {
    pub(super) fn new(limits: EdgeLimits) -> ConnectionTable {
        let table = HostTable { hosts: HashMap::new(), connections: 0, next: 0 };
        let room = || PendingConnections::new(limits.pending, limits.host_pending);
        ConnectionTable {
            limits,
            clock: Clock::start(),
            quic: room(),
            web: room(),
            table: Mutex::new(table),
            here: RwLock::new(HashMap::new()),
            salt: RandomState::new(),
        }
    }

    /// The number of a host. For IPv6 that of the /64 prefix: the rest can be chosen freely.
    pub(super) fn host(&self, address: SocketAddr) -> u32 {
        match address.ip().to_canonical() {
            IpAddr::V4(address) => address.to_bits(),
            IpAddr::V6(address) => self.salt.hash_one((address.to_bits() >> 64) as u64) as u32,
        }
    }

    /// A poisoned lock is used: every update under it is complete at each step.
    fn table(&self) -> MutexGuard<'_, HostTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rate limit for handshakes of a host.
    pub(super) fn check_handshake(&self, address: SocketAddr) -> Result<(), Rejection> {
        let host = self.host(address);
        let now = self.clock.now();
        let mut table = self.table();
        let known = table.host(host, now, &self.limits).ok_or(Rejection::Full)?;
        if known.handshakes.take(now, 1, self.limits.handshakes) {
            Ok(())
        } else {
            Err(Rejection::TooOften)
        }
    }

    /// Rate limit for HTTP requests of a host.
    pub(super) fn check_request(&self, address: SocketAddr) -> bool {
        let host = self.host(address);
        let mut table = self.table();
        let now = self.clock.now();
        let known = table.host(host, now, &self.limits);
        known.is_some_and(|known| known.requests.take(now, 1, self.limits.requests))
    }

    /// Rate limit for log lines about a host.
    pub(super) fn may_log(&self, address: SocketAddr) -> bool {
        let host = self.host(address);
        let mut table = self.table();
        let now = self.clock.now();
        let known = table.host(host, now, &self.limits);
        known.is_some_and(|known| known.lines.take(now, 1, LINES))
    }

    /// Adds an accepted connection, within the limits for the server and its host.
    pub(super) fn register(
        self: &Arc<Self>,
        remote: SocketAddr,
        outbound: Outbound,
    ) -> Result<ConnectionSlot, Rejection> {
        let host = self.host(remote);
        let mut table = self.table();
        if table.connections >= self.limits.connections {
            return Err(Rejection::Full);
        }
        let known = table.host(host, self.clock.now(), &self.limits).ok_or(Rejection::Full)?;
        if known.connections >= self.limits.host_connections {
            return Err(Rejection::HostFull);
        }
        known.connections += 1;
        table.connections += 1;
        let mut here = self.here.write().unwrap_or_else(PoisonError::into_inner);
        let client = loop {
            table.next = table.next.wrapping_add(1);
            let client = ClientId { host, connection: table.next };
            if client.connection != LocalClients::CONNECTION && !here.contains_key(&client) {
                break client;
            }
        };
        here.insert(client, Arc::new(ClientConnection { remote, outbound }));
        Ok(ConnectionSlot { connections: self.clone(), client })
    }

    pub(super) fn get(&self, client: ClientId) -> Option<Arc<ClientConnection>> {
        self.here.read().unwrap_or_else(PoisonError::into_inner).get(&client).cloned()
    }

    /// The numbers of pending and of accepted connections.
    pub(super) fn numbers(&self) -> (u64, u64) {
        let pending = self.quic.count() + self.web.count();
        (pending as u64, self.table().connections as u64)
    }
}

impl HostTable {
    fn host(&mut self, host: u32, now: Time, limits: &EdgeLimits) -> Option<&mut HostEntry> {
        if self.hosts.len() >= HOSTS_MAX && !self.hosts.contains_key(&host) {
            self.hosts.retain(|_, known| known.is_active(now, limits));
            if self.hosts.len() >= HOSTS_MAX {
                // With so many hosts at once, the state of one idle host is dispensable.
                let idle = self.hosts.iter().find(|(_, known)| known.connections == 0);
                let idle = idle.map(|(host, _)| *host)?;
                self.hosts.remove(&idle);
            }
        }
        Some(self.hosts.entry(host).or_insert_with(|| HostEntry {
            connections: 0,
            handshakes: RateLimiter::full(now, limits.handshakes),
            requests: RateLimiter::full(now, limits.requests),
            lines: RateLimiter::full(now, LINES),
        }))
    }
}

impl HostEntry {
    fn is_active(&mut self, now: Time, limits: &EdgeLimits) -> bool {
        self.connections > 0
            || !self.handshakes.is_full(now, limits.handshakes)
            || !self.requests.is_full(now, limits.requests)
            || !self.lines.is_full(now, LINES)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut table = self.connections.table();
        table.connections -= 1;
        if let Some(host) = table.hosts.get_mut(&self.client.host) {
            host.connections -= 1;
        }
        let mut here = self.connections.here.write().unwrap_or_else(PoisonError::into_inner);
        here.remove(&self.client);
    }
}
