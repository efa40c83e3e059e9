//! Leaf against leaf: up to two triangles against up to two, all four pairs at a time.
//!
//! A filter in `f64`: it may say yes, no, or unsure, and when it says yes or no that is what the
//! exact test on the placed vertices would say. It works in the frame of model A, so A's vertices
//! need no placing and B's one product.
//!
//! Two triangles that are not degenerate and in general position touch exactly when an edge of
//! one pierces the other: its ends lie strictly on different sides of the plane, and it passes
//! all three edges of the triangle on the same hand. Fifteen determinants decide.
//!
//! **Error bound.** Let all coordinate differences be at most H, and let each point be off by at
//! most e (`LeafPair::point_error`). A determinant of three difference vectors (each of length
//! at most √3·H) changes by at most 3·(2√3·e)·3H² < 32·e·H² when the points move by e each;
//! rounding of differences, cross and dot products adds less than 16·2^-53·6·H³. As e is at least
//! 128·2^-53 times the size of the models and H at most twice that, 64·e·H² covers both; 128
//! leaves room.

use super::models::ModelPair;
use super::node_pair::LeafPair;
use crate::Model;
use crate::simd::{F64x4, Kernel, Simd, three};
use crate::tree::Child;
use glam::DVec3;

/// The verdicts of the filter on the four pairs (a0 b0, a0 b1, a1 b0, a1 b1), a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Surely touching.
    pub(crate) yes: u8,
    /// The exact test must decide.
    pub(crate) unsure: u8,
}

impl Verdict {
    /// Surely none touch.
    pub(crate) const APART: Verdict = Verdict { yes: 0, unsure: 0 };
}

/// The filter.
pub(crate) struct LeafFilter<'w, 'a> {
    pub(crate) pair: &'w ModelPair<'a>,
    pub(crate) leaves: LeafPair,
}

/// Three corners of two triangles, spread over four lanes.
pub(crate) type Corners<S> = [[<S as Simd>::D; 3]; 3];

impl Kernel for LeafFilter<'_, '_> {
    type Out = Verdict;

    #[inline(always)]
    fn run<S: Simd>(self) -> Verdict {
        let LeafFilter { pair, leaves } = self;
        let (a, b) = load_corners::<S>(pair, leaves);
        let error = 128.0 * leaves.point_error * leaves.reach * leaves.reach;
        verdict::<S>(&a, &b, S::D::splat(error), leaves.used())
    }
}

/// The corners of both leaves in the mesh frame of A, pair by pair.
#[inline(always)]
pub(crate) fn load_corners<S: Simd>(
    pair: &ModelPair<'_>,
    leaves: LeafPair,
) -> (Corners<S>, Corners<S>) {
    let relative = &pair.relative;
    let (two_a, two_b) = (corners(pair.a, leaves.a), corners(pair.b, leaves.b));
    let a = three!(K => {
        let (p, q) = (two_a[0][K], two_a[1][K]);
        three!(I => S::D::new([p[I], p[I], q[I], q[I]]))
    });
    let rows = three!(K => three!(I => S::D::splat(relative.rows[K][I])));
    let shift = three!(I => S::D::splat(relative.shift[I]));
    let b = three!(K => {
        let (p, q) = (two_b[0][K], two_b[1][K]);
        let v = three!(I => S::D::new([p[I], q[I], p[I], q[I]]));
        three!(I => {
            let r = rows[I];
            r[0].mul_add(v[0], r[1].mul_add(v[1], r[2].mul_add(v[2], shift[I])))
        })
    });
    (a, b)
}

#[inline(always)]
fn corners(model: &Model, leaf: Child) -> [[DVec3; 3]; 2] {
    let range = leaf.triangles();
    let (first, last) = (model.mesh.triangles[range.start], model.mesh.triangles[range.end - 1]);
    let vertices = &model.mesh.vertices;
    [three!(K => vertices.at(first[K])), three!(K => vertices.at(last[K]))]
}

/// Signs of three determinants, a bit per lane each.
#[derive(Clone, Copy)]
struct Signs {
    plus: [u8; 3],
    minus: [u8; 3],
}

impl Signs {
    #[inline(always)]
    fn of<S: Simd>(values: [S::D; 3], error: S::D) -> Signs {
        let negative = S::D::splat(0.0).sub(error);
        Signs { plus: three!(I => values[I].gt(error)), minus: three!(I => negative.gt(values[I])) }
    }

    /// Lanes in which all three are surely of one sign.
    #[inline(always)]
    fn one_sided(self) -> u8 {
        let [p, q, r] = self.plus;
        let [l, m, n] = self.minus;
        (p & q & r) | (l & m & n)
    }

    #[inline(always)]
    fn sure(self) -> u8 {
        let [p, q, r] = self.plus;
        let [l, m, n] = self.minus;
        (p | l) & (q | m) & (r | n)
    }

    /// Lanes in which ends k and k + 1 are surely on different sides.
    #[inline(always)]
    fn straddles(self, k: usize) -> u8 {
        let next = (k + 1) % 3;
        (self.plus[k] & self.minus[next]) | (self.minus[k] & self.plus[next])
    }
}

#[inline(always)]
fn verdict<S: Simd>(a: &Corners<S>, b: &Corners<S>, error: S::D, used: u8) -> Verdict {
    let along_a = [minus::<S>(a[1], a[0]), minus::<S>(a[2], a[1]), minus::<S>(a[0], a[2])];
    let along_b = [minus::<S>(b[1], b[0]), minus::<S>(b[2], b[1]), minus::<S>(b[0], b[2])];
    let normal_a = cross::<S>(along_a[0], along_a[1]);
    let normal_b = cross::<S>(along_b[0], along_b[1]);
    let between = minus::<S>(b[0], a[0]);
    let b_sides = sides::<S>(normal_a, between, along_b);
    let b_sides = Signs::of::<S>(b_sides, error);
    let mut open = used & !b_sides.one_sided();
    if open == 0 {
        return Verdict::APART;
    }
    let zero = S::D::splat(0.0);
    let a_sides = sides::<S>(normal_b, three!(I => zero.sub(between[I])), along_a);
    let a_sides = Signs::of::<S>(a_sides, error);
    open &= !a_sides.one_sided();
    if open == 0 {
        return Verdict::APART;
    }
    let hands = three!(I => {
        let values =
            three!(J => dot::<S>(cross::<S>(along_a[I], along_b[J]), minus::<S>(b[J], a[I])));
        Signs::of::<S>(values, error)
    });
    let mut yes = 0;
    let mut sure = a_sides.sure() & b_sides.sure();
    for i in 0..3 {
        let turned = Signs {
            plus: [hands[0].plus[i], hands[1].plus[i], hands[2].plus[i]],
            minus: [hands[0].minus[i], hands[1].minus[i], hands[2].minus[i]],
        };
        yes |= a_sides.straddles(i) & hands[i].one_sided();
        yes |= b_sides.straddles(i) & turned.one_sided();
        sure &= hands[i].sure();
    }
    Verdict { yes: yes & open, unsure: open & !yes & !sure }
}

/// normal · (corner − base) for three corners that follow `along` from `first`.
#[inline(always)]
fn sides<S: Simd>(normal: [S::D; 3], first: [S::D; 3], along: [[S::D; 3]; 3]) -> [S::D; 3] {
    let s0 = dot::<S>(normal, first);
    let s1 = s0.add(dot::<S>(normal, along[0]));
    let s2 = s0.sub(dot::<S>(normal, along[2]));
    [s0, s1, s2]
}

#[inline(always)]
pub(crate) fn minus<S: Simd>(a: [S::D; 3], b: [S::D; 3]) -> [S::D; 3] {
    [a[0].sub(b[0]), a[1].sub(b[1]), a[2].sub(b[2])]
}

#[inline(always)]
pub(crate) fn dot<S: Simd>(a: [S::D; 3], b: [S::D; 3]) -> S::D {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2].mul(b[2])))
}

#[inline(always)]
pub(crate) fn cross<S: Simd>(a: [S::D; 3], b: [S::D; 3]) -> [S::D; 3] {
    [
        a[1].mul_sub(b[2], a[2].mul(b[1])),
        a[2].mul_sub(b[0], a[0].mul(b[2])),
        a[0].mul_sub(b[1], a[1].mul(b[0])),
    ]
}
