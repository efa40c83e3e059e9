//! Meshes: each primitive becomes a mesh node, once, however many shapes use it.

use super::build::Build;
use super::json::{Node, Primitive, Whole};
use super::numbers::{Numbers, Use};
use super::source::Source;
use crate::UniqueNames;
use crate::error::LoadError;
use crate::nodes::{Kind, Shape};
use crate::polygons::renumber;
use crate::scene::{List, NodeId};
use glam::Vec3;
use jostle_geom::Mesh;
use std::collections::BTreeMap;
use std::sync::Arc;

/// `mode` of a primitive (glTF 2.0, 3.7.2.1).
const TRIANGLES: usize = 4;
const STRIP: usize = 5;
const FAN: usize = 6;

/// The longest name of a mesh that nodes without a name take over, in characters.
const MESH_NAME_MAX: usize = 60;

/// The shapes of the meshes that nodes have asked for.
#[derive(Default)]
pub(super) struct Surfaces {
    shapes: BTreeMap<usize, List<NodeId>>,
    names: BTreeMap<usize, Arc<str>>,
    /// Exporters write the same accessors and primitives again for other materials.
    geometries: BTreeMap<GeometryKey, Option<NodeId>>,
}

/// Everything that the triangles of a primitive depend on.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct GeometryKey {
    mode: usize,
    position: DataKey,
    indices: Option<DataKey>,
}

/// Everything that the numbers of an accessor depend on. Sparse ones are equal to themselves only.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum DataKey {
    Dense { view: Whole, offset: Whole, component: Whole, normalized: bool, count: Whole },
    Accessor(Whole),
}

impl Surfaces {
    /// The shapes of a mesh: one for each primitive that has a surface. All nodes with this mesh
    /// use the same ones, or a small file could ask for any number of them.
    pub(super) fn shapes(
        &mut self,
        build: &mut Build<'_, '_>,
        index: Whole,
        path: &str,
    ) -> Result<List<NodeId>, LoadError> {
        if let Some(shapes) = self.shapes.get(&index.get()) {
            return Ok(Arc::clone(shapes));
        }
        let source = build.source;
        let mesh = source.item(&source.root.meshes, index, path, "meshes")?;
        let name = self.mesh_name(source, index);
        let mut names = UniqueNames::default();
        let mut shapes = Vec::new();
        for (at, primitive) in mesh.primitives.iter().enumerate() {
            let path = format!("meshes[{index}].primitives[{at}]");
            if let Some(geometry) = self.geometry(build, primitive, &path)? {
                let shape = Shape { geometry: Some(geometry), ..Shape::default() };
                shapes.push(build.add(shape, Some(&names.take(&name)))?);
            }
        }
        let shapes = Arc::new(shapes);
        self.shapes.insert(index.get(), Arc::clone(&shapes));
        Ok(shapes)
    }

    /// The name of a node: its own, or that of its mesh.
    pub(super) fn name(&mut self, source: &Source<'_>, node: &Node<'_>) -> Option<Arc<str>> {
        match node.name.as_ref().filter(|name| !name.0.is_empty()) {
            Some(name) => Some(Arc::from(&*name.0)),
            None => node.mesh.map(|mesh| self.mesh_name(source, mesh)),
        }
    }

    /// The name of a mesh, or its number in the file. Shared and shortened, because any number of
    /// nodes, instances and primitives may take it.
    pub(super) fn mesh_name(&mut self, source: &Source<'_>, index: Whole) -> Arc<str> {
        let name = self.names.entry(index.get()).or_insert_with(|| {
            let mesh = source.root.meshes.get(index.get());
            let name = mesh.and_then(|mesh| mesh.name.as_ref()).map_or("", |name| &*name.0);
            match name.char_indices().nth(MESH_NAME_MAX) {
                _ if name.is_empty() => format!("mesh {index}").into(),
                Some((end, _)) => format!("{}…", &name[..end]).into(),
                None => Arc::from(name),
            }
        });
        Arc::clone(name)
    }

    fn geometry(
        &mut self,
        build: &mut Build<'_, '_>,
        primitive: &Primitive,
        path: &str,
    ) -> Result<Option<NodeId>, LoadError> {
        if primitive.targets.is_some() {
            build.ignored("morph targets", path);
        }
        let mode = primitive.mode.map_or(TRIANGLES, Whole::get);
        if mode < TRIANGLES {
            build.ignored("points and lines", path);
            return Ok(None);
        }
        if mode > FAN {
            let what = format!("mode {mode}; modes end at {FAN}");
            return Err(build.source.refused(path, what));
        }
        let Some(position) = primitive.attributes.position else {
            build.ignored("primitives without positions", path);
            return Ok(None);
        };
        let key = GeometryKey {
            mode,
            position: data_key(build, position),
            indices: primitive.indices.map(|indices| data_key(build, indices)),
        };
        if let Some(&known) = self.geometries.get(&key) {
            return Ok(known);
        }
        let mesh = read_mesh(build, primitive, position, mode, path)?;
        let node = match mesh {
            Some(mesh) => Some(build.add(Kind::Mesh(Arc::new(mesh)), None)?),
            None => None,
        };
        self.geometries.insert(key, node);
        Ok(node)
    }
}

fn data_key(build: &Build<'_, '_>, index: Whole) -> DataKey {
    match build.source.root.accessors.get(index.get()) {
        Some(accessor) if accessor.sparse.is_none() => match accessor.buffer_view {
            Some(view) => DataKey::Dense {
                view,
                offset: accessor.byte_offset,
                component: accessor.component_type,
                normalized: accessor.normalized,
                count: accessor.count,
            },
            None => DataKey::Accessor(index),
        },
        _ => DataKey::Accessor(index),
    }
}

/// The triangles of a primitive; none if there are none.
fn read_mesh(
    build: &mut Build<'_, '_>,
    primitive: &Primitive,
    position: Whole,
    mode: usize,
    path: &str,
) -> Result<Option<Mesh>, LoadError> {
    let source = build.source;
    let draco = primitive.extensions.as_ref().is_some_and(|e| e.draco.is_some());
    let accessor = source.root.accessors.get(position.get());
    if draco && accessor.is_some_and(|a| a.buffer_view.is_none() && a.sparse.is_none()) {
        let what = "compressed with KHR_draco_mesh_compression, which is not read here";
        return Err(source.refused(path, what));
    }
    let position_path = format!("{path}.attributes.POSITION");
    let allowance = &mut build.allowance;
    let positions = Numbers::open(source, position, Use::Vec3, &position_path, allowance)?;
    let indices = match primitive.indices {
        Some(indices) => {
            let path = format!("{path}.indices");
            Some(Numbers::open(source, indices, Use::Indices, &path, allowance)?)
        }
        None => None,
    };
    let count = indices.as_ref().map_or(positions.count, |indices| indices.count);
    if count > 3 * Mesh::TRIANGLES_MAX {
        let what = format!("{count} corners; a mesh may have {} triangles", Mesh::TRIANGLES_MAX);
        return Err(source.refused(path, what));
    }
    allowance.take(source, count, path)?;
    let corner = |at| indices.as_ref().map_or(at as u32, |indices| indices.index(at));
    let mut corners: Vec<u32> = (0..count).map(corner).collect();
    if let Some(at) = corners.iter().position(|&corner| corner as usize >= positions.count) {
        let (found, vertices) = (corners[at], positions.count);
        let what = format!("index {at} names vertex {found}, but there are {vertices}");
        return Err(source.refused(path, what));
    }
    if mode == TRIANGLES && !corners.len().is_multiple_of(3) {
        build.mended("left-over corners of triangles ignored", path);
        corners.truncate(corners.len() / 3 * 3);
    }
    let used = renumber(&mut corners);
    let mut vertices = Vec::with_capacity(used.len());
    for vertex in used {
        let place = Vec3::from_array(positions.get(vertex as usize));
        if !place.is_finite() {
            let what = format!("vertex {vertex} is not finite: {place}");
            return Err(source.refused(position_path, what));
        }
        vertices.push(place);
    }
    let triangles = triangles(&corners, &vertices, mode);
    drop(corners);
    if triangles.is_empty() {
        build.ignored("primitives without triangles", path);
        return Ok(None);
    }
    let mesh = Mesh::from_triangles(vertices, triangles);
    mesh.map(Some).map_err(|error| source.refused(path, error))
}

/// The triangles that the corners make, with the turns of glTF 2.0, 3.7.2.1.
///
/// Strips jump from one piece to the next through triangles whose corners coincide. These are not
/// part of the surface: left in, they would be segments in thin air. In lists they stay, as in
/// the other formats.
fn triangles(corners: &[u32], vertices: &[Vec3], mode: usize) -> Vec<[u32; 3]> {
    let count = corners.len().saturating_sub(2);
    let position = |corner: u32| vertices.get(corner as usize);
    let has_distinct_corners = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(position);
        a != b && b != c && c != a
    };
    match mode {
        STRIP => {
            let at = |i: usize| [corners[i], corners[i + 1 + i % 2], corners[i + 2 - i % 2]];
            (0..count).map(at).filter(has_distinct_corners).collect()
        }
        FAN => {
            let at = |i: usize| [corners[i + 1], corners[i + 2], corners[0]];
            (0..count).map(at).filter(has_distinct_corners).collect()
        }
        _ => corners.as_chunks::<3>().0.to_vec(),
    }
}
