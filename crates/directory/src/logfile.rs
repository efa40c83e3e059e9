//! A log as bytes: a head, then records, each with its length, checksums and a mark at its end.
//!
//! A record that was being written when the machine died was not answered for; it is cut off. It is
//! recognised by being shorter than its length field, or by zeros from its end mark on (a file that
//! had become longer before its content was there). Everything else that is wrong is damage: it may
//! have been answered for, so no replica may go on from there. The length has a checksum of its own
//! and the mark is never zero, so no single bit that is wrong, wherever it is, looks like a record
//! that was cut short. A machine that died while the end of a record was on its disk before its
//! beginning is refused, too: that cannot be distinguished from damage.
//! beginning is refused, too: that cannot be told from damage.

use crate::record::{Record, STATE_MAX};
use jostle_proto::ReplicaId;
use thiserror::Error;

const MAGIC: [u8; 8] = *b"JOLOG\0\0\x01";
/// The magic number, and whose log it is.
const HEAD: usize = MAGIC.len() + 2;
/// Before each record: its length, a checksum of that, and one of the content.
const FRAME: usize = 12;
/// Behind each record.
const END: u8 = 0xa5;
const RECORD_MAX: usize = STATE_MAX + 4096;

/// Why a log cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LogError {
    /// Something else, or of another version.
    #[error("this is no log of a directory's replica that this version can read")]
    Foreign,
    /// Of another replica.
    #[error("this is the log of replica {}, not of {}", .found.0, .expected.0)]
    Another {
        /// The replica that the log belongs to.
        found: ReplicaId,
        /// Who asked.
        expected: ReplicaId,
    },
    /// Damaged in the middle.
    #[error(
        "the log is damaged at byte {at}: what follows may have been answered for. Remove this \
         replica from the directory, delete its log, and add it again as a new one"
    )]
    Damaged {
        /// Offset in the file.
        at: usize,
    },
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// All records that were kept.
    pub records: Vec<Record>,
    /// How many bytes of the file hold; the rest is to be cut off before anything is added.
    pub length: usize,
    /// Was there such a rest?
    pub torn: bool,
}

/// How a log of this replica begins.
#[must_use]
pub fn begin_log(replica: ReplicaId) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(replica.0.to_le_bytes());
    bytes
}

/// Adds records to bytes that are to be written.
pub fn write_log(records: &[Record], bytes: &mut Vec<u8>) {
    for record in records {
        let start = bytes.len();
        bytes.extend([0; FRAME]);
        let written = std::mem::take(bytes);
        *bytes = postcard::to_extend(record, written).expect("memory takes everything");
        let length = ((bytes.len() - start - FRAME) as u32).to_le_bytes();
        let sums = [crc32c::crc32c(&length), crc32c::crc32c(&bytes[start + FRAME..])];
        bytes[start..start + 4].copy_from_slice(&length);
        bytes[start + 4..start + 8].copy_from_slice(&sums[0].to_le_bytes());
        bytes[start + 8..start + FRAME].copy_from_slice(&sums[1].to_le_bytes());
        bytes.push(END);
    }
}

/// Reads a log. No bytes at all are a log that has not begun.
///
/// # Errors
/// If it is not this replica's, or damaged.
pub fn read_log(replica: ReplicaId, bytes: &[u8]) -> Result<Restored, LogError> {
    let mut records = Vec::new();
    let head = begin_log(replica);
    if bytes.len() < HEAD {
        let torn = !bytes.is_empty();
        let begun = head.starts_with(bytes) || bytes.iter().all(|byte| *byte == 0);
        let nothing = Restored { records, length: 0, torn };
        return if begun { Ok(nothing) } else { Err(LogError::Foreign) };
    }
    if bytes[..MAGIC.len()] != MAGIC {
        return Err(LogError::Foreign);
    }
    let found = ReplicaId(u16::from_le_bytes([bytes[MAGIC.len()], bytes[MAGIC.len() + 1]]));
    if found != replica {
        return Err(LogError::Another { found, expected: replica });
    }
    let mut at = HEAD;
    while at < bytes.len() {
        match read_record(&bytes[at..]) {
            Some((record, length)) => {
                records.push(record);
                at += length;
            }
            None if is_torn(&bytes[at..]) => {
                return Ok(Restored { records, length: at, torn: true });
            }
            None => return Err(LogError::Damaged { at }),
        }
    }
    Ok(Restored { records, length: at, torn: false })
}

/// How many bytes the record at the beginning of these takes, if its length is whole.
fn length(bytes: &[u8]) -> Option<usize> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let sum = rest.first_chunk::<4>()?;
    let long = u32::from_le_bytes(*length) as usize;
    let whole = crc32c::crc32c(length) == u32::from_le_bytes(*sum) && long <= RECORD_MAX;
    whole.then_some(FRAME + long + 1)
}

/// A record at the beginning of these bytes, and how long it is.
fn read_record(bytes: &[u8]) -> Option<(Record, usize)> {
    let length = length(bytes)?;
    let (end, record) = bytes.get(..length)?.split_last()?;
    let (sum, content) = record.get(8..)?.split_first_chunk::<4>()?;
    if *end != END || crc32c::crc32c(content) != u32::from_le_bytes(*sum) {
        return None;
    }
    Some((postcard::from_bytes(content).ok()?, length))
}

/// Was this being written when the machine died?
fn is_torn(bytes: &[u8]) -> bool {
    let zeros = |from: usize| bytes.iter().skip(from).all(|byte| *byte == 0);
    match length(bytes) {
        // Shorter than it says, or its end is not there.
        Some(length) => bytes.len() < length || zeros(length - 1),
        // Not even its length is there.
        None => zeros(8),
    }
}
