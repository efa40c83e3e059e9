//! The inner loops: which boxes are near, which near pairs overlap. The same bits on any
//! instruction set.

use super::index::{Escaped, Index, Visitor};
use super::nodes::OPEN;
use super::{REST, Span};
use crate::broad::SlotPair;
use glam::Vec3;
use jostle_geom::simd::{F32x8, Kernel, Simd};
use std::ops::Range;

/// Times are the bits of numbers from the smallest normal one to 1: so a vector instruction that
/// compares boxes can run over them, and the sum of a time and a [`Proxy::IDLE`] is not
/// positive.
pub(super) const FIRST_STEP: u32 = f32::MIN_POSITIVE.to_bits();
/// See [`FIRST_STEP`].
pub(super) const LAST_STEP: u32 = 1.0f32.to_bits() - 1;

/// The box of a proxy as it is now: low corner, whether it is queried in this step,
/// minus the high corner, when it last moved. Two of these are compared with three vector
/// instructions.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Proxy([f32; 8]);

impl Proxy {
    pub(super) const GONE: Proxy = Proxy([f32::INFINITY; 8]);
    const QUERYING: f32 = 1.0;
    const IDLE: f32 = -1.0;

    #[inline]
    pub(super) fn new(span: Span, moved: u32) -> Proxy {
        let (low, high) = (span.low, -span.high);
        let moved = f32::from_bits(moved);
        Proxy([low.x, low.y, low.z, Proxy::IDLE, high.x, high.y, high.z, moved])
    }

    pub(super) fn set_querying(&mut self, yes: bool) {
        self.0[3] = if yes { Proxy::QUERYING } else { Proxy::IDLE };
    }

    #[inline]
    pub(super) fn moved(&self) -> u32 {
        self.0[7].to_bits()
    }

    pub(super) fn set_moved(&mut self, step: u32) {
        self.0[7] = f32::from_bits(step);
    }

    #[inline]
    pub(super) fn span(&self) -> Span {
        let [lx, ly, lz, _, hx, hy, hz, _] = self.0;
        Span { low: Vec3::new(lx, ly, lz), high: -Vec3::new(hx, hy, hz) }
    }

    pub(super) fn is_there(&self) -> bool {
        self.0[0] != f32::INFINITY
    }
}

/// Two proxies whose fat boxes overlap.
pub(super) type Near = [u32; 2];

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

/// Finds what is near the escaped boxes. Returns how much was looked at.
pub(super) struct FindNear<'a> {
    pub(super) index: &'a Index,
    /// Which proxies are queried: a bit each.
    pub(super) querying: &'a [u64],
    pub(super) fat: &'a [Span],
    pub(super) escaped: &'a [Escaped],
    pub(super) near: &'a mut Vec<Near>,
}

impl Kernel for FindNear<'_> {
    type Out = u64;

    #[inline(always)]
    fn run<S: Simd>(self) -> u64 {
        let FindNear { index, querying, fat, escaped, near } = self;
        let mut open = OPEN;
        let mut visited = 0;
        let mut pairs = NewPairs { end: near.len(), near, querying, a: 0 };
        for escaped_box in escaped {
            pairs.a = escaped_box.proxy_index;
            visited +=
                index.query::<S>(fat[escaped_box.proxy_index as usize], &mut open, &mut pairs);
        }
        pairs.near.truncate(pairs.end);
        visited
    }
}

/// The pairs of an escaped box, at the end of the list of near pairs.
struct NewPairs<'a> {
    near: &'a mut Vec<Near>,
    /// What lies behind this is only room.
    end: usize,
    querying: &'a [u64],
    a: u32,
}

impl Visitor for NewPairs<'_> {
    #[inline(always)]
    fn visit(&mut self, b: u32) {
        if self.end == self.near.len() {
            self.near.resize(2 * self.end + 64, [0; 2]);
        }
        self.near[self.end] = [self.a, b];
        // Two that are queried find each other; the one with the smaller index counts. None is near
        // itself.
        let asks = self.querying[b as usize / 64] >> (b % 64) & 1 != 0;
        let skipped = asks & (b <= self.a);
        self.end += usize::from(!skipped);
    }
}

/// Which near pairs overlap, and of which one moved? Keeps the pairs that are still of use at the
/// front.
pub(super) struct Compare<'a> {
    pub(super) proxies: &'a [Proxy],
    pub(super) step: u32,
    pub(super) all_moved: bool,
    pub(super) near: &'a mut [Near],
    /// From here on pairs are new; before, those of which one is queried were found again behind.
    pub(super) new_from: usize,
    /// Gets the pairs of proxies, at its beginning; at least as long as `near`.
    pub(super) out: &'a mut [SlotPair],
}

/// What [`Compare`] found.
#[derive(Clone, Copy)]
pub(super) struct Compared {
    /// How many near pairs are kept.
    pub(super) kept: usize,
    /// How many pairs overlap.
    pub(super) found: usize,
}

/// Lanes of [`Proxy`] that hold the box.
const BOX_LANES: u8 = 0b0111_0111;
/// Lanes of the sum of two [`Proxy`] that show whether the first or the second is queried.
const QUERYING_LANES: u8 = 0b1000_1000;

impl Kernel for Compare<'_> {
    type Out = Compared;

    #[inline(always)]
    fn run<S: Simd>(mut self) -> Compared {
        let ends = Compared { kept: 0, found: 0 };
        let (old, new) = (0..self.new_from, self.new_from..self.near.len());
        if self.all_moved {
            let ends = self.part::<S, true>(old, QUERYING_LANES, ends);
            self.part::<S, true>(new, 0, ends)
        } else {
            let ends = self.part::<S, false>(old, QUERYING_LANES, ends);
            self.part::<S, false>(new, 0, ends)
        }
    }
}

impl Compare<'_> {
    /// Written without branches: which pairs overlap, no processor can guess.
    #[inline(always)]
    fn part<S: Simd, const ALL_MOVED: bool>(
        &mut self,
        part: Range<usize>,
        stale_lanes: u8,
        Compared { mut kept, mut found }: Compared,
    ) -> Compared {
        let zero = S::F::splat(0.0);
        for at in part {
            let [a, b] = self.near[at];
            let (first, second) = (&self.proxies[a as usize], &self.proxies[b as usize]);
            // Low − high: in lanes 0 to 2 of a and b, in lanes 4 to 6 of b and a. The sign of a
            // difference is right even where the difference is rounded.
            let sums = S::F::load(&first.0).add(S::F::load(&second.0).swap_halves()).gt(zero);
            let mut keep = sums & stale_lanes == 0;
            let mut touch = sums & (stale_lanes | BOX_LANES) == 0;
            if !ALL_MOVED {
                let moved = first.moved().max(second.moved());
                keep &= self.step.wrapping_sub(moved) < REST;
                touch &= moved == self.step;
            }
            self.near[kept] = [a, b];
            kept += usize::from(keep);
            self.out[found] = [a, b];
            found += usize::from(touch);
        }
        Compared { kept, found }
    }
}
