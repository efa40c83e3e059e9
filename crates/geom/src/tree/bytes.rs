//! A hierarchy as bytes, and back.
//!
//! All numbers are little endian. `docs/hierarchy-file.md` says the same with more words.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | [`MAGIC`] |
//! | 8 | 4 | version: [`VERSION`] or [`VERSION_FRAMED`], as the mesh needs it |
//! | 12 | 4 | quality: 0 fast, 1 default, 2 tight |
//! | 16 | 8 | `Mesh::hash` of the mesh |
//! | 24 | 4 | number of triangles t |
//! | 28 | 4 | number of nodes n, at least 1 |
//! | 32 | 12 | origin x, y, z (`f32`) |
//! | 44 | 4 | radius (`f32`) |
//! | 48 | 320·n | the nodes, see below |
//! | 48 + 320·n | 4·t | for each triangle of the hierarchy, its number in the caller's order |
//! | 48 + 320·n + 4·t | 8 | FNV-1a (64 bits) of all bytes before |
//!
//! A node is, for eight lanes each: centre x, y, z; half extents along the three axes (`f32`);
//! first axis x, y, z, second axis x, y, z (`i16`); children (`u32`, see [`Child`]).
//!
//! The caller's order is by face; the triangles of one polygon are ordered by the caller's numbers
//! of their corners, because a mesh that was reordered does not know how they stood.
//!
//! What is read is validated against the mesh before it is used, so that bytes with a right
//! checksum and wrong content are found too.

use super::validate::{Fault, check_shape, validate};
use super::{Child, Frame, Node, Tree, WIDTH};
use crate::checksum::Checksum;
use crate::mesh::Mesh;
use crate::model::Quality;
use glam::Vec3;

/// First bytes of a saved hierarchy. As in PNG, the first is not ASCII and the line ends are
/// changed by a transfer in text mode.
const MAGIC: [u8; 8] = *b"\x89JHT\r\n\x1a\n";

/// The version with one frame for all boxes.
const VERSION: u32 = 1;

/// The version with a frame for each node (`tree/frame.rs`): of meshes whose triangles are too
/// small for one. Frames are not saved; they follow from the mesh and the shape of the tree.
const VERSION_FRAMED: u32 = 2;

const HEADER_BYTES: usize = 48;
const NODE_BYTES: usize = 320;
const CHECKSUM_BYTES: usize = 8;

/// Why bytes are not the hierarchy of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadHierarchyError {
    /// The bytes do not begin like a saved hierarchy.
    #[error("not a saved hierarchy: it does not begin with the bytes {MAGIC:?}")]
    NotAHierarchy,
    /// Saved by a version that is not known here.
    #[error("the hierarchy has format version {found}, expected {VERSION} or {VERSION_FRAMED}")]
    UnknownVersion {
        /// The version found.
        found: u32,
    },
    /// Boxes are relative to another place than they must be for this mesh: it was saved by a
    /// release that did not distinguish them.
    #[error(
        "the hierarchy has {} for this mesh: it was saved by an earlier release, build it anew",
        if *framed { "one frame where each node needs its own" } else { "more frames than needed" }
    )]
    OtherFrames {
        /// Whether the mesh needs a frame for each node.
        framed: bool,
    },
    /// Cut short, or with something behind it.
    #[error("the hierarchy should have {expected} bytes, but there are {found}")]
    WrongLength {
        /// How many bytes there should be; at least, if the header itself is cut short.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// Bytes have changed since they were saved.
    #[error("the hierarchy is damaged: its checksum is {found:#018x}, expected {expected:#018x}")]
    Checksum {
        /// What the bytes say the checksum is.
        expected: u64,
        /// The checksum of the bytes.
        found: u64,
    },
    /// The hierarchy belongs to another mesh, or to an older state of this one.
    #[error("the hierarchy is of a mesh with hash {found:#018x}, this mesh has {expected:#018x}")]
    OtherMesh {
        /// The hash of the mesh that was given.
        expected: u64,
        /// The hash of the mesh that the hierarchy was built for.
        found: u64,
    },
    /// The header says something that cannot be.
    #[error("the header is malformed: {what} is {found}")]
    BadHeader {
        /// Which number.
        what: &'static str,
        /// Its value.
        found: u32,
    },
    /// The triangle order does not name every triangle once.
    #[error("the triangle order is malformed: entry {entry} is {found}, out of range or again")]
    BadOrder {
        /// The entry, counted from 0.
        entry: usize,
        /// The number found there.
        found: u32,
    },
    /// A node says something that cannot be, or that does not fit the mesh.
    #[error("node {node} is malformed: {what}")]
    BadNode {
        /// The node, counted from 0.
        node: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// A hierarchy that was read, and the order that brings the triangles of the mesh, as they
/// stand, into its own.
pub(crate) struct Loaded {
    pub(crate) tree: Tree,
    pub(crate) order: Vec<u32>,
    pub(crate) quality: Quality,
}

/// The hierarchy of a mesh whose triangles stand in its order.
pub(crate) fn write(tree: &Tree, mesh: &Mesh, quality: Quality) -> Vec<u8> {
    let (nodes, triangles) = (tree.nodes.len(), mesh.triangles.len());
    let mut bytes = Vec::with_capacity(whole_length(nodes as u32, triangles as u32) as usize);
    bytes.extend(MAGIC);
    let version = if tree.frames.is_empty() { VERSION } else { VERSION_FRAMED };
    bytes.extend(version.to_le_bytes());
    bytes.extend(code_of(quality).to_le_bytes());
    bytes.extend(mesh.hash().to_le_bytes());
    bytes.extend((triangles as u32).to_le_bytes());
    bytes.extend((nodes as u32).to_le_bytes());
    bytes.extend(tree.origin.to_array().into_iter().flat_map(f32::to_le_bytes));
    bytes.extend(tree.radius.to_le_bytes());
    for node in &tree.nodes {
        let boxes = [node.center, node.half];
        bytes.extend(boxes.as_flattened().as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend(node.axis.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend(node.child.iter().flat_map(|child| child.0.to_le_bytes()));
    }
    let mut place = vec![0; triangles];
    for (number, &stands_at) in (0u32..).zip(&callers_order(mesh)) {
        place[stands_at as usize] = number;
    }
    bytes.extend(place.into_iter().flat_map(u32::to_le_bytes));
    bytes.extend(Checksum::of(&bytes).to_le_bytes());
    bytes
}

/// Reads and checks a hierarchy of `mesh`, whose triangles may stand in any order.
pub(crate) fn read(mesh: &Mesh, bytes: &[u8]) -> Result<Loaded, LoadHierarchyError> {
    let payload = check_frame(bytes)?;
    let hash = mesh.hash();
    let found = u64_at(bytes, 16);
    let (triangles, nodes) = (u32_at(bytes, 24) as usize, u32_at(bytes, 28) as usize);
    if found != hash || triangles != mesh.triangles.len() {
        return Err(LoadHierarchyError::OtherMesh { expected: hash, found });
    }
    let code = u32_at(bytes, 12);
    let quality = quality_of(code)
        .ok_or(LoadHierarchyError::BadHeader { what: "the quality", found: code })?;
    let (node_bytes, order_bytes) = payload.split_at(nodes * NODE_BYTES);
    let order = read_order(mesh, order_bytes)?;
    let f32_at = |at: usize| f32::from_bits(u32_at(bytes, at));
    let mut tree = Tree {
        frames: Vec::new(),
        nodes: node_bytes.chunks_exact(NODE_BYTES).map(read_node).collect(),
        origin: Vec3::new(f32_at(32), f32_at(36), f32_at(40)),
        radius: f32_at(44),
    };
    let in_order: Vec<[u32; 3]> = order.iter().map(|&t| mesh.triangles[t as usize]).collect();
    let bad_node = |Fault { node, what }| LoadHierarchyError::BadNode { node, what };
    check_shape(&tree.nodes, in_order.len()).map_err(bad_node)?;
    let frame = Frame::around(&mesh.vertices, &in_order);
    let framed = frame.is_some_and(|frame| frame.is_too_wide(&mesh.vertices, &in_order));
    if framed != (u32_at(bytes, 8) == VERSION_FRAMED) {
        return Err(LoadHierarchyError::OtherFrames { framed });
    }
    if framed {
        tree.set_frames(&mesh.vertices, &in_order);
    }
    validate(&tree, &mesh.vertices, &in_order).map_err(bad_node)?;
    Ok(Loaded { tree, order, quality })
}

/// Checks all that can be checked without the mesh, and gives nodes and triangle order.
fn check_frame(bytes: &[u8]) -> Result<&[u8], LoadHierarchyError> {
    let start = bytes.len().min(MAGIC.len());
    if bytes[..start] != MAGIC[..start] {
        return Err(LoadHierarchyError::NotAHierarchy);
    }
    let found = bytes.len() as u64;
    let least = whole_length(1, 0);
    if bytes.len() < 12 {
        return Err(LoadHierarchyError::WrongLength { expected: least, found });
    }
    let version = u32_at(bytes, 8);
    if version != VERSION && version != VERSION_FRAMED {
        return Err(LoadHierarchyError::UnknownVersion { found: version });
    }
    if bytes.len() < HEADER_BYTES {
        return Err(LoadHierarchyError::WrongLength { expected: least, found });
    }
    let (triangles, nodes) = (u32_at(bytes, 24), u32_at(bytes, 28));
    let expected = whole_length(nodes, triangles);
    if found != expected {
        return Err(LoadHierarchyError::WrongLength { expected, found });
    }
    let (content, stored) = bytes.split_at(bytes.len() - CHECKSUM_BYTES);
    let (expected, found) = (u64_at(stored, 0), Checksum::of(content));
    if expected != found {
        return Err(LoadHierarchyError::Checksum { expected, found });
    }
    Ok(&content[HEADER_BYTES..])
}

/// Bytes of a file with so many nodes and triangles. The sum is below 2^42.
fn whole_length(nodes: u32, triangles: u32) -> u64 {
    (HEADER_BYTES + CHECKSUM_BYTES) as u64
        + u64::from(nodes) * NODE_BYTES as u64
        + u64::from(triangles) * 4
}

fn code_of(quality: Quality) -> u32 {
    match quality {
        Quality::Fast => 0,
        Quality::Default => 1,
        Quality::Tight => 2,
    }
}

fn quality_of(code: u32) -> Option<Quality> {
    [Quality::Fast, Quality::Default, Quality::Tight].into_iter().find(|&q| code_of(q) == code)
}

/// The triangles as the mesh has them now, in the order of the hierarchy.
fn read_order(mesh: &Mesh, bytes: &[u8]) -> Result<Vec<u32>, LoadHierarchyError> {
    const TAKEN: u32 = u32::MAX;
    let mut stands_at = callers_order(mesh);
    let take = |(entry, number): (usize, &[u8])| {
        let found = u32_at(number, 0);
        match stands_at.get_mut(found as usize) {
            Some(at) if *at != TAKEN => Ok(std::mem::replace(at, TAKEN)),
            _ => Err(LoadHierarchyError::BadOrder { entry, found }),
        }
    };
    bytes.chunks_exact(4).enumerate().map(take).collect()
}

fn read_node(bytes: &[u8]) -> Node {
    let row = |k: usize, lane: usize| f32::from_bits(u32_at(bytes, 4 * (k * WIDTH + lane)));
    let rows =
        |first: usize| std::array::from_fn(|k| std::array::from_fn(|lane| row(first + k, lane)));
    let axis = |k: usize, lane: usize| {
        let at = 192 + 2 * (k * WIDTH + lane);
        i16::from_le_bytes([bytes[at], bytes[at + 1]])
    };
    Node {
        center: rows(0),
        half: rows(3),
        axis: std::array::from_fn(|k| std::array::from_fn(|lane| axis(k, lane))),
        child: std::array::from_fn(|lane| Child(u32_at(bytes, 288 + 4 * lane))),
    }
}

/// Where the triangles stand, first to last, in the order by face and caller's corners. It is the
/// same list of triangles however the mesh was reordered.
pub(crate) fn callers_order(mesh: &Mesh) -> Vec<u32> {
    // Count, sum up, distribute: each face's triangles come to stand side by side.
    let mut next = vec![0u32; mesh.face_count + 1];
    let triangles = 0..mesh.triangles.len() as u32;
    for triangle in triangles.clone() {
        next[mesh.face_of(triangle) as usize + 1] += 1;
    }
    for face in 1..next.len() {
        next[face] += next[face - 1];
    }
    let mut order = vec![0; mesh.triangles.len()];
    for triangle in triangles {
        let slot = &mut next[mesh.face_of(triangle) as usize];
        order[*slot as usize] = triangle;
        *slot += 1;
    }
    if mesh.face_count < mesh.triangles.len() {
        // Triangles of a face with the same corners cannot be distinguished; `sort_by_key` leaves
        // them in the order in which they stand, so that what is saved stays the same.
        let corners = |t: &u32| mesh.triangles[*t as usize].map(|v| mesh.caller_vertex(v));
        let same_face = |a: &u32, b: &u32| mesh.face_of(*a) == mesh.face_of(*b);
        order.chunk_by_mut(same_face).for_each(|face| face.sort_by_key(corners));
    }
    order
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}
