//! A small file in two copies, each replaced as a whole: after a crash each is the old one or the
//! new one, and if one is damaged the other counts. Nothing that rests on a value may be sent
//! before [`Twin::save`] has returned, so the older copy is never older than what was sent.

use crate::records::{Magic, RecordError, RecordReader, RecordWriter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::path::{Path, PathBuf};

/// What a file of this kind begins with, and what it is called in errors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TwinKind {
    pub(crate) magic: Magic,
    pub(crate) name: &'static str,
}

/// Why neither copy can be read.
#[derive(Debug, thiserror::Error)]
pub enum TwinError {
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
pub(crate) struct Twin {
    path: PathBuf,
    kind: TwinKind,
    /// Counts what was saved.
    generation: u64,
}

impl Twin {
    /// The file of that name, and what is in it; none if there is none.
    pub(crate) fn open<Value: DeserializeOwned>(
        path: &Path,
        kind: TwinKind,
    ) -> Result<(Twin, Option<Value>), TwinError> {
        let [first, second] = [path.to_path_buf(), copy(path)].map(|path| read(&path, kind));
        let newer = match (first, second) {
            (Err(error), _) | (_, Err(error)) if error.is_io() => {
                return Err(TwinError::File(error));
            }
            (Err(first), Err(second)) => {
                let (first, second) = (Box::new(first), Box::new(second));
                return Err(TwinError::Damaged { name: kind.name, first, second });
            }
            (Err(error), Ok(None)) | (Ok(None), Err(error)) => {
                return Err(TwinError::Single { name: kind.name, error });
            }
            (Err(error), Ok(whole)) | (Ok(whole), Err(error)) => {
                tracing::error!("{error}: the second copy of the {} is used", kind.name);
                whole
            }
            (Ok(Some(first)), Ok(Some(second))) => {
                Some(if first.0 >= second.0 { first } else { second })
            }
            (Ok(first), Ok(second)) => first.or(second),
        };
        let generation = newer.as_ref().map_or(0, |(generation, _)| *generation);
        let twin = Twin { path: path.into(), kind, generation };
        Ok((twin, newer.map(|(_, value)| value)))
    }

    /// One that takes the place of whatever is there.
    pub(crate) fn anew(path: &Path, kind: TwinKind) -> Twin {
        let there = [path.to_path_buf(), copy(path)].map(|path| read::<()>(&path, kind));
        let known = there.into_iter().filter_map(|read| read.ok().flatten());
        let generation = known.map(|(generation, ())| generation).max().unwrap_or(0);
        Twin { path: path.into(), kind, generation }
    }

    /// Both copies are this, and on the disk.
    pub(crate) fn save(&mut self, value: &impl Serialize) -> Result<(), RecordError> {
        self.generation += 1;
        for path in [self.path.clone(), copy(&self.path)] {
            replace(&path, self.kind.magic, &(self.generation, value))?;
        }
        Ok(())
    }
}

/// Where the second copy is.
pub(crate) fn copy(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".copy");
    path.with_file_name(name)
}

fn read<Value: DeserializeOwned>(
    path: &Path,
    kind: TwinKind,
) -> Result<Option<(u64, Value)>, RecordError> {
    let there = path.try_exists();
    if !there.map_err(|source| RecordError::File { path: path.into(), source })? {
        return Ok(None);
    }
    let mut reader = RecordReader::open(path, kind.magic, kind.name)?;
    let value = reader.next()?.ok_or_else(|| reader.damaged("the file ends before it"))?;
    // It was replaced as a whole. Zeros behind it do no harm.
    match reader.next::<(u64, Value)>()? {
        None => Ok(Some(value)),
        Some(_) => Err(reader.damaged("there is something behind it")),
    }
}

/// Replaces a file as a whole: after a crash it is the old one or the new one.
fn replace(path: &Path, magic: Magic, record: &impl Serialize) -> Result<(), RecordError> {
    let failed = |source| RecordError::File { path: path.into(), source };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    let written = RecordWriter::create_private(&beside, magic)
        .and_then(|mut writer| writer.write(record).and_then(|()| writer.sync()));
    if written.is_err() {
        // It is of no use to anybody, and takes room on a disk that may be full.
        let _left = std::fs::remove_file(&beside);
    }
    written?;
    std::fs::rename(&beside, path).map_err(failed)?;
    sync_folder(path).map_err(failed)
}

/// Names in the folder of a file are on the disk.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: TwinKind = TwinKind { magic: *b"JOTWIN\0\x02", name: "test file" };

    fn saved() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("saved");
        let mut twin = Twin::anew(&path, KIND);
        twin.save(&vec![1u32]).expect("saved");
        twin.save(&vec![2u32, 3]).expect("saved");
        (folder, path)
    }

    fn value(path: &Path) -> Result<Option<Vec<u32>>, TwinError> {
        Twin::open(path, KIND).map(|(_, value)| value)
    }

    #[test]
    fn the_newest_of_two_copies_counts_and_is_counted_on() {
        let (_folder, path) = saved();
        assert_eq!(value(&path).expect("whole"), Some(vec![2, 3]));
        // As if the machine had died between the copies.
        let old = std::fs::read(copy(&path)).expect("read");
        let (mut twin, _) = Twin::open::<Vec<u32>>(&path, KIND).expect("whole");
        twin.save(&vec![4u32]).expect("saved");
        std::fs::write(copy(&path), old).expect("written");
        assert_eq!(value(&path).expect("whole"), Some(vec![4]));
        let gone = tempfile::tempdir().expect("a folder");
        assert_eq!(value(&gone.path().join("none")).expect("nothing"), None);
    }

    #[test]
    fn whatever_happens_to_one_copy_the_other_counts() {
        let (_folder, path) = saved();
        let bytes = std::fs::read(&path).expect("read");
        for harmed in [path.clone(), copy(&path)] {
            for at in 0..bytes.len() * 8 {
                let mut damaged = bytes.clone();
                damaged[at / 8] ^= 1 << (at % 8);
                std::fs::write(&harmed, damaged).expect("written");
                assert_eq!(value(&path).expect("one is whole"), Some(vec![2, 3]), "{at}");
            }
            for end in 0..bytes.len() {
                std::fs::write(&harmed, &bytes[..end]).expect("written");
                assert_eq!(value(&path).expect("one is whole"), Some(vec![2, 3]), "{end}");
            }
            std::fs::write(&harmed, [&bytes[..], &[0; 5000]].concat()).expect("written");
            assert_eq!(value(&path).expect("zeros do no harm"), Some(vec![2, 3]));
            std::fs::write(&harmed, &bytes).expect("written");
        }
    }

    #[test]
    fn two_damaged_copies_are_named() {
        let (_folder, path) = saved();
        for harmed in [path.clone(), copy(&path)] {
            let mut bytes = std::fs::read(&harmed).expect("read");
            bytes[20] ^= 4;
            std::fs::write(&harmed, bytes).expect("written");
        }
        let error = value(&path).expect_err("damaged").to_string();
        assert!(error.contains("both copies of the test file"), "{error}");
        assert!(error.contains("saved:") && error.contains("saved.copy:"), "{error}");
        std::fs::remove_file(&path).expect("removed");
        assert!(matches!(value(&path), Err(TwinError::Single { .. })));
    }
}
