//! The directory role of a process, and log messages about a world that its nodes may have lost.

use crate::files::log;
use jostle_proto::{Directory, Holders, Message, Output, Span, Time};
use jostle_store::DirectoryStore;

/// What nodes do not come back from within this is logged.
const SURE: Span = Span::from_ms(3000);

/// How often it is logged that the world cannot go on.
const REMIND: Span = Span::from_ms(30_000);

/// The directory with its saved state, as a role.
pub(crate) struct DirectoryRole {
    directory_store: DirectoryStore,
    holders: HoldersLog,
}

impl DirectoryRole {
    pub(crate) fn new(directory_store: DirectoryStore) -> DirectoryRole {
        // It may be restored already.
        let restorations = Some(directory_store.directory().restorations());
        DirectoryRole {
            directory_store,
            holders: HoldersLog { restorations, ..HoldersLog::default() },
        }
    }

    pub(crate) fn directory_store(&self) -> &DirectoryStore {
        &self.directory_store
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.directory_store.wake(now, out);
        log(self.directory_store.take_notices());
        self.holders.look(now, self.directory_store.directory());
    }

    pub(crate) fn receive(&mut self, now: Time, message: Message, out: &mut Vec<Output>) {
        self.directory_store.receive(now, message, out);
        log(self.directory_store.take_notices());
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
