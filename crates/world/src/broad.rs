//! Broad phases: which boxes overlap, without comparing all with all.
//!
//! Each structure keeps what it knows from one step to the next, so that its cost follows what
//! moved. All of them report exactly the same pairs; [`Structure::AllPairs`] is the obvious one, by
//! which the others are judged. Boxes are named by slots: small numbers that the caller gives and
//! may give again after removal. The papers' own structures (sweep and prune, grid, octree) are in
//! `crates/lab/src/broad`: they are measured there, and no boxes are known for which they are
//! faster.

mod all;
mod auto;
mod boxes;
mod near;

use crate::Workers;
use all::AllPairs;
use auto::Auto;
use jostle_geom::Aabb;
use near::{IndexKind, NearPairs};

/// Two slots, the smaller first.
pub type SlotPair = [u32; 2];

/// How to find overlapping boxes. The pairs are the same for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structure {
    /// What suits the boxes best, judged by how much there was to look at in the last steps.
    #[default]
    Auto,
    /// All with all: for a handful of boxes, and as the judge.
    AllPairs,
    /// A tree of boxes that are larger than they need be, and a list of near pairs: for any boxes.
    Tree,
    /// The same list of near pairs, found by cells of several sizes: for boxes of similar size,
    /// and the fastest for those.
    Cells,
}

impl Structure {
    /// All of them.
    pub const ALL: [Structure; 4] =
        [Structure::Auto, Structure::AllPairs, Structure::Tree, Structure::Cells];

    /// Its name in tables and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Structure::Auto => "auto",
            Structure::AllPairs => "all-pairs",
            Structure::Tree => "tree",
            Structure::Cells => "cells",
        }
    }
}

/// What a structure did in its last [`Broad::find_pairs`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BroadCounters {
    /// Boxes compared with boxes: those of bodies, or of the structure's own nodes.
    pub box_tests: u64,
    /// Places of boxes that were changed: cells entered or left, nodes.
    pub updates: u64,
}

/// Boxes that move, and which of them overlap.
///
/// ```
/// use jostle_geom::Aabb;
/// use glam::Vec3;
/// use jostle_world::broad::{Broad, Structure};
/// use jostle_world::Workers;
///
/// let mut broad = Broad::new(Structure::Auto);
/// let unit = |x| Aabb::around(Vec3::new(x, 0.0, 0.0), Vec3::new(x + 1.0, 1.0, 1.0));
/// broad.insert(0, unit(0.0));
/// broad.insert(1, unit(5.0));
/// let mut pairs = Vec::new();
/// broad.find_pairs(&Workers::ONE, &mut pairs);
/// assert!(pairs.is_empty());
/// broad.update(1, unit(1.0)); // touching is overlapping
/// broad.find_pairs(&Workers::ONE, &mut pairs);
/// assert_eq!(pairs, [[0, 1]]);
/// ```
#[derive(Clone, Debug)]
pub struct Broad {
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Auto(Box<Auto>),
    AllPairs(AllPairs),
    Near(Box<NearPairs>),
}

/// The same call on whatever structure it is.
macro_rules! on_each {
    ($kind:expr, $structure:ident => $call:expr) => {
        match $kind {
            Kind::Auto($structure) => $call,
            Kind::AllPairs($structure) => $call,
            Kind::Near($structure) => $call,
        }
    };
}

impl Broad {
    /// Without boxes.
    #[must_use]
    pub fn new(structure: Structure) -> Broad {
        let kind = match structure {
            Structure::Auto => Kind::Auto(Box::default()),
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
    /// call: each once, in no particular order. `out` is emptied first.
    pub fn find_pairs(&mut self, workers: &Workers, out: &mut Vec<SlotPair>) -> BroadCounters {
        out.clear();
        match &mut self.kind {
            Kind::Auto(auto) => auto.find_pairs(workers, out),
            Kind::AllPairs(all) => all.find_pairs(out),
            Kind::Near(near) => near.find_pairs(workers, out),
        }
    }

    /// The slots of all boxes that overlap `bounds`, sorted. `out` is emptied first. Fast with
    /// [`Structure::Tree`] and [`Structure::Cells`]; the others look at all boxes.
    pub fn query(&self, bounds: &Aabb, out: &mut Vec<u32>) {
        out.clear();
        on_each!(&self.kind, structure => structure.query(bounds, out));
    }
}

/// The pair of two different slots, the smaller first.
pub(crate) fn slot_pair(a: u32, b: u32) -> SlotPair {
    debug_assert_ne!(a, b);
    if a < b { [a, b] } else { [b, a] }
}
