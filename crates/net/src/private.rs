//! Files that other users of the machine must not read: a store contains the key of credentials.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Only the owner reads and writes.
const FILE: u32 = 0o600;
const FOLDER: u32 = 0o700;
/// Permissions of group and others.
const OTHERS: u32 = 0o077;

/// Creates or truncates a file that only its owner can read, from the start.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(true).mode(FILE).open(path)?;
    // An existing file keeps its mode when it is opened.
    file.set_permissions(Permissions::from_mode(FILE))?;
    Ok(file)
}

/// Opens a file, created if missing.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(FILE).open(path)
}

/// Creates a folder if missing. An existing folder keeps its mode: it may have other uses.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(path)
}

/// Removes permissions of group and others from all files of a folder: the store may come from an
/// older version, or be a copy. Files of another user are left.
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
