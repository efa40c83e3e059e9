//! The directory with its memory: what it has answered for is on disk before the answer goes out.

use crate::records::{RecordError, RecordReader, replace};
use jostle_proto::{Address, Directory, GroupReport, Message, Output, Saved, Time, Timing};
use std::path::{Path, PathBuf};

const MAGIC: [u8; 8] = *b"JODIR\0\0\x01";

/// A directory, and where it keeps what it must not forget.
pub(crate) struct Keeper {
    directory: Directory,
    file: Option<PathBuf>,
}

impl Keeper {
    /// One that forgets everything when its process ends.
    pub(crate) fn new(directory: Directory) -> Keeper {
        Keeper { directory, file: None }
    }

    /// One that remembers in this file.
    pub(crate) fn at(directory: Directory, file: &Path) -> Result<Keeper, RecordError> {
        replace(file, MAGIC, &directory.save())?;
        Ok(Keeper { directory, file: Some(file.into()) })
    }

    /// What was kept there; none if there is no such file.
    pub(crate) fn kept(file: &Path) -> Result<Option<Saved>, RecordError> {
        if !file.exists() {
            return Ok(None);
        }
        RecordReader::open(file, MAGIC, "directory's memory")?.next()
    }

    /// As it was when it was kept.
    pub(crate) fn load(saved: Saved, now: Time, timing: Timing) -> Directory {
        Directory::load(saved, now, timing)
    }

    pub(crate) fn report(&self, now: Time) -> Vec<GroupReport> {
        self.directory.report(now)
    }

    pub(crate) fn wake_at(&self) -> Time {
        self.directory.wake_at()
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        let before = out.len();
        self.directory.wake(now, out);
        self.keep(before, out);
    }

    pub(crate) fn receive(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        let before = out.len();
        self.directory.receive(now, message, out);
        self.keep(before, out);
    }

    /// Keeps what it is about to answer for. What cannot be kept is not said: the nodes ask again.
    fn keep(&mut self, before: usize, out: &mut Vec<Output>) {
        let Some(file) = &self.file else { return };
        if out[before..].iter().all(promises_nothing) {
            return;
        }
        if let Err(error) = replace(file, MAGIC, &self.directory.save()) {
            tracing::error!("joins and leaves wait: cannot write the directory store: {error}");
            out.truncate(before);
        }
    }
}

/// Is this true whatever the directory forgets?
fn promises_nothing(output: &Output) -> bool {
    let Output::Send(to, message) = output else { return true };
    debug_assert!(*to != Address::Directory);
    matches!(
        message,
        Message::Lease { .. } | Message::Peers(_) | Message::Pong { .. } | Message::Probe(_)
    )
}
