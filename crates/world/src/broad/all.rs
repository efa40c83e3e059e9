//! All boxes with all boxes: the obvious way, and the judge of the others.
//!
//! For very few boxes it is also the fastest (Zachmann §3.8.7: competitive up to about 100).

use super::boxes::Boxes;
use super::{BroadCounters, SlotPair, slot_pair};
use jostle_geom::Aabb;

#[derive(Clone, Debug, Default)]
pub(super) struct AllPairs {
    boxes: Boxes,
}

impl AllPairs {
    pub(super) fn insert(&mut self, slot: u32, bounds: Aabb) {
        self.boxes.insert(slot, bounds);
    }

    pub(super) fn update(&mut self, slot: u32, bounds: Aabb) {
        self.boxes.update(slot, bounds);
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.boxes.remove(slot);
    }

    pub(super) fn query(&self, bounds: &Aabb, out: &mut Vec<u32>) {
        self.boxes.query(bounds, out);
    }

    /// Sorted by slot.
    pub(super) fn all(&self) -> Vec<(u32, Aabb)> {
        self.boxes.iter().map(|(slot, b)| (slot, Aabb::around(b.min(), b.max()))).collect()
    }

    /// The slots of the boxes that moved since the last [`AllPairs::find_pairs`].
    pub(super) fn take_moved(&mut self) -> Vec<u32> {
        self.boxes.take_moved()
    }

    pub(super) fn find_pairs(&mut self, out: &mut Vec<SlotPair>) -> BroadCounters {
        let mut counters = BroadCounters::default();
        let moved = self.boxes.take_moved();
        for &a in &moved {
            let bounds = self.boxes.get(a);
            for (b, other) in self.boxes.iter() {
                // Two that moved meet twice; the one with the smaller slot counts.
                if b == a || b < a && self.boxes.is_moved(b) {
                    continue;
                }
                counters.box_tests += 1;
                if bounds.overlaps(other) {
                    out.push(slot_pair(a, b));
                }
            }
        }
        self.boxes.settle(moved);
        counters
    }
}
