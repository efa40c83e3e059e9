//! The papers' broad phases: which boxes overlap, without comparing all with all.
//!
//! They report exactly the pairs that [`jostle_world::broad::Broad`] reports, by whose interface
//! they are asked, and they are measured beside it by `jostle lab broad`. No boxes are known for
//! which one of them is faster, so worlds do not offer them.

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

use grid::Grid;
use jostle_geom::Aabb;
use jostle_world::Workers;
use jostle_world::broad::{BroadCounters, SlotPair};
use octree::Octree;
use sweep::Sweep;

/// How to find overlapping boxes. The pairs are the same for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// End points of boxes on three sorted lists (I-COLLIDE, V-COLLIDE): for little motion.
    Sweep,
    /// Cells of one size (Zachmann): for boxes of similar size.
    Grid,
    /// Cells of many sizes (Zachmann): for boxes of very different size.
    Octree,
}

impl Structure {
    /// All of them.
    pub const ALL: [Structure; 3] = [Structure::Sweep, Structure::Grid, Structure::Octree];

    /// Its name in tables and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Structure::Sweep => "sweep",
            Structure::Grid => "grid",
            Structure::Octree => "octree",
        }
    }
}

/// Boxes that move, and which of them overlap.
#[derive(Clone, Debug)]
pub struct Broad {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Sweep(Sweep),
    Grid(Grid),
    Octree(Octree),
}

/// The same call on whatever structure it is.
macro_rules! on_each {
    ($kind:expr, $structure:ident => $call:expr) => {
        match $kind {
            Kind::Sweep($structure) => $call,
            Kind::Grid($structure) => $call,
            Kind::Octree($structure) => $call,
        }
    };
}

impl Broad {
    /// Without boxes.
    #[must_use]
    pub fn new(structure: Structure) -> Broad {
        let kind = match structure {
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
        on_each!(&mut self.kind, structure => structure.insert(slot, bounds));
    }

    /// A box moves, or only says that its pairs are wanted again.
    ///
    /// # Panics
    /// If there is no box in the slot.
    #[inline]
    pub fn update(&mut self, slot: u32, bounds: Aabb) {
        on_each!(&mut self.kind, structure => structure.update(slot, bounds));
    }

    /// A box goes.
    ///
    /// # Panics
    /// If there is no box in the slot.
    pub fn remove(&mut self, slot: u32) {
        on_each!(&mut self.kind, structure => structure.remove(slot));
    }

    /// Every pair of overlapping boxes of which at least one was inserted or updated since the last
    /// call: each once, in no particular order. `out` is emptied first. One thread, however many
    /// workers there are.
    pub fn find_pairs(&mut self, _workers: &Workers, out: &mut Vec<SlotPair>) -> BroadCounters {
        out.clear();
        on_each!(&mut self.kind, structure => structure.find_pairs(out))
    }
}

/// The pair of two different slots, the smaller first.
fn slot_pair(a: u32, b: u32) -> SlotPair {
    debug_assert_ne!(a, b);
    if a < b { [a, b] } else { [b, a] }
}
