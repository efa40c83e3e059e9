//! The plain model, and the judge who compares structures with it.

use super::{Broad, STRUCTURES, Structure};
use jostle_geom::Aabb;
use jostle_world::Workers;
use jostle_world::broad::{BroadCounters, SlotPair};
use std::collections::BTreeMap;

/// What a broad phase is: boxes by slot, and who moved.
#[derive(Default)]
struct Model {
    boxes: BTreeMap<u32, (Aabb, bool)>,
}

impl Model {
    /// All pairs that must be reported, in order, and how many moved pairs are apart.
    fn pairs(&mut self) -> (Vec<SlotPair>, u64) {
        let (mut pairs, mut apart) = (Vec::new(), 0);
        for (&a, (bounds_a, moved_a)) in &self.boxes {
            for (&b, (bounds_b, moved_b)) in self.boxes.range(a + 1..) {
                if *moved_a || *moved_b {
                    if bounds_a.overlaps(bounds_b) {
                        pairs.push([a, b]);
                    } else {
                        apart += 1;
                    }
                }
            }
        }
        self.boxes.values_mut().for_each(|(_, moved)| *moved = false);
        (pairs, apart)
    }
}

/// All structures and the model, doing the same.
pub(crate) struct Judge {
    /// Printed on failure: the kind of world and the seed.
    name: String,
    model: Model,
    structures: Vec<(Structure, Broad)>,
    checks: u32,
    /// How many pairs did, and did not, overlap.
    pub(crate) seen: [u64; 2],
}

impl Judge {
    pub(crate) fn new(name: String) -> Judge {
        let structures = STRUCTURES.iter().map(|&s| (s, Broad::new(s))).collect();
        Judge { name, model: Model::default(), structures, checks: 0, seen: [0; 2] }
    }

    pub(crate) fn insert(&mut self, slot: u32, bounds: Aabb) {
        self.model.boxes.insert(slot, (bounds, true));
        self.structures.iter_mut().for_each(|(_, broad)| broad.insert(slot, bounds));
    }

    pub(crate) fn update(&mut self, slot: u32, bounds: Aabb) {
        self.model.boxes.insert(slot, (bounds, true));
        self.structures.iter_mut().for_each(|(_, broad)| broad.update(slot, bounds));
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        self.model.boxes.remove(&slot);
        self.structures.iter_mut().for_each(|(_, broad)| broad.remove(slot));
    }

    pub(crate) fn get(&self, slot: u32) -> Option<Aabb> {
        self.model.boxes.get(&slot).map(|(bounds, _)| *bounds)
    }

    pub(crate) fn slots(&self) -> Vec<u32> {
        self.model.boxes.keys().copied().collect()
    }

    /// Asks all for their pairs, twice: the second time nothing has moved.
    pub(crate) fn check(&mut self) {
        let (expected, apart) = self.model.pairs();
        self.seen[0] += expected.len() as u64;
        self.seen[1] += apart;
        self.checks += 1;
        for (structure, broad) in &mut self.structures {
            let mut found = vec![[7, 7]];
            broad.find_pairs(&Workers::ONE, &mut found);
            found.sort_unstable();
            let place = format!("{structure:?} in {}, check {}", self.name, self.checks);
            if found != expected {
                let missing = expected.iter().find(|pair| !found.contains(pair));
                let needless = found.iter().find(|pair| !expected.contains(pair));
                let twice = found.windows(2).find(|two| two[0] == two[1]);
                panic!("{place}: missing {missing:?}, needless {needless:?}, twice {twice:?}");
            }
            let counters = broad.find_pairs(&Workers::ONE, &mut found);
            assert!(found.is_empty(), "{place}: nothing moved, {found:?}");
            assert_eq!(counters, BroadCounters::default(), "{place}: nothing moved");
            if self.checks.is_multiple_of(5) {
                *broad = broad.clone();
            }
        }
    }
}
