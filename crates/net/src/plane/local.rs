//! The plane within one program: a switch in memory, with as much delay and loss as is wanted.
//!
//! Nothing listens and nothing leaves the program: who has the [`Switch`] takes part, so tokens and
//! certificates are not looked at. A frame to somebody who is there is delivered at once by the
//! thread that sends it if there is no delay, and by a thread of the switch if there is one. No
//! lock of the switch is held meanwhile.

use super::{Deliver, PlaneError, PlaneSettings, Sent};
use crate::dice::Dice;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Frames, and their bytes, that are on their way to one member. More are lost.
const FRAMES_MAX: usize = 4096;
const BYTES_MAX: usize = 32 << 20;

/// With nothing to do the thread sleeps so long; whatever comes wakes it.
const IDLE: Duration = Duration::from_secs(60);

/// What a frame goes through on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weather {
    /// How long it takes.
    pub delay: Duration,
    /// So much more or less, at most. Frames between the same two do not overtake each other.
    pub jitter: Duration,
    /// How many get lost: 0 for none, 1 for all.
    pub loss: f64,
}

/// A switch for the processes of one program; a copy is the same switch.
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
    weather: Weather,
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
    /// What is on its way to it.
    frames: usize,
    bytes: usize,
    /// When the last frame from another member arrives.
    last: BTreeMap<u64, Instant>,
}

/// A frame on its way. In order of time, then as they were sent.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    due: Instant,
    number: u64,
    to: u64,
    name: String,
    bytes: Vec<u8>,
}

impl Switch {
    /// One without delay and loss. The seed decides what will get lost, and how long things take.
    ///
    /// # Errors
    /// If the machine gives no thread.
    pub fn new(seed: u64) -> Result<Switch, PlaneError> {
        let state = State {
            weather: Weather::default(),
            dice: Dice::new(seed),
            members: BTreeMap::new(),
            next_member: 0,
            waiting: BinaryHeap::new(),
            next_frame: 0,
            over: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let carried = shared.clone();
        let thread =
            std::thread::Builder::new().name("switch".into()).spawn(move || carry(&carried));
        let thread = thread.map_err(|error| PlaneError::Engine {
            what: "start its thread",
            reason: error.to_string(),
        })?;
        Ok(Switch(Arc::new(Core { shared, thread: Some(thread) })))
    }

    /// How frames travel from now on. A loss that is no part of one is cut to what is.
    pub fn set(&self, weather: Weather) {
        self.0.shared.lock().weather = weather;
    }

    /// How frames travel now.
    #[must_use]
    pub fn weather(&self) -> Weather {
        self.0.shared.lock().weather
    }

    /// Who answers to this name neither sends nor gets anything from now on, under any name. Says
    /// whether there is somebody.
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
        let (members, weather) = (state.members.len(), state.weather);
        write!(formatter, "Switch({members} members, {weather:?})")
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
            // That it panicked would have been said.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Nothing is left half done when a thread panics here.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of one process at a switch.
pub(super) struct Port {
    switch: Switch,
    me: u64,
}

impl Port {
    pub(super) fn open(switch: &Switch, settings: &PlaneSettings, deliver: Deliver) -> Port {
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

    pub(super) fn send(&self, name: &str, bytes: &[u8]) -> Sent {
        let shared = &self.switch.0.shared;
        let mut state = shared.lock();
        let (mut sent, mut now) = (Sent::Given, Vec::new());
        let before = state.waiting.len();
        for to in state.receivers(self.me, name) {
            match state.travel(self.me, to) {
                Travel::AtOnce(deliver) => now.push(deliver),
                Travel::Until(due) if state.put(due, to, name, bytes) => {}
                Travel::Until(_) | Travel::Nowhere => sent = Sent::Lost,
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

/// How a frame gets there.
enum Travel {
    AtOnce(Deliver),
    Until(Instant),
    Nowhere,
}

impl State {
    /// Who answers to a name, of the sender's world.
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
        let Weather { delay, jitter, loss } = self.weather;
        let Some(member) = self.members.get_mut(&to) else { return Travel::Nowhere };
        if from == to {
            return Travel::AtOnce(member.deliver.clone());
        }
        // Nothing is drawn where nothing can be lost.
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

    /// Puts a frame on its way, if there is room.
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

    /// A frame has arrived; none if nobody is there any more.
    fn arrive(&mut self, frame: &Waiting) -> Option<Deliver> {
        let member = self.members.get_mut(&frame.to)?;
        member.frames -= 1;
        member.bytes -= frame.bytes.len();
        (!member.cut).then(|| member.deliver.clone())
    }
}

/// Delivers frames when their time has come.
fn carry(shared: &Shared) {
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
