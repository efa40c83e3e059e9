//! The directory with its memory: what it has answered for is on disk before the answer goes out.

use crate::records::RecordError;
use crate::twin::{Twin, TwinError, TwinKind};
use jostle_proto::{
    Address, Directory, GroupReport, Holders, Message, Output, Saved, Span, Time, Timing,
};
use serde::Serialize;
use std::path::Path;

const KIND: TwinKind = TwinKind { magic: *b"JODIR\0\0\x02", name: "memory of the directory" };

/// What nodes do not come back from within this is logged.
const SURE: Span = Span::from_ms(3000);

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
    holders: HoldersLog,
}

impl Keeper {
    /// One that forgets everything when its process ends.
    pub(crate) fn new(directory: Directory) -> Keeper {
        // It may be restored already.
        let restorations = Some(directory.restorations());
        let holders = HoldersLog { restorations, ..HoldersLog::default() };
        let (status, runs) = (KeeperStatus::default(), false);
        Keeper { directory, file: None, status, runs, holders }
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
        self.holders.look(now, &self.directory);
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
}

/// Logs what becomes of a world whose nodes may have lost it.
#[derive(Debug, Default)]
pub(crate) struct HoldersLog {
    /// As it was when it was looked at first.
    restorations: Option<u64>,
    /// Since when objects are missing.
    missing: Option<Time>,
    remind_at: Time,
}

impl HoldersLog {
    /// Looks at a directory, whose time this is.
    pub(crate) fn look(&mut self, now: Time, directory: &Directory) {
        let restorations = directory.restorations();
        if self.restorations.replace(restorations).is_some_and(|before| before < restorations) {
            tracing::warn!(
                "no living node has the world: it is restored from the store. Nodes that had a \
                 part of it and are heard later join anew"
            );
        }
        let what = match directory.holders(now) {
            Holders::Unknown | Holders::Living => {
                self.missing = None;
                return;
            }
            Holders::Gone => {
                "nodes are missing that had objects which no other node has, and the world stands \
                 still without them: start them again if they were only stopped, or end `serve` \
                 and start it again with its --store: then the world is as it was stored"
            }
            Holders::Partly => {
                "a group of nodes has lost objects which no other node has, other groups live: \
                 wait for the missing nodes, or end `serve` and start it again with its --store \
                 and --restore: then the whole world is as it was stored"
            }
        };
        let since = *self.missing.get_or_insert(now);
        if now - since >= SURE && now >= self.remind_at {
            self.remind_at = now + REMIND;
            tracing::error!("{what}");
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
    use jostle_proto::{Block, Member, NodeId};

    #[test]
    fn what_cannot_be_kept_is_not_sent_but_counted_and_sent_when_there_is_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("directory");
        let [founder, newcomer] = [0, 1].map(|node| Member { node: NodeId(node), life: 1 });
        let extent = Block { min: [-4096; 3], max: [4096; 3] };
        let directory = Directory::new(founder, extent, Timing::default());
        let mut keeper = Keeper::at(directory, Keeper::anew(&path)).expect("kept");
        let mut out = Vec::new();
        keeper.wake(Time(1), &mut out);
        out.clear();
        let blocks = folder.path().join("directory.new");
        std::fs::create_dir(&blocks).expect("made");
        keeper.receive(Time(200_000), Message::Join(newcomer), &mut out);
        assert!(out.is_empty(), "{out:?}");
        assert!(keeper.status().failures == 1 && keeper.status().trouble.is_some());
        std::fs::remove_dir(&blocks).expect("removed");
        keeper.receive(Time(300_000), Message::Join(newcomer), &mut out);
        assert!(out.iter().any(|it| matches!(it, Output::Send(_, Message::View(_)))), "{out:?}");
        assert!(keeper.status().failures == 1 && keeper.status().trouble.is_none());
        let (_, kept) = Keeper::kept(&path).expect("whole");
        let again = Keeper::load(kept.expect("kept"), Time(400_000), Timing::default());
        assert_eq!(again.view().ring, [founder, newcomer]);
    }
}
