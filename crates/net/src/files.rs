//! The files of the operating system as a store's disk, and what a store reports as lines of the
//! log.

use crate::private;
use jostle_store::{Disk, DiskFile, Notice, Opened, Readers, Severity};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// The file system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileSystem;

/// The disk that stores of this process are on.
pub(crate) fn disk() -> Arc<dyn Disk> {
    Arc::new(FileSystem)
}

impl Disk for FileSystem {
    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            // What has no such name is not of a store.
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }

    fn open(&self, path: &Path) -> io::Result<Opened> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Opened { content: Box::new(file), length })
    }

    fn create(&self, path: &Path, readers: Readers) -> io::Result<Box<dyn DiskFile>> {
        let file = match readers {
            Readers::Umask => File::create(path)?,
            Readers::Owner => private::create(path)?,
        };
        Ok(Box::new(Written(file)))
    }

    fn update(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(Written(private::open(path)?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_names(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

/// A file that is written.
#[derive(Debug)]
struct Written(File);

impl DiskFile for Written {
    fn write_at(&mut self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, at)
    }

    fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// Writes down what a store reports.
pub(crate) fn log(notices: Vec<Notice>) {
    for Notice { severity, text } in notices {
        match severity {
            Severity::Info => tracing::info!("{text}"),
            Severity::Warning => tracing::warn!("{text}"),
            Severity::Error => tracing::error!("{text}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_store::{MemoryDisk, MirroredFile, MirroredKind};

    const KIND: MirroredKind = MirroredKind { magic: *b"JOTWIN\0\x02", name: "test file" };

    /// What the simulator tests on a disk in memory is what happens to files.
    #[test]
    fn files_and_a_disk_in_memory_have_the_same_names_and_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let memory = MemoryDisk::default();
        let disks: [Arc<dyn Disk>; 2] = [disk(), Arc::new(memory.clone())];
        for disk in &disks {
            let path = folder.path().join("saved");
            let mut file = MirroredFile::anew(disk, &path, KIND);
            file.save(&vec![1u32, 2]).expect("saved");
            let mut file = disk.update(&folder.path().join("slots")).expect("made");
            file.write_at(b"second", 40).expect("written");
            file.write_at(b"first", 0).expect("written");
            file.sync().expect("synced");
            drop(file);
            let mut file = disk.update(&folder.path().join("slots")).expect("as it was");
            file.set_length(43).expect("cut off");
            disk.create(&folder.path().join("gone"), Readers::Owner).expect("made");
            disk.remove(&folder.path().join("gone")).expect("removed");
            assert!(disk.remove(&folder.path().join("gone")).is_err());
            assert!(disk.open(&folder.path().join("gone")).is_err());
        }
        let [mut names, mut also] = disks.map(|disk| disk.names(folder.path()).expect("listed"));
        names.sort_unstable();
        also.sort_unstable();
        assert_eq!(names, also);
        assert_eq!(names.len(), 3);
        for name in names {
            let path = folder.path().join(name);
            let bytes = std::fs::read(&path).expect("read");
            assert_eq!(memory.content(&path), Some(bytes), "{}", path.display());
        }
    }
}
