//! The repository as the rules see it: paths relative to the root, with `/`, and their texts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Files by path, in order of path. A file that is not UTF-8 has an empty text.
#[derive(Debug, Default)]
pub(super) struct Tree {
    files: BTreeMap<String, String>,
    folders: BTreeSet<String>,
    ignored: Ignored,
}

impl Tree {
    /// Reads everything below `root` except `.git` and what the `.gitignore` there hides.
    pub(super) fn read(root: &Path) -> Result<Tree, String> {
        let ignore_file = std::fs::read_to_string(root.join(".gitignore")).unwrap_or_default();
        let mut tree = Tree { ignored: Ignored::parse(&ignore_file), ..Tree::default() };
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    fn read_folder(&mut self, root: &Path, folder: &str) -> Result<(), String> {
        let unreadable = |error| format!("{folder}: cannot be read: {error}");
        for entry in std::fs::read_dir(root.join(folder)).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if path == ".git" || self.ignored.hides(&path) {
                continue;
            }
            if entry.file_type().map_err(unreadable)?.is_dir() {
                self.read_folder(root, &path)?;
            } else {
                let bytes = std::fs::read(entry.path()).map_err(unreadable)?;
                self.insert(path, String::from_utf8(bytes).unwrap_or_default());
            }
        }
        Ok(())
    }

    /// A made-up tree.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            if *path == ".gitignore" {
                tree.ignored = Ignored::parse(text);
            }
            tree.insert((*path).into(), (*text).into());
        }
        tree
    }

    fn insert(&mut self, path: String, text: String) {
        let parents = path.match_indices('/').map(|(end, _)| path[..end].to_string());
        self.folders.extend(parents);
        self.files.insert(path, text);
    }

    /// Paths and texts, in order of path.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Those [`Tree::files`] whose path ends in one of `endings`.
    pub(super) fn with_ending(&self, endings: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(|(path, _)| endings.iter().any(|ending| path.ends_with(ending)))
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Returns true if there is a file or folder of this path.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.folders.contains(path)
    }

    /// Returns true for a path that `.gitignore` hides: built here, never committed.
    pub(super) fn hides(&self, path: &str) -> bool {
        self.ignored.hides(path)
    }
}

/// The simple part of `.gitignore`: `/path/from/the/root`, `name` anywhere, `*.ending` anywhere.
#[derive(Debug, Default)]
struct Ignored {
    lines: Vec<String>,
}

impl Ignored {
    fn parse(text: &str) -> Ignored {
        let lines = text.lines().map(|line| line.trim().trim_end_matches('/'));
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        Ignored { lines: lines.map(String::from).collect() }
    }

    fn hides(&self, path: &str) -> bool {
        self.lines.iter().any(|line| {
            if let Some(from_root) = line.strip_prefix('/') {
                path.strip_prefix(from_root).is_some_and(|x| x.is_empty() || x.starts_with('/'))
            } else if let Some(ending) = line.strip_prefix('*') {
                path.ends_with(ending)
            } else {
                path.split('/').any(|name| name == line)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_paths_are_hidden_and_their_neighbours_are_not() {
        let ignored = Ignored::parse("# built\n/target\n/a/build/\n\nnode_modules\n*.log\n");
        for path in ["target", "target/x.rs", "a/build/x", "web/node_modules/x.js", "a/b.log"] {
            assert!(ignored.hides(path), "{path}");
        }
        for path in ["targets", "a/target", "a/builds", "build", "src/log.rs"] {
            assert!(!ignored.hides(path), "{path}");
        }
    }

    #[test]
    fn the_repository_itself_is_read_without_what_is_built() {
        let tree = Tree::read(&crate::root()).expect("the repository can be read");
        assert!(tree.has("xtask/src/tidy/tree.rs"));
        assert!(tree.has("xtask/src"));
        assert!(tree.text("Cargo.toml").is_some_and(|text| text.contains("[workspace]")));
        assert!(tree.files().all(|(path, _)| !path.starts_with("target/")));
        assert!(tree.files().all(|(path, _)| !path.starts_with(".git/")));
    }
}
