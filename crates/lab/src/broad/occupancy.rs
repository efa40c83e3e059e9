//! Which boxes are in which cells, with pointers both ways (Zachmann §3.8.4: occupant lists and
//! octant arrays), so that a box leaves a cell without a search.

#[derive(Clone, Debug, Default)]
pub(super) struct Occupancy {
    /// By cell number, in no particular order.
    cells: Vec<Vec<Occupant>>,
    /// Numbers of cells that are not in use. Their lists keep their memory: a cell that empties is
    /// mostly replaced soon.
    free: Vec<u32>,
    /// By slot, in no particular order.
    places: Vec<Vec<Place>>,
}

/// A box in a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occupant {
    pub(super) slot: u32,
    /// Which of the box's places this is.
    place: u32,
}

/// A cell of a box.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) cell: u32,
    /// Which of the cell's occupants the box is.
    at: u32,
}

impl Occupancy {
    /// The number of a cell without occupants. Numbers are small and used again.
    pub(super) fn new_cell(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.cells.push(Vec::new());
            self.cells.len() as u32 - 1
        })
    }

    /// Gives back the number of an empty cell.
    pub(super) fn free_cell(&mut self, cell: u32) {
        debug_assert!(self.is_empty(cell));
        self.free.push(cell);
    }

    pub(super) fn is_empty(&self, cell: u32) -> bool {
        self.cells[cell as usize].is_empty()
    }

    #[inline]
    pub(super) fn occupants(&self, cell: u32) -> &[Occupant] {
        &self.cells[cell as usize]
    }

    #[inline]
    pub(super) fn places(&self, slot: u32) -> &[Place] {
        self.places.get(slot as usize).map_or(&[], Vec::as_slice)
    }

    /// A box enters a cell in which it is not.
    pub(super) fn link(&mut self, slot: u32, cell: u32) {
        let slot_at = slot as usize;
        if self.places.len() <= slot_at {
            self.places.resize_with(slot_at + 1, Vec::new);
        }
        let (places, occupants) = (&mut self.places[slot_at], &mut self.cells[cell as usize]);
        let (place, at) = (places.len() as u32, occupants.len() as u32);
        places.push(Place { cell, at });
        occupants.push(Occupant { slot, place });
    }

    /// A box leaves the cell of one of its places; its last place gets the freed number.
    pub(super) fn unlink(&mut self, slot: u32, place: usize) {
        let places = &mut self.places[slot as usize];
        let left = places.swap_remove(place);
        if let Some(renumbered) = places.get(place) {
            self.cells[renumbered.cell as usize][renumbered.at as usize].place = place as u32;
        }
        let occupants = &mut self.cells[left.cell as usize];
        occupants.swap_remove(left.at as usize);
        if let Some(renumbered) = occupants.get(left.at as usize) {
            self.places[renumbered.slot as usize][renumbered.place as usize].at = left.at;
        }
    }

    /// Panics unless every pointer is answered by its opposite.
    #[cfg(test)]
    pub(super) fn validate(&self) {
        for (cell, occupants) in self.cells.iter().enumerate() {
            for (at, occupant) in occupants.iter().enumerate() {
                let place = self.places[occupant.slot as usize][occupant.place as usize];
                assert_eq!([place.cell as usize, place.at as usize], [cell, at], "{occupant:?}");
            }
        }
        for (slot, places) in self.places.iter().enumerate() {
            for (number, place) in places.iter().enumerate() {
                let occupant = self.cells[place.cell as usize][place.at as usize];
                assert_eq!([occupant.slot as usize, occupant.place as usize], [slot, number]);
            }
        }
        for &cell in &self.free {
            assert!(self.is_empty(cell), "free cell {cell} is in use");
        }
    }
}
