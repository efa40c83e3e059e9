//! Boxes of cells, and the cells that a moving box enters: Zachmann's *entering boxes* (§3.8.4).
//!
//! When a box moves a little, nearly all of its cells stay. Those that it enters, `new \ old`, are
//! cut into at most six boxes without a cell in common, and only these are visited.

/// All cells from `min` to `max`, both included; none if a `min` is above its `max`.
///
/// Coordinates are far from the ends of `i32` (see [`super::lattice::LIMIT`]), so the next or the
/// previous one can be computed without care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellBox {
    pub(super) min: [i32; 3],
    pub(super) max: [i32; 3],
}

impl CellBox {
    #[inline]
    pub(super) fn contains(&self, cell: [i32; 3]) -> bool {
        (0..3).all(|axis| self.min[axis] <= cell[axis] && cell[axis] <= self.max[axis])
    }

    /// How many cells there are, or `None` if more than `limit`.
    pub(super) fn count_up_to(&self, limit: u32) -> Option<u32> {
        let mut count = 1u32;
        for axis in 0..3 {
            let side = i64::from(self.max[axis]) - i64::from(self.min[axis]) + 1;
            count = count.checked_mul(u32::try_from(side.max(0)).ok()?)?;
            if count > limit {
                return None;
            }
        }
        Some(count)
    }

    /// Every cell once.
    pub(super) fn cells(self) -> impl Iterator<Item = [i32; 3]> {
        let [x, y, z] = [0, 1, 2].map(|axis| self.min[axis]..=self.max[axis]);
        x.flat_map(move |x| {
            let z = z.clone();
            y.clone().flat_map(move |y| z.clone().map(move |z| [x, y, z]))
        })
    }
}

/// The cells of `new` that are not in `old`, as boxes (some of them empty) that share no cell.
///
/// The formulas of the thesis are exact only where the two boxes overlap; cut to the new box, they
/// are exact for all.
pub(super) fn entering(new: &CellBox, old: &CellBox) -> [CellBox; 6] {
    let whole = [0, 1, 2].map(|axis| [new.min[axis], new.max[axis]]);
    let below = [0, 1, 2].map(|a| [new.min[a], new.max[a].min(old.min[a] - 1)]);
    let above = [0, 1, 2].map(|a| [new.min[a].max(old.max[a] + 1), new.max[a]]);
    let both = [0, 1, 2].map(|a| [new.min[a].max(old.min[a]), new.max[a].min(old.max[a])]);
    // Along x everything that is not below: the cells above are cut off last.
    let rest = [both[0][0], new.max[0]];
    [
        [below[0], whole[1], whole[2]],
        [rest, above[1], whole[2]],
        [rest, below[1], whole[2]],
        [rest, both[1], below[2]],
        [rest, both[1], above[2]],
        [above[0], both[1], both[2]],
    ]
    .map(|ranges| CellBox { min: ranges.map(|r| r[0]), max: ranges.map(|r| r[1]) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn cell_box() -> impl Strategy<Value = CellBox> {
        let side = (-6..=6i32, 0..=5i32);
        [side.clone(), side.clone(), side].prop_map(|sides| CellBox {
            min: sides.map(|(low, _)| low),
            max: sides.map(|(low, length)| low + length),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn entering_boxes_cut_the_difference_into_parts(old in cell_box(), new in cell_box()) {
            let mut entered = BTreeSet::new();
            for part in entering(&new, &old) {
                for cell in part.cells() {
                    prop_assert!(entered.insert(cell), "{cell:?} twice");
                }
            }
            let expected: BTreeSet<_> = new.cells().filter(|&cell| !old.contains(cell)).collect();
            prop_assert_eq!(&entered, &expected);
            let count = new.cells().count() as u32;
            prop_assert_eq!(new.count_up_to(count), Some(count));
            prop_assert_eq!(new.count_up_to(count - 1), None);
        }
    }

    #[test]
    fn boxes_apart_enter_whole_and_small_motion_enters_three_parts() {
        let parts = |new: CellBox, old: CellBox| {
            entering(&new, &old).into_iter().filter(|part| part.cells().next().is_some()).count()
        };
        let old = CellBox { min: [0; 3], max: [2; 3] };
        let apart = CellBox { min: [5, -9, 1], max: [6, -8, 1] };
        assert_eq!(parts(apart, old), 1);
        assert_eq!(parts(old, old), 0);
        let shifted = CellBox { min: [1; 3], max: [3; 3] };
        assert_eq!(parts(shifted, old), 3);
    }

    #[test]
    fn counting_huge_boxes_does_not_overflow() {
        let huge = CellBox { min: [-(1 << 29); 3], max: [1 << 29; 3] };
        assert_eq!(huge.count_up_to(u32::MAX), None);
    }
}
