//! A tree of DOPs over one mesh: k numbers of four bytes and two of links for each node.

use super::boundary::{Boundary, BoundaryWay};
use super::hull::GivenHull;
use super::{NormalSet, volume};
use crate::traverse::{ROUNDING, reach};
use crate::tree::bytes::{self, LoadError, Loaded, Parts};
use crate::tree::{Guide, Splitting, TreeShape, corners, up};
use glam::DVec3;
use jostle_geom::Mesh;

/// A tree of k-DOPs over one mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct DopTree {
    pub(super) shape: TreeShape,
    pub(super) normals: NormalSet,
    /// k offsets for each node: how far its triangles reach along each direction, never less.
    pub(super) offsets: Vec<f32>,
    pub(super) boundary: Option<Boundary>,
}

impl DopTree {
    /// Builds it.
    #[must_use]
    pub fn build(mesh: &Mesh, normals: &NormalSet, splitting: Splitting) -> DopTree {
        let k = normals.k();
        let each = every_triangle(mesh, normals);
        let of = |triangle: u32| &each[triangle as usize * k..][..k];
        let measure = |triangles: &[u32]| volume(normals, &joined(triangles, k, of));
        let shape = TreeShape::build(mesh, splitting, &Guide { measure: &measure, normals });
        let mut offsets = vec![f32::NEG_INFINITY; shape.node_count() * k];
        for (node, range) in shape.ranges().into_iter().enumerate() {
            let joined = joined(&shape.triangles()[range], k, of);
            for (offset, exact) in offsets[node * k..][..k].iter_mut().zip(joined) {
                *offset = up(exact);
            }
        }
        DopTree { shape, normals: normals.clone(), offsets, boundary: None }
    }

    /// Adds the vertices of all boundaries, for re-alignment by these.
    #[must_use]
    pub fn with_boundary(mut self, mesh: &Mesh, way: BoundaryWay) -> DopTree {
        self.boundary = Some(Boundary::new(&self, reach(mesh), way));
        self
    }

    /// The root is then re-aligned by the vertices of the hull, which is tighter than those of its
    /// DOP (Ohlenburg 2003, 3.2.5). Without effect for a tree without boundaries.
    #[must_use]
    pub fn with_hull(mut self, hull: &GivenHull) -> DopTree {
        if let Some(boundary) = &mut self.boundary {
            boundary.replace_root(hull.vertices());
        }
        self
    }

    /// Which triangles are below which node.
    #[must_use]
    pub fn shape(&self) -> &TreeShape {
        &self.shape
    }

    /// The directions.
    #[must_use]
    pub fn normals(&self) -> &NormalSet {
        &self.normals
    }

    /// The k offsets of a node.
    ///
    /// # Panics
    /// If there is no such node.
    #[must_use]
    pub fn offsets(&self, node: u32) -> &[f32] {
        let k = self.normals.k();
        &self.offsets[node as usize * k..][..k]
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let boundary = self.boundary.as_ref().map_or(0, Boundary::bytes);
        self.shape.bytes() + size_of_val(&self.offsets[..]) + boundary
    }
}

/// Distinguishes files of DOP-trees from those of other trees.
const KIND: u32 = 16;

impl DopTree {
    /// The tree as bytes, for the mesh that it was built for, without its boundaries.
    #[must_use]
    pub fn save(&self, mesh: &Mesh) -> Vec<u8> {
        let numbers = self.normals.half().iter().flat_map(|normal| normal.to_array());
        let directions: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
        let volumes: Vec<u8> = self.offsets.iter().flat_map(|d| d.to_le_bytes()).collect();
        let k = self.normals.k();
        let parts = Parts { kind: KIND, k, directions: &directions, volumes: &volumes };
        bytes::save(mesh, &self.shape, &parts)
    }

    /// The tree that was saved for this mesh.
    ///
    /// # Errors
    /// Bytes that are not such a tree; see [`LoadError`].
    pub fn load(mesh: &Mesh, bytes: &[u8]) -> Result<DopTree, LoadError> {
        let Loaded { shape, k, directions, volumes } =
            bytes::load(mesh, bytes, KIND, |k| [k / 2 * 24, k * 4])?;
        let number = |bytes: &[u8; 8]| f64::from_le_bytes(*bytes);
        let direction = |[x, y, z]: &[[u8; 8]; 3]| DVec3::new(number(x), number(y), number(z));
        let half = directions.as_chunks().0.as_chunks().0.iter().map(direction).collect();
        let normals = NormalSet::again(half).map_err(|_| LoadError::BadDirections)?;
        if normals.k() != k {
            return Err(LoadError::BadDirections);
        }
        let offsets = volumes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let tree = DopTree { shape, normals, offsets, boundary: None };
        // Larger offsets than the mesh needs would be rounded by more than is reckoned with.
        let smallest = f64::from(f32::from_bits(2));
        let (least, most) = (4.0 * ROUNDING * reach(mesh), 1.001 * reach(mesh) + smallest);
        let sound = |d: f32| f64::from(d) <= most || most > f64::from(f32::MAX);
        bytes::check_around(mesh, &tree.shape, |node, corner| {
            let offsets = tree.offsets(node as u32).iter().enumerate();
            let inside =
                |i: usize, d: f32| tree.normals.normal(i).dot(corner) <= f64::from(d) + least;
            offsets.into_iter().all(|(i, &d)| sound(d) && inside(i, d))
        })?;
        Ok(tree)
    }
}

/// The offsets of every triangle, k each. A product with a direction is off by 3v times the reach
/// of the mesh, so 4v times that is added.
fn every_triangle(mesh: &Mesh, normals: &NormalSet) -> Vec<f64> {
    let more = 4.0 * ROUNDING * reach(mesh);
    let half = normals.half();
    let mut offsets = Vec::with_capacity(mesh.triangle_count() * normals.k());
    for corners in corners(mesh) {
        let along = |normal: &DVec3| corners.map(|corner| normal.dot(corner));
        offsets.extend(half.iter().map(|n| along(n).into_iter().fold(f64::MIN, f64::max) + more));
        offsets.extend(half.iter().map(|n| -along(n).into_iter().fold(f64::MAX, f64::min) + more));
    }
    offsets
}

fn joined<'a>(triangles: &[u32], k: usize, of: impl Fn(u32) -> &'a [f64]) -> Vec<f64> {
    let mut joined = vec![f64::NEG_INFINITY; k];
    for &triangle in triangles {
        for (most, offset) in joined.iter_mut().zip(of(triangle)) {
            *most = most.max(*offset);
        }
    }
    joined
}
