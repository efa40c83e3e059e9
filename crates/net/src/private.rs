//! Files that other users of the machine must not read: a store has the key of credentials in it.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The owner reads and writes, nobody else.
const FILE: u32 = 0o600;
const FOLDER: u32 = 0o700;
/// Rights of the group and of others.
const OTHERS: u32 = 0o077;

/// An empty file, also if there was one, readable by its owner only from the beginning.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(true).mode(FILE).open(path)?;
    // One that was there keeps its mode when it is opened.
    file.set_permissions(Permissions::from_mode(FILE))?;
    Ok(file)
}

/// A file as it is, made if it is not there.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(FILE).open(path)
}

/// A folder, made if it is not there. One that is there keeps its mode: it may be used for more.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(path)
}

/// Takes the rights of others away from all files of a folder, of a store that an older version
/// made or that was copied. Files that belong to another user stay as they are.
pub(crate) fn repair(path: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let known = entry.metadata()?;
        let mode = known.permissions().mode() & 0o7777;
        if !known.is_file() || mode & OTHERS == 0 {
            continue;
        }
        let file = entry.path();
        match std::fs::set_permissions(&file, Permissions::from_mode(FILE)) {
            Ok(()) => tracing::warn!(
                "{}: other users could read this file (mode {mode:o}): changed to {FILE:o}. The \
                 store has the key of credentials in it",
                file.display()
            ),
            Err(error) => tracing::error!(
                "{}: other users can read this file (mode {mode:o}), and that cannot be changed: \
                 {error}",
                file.display()
            ),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    #[test]
    fn files_and_folders_are_the_owners_from_the_beginning_and_wider_files_are_repaired() {
        let above = tempfile::tempdir().expect("a folder");
        let store = above.path().join("a").join("store");
        folder(&store).expect("made");
        assert_eq!(mode(&store), FOLDER);
        let [fresh, old] = ["fresh", "old"].map(|name| store.join(name));
        create(&fresh).expect("made");
        assert_eq!(mode(&fresh), FILE);
        std::fs::write(&old, "secret").expect("written");
        std::fs::set_permissions(&old, Permissions::from_mode(0o644)).expect("changed");
        repair(&store).expect("repaired");
        assert_eq!(mode(&old), FILE);
        std::fs::set_permissions(&old, Permissions::from_mode(0o644)).expect("changed");
        create(&old).expect("emptied");
        assert_eq!(mode(&old), FILE);
    }
}
