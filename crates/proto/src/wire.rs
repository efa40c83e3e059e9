//! Messages to bytes and back.
//!
//! Every message between machines goes through a link ([`Sender`], [`Receiver`]). States that
//! travel every tick are columns of bits ([`Snapshot`], [`light`]), and so are contacts; everything
//! else is a frame around postcard ([`pack`], [`unpack`]), cut into chunks where it is too long for
//! one ([`Outgoing`], [`Incoming`]). Whatever the bytes: an error or a message, never a panic,
//! and memory within the caps.

mod bits;
mod body;
mod bundle_content;
mod chunks;
mod columns;
mod frame;
pub mod light;
mod link;
mod predict;
mod states;
mod touches;

pub use chunks::{CHUNK_BYTES, Chunk, Credit, Incoming, Outgoing, WINDOW};
pub use frame::{HEADER_BYTES, Kind, PROTOCOL, kind_of, pack, unpack};
pub use link::{Limits, Receiver, Sender, is_reply};
pub use states::Snapshot;

use crate::object::ObjectId;

/// Why bytes are not taken, or cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// More was announced than is there.
    #[error("the bytes end before the message does")]
    Short,
    /// The message is complete and bytes are left.
    #[error("{extra} bytes after the end of the message")]
    Trailing {
        /// How many, where it is known; otherwise 1.
        extra: usize,
    },
    /// Not a frame of ours.
    #[error("a frame begins with \"Jo\", these bytes do not")]
    Magic,
    /// Of another version of the protocol.
    #[error("protocol {found}, and this is protocol {PROTOCOL}")]
    Version {
        /// Theirs.
        found: u8,
    },
    /// No kind of message has this number.
    #[error("there is no kind of message {found}")]
    UnknownKind {
        /// The number.
        found: u8,
    },
    /// A known kind, but not the one asked for.
    #[error("expected {expected:?}, found {found:?}")]
    OtherKind {
        /// Asked for.
        expected: Kind,
        /// In the frame.
        found: Kind,
    },
    /// Beyond the cap of its kind.
    #[error("{kind:?} may have {cap} bytes and has {bytes}", cap = .kind.cap())]
    Oversize {
        /// What it is.
        kind: Kind,
        /// How long it is, or says to be.
        bytes: usize,
    },
    /// The sum in the frame or the transfer does not fit its bytes.
    #[error("damaged: the checksum does not fit")]
    Damaged,
    /// The bytes are whole, and say something that cannot be.
    #[error("malformed: {0}")]
    Malformed(&'static str),
    /// Longer than the reader allows.
    #[error("{count} where at most {most} are allowed")]
    TooMany {
        /// How many it would be.
        count: u64,
        /// The reader's limit.
        most: u64,
    },
    /// An object occurs twice in one list.
    #[error("object {} occurs twice", .0.0)]
    Twice(ObjectId),
    /// A delta against something that the reader does not have in its hands.
    #[error("the delta is against {found:016x}, and this is {have:016x}")]
    OtherBase {
        /// The digest of the base given.
        have: u64,
        /// The digest of the base that the sender had.
        found: u64,
    },
    /// A delta against something that the reader does not have.
    #[error("the delta is against something that is not here")]
    NoBase,
    /// A delta was applied, and the outcome is not what the sender has.
    #[error("the outcome of the delta is not what its sender has")]
    Diverged,
    /// A message that postcard cannot write: a list or map of unknown length.
    #[error("the message cannot be written")]
    Unwritable,
}
