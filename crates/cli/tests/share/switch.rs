//! A switch in this process: it reads what hosts send on their cables, waits as long as the way
//! takes, and writes it to the cables of others; or does not. The kernel could do that, too, but
//! not every kernel has it built in.

use jostle_sim::Dice;
use pnet_datalink::{Channel, Config, DataLinkReceiver, DataLinkSender};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The addresses of hosts begin like this and end with their number.
pub(crate) const MAC_FIRST: [u8; 5] = [2, 0, 0, 0, 0];

/// How often a reader looks whether it is over.
const READ: Duration = Duration::from_millis(100);

/// No frame is longer, whatever is put together.
const FRAME_MAX: usize = 1 << 17;

/// What is between two hosts, one way like the other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Link {
    delay: Duration,
    /// So much more or less, at most.
    jitter: Duration,
    /// Of a thousand frames.
    lost: u64,
    cut: bool,
}

impl Link {
    pub(crate) fn delayed(delay: Duration) -> Link {
        Link { delay, ..Link::default() }
    }

    /// With delays that differ by this much, at most.
    pub(crate) fn with_jitter(self, jitter: Duration) -> Link {
        Link { jitter, ..self }
    }

    /// With so many of a thousand frames lost.
    pub(crate) fn with_lost(self, lost: u64) -> Link {
        Link { lost, ..self }
    }

    pub(crate) fn cut(self) -> Link {
        Link { cut: true, ..self }
    }
}

/// A frame on its way: when it arrives, in which order, where.
type Waiting = Reverse<(Instant, u64, usize, Vec<u8>)>;

struct Ways {
    /// Where nothing else is said.
    usual: Link,
    /// By the two hosts, the smaller one first.
    links: BTreeMap<(usize, usize), Link>,
    /// From the first to the second nothing arrives.
    deaf: BTreeSet<(usize, usize)>,
    waiting: BinaryHeap<Waiting>,
    /// When the last frame from one to another arrives: what comes later waits, too.
    last: BTreeMap<(usize, usize), Instant>,
    dice: Dice,
    sent: u64,
    over: bool,
}

struct Shared {
    ways: Mutex<Ways>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Ways> {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The switch.
pub(crate) struct Switch {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

impl Switch {
    /// With these cables, by their names here.
    pub(crate) fn new(cables: &[String]) -> Switch {
        let ways = Ways {
            usual: Link::default(),
            links: BTreeMap::new(),
            deaf: BTreeSet::new(),
            waiting: BinaryHeap::new(),
            last: BTreeMap::new(),
            dice: Dice::new(1),
            sent: 0,
            over: false,
        };
        let shared = Arc::new(Shared { ways: Mutex::new(ways), changed: Condvar::new() });
        let (mut threads, mut senders) = (Vec::new(), Vec::new());
        let known = pnet_datalink::interfaces();
        for (number, cable) in cables.iter().enumerate() {
            let interface = known.iter().find(|interface| interface.name == *cable).unwrap();
            let config = Config {
                read_timeout: Some(READ),
                read_buffer_size: FRAME_MAX,
                ..Config::default()
            };
            let Channel::Ethernet(sender, receiver) =
                pnet_datalink::channel(interface, config).unwrap()
            else {
                panic!("{cable} is no cable");
            };
            senders.push(sender);
            let (shared, count) = (shared.clone(), cables.len());
            threads.push(std::thread::spawn(move || read(&shared, number, count, receiver)));
        }
        let writing = shared.clone();
        threads.push(std::thread::spawn(move || write(&writing, senders)));
        Switch { shared, threads }
    }

    /// All links that nothing else is said about are like this.
    pub(crate) fn usual(&self, link: Link) {
        self.shared.lock().usual = link;
    }

    /// The link between two hosts is like this.
    pub(crate) fn link(&self, a: usize, b: usize, link: Link) {
        self.shared.lock().links.insert((a.min(b), a.max(b)), link);
    }

    /// From one to another nothing arrives, though it does the other way.
    pub(crate) fn cut_one_way(&self, from: usize, to: usize) {
        self.shared.lock().deaf.insert((from, to));
    }

    /// It does again.
    pub(crate) fn mend_one_way(&self, from: usize, to: usize) {
        self.shared.lock().deaf.remove(&(from, to));
    }

    /// And like all others again.
    pub(crate) fn unlink(&self, a: usize, b: usize) {
        self.shared.lock().links.remove(&(a.min(b), a.max(b)));
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // One that has panicked has said so.
            let _ = thread.join();
        }
    }
}

/// Reads what a host sends.
fn read(shared: &Shared, from: usize, count: usize, mut receiver: Box<dyn DataLinkReceiver>) {
    loop {
        let frame = receiver.next().map(<[u8]>::to_vec);
        let mut ways = shared.lock();
        if ways.over {
            return;
        }
        // Nothing for a while; or the cable is gone with its host, and this will soon be over.
        let Ok(mut frame) = frame else { continue };
        let Some(receivers) = receivers(&frame, from, count) else { continue };
        sum_up(&mut frame);
        for to in receivers {
            ways.send(from, to, frame.clone());
        }
        shared.changed.notify_all();
    }
}

/// Whom a frame is for; none if it is not from this host.
fn receivers(frame: &[u8], from: usize, count: usize) -> Option<Vec<usize>> {
    let (to, rest) = frame.split_first_chunk::<6>()?;
    if rest.get(..5)? != MAC_FIRST || usize::from(*rest.get(5)?) != from {
        return None;
    }
    let others = (0..count).filter(|&host| host != from);
    let all = to[0] & 1 == 1;
    let named = |host: usize| to[..5] == MAC_FIRST && usize::from(to[5]) == host;
    Some(others.filter(|&host| all || named(host)).collect())
}

impl Ways {
    fn send(&mut self, from: usize, to: usize, frame: Vec<u8>) {
        let pair = (from.min(to), from.max(to));
        let link = self.links.get(&pair).copied().unwrap_or(self.usual);
        let cut = link.cut || self.deaf.contains(&(from, to));
        if cut || self.dice.below(1000) < link.lost {
            return;
        }
        let most = 2 * link.jitter.as_micros() as u64 + 1;
        let drawn = Duration::from_micros(self.dice.below(most));
        let due = Instant::now() + (link.delay + drawn).saturating_sub(link.jitter);
        // Queues make frames late, but do not let one overtake another.
        let last = self.last.entry((from, to)).or_insert(due);
        *last = due.max(*last);
        self.waiting.push(Reverse((*last, self.sent, to, frame)));
        self.sent += 1;
    }
}

/// Writes what has arrived.
fn write(shared: &Shared, mut senders: Vec<Box<dyn DataLinkSender>>) {
    let mut ways = shared.lock();
    while !ways.over {
        let now = Instant::now();
        match ways.waiting.peek().map(|Reverse((due, ..))| *due) {
            Some(due) if due <= now => {
                let Some(Reverse((_, _, to, frame))) = ways.waiting.pop() else { continue };
                drop(ways);
                // What cannot be written is lost, as it is on any cable.
                let _ = senders[to].send_to(&frame, None);
                ways = shared.lock();
            }
            due => {
                let wait = due.map_or(READ, |due| due - now);
                let waited = shared.changed.wait_timeout(ways, wait);
                ways = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}

/// Puts the sum into a segment of TCP or UDP: hosts leave it to their network cards, and here is
/// none.
fn sum_up(frame: &mut [u8]) {
    let Some((head, packet)) = frame.split_at_mut_checked(14) else { return };
    if head[12..] != [8, 0] || packet.len() < 20 {
        return;
    }
    let length = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    let begin = usize::from(packet[0] & 15) * 4;
    let (protocol, at) = match packet[9] {
        6 => (6, 16),
        17 => (17, 6),
        _ => return,
    };
    if begin + at + 2 > length || length > packet.len() {
        return;
    }
    packet[begin + at..begin + at + 2].fill(0);
    let body = length - begin;
    let mut sum = protocol + body as u32;
    for pair in packet[12..20].chunks(2).chain(packet[begin..length].chunks(2)) {
        sum += u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let sum = match !(sum as u16) {
        // Nothing means that there is no sum.
        0 => 0xffff,
        sum => sum,
    };
    packet[begin + at..begin + at + 2].copy_from_slice(&sum.to_be_bytes());
}
