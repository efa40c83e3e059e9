//! Connections that have not authenticated yet: how many there are, and which of them gives way.
//!
//! Places are not for whoever comes first: idle connections would keep everybody else out. When
//! there is no room, the oldest connection of the host with the most of them is displaced by the
//! newcomer, so a host that fills the room takes its own places. A connection of another host is
//! displaced only when every host has as few as it has; nodes, clients and status requests need
//! their place for some milliseconds.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The connections of one listener that wait.
#[derive(Debug)]
pub(crate) struct WaitingRoom {
    most: usize,
    host_most: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    count: usize,
    /// Numbers connections.
    next: u64,
    /// In the order in which they came.
    hosts: BTreeMap<IpAddr, VecDeque<Entry>>,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    displaced: Arc<Notify>,
    /// It has authenticated, and does not give way.
    kept: bool,
}

/// The place of a connection: given back when dropped.
#[derive(Debug)]
pub(crate) struct Waiting {
    room: Arc<WaitingRoom>,
    host: IpAddr,
    number: u64,
    displaced: Arc<Notify>,
}

/// There is no room, and nothing that could give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

/// What counts as one host. Of an IPv6 address the first half: the second one can be chosen.
pub(crate) fn host(address: SocketAddr) -> IpAddr {
    match address.ip().to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

impl WaitingRoom {
    /// For so many connections, and so many of one host.
    pub(crate) fn new(most: usize, host_most: usize) -> Arc<WaitingRoom> {
        Arc::new(WaitingRoom { most, host_most, held: Mutex::default() })
    }

    /// Nothing is left half done when a thread panics here.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a new connection; another one may have to give way.
    pub(crate) fn enter(self: &Arc<Self>, address: SocketAddr) -> Result<Waiting, NoRoom> {
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
        Ok(Waiting { room: self.clone(), host, number, displaced })
    }

    /// How many wait.
    pub(crate) fn count(&self) -> usize {
        self.held().count
    }
}

impl Held {
    /// The host with the most connections that can give way.
    fn largest(&self) -> Option<IpAddr> {
        let movable = |entries: &VecDeque<Entry>| entries.iter().filter(|it| !it.kept).count();
        let hosts = self.hosts.iter().map(|(host, entries)| (movable(entries), *host));
        hosts.max().filter(|(count, _)| *count > 0).map(|(_, host)| host)
    }

    /// The oldest connection of a host gives way.
    fn displace(&mut self, host: IpAddr) -> Option<()> {
        let entries = self.hosts.get_mut(&host)?;
        let oldest = entries.iter().position(|entry| !entry.kept)?;
        let entry = entries.remove(oldest)?;
        entry.displaced.notify_one();
        self.left(host);
        Some(())
    }

    /// A connection of this host has gone.
    fn left(&mut self, host: IpAddr) {
        self.count -= 1;
        if self.hosts.get(&host).is_some_and(VecDeque::is_empty) {
            self.hosts.remove(&host);
        }
    }
}

impl Waiting {
    /// Returns when this connection has to give way.
    pub(crate) async fn displaced(&self) {
        self.displaced.notified().await;
    }

    /// It has authenticated: from now on it does not give way.
    pub(crate) fn keep(&self) {
        let mut held = self.room.held();
        let entries = held.hosts.get_mut(&self.host);
        let entry = entries.and_then(|all| all.iter_mut().find(|it| it.number == self.number));
        if let Some(entry) = entry {
            entry.kept = true;
        }
    }
}

impl Drop for Waiting {
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

    /// Must it give way?
    fn is_displaced(waiting: &Waiting) -> bool {
        let entries = waiting.room.held();
        let entries = entries.hosts.get(&waiting.host);
        entries.is_none_or(|all| all.iter().all(|entry| entry.number != waiting.number))
    }

    #[test]
    fn a_host_that_fills_the_room_gives_way_to_others() {
        let room = WaitingRoom::new(8, 4);
        let enter = |host| room.enter(address(host)).expect("a place");
        let crowd: Vec<Waiting> = [1, 1, 1, 1, 2, 2, 2, 2].map(enter).into();
        let others: Vec<Waiting> = (3..=6).map(enter).collect();
        assert_eq!(room.count(), 8);
        let displaced: Vec<bool> = crowd.iter().map(is_displaced).collect();
        // The oldest two of each of the two.
        assert_eq!(displaced, [true, true, false, false, true, true, false, false]);
        assert!(!others.iter().any(is_displaced));
        drop((crowd, others));
        assert_eq!((room.count(), room.held().hosts.len()), (0, 0));
    }

    #[test]
    fn a_host_with_all_its_places_takes_its_own_oldest() {
        let room = WaitingRoom::new(100, 2);
        let [first, second, other] = [1, 1, 2].map(|host| room.enter(address(host)).unwrap());
        let third = room.enter(address(1)).unwrap();
        assert!(is_displaced(&first));
        assert!(![&second, &third, &other].into_iter().any(is_displaced));
    }

    #[test]
    fn what_has_authenticated_does_not_give_way() {
        let room = WaitingRoom::new(2, 2);
        let [one, two] = [1, 1].map(|host| room.enter(address(host)).unwrap());
        one.keep();
        let three = room.enter(address(2)).unwrap();
        assert!(!is_displaced(&one) && is_displaced(&two));
        three.keep();
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
