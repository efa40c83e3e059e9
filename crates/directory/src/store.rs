//! What raft-rs sees of a replica's log. It is all in memory: a log of a directory is a few states.

use crate::convert::{entry_from_raft, entry_to_raft, raft_id, replica_id, snapshot_to_raft};
use crate::record::{LogEntry, Record, Snapshot};
use crate::settings::RestoreError;
use bytes::Bytes;
use raft::eraftpb::{ConfState, Entry, HardState};
use raft::{Error, GetEntriesContext, RaftState, Result, Storage, StorageError};

/// The log.
pub(crate) struct Store {
    hard: HardState,
    /// What the log begins behind.
    base: Snapshot,
    /// All entries behind that, without a gap.
    entries: Vec<Entry>,
    /// What the log comes to up to where it was followed.
    tip: Snapshot,
}

fn nothing() -> Snapshot {
    Snapshot { index: 0, term: 0, voters: Vec::new(), state: Bytes::new() }
}

impl Store {
    /// From what was kept.
    pub(crate) fn restore(records: Vec<Record>) -> std::result::Result<Store, RestoreError> {
        let (base, tip) = (nothing(), nothing());
        let mut store = Store { hard: HardState::default(), base, entries: Vec::new(), tip };
        for record in records {
            match record {
                Record::Promise { term, vote, commit } => {
                    if term < store.hard.term {
                        return Err(RestoreError::OutOfOrder);
                    }
                    let vote = vote.map_or(0, raft_id);
                    store.hard = HardState { term, vote, commit, ..Default::default() };
                }
                Record::Entry(entry) => {
                    let first = store.base.index + 1;
                    if entry.index < first || entry.index > store.last() + 1 {
                        return Err(RestoreError::Gap { index: entry.index });
                    }
                    store.entries.truncate((entry.index - first) as usize);
                    store.entries.push(entry_to_raft(&entry));
                }
                Record::Snapshot(snapshot) => store.rebase(snapshot),
            }
        }
        if store.hard.commit > store.last() {
            return Err(RestoreError::Short { index: store.last(), commit: store.hard.commit });
        }
        store.hard.commit = store.hard.commit.max(store.base.index);
        store.hard.term = store.hard.term.max(store.base.term);
        store.tip = store.base.clone();
        Ok(store)
    }

    fn last(&self) -> u64 {
        self.base.index + self.entries.len() as u64
    }

    /// The log begins behind this from now on.
    fn rebase(&mut self, snapshot: Snapshot) {
        let covered = snapshot.index.saturating_sub(self.base.index);
        let known = self.term(snapshot.index).is_ok_and(|term| term == snapshot.term);
        if known && snapshot.index >= self.base.index {
            self.entries.drain(..covered as usize);
        } else {
            self.entries.clear();
        }
        self.base = snapshot;
    }

    /// A snapshot has come: everything else is forgotten.
    pub(crate) fn install(&mut self, snapshot: Snapshot) {
        self.hard.commit = self.hard.commit.max(snapshot.index);
        self.entries.clear();
        self.tip = snapshot.clone();
        self.base = snapshot;
    }

    pub(crate) fn append(&mut self, entries: &[Entry]) {
        let Some(first) = entries.first() else { return };
        let keep = first.index.saturating_sub(self.base.index + 1);
        self.entries.truncate(keep as usize);
        self.entries.extend_from_slice(entries);
    }

    pub(crate) fn promise(&mut self, hard: HardState) {
        self.hard = hard;
    }

    pub(crate) fn commit(&mut self, commit: u64) {
        self.hard.commit = commit;
    }

    pub(crate) fn promised(&self) -> Record {
        let HardState { term, vote, commit, .. } = self.hard;
        Record::Promise { term, vote: replica_id(vote), commit }
    }

    /// The same, as far as it can be known without the entries from this one on.
    pub(crate) fn promised_before(&self, index: u64) -> Record {
        let HardState { term, vote, commit, .. } = self.hard;
        Record::Promise { term, vote: replica_id(vote), commit: commit.min(index - 1) }
    }

    /// An entry was followed.
    pub(crate) fn follow(&mut self, index: u64, term: u64, state: Option<Bytes>) {
        (self.tip.index, self.tip.term) = (index, term);
        if let Some(state) = state {
            self.tip.state = state;
        }
    }

    pub(crate) fn reconfigure(&mut self, conf: &ConfState) {
        self.tip.voters = conf.voters.iter().filter_map(|&id| replica_id(id)).collect();
    }

    /// What the log comes to where it was followed.
    pub(crate) fn tip(&self) -> &Snapshot {
        &self.tip
    }

    pub(crate) fn base(&self) -> &Snapshot {
        &self.base
    }

    /// Forgets entries that are in the tip.
    pub(crate) fn compact(&mut self) {
        let tip = self.tip.clone();
        self.rebase(tip);
    }

    /// Everything that must not be forgotten, in as few records as possible.
    pub(crate) fn records(&self) -> Vec<Record> {
        let base = (self.base.index > 0).then(|| Record::Snapshot(self.base.clone()));
        let entries = self.entries.iter().map(entry_from_raft).map(Record::Entry);
        base.into_iter().chain(entries).chain([self.promised()]).collect()
    }

    pub(crate) fn entry(&self, index: u64) -> Option<LogEntry> {
        let at = index.checked_sub(self.base.index + 1)?;
        self.entries.get(at as usize).map(entry_from_raft)
    }
}

impl Storage for Store {
    fn initial_state(&self) -> Result<RaftState> {
        let voters = self.base.voters.iter().map(|&replica| raft_id(replica)).collect();
        let conf_state = ConfState { voters, ..Default::default() };
        Ok(RaftState { hard_state: self.hard.clone(), conf_state })
    }

    fn entries(
        &self,
        low: u64,
        high: u64,
        max_size: impl Into<Option<u64>>,
        _context: GetEntriesContext,
    ) -> Result<Vec<Entry>> {
        let first = self.base.index + 1;
        if low < first {
            return Err(Error::Store(StorageError::Compacted));
        }
        let range = (low - first) as usize..(high - first) as usize;
        let Some(found) = self.entries.get(range) else {
            return Err(Error::Store(StorageError::Unavailable));
        };
        let most = max_size.into().unwrap_or(u64::MAX);
        let mut size = 0;
        let fits = |entry: &&Entry| {
            size += entry.data.len() as u64 + 64;
            size <= most
        };
        let count = found.iter().take_while(fits).count().max(1);
        Ok(found[..count.min(found.len())].to_vec())
    }

    fn term(&self, index: u64) -> Result<u64> {
        if index == self.base.index {
            return Ok(self.base.term);
        }
        let at = index.checked_sub(self.base.index + 1);
        let Some(at) = at else { return Err(Error::Store(StorageError::Compacted)) };
        let entry = self.entries.get(at as usize);
        entry.map(|entry| entry.term).ok_or(Error::Store(StorageError::Unavailable))
    }

    fn first_index(&self) -> Result<u64> {
        Ok(self.base.index + 1)
    }

    fn last_index(&self) -> Result<u64> {
        Ok(self.last())
    }

    fn snapshot(&self, request_index: u64, _to: u64) -> Result<raft::eraftpb::Snapshot> {
        if self.tip.index < request_index {
            return Err(Error::Store(StorageError::SnapshotTemporarilyUnavailable));
        }
        Ok(snapshot_to_raft(&self.tip))
    }
}
