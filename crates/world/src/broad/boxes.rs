//! Boxes by slot, and which of them moved since they were last asked for.

use glam::{Vec3, Vec3A};
use jostle_geom::Aabb;

/// A box as two vectors in one half of a cache line: compared by two instructions.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct QuickBox {
    min: Vec3A,
    max: Vec3A,
}

impl QuickBox {
    #[inline]
    pub(super) fn min(&self) -> Vec3 {
        self.min.into()
    }

    #[inline]
    pub(super) fn max(&self) -> Vec3 {
        self.max.into()
    }

    #[inline]
    pub(super) fn overlaps(&self, other: &QuickBox) -> bool {
        (self.min.cmple(other.max) & other.min.cmple(self.max)).all()
    }
}

impl From<Aabb> for QuickBox {
    fn from(bounds: Aabb) -> QuickBox {
        QuickBox { min: bounds.min().into(), max: bounds.max().into() }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Boxes {
    /// By slot; leftovers where there is no box.
    bounds: Vec<QuickBox>,
    /// By slot.
    states: Vec<State>,
    /// Slots marked as moved, each once; some may have gone since.
    moved: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    present: bool,
    /// Is it in the list of the moved?
    moved: bool,
}

impl Boxes {
    pub(super) fn insert(&mut self, slot: u32, bounds: Aabb) {
        let at = slot as usize;
        if self.states.len() <= at {
            self.states.resize(at + 1, State::default());
            self.bounds.resize(at + 1, bounds.into());
        }
        assert!(!self.states[at].present, "slot {slot} is taken");
        self.states[at].present = true;
        self.set(slot, bounds);
    }

    pub(super) fn update(&mut self, slot: u32, bounds: Aabb) {
        assert!(self.has(slot), "only boxes that are there move, not {slot}");
        self.set(slot, bounds);
    }

    pub(super) fn remove(&mut self, slot: u32) {
        assert!(self.has(slot), "only boxes that are there go, not {slot}");
        self.states[slot as usize].present = false;
    }

    fn set(&mut self, slot: u32, bounds: Aabb) {
        self.bounds[slot as usize] = bounds.into();
        let state = &mut self.states[slot as usize];
        if !state.moved {
            state.moved = true;
            self.moved.push(slot);
        }
    }

    fn has(&self, slot: u32) -> bool {
        self.states.get(slot as usize).is_some_and(|state| state.present)
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> &QuickBox {
        &self.bounds[slot as usize]
    }

    /// Is it one of those that [`Self::take_moved`] gave?
    #[inline]
    pub(super) fn is_moved(&self, slot: u32) -> bool {
        self.states[slot as usize].moved
    }

    /// All boxes by increasing slot.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &QuickBox)> {
        let present = |&(_, state): &(usize, &State)| state.present;
        let numbered = self.states.iter().enumerate().filter(present);
        numbered.map(|(slot, _)| (slot as u32, &self.bounds[slot]))
    }

    /// Adds the slots of all boxes that overlap `bounds`, sorted.
    pub(super) fn query(&self, bounds: &Aabb, out: &mut Vec<u32>) {
        let bounds = QuickBox::from(*bounds);
        out.extend(self.iter().filter(|(_, b)| b.overlaps(&bounds)).map(|(slot, _)| slot));
    }

    /// The moved boxes that are still there. They stay marked until [`Self::settle`].
    pub(super) fn take_moved(&mut self) -> Vec<u32> {
        let mut moved = std::mem::take(&mut self.moved);
        moved.retain(|&slot| {
            let state = &mut self.states[slot as usize];
            state.moved = state.present;
            state.present
        });
        moved
    }

    /// Takes back what [`Self::take_moved`] gave: from now on these boxes have not moved.
    pub(super) fn settle(&mut self, mut moved: Vec<u32>) {
        for &slot in &moved {
            self.states[slot as usize].moved = false;
        }
        moved.clear();
        self.moved = moved;
    }
}
