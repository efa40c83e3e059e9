//! The pairs of new boxes: by one sweep along an axis, or for very few by comparing with all.

use super::super::boxes::{Boxes, QuickBox};
use super::super::slot_pair;
use super::ends::End;
use glam::Vec4;
use jostle_world::broad::SlotPair;

/// Finds the pairs with at least one new box, each once. Returns the number of boxes compared.
pub(super) fn compare_with_all(fresh: &[u32], boxes: &Boxes, found: &mut Vec<SlotPair>) -> u64 {
    for (at, &slot) in fresh.iter().enumerate() {
        let bounds = boxes.get(slot);
        let overlapping = boxes.iter().filter(|(_, other)| bounds.overlaps(other));
        let partners = overlapping.map(|(other, _)| other);
        let wanted = partners.filter(|other| *other != slot && !fresh[..at].contains(other));
        found.extend(wanted.map(|other| slot_pair(slot, other)));
    }
    (fresh.len() * boxes.count()) as u64
}

/// The same by a sweep through the ends along an axis, among which the new boxes' are.
pub(super) fn sweep(
    fresh: &[u32],
    list: &[End],
    axis: usize,
    boxes: &Boxes,
    found: &mut Vec<SlotPair>,
) -> u64 {
    let mut is_fresh = vec![false; boxes.slots()];
    for &slot in fresh {
        is_fresh[slot as usize] = true;
    }
    let (mut old, mut new) = (Open::default(), Open::default());
    // Where an open box is in its list, by slot.
    let mut at = vec![u32::MAX; boxes.slots()];
    let mut box_tests = 0;
    for end in list {
        let slot = end.slot();
        let is_new = is_fresh[slot as usize];
        if end.is_high() {
            let open = if is_new { &mut new } else { &mut old };
            open.close(at[slot as usize], &mut at);
            continue;
        }
        let bounds = boxes.get(slot);
        box_tests += new.compare(slot, bounds, axis, found);
        if is_new {
            box_tests += old.compare(slot, bounds, axis, found);
        }
        let open = if is_new { &mut new } else { &mut old };
        at[slot as usize] = open.slots.len() as u32;
        open.slots.push(slot);
        open.faces.push(faces(bounds, axis)[0]);
    }
    box_tests
}

/// Boxes whose low end was passed and whose high end was not.
#[derive(Default)]
struct Open {
    slots: Vec<u32>,
    /// See [`faces`].
    faces: Vec<Vec4>,
}

impl Open {
    fn compare(&self, slot: u32, bounds: &QuickBox, axis: usize, found: &mut Vec<SlotPair>) -> u64 {
        let [_, opposite] = faces(bounds, axis);
        for (other, faces) in self.slots.iter().zip(&self.faces) {
            if faces.cmple(opposite).all() {
                found.push(slot_pair(slot, *other));
            }
        }
        self.slots.len() as u64
    }

    fn close(&mut self, place: u32, at: &mut [u32]) {
        self.faces.swap_remove(place as usize);
        self.slots.swap_remove(place as usize);
        if let Some(&renumbered) = self.slots.get(place as usize) {
            at[renumbered as usize] = place;
        }
    }
}

/// The faces of a box along the two other axes, and what faces of others are compared with: boxes
/// overlap along these axes if the first of one is not above the second of the other, in all lanes.
fn faces(bounds: &QuickBox, axis: usize) -> [Vec4; 2] {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let (min, max) = (bounds.min(), bounds.max());
    [Vec4::new(min[u], min[v], -max[u], -max[v]), Vec4::new(max[u], max[v], -min[u], -min[v])]
}
