//! What replicas say to each other, as bytes with a cap.

use crate::convert::{
    entry_from_raft, entry_to_raft, raft_id, replica_id, snapshot_from_raft, snapshot_to_raft,
};
use crate::record::{LogEntry, REPLICAS_MAX, STATE_MAX, Snapshot};
use bytes::Bytes;
use jostle_proto::ReplicaId;
use raft::eraftpb::{self, MessageType};
use raft::{Raft, Storage};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// No message is longer than this as bytes.
pub const MESSAGE_MAX: usize = 2 * STATE_MAX;

/// Entries in one message.
const ENTRIES_MAX: usize = 1024;

/// Terms and indices above this are nonsense.
const NUMBER_MAX: u64 = 1 << 62;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum PeerError {
    /// Too long.
    #[error("a message of {0} bytes between replicas; at most {MESSAGE_MAX} are allowed")]
    Long(usize),
    /// Nothing that a replica says.
    #[error("{0} bytes that are no message between replicas")]
    Malformed(usize),
}

/// What kind of message it is (Ongaro 2014; names as in raft-rs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Append,
    AppendResponse,
    RequestVote,
    RequestVoteResponse,
    Snapshot,
    Heartbeat,
    HeartbeatResponse,
    TimeoutNow,
    RequestPreVote,
    RequestPreVoteResponse,
}

/// Something that one replica says to another. Only [`crate::Replica`] looks into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerMessage {
    kind: Kind,
    from: ReplicaId,
    to: ReplicaId,
    term: u64,
    log_term: u64,
    index: u64,
    entries: Vec<LogEntry>,
    commit: u64,
    commit_term: u64,
    snapshot: Option<Snapshot>,
    request_snapshot: u64,
    reject: bool,
    reject_hint: u64,
    /// The leader's round of questions that this belongs to.
    round: Bytes,
}

impl PeerMessage {
    /// The sender.
    #[must_use]
    pub fn from(&self) -> ReplicaId {
        self.from
    }

    /// The receiver.
    #[must_use]
    pub fn to(&self) -> ReplicaId {
        self.to
    }

    /// None for what stays inside of raft-rs.
    pub(crate) fn from_raft(raft: &eraftpb::Message) -> Option<PeerMessage> {
        let kind = match raft.msg_type {
            MessageType::MsgAppend => Kind::Append,
            MessageType::MsgAppendResponse => Kind::AppendResponse,
            MessageType::MsgRequestVote => Kind::RequestVote,
            MessageType::MsgRequestVoteResponse => Kind::RequestVoteResponse,
            MessageType::MsgSnapshot => Kind::Snapshot,
            MessageType::MsgHeartbeat => Kind::Heartbeat,
            MessageType::MsgHeartbeatResponse => Kind::HeartbeatResponse,
            MessageType::MsgTimeoutNow => Kind::TimeoutNow,
            MessageType::MsgRequestPreVote => Kind::RequestPreVote,
            MessageType::MsgRequestPreVoteResponse => Kind::RequestPreVoteResponse,
            // Local ones, and questions of followers, which ours never ask.
            _ => return None,
        };
        Some(PeerMessage {
            kind,
            from: replica_id(raft.from)?,
            to: replica_id(raft.to)?,
            term: raft.term,
            log_term: raft.log_term,
            index: raft.index,
            entries: raft.entries.iter().map(entry_from_raft).collect(),
            commit: raft.commit,
            commit_term: raft.commit_term,
            snapshot: raft.snapshot.as_ref().map(snapshot_from_raft),
            request_snapshot: raft.request_snapshot,
            reject: raft.reject,
            reject_hint: raft.reject_hint,
            round: raft.context.clone(),
        })
    }

    pub(crate) fn to_raft(&self) -> eraftpb::Message {
        let msg_type = match self.kind {
            Kind::Append => MessageType::MsgAppend,
            Kind::AppendResponse => MessageType::MsgAppendResponse,
            Kind::RequestVote => MessageType::MsgRequestVote,
            Kind::RequestVoteResponse => MessageType::MsgRequestVoteResponse,
            Kind::Snapshot => MessageType::MsgSnapshot,
            Kind::Heartbeat => MessageType::MsgHeartbeat,
            Kind::HeartbeatResponse => MessageType::MsgHeartbeatResponse,
            Kind::TimeoutNow => MessageType::MsgTimeoutNow,
            Kind::RequestPreVote => MessageType::MsgRequestPreVote,
            Kind::RequestPreVoteResponse => MessageType::MsgRequestPreVoteResponse,
        };
        let mut raft = eraftpb::Message {
            msg_type,
            from: raft_id(self.from),
            to: raft_id(self.to),
            term: self.term,
            log_term: self.log_term,
            index: self.index,
            entries: self.entries.iter().map(entry_to_raft).collect(),
            commit: self.commit,
            commit_term: self.commit_term,
            request_snapshot: self.request_snapshot,
            reject: self.reject,
            reject_hint: self.reject_hint,
            context: self.round.clone(),
            ..Default::default()
        };
        if let Some(snapshot) = &self.snapshot {
            raft.set_snapshot(snapshot_to_raft(snapshot));
        }
        raft
    }

    /// Others rest on entries that the receiver has acknowledged and does not have: its disk has
    /// lied. raft-rs would end the process.
    pub(crate) fn shows_a_loss<S: Storage>(&self, raft: &Raft<S>) -> bool {
        let log = &raft.raft_log;
        let current = self.term >= raft.term;
        match self.kind {
            Kind::Heartbeat => current && self.commit > log.last_index(),
            Kind::Append => {
                let held = |index: u64| index <= log.committed && index >= log.first_index();
                let differs = |entry: &LogEntry| {
                    held(entry.index) && log.term(entry.index).is_ok_and(|term| term != entry.term)
                };
                current && self.entries.iter().any(differs)
            }
            _ => false,
        }
    }

    /// Can another replica have said this, given what the receiver has?
    pub(crate) fn can_be<S: Storage>(&self, raft: &Raft<S>) -> bool {
        match self.kind {
            Kind::AppendResponse => self.index <= raft.raft_log.last_index(),
            _ => true,
        }
    }

    /// As bytes.
    ///
    /// # Errors
    /// If it is too long, which no message of a [`crate::Replica`] is.
    pub fn encode(&self) -> Result<Vec<u8>, PeerError> {
        let bytes = postcard::to_allocvec(self).map_err(|_| PeerError::Malformed(0))?;
        if bytes.len() > MESSAGE_MAX { Err(PeerError::Long(bytes.len())) } else { Ok(bytes) }
    }

    /// From any bytes, of which nothing is believed: what comes out is well-formed, and takes no
    /// more memory than a few times as many bytes.
    ///
    /// # Errors
    /// If they are too many, or no message.
    pub fn decode(bytes: &[u8]) -> Result<PeerMessage, PeerError> {
        if bytes.len() > MESSAGE_MAX {
            return Err(PeerError::Long(bytes.len()));
        }
        let read = postcard::from_bytes::<PeerMessage>(bytes).ok();
        let message = read.filter(PeerMessage::is_well_formed);
        message.ok_or(PeerError::Malformed(bytes.len()))
    }

    /// Numbers that can be reckoned with, entries one behind the other.
    fn is_well_formed(&self) -> bool {
        let numbers = [self.term, self.log_term, self.index, self.commit, self.commit_term];
        let mut last = (self.index, self.log_term);
        let chained = self.entries.iter().all(|entry| {
            let before = std::mem::replace(&mut last, (entry.index, entry.term));
            entry.index == before.0 + 1 && entry.term >= before.1 && entry.term <= self.term
        });
        let snapshot = self.snapshot.as_ref().is_none_or(|snapshot| {
            (1..NUMBER_MAX).contains(&snapshot.index)
                && (1..=self.term).contains(&snapshot.term)
                && (1..=REPLICAS_MAX).contains(&snapshot.voters.len())
        });
        self.term > 0
            && numbers.iter().all(|&number| number < NUMBER_MAX)
            && (self.reject_hint < NUMBER_MAX && self.request_snapshot < NUMBER_MAX)
            && self.entries.len() <= ENTRIES_MAX
            && (self.entries.is_empty() || self.kind == Kind::Append)
            && self.snapshot.is_some() == (self.kind == Kind::Snapshot)
            && self.round.len() <= 64
            && chained
            && snapshot
    }
}
