//! A disk in memory that fails as disks do, for the simulator and for tests: what was not synced is
//! lost or torn when the machine dies, there may be no room, and writes and syncs may fail.
//!
//! Not modelled: a sync that returns and has not written, writes that reach the disk in another
//! order or at another place. No store of one disk bears those.

use crate::disk::{Disk, DiskFile, Opened, Readers};
use std::collections::BTreeMap;
use std::io::{self, Cursor, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a disk does wrong until it is healed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskFault {
    /// There is no room: of each write so many bytes are written, and never all.
    Full {
        /// Bytes.
        short: usize,
    },
    /// Writes fail, and nothing is written.
    Write,
    /// Syncs fail: what was written since the last one shows, and is lost when the machine dies.
    Sync,
}

/// A change that was written and is not synced.
#[derive(Clone, Debug)]
enum Write {
    Bytes(usize, Vec<u8>),
    Length(usize),
}

impl Write {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Write::Bytes(at, more) => {
                bytes.resize(bytes.len().max(at + more.len()), 0);
                bytes[*at..at + more.len()].copy_from_slice(more);
            }
            Write::Length(length) => bytes.resize(*length, 0),
        }
    }

    /// The machine dies during it: a part is there, perhaps with zeros behind it in place of the
    /// rest.
    fn tear(&self, bytes: &mut Vec<u8>, draw: &mut dyn FnMut(u64) -> u64) {
        let Write::Bytes(at, more) = self else { return };
        let cut = draw(more.len() as u64 + 1) as usize;
        Write::Bytes(*at, more[..cut].to_vec()).apply(bytes);
        if draw(2) == 0 {
            bytes.resize(bytes.len().max(at + more.len()), 0);
        }
    }
}

#[derive(Clone, Debug)]
enum Naming {
    Is(PathBuf, usize),
    Gone(PathBuf),
}

impl Naming {
    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        match self {
            Naming::Is(path, file) => drop(names.insert(path.clone(), *file)),
            Naming::Gone(path) => drop(names.remove(path)),
        }
    }
}

/// A file: as it shows, as it is on the disk, and what has been written since.
#[derive(Clone, Debug, Default)]
struct Content {
    shown: Vec<u8>,
    kept: Vec<u8>,
    writes: Vec<Write>,
}

#[derive(Debug, Default)]
struct Inside {
    files: Vec<Content>,
    names: BTreeMap<PathBuf, usize>,
    kept_names: BTreeMap<PathBuf, usize>,
    namings: Vec<Naming>,
    fault: Option<DiskFault>,
    /// After so many more operations the machine dies.
    dies_in: Option<u64>,
    dead: bool,
    /// Operations that failed because of a fault.
    failures: u64,
}

/// A disk in memory. A copy is the same disk.
///
/// ```
/// use jostle_store::{Disk, MemoryDisk, Readers};
/// use std::path::Path;
///
/// let (disk, path) = (MemoryDisk::default(), Path::new("folder/file"));
/// let mut file = disk.create(path, Readers::Owner)?;
/// file.write_at(b"kept", 0)?;
/// file.sync()?;
/// disk.sync_names(path)?;
/// file.write_at(b" and lost", 4)?;
/// assert_eq!(disk.content(path).as_deref(), Some(&b"kept and lost"[..]));
/// disk.crash(&mut |_| 0);
/// assert!(disk.content(path).is_some_and(|bytes| bytes.starts_with(b"kept")));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk(Arc<Mutex<Inside>>);

impl MemoryDisk {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the disk does this wrong.
    pub fn fail(&self, fault: DiskFault) {
        self.inside().fault = Some(fault);
    }

    /// The disk works again.
    pub fn heal(&self) {
        self.inside().fault = None;
    }

    /// Operations that failed because of a fault.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.inside().failures
    }

    /// After so many more operations the machine dies during one: that one and all later ones
    /// fail.
    pub fn die_in(&self, operations: u64) {
        self.inside().dies_in = Some(operations);
    }

    /// Has the machine died during an operation?
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.inside().dead
    }

    /// The machine has died and starts again: of what was not synced a part is there, in the order
    /// in which it was written, the last of it torn. `draw` gives a number below another one.
    pub fn crash(&self, draw: &mut dyn FnMut(u64) -> u64) {
        let mut inside = self.inside();
        for file in &mut inside.files {
            let writes = std::mem::take(&mut file.writes);
            let whole = draw(writes.len() as u64 + 1) as usize;
            writes[..whole].iter().for_each(|write| write.apply(&mut file.kept));
            if let Some(torn) = writes.get(whole) {
                torn.tear(&mut file.kept, draw);
            }
            file.shown.clone_from(&file.kept);
        }
        let namings = std::mem::take(&mut inside.namings);
        let whole = draw(namings.len() as u64 + 1) as usize;
        namings[..whole].iter().for_each(|naming| naming.apply(&mut inside.kept_names));
        inside.names = inside.kept_names.clone();
        (inside.dead, inside.dies_in) = (false, None);
    }

    /// The process has died, the machine goes on: all that was written shows.
    pub fn start_again(&self) {
        let mut inside = self.inside();
        (inside.dead, inside.dies_in) = (false, None);
    }

    /// What is in a file, synced or not; none if it is not there.
    #[must_use]
    pub fn content(&self, path: &Path) -> Option<Vec<u8>> {
        let inside = self.inside();
        let file = *inside.names.get(path)?;
        inside.files.get(file).map(|file| file.shown.clone())
    }

    /// Makes a file this, on the disk.
    pub fn put(&self, path: &Path, bytes: impl AsRef<[u8]>) {
        let mut inside = self.inside();
        let bytes = bytes.as_ref().to_vec();
        inside.files.push(Content { shown: bytes.clone(), kept: bytes, writes: Vec::new() });
        let file = inside.files.len() - 1;
        inside.names.insert(path.into(), file);
        inside.kept_names.insert(path.into(), file);
    }

    /// Takes a file away, on the disk.
    pub fn take(&self, path: &Path) -> Option<Vec<u8>> {
        let bytes = self.content(path);
        let mut inside = self.inside();
        inside.names.remove(path);
        inside.kept_names.remove(path);
        bytes
    }

    /// All files, by name.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        self.inside().names.keys().cloned().collect()
    }

    /// A disk with the same files, all of them synced.
    #[must_use]
    pub fn copied(&self) -> MemoryDisk {
        let copy = MemoryDisk::default();
        for path in self.paths() {
            copy.put(&path, self.content(&path).unwrap_or_default());
        }
        copy
    }
}

impl Inside {
    /// Counts an operation; the machine may die during it.
    fn step(&mut self) -> bool {
        if let Some(left) = &mut self.dies_in {
            self.dead |= *left == 0;
            *left = left.saturating_sub(1);
        }
        self.dead
    }

    fn failed(&mut self, kind: ErrorKind) -> io::Error {
        self.failures += 1;
        match kind {
            ErrorKind::Other => io::Error::other("input/output error"),
            kind => kind.into(),
        }
    }

    fn name(&mut self, naming: Naming) {
        naming.apply(&mut self.names);
        self.namings.push(naming);
    }

    fn write(&mut self, file: usize, write: Write) -> io::Result<()> {
        let Some(file) = self.files.get_mut(file) else { return Err(not_found()) };
        write.apply(&mut file.shown);
        file.writes.push(write);
        Ok(())
    }
}

fn not_found() -> io::Error {
    ErrorKind::NotFound.into()
}

/// The machine is dead: its processes see no error, because there are none.
fn dead() -> io::Error {
    io::Error::other("the machine has died")
}

impl Disk for MemoryDisk {
    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let inside = self.inside();
        let here = inside.names.keys().filter(|path| path.parent() == Some(folder));
        Ok(here.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    fn open(&self, path: &Path) -> io::Result<Opened> {
        let bytes = self.content(path).ok_or_else(not_found)?;
        let length = bytes.len() as u64;
        Ok(Opened { content: Box::new(Cursor::new(bytes)), length })
    }

    fn create(&self, path: &Path, _readers: Readers) -> io::Result<Box<dyn DiskFile>> {
        {
            let mut inside = self.inside();
            if inside.step() {
                return Err(dead());
            }
            if let Some(&file) = inside.names.get(path) {
                inside.write(file, Write::Length(0))?;
            } else {
                inside.files.push(Content::default());
                let file = inside.files.len() - 1;
                inside.name(Naming::Is(path.into(), file));
            }
        }
        self.update(path)
    }

    fn update(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let known = self.inside().names.get(path).copied();
        match known {
            Some(file) => Ok(Box::new(MemoryFile { disk: self.clone(), file })),
            None => self.create(path, Readers::Owner),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut inside = self.inside();
        let died = inside.step();
        let file = inside.names.get(from).copied().ok_or_else(not_found)?;
        inside.name(Naming::Is(to.into(), file));
        inside.name(Naming::Gone(from.into()));
        if died { Err(dead()) } else { Ok(()) }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut inside = self.inside();
        if inside.step() {
            return Err(dead());
        }
        if !inside.names.contains_key(path) {
            return Err(not_found());
        }
        inside.name(Naming::Gone(path.into()));
        Ok(())
    }

    fn sync_names(&self, _path: &Path) -> io::Result<()> {
        let mut inside = self.inside();
        if inside.step() {
            return Err(dead());
        }
        if inside.fault == Some(DiskFault::Sync) {
            return Err(inside.failed(ErrorKind::Other));
        }
        inside.namings.clear();
        inside.kept_names = inside.names.clone();
        Ok(())
    }
}

/// A file of a [`MemoryDisk`].
#[derive(Debug)]
struct MemoryFile {
    disk: MemoryDisk,
    file: usize,
}

impl DiskFile for MemoryFile {
    fn write_at(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        let mut inside = self.disk.inside();
        let died = inside.step();
        match inside.fault {
            Some(DiskFault::Full { short }) if !bytes.is_empty() => {
                let part = bytes[..short.min(bytes.len() - 1)].to_vec();
                inside.write(self.file, Write::Bytes(at as usize, part))?;
                return Err(inside.failed(ErrorKind::StorageFull));
            }
            Some(DiskFault::Write) => return Err(inside.failed(ErrorKind::Other)),
            _ => {}
        }
        inside.write(self.file, Write::Bytes(at as usize, bytes.to_vec()))?;
        if died { Err(dead()) } else { Ok(()) }
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        let mut inside = self.disk.inside();
        if inside.step() {
            return Err(dead());
        }
        inside.write(self.file, Write::Length(length as usize))
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut inside = self.disk.inside();
        if inside.step() {
            return Err(dead());
        }
        let fails = inside.fault == Some(DiskFault::Sync);
        let Some(file) = inside.files.get_mut(self.file) else { return Err(not_found()) };
        let writes = std::mem::take(&mut file.writes);
        if fails {
            return Err(inside.failed(ErrorKind::Other));
        }
        writes.iter().for_each(|write| write.apply(&mut file.kept));
        Ok(())
    }
}
