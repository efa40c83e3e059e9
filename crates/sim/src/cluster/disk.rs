//! A replica's disk: what was not synced is lost when the machine dies, what was being written may
//! be torn, and there may be no room.

use crate::dice::Dice;
use jostle_directory::{LogError, Record, Restored, begin_log, read_log, write_log};
use jostle_proto::{ReplicaId, Time};

/// How records are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Behind the others.
    More,
    /// Instead of them.
    All,
}

/// A disk with one file.
pub(super) struct Disk {
    id: ReplicaId,
    file: Vec<u8>,
    /// So much of it stays whatever happens.
    synced: usize,
    full: Time,
}

impl Disk {
    pub(super) fn new(id: ReplicaId) -> Disk {
        let file = begin_log(id);
        Disk { id, synced: file.len(), file, full: Time(0) }
    }

    pub(super) fn write(&mut self, records: &[Record]) {
        write_log(records, &mut self.file);
    }

    /// A new file takes the place of the old one when it is whole and on disk.
    pub(super) fn replace(&mut self, records: &[Record]) {
        self.file = begin_log(self.id);
        write_log(records, &mut self.file);
        self.sync();
    }

    pub(super) fn sync(&mut self) {
        self.synced = self.file.len();
    }

    pub(super) fn fill(&mut self, until: Time) {
        self.full = until;
    }

    /// Until when, if it is.
    pub(super) fn is_full(&self, now: Time) -> Option<Time> {
        (self.full > now).then_some(self.full)
    }

    pub(super) fn heal(&mut self) {
        self.full = Time(0);
    }

    /// The machine dies while it writes: some of it is there, perhaps with nothing behind it.
    pub(super) fn tear(&mut self, records: &[Record], how: Kept, dice: &mut Dice) {
        if how == Kept::All {
            // The new file was not in its place yet, or just so.
            if dice.coin() {
                self.replace(records);
            }
            return;
        }
        let mut more = Vec::new();
        write_log(records, &mut more);
        let cut = dice.below(more.len() as u64) as usize;
        self.file.extend(&more[..cut]);
        // A disk writes in pieces that are longer than this.
        let rest = more.len() - cut;
        if rest >= 16 && dice.coin() {
            self.file.resize(self.file.len() + rest, 0);
        }
        self.sync();
    }

    /// The machine has died.
    pub(super) fn crash(&mut self) {
        self.file.truncate(self.synced);
    }

    /// What is there; a torn end is cut off.
    pub(super) fn read(&mut self) -> Result<Restored, LogError> {
        let restored = read_log(self.id, &self.file)?;
        self.file.truncate(restored.length);
        if restored.length == 0 {
            self.file = begin_log(self.id);
        }
        self.sync();
        Ok(restored)
    }
}
