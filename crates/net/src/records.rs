//! Files of records, one after the other: length, sum, bytes. What was being written when the
//! machine died is cut off; damage anywhere else is an error.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// No record is longer.
const RECORD_MAX: usize = 1 << 30;

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
    #[error("{path} is not a Jostle {expected}")]
    OtherFile {
        /// Which file.
        path: PathBuf,
        /// What was expected.
        expected: &'static str,
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

/// Writes records.
pub(crate) struct RecordWriter {
    path: PathBuf,
    file: BufWriter<File>,
}

impl RecordWriter {
    /// A new file, which begins with these eight bytes.
    pub(crate) fn create(path: &Path, magic: [u8; 8]) -> Result<RecordWriter, RecordError> {
        let failed = |source| RecordError::File { path: path.into(), source };
        let mut file = BufWriter::new(File::create(path).map_err(failed)?);
        file.write_all(&magic).map_err(failed)?;
        Ok(RecordWriter { path: path.into(), file })
    }

    fn failed(&self, source: io::Error) -> RecordError {
        RecordError::File { path: self.path.clone(), source }
    }

    pub(crate) fn write(&mut self, record: &impl Serialize) -> Result<(), RecordError> {
        let bytes = postcard::to_allocvec(record)
            .map_err(|error| self.failed(io::Error::other(error.to_string())))?;
        let length = u32::try_from(bytes.len()).ok().filter(|it| *it as usize <= RECORD_MAX);
        let length = length.ok_or_else(|| self.failed(io::Error::other("too long a record")))?;
        let sum = crc32c::crc32c(&bytes);
        let head = [length.to_le_bytes(), sum.to_le_bytes()].concat();
        let written = self.file.write_all(&head).and_then(|()| self.file.write_all(&bytes));
        written.map_err(|source| self.failed(source))
    }

    /// Hands all that was written to the operating system: it survives the end of the process.
    pub(crate) fn flush(&mut self) -> Result<(), RecordError> {
        self.file.flush().map_err(|source| RecordError::File { path: self.path.clone(), source })
    }

    /// And to the disk: it survives the end of the machine.
    pub(crate) fn sync(&mut self) -> Result<(), RecordError> {
        self.flush()?;
        self.file.get_ref().sync_data().map_err(|source| self.failed(source))
    }
}

/// Reads records, one after the other.
#[derive(Debug)]
pub(crate) struct RecordReader {
    path: PathBuf,
    bytes: Vec<u8>,
    at: usize,
    number: usize,
}

impl RecordReader {
    pub(crate) fn open(
        path: &Path,
        magic: [u8; 8],
        expected: &'static str,
    ) -> Result<RecordReader, RecordError> {
        let bytes = std::fs::read(path)
            .map_err(|source| RecordError::File { path: path.into(), source })?;
        if !bytes.starts_with(&magic) {
            return Err(RecordError::OtherFile { path: path.into(), expected });
        }
        Ok(RecordReader { path: path.into(), bytes, at: magic.len(), number: 0 })
    }

    /// The next record; none at the end, or if the rest was not written completely.
    pub(crate) fn next<Record: DeserializeOwned>(&mut self) -> Result<Option<Record>, RecordError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some((head, rest)) = rest.split_first_chunk::<8>() else { return Ok(None) };
        let [a, b, c, d, e, f, g, h] = *head;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let Some(bytes) = rest.get(..length) else { return Ok(None) };
        let last = rest.len() == length;
        let damaged = |what: String| RecordError::Damaged {
            path: self.path.clone(),
            number: self.number,
            at: self.at,
            what,
        };
        if crc32c::crc32c(bytes) != u32::from_le_bytes([e, f, g, h]) {
            // The length may have reached the disk before the bytes.
            return if last { Ok(None) } else { Err(damaged("wrong checksum".into())) };
        }
        let record = postcard::from_bytes(bytes).map_err(|error| damaged(format!("{error}")))?;
        self.at += 8 + length;
        self.number += 1;
        Ok(Some(record))
    }
}

/// Replaces a file as a whole: after a crash it is the old one or the new one.
pub(crate) fn replace(
    path: &Path,
    magic: [u8; 8],
    record: &impl Serialize,
) -> Result<(), RecordError> {
    let failed = |source| RecordError::File { path: path.into(), source };
    let beside = path.with_extension("new");
    let mut writer = RecordWriter::create(&beside, magic)?;
    writer.write(record)?;
    writer.sync()?;
    std::fs::rename(&beside, path).map_err(failed)?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: [u8; 8] = *b"JOTEST01";

    fn written() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let mut writer = RecordWriter::create(&path, MAGIC).expect("a file");
        for record in [vec![1u32, 2, 3], vec![], vec![7; 100]] {
            writer.write(&record).expect("written");
        }
        writer.sync().expect("on disk");
        let bytes = std::fs::read(&path).expect("read");
        (folder, path, bytes)
    }

    fn read(path: &Path) -> Result<Vec<Vec<u32>>, RecordError> {
        let mut reader = RecordReader::open(path, MAGIC, "test file")?;
        let mut records = Vec::new();
        while let Some(record) = reader.next()? {
            records.push(record);
        }
        Ok(records)
    }

    #[test]
    fn what_is_cut_off_is_a_prefix() {
        let (_folder, path, bytes) = written();
        let all = read(&path).expect("whole");
        assert_eq!(all.len(), 3);
        for end in MAGIC.len()..bytes.len() {
            std::fs::write(&path, &bytes[..end]).expect("written");
            let some = read(&path).expect("a prefix");
            assert!(some.len() < 3 && all.starts_with(&some), "{end}");
        }
    }

    #[test]
    fn damage_is_found_or_cut_off_at_the_end() {
        let (_folder, path, bytes) = written();
        let all = read(&path).expect("whole");
        let mut errors = 0;
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).expect("written");
            match read(&path) {
                Ok(some) => assert!(some.len() < 3 && all.starts_with(&some), "{at}"),
                Err(_) => errors += 1,
            }
        }
        assert!(errors > 8, "{errors}");
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("saved");
        for value in [vec![1u32], vec![2, 3]] {
            replace(&path, MAGIC, &value).expect("replaced");
            assert_eq!(read(&path).expect("read"), [value]);
        }
    }
}
