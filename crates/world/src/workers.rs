//! How many threads share the work. The answers do not depend on it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// The threads of a world: the caller's own, or a pool.
#[derive(Clone, Debug, Default)]
pub struct Workers(Option<Arc<rayon::ThreadPool>>);

/// A pool that could not be started.
#[derive(Debug, Error)]
#[error("{threads} threads could not be started: {reason}")]
pub struct WorkersError {
    threads: usize,
    reason: String,
}

impl Workers {
    /// Everything on the caller's thread.
    pub const ONE: Workers = Workers(None);

    /// `threads` threads; 0 and 1 mean the caller's own.
    ///
    /// # Errors
    /// When the system refuses to start them.
    pub fn new(threads: usize) -> Result<Workers, WorkersError> {
        if threads <= 1 {
            return Ok(Workers::ONE);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| WorkersError { threads, reason: error.to_string() })?;
        Ok(Workers(Some(Arc::new(pool))))
    }

    /// The number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Does `pieces` pieces of work and returns what they give, in order. The caller works too, and
    /// does not wait for the others to wake: they take what is left when they come.
    pub(crate) fn share<T: Send>(&self, pieces: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let Some(pool) = self.pool() else { return (0..pieces).map(work).collect() };
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(pieces));
        let take_pieces = || loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return;
            }
            let result = work(piece);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((piece, result));
        };
        pool.in_place_scope(|scope| {
            for _ in 1..pool.current_num_threads() {
                scope.spawn(|_| take_pieces());
            }
            take_pieces();
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|&(piece, _)| piece);
        done.into_iter().map(|(_, result)| result).collect()
    }

    /// The pool, if there is more than one thread.
    pub(crate) fn pool(&self) -> Option<&rayon::ThreadPool> {
        self.0.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_work_comes_back_in_order_and_complete() {
        for threads in [1, 2, 5] {
            let workers = Workers::new(threads).expect("threads");
            for pieces in [0, 1, 3, 1000] {
                let squares = workers.share(pieces, |piece| piece * piece);
                assert_eq!(squares, (0..pieces).map(|n| n * n).collect::<Vec<_>>());
            }
        }
    }
}
