//! The placement of a node's coordinates in the world: a rigid pose after a stretch.
//!
//! A body moves by its pose; the stretch is baked into its mesh. So the two are kept apart, and a
//! scene without scales has no stretch anywhere, shares its meshes and only moves poses.

use crate::nodes;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use jostle_geom::{Mesh, MeshError, Pose, PoseError};

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
/// assert_eq!(both.transform_point(DVec3::Z), DVec3::new(1.0, 2.0, 2.0));
/// assert!(!both.is_rigid());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// A quaternion of length 1, up to rounding.
    pub rotation: DQuat,
    /// The position of the origin.
    pub translation: DVec3,
    /// What is not rigid: scales, and shears that come of scales under rotations.
    pub stretch: DMat3,
}

impl Placement {
    /// The identity.
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
        let translation = self.transform_point(inner.translation);
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
    pub fn transform_point(&self, point: DVec3) -> DVec3 {
        self.rotation * (self.stretch * point) + self.translation
    }

    /// The inverse of [`Placement::transform_point`], up to rounding. None if the
    /// stretch leaves less than three dimensions.
    #[must_use]
    pub fn inverse_transform_point(&self, point: DVec3) -> Option<DVec3> {
        self.inverse_transform_vector(point - self.translation)
    }

    /// The direction inside of a direction in the world, as [`Placement::inverse_transform_point`].
    pub(crate) fn inverse_transform_vector(&self, direction: DVec3) -> Option<DVec3> {
        let turned = self.rotation.conjugate() * direction;
        let inside = match self.scale() {
            Some(scale) => turned / scale,
            None => self.stretch.inverse() * turned,
        };
        inside.is_finite().then_some(inside)
    }

    /// All of it as one map. The identity gives the identity, exactly.
    #[must_use]
    pub fn affine(&self) -> DAffine3 {
        let rotation = DMat3::from_quat(self.rotation);
        DAffine3::from_mat3_translation(rotation * self.stretch, self.translation)
    }

    /// Returns true if the stretch is exactly the identity, so that there is nothing to bake.
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
    /// mirrors also turns the faces over, so that their outer side stays outside. Faces and
    /// vertices keep their numbers and a solid stays one.
    ///
    /// # Errors
    /// Coordinates that are too large for `f32`.
    pub fn stretch_mesh(&self, mesh: &Mesh) -> Result<Mesh, MeshError> {
        let made = Mesh::join([(mesh, DAffine3::from_mat3(self.stretch))])?;
        if mesh.is_solid() { made.into_solid().map_err(MeshError::TornOpen) } else { Ok(made) }
    }
}
