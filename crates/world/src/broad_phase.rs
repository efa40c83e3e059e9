//! The broad phase of a world: the boxes of its bodies, and which of them overlap.

use crate::broad::{Broad, BroadCounters, SlotPair, Structure};
use crate::workers::Workers;
use jostle_geom::Aabb;

/// What the broad phase knows of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BodyBounds {
    /// The tight box; `None` before the first step and for empty meshes.
    pub(crate) tight: Option<Aabb>,
    /// How far the box in the structure extends beyond the tight one.
    pub(crate) reach: f64,
    /// The structure contains a box of the body.
    pub(crate) in_structure: bool,
}

impl BodyBounds {
    /// The box for the structure.
    fn wide(&self) -> Option<Aabb> {
        self.tight.map(|b| if self.reach > 0.0 { b.grown(self.reach) } else { b })
    }
}

/// Boxes by slot, and the structure that finds overlapping ones.
#[derive(Clone, Debug)]
pub(crate) struct BroadPhase {
    structure: Broad,
    /// By slot.
    bounds: Vec<BodyBounds>,
    /// What [`Self::find_candidates`] found last.
    candidates: Vec<SlotPair>,
}

impl BroadPhase {
    pub(crate) fn new(structure: Structure) -> BroadPhase {
        let structure = Broad::new(structure);
        BroadPhase { structure, bounds: Vec::new(), candidates: Vec::new() }
    }

    /// With the boxes of a saved world, none of which has moved since.
    pub(crate) fn restored(
        structure: Structure,
        bounds: Vec<BodyBounds>,
        workers: &Workers,
    ) -> BroadPhase {
        let mut structure = filled(structure, &bounds);
        structure.find_pairs(workers, &mut Vec::new());
        BroadPhase { structure, bounds, candidates: Vec::new() }
    }

    /// Makes room for a body, which has no box until [`Self::update`].
    pub(crate) fn insert(&mut self, slot: u32) {
        if self.bounds.len() <= slot as usize {
            self.bounds.resize(slot as usize + 1, BodyBounds::default());
        }
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        self.hide(slot);
        self.bounds[slot as usize] = BodyBounds::default();
    }

    /// Leaves a body out of all pairs and queries until [`Self::update`].
    pub(crate) fn hide(&mut self, slot: u32) {
        if std::mem::take(&mut self.bounds[slot as usize].in_structure) {
            self.structure.remove(slot);
        }
    }

    /// Gives a body a box, and asks for its pairs.
    pub(crate) fn update(&mut self, slot: u32, tight: Option<Aabb>, reach: f64) {
        let bounds = BodyBounds { tight, reach, in_structure: tight.is_some() };
        let before = std::mem::replace(&mut self.bounds[slot as usize], bounds);
        match (before.in_structure, bounds.wide()) {
            (true, Some(wide)) => self.structure.update(slot, wide),
            (false, Some(wide)) => self.structure.insert(slot, wide),
            (true, None) => self.structure.remove(slot),
            (false, None) => {}
        }
    }

    pub(crate) fn bounds(&self, slot: u32) -> &BodyBounds {
        &self.bounds[slot as usize]
    }

    /// The tight box of a body as of its last update.
    pub(crate) fn tight(&self, slot: u32) -> Option<Aabb> {
        self.bounds[slot as usize].tight
    }

    /// The smallest box around the tight boxes of some bodies.
    pub(crate) fn joined(&self, slots: impl Iterator<Item = u32>) -> Option<Aabb> {
        let boxes = slots.filter_map(|slot| self.tight(slot));
        boxes.reduce(|all, one| all.union(&one))
    }

    /// Finds the pairs of overlapping boxes of which at least one was updated since the last call.
    pub(crate) fn find_candidates(&mut self, workers: &Workers) -> BroadCounters {
        let counters = self.structure.find_pairs(workers, &mut self.candidates);
        self.candidates.sort_unstable();
        counters
    }

    /// All pairs of overlapping boxes, sorted. They are found in a structure of their own, so what
    /// [`Self::find_candidates`] returns next stays the same.
    pub(crate) fn all_candidates(&self, structure: Structure, workers: &Workers) -> Vec<SlotPair> {
        let mut pairs = Vec::new();
        filled(structure, &self.bounds).find_pairs(workers, &mut pairs);
        pairs.sort_unstable();
        pairs
    }

    /// What [`Self::find_candidates`] found last, sorted.
    pub(crate) fn candidates(&self) -> &[SlotPair] {
        &self.candidates
    }

    /// Slots of all bodies whose tight boxes overlap a box, sorted.
    pub(crate) fn overlapping(&self, bounds: &Aabb) -> Vec<u32> {
        let mut found = Vec::new();
        self.structure.query(bounds, &mut found);
        // The structure has larger boxes where a clearance is asked for.
        found.retain(|&slot| self.tight(slot).is_some_and(|b| b.overlaps(bounds)));
        found
    }
}

/// A structure with the boxes of all bodies that are in one.
fn filled(structure: Structure, bounds: &[BodyBounds]) -> Broad {
    let mut filled = Broad::new(structure);
    for (slot, bounds) in (0..).zip(bounds).filter(|(_, bounds)| bounds.in_structure) {
        bounds.wide().into_iter().for_each(|wide| filled.insert(slot, wide));
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn unit_at(x: f32) -> Option<Aabb> {
        Some(Aabb::around(Vec3::X * x, Vec3::X * x + Vec3::ONE))
    }

    fn filled(structure: Structure) -> BroadPhase {
        let mut broad_phase = BroadPhase::new(structure);
        for (slot, x, reach) in [(0, 0.0, 0.0), (1, 1.5, 0.0), (2, 3.0, 0.25), (3, 4.5, 0.25)] {
            broad_phase.insert(slot);
            broad_phase.update(slot, unit_at(x), reach);
        }
        broad_phase
    }

    #[test]
    fn reach_makes_pairs_and_not_overlaps() {
        for structure in Structure::ALL {
            let mut broad_phase = filled(structure);
            broad_phase.find_candidates(&Workers::ONE);
            assert_eq!(broad_phase.candidates(), [[2, 3]], "{}", structure.name());
            let gap = Aabb::around(Vec3::X * 2.75, Vec3::X * 2.9);
            assert!(broad_phase.overlapping(&gap).is_empty());
            let touching = Aabb::around(Vec3::X * 2.5, Vec3::X * 3.0);
            assert_eq!(broad_phase.overlapping(&touching), [1, 2]);
        }
    }

    #[test]
    fn a_hidden_body_keeps_its_box_and_is_not_found() {
        for structure in Structure::ALL {
            let mut broad_phase = filled(structure);
            broad_phase.hide(3);
            broad_phase.find_candidates(&Workers::ONE);
            assert!(broad_phase.candidates().is_empty());
            assert_eq!(broad_phase.tight(3), unit_at(4.5));
            assert!(broad_phase.overlapping(&unit_at(4.5).expect("a box")).is_empty());
            broad_phase.update(3, None, 0.0);
            broad_phase.update(3, unit_at(4.5), 0.25);
            broad_phase.find_candidates(&Workers::ONE);
            assert_eq!(broad_phase.candidates(), [[2, 3]], "{}", structure.name());
            broad_phase.remove(3);
            assert_eq!(*broad_phase.bounds(3), BodyBounds::default());
        }
    }

    #[test]
    fn restored_boxes_have_not_moved() {
        let before = filled(Structure::Auto);
        let mut after = BroadPhase::restored(Structure::Auto, before.bounds.clone(), &Workers::ONE);
        after.find_candidates(&Workers::ONE);
        assert!(after.candidates().is_empty());
        after.update(2, unit_at(3.0), 0.25);
        after.find_candidates(&Workers::ONE);
        assert_eq!(after.candidates(), [[2, 3]]);
    }
}
