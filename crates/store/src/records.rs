//! Files of records, one after the other. Every byte is covered: the head of a record (length,
//! number, checksum of the content) has a checksum of its own, seeded with the kind of the file,
//! and a mark stands behind the content that is never zero.
//!
//! What was being written when the machine died is distinguished from damage: such a record is
//! shorter than its length field, or ends in the zeros of a file that had become longer before its
//! content was there. No single bit that is wrong looks like that. Everything else that is wrong is
//! damage.

use crate::disk::{Disk, DiskFile, Opened, Readers};
use jostle_proto::Mutant;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// No record is longer.
const RECORD_MAX: usize = 1 << 30;
/// Before each record: length, number, checksum of the content, checksum of these.
const HEAD: usize = 16;
/// Behind each record.
const END: u8 = 0xa5;
/// What is not written is handed to the operating system from this size on.
const BUFFER: usize = 64 << 10;

/// What a file begins with: six letters, and the version of its format.
pub type Magic = [u8; 8];

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file system says so.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It begins with something else.
    #[error("{path} is not a Jostle {expected}, or its first bytes are damaged")]
    OtherFile {
        /// Which file.
        path: PathBuf,
        /// What was expected.
        expected: &'static str,
    },
    /// Of another version.
    #[error(
        "{path} is a Jostle {expected} of format {found}; this program reads format {known}: use \
         the version of Jostle that wrote it"
    )]
    OtherFormat {
        /// Which file.
        path: PathBuf,
        /// What was expected.
        expected: &'static str,
        /// Its format.
        found: u8,
        /// Ours.
        known: u8,
    },
    /// Not as it was written.
    #[error("{path}: record {number} at byte {at} is damaged: {what}")]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Which record, from 0.
        number: usize,
        /// Where it begins.
        at: usize,
        /// What is wrong.
        what: String,
    },
}

impl RecordError {
    /// Returns true if the file system could not read or write: the content is not at fault.
    #[must_use]
    pub fn is_io(&self) -> bool {
        matches!(self, RecordError::File { .. })
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> RecordError {
    move |source| RecordError::File { path: path.into(), source }
}

/// Writes records. A write that fails leaves the file as it was before it; later writes go on
/// there.
#[derive(Debug)]
pub struct RecordWriter {
    path: PathBuf,
    magic: Magic,
    file: Box<dyn DiskFile>,
    /// Records that are not handed to the operating system yet.
    pending: Vec<u8>,
    /// Bytes that are, all of whole records, and the number of the next record then.
    written: u64,
    written_number: u32,
    number: u32,
}

impl RecordWriter {
    /// A new file.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(
        disk: &dyn Disk,
        path: &Path,
        magic: Magic,
        readers: Readers,
    ) -> Result<RecordWriter, RecordError> {
        let file = disk.create(path, readers).map_err(failed(path))?;
        Ok(RecordWriter {
            path: path.into(),
            magic,
            file,
            pending: magic.to_vec(),
            written: 0,
            written_number: 0,
            number: 0,
        })
    }

    /// The file has another name now.
    pub(crate) fn renamed(&mut self, path: PathBuf) {
        self.path = path;
    }

    /// Bytes of all records so far.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Adds a record, which goes to the operating system later.
    ///
    /// # Errors
    /// Those of the file system; then this record and those that were not flushed are lost.
    pub fn write(&mut self, record: &impl Serialize) -> Result<(), RecordError> {
        let other = |what: String| failed(&self.path)(io::Error::other(what));
        let content = postcard::to_allocvec(record).map_err(|error| other(error.to_string()))?;
        let length = u32::try_from(content.len()).ok().filter(|it| *it as usize <= RECORD_MAX);
        let length = length.ok_or_else(|| other("a record is too long".into()))?;
        self.pending.extend(head(self.magic, length, self.number, crc32c::crc32c(&content)));
        self.pending.extend(content);
        self.pending.push(END);
        self.number = self.number.wrapping_add(1);
        if self.pending.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    /// Hands all that was written to the operating system: it survives the end of the process.
    ///
    /// # Errors
    /// Those of the file system; then what was not flushed is lost, and the file is whole.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        if let Err(source) = self.file.write_at(&self.pending, self.written) {
            // The records are lost, the file stays whole: what was written of them is cut off. If
            // that fails too, the next write covers it, or it reads as a torn end.
            let _torn = self.file.set_length(self.written);
            self.number = self.written_number;
            self.pending.clear();
            if self.written == 0 {
                self.pending.extend(self.magic);
            }
            return Err(failed(&self.path)(source));
        }
        self.written += self.pending.len() as u64;
        self.written_number = self.number;
        self.pending.clear();
        Ok(())
    }

    /// And to the disk: it survives the end of the machine.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn sync(&mut self) -> Result<(), RecordError> {
        self.flush()?;
        self.file.sync().map_err(failed(&self.path))
    }
}

fn head(magic: Magic, length: u32, number: u32, sum: u32) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    for (bytes, value) in head.chunks_exact_mut(4).zip([length, number, sum]) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
    let own = crc32c::crc32c_append(crc32c::crc32c(&magic), &head[..12]).to_le_bytes();
    head[12..].copy_from_slice(&own);
    head
}

fn words(head: &[u8; HEAD]) -> [u32; 3] {
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    [word(0), word(4), word(8)]
}

/// Reads records, one after the other.
pub struct RecordReader {
    path: PathBuf,
    magic: Magic,
    file: BufReader<Box<dyn Read + Send + Sync>>,
    size: u64,
    at: u64,
    number: u32,
    torn: bool,
    /// Is the checksum of a head compared?
    lengths: bool,
}

impl fmt::Debug for RecordReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RecordReader { path, at, number, .. } = self;
        write!(f, "RecordReader({}, byte {at}, record {number})", path.display())
    }
}

impl RecordReader {
    /// Opens a file of this kind; `expected` is what it is called in errors.
    ///
    /// # Errors
    /// If it cannot be read, or begins with something else.
    pub fn open(
        disk: &dyn Disk,
        path: &Path,
        magic: Magic,
        expected: &'static str,
    ) -> Result<RecordReader, RecordError> {
        let Opened { content, length: size } = disk.open(path).map_err(failed(path))?;
        let mut file = BufReader::with_capacity(BUFFER, content);
        let mut found = Magic::default();
        let begins = size >= found.len() as u64;
        if begins {
            file.read_exact(&mut found).map_err(failed(path))?;
        }
        if !begins || found[..7] != magic[..7] {
            return Err(RecordError::OtherFile { path: path.into(), expected });
        }
        let (found, known) = (found[7], magic[7]);
        if found != known {
            return Err(RecordError::OtherFormat { path: path.into(), expected, found, known });
        }
        let (at, number, torn) = (magic.len() as u64, 0, false);
        Ok(RecordReader { path: path.into(), magic, file, size, at, number, torn, lengths: true })
    }

    /// The same with a mistake in it, to try the checkers.
    pub(crate) fn with_mutant(self, mutant: Option<Mutant>) -> RecordReader {
        RecordReader { lengths: mutant != Some(Mutant::TrustLengths), ..self }
    }

    /// Where the next record begins: all bytes before are whole.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Bytes of a record that was not written completely, at the end.
    #[must_use]
    pub fn torn(&self) -> Option<u64> {
        self.torn.then_some(self.size - self.at)
    }

    /// The file is damaged where this reader is.
    #[must_use]
    pub fn damaged(&self, what: &str) -> RecordError {
        RecordError::Damaged {
            path: self.path.clone(),
            number: self.number as usize,
            at: self.at as usize,
            what: what.into(),
        }
    }

    /// The next record; none at the end, or if the rest was not written completely, see
    /// [`RecordReader::torn`].
    ///
    /// # Errors
    /// If it cannot be read, or is damaged.
    pub fn next_record<Record: DeserializeOwned>(&mut self) -> Result<Option<Record>, RecordError> {
        let rest = self.size - self.at;
        if self.torn || rest == 0 {
            return Ok(None);
        }
        if rest < HEAD as u64 {
            self.torn = true;
            return Ok(None);
        }
        let mut found = [0; HEAD];
        self.read(&mut found)?;
        let [length, number, sum] = words(&found);
        if self.lengths && found != head(self.magic, length, number, sum) {
            // Behind a head that was written in part there is nothing but zeros.
            return self.torn_or("its head does not fit its checksum");
        }
        let whole = HEAD as u64 + u64::from(length) + 1;
        if self.lengths && length as usize > RECORD_MAX {
            return Err(self.damaged("it is too long"));
        }
        if rest < whole {
            self.torn = true;
            return Ok(None);
        }
        let mut content = vec![0; length as usize + 1];
        self.read(&mut content)?;
        let end = content.pop();
        if end != Some(END) || crc32c::crc32c(&content) != sum {
            let what = "its content does not fit its checksum";
            return if end == Some(0) { self.torn_or(what) } else { Err(self.damaged(what)) };
        }
        if number != self.number {
            let what = format!("it is number {number}, and number {} is missing", self.number);
            return Err(self.damaged(&what));
        }
        let record = postcard::from_bytes(&content);
        let record = record.map_err(|error| self.damaged(&error.to_string()))?;
        self.at += whole;
        self.number = self.number.wrapping_add(1);
        Ok(Some(record))
    }

    /// A record that is not whole: torn if nothing but zeros follows, damage otherwise.
    fn torn_or<Record>(&mut self, what: &str) -> Result<Option<Record>, RecordError> {
        let mut block = vec![0; BUFFER];
        loop {
            let read = self.file.read(&mut block).map_err(failed(&self.path))?;
            if read == 0 {
                self.torn = true;
                return Ok(None);
            }
            if block[..read].iter().any(|byte| *byte != 0) {
                return Err(self.damaged(what));
            }
        }
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<(), RecordError> {
        self.file.read_exact(bytes).map_err(failed(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{DiskFault, MemoryDisk};

    const MAGIC: Magic = *b"JOTEST\0\x02";

    /// A file of four records, its bytes, and where each record ends.
    fn written() -> (MemoryDisk, PathBuf, Vec<u8>, Vec<usize>) {
        let disk = MemoryDisk::default();
        let path = PathBuf::from("folder/file");
        let mut writer = RecordWriter::create(&disk, &path, MAGIC, Readers::Umask).expect("a file");
        let mut ends = vec![MAGIC.len()];
        for record in [vec![1u32, 2, 3], vec![], vec![0; 40], vec![7; 100]] {
            writer.write(&record).expect("written");
            ends.push(writer.length() as usize);
        }
        writer.sync().expect("on disk");
        let bytes = disk.content(&path).expect("read");
        assert_eq!(ends.last(), Some(&bytes.len()));
        (disk, path, bytes, ends)
    }

    /// The records, and whether the end is torn.
    fn read(disk: &MemoryDisk, path: &Path) -> Result<(Vec<Vec<u32>>, bool), RecordError> {
        let mut reader = RecordReader::open(disk, path, MAGIC, "test file")?;
        let mut records = Vec::new();
        while let Some(record) = reader.next_record()? {
            records.push(record);
        }
        Ok((records, reader.torn().is_some()))
    }

    #[test]
    fn what_is_cut_off_is_a_prefix_and_said_to_be_torn() {
        let (disk, path, bytes, ends) = written();
        let (all, torn) = read(&disk, &path).expect("whole");
        assert!(all.len() == 4 && !torn);
        for end in 0..bytes.len() {
            disk.put(&path, &bytes[..end]);
            if end < MAGIC.len() {
                read(&disk, &path).expect_err("not even its first bytes");
                continue;
            }
            let (some, torn) = read(&disk, &path).expect("a prefix");
            let whole = ends.iter().filter(|&&it| it <= end).count() - 1;
            assert_eq!(some, all[..whole], "{end}");
            assert_eq!(torn, !ends.contains(&end), "{end}");
        }
    }

    #[test]
    fn zeros_in_place_of_an_end_that_was_not_written_are_a_torn_end() {
        let (disk, path, bytes, ends) = written();
        let (all, _) = read(&disk, &path).expect("whole");
        for end in MAGIC.len()..=bytes.len() {
            let mut zeros = bytes[..end].to_vec();
            zeros.resize(bytes.len() + 70_000, 0);
            disk.put(&path, &zeros);
            let (some, torn) = read(&disk, &path).expect("a prefix");
            let whole = ends.iter().filter(|&&it| it <= end).count() - 1;
            assert!(torn && some == all[..whole], "{end}");
        }
    }

    #[test]
    fn a_changed_bit_is_damage_wherever_it_is() {
        let (disk, path, bytes, ends) = written();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                disk.put(&path, &damaged);
                let error = read(&disk, &path).expect_err("damaged");
                let place = ends.iter().rev().find(|&&end| end <= at);
                let named = match place {
                    Some(start) => error.to_string().contains(&format!("at byte {start} ")),
                    None => !matches!(error, RecordError::Damaged { .. }),
                };
                assert!(named && !error.is_io(), "{at} {bit}: {error}");
                assert!(error.to_string().contains("file"), "{error}");
            }
        }
    }

    #[test]
    fn records_that_come_twice_or_are_missing_are_damage() {
        let (disk, path, bytes, ends) = written();
        for from in 0..ends.len() - 1 {
            for to in from + 1..ends.len() {
                let doubled = [&bytes[..ends[to]], &bytes[ends[from]..]].concat();
                disk.put(&path, doubled);
                read(&disk, &path).expect_err("doubled");
                if to < ends.len() - 1 {
                    let missing = [&bytes[..ends[from]], &bytes[ends[to]..]].concat();
                    disk.put(&path, missing);
                    read(&disk, &path).expect_err("missing");
                }
            }
        }
    }

    #[test]
    fn a_file_of_another_format_is_named() {
        let (disk, path, mut bytes, _) = written();
        bytes[7] = 1;
        disk.put(&path, &bytes);
        let error = read(&disk, &path).expect_err("older").to_string();
        assert!(error.contains("format 1; this program reads format 2"), "{error}");
    }

    #[test]
    fn a_write_that_fails_leaves_the_file_whole_and_later_writes_go_on() {
        for short in [0, 1, 9, 1000] {
            let disk = MemoryDisk::default();
            let path = PathBuf::from("folder/file");
            let writer = RecordWriter::create(&disk, &path, MAGIC, Readers::Umask);
            let mut writer = writer.expect("a file");
            writer.write(&vec![1u32]).and_then(|()| writer.sync()).expect("written");
            disk.fail(DiskFault::Full { short });
            writer.write(&vec![2u32]).expect("in memory");
            assert!(writer.flush().expect_err("full").is_io());
            assert_eq!(read(&disk, &path).expect("whole"), (vec![vec![1]], false));
            disk.heal();
            writer.write(&vec![3u32]).and_then(|()| writer.sync()).expect("written");
            assert_eq!(read(&disk, &path).expect("whole"), (vec![vec![1], vec![3]], false));
        }
    }
}
