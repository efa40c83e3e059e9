//! How many threads share the work. The answers do not depend on it.

use std::sync::Arc;
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

    /// How many.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// The pool, if there is more than one thread.
    pub(crate) fn pool(&self) -> Option<&rayon::ThreadPool> {
        self.0.as_deref()
    }
}
