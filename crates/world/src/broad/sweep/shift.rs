//! Insertion sort, and what happens when end points pass each other.
//!
//! Two boxes overlap along an axis exactly if the low end of each comes before the high end of the
//! other. So when a low end comes before a high end, a pair may begin, and the boxes as they are
//! *after* the step are compared; when a high end comes before a low end, the pair ends. This is
//! right in whatever order the ends of many boxes are moved: along every axis with an event, the last
//! event of a pair tells how it is in the end; a pair that overlaps in the end has no last event
//! that ends it, and is never kept from being added; one that does not is never added, and is
//! removed by the axis along which it separated.

use super::super::boxes::Boxes;
use super::ends::{End, Ends};
use super::pairs::PairSet;

pub(super) struct Shift<'a> {
    /// As they are after the step.
    boxes: &'a Boxes,
    pairs: &'a mut PairSet,
    /// After so many swaps give up.
    budget: u64,
    pub(super) swaps: u64,
    pub(super) box_tests: u64,
}

impl Shift<'_> {
    pub(super) fn new<'a>(boxes: &'a Boxes, pairs: &'a mut PairSet, budget: u64) -> Shift<'a> {
        Shift { boxes, pairs, budget, swaps: 0, box_tests: 0 }
    }

    /// For many moved boxes: renews and sorts whole lists. False if over budget.
    pub(super) fn whole_lists(&mut self, ends: &mut Ends) -> bool {
        ends.forget_places();
        for (axis, list) in ends.lists.iter_mut().enumerate() {
            for end in list.iter_mut() {
                *end = End::of(end.slot(), end.side(), axis, self.boxes);
            }
            for from in 1..list.len() {
                let end = list[from];
                let mut to = from;
                while to > 0 && list[to - 1] > end {
                    self.before(end, list[to - 1]);
                    list[to] = list[to - 1];
                    to -= 1;
                }
                list[to] = end;
                self.swaps += (from - to) as u64;
                if self.swaps > self.budget {
                    return false;
                }
            }
        }
        true
    }

    /// For few moved boxes: only their ends are touched. False if over budget.
    pub(super) fn ends_of(&mut self, moved: &[u32], ends: &mut Ends) -> bool {
        if moved.is_empty() {
            return true;
        }
        ends.know_places(self.boxes.slots());
        for (axis, (list, places)) in ends.lists.iter_mut().zip(&mut ends.places).enumerate() {
            for &slot in moved {
                let [low, high] = [0, 1].map(|side| End::of(slot, side, axis, self.boxes));
                // The end in front first, so that the two never pass each other.
                let rising = high > list[places[slot as usize][1] as usize];
                for end in if rising { [high, low] } else { [low, high] } {
                    self.end(end, list, places);
                }
                if self.swaps > self.budget {
                    return false;
                }
            }
        }
        true
    }

    /// Moves one end to its new place.
    fn end(&mut self, end: End, list: &mut [End], places: &mut [[u32; 2]]) {
        let from = places[end.slot() as usize][end.side()] as usize;
        let mut at = from;
        while at > 0 && list[at - 1] > end {
            let other = list[at - 1];
            self.before(end, other);
            list[at] = other;
            places[other.slot() as usize][other.side()] = at as u32;
            at -= 1;
        }
        while let Some(&other) = list.get(at + 1).filter(|other| **other < end) {
            self.before(other, end);
            list[at] = other;
            places[other.slot() as usize][other.side()] = at as u32;
            at += 1;
        }
        list[at] = end;
        places[end.slot() as usize][end.side()] = at as u32;
        self.swaps += from.abs_diff(at) as u64;
    }

    /// One end has come before another.
    #[inline]
    fn before(&mut self, first: End, second: End) {
        if first.is_high() == second.is_high() {
            return;
        }
        let pair = [first.slot(), second.slot()];
        if first.is_high() {
            self.pairs.remove(pair);
        } else {
            self.box_tests += 1;
            if self.boxes.get(pair[0]).overlaps(self.boxes.get(pair[1])) {
                self.pairs.add(pair);
            }
        }
    }
}
