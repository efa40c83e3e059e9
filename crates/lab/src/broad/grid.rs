//! A uniform grid of cells with occupant lists (Zachmann §3.8.5). Cells exist only while they are
//! occupied, so the world has no border.
//!
//! A box is an occupant of every cell that it touches. When it moves, it leaves cells through its
//! back-pointers and enters others through the *entering boxes*; mostly its cells stay the same and
//! nothing is done. Boxes that would need too many cells are kept apart and compared directly.

use super::boxes::Boxes;
use super::entering::{CellBox, entering};
use super::gather::Gather;
use super::lattice::Lattice;
use super::occupancy::Occupancy;
use super::slot_pair;
use jostle_geom::Aabb;
use jostle_world::broad::{BroadCounters, SlotPair};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Cells of this size serve all but a 16th of the boxes: with cells of twice a box's side, a box
/// has 3.4 cells on average, and the few boxes that are much larger are compared directly.
const FITTED_SIXTEENTHS: usize = 15;

/// A box with more cells is large. 4 × 4 × 4: a box up to three cells long, wherever it lies.
const CELLS_LIMIT: u32 = 64;

#[derive(Clone, Debug)]
pub(super) struct Grid {
    boxes: Boxes,
    lattice: Lattice,
    /// The numbers of the occupied cells. Only looked up, never walked: the order is of no effect.
    numbers: HashMap<Cell, u32, BuildHasherDefault<CellHasher>>,
    /// By cell number.
    cells: Vec<Cell>,
    /// When a cell was last searched, by its number: every cell is searched once per question.
    seen: Vec<u64>,
    /// How many questions there were.
    asked: u64,
    occupancy: Occupancy,
    /// Where boxes are now, by slot.
    spots: Vec<Spot>,
    /// Slots of large boxes.
    large: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Spot {
    /// New, or gone.
    Nowhere,
    Cells(CellBox),
    /// Large, with its place in the list of those.
    Large(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell([i32; 3]);

impl Hash for Cell {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let [x, y, z] = self.0.map(|coordinate| u64::from(coordinate as u32));
        hasher.write_u64(x | y << 32);
        hasher.write_u64(z);
    }
}

/// Multiplies and mixes: cells come from us, not from an attacker, and the default hasher shows.
#[derive(Clone, Copy, Debug, Default)]
struct CellHasher(u64);

impl Hasher for CellHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        // The odd constant of Fibonacci hashing, 2⁶⁴ / golden ratio.
        let product = (self.0.rotate_left(32) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 29;
    }

    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Default for Grid {
    fn default() -> Grid {
        Grid {
            boxes: Boxes::default(),
            lattice: Lattice::new(FITTED_SIXTEENTHS),
            numbers: HashMap::default(),
            cells: Vec::new(),
            seen: Vec::new(),
            asked: 0,
            occupancy: Occupancy::default(),
            spots: Vec::new(),
            large: Vec::new(),
        }
    }
}

impl Grid {
    pub(super) fn insert(&mut self, slot: u32, bounds: Aabb) {
        self.boxes.insert(slot, bounds);
        self.spots.resize(self.boxes.slots(), Spot::Nowhere);
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
        let mut gather = Gather::default();
        for &slot in &moved {
            if let Spot::Large(_) = self.spots[slot as usize] {
                self.pairs_of_large(slot, &mut counters.box_tests, out);
                continue;
            }
            self.pairs_with_large(slot, &mut counters.box_tests, out);
            for place in self.occupancy.places(slot) {
                if self.seen[place.cell as usize] != self.asked {
                    self.seen[place.cell as usize] = self.asked;
                    gather.add(place.cell, &self.occupancy, &self.boxes);
                }
            }
            if gather.is_full() {
                counters.box_tests += self.pairs_in_cells(&mut gather, out);
            }
        }
        counters.box_tests += self.pairs_in_cells(&mut gather, out);
        self.boxes.settle(moved);
        counters
    }

    /// Places all boxes into cells of the lattice's new size.
    fn rebuild(&mut self, updates: &mut u64) {
        self.numbers.clear();
        self.cells.clear();
        self.seen.clear();
        self.occupancy = Occupancy::default();
        self.large.clear();
        self.spots.fill(Spot::Nowhere);
        let slots: Vec<u32> = self.boxes.iter().map(|(slot, _)| slot).collect();
        for slot in slots {
            self.place(slot, updates);
        }
    }

    /// Brings the cells of a box up to date.
    fn place(&mut self, slot: u32, updates: &mut u64) {
        let new = self.lattice.cells(self.boxes.get(slot));
        let old = self.spots[slot as usize];
        if new.count_up_to(CELLS_LIMIT).is_none() {
            if !matches!(old, Spot::Large(_)) {
                self.take_out(slot, updates);
                self.spots[slot as usize] = Spot::Large(self.large.len() as u32);
                self.large.push(slot);
                *updates += 1;
            }
            return;
        }
        match old {
            Spot::Cells(old) if old == new => return,
            Spot::Cells(old) => {
                self.leave(slot, &new, updates);
                for part in entering(&new, &old) {
                    self.enter(slot, part, updates);
                }
            }
            Spot::Large(_) | Spot::Nowhere => {
                self.take_out(slot, updates);
                self.enter(slot, new, updates);
            }
        }
        self.spots[slot as usize] = Spot::Cells(new);
    }

    fn enter(&mut self, slot: u32, cells: CellBox, updates: &mut u64) {
        for cell in cells.cells().map(Cell) {
            let number = *self.numbers.entry(cell).or_insert_with(|| {
                let number = self.occupancy.new_cell();
                if self.cells.len() <= number as usize {
                    self.cells.push(cell);
                    self.seen.push(0);
                } else {
                    self.cells[number as usize] = cell;
                }
                number
            });
            self.occupancy.link(slot, number);
            *updates += 1;
        }
    }

    /// Takes a box out of the cells that are not in `stay`.
    fn leave(&mut self, slot: u32, stay: &CellBox, updates: &mut u64) {
        let mut place = 0;
        while let Some(&link) = self.occupancy.places(slot).get(place) {
            let cell = self.cells[link.cell as usize];
            if stay.contains(cell.0) {
                place += 1;
                continue;
            }
            self.occupancy.unlink(slot, place);
            *updates += 1;
            if self.occupancy.is_empty(link.cell) {
                self.numbers.remove(&cell);
                self.occupancy.free_cell(link.cell);
            }
        }
    }

    /// Takes a box out of wherever it is.
    fn take_out(&mut self, slot: u32, updates: &mut u64) {
        match std::mem::replace(&mut self.spots[slot as usize], Spot::Nowhere) {
            Spot::Nowhere => {}
            Spot::Cells(_) => {
                let nothing = CellBox { min: [1; 3], max: [0; 3] };
                self.leave(slot, &nothing, updates);
            }
            Spot::Large(at) => {
                self.large.swap_remove(at as usize);
                if let Some(&renumbered) = self.large.get(at as usize) {
                    self.spots[renumbered as usize] = Spot::Large(at);
                }
                *updates += 1;
            }
        }
    }

    fn pairs_in_cells(&self, gather: &mut Gather, out: &mut Vec<SlotPair>) -> u64 {
        gather.drain_pairs(&self.boxes, |number, reference, pair| {
            // Two boxes may share many cells; only one has the reference point.
            if self.lattice.cell(reference) == self.cells[number as usize].0 {
                out.push(pair);
            }
        })
    }

    /// The pairs of a box that moved with large ones that did not.
    fn pairs_with_large(&self, slot: u32, box_tests: &mut u64, out: &mut Vec<SlotPair>) {
        let bounds = self.boxes.get(slot);
        for &other in self.large.iter().filter(|&&other| !self.boxes.is_moved(other)) {
            *box_tests += 1;
            if bounds.overlaps(self.boxes.get(other)) {
                out.push(slot_pair(slot, other));
            }
        }
    }

    /// The pairs of a box that moved and is large: it is compared with all.
    fn pairs_of_large(&self, slot: u32, box_tests: &mut u64, out: &mut Vec<SlotPair>) {
        let bounds = self.boxes.get(slot);
        *box_tests += self.boxes.count() as u64 - 1;
        for (other, theirs) in self.boxes.iter() {
            if bounds.overlaps(theirs) && other != slot {
                let other_is_large = matches!(self.spots[other as usize], Spot::Large(_));
                // Of two large boxes that both moved, the first reports the pair.
                if !other_is_large || slot < other || !self.boxes.is_moved(other) {
                    out.push(slot_pair(slot, other));
                }
            }
        }
    }

    /// Panics unless every box is where it should be, and nothing else is anywhere.
    #[cfg(test)]
    pub(super) fn validate(&self) {
        self.occupancy.validate();
        for (slot, bounds) in self.boxes.iter() {
            let cells = self.lattice.cells(bounds);
            match self.spots[slot as usize] {
                // Between two calls a box is where it was.
                _ if self.boxes.is_moved(slot) => {}
                Spot::Nowhere => panic!("slot {slot} is nowhere"),
                Spot::Large(at) => assert_eq!(self.large[at as usize], slot),
                Spot::Cells(placed) => assert_eq!(placed, cells, "slot {slot}"),
            }
        }
        let mut links = 0;
        for (slot, spot) in self.spots.iter().enumerate() {
            let places = self.occupancy.places(slot as u32);
            links += places.len();
            let Spot::Cells(cells) = spot else {
                assert!(places.is_empty());
                continue;
            };
            assert!(self.boxes.has(slot as u32));
            assert_eq!(Some(places.len() as u32), cells.count_up_to(CELLS_LIMIT));
            assert!(places.iter().all(|p| cells.contains(self.cells[p.cell as usize].0)));
        }
        let occupied = |number: &u32| self.occupancy.occupants(*number).len();
        assert_eq!(self.numbers.values().map(occupied).sum::<usize>(), links);
        for (cell, &number) in &self.numbers {
            assert_eq!(self.cells[number as usize], *cell);
            assert!(!self.occupancy.is_empty(number), "{cell:?} is empty");
        }
        assert_eq!(
            self.spots.iter().filter(|spot| matches!(spot, Spot::Large(_))).count(),
            self.large.len()
        );
    }
}
