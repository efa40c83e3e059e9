//! Trees as bytes (row O5): building can take long, loading does not.
//!
//! Little-endian: eight letters, kind, k, number of nodes and of triangles (four bytes each),
//! checksum of the mesh (eight), links, triangles, directions (of DOPs), volumes, and a checksum of
//! all that (eight). What is loaded is checked for everything that an answer relies on: that it is
//! a tree over the triangles of this mesh, and that every volume is around what is below it. So no
//! bytes can make an answer wrong, at worst one that is slow.

use super::shape::{Link, TreeShape};
use super::split::corners;
use super::volume::{Volume, VolumeTree};
use crate::traverse::reach;
use glam::DVec3;
use jostle_geom::{Checksum, Mesh};

const LETTERS: &[u8; 8] = b"JOSTLAB1";
const HEADER: usize = 32;

/// Why bytes are not a tree for a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// Too few bytes, or too many.
    WrongLength {
        /// As the header requires.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// They do not begin as a tree does.
    NoTree,
    /// A tree of another kind of volume.
    WrongKind {
        /// What was asked for.
        expected: u32,
        /// What is there.
        found: u32,
    },
    /// They were changed since they were made.
    Damaged,
    /// They were made for another mesh.
    OtherMesh,
    /// A node whose links are not those of a tree over all triangles.
    BadLink {
        /// Which one.
        node: usize,
    },
    /// The triangles are not each there once.
    BadTriangles,
    /// The directions are not those of a DOP.
    BadDirections,
    /// A volume that is not around what is below its node.
    NotAround {
        /// Which node.
        node: usize,
    },
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::WrongLength { expected, found } => {
                write!(f, "the tree should have {expected} bytes, found {found}")
            }
            LoadError::NoTree => write!(f, "these bytes are not a tree"),
            LoadError::WrongKind { expected, found } => {
                write!(f, "expected a tree of kind {expected}, found kind {found}")
            }
            LoadError::Damaged => write!(f, "the tree is damaged: its checksum is another"),
            LoadError::OtherMesh => write!(f, "the tree was made for another mesh"),
            LoadError::BadLink { node } => write!(f, "node {node} has links that no tree has"),
            LoadError::BadTriangles => write!(f, "the triangles are not each there once"),
            LoadError::BadDirections => write!(f, "the directions are not those of a DOP"),
            LoadError::NotAround { node } => {
                write!(f, "the volume of node {node} is not around the triangles below it")
            }
        }
    }
}

impl std::error::Error for LoadError {}

/// What a tree consists of besides its shape.
pub(crate) struct Parts<'a> {
    pub(crate) kind: u32,
    pub(crate) k: usize,
    /// Directions of DOPs, empty for others.
    pub(crate) directions: &'a [u8],
    pub(crate) volumes: &'a [u8],
}

pub(crate) fn save(mesh: &Mesh, shape: &TreeShape, parts: &Parts) -> Vec<u8> {
    let mut bytes = LETTERS.to_vec();
    let (links, triangles) = shape.parts();
    let counts = [parts.kind, parts.k as u32, links.len() as u32, triangles.len() as u32];
    bytes.extend(counts.into_iter().flat_map(u32::to_le_bytes));
    bytes.extend(of_mesh(mesh).to_le_bytes());
    for link in links {
        bytes.extend(link.first.to_le_bytes());
        bytes.extend(link.count.to_le_bytes());
    }
    bytes.extend(triangles.iter().flat_map(|triangle| triangle.to_le_bytes()));
    bytes.extend(parts.directions);
    bytes.extend(parts.volumes);
    let sum = Checksum::of(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// A tree whose shape is right, and bytes of which only the number is known to be right.
pub(crate) struct Loaded<'a> {
    pub(crate) shape: TreeShape,
    pub(crate) k: usize,
    pub(crate) directions: &'a [u8],
    pub(crate) volumes: &'a [u8],
}

/// `sizes` returns for k how many bytes the directions have, and how many a volume.
pub(crate) fn load<'a>(
    mesh: &Mesh,
    bytes: &'a [u8],
    kind: u32,
    sizes: impl Fn(usize) -> [usize; 2],
) -> Result<Loaded<'a>, LoadError> {
    let found = bytes.len() as u64;
    let wrong = |expected: u64| LoadError::WrongLength { expected, found };
    let Some((header, rest)) = bytes.split_at_checked(HEADER) else {
        return Err(wrong(HEADER as u64 + 8));
    };
    if header[..8] != LETTERS[..] {
        return Err(LoadError::NoTree);
    }
    let number = |at: usize| header[at..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
    let [found_kind, k, nodes, triangles] = [8, 12, 16, 20].map(number);
    if found_kind != kind {
        return Err(LoadError::WrongKind { expected: kind, found: found_kind });
    }
    // k is limited before it is multiplied; the other two are multiplied as u64.
    if k > 1024 {
        return Err(LoadError::BadDirections);
    }
    let [directions, volume] = sizes(k as usize);
    let parts = [
        u64::from(nodes) * 8,
        u64::from(triangles) * 4,
        directions as u64,
        u64::from(nodes) * volume as u64,
        8,
    ];
    let expected = HEADER as u64 + parts.iter().sum::<u64>();
    if found != expected {
        return Err(wrong(expected));
    }
    let (content, sum) = bytes.split_at(bytes.len() - 8);
    if Checksum::of(content).to_le_bytes() != sum {
        return Err(LoadError::Damaged);
    }
    if of_mesh(mesh).to_le_bytes() != header[24..32] || triangles as usize != mesh.triangle_count()
    {
        return Err(LoadError::OtherMesh);
    }
    let (links, rest) = rest.split_at(parts[0] as usize);
    let (triangles, rest) = rest.split_at(parts[1] as usize);
    let (directions, rest) = rest.split_at(parts[2] as usize);
    let volumes = &rest[..parts[3] as usize];
    let word = |b: &[u8; 4]| u32::from_le_bytes(*b);
    let pair = |b: &[[u8; 4]; 2]| Link { first: word(&b[0]), count: word(&b[1]) };
    let links = links.as_chunks().0.as_chunks().0.iter().map(pair).collect();
    let triangles = triangles.as_chunks().0.iter().map(word).collect();
    Ok(Loaded { shape: TreeShape::checked(links, triangles)?, k: k as usize, directions, volumes })
}

fn of_mesh(mesh: &Mesh) -> u64 {
    let mut sum = Checksum::new();
    let coordinates = mesh.vertices().iter().flat_map(|vertex| vertex.to_array());
    sum.extend(coordinates.flat_map(f32::to_le_bytes));
    sum.extend(mesh.triangles().iter().flatten().flat_map(|index| index.to_le_bytes()));
    sum.value()
}

/// Every corner below a node must be in its volume.
pub(crate) fn check_around(
    mesh: &Mesh,
    shape: &TreeShape,
    around: impl Fn(usize, DVec3) -> bool,
) -> Result<(), LoadError> {
    let corners = corners(mesh);
    for (node, range) in shape.ranges().into_iter().enumerate() {
        let below = shape.triangles()[range].iter().flat_map(|&t| corners[t as usize]);
        if !below.into_iter().all(|corner| around(node, corner)) {
            return Err(LoadError::NotAround { node });
        }
    }
    Ok(())
}

impl<V: Volume> VolumeTree<V> {
    /// The tree as bytes, for the mesh that it was built for.
    #[must_use]
    pub fn save(&self, mesh: &Mesh) -> Vec<u8> {
        let mut volumes = Vec::with_capacity(self.volumes.len() * V::BYTES);
        self.volumes.iter().for_each(|volume| volume.write(&mut volumes));
        let parts = Parts { kind: u32::from(V::TAG), k: 0, directions: &[], volumes: &volumes };
        save(mesh, &self.shape, &parts)
    }

    /// The tree that was saved for this mesh.
    ///
    /// # Errors
    /// Bytes that are not such a tree; see [`LoadError`].
    pub fn load(mesh: &Mesh, bytes: &[u8]) -> Result<VolumeTree<V>, LoadError> {
        let loaded = load(mesh, bytes, u32::from(V::TAG), |_| [0, V::BYTES])?;
        if loaded.k != 0 {
            return Err(LoadError::BadDirections);
        }
        let volumes: Vec<V> = loaded.volumes.chunks_exact(V::BYTES).map(V::read).collect();
        let reach = reach(mesh);
        check_around(mesh, &loaded.shape, |node, corner| volumes[node].encloses(corner, reach))?;
        Ok(VolumeTree { shape: loaded.shape, volumes })
    }
}
