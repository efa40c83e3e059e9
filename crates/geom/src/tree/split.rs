//! Where to cut a set of triangles in two.
//!
//! The surface area heuristic, measured in the frame of the set's own box: the cheapest cut is
//! the one that minimises count × area on both sides. Large sets use bins, small ones try every
//! cut.

use crate::simd::{Isa, Kernel, Simd};
use glam::{Mat3A, Vec3A};

/// Sets up to this size are sorted, and try every cut (the quick way: the middle one only).
const SWEEP_MAX: usize = 16;

/// Bins per axis for larger sets.
const BINS: usize = 16;

/// Triangles with their numbers, moved together.
pub(crate) struct Set<'a> {
    pub(crate) triangles: &'a mut [[Vec3A; 3]],
    pub(crate) ids: &'a mut [u32],
}

/// A growing box.
#[derive(Clone, Copy, Debug)]
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

/// Where cuts are looked for.
#[derive(Clone, Copy)]
pub(crate) enum Cuts {
    /// Along the two longest axes of the set's own box.
    TwoLongest([Vec3A; 3]),
    /// Along the longest coordinate axis of the box around the set: quicker to find.
    Longest(Bounds),
}

impl Cuts {
    /// A point in the frame of the cuts.
    #[inline(always)]
    fn local(&self, p: Vec3A) -> Vec3A {
        match self {
            Cuts::TwoLongest([u, v, w]) => *u * p.x + *v * p.y + *w * p.z,
            Cuts::Longest(_) => p,
        }
    }

    /// The axes to try, for triangles whose middles spread over `size`. The shortest is left out:
    /// surfaces are flat, and cuts along the third axis were hardly ever the best (the
    /// number of box tests stays the same within 1 %).
    #[inline(always)]
    fn axes(&self, size: Vec3A) -> Axes {
        let [x, y, z] = size.to_array();
        let longest = if x >= y && x >= z {
            0
        } else if y >= z {
            1
        } else {
            2
        };
        match self {
            Cuts::TwoLongest(_) => {
                let (p, q) = ((longest + 1) % 3, (longest + 2) % 3);
                let second = if size[p] >= size[q] { p } else { q };
                Axes { axes: [longest, second], count: 2 }
            }
            Cuts::Longest(_) => Axes { axes: [longest, longest], count: 1 },
        }
    }
}

/// One or two axes.
#[derive(Clone, Copy)]
struct Axes {
    axes: [usize; 2],
    count: usize,
}

impl Axes {
    #[inline(always)]
    fn each(&self) -> &[usize] {
        &self.axes[..self.count]
    }
}

/// A set cut in two.
#[derive(Clone, Copy)]
pub(crate) struct Halves {
    /// How many triangles stand on the first side; both sides have at least one.
    pub(crate) count: usize,
    /// The box around each side in the frame of the cuts, where it is known.
    pub(crate) bounds: Option<[Bounds; 2]>,
}

/// Moves the triangles of one side to the front.
pub(crate) fn split(isa: Isa, set: &mut Set<'_>, cuts: Cuts) -> Halves {
    // Columns instead of rows: then a point is turned by three products.
    let cuts = match cuts {
        Cuts::TwoLongest([u, v, w]) => {
            let t = Mat3A::from_cols(u, v, w).transpose();
            Cuts::TwoLongest([t.x_axis, t.y_axis, t.z_axis])
        }
        Cuts::Longest(_) => cuts,
    };
    isa.run(Split { set, cuts })
}

/// A kernel only to be compiled with the better instructions: it uses no lanes.
struct Split<'w, 's> {
    set: &'w mut Set<'s>,
    cuts: Cuts,
}

impl Kernel for Split<'_, '_> {
    type Out = Halves;

    #[inline(always)]
    fn run<S: Simd>(self) -> Halves {
        let n = self.set.triangles.len();
        debug_assert!(n >= 2);
        if n <= SWEEP_MAX { sweep(self.set, &self.cuts) } else { binned(self.set, &self.cuts) }
    }
}

#[inline(always)]
fn sweep(set: &mut Set<'_>, cuts: &Cuts) -> Halves {
    let n = set.triangles.len();
    let mut bounds = [Bounds::NONE; SWEEP_MAX];
    let mut middles = Bounds::NONE;
    for (b, t) in bounds.iter_mut().zip(set.triangles.iter()) {
        *b = Bounds::of(&[cuts.local(t[0]), cuts.local(t[1]), cuts.local(t[2])]);
        middles = middles.with(Bounds { lo: b.middle(), hi: b.middle() });
    }
    let identity: [u8; SWEEP_MAX] = std::array::from_fn(|k| k as u8);
    let mut best = (f32::INFINITY, identity, n / 2);
    for &axis in cuts.axes(middles.hi - middles.lo).each() {
        let order = sorted(&bounds[..n], axis);
        if let Cuts::Longest(_) = cuts {
            // Quick: in the middle, so that leaves are full.
            best = (0.0, order, (n / 2).next_multiple_of(super::LEAF_MAX).min(n - 1));
            break;
        }
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
    }
    let (old, old_ids): ([_; SWEEP_MAX], [_; SWEEP_MAX]) = (
        std::array::from_fn(|k| set.triangles[k.min(n - 1)]),
        std::array::from_fn(|k| set.ids[k.min(n - 1)]),
    );
    for (k, &from) in best.1[..n].iter().enumerate() {
        set.triangles[k] = old[from as usize];
        set.ids[k] = old_ids[from as usize];
    }
    let (mut left, mut right) = (Bounds::NONE, Bounds::NONE);
    for (k, &from) in best.1[..n].iter().enumerate() {
        let side = if k < best.2 { &mut left } else { &mut right };
        *side = side.with(bounds[from as usize]);
    }
    Halves { count: best.2, bounds: Some([left, right]) }
}

/// The numbers of boxes in the order of their middles along an axis, equal ones by number.
#[inline(always)]
fn sorted(bounds: &[Bounds], axis: usize) -> [u8; SWEEP_MAX] {
    let mut keys = [u64::MAX; SWEEP_MAX];
    for (k, b) in bounds.iter().enumerate() {
        // As f32::total_cmp orders: flip all bits of negative numbers, the sign of others.
        let bits = b.middle()[axis].to_bits();
        let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
        let key = u64::from(ordered) << 8 | k as u64;
        let mut at = k;
        while at > 0 && keys[at - 1] > key {
            keys[at] = keys[at - 1];
            at -= 1;
        }
        keys[at] = key;
    }
    keys.map(|key| key as u8)
}

/// Leaves that hold `n` triangles.
fn leaves(n: usize) -> f32 {
    n.div_ceil(super::LEAF_MAX) as f32
}

#[inline(always)]
fn binned(set: &mut Set<'_>, cuts: &Cuts) -> Halves {
    let n = set.triangles.len();
    // Where the middles lie, three times as large: middles are not divided by three.
    let (mut lo, mut hi) = (Vec3A::splat(f32::INFINITY), Vec3A::splat(f32::NEG_INFINITY));
    match cuts {
        Cuts::TwoLongest(_) => {
            for t in set.triangles.iter() {
                let m = cuts.local(t[0] + t[1] + t[2]);
                lo = lo.min(m);
                hi = hi.max(m);
            }
        }
        // The box around the triangles holds their middles, and saves a pass over them.
        Cuts::Longest(around) => (lo, hi) = (around.lo * 3.0, around.hi * 3.0),
    }
    let size = hi - lo;
    let scale = Vec3A::from_array(size.to_array().map(|s| {
        let scale = (BINS as f32 * 0.9999) / s;
        if scale.is_finite() { scale } else { 0.0 }
    }));
    let axes = cuts.axes(size);
    let mut bins = [[(Bounds::NONE, 0u32); BINS]; 3];
    for t in set.triangles.iter() {
        let at = (cuts.local(t[0] + t[1] + t[2]) - lo) * scale;
        let bounds = Bounds::of(&[cuts.local(t[0]), cuts.local(t[1]), cuts.local(t[2])]);
        for &axis in axes.each() {
            let slot = &mut bins[axis][(at[axis] as usize).min(BINS - 1)];
            slot.0 = slot.0.with(bounds);
            slot.1 += 1;
        }
    }
    let Some((axis, cut)) = best_cut(&bins, axes) else {
        // All in one bin on every axis: any halves will do.
        return Halves { count: n / 2, bounds: None };
    };
    let around = |bins: &[(Bounds, u32)]| bins.iter().fold(Bounds::NONE, |b, bin| b.with(bin.0));
    let bounds = Some([around(&bins[axis][..cut]), around(&bins[axis][cut..])]);
    // The same operations as above, so that a triangle falls into the same bin.
    let count = partition(set, |t| {
        let at = (cuts.local(t[0] + t[1] + t[2]) - lo) * scale;
        (at[axis] as usize).min(BINS - 1) < cut
    });
    Halves { count, bounds }
}

/// Axis and first bin of the right side.
#[inline(always)]
fn best_cut(bins: &[[(Bounds, u32); BINS]; 3], axes: Axes) -> Option<(usize, usize)> {
    let mut best: Option<(f32, usize, usize)> = None;
    for &axis in axes.each() {
        let row = &bins[axis];
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
#[inline(always)]
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
