//! Files that a scene names, and whether it may have them.
//!
//! A scene comes from anywhere and may name any file: showing the scene to others would publish
//! that file. So what it names must be below one folder, wherever links lead, and must be a regular
//! file: a pipe would wait for ever, a device would never end. This is the only place that opens
//! what a scene names.

use jostle_scene::Fetched;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// The most bytes of one file, and of all files that a scene names: 4 GiB, which the 32-bit
/// indices of the formats reach at most.
pub const FILES_MAX: u64 = 1 << 32;

/// Why a file that a scene names is not read.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Nothing is fetched over a network.
    #[error("it is not a file on this machine")]
    NotLocal,
    /// The file is not below the folder of the scene, or a link leads out of it.
    #[error("it is outside the folder of the scene")]
    Outside,
    /// It cannot be opened or read.
    #[error("{0}")]
    Read(#[from] io::Error),
}

/// Reads the files that a scene names, and those that these name in turn.
///
/// [`SceneFiles::fetch`] is what [`Reading::fetch`](jostle_scene::Reading::fetch) needs.
#[derive(Debug)]
pub struct SceneFiles {
    /// With all links resolved.
    folder: PathBuf,
    /// They need not be below it.
    anywhere: bool,
    /// Bytes that may still be read.
    left: u64,
}

impl SceneFiles {
    /// Only files below the folder that this scene is in. If the scene is a link, that is the
    /// folder that it leads to.
    #[must_use]
    pub fn beside(scene: &Path) -> SceneFiles {
        let full = PathBuf::from(full_name(scene));
        let folder = full.parent().unwrap_or(Path::new("")).to_path_buf();
        SceneFiles { folder, anywhere: false, left: FILES_MAX }
    }

    /// Files anywhere on this machine, for scenes that are trusted.
    #[must_use]
    pub fn anywhere(scene: &Path) -> SceneFiles {
        SceneFiles { anywhere: true, ..SceneFiles::beside(scene) }
    }

    /// Reads what stands as an address in a file with this name.
    ///
    /// # Errors
    /// See [`FetchError`]; never with what is in a file.
    pub fn fetch(&mut self, address: &str, from: &str) -> Result<Fetched, FetchError> {
        let local = address.strip_prefix("file://").unwrap_or(address);
        let is_urn = local.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("urn:"));
        if is_urn || local.contains("://") {
            return Err(FetchError::NotLocal);
        }
        let folder = Path::new(from).parent().unwrap_or(Path::new(""));
        self.read(&folder.join(without_escapes(local)))
    }

    /// Reads a file that is named by a path; relative ones start at the folder of the scene.
    ///
    /// # Errors
    /// As [`SceneFiles::fetch`].
    pub fn read(&mut self, path: &Path) -> Result<Fetched, FetchError> {
        let path = self.resolve(path)?;
        let bytes = read_regular(&path, self.left)?;
        self.left -= bytes.len() as u64;
        Ok(Fetched { name: path.to_string_lossy().into_owned(), bytes })
    }

    /// The path without links, if the scene may have it.
    fn resolve(&self, path: &Path) -> Result<PathBuf, FetchError> {
        let full = self.folder.join(path);
        let resolved = full.canonicalize();
        let inside = |path: &Path| self.anywhere || path.starts_with(&self.folder);
        match resolved {
            Ok(resolved) if inside(&resolved) => Ok(resolved),
            Err(error) if inside(&plain(&full)) => Err(error.into()),
            // Whether it exists is nothing that a scene may find out.
            Ok(_) | Err(_) => Err(FetchError::Outside),
        }
    }
}

/// The name under which a file is known however it was addressed.
#[must_use]
pub fn full_name(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    full.to_string_lossy().into_owned()
}

/// Reads a file that a user has named: a regular one, or a pipe from another program.
///
/// # Errors
/// What the system says, and for devices and more than [`FILES_MAX`] bytes.
pub fn read_named(path: &Path) -> io::Result<Vec<u8>> {
    let kind = std::fs::metadata(path)?.file_type();
    if !kind.is_file() && !is_pipe(kind) {
        return Err(not_a_file());
    }
    read_at_most(File::open(path)?, FILES_MAX)
}

/// Reads a regular file of at most so many bytes, and nothing else: neither through a link nor from
/// a pipe or a device.
///
/// # Errors
/// What the system says, and for everything that is no such file.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // The opening of some devices has an effect.
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Err(not_a_file());
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NOFOLLOW | libc::O_NONBLOCK,
    );
    let file = options.open(path)?;
    // It may be another one by now.
    if !file.metadata()?.is_file() {
        return Err(not_a_file());
    }
    read_at_most(file, most)
}

fn not_a_file() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")
}

#[cfg(unix)]
fn is_pipe(kind: std::fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: std::fs::FileType) -> bool {
    false
}

/// What a file says about its size may change while it is read.
fn read_at_most(file: File, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || {
        let what = format!("it has more than {most} bytes");
        io::Error::new(ErrorKind::FileTooLarge, what)
    };
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// The path without `.` and `..`, by its name alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// `%20` and its like, as addresses have them.
fn without_escapes(address: &str) -> String {
    let mut plain = Vec::with_capacity(address.len());
    let mut rest = address.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = code.and_then(|two| u8::from_str_radix(two, 16).ok());
        match code {
            Some(code) if *first == b'%' => {
                plain.push(code);
                rest = &tail[2..];
            }
            _ => {
                plain.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_their_escapes_and_networks_are_left_alone() {
        assert_eq!(without_escapes("a%20b%2"), "a b%2");
        assert_eq!(without_escapes("100%"), "100%");
        let mut files = SceneFiles::anywhere(Path::new("x"));
        for address in ["http://example.org/a.wrl", "URN:edu.unc.cs:geom:CollisionObject:1"] {
            assert!(matches!(files.fetch(address, "x"), Err(FetchError::NotLocal)), "{address}");
        }
    }

    #[test]
    fn errors_do_not_reveal_whether_a_file_outside_exists() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = SceneFiles::beside(&here.join("src/lib.rs"));
        let from = here.join("src/lib.rs");
        let mut fetch = |address: &str| files.fetch(address, &from.to_string_lossy());
        for address in ["../Cargo.toml", "../none", "/etc/passwd", "file:///none", "%2e%2e/none"] {
            let found = fetch(address);
            assert!(matches!(found, Err(FetchError::Outside)), "{address}: {found:?}");
        }
        assert!(matches!(fetch("none"), Err(FetchError::Read(_))));
        assert!(matches!(fetch("../src"), Err(FetchError::Read(_))), "a folder");
        assert!(fetch("../src/load.rs").is_ok() && fetch("./load.rs").is_ok());
    }

    #[test]
    fn all_files_of_a_scene_together_are_bounded() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
        let mut files = SceneFiles::beside(&here);
        let size = files.read(&here).map(|fetched| fetched.bytes.len()).unwrap_or_default() as u64;
        assert!(size > 0 && files.left == FILES_MAX - size);
        files.left = 2 * size - 1;
        assert!(files.read(&here).is_ok());
        let error = files.read(&here).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(&format!("more than {} bytes", size - 1)), "{error}");
    }
}
