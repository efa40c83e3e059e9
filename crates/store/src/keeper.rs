//! The directory with its memory: what it has answered for is on disk before the answer goes out.

use crate::disk::Disk;
use crate::notice::Notice;
use crate::records::RecordError;
use crate::twin::{Twin, TwinError, TwinFound, TwinKind};
use jostle_proto::{Address, Directory, GroupReport, Message, Output, Saved, Time};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

const KIND: TwinKind = TwinKind { magic: *b"JODIR\0\0\x02", name: "memory of the directory" };

/// Writes of the directory, for status and metrics.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KeeperStatus {
    /// Those that failed since the process began.
    pub failures: u64,
    /// Why it cannot be written now.
    pub trouble: Option<String>,
}

/// A directory, and where it keeps what it must not forget.
pub struct Keeper {
    directory: Directory,
    file: Option<Twin>,
    status: KeeperStatus,
    /// It has heard nobody before it runs.
    runs: bool,
    notices: Vec<Notice>,
}

impl Keeper {
    /// One that forgets everything when its process ends.
    #[must_use]
    pub fn new(directory: Directory) -> Keeper {
        let (status, runs) = (KeeperStatus::default(), false);
        Keeper { directory, file: None, status, runs, notices: Vec::new() }
    }

    /// One that remembers in this file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn at(directory: Directory, mut file: Twin) -> Result<Keeper, RecordError> {
        file.save(&directory.save())?;
        Ok(Keeper { file: Some(file), ..Keeper::new(directory) })
    }

    /// A file, and what was kept there.
    pub(crate) fn kept(disk: &Arc<dyn Disk>, file: &Path) -> Result<TwinFound<Saved>, TwinError> {
        Twin::open(disk, file, KIND)
    }

    /// A file for one that remembers nothing of what is there.
    pub(crate) fn anew(disk: &Arc<dyn Disk>, file: &Path) -> Twin {
        Twin::anew(disk, file, KIND)
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

    /// How its file is.
    #[must_use]
    pub fn status(&self) -> &KeeperStatus {
        &self.status
    }

    /// What the operator is to know, since this was called last.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// When it wants to be woken if nothing comes.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        self.directory.wake_at()
    }

    /// The clock says so.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.begin(now);
        let before = out.len();
        self.directory.wake(now, out);
        self.keep(before, out);
    }

    /// A message has come.
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

    /// Keeps what it is about to answer for. What cannot be kept is not said: the nodes ask again.
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

/// Is this true whatever the directory forgets?
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
        let mut keeper = Keeper::at(directory, Keeper::anew(&disk, path)).expect("kept");
        let mut out = Vec::new();
        keeper.wake(Time(1), &mut out);
        out.clear();
        memory.fail(DiskFault::Full { short: 7 });
        keeper.receive(Time(200_000), Message::Join(newcomer), &mut out);
        assert!(out.is_empty(), "{out:?}");
        assert!(keeper.status().failures == 1 && keeper.status().trouble.is_some());
        assert_eq!(memory.paths(), [path.to_path_buf(), crate::copy(path)], "no room is taken");
        memory.heal();
        keeper.receive(Time(300_000), Message::Join(newcomer), &mut out);
        assert!(out.iter().any(|it| matches!(it, Output::Send(_, Message::View(_)))), "{out:?}");
        assert!(keeper.status().failures == 1 && keeper.status().trouble.is_none());
        assert_eq!(keeper.take_notices().len(), 2);
        let kept = Keeper::kept(&disk, path).expect("whole").value.expect("kept");
        let again = Directory::load(kept, Time(400_000), Timing::default());
        assert_eq!(again.view().ring, [founder, newcomer]);
    }
}
