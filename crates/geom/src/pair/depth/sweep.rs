//! Two models, one of which moves along a direction: when do they touch for the last time?
//!
//! Best first over both hierarchies: pairs of boxes wait in a heap, the one that may touch the
//! latest on top. What cannot touch later than the best pair of triangles is never opened.

use super::super::models::ModelPair;
use super::super::node_pair::{Expansion, LANE_BITS, LeafPair, NodePair};
use super::interval::{self, touching_times};
use crate::simd::Isa;
use crate::tree::Lane;
use crate::tree::sweep::{Sweep as BoxSweep, Times};
use glam::DVec3;
use std::collections::BinaryHeap;

/// The second model moves by one unit of length along `n` per unit of time.
pub(super) struct Sweep<'p, 'a> {
    pair: &'p ModelPair<'a>,
    n: DVec3,
    /// The direction in which the other box moves, seen from a node of the first and of the second.
    along: [[f32; 3]; 2],
    /// Slack of a box test for the rounding of `along`.
    slack: f32,
}

/// Two triangles that part, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parting {
    /// When they touch.
    pub(super) times: interval::Times,
    pub(super) triangles: [usize; 2],
}

impl<'p, 'a> Sweep<'p, 'a> {
    /// Along `n`, of length 1.
    pub(super) fn new(pair: &'p ModelPair<'a>, n: DVec3) -> Sweep<'p, 'a> {
        let narrow = |v: DVec3| v.as_vec3().to_array();
        let along = [
            narrow(pair.pose_a.inverse_transform_vector(n)),
            narrow(-pair.pose_b.inverse_transform_vector(n)),
        ];
        let slack = (super::scale(pair) / f64::from(1u32 << 20)) as f32;
        Sweep { pair, n, along, slack }
    }

    /// The last parting that is later than `from` and earlier than `until`.
    pub(super) fn last_parting(&self, from: f64, until: f64) -> Option<Parting> {
        let pair = self.pair;
        let (root_a, root_b) = (pair.a.tree.child(Lane::ROOT), pair.b.tree.child(Lane::ROOT));
        if root_a.is_empty() || root_b.is_empty() {
            return None;
        }
        let isa = Isa::best();
        let mut best: Option<Parting> = None;
        let mut open = BinaryHeap::with_capacity(256);
        open.push(Waiting { last: f32::INFINITY, pair: NodePair::ROOTS });
        while let Some(Waiting { last, pair: node_pair }) = open.pop() {
            let floor = best.map_or(from, |b| b.times.last);
            if f64::from(last) < floor {
                break;
            }
            let (a, b) = node_pair.lanes();
            if pair.a.tree.child(a).is_leaf() && pair.b.tree.child(b).is_leaf() {
                self.leaves(node_pair, from, until, &mut best);
                continue;
            }
            let expansion = Expansion::new(pair, node_pair, self.slack);
            let opened = usize::from(expansion.shift != LANE_BITS);
            let Times { first, last } = isa.run(BoxSweep {
                node: expansion.node,
                query: &expansion.query,
                along: self.along[opened],
            });
            for k in 0..first.len() {
                // Written so that not a number is opened.
                let never =
                    first[k] > last[k] || f64::from(last[k]) < floor || f64::from(first[k]) > until;
                if expansion.node.child[k].is_empty() || never {
                    continue;
                }
                let node_pair = NodePair(expansion.first.0 + ((k as u64) << expansion.shift));
                open.push(Waiting { last: last[k], pair: node_pair });
            }
        }
        best
    }

    fn leaves(&self, node_pair: NodePair, from: f64, until: f64, best: &mut Option<Parting>) {
        let pair = self.pair;
        let leaves = LeafPair::new(pair, node_pair, 0.0);
        for bit in (0..4).filter(|bit| leaves.used() >> bit & 1 == 1) {
            let (a, b) = leaves.triangles(bit);
            let times = touching_times(&pair.triangle_a(a), &pair.triangle_b(b), self.n);
            let Some(times) = times else { continue };
            let found = Parting { times, triangles: [a, b] };
            let time = times.last;
            let better = |b: &Parting| {
                // Of equal times the first triangles.
                time > b.times.last || (time == b.times.last && found.triangles < b.triangles)
            };
            if time > from && time < until && best.as_ref().is_none_or(better) {
                *best = Some(found);
            }
        }
    }
}

/// Two lanes that wait, with a time after which they do not touch. The largest is the latest.
struct Waiting {
    last: f32,
    pair: NodePair,
}

impl Waiting {
    fn key(&self) -> (i32, u64) {
        // The bits of a float in an order like the number's.
        let bits = self.last.to_bits() as i32;
        (bits ^ ((bits >> 31) as u32 >> 1) as i32, self.pair.0)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Waiting) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Waiting) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Waiting) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}
