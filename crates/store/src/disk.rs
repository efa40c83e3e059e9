//! The disk that a store is written to. The network gives it the operating system's files, the
//! simulator and the tests a [`MemoryDisk`](crate::MemoryDisk) that fails as disks do.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// As far as the user's umask says.
    Umask,
    /// Its owner only: a store has the key of credentials in it.
    Owner,
}

/// A file that is open for reading.
pub struct Opened {
    /// Its content.
    pub content: Box<dyn Read + Send + Sync>,
    /// Its length in bytes.
    pub length: u64,
}

/// Files and their names. What is written survives the end of the process, and that of the machine
/// from [`DiskFile::sync`] on; names survive it from [`Disk::sync_names`] on.
pub trait Disk: fmt::Debug + Send + Sync {
    /// The names in a folder, in any order.
    ///
    /// # Errors
    /// Those of the file system; so in all functions here.
    fn names(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// Opens a file that is there.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if it is not there.
    fn open(&self, path: &Path) -> io::Result<Opened>;

    /// An empty file, also if there was one.
    ///
    /// # Errors
    /// See [`Disk::names`].
    fn create(&self, path: &Path, readers: Readers) -> io::Result<Box<dyn DiskFile>>;

    /// A file as it is, to be written; an empty one of the owner's if it is not there.
    ///
    /// # Errors
    /// See [`Disk::names`].
    fn update(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Gives a file another name; a file that has it loses it.
    ///
    /// # Errors
    /// See [`Disk::names`].
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// See [`Disk::names`].
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Returns when all names in the folder of this file are on the disk.
    ///
    /// # Errors
    /// See [`Disk::names`].
    fn sync_names(&self, path: &Path) -> io::Result<()>;
}

/// A file that is written.
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// Writes all these bytes; after an error any part of them may be there.
    ///
    /// # Errors
    /// See [`Disk::names`].
    fn write_at(&mut self, bytes: &[u8], at: u64) -> io::Result<()>;

    /// Cuts the file off.
    ///
    /// # Errors
    /// See [`Disk::names`].
    fn set_length(&mut self, length: u64) -> io::Result<()>;

    /// Returns when what was written is on the disk. After an error it may be lost, whatever a
    /// later call returns.
    ///
    /// # Errors
    /// See [`Disk::names`].
    fn sync(&mut self) -> io::Result<()>;
}

/// All bytes of a file; none if it is not there.
pub(crate) fn read_all(disk: &dyn Disk, path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    match disk.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?.content.read_to_end(&mut bytes)?,
    };
    Ok(Some(bytes))
}
