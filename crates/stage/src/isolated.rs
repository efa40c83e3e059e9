//! Finds isolated bodies, for which a check need not build hierarchies.
//!
//! Most of the time of a check is spent on building hierarchies, and most parts of an assembly may
//! be far from all others. A broad phase over the bounds of the bodies finds them.

use crate::StageError;
use crate::plan::BodyPlan;
use crate::shapes::hierarchy_file;
use crate::stage::Stage;
use glam::{DAffine3, DVec3, Vec3};
use jostle_geom::{Aabb, Mesh};
use jostle_scene::{Placement, Scene};
use jostle_world::Workers;
use jostle_world::broad::{Broad, Structure};
use std::sync::Arc;

/// What is known of a body without its hierarchy.
struct Outline {
    bounds: Aabb,
    triangles: usize,
    /// It has a `hierarchyFile`, which is read or written in any case.
    in_file: bool,
}

/// Coordinates are rounded to `f32` when the shapes of a body are joined, and once more when it is
/// placed. This much of the largest coordinate is many times more.
const ROUNDING: f64 = 1e-6;

/// Coordinates beyond this may be infinite after rounding to `f32`.
const FAR: f64 = 1e30;

impl Stage {
    /// For each isolated body, one with no body of another object within `distance`, the number of
    /// its triangles; none for all others and for those without a surface.
    pub(crate) fn isolated(
        &mut self,
        bodies: &[BodyPlan],
        distance: f64,
    ) -> Result<Vec<Option<usize>>, StageError> {
        let mut isolated = vec![None; bodies.len()];
        let mut broad = Broad::new(Structure::Auto);
        for (slot, plan) in bodies.iter().enumerate() {
            let surfaces = self.surfaces_of(plan)?;
            if surfaces.is_empty() {
                continue;
            }
            let Some(outline) = outline(self.play.scene(), plan, &surfaces) else {
                // A body without bounds may be near any other.
                return Ok(vec![None; bodies.len()]);
            };
            broad.insert(slot as u32, outline.bounds.grown(distance * 0.5));
            isolated[slot] = Some(outline.triangles).filter(|_| !outline.in_file);
        }
        let mut near = Vec::new();
        broad.find_pairs(&Workers::ONE, &mut near);
        for [a, b] in near.into_iter().map(|pair| pair.map(|slot| slot as usize)) {
            if bodies[a].object_path != bodies[b].object_path {
                (isolated[a], isolated[b]) = (None, None);
            }
        }
        Ok(isolated)
    }
}

/// None for coordinates that are too large.
fn outline(scene: &Scene, plan: &BodyPlan, surfaces: &[(Arc<Mesh>, DAffine3)]) -> Option<Outline> {
    let Placement { rotation, translation, .. } = plan.frame;
    let pose = DAffine3::from_rotation_translation(rotation, translation);
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let mut largest = 0.0f64;
    for (surface, inside) in surfaces {
        for corner in corners(surface) {
            let of_body = inside.transform_point3(corner);
            let placed = pose.transform_point3(of_body);
            if !(of_body.abs().max_element() < FAR && placed.abs().max_element() < FAR) {
                return None;
            }
            (low, high) = (low.min(placed), high.max(placed));
            largest = largest.max(of_body.abs().max_element()).max(placed.abs().max_element());
        }
    }
    let bounds = Aabb::around_f64(low, high).grown(largest * ROUNDING);
    let triangles = surfaces.iter().map(|(surface, _)| surface.triangle_count()).sum();
    let in_file = hierarchy_file(scene, &plan.parts).is_some();
    Some(Outline { bounds, triangles, in_file })
}

/// The corners of the box around a surface.
fn corners(mesh: &Mesh) -> [DVec3; 8] {
    let none = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (low, high) =
        mesh.vertices().iter().fold(none, |(low, high), &v| (low.min(v), high.max(v)));
    let ends = [low.as_dvec3(), high.as_dvec3()];
    std::array::from_fn(|corner| {
        DVec3::new(ends[corner & 1].x, ends[corner >> 1 & 1].y, ends[corner >> 2].z)
    })
}
