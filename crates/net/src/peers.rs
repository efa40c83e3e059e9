//! What replicas say to each other, as frames: which version it is in, and in pieces if it is long.
//!
//! Every frame says which versions its sender speaks. A replica speaks to another one in the newest
//! version that both do, and in its oldest before it has heard from it; so replicas can be brought
//! up to date one after the other, if neighbouring versions overlap. Who has no version in common
//! with this one is not heard, and status and log say so. Pieces that get lost take the rest of
//! their message along: replicas say everything again that matters.

use jostle_directory::{MESSAGE_MAX, PeerMessage};
use jostle_proto::ReplicaId;
use jostle_proto::wire::{Kind, WireError, pack, unpack};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes of a message in one frame.
const PIECE: usize = 60 << 10;

/// No message has more pieces.
const PIECES_MAX: u16 = (MESSAGE_MAX / PIECE + 1) as u16;

/// The versions of [`PeerMessage`] that a replica speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The oldest.
    pub oldest: u8,
    /// The newest.
    pub newest: u8,
}

impl Versions {
    /// Those that this program speaks.
    pub const OURS: Versions = Versions { oldest: 1, newest: 1 };

    fn has(self, version: u8) -> bool {
        (self.oldest..=self.newest).contains(&version)
    }

    /// The newest that both speak.
    fn common(self, other: Versions) -> Option<u8> {
        let version = self.newest.min(other.newest);
        (self.has(version) && other.has(version)).then_some(version)
    }
}

/// A frame between replicas: the same in all versions.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Frame {
    speaks: Versions,
    /// What the content is written in.
    version: u8,
    content: Vec<u8>,
}

/// What is in a frame of version 1; in one without content there is only who speaks.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Piece {
    /// Which message of this sender.
    number: u64,
    part: u16,
    /// Of so many.
    parts: u16,
    bytes: Vec<u8>,
}

/// Why a frame is not taken.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LetterError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(
        "replica {} speaks versions {} to {}, this one {} to {}: its messages are ignored",
        from.0, theirs.oldest, theirs.newest, ours.oldest, ours.newest
    )]
    Version { from: ReplicaId, theirs: Versions, ours: Versions },
    #[error("a fragment of an unknown message")]
    Piece,
    #[error(transparent)]
    Message(#[from] jostle_directory::PeerError),
    #[error("sender {} does not match the link to replica {}", said.0, from.0)]
    Sender { said: ReplicaId, from: ReplicaId },
}

/// A message of which pieces have come.
#[derive(Debug)]
struct Coming {
    number: u64,
    parts: u16,
    bytes: Vec<u8>,
    /// How many there are, in their order.
    have: u16,
}

/// What is known of the other replicas.
#[derive(Debug)]
pub(crate) struct Letters {
    ours: Versions,
    theirs: BTreeMap<ReplicaId, Versions>,
    coming: BTreeMap<ReplicaId, Coming>,
    next: u64,
}

impl Letters {
    pub(crate) fn new(ours: Versions) -> Letters {
        Letters { ours, theirs: BTreeMap::new(), coming: BTreeMap::new(), next: 0 }
    }

    /// Those whom it cannot talk to.
    pub(crate) fn strangers(&self) -> Vec<u16> {
        let apart = |theirs: &&Versions| self.ours.common(**theirs).is_none();
        let known = self.theirs.iter().filter(|(_, theirs)| apart(theirs));
        known.map(|(replica, _)| replica.0).collect()
    }

    /// The frames of a message. For one who would not understand it, only who speaks.
    pub(crate) fn write(&mut self, to: ReplicaId, message: &PeerMessage) -> Vec<Vec<u8>> {
        let (speaks, number) = (self.ours, self.next);
        self.next += 1;
        let version = match self.theirs.get(&to) {
            Some(theirs) => self.ours.common(*theirs),
            None => Some(self.ours.oldest),
        };
        let Some(version) = version else {
            let nothing = Frame { speaks, version: self.ours.oldest, content: Vec::new() };
            return pack(Kind::Replica, &nothing).into_iter().collect();
        };
        let Ok(bytes) = message.encode() else { return Vec::new() };
        let parts = bytes.len().div_ceil(PIECE) as u16;
        let frames = bytes.chunks(PIECE).enumerate().filter_map(|(part, bytes)| {
            let piece = Piece { number, part: part as u16, parts, bytes: bytes.to_vec() };
            let content = postcard::to_allocvec(&piece).ok()?;
            // None is longer than its kind may be.
            pack(Kind::Replica, &Frame { speaks, version, content }).ok()
        });
        frames.collect()
    }

    /// The message that is complete with this frame, if one is.
    pub(crate) fn read(
        &mut self,
        from: ReplicaId,
        frame: &[u8],
    ) -> Result<Option<PeerMessage>, LetterError> {
        let frame: Frame = unpack(Kind::Replica, frame)?;
        let known = self.theirs.insert(from, frame.speaks);
        if !self.ours.has(frame.version) {
            let (theirs, ours) = (frame.speaks, self.ours);
            // It may not have heard yet what we speak. That is no reason to say so again and again.
            let new = known != Some(theirs) && ours.common(theirs).is_none();
            let error = LetterError::Version { from, theirs, ours };
            return if new { Err(error) } else { Ok(None) };
        }
        if frame.content.is_empty() {
            return Ok(None);
        }
        let piece = postcard::from_bytes(&frame.content).map_err(|_| LetterError::Piece)?;
        let Some(bytes) = self.join(from, piece)? else { return Ok(None) };
        let message = PeerMessage::decode(&bytes)?;
        match message.from() {
            said if said == from => Ok(Some(message)),
            said => Err(LetterError::Sender { said, from }),
        }
    }

    /// The bytes of a message, if this was its last piece. Pieces come in their order or not at
    /// all.
    fn join(&mut self, from: ReplicaId, piece: Piece) -> Result<Option<Vec<u8>>, LetterError> {
        let Piece { number, part, parts, bytes } = piece;
        if parts > PIECES_MAX || part >= parts || bytes.len() > PIECE {
            return Err(LetterError::Piece);
        }
        if parts == 1 {
            return Ok(Some(bytes));
        }
        if part == 0 {
            self.coming.insert(from, Coming { number, parts, bytes: Vec::new(), have: 0 });
        }
        let next = (number, parts, part);
        let coming = self.coming.get_mut(&from);
        let coming = coming.filter(|it| (it.number, it.parts, it.have) == next);
        let coming = coming.ok_or(LetterError::Piece)?;
        coming.bytes.extend(bytes);
        coming.have += 1;
        if coming.have < parts {
            return Ok(None);
        }
        Ok(self.coming.remove(&from).map(|coming| coming.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use jostle_directory::{Output, Record, Replica, Settings};
    use jostle_proto::{Block, Directory, Member, NodeId, Time, Timing};

    const A: ReplicaId = ReplicaId(1);
    const B: ReplicaId = ReplicaId(2);

    /// Something that a replica of three says when nobody leads.
    fn message() -> PeerMessage {
        let founder = Member { node: NodeId(0), life: 1 };
        let extent = Block { min: [-4096; 3], max: [4096; 3] };
        let directory = Directory::new(founder, extent, Timing::default());
        let log = Record::founding(&directory, &[A, B, ReplicaId(3)]).expect("short");
        let mut replica = Replica::new(Settings::new(A, Timing::default()), log).expect("begins");
        let mut out = Vec::new();
        for time in 0..100 {
            replica.wake(Time(time * 40_000), &mut out);
        }
        let to_b = out.into_iter().find_map(|output| match output {
            Output::SendPeer(B, message) => Some(message),
            _ => None,
        });
        to_b.expect("it wants to lead")
    }

    fn speaks(oldest: u8, newest: u8) -> Versions {
        Versions { oldest, newest }
    }

    #[test]
    fn a_message_comes_out_as_it_was_put_in() {
        let (mut a, mut b) = (Letters::new(Versions::OURS), Letters::new(Versions::OURS));
        let frames = a.write(B, &message());
        assert_eq!(frames.len(), 1);
        assert_eq!(b.read(A, &frames[0]), Ok(Some(message())));
        let wrong = LetterError::Sender { said: A, from: ReplicaId(3) };
        assert_eq!(b.read(ReplicaId(3), &frames[0]), Err(wrong));
    }

    #[test]
    fn the_newest_common_version_is_spoken_and_before_that_the_oldest() {
        for (ours, theirs, common) in [
            (speaks(1, 1), speaks(1, 1), Some(1)),
            (speaks(1, 3), speaks(2, 4), Some(3)),
            (speaks(1, 2), speaks(1, 1), Some(1)),
            (speaks(2, 3), speaks(1, 1), None),
            (speaks(1, 1), speaks(2, 2), None),
        ] {
            assert_eq!((ours.common(theirs), theirs.common(ours)), (common, common));
            let (mut a, mut b) = (Letters::new(ours), Letters::new(theirs));
            let version = |frames: &[Vec<u8>]| {
                let frame: Frame = unpack(Kind::Replica, &frames[0]).expect("a frame");
                (frame.version, frame.content.is_empty())
            };
            let first = a.write(B, &message());
            assert_eq!(version(&first).0, ours.oldest);
            let _ = b.read(A, &first[0]);
            let answer = b.write(A, &message());
            let _ = a.read(B, &answer[0]);
            let second = a.write(B, &message());
            match common {
                Some(common) => {
                    assert_eq!(version(&second), (common, false));
                    assert_eq!(b.read(A, &second[0]), Ok(Some(message())));
                    assert_eq!((a.strangers(), b.strangers()), (vec![], vec![]));
                }
                None => {
                    assert!(version(&second).1, "nothing but who speaks");
                    assert_eq!((a.strangers(), b.strangers()), (vec![2], vec![1]));
                }
            }
        }
    }

    #[test]
    fn who_speaks_another_version_is_named_once() {
        let (mut a, mut b) = (Letters::new(speaks(2, 2)), Letters::new(speaks(1, 1)));
        let frames = a.write(B, &message());
        let (theirs, ours) = (speaks(2, 2), speaks(1, 1));
        assert_eq!(b.read(A, &frames[0]), Err(LetterError::Version { from: A, theirs, ours }));
        assert_eq!(b.read(A, &frames[0]), Ok(None));
        assert_eq!(b.strangers(), [1]);
        // And it is heard when it has been brought up to date.
        let frames = Letters::new(speaks(1, 2)).write(B, &message());
        assert_eq!(b.read(A, &frames[0]), Ok(Some(message())));
        assert_eq!(b.strangers(), Vec::<u16>::new());
    }

    #[test]
    fn pieces_are_joined_and_what_lacks_one_is_dropped() {
        let piece =
            |number, part, parts, bytes: &[u8]| Piece { number, part, parts, bytes: bytes.into() };
        let mut letters = Letters::new(Versions::OURS);
        assert_eq!(letters.join(A, piece(1, 0, 2, b"ab")), Ok(None));
        assert_eq!(letters.join(B, piece(1, 1, 2, b"xx")), Err(LetterError::Piece));
        assert_eq!(letters.join(A, piece(1, 1, 2, b"c")), Ok(Some(b"abc".to_vec())));
        assert_eq!(letters.join(A, piece(2, 0, 3, b"ab")), Ok(None));
        assert_eq!(letters.join(A, piece(2, 2, 3, b"c")), Err(LetterError::Piece));
        assert_eq!(letters.join(A, piece(3, 0, PIECES_MAX + 1, b"")), Err(LetterError::Piece));
        assert_eq!(letters.join(A, piece(3, 2, 2, b"")), Err(LetterError::Piece));
    }

    #[test]
    fn any_bytes_give_an_error_or_a_message() {
        let frame = Letters::new(Versions::OURS).write(B, &message()).remove(0);
        let mut letters = Letters::new(Versions::OURS);
        for end in 0..frame.len() {
            assert!(letters.read(A, &frame[..end]).is_err(), "{end}");
        }
        for seed in 0..3000 {
            let mut dice = Dice::new(seed);
            let piece = Piece {
                number: dice.below(3),
                part: dice.below(4) as u16,
                parts: dice.below(4) as u16,
                bytes: message().encode().expect("short"),
            };
            let mut content = postcard::to_allocvec(&piece).expect("written");
            for _ in 0..dice.below(4) {
                let at = dice.below(content.len() as u64) as usize;
                content[at] = dice.any() as u8;
            }
            // With a sum that fits, so that it is looked at.
            let frame = Frame { speaks: Versions::OURS, version: 1, content };
            let frame = pack(Kind::Replica, &frame).expect("short");
            if let Ok(Some(message)) = letters.read(A, &frame) {
                assert_eq!(message.from(), A, "seed {seed}");
            }
        }
    }
}
