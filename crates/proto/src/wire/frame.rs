//! Frames: what kind of message, how long, undamaged?
//!
//! Twelve bytes stand before the message: "Jo", the version of the protocol, the kind, the length
//! and a CRC-32C of all the others, numbers with the lowest byte first. Every kind has a cap, which
//! is looked at before anything else is done with the length.

use super::WireError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The version of everything on the wire. Machines of different versions do not talk.
pub const PROTOCOL: u8 = 3;

/// Bytes of a frame before its message.
pub const HEADER_BYTES: usize = 12;

const MAGIC: [u8; 2] = *b"Jo";

/// The part of the header that the sum covers, besides the message.
const SUMMED_BYTES: usize = 8;

/// The kinds of messages: those that ask and those that answer are one kind.
///
/// A kind's number is part of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Between replicas of the directory.
    Replica = 1,
    /// A node asks the directory to be let in.
    Join = 2,
    /// A node prolongs its lease.
    Lease = 3,
    /// Who is in the group and owns what.
    View = 4,
    /// A view has become stable.
    Stable = 5,
    /// A node has been put out.
    Reset = 6,
    /// How long is the way there and back?
    Ping = 7,
    /// Ballots.
    Vote = 8,
    /// The last committed tick before a change of view, and the tick to go on from.
    Flush = 9,
    /// What a member sends another one in a tick.
    Bundle = 10,
    /// What a member found in a tick.
    Done = 11,
    /// What the group found in a tick.
    Commit = 12,
    /// An object changes hands.
    Transfer = 13,
    /// Objects near a border, for the neighbours.
    Ghost = 14,
    /// What a backup keeps, what a joiner starts from.
    Backup = 15,
    /// Objects of one group, for the other groups.
    HomeState = 16,
    /// Who decides about a pair of two groups.
    Decide = 17,
    /// A client comes.
    Hello = 18,
    /// What a client wants.
    Input = 19,
    /// A client was wrong.
    Correct = 20,
    /// Contacts for subscribers.
    Event = 21,
    /// What a client sees.
    World = 22,
    /// A piece of something longer.
    Chunk = 23,
    /// How many pieces may come.
    Credit = 24,
    /// A request to follow a world without computing it.
    Follow = 25,
    /// One member's share of the world, for a follower.
    Share = 26,
    /// What sources want to happen, for the leader.
    Inputs = 27,
    /// A delta came whose base is not there.
    Lack = 28,
}

/// Every kind with the most bytes that its messages may have: hard limits, from what the protocol
/// puts into them. 1200 bytes fit a datagram on every way through the internet.
const CAPS: [(Kind, usize); 28] = [
    (Kind::Replica, 128 << 10),
    (Kind::Join, 4 << 10),
    (Kind::Lease, 1 << 10),
    (Kind::View, 64 << 10),
    (Kind::Stable, 256),
    (Kind::Reset, 256),
    (Kind::Ping, 64),
    (Kind::Vote, 512),
    (Kind::Flush, 128 << 10),
    (Kind::Bundle, 128 << 10),
    (Kind::Done, 128 << 10),
    (Kind::Commit, 128 << 10),
    (Kind::Transfer, 2 << 10),
    (Kind::Ghost, 1200),
    (Kind::Backup, 64 << 10),
    (Kind::HomeState, 1200),
    (Kind::Decide, 256),
    (Kind::Hello, 4 << 10),
    (Kind::Input, 512),
    (Kind::Correct, 256),
    (Kind::Event, 64 << 10),
    (Kind::World, 1200),
    (Kind::Chunk, 64 << 10),
    (Kind::Credit, 64),
    (Kind::Follow, 256),
    (Kind::Share, 128 << 10),
    (Kind::Inputs, 64 << 10),
    (Kind::Lack, 64),
];

impl Kind {
    /// The kind with this number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Kind> {
        let at = usize::from(number).checked_sub(1)?;
        CAPS.get(at).map(|&(kind, _)| kind)
    }

    /// The most bytes that a message of this kind may have, without the header.
    #[must_use]
    pub fn cap(self) -> usize {
        CAPS[self as usize - 1].1
    }

    /// May a message of this kind be longer than its cap, in pieces? What grows with the number of
    /// objects or contacts may; what does not is wrong if it is so long.
    #[must_use]
    pub fn may_be_long(self) -> bool {
        use Kind::{Bundle, Commit, Done, Event, Flush, HomeState, Inputs, Share, Transfer};
        matches!(
            self,
            Bundle | Commit | Done | Event | Flush | HomeState | Inputs | Share | Transfer
        )
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Kind> {
        CAPS.iter().map(|&(kind, _)| kind)
    }
}

/// A message in a frame.
///
/// Lists and maps in messages must hold things that take at least a byte each: a length in a few
/// bytes may otherwise announce more than can be counted.
///
/// ```
/// use jostle_proto::wire::{Kind, WireError, pack, unpack};
///
/// let frame = pack(Kind::Ping, &(7u32, "hello"))?;
/// assert_eq!(unpack::<(u32, String)>(Kind::Ping, &frame)?, (7, "hello".to_string()));
/// let (expected, found) = (Kind::Vote, Kind::Ping);
/// assert_eq!(unpack::<u32>(Kind::Vote, &frame), Err(WireError::OtherKind { expected, found }));
/// # Ok::<(), WireError>(())
/// ```
///
/// # Errors
/// [`WireError::Oversize`] beyond the cap, [`WireError::Unwritable`] for lists without a length.
pub fn pack<Message: Serialize>(kind: Kind, message: &Message) -> Result<Vec<u8>, WireError> {
    let frame = postcard::to_extend(message, begin(kind)).map_err(|_| WireError::Unwritable)?;
    end(kind, frame)
}

/// The same around bytes.
pub(super) fn seal(kind: Kind, message: &[u8]) -> Result<Vec<u8>, WireError> {
    let mut frame = begin(kind);
    frame.extend(message);
    end(kind, frame)
}

fn begin(kind: Kind) -> Vec<u8> {
    let mut frame = Vec::from(MAGIC);
    frame.extend([PROTOCOL, kind as u8, 0, 0, 0, 0, 0, 0, 0, 0]);
    frame
}

fn end(kind: Kind, mut frame: Vec<u8>) -> Result<Vec<u8>, WireError> {
    let bytes = frame.len() - HEADER_BYTES;
    let oversize = WireError::Oversize { kind, bytes };
    let length = u32::try_from(bytes).ok().filter(|_| bytes <= kind.cap()).ok_or(oversize)?;
    frame[4..8].copy_from_slice(&length.to_le_bytes());
    let sum = sum(&frame[..SUMMED_BYTES], &frame[HEADER_BYTES..]);
    frame[8..12].copy_from_slice(&sum.to_le_bytes());
    Ok(frame)
}

fn sum(header: &[u8], message: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(header), message)
}

/// The kind of a frame, from its first bytes, and the length of its message: to know what to unpack
/// it as, and for streams, how much to wait for.
///
/// # Errors
/// [`WireError::Short`] for less than a header, [`WireError::Magic`], [`WireError::Version`],
/// [`WireError::UnknownKind`], [`WireError::Oversize`].
pub fn kind_of(frame: &[u8]) -> Result<(Kind, usize), WireError> {
    let header = frame.first_chunk::<HEADER_BYTES>().ok_or(WireError::Short)?;
    let &[magic @ .., version, kind, l0, l1, l2, l3, _, _, _, _] = header;
    if magic != MAGIC {
        return Err(WireError::Magic);
    }
    if version != PROTOCOL {
        return Err(WireError::Version { found: version });
    }
    let kind = Kind::from_number(kind).ok_or(WireError::UnknownKind { found: kind })?;
    let bytes = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    if bytes > kind.cap() {
        return Err(WireError::Oversize { kind, bytes });
    }
    Ok((kind, bytes))
}

/// The message in a frame of this kind.
///
/// # Errors
/// See [`WireError`]. Any bytes are safe; what is allocated is at most what the bytes can hold,
/// plus a megabyte that serde may keep ready for a list whose length the bytes do not refute.
pub fn unpack<Message: DeserializeOwned>(kind: Kind, frame: &[u8]) -> Result<Message, WireError> {
    let (found, _) = kind_of(frame)?;
    if found != kind {
        return Err(WireError::OtherKind { expected: kind, found });
    }
    match take(open(frame, Check::Sum)?.1)? {
        (message, []) => Ok(message),
        (_, rest) => Err(WireError::Trailing { extra: rest.len() }),
    }
}

/// What is looked at before the bytes of a frame are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Everything.
    Sum,
    /// A defect, for checkers to find: not the sum.
    Nothing,
}

/// The kind of a frame and the bytes in it.
pub(super) fn open(frame: &[u8], check: Check) -> Result<(Kind, &[u8]), WireError> {
    let (kind, bytes) = kind_of(frame)?;
    let (header, message) = frame.split_at(HEADER_BYTES);
    if message.len() < bytes {
        return Err(WireError::Short);
    }
    if message.len() > bytes {
        return Err(WireError::Trailing { extra: message.len() - bytes });
    }
    let (summed, stored) = header.split_at(SUMMED_BYTES);
    if check == Check::Sum && sum(summed, message).to_le_bytes() != stored {
        return Err(WireError::Damaged);
    }
    Ok((kind, message))
}

/// Something that postcard wrote at the beginning of bytes, and what follows it.
pub(super) fn take<Part: DeserializeOwned>(bytes: &[u8]) -> Result<(Part, &[u8]), WireError> {
    postcard::take_from_bytes(bytes).map_err(|error| match error {
        postcard::Error::DeserializeUnexpectedEnd => WireError::Short,
        _ => WireError::Malformed("not a message of this kind"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_at_their_numbers() {
        for (at, kind) in Kind::all().enumerate() {
            assert_eq!(kind as usize, at + 1);
            assert_eq!(Kind::from_number(kind as u8), Some(kind));
            assert!((64..=1 << 20).contains(&kind.cap()));
        }
        assert_eq!(Kind::from_number(0), None);
        assert_eq!(Kind::from_number(29), None);
    }

    #[test]
    fn every_fault_has_its_error() {
        let frame = pack(Kind::Stable, &[1u8, 2, 3]).unwrap();
        let with = |at: usize, byte: u8| {
            let mut frame = frame.clone();
            frame[at] = byte;
            unpack::<[u8; 3]>(Kind::Stable, &frame)
        };
        assert_eq!(unpack(Kind::Stable, &frame), Ok([1u8, 2, 3]));
        assert_eq!(with(0, 0), Err(WireError::Magic));
        assert_eq!(with(2, 9), Err(WireError::Version { found: 9 }));
        assert_eq!(with(3, 99), Err(WireError::UnknownKind { found: 99 }));
        let (expected, found) = (Kind::Stable, Kind::Reset);
        assert_eq!(with(3, found as u8), Err(WireError::OtherKind { expected, found }));
        assert_eq!(with(4, 2), Err(WireError::Trailing { extra: 1 }));
        assert_eq!(with(4, 4), Err(WireError::Short));
        let oversize = WireError::Oversize { kind: Kind::Stable, bytes: 259 };
        assert_eq!(with(5, 1), Err(oversize));
        assert_eq!(with(8, frame[8] ^ 1), Err(WireError::Damaged));
        assert_eq!(with(13, 0), Err(WireError::Damaged));
        assert_eq!(unpack::<[u8; 2]>(Kind::Stable, &frame), Err(WireError::Trailing { extra: 1 }));
        assert_eq!(unpack::<[u8; 4]>(Kind::Stable, &frame), Err(WireError::Short));
        let bool = unpack::<(bool, bool, bool)>(Kind::Stable, &frame);
        assert_eq!(bool, Err(WireError::Malformed("not a message of this kind")));
        let long = pack(Kind::Ping, &[0u8; 32].map(|byte| [byte; 3]));
        assert_eq!(long, Err(WireError::Oversize { kind: Kind::Ping, bytes: 96 }));
    }
}
