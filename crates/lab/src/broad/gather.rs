//! Comparing the boxes of one cell with each other, for many cells.
//!
//! Slots say nothing about where a box is, so every look at a box is likely to miss the cache. Here
//! the boxes of several cells are first brought together, in a loop with nothing else to do, in
//! which the misses overlap; then they are compared, each two once. 100 000 moving unit cubes took
//! three times as long box by box.

use super::boxes::{Boxes, QuickBox};
use super::occupancy::Occupancy;
use super::slot_pair;
use glam::Vec3;
use jostle_world::broad::SlotPair;

/// So many boxes are brought together: they and their slots stay in the nearest cache.
const ENOUGH: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Gather {
    /// Cell after cell, and in a cell those that moved first.
    slots: Vec<u32>,
    boxes: Vec<QuickBox>,
    cells: Vec<Gathered>,
}

#[derive(Clone, Copy, Debug)]
struct Gathered {
    cell: u32,
    /// Where its slots begin, those that did not move begin, and all end.
    range: [usize; 3],
}

impl Gather {
    /// Is it time for [`Self::drain_pairs`]?
    pub(super) fn is_full(&self) -> bool {
        self.slots.len() >= ENOUGH
    }

    /// Another cell.
    pub(super) fn add(&mut self, cell: u32, occupancy: &Occupancy, boxes: &Boxes) {
        let start = self.slots.len();
        let mut still = start;
        self.slots.extend(occupancy.occupants(cell).iter().map(|occupant| occupant.slot));
        for at in start..self.slots.len() {
            // Without a branch, which could not be predicted.
            let moved = boxes.is_moved(self.slots[at]);
            self.slots.swap(at, if moved { still } else { at });
            still += usize::from(moved);
        }
        self.cells.push(Gathered { cell, range: [start, still, self.slots.len()] });
    }

    /// Gives every overlapping pair with a moved box once per cell, with the cell and the low
    /// corner of what they share, and forgets the cells. Returns how many boxes were compared.
    pub(super) fn drain_pairs(
        &mut self,
        boxes: &Boxes,
        mut report: impl FnMut(u32, Vec3, SlotPair),
    ) -> u64 {
        self.boxes.clear();
        self.boxes.extend(self.slots.iter().map(|&slot| *boxes.get(slot)));
        let mut box_tests = 0;
        for Gathered { cell, range: [start, still, end] } in self.cells.drain(..) {
            let (boxes, slots) = (&self.boxes[start..end], &self.slots[start..end]);
            for first in 0..still - start {
                let bounds = boxes[first];
                box_tests += (boxes.len() - first - 1) as u64;
                for (other, &slot) in boxes[first + 1..].iter().zip(&slots[first + 1..]) {
                    if bounds.overlaps(other) {
                        report(cell, bounds.shared_min(other), slot_pair(slots[first], slot));
                    }
                }
            }
        }
        self.slots.clear();
        box_tests
    }
}
