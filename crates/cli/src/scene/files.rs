//! Files that a scene names.

use jostle_scene::Fetched;
use std::path::{Path, PathBuf};

/// The name under which a file is known however it was addressed.
pub(crate) fn full_name(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    full.to_string_lossy().into_owned()
}

/// Reads a file that another one names. Only files: nothing is fetched over a network.
pub(crate) fn fetch(address: &str, from: &str) -> Result<Fetched, String> {
    let local = address.strip_prefix("file://").unwrap_or(address);
    if local.contains("://") || local.get(..4).is_some_and(|s| s.eq_ignore_ascii_case("urn:")) {
        return Err("it is not a file on this machine".to_string());
    }
    let folder = Path::new(from).parent().unwrap_or(Path::new(""));
    let path = folder.join(without_escapes(local));
    let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
    Ok(Fetched { name: full_name(&path), bytes })
}

/// `%20` and its like, as addresses have them.
fn without_escapes(address: &str) -> PathBuf {
    let bytes = address.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        let code = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match code {
            Some(code) if bytes[at] == b'%' => {
                plain.push(code);
                at += 3;
            }
            _ => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    PathBuf::from(String::from_utf8_lossy(&plain).into_owned())
}

/// The one folder in which a scene may read and write hierarchies. A scene comes from anywhere
/// and says the names: what is not a plain name in this folder is not touched.
#[derive(Clone, Copy)]
pub(super) struct Folder<'a>(pub(super) &'a Path);

impl Folder<'_> {
    pub(super) fn load(self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(name)?).ok()
    }

    pub(super) fn save(self, name: &str, bytes: &[u8]) {
        let Some(path) = self.path(name) else {
            eprintln!("jostle: warning: hierarchyFile \"{name}\" is not a plain name; not written");
            return;
        };
        if let Err(error) = std::fs::write(&path, bytes) {
            eprintln!("jostle: {}: warning: cannot be written: {error}", path.display());
        }
    }

    fn path(self, name: &str) -> Option<PathBuf> {
        let plain = Path::new(name).file_name().is_some_and(|last| last == name);
        (plain && !name.contains('\\')).then(|| self.0.join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_cannot_name_a_hierarchy_outside_the_folder() {
        let folder = Folder(Path::new("kept"));
        assert_eq!(folder.path("cup.tree"), Some(PathBuf::from("kept/cup.tree")));
        for name in ["", ".", "..", "../cup", "/cup", "a/b", "a\\b", "a/"] {
            assert_eq!(folder.path(name), None, "{name:?}");
        }
    }

    #[test]
    fn addresses_lose_their_escapes_and_networks_are_left_alone() {
        assert_eq!(without_escapes("a%20b%2"), PathBuf::from("a b%2"));
        assert_eq!(without_escapes("100%"), PathBuf::from("100%"));
        assert!(fetch("http://example.org/a.wrl", "x").is_err());
        assert!(fetch("URN:edu.unc.cs:geom:CollisionObject:1", "x").is_err());
    }
}
