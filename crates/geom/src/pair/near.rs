//! All triangle pairs within reach, each with its closest points.
//!
//! The walk of [`Pair::within`], not stopped at the first pair. The filter at the leaves only
//! leaves out pairs that are surely too far; the placed triangles decide about the others, one by
//! one. So the list is, to the bit, that of comparing every triangle with every triangle.

use super::models::{ModelPair, gap_for};
use super::node_pair::LeafPair;
use super::walk::{Counters, LeafWork, Order, Walk};
use super::within::near_candidates;
use super::{FacePair, Meeting, Pair, models_of};
use crate::shape::sphere::SphereGap;
use crate::simd::Simd;
use crate::triangle::{self, TriangleDistance};
use glam::DVec3;
use std::ops::ControlFlow;

/// Two triangles that are near each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearPair {
    /// The faces that they are part of.
    pub faces: FacePair,
    /// Their smallest distance; 0 exactly when they touch.
    pub gap: f64,
    /// A closest point of each, in the world, within rounding.
    pub points: [DVec3; 2],
}

/// Two triangles by their numbers, and how far apart they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearTriangles {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) apart: TriangleDistance,
}

impl Pair<'_> {
    /// Every pair of triangles that are at most `reach` apart, with their closest points; sorted by
    /// face, then by triangle. A pair of polygons has an entry for each such pair of their
    /// triangles.
    ///
    /// Faces only, as [`Pair::all_pairs`]: what lies deep inside a solid mesh is near no face of
    /// it. A round shape has the one face 0, and a face that reaches into it has the gap 0. Nothing
    /// is within a negative reach or NaN.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::{Model, Pair, Pose, Quality, solids};
    ///
    /// let cube = Model::build(solids::cuboid(DVec3::ONE)?, Quality::Default);
    /// let above = Pose::from_translation(DVec3::Z * 1.25)?;
    /// let pair = Pair::new(&cube, &above, &cube, &Pose::IDENTITY);
    /// assert!(pair.near(0.2).is_empty());
    /// let near = pair.near(0.25);
    /// assert!(near.iter().all(|near| near.gap == 0.25));
    /// assert!(near.iter().all(|near| near.points[0].z == 0.75 && near.points[1].z == 0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn near(&self, reach: f64) -> Vec<NearPair> {
        if reach.is_nan() || reach < 0.0 {
            return Vec::new();
        }
        let of_round = |gap: SphereGap, faces: fn(u32) -> FacePair, first: usize| {
            let mut points = [gap.on_other; 2];
            points[first] = gap.on_sphere;
            NearPair { faces: faces(gap.face), gap: gap.distance, points }
        };
        match &self.0 {
            Meeting::Models(models) => models.near(reach),
            Meeting::Cuboids(cuboids) if cuboids.are_beyond(reach) => Vec::new(),
            Meeting::Cuboids(cuboids) => models_of(cuboids).near(reach),
            Meeting::RoundFirst(round, other) => {
                let gaps = other.round_gaps(round, reach).into_iter();
                gaps.map(|gap| of_round(gap, |face| FacePair { a: 0, b: face }, 0)).collect()
            }
            Meeting::RoundSecond(other, round) => {
                let gaps = other.round_gaps(round, reach).into_iter();
                gaps.map(|gap| of_round(gap, |face| FacePair { a: face, b: 0 }, 1)).collect()
            }
            Meeting::Rounds(a, b) => {
                let gap = a.gap(b);
                let near = gap.distance <= reach;
                near.then(|| of_round(gap, |_| FacePair { a: 0, b: 0 }, 0)).into_iter().collect()
            }
        }
    }
}

impl ModelPair<'_> {
    fn near(&self, reach: f64) -> Vec<NearPair> {
        let mut found = self.near_triangles(reach);
        found.sort_unstable_by_key(|near| (self.faces(near.a, near.b), near.a, near.b));
        let public = |near: &NearTriangles| NearPair {
            faces: self.faces(near.a, near.b),
            gap: near.apart.distance,
            points: [near.apart.on_a, near.apart.on_b],
        };
        found.iter().map(public).collect()
    }

    /// The pairs within a reach that is not below 0, sorted by triangle.
    pub(super) fn near_triangles(&self, reach: f64) -> Vec<NearTriangles> {
        self.collect(self, reach, |apart| apart.distance <= reach)
    }

    /// Of a pair whose first model was moved by `way`: those pairs, sorted by triangle, that may be
    /// within a reach along their normal once the model is back.
    ///
    /// With d from the second to the first closest point, these have |d| − way·d/|d| ≤ reach. Then
    /// |d − way/2|² = |d|(|d| − way·d/|d|) + |way|²/4 ≤ (reach + |way|/2)², as |d| is no more than
    /// reach + |way|: at half the way they are that near. (All pairs within reach + |way| were 30
    /// times as many for two cubes of 3072 triangles.)
    pub(super) fn near_before(&self, way: DVec3, reach: f64) -> Vec<NearTriangles> {
        let Some(pose_a) = self.pose_a.moved_by(way * -0.5) else {
            return self.near_triangles(reach + way.length());
        };
        let halfway = ModelPair::new(self.a, &pose_a, self.b, &self.pose_b);
        // Places are rounded, and those that touch after a move along a surface count.
        let far = pose_a.translation().length() + self.pose_b.translation().length();
        let size = far + self.a.radius() + self.b.radius();
        let reach = reach + 0.5 * way.length() + ROUNDING * size;
        let is_near =
            |apart: &TriangleDistance| (apart.on_a - apart.on_b - way * 0.5).length() <= reach;
        self.collect(&halfway, reach, is_near)
    }

    /// Those pairs of this, sorted by triangle, that are within `reach` in `walked`, which is the
    /// same two models, perhaps elsewhere, and that `is_near` holds for where they are here.
    fn collect(
        &self,
        walked: &ModelPair<'_>,
        reach: f64,
        is_near: impl Fn(&TriangleDistance) -> bool,
    ) -> Vec<NearTriangles> {
        let mut found = Vec::new();
        let visit = |a: usize, b: usize| {
            let apart = triangle::distance(&self.triangle_a(a), &self.triangle_b(b));
            if is_near(&apart) {
                found.push(NearTriangles { a, b, apart });
            }
        };
        Walk::new(walked, Order::Any, gap_for(reach)).run(
            walked,
            u64::MAX,
            &mut Near { reach, visit },
        );
        found.sort_unstable_by_key(|near| (near.a, near.b));
        found
    }
}

/// Places are known to this part of all lengths involved.
const ROUNDING: f64 = 1e-12;

/// Triangle pairs that may be at most `reach` apart, each given to `visit`.
struct Near<V> {
    reach: f64,
    visit: V,
}

impl<V: FnMut(usize, usize)> LeafWork for Near<V> {
    #[inline(always)]
    fn leaves<S: Simd>(
        &mut self,
        pair: &ModelPair<'_>,
        counters: &mut Counters,
        leaves: LeafPair,
    ) -> ControlFlow<()> {
        counters.triangle_tests += u64::from(leaves.used().count_ones());
        let mut open = near_candidates::<S>(pair, leaves, self.reach);
        while open != 0 {
            let (a, b) = leaves.triangles(open.trailing_zeros() as usize);
            open &= open - 1;
            (self.visit)(a, b);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solids::{BumpyTorus, cuboid};
    use crate::{Mesh, Model, Pose, Quality};
    use glam::DQuat;

    #[test]
    fn half_the_way_shows_all_that_the_whole_way_does() {
        let model = |mesh: Mesh| Model::build(mesh, Quality::Default);
        let ring = model(BumpyTorus::plain(1.0, 0.3, [24, 12]).mesh().unwrap());
        let cube = model(cuboid(DVec3::ONE).unwrap());
        let (mut kept, mut left_out) = (0, 0);
        for step in 0..24 {
            let turn = DQuat::from_rotation_x(0.3 * f64::from(step));
            let there = DVec3::new(0.9, 0.1 * f64::from(step % 5), 0.4);
            let poses = [Pose::new(turn, there).unwrap(), Pose::IDENTITY];
            let way = DVec3::new(0.2, 0.3, 0.1) * f64::from(step % 4);
            let other = if step % 2 == 0 { &ring } else { &cube };
            let pair = ModelPair::new(&ring, &poses[0], other, &poses[1]);
            for reach in [0.0, 0.1] {
                let counts = |near: &NearTriangles| {
                    let between = near.apart.on_a - near.apart.on_b;
                    let opened = way.dot(between.normalize_or_zero());
                    near.apart.distance - opened <= reach
                };
                let numbers = |near: &NearTriangles| (near.a, near.b);
                let all = pair.near_triangles(reach + way.length());
                let expected: Vec<_> = all.iter().filter(|n| counts(n)).map(numbers).collect();
                let found = pair.near_before(way, reach);
                left_out += usize::from(found.len() < all.len());
                let found: Vec<_> = found.iter().filter(|n| counts(n)).map(numbers).collect();
                assert_eq!(found, expected, "step {step}, reach {reach}");
                kept += found.len();
            }
        }
        assert!(kept > 100 && left_out > 10, "{kept}, {left_out}");
    }
}
