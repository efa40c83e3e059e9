//! What replicas say to each other, as bytes with a cap.

use crate::record::{LogEntry, REPLICAS_MAX, STATE_MAX, Snapshot};
use bytes::Bytes;
use jostle_proto::ReplicaId;
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
pub(crate) enum Kind {
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
    pub(crate) kind: Kind,
    pub(crate) from: ReplicaId,
    pub(crate) to: ReplicaId,
    pub(crate) term: u64,
    pub(crate) log_term: u64,
    pub(crate) index: u64,
    pub(crate) entries: Vec<LogEntry>,
    pub(crate) commit: u64,
    pub(crate) commit_term: u64,
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) request_snapshot: u64,
    pub(crate) reject: bool,
    pub(crate) reject_hint: u64,
    /// The leader's round of questions that this belongs to.
    pub(crate) round: Bytes,
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
