//! What a replica must not forget, in records that its driver keeps.

use bytes::Bytes;
use jostle_proto::{Directory, ReplicaId, Saved, Time, Timing};
use serde::{Deserialize, Serialize};

/// No state is longer than this when written.
pub const STATE_MAX: usize = 1 << 20;

/// Replicas that a directory has at most.
pub(crate) const REPLICAS_MAX: usize = 16;

/// A change of the replicas: one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// One more.
    Add(ReplicaId),
    /// One less.
    Remove(ReplicaId),
}

/// What an entry of the log says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Payload {
    /// Nothing: a leader begins.
    Nothing,
    /// The directory is like this from now on.
    State(Bytes),
    /// The replicas are others from now on.
    Change(Change),
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Its place; the first is 1.
    pub index: u64,
    /// Of the leader that made it.
    pub term: u64,
    /// What it says.
    pub payload: Payload,
}

/// What a log comes to up to a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The last entry that is in it.
    pub index: u64,
    /// Its term.
    pub term: u64,
    /// Who the replicas are.
    pub voters: Vec<ReplicaId>,
    /// The directory's state, as in an entry.
    pub state: Bytes,
}

/// Something to keep. Records are read in the order in which they were kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// What a replica has promised about elections, and what it knows to hold.
    Promise {
        /// No leader of an older term counts.
        term: u64,
        /// Whom it has voted for in this term.
        vote: Option<ReplicaId>,
        /// Entries up to here will never change.
        commit: u64,
    },
    /// An entry. It takes the place of the one with its index, and of all behind that.
    Entry(LogEntry),
    /// What everything up to its index comes to; takes the place of all that is not behind it.
    Snapshot(Snapshot),
}

/// The directory's state as it is in an entry.
#[derive(Serialize, Deserialize)]
struct Written {
    /// Of what follows: a replica that does not know it can keep it, but cannot lead.
    format: u8,
    /// The directory's time at this state. The next leader goes on from there.
    at: Time,
}

const FORMAT: u8 = 3;

/// A state as bytes; none if it is too long. What nodes send again anyway is left out if it must
/// be.
pub(crate) fn write_state(at: Time, saved: &Saved) -> Option<Bytes> {
    let write = |saved: &Saved| {
        let bytes = postcard::to_allocvec(&(Written { format: FORMAT, at }, saved)).ok()?;
        (bytes.len() <= STATE_MAX).then(|| bytes.into())
    };
    write(saved).or_else(|| write(&saved.clone().without_hearsay()))
}

/// When it was written.
pub(crate) fn read_time(bytes: &[u8]) -> Option<Time> {
    postcard::take_from_bytes::<Written>(bytes).ok().map(|(written, _)| written.at)
}

/// The state, if this version can read it.
pub(crate) fn read_state(bytes: &[u8]) -> Option<(Time, Saved)> {
    let (written, rest) = postcard::take_from_bytes::<Written>(bytes).ok()?;
    let (saved, rest) =
        postcard::take_from_bytes(rest).ok().filter(|_| written.format == FORMAT)?;
    rest.is_empty().then_some((written.at, saved))
}

impl Record {
    /// What all replicas of a new directory begin with: the same on each of them.
    #[must_use]
    pub fn founding(directory: &Directory, voters: &[ReplicaId]) -> Option<Vec<Record>> {
        let state = write_state(directory.newest_time(), &directory.save())?;
        let voters = voters.to_vec();
        Some(vec![Record::Snapshot(Snapshot { index: 1, term: 1, voters, state })])
    }

    /// The directory in a snapshot or an entry, for those who want to look at it.
    #[must_use]
    pub fn directory(&self, timing: Timing) -> Option<Directory> {
        let state = match self {
            Record::Snapshot(snapshot) => &snapshot.state,
            Record::Entry(LogEntry { payload: Payload::State(state), .. }) => state,
            _ => return None,
        };
        let (at, saved) = read_state(state)?;
        Some(Directory::load(saved, at, timing))
    }
}
