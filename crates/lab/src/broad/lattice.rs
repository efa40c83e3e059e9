//! The lattice of cells by which grid and octree place boxes: a cell is a cube whose side is a
//! power of two, chosen from the boxes.
//!
//! Correctness rests on one property: **the cell of a coordinate never decreases as the coordinate
//! grows**, whatever the rounding. Then two boxes that share a point also share the cell of the
//! larger of their low corners, and that is the one cell in which the pair is reported (the
//! reference point). Far coordinates all get the outermost cell; that costs time, not pairs.

use super::boxes::{Boxes, QuickBox};
use super::entering::CellBox;
use glam::Vec3;

/// No cell coordinate is farther from 0. Small enough for sums of a few in `i32`, and far more than
/// the 2²⁴ cells that `f32` can resolve.
pub(super) const LIMIT: i32 = 1 << 28;

/// 2 to this power, and to its negative, are ordinary `f32`.
const EXPONENT_LIMIT: i32 = 126;

/// To choose the size of cells, so many boxes are looked at.
const SAMPLE: usize = 4096;

/// The boxes' middle half spreads over at most this many cells per axis: sizes of (nearly) 0 would
/// else push most boxes to the outermost cells.
const SPREAD_CELLS: f64 = (1 << 20) as f64;

/// After so many moves per box the size is looked at again.
const MOVES_PER_LOOK: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct Lattice {
    /// The share of boxes that shall not be larger than half a cell, in 16ths.
    sixteenths: usize,
    /// The side of a cell is 2 to this power; `None` before the first look at the boxes.
    exponent: Option<i32>,
    /// 1 / side.
    scale: f32,
    /// How many boxes there were at the last look.
    boxes_then: usize,
    /// Moves since then.
    moves: usize,
}

impl Lattice {
    /// Cells will be about twice as large as the box than which so many 16ths of boxes are smaller.
    pub(super) fn new(sixteenths: usize) -> Lattice {
        Lattice { sixteenths, exponent: None, scale: 1.0, boxes_then: 0, moves: 0 }
    }

    /// The cell of a point.
    #[inline]
    pub(super) fn cell(&self, point: Vec3) -> [i32; 3] {
        (point * self.scale).to_array().map(floor)
    }

    /// The cells of a box.
    #[inline]
    pub(super) fn cells(&self, bounds: &QuickBox) -> CellBox {
        CellBox { min: self.cell(bounds.min()), max: self.cell(bounds.max()) }
    }

    /// How many times a cell's side goes into the largest side of a box.
    pub(super) fn sides(&self, bounds: &QuickBox) -> f64 {
        largest_side(bounds) * f64::from(self.scale)
    }

    /// Do the cells still fit the boxes, `moved` of which are about to be placed? If not, they get
    /// another size: then it returns true, and every box must be placed anew.
    pub(super) fn refit(&mut self, boxes: &Boxes, moved: usize) -> bool {
        self.moves += moved;
        let grown = boxes.count() > 2 * self.boxes_then;
        if self.exponent.is_some() && !grown && self.moves <= MOVES_PER_LOOK * self.boxes_then {
            return false;
        }
        (self.boxes_then, self.moves) = (boxes.count(), 0);
        let wanted = self.wanted(boxes);
        // A factor of two either way is not worth a rebuild.
        if self.exponent.is_some_and(|exponent| (exponent - wanted).abs() < 2) {
            return false;
        }
        self.exponent = Some(wanted);
        self.scale = f32::from_bits(((127 - wanted) as u32) << 23);
        true
    }

    fn wanted(&self, boxes: &Boxes) -> i32 {
        let stride = boxes.count().div_ceil(SAMPLE).max(1);
        let sample: Vec<&QuickBox> =
            boxes.iter().step_by(stride).map(|(_, bounds)| bounds).collect();
        let mut sides: Vec<f64> = sample.iter().map(|bounds| largest_side(bounds)).collect();
        let mut side = 2.0 * quantile(&mut sides, self.sixteenths);
        for axis in 0..3 {
            let mut places: Vec<f64> = sample.iter().map(|b| f64::from(b.min()[axis])).collect();
            let spread = quantile(&mut places, 12) - quantile(&mut places, 4);
            side = side.max(spread / SPREAD_CELLS);
        }
        nearest_exponent(side).clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT)
    }
}

/// Wide, because the sides of a box may be larger than any `f32`.
fn largest_side(bounds: &QuickBox) -> f64 {
    (bounds.max().as_dvec3() - bounds.min().as_dvec3()).max_element()
}

/// The value than which so many 16ths of all are not larger; 0 for none.
fn quantile(values: &mut [f64], sixteenths: usize) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let at = (values.len() - 1) * sixteenths / 16;
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}

/// The exponent of the power of two nearest to `x` (as factor); 0 for 0.
///
/// From the bits, because library logarithms differ between machines.
pub(super) fn nearest_exponent(x: f64) -> i32 {
    if x == 0.0 {
        return 0;
    }
    let bits = (x * std::f64::consts::SQRT_2).to_bits();
    ((bits >> 52) & 0x7ff) as i32 - 1023
}

/// The largest whole number not above `x`, within the limits.
///
/// By hand: the baseline of x86-64 has no instruction for it, and a call per coordinate shows.
#[inline]
fn floor(x: f32) -> i32 {
    let limited = x.clamp(-LIMIT as f32, LIMIT as f32);
    let cut = limited as i32;
    cut - i32::from(cut as f32 > limited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_geom::Aabb;

    #[test]
    fn floor_is_the_floor_and_keeps_the_order() {
        let mut values: Vec<f32> = (0..2000u32).map(|i| f32::from_bits(i * 2_139_095)).collect();
        values.retain(|x| x.is_finite());
        values.extend([0.0, 0.5, 1.0, 1.5, 1e9, f32::MAX, 16_777_215.0, f32::MIN_POSITIVE]);
        values.extend(values.clone().iter().map(|x| -x));
        values.sort_by(f32::total_cmp);
        for x in &values {
            let expected = f64::from(*x).floor().clamp(-f64::from(LIMIT), f64::from(LIMIT));
            assert_eq!(f64::from(floor(*x)), expected, "{x}");
        }
        assert!(values.is_sorted_by_key(|x| floor(*x)));
        assert!(values.is_sorted_by_key(|x| floor(*x * 2f32.powi(126))), "overflow");
        assert!(values.is_sorted_by_key(|x| floor(*x * 2f32.powi(-126))), "underflow");
    }

    #[test]
    fn exponents_are_those_of_the_nearest_power_of_two() {
        for (x, exponent) in [(1.0, 0), (1.4, 0), (1.5, 1), (2.0, 1), (0.7, -1), (0.75, 0)] {
            assert_eq!(nearest_exponent(x), exponent, "{x}");
        }
        assert_eq!(nearest_exponent(0.0), 0);
    }

    #[test]
    fn cells_follow_the_sizes_and_small_changes_do_not_count() {
        let mut boxes = Boxes::default();
        let cube = |at: f32, side: f32| Aabb::around(Vec3::splat(at), Vec3::splat(at + side));
        let mut lattice = Lattice::new(15);
        for (slot, at) in (0..100).map(|i| (i, i as f32)) {
            boxes.insert(slot, cube(at, 1.0));
        }
        assert!(lattice.refit(&boxes, 100));
        assert_eq!(lattice.exponent, Some(1));
        for (slot, at) in (0..100).map(|i| (i, i as f32)) {
            boxes.update(slot, cube(at, 2.0));
        }
        assert!(!lattice.refit(&boxes, MOVES_PER_LOOK * 100 + 1), "a factor of two");
        boxes.insert(100, cube(0.0, f32::MAX));
        for (slot, at) in (0..100).map(|i| (i, i as f32)) {
            boxes.update(slot, cube(at, 0.1));
        }
        assert!(!lattice.refit(&boxes, 1), "not yet looked at");
        assert!(lattice.refit(&boxes, MOVES_PER_LOOK * 101 + 1));
        assert_eq!(lattice.exponent, Some(-2));
    }
}
