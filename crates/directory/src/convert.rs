//! Between raft-rs' protobuf structures and our own. Nothing of protobuf is kept or sent.

use crate::record::{Change, LogEntry, Payload, Snapshot};
use bytes::Bytes;
use jostle_proto::ReplicaId;
use raft::eraftpb;

/// raft-rs takes 0 for no replica.
pub(crate) fn raft_id(replica: ReplicaId) -> u64 {
    u64::from(replica.0) + 1
}

pub(crate) fn replica_id(id: u64) -> Option<ReplicaId> {
    id.checked_sub(1).and_then(|id| u16::try_from(id).ok()).map(ReplicaId)
}

pub(crate) fn entry_from_raft(entry: &eraftpb::Entry) -> LogEntry {
    let payload = match entry.entry_type {
        // raft-rs writes protobuf into the data of these; our own words are in the context.
        eraftpb::EntryType::EntryConfChange | eraftpb::EntryType::EntryConfChangeV2 => {
            postcard::from_bytes(&entry.context).map_or(Payload::Nothing, Payload::Change)
        }
        eraftpb::EntryType::EntryNormal if entry.data.is_empty() => Payload::Nothing,
        eraftpb::EntryType::EntryNormal => Payload::State(entry.data.clone()),
    };
    LogEntry { index: entry.index, term: entry.term, payload }
}

pub(crate) fn entry_to_raft(entry: &LogEntry) -> eraftpb::Entry {
    let mut raft = eraftpb::Entry { index: entry.index, term: entry.term, ..Default::default() };
    match &entry.payload {
        Payload::Nothing => {}
        Payload::State(state) => raft.data = state.clone(),
        Payload::Change(change) => {
            raft.entry_type = eraftpb::EntryType::EntryConfChange;
            raft.context = change_context(*change);
        }
    }
    raft
}

pub(crate) fn change_context(change: Change) -> Bytes {
    postcard::to_allocvec(&change).unwrap_or_default().into()
}

pub(crate) fn change_to_raft(change: Change) -> eraftpb::ConfChange {
    let (change_type, replica) = match change {
        Change::Add(replica) => (eraftpb::ConfChangeType::AddNode, replica),
        Change::Remove(replica) => (eraftpb::ConfChangeType::RemoveNode, replica),
    };
    eraftpb::ConfChange { change_type, node_id: raft_id(replica), ..Default::default() }
}

pub(crate) fn snapshot_to_raft(snapshot: &Snapshot) -> eraftpb::Snapshot {
    let voters = snapshot.voters.iter().map(|&replica| raft_id(replica)).collect();
    let conf_state = eraftpb::ConfState { voters, ..Default::default() };
    let mut metadata = eraftpb::SnapshotMetadata::default();
    (metadata.index, metadata.term) = (snapshot.index, snapshot.term);
    metadata.set_conf_state(conf_state);
    let mut raft = eraftpb::Snapshot { data: snapshot.state.clone(), ..Default::default() };
    raft.set_metadata(metadata);
    raft
}

pub(crate) fn snapshot_from_raft(raft: &eraftpb::Snapshot) -> Snapshot {
    let metadata = raft.get_metadata();
    let voters = &metadata.get_conf_state().voters;
    Snapshot {
        index: metadata.index,
        term: metadata.term,
        voters: voters.iter().filter_map(|&id| replica_id(id)).collect(),
        state: raft.data.clone(),
    }
}
