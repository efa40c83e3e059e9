//! What a body looks like: a mesh, a sphere or a cuboid.
//!
//! The set is closed, so that every pair of shapes is decided in one place ([`Pair`](crate::Pair))
//! and exactly. A shape has no position of its own: that is its [`Pose`].

pub(crate) mod cuboid;
pub(crate) mod sphere;

use crate::limits::{RADIUS_MAX, RADIUS_MIN};
use crate::solids::{self, SolidError};
use crate::{Aabb, Model, Pose, PosedModel, Quality};
use glam::DVec3;
use sphere::{PosedSphere, PosedTriangles};
use std::sync::Arc;
use thiserror::Error;

/// A shape. Cheap to clone: copies share the model.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Pair, Pose, Shape};
///
/// let ball = Shape::sphere(2.0)?;
/// let block = Shape::cuboid(DVec3::splat(2.0))?;
/// let pose = Pose::from_translation(DVec3::new(3.0, 0.0, 0.0))?;
/// assert!(Pair::new(&ball, &pose, &block, &Pose::IDENTITY).touches());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shape(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Mesh(Arc<Model>),
    Sphere { radius: f64 },
    Cuboid { half: DVec3, model: Arc<Model> },
}

/// A borrowed shape, as [`Pair`](crate::Pair), [`Batch`](crate::Batch) and
/// [`time_of_impact`](crate::time_of_impact) take it: made from `&Shape`, from `&Model` (its mesh)
/// or from `&Arc<Model>`.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Model, Pair, Pose, Quality, Shape, solids};
///
/// let cylinder = Model::build(solids::cylinder(1.0, 4.0, 0.01)?, Quality::Default);
/// let ball = Shape::sphere(2.0)?;
/// let beside = Pose::from_translation(DVec3::X * 2.5)?;
/// assert!(Pair::new(&cylinder, &Pose::IDENTITY, &ball, &beside).touches());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ShapeRef<'a>(pub(crate) Form<'a>);

/// The kinds of [`ShapeRef`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form<'a> {
    Mesh(&'a Model),
    Sphere {
        radius: f64,
    },
    /// Its triangles are those of `model`.
    Cuboid {
        half: DVec3,
        model: &'a Model,
    },
}

/// A shape at a pose.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PosedShape<'a> {
    Sphere(PosedSphere),
    Triangles(PosedTriangles<'a>),
}

impl<'a> ShapeRef<'a> {
    /// The triangles of a mesh or a cuboid.
    pub(crate) fn model(self) -> Option<&'a Model> {
        match self.0 {
            Form::Mesh(model) | Form::Cuboid { model, .. } => Some(model),
            Form::Sphere { .. } => None,
        }
    }

    #[inline]
    pub(crate) fn at(self, pose: &Pose) -> PosedShape<'a> {
        let triangles = |model, half| PosedTriangles { model, pose: *pose, half };
        match self.0 {
            Form::Mesh(model) => PosedShape::Triangles(triangles(model, None)),
            Form::Cuboid { half, model } => PosedShape::Triangles(triangles(model, Some(half))),
            Form::Sphere { radius } => {
                PosedShape::Sphere(PosedSphere { centre: pose.translation(), radius })
            }
        }
    }

    /// As [`Shape::radius`].
    pub(crate) fn radius(self) -> f64 {
        match self.0 {
            Form::Mesh(model) | Form::Cuboid { model, .. } => model.radius(),
            Form::Sphere { radius } => radius,
        }
    }
}

impl<'a> From<&'a Model> for ShapeRef<'a> {
    #[inline]
    fn from(model: &'a Model) -> ShapeRef<'a> {
        ShapeRef(Form::Mesh(model))
    }
}

impl<'a> From<&'a Arc<Model>> for ShapeRef<'a> {
    fn from(model: &'a Arc<Model>) -> ShapeRef<'a> {
        ShapeRef(Form::Mesh(model))
    }
}

impl<'a> From<&'a Shape> for ShapeRef<'a> {
    fn from(shape: &'a Shape) -> ShapeRef<'a> {
        ShapeRef(match &shape.0 {
            Kind::Mesh(model) => Form::Mesh(model),
            Kind::Sphere { radius } => Form::Sphere { radius: *radius },
            Kind::Cuboid { half, model } => Form::Cuboid { half: *half, model },
        })
    }
}

/// What a shape is, to match on and to write down.
#[derive(Clone, Copy, Debug)]
pub enum ShapeKind<'a> {
    /// Triangles; solid if the mesh is marked so.
    Mesh(&'a Arc<Model>),
    /// A solid sphere around the origin of the body.
    Sphere {
        /// 0 for a point.
        radius: f64,
    },
    /// A solid box around the origin of the body, along its axes.
    Cuboid {
        /// Its edges, as rounded when it was made: twice an `f32`.
        size: DVec3,
    },
}

/// Why numbers are not a shape.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ShapeError {
    /// A radius that is no number, below zero, or out of range.
    #[error(
        "a sphere needs a radius of 0 or from {RADIUS_MIN:e} to {RADIUS_MAX:e}, found {radius}"
    )]
    BadRadius {
        /// The radius found.
        radius: f64,
    },
    /// Edges of a box that are no numbers or out of range.
    #[error("not a box: {0}")]
    BadSize(#[from] SolidError),
}

/// Boxes end here: coordinates further out are taken as this far. 2^127, half of what `f32` can
/// hold, so that boxes can still be made larger.
const BOUNDS_MAX: DVec3 = DVec3::splat(f64::from_bits((1023 + 127) << 52));

impl Shape {
    /// The triangles of a model. Bodies that look the same should share it.
    #[must_use]
    pub fn mesh(model: impl Into<Arc<Model>>) -> Shape {
        Shape(Kind::Mesh(model.into()))
    }

    /// A solid sphere around the origin of the body; a point for a radius of 0.
    ///
    /// # Errors
    /// A radius below 0, or above 0 and not between [`RADIUS_MIN`] and [`RADIUS_MAX`], or NaN.
    pub fn sphere(radius: f64) -> Result<Shape, ShapeError> {
        // NaN is in no range.
        if radius == 0.0 || (RADIUS_MIN..=RADIUS_MAX).contains(&radius) {
            // 0 may have come with a sign.
            Ok(Shape(Kind::Sphere { radius: radius.abs() }))
        } else {
            Err(ShapeError::BadRadius { radius })
        }
    }

    /// A solid box around the origin of the body with these edges, along its axes. Half of each
    /// edge is rounded to `f32`, as mesh coordinates are.
    ///
    /// # Errors
    /// Edges outside [`solids::DIMENSION_MIN`] to [`solids::DIMENSION_MAX`].
    pub fn cuboid(size: DVec3) -> Result<Shape, ShapeError> {
        let mesh = solids::cuboid(size)?.into_solid().expect("a box has no open edge");
        let half = mesh.vertices().iter().fold(DVec3::ZERO, |most, v| most.max(v.as_dvec3()));
        // Boxes along the axes fit its sides exactly, and are made in the shortest time.
        let model = Arc::new(Model::build(mesh, Quality::Fast));
        Ok(Shape(Kind::Cuboid { half, model }))
    }

    /// What it is.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Shape, ShapeKind};
    ///
    /// let shape = Shape::cuboid(DVec3::new(1.0, 2.0, 3.0))?;
    /// let ShapeKind::Cuboid { size } = shape.kind() else { panic!("{shape:?}") };
    /// assert_eq!(size, DVec3::new(1.0, 2.0, 3.0));
    /// # Ok::<(), jostle_geom::ShapeError>(())
    /// ```
    #[must_use]
    pub fn kind(&self) -> ShapeKind<'_> {
        match &self.0 {
            Kind::Mesh(model) => ShapeKind::Mesh(model),
            Kind::Sphere { radius } => ShapeKind::Sphere { radius: *radius },
            Kind::Cuboid { half, .. } => ShapeKind::Cuboid { size: *half * 2.0 },
        }
    }

    /// A mesh without triangles: it touches nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Kind::Mesh(model) => model.mesh().triangle_count() == 0,
            Kind::Sphere { .. } | Kind::Cuboid { .. } => false,
        }
    }

    /// The radius of a sphere around the body's own origin that holds the shape, rounded up.
    #[must_use]
    pub fn radius(&self) -> f64 {
        ShapeRef::from(self).radius()
    }

    /// A box that holds the shape in its pose; `None` if it is empty. Rounded outward, the
    /// smallest for spheres and boxes, and found in a time that does not depend on the size of a
    /// mesh (but for the first time).
    ///
    /// A mesh that reaches further out than 2^127 gets a box that ends there. No overlap of two
    /// boxes is lost by that.
    #[must_use]
    pub fn bounds(&self, pose: &Pose) -> Option<Aabb> {
        let (low, high) = match &self.0 {
            Kind::Mesh(model) => PosedModel::new(model, pose).bounds()?,
            Kind::Sphere { radius } => sphere::bounds(pose.translation(), *radius),
            Kind::Cuboid { half, .. } => cuboid::bounds(*half, pose),
        };
        let [low, high] = [low, high].map(|corner| corner.clamp(-BOUNDS_MAX, BOUNDS_MAX));
        Some(Aabb::around_f64(low, high))
    }

    /// The triangles of a mesh or a cuboid; `None` for a sphere.
    #[must_use]
    pub fn model(&self) -> Option<&Arc<Model>> {
        match &self.0 {
            Kind::Mesh(model) | Kind::Cuboid { model, .. } => Some(model),
            Kind::Sphere { .. } => None,
        }
    }
}
