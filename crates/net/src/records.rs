//! Files of records, one after the other. Every byte is covered: the head of a record (length,
//! number, checksum of the content) has a checksum of its own, seeded with the kind of the file,
//! and a mark stands behind the content that is never zero.
//!
//! What was being written when the machine died is told apart from damage: such a record is
//! shorter than it says, or ends in the zeros of a file that had become longer before its content
//! was there. No single bit that is wrong looks like that. Everything else that is wrong is damage.

use crate::private;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
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
pub(crate) type Magic = [u8; 8];

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
    pub(crate) fn is_io(&self) -> bool {
        matches!(self, RecordError::File { .. })
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> RecordError {
    move |source| RecordError::File { path: path.into(), source }
}

/// Writes records. A write that fails leaves the file as it was before it; later writes go on
/// there.
#[derive(Debug)]
pub(crate) struct RecordWriter {
    path: PathBuf,
    magic: Magic,
    file: File,
    /// Records that are not handed to the operating system yet.
    pending: Vec<u8>,
    /// Bytes that are, all of whole records, and the number of the next record then.
    written: u64,
    written_number: u32,
    number: u32,
}

impl RecordWriter {
    /// A new file. Others may read it as far as the user's umask says.
    pub(crate) fn create(path: &Path, magic: Magic) -> Result<RecordWriter, RecordError> {
        RecordWriter::begin(path, magic, File::create(path).map_err(failed(path))?)
    }

    /// A new file that nobody else can read.
    pub(crate) fn create_private(path: &Path, magic: Magic) -> Result<RecordWriter, RecordError> {
        RecordWriter::begin(path, magic, private::create(path).map_err(failed(path))?)
    }

    fn begin(path: &Path, magic: Magic, file: File) -> Result<RecordWriter, RecordError> {
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
    pub(crate) fn length(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    pub(crate) fn write(&mut self, record: &impl Serialize) -> Result<(), RecordError> {
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
    pub(crate) fn flush(&mut self) -> Result<(), RecordError> {
        if let Err(source) = self.file.write_all_at(&self.pending, self.written) {
            // The records are lost, the file stays whole: what was written of them is cut off. If
            // that fails too, the next write covers it, or it reads as a torn end.
            let _torn = self.file.set_len(self.written);
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
    pub(crate) fn sync(&mut self) -> Result<(), RecordError> {
        self.flush()?;
        self.file.sync_data().map_err(failed(&self.path))
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
#[derive(Debug)]
pub(crate) struct RecordReader {
    path: PathBuf,
    magic: Magic,
    file: BufReader<File>,
    size: u64,
    at: u64,
    number: u32,
    torn: bool,
}

impl RecordReader {
    pub(crate) fn open(
        path: &Path,
        magic: Magic,
        expected: &'static str,
    ) -> Result<RecordReader, RecordError> {
        let file = File::open(path).map_err(failed(path))?;
        let size = file.metadata().map_err(failed(path))?.len();
        let mut file = BufReader::with_capacity(BUFFER, file);
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
        Ok(RecordReader { path: path.into(), magic, file, size, at, number, torn })
    }

    /// Where the next record begins: all bytes before are whole.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Bytes of a record that was not written completely, at the end.
    pub(crate) fn torn(&self) -> Option<u64> {
        self.torn.then_some(self.size - self.at)
    }

    /// The file is damaged where this reader is.
    pub(crate) fn damaged(&self, what: &str) -> RecordError {
        RecordError::Damaged {
            path: self.path.clone(),
            number: self.number as usize,
            at: self.at as usize,
            what: what.into(),
        }
    }

    /// The next record; none at the end, or if the rest was not written completely, see
    /// [`RecordReader::torn`].
    pub(crate) fn next<Record: DeserializeOwned>(&mut self) -> Result<Option<Record>, RecordError> {
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
        if found != head(self.magic, length, number, sum) {
            // Behind a head that was written in part there is nothing but zeros.
            return self.torn_or("its head does not fit its checksum");
        }
        let whole = HEAD as u64 + u64::from(length) + 1;
        if length as usize > RECORD_MAX {
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
impl RecordWriter {
    /// From now on its disk is full; gives the file that was written.
    pub(crate) fn fill(&mut self) -> File {
        let full = File::options().write(true).open("/dev/full").expect("a full device");
        std::mem::replace(&mut self.file, full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: Magic = *b"JOTEST\0\x02";

    /// A file of four records, its bytes, and where each record ends.
    fn written() -> (tempfile::TempDir, PathBuf, Vec<u8>, Vec<usize>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let mut writer = RecordWriter::create(&path, MAGIC).expect("a file");
        let mut ends = vec![MAGIC.len()];
        for record in [vec![1u32, 2, 3], vec![], vec![0; 40], vec![7; 100]] {
            writer.write(&record).expect("written");
            ends.push(writer.length() as usize);
        }
        writer.sync().expect("on disk");
        let bytes = std::fs::read(&path).expect("read");
        assert_eq!(ends.last(), Some(&bytes.len()));
        (folder, path, bytes, ends)
    }

    /// The records, and whether the end is torn.
    fn read(path: &Path) -> Result<(Vec<Vec<u32>>, bool), RecordError> {
        let mut reader = RecordReader::open(path, MAGIC, "test file")?;
        let mut records = Vec::new();
        while let Some(record) = reader.next()? {
            records.push(record);
        }
        Ok((records, reader.torn().is_some()))
    }

    #[test]
    fn what_is_cut_off_is_a_prefix_and_said_to_be_torn() {
        let (_folder, path, bytes, ends) = written();
        let (all, torn) = read(&path).expect("whole");
        assert!(all.len() == 4 && !torn);
        for end in 0..bytes.len() {
            std::fs::write(&path, &bytes[..end]).expect("written");
            if end < MAGIC.len() {
                read(&path).expect_err("not even its first bytes");
                continue;
            }
            let (some, torn) = read(&path).expect("a prefix");
            let whole = ends.iter().filter(|&&it| it <= end).count() - 1;
            assert_eq!(some, all[..whole], "{end}");
            assert_eq!(torn, !ends.contains(&end), "{end}");
        }
    }

    #[test]
    fn zeros_in_place_of_an_end_that_was_not_written_are_a_torn_end() {
        let (_folder, path, bytes, ends) = written();
        let (all, _) = read(&path).expect("whole");
        for end in MAGIC.len()..=bytes.len() {
            let mut zeros = bytes[..end].to_vec();
            zeros.resize(bytes.len() + 70_000, 0);
            std::fs::write(&path, &zeros).expect("written");
            let (some, torn) = read(&path).expect("a prefix");
            let whole = ends.iter().filter(|&&it| it <= end).count() - 1;
            assert!(torn && some == all[..whole], "{end}");
        }
    }

    #[test]
    fn a_changed_bit_is_damage_wherever_it_is() {
        let (_folder, path, bytes, ends) = written();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                std::fs::write(&path, &damaged).expect("written");
                let error = read(&path).expect_err("damaged");
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
        let (_folder, path, bytes, ends) = written();
        for from in 0..ends.len() - 1 {
            for to in from + 1..ends.len() {
                let doubled = [&bytes[..ends[to]], &bytes[ends[from]..]].concat();
                std::fs::write(&path, doubled).expect("written");
                read(&path).expect_err("doubled");
                if to < ends.len() - 1 {
                    let missing = [&bytes[..ends[from]], &bytes[ends[to]..]].concat();
                    std::fs::write(&path, missing).expect("written");
                    read(&path).expect_err("missing");
                }
            }
        }
    }

    #[test]
    fn a_file_of_another_format_is_named() {
        let (_folder, path, mut bytes, _) = written();
        bytes[7] = 1;
        std::fs::write(&path, &bytes).expect("written");
        let error = read(&path).expect_err("older").to_string();
        assert!(error.contains("format 1; this program reads format 2"), "{error}");
    }

    /// A disk that takes nothing, as `/dev/full`.
    #[test]
    fn a_write_that_fails_leaves_the_file_whole_and_later_writes_go_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let mut writer = RecordWriter::create(&path, MAGIC).expect("a file");
        writer.write(&vec![1u32]).and_then(|()| writer.sync()).expect("written");
        let disk = writer.fill();
        writer.write(&vec![2u32]).expect("in memory");
        assert!(writer.flush().expect_err("full").is_io());
        assert_eq!(read(&path).expect("whole"), (vec![vec![1]], false));
        writer.file = disk;
        writer.write(&vec![3u32]).and_then(|()| writer.sync()).expect("written");
        assert_eq!(read(&path).expect("whole"), (vec![vec![1], vec![3]], false));
    }
}
