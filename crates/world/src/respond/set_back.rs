//! Back to where nothing was touched.
//!
//! If at the end of a step no two bodies that are set back touch each other or anything fixed,
//! then sending *all* of them back there frees all of them. So does sending back only those that
//! touch, and those that the former would then touch, and so on; usually that is a handful.

use super::velocity::Impact;
use crate::dynamics::Dynamics;
use jostle_geom::Pose;
use std::collections::{BTreeMap, BTreeSet};

impl Dynamics<'_> {
    /// Sets back the bodies that touch another and whose response asks for it. Returns all bodies
    /// that were set back.
    pub(super) fn set_back(&mut self, impacts: &[Impact]) -> BTreeSet<u32> {
        let mut order: Vec<u32> = Vec::new();
        for impact in impacts {
            let [a, b] = impact.slots;
            let back = [(a, b), (b, a)].into_iter().filter(|&(x, y)| self.goes_back(x, y));
            order.extend(back.map(|(slot, _)| slot));
        }
        order.sort_unstable();
        order.dedup();
        // The poses that bodies were set back from.
        let mut left: BTreeMap<u32, Pose> = BTreeMap::new();
        for &slot in &order {
            left.insert(slot, self.go_back(slot));
        }
        let asked = order.len();
        // Pairs that touch even though the first one went back.
        let mut blocked: BTreeSet<[u32; 2]> = BTreeSet::new();
        let mut next = 0;
        while next < order.len() {
            let slot = order[next];
            next += 1;
            for other in self.obstacles(slot) {
                let moved = !left.contains_key(&other) && self.goes_back(other, slot);
                if moved && !self.is_back(other) {
                    left.insert(other, self.go_back(other));
                    order.push(other);
                } else {
                    blocked.insert([slot, other]);
                }
            }
        }
        for &slot in &order[..asked] {
            let others = impacts.iter().filter_map(|impact| impact.other(slot));
            let freed = others.into_iter().any(|other| !blocked.contains(&[slot, other]));
            if !freed && let Some(pose) = left.remove(&slot) {
                self.put(slot, pose);
            }
        }
        left.into_keys().collect()
    }

    fn goes_back(&self, slot: u32, other: u32) -> bool {
        self.responds(slot, other) && self.response(slot).is_some_and(|response| response.set_back)
    }

    /// Bodies that a body touches, where one of the two responds to the other.
    fn obstacles(&self, slot: u32) -> Vec<u32> {
        let Some(bounds) = self.broad_phase.tight(slot) else { return Vec::new() };
        let mut others = self.broad_phase.overlapping(&bounds);
        others.retain(|&other| {
            other != slot
                && (self.responds(slot, other) || self.responds(other, slot))
                && self.touch(slot, other)
        });
        others
    }

    fn is_back(&self, slot: u32) -> bool {
        self.bodies.body(slot).pose == self.motion.free_pose(slot)
    }

    /// Sends a body to its last free pose; returns the one that it had.
    fn go_back(&mut self, slot: u32) -> Pose {
        let pose = self.bodies.body(slot).pose;
        self.put(slot, self.motion.free_pose(slot));
        pose
    }

    fn put(&mut self, slot: u32, pose: Pose) {
        if self.bodies.body(slot).pose != pose {
            self.set_pose(slot, &pose);
            self.update_bounds(slot);
        }
    }
}

impl Impact {
    /// The other body of the impact; `None` if `slot` is neither.
    fn other(&self, slot: u32) -> Option<u32> {
        let [a, b] = self.slots;
        if a == slot { Some(b) } else { (b == slot).then_some(a) }
    }
}
