//! Recordings, as files.

use crate::files::FileSystem;
pub use jostle_store::{Ending, Replay, ReplayError, Step};
use std::path::Path;

/// Opens a recording.
///
/// # Errors
/// If it is none, or its forms are damaged.
pub fn open(file: &Path) -> Result<Replay, ReplayError> {
    Replay::open(&FileSystem, file)
}
