//! The concurrent detector: a world and its modules on a thread of their own.
//!
//! Zachmann 2000 §3.11.4: producers write into the front of a double buffer and never wait; the
//! detector takes over what is there as soon as it is done with what it took before and all
//! callbacks are finished. Where the thesis drops requests on overflow, they are handed back here.
//!
//! There is no hand-written synchronisation in this module; it is put together from
//! * the queue of requests (`concurrent-queue`). A push claims its place by one compare-and-swap,
//!   which fails only if another push succeeded: lock-free. Two short moments are not: between
//!   claiming the last place of a block (unbounded) and linking the next, already allocated one,
//!   and between claiming a place and emptying it (bounded, at the rim of being full); a thread
//!   interrupted just there makes others yield. No push waits for the work of the detector. The
//!   queue can be closed: every push that succeeded is then still popped, every later one is
//!   refused. This is why an orderly shutdown loses nothing;
//! * the latest results (`arc-swap`): reading is wait-free, but for one access in 2^62; publishing
//!   is lock-free and waits for no reader;
//! * `park` and `unpark` of std. The detector parks after it found the queue empty; the `unpark`
//!   after every push makes a park that comes after it return at once, so no wake-up is lost;
//! * a channel of std for those who chose to wait, on which the detector never waits.

mod handle;
mod published;

use crate::modules::{Modules, panic_message};
use crate::request::{Job, Reply, RequestError};
use crate::ticket::Answer;
use crate::world::World;
use arc_swap::ArcSwap;
use concurrent_queue::{ConcurrentQueue, PopError};
pub use handle::{Handle, PostError, WaitError};
use published::RecentErrors;
pub use published::{DetectorError, Published};
use std::num::NonZeroUsize;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use thiserror::Error;

/// When a detector steps its world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Whenever something was asked of it, by handles or by modules, and at every [`Job::Step`]. A
    /// module that changes the world after each step keeps it going.
    #[default]
    Eager,
    /// Only at a [`Job::Step`]. Requests are applied as they come.
    OnDemand,
}

/// How a detector works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectorSettings {
    /// When it steps.
    pub pace: Pace,
    /// How many requests may wait to be taken over; `None` for as many as memory holds.
    pub capacity: Option<NonZeroUsize>,
    /// How many of the newest [`DetectorError`]s are published.
    pub errors_kept: usize,
}

impl Default for DetectorSettings {
    fn default() -> DetectorSettings {
        DetectorSettings { pace: Pace::Eager, capacity: None, errors_kept: 256 }
    }
}

/// The system has no thread to spare.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the detector's thread could not be started: {0}")]
pub struct StartError(String);

/// Why a detector did not give its world back. Its handles know that it stopped.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ShutdownError {
    /// The world panicked while stepping; it is lost. Panics of callbacks do not count.
    #[error("the detector had stopped by a panic: {0}")]
    Panicked(String),
    /// A callback shut down the detector that called it; it stops, but cannot wait for itself.
    #[error("a callback cannot wait for the end of the detector that called it")]
    FromCallback,
}

/// A world and its modules on a thread of their own.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Pose, Shape};
/// use jostle_world::{Body, Detector, DetectorSettings, Modules, Request, Settings, World};
///
/// let world = World::new(Settings::default());
/// let detector = Detector::start(world, Modules::default(), DetectorSettings::default())?;
/// let handle = detector.handle(); // clone it for as many threads as you like
///
/// let cube = Shape::cuboid(DVec3::ONE)?;
/// let body = |x| Pose::from_translation(DVec3::X * x).map(|at| Body::moving(cube.clone(), at));
/// let one = handle.ask(Request::Insert(Box::new(body(0.0)?)))?;
/// handle.post(Request::Insert(Box::new(body(5.0)?)))?; // without a reply
/// handle.wait_until_applied(2)?; // only because this is an example
///
/// let id = one.body().expect("it was applied, and nothing was wrong with it");
/// let pose = Pose::from_translation(DVec3::X * 4.5)?;
/// handle.post(Request::SetPose { id, pose })?;
/// let (world, _modules) = detector.shutdown()?; // first applies all that was posted
/// assert_eq!(world.contacts().len(), 1);
/// assert_eq!(handle.latest().contacts, world.contacts());
/// assert!(handle.post(Request::Remove(id)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Callbacks run on the detector's thread, between steps; data that they share with the rest of the
/// program needs its own care. Dropping a detector shuts it down and drops the world.
#[derive(Debug)]
pub struct Detector {
    handle: Handle,
    /// `None` only while it goes.
    thread: Option<JoinHandle<(World, Modules)>>,
}

impl Detector {
    /// Lets `world` and `modules` live on their own thread from now on.
    ///
    /// # Errors
    /// When the system refuses to start a thread.
    pub fn start(
        world: World,
        modules: Modules,
        settings: DetectorSettings,
    ) -> Result<Detector, StartError> {
        let queue = match settings.capacity {
            Some(capacity) => ConcurrentQueue::bounded(capacity.get()),
            None => ConcurrentQueue::unbounded(),
        };
        let errors = RecentErrors::new(settings.errors_kept);
        let latest = ArcSwap::from_pointee(Published::of(&world, 0, 0, &errors));
        let shared = Arc::new(Shared { queue, latest });
        let (waiters, waiting_room) = mpsc::channel();
        let worker = Worker {
            shared: Arc::clone(&shared),
            pace: settings.pace,
            asked: false,
            steps_due: 0,
            back: Vec::new(),
            applied: 0,
            errors,
            waiting_room,
            waiting: Vec::new(),
            world,
            modules,
        };
        let thread = thread::Builder::new().name("jostle-detector".to_string());
        let thread = thread.spawn(|| worker.run()).map_err(|e| StartError(e.to_string()))?;
        let handle = Handle { shared, thread: thread.thread().clone(), waiters };
        Ok(Detector { handle, thread: Some(thread) })
    }

    /// For posting requests and reading results.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Accepts no more requests, applies those that were accepted, and gives world and modules
    /// back. At [`Pace::Eager`] there is a last step if anything was applied since the one before.
    ///
    /// # Errors
    /// When the world panicked, and when called by one of the detector's own callbacks.
    pub fn shutdown(mut self) -> Result<(World, Modules), ShutdownError> {
        match self.stop() {
            Some(Ok(both)) => Ok(both),
            Some(Err(payload)) => Err(ShutdownError::Panicked(panic_message(payload))),
            None => Err(ShutdownError::FromCallback),
        }
    }

    /// Closes the queue and waits for the thread, unless this is the thread.
    fn stop(&mut self) -> Option<thread::Result<(World, Modules)>> {
        let thread = self.thread.take()?;
        self.handle.shared.queue.close();
        thread.thread().unpark();
        let inside = thread::current().id() == thread.thread().id();
        (!inside).then(|| thread.join())
    }
}

impl Drop for Detector {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What detector and handles share.
struct Shared {
    /// The front of the double buffer.
    queue: ConcurrentQueue<Entry>,
    latest: ArcSwap<Published>,
}

/// Something to do, and where its reply is awaited.
struct Entry {
    job: Job,
    answer: Option<Answer>,
}

/// A thread that waits for a published step.
struct Waiter {
    /// Before which this many requests were applied.
    applied: u64,
    reply: mpsc::Sender<Arc<Published>>,
}

/// What runs on the detector's thread.
struct Worker {
    shared: Arc<Shared>,
    pace: Pace,
    /// Something was applied since the last step.
    asked: bool,
    /// Steps that modules asked for.
    steps_due: u64,
    /// The back of the double buffer.
    back: Vec<Entry>,
    applied: u64,
    errors: RecentErrors,
    waiting_room: mpsc::Receiver<Waiter>,
    waiting: Vec<Waiter>,
    world: World,
    modules: Modules,
}

impl Worker {
    fn run(mut self) -> (World, Modules) {
        let _closing = Closing(Arc::clone(&self.shared));
        loop {
            let closed = self.take_over();
            self.work();
            if self.wants_step() {
                self.step();
            }
            self.answer_waiters();
            if closed {
                return (self.world, self.modules);
            }
            if self.is_idle() {
                thread::park();
            }
        }
    }

    /// Looks at the queue once more: a callback may have waited for something by itself and so have
    /// used up the wake-up of a post that came in meanwhile. What is posted after this look makes
    /// `park` return at once.
    fn is_idle(&self) -> bool {
        let queue = &self.shared.queue;
        !self.wants_step() && queue.is_empty() && !queue.is_closed()
    }

    /// Moves what is in front to the back. Returns whether that was the last of it. Takes only as
    /// much as was there at the beginning: busy producers cannot keep a step from happening.
    fn take_over(&mut self) -> bool {
        let there = self.shared.queue.len();
        for _ in 0..=there {
            match self.shared.queue.pop() {
                Ok(entry) => self.back.push(entry),
                Err(PopError::Empty) => return false,
                Err(PopError::Closed) => return true,
            }
        }
        false
    }

    /// Empties the back, in order.
    fn work(&mut self) {
        let mut back = std::mem::take(&mut self.back);
        for Entry { job, answer } in back.drain(..) {
            let result = self.apply(job);
            match answer {
                Some(answer) => answer.give(result),
                None => {
                    if let Err(error) = result {
                        self.errors.note(DetectorError::Request { number: self.applied, error });
                    }
                }
            }
        }
        self.back = back;
    }

    fn apply(&mut self, job: Job) -> Result<Reply, RequestError> {
        let result = match job {
            Job::World(request) => self.world.apply(request).map_err(RequestError::World),
            Job::Modules(request) => self.modules.apply(&self.world, request),
            Job::Step => {
                self.step();
                return Ok(Reply::Done);
            }
        };
        self.applied += 1;
        self.asked = true;
        result
    }

    fn wants_step(&self) -> bool {
        let news = self.asked || self.world.bodies.has_changes();
        self.steps_due > 0 || (self.pace == Pace::Eager && news)
    }

    fn step(&mut self) {
        self.asked = false;
        self.steps_due = self.steps_due.saturating_sub(1);
        self.world.step();
        let delivery = self.modules.deliver(&mut self.world);
        self.steps_due += delivery.steps_wanted;
        let calls = delivery.calls;
        self.errors.note_all(delivery);
        let published = Published::of(&self.world, self.applied, calls, &self.errors);
        self.shared.latest.store(Arc::new(published));
    }

    fn answer_waiters(&mut self) {
        self.waiting.extend(self.waiting_room.try_iter());
        if self.waiting.is_empty() {
            return;
        }
        let latest = self.shared.latest.load_full();
        let served = self.waiting.extract_if(.., |waiter| waiter.applied <= latest.applied);
        for waiter in served {
            // A receiver that is gone needs no reply.
            let _ = waiter.reply.send(Arc::clone(&latest));
        }
    }
}

/// However the thread ends, no thread is left waiting: nothing more is accepted, and the tickets of
/// what was accepted but not applied (after a panic) get an error.
struct Closing(Arc<Shared>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.queue.close();
        while self.0.queue.pop().is_ok() {}
    }
}
