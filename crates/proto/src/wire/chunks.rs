//! What is longer than a frame may be, in pieces.
//!
//! The receiver reports what it has and how far the sender may go (its credit); it keeps what came
//! in order and at most [`WINDOW`] pieces beyond, so that the memory it needs is that of the bytes
//! it was sent. Pieces and credits may be lost, duplicated and reordered: both sides repeat
//! themselves when their driver's timer is due, and nothing is taken twice.

use super::WireError;
use jostle_geom::Checksum;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Bytes of content in a piece: with what stands around them they stay below the cap of
/// [`Kind::Chunk`](super::Kind::Chunk).
pub const CHUNK_BYTES: usize = (64 << 10) - 64;

/// Pieces that may be on their way at the same time: one bit each in a [`Credit`].
pub const WINDOW: u32 = 32;

/// A piece of something longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Of what: any number that sender and receiver use for this content only.
    pub transfer: u64,
    /// The length of the whole.
    pub length: u64,
    /// The sum of the whole.
    pub sum: u64,
    /// Which piece, from 0.
    pub index: u32,
    /// Its bytes.
    #[serde(with = "plain")]
    pub bytes: Vec<u8>,
}

/// What the receiver has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credit {
    /// Of what.
    pub transfer: u64,
    /// All pieces before this one are there.
    pub next: u32,
    /// Which ones behind it are there: the lowest bit is for `next` itself and never set.
    pub beyond: u32,
}

/// How many pieces a content has. Nothing, too, is a piece.
fn pieces(length: u64) -> u64 {
    length.div_ceil(CHUNK_BYTES as u64).max(1)
}

/// The sending side.
///
/// ```
/// use jostle_proto::wire::{Incoming, Outgoing};
///
/// let long: Vec<u8> = (0..200_000).map(|i| (i % 251) as u8).collect();
/// let mut sender = Outgoing::new(7, long.clone().into())?;
/// let mut receiver = Incoming::new(7, 1 << 20);
/// while let Some(chunk) = sender.next_chunk() {
///     receiver.take(chunk)?;
///     sender.credit(&receiver.credit());
/// }
/// assert!(sender.is_done());
/// assert_eq!(receiver.finish()?, Some(long));
/// # Ok::<(), jostle_proto::wire::WireError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Outgoing {
    transfer: u64,
    content: Arc<[u8]>,
    sum: u64,
    pieces: u32,
    /// All before it have arrived.
    next: u32,
    /// Which ones from `next` on have arrived, and which ones need not be sent now.
    arrived: u32,
    sent: u32,
}

impl Outgoing {
    /// Begins to send.
    ///
    /// # Errors
    /// [`WireError::TooMany`] for more pieces than can be numbered.
    pub fn new(transfer: u64, content: Arc<[u8]>) -> Result<Outgoing, WireError> {
        let count = pieces(content.len() as u64);
        let most = u64::from(u32::MAX);
        let pieces = u32::try_from(count).map_err(|_| WireError::TooMany { count, most })?;
        let sum = Checksum::of(&content);
        Ok(Outgoing { transfer, content, sum, pieces, next: 0, arrived: 0, sent: 0 })
    }

    /// The next piece that the credit allows and that was not sent since the last
    /// [`Outgoing::repeat`].
    pub fn next_chunk(&mut self) -> Option<Chunk> {
        let ahead = (self.arrived | self.sent).trailing_ones();
        let index = self.next.checked_add(ahead).filter(|&index| index < self.pieces)?;
        self.sent |= 1u32.checked_shl(ahead)?;
        let start = index as usize * CHUNK_BYTES;
        let end = (start + CHUNK_BYTES).min(self.content.len());
        Some(Chunk {
            transfer: self.transfer,
            length: self.content.len() as u64,
            sum: self.sum,
            index,
            bytes: self.content.get(start..end)?.to_vec(),
        })
    }

    /// What the receiver says. Credits that are old, doubled or of something else change nothing.
    pub fn credit(&mut self, credit: &Credit) {
        if credit.transfer != self.transfer || credit.next < self.next || credit.next > self.pieces
        {
            return;
        }
        let by = credit.next - self.next;
        self.next = credit.next;
        self.sent = self.sent.checked_shr(by).unwrap_or(0);
        self.arrived = self.arrived.checked_shr(by).unwrap_or(0) | credit.beyond;
    }

    /// It took too long: what is not known to have arrived is sent again.
    pub fn repeat(&mut self) {
        self.sent = 0;
    }

    /// Which content this is.
    pub(super) fn transfer(&self) -> u64 {
        self.transfer
    }

    /// How many pieces are known to have arrived, without a gap.
    pub(super) fn arrived_in_order(&self) -> u32 {
        self.next
    }

    /// Has all of it arrived?
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.next == self.pieces
    }
}

/// The receiving side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    transfer: u64,
    most: u64,
    /// Length and sum of the whole, from the first piece that came.
    whole: Option<(u64, u64)>,
    next: u32,
    content: Vec<u8>,
    /// Pieces from `next` on: never the first.
    beyond: Vec<Chunk>,
}

impl Incoming {
    /// Waits for a content of at most `most` bytes.
    #[must_use]
    pub fn new(transfer: u64, most: u64) -> Incoming {
        let (content, beyond) = (Vec::new(), Vec::new());
        Incoming { transfer, most, whole: None, next: 0, content, beyond }
    }

    /// Which content this is.
    pub(super) fn transfer(&self) -> u64 {
        self.transfer
    }

    /// A piece has come. Doubled ones, and those of something else, change nothing.
    ///
    /// # Errors
    /// [`WireError::TooMany`] if the whole would be too long, [`WireError::Malformed`] if the piece
    /// does not fit the others or lies beyond the credit. The pieces taken before stay.
    pub fn take(&mut self, chunk: Chunk) -> Result<(), WireError> {
        if chunk.transfer != self.transfer || chunk.index < self.next {
            return Ok(());
        }
        if chunk.length > self.most {
            return Err(WireError::TooMany { count: chunk.length, most: self.most });
        }
        let start = u64::from(chunk.index) * CHUNK_BYTES as u64;
        let rest = chunk.length.checked_sub(start);
        let full = rest.map(|rest| rest.min(CHUNK_BYTES as u64));
        if full != Some(chunk.bytes.len() as u64)
            || u64::from(chunk.index) >= pieces(chunk.length)
            || chunk.index - self.next >= WINDOW
            || *self.whole.get_or_insert((chunk.length, chunk.sum)) != (chunk.length, chunk.sum)
        {
            return Err(WireError::Malformed("a piece that does not fit"));
        }
        if self.beyond.iter().all(|other| other.index != chunk.index) {
            self.beyond.push(chunk);
        }
        while let Some(at) = self.beyond.iter().position(|other| other.index == self.next) {
            self.content.extend(self.beyond.swap_remove(at).bytes);
            self.next += 1;
        }
        Ok(())
    }

    /// What to send the sender, after every piece or every few, and again when nothing comes.
    #[must_use]
    pub fn credit(&self) -> Credit {
        let bit = |chunk: &Chunk| 1u32.checked_shl(chunk.index - self.next).unwrap_or(0);
        let beyond = self.beyond.iter().fold(0, |bits, chunk| bits | bit(chunk));
        Credit { transfer: self.transfer, next: self.next, beyond }
    }

    /// The content, once, if all of it is there.
    ///
    /// # Errors
    /// [`WireError::Damaged`] if the sum does not fit; then all of it must be sent anew.
    pub fn finish(&mut self) -> Result<Option<Vec<u8>>, WireError> {
        let Some((length, sum)) = self.whole else { return Ok(None) };
        if u64::from(self.next) < pieces(length) {
            return Ok(None);
        }
        self.whole = None;
        let content = std::mem::take(&mut self.content);
        if Checksum::of(&content) == sum { Ok(Some(content)) } else { Err(WireError::Damaged) }
    }
}

/// Bytes as bytes, and not as a list of numbers one by one.
mod plain {
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<To: Serializer>(bytes: &[u8], to: To) -> Result<To::Ok, To::Error> {
        to.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, From: Deserializer<'de>>(
        from: From,
    ) -> Result<Vec<u8>, From::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;

            fn expecting(&self, to: &mut std::fmt::Formatter) -> std::fmt::Result {
                to.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }
        from.deserialize_bytes(Bytes)
    }
}
