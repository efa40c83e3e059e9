//! Builds the shapes of bodies from the shapes of the scene, each once.

use crate::plan::Part;
use glam::DAffine3;
use jostle_geom::{Mesh, Model, Quality, Shape};
use jostle_scene::geometry::{self, Geometry, Tolerance};
use jostle_scene::nodes::Kind;
use jostle_scene::{NodeId, Scene};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::{HierarchyFiles, StageError};

/// A cache: meshes by geometry node, and shapes by their parts.
#[derive(Default)]
pub(crate) struct Shapes {
    meshes: HashMap<NodeId, Option<Arc<Mesh>>>,
    built: HashMap<Vec<PartKey>, Option<BuiltShape>>,
}

/// A shape, and which of its faces belong to which part.
#[derive(Clone, Debug)]
pub(crate) struct BuiltShape {
    pub(crate) shape: Shape,
    /// The index of the first face of each part.
    pub(crate) first_faces: Arc<Vec<u32>>,
}

/// A geometry node and its placement in the body, as bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PartKey {
    geometry: NodeId,
    map: [u64; 12],
}

/// How shapes are built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapeOptions {
    pub(crate) tolerance: Tolerance,
    pub(crate) quality: Quality,
    /// Closed surfaces are solid.
    pub(crate) solid: bool,
    /// Vertices within this distance are merged.
    pub(crate) weld: Option<f64>,
}

impl Shapes {
    /// The shape of a body; none if no part has a surface.
    pub(crate) fn shape(
        &mut self,
        scene: &Scene,
        parts: &[Part],
        options: ShapeOptions,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<Option<BuiltShape>, StageError> {
        let key: Vec<PartKey> = parts.iter().map(PartKey::of).collect();
        if let Some(built) = self.built.get(&key) {
            return Ok(built.clone());
        }
        let built = self.build(scene, parts, options, files)?;
        self.built.insert(key, built.clone());
        Ok(built)
    }

    /// Removes what was built from these nodes, which have changed. Returns whether there was any.
    pub(crate) fn forget(&mut self, scene: &Scene, changed: &BTreeSet<NodeId>) -> bool {
        let before = self.meshes.len();
        self.meshes.retain(|&id, _| !changed.contains(&id) && !holds(scene, id, changed));
        if self.meshes.len() == before {
            return false;
        }
        let kept = &self.meshes;
        self.built.retain(|parts, _| parts.iter().all(|part| kept.contains_key(&part.geometry)));
        true
    }

    /// Removes unused shapes if there are many of them: an animated scale builds a new one in each
    /// step.
    pub(crate) fn forget_unused(&mut self, bodies: usize) {
        if self.built.len() > 2 * bodies + 64 {
            let used = |built: &BuiltShape| Arc::strong_count(&built.first_faces) > 1;
            self.built.retain(|_, built| built.as_ref().is_some_and(used));
        }
    }

    fn build(
        &mut self,
        scene: &Scene,
        parts: &[Part],
        options: ShapeOptions,
        files: &mut HierarchyFiles<'_>,
    ) -> Result<Option<BuiltShape>, StageError> {
        let mut surfaces = Vec::with_capacity(parts.len());
        let mut first_faces = Vec::with_capacity(parts.len());
        let mut faces = 0;
        for part in parts {
            first_faces.push(faces);
            let made = self.surfaces(scene, std::slice::from_ref(part), options.tolerance)?;
            faces += made.iter().map(|(surface, _)| surface.face_count() as u32).sum::<u32>();
            surfaces.extend(made);
        }
        let place = || parts.first().map_or(String::new(), |part| place_of(scene, part.geometry));
        let mesh = match &surfaces[..] {
            [] => return Ok(None),
            [(surface, map)] if *map == DAffine3::IDENTITY => Mesh::clone(surface),
            several => Mesh::join(several.iter().map(|(surface, map)| (&**surface, *map)))
                .map_err(|source| StageError::Mesh { place: place(), source })?,
        };
        let mesh = match options.weld {
            Some(tolerance) => mesh.weld(tolerance)?.0,
            None => mesh,
        };
        let mesh = if options.solid { mesh.clone().into_solid().unwrap_or(mesh) } else { mesh };
        let model = match hierarchy_file(scene, parts) {
            // Saved hierarchies are worth more work. The quality is the same with and without
            // files.
            Some(file) if options.quality == Quality::Fast => {
                files.load_or_build(file, mesh, Quality::Default)
            }
            Some(file) => files.load_or_build(file, mesh, options.quality),
            None => Model::build(mesh, options.quality),
        };
        Ok(Some(BuiltShape { shape: Shape::mesh(model), first_faces: Arc::new(first_faces) }))
    }

    /// The surfaces of parts, with their placements in the body. Parts without one are skipped.
    pub(crate) fn surfaces(
        &mut self,
        scene: &Scene,
        parts: &[Part],
        tolerance: Tolerance,
    ) -> Result<Vec<(Arc<Mesh>, DAffine3)>, StageError> {
        let mut surfaces = Vec::with_capacity(parts.len());
        for part in parts {
            if let Some(surface) = self.surface(scene, part.geometry, tolerance)? {
                surfaces.push((surface, part.inside.affine()));
            }
        }
        Ok(surfaces)
    }

    fn surface(
        &mut self,
        scene: &Scene,
        id: NodeId,
        tolerance: Tolerance,
    ) -> Result<Option<Arc<Mesh>>, StageError> {
        if let Some(surface) = self.meshes.get(&id) {
            return Ok(surface.clone());
        }
        let surface = match geometry::surface(scene, id, tolerance)? {
            Geometry::Surface(mesh) if mesh.triangle_count() > 0 => Some(mesh),
            _ => None,
        };
        self.meshes.insert(id, surface.clone());
        Ok(surface)
    }
}

impl PartKey {
    fn of(part: &Part) -> PartKey {
        let map = part.inside.affine().to_cols_array().map(f64::to_bits);
        PartKey { geometry: part.geometry, map }
    }
}

/// Returns true if the surface of a geometry node depends on one of these nodes.
fn holds(scene: &Scene, geometry: NodeId, changed: &BTreeSet<NodeId>) -> bool {
    match &scene.node(geometry).kind {
        Kind::IndexedFaceSet(node) => {
            let coord = node.coord.and_then(|id| scene.through_instances(id));
            coord.is_some_and(|coord| changed.contains(&coord))
        }
        _ => false,
    }
}

/// The file for the hierarchy of a body (Ohlenburg C.4). A `hierarchyFile` is a field of one shape,
/// so a body of several shapes has none.
pub(crate) fn hierarchy_file<'a>(scene: &'a Scene, parts: &[Part]) -> Option<&'a str> {
    let [part] = parts else { return None };
    let Kind::Shape(shape) = &scene.node(*part.path.last()?).kind else { return None };
    Some(&*shape.hierarchy_file).filter(|file| !file.is_empty())
}

fn place_of(scene: &Scene, id: NodeId) -> String {
    scene.node(id).place.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_scene::{Placement, Reading, read};

    #[test]
    fn shapes_of_an_animated_scale_are_removed_and_those_in_use_are_kept() {
        let text = b"#VRML V2.0 utf8\nShape { geometry Sphere {} }";
        let scene = read("ball.wrl", text, &mut Reading::default()).unwrap().scene;
        let is_ball = |id: &NodeId| matches!(scene.node(*id).kind, Kind::Sphere(_));
        let geometry = scene.nodes().map(|(id, _)| id).find(is_ball).unwrap();
        let (tolerance, quality) = (Tolerance::default(), Quality::Fast);
        let options = ShapeOptions { tolerance, quality, solid: false, weld: None };
        let mut shapes = Shapes::default();
        let mut make = |scale: f64| {
            let stretch = glam::DMat3::from_diagonal(glam::DVec3::splat(scale));
            let inside = Placement { stretch, ..Placement::IDENTITY };
            let part = Part { path: Vec::new(), geometry, inside };
            let built = shapes.shape(&scene, &[part], options, &mut HierarchyFiles::default());
            shapes.forget_unused(1);
            (built.unwrap().unwrap(), shapes.built.len())
        };
        let (kept, _) = make(1.0);
        for step in 0..1000 {
            let (_, known) = make(2.0 + f64::from(step));
            assert!(known <= 67, "{known}");
        }
        assert!(Arc::ptr_eq(&make(1.0).0.first_faces, &kept.first_faces));
    }
}
