//! The codec between directory replicas: version negotiation, and fragmentation of long messages.
//!
//! Every frame contains the versions that its sender supports. A replica uses the newest version
//! that both support, and its oldest before it has heard from the peer; so replicas can be upgraded
//! one after the other if neighbouring versions overlap. Messages of a replica without a common
//! version are ignored, which status and log report. A lost fragment drops its message: replicas
//! resend what matters.

use jostle_directory::{MESSAGE_MAX, PeerMessage};
use jostle_proto::ReplicaId;
use jostle_proto::wire::{Kind, WireError, pack, unpack};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes of a message in one frame.
const FRAGMENT_MAX: usize = 60 << 10;

/// Fragments of a message, at most.
const FRAGMENTS_MAX: u16 = (MESSAGE_MAX / FRAGMENT_MAX + 1) as u16;

/// The versions of [`PeerMessage`] that a replica supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The oldest.
    pub oldest: u8,
    /// The newest.
    pub newest: u8,
}

impl Versions {
    /// The versions of this program.
    pub const OURS: Versions = Versions { oldest: 1, newest: 1 };

    fn has(self, version: u8) -> bool {
        (self.oldest..=self.newest).contains(&version)
    }

    /// The newest common version.
    fn common(self, other: Versions) -> Option<u8> {
        let version = self.newest.min(other.newest);
        (self.has(version) && other.has(version)).then_some(version)
    }
}

/// A frame between replicas: the same in all versions.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Frame {
    speaks: Versions,
    /// The version of the content.
    version: u8,
    content: Vec<u8>,
}

/// The content of a frame in version 1. A frame without content only announces versions.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Fragment {
    /// The number of the message.
    number: u64,
    part: u16,
    /// The number of fragments.
    parts: u16,
    bytes: Vec<u8>,
}

/// Why a frame is rejected.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PeerCodecError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error(
        "replica {} speaks versions {} to {}, this one {} to {}: its messages are ignored",
        from.0, theirs.oldest, theirs.newest, ours.oldest, ours.newest
    )]
    Version { from: ReplicaId, theirs: Versions, ours: Versions },
    #[error("a fragment of an unknown message")]
    Fragment,
    #[error(transparent)]
    Message(#[from] jostle_directory::PeerError),
    #[error("sender {} does not match the link to replica {}", claimed.0, from.0)]
    Sender { claimed: ReplicaId, from: ReplicaId },
}

/// A partially received message.
#[derive(Debug)]
struct Reassembly {
    number: u64,
    parts: u16,
    bytes: Vec<u8>,
    /// Fragments received, in order.
    have: u16,
}

/// The codec state for all peers.
#[derive(Debug)]
pub(crate) struct PeerCodec {
    ours: Versions,
    theirs: BTreeMap<ReplicaId, Versions>,
    reassembly: BTreeMap<ReplicaId, Reassembly>,
    next: u64,
}

impl PeerCodec {
    pub(crate) fn new(ours: Versions) -> PeerCodec {
        PeerCodec { ours, theirs: BTreeMap::new(), reassembly: BTreeMap::new(), next: 0 }
    }

    /// Peers without a common version.
    pub(crate) fn incompatible(&self) -> Vec<u16> {
        let apart = |theirs: &&Versions| self.ours.common(**theirs).is_none();
        let known = self.theirs.iter().filter(|(_, theirs)| apart(theirs));
        known.map(|(replica, _)| replica.0).collect()
    }

    /// The frames of a message. For an incompatible peer one that only announces versions.
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
        let parts = bytes.len().div_ceil(FRAGMENT_MAX) as u16;
        let frames = bytes.chunks(FRAGMENT_MAX).enumerate().filter_map(|(part, bytes)| {
            let fragment = Fragment { number, part: part as u16, parts, bytes: bytes.to_vec() };
            let content = postcard::to_allocvec(&fragment).ok()?;
            // A fragment never exceeds the limit of its kind.
            pack(Kind::Replica, &Frame { speaks, version, content }).ok()
        });
        frames.collect()
    }

    /// Decodes a frame; returns the message that it completes.
    pub(crate) fn read(
        &mut self,
        from: ReplicaId,
        frame: &[u8],
    ) -> Result<Option<PeerMessage>, PeerCodecError> {
        let frame: Frame = unpack(Kind::Replica, frame)?;
        let known = self.theirs.insert(from, frame.speaks);
        if !self.ours.has(frame.version) {
            let (theirs, ours) = (frame.speaks, self.ours);
            // The peer may not know our versions yet; the incompatibility is reported once.
            let new = known != Some(theirs) && ours.common(theirs).is_none();
            let error = PeerCodecError::Version { from, theirs, ours };
            return if new { Err(error) } else { Ok(None) };
        }
        if frame.content.is_empty() {
            return Ok(None);
        }
        let fragment =
            postcard::from_bytes(&frame.content).map_err(|_| PeerCodecError::Fragment)?;
        let Some(bytes) = self.join(from, fragment)? else { return Ok(None) };
        let message = PeerMessage::decode(&bytes)?;
        match message.from() {
            claimed if claimed == from => Ok(Some(message)),
            claimed => Err(PeerCodecError::Sender { claimed, from }),
        }
    }

    /// Adds a fragment; returns the message if it was the last one. Out-of-order fragments drop the
    /// message.
    fn join(
        &mut self,
        from: ReplicaId,
        fragment: Fragment,
    ) -> Result<Option<Vec<u8>>, PeerCodecError> {
        let Fragment { number, part, parts, bytes } = fragment;
        if parts > FRAGMENTS_MAX || part >= parts || bytes.len() > FRAGMENT_MAX {
            return Err(PeerCodecError::Fragment);
        }
        if parts == 1 {
            return Ok(Some(bytes));
        }
        if part == 0 {
            self.reassembly.insert(from, Reassembly { number, parts, bytes: Vec::new(), have: 0 });
        }
        let next = (number, parts, part);
        let reassembly = self.reassembly.get_mut(&from);
        let reassembly = reassembly.filter(|it| (it.number, it.parts, it.have) == next);
        let reassembly = reassembly.ok_or(PeerCodecError::Fragment)?;
        reassembly.bytes.extend(bytes);
        reassembly.have += 1;
        if reassembly.have < parts {
            return Ok(None);
        }
        Ok(self.reassembly.remove(&from).map(|reassembly| reassembly.bytes))
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

    /// A message of a replica that starts an election.
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
        let (mut a, mut b) = (PeerCodec::new(Versions::OURS), PeerCodec::new(Versions::OURS));
        let frames = a.write(B, &message());
        assert_eq!(frames.len(), 1);
        assert_eq!(b.read(A, &frames[0]), Ok(Some(message())));
        let wrong = PeerCodecError::Sender { claimed: A, from: ReplicaId(3) };
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
            let (mut a, mut b) = (PeerCodec::new(ours), PeerCodec::new(theirs));
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
                    assert_eq!((a.incompatible(), b.incompatible()), (vec![], vec![]));
                }
                None => {
                    assert!(version(&second).1, "nothing but who speaks");
                    assert_eq!((a.incompatible(), b.incompatible()), (vec![2], vec![1]));
                }
            }
        }
    }

    #[test]
    fn who_speaks_another_version_is_named_once() {
        let (mut a, mut b) = (PeerCodec::new(speaks(2, 2)), PeerCodec::new(speaks(1, 1)));
        let frames = a.write(B, &message());
        let (theirs, ours) = (speaks(2, 2), speaks(1, 1));
        assert_eq!(b.read(A, &frames[0]), Err(PeerCodecError::Version { from: A, theirs, ours }));
        assert_eq!(b.read(A, &frames[0]), Ok(None));
        assert_eq!(b.incompatible(), [1]);
        // After its upgrade the peer is accepted.
        let frames = PeerCodec::new(speaks(1, 2)).write(B, &message());
        assert_eq!(b.read(A, &frames[0]), Ok(Some(message())));
        assert_eq!(b.incompatible(), Vec::<u16>::new());
    }

    #[test]
    fn pieces_are_joined_and_what_lacks_one_is_dropped() {
        let fragment = |number, part, parts, bytes: &[u8]| Fragment {
            number,
            part,
            parts,
            bytes: bytes.into(),
        };
        let mut codec = PeerCodec::new(Versions::OURS);
        assert_eq!(codec.join(A, fragment(1, 0, 2, b"ab")), Ok(None));
        assert_eq!(codec.join(B, fragment(1, 1, 2, b"xx")), Err(PeerCodecError::Fragment));
        assert_eq!(codec.join(A, fragment(1, 1, 2, b"c")), Ok(Some(b"abc".to_vec())));
        assert_eq!(codec.join(A, fragment(2, 0, 3, b"ab")), Ok(None));
        assert_eq!(codec.join(A, fragment(2, 2, 3, b"c")), Err(PeerCodecError::Fragment));
        assert_eq!(
            codec.join(A, fragment(3, 0, FRAGMENTS_MAX + 1, b"")),
            Err(PeerCodecError::Fragment)
        );
        assert_eq!(codec.join(A, fragment(3, 2, 2, b"")), Err(PeerCodecError::Fragment));
    }

    #[test]
    fn any_bytes_give_an_error_or_a_message() {
        let frame = PeerCodec::new(Versions::OURS).write(B, &message()).remove(0);
        let mut codec = PeerCodec::new(Versions::OURS);
        for end in 0..frame.len() {
            assert!(codec.read(A, &frame[..end]).is_err(), "{end}");
        }
        for seed in 0..3000 {
            let mut dice = Dice::new(seed);
            let fragment = Fragment {
                number: dice.below(3),
                part: dice.below(4) as u16,
                parts: dice.below(4) as u16,
                bytes: message().encode().expect("short"),
            };
            let mut content = postcard::to_allocvec(&fragment).expect("written");
            for _ in 0..dice.below(4) {
                let at = dice.below(content.len() as u64) as usize;
                content[at] = dice.any() as u8;
            }
            // With a valid checksum, so that the content is decoded.
            let frame = Frame { speaks: Versions::OURS, version: 1, content };
            let frame = pack(Kind::Replica, &frame).expect("short");
            if let Ok(Some(message)) = codec.read(A, &frame) {
                assert_eq!(message.from(), A, "seed {seed}");
            }
        }
    }
}
