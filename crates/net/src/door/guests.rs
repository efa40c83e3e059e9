//! Who is here, and how many from where.

use super::mailbox::Mailbox;
use super::quic::Datagrams;
use super::turnstile::Bucket;
use super::{DoorLimits, No};
use crate::driver::Insiders;
use crate::waiting::WaitingRoom;
use jostle_proto::{Allowance, ClientId};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

/// Hosts that are remembered; those of which nobody is here and nothing is owed are forgotten.
const HOSTS_MAX: usize = 4096;

/// Lines in the log about one host.
const LINES: Allowance = Allowance { per_second: 2, most: 20 };

/// The way to somebody who is in.
pub(super) enum Outlet {
    /// Over QUIC.
    Datagrams(Datagrams),
    /// To the task of a WebSocket.
    Mailbox(Arc<Mailbox>),
    /// None for letters: it only watches.
    Watches,
}

/// Somebody who is in.
pub(super) struct Guest {
    pub(super) remote: SocketAddr,
    pub(super) outlet: Outlet,
}

struct Host {
    guests: usize,
    knocks: Bucket,
    requests: Bucket,
    lines: Bucket,
}

struct Book {
    hosts: HashMap<u32, Host>,
    guests: usize,
    /// Numbers connections.
    next: u32,
}

/// Everybody at the door and behind it.
pub(super) struct Guests {
    limits: DoorLimits,
    /// Connections by QUIC that are not in yet.
    pub(super) quic: Arc<WaitingRoom>,
    /// Those of HTTP, and WebSockets that are not in yet.
    pub(super) web: Arc<WaitingRoom>,
    book: Mutex<Book>,
    here: RwLock<HashMap<ClientId, Arc<Guest>>>,
    /// Nobody outside knows which addresses share a number.
    salt: RandomState,
}

/// A connection that is in: gives back its place when dropped.
pub(super) struct Seat {
    guests: Arc<Guests>,
    pub(super) client: ClientId,
}

impl Guests {
    pub(super) fn new(limits: DoorLimits) -> Guests {
        let book = Book { hosts: HashMap::new(), guests: 0, next: 0 };
        let room = || WaitingRoom::new(limits.waiting, limits.host_waiting);
        Guests {
            limits,
            quic: room(),
            web: room(),
            book: Mutex::new(book),
            here: RwLock::new(HashMap::new()),
            salt: RandomState::new(),
        }
    }

    /// The number of a host. Of an IPv6 address the first half: the second one can be chosen.
    pub(super) fn host(&self, address: SocketAddr) -> u32 {
        match address.ip().to_canonical() {
            IpAddr::V4(address) => address.to_bits(),
            IpAddr::V6(address) => self.salt.hash_one((address.to_bits() >> 64) as u64) as u32,
        }
    }

    /// Nothing is left half done when a thread panics here.
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody has said what it wants: may its host do that now?
    pub(super) fn knock(&self, address: SocketAddr) -> Result<(), No> {
        let host = self.host(address);
        let now = Instant::now();
        let mut book = self.book();
        let known = book.host(host, &self.limits).ok_or(No::Full)?;
        if known.knocks.take(now, 1) { Ok(()) } else { Err(No::TooOften) }
    }

    /// May its host ask for a page now?
    pub(super) fn request(&self, address: SocketAddr) -> bool {
        let host = self.host(address);
        let mut book = self.book();
        let known = book.host(host, &self.limits);
        known.is_some_and(|known| known.requests.take(Instant::now(), 1))
    }

    /// May there be a line in the log about its host?
    pub(super) fn may_log(&self, address: SocketAddr) -> bool {
        let host = self.host(address);
        let mut book = self.book();
        let known = book.host(host, &self.limits);
        known.is_some_and(|known| known.lines.take(Instant::now(), 1))
    }

    /// Somebody is let in, and can be reached.
    pub(super) fn seat(self: &Arc<Self>, remote: SocketAddr, outlet: Outlet) -> Result<Seat, No> {
        let host = self.host(remote);
        let mut book = self.book();
        if book.guests >= self.limits.connections {
            return Err(No::Full);
        }
        let known = book.host(host, &self.limits).ok_or(No::Full)?;
        if known.guests >= self.limits.host_connections {
            return Err(No::HostFull);
        }
        known.guests += 1;
        book.guests += 1;
        let mut here = self.here.write().unwrap_or_else(PoisonError::into_inner);
        let client = loop {
            book.next = book.next.wrapping_add(1);
            let client = ClientId { host, connection: book.next };
            if client.connection != Insiders::CONNECTION && !here.contains_key(&client) {
                break client;
            }
        };
        here.insert(client, Arc::new(Guest { remote, outlet }));
        Ok(Seat { guests: self.clone(), client })
    }

    pub(super) fn get(&self, client: ClientId) -> Option<Arc<Guest>> {
        self.here.read().unwrap_or_else(PoisonError::into_inner).get(&client).cloned()
    }

    /// How many wait, and how many are in.
    pub(super) fn numbers(&self) -> (u64, u64) {
        let waiting = self.quic.count() + self.web.count();
        (waiting as u64, self.book().guests as u64)
    }
}

impl Book {
    fn host(&mut self, host: u32, limits: &DoorLimits) -> Option<&mut Host> {
        let now = Instant::now();
        if self.hosts.len() >= HOSTS_MAX && !self.hosts.contains_key(&host) {
            self.hosts.retain(|_, known| known.matters(now));
            if self.hosts.len() >= HOSTS_MAX {
                // From so many hosts at once, what one of them has used up is the least of all
                // worries.
                let idle = self.hosts.iter().find(|(_, known)| known.guests == 0);
                let idle = idle.map(|(host, _)| *host)?;
                self.hosts.remove(&idle);
            }
        }
        Some(self.hosts.entry(host).or_insert_with(|| Host {
            guests: 0,
            knocks: Bucket::full(now, limits.knocks),
            requests: Bucket::full(now, limits.requests),
            lines: Bucket::full(now, LINES),
        }))
    }
}

impl Host {
    fn matters(&mut self, now: Instant) -> bool {
        self.guests > 0
            || !self.knocks.is_full(now)
            || !self.requests.is_full(now)
            || !self.lines.is_full(now)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut book = self.guests.book();
        book.guests -= 1;
        if let Some(host) = book.hosts.get_mut(&self.client.host) {
            host.guests -= 1;
        }
        let mut here = self.guests.here.write().unwrap_or_else(PoisonError::into_inner);
        here.remove(&self.client);
    }
}
