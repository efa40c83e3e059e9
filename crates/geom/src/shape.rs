//! What a body looks like: a mesh, a convex hull, a sphere, a cuboid, a capsule, a cylinder or a
//! cone.
//!
//! The set is closed, so that every pair of shapes is decided in one place
//! ([`Pair`](crate::Pair)): exactly for those of triangles and for spheres, within a stated bound
//! for the other round ones. A shape has no position of its own: that is its [`Pose`].

pub(crate) mod cuboid;
pub(crate) mod round;
mod round_ray;
mod round_relation;
mod round_triangles;
pub(crate) mod sphere;

use crate::convex::facets;
use crate::limits::{RADIUS_MAX, RADIUS_MIN};
use crate::solids::{self, DIMENSION_MAX, DIMENSION_MIN, SolidError};
use crate::{Aabb, Mesh, MeshError, Model, Pose, PosedModel, Quality, Ray, RayHit};
use glam::{DVec3, Vec3};
use round::{PosedRound, Round};
use sphere::PosedTriangles;
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
    ConvexHull(Arc<Model>),
    Round(Round),
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
    Round(Round),
    /// Its triangles are those of `model`.
    Cuboid {
        half: DVec3,
        model: &'a Model,
    },
}

/// A shape at a pose.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PosedShape<'a> {
    Round(PosedRound),
    Triangles(PosedTriangles<'a>),
}

impl<'a> ShapeRef<'a> {
    /// The triangles of a mesh, a convex hull or a cuboid.
    pub(crate) fn model(self) -> Option<&'a Model> {
        match self.0 {
            Form::Mesh(model) | Form::Cuboid { model, .. } => Some(model),
            Form::Round(_) => None,
        }
    }

    #[inline]
    pub(crate) fn at(self, pose: &Pose) -> PosedShape<'a> {
        let triangles = |model, half| PosedTriangles { model, pose: *pose, half };
        match self.0 {
            Form::Mesh(model) => PosedShape::Triangles(triangles(model, None)),
            Form::Cuboid { half, model } => PosedShape::Triangles(triangles(model, Some(half))),
            Form::Round(round) => PosedShape::Round(PosedRound::new(round, pose)),
        }
    }

    /// A capsule, a cylinder or a cone.
    pub(crate) fn is_round_but_no_sphere(self) -> bool {
        matches!(self.0, Form::Round(round) if !matches!(round, Round::Sphere { .. }))
    }

    /// As [`Shape::radius`].
    pub(crate) fn radius(self) -> f64 {
        match self.0 {
            Form::Mesh(model) | Form::Cuboid { model, .. } => model.radius(),
            Form::Round(round) => round.reach(),
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
            // A hull is a mesh that is known to be convex.
            Kind::Mesh(model) | Kind::ConvexHull(model) => Form::Mesh(model),
            Kind::Round(round) => Form::Round(*round),
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
    /// The solid convex hull of points: triangles that are known to be convex.
    ConvexHull(&'a Arc<Model>),
    /// All points within a radius of a segment along z, which has its middle in the origin of the
    /// body.
    Capsule {
        /// The distance from the segment.
        radius: f64,
        /// The length of the segment: without the round ends.
        height: f64,
    },
    /// A solid cylinder along z around the origin of the body.
    Cylinder {
        /// The distance of its side from the axis.
        radius: f64,
        /// From one flat end to the other.
        height: f64,
    },
    /// A solid cone along z with its tip up; the origin of the body is half way up.
    Cone {
        /// Of the flat end.
        radius: f64,
        /// From the flat end to the tip.
        height: f64,
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
    /// A dimension of a capsule, a cylinder or a cone that is no number or out of range.
    #[error(
        "the {dimension} of a {shape} must be from {DIMENSION_MIN:e} to {DIMENSION_MAX:e}, found \
         {found}"
    )]
    BadDimension {
        /// Of what.
        shape: &'static str,
        /// Which one.
        dimension: &'static str,
        /// The number found.
        found: f64,
    },
    /// A point of a hull with coordinates that are not finite.
    #[error("a convex hull needs finite points, but point {point} is {position}")]
    BadPoint {
        /// The point, counted from 0.
        point: usize,
        /// The coordinates found.
        position: Vec3,
    },
    /// Points without a hull that has an inside.
    #[error(
        "a convex hull needs four points that are not in one plane; none are in {points} given"
    )]
    Flat {
        /// How many points were given.
        points: usize,
    },
    /// More points than a hull is made of.
    #[error("{points} points are too many for a convex hull; the limit is {most}")]
    TooManyPoints {
        /// How many points were given.
        points: usize,
        /// The limit.
        most: usize,
    },
    /// A model that is not convex.
    #[error("a convex hull needs a mesh that passed Mesh::into_solid and encloses a convex set")]
    NotConvex,
    /// A mesh that the hull does not become.
    #[error("the convex hull is no mesh: {0}")]
    Mesh(#[from] MeshError),
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
            Ok(Shape(Kind::Round(Round::Sphere { radius: radius.abs() })))
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

    /// A solid capsule along z around the origin of the body: all points within `radius` of a
    /// segment of length `height`.
    ///
    /// Capsules, cylinders and cones are not cut into triangles. All numbers about them are right
    /// to 1e-12 of the lengths involved (sizes, and how far apart the two shapes are); what
    /// touches, overlaps or is inside by less than that is decided by rounding.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Pair, Pose, Shape};
    ///
    /// let (pill, ball) = (Shape::capsule(1.0, 4.0)?, Shape::sphere(0.5)?);
    /// let above = Pose::from_translation(DVec3::new(0.0, 0.0, 4.0))?;
    /// let pair = Pair::new(&pill, &Pose::IDENTITY, &ball, &above);
    /// assert_eq!(pair.distance().unwrap().distance, 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A dimension outside of [`solids::DIMENSION_MIN`] to [`solids::DIMENSION_MAX`].
    pub fn capsule(radius: f64, height: f64) -> Result<Shape, ShapeError> {
        let half = dimensions("capsule", radius, height)?;
        Ok(Shape(Kind::Round(Round::Capsule { radius, half })))
    }

    /// A solid cylinder along z around the origin of the body. See [`Shape::capsule`] for how exact
    /// answers about it are.
    ///
    /// # Errors
    /// As [`Shape::capsule`].
    pub fn cylinder(radius: f64, height: f64) -> Result<Shape, ShapeError> {
        let half = dimensions("cylinder", radius, height)?;
        Ok(Shape(Kind::Round(Round::Cylinder { radius, half })))
    }

    /// A solid cone along z with its tip up, the origin of the body half way between tip and flat
    /// end. See [`Shape::capsule`] for how exact answers about it are.
    ///
    /// # Errors
    /// As [`Shape::capsule`].
    pub fn cone(radius: f64, height: f64) -> Result<Shape, ShapeError> {
        let half = dimensions("cone", radius, height)?;
        Ok(Shape(Kind::Round(Round::Cone { radius, half })))
    }

    /// Most points that a convex hull is made of.
    pub const HULL_POINTS_MAX: usize = 1 << 16;

    /// The solid convex hull of points, found exactly. It is made of triangles, one face for each
    /// flat side, so every answer about it is exact. Its vertices are those of the points that are
    /// strict corners, in the order given.
    ///
    /// Takes a look at all points for each flat side.
    ///
    /// ```
    /// use glam::Vec3;
    /// use jostle_geom::Shape;
    ///
    /// let points = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::splat(0.1)];
    /// let hull = Shape::convex_hull(&points)?;
    /// let model = hull.model().unwrap();
    /// assert_eq!(model.mesh().vertices().len(), 4);
    /// assert!(model.is_convex());
    /// # Ok::<(), jostle_geom::ShapeError>(())
    /// ```
    ///
    /// # Errors
    /// Points that are not finite, all in one plane, or more than [`Shape::HULL_POINTS_MAX`].
    pub fn convex_hull(points: &[Vec3]) -> Result<Shape, ShapeError> {
        let most = Shape::HULL_POINTS_MAX;
        if points.len() > most {
            return Err(ShapeError::TooManyPoints { points: points.len(), most });
        }
        if let Some(point) = points.iter().position(|p| !p.is_finite()) {
            return Err(ShapeError::BadPoint { point, position: points[point] });
        }
        let exact: Vec<DVec3> = points.iter().map(|p| p.as_dvec3()).collect();
        let mut rings = facets(&exact).ok_or(ShapeError::Flat { points: points.len() })?;
        let mut used: Vec<u32> = rings.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let renumber = |i: &mut u32| *i = used.partition_point(|u| u < i) as u32;
        rings.iter_mut().flatten().for_each(renumber);
        let corners = used.iter().map(|&i| points[i as usize]).collect();
        let mesh = Mesh::from_polygons(corners, &rings)?;
        let mesh = mesh.into_solid().expect("each edge of a hull has a facet on both sides");
        Ok(Shape(Kind::ConvexHull(Arc::new(Model::build(mesh, Quality::Default)))))
    }

    /// A convex hull that is a model already: its mesh is solid, and what it encloses is convex.
    ///
    /// # Errors
    /// A model that [`Model::is_convex`] is false for.
    pub fn convex_mesh(model: impl Into<Arc<Model>>) -> Result<Shape, ShapeError> {
        let model = model.into();
        if model.is_convex() {
            Ok(Shape(Kind::ConvexHull(model)))
        } else {
            Err(ShapeError::NotConvex)
        }
    }

    /// Where a ray enters the shape in its pose: the first point of the surface of a mesh, of all
    /// points of a round shape. The normal is zero where there is none.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Pose, Ray, Shape};
    ///
    /// let cone = Shape::cone(1.0, 2.0)?;
    /// let ray = Ray::new(DVec3::X * 9.0, DVec3::NEG_X, f64::INFINITY)?;
    /// let hit = cone.ray(&Pose::IDENTITY, &ray).unwrap();
    /// assert_eq!(hit.point, DVec3::X * 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn ray(&self, pose: &Pose, ray: &Ray) -> Option<RayHit> {
        match &self.0 {
            Kind::Mesh(model) | Kind::ConvexHull(model) | Kind::Cuboid { model, .. } => {
                PosedModel::new(model, pose).ray(ray)
            }
            Kind::Round(round) => PosedRound::new(*round, pose).ray(ray),
        }
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
            Kind::ConvexHull(model) => ShapeKind::ConvexHull(model),
            Kind::Round(round) => round.kind(),
            Kind::Cuboid { half, .. } => ShapeKind::Cuboid { size: *half * 2.0 },
        }
    }

    /// A mesh without triangles: it touches nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Kind::Mesh(model) => model.mesh().triangle_count() == 0,
            Kind::ConvexHull(_) | Kind::Round(_) | Kind::Cuboid { .. } => false,
        }
    }

    /// The radius of a sphere around the body's own origin that holds the shape, rounded up.
    #[must_use]
    pub fn radius(&self) -> f64 {
        ShapeRef::from(self).radius()
    }

    /// A box that holds the shape in its pose; `None` if it is empty. Rounded outward, the
    /// smallest for spheres and boxes, the smallest but for rounding for other round shapes, and
    /// found in a time that does not depend on the size of a mesh (but for the first time).
    ///
    /// A mesh that reaches further out than 2^127 gets a box that ends there. No overlap of two
    /// boxes is lost by that.
    #[must_use]
    pub fn bounds(&self, pose: &Pose) -> Option<Aabb> {
        let (low, high) = match &self.0 {
            Kind::Mesh(model) | Kind::ConvexHull(model) => PosedModel::new(model, pose).bounds()?,
            Kind::Round(Round::Sphere { radius }) => sphere::bounds(pose.translation(), *radius),
            Kind::Round(round) => PosedRound::new(*round, pose).bounds(),
            Kind::Cuboid { half, .. } => cuboid::bounds(*half, pose),
        };
        let [low, high] = [low, high].map(|corner| corner.clamp(-BOUNDS_MAX, BOUNDS_MAX));
        Some(Aabb::around_f64(low, high))
    }

    /// The triangles of a mesh, a convex hull or a cuboid; `None` for a sphere, a capsule, a
    /// cylinder and a cone.
    #[must_use]
    pub fn model(&self) -> Option<&Arc<Model>> {
        match &self.0 {
            Kind::Mesh(model) | Kind::ConvexHull(model) | Kind::Cuboid { model, .. } => Some(model),
            Kind::Round(_) => None,
        }
    }
}

impl Round {
    fn kind(self) -> ShapeKind<'static> {
        match self {
            Round::Sphere { radius } => ShapeKind::Sphere { radius },
            Round::Capsule { radius, half } => ShapeKind::Capsule { radius, height: half * 2.0 },
            Round::Cylinder { radius, half } => ShapeKind::Cylinder { radius, height: half * 2.0 },
            Round::Cone { radius, half } => ShapeKind::Cone { radius, height: half * 2.0 },
        }
    }
}

/// Half of the height, if radius and height are dimensions.
fn dimensions(shape: &'static str, radius: f64, height: f64) -> Result<f64, ShapeError> {
    for (dimension, found) in [("radius", radius), ("height", height)] {
        // NaN is in no range.
        if !(DIMENSION_MIN..=DIMENSION_MAX).contains(&found) {
            return Err(ShapeError::BadDimension { shape, dimension, found });
        }
    }
    Ok(height * 0.5)
}
