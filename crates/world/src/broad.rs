//! Broad phases: which boxes overlap, without comparing all with all.
//!
//! Each structure keeps what it knows from one step to the next, so that its cost follows what
//! moved. All of them report exactly the same pairs; [`Structure::AllPairs`] is the obvious one, by
//! which the others are judged. Boxes are named by slots: small numbers that the caller gives and
//! may give again after removal.

mod all;
mod boxes;
mod entering;
mod gather;
mod grid;
mod lattice;
mod occupancy;
mod octree;
mod sweep;
#[cfg(test)]
mod validated;

use crate::{Aabb, Workers};
use all::AllPairs;
use grid::Grid;
use octree::Octree;
use sweep::Sweep;

/// Two slots, the smaller first.
pub type SlotPair = [u32; 2];

/// How to find overlapping boxes. The pairs are the same for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structure {
    /// All with all: for a handful of boxes, and as the judge.
    #[default]
    AllPairs,
    /// End points of boxes on three sorted lists (I-COLLIDE, V-COLLIDE): for little motion.
    Sweep,
    /// Cells of one size (Zachmann): for boxes of similar size.
    Grid,
    /// Cells of many sizes (Zachmann): for boxes of very different size.
    Octree,
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
    Sweep(Sweep),
    Grid(Grid),
    Octree(Octree),
}

impl Broad {
    /// Without boxes.
    #[must_use]
    pub fn new(structure: Structure) -> Broad {
        let kind = match structure {
            Structure::AllPairs => Kind::AllPairs(AllPairs::default()),
            Structure::Sweep => Kind::Sweep(Sweep::default()),
            Structure::Grid => Kind::Grid(Grid::default()),
            Structure::Octree => Kind::Octree(Octree::default()),
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
            Kind::Sweep(sweep) => sweep.insert(slot, bounds),
            Kind::Grid(grid) => grid.insert(slot, bounds),
            Kind::Octree(octree) => octree.insert(slot, bounds),
        }
    }

    /// A box moves, or only says that its pairs are wanted again.
    ///
    /// # Panics
    /// If there is no box in the slot.
    pub fn update(&mut self, slot: u32, bounds: Aabb) {
        match &mut self.kind {
            Kind::AllPairs(all) => all.update(slot, bounds),
            Kind::Sweep(sweep) => sweep.update(slot, bounds),
            Kind::Grid(grid) => grid.update(slot, bounds),
            Kind::Octree(octree) => octree.update(slot, bounds),
        }
    }

    /// A box goes.
    ///
    /// # Panics
    /// If there is no box in the slot.
    pub fn remove(&mut self, slot: u32) {
        match &mut self.kind {
            Kind::AllPairs(all) => all.remove(slot),
            Kind::Sweep(sweep) => sweep.remove(slot),
            Kind::Grid(grid) => grid.remove(slot),
            Kind::Octree(octree) => octree.remove(slot),
        }
    }

    /// Every pair of overlapping boxes of which at least one was inserted or updated since the last
    /// call: each once, in no particular order. `out` is emptied first.
    pub fn find_pairs(&mut self, workers: &Workers, out: &mut Vec<SlotPair>) -> BroadCounters {
        out.clear();
        let _ = workers;
        match &mut self.kind {
            Kind::AllPairs(all) => all.find_pairs(out),
            Kind::Sweep(sweep) => sweep.find_pairs(out),
            Kind::Grid(grid) => grid.find_pairs(out),
            Kind::Octree(octree) => octree.find_pairs(out),
        }
    }
}

/// The pair of two different slots, the smaller first.
fn slot_pair(a: u32, b: u32) -> SlotPair {
    debug_assert_ne!(a, b);
    if a < b { [a, b] } else { [b, a] }
}
