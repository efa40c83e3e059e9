//! The stored world: a few files, each of which begins with the whole world and goes on with every
//! tick (a recording). When one is long the next begins, and only those two stay, so neither room
//! nor the time of a start grows. What was stored last stands in a small file beside them: a file
//! that ends before that is damaged, even if it ends between two records.
//!
//! A start takes the newest file that can be read, up to where it is whole. Whatever it leaves out
//! is logged with file and place; only if no file can be read at all it refuses.

use crate::private;
use crate::recording::{Ending, Head, MAGIC, Progress, Replay, ReplayError, Step};
use crate::records::{RecordError, RecordWriter};
use crate::twin::sync_folder;
use jostle_proto::{Objects, Shapes, Source, Tick};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file is long when it has so many bytes, or twice as many as it began with.
const LONG: u64 = 8 << 20;

/// Or when playing it advances so many objects: two seconds, in a release build on a slow machine.
const WORK: u64 = 40_000_000;

/// A world as it was stored.
pub(crate) struct Stored {
    pub(crate) tick: Tick,
    pub(crate) heard: Progress,
    pub(crate) rate: u32,
    pub(crate) objects: Objects,
    pub(crate) shapes: Shapes,
}

/// Why the stored world cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder.
    #[error("{path}: {source}")]
    Folder {
        /// Which.
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
        /// Where.
        folder: PathBuf,
        /// What was stored last.
        tick: u64,
    },
}

/// A store that is written.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    /// The number of the next file.
    next: u64,
    /// The newest file that is whole: it stays until there are two newer ones.
    newest: Option<PathBuf>,
    /// Bytes that the newest file began with.
    began: u64,
    mark: Mark,
}

impl Store {
    /// A file that begins with the world. It has its name only when that is on the disk; then
    /// those before the last one are removed.
    pub(crate) fn begin(
        &mut self,
        head: &Head,
        tick: Tick,
        heard: &[(Source, u64)],
        objects: &Objects,
    ) -> Result<RecordWriter, RecordError> {
        let beside = self.folder.join("world.new");
        let path = self.folder.join(format!("world-{}.rec", self.next));
        let failed = |source| RecordError::File { path: path.clone(), source };
        let write = || {
            let mut writer = RecordWriter::create_private(&beside, MAGIC)?;
            writer.write_head(head)?;
            writer.write_world(tick, heard, objects)?;
            writer.sync()?;
            std::fs::rename(&beside, &path).map_err(failed)?;
            sync_folder(&path).map_err(failed)?;
            Ok(writer)
        };
        let mut writer = write().inspect_err(|_| {
            // It takes room on a disk that may be full.
            let _left = std::fs::remove_file(&beside);
        })?;
        writer.renamed(path.clone());
        self.began = writer.length();
        let before = self.newest.replace(path.clone());
        for (number, old) in files(&self.folder).unwrap_or_default() {
            if number < self.next && Some(&old) != before.as_ref() {
                // If it stays, it only takes room.
                let _stays = std::fs::remove_file(old);
            }
        }
        self.next += 1;
        Ok(writer)
    }

    /// Was there a world in it?
    pub(crate) fn has_world(&self) -> bool {
        self.newest.is_some()
    }

    /// Is it time for another file, when this one has so many bytes and playing it takes so much?
    pub(crate) fn is_long(&self, bytes: u64, work: u64) -> bool {
        bytes.saturating_sub(self.began) >= LONG.max(2 * self.began) || work >= WORK
    }

    /// The newest file is on the disk up to here.
    pub(crate) fn synced(&mut self, bytes: u64, tick: Option<Tick>) -> Result<(), RecordError> {
        let Some(tick) = tick else { return Ok(()) };
        let file = self.next.saturating_sub(1);
        let path = self.folder.join(MARK);
        let set = self.mark.set(&path, Stand { file, bytes, tick: tick.0 });
        set.map_err(|source| RecordError::File { path, source })
    }
}

/// The files of a stored world, oldest first, with their numbers.
fn files(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("world-"));
        let number = number.and_then(|name| name.strip_suffix(".rec"));
        if let Some(number) = number.and_then(|number| number.parse().ok()) {
            found.push((number, folder.join(name)));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The newest world in a folder, and where the next one goes.
pub(crate) fn open(folder: &Path) -> Result<(Option<Stored>, Store), StoreError> {
    let failed = |source| StoreError::Folder { path: folder.into(), source };
    let found = files(folder).map_err(failed)?;
    let (mark, stand) = Mark::open(&folder.join(MARK)).map_err(failed)?;
    let next = found.last().map_or(0, |(number, _)| number + 1);
    let next = next.max(stand.map_or(0, |stand| stand.file + 1));
    let mut store = Store { folder: folder.into(), next, newest: None, began: 0, mark };
    let mut errors = Vec::new();
    for (number, path) in found.iter().rev() {
        match read(path) {
            Ok(read) => {
                let used = Used { path, number: *number, older: !errors.is_empty() };
                used.log(&read, stand);
                store.newest = Some(path.clone());
                return Ok((Some(read.stored), store));
            }
            Err(error) => {
                let what = match error.to_string() {
                    what if what.contains(&*path.to_string_lossy()) => what,
                    what => format!("{}: {what}", path.display()),
                };
                tracing::error!("{what}; it is left out");
                errors.push(what);
            }
        }
    }
    match (errors.is_empty(), stand) {
        (false, _) => Err(StoreError::Unreadable(errors.join("; "))),
        (true, Some(stand)) => Err(StoreError::Gone { folder: folder.into(), tick: stand.tick }),
        (true, None) => Ok((None, store)),
    }
}

/// What was read of a file.
struct Read {
    stored: Stored,
    /// Bytes of it that were played.
    bytes: u64,
    /// What is wrong behind them.
    wrong: Option<String>,
}

/// Plays a file as far as it is whole.
fn read(path: &Path) -> Result<Read, ReplayError> {
    let (mut replay, wrong) = play(path, None)?;
    let last = match wrong {
        // A tick that came out differently has been done already.
        Some(ReplayError::Different { tick, .. }) => {
            let before = Tick(tick.0.saturating_sub(1));
            replay = play(path, Some(before))?.0;
            Some(before)
        }
        _ => replay.tick(),
    };
    let tick = last.filter(|_| replay.tick() == last);
    let tick = tick.ok_or(ReplayError::Incomplete("has no world"))?;
    let wrong = wrong.map(|error| error.to_string());
    let torn = match replay.ending() {
        Ending::Missing { torn, at } if wrong.is_none() && torn > 0 => {
            tracing::warn!(
                "{}: {torn} bytes of an incomplete write left out at byte {at}",
                path.display()
            );
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

/// Plays a file to its end, to a tick, or to what is wrong. An error if there is no world before.
fn play(path: &Path, until: Option<Tick>) -> Result<(Replay, Option<ReplayError>), ReplayError> {
    let mut replay = Replay::open(path)?;
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

/// The file that the world is taken from.
struct Used<'a> {
    path: &'a Path,
    number: u64,
    older: bool,
}

impl Used<'_> {
    /// Says what is missing, if something is.
    fn log(&self, read: &Read, stand: Option<Stand>) {
        let (file, tick) = (self.path.display(), read.stored.tick.0);
        if let Some(wrong) = &read.wrong {
            tracing::error!("{wrong}: the world is taken from {file} as it was before, at {tick}");
        }
        if self.older {
            tracing::error!("an older file is used: {file}, up to tick {tick}");
        }
        let Some(stand) = stand else { return };
        let same = stand.file == self.number;
        if stand.tick > tick || same && stand.bytes > read.bytes {
            let (bytes, stored, at) = (stand.bytes, stand.tick, read.bytes);
            let place = if same { format!(" (byte {at} of {bytes})") } else { String::new() };
            tracing::error!(
                "tick {stored} was stored, but the world is there up to tick {tick} only, in \
                 {file}{place}: what happened in between is lost. If there is a copy of the store, \
                 stop, put it there, and start again"
            );
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
    file: Option<File>,
    /// Counts what was written.
    number: u64,
}

/// A slot: what it is, its number, a stand, and a checksum of all that.
const SLOT: usize = 8 + 4 * 8 + 4;
const SLOT_APART: u64 = 4096;

impl Mark {
    /// What a file says; nothing if there is none, or if nothing in it can be read.
    fn open(path: &Path) -> io::Result<(Mark, Option<Stand>)> {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok((Mark::default(), None));
            }
            read => read?,
        };
        let slots = [0, SLOT_APART as usize].map(|at| bytes.get(at..).and_then(read_slot));
        if slots.contains(&None) {
            let which = if slots == [None; 2] { "both parts" } else { "one part" };
            tracing::warn!(
                "{}: {which} damaged or never written; if the stored world is shorter than it \
                 was, that is not noticed",
                path.display()
            );
        }
        let newest = slots.into_iter().flatten().max_by_key(|(number, _)| *number);
        let number = newest.map_or(0, |(number, _)| number);
        Ok((Mark { file: None, number }, newest.map(|(_, stand)| stand)))
    }

    fn set(&mut self, path: &Path, stand: Stand) -> io::Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => private::open(path)?,
        };
        self.number += 1;
        let mut slot = MARK_MAGIC.to_vec();
        for value in [self.number, stand.file, stand.bytes, stand.tick] {
            slot.extend(value.to_le_bytes());
        }
        slot.extend(crc32c::crc32c(&slot).to_le_bytes());
        file.write_all_at(&slot, (self.number % 2) * SLOT_APART)?;
        file.sync_data()?;
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
