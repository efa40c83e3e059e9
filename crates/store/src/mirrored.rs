//! A small file in two copies, each replaced as a whole: after a crash each is the old one or the
//! new one, and if one is damaged the other counts. Nothing that rests on a value may be sent
//! before [`MirroredFile::save`] has returned, so the older copy is never older than what was sent.

use crate::disk::{Disk, Readers};
use crate::notice::{Notice, Severity};
use crate::records::{Magic, RecordError, RecordReader, RecordWriter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a file of this kind begins with, and what it is called in errors.
#[derive(Clone, Copy, Debug)]
pub struct MirroredKind {
    /// The first bytes.
    pub magic: Magic,
    /// The name.
    pub name: &'static str,
}

/// Why neither copy can be read.
#[derive(Debug, thiserror::Error)]
pub enum MirroredError {
    /// Both are damaged.
    #[error("both copies of the {name} are damaged: {first}; {second}")]
    Damaged {
        /// What it is.
        name: &'static str,
        /// The first copy.
        first: Box<RecordError>,
        /// The second copy.
        second: Box<RecordError>,
    },
    /// One is damaged, and the other is not there.
    #[error("the {name} is damaged, and it has no second copy: {error}")]
    Single {
        /// What it is.
        name: &'static str,
        /// What is wrong.
        error: RecordError,
    },
    /// The file system says so.
    #[error(transparent)]
    File(RecordError),
}

/// A file in two copies.
#[derive(Debug)]
pub struct MirroredFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    kind: MirroredKind,
    /// Counts what was saved.
    generation: u64,
}

/// What was found of a file in two copies.
#[derive(Debug)]
pub struct MirroredFound<Value> {
    /// The file.
    pub file: MirroredFile,
    /// What is in it; none if there is no such file.
    pub value: Option<Value>,
    /// Which copy is damaged, if one is.
    pub notices: Vec<Notice>,
}

impl MirroredFile {
    /// The file of that name.
    ///
    /// # Errors
    /// If it is there and no copy can be read.
    pub fn open<Value: DeserializeOwned>(
        disk: &Arc<dyn Disk>,
        path: &Path,
        kind: MirroredKind,
    ) -> Result<MirroredFound<Value>, MirroredError> {
        let read = |path: &Path| read(&**disk, path, kind);
        let [first, second] = [read(path), read(&copy(path))];
        let mut notices = Vec::new();
        let newer = match (first, second) {
            (Err(error), _) | (_, Err(error)) if error.is_io() => {
                return Err(MirroredError::File(error));
            }
            (Err(first), Err(second)) => {
                let (first, second) = (Box::new(first), Box::new(second));
                return Err(MirroredError::Damaged { name: kind.name, first, second });
            }
            (Err(error), Ok(None)) | (Ok(None), Err(error)) => {
                return Err(MirroredError::Single { name: kind.name, error });
            }
            (Err(error), Ok(whole)) | (Ok(whole), Err(error)) => {
                let text = format!("{error}: the second copy of the {} is used", kind.name);
                notices.push(Notice { severity: Severity::Error, text });
                whole
            }
            (Ok(Some(first)), Ok(Some(second))) => {
                Some(if first.0 >= second.0 { first } else { second })
            }
            (Ok(first), Ok(second)) => first.or(second),
        };
        let generation = newer.as_ref().map_or(0, |(generation, _)| *generation);
        let file = MirroredFile { disk: disk.clone(), path: path.into(), kind, generation };
        Ok(MirroredFound { file, value: newer.map(|(_, value)| value), notices })
    }

    /// One that takes the place of whatever is there.
    #[must_use]
    pub fn anew(disk: &Arc<dyn Disk>, path: &Path, kind: MirroredKind) -> MirroredFile {
        let there = [path.to_path_buf(), copy(path)].map(|path| read::<()>(&**disk, &path, kind));
        let known = there.into_iter().filter_map(|read| read.ok().flatten());
        let generation = known.map(|(generation, ())| generation).max().unwrap_or(0);
        MirroredFile { disk: disk.clone(), path: path.into(), kind, generation }
    }

    /// Both copies are this, and on the disk.
    ///
    /// # Errors
    /// Those of the file system; then each copy is as it was, or this.
    pub fn save(&mut self, value: &impl Serialize) -> Result<(), RecordError> {
        self.generation += 1;
        for path in [self.path.clone(), copy(&self.path)] {
            replace(&*self.disk, &path, self.kind.magic, &(self.generation, value))?;
        }
        Ok(())
    }
}

/// Where the second copy is.
#[must_use]
pub fn copy(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".copy");
    path.with_file_name(name)
}

fn read<Value: DeserializeOwned>(
    disk: &dyn Disk,
    path: &Path,
    kind: MirroredKind,
) -> Result<Option<(u64, Value)>, RecordError> {
    let mut reader = match RecordReader::open(disk, path, kind.magic, kind.name) {
        Err(RecordError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {
            return Ok(None);
        }
        opened => opened?,
    };
    let value = reader.next_record()?.ok_or_else(|| reader.damaged("the file ends before it"))?;
    // It was replaced as a whole. Zeros behind it do no harm.
    match reader.next_record::<(u64, Value)>()? {
        None => Ok(Some(value)),
        Some(_) => Err(reader.damaged("there is something behind it")),
    }
}

/// Replaces a file as a whole: after a crash it is the old one or the new one.
fn replace(
    disk: &dyn Disk,
    path: &Path,
    magic: Magic,
    record: &impl Serialize,
) -> Result<(), RecordError> {
    let failed = |source| RecordError::File { path: path.into(), source };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    let written = RecordWriter::create(disk, &beside, magic, Readers::Owner)
        .and_then(|mut writer| writer.write(record).and_then(|()| writer.sync()));
    if written.is_err() {
        // It is of no use, and takes room on a disk that may be full.
        let _left = disk.remove(&beside);
    }
    written?;
    disk.rename(&beside, path).map_err(failed)?;
    disk.sync_names(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryDisk;

    const KIND: MirroredKind = MirroredKind { magic: *b"JOTWIN\0\x02", name: "test file" };

    fn saved() -> (MemoryDisk, PathBuf) {
        let (disk, path) = (MemoryDisk::default(), PathBuf::from("folder/saved"));
        let mut file = MirroredFile::anew(&shared(&disk), &path, KIND);
        file.save(&vec![1u32]).expect("saved");
        file.save(&vec![2u32, 3]).expect("saved");
        (disk, path)
    }

    fn shared(disk: &MemoryDisk) -> Arc<dyn Disk> {
        Arc::new(disk.clone())
    }

    fn value(disk: &MemoryDisk, path: &Path) -> Result<Option<Vec<u32>>, MirroredError> {
        MirroredFile::open(&shared(disk), path, KIND).map(|found| found.value)
    }

    #[test]
    fn the_newest_of_two_copies_counts_and_is_counted_on() {
        let (disk, path) = saved();
        assert_eq!(value(&disk, &path).expect("whole"), Some(vec![2, 3]));
        // As if the machine had died between the copies.
        let old = disk.content(&copy(&path)).expect("read");
        let found = MirroredFile::open::<Vec<u32>>(&shared(&disk), &path, KIND).expect("whole");
        let mut file = found.file;
        file.save(&vec![4u32]).expect("saved");
        disk.put(&copy(&path), old);
        assert_eq!(value(&disk, &path).expect("whole"), Some(vec![4]));
        assert_eq!(value(&disk, Path::new("folder/none")).expect("nothing"), None);
    }

    #[test]
    fn whatever_happens_to_one_copy_the_other_counts() {
        let (disk, path) = saved();
        let bytes = disk.content(&path).expect("read");
        for harmed in [path.clone(), copy(&path)] {
            for at in 0..bytes.len() * 8 {
                let mut damaged = bytes.clone();
                damaged[at / 8] ^= 1 << (at % 8);
                disk.put(&harmed, damaged);
                assert_eq!(value(&disk, &path).expect("one is whole"), Some(vec![2, 3]), "{at}");
            }
            for end in 0..bytes.len() {
                disk.put(&harmed, &bytes[..end]);
                assert_eq!(value(&disk, &path).expect("one is whole"), Some(vec![2, 3]), "{end}");
            }
            disk.put(&harmed, [&bytes[..], &[0; 5000]].concat());
            assert_eq!(value(&disk, &path).expect("zeros do no harm"), Some(vec![2, 3]));
            disk.put(&harmed, &bytes);
        }
    }

    #[test]
    fn two_damaged_copies_are_named() {
        let (disk, path) = saved();
        for harmed in [path.clone(), copy(&path)] {
            let mut bytes = disk.content(&harmed).expect("read");
            bytes[20] ^= 4;
            disk.put(&harmed, bytes);
        }
        let error = value(&disk, &path).expect_err("damaged").to_string();
        assert!(error.contains("both copies of the test file"), "{error}");
        assert!(error.contains("saved:") && error.contains("saved.copy:"), "{error}");
        disk.take(&path).expect("there");
        assert!(matches!(value(&disk, &path), Err(MirroredError::Single { .. })));
    }
}
