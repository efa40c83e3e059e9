//! An octree (Zachmann §3.8.4) whose octants exist only if they are occupied or lead to occupied
//! ones, and whose root grows when a box leaves it.
//!
//! In the thesis all boxes go down to leaves of one size, or stop at octants wholly inside; a box
//! much larger than a leaf then has very many octants. Here the leaves of a box are the octants of
//! the level that suits its size, so it has at most 27 and mostly fewer than 8. When it moves, it
//! leaves octants through its octant array and enters others through the *entering boxes*.
//!
//! Neighbours of a box are the occupants of its octants, and, by descending, of those below that it
//! touches. Beyond the thesis, those above are searched too: a larger box need not have moved.

use super::boxes::{Boxes, QuickBox};
use super::entering::{CellBox, entering};
use super::gather::Gather;
use super::lattice::{LIMIT, Lattice, nearest_exponent};
use super::occupancy::Occupancy;
use super::slot_pair;
use glam::Vec3;
use jostle_geom::Aabb;
use jostle_world::broad::{BroadCounters, SlotPair};

/// The smallest octants suit the smallest boxes, but not the very smallest few.
const FITTED_SIXTEENTHS: usize = 1;

/// Added to cells, so that all are positive. A third, 0.010101… in binary, is far from the borders
/// of octants of every level; a half would cut worlds around the origin at the root.
const CENTRE: i32 = (1 << ROOT_LEVEL_LIMIT) / 3;

/// At this level one octant holds all cells.
const ROOT_LEVEL_LIMIT: u32 = 30;

/// The level of the largest boxes. Nothing is more than twice as large, see [`LIMIT`].
const LEVEL_LIMIT: u32 = 28;

const _: () = assert!(CENTRE >= LIMIT && CENTRE + LIMIT < 1 << ROOT_LEVEL_LIMIT);
const _: () = assert!(2 * LIMIT <= 2 << LEVEL_LIMIT);

/// No octant.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(super) struct Octree {
    boxes: Boxes,
    lattice: Lattice,
    /// By number. Those that are not in use are listed as free in the occupancy.
    octants: Vec<Octant>,
    /// When an octant was last searched, by its number: each is searched once per question.
    seen: Vec<u64>,
    /// How many questions there were.
    asked: u64,
    occupancy: Occupancy,
    root: u32,
    /// How many places there are in octants of each level.
    places_by_level: [u32; LEVEL_LIMIT as usize + 1],
    /// Where boxes are now, by slot; `None` for new ones and those that are gone.
    spots: Vec<Option<Spot>>,
}

/// A cube of 2^`level` cells per side.
#[derive(Clone, Copy, Debug)]
struct Octant {
    /// Its low corner, divided by its side.
    at: [i32; 3],
    level: u32,
    parent: u32,
    children: [u32; 8],
    child_count: u32,
}

#[derive(Clone, Copy, Debug)]
struct Spot {
    /// In cells.
    cells: CellBox,
    /// The level of its octants.
    level: u32,
}

impl Spot {
    /// The octants of some level that it touches.
    fn octants(&self, level: u32) -> CellBox {
        let shift = |corner: [i32; 3]| corner.map(|coordinate| coordinate >> level);
        CellBox { min: shift(self.cells.min), max: shift(self.cells.max) }
    }
}

impl Default for Octree {
    fn default() -> Octree {
        Octree {
            boxes: Boxes::default(),
            lattice: Lattice::new(FITTED_SIXTEENTHS),
            octants: Vec::new(),
            seen: Vec::new(),
            asked: 0,
            occupancy: Occupancy::default(),
            root: NONE,
            places_by_level: [0; LEVEL_LIMIT as usize + 1],
            spots: Vec::new(),
        }
    }
}

impl Octree {
    pub(super) fn insert(&mut self, slot: u32, bounds: Aabb) {
        self.boxes.insert(slot, bounds);
        self.spots.resize(self.boxes.slots(), None);
    }

    pub(super) fn update(&mut self, slot: u32, bounds: Aabb) {
        self.boxes.update(slot, bounds);
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.boxes.remove(slot);
        self.take_out(slot, &mut 0);
    }

    pub(super) fn find_pairs(&mut self, out: &mut Vec<SlotPair>) -> BroadCounters {
        let mut counters = BroadCounters::default();
        let moved = self.boxes.take_moved();
        if !moved.is_empty() {
            if self.lattice.refit(&self.boxes, moved.len()) {
                self.rebuild(&mut counters.updates);
            } else {
                for &slot in &moved {
                    self.place(slot, &mut counters.updates);
                }
            }
        }
        self.asked += 1;
        let highest = self.places_by_level.iter().rposition(|&places| places > 0).unwrap_or(0);
        let mut gather = Gather::default();
        for &slot in &moved {
            for place in self.occupancy.places(slot) {
                if self.seen[place.cell as usize] != self.asked {
                    self.seen[place.cell as usize] = self.asked;
                    gather.add(place.cell, &self.occupancy, &self.boxes);
                }
            }
            if gather.is_full() {
                counters.box_tests += self.pairs_in_octants(&mut gather, out);
            }
            counters.box_tests += self.pairs_across_levels(slot, highest as u32, out);
        }
        counters.box_tests += self.pairs_in_octants(&mut gather, out);
        self.boxes.settle(moved);
        counters
    }

    /// Places all boxes into octants of the lattice's new size.
    fn rebuild(&mut self, updates: &mut u64) {
        self.octants.clear();
        self.seen.clear();
        self.occupancy = Occupancy::default();
        self.root = NONE;
        self.places_by_level.fill(0);
        self.spots.fill(None);
        let slots: Vec<u32> = self.boxes.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            self.place(slot, updates);
        }
    }

    /// Brings the octants of a box up to date.
    fn place(&mut self, slot: u32, updates: &mut u64) {
        let old = self.spots[slot as usize];
        let new = self.spot(self.boxes.get(slot), old.map(|spot| spot.level));
        let octants = new.octants(new.level);
        match old {
            Some(old) if old.level == new.level => {
                let before = old.octants(old.level);
                if before != octants {
                    self.leave(slot, &octants, updates);
                    for part in entering(&octants, &before) {
                        self.enter(slot, part, new.level, updates);
                    }
                }
            }
            _ => {
                self.take_out(slot, updates);
                self.enter(slot, octants, new.level, updates);
            }
        }
        self.spots[slot as usize] = Some(new);
    }

    /// Where a box belongs. It keeps the level that it has as long as that is bearable, because
    /// sizes that differ by rounding must not make it change to and fro.
    fn spot(&self, bounds: &QuickBox, level: Option<u32>) -> Spot {
        let cells = centred(self.lattice.cells(bounds));
        let sides = self.lattice.sides(bounds);
        let bearable = |&level: &u32| {
            let octant = f64::from(1u32 << level);
            let coarse_enough = sides <= 2.0 * octant || level == LEVEL_LIMIT;
            coarse_enough && (sides >= octant / 8.0 || level == 0)
        };
        // An octant of about twice the size: the box has 8 octants at most, 3.4 on average.
        let fitting = || nearest_exponent(2.0 * sides).clamp(0, LEVEL_LIMIT as i32) as u32;
        Spot { cells, level: level.filter(bearable).unwrap_or_else(fitting) }
    }

    fn enter(&mut self, slot: u32, octants: CellBox, level: u32, updates: &mut u64) {
        for at in octants.cells() {
            let octant = self.octant(at, level);
            self.occupancy.link(slot, octant);
            self.places_by_level[level as usize] += 1;
            *updates += 1;
        }
    }

    /// Takes a box out of the octants (of its level) that are not in `stay`.
    fn leave(&mut self, slot: u32, stay: &CellBox, updates: &mut u64) {
        let mut place = 0;
        while let Some(&link) = self.occupancy.places(slot).get(place) {
            let octant = self.octants[link.cell as usize];
            if stay.contains(octant.at) {
                place += 1;
                continue;
            }
            self.occupancy.unlink(slot, place);
            self.places_by_level[octant.level as usize] -= 1;
            *updates += 1;
            self.prune(link.cell);
        }
    }

    /// Takes a box out of wherever it is.
    fn take_out(&mut self, slot: u32, updates: &mut u64) {
        if self.spots[slot as usize].take().is_some() {
            self.leave(slot, &CellBox { min: [1; 3], max: [0; 3] }, updates);
        }
    }

    /// The octant at a place, made if there is none.
    fn octant(&mut self, at: [i32; 3], level: u32) -> u32 {
        if self.root == NONE {
            self.root = self.new_octant(at, level, NONE);
        }
        let mut octant = self.grown_root(at, level);
        loop {
            let above = self.octants[octant as usize];
            if above.level == level {
                return octant;
            }
            let down = above.level - 1 - level;
            let place = at.map(|coordinate| coordinate >> down);
            let mut child = above.children[which_child(place)];
            if child == NONE {
                child = self.new_octant(place, above.level - 1, octant);
                self.adopt(octant, child);
            }
            octant = child;
        }
    }

    /// The root, after it grew until the given octant is inside.
    fn grown_root(&mut self, at: [i32; 3], level: u32) -> u32 {
        loop {
            let root = self.octants[self.root as usize];
            let up = root.level.saturating_sub(level);
            if root.level >= level && at.map(|coordinate| coordinate >> up) == root.at {
                return self.root;
            }
            let place = root.at.map(|coordinate| coordinate >> 1);
            let grown = self.new_octant(place, root.level + 1, NONE);
            self.adopt(grown, self.root);
            self.root = grown;
        }
    }

    fn new_octant(&mut self, at: [i32; 3], level: u32, parent: u32) -> u32 {
        let number = self.occupancy.new_cell();
        let octant = Octant { at, level, parent, children: [NONE; 8], child_count: 0 };
        if self.octants.len() <= number as usize {
            self.octants.push(octant);
            self.seen.push(0);
        } else {
            self.octants[number as usize] = octant;
        }
        number
    }

    fn adopt(&mut self, parent: u32, child: u32) {
        let place = self.octants[child as usize].at;
        self.octants[child as usize].parent = parent;
        let parent = &mut self.octants[parent as usize];
        parent.children[which_child(place)] = child;
        parent.child_count += 1;
    }

    /// Removes an octant and those above, as far as they have become useless.
    fn prune(&mut self, mut octant: u32) {
        while self.octants[octant as usize].child_count == 0 && self.occupancy.is_empty(octant) {
            let Octant { at, parent, .. } = self.octants[octant as usize];
            self.occupancy.free_cell(octant);
            if parent == NONE {
                self.root = NONE;
                return;
            }
            let above = &mut self.octants[parent as usize];
            above.children[which_child(at)] = NONE;
            above.child_count -= 1;
            octant = parent;
        }
    }

    /// The pairs of boxes with the same octant.
    fn pairs_in_octants(&self, gather: &mut Gather, out: &mut Vec<SlotPair>) -> u64 {
        gather.drain_pairs(&self.boxes, |number, reference, pair| {
            // Two boxes may share many octants; only one has the reference point.
            let octant = &self.octants[number as usize];
            if self.octant_of(reference, octant.level) == octant.at {
                out.push(pair);
            }
        })
    }

    /// The pairs of a box that moved with boxes of other levels: those above, and those below that
    /// did not move (the others find it above). No level above `highest` has boxes.
    fn pairs_across_levels(&self, slot: u32, highest: u32, out: &mut Vec<SlotPair>) -> u64 {
        let Some(spot) = self.spots[slot as usize] else { return 0 };
        let bounds = *self.boxes.get(slot);
        let mut search = Search { tree: self, slot, bounds, spot, box_tests: 0, out };
        for place in self.occupancy.places(slot) {
            let here = &self.octants[place.cell as usize];
            let (mut above, mut level) = (here.parent, here.level + 1);
            while above != NONE && level <= highest {
                search.compare(above, here, |_| true);
                above = self.octants[above as usize].parent;
                level += 1;
            }
            if here.child_count > 0 {
                search.descend(here);
            }
        }
        search.box_tests
    }

    /// The octant of a level that holds a point.
    fn octant_of(&self, point: Vec3, level: u32) -> [i32; 3] {
        self.lattice.cell(point).map(|coordinate| (coordinate + CENTRE) >> level)
    }

    /// Panics unless every box is where it should be, and nothing else is anywhere.
    #[cfg(test)]
    pub(super) fn validate(&self) {
        self.occupancy.validate();
        let mut levels = [0; LEVEL_LIMIT as usize + 1];
        for (slot, spot) in self.spots.iter().enumerate() {
            let places = self.occupancy.places(slot as u32);
            let Some(spot) = spot else {
                assert!(places.is_empty());
                continue;
            };
            assert!(self.boxes.has(slot as u32));
            if !self.boxes.is_moved(slot as u32) {
                let cells = self.lattice.cells(self.boxes.get(slot as u32));
                assert_eq!(spot.cells, centred(cells), "slot {slot}");
            }
            let octants = spot.octants(spot.level);
            assert_eq!(octants.count_up_to(27), Some(places.len() as u32), "slot {slot}");
            for place in places {
                let octant = &self.octants[place.cell as usize];
                assert!(octants.contains(octant.at) && octant.level == spot.level);
                levels[octant.level as usize] += 1;
            }
        }
        assert_eq!(levels, self.places_by_level);
        if self.root != NONE {
            assert_eq!(self.octants[self.root as usize].parent, NONE);
            self.validate_octant(self.root);
        }
    }

    #[cfg(test)]
    fn validate_octant(&self, number: u32) {
        let octant = &self.octants[number as usize];
        let children: Vec<u32> = octant.children.into_iter().filter(|&c| c != NONE).collect();
        assert_eq!(children.len(), octant.child_count as usize);
        assert!(!children.is_empty() || !self.occupancy.is_empty(number), "{octant:?} is useless");
        for child in children {
            let below = &self.octants[child as usize];
            assert_eq!((below.parent, below.level + 1), (number, octant.level));
            assert_eq!(below.at.map(|coordinate| coordinate >> 1), octant.at);
            assert_eq!(octant.children[which_child(below.at)], child);
            self.validate_octant(child);
        }
    }
}

/// The search for the pairs of one box with those of other levels.
struct Search<'a> {
    tree: &'a Octree,
    slot: u32,
    bounds: QuickBox,
    spot: Spot,
    box_tests: u64,
    out: &'a mut Vec<SlotPair>,
}

impl Search<'_> {
    /// Compares the box with the wanted occupants of an octant; a pair counts if the reference
    /// point is in `smaller`, the octant of the smaller box.
    fn compare(&mut self, octant: u32, smaller: &Octant, wanted: impl Fn(u32) -> bool) {
        let occupants = self.tree.occupancy.occupants(octant);
        for other in occupants.iter().map(|occupant| occupant.slot).filter(|&slot| wanted(slot)) {
            self.box_tests += 1;
            let theirs = self.tree.boxes.get(other);
            if self.bounds.overlaps(theirs) {
                let reference = self.bounds.shared_min(theirs);
                if self.tree.octant_of(reference, smaller.level) == smaller.at {
                    self.out.push(slot_pair(self.slot, other));
                }
            }
        }
    }

    /// Compares the box with what did not move in all octants below that it touches.
    fn descend(&mut self, octant: &Octant) {
        let tree = self.tree;
        let touched = self.spot.octants(octant.level - 1);
        for child in octant.children.into_iter().filter(|&child| child != NONE) {
            let below = &tree.octants[child as usize];
            if touched.contains(below.at) {
                self.compare(child, below, |slot| !tree.boxes.is_moved(slot));
                if below.child_count > 0 {
                    self.descend(below);
                }
            }
        }
    }
}

fn centred(cells: CellBox) -> CellBox {
    let shift = |corner: [i32; 3]| corner.map(|coordinate| coordinate + CENTRE);
    CellBox { min: shift(cells.min), max: shift(cells.max) }
}

/// Which of the eight children of its parent an octant is.
fn which_child([x, y, z]: [i32; 3]) -> usize {
    ((x & 1) << 2 | (y & 1) << 1 | (z & 1)) as usize
}
