//! Two models at two poses: the questions that a walk over both hierarchies answers.
//!
//! The documentation of each question is at [`Pair`](super::Pair), which asks it here if both
//! shapes are made of triangles.

use super::distance::DistanceSearch;
use super::relative::Relative;
use super::walk::{Counters, End, Order, Touching, Walk};
use super::within::WithinDistance;
use super::{Distance, FacePair, SharedSegment, Witness};
use crate::posed_model::{PosedModel, Side};
use crate::triangle::{self, Triangle, triangles_touch};
use crate::{Model, Pose};
use glam::DVec3;
use std::ops::ControlFlow;

/// Two models, each at its pose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelPair<'a> {
    pub(crate) a: &'a Model,
    pub(crate) pose_a: Pose,
    pub(crate) b: &'a Model,
    pub(crate) pose_b: Pose,
    pub(super) relative: Relative,
}

impl<'a> ModelPair<'a> {
    /// Not inlined: then it is made where it stays, without a copy (seen with callgrind).
    #[inline(never)]
    pub(crate) fn new(a: &'a Model, pose_a: &Pose, b: &'a Model, pose_b: &Pose) -> ModelPair<'a> {
        let relative = Relative::new(a, pose_a, b, pose_b);
        ModelPair { a, pose_a: *pose_a, b, pose_b: *pose_b, relative }
    }

    pub(crate) fn touches(&self) -> (bool, Counters) {
        let mut walk = Walk::new(self, Order::Deepest, 0.0);
        let end = walk.run(self, u64::MAX, &mut Touching(|_, _| ControlFlow::Break(())));
        (end == End::Stopped || self.is_nested(), walk.counters)
    }

    pub(crate) fn witness(&self) -> (Option<Witness>, Counters) {
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
        let witness = match found {
            Some((a, b)) => self.witness_of(a, b),
            None => self.nested_witness(),
        };
        (witness, walk.counters)
    }

    /// Of two triangles that touch.
    pub(super) fn witness_of(&self, a: usize, b: usize) -> Option<Witness> {
        let common = triangle::common(&self.triangle_a(a), &self.triangle_b(b))?;
        Some(Witness { faces: self.faces(a, b), point: common.point() })
    }

    pub(crate) fn all_pairs(&self) -> (Vec<FacePair>, Counters) {
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

    pub(crate) fn all_segments(&self) -> Vec<SharedSegment> {
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
            let common = triangle::common(&self.triangle_a(a), &self.triangle_b(b))?;
            Some(SharedSegment { faces, ends: common.ends })
        };
        found.into_iter().filter_map(segment).collect()
    }

    pub(crate) fn distance(&self) -> (Option<Distance>, Counters) {
        // Most contacts are found sooner than a distance would be.
        let (witness, mut counters) = self.witness();
        if let Some(Witness { faces, point }) = witness {
            let touching = Distance { distance: 0.0, point_a: point, point_b: point, faces };
            return (Some(touching), counters);
        }
        let mut search = DistanceSearch::new(*self).known_apart();
        search.run(u64::MAX);
        counters.box_tests += search.counters().box_tests;
        counters.triangle_tests += search.counters().triangle_tests;
        (search.found(), counters)
    }

    /// Of a distance that is not below 0.
    pub(crate) fn within(&self, distance: f64) -> (bool, Counters) {
        let mut walk = Walk::new(self, Order::Deepest, gap_for(distance));
        let end = walk.run(self, u64::MAX, &mut WithinDistance(distance));
        (end == End::Stopped || self.is_nested(), walk.counters)
    }

    pub(crate) fn distance_lower_bound(&self) -> f64 {
        /// Enough to look three levels deep on both sides where they are closest.
        const BOX_TESTS: u64 = 16;
        if self.is_nested() {
            return 0.0;
        }
        let mut search = DistanceSearch::new(*self);
        search.run(BOX_TESTS);
        search.lower_bound()
    }

    /// Does a part of one lie inside the other, which is solid? Only for surfaces that do not
    /// touch: then one vertex of each connected part decides for the whole part.
    pub(super) fn is_nested(&self) -> bool {
        let [a, b] = self.posed();
        vertex_inside(&a, &b).is_some() || vertex_inside(&b, &a).is_some()
    }

    /// [`ModelPair::is_nested`] with a face of the inner part and a point of it. That takes a
    /// search through all triangles, which a mere yes or no does without.
    pub(super) fn nested_witness(&self) -> Option<Witness> {
        let [a, b] = self.posed();
        let inner_b = || {
            let (face, point) = face_at(&b, vertex_inside(&a, &b)?)?;
            Some(Witness { faces: FacePair { a: 0, b: face }, point })
        };
        let inner_a = || {
            let (face, point) = face_at(&a, vertex_inside(&b, &a)?)?;
            Some(Witness { faces: FacePair { a: face, b: 0 }, point })
        };
        inner_b().or_else(inner_a)
    }

    pub(super) fn posed(&self) -> [PosedModel<'a>; 2] {
        [PosedModel::new(self.a, &self.pose_a), PosedModel::new(self.b, &self.pose_b)]
    }

    pub(super) fn faces(&self, a: usize, b: usize) -> FacePair {
        FacePair { a: self.a.mesh.face_of(a as u32), b: self.b.mesh.face_of(b as u32) }
    }

    /// The placed corners of a triangle of the first model.
    pub(super) fn triangle_a(&self, triangle: usize) -> Triangle {
        self.a.mesh.corners(triangle).map(|corner| self.pose_a.transform_point(corner))
    }

    /// The placed corners of a triangle of the second model.
    pub(super) fn triangle_b(&self, triangle: usize) -> Triangle {
        self.b.mesh.corners(triangle).map(|corner| self.pose_b.transform_point(corner))
    }

    /// The exact answer for two triangles.
    #[cold]
    pub(super) fn triangles_touch(&self, a: usize, b: usize) -> bool {
        triangles_touch(&self.triangle_a(a), &self.triangle_b(b))
    }
}

/// The gap of a walk that must reach everything within `distance`, in the `f32` of the boxes.
///
/// Boxes whose gap is at most this are opened, so it must not be below `distance`. Rounding to
/// `f32` loses at most 2^-24 = 6e-8 of a number in the range of normal `f32`, and at most 2^-149
/// below it, and the sum with the margin of a box test as much again. The factor adds 1e-6, eight
/// times as much as both, and the second term the smallest normal number. A larger gap only makes
/// the walk look at more triangles, whose distance is then compared with `distance` itself. Beyond
/// the range of `f32` it is infinite, and everything is opened.
pub(super) fn gap_for(distance: f64) -> f32 {
    (distance * (1.0 + 1e-6)) as f32 + f32::MIN_POSITIVE
}

/// A vertex of a connected part of `inner` that lies inside `outer`.
fn vertex_inside(outer: &PosedModel<'_>, inner: &PosedModel<'_>) -> Option<u32> {
    if !outer.model().mesh.is_solid() {
        return None;
    }
    let mesh = &inner.model().mesh;
    mesh.component_vertices.iter().copied().find(|&v| {
        let point = inner.pose().transform_point(mesh.vertices.at(v));
        outer.contains(point) == Ok(Side::Inside)
    })
}

/// The first face with this vertex, and where the vertex is.
fn face_at(posed: &PosedModel<'_>, vertex: u32) -> Option<(u32, DVec3)> {
    let mesh = &posed.model().mesh;
    let triangle = mesh.triangles.iter().position(|t| t.contains(&vertex))?;
    let point = posed.pose().transform_point(mesh.vertices.at(vertex));
    Some((mesh.face_of(triangle as u32), point))
}
