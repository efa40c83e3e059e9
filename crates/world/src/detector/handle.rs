//! The side of a detector that other threads see.

use super::published::Published;
use super::{Entry, Shared, Waiter};
use crate::request::Job;
use crate::ticket::{Answer, Ticket};
use concurrent_queue::PushError;
use std::fmt;
use std::sync::{Arc, mpsc};
use std::thread::{self, Thread};
use thiserror::Error;

/// Posts requests to a detector and reads its results, from any thread.
///
/// Posting and reading never wait for the detector. Requests of one thread are applied in the order
/// in which it posted them; those of several threads in any order that agrees with that.
#[derive(Clone)]
pub struct Handle {
    pub(super) shared: Arc<Shared>,
    pub(super) thread: Thread,
    pub(super) waiters: mpsc::Sender<Waiter>,
}

/// Why a request was not accepted. It is handed back.
#[derive(Debug, Error)]
pub enum PostError {
    /// The queue holds as many requests as the settings allow.
    #[error("the detector's queue is full")]
    Full(Box<Job>),
    /// The detector is shutting down, or gone.
    #[error("the detector has stopped")]
    Stopped(Box<Job>),
}

/// Why waiting for a detector came to nothing.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum WaitError {
    /// It stopped before.
    #[error("the detector has stopped")]
    Stopped,
    /// A callback would wait for itself.
    #[error("the detector cannot wait for itself; a callback must not wait")]
    FromCallback,
}

impl Handle {
    /// Puts a request, or [`Job::Step`], into the queue. If it fails, a
    /// [`DetectorError`](crate::DetectorError) is published.
    ///
    /// # Errors
    /// Hands the request back at once if the queue is full or the detector stopped. A request that
    /// was not handed back is applied, unless the world itself panics.
    pub fn post(&self, job: impl Into<Job>) -> Result<(), PostError> {
        self.push(job.into(), None)
    }

    /// [`Handle::post`] with a ticket, under which the reply will be found: for example the name of
    /// an inserted body. The reply is there as soon as the request was applied, which is before the
    /// step that shows it is published.
    ///
    /// # Errors
    /// As [`Handle::post`].
    pub fn ask(&self, job: impl Into<Job>) -> Result<Ticket, PostError> {
        let (ticket, answer) = Ticket::new();
        self.push(job.into(), Some(answer))?;
        Ok(ticket)
    }

    /// What was published last. Before the first step this is the world as it was at the start;
    /// after the detector stopped it is what it published last.
    #[must_use]
    pub fn latest(&self) -> Arc<Published> {
        self.shared.latest.load_full()
    }

    /// Does the detector accept requests?
    #[must_use]
    pub fn is_running(&self) -> bool {
        !self.shared.queue.is_closed()
    }

    /// **Waits** until a step is published before which at least `count` requests were applied. For
    /// tests and tools; everything else here does not wait. At
    /// [`Pace::OnDemand`](crate::Pace::OnDemand) that step must be requested, too.
    ///
    /// # Errors
    /// When the detector stops before, and when called by one of its own callbacks.
    pub fn wait_until_applied(&self, count: u64) -> Result<Arc<Published>, WaitError> {
        if thread::current().id() == self.thread.id() {
            return Err(WaitError::FromCallback);
        }
        let (reply, published) = mpsc::channel();
        if self.waiters.send(Waiter { applied: count, reply }).is_ok() {
            self.thread.unpark();
            if let Ok(published) = published.recv() {
                return Ok(published);
            }
        }
        // It stopped; perhaps after the step that was waited for.
        let latest = self.latest();
        if latest.applied >= count { Ok(latest) } else { Err(WaitError::Stopped) }
    }

    fn push(&self, job: Job, answer: Option<Answer>) -> Result<(), PostError> {
        let pushed = self.shared.queue.push(Entry { job, answer });
        // Also wakes a detector that is about to park: `park` then returns at once. Costs one
        // atomic exchange while the detector is at work, a system call only if it sleeps.
        self.thread.unpark();
        pushed.map_err(|refused| match refused {
            PushError::Full(entry) => PostError::Full(Box::new(entry.job)),
            PushError::Closed(entry) => PostError::Stopped(Box::new(entry.job)),
        })
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("is_running", &self.is_running()).finish_non_exhaustive()
    }
}
