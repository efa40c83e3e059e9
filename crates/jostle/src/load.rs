//! Meshes straight from files.
//!
//! The crates behind this one open no files: `jostle_scene` takes bytes. Here is where a program
//! reads them.

use crate::files::{SceneFiles, full_name, read_named};
use jostle_geom::Mesh;
use jostle_scene::{MeshChoice, ReadMeshError, Reading, read_mesh};
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
    /// (buffers of glTF, `Inline`) are read if they are below its folder ([`SceneFiles`]); nothing
    /// is fetched over a network.
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
            read_named(path).map_err(|source| LoadMeshError::Open { file: file(), source })?;
        let mut files = SceneFiles::beside(path);
        let mut fetch = |address: &str, from: &str| {
            files.fetch(address, from).map_err(|error| error.to_string())
        };
        let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
        let read = read_mesh(&full_name(path), &bytes, &mut reading, MeshChoice::default());
        read.map(|read| read.mesh).map_err(|source| LoadMeshError::Read { file: file(), source })
    }
}
