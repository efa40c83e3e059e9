//! Two models in two poses: every question that can be asked of them.
//!
//! A [`Pair`] is cheap to make and holds no state; every query is a function of it alone, so
//! pairs can be asked from any thread. Answers name faces as the callers of
//! [`Mesh::from_polygons`](crate::Mesh::from_polygons) counted them.

mod batch;
mod distance;
mod leaf;
mod near;
mod needle;
mod pieces;
mod place;
mod relation;
mod relative;
mod search;
mod walk;

use crate::single::{Placed, Side};
use crate::triangle::{self, Triangle, triangles_touch};
use crate::{Model, Pose};
pub use batch::Batch;
pub use distance::DistanceSearch;
use glam::DVec3;
use near::Nearer;
pub use relation::{OverlapsError, Relation};
use relative::Relative;
pub use search::{Answer, Limits, Progress, TouchSearch};
use std::ops::ControlFlow;
pub use walk::Counters;
use walk::{End, Order, Touching, Walk};

/// Two models, each in its pose.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::{Model, Pair, Pose, Quality, solids};
///
/// let cube = Model::build(solids::cuboid(DVec3::ONE)?, Quality::Default);
/// let beside = Pose::from_translation(DVec3::new(1.5, 0.0, 0.0))?;
/// let pair = Pair::new(&cube, &Pose::IDENTITY, &cube, &beside);
/// assert!(!pair.touches());
/// assert_eq!(pair.distance().map(|d| d.distance), Some(0.5));
/// assert!(pair.within(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    a: &'a Model,
    pose_a: Pose,
    b: &'a Model,
    pose_b: Pose,
    relative: Relative,
}

/// Two faces that touch, as their callers counted them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FacePair {
    /// Face of the first model.
    pub a: u32,
    /// Face of the second model.
    pub b: u32,
}

/// A proof that two models touch.
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

/// How far apart two models are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Smallest distance between the two; 0 exactly when they touch.
    pub distance: f64,
    /// The closest point on the first model, in the world.
    pub point_a: DVec3,
    /// The closest point on the second model, in the world.
    pub point_b: DVec3,
    /// The faces that these points lie on.
    pub faces: FacePair,
}

impl<'a> Pair<'a> {
    /// `a` in `pose_a` and `b` in `pose_b`.
    #[must_use]
    pub fn new(a: &'a Model, pose_a: &Pose, b: &'a Model, pose_b: &Pose) -> Pair<'a> {
        let relative = Relative::new(a, pose_a, b, pose_b);
        Pair { a, pose_a: *pose_a, b, pose_b: *pose_b, relative }
    }

    /// Do they share at least one point? Exact for the placed vertices. Where a mesh is solid,
    /// what lies inside it counts as touching it.
    #[must_use]
    pub fn touches(&self) -> bool {
        self.touches_counted().0
    }

    /// [`Pair::touches`], and what it cost.
    #[must_use]
    pub fn touches_counted(&self) -> (bool, Counters) {
        let mut walk = Walk::new(self, Order::Deepest, 0.0);
        let end = walk.run(self, u64::MAX, &mut Touching(|_, _| ControlFlow::Break(())));
        (end == End::Stopped || self.inside().is_some(), walk.counters)
    }

    /// Two touching faces and a common point, if they touch.
    #[must_use]
    pub fn witness(&self) -> Option<Witness> {
        self.contact().0
    }

    fn contact(&self) -> (Option<Witness>, Counters) {
        let mut found = None;
        let mut walk = Walk::new(self, Order::Deepest, 0.0);
        walk.run(
            self,
            u64::MAX,
            &mut Touching(|a, b| {
                found = Some((a, b));
                ControlFlow::Break(())
            }),
        );
        let shared = |(a, b)| {
            let common = triangle::common(&self.placed_a(a), &self.placed_b(b))?;
            Some(Witness { faces: self.faces(a, b), point: common.point() })
        };
        (found.map_or_else(|| self.inside(), shared), walk.counters)
    }

    /// Every touching pair of faces, sorted. Faces only: one solid inside the other touches no
    /// face.
    #[must_use]
    pub fn all_pairs(&self) -> Vec<FacePair> {
        self.all_pairs_counted().0
    }

    /// [`Pair::all_pairs`], and what it cost.
    #[must_use]
    pub fn all_pairs_counted(&self) -> (Vec<FacePair>, Counters) {
        let mut found: Vec<u64> = Vec::new();
        let mut walk = Walk::new(self, Order::Any, 0.0);
        walk.run(
            self,
            u64::MAX,
            &mut Touching(|a, b| {
                found.push(self.faces(a, b).key());
                ControlFlow::Continue(())
            }),
        );
        found.sort_unstable();
        if self.a.mesh.has_polygons() || self.b.mesh.has_polygons() {
            found.dedup();
        }
        (found.into_iter().map(FacePair::from_key).collect(), walk.counters)
    }

    /// Every touching pair of triangles with what they share, sorted by face. A pair of polygons
    /// has an entry for each pair of their triangles that touches.
    #[must_use]
    pub fn all_segments(&self) -> Vec<SharedSegment> {
        let mut found: Vec<(FacePair, usize, usize)> = Vec::new();
        let mut walk = Walk::new(self, Order::Any, 0.0);
        walk.run(
            self,
            u64::MAX,
            &mut Touching(|a, b| {
                found.push((self.faces(a, b), a, b));
                ControlFlow::Continue(())
            }),
        );
        found.sort_unstable();
        let segment = |(faces, a, b)| {
            let common = triangle::common(&self.placed_a(a), &self.placed_b(b))?;
            Some(SharedSegment { faces, ends: common.ends })
        };
        found.into_iter().filter_map(segment).collect()
    }

    /// The smallest distance; `None` if one of the models is empty. Where a mesh is solid, what
    /// lies inside it has distance 0.
    #[must_use]
    pub fn distance(&self) -> Option<Distance> {
        self.distance_counted().0
    }

    /// [`Pair::distance`], and what it cost.
    #[must_use]
    pub fn distance_counted(&self) -> (Option<Distance>, Counters) {
        // Most contacts are found sooner than a distance would be.
        let (contact, mut counters) = self.contact();
        if let Some(Witness { faces, point }) = contact {
            let touching = Distance { distance: 0.0, point_a: point, point_b: point, faces };
            return (Some(touching), counters);
        }
        let mut search = self.search_distance().known_apart();
        search.run(u64::MAX);
        counters.box_tests += search.counters().box_tests;
        counters.triangle_tests += search.counters().triangle_tests;
        (search.found(), counters)
    }

    /// Is the smallest distance at most `distance`? Touching is decided exactly, a positive
    /// distance within the rounding of `f64`. Nothing is within a negative distance or NaN.
    #[must_use]
    pub fn within(&self, distance: f64) -> bool {
        self.within_counted(distance).0
    }

    /// [`Pair::within`], and what it cost.
    #[must_use]
    pub fn within_counted(&self, distance: f64) -> (bool, Counters) {
        if distance.is_nan() || distance < 0.0 {
            return (false, Counters::default());
        }
        let gap = (distance * (1.0 + 1e-6)) as f32 + f32::MIN_POSITIVE;
        let mut walk = Walk::new(self, Order::Deepest, gap);
        let end = walk.run(self, u64::MAX, &mut Nearer(distance));
        (end == End::Stopped || self.inside().is_some(), walk.counters)
    }

    /// A distance that they are not closer than, from a few box tests. 0 when they may touch,
    /// infinite when one of them is empty.
    #[must_use]
    pub fn distance_lower_bound(&self) -> f64 {
        /// Enough to look three levels deep on both sides where they are closest.
        const BOX_TESTS: u64 = 16;
        if self.inside().is_some() {
            return 0.0;
        }
        let mut search = self.search_distance();
        search.run(BOX_TESTS);
        search.lower_bound()
    }

    /// A search for touching faces that can be limited, paused and resumed.
    #[must_use]
    pub fn search(&self, limits: Limits) -> TouchSearch<'a> {
        TouchSearch::new(*self, limits)
    }

    /// A search for the smallest distance of the two surfaces that can be paused and resumed.
    #[must_use]
    pub fn search_distance(&self) -> DistanceSearch<'a> {
        DistanceSearch::new(*self)
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
    /// A model whose mesh is not solid: a surface has no inside.
    pub fn overlaps(&self) -> Result<bool, OverlapsError> {
        relation::overlaps(self)
    }

    /// How do they lie to each other? See [`Relation`].
    #[must_use]
    pub fn relation(&self) -> Relation {
        relation::relation(self)
    }

    /// A part of one that lies inside the other, which is solid. Only for surfaces that do not
    /// touch: then one vertex of each connected part decides for the whole part.
    fn inside(&self) -> Option<Witness> {
        if !self.a.mesh.is_solid() && !self.b.mesh.is_solid() {
            return None;
        }
        let [a, b] = self.placed();
        let inner_b =
            || part_inside(&a, &b).map(|(face, point)| (FacePair { a: 0, b: face }, point));
        let inner_a =
            || part_inside(&b, &a).map(|(face, point)| (FacePair { a: face, b: 0 }, point));
        inner_b().or_else(inner_a).map(|(faces, point)| Witness { faces, point })
    }

    fn placed(&self) -> [Placed<'a>; 2] {
        [Placed::new(self.a, &self.pose_a), Placed::new(self.b, &self.pose_b)]
    }

    fn faces(&self, a: usize, b: usize) -> FacePair {
        FacePair { a: self.a.mesh.face_of(a as u32), b: self.b.mesh.face_of(b as u32) }
    }

    fn placed_a(&self, triangle: usize) -> Triangle {
        self.a.mesh.triangles[triangle].map(|v| self.pose_a.place(self.a.mesh.vertices[v as usize]))
    }

    fn placed_b(&self, triangle: usize) -> Triangle {
        self.b.mesh.triangles[triangle].map(|v| self.pose_b.place(self.b.mesh.vertices[v as usize]))
    }

    /// The exact answer for two triangles.
    #[cold]
    fn triangles_touch(&self, a: usize, b: usize) -> bool {
        triangles_touch(&self.placed_a(a), &self.placed_b(b))
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

/// A face of a connected part of `inner` that lies inside `outer`, and a point of it.
fn part_inside(outer: &Placed<'_>, inner: &Placed<'_>) -> Option<(u32, DVec3)> {
    if !outer.model().mesh.is_solid() {
        return None;
    }
    let mesh = &inner.model().mesh;
    let vertex = mesh.component_vertices.iter().copied().find(|&v| {
        let point = inner.pose().place(mesh.vertices[v as usize]);
        outer.contains(point) == Ok(Side::Inside)
    })?;
    let triangle = mesh.triangles.iter().position(|t| t.contains(&vertex))?;
    Some((mesh.face_of(triangle as u32), inner.pose().place(mesh.vertices[vertex as usize])))
}
