//! The sorted lists of end points.

use super::super::boxes::Boxes;

/// One end of a box along an axis, so packed that comparing numbers compares coordinates first; at
/// the same coordinate low ends come before high ends, because boxes are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct End(u64);

/// Above the slot.
const HIGH_BIT: u64 = SLOT_LIMIT as u64;

/// Larger than every slot.
pub(super) const SLOT_LIMIT: u32 = 1 << 31;

impl End {
    /// The low (0) or high (1) end of a box along an axis.
    #[inline]
    pub(super) fn of(slot: u32, side: usize, axis: usize, boxes: &Boxes) -> End {
        let bounds = boxes.get(slot);
        let corner = if side == 0 { bounds.min() } else { bounds.max() };
        let side_bit = if side == 0 { 0 } else { HIGH_BIT };
        End(u64::from(ordered(corner[axis])) << 32 | side_bit | u64::from(slot))
    }

    #[inline]
    pub(super) fn is_high(self) -> bool {
        self.0 & HIGH_BIT != 0
    }

    #[inline]
    pub(super) fn side(self) -> usize {
        usize::from(self.is_high())
    }

    #[inline]
    pub(super) fn slot(self) -> u32 {
        (self.0 & (HIGH_BIT - 1)) as u32
    }
}

/// A number that is ordered as the coordinate is.
fn ordered(coordinate: f32) -> u32 {
    // The sum makes one zero of the two.
    let bits = (coordinate + 0.0).to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    /// Along x, y, z.
    pub(super) lists: [Vec<End>; 3],
    /// Where the two ends of a slot are in the lists, by axis and slot. Kept only while few boxes
    /// move; without any slot: not known.
    pub(super) places: [Vec<[u32; 2]>; 3],
}

impl Ends {
    /// In all lists together.
    pub(super) fn count(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    pub(super) fn forget_places(&mut self) {
        self.places.iter_mut().for_each(Vec::clear);
    }

    pub(super) fn know_places(&mut self, slots: usize) {
        for (places, list) in self.places.iter_mut().zip(&self.lists) {
            if places.is_empty() {
                places.resize(slots, [u32::MAX; 2]);
                for (at, end) in list.iter().enumerate() {
                    places[end.slot() as usize][end.side()] = at as u32;
                }
            }
        }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        for list in &mut self.lists {
            list.retain(|end| keep(end.slot()));
        }
        self.forget_places();
    }

    /// Sorts the ends of boxes in that are not in the lists.
    pub(super) fn merge(&mut self, fresh: &[u32], boxes: &Boxes) {
        if fresh.is_empty() {
            return;
        }
        for (axis, list) in self.lists.iter_mut().enumerate() {
            let ends = |&slot| [0, 1].map(|side| End::of(slot, side, axis, boxes));
            let mut new: Vec<End> = fresh.iter().flat_map(ends).collect();
            new.sort_unstable();
            // From behind: what follows the last new end moves to its final place, and so on. Few
            // new ends thus cost few large copies.
            let mut old = list.len();
            list.extend_from_slice(&new);
            for (before, end) in new.iter().enumerate().rev() {
                let split = list[..old].partition_point(|other| other < end);
                list.copy_within(split..old, split + before + 1);
                list[split + before] = *end;
                old = split;
            }
        }
        self.forget_places();
    }

    /// The axis along which the fewest pairs of boxes overlap, and how many those are.
    pub(super) fn best_axis(&self) -> (usize, u64) {
        let overlaps = |list: &Vec<End>| {
            let (mut open, mut overlaps) = (0u64, 0u64);
            for end in list {
                if end.is_high() {
                    open -= 1;
                } else {
                    overlaps += open;
                    open += 1;
                }
            }
            overlaps
        };
        let [x, y, z] = self.lists.each_ref().map(overlaps);
        if x <= y && x <= z {
            (0, x)
        } else if y <= z {
            (1, y)
        } else {
            (2, z)
        }
    }

    #[cfg(test)]
    pub(super) fn validate(&self) {
        for (list, places) in self.lists.iter().zip(&self.places) {
            assert!(list.is_sorted());
            for (at, end) in list.iter().enumerate().take(places.len() * list.len()) {
                assert_eq!(places[end.slot() as usize][end.side()] as usize, at, "{end:?}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordered_numbers_compare_as_coordinates_do() {
        let values = [-1e30, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, 1.5, f32::MAX];
        for a in values {
            for b in values {
                assert_eq!(ordered(a).cmp(&ordered(b)), a.partial_cmp(&b).unwrap(), "{a} {b}");
            }
        }
    }
}
