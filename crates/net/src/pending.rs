//! Connections that have not authenticated yet: limits, and which of them is displaced.
//!
//! First come, first served would let idle connections keep others out. When the limit is reached,
//! the oldest connection of the host with the most of them is displaced by the new one, so a host
//! that fills the table displaces its own connections. A connection of another host is displaced
//! only when every host has as few as it has; nodes, clients and status requests are pending for
//! some milliseconds only.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The pending connections of one listener.
#[derive(Debug)]
pub(crate) struct PendingConnections {
    most: usize,
    host_most: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    count: usize,
    /// The last connection number.
    next: u64,
    /// In order of arrival.
    hosts: BTreeMap<IpAddr, VecDeque<Entry>>,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    displaced: Arc<Notify>,
    /// Authenticated: it cannot be displaced.
    kept: bool,
}

/// An entry of a pending connection; removed when dropped.
#[derive(Debug)]
pub(crate) struct PendingSlot {
    room: Arc<PendingConnections>,
    host: IpAddr,
    number: u64,
    displaced: Arc<Notify>,
}

/// The limit is reached, and no connection can be displaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

/// What counts as one host. For IPv6 the /64 prefix: the rest can be chosen freely.
pub(crate) fn host(address: SocketAddr) -> IpAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

impl PendingConnections {
    /// With a limit in total and one per host.
    pub(crate) fn new(most: usize, host_most: usize) -> Arc<PendingConnections> {
        Arc::new(PendingConnections { most, host_most, held: Mutex::default() })
    }

    /// A poisoned lock is used: every update under it is complete at each step.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection; another one may be displaced.
    pub(crate) fn enter(self: &Arc<Self>, address: SocketAddr) -> Result<PendingSlot, NoRoom> {
        let host = host(address);
        let mut held = self.held();
        if held.hosts.get(&host).is_some_and(|entries| entries.len() >= self.host_most) {
            held.displace(host).ok_or(NoRoom)?;
        } else if held.count >= self.most {
            let largest = held.largest().ok_or(NoRoom)?;
            held.displace(largest).ok_or(NoRoom)?;
        }
        held.next += 1;
        held.count += 1;
        let (number, displaced) = (held.next, Arc::new(Notify::new()));
        let entry = Entry { number, displaced: displaced.clone(), kept: false };
        held.hosts.entry(host).or_default().push_back(entry);
        Ok(PendingSlot { room: self.clone(), host, number, displaced })
    }

    /// The number of pending connections.
    pub(crate) fn count(&self) -> usize {
        self.held().count
    }
}

impl Held {
    /// The host with the most connections that can be displaced.
    fn largest(&self) -> Option<IpAddr> {
        let movable = |entries: &VecDeque<Entry>| entries.iter().filter(|it| !it.kept).count();
        let hosts = self.hosts.iter().map(|(host, entries)| (movable(entries), *host));
        hosts.max().filter(|(count, _)| *count > 0).map(|(_, host)| host)
    }

    /// Displaces the oldest connection of a host.
    fn displace(&mut self, host: IpAddr) -> Option<()> {
        let entries = self.hosts.get_mut(&host)?;
        let oldest = entries.iter().position(|entry| !entry.kept)?;
        let entry = entries.remove(oldest)?;
        entry.displaced.notify_one();
        self.left(host);
        Some(())
    }

    /// Removes a connection of this host from the count.
    fn left(&mut self, host: IpAddr) {
        self.count -= 1;
        if self.hosts.get(&host).is_some_and(VecDeque::is_empty) {
            self.hosts.remove(&host);
        }
    }
}

impl PendingSlot {
    /// Completes when this connection is displaced.
    pub(crate) async fn displaced(&self) {
        self.displaced.notified().await;
    }

    /// The connection has authenticated: it cannot be displaced any more.
    pub(crate) fn authenticated(&self) {
        let mut held = self.room.held();
        let entries = held.hosts.get_mut(&self.host);
        let entry = entries.and_then(|all| all.iter_mut().find(|it| it.number == self.number));
        if let Some(entry) = entry {
            entry.kept = true;
        }
    }
}

impl Drop for PendingSlot {
    fn drop(&mut self) {
        let mut held = self.room.held();
        let Some(entries) = held.hosts.get_mut(&self.host) else { return };
        if let Some(at) = entries.iter().position(|entry| entry.number == self.number) {
            entries.remove(at);
            held.left(self.host);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(host: u8) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, host], 1))
    }

    /// Returns true if its entry is gone.
    fn is_displaced(slot: &PendingSlot) -> bool {
        let entries = slot.room.held();
        let entries = entries.hosts.get(&slot.host);
        entries.is_none_or(|all| all.iter().all(|entry| entry.number != slot.number))
    }

    #[test]
    fn a_host_that_fills_the_room_gives_way_to_others() {
        let room = PendingConnections::new(8, 4);
        let enter = |host| room.enter(address(host)).expect("a place");
        let crowd: Vec<PendingSlot> = [1, 1, 1, 1, 2, 2, 2, 2].map(enter).into();
        let others: Vec<PendingSlot> = (3..=6).map(enter).collect();
        assert_eq!(room.count(), 8);
        let displaced: Vec<bool> = crowd.iter().map(is_displaced).collect();
        // The oldest two of both hosts.
        assert_eq!(displaced, [true, true, false, false, true, true, false, false]);
        assert!(!others.iter().any(is_displaced));
        drop((crowd, others));
        assert_eq!((room.count(), room.held().hosts.len()), (0, 0));
    }

    #[test]
    fn a_host_with_all_its_places_takes_its_own_oldest() {
        let room = PendingConnections::new(100, 2);
        let [first, second, other] = [1, 1, 2].map(|host| room.enter(address(host)).unwrap());
        let third = room.enter(address(1)).unwrap();
        assert!(is_displaced(&first));
        assert!(![&second, &third, &other].into_iter().any(is_displaced));
    }

    #[test]
    fn what_has_authenticated_does_not_give_way() {
        let room = PendingConnections::new(2, 2);
        let [one, two] = [1, 1].map(|host| room.enter(address(host)).unwrap());
        one.authenticated();
        let three = room.enter(address(2)).unwrap();
        assert!(!is_displaced(&one) && is_displaced(&two));
        three.authenticated();
        assert!(room.enter(address(3)).is_err());
    }

    #[test]
    fn half_of_an_ipv6_address_is_a_host() {
        let of = |text: &str| host(text.parse().expect("an address"));
        assert_eq!(of("[2001:db8::1]:1"), of("[2001:db8::2:3]:4"));
        assert_ne!(of("[2001:db8::1]:1"), of("[2001:db8:0:1::1]:1"));
        assert_eq!(of("[::ffff:192.0.2.1]:1"), of("192.0.2.1:5"));
    }
}
