//! Where to cut a set of triangles in two.
//!
//! The surface area heuristic, measured in the frame of the set's own box: the cheapest cut is
//! the one that minimises count × area on both sides. Large sets use bins, small ones try every
//! cut.

use glam::{Mat3A, Vec3A};

/// Sets up to this size try every cut along every axis.
const SWEEP_MAX: usize = 16;

/// Bins per axis for larger sets.
const BINS: usize = 16;

/// Triangles with their numbers, moved together.
pub(crate) struct Set<'a> {
    pub(crate) triangles: &'a mut [[Vec3A; 3]],
    pub(crate) ids: &'a mut [u32],
}

/// A growing box.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) lo: Vec3A,
    pub(crate) hi: Vec3A,
}

impl Bounds {
    pub(crate) const NONE: Bounds =
        Bounds { lo: Vec3A::splat(f32::INFINITY), hi: Vec3A::splat(f32::NEG_INFINITY) };

    #[inline(always)]
    pub(crate) fn with(self, other: Bounds) -> Bounds {
        Bounds { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    #[inline(always)]
    pub(crate) fn of(triangle: &[Vec3A; 3]) -> Bounds {
        let [a, b, c] = *triangle;
        Bounds { lo: a.min(b).min(c), hi: a.max(b).max(c) }
    }

    /// Half the surface area.
    #[inline(always)]
    fn area(self) -> f32 {
        let d = self.hi - self.lo;
        d.x * d.y + d.y * d.z + d.z * d.x
    }

    /// Twice the middle.
    #[inline(always)]
    fn middle(self) -> Vec3A {
        self.lo + self.hi
    }
}

/// Moves the triangles of one side to the front and returns how many they are; both sides get at
/// least one. `frame` has the axes of the set's box as rows.
pub(crate) fn split(set: &mut Set<'_>, axes: &[Vec3A; 3]) -> usize {
    let n = set.triangles.len();
    debug_assert!(n >= 2);
    let frame = Mat3A::from_cols(axes[0], axes[1], axes[2]).transpose();
    if n <= SWEEP_MAX { sweep(set, &frame) } else { binned(set, &frame) }
}

fn sweep(set: &mut Set<'_>, frame: &Mat3A) -> usize {
    let n = set.triangles.len();
    let mut bounds = [Bounds::NONE; SWEEP_MAX];
    for (b, t) in bounds.iter_mut().zip(set.triangles.iter()) {
        *b = Bounds::of(&t.map(|p| *frame * p));
    }
    let mut best = (f32::INFINITY, [0u8; SWEEP_MAX], n / 2);
    for axis in 0..3 {
        let mut order: [u8; SWEEP_MAX] = std::array::from_fn(|k| k as u8);
        let key = |k: u8| bounds[k as usize].middle()[axis];
        order[..n].sort_unstable_by(|&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
        let mut right = [0.0; SWEEP_MAX];
        let mut grown = Bounds::NONE;
        for k in (1..n).rev() {
            grown = grown.with(bounds[order[k] as usize]);
            right[k] = grown.area();
        }
        let mut grown = Bounds::NONE;
        for k in 1..n {
            grown = grown.with(bounds[order[k - 1] as usize]);
            let cost = grown.area() * leaves(k) + right[k] * leaves(n - k);
            if cost < best.0 {
                best = (cost, order, k);
            }
        }
        if axis == 0 && best.0 == f32::INFINITY {
            best.1 = order; // areas beyond f32: any order will do
        }
    }
    let (old, old_ids): ([_; SWEEP_MAX], [_; SWEEP_MAX]) = (
        std::array::from_fn(|k| set.triangles[k.min(n - 1)]),
        std::array::from_fn(|k| set.ids[k.min(n - 1)]),
    );
    for (k, &from) in best.1[..n].iter().enumerate() {
        set.triangles[k] = old[from as usize];
        set.ids[k] = old_ids[from as usize];
    }
    best.2
}

/// Leaves that hold `n` triangles.
fn leaves(n: usize) -> f32 {
    n.div_ceil(super::LEAF_MAX) as f32
}

fn binned(set: &mut Set<'_>, frame: &Mat3A) -> usize {
    let n = set.triangles.len();
    let (mut lo, mut hi) = (Vec3A::splat(f32::INFINITY), Vec3A::splat(f32::NEG_INFINITY));
    for t in set.triangles.iter() {
        let m = *frame * (t[0] + t[1] + t[2]);
        lo = lo.min(m);
        hi = hi.max(m);
    }
    let size = hi - lo;
    let scale = Vec3A::from_array(size.to_array().map(|s| {
        let scale = (BINS as f32 * 0.9999) / s;
        if scale.is_finite() { scale } else { 0.0 }
    }));
    let bin = |t: &[Vec3A; 3]| (*frame * (t[0] + t[1] + t[2]) - lo) * scale;
    let mut bins = [[(Bounds::NONE, 0u32); BINS]; 3];
    for t in set.triangles.iter() {
        let at = bin(t);
        let bounds = Bounds::of(&t.map(|p| *frame * p));
        for (axis, row) in bins.iter_mut().enumerate() {
            let slot = &mut row[(at[axis] as usize).min(BINS - 1)];
            slot.0 = slot.0.with(bounds);
            slot.1 += 1;
        }
    }
    let Some((axis, cut)) = best_cut(&bins) else {
        return n / 2; // all in one bin on every axis: any halves will do
    };
    partition(set, |t| (bin(t)[axis] as usize).min(BINS - 1) < cut)
}

/// Axis and first bin of the right side.
fn best_cut(bins: &[[(Bounds, u32); BINS]; 3]) -> Option<(usize, usize)> {
    let mut best: Option<(f32, usize, usize)> = None;
    for (axis, row) in bins.iter().enumerate() {
        let mut right = [(0.0, 0u32); BINS];
        let mut grown = (Bounds::NONE, 0);
        for k in (1..BINS).rev() {
            grown = (grown.0.with(row[k].0), grown.1 + row[k].1);
            right[k] = (grown.0.area(), grown.1);
        }
        let mut grown = (Bounds::NONE, 0);
        for k in 1..BINS {
            grown = (grown.0.with(row[k - 1].0), grown.1 + row[k - 1].1);
            if grown.1 == 0 || right[k].1 == 0 {
                continue;
            }
            let cost = grown.0.area() * grown.1 as f32 + right[k].0 * right[k].1 as f32;
            if best.is_none_or(|b| cost < b.0) {
                best = Some((cost, axis, k));
            }
        }
    }
    best.map(|(_, axis, cut)| (axis, cut))
}

/// Those that are `left` first. Returns how many.
fn partition(set: &mut Set<'_>, left: impl Fn(&[Vec3A; 3]) -> bool) -> usize {
    let (mut i, mut j) = (0, set.triangles.len());
    loop {
        while i < j && left(&set.triangles[i]) {
            i += 1;
        }
        while i < j && !left(&set.triangles[j - 1]) {
            j -= 1;
        }
        if i >= j {
            return i;
        }
        set.triangles.swap(i, j - 1);
        set.ids.swap(i, j - 1);
    }
}
