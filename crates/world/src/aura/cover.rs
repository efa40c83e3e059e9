//! A choice of relations when there are too many: few enough to hold, chosen to serve many.
//!
//! First a relation for every object that is in none yet, in order; then one for every pair that
//! overlaps and shares none yet, in order. Each is grown from that object or pair by adding what
//! overlaps all members so far, so it is maximal and was not chosen before.
//! At most one relation per pair is needed, however many there are in all.

use super::axis::spread;
use super::{Aura, Comparisons, Completeness, Found, Relations};

/// At most `most` relations of these auras; the comparisons are added to those given.
pub(super) fn cover(auras: &[Aura], most: usize, comparisons: Comparisons) -> Found {
    let mut cover = Cover {
        near: Near::new(auras),
        chosen: Vec::new(),
        relations_of: vec![Vec::new(); auras.len()],
        comparisons,
    };
    let completeness = match cover.serve_objects(auras, most) && cover.serve_pairs(auras, most) {
        true => Completeness::EveryPair,
        false => Completeness::Partial,
    };
    let comparisons = cover.comparisons;
    Found { relations: Relations::sorted(cover.chosen), completeness, comparisons }
}

struct Cover {
    near: Near,
    chosen: Vec<Vec<u32>>,
    /// The chosen relations of each object.
    relations_of: Vec<Vec<u32>>,
    comparisons: Comparisons,
}

impl Cover {
    /// Did the relations suffice?
    fn serve_objects(&mut self, auras: &[Aura], most: usize) -> bool {
        let mut overlapping = Vec::new();
        for object in 0..auras.len() as u32 {
            if self.relations_of[object as usize].is_empty() {
                if self.chosen.len() == most {
                    return false;
                }
                self.find_overlapping(auras, object, &mut overlapping);
                overlapping.sort_by_key(|&other| !self.relations_of[other as usize].is_empty());
                self.choose(auras, vec![object], &overlapping);
            }
        }
        true
    }

    /// Did the relations suffice?
    fn serve_pairs(&mut self, auras: &[Aura], most: usize) -> bool {
        let mut overlapping = Vec::new();
        // The object with which each shares a relation, the last that was looked at.
        let mut shares_with = vec![u32::MAX; auras.len()];
        for object in 0..auras.len() as u32 {
            self.find_overlapping(auras, object, &mut overlapping);
            for &relation in &self.relations_of[object as usize] {
                for &member in &self.chosen[relation as usize] {
                    shares_with[member as usize] = object;
                }
            }
            for &other in overlapping.iter().filter(|&&other| other > object) {
                if shares_with[other as usize] != object {
                    if self.chosen.len() == most {
                        return false;
                    }
                    let mut order = overlapping.clone();
                    order.sort_by_key(|&other| shares_with[other as usize] == object);
                    for &member in self.choose(auras, vec![object, other], &order) {
                        shares_with[member as usize] = object;
                    }
                }
            }
        }
        true
    }

    /// Grows a relation from `members` by those that overlap the first of them, in the order given:
    /// if those come first that are not yet served, few relations serve many.
    fn choose(&mut self, auras: &[Aura], mut members: Vec<u32>, overlapping: &[u32]) -> &[u32] {
        let relation = self.chosen.len() as u32;
        for &other in overlapping {
            if self.fits(auras, &members, other) {
                members.push(other);
            }
        }
        for &member in &members {
            self.relations_of[member as usize].push(relation);
        }
        self.chosen.push(members);
        &self.chosen[relation as usize]
    }

    /// Is it another, and does it overlap all members? That it overlaps the first is known.
    fn fits(&mut self, auras: &[Aura], members: &[u32], other: u32) -> bool {
        members[1..].iter().all(|&member| {
            self.comparisons.sphere_tests += u64::from(member != other);
            member != other && auras[member as usize].overlaps(&auras[other as usize])
        })
    }

    /// All that overlap the object, in order.
    fn find_overlapping(&mut self, auras: &[Aura], object: u32, out: &mut Vec<u32>) {
        out.clear();
        for &other in self.near.on_axis(&auras[object as usize]) {
            if other != object {
                self.comparisons.sphere_tests += 1;
                if auras[object as usize].overlaps(&auras[other as usize]) {
                    out.push(other);
                }
            }
        }
        out.sort_unstable();
    }
}

/// The auras in the order of their start points on one axis.
struct Near {
    axis: usize,
    order: Vec<u32>,
    starts: Vec<f64>,
    /// The furthest end point of all until there: what begins later can be skipped at once.
    ends: Vec<f64>,
}

impl Near {
    fn new(auras: &[Aura]) -> Near {
        let axis = spread(auras).max_position();
        let mut order: Vec<u32> = (0..auras.len() as u32).collect();
        let span = |object: u32| auras[object as usize].span(axis);
        order.sort_by(|&a, &b| span(a)[0].total_cmp(&span(b)[0]));
        let starts = order.iter().map(|&object| span(object)[0]).collect();
        let mut furthest = f64::NEG_INFINITY;
        let until = |&object: &u32| {
            furthest = furthest.max(span(object)[1]);
            furthest
        };
        let ends = order.iter().map(until).collect();
        Near { axis, order, starts, ends }
    }

    /// At least all that overlap the aura on the axis.
    fn on_axis(&self, aura: &Aura) -> &[u32] {
        let [start, end] = aura.span(self.axis);
        let first = self.ends.partition_point(|&furthest| furthest < start);
        let last = self.starts.partition_point(|&other| other <= end);
        &self.order[first..last]
    }
}
