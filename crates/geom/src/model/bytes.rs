//! A model as bytes, mesh and hierarchy together, and back to the bit.
//!
//! All numbers are little endian. `docs/model-file.md` says the same with more words.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | [`MAGIC`] |
//! | 8 | 4 | version, [`VERSION`] or [`VERSION_F64`], as the mesh needs it |
//! | 12 | 8 | length of the whole |
//! | 20 | | the mesh, see `mesh/bytes.rs` |
//! | | | the hierarchy, as [`Model::hierarchy_to_bytes`] gives it |
//! | length − 8 | 8 | FNV-1a (64 bits) of all bytes before |

use super::Model;
use crate::checksum::Checksum;
use crate::mesh::bytes::{self as mesh_bytes, BadMesh};
use crate::mesh::{Mesh, MeshError, NotClosed};
use crate::tree::bytes::{self as tree_bytes, LoadHierarchyError, Loaded, u32_at, u64_at};

/// First bytes of a saved model, made as those of a hierarchy.
const MAGIC: [u8; 8] = *b"\x89JMD\r\n\x1a\n";

/// The version with vertices in `f32`.
const VERSION: u32 = 1;

/// The version with vertices in `f64`.
const VERSION_F64: u32 = 2;

const HEADER_BYTES: usize = 20;
const CHECKSUM_BYTES: usize = 8;

/// Why bytes are not a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LoadModelError {
    /// The bytes do not begin like a saved model.
    #[error("not a saved model: it does not begin with the bytes {MAGIC:?}")]
    NotAModel,
    /// Saved by a version that is not known here.
    #[error("the model has format version {found}, expected {VERSION} or {VERSION_F64}")]
    UnknownVersion {
        /// The version found.
        found: u32,
    },
    /// Cut short, or with something behind it.
    #[error("the model should have {expected} bytes, but there are {found}")]
    WrongLength {
        /// How many bytes there should be; at least, if the header itself is cut short.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// Bytes have changed since they were saved.
    #[error("the model is damaged: its checksum is {found:#018x}, expected {expected:#018x}")]
    Checksum {
        /// What the bytes say the checksum is.
        expected: u64,
        /// The checksum of the bytes.
        found: u64,
    },
    /// The mesh says something that no mesh of a model does.
    #[error("the mesh is malformed: {what}")]
    MalformedMesh {
        /// What is wrong with it.
        what: &'static str,
    },
    /// Numbers that are not a mesh.
    #[error("the mesh is malformed: {0}")]
    Mesh(#[from] MeshError),
    /// A mesh that is marked as solid does not enclose a volume.
    #[error("the mesh is marked as solid, but {0}")]
    NotClosed(NotClosed),
    /// The hierarchy is malformed, or of another mesh.
    #[error("the hierarchy of the model: {0}")]
    Hierarchy(#[from] LoadHierarchyError),
}

impl From<BadMesh> for LoadModelError {
    fn from(bad: BadMesh) -> LoadModelError {
        match bad {
            BadMesh::Malformed(what) => LoadModelError::MalformedMesh { what },
            BadMesh::Numbers(error) => LoadModelError::Mesh(error),
            BadMesh::Open(error) => LoadModelError::NotClosed(error),
        }
    }
}

pub(super) fn write(model: &Model) -> Vec<u8> {
    // `hierarchy_to_bytes` has the tree and its quality; the others follow from the rest.
    let Model { mesh, tree: _, quality: _, reach: _, hash: _, convex: _, hull: _, all_bound: _ } =
        model;
    let hierarchy = model.hierarchy_to_bytes();
    let mut bytes = Vec::with_capacity(mesh.memory_usage() + hierarchy.len() + 64);
    bytes.extend(MAGIC);
    bytes.extend(version_of(mesh).to_le_bytes());
    bytes.extend([0; 8]); // the length, when it is known
    mesh_bytes::write(mesh, &mut bytes);
    bytes.extend(hierarchy);
    let length = (bytes.len() + CHECKSUM_BYTES) as u64;
    bytes[12..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
    bytes.extend(Checksum::of(&bytes).to_le_bytes());
    bytes
}

pub(super) fn read(bytes: &[u8]) -> Result<Model, LoadModelError> {
    let (mesh, hierarchy) = mesh_bytes::read(check_frame(bytes)?)?;
    if version_of(&mesh) != u32_at(bytes, 8) {
        let what = "its vertices are not those of the format version";
        return Err(LoadModelError::MalformedMesh { what });
    }
    let Loaded { tree, order, quality } = tree_bytes::read(&mesh, hierarchy)?;
    if !(0u32..).zip(&order).all(|(stands_at, &triangle)| stands_at == triangle) {
        let what = "its triangles do not stand in the order of the hierarchy";
        return Err(LoadModelError::MalformedMesh { what });
    }
    Ok(Model::new(mesh, tree, quality))
}

fn version_of(mesh: &Mesh) -> u32 {
    if mesh.vertices_f64().is_some() { VERSION_F64 } else { VERSION }
}

/// Checks the frame, and gives what it holds.
fn check_frame(bytes: &[u8]) -> Result<&[u8], LoadModelError> {
    let start = bytes.len().min(MAGIC.len());
    if bytes[..start] != MAGIC[..start] {
        return Err(LoadModelError::NotAModel);
    }
    let found = bytes.len() as u64;
    let least = (HEADER_BYTES + CHECKSUM_BYTES) as u64;
    if bytes.len() < 12 {
        return Err(LoadModelError::WrongLength { expected: least, found });
    }
    let version = u32_at(bytes, 8);
    if version != VERSION && version != VERSION_F64 {
        return Err(LoadModelError::UnknownVersion { found: version });
    }
    if found < least {
        return Err(LoadModelError::WrongLength { expected: least, found });
    }
    let expected = u64_at(bytes, 12);
    if found != expected {
        return Err(LoadModelError::WrongLength { expected, found });
    }
    let (content, stored) = bytes.split_at(bytes.len() - CHECKSUM_BYTES);
    let (expected, found) = (u64_at(stored, 0), Checksum::of(content));
    if expected != found {
        return Err(LoadModelError::Checksum { expected, found });
    }
    Ok(&content[HEADER_BYTES..])
}
