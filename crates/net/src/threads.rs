//! The threads on which asynchronous code runs.

use tokio::runtime::{Builder, Runtime};

/// Starts so many threads with this name.
pub(crate) fn runtime(name: &str, threads: usize) -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(threads).thread_name(name).enable_all().build()
}
