//! Insertion sort, and what happens when end points pass each other.
//!
//! Two boxes overlap along an axis exactly if the low end of each comes before the high end of the
//! other. So when a low end comes before a high end, a pair may begin, and the boxes as they are
//! *after* the step are compared; when a high end comes before a low end, the pair ends.
//!
//! The order in which the ends of many boxes move is of no effect. Two boxes that overlap after the
//! step: along each axis with events between them the last one is a beginning, so the last of all
//! adds the pair. Two boxes that do not: no event adds the pair, and if it was there, the axis
//! along which they are apart now has an ending.

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
                if list[from - 1] > end {
                    let to = place_before(&list[..from], end);
                    list.copy_within(to..from, to + 1);
                    list[to] = end;
                    self.came_before(end, &list[to + 1..=from]);
                }
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
                    self.move_end(end, list, places);
                }
                if self.swaps > self.budget {
                    return false;
                }
            }
        }
        true
    }

    /// Moves one end to its new place.
    fn move_end(&mut self, end: End, list: &mut [End], places: &mut [[u32; 2]]) {
        let from = places[end.slot() as usize][end.side()] as usize;
        let to = if from > 0 && list[from - 1] > end {
            let to = place_before(&list[..from], end);
            list.copy_within(to..from, to + 1);
            self.came_before(end, &list[to + 1..=from]);
            to
        } else {
            let behind = &list[from + 1..];
            let to = from + behind.iter().position(|other| *other > end).unwrap_or(behind.len());
            list.copy_within(from + 1..=to, from);
            self.came_after(end, &list[from..to]);
            to
        };
        list[to] = end;
        for (at, end) in list.iter().enumerate().take(from.max(to) + 1).skip(from.min(to)) {
            places[end.slot() as usize][end.side()] = at as u32;
        }
    }

    fn came_before(&mut self, end: End, others: &[End]) {
        self.swaps += others.len() as u64;
        if end.is_high() { self.ended(end, others) } else { self.may_have_begun(end, others) }
    }

    fn came_after(&mut self, end: End, others: &[End]) {
        self.swaps += others.len() as u64;
        if end.is_high() { self.may_have_begun(end, others) } else { self.ended(end, others) }
    }

    /// The box is apart from those whose opposite ends are among the others.
    fn ended(&mut self, end: End, others: &[End]) {
        if self.pairs.of(end.slot()).is_empty() {
            return;
        }
        for other in others.iter().filter(|other| other.is_high() != end.is_high()) {
            self.pairs.remove([end.slot(), other.slot()]);
        }
    }

    /// The box overlaps along one axis those whose opposite ends are among the others.
    fn may_have_begun(&mut self, end: End, others: &[End]) {
        let bounds = *self.boxes.get(end.slot());
        // First without a branch, which could not be predicted: which are opposite ends?
        let mut opposite = [0; 64];
        for others in others.chunks(opposite.len()) {
            let mut count = 0;
            for other in others {
                opposite[count] = other.slot();
                count += usize::from(other.is_high() != end.is_high());
            }
            self.box_tests += count as u64;
            for &slot in &opposite[..count] {
                if bounds.overlaps(self.boxes.get(slot)) {
                    self.pairs.add([end.slot(), slot]);
                }
            }
        }
    }
}

/// Where an end belongs that is less than the last of a sorted list. It is not far.
fn place_before(list: &[End], end: End) -> usize {
    list.iter().rposition(|other| *other < end).map_or(0, |at| at + 1)
}
