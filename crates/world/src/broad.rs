//! Broad phases: which boxes overlap, without comparing all with all.
//!
//! Each structure keeps what it knows from one step to the next, so that its cost follows what
//! moved. All of them report exactly the same pairs; [`Structure::AllPairs`] is the obvious one, by
//! which the others are judged. Boxes are named by slots: small numbers that the caller gives and
//! may give again after removal.

mod all;
mod near;

use crate::{Aabb, Workers};
use all::AllPairs;
use near::{IndexKind, NearPairs};

/// Two slots, the smaller first.
pub type SlotPair = [u32; 2];

/// How to find overlapping boxes. The pairs are the same for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structure {
    /// All with all: for a handful of boxes, and as the judge.
    AllPairs,
    /// A tree of boxes that are larger than they need be, and a list of near pairs.
    Tree,
    /// Cells of several sizes for boxes that are larger than they need be, and a list of near
    /// pairs.
    #[default]
    Cells,
}

/// What a structure did in its last [`Broad::find_pairs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BroadCounters {
    /// Boxes compared with boxes: those of bodies, or of the structure's own nodes.
    pub box_tests: u64,
    /// Places of boxes that were changed: swaps of end points, cells entered or left, nodes.
    pub updates: u64,
}

/// Boxes that move, and which of them overlap.
#[derive(Clone, Debug)]
pub struct Broad {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    AllPairs(AllPairs),
    Near(Box<NearPairs>),
}

impl Broad {
    /// Without boxes.
    #[must_use]
    pub fn new(structure: Structure) -> Broad {
        let kind = match structure {
            Structure::AllPairs => Kind::AllPairs(AllPairs::default()),
            Structure::Tree => Kind::Near(Box::new(NearPairs::new(IndexKind::Nodes))),
            Structure::Cells => Kind::Near(Box::new(NearPairs::new(IndexKind::Cells))),
        };
        Broad { kind }
    }

    /// A new box. Counts as moved.
    ///
    /// # Panics
    /// If the slot is taken.
    pub fn insert(&mut self, slot: u32, bounds: Aabb) {
        match &mut self.kind {
            Kind::AllPairs(all) => all.insert(slot, bounds),
            Kind::Near(near) => near.insert(slot, bounds),
        }
    }

    /// A box moves, or only says that its pairs are wanted again.
    ///
    /// # Panics
    /// If there is no box in the slot.
    pub fn update(&mut self, slot: u32, bounds: Aabb) {
        match &mut self.kind {
            Kind::AllPairs(all) => all.update(slot, bounds),
            Kind::Near(near) => near.update(slot, bounds),
        }
    }

    /// A box goes.
    ///
    /// # Panics
    /// If there is no box in the slot.
    pub fn remove(&mut self, slot: u32) {
        match &mut self.kind {
            Kind::AllPairs(all) => all.remove(slot),
            Kind::Near(near) => near.remove(slot),
        }
    }

    /// Every pair of overlapping boxes of which at least one was inserted or updated since the last
    /// call: each once, in no particular order. `out` is emptied first.
    pub fn find_pairs(&mut self, workers: &Workers, out: &mut Vec<SlotPair>) -> BroadCounters {
        out.clear();
        match &mut self.kind {
            Kind::AllPairs(all) => all.find_pairs(out),
            Kind::Near(near) => near.find_pairs(workers, out),
        }
    }
}

/// The pair of two different slots, the smaller first.
fn slot_pair(a: u32, b: u32) -> SlotPair {
    debug_assert_ne!(a, b);
    if a < b { [a, b] } else { [b, a] }
}
