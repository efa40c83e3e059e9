//! Where the coordinates inside a node are in the world: a rigid pose after a stretch.
//!
//! A body moves by its pose; the stretch is baked into its mesh. So the two are kept apart, and a
//! scene without scales has no stretch anywhere, shares its meshes and only moves poses.

use crate::nodes;
use glam::{DMat3, DQuat, DVec3, Vec3};
use jostle_geom::{Mesh, MeshError, Pose, PoseError};
use std::collections::BTreeSet;

/// First stretch, then rotate, then translate.
///
/// ```
/// use glam::{DVec3, Vec3};
/// use jostle_scene::Placement;
/// use jostle_scene::nodes::Transform;
///
/// let outer = Transform { translation: Vec3::X, scale: Vec3::splat(2.0), ..Default::default() };
/// let inner = Transform { translation: Vec3::Y, ..Default::default() };
/// let both = Placement::of_transform(&outer).then(&Placement::of_transform(&inner));
/// assert_eq!(both.place(DVec3::Z), DVec3::new(1.0, 2.0, 2.0));
/// assert!(!both.is_rigid());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// A quaternion of length 1, up to rounding.
    pub rotation: DQuat,
    /// Where the origin is.
    pub translation: DVec3,
    /// What is not rigid: scales, and shears that come of scales under rotations.
    pub stretch: DMat3,
}

/// Why a mesh cannot be stretched.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StretchError {
    /// The stretched coordinates are no mesh: they are too large for `f32`.
    #[error("the stretched mesh: {0}")]
    Mesh(#[from] MeshError),
    /// A mirror turns faces over, for which the triangles of a face must stand as they were made.
    #[error(
        "face {face} cannot be turned over, because its triangles are not in the order in which \
         they were made; expected a mesh that was not taken from a model"
    )]
    Reordered {
        /// The face.
        face: u32,
    },
}

impl Placement {
    /// Everything where it is.
    pub const IDENTITY: Placement =
        Placement { rotation: DQuat::IDENTITY, translation: DVec3::ZERO, stretch: DMat3::IDENTITY };

    /// What a `Transform` does: translation, centre, rotation, and the scale along the axes of
    /// `scaleOrientation` (ISO/IEC 14772-1, 6.52: P′ = T · C · R · SR · S · −SR · −C · P).
    #[must_use]
    pub fn of_transform(node: &nodes::Transform) -> Placement {
        let translation = node.translation.as_dvec3();
        let scale = node.scale.as_dvec3();
        let uniform = node.scale.x == node.scale.y && node.scale.x == node.scale.z;
        let plain = uniform && node.scale.x == 1.0;
        // Most transforms do little, and a scene is walked at every step.
        if plain && node.rotation.angle == 0.0 {
            return Placement { translation, ..Placement::IDENTITY };
        }
        let rotation = node.rotation.quaternion();
        let axes = node.scale_orientation.quaternion();
        let mut stretch = DMat3::from_diagonal(scale);
        if !uniform && axes != DQuat::IDENTITY {
            let axes = DMat3::from_quat(axes);
            stretch = axes * stretch * axes.transpose();
        }
        let centre = node.center.as_dvec3();
        let turned = rotation * (stretch * centre);
        Placement { rotation, translation: translation + (centre - turned), stretch }
    }

    /// The placement of something that `inner` places in coordinates that this one places.
    ///
    /// As long as this stretches all directions alike, rotations go together and only `inner`
    /// stretches; otherwise the rotation of `inner` goes into the stretch.
    #[must_use]
    pub fn then(&self, inner: &Placement) -> Placement {
        let translation = self.place(inner.translation);
        match self.scale() {
            Some(scale) => Placement {
                rotation: self.rotation * inner.rotation,
                translation,
                stretch: if scale == 1.0 { inner.stretch } else { inner.stretch * scale },
            },
            None => Placement {
                rotation: self.rotation,
                translation,
                stretch: self.stretch * DMat3::from_quat(inner.rotation) * inner.stretch,
            },
        }
    }

    /// The scale, if it is the same in all directions.
    fn scale(&self) -> Option<f64> {
        let scale = self.stretch.x_axis.x;
        (self.stretch == DMat3::from_diagonal(DVec3::splat(scale))).then_some(scale)
    }

    /// The position in the world of a point inside.
    #[must_use]
    pub fn place(&self, point: DVec3) -> DVec3 {
        self.rotation * (self.stretch * point) + self.translation
    }

    /// The point inside that [`Placement::place`] brings to `point`, up to rounding. None if the
    /// stretch leaves less than three dimensions.
    #[must_use]
    pub fn unplace(&self, point: DVec3) -> Option<DVec3> {
        self.turn_back(point - self.translation)
    }

    /// The direction inside of a direction in the world, as [`Placement::unplace`].
    pub(crate) fn turn_back(&self, direction: DVec3) -> Option<DVec3> {
        let turned = self.rotation.conjugate() * direction;
        let inside = match self.scale() {
            Some(scale) => turned / scale,
            None => self.stretch.inverse() * turned,
        };
        inside.is_finite().then_some(inside)
    }

    /// Is there nothing to bake: is the stretch exactly the identity?
    #[must_use]
    pub fn is_rigid(&self) -> bool {
        self.stretch == DMat3::IDENTITY
    }

    /// The rigid part, for a mesh that [`Placement::stretch_mesh`] has stretched.
    ///
    /// # Errors
    /// Numbers that are not finite or too large.
    pub fn pose(&self) -> Result<Pose, PoseError> {
        Pose::new(self.rotation, self.translation)
    }

    /// The mesh with the stretch baked in: each coordinate is rounded to `f32` once. A stretch that
    /// mirrors also turns the faces over, so that their outer side stays outside; polygons are then
    /// triangulated anew. Faces keep their numbers and a solid stays one.
    ///
    /// # Errors
    /// Coordinates that are too large for `f32`; a mirrored mesh with polygons that was taken from
    /// a [`jostle_geom::Model`], which sorts triangles.
    pub fn stretch_mesh(&self, mesh: &Mesh) -> Result<Mesh, StretchError> {
        let stretched = |v: &Vec3| (self.stretch * v.as_dvec3()).as_vec3();
        if self.stretch.determinant() >= 0.0 {
            let mut made = mesh.clone();
            let mut positions = vec![Vec3::ZERO; mesh.vertices().len()];
            for (stored, vertex) in (0..).zip(mesh.vertices()) {
                positions[mesh.caller_vertex(stored) as usize] = stretched(vertex);
            }
            made.set_vertices(&positions)?;
            return Ok(made);
        }
        let vertices = mesh.vertices().iter().map(stretched).collect();
        let made = if mesh.triangle_count() == mesh.face_count() {
            let turned = mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]);
            Mesh::from_triangles(vertices, turned.collect())?
        } else {
            let mut outlines = outlines(mesh)?;
            // The first corner stays first, so that a quadrilateral keeps its diagonal.
            outlines.iter_mut().for_each(|outline| outline[1..].reverse());
            Mesh::from_polygons(vertices, outlines)?
        };
        if mesh.is_solid() {
            return made.into_solid().map_err(|torn| MeshError::TornOpen(torn).into());
        }
        Ok(made)
    }
}

/// The corners of every face, in order. None of them is empty.
fn outlines(mesh: &Mesh) -> Result<Vec<Vec<u32>>, StretchError> {
    let triangles = mesh.triangles();
    let mut outlines = Vec::with_capacity(mesh.face_count());
    let mut start = 0;
    while start < triangles.len() {
        let face = mesh.face_of(start as u32);
        let more = triangles[start..].iter().zip(start..);
        let count = more.take_while(|&(_, t)| mesh.face_of(t as u32) == face).count();
        // Each face once, one after the other.
        let outline = outline(&triangles[start..start + count])
            .filter(|_| face as usize == outlines.len())
            .ok_or(StretchError::Reordered { face })?;
        outlines.push(outline);
        start += count;
    }
    Ok(outlines)
}

/// The polygon that was cut into these triangles. Each triangle but the last cut off a vertex
/// between its two neighbours, and the last is what was left; so the vertices come back between
/// their neighbours, the last one first.
fn outline(triangles: &[[u32; 3]]) -> Option<Vec<u32>> {
    let (&[a, b, c], cut_off) = triangles.split_last()?;
    if cut_off.is_empty() {
        // A face of one or two corners repeats its last one.
        let mut outline = vec![a, b, c];
        outline.dedup();
        return Some(outline);
    }
    // A ring: the vertex in each slot, the slot after it, and every edge with the slot where it
    // begins. A polygon that comes back to its vertices may have an edge more than once; then any
    // of them will do.
    let mut vertex = vec![a, b, c];
    let mut next = vec![1, 2, 0];
    let mut edges = BTreeSet::from([(a, b, 0), (b, c, 1), (c, a, 2)]);
    for &[before, between, after] in cut_off.iter().rev() {
        let edge = *edges.range((before, after, 0)..=(before, after, usize::MAX)).next()?;
        edges.remove(&edge);
        let (from, slot) = (edge.2, vertex.len());
        vertex.push(between);
        next.push(next[from]);
        next[from] = slot;
        edges.insert((before, between, from));
        edges.insert((between, after, slot));
    }
    let mut slot = 0;
    let ring = (0..vertex.len()).map(|_| {
        let here = slot;
        slot = next[here];
        vertex[here]
    });
    Some(ring.collect())
}
