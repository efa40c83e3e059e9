//! The directory and its saved state: the state that an answer depends on is on the disk before
//! the answer is sent.

use crate::disk::Disk;
use crate::mirrored::{MirroredError, MirroredFile, MirroredFound, MirroredKind};
use crate::notice::Notice;
use crate::records::RecordError;
use jostle_proto::{Address, Directory, GroupReport, Message, Output, Saved, Time};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

const KIND: MirroredKind =
    MirroredKind { magic: *b"JODIR\0\0\x02", name: "memory of the directory" };

/// Writes of the directory, for status and metrics.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DirectoryStoreStatus {
    /// Those that failed since the process began.
    pub failures: u64,
    /// Why it cannot be written now.
    pub trouble: Option<String>,
}

/// A directory, and the file that its state is saved to.
pub struct DirectoryStore {
    directory: Directory,
    file: Option<MirroredFile>,
    status: DirectoryStoreStatus,
    /// False until the first event: until then nothing has been received.
    runs: bool,
    notices: Vec<Notice>,
}

impl DirectoryStore {
    /// Without a file: the state is lost when the process ends.
    #[must_use]
    pub fn new(directory: Directory) -> DirectoryStore {
        let (status, runs) = (DirectoryStoreStatus::default(), false);
        DirectoryStore { directory, file: None, status, runs, notices: Vec::new() }
    }

    /// With this file, to which the state is saved at once.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn at(directory: Directory, mut file: MirroredFile) -> Result<DirectoryStore, RecordError> {
        file.save(&directory.save())?;
        Ok(DirectoryStore { file: Some(file), ..DirectoryStore::new(directory) })
    }

    /// Opens the file and reads the saved state.
    pub(crate) fn kept(
        disk: &Arc<dyn Disk>,
        file: &Path,
    ) -> Result<MirroredFound<Saved>, MirroredError> {
        MirroredFile::open(disk, file, KIND)
    }

    /// A file that replaces whatever is there.
    pub(crate) fn anew(disk: &Arc<dyn Disk>, file: &Path) -> MirroredFile {
        MirroredFile::anew(disk, file, KIND)
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Its groups.
    #[must_use]
    pub fn report(&self, now: Time) -> Vec<GroupReport> {
        self.directory.report(now)
    }

    /// Whether its file can be written.
    #[must_use]
    pub fn status(&self) -> &DirectoryStoreStatus {
        &self.status
    }

    /// Notices for the operator since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// When to call [`DirectoryStore::wake`] if no message arrives.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        self.directory.wake_at()
    }

    /// Handles timers.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.begin(now);
        let before = out.len();
        self.directory.wake(now, out);
        self.keep(before, out);
    }

    /// Handles a message.
    pub fn receive(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        self.begin(now);
        let before = out.len();
        self.directory.receive(now, message, out);
        self.keep(before, out);
    }

    fn begin(&mut self, now: Time) {
        if !std::mem::replace(&mut self.runs, true) {
            self.directory.resume(now);
        }
    }

    /// Saves the state before answers that depend on it are sent. If that fails the answers are
    /// dropped: nodes retry.
    fn keep(&mut self, before: usize, out: &mut Vec<Output>) {
        let Some(file) = &mut self.file else { return };
        if out[before..].iter().all(promises_nothing) {
            return;
        }
        match file.save(&self.directory.save()) {
            Ok(()) => {
                if self.status.trouble.take().is_some() {
                    let what = "the memory of the directory can be written again";
                    self.notices.push(Notice::info(what.into()));
                }
            }
            Err(error) => {
                self.status.failures += 1;
                if self.status.trouble.replace(error.to_string()).is_none() {
                    self.notices.push(Notice::error(format!(
                        "joins and leaves wait: cannot write the memory of the directory: {error}"
                    )));
                }
                out.truncate(before);
            }
        }
    }
}

/// True if the message holds even if the directory loses its state.
fn promises_nothing(output: &Output) -> bool {
    let Output::Send(to, message) = output else { return true };
    debug_assert!(*to != Address::Directory);
    matches!(
        message,
        Message::Lease { .. } | Message::Peers(_) | Message::Pong { .. } | Message::Probe(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{DiskFault, MemoryDisk};
    use jostle_proto::{Block, Member, NodeId, Timing};

    #[test]
    fn what_cannot_be_kept_is_not_sent_but_counted_and_sent_when_there_is_room() {
        let memory = MemoryDisk::default();
        let (disk, path): (Arc<dyn Disk>, _) = (Arc::new(memory.clone()), Path::new("s/directory"));
        let [founder, newcomer] = [0, 1].map(|node| Member { node: NodeId(node), life: 1 });
        let extent = Block { min: [-4096; 3], max: [4096; 3] };
        let directory = Directory::new(founder, extent, Timing::default());
        let mut directory_store =
            DirectoryStore::at(directory, DirectoryStore::anew(&disk, path)).expect("kept");
        let mut out = Vec::new();
        directory_store.wake(Time(1), &mut out);
        out.clear();
        memory.fail(DiskFault::Full { short: 7 });
        directory_store.receive(Time(200_000), Message::Join(newcomer), &mut out);
        assert!(out.is_empty(), "{out:?}");
        assert!(
            directory_store.status().failures == 1 && directory_store.status().trouble.is_some()
        );
        assert_eq!(memory.paths(), [path.to_path_buf(), crate::copy(path)], "no room is taken");
        memory.heal();
        directory_store.receive(Time(300_000), Message::Join(newcomer), &mut out);
        assert!(out.iter().any(|it| matches!(it, Output::Send(_, Message::View(_)))), "{out:?}");
        assert!(
            directory_store.status().failures == 1 && directory_store.status().trouble.is_none()
        );
        assert_eq!(directory_store.take_notices().len(), 2);
        let kept = DirectoryStore::kept(&disk, path).expect("whole").value.expect("kept");
        let again = Directory::load(kept, Time(400_000), Timing::default());
        assert_eq!(again.view().ring, [founder, newcomer]);
    }
}
