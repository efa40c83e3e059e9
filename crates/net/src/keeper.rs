//! The directory with its memory: what it has answered for is on disk before the answer goes out.

use crate::records::RecordError;
use crate::twin::{Twin, TwinError, TwinKind};
use jostle_proto::{
    Address, Directory, GroupReport, Holders, Message, Output, Saved, Span, Time, Timing,
};
use serde::Serialize;
use std::path::Path;

const KIND: TwinKind = TwinKind { magic: *b"JODIR\0\0\x02", name: "memory of the directory" };

/// How often it is logged that the world cannot go on.
const REMIND: Span = Span::from_ms(30_000);

/// Writes of the directory, for status and metrics.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct KeeperStatus {
    /// Those that failed since the process began.
    pub(crate) failures: u64,
    /// Why it cannot be written now.
    pub(crate) trouble: Option<String>,
}

/// A directory, and where it keeps what it must not forget.
pub(crate) struct Keeper {
    directory: Directory,
    file: Option<Twin>,
    status: KeeperStatus,
    /// It has heard nobody before it runs.
    runs: bool,
    restorations: u64,
    remind_at: Time,
}

impl Keeper {
    /// One that forgets everything when its process ends.
    pub(crate) fn new(directory: Directory) -> Keeper {
        let restorations = directory.restorations();
        let (status, runs, remind_at) = (KeeperStatus::default(), false, Time(0));
        Keeper { directory, file: None, status, runs, restorations, remind_at }
    }

    /// One that remembers in this file.
    pub(crate) fn at(directory: Directory, mut file: Twin) -> Result<Keeper, RecordError> {
        file.save(&directory.save())?;
        Ok(Keeper { file: Some(file), ..Keeper::new(directory) })
    }

    /// A file, and what was kept there; none if there is no such file.
    pub(crate) fn kept(file: &Path) -> Result<(Twin, Option<Saved>), TwinError> {
        Twin::open(file, KIND)
    }

    /// A file for one that remembers nothing of what is there.
    pub(crate) fn anew(file: &Path) -> Twin {
        Twin::anew(file, KIND)
    }

    /// As it was when it was kept.
    pub(crate) fn load(saved: Saved, now: Time, timing: Timing) -> Directory {
        Directory::load(saved, now, timing)
    }

    pub(crate) fn report(&self, now: Time) -> Vec<GroupReport> {
        self.directory.report(now)
    }

    pub(crate) fn status(&self) -> &KeeperStatus {
        &self.status
    }

    pub(crate) fn wake_at(&self) -> Time {
        self.directory.wake_at()
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.begin(now);
        let before = out.len();
        self.directory.wake(now, out);
        self.keep(before, out);
        self.report_holders(now);
    }

    pub(crate) fn receive(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
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
                    tracing::info!("the memory of the directory can be written again");
                }
            }
            Err(error) => {
                self.status.failures += 1;
                if self.status.trouble.replace(error.to_string()).is_none() {
                    tracing::error!(
                        "joins and leaves wait: cannot write the memory of the directory: {error}"
                    );
                }
                out.truncate(before);
            }
        }
    }

    /// Logs what became of the world after a start.
    fn report_holders(&mut self, now: Time) {
        let restorations = self.directory.restorations();
        if std::mem::replace(&mut self.restorations, restorations) < restorations {
            tracing::warn!(
                "no living node has the world: it is restored from the store. Nodes that had a \
                 part of it and are heard later join anew"
            );
        }
        if now < self.remind_at {
            return;
        }
        if self.directory.holders(now) == Holders::Partly {
            self.remind_at = now + REMIND;
            tracing::error!(
                "a group of nodes has lost its objects, others live: what was lost is in the store \
                 only. Wait for the missing nodes, or start again with --restore: then the whole \
                 world is as it was stored"
            );
        }
    }
}

/// Is this true whatever the directory forgets?
fn promises_nothing(output: &Output) -> bool {
    let Output::Send(to, message) = output else { return true };
    debug_assert!(*to != Address::Directory);
    matches!(message, Message::Lease { .. } | Message::Peers(_) | Message::Pong { .. })
}
