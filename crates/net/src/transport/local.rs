//! The transport within one program: a switch in memory with configurable delay and loss.
//!
//! Nothing listens and nothing leaves the program, so tokens and certificates are not used: access
//! to the [`Switch`] is enough. Without delay, a frame is delivered by the sending thread,
//! otherwise by the thread of the switch. No lock is held meanwhile.

use super::{Deliver, SendOutcome, TransportError, TransportSettings};
use crate::dice::Dice;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Frames and bytes in flight to one member, at most. More are dropped.
const FRAMES_MAX: usize = 4096;
const BYTES_MAX: usize = 32 << 20;

/// The thread sleeps this long when idle; new frames wake it.
const IDLE: Duration = Duration::from_secs(60);

/// Simulated network conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NetworkConditions {
    /// Delay of a frame.
    pub delay: Duration,
    /// Largest deviation from the delay. Frames between the same two members stay in order.
    pub jitter: Duration,
    /// Loss rate, from 0 to 1.
    pub loss: f64,
}

/// A switch for the processes of one program; clones share it.
#[derive(Clone)]
pub struct Switch(Arc<Core>);

struct Core {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    conditions: NetworkConditions,
    dice: Dice,
    members: BTreeMap<u64, Member>,
    next_member: u64,
    waiting: BinaryHeap<Reverse<Waiting>>,
    next_frame: u64,
    over: bool,
}

struct Member {
    world: String,
    names: BTreeSet<String>,
    deliver: Deliver,
    cut: bool,
    /// Frames in flight to it.
    frames: usize,
    bytes: usize,
    /// When the last frame from each other member arrives.
    last: BTreeMap<u64, Instant>,
}

/// A frame in flight. Ordered by time, then by number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    due: Instant,
    number: u64,
    to: u64,
    name: String,
    bytes: Vec<u8>,
}

impl Switch {
    /// Without delay and loss. The seed determines losses and jitter.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn new(seed: u64) -> Result<Switch, TransportError> {
        let state = State {
            conditions: NetworkConditions::default(),
            dice: Dice::new(seed),
            members: BTreeMap::new(),
            next_member: 0,
            waiting: BinaryHeap::new(),
            next_frame: 0,
            over: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let thread_state = shared.clone();
        let thread = std::thread::Builder::new()
            .name("switch".into())
            .spawn(move || deliver_due(&thread_state));
        let thread = thread.map_err(|error| TransportError::Engine {
            what: "start its thread",
            reason: error.to_string(),
        })?;
        Ok(Switch(Arc::new(Core { shared, thread: Some(thread) })))
    }

    /// Sets the conditions for frames from now on. The loss rate is clamped.
    pub fn set(&self, conditions: NetworkConditions) {
        self.0.shared.lock().conditions = conditions;
    }

    /// The current conditions.
    #[must_use]
    pub fn conditions(&self) -> NetworkConditions {
        self.0.shared.lock().conditions
    }

    /// Disconnects the member with this name, under all its names. Returns whether there is one.
    #[must_use]
    pub fn cut(&self, name: &str) -> bool {
        let mut state = self.0.shared.lock();
        let named = state.members.values_mut().filter(|member| member.names.contains(name));
        named.fold(false, |_, member| {
            member.cut = true;
            true
        })
    }
}

impl fmt::Debug for Switch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.shared.lock();
        let (members, conditions) = (state.members.len(), state.conditions);
        write!(formatter, "Switch({members} members, {conditions:?})")
    }
}

impl PartialEq for Switch {
    fn eq(&self, other: &Switch) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Switch {}

impl Drop for Core {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            // A panic was reported by the panic hook.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// A poisoned lock is used: every update under it is complete at each step.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection of one process to a switch.
pub(super) struct Port {
    switch: Switch,
    me: u64,
}

impl Port {
    pub(super) fn open(switch: &Switch, settings: &TransportSettings, deliver: Deliver) -> Port {
        let mut state = switch.0.shared.lock();
        let me = state.next_member;
        state.next_member += 1;
        let member = Member {
            world: settings.world.clone(),
            names: BTreeSet::new(),
            deliver,
            cut: false,
            frames: 0,
            bytes: 0,
            last: BTreeMap::new(),
        };
        state.members.insert(me, member);
        drop(state);
        Port { switch: switch.clone(), me }
    }

    pub(super) fn answer_to(&self, name: &str) {
        if let Some(member) = self.switch.0.shared.lock().members.get_mut(&self.me) {
            member.names.insert(name.to_owned());
        }
    }

    pub(super) fn send(&self, name: &str, bytes: &[u8]) -> SendOutcome {
        let shared = &self.switch.0.shared;
        let mut state = shared.lock();
        let (mut sent, mut now) = (SendOutcome::Queued, Vec::new());
        let before = state.waiting.len();
        for to in state.receivers(self.me, name) {
            match state.travel(self.me, to) {
                Travel::AtOnce(deliver) => now.push(deliver),
                Travel::Until(due) if state.put(due, to, name, bytes) => {}
                Travel::Until(_) | Travel::Nowhere => sent = SendOutcome::Dropped,
            }
        }
        let waits = state.waiting.len() > before;
        drop(state);
        if waits {
            shared.changed.notify_all();
        }
        for deliver in now {
            deliver(name, bytes);
        }
        sent
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.switch.0.shared.lock().members.remove(&self.me);
    }
}

/// How a frame travels.
enum Travel {
    AtOnce(Deliver),
    Until(Instant),
    Nowhere,
}

impl State {
    /// The subscribers of a name in the sender's world.
    fn receivers(&self, from: u64, name: &str) -> Vec<u64> {
        let Some(sender) = self.members.get(&from).filter(|sender| !sender.cut) else {
            return Vec::new();
        };
        let hears = |member: &Member| {
            member.world == sender.world && !member.cut && member.names.contains(name)
        };
        self.members.iter().filter(|(_, member)| hears(member)).map(|(id, _)| *id).collect()
    }

    fn travel(&mut self, from: u64, to: u64) -> Travel {
        let NetworkConditions { delay, jitter, loss } = self.conditions;
        let Some(member) = self.members.get_mut(&to) else { return Travel::Nowhere };
        if from == to {
            return Travel::AtOnce(member.deliver.clone());
        }
        // No random number is drawn without loss.
        if loss > 0.0 && self.dice.part() < loss {
            return Travel::Nowhere;
        }
        let now = Instant::now();
        let more = jitter.mul_f64(2.0 * self.dice.part());
        let due = (now + delay + more).checked_sub(jitter).unwrap_or(now).max(now);
        let last = member.last.entry(from).or_insert(now);
        if *last <= now && delay.is_zero() && jitter.is_zero() {
            return Travel::AtOnce(member.deliver.clone());
        }
        *last = due.max(*last);
        Travel::Until(*last)
    }

    /// Queues a frame, if there is room.
    fn put(&mut self, due: Instant, to: u64, name: &str, bytes: &[u8]) -> bool {
        let Some(member) = self.members.get_mut(&to) else { return false };
        if member.frames >= FRAMES_MAX || member.bytes + bytes.len() > BYTES_MAX {
            return false;
        }
        member.frames += 1;
        member.bytes += bytes.len();
        let number = self.next_frame;
        self.next_frame += 1;
        let (name, bytes) = (name.to_owned(), bytes.to_vec());
        self.waiting.push(Reverse(Waiting { due, number, to, name, bytes }));
        true
    }

    /// Removes a frame that has arrived; `None` if its receiver is gone.
    fn arrive(&mut self, frame: &Waiting) -> Option<Deliver> {
        let member = self.members.get_mut(&frame.to)?;
        member.frames -= 1;
        member.bytes -= frame.bytes.len();
        (!member.cut).then(|| member.deliver.clone())
    }
}

/// Delivers frames when they are due.
fn deliver_due(shared: &Shared) {
    let mut state = shared.lock();
    while !state.over {
        let now = Instant::now();
        let wait = match state.waiting.peek() {
            Some(Reverse(first)) if first.due <= now => {
                let Some(Reverse(frame)) = state.waiting.pop() else { continue };
                let deliver = state.arrive(&frame);
                drop(state);
                if let Some(deliver) = deliver {
                    deliver(&frame.name, &frame.bytes);
                }
                state = shared.lock();
                continue;
            }
            Some(Reverse(first)) => first.due - now,
            None => IDLE,
        };
        let woken = shared.changed.wait_timeout(state, wait);
        (state, _) = woken.unwrap_or_else(PoisonError::into_inner);
    }
}
