//! How deep are two solids in each other? Four measures, each with a definition.
//!
//! | measure | is |
//! |---|---|
//! | [`Pair::clearing`] | how far the second must move along a given direction |
//! | [`Pair::separation`] | the shortest move of all that parts them, as a proved interval |
//! | [`Pair::immersion`] | how deep the surface of the second reaches into the first |
//! | [`Pair::classify`] | which of these matter within a tolerance |
//!
//! A surface that is not solid has no depth, and neither has a pair of triangles that cross: that
//! is what others report, and it becomes the smaller the finer the mesh is. See decision 51.

mod balls;
mod class;
mod clearing;
mod immersion;
mod interval;
mod planes;
mod separation;
mod sweep;
#[cfg(test)]
mod tests;

use super::models::ModelPair;
use super::relation::overlaps;
use super::walk::{Order, Touching, Walk};
use super::{FacePair, Meeting, OverlapsError, Pair, models_of};
use crate::shape::sphere::PosedSphere;
use crate::triangle::{self, TriangleRelation};
pub use class::Class;
use glam::DVec3;
pub use separation::Effort;
pub(super) use separation::short_way;
use std::ops::ControlFlow;

/// Why there is no answer to a question about depth.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DepthError {
    /// One of the models is not solid.
    #[error("no depth: {0}")]
    NoInside(#[from] OverlapsError),
    /// A round shape with a mesh or a cuboid, or one that is no sphere.
    #[error(
        "depth is found for two spheres and for what is made of triangles, not for other pairs of \
         round shapes: solids::sphere and others make meshes of these"
    )]
    Round,
    /// A direction that is zero or not finite.
    #[error("a direction must be finite and not zero, found {direction}")]
    BadDirection {
        /// The direction that was given.
        direction: DVec3,
    },
    /// A tolerance or a width that is negative or NaN.
    #[error("{what} must be 0 or above, found {found}")]
    BadTolerance {
        /// What was given.
        what: &'static str,
        /// The number that was given.
        found: f64,
    },
    /// The second shape would have to move further out than poses go.
    #[error("the second shape would move out of the range of poses, to {translation}")]
    TooFar {
        /// Where it would move to.
        translation: DVec3,
    },
}

/// What a move of the second shape along a direction takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearing {
    /// The least distance, 0 or above, after which they do not overlap. They may touch.
    pub first: f64,
    /// The least distance, 0 or above, beyond which they never overlap again.
    pub last: f64,
    /// Two faces that meet after the distance `first`; `None` if they do not overlap anywhere on
    /// the way. A cuboid counts its six sides as [`solids::cuboid`](crate::solids::cuboid) does,
    /// and a sphere has the face 0.
    pub faces: Option<FacePair>,
}

/// Bounds of the shortest move that parts two solids, and a move that does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// No shorter move of the second shape parts them.
    pub at_least: f64,
    /// The length of `way`.
    pub at_most: f64,
    /// After this move of the second shape they do not overlap.
    pub way: DVec3,
    /// A point of the first and one of the second shape that are in one place after the move,
    /// within rounding. If the shapes do not overlap, where they are closest.
    pub points: [DVec3; 2],
}

/// How deep the surface of the second shape reaches into the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Immersion {
    /// How far `point` is from the surface of the first shape, if it is inside; otherwise 0.
    pub at_least: f64,
    /// No point of the surface of the second shape that is inside of the first is further from the
    /// surface of the first.
    pub at_most: f64,
    /// The deepest point found of the surface of the second shape, in the world.
    pub point: DVec3,
    /// The face of the second shape that it is on.
    pub face: u32,
}

impl Pair<'_> {
    /// How far must the second shape move along `n`, which may have any length but 0, so that the
    /// insides do not overlap ([`Pair::overlaps`])? 0 if they do not overlap as they are.
    ///
    /// Both distances are within rounding, and rounded so that they are enough: a second shape
    /// whose pose is that far along does not overlap the first. Directions and places are rounded,
    /// too: a peg in a hole that is exactly as wide may not be found to fit, and faces that slide
    /// along each other may overlap on the way by a rounding.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Pair, Pose, Shape};
    ///
    /// let (beam, duct) = (Shape::cuboid(DVec3::ONE)?, Shape::cuboid(DVec3::new(9.0, 0.5, 0.5))?);
    /// let high = Pose::from_translation(DVec3::Z * 0.25)?;
    /// let pair = Pair::new(&beam, &Pose::IDENTITY, &duct, &high);
    /// assert_eq!(pair.clearing(DVec3::Z)?.first, 0.5);
    /// assert_eq!(pair.clearing(DVec3::NEG_Z)?.first, 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A mesh that is not solid, a round shape, but for two spheres, a direction that is 0 or
    /// not finite, a move out of the range of poses.
    pub fn clearing(&self, n: DVec3) -> Result<Clearing, DepthError> {
        let unit = unit(n).ok_or(DepthError::BadDirection { direction: n })?;
        if let Some([a, b]) = self.spheres() {
            return Ok(clearing_of_spheres(&a, &b, unit));
        }
        clearing::clearing(&self.solid_models()?, unit)
    }

    /// The shortest move of the second shape after which the insides do not overlap (the
    /// translational penetration depth): bounds of its length, and the move that proves
    /// `at_most`. 0 if they do not overlap.
    ///
    /// That there is no shorter one is proved by balls: a ball of radius r inside the first and one
    /// of radius s inside the second, with centres p and q, overlap unless the second moves, and
    /// they still do after every move that is closer to p − q than r + s. How narrow the interval
    /// is depends on the shapes and on `effort`; for two needles it is wide, and says so.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Effort, Model, Pair, Pose, Quality, solids};
    ///
    /// let cube = Model::build(solids::cuboid(DVec3::ONE)?.into_solid()?, Quality::Default);
    /// let beside = Pose::from_translation(DVec3::new(0.5, 0.0, 0.0))?;
    /// let found = Pair::new(&cube, &Pose::IDENTITY, &cube, &beside)
    ///     .separation(Effort::default())?;
    /// assert_eq!((found.at_most, found.way), (0.5, DVec3::X * 0.5));
    /// assert!(found.at_least > 0.499);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Pair::clearing`].
    pub fn separation(&self, effort: Effort) -> Result<Separation, DepthError> {
        if effort.width.is_nan() || effort.width < 0.0 {
            return Err(DepthError::BadTolerance { what: "a width", found: effort.width });
        }
        if let Some([a, b]) = self.spheres() {
            return Ok(separation_of_spheres(&a, &b));
        }
        separation::separation(&self.solid_models()?, effort)
    }

    /// The largest distance to the surface of the first shape of a point that is inside the first
    /// and on the surface of the second: an interval that is at most `width` wide, but for
    /// rounding. For the other way round swap the shapes.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, Pair, Pose, Quality, solids};
    ///
    /// let model = |size| Ok::<_, Box<dyn std::error::Error>>(Model::build(
    ///     solids::cuboid(size)?.into_solid()?, Quality::Default));
    /// let (block, pin) = (model(DVec3::splat(4.0))?, model(DVec3::new(0.1, 0.1, 2.0))?);
    /// let above = Pose::from_translation(DVec3::new(0.0, 0.0, 2.5))?;
    /// let found = Pair::new(&block, &Pose::IDENTITY, &pin, &above).immersion(1e-3)?;
    /// assert!(found.at_least <= 0.5 && 0.5 <= found.at_most);
    /// assert!(found.at_most - found.at_least <= 1e-3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A mesh that is not solid, a round shape, but for two spheres, a width that is negative
    /// or NaN.
    pub fn immersion(&self, width: f64) -> Result<Immersion, DepthError> {
        if width.is_nan() || width < 0.0 {
            return Err(DepthError::BadTolerance { what: "a width", found: width });
        }
        if let Some([a, b]) = self.spheres() {
            return Ok(immersion_of_spheres(&a, &b));
        }
        Ok(immersion::immersion(&self.solid_models()?, width))
    }

    /// How do two solids lie to each other, up to a tolerance? See [`Class`].
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Class, Pair, Pose, Shape};
    ///
    /// let cube = Shape::cuboid(DVec3::ONE)?;
    /// let class = |x: f64| {
    ///     let beside = Pose::from_translation(DVec3::X * x)?;
    ///     let class = Pair::new(&cube, &Pose::IDENTITY, &cube, &beside).classify(0.01)?;
    ///     Ok::<_, Box<dyn std::error::Error>>(class)
    /// };
    /// assert_eq!(class(1.25)?, Class::Clear(0.25));
    /// assert!(matches!(class(1.0 + 1e-9)?, Class::Near(_)));
    /// assert_eq!(class(1.0 - 1e-9)?, Class::Touching); // drawn flush, and rounded
    /// assert_eq!(class(0.75)?, Class::Overlapping);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Pair::separation`], and a tolerance that is negative or NaN.
    pub fn classify(&self, tolerance: f64) -> Result<Class, DepthError> {
        class::classify(self, tolerance)
    }

    /// Both, if they are spheres.
    fn spheres(&self) -> Option<[PosedSphere; 2]> {
        let Meeting::Rounds(a, b) = &self.0 else { return None };
        Some([a.as_sphere()?, b.as_sphere()?])
    }

    /// Both as solids made of triangles.
    fn solid_models(&self) -> Result<ModelPair<'_>, DepthError> {
        let models = match &self.0 {
            Meeting::Models(models) => *models,
            Meeting::Cuboids(cuboids) => models_of(cuboids),
            _ => return Err(DepthError::Round),
        };
        match (models.a.mesh.is_solid(), models.b.mesh.is_solid()) {
            (true, true) => Ok(models),
            (false, true) => Err(OverlapsError::FirstNotSolid.into()),
            (true, false) => Err(OverlapsError::SecondNotSolid.into()),
            (false, false) => Err(OverlapsError::NeitherSolid.into()),
        }
    }
}

/// With the second model somewhere else.
fn moved<'a>(pair: &ModelPair<'a>, way: DVec3) -> Result<ModelPair<'a>, DepthError> {
    let translation = pair.pose_b.translation() + way;
    let pose_b = pair.pose_b.moved_by(way).ok_or(DepthError::TooFar { translation })?;
    Ok(ModelPair::new(pair.a, &pair.pose_a, pair.b, &pose_b))
}

/// Do two solids not overlap? Exact, as [`overlaps`]. A quick look for a point inside both beside
/// the first triangles that cross comes first: many places that are asked about are deep inside.
fn is_free(pair: &ModelPair<'_>) -> Result<bool, DepthError> {
    let mut inside = false;
    let mut looks = 0;
    let crossing = |a: usize, b: usize| {
        let triangles = [pair.triangle_a(a), pair.triangle_b(b)];
        if triangle::relation(&triangles[0], &triangles[1]) == TriangleRelation::Crossing {
            looks += 1;
            inside = clearing::point_inside(&pair.posed(), &triangles).is_some();
        }
        if inside || looks == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    Walk::new(pair, Order::Deepest, 0.0).run(pair, u64::MAX, &mut Touching(crossing));
    Ok(!inside && !overlaps(pair)?)
}

/// All lengths involved: from the zero of the world to the models, and across both.
fn scale(pair: &ModelPair<'_>) -> f64 {
    let far = |pose: &crate::Pose| pose.translation().length();
    pair.a.radius() + pair.b.radius() + far(&pair.pose_a) + far(&pair.pose_b)
}

/// The direction with length 1; whole multiples of an axis give the axis.
fn unit(direction: DVec3) -> Option<DVec3> {
    let largest = direction.abs().max_element();
    if !direction.is_finite() || largest < f64::MIN_POSITIVE {
        return None;
    }
    let scaled = direction / largest;
    Some(scaled / scaled.length())
}

fn between(a: &PosedSphere, b: &PosedSphere) -> (DVec3, f64) {
    let between = b.centre - a.centre;
    (between, between.length())
}

/// |between + t·n| = reach.
fn clearing_of_spheres(a: &PosedSphere, b: &PosedSphere, n: DVec3) -> Clearing {
    let ((between, apart), reach) = (between(a, b), a.radius + b.radius);
    let along = between.dot(n);
    let beside = (between - n * along).length();
    // The later of two times, without cancellation.
    let half = ((reach - beside) * (reach + beside)).max(0.0).sqrt();
    let last =
        if along > 0.0 { (reach - apart) * (reach + apart) / (half + along) } else { half - along };
    let points = a.radius == 0.0 || b.radius == 0.0;
    if points || beside >= reach || last <= 0.0 {
        return Clearing { first: 0.0, last: 0.0, faces: None };
    }
    let first = if apart < reach { last } else { 0.0 };
    Clearing { first, last, faces: Some(FacePair { a: 0, b: 0 }) }
}

fn separation_of_spheres(a: &PosedSphere, b: &PosedSphere) -> Separation {
    let ((between, apart), reach) = (between(a, b), a.radius + b.radius);
    let along = if apart > 0.0 { between / apart } else { DVec3::X };
    let points = a.radius == 0.0 || b.radius == 0.0;
    let depth = if points { 0.0 } else { (reach - apart).max(0.0) };
    let points = [a.centre + along * a.radius, b.centre - along * b.radius];
    Separation { at_least: depth, at_most: depth, way: along * depth, points }
}

fn immersion_of_spheres(a: &PosedSphere, b: &PosedSphere) -> Immersion {
    let (between, apart) = between(a, b);
    let along = if apart > 0.0 { between / apart } else { DVec3::X };
    // The point of the second closest to the centre of the first: behind it or before it.
    let point = b.centre - along * b.radius;
    let depth = (a.radius - (apart - b.radius).abs()).max(0.0);
    Immersion { at_least: depth, at_most: depth, point, face: 0 }
}
