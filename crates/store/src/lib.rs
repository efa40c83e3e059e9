//! What of a world survives the end of all its machines?
//!
//! * [`Recorder`]: follows a group and writes the world down, into a recording or a store;
//! * [`Store`]: the files of a stored world, and which of them counts at a start;
//! * [`DirectoryStore`]: the directory and its saved state, which is on the disk before an answer
//!   is sent;
//! * [`MirroredFile`]: a small file in two copies;
//! * [`Replay`]: a recording that is played again;
//! * [`RecordWriter`], [`RecordReader`]: files of records, each byte under a checksum.
//!
//! There is no file access here, no clock, no thread and no dice: the network gives a [`Disk`] of
//! real files, the simulator a [`MemoryDisk`] that fails. Both drive the same code, so what is
//! written when, and what is read back from what is left, is tested in whole campaigns.

mod directory_store;
mod disk;
mod memory;
mod mirrored;
mod notice;
mod recorder;
mod recording;
mod records;
mod start;
mod store;

pub use directory_store::{DirectoryStore, DirectoryStoreStatus};
pub use disk::{Disk, DiskFile, Opened, Readers};
pub use memory::{DiskFault, MemoryDisk};
pub use mirrored::{MirroredError, MirroredFile, MirroredFound, MirroredKind, copy};
pub use notice::{Notice, Severity};
pub use recorder::{Recorder, RecorderStatus};
pub use recording::{Ending, Progress, Replay, ReplayError, Step};
pub use records::{Magic, RecordError, RecordReader, RecordWriter};
pub use start::{DirectoryError, DirectoryStart, Serving, StartedDirectory, start_directory};
pub use store::{Store, StoreError, StoreSettings, Stored, StoredFound};
