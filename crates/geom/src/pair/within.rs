//! How close are the triangles of two leaves? All four pairs at a time, in `f64`.
//!
//! The distance of two triangles that do not touch is that of two edges or of a corner and a
//! face (Larsen et al. 1999, PQP): nine edge pairs and six corners. The result ranks pairs; the
//! final figures come from `triangle::distance` on the placed corners.

use super::leaf::LeafFilter;
use super::leaf::{Corners, cross, dot, load_corners, minus};
use super::models::ModelPair;
use super::node_pair::LeafPair;
use super::walk::{Counters, LeafWork};
use crate::simd::{F64x4, Kernel, Simd, three};
use crate::triangle;
use std::ops::ControlFlow;

/// Squared distances of the pairs (a0 b0, a0 b1, a1 b0, a1 b1). For triangles that touch it may
/// be anything.
pub(crate) struct SquaredDistances<'w, 'a> {
    pub(crate) pair: &'w ModelPair<'a>,
    pub(crate) leaves: LeafPair,
}

impl Kernel for SquaredDistances<'_, '_> {
    type Out = [f64; 4];

    #[inline(always)]
    fn run<S: Simd>(self) -> [f64; 4] {
        let (a, b) = load_corners::<S>(self.pair, self.leaves);
        let along_a = [minus::<S>(a[1], a[0]), minus::<S>(a[2], a[1]), minus::<S>(a[0], a[2])];
        let along_b = [minus::<S>(b[1], b[0]), minus::<S>(b[2], b[1]), minus::<S>(b[0], b[2])];
        let edges = edge_distance::<S>(&a, &along_a, &b, &along_b);
        let over_a = corner_distance::<S>(&a, &along_a, &b);
        let over_b = corner_distance::<S>(&b, &along_b, &a);
        edges.min(over_a).min(over_b).to_array()
    }
}

#[inline(always)]
fn clamp<S: Simd>(x: S::D) -> S::D {
    x.max(S::D::splat(0.0)).min(S::D::splat(1.0))
}

/// Nine pairs of edges (Lumelsky 1985; Ericson 2005, 5.1.9), without a branch: guess on the first
/// line, best on the second segment for that, best on the first segment for that. Also right for
/// parallel edges, where any guess will do, and for edges of no length.
#[inline(always)]
fn edge_distance<S: Simd>(
    a: &Corners<S>,
    along_a: &Corners<S>,
    b: &Corners<S>,
    along_b: &Corners<S>,
) -> S::D {
    let tiny = S::D::splat(f64::MIN_POSITIVE);
    let one = S::D::splat(1.0);
    let size_a = three!(I => dot::<S>(along_a[I], along_a[I]));
    let size_b = three!(J => dot::<S>(along_b[J], along_b[J]));
    let inverse_a = three!(I => one.div(size_a[I].max(tiny)));
    let inverse_b = three!(J => one.div(size_b[J].max(tiny)));
    let mut best = S::D::splat(f64::INFINITY);
    for i in 0..3 {
        for j in 0..3 {
            let from = minus::<S>(a[i], b[j]);
            let mixed = dot::<S>(along_a[i], along_b[j]);
            let c = dot::<S>(along_a[i], from);
            let f = dot::<S>(along_b[j], from);
            let lines = size_a[i].mul_sub(size_b[j], mixed.mul(mixed)).max(tiny);
            let guess = clamp::<S>(mixed.mul_sub(f, c.mul(size_b[j])).div(lines));
            let t = clamp::<S>(mixed.mul_add(guess, f).mul(inverse_b[j]));
            let s = clamp::<S>(mixed.mul_sub(t, c).mul(inverse_a[i]));
            let gap = three!(K => {
                along_a[i][K].mul_add(s, from[K]).sub(along_b[j][K].mul(t))
            });
            best = dot::<S>(gap, gap).min(best);
        }
    }
    best
}

/// Three corners over a face; infinite where none projects into it.
#[inline(always)]
fn corner_distance<S: Simd>(face: &Corners<S>, along: &Corners<S>, corners: &Corners<S>) -> S::D {
    let infinite = S::D::splat(f64::INFINITY);
    let zero = S::D::splat(0.0);
    let normal = cross::<S>(along[0], along[1]);
    let size = dot::<S>(normal, normal);
    let inward = three!(K => cross::<S>(normal, along[K]));
    let mut best = infinite;
    for corner in corners {
        let from = three!(K => minus::<S>(*corner, face[K]));
        let inside = three!(K => dot::<S>(inward[K], from[K]));
        let worst = inside[0].min(inside[1]).min(inside[2]);
        let height = dot::<S>(normal, from[0]);
        let squared = height.mul(height).div(size.max(S::D::splat(f64::MIN_POSITIVE)));
        best = worst.select_lt(zero, infinite, squared).min(best);
    }
    // A face without area has no inside; its edges have been looked at.
    zero.select_lt(size, best, infinite)
}

/// Bound on the error of a squared distance, relative to the square of the reach L. The height h
/// over a needle of width w is off by up to about 8u·L²/w for u = 2^-53, its square by 2h times
/// that; the edges of the needle give the square within w². The smaller of both is largest for
/// w³ = 16u·h·L², and then it is below 1.5e-10·L². Lines that are almost parallel are off by u·L².
const RANK_ERROR: f64 = 1e-9;

/// Stops at the first two triangles that are at most this far apart.
pub(crate) struct WithinDistance(pub(crate) f64);

impl LeafWork for WithinDistance {
    #[inline(always)]
    fn leaves<S: Simd>(
        &mut self,
        pair: &ModelPair<'_>,
        counters: &mut Counters,
        leaves: LeafPair,
    ) -> ControlFlow<()> {
        counters.triangle_tests += u64::from(leaves.used().count_ones());
        let squared = SquaredDistances { pair, leaves }.run::<S>();
        let verdict = LeafFilter { pair, leaves }.run::<S>();
        if verdict.yes != 0 {
            return ControlFlow::Break(());
        }
        let near_squared = near_squared(leaves, self.0);
        for (bit, squared) in squared.into_iter().enumerate() {
            let open = verdict.unsure >> bit & 1 == 1 || squared <= near_squared;
            if leaves.used() >> bit & 1 == 1 && open {
                let (a, b) = leaves.triangles(bit);
                if pair.triangles_within(a, b, self.0) {
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// The rank is off by rounding and by the error of the points, so the placed triangles decide
/// about every pair whose rank is not above this.
#[inline(always)]
fn near_squared(leaves: LeafPair, distance: f64) -> f64 {
    let near = distance * (1.0 + 1e-12) + 2.0 * leaves.point_error;
    near * near + RANK_ERROR * leaves.reach * leaves.reach
}

/// Which of the pairs (a0 b0, a0 b1, a1 b0, a1 b1) may be at most `distance` apart, a bit each.
#[inline(always)]
pub(super) fn near_candidates<S: Simd>(
    pair: &ModelPair<'_>,
    leaves: LeafPair,
    distance: f64,
) -> u8 {
    let squared = SquaredDistances { pair, leaves }.run::<S>();
    let verdict = LeafFilter { pair, leaves }.run::<S>();
    let near_squared = near_squared(leaves, distance);
    let near = |bit: usize| u8::from(squared[bit] <= near_squared) << bit;
    let near = (0..4).fold(0, |mask, bit| mask | near(bit));
    (verdict.yes | verdict.unsure | near) & leaves.used()
}

impl ModelPair<'_> {
    #[cold]
    fn triangles_within(&self, a: usize, b: usize, distance: f64) -> bool {
        triangle::distance(&self.triangle_a(a), &self.triangle_b(b)).distance <= distance
    }
}
