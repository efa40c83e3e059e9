//! All boxes with all boxes: the obvious way, and the judge of the others.
//!
//! For very few boxes it is also the fastest (Zachmann §3.8.7: competitive up to about 100).

use super::{BroadCounters, SlotPair, slot_pair};
use crate::Aabb;

#[derive(Clone, Debug, Default)]
pub(super) struct AllPairs {
    /// By slot.
    boxes: Vec<Option<Entry>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    bounds: Aabb,
    moved: bool,
}

impl AllPairs {
    pub(super) fn insert(&mut self, slot: u32, bounds: Aabb) {
        let at = slot as usize;
        if self.boxes.len() <= at {
            self.boxes.resize(at + 1, None);
        }
        assert!(self.boxes[at].is_none(), "slot {slot} is taken");
        self.boxes[at] = Some(Entry { bounds, moved: true });
    }

    pub(super) fn update(&mut self, slot: u32, bounds: Aabb) {
        let entry = self.boxes.get_mut(slot as usize).and_then(Option::as_mut);
        *entry.expect("only boxes that are there move") = Entry { bounds, moved: true };
    }

    pub(super) fn remove(&mut self, slot: u32) {
        let entry = self.boxes.get_mut(slot as usize).and_then(Option::take);
        entry.expect("only boxes that are there go");
    }

    pub(super) fn find_pairs(&mut self, out: &mut Vec<SlotPair>) -> BroadCounters {
        let mut counters = BroadCounters::default();
        let present = |entry: (usize, &Option<Entry>)| entry.1.map(|e| (entry.0 as u32, e));
        for (a, first) in self.boxes.iter().enumerate().filter_map(present) {
            let later = self.boxes.iter().enumerate().skip(a as usize + 1).filter_map(present);
            for (b, second) in later {
                if first.moved || second.moved {
                    counters.box_tests += 1;
                    if first.bounds.overlaps(&second.bounds) {
                        out.push(slot_pair(a, b));
                    }
                }
            }
        }
        for entry in self.boxes.iter_mut().flatten() {
            entry.moved = false;
        }
        counters
    }
}
