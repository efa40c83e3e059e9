//! Sweep and prune on three axes: I-COLLIDE's broad phase, which V-COLLIDE took over (§3.1).
//!
//! The end points of all boxes are kept sorted along x, y and z. A box that moves a little passes
//! few end points of others, and a pair can begin or end only where a low end and a high end pass
//! each other; so the pairs are kept, and changed by such events.
//!
//! New boxes, and motion with so many events that it is cheaper to begin anew, take another way:
//! the end points are sorted in, and one sweep along the best axis finds the pairs of the new.

mod ends;
mod fresh;
mod pairs;
mod shift;

use super::boxes::Boxes;
use super::slot_pair;
use ends::Ends;
use jostle_geom::Aabb;
use jostle_world::broad::{BroadCounters, SlotPair};
use pairs::PairSet;
use shift::Shift;

/// What one comparison of a sweep, and sorting one end point anew, costs in swaps of end points:
/// measured with 1000 to 100 000 unit cubes. With more swaps than these make, beginning anew is
/// cheaper.
const COMPARISONS_PER_SWAP: u64 = 6;
const SWAPS_PER_SORTED_END: u64 = 8;

/// Longest time, in steps, without a try whether motion can be followed again.
const PAUSE_LIMIT: u32 = 15;

/// From this share of moved boxes on (one in so many), whole lists are sorted instead of following
/// the places of the moved.
const MOVED_FOR_WHOLE_LISTS: usize = 8;

/// So few new boxes are compared with all: faster than a sweep through a list.
const FEW_FRESH: usize = 8;

#[derive(Clone, Debug, Default)]
pub(super) struct Sweep {
    boxes: Boxes,
    ends: Ends,
    /// The overlapping pairs among boxes that are in the lists.
    pairs: PairSet,
    /// By slot.
    listed: Vec<Listed>,
    /// How many are [`Listed::Stale`].
    stale: usize,
    /// How many boxes a sweep through all had to compare, when last counted.
    comparisons: u64,
    /// For how many steps with much motion to begin anew at once, because the last try to follow
    /// it was in vain; and for how many after the next such try.
    pause: [u32; 2],
}

/// Are there end points of a slot in the lists?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Listed {
    #[default]
    No,
    Yes,
    /// Only those of a box that is gone.
    Stale,
}

impl Sweep {
    pub(super) fn insert(&mut self, slot: u32, bounds: Aabb) {
        assert!(slot < ends::SLOT_LIMIT, "slot {slot} is too large for a list of end points");
        self.boxes.insert(slot, bounds);
        self.listed.resize(self.boxes.slots(), Listed::No);
        self.pairs.resize(self.boxes.slots());
    }

    pub(super) fn update(&mut self, slot: u32, bounds: Aabb) {
        self.boxes.update(slot, bounds);
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.boxes.remove(slot);
        if self.listed[slot as usize] == Listed::Yes {
            self.pairs.remove_all_of(slot);
            self.listed[slot as usize] = Listed::Stale;
            self.stale += 1;
        }
    }

    pub(super) fn find_pairs(&mut self, out: &mut Vec<SlotPair>) -> BroadCounters {
        let mut counters = BroadCounters::default();
        let moved = self.boxes.take_moved();
        if !moved.is_empty() {
            self.drop_stale();
            let is_listed = |slot: &u32| self.listed[*slot as usize] == Listed::Yes;
            let (shifted, fresh): (Vec<u32>, Vec<u32>) = moved.iter().partition(|s| is_listed(s));
            if self.shift(&shifted, &mut counters) {
                self.sweep(fresh, &mut counters);
            } else {
                self.begin_anew(&mut counters);
            }
        }
        for &slot in &moved {
            for &partner in self.pairs.of(slot) {
                if slot < partner || !self.boxes.is_moved(partner) {
                    out.push(slot_pair(slot, partner));
                }
            }
        }
        self.boxes.settle(moved);
        counters
    }

    /// Removes the end points of boxes that are gone.
    fn drop_stale(&mut self) {
        if self.stale > 0 {
            self.ends.retain(|slot| self.listed[slot as usize] == Listed::Yes);
            for listed in self.listed.iter_mut().filter(|listed| **listed == Listed::Stale) {
                *listed = Listed::No;
            }
            self.stale = 0;
        }
    }

    /// Moves the end points of boxes that were in the lists before. False if that is too costly;
    /// then the lists and the pairs are of no use.
    fn shift(&mut self, moved: &[u32], counters: &mut BroadCounters) -> bool {
        let many = moved.len() * MOVED_FOR_WHOLE_LISTS > self.boxes.count();
        if many && self.pause[0] > 0 {
            self.pause[0] -= 1;
            return false;
        }
        let budget = self.comparisons / COMPARISONS_PER_SWAP
            + SWAPS_PER_SORTED_END * self.ends.count() as u64;
        let mut shift = Shift::new(&self.boxes, &mut self.pairs, budget);
        let done = if many {
            shift.whole_lists(&mut self.ends)
        } else {
            shift.ends_of(moved, &mut self.ends)
        };
        counters.updates += shift.swaps;
        counters.box_tests += shift.box_tests;
        if many {
            let next = if done { 0 } else { PAUSE_LIMIT.min(2 * self.pause[1] + 1) };
            self.pause = [next; 2];
        }
        done
    }

    /// Brings new boxes into the lists and finds their pairs.
    fn sweep(&mut self, fresh: Vec<u32>, counters: &mut BroadCounters) {
        self.ends.merge(&fresh, &self.boxes);
        counters.updates += 6 * fresh.len() as u64;
        let mut found = Vec::new();
        if fresh.len() <= FEW_FRESH {
            counters.box_tests += fresh::compare_with_all(&fresh, &self.boxes, &mut found);
        } else {
            let (axis, comparisons) = self.ends.best_axis();
            self.comparisons = comparisons;
            let list = &self.ends.lists[axis];
            counters.box_tests += fresh::sweep(&fresh, list, axis, &self.boxes, &mut found);
        }
        self.pairs.add_all(&found);
        for slot in fresh {
            self.listed[slot as usize] = Listed::Yes;
        }
    }

    /// As if all boxes were new.
    fn begin_anew(&mut self, counters: &mut BroadCounters) {
        self.ends = Ends::default();
        self.pairs.clear();
        self.sweep(self.boxes.iter().map(|(slot, _)| slot).collect(), counters);
    }

    /// Panics unless lists and pairs belong to the boxes as they were at the last call.
    #[cfg(test)]
    pub(super) fn validate(&self) {
        self.ends.validate();
        self.pairs.validate();
        let stale = |listed: &&Listed| **listed == Listed::Stale;
        assert_eq!(self.listed.iter().filter(stale).count(), self.stale);
        let listed = |listed: &&Listed| **listed != Listed::No;
        assert_eq!(2 * self.listed.iter().filter(listed).count(), self.ends.count() / 3);
        let settled = |slot: &u32| self.boxes.has(*slot) && !self.boxes.is_moved(*slot);
        let slots: Vec<u32> = (0..self.boxes.slots() as u32).filter(settled).collect();
        for &a in &slots {
            assert_eq!(self.listed[a as usize], Listed::Yes, "slot {a}");
            for &b in slots.iter().filter(|&&b| b != a) {
                let overlap = self.boxes.get(a).overlaps(self.boxes.get(b));
                assert_eq!(self.pairs.of(a).contains(&b), overlap, "slots {a} and {b}");
            }
        }
    }
}
