//! The tree of fat boxes: eight children to a node, all leaves at one depth, as in a B-tree.
//!
//! A box that moves a little stays in its leaf; one that leaves the box of its leaf goes to the
//! leaf that grows least. Full nodes split at the middle of their longest axis. Boxes of nodes
//! are loose until [`Nodes::refit`], which tightens what changed and nothing else.

use super::index::Visitor;
use super::span::Span;
use super::{NONE, WIDTH};
use glam::Vec3;
use jostle_geom::simd::{F32x8, Simd};

/// Deepest tree; at least two children per node make 2^32 leaves 32 deep.
const DEPTH_MAX: usize = 34;

/// Room for the nodes that a query has still to look at.
pub(super) type Open = [u32; DEPTH_MAX * WIDTH];

/// An [`Open`] without nodes.
pub(super) const OPEN: Open = [0; DEPTH_MAX * WIDTH];

/// Eight boxes side by side, and what is behind each: a node, or in a leaf a proxy.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Node {
    low: [[f32; WIDTH]; 3],
    high: [[f32; WIDTH]; 3],
    child: [u32; WIDTH],
    parent: u32,
    /// Lanes in use: the first ones.
    count: u8,
    leaf: bool,
    /// Waits for [`Nodes::refit`].
    loose: bool,
    /// Of a leaf: where its boxes may move without looking for a better leaf. Set when the leaf is
    /// made and kept: a home that followed its boxes would grow with every one that leaves.
    home: Span,
}

/// A home is larger than the boxes it was made for by this share of their size, on each side.
const HOME_MARGIN: f32 = 0.125;

impl Node {
    fn new(leaf: bool) -> Node {
        Node {
            low: [[f32::INFINITY; WIDTH]; 3],
            high: [[f32::NEG_INFINITY; WIDTH]; 3],
            child: [NONE; WIDTH],
            parent: NONE,
            count: 0,
            leaf,
            loose: false,
            home: Span::EMPTY,
        }
    }

    fn lane(&self, lane: usize) -> Span {
        Span {
            low: Vec3::new(self.low[0][lane], self.low[1][lane], self.low[2][lane]),
            high: Vec3::new(self.high[0][lane], self.high[1][lane], self.high[2][lane]),
        }
    }

    fn set_lane(&mut self, lane: usize, span: Span) {
        for axis in 0..3 {
            self.low[axis][lane] = span.low[axis];
            self.high[axis][lane] = span.high[axis];
        }
    }

    fn lane_of(&self, child: u32) -> usize {
        let lane = self.child.iter().position(|&c| c == child);
        lane.expect("a parent knows its children")
    }

    fn bounds(&self) -> Span {
        (0..self.count as usize).fold(Span::EMPTY, |all, lane| all.union(self.lane(lane)))
    }

    /// The lane that grows least, by half the surface; of equal ones the first.
    fn cheapest_lane(&self, span: Span) -> usize {
        let mut cost = [f32::INFINITY; WIDTH];
        for (lane, cost) in cost.iter_mut().enumerate() {
            let mut before = [0.0; 3];
            let mut after = [0.0; 3];
            for axis in 0..3 {
                let (low, high) = (self.low[axis][lane], self.high[axis][lane]);
                before[axis] = high - low;
                after[axis] = high.max(span.high[axis]) - low.min(span.low[axis]);
            }
            let surface = |d: [f32; 3]| d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
            // The surface itself breaks ties: of nodes that need not grow, the smallest.
            *cost = (surface(after) - surface(before)) + 1e-3 * surface(after);
        }
        let mut best = 0;
        for lane in 1..self.count as usize {
            // Infinite or NaN costs, from boxes near the end of the numbers, never win.
            if cost[lane] < cost[best] {
                best = lane;
            }
        }
        best
    }
}

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    free: Vec<u32>,
    root: u32,
    /// By proxy: node and lane, or [`NONE`].
    places: Vec<u32>,
    /// Nodes whose box in their parent may be wrong, leaves first.
    loose: Vec<u32>,
}

fn place(node: u32, lane: usize) -> u32 {
    node << 3 | lane as u32
}

impl Nodes {
    pub(super) fn new() -> Nodes {
        let nodes = vec![Node::new(true)];
        Nodes { nodes, free: Vec::new(), root: 0, places: Vec::new(), loose: Vec::new() }
    }

    /// Puts a box in. Call [`Nodes::refit`] before the next query.
    pub(super) fn insert(&mut self, proxy_index: u32, span: Span) {
        if self.places.len() <= proxy_index as usize {
            self.places.resize(proxy_index as usize + 1, NONE);
        }
        debug_assert_eq!(self.places[proxy_index as usize], NONE);
        let mut at = self.root;
        while !self.nodes[at as usize].leaf {
            let node = &mut self.nodes[at as usize];
            let lane = node.cheapest_lane(span);
            node.set_lane(lane, node.lane(lane).union(span));
            at = node.child[lane];
        }
        self.add_child(at, proxy_index, span);
    }

    /// Takes a box out.
    pub(super) fn remove(&mut self, proxy_index: u32) {
        let place = std::mem::replace(&mut self.places[proxy_index as usize], NONE);
        self.drop_lane(place >> 3, (place & 7) as usize);
    }

    /// Moves a box within its leaf if that is its home, or else takes it out. Returns whether it is
    /// still in.
    pub(super) fn update_or_remove(&mut self, proxy_index: u32, span: Span) -> bool {
        let place = self.places[proxy_index as usize];
        let (at, lane) = (place >> 3, (place & 7) as usize);
        let at_home = self.nodes[at as usize].home.contains(&span);
        if at_home {
            self.nodes[at as usize].set_lane(lane, span);
            self.loosen(at);
        } else {
            self.remove(proxy_index);
        }
        at_home
    }

    fn loosen(&mut self, at: u32) {
        let node = &mut self.nodes[at as usize];
        if !std::mem::replace(&mut node.loose, true) {
            self.loose.push(at);
        }
    }

    fn new_node(&mut self, leaf: bool) -> u32 {
        if let Some(at) = self.free.pop() {
            self.nodes[at as usize] = Node::new(leaf);
            return at;
        }
        let at = u32::try_from(self.nodes.len()).expect("nodes fit in memory");
        assert!(at < NONE >> 3, "more boxes than a tree can name");
        self.nodes.push(Node::new(leaf));
        at
    }

    /// Adds a child (a proxy to a leaf, a node to an inner node), splitting upwards as needed.
    fn add_child(&mut self, at: u32, child: u32, span: Span) {
        let lane = self.nodes[at as usize].count as usize;
        if lane < WIDTH {
            let node = &mut self.nodes[at as usize];
            node.set_lane(lane, span);
            node.count += 1;
            self.hang(at, lane, child);
            self.loosen(at);
            return;
        }
        let sibling = self.split(at, child, span);
        let sibling_box = self.nodes[sibling as usize].bounds();
        let own_box = self.nodes[at as usize].bounds();
        let parent = self.nodes[at as usize].parent;
        if parent == NONE {
            let root = self.new_node(false);
            self.root = root;
            self.add_child(root, at, own_box);
            self.add_child(root, sibling, sibling_box);
        } else {
            let lane = self.nodes[parent as usize].lane_of(at);
            self.nodes[parent as usize].set_lane(lane, own_box);
            self.loosen(at);
            self.add_child(parent, sibling, sibling_box);
        }
    }

    /// Stores in a child where it is.
    fn hang(&mut self, at: u32, lane: usize, child: u32) {
        self.nodes[at as usize].child[lane] = child;
        if self.nodes[at as usize].leaf {
            self.places[child as usize] = place(at, lane);
        } else {
            self.nodes[child as usize].parent = at;
        }
    }

    /// Divides a full node and one more child between it and a new node, at the middle of the
    /// longest axis of their middles.
    fn split(&mut self, at: u32, child: u32, span: Span) -> u32 {
        let node = &self.nodes[at as usize];
        let leaf = node.leaf;
        let mut all: [(Span, u32); WIDTH + 1] = [(span, child); WIDTH + 1];
        for (lane, one) in all.iter_mut().enumerate().take(WIDTH) {
            *one = (node.lane(lane), node.child[lane]);
        }
        sort_along_longest_axis(&mut all);
        let sibling = self.new_node(leaf);
        self.nodes[at as usize].count = 0;
        let parent = self.nodes[at as usize].parent;
        let loose = self.nodes[at as usize].loose;
        self.nodes[at as usize] = Node { parent, loose, ..Node::new(leaf) };
        let half = all.len() / 2;
        for (to, part) in [(at, &all[..half]), (sibling, &all[half..])] {
            for (lane, &(span, child)) in part.iter().enumerate() {
                self.nodes[to as usize].set_lane(lane, span);
                self.nodes[to as usize].count += 1;
                self.hang(to, lane, child);
            }
        }
        for at in [at, sibling] {
            let node = &mut self.nodes[at as usize];
            node.home = node.bounds().grown(HOME_MARGIN);
        }
        self.loosen(sibling);
        sibling
    }

    /// Takes a lane out of a node; a node without lanes goes too.
    fn drop_lane(&mut self, at: u32, lane: usize) {
        let node = &mut self.nodes[at as usize];
        let last = node.count as usize - 1;
        node.count -= 1;
        if lane != last {
            let (span, moved) = (node.lane(last), node.child[last]);
            node.set_lane(lane, span);
            self.hang(at, lane, moved);
        }
        let node = &mut self.nodes[at as usize];
        node.set_lane(last, Span::EMPTY);
        node.child[last] = NONE;
        if node.count > 0 || at == self.root {
            if node.count == 0 {
                node.leaf = true; // an empty tree
            }
            self.loosen(at);
            return;
        }
        let parent = node.parent;
        // A loose node stays in the list of loose ones; `refit` knows it by its empty parent.
        node.parent = NONE;
        if !node.loose {
            self.free.push(at);
        }
        let lane = self.nodes[parent as usize].lane_of(at);
        self.drop_lane(parent, lane);
    }

    /// Makes the boxes of changed nodes tight again, upwards.
    pub(super) fn refit(&mut self) {
        while !self.loose.is_empty() {
            let level = std::mem::take(&mut self.loose);
            for at in level {
                let node = &mut self.nodes[at as usize];
                node.loose = false;
                let (bounds, parent) = (node.bounds(), node.parent);
                if parent == NONE {
                    if node.count == 0 && at != self.root {
                        self.free.push(at);
                    }
                    continue;
                }
                let above = &mut self.nodes[parent as usize];
                let lane = above.lane_of(at);
                if above.lane(lane) != bounds {
                    above.set_lane(lane, bounds);
                    self.loosen(parent);
                }
            }
        }
        // A root with one child wastes a level.
        while !self.nodes[self.root as usize].leaf && self.nodes[self.root as usize].count == 1 {
            let only = self.nodes[self.root as usize].child[0];
            self.free.push(std::mem::replace(&mut self.root, only));
            self.nodes[only as usize].parent = NONE;
        }
    }

    /// Builds the tree anew from `boxes`; much faster than one by one, and better.
    pub(super) fn rebuild(&mut self, boxes: &mut [(Span, u32)]) {
        let count =
            self.places.len().max(boxes.iter().map(|b| b.1 as usize + 1).max().unwrap_or(0));
        *self = Nodes::new();
        self.places = vec![NONE; count];
        if boxes.is_empty() {
            return;
        }
        self.nodes.clear();
        let mut above = self.build_level(boxes, true);
        while above.len() > 1 {
            above = self.build_level(&mut above, false);
        }
        self.root = above[0].1;
    }

    /// Nodes over `children`, in an order that keeps neighbours together.
    fn build_level(&mut self, children: &mut [(Span, u32)], leaf: bool) -> Vec<(Span, u32)> {
        let mut parts = Vec::with_capacity(children.len() / FILL + 1);
        divide(children, 0, &mut parts);
        let mut level = Vec::with_capacity(parts.len());
        for part in parts {
            let at = self.new_node(leaf);
            for (lane, &(span, child)) in children[part].iter().enumerate() {
                self.nodes[at as usize].set_lane(lane, span);
                self.nodes[at as usize].count += 1;
                self.hang(at, lane, child);
            }
            let node = &mut self.nodes[at as usize];
            let bounds = node.bounds();
            node.home = bounds.grown(HOME_MARGIN);
            level.push((bounds, at));
        }
        level
    }

    /// Visits the proxies of all boxes that overlap `span`. Returns how many nodes were
    /// looked at. The same on any instruction set.
    #[inline(always)]
    pub(super) fn query<S: Simd>(
        &self,
        span: Span,
        open: &mut Open,
        found: &mut impl Visitor,
    ) -> u64 {
        let mut visited = 0;
        let low = [S::F::splat(span.low.x), S::F::splat(span.low.y), S::F::splat(span.low.z)];
        let high = [S::F::splat(span.high.x), S::F::splat(span.high.y), S::F::splat(span.high.z)];
        open[0] = self.root;
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let node = &self.nodes[open[count] as usize];
            visited += 1;
            let apart = S::F::any_gt(
                [
                    S::F::load(&node.low[0]),
                    S::F::load(&node.low[1]),
                    S::F::load(&node.low[2]),
                    low[0],
                    low[1],
                    low[2],
                ],
                [
                    high[0],
                    high[1],
                    high[2],
                    S::F::load(&node.high[0]),
                    S::F::load(&node.high[1]),
                    S::F::load(&node.high[2]),
                ],
            );
            let mut hits = !apart;
            while hits != 0 {
                let lane = hits.trailing_zeros() as usize;
                hits &= hits - 1;
                let child = node.child[lane];
                if node.leaf {
                    found.visit(child);
                } else {
                    open[count] = child;
                    count += 1;
                }
            }
        }
        visited
    }

    /// Panics with the node where the tree is wrong.
    #[cfg(test)]
    pub(super) fn validate(&self, boxes: &std::collections::BTreeMap<u32, Span>) {
        let mut seen = 0;
        let mut open = vec![(self.root, NONE)];
        while let Some((at, parent)) = open.pop() {
            let node = &self.nodes[at as usize];
            assert_eq!(node.parent, parent, "node {at}");
            assert!(!node.loose, "node {at} was not refitted");
            for lane in 0..WIDTH {
                if lane >= node.count as usize {
                    assert_eq!(node.lane(lane), Span::EMPTY, "node {at}, lane {lane}");
                    continue;
                }
                let child = node.child[lane];
                if node.leaf {
                    assert_eq!(self.places[child as usize], place(at, lane), "proxy_index {child}");
                    assert_eq!(Some(&node.lane(lane)), boxes.get(&child), "proxy_index {child}");
                    seen += 1;
                } else {
                    let below = self.nodes[child as usize].bounds();
                    assert_eq!(node.lane(lane), below, "node {at}, lane {lane}");
                    open.push((child, at));
                }
            }
        }
        assert_eq!(seen, boxes.len());
    }
}

/// How many children a new node gets, so that there is room for more.
const FILL: usize = 6;

/// Cuts `boxes` into runs of at most [`WIDTH`] (about [`FILL`]), by halves along the longest axis
/// of their middles.
fn divide(boxes: &mut [(Span, u32)], from: usize, parts: &mut Vec<std::ops::Range<usize>>) {
    if boxes.len() <= FILL {
        parts.push(from..from + boxes.len());
        return;
    }
    let axis = longest_axis(boxes);
    // Halves that are whole runs, so that nodes are well filled.
    let runs = boxes.len().div_ceil(FILL);
    let half = boxes.len() * (runs / 2) / runs;
    let key = |&(span, child): &(Span, u32)| (ordered_bits(span.middle()[axis]), child);
    boxes.select_nth_unstable_by_key(half, key);
    let (left, right) = boxes.split_at_mut(half);
    let split = from + left.len();
    divide(left, from, parts);
    divide(right, split, parts);
}

fn longest_axis(boxes: &[(Span, u32)]) -> usize {
    let middles = boxes.iter().map(|(span, _)| span.middle());
    let spread = middles.fold(Span::EMPTY, |all, m| all.union(Span { low: m, high: m }));
    let size = spread.high * 0.5 - spread.low * 0.5;
    if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    }
}

fn sort_along_longest_axis(boxes: &mut [(Span, u32)]) {
    let axis = longest_axis(boxes);
    boxes.sort_unstable_by_key(|&(span, child)| (ordered_bits(span.middle()[axis]), child));
}

/// Integers in the order of the numbers.
fn ordered_bits(x: f32) -> i32 {
    let bits = x.to_bits() as i32;
    bits ^ (((bits >> 31) as u32) >> 1) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn random(state: &mut u64) -> f32 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 40) as f32 / (1 << 24) as f32
    }

    fn span(state: &mut u64, spread: f32) -> Span {
        let low = Vec3::new(random(state), random(state), random(state)) * spread;
        let size = Vec3::new(random(state), random(state), random(state));
        Span { low, high: low + size * random(state) * 3.0 }
    }

    #[test]
    fn the_tree_is_right_after_whatever_is_done_to_it() {
        for (seed, spread) in [(1, 0.0), (2, 5.0), (3, 100.0)] {
            let mut state = 0x9E37_79B9 * seed;
            let mut tree = Nodes::new();
            let mut boxes = BTreeMap::new();
            for round in 0..300 {
                for _ in 0..20 {
                    let proxy_index = (random(&mut state) * 200.0) as u32;
                    let new = span(&mut state, spread);
                    let known = boxes.contains_key(&proxy_index);
                    if known && random(&mut state) < 0.3 {
                        tree.remove(proxy_index);
                        boxes.remove(&proxy_index);
                    } else if !known || !tree.update_or_remove(proxy_index, new) {
                        tree.insert(proxy_index, new);
                        boxes.insert(proxy_index, new);
                    } else {
                        boxes.insert(proxy_index, new);
                    }
                }
                tree.refit();
                tree.validate(&boxes);
                if round % 100 == 99 {
                    let mut all: Vec<_> =
                        boxes.iter().map(|(&proxy_index, &b)| (b, proxy_index)).collect();
                    tree.rebuild(&mut all);
                    tree.validate(&boxes);
                }
            }
            assert!(boxes.len() > 50);
        }
    }
}
