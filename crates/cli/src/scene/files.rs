//! Files that a scene names: files that it includes, and hierarchy files.

use jostle::files::{FILES_MAX, FetchError, SceneFiles, read_regular};
use jostle_scene::Fetched;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The files that a scene may include.
pub(crate) fn scene_files(scene: &Path, allow_outside: bool) -> SceneFiles {
    match allow_outside {
        true => SceneFiles::anywhere(scene),
        false => SceneFiles::beside(scene),
    }
}

/// Reads the files that a scene includes.
pub(crate) fn fetcher(
    scene: &Path,
    allow_outside: bool,
) -> impl FnMut(&str, &str) -> Result<Fetched, String> + use<> {
    let mut files = scene_files(scene, allow_outside);
    move |address: &str, from: &str| files.fetch(address, from).map_err(|error| fetch_error(&error))
}

/// Why a file is not read, and which option permits it.
pub(crate) fn fetch_error(error: &FetchError) -> String {
    match error {
        FetchError::Outside => format!("{error} (--allow-outside permits it)"),
        other => other.to_string(),
    }
}

/// The one folder in which a scene may read and write hierarchies. The scene, which is not trusted,
/// chooses the names: only plain names in this folder are accepted, links are not followed, and a
/// file that is no hierarchy is not overwritten.
#[derive(Clone, Copy)]
pub(super) struct Folder<'a>(pub(super) &'a Path);

/// The length of the magic bytes of a hierarchy file (`docs/hierarchy-file.md`).
const MAGIC_BYTES: usize = 8;

impl Folder<'_> {
    pub(super) fn load(self, name: &str) -> Option<Vec<u8>> {
        let path = self.path(name)?;
        match read_regular(&path, FILES_MAX) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    eprintln!("jostle: {}: warning: not read: {error}", path.display());
                }
                None
            }
        }
    }

    pub(super) fn save(self, name: &str, bytes: &[u8]) {
        let Some(path) = self.path(name) else {
            eprintln!("jostle: warning: hierarchyFile {name:?} is not a plain name; not written");
            return;
        };
        if let Err(error) = replace(&path, bytes) {
            eprintln!("jostle: {}: warning: cannot be written: {error}", path.display());
        }
    }

    fn path(self, name: &str) -> Option<PathBuf> {
        let plain = Path::new(name).file_name().is_some_and(|last| last == name);
        // Names that begin with a dot are configuration files of shells and programs.
        let plain = plain && !name.starts_with('.') && !name.contains(['\\', '\0']);
        plain.then(|| self.0.join(name))
    }
}

/// Writes a hierarchy atomically: to a temporary file beside it, which is then renamed, so that a
/// link is replaced and not followed. A file that is no hierarchy is not replaced.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(_) => {
            let before = read_regular(path, FILES_MAX)?;
            if !before.is_empty() && !before.starts_with(&bytes[..MAGIC_BYTES.min(bytes.len())]) {
                return Err(io::Error::other("a file that is no hierarchy is there"));
            }
        }
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let beside = path.with_file_name(name);
    let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
    let written = file.write_all(bytes).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        // The error that matters is the one above, not that of removing the temporary file.
        let _ = std::fs::remove_file(&beside);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_cannot_name_a_hierarchy_outside_the_folder() {
        let folder = Folder(Path::new("kept"));
        assert_eq!(folder.path("cup.tree"), Some(PathBuf::from("kept/cup.tree")));
        for name in ["", ".", "..", "../cup", "/cup", "a/b", "a\\b", "a/", ".bashrc", "a\0"] {
            assert_eq!(folder.path(name), None, "{name:?}");
        }
    }
}
