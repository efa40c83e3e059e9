//! Two shapes at two poses: every question about the two.
//!
//! A [`Pair`] holds no state; every query is a function of it alone, so pairs can be queried from
//! any thread. Answers name faces as the callers of
//! [`Mesh::from_polygons`](crate::Mesh::from_polygons) counted them.
//!
//! This is the one place where kinds of shapes meet. What has triangles on both sides is walked by
//! [`ModelPair`]; round shapes, and cuboids as far as they need no triangles, are decided in
//! `crates/geom/src/shape`. All round shapes are of one type here, so that a new one adds no case.

mod batch;
mod connect;
mod contacts;
mod depth;
mod distance;
mod large_leaf;
mod leaf;
mod manifold;
mod models;
mod near;
mod node_pair;
mod normal;
mod patches;
mod pieces;
mod relation;
mod relative;
mod search;
mod side;
mod walk;
mod within;

use crate::Pose;
use crate::shape::cuboid::PosedCuboids;
use crate::shape::round::PosedRound;
use crate::shape::sphere::{PosedTriangles, SphereGap};
use crate::shape::{Form, PosedShape, ShapeRef};
pub use batch::Batch;
pub use contacts::{ContactPoint, Contacts, ContactsError, Spacing};
pub use depth::{Class, Clearing, DepthError, Effort, Immersion, Separation};
pub use distance::DistanceSearch;
use glam::DVec3;
use models::ModelPair;
pub use near::NearPair;
pub use normal::ClosestContact;
pub use patches::{Patch, PatchExtent, PatchesError};
pub use relation::{OverlapsError, Relation};
pub use search::{SearchLimits, SearchResult, SearchStatus, TouchSearch};
pub use walk::Counters;

/// Two shapes, each at its pose.
///
/// Made from models or shapes, see [`ShapeRef`]. Round shapes are solid and have the one face 0.
/// Where a capsule, a cylinder or a cone takes part, answers are right within a bound instead of
/// exact, see [`Shape::capsule`](crate::Shape::capsule).
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Model, Pair, Pose, Quality, Shape, solids};
///
/// let cube = Model::build(solids::cuboid(DVec3::ONE)?, Quality::Default);
/// let beside = Pose::from_translation(DVec3::new(1.5, 0.0, 0.0))?;
/// let pair = Pair::new(&cube, &Pose::IDENTITY, &cube, &beside);
/// assert!(!pair.touches());
/// assert_eq!(pair.distance().map(|d| d.distance), Some(0.5));
/// assert!(pair.within(0.5));
///
/// let ball = Shape::sphere(1.0)?;
/// assert!(Pair::new(&cube, &Pose::IDENTITY, &ball, &beside).touches());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a>(Meeting<'a>);

/// What meets what.
#[derive(Clone, Copy, Debug)]
// A box for the large variant would be an allocation for each pair.
#[allow(clippy::large_enum_variant)]
enum Meeting<'a> {
    Models(ModelPair<'a>),
    /// Most questions are decided without triangles.
    Cuboids(PosedCuboids<'a>),
    RoundFirst(PosedRound, PosedTriangles<'a>),
    RoundSecond(PosedTriangles<'a>, PosedRound),
    Rounds(PosedRound, PosedRound),
}

/// Two faces that touch, as their callers counted them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FacePair {
    /// Face of the first shape.
    pub a: u32,
    /// Face of the second shape.
    pub b: u32,
}

/// A proof that two shapes touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Witness {
    /// The touching faces. Where one solid is inside the other, a face of the inner one and the
    /// face of the outer one with number 0.
    pub faces: FacePair,
    /// A point common to both, in the world, within rounding.
    pub point: DVec3,
}

/// What two touching faces share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedSegment {
    /// The touching faces.
    pub faces: FacePair,
    /// Its ends in the world, within rounding; equal for a single point. Where two triangles lie in
    /// one plane and overlap, the two points of the overlap that are furthest apart.
    pub ends: [DVec3; 2],
}

/// How far apart two shapes are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Smallest distance between the two; 0 exactly when they touch.
    pub distance: f64,
    /// The closest point on the first shape, in the world.
    pub point_a: DVec3,
    /// The closest point on the second shape, in the world.
    pub point_b: DVec3,
    /// The faces that these points lie on.
    pub faces: FacePair,
}

impl<'a> Pair<'a> {
    /// `a` at `pose_a` and `b` at `pose_b`.
    #[inline]
    #[must_use]
    pub fn new(
        a: impl Into<ShapeRef<'a>>,
        pose_a: &Pose,
        b: impl Into<ShapeRef<'a>>,
        pose_b: &Pose,
    ) -> Pair<'a> {
        let (a, b) = (a.into(), b.into());
        match (a.0, b.0) {
            // Straight away and inlined: the commonest pair, asked the most often.
            (Form::Mesh(a), Form::Mesh(b)) => {
                Pair(Meeting::Models(ModelPair::new(a, pose_a, b, pose_b)))
            }
            _ => Pair::of_shapes(a.at(pose_a), b.at(pose_b)),
        }
    }

    fn of_shapes(a: PosedShape<'a>, b: PosedShape<'a>) -> Pair<'a> {
        Pair(match (a, b) {
            (PosedShape::Round(a), PosedShape::Round(b)) => Meeting::Rounds(a, b),
            (PosedShape::Round(a), PosedShape::Triangles(b)) => Meeting::RoundFirst(a, b),
            (PosedShape::Triangles(a), PosedShape::Round(b)) => Meeting::RoundSecond(a, b),
            (PosedShape::Triangles(a), PosedShape::Triangles(b)) => match (a.half, b.half) {
                (Some(one), Some(two)) => {
                    Meeting::Cuboids(PosedCuboids { halves: [one, two], triangles: [a, b] })
                }
                _ => Meeting::Models(ModelPair::new(a.model, &a.pose, b.model, &b.pose)),
            },
        })
    }

    /// Do they share at least one point? Exact for the placed vertices and the numbers of spheres.
    /// What lies inside a round shape, a cuboid or a solid mesh touches it.
    #[must_use]
    pub fn touches(&self) -> bool {
        self.touches_counted().0
    }

    /// [`Pair::touches`], and what it cost. Only walks over two hierarchies are counted: the
    /// counters are 0 for round shapes, and where cuboids need no triangles.
    #[must_use]
    pub fn touches_counted(&self) -> (bool, Counters) {
        let uncounted = |touches| (touches, Counters::default());
        match &self.0 {
            Meeting::Models(models) => models.touches(),
            Meeting::Cuboids(cuboids) => {
                cuboids.touch().map_or_else(|| models_of(cuboids).touches(), uncounted)
            }
            Meeting::RoundFirst(round, other) | Meeting::RoundSecond(other, round) => {
                uncounted(other.touches_round(round))
            }
            Meeting::Rounds(a, b) => uncounted(a.touches(b)),
        }
    }

    /// Two touching faces and a common point, if they touch. A sphere gets the face that is closest
    /// to its centre, another round shape one of those that touch it.
    #[must_use]
    pub fn witness(&self) -> Option<Witness> {
        match &self.0 {
            Meeting::Models(models) => models.witness().0,
            Meeting::Cuboids(cuboids) if cuboids.are_beyond(0.0) => None,
            Meeting::Cuboids(cuboids) => models_of(cuboids).witness().0,
            Meeting::RoundFirst(round, other) => {
                let (face, point) = other.round_contact(round)?;
                Some(Witness { faces: FacePair { a: 0, b: face }, point })
            }
            Meeting::RoundSecond(other, round) => {
                let (face, point) = other.round_contact(round)?;
                Some(Witness { faces: FacePair { a: face, b: 0 }, point })
            }
            Meeting::Rounds(a, b) => a.touches(b).then(|| {
                let point = a.gap(b).on_sphere;
                Witness { faces: FacePair { a: 0, b: 0 }, point }
            }),
        }
    }

    /// Every touching pair of faces, sorted. Faces only: what lies inside a solid mesh or a cuboid
    /// touches no face of it. A round shape has the one face 0, which is all of its inside too.
    #[must_use]
    pub fn all_pairs(&self) -> Vec<FacePair> {
        self.all_pairs_counted().0
    }

    /// [`Pair::all_pairs`], and what it cost; see [`Pair::touches_counted`].
    #[must_use]
    pub fn all_pairs_counted(&self) -> (Vec<FacePair>, Counters) {
        let uncounted = |pairs| (pairs, Counters::default());
        let of_faces = |faces: Vec<u32>, pair: fn(u32) -> FacePair| {
            uncounted(faces.into_iter().map(pair).collect())
        };
        match &self.0 {
            Meeting::Models(models) => models.all_pairs(),
            Meeting::Cuboids(cuboids) if cuboids.are_beyond(0.0) => uncounted(Vec::new()),
            Meeting::Cuboids(cuboids) => models_of(cuboids).all_pairs(),
            Meeting::RoundFirst(round, other) => {
                of_faces(other.round_faces(round), |face| FacePair { a: 0, b: face })
            }
            Meeting::RoundSecond(other, round) => {
                of_faces(other.round_faces(round), |face| FacePair { a: face, b: 0 })
            }
            Meeting::Rounds(a, b) if a.touches(b) => uncounted(vec![FacePair { a: 0, b: 0 }]),
            Meeting::Rounds(..) => uncounted(Vec::new()),
        }
    }

    /// Every touching pair of triangles with what they share, sorted by face. A pair of polygons
    /// has an entry for each pair of their triangles that touches. Only triangles share segments: a
    /// round shape has none.
    #[must_use]
    pub fn all_segments(&self) -> Vec<SharedSegment> {
        match &self.0 {
            Meeting::Models(models) => models.all_segments(),
            Meeting::Cuboids(cuboids) if !cuboids.are_beyond(0.0) => {
                models_of(cuboids).all_segments()
            }
            _ => Vec::new(),
        }
    }

    /// The smallest distance, 0 exactly if they touch; `None` if one of the shapes is empty. What
    /// lies inside a round shape, a cuboid or a solid mesh has distance 0.
    #[must_use]
    pub fn distance(&self) -> Option<Distance> {
        self.distance_counted().0
    }

    /// [`Pair::distance`], and what it cost; see [`Pair::touches_counted`].
    #[must_use]
    pub fn distance_counted(&self) -> (Option<Distance>, Counters) {
        let uncounted = |distance| (distance, Counters::default());
        match &self.0 {
            Meeting::Models(models) => models.distance(),
            Meeting::Cuboids(cuboids) => models_of(cuboids).distance(),
            Meeting::RoundFirst(round, other) => uncounted(other.round_gap(round).map(round_first)),
            Meeting::RoundSecond(other, round) => {
                uncounted(other.round_gap(round).map(round_second))
            }
            Meeting::Rounds(a, b) => uncounted(Some(round_first(a.gap(b)))),
        }
    }

    /// Is the smallest distance at most `distance`? Touching is decided as by [`Pair::touches`], a
    /// positive distance within the rounding of `f64`. Nothing is within a negative distance or
    /// NaN.
    #[must_use]
    pub fn within(&self, distance: f64) -> bool {
        self.within_counted(distance).0
    }

    /// [`Pair::within`], and what it cost; see [`Pair::touches_counted`].
    #[must_use]
    pub fn within_counted(&self, distance: f64) -> (bool, Counters) {
        let uncounted = |within| (within, Counters::default());
        if distance.is_nan() || distance < 0.0 {
            return uncounted(false);
        }
        match &self.0 {
            Meeting::Models(models) => models.within(distance),
            Meeting::Cuboids(cuboids) if cuboids.are_beyond(distance) => uncounted(false),
            Meeting::Cuboids(cuboids) => models_of(cuboids).within(distance),
            Meeting::RoundFirst(round, other) | Meeting::RoundSecond(other, round) => {
                uncounted(other.round_within(round, distance))
            }
            Meeting::Rounds(a, b) => uncounted(a.gap(b).distance <= distance),
        }
    }

    /// A distance that they are not closer than, found quickly (from a few box tests). 0 when they
    /// may touch, infinite when one of them is empty.
    #[must_use]
    pub fn distance_lower_bound(&self) -> f64 {
        match &self.0 {
            Meeting::Models(models) => models.distance_lower_bound(),
            Meeting::Cuboids(cuboids) => cuboids.distance_at_least(),
            Meeting::RoundFirst(round, other) | Meeting::RoundSecond(other, round) => {
                other.round_distance_at_least(round)
            }
            Meeting::Rounds(a, b) => a.distance_at_least(b),
        }
    }

    /// A search for touching faces that can be limited, paused and resumed. Where a round shape is
    /// involved there is no hierarchy to limit: its first operation answers in full.
    #[must_use]
    pub fn search(&self, limits: SearchLimits) -> TouchSearch<'a> {
        TouchSearch::new(self, limits)
    }

    /// A search for the smallest distance of the two surfaces that can be paused and resumed.
    /// `None` if one is a round shape: [`Pair::distance`] takes it no time worth sharing out.
    #[must_use]
    pub fn search_distance(&self) -> Option<DistanceSearch<'a>> {
        self.models().map(DistanceSearch::new)
    }

    /// Do the insides of two solids share a point? Exact for the placed vertices. Solids that
    /// only touch, be it along whole faces, do not overlap.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, Pair, Pose, Quality, solids};
    ///
    /// let cube = Model::build(solids::cuboid(DVec3::ONE)?.into_solid()?, Quality::Default);
    /// let overlaps = |x: f64| {
    ///     let beside = Pose::from_translation(DVec3::X * x)?;
    ///     let pair = Pair::new(&cube, &Pose::IDENTITY, &cube, &beside);
    ///     Ok::<_, Box<dyn std::error::Error>>((pair.touches(), pair.overlaps()?))
    /// };
    /// assert_eq!(overlaps(0.5)?, (true, true));
    /// assert_eq!(overlaps(1.0)?, (true, false)); // face to face
    /// assert_eq!(overlaps(1.5)?, (false, false));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A mesh that is not solid: a surface has no inside.
    pub fn overlaps(&self) -> Result<bool, OverlapsError> {
        match &self.0 {
            Meeting::Models(models) => relation::overlaps(models),
            Meeting::Cuboids(cuboids) => relation::overlaps(&models_of(cuboids)),
            Meeting::RoundFirst(round, other) if other.model.mesh.is_solid() => {
                Ok(other.round_overlaps(round))
            }
            Meeting::RoundSecond(other, round) if other.model.mesh.is_solid() => {
                Ok(other.round_overlaps(round))
            }
            Meeting::RoundFirst(..) => Err(OverlapsError::SecondNotSolid),
            Meeting::RoundSecond(..) => Err(OverlapsError::FirstNotSolid),
            Meeting::Rounds(a, b) => Ok(a.overlaps(b)),
        }
    }

    /// How do they lie to each other? See [`Relation`]. Every pair of shapes has an answer.
    #[must_use]
    pub fn relation(&self) -> Option<Relation> {
        Some(match &self.0 {
            Meeting::Models(models) => relation::relation(models),
            Meeting::Cuboids(cuboids) => relation::relation(&models_of(cuboids)),
            Meeting::RoundFirst(round, other) => other.round_relation(round),
            Meeting::RoundSecond(other, round) => other.round_relation(round).swapped(),
            Meeting::Rounds(a, b) => a.relation(b),
        })
    }

    /// The walks over both hierarchies, if both shapes are made of triangles.
    fn models(&self) -> Option<ModelPair<'a>> {
        match &self.0 {
            Meeting::Models(models) => Some(*models),
            Meeting::Cuboids(cuboids) => Some(models_of(cuboids)),
            _ => None,
        }
    }
}

fn models_of<'a>(PosedCuboids { triangles: [a, b], .. }: &PosedCuboids<'a>) -> ModelPair<'a> {
    ModelPair::new(a.model, &a.pose, b.model, &b.pose)
}

fn round_first(gap: SphereGap) -> Distance {
    Distance {
        distance: gap.distance,
        point_a: gap.on_sphere,
        point_b: gap.on_other,
        faces: FacePair { a: 0, b: gap.face },
    }
}

fn round_second(gap: SphereGap) -> Distance {
    Distance {
        distance: gap.distance,
        point_a: gap.on_other,
        point_b: gap.on_sphere,
        faces: FacePair { a: gap.face, b: 0 },
    }
}

impl FacePair {
    /// One number that orders like the pair.
    #[inline(always)]
    fn key(self) -> u64 {
        u64::from(self.a) << 32 | u64::from(self.b)
    }

    fn from_key(key: u64) -> FacePair {
        FacePair { a: (key >> 32) as u32, b: key as u32 }
    }
}
