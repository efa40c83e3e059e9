//! The settings of a replica, its outputs and its errors.

use crate::peer::PeerMessage;
use crate::record::{REPLICAS_MAX, Record};
use jostle_proto::{Address, Message, Mutant, ReplicaId, Span, Time, Timing};
use thiserror::Error;

/// How fast replicas notice that one of them is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The unit of the others.
    pub tick: Span,
    /// A leader is heard at least once in so many ticks.
    pub heartbeat: u32,
    /// One that was not heard for so many ticks may be replaced.
    pub election: u32,
    /// This replica tries so many ticks later: no two should try at the same time.
    pub patience: u32,
}

impl Default for Pace {
    /// A leader that dies is replaced within about half a second.
    fn default() -> Pace {
        Pace { tick: Span::from_ms(40), heartbeat: 2, election: 8, patience: 0 }
    }
}

impl Pace {
    /// The same for replicas between which a message takes up to so long there and back. A leader
    /// is waited for twice that long besides: one that had to hear from a majority within 320 ms,
    /// at 300 ms from it, gave up again and again for ever.
    #[must_use]
    pub fn over(self, round_trip: Span) -> Pace {
        let longer = 2 * round_trip.0 / u64::from(self.election.max(1));
        Pace { tick: Span(self.tick.0 + longer), ..self }
    }
}

/// The settings of a replica.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Which one it is.
    pub id: ReplicaId,
    /// Of the directory.
    pub timing: Timing,
    /// Of the replicas.
    pub pace: Pace,
    /// The log is shortened when it has so many entries.
    pub compact: u64,
    /// A defect to build in, to test the checkers.
    pub mutant: Option<Mutant>,
}

impl Settings {
    /// Those of a replica; each waits a little longer than the one before it before it tries to
    /// lead.
    #[must_use]
    pub fn new(id: ReplicaId, timing: Timing) -> Settings {
        let pace = Pace { patience: 2 * u32::from(id.0 % 8), ..Pace::default() };
        Settings { id, timing, pace, compact: 64, mutant: None }
    }
}

/// Why a replica cannot go on from what was kept.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum RestoreError {
    /// An entry is missing.
    #[error("the log has a gap before entry {index}")]
    Gap {
        /// What comes after it.
        index: u64,
    },
    /// Shorter than it was.
    #[error("the log ends at entry {index}, but entries up to {commit} were known to hold")]
    Short {
        /// Its last entry.
        index: u64,
        /// The last one that it must have.
        commit: u64,
    },
    /// Terms go back.
    #[error("the log's terms are out of order")]
    OutOfOrder,
    /// raft-rs says no.
    #[error("the log is none that a replica could have written")]
    Impossible,
}

/// Why the replicas are not changed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Refused {
    /// Only the leader can.
    #[error("this replica does not lead")]
    NotLeader,
    /// It is so already.
    #[error("the replicas are so already")]
    Already,
    /// The last one, or one too many.
    #[error("a directory has from 1 to {REPLICAS_MAX} replicas")]
    Number,
    /// One change at a time, and not before the leader has begun.
    #[error("another change is under way")]
    Busy,
    /// It hands the lead to another one; ask that one.
    #[error("the leader does not remove itself; it has asked another one to lead")]
    Itself,
}

/// What an answer rests on, for those who judge whether it was right to give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Basis {
    /// The last entry that it follows from.
    pub index: u64,
    /// When the question came, by this replica's clock.
    pub asked: Time,
}

/// What a replica wants done, in this order.
///
/// Nothing that stands behind a [`Output::Write`] or [`Output::Replace`] may be done before that
/// is on disk. If it cannot be written, everything behind it is to be dropped and the replica put
/// away, as if the machine had died: it begins again from what is on disk when there is room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Add this to the log.
    Write(Vec<Record>),
    /// This stands for everything in the log.
    Replace(Vec<Record>),
    /// Send another replica a message.
    SendPeer(ReplicaId, PeerMessage),
    /// Send a node or a gateway a message, in the directory's name.
    Send {
        /// Whom.
        to: Address,
        /// The message.
        message: Message,
        /// Why that may be said.
        basis: Basis,
    },
}
