//! One box against eight: which of them may touch it?
//!
//! Separating axes (Gottschalk, Lin, Manocha 1996): two boxes are apart if and only if one of 15
//! directions separates them: three face normals of each, nine crossed edges. Everything is in
//! `f32` and rounded, so the test may only err towards "overlap". Two slacks see to that:
//!
//! * **Axes are not quite orthonormal.** Stored components are within 1.6e-5 of the truth, so a
//!   Gram matrix entry is off by at most δ = 1.1e-4 (u·u, v·v and u·v by 5.3e-5; w·w by 1.1e-4;
//!   w is exactly orthogonal to both up to rounding). A point of the box is Σ aₖ·dualₖ with
//!   |aₖ| ≤ hₖ, and the dual axes differ from the stored ones by at most 2δ; so a radius computed
//!   with the stored axes is short by at most 2δ·Σh. A crossed-edge direction n×E uses
//!   n = v×w instead of u (off by another δ). `AXIS_SLACK` = 2^-11 = 4.9e-4 times the sum of all
//!   six half extents covers these (2δ + δ for one box and the same for the other, 3.3e-4)
//!   and the relative rounding of the radii themselves (below 16·2^-24 = 1e-6).
//! * **Numbers are rounded.** Centres, the relative pose and every product carry a few times
//!   2^-24 of the largest coordinate involved. `Relative::margin` has the count.

use super::{AXIS_UNIT, Node, Obb, WIDTH};
use crate::simd::{F32x8, Kernel, Simd, three};
use glam::{Mat3A, Vec3A};

/// See the head of this file.
pub(super) const AXIS_SLACK: f32 = 1.0 / 2048.0;

/// A box brought into the frame of the tree that it is tested against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryObb {
    pub(super) center: [f32; 3],
    pub(super) half: [f32; 3],
    /// `axes[j]` is the j-th axis.
    pub(super) axes: [[f32; 3]; 3],
    /// What a separation must exceed, apart from the lane's own half extents.
    pub(super) slack: f32,
}

impl QueryObb {
    /// `obb` moved by a rotation and a translation; gaps up to `reach` count as overlap.
    #[inline(always)]
    pub(crate) fn new(obb: &Obb, turn: &Mat3A, shift: Vec3A, reach: f32) -> QueryObb {
        let center = *turn * obb.center + shift;
        let (u, v) = (*turn * obb.axes[0], *turn * obb.axes[1]);
        let axes = [u.to_array(), v.to_array(), u.cross(v).to_array()];
        let slack = AXIS_SLACK * (obb.half.x + obb.half.y + obb.half.z) + reach;
        QueryObb { center: center.to_array(), half: obb.half.to_array(), axes, slack }
    }
}

/// What is known of eight boxes and one, lane by lane.
struct Projections<S: Simd> {
    /// Signed gaps along the three face normals of the lane's box.
    lane_faces: [S::F; 3],
    /// Signed gaps along the three face normals of the one box.
    one_faces: [S::F; 3],
    /// What a gap must exceed.
    slack: S::F,
    // What the crossed edges need.
    offset: [S::F; 3],
    turn: [[S::F; 3]; 3],
    half: [S::F; 3],
    one_half: [S::F; 3],
}

#[inline(always)]
fn faces<S: Simd>(node: &Node, query: &QueryObb) -> Projections<S> {
    let unit = S::F::splat(AXIS_UNIT);
    let u = three!(I => S::F::load_i16(&node.axis[I]).mul(unit));
    let v = three!(I => S::F::load_i16(&node.axis[3 + I]).mul(unit));
    let w = cross::<S>(u, v);
    let lane = [u, v, w];
    let d = three!(I => S::F::splat(query.center[I]).sub(S::F::load(&node.center[I])));
    let h = three!(I => S::F::load(&node.half[I]));
    let hh = three!(I => S::F::splat(query.half[I]));

    // r[k][j] = lane axis k · axis j of the one box; q = |r|.
    let e = three!(J => three!(I => S::F::splat(query.axes[J][I])));
    let r = three!(K => three!(J => dot::<S>(lane[K], e[J])));
    let q = three!(K => three!(J => r[K][J].abs()));
    // The offset of the centres in the frames of both.
    let dl = three!(K => dot::<S>(d, lane[K]));
    let de = three!(J => dot::<S>(d, e[J]));
    let lane_faces = three!(K => {
        let radius = q[K][0].mul_add(hh[0], q[K][1].mul_add(hh[1], q[K][2].mul_add(hh[2], h[K])));
        dl[K].abs().sub(radius)
    });
    let one_faces = three!(J => {
        let radius = q[0][J].mul_add(h[0], q[1][J].mul_add(h[1], q[2][J].mul_add(h[2], hh[J])));
        de[J].abs().sub(radius)
    });
    let slack = h[0].add(h[1]).add(h[2]).mul_add(S::F::splat(AXIS_SLACK), S::F::splat(query.slack));
    Projections { lane_faces, one_faces, slack, offset: dl, turn: r, half: h, one_half: hh }
}

impl<S: Simd> Projections<S> {
    /// The lanes in use: unused ones have negative half extents. (Slacks beyond 1e30 would make
    /// those overlap too.)
    #[inline(always)]
    fn used(&self) -> u8 {
        !S::F::splat(0.0).gt(self.half[0])
    }

    /// Largest signed gap along a face normal.
    #[inline(always)]
    fn best_face(&self) -> S::F {
        let ([a, b, c], [d, e, f]) = (self.lane_faces, self.one_faces);
        a.max(b).max(c.max(d)).max(e.max(f))
    }

    /// Largest signed gap along a crossed edge (a direction no longer than 1).
    #[inline(always)]
    fn best_edge(&self) -> S::F {
        let (h, hh, r) = (self.half, self.one_half, self.turn);
        let mut edges = [S::F::splat(f32::NEG_INFINITY); 3];
        for k in 0..3 {
            let (k1, k2) = ((k + 1) % 3, (k + 2) % 3);
            for j in 0..3 {
                let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
                let offset = self.offset[k2].mul_sub(r[k1][j], self.offset[k1].mul(r[k2][j])).abs();
                let mine = h[k1].mul_add(r[k2][j].abs(), h[k2].mul(r[k1][j].abs()));
                let both = hh[j1].mul_add(r[k][j2].abs(), hh[j2].mul_add(r[k][j1].abs(), mine));
                edges[k] = offset.sub(both).max(edges[k]);
            }
        }
        edges[0].max(edges[1]).max(edges[2])
    }
}

/// The lanes that may overlap, and per lane how far apart they are along the best of the 15
/// directions. NaN (numbers beyond `f32`) counts as overlap: hence "not greater".
#[inline(always)]
fn separations<S: Simd>(node: &Node, query: &QueryObb) -> (u8, S::F) {
    let p = faces::<S>(node, query);
    let apart = p.best_face();
    let mask = p.used() & !apart.gt(p.slack);
    if mask == 0 {
        return (0, apart);
    }
    let apart = apart.max(p.best_edge());
    (mask & !apart.gt(p.slack), apart)
}

#[inline(always)]
fn dot<S: Simd>(a: [S::F; 3], b: [S::F; 3]) -> S::F {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2].mul(b[2])))
}

#[inline(always)]
fn cross<S: Simd>(a: [S::F; 3], b: [S::F; 3]) -> [S::F; 3] {
    [
        a[1].mul_sub(b[2], a[2].mul(b[1])),
        a[2].mul_sub(b[0], a[0].mul(b[2])),
        a[0].mul_sub(b[1], a[1].mul(b[0])),
    ]
}

/// Which lanes may touch the box: bit k for lane k.
pub(crate) struct Overlap<'a>(pub(crate) &'a Node, pub(crate) &'a QueryObb);

impl Kernel for Overlap<'_> {
    type Out = u8;

    #[inline(always)]
    fn run<S: Simd>(self) -> u8 {
        separations::<S>(self.0, self.1).0
    }
}

/// As [`Overlap`], and how far each lane is apart (below zero: how deep they overlap).
pub(crate) struct OverlapDepth<'a>(pub(crate) &'a Node, pub(crate) &'a QueryObb);

impl Kernel for OverlapDepth<'_> {
    type Out = (u8, [f32; WIDTH]);

    #[inline(always)]
    fn run<S: Simd>(self) -> (u8, [f32; WIDTH]) {
        let (mask, apart) = separations::<S>(self.0, self.1);
        let mut depth = [0.0; WIDTH];
        apart.store(&mut depth);
        (mask, depth)
    }
}

/// Lower bounds of the distances of eight boxes to one, lane by lane.
pub(crate) struct Gaps<'a> {
    pub(crate) node: &'a Node,
    pub(crate) query: &'a QueryObb,
    /// Lanes further than this are of no interest; their bounds may be anything above it.
    pub(crate) limit: f32,
}

/// Axes are up to 1.1e-4 too long or short, so a gap measured along three of them is off by at
/// most that factor.
const GAP_SCALE: f32 = 0.9995;

impl Kernel for Gaps<'_> {
    /// Lower bounds (zero or less: may overlap, by how much), and the lanes within the limit.
    type Out = ([f32; WIDTH], u8);

    #[inline(always)]
    fn run<S: Simd>(self) -> Self::Out {
        let p = faces::<S>(self.node, self.query);
        let zero = S::F::splat(0.0);
        // Gaps along three orthogonal directions add up like the sides of a box.
        let [a, b, c] = three!(K => p.lane_faces[K].max(zero));
        let lane = a.mul_add(a, b.mul_add(b, c.mul(c)));
        let [a, b, c] = three!(K => p.one_faces[K].max(zero));
        let one = a.mul_add(a, b.mul_add(b, c.mul(c)));
        // Squares that leave the range of `f32`, or have few digits left, prove nothing.
        let square = lane.max(one);
        let corner = S::F::splat(1e-30).select_lt(square, square.sqrt(), zero);
        let corner = square.select_lt(S::F::splat(f32::MAX), corner, zero);
        let mut flat = p.best_face();
        let mut bound = p.bound(flat, corner);
        let used = p.used();
        if bound.gt(S::F::splat(self.limit)) | !used != 0xff {
            flat = p.best_edge().max(flat);
            bound = p.bound(flat, corner);
        }
        let mut out = [0.0; WIDTH];
        bound.store(&mut out);
        (out, used & !bound.gt(S::F::splat(self.limit)))
    }
}

impl<S: Simd> Projections<S> {
    /// A lower bound of the distance, or by how much boxes overlap, zero or less. NaN (numbers
    /// beyond `f32`) becomes zero; what is beyond `f32` becomes its largest number.
    #[inline(always)]
    fn bound(&self, flat: S::F, corner: S::F) -> S::F {
        let zero = S::F::splat(0.0);
        let bound = zero.select_lt(flat, corner.max(flat), flat);
        let bound = bound.mul(S::F::splat(GAP_SCALE)).sub(self.slack);
        zero.select_lt(bound, bound.min(S::F::splat(f32::MAX)), bound.min(zero))
    }
}
