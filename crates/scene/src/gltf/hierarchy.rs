//! Nodes become `Transform` nodes, cameras `Viewpoint` nodes. Nothing here recurses: hierarchies
//! may have any depth.

use super::build::Build;
use super::json::{InstanceAttributes, Node, Whole};
use super::matrix;
use super::numbers::{Numbers, Use};
use super::source::Source;
use super::surface::Surfaces;
use crate::UniqueNames;
use crate::error::LoadError;
use crate::nodes::{Kind, Transform, Viewpoint};
use crate::scene::{List, NodeId, Rotation};
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// How far the last row of a matrix may be from 0 0 0 1: rounding of exporters.
const LAST_ROW_SLACK: f32 = 1e-6;

/// The `Transform` of each node; none for those outside the scene that is shown.
pub(super) type Placed = Vec<Option<NodeId>>;

/// Adds the default scene of the file.
pub(super) fn add(
    build: &mut Build<'_, '_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Placed, LoadError> {
    let source = build.source;
    let nodes = &source.root.nodes;
    let parents = parents(source)?;
    let order = walk(source, &shown_roots(source, &parents)?);
    let mut placed: Placed = vec![None; nodes.len()];
    let mut surfaces = Surfaces::default();
    for (done, &index) in order.iter().enumerate() {
        progress(done, order.len());
        let Some(node) = nodes.get(index) else { continue };
        let id = build.add(placement(source, node, index)?, None)?;
        build.scene.node_mut(id).name = surfaces.name(source, node);
        let children = own_children(build, &mut surfaces, node, index)?;
        set_children(build, id, children);
        placed[index] = Some(id);
        if parents[index].is_none() {
            build.scene.add_root(id);
        }
    }
    for &index in &order {
        let (Some(node), Some(id)) = (nodes.get(index), placed[index]) else { continue };
        if node.children.is_empty() {
            continue;
        }
        let below = node.children.iter().filter_map(|child| *placed.get(child.get())?);
        let own = build.scene.children(id).iter().copied();
        let children = own.chain(below).collect();
        set_children(build, id, Arc::new(children));
    }
    number(build, build.scene.roots().to_vec());
    for id in placed.iter().flatten() {
        number(build, build.scene.children(*id).to_vec());
    }
    Ok(placed)
}

/// Gives nodes beside each other that have the same name numbers. glTF allows equal names, and
/// nodes without one are named after their mesh, which many may share.
fn number(build: &mut Build<'_, '_>, siblings: Vec<NodeId>) {
    let is_node = |id: &NodeId| matches!(build.scene.node(*id).kind, Kind::Transform(_));
    let siblings: Vec<NodeId> = siblings.into_iter().filter(is_node).collect();
    let mut names = UniqueNames::default();
    for name in siblings.iter().filter_map(|&id| build.scene.node(id).name.as_deref()) {
        names.reserve(name);
    }
    for id in siblings {
        let node = build.scene.node_mut(id);
        node.name = node.name.as_deref().map(|name| names.take(name));
    }
}

fn set_children(build: &mut Build<'_, '_>, id: NodeId, children: List<NodeId>) {
    if let Kind::Transform(node) = &mut build.scene.node_mut(id).kind {
        node.children = children;
    }
}

/// The parent of each node. Every node has at most one, and following them ends.
fn parents(source: &Source<'_>) -> Result<Vec<Option<u32>>, LoadError> {
    let nodes = &source.root.nodes;
    let too_many = |_| LoadError::TooMany { place: source.place, what: "nodes" };
    u32::try_from(nodes.len()).map_err(too_many)?;
    let mut parents: Vec<Option<u32>> = vec![None; nodes.len()];
    for (index, node) in (0u32..).zip(nodes) {
        for (at, &child) in node.children.iter().enumerate() {
            let path = || format!("nodes[{index}].children[{at}]");
            source.item(nodes, child, path(), "nodes")?;
            let slot = &mut parents[child.get()];
            if let Some(other) = slot.replace(index) {
                let what = format!("nodes[{child}] is already a child of nodes[{other}]");
                return Err(source.refused(path(), what));
            }
        }
    }
    let roots: Vec<usize> = (0..nodes.len()).filter(|&index| parents[index].is_none()).collect();
    let mut reached = vec![false; nodes.len()];
    for index in walk(source, &roots) {
        reached[index] = true;
    }
    match reached.iter().position(|&reached| !reached) {
        Some(lost) => Err(source.refused(format!("nodes[{lost}]"), "hangs on a ring of nodes")),
        None => Ok(parents),
    }
}

/// The nodes at and below `roots`, parents first, in the order of the file.
fn walk(source: &Source<'_>, roots: &[usize]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut left: Vec<usize> = roots.iter().rev().copied().collect();
    while let Some(index) = left.pop() {
        order.push(index);
        if let Some(node) = source.root.nodes.get(index) {
            left.extend(node.children.iter().rev().map(|child| child.get()));
        }
    }
    order
}

/// The roots of the scene that the file wants to be shown, of its first, or of everything.
fn shown_roots(source: &Source<'_>, parents: &[Option<u32>]) -> Result<Vec<usize>, LoadError> {
    let root = &source.root;
    let shown = root.scene.unwrap_or_default();
    if root.scenes.is_empty() {
        return Ok((0..parents.len()).filter(|&index| parents[index].is_none()).collect());
    }
    let list = source.item(&root.scenes, shown, "scene", "scenes")?;
    let mut is_root = vec![false; parents.len()];
    let mut roots = Vec::with_capacity(list.nodes.len());
    for (at, &index) in list.nodes.iter().enumerate() {
        let path = format!("scenes[{shown}].nodes[{at}]");
        let parent = source.item(parents, index, &path, "nodes")?;
        if let Some(parent) = parent {
            let what = format!("nodes[{index}] is no root: it is a child of nodes[{parent}]");
            return Err(source.refused(path, what));
        }
        if std::mem::replace(&mut is_root[index.get()], true) {
            return Err(source.refused(path, format!("nodes[{index}] stands here twice")));
        }
        roots.push(index.get());
    }
    Ok(roots)
}

/// What a node holds besides other nodes: shapes, instances of them, a viewpoint.
fn own_children(
    build: &mut Build<'_, '_>,
    surfaces: &mut Surfaces,
    node: &Node<'_>,
    index: usize,
) -> Result<List<NodeId>, LoadError> {
    if node.skin.is_some() {
        build.mended("skins left out: meshes stand as bound", format!("nodes[{index}].skin"));
    }
    let mut children = match node.mesh {
        Some(mesh) => surfaces.shapes(build, mesh, &format!("nodes[{index}].mesh"))?,
        None => List::default(),
    };
    let instancing = node.extensions.as_ref().and_then(|extensions| extensions.instancing.as_ref());
    if let Some(instancing) = instancing
        && !children.is_empty()
    {
        children = instances(build, &instancing.attributes, &children, index)?;
        let name = node.mesh.map(|mesh| surfaces.mesh_name(build.source, mesh));
        for &instance in children.iter() {
            build.scene.node_mut(instance).name = name.clone();
        }
    }
    if let Some(camera) = node.camera {
        let source = build.source;
        let path = format!("nodes[{index}].camera");
        let camera = source.item(&source.root.cameras, camera, path, "cameras")?;
        let name = camera.name.as_ref().map(|name| &*name.0);
        let viewpoint = Viewpoint {
            position: Vec3::ZERO,
            orientation: Rotation::NONE,
            description: Arc::from(name.unwrap_or_default()),
            ..Viewpoint::default()
        };
        let viewpoint = match field_of_view(camera.perspective.as_ref()) {
            Some(field_of_view) => Viewpoint { field_of_view, ..viewpoint },
            None => viewpoint,
        };
        let viewpoint = build.add(viewpoint, name)?;
        children = Arc::new(children.iter().copied().chain([viewpoint]).collect());
    }
    Ok(children)
}

/// A `Viewpoint` wants the angle of the shorter side (6.53), glTF gives that of the height.
fn field_of_view(camera: Option<&super::json::Perspective>) -> Option<f32> {
    let camera = camera?;
    let narrow = camera.aspect_ratio.filter(|aspect| (0.0..1.0).contains(aspect)).unwrap_or(1.0);
    let angle = 2.0 * ((camera.yfov? / 2.0).tan() * narrow).atan();
    (angle > 0.0 && angle < std::f32::consts::PI).then_some(angle)
}

/// One `Transform` per instance (EXT_mesh_gpu_instancing), all with the same shapes.
fn instances(
    build: &mut Build<'_, '_>,
    attributes: &InstanceAttributes,
    shapes: &List<NodeId>,
    index: usize,
) -> Result<List<NodeId>, LoadError> {
    let path = format!("nodes[{index}].extensions.EXT_mesh_gpu_instancing");
    let source = build.source;
    let mut open = |accessor: Option<Whole>, purpose| match accessor {
        Some(accessor) => {
            let numbers = Numbers::open(source, accessor, purpose, &path, &mut build.allowance)?;
            build.allowance.take(source, numbers.count, &path)?;
            Ok(Some(numbers))
        }
        None => Ok(None),
    };
    let translations = open(attributes.translation, Use::Vec3)?;
    let rotations = open(attributes.rotation, Use::Vec4)?;
    let scales = open(attributes.scale, Use::Vec3)?;
    let all = [&translations, &rotations, &scales];
    let counts: Vec<usize> = all.into_iter().flatten().map(|numbers| numbers.count).collect();
    let count = counts.first().copied().unwrap_or_default();
    if counts.iter().any(|&other| other != count) {
        return Err(source.refused(path, format!("attributes of different lengths: {counts:?}")));
    }
    let mut list = Vec::with_capacity(count);
    for at in 0..count {
        let mut placed = Transform::default();
        if let Some(numbers) = &translations {
            placed.translation = Vec3::from_array(numbers.get(at));
        }
        if let Some(numbers) = &rotations {
            placed.rotation = matrix::rotation_from(numbers.get(at));
        }
        if let Some(numbers) = &scales {
            placed.scale = Vec3::from_array(numbers.get(at));
        }
        if !matrix::is_finite(&placed) {
            return Err(source.refused(path, format!("instance {at} is not finite")));
        }
        list.push(build.add(Transform { children: Arc::clone(shapes), ..placed }, None)?);
    }
    Ok(Arc::new(list))
}

/// Where a node puts what it holds.
fn placement(source: &Source<'_>, node: &Node<'_>, index: usize) -> Result<Transform, LoadError> {
    let placed = match node.matrix.as_deref() {
        Some(entries) => {
            let [x, y, z, t] = [0, 4, 8, 12].map(|at| {
                DVec3::new(entries[at].into(), entries[at + 1].into(), entries[at + 2].into())
            });
            let last_row = [entries[3], entries[7], entries[11], entries[15] - 1.0];
            if !entries.iter().all(|entry| entry.is_finite())
                || last_row.iter().any(|entry| entry.abs() > LAST_ROW_SLACK)
            {
                let what = "expected finite numbers with the last row 0 0 0 1";
                return Err(source.refused(format!("nodes[{index}].matrix"), what));
            }
            matrix::decompose([x, y, z], t)
        }
        None => Transform {
            translation: node.translation.map_or(Vec3::ZERO, Vec3::from_array),
            rotation: node.rotation.map_or(Rotation::NONE, matrix::rotation_from),
            scale: node.scale.map_or(Vec3::ONE, Vec3::from_array),
            ..Transform::default()
        },
    };
    if !matrix::is_finite(&placed) {
        return Err(source.refused(format!("nodes[{index}]"), "its transformation is not finite"));
    }
    Ok(placed)
}
