//! The stored world: a few files, each of which begins with the whole world and goes on with every
//! tick (a recording). When one is long the next begins, and only those two stay, so neither room
//! nor the time of a start grows. What was stored last stands in a small file beside them: a file
//! that ends before that is damaged, even if it ends between two records.
//!
//! A start takes the newest file that can be read, up to where it is whole. Whatever it leaves out
//! is logged with file and place; only if no file can be read at all it refuses.

use crate::disk::{Disk, DiskFile, Readers, read_all};
use crate::notice::Notice;
use crate::recording::{Ending, Head, MAGIC, Progress, Replay, ReplayError, Step};
use crate::records::{RecordError, RecordWriter};
use jostle_proto::{Mutant, Objects, Shapes, Source, Span, Tick};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// When files are written. The simulator draws shorter times and files, so that more happens in
/// a run.
#[derive(Clone, Copy, Debug)]
pub struct StoreSettings {
    /// A file is long when it has so many bytes, or twice as many as it began with.
    pub long: u64,
    /// Or when playing it advances so many objects.
    pub work: u64,
    /// What is not on disk after this is lost if the machine dies.
    pub sync: Span,
    /// A write that failed is tried again after this.
    pub retry: Span,
    /// A mistake to build in.
    pub mutant: Option<Mutant>,
}

impl Default for StoreSettings {
    fn default() -> StoreSettings {
        StoreSettings {
            long: 8 << 20,
            // Two seconds, in a release build on a slow machine.
            work: 40_000_000,
            sync: Span::from_ms(1000),
            retry: Span::from_ms(1000),
            mutant: None,
        }
    }
}

/// A world as it was stored.
#[derive(Clone)]
pub struct Stored {
    /// The last tick.
    pub tick: Tick,
    /// How far it had come with what came from outside.
    pub heard: Progress,
    /// Ticks per second.
    pub rate: u32,
    /// Its objects after that tick.
    pub objects: Objects,
    /// All forms.
    pub shapes: Shapes,
}

/// What was found in a folder.
pub struct StoredFound {
    /// The newest world that can be read; none if none was ever stored.
    pub stored: Option<Stored>,
    /// Where the next one goes.
    pub store: Store,
    /// What is damaged, and what was left out for that.
    pub notices: Vec<Notice>,
}

/// Why the stored world cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder.
    #[error("{path}: {source}")]
    Folder {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No file can be read.
    #[error(
        "no file of the stored world can be read: {0}. To begin another world, give --store \
         another folder; to bring this one back, put a copy of its files there"
    )]
    Unreadable(String),
    /// They are gone.
    #[error(
        "{folder}: tick {tick} was stored here, but the files with the world (world-N.rec) are \
         gone. To begin another world, give --store another folder; to bring this one back, put a \
         copy of its files there"
    )]
    Gone {
        /// The folder.
        folder: PathBuf,
        /// What was stored last.
        tick: u64,
    },
}

/// A store that is written.
#[derive(Debug)]
pub struct Store {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    pub(crate) settings: StoreSettings,
    /// The number of the next file.
    next: u64,
    /// The newest file that is whole: it stays until there are two newer ones.
    newest: Option<PathBuf>,
    /// Bytes that the newest file began with.
    began: u64,
    mark: Mark,
}

impl Store {
    /// The newest world in a folder, and where the next one goes.
    ///
    /// # Errors
    /// If there was a world, and no file of it can be read.
    pub fn open(
        disk: &Arc<dyn Disk>,
        folder: &Path,
        settings: StoreSettings,
    ) -> Result<StoredFound, StoreError> {
        let failed = |source| StoreError::Folder { path: folder.into(), source };
        let mut notices = Vec::new();
        let found = files(&**disk, folder).map_err(failed)?;
        let mark = Mark::open(&**disk, &folder.join(MARK), &mut notices);
        let (mark, stand) = mark.map_err(failed)?;
        let next = found.last().map_or(0, |(number, _)| number + 1);
        let next = next.max(stand.map_or(0, |stand| stand.file + 1));
        let (disk, folder) = (disk.clone(), folder.to_path_buf());
        let mut store = Store { disk, folder, settings, next, newest: None, began: 0, mark };
        let mut errors = Vec::new();
        for (number, path) in found.iter().rev() {
            match store.read(path, &mut notices) {
                Ok(read) => {
                    let used = Used { path, number: *number, older: !errors.is_empty() };
                    used.report(&read, stand, &mut notices);
                    store.newest = Some(path.clone());
                    return Ok(StoredFound { stored: Some(read.stored), store, notices });
                }
                Err(error) => {
                    let what = match error.to_string() {
                        what if what.contains(&*path.to_string_lossy()) => what,
                        what => format!("{}: {what}", path.display()),
                    };
                    notices.push(Notice::error(format!("{what}; it is left out")));
                    errors.push(what);
                }
            }
        }
        match (errors.is_empty(), stand) {
            (false, _) => Err(StoreError::Unreadable(errors.join("; "))),
            (true, Some(Stand { tick, .. })) => {
                Err(StoreError::Gone { folder: store.folder, tick })
            }
            (true, None) => Ok(StoredFound { stored: None, store, notices }),
        }
    }

    /// A file that begins with the world. It has its name only when that is on the disk; then
    /// those before the last one are removed.
    pub(crate) fn begin(
        &mut self,
        head: &Head,
        tick: Tick,
        heard: &[(Source, u64)],
        objects: &Objects,
    ) -> Result<RecordWriter, RecordError> {
        let disk = &*self.disk;
        let beside = self.folder.join("world.new");
        let path = self.folder.join(format!("world-{}.rec", self.next));
        let failed = |source| RecordError::File { path: path.clone(), source };
        let write = || {
            let mut writer = RecordWriter::create(disk, &beside, MAGIC, Readers::Owner)?;
            writer.write_head(head)?;
            writer.write_world(tick, heard, objects)?;
            writer.sync()?;
            disk.rename(&beside, &path).map_err(failed)?;
            disk.sync_names(&path).map_err(failed)?;
            Ok(writer)
        };
        let mut writer = write().inspect_err(|_| {
            // It takes room on a disk that may be full.
            let _left = disk.remove(&beside);
        })?;
        writer.renamed(path.clone());
        self.began = writer.length();
        let before = self.newest.replace(path.clone());
        let before = before.filter(|_| self.settings.mutant != Some(Mutant::KeepOneGeneration));
        for (number, old) in files(disk, &self.folder).unwrap_or_default() {
            if number < self.next && Some(&old) != before.as_ref() {
                // If it stays, it only takes room.
                let _stays = disk.remove(&old);
            }
        }
        self.next += 1;
        Ok(writer)
    }

    /// Was there a world in it?
    #[must_use]
    pub fn has_world(&self) -> bool {
        self.newest.is_some()
    }

    /// Is it time for another file, when this one has so many bytes and playing it takes so much?
    pub(crate) fn is_long(&self, bytes: u64, work: u64) -> bool {
        let StoreSettings { long, work: most, .. } = self.settings;
        bytes.saturating_sub(self.began) >= long.max(2 * self.began) || work >= most
    }

    /// The newest file is on the disk up to here.
    pub(crate) fn synced(&mut self, bytes: u64, tick: Option<Tick>) -> Result<(), RecordError> {
        let Some(tick) = tick else { return Ok(()) };
        let file = self.next.saturating_sub(1);
        let path = self.folder.join(MARK);
        let set = self.mark.set(&*self.disk, &path, Stand { file, bytes, tick: tick.0 });
        set.map_err(|source| RecordError::File { path, source })
    }

    /// Plays a file as far as it is whole.
    fn read(&self, path: &Path, notices: &mut Vec<Notice>) -> Result<Read, ReplayError> {
        let (mut replay, wrong) = self.play(path, None)?;
        let last = match wrong {
            // A tick that came out differently has been done already.
            Some(ReplayError::Different { tick, .. }) => {
                let before = Tick(tick.0.saturating_sub(1));
                replay = self.play(path, Some(before))?.0;
                Some(before)
            }
            _ => replay.tick(),
        };
        let tick = last.filter(|_| replay.tick() == last);
        let tick = tick.ok_or(ReplayError::Incomplete("has no world"))?;
        let wrong = wrong.map(|error| error.to_string());
        let torn = match replay.ending() {
            Ending::Missing { torn, at } if wrong.is_none() && torn > 0 => {
                notices.push(Notice::warning(format!(
                    "{}: {torn} bytes of an incomplete write left out at byte {at}",
                    path.display()
                )));
                None
            }
            _ => wrong,
        };
        let stored = Stored {
            tick,
            heard: replay.heard().to_vec(),
            rate: replay.rate(),
            objects: replay.objects().clone(),
            shapes: replay.shapes().clone(),
        };
        Ok(Read { stored, bytes: replay.position(), wrong: torn })
    }

    /// Plays a file to its end, to a tick, or to what is wrong. An error if there is no world
    /// before.
    fn play(
        &self,
        path: &Path,
        until: Option<Tick>,
    ) -> Result<(Replay, Option<ReplayError>), ReplayError> {
        let mut replay = Replay::open_with(&*self.disk, path, self.settings.mutant)?;
        loop {
            match replay.next(false) {
                Ok(None) => return Ok((replay, None)),
                Ok(Some(Step::World(tick) | Step::Same(tick, _))) if Some(tick) == until => {
                    return Ok((replay, None));
                }
                Ok(Some(Step::World(_) | Step::Same(..))) => {}
                Ok(Some(Step::Different(tick, what))) => {
                    return Ok((replay, Some(ReplayError::Different { tick, what })));
                }
                Err(error) if replay.tick().is_none() => return Err(error),
                Err(error) => return Ok((replay, Some(error))),
            }
        }
    }
}

/// The files of a stored world, oldest first, with their numbers.
fn files(disk: &dyn Disk, folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for name in disk.names(folder)? {
        let number = name.strip_prefix("world-").and_then(|name| name.strip_suffix(".rec"));
        if let Some(number) = number.and_then(|number| number.parse().ok()) {
            found.push((number, folder.join(name)));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// What was read of a file.
struct Read {
    stored: Stored,
    /// Bytes of it that were played.
    bytes: u64,
    /// What is wrong behind them.
    wrong: Option<String>,
}

/// The file that the world is taken from.
struct Used<'a> {
    path: &'a Path,
    number: u64,
    older: bool,
}

impl Used<'_> {
    /// Reports what is missing, if something is.
    fn report(&self, read: &Read, stand: Option<Stand>, notices: &mut Vec<Notice>) {
        let (file, tick) = (self.path.display(), read.stored.tick.0);
        if let Some(wrong) = &read.wrong {
            let what =
                format!("{wrong}: the world is taken from {file} as it was before, at {tick}");
            notices.push(Notice::error(what));
        }
        if self.older {
            let what = format!("an older file is used: {file}, up to tick {tick}");
            notices.push(Notice::error(what));
        }
        let Some(stand) = stand else { return };
        let same = stand.file == self.number;
        if stand.tick > tick || same && stand.bytes > read.bytes {
            let (bytes, stored, at) = (stand.bytes, stand.tick, read.bytes);
            let place = if same { format!(" (byte {at} of {bytes})") } else { String::new() };
            notices.push(Notice::error(format!(
                "tick {stored} was stored, but the world is there up to tick {tick} only, in \
                 {file}{place}: what happened in between is lost. If there is a copy of the store, \
                 stop, put it there, and start again"
            )));
        }
    }
}

const MARK: &str = "stored";
const MARK_MAGIC: [u8; 8] = *b"JOMARK\0\x01";

/// How far the world is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stand {
    /// The number of the file.
    file: u64,
    bytes: u64,
    tick: u64,
}

/// A file with two slots that are written in turn, so that one is always whole. The slots are in
/// different sectors.
#[derive(Debug, Default)]
struct Mark {
    file: Option<Box<dyn DiskFile>>,
    /// Counts what was written.
    number: u64,
}

/// A slot: what it is, its number, a stand, and a checksum of all that.
const SLOT: usize = 8 + 4 * 8 + 4;
const SLOT_APART: u64 = 4096;

impl Mark {
    /// What a file says; nothing if there is none, or if nothing in it can be read.
    fn open(
        disk: &dyn Disk,
        path: &Path,
        notices: &mut Vec<Notice>,
    ) -> io::Result<(Mark, Option<Stand>)> {
        let Some(bytes) = read_all(disk, path)? else { return Ok((Mark::default(), None)) };
        let slots = [0, SLOT_APART as usize].map(|at| bytes.get(at..).and_then(read_slot));
        if slots.contains(&None) {
            let which = if slots == [None; 2] { "both parts" } else { "one part" };
            notices.push(Notice::warning(format!(
                "{}: {which} damaged or never written; if the stored world is shorter than it \
                 was, that is not noticed",
                path.display()
            )));
        }
        let newest = slots.into_iter().flatten().max_by_key(|(number, _)| *number);
        let number = newest.map_or(0, |(number, _)| number);
        Ok((Mark { file: None, number }, newest.map(|(_, stand)| stand)))
    }

    fn set(&mut self, disk: &dyn Disk, path: &Path, stand: Stand) -> io::Result<()> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = disk.update(path)?;
                // Otherwise its name may be lost with the machine, and all that it says.
                disk.sync_names(path)?;
                file
            }
        };
        self.number += 1;
        let mut slot = MARK_MAGIC.to_vec();
        for value in [self.number, stand.file, stand.bytes, stand.tick] {
            slot.extend(value.to_le_bytes());
        }
        slot.extend(crc32c::crc32c(&slot).to_le_bytes());
        file.write_at(&slot, (self.number % 2) * SLOT_APART)?;
        file.sync()?;
        self.file = Some(file);
        Ok(())
    }
}

fn read_slot(bytes: &[u8]) -> Option<(u64, Stand)> {
    let (slot, sum) = bytes.get(..SLOT)?.split_last_chunk::<4>()?;
    if crc32c::crc32c(slot) != u32::from_le_bytes(*sum) || !slot.starts_with(&MARK_MAGIC) {
        return None;
    }
    let value = |at: usize| {
        let bytes = slot.get(8 + 8 * at..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*bytes))
    };
    Some((value(0)?, Stand { file: value(1)?, bytes: value(2)?, tick: value(3)? }))
}

#[cfg(test)]
mod tests;
