//! The write-ahead log of a replica as a file: entries are on the disk before messages are sent
//! that depend on them. The format is that of `jostle-directory`, so the simulator writes and tears
//! the same bytes.

use crate::private;
use jostle_directory::{LogError, Record, begin_log, read_log, write_log};
use jostle_proto::ReplicaId;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Room for a few states: with less, a replica that had no room does not begin again.
const ROOM: usize = 64 << 10;

/// Why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WriteAheadLogError {
    /// The file system says so.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what was written.
    #[error("{path}: {source}; see \"A damaged log\" in docs/shared-worlds.md")]
    Log {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        source: LogError,
    },
    /// It has been there.
    #[error(
        "{path} is missing, but this replica has written to it before: what it promised is lost. \
         See \"A damaged log\" in docs/shared-worlds.md"
    )]
    Missing {
        /// Which file.
        path: PathBuf,
    },
}

impl WriteAheadLogError {
    /// Is it only that there is no room?
    pub(crate) fn is_full(&self) -> bool {
        let WriteAheadLogError::File { source, .. } = self else { return false };
        let kind = source.kind();
        matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
    }
}

/// A log that is open.
#[derive(Debug)]
pub(crate) struct WriteAheadLog {
    replica: ReplicaId,
    path: PathBuf,
    file: File,
    /// What is in it, all of it on the disk.
    length: u64,
}

fn failed(path: &Path) -> impl Fn(io::Error) -> WriteAheadLogError {
    move |source| WriteAheadLogError::File { path: path.into(), source }
}

impl WriteAheadLog {
    /// A new log with these records, in place of any that was there: after a crash it is the old
    /// one or the new one.
    pub(crate) fn create(
        path: &Path,
        replica: ReplicaId,
        records: &[Record],
    ) -> Result<WriteAheadLog, WriteAheadLogError> {
        let mut bytes = begin_log(replica);
        write_log(records, &mut bytes);
        let beside = path.with_extension("new");
        let written = || {
            let file = private::create(&beside)?;
            file.write_all_at(&bytes, 0)?;
            file.sync_all()?;
            std::fs::rename(&beside, path)?;
            let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
            Ok(file)
        };
        let file = written().map_err(failed(path))?;
        Ok(WriteAheadLog { replica, path: path.into(), file, length: bytes.len() as u64 })
    }

    /// The log of that name, and what is in it. What was being written when the machine died is
    /// cut off.
    pub(crate) fn open(
        path: &Path,
        replica: ReplicaId,
    ) -> Result<(WriteAheadLog, Vec<Record>), WriteAheadLogError> {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(WriteAheadLogError::Missing { path: path.into() });
            }
            read => read.map_err(failed(path))?,
        };
        let restored = read_log(replica, &bytes)
            .map_err(|source| WriteAheadLogError::Log { path: path.into(), source })?;
        // It was made as a whole, with its beginning: there never was an empty one.
        if restored.length < begin_log(replica).len() {
            return Err(WriteAheadLogError::Log {
                path: path.into(),
                source: LogError::Damaged { at: 0 },
            });
        }
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed(path))?;
        let length = restored.length as u64;
        if restored.torn {
            let cut = bytes.len() - restored.length;
            let shown = path.display();
            tracing::warn!(path = %shown, cut, "incomplete write at the end of the log removed");
            file.set_len(length).map_err(failed(path))?;
        }
        // What was read may have been in the machine's memory only.
        file.sync_all().map_err(failed(path))?;
        Ok((WriteAheadLog { replica, path: path.into(), file, length }, restored.records))
    }

    /// Adds records. Afterwards they are on the disk; after an error their state is unknown, and
    /// the log is to be opened anew.
    pub(crate) fn append(&mut self, records: &[Record]) -> Result<(), WriteAheadLogError> {
        let mut bytes = Vec::new();
        write_log(records, &mut bytes);
        let written = self.file.write_all_at(&bytes, self.length);
        if let Err(source) = written.and_then(|()| self.file.sync_data()) {
            // The part that was written has not been acknowledged.
            let _cut_when_opened = self.file.set_len(self.length);
            return Err(WriteAheadLogError::File { path: self.path.clone(), source });
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// These records stand for all that is in it.
    pub(crate) fn replace(&mut self, records: &[Record]) -> Result<(), WriteAheadLogError> {
        *self = WriteAheadLog::create(&self.path, self.replica, records)?;
        Ok(())
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> u64 {
        self.length
    }
}

/// Is there room beside a log for the next entries?
pub(crate) fn has_room(path: &Path) -> bool {
    let beside = path.with_extension("room");
    let tried = private::create(&beside)
        .and_then(|file| file.write_all_at(&[1; ROOM], 0).and_then(|()| file.sync_all()));
    let _gone = std::fs::remove_file(&beside);
    tried.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;
    use jostle_directory::{LogEntry, Payload};

    const ME: ReplicaId = ReplicaId(2);

    fn records() -> Vec<Record> {
        let entry = |index: u64, bytes: usize| {
            let payload = Payload::State(vec![index as u8 + 1; bytes].into());
            Record::Entry(LogEntry { index, term: 1, payload })
        };
        let promise = Record::Promise { term: 3, vote: Some(ME), commit: 1 };
        vec![entry(1, 30), entry(2, 1), promise, entry(3, 100), entry(4, 9)]
    }

    fn open(path: &Path) -> Result<Vec<Record>, WriteAheadLogError> {
        WriteAheadLog::open(path, ME).map(|(_, records)| records)
    }

    /// A log, its bytes, and where each of its records ends.
    fn written() -> (tempfile::TempDir, PathBuf, Vec<u8>, Vec<usize>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let mut log = WriteAheadLog::create(&path, ME, &[]).expect("a file");
        let mut ends = vec![log.bytes() as usize];
        for record in records() {
            log.append(&[record]).expect("written");
            ends.push(log.bytes() as usize);
        }
        let bytes = std::fs::read(&path).expect("read");
        assert_eq!(log.bytes(), bytes.len() as u64);
        (folder, path, bytes, ends)
    }

    #[test]
    fn what_was_written_is_read_goes_on_and_is_replaced() {
        let (_folder, path, ..) = written();
        let (mut log, read) = WriteAheadLog::open(&path, ME).expect("whole");
        assert_eq!(read, records());
        log.append(&records()[2..3]).expect("written");
        assert_eq!(open(&path).expect("whole").len(), 6);
        log.replace(&records()[..1]).expect("replaced");
        log.append(&records()[1..2]).expect("written");
        assert_eq!(open(&path).expect("whole"), records()[..2]);
        let other = WriteAheadLog::open(&path, ReplicaId(1)).expect_err("another's").to_string();
        assert!(other.contains("replica 2, not of 1"), "{other}");
    }

    #[test]
    fn every_prefix_is_cut_to_whole_records() {
        let (_folder, path, bytes, ends) = written();
        let all = records();
        for end in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..end]).expect("written");
            let whole = ends.iter().filter(|&&it| it <= end).count();
            match open(&path) {
                Ok(read) => {
                    assert_eq!(read, all[..whole - 1], "{end}");
                    // And it is as if the rest had never been there.
                    assert_eq!(
                        std::fs::metadata(&path).expect("there").len(),
                        ends[whole - 1] as u64
                    );
                    assert_eq!(open(&path).expect("again"), read);
                }
                Err(_) => assert!(end < ends[0], "{end}"),
            }
        }
    }

    /// Of a changed bit nothing but the end is ever lost silently, and nothing is mended.
    #[test]
    fn a_changed_bit_is_refused_unless_it_looks_like_a_write_that_was_cut_short() {
        let (_folder, path, bytes, ends) = written();
        let last = ends[ends.len() - 2];
        let mut cut = 0;
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                std::fs::write(&path, &damaged).expect("written");
                match open(&path) {
                    Err(error) => {
                        assert!(error.to_string().contains("log"), "{error}");
                        assert_eq!(std::fs::read(&path).expect("read"), damaged);
                    }
                    // Only a length of the last record, which then ends behind the file.
                    Ok(read) => {
                        assert!((last..last + 4).contains(&at), "{at}");
                        assert_eq!(read, records()[..4]);
                        cut += 1;
                    }
                }
            }
        }
        assert!(cut < 32, "{cut}");
    }

    #[test]
    fn random_damage_gives_an_error_or_what_was_written() {
        let (_folder, path, bytes, _) = written();
        let all = records();
        let (mut taken, mut refused) = (0, 0);
        for seed in 0..2000 {
            let mut dice = Dice::new(seed);
            let mut damaged = bytes.clone();
            for _ in 0..=dice.below(3) {
                let at = dice.below(damaged.len() as u64) as usize;
                match dice.below(4) {
                    0 => damaged[at] = dice.any() as u8,
                    1 => damaged.truncate(at.max(1)),
                    2 => damaged[at..].fill(0),
                    _ => damaged.extend((0..at).map(|_| dice.any() as u8)),
                }
            }
            std::fs::write(&path, &damaged).expect("written");
            match open(&path) {
                Ok(read) => {
                    assert!(all.starts_with(&read), "seed {seed}");
                    taken += 1;
                }
                Err(_) => refused += 1,
            }
        }
        assert!(taken > 100 && refused > 100, "{taken}, {refused}");
    }

    #[test]
    fn a_log_that_is_gone_is_reported_as_gone() {
        let (_folder, path, ..) = written();
        std::fs::remove_file(&path).expect("removed");
        let error = open(&path).expect_err("gone");
        assert!(matches!(error, WriteAheadLogError::Missing { .. }) && !error.is_full(), "{error}");
        assert!(has_room(&path));
    }
}
