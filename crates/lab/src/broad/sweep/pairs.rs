//! The set of overlapping pairs: for every slot the sorted slots of its partners.
//!
//! Sparse, and without hashing: most boxes have few partners, a search among them stays in one or
//! two cache lines, and the pairs of a moved box are at hand.

use jostle_world::broad::SlotPair;

#[derive(Clone, Debug, Default)]
pub(super) struct PairSet {
    /// By slot; every pair is in both lists.
    partners: Vec<Vec<u32>>,
}

impl PairSet {
    pub(super) fn resize(&mut self, slots: usize) {
        self.partners.resize_with(slots, Vec::new);
    }

    pub(super) fn of(&self, slot: u32) -> &[u32] {
        &self.partners[slot as usize]
    }

    pub(super) fn clear(&mut self) {
        self.partners.iter_mut().for_each(Vec::clear);
    }

    /// No effect if it is there.
    pub(super) fn add(&mut self, [a, b]: SlotPair) {
        for (slot, partner) in [(a, b), (b, a)] {
            let partners = &mut self.partners[slot as usize];
            if let Err(at) = partners.binary_search(&partner) {
                partners.insert(at, partner);
            }
        }
    }

    /// No effect if it is not there.
    #[inline]
    pub(super) fn remove(&mut self, [a, b]: SlotPair) {
        // Mostly it is not there, and one look at the first is enough.
        if let Ok(at) = self.partners[a as usize].binary_search(&b) {
            self.partners[a as usize].remove(at);
            self.remove_partner(b, a);
        }
    }

    fn remove_partner(&mut self, slot: u32, partner: u32) {
        let partners = &mut self.partners[slot as usize];
        if let Ok(at) = partners.binary_search(&partner) {
            partners.remove(at);
        }
    }

    pub(super) fn remove_all_of(&mut self, slot: u32) {
        let mut partners = std::mem::take(&mut self.partners[slot as usize]);
        for &partner in &partners {
            self.remove_partner(partner, slot);
        }
        partners.clear();
        self.partners[slot as usize] = partners;
    }

    /// Adds pairs, each given once and not in the set.
    pub(super) fn add_all(&mut self, pairs: &[SlotPair]) {
        for &[a, b] in pairs {
            self.partners[a as usize].push(b);
            self.partners[b as usize].push(a);
        }
        let mut is_sorted = vec![false; self.partners.len()];
        for &slot in pairs.as_flattened() {
            if !std::mem::replace(&mut is_sorted[slot as usize], true) {
                self.partners[slot as usize].sort_unstable();
            }
        }
    }

    #[cfg(test)]
    pub(super) fn validate(&self) {
        for (slot, partners) in self.partners.iter().enumerate() {
            assert!(partners.is_sorted_by(|a, b| a < b), "partners of {slot}");
            for &partner in partners {
                assert_ne!(partner, slot as u32, "a pair with itself");
                assert!(self.of(partner).binary_search(&(slot as u32)).is_ok());
            }
        }
    }
}
