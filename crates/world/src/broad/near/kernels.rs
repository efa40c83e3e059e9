//! The inner loops: who is near, which near pairs overlap. The same bits on any instruction set.

use super::index::{Index, Leaver};
use super::nodes::OPEN;
use super::{REST, Span};
use crate::Aabb;
use crate::broad::SlotPair;
use glam::Vec3;
use jostle_geom::simd::{F32x8, Kernel, Simd};

/// Smallest normal `f32`, as bits. Times start here, so that they are ordinary numbers when a
/// vector instruction that compares boxes runs over them.
pub(super) const FIRST_STEP: u32 = f32::MIN_POSITIVE.to_bits();
/// Times end before the bits of infinity.
pub(super) const LAST_STEP: u32 = f32::INFINITY.to_bits() - 1;

/// The box of a seat as it is now: low corner, when it last got a fat box, minus the high corner,
/// when it last moved. Two of these are compared with three vector instructions.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Now([f32; 8]);

impl Now {
    pub(super) const GONE: Now = Now([f32::INFINITY; 8]);

    #[inline]
    pub(super) fn new(bounds: &Aabb, born: u32, moved: u32) -> Now {
        let (low, high) = (bounds.min(), -bounds.max());
        let (born, moved) = (f32::from_bits(born), f32::from_bits(moved));
        Now([low.x, low.y, low.z, born, high.x, high.y, high.z, moved])
    }

    /// The same box with other times.
    pub(super) fn at_times(mut self, born: u32, moved: u32) -> Now {
        self.0[3] = f32::from_bits(born);
        self.0[7] = f32::from_bits(moved);
        self
    }

    #[inline]
    pub(super) fn span(&self) -> Span {
        let [lx, ly, lz, _, hx, hy, hz, _] = self.0;
        Span { low: Vec3::new(lx, ly, lz), high: -Vec3::new(hx, hy, hz) }
    }

    #[inline]
    pub(super) fn born(&self) -> u32 {
        self.0[3].to_bits()
    }

    #[inline]
    pub(super) fn moved(&self) -> u32 {
        self.0[7].to_bits()
    }

    pub(super) fn is_there(&self) -> bool {
        self.0[0] != f32::INFINITY
    }
}

/// Two seats whose fat boxes overlap, and since when this is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) since: u32,
}

impl Near {
    /// Did neither get a new fat box since?
    pub(super) fn is_known(&self, now: &[Now]) -> bool {
        now[self.a as usize].born().max(now[self.b as usize].born()) <= self.since
    }
}

/// Which fat boxes overlap a box?
pub(super) struct Query<'a> {
    pub(super) index: &'a Index,
    pub(super) span: Span,
    pub(super) found: &'a mut Vec<u32>,
}

impl Kernel for Query<'_> {
    type Out = u64;

    #[inline(always)]
    fn run<S: Simd>(self) -> u64 {
        self.index.query::<S>(self.span, &mut { OPEN }, self.found)
    }
}

/// Who is near the leavers? Returns how much was looked at.
pub(super) struct Ask<'a> {
    pub(super) index: &'a Index,
    pub(super) now: &'a [Now],
    pub(super) fat: &'a [Span],
    pub(super) leavers: &'a [Leaver],
    pub(super) step: u32,
    pub(super) near: &'a mut Vec<Near>,
}

impl Kernel for Ask<'_> {
    type Out = u64;

    #[inline(always)]
    fn run<S: Simd>(self) -> u64 {
        let mut found = Vec::with_capacity(64);
        let mut open = OPEN;
        let mut visited = 0;
        for leaver in self.leavers {
            let a = leaver.seat;
            found.clear();
            visited += self.index.query::<S>(self.fat[a as usize], &mut open, &mut found);
            for &b in &found {
                // Two leavers find each other; the one with the smaller seat says so.
                let twice = self.now[b as usize].born() == self.step && b < a;
                if a != b && !twice {
                    self.near.push(Near { a, b, since: self.step });
                }
            }
        }
        visited
    }
}

/// Which near pairs overlap? Keeps the pairs that are still of use at the front and returns how
/// many those are.
pub(super) struct Compare<'a> {
    pub(super) now: &'a [Now],
    pub(super) step: u32,
    pub(super) near: &'a mut [Near],
    pub(super) out: &'a mut Vec<SlotPair>,
}

/// Lanes of [`Now`] that hold the box.
const BOX_LANES: u8 = 0b0111_0111;

impl Kernel for Compare<'_> {
    type Out = usize;

    #[inline(always)]
    fn run<S: Simd>(self) -> usize {
        let Compare { now, step, near, out } = self;
        let zero = S::F::splat(0.0);
        // Written without branches: which pairs overlap, no processor can guess.
        let mut end = out.len();
        out.resize(end + near.len(), [0; 2]);
        let mut kept = 0;
        for at in 0..near.len() {
            let pair = near[at];
            let (a, b) = (&now[pair.a as usize], &now[pair.b as usize]);
            let known = a.born().max(b.born()) <= pair.since;
            let moved = a.moved().max(b.moved());
            near[kept] = pair;
            kept += usize::from(known & (step.wrapping_sub(moved) < REST));
            // Low − high: in lanes 0 to 2 of a and b, in lanes 4 to 6 of b and a. The sign of a
            // difference is right even where the difference is rounded.
            let gap = S::F::load(&a.0).add(S::F::load(&b.0).swap_halves()).gt(zero);
            out[end] = [pair.a, pair.b];
            end += usize::from(known & (moved == step) & (gap & BOX_LANES == 0));
        }
        out.truncate(end);
        kept
    }
}
