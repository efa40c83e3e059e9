//! Which touching pairs of triangles hang together? Exact.
//!
//! Two pairs are connected if what they share meets in a point. If that point is in the triangles a
//! and a′ of the first model and b and b′ of the second, then a and b′ touch there too: so it is
//! enough to connect pairs that have a triangle in common, and the rest follows.
//!
//! Of the pairs of one triangle t, those whose others have an edge or a corner in common that
//! touches t are connected: all there is to see where meshes have no other intersections, and it
//! takes sorting only. Pairs that this leaves apart although their boxes meet are asked exactly
//! ([`three_meet`]).

use crate::triangle::meet::three_meet;
use crate::triangle::shared::Shared;
use crate::triangle::{Triangle, triangles_touch};
use glam::DVec3;
use std::collections::BTreeMap;

/// A pair of triangles that touch.
pub(super) struct Touch {
    /// The numbers of the triangles.
    pub(super) of: [usize; 2],
    pub(super) placed: [Triangle; 2],
    pub(super) shared: Shared,
}

/// The group of each of the pairs, which are sorted by the first triangle: groups are numbered in
/// the order of their first pairs.
pub(super) fn groups(touches: &[Touch]) -> Vec<usize> {
    let mut sets = Sets((0..touches.len()).collect());
    for side in [0, 1] {
        let mut order: Vec<usize> = (0..touches.len()).collect();
        order.sort_by_key(|&i| touches[i].of[side]);
        for pairs in order.chunk_by(|&i, &j| touches[i].of[side] == touches[j].of[side]) {
            connect(touches, side, pairs, &mut sets);
        }
    }
    let mut number: BTreeMap<usize, usize> = BTreeMap::new();
    let of = |i: usize| {
        let (root, next) = (sets.root(i), number.len());
        *number.entry(root).or_insert(next)
    };
    (0..touches.len()).map(of).collect()
}

/// Numbers that are joined to sets, each known by its smallest.
struct Sets(Vec<usize>);

impl Sets {
    fn root(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    fn join(&mut self, i: usize, j: usize) {
        let (i, j) = (self.root(i), self.root(j));
        self.0[i.max(j)] = i.min(j);
    }
}

type Place = [u64; 3];

/// Joins pairs that have one triangle in common, that of `side`.
fn connect(touches: &[Touch], side: usize, pairs: &[usize], sets: &mut Sets) {
    if pairs.len() < 2 {
        return;
    }
    let common = &touches[pairs[0]].placed[side];
    // By the corners and edges of the other triangles: of each kind the first pair, if it touches.
    let mut seen: BTreeMap<[Place; 2], Option<usize>> = BTreeMap::new();
    for &i in pairs {
        let other = &touches[i].placed[1 - side];
        for (p, q) in [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)] {
            let ends = [other[p], other[q]];
            let mut key = ends.map(place);
            key.sort_unstable();
            let first = seen.entry(key).or_insert_with(|| {
                triangles_touch(&[ends[0], ends[1], ends[1]], common).then_some(i)
            });
            if let Some(first) = *first {
                sets.join(first, i);
            }
        }
    }
    let bounds: Vec<[DVec3; 2]> = pairs.iter().map(|&i| bounds(&touches[i].shared)).collect();
    for (k, &i) in pairs.iter().enumerate() {
        for (l, &j) in pairs.iter().enumerate().skip(k + 1) {
            let near =
                bounds[k][0].cmple(bounds[l][1]).all() && bounds[l][0].cmple(bounds[k][1]).all();
            if !near || sets.root(i) == sets.root(j) {
                continue;
            }
            let others = [i, j].map(|i| &touches[i].placed[1 - side]);
            if triangles_touch(others[0], others[1]) && three_meet([common, others[0], others[1]]) {
                sets.join(i, j);
            }
        }
    }
}

fn place(p: DVec3) -> Place {
    (p + 0.0).to_array().map(f64::to_bits) // -0 is 0
}

/// A box that surely holds what two triangles share: its corners are off by a few roundings.
fn bounds(shared: &Shared) -> [DVec3; 2] {
    let points = shared.points();
    let low = points.iter().fold(DVec3::INFINITY, |low, &p| low.min(p));
    let high = points.iter().fold(DVec3::NEG_INFINITY, |high, &p| high.max(p));
    let slack = low.abs().max(high.abs()).max_element() * 1e-12 + f64::MIN_POSITIVE;
    [low - slack, high + slack]
}
