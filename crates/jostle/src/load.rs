//! Meshes straight from files.
//!
//! The crates behind this one open no files: `jostle_scene` takes bytes. Here is where a program
//! reads them.

use jostle_geom::Mesh;
use jostle_scene::{Fetched, MeshChoice, ReadMeshError, Reading, read_mesh};
use std::path::{Path, PathBuf};

/// `Mesh::load("part.stl")`: bring this trait into scope.
///
/// ```
/// use jostle::{LoadMesh, Mesh};
///
/// # let folder = std::env::temp_dir().join(format!("jostle-load-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("square.obj");
/// std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")?;
/// let mesh = Mesh::load(&path)?;
/// assert_eq!((mesh.face_count(), mesh.triangle_count()), (1, 2));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait LoadMesh: Sized {
    /// Reads a VRML97, glTF, OBJ, STL or PLY file as one mesh, with every shape at its place; see
    /// [`read_mesh`], which also gives warnings and parts of a file. Files that a scene names
    /// (buffers of glTF, `Inline`) are read from its folder; nothing is fetched over a network.
    ///
    /// The mesh is a surface; [`Mesh::into_solid`] makes it solid.
    ///
    /// # Errors
    /// A file that cannot be opened or understood, with its name and the place in it.
    fn load(path: impl AsRef<Path>) -> Result<Self, LoadMeshError>;
}

/// Why there is no mesh in a file.
#[derive(Debug, thiserror::Error)]
pub enum LoadMeshError {
    /// The file cannot be opened.
    #[error("{}: {source}", file.display())]
    Open {
        /// Its name, as it was given.
        file: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// What is in it is not a mesh.
    #[error("{}: {source}", file.display())]
    Read {
        /// Its name, as it was given.
        file: PathBuf,
        /// What was found, where, and what was expected.
        source: ReadMeshError,
    },
}

impl LoadMesh for Mesh {
    fn load(path: impl AsRef<Path>) -> Result<Mesh, LoadMeshError> {
        let path = path.as_ref();
        let file = || path.to_path_buf();
        let bytes =
            std::fs::read(path).map_err(|source| LoadMeshError::Open { file: file(), source })?;
        let mut fetch = fetch;
        let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
        let read = read_mesh(&full_name(path), &bytes, &mut reading, MeshChoice::default());
        read.map(|read| read.mesh).map_err(|source| LoadMeshError::Read { file: file(), source })
    }
}

/// The name under which a file is known however it was addressed.
fn full_name(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    full.to_string_lossy().into_owned()
}

/// Reads a file that another one names. Only files: nothing is fetched over a network.
fn fetch(address: &str, from: &str) -> Result<Fetched, String> {
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
