//! A tree over the vertices of a polygon that finds one in a triangle.
//!
//! A balanced k-d tree of boxes whose shape never changes. Vertices are
//! switched on and off, and a subtree without any that is on is skipped. A box is also skipped if
//! it lies on the outer side of one of the three lines of the triangle; without that test long
//! slanted triangles would visit nearly all boxes.

use glam::DVec2;

/// Vertices in one leaf.
const LEAF: usize = 8;

#[derive(Clone, Copy)]
struct Node {
    low: DVec2,
    high: DVec2,
    /// How many vertices below are switched on.
    on: u32,
}

/// The vertices that may prevent an ear: those that are not strictly convex.
#[derive(Default)]
pub(super) struct Blockers {
    /// A heap: the root is 1, the children of i are 2i and 2i + 1. The second half are leaves.
    nodes: Vec<Node>,
    /// Vertices in the order of the leaves.
    order: Vec<u32>,
    /// The leaf of each vertex, as a node number.
    leaf_of: Vec<u32>,
    is_on: Vec<bool>,
    leaves: usize,
}

impl Blockers {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.order.clear();
        self.leaf_of.clear();
        self.is_on.clear();
        self.leaves = 0;
    }

    /// A tree over all points, all switched off.
    pub(super) fn build(&mut self, points: &[DVec2]) {
        self.clear();
        self.leaves = points.len().div_ceil(LEAF).next_power_of_two();
        let empty = Node { low: DVec2::INFINITY, high: DVec2::NEG_INFINITY, on: 0 };
        self.nodes.resize(self.leaves * 2, empty);
        self.order.extend(0..points.len() as u32);
        self.leaf_of.resize(points.len(), 0);
        self.is_on.resize(points.len(), false);
        self.split(points, 1, 0, self.leaves);
    }

    /// The part of `order` that the leaves `first` up to `end` share.
    fn range(&self, first: usize, end: usize) -> std::ops::Range<usize> {
        let count = self.order.len();
        first * count / self.leaves..end * count / self.leaves
    }

    /// Sorts the vertices of a node's leaves into its two halves, and so on below.
    fn split(&mut self, points: &[DVec2], node: usize, first: usize, end: usize) {
        let range = self.range(first, end);
        let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for &vertex in &self.order[range.clone()] {
            low = low.min(points[vertex as usize]);
            high = high.max(points[vertex as usize]);
        }
        self.nodes[node] = Node { low, high, on: 0 };
        if end - first == 1 {
            for &vertex in &self.order[range] {
                self.leaf_of[vertex as usize] = node as u32;
            }
            return;
        }
        let middle = first.midpoint(end);
        let cut = self.range(first, middle).len();
        let axis = usize::from(high.y - low.y > high.x - low.x);
        let along = |&vertex: &u32| points[vertex as usize][axis];
        if cut < range.len() {
            self.order[range]
                .select_nth_unstable_by(cut, |a, b| along(a).total_cmp(&along(b)).then(a.cmp(b)));
        }
        self.split(points, node * 2, first, middle);
        self.split(points, node * 2 + 1, middle, end);
    }

    /// Switches a vertex on or off.
    pub(super) fn set(&mut self, vertex: u32, on: bool) {
        let is_on = &mut self.is_on[vertex as usize];
        if *is_on == on {
            return;
        }
        *is_on = on;
        let mut node = self.leaf_of[vertex as usize] as usize;
        while node > 0 {
            let count = &mut self.nodes[node].on;
            *count = if on { *count + 1 } else { *count - 1 };
            node /= 2;
        }
    }

    /// Whether `test` holds for a vertex that is on; only those near the triangle, which must
    /// turn left, are tested. Those near its middle come first: when there is one inside, the many
    /// that lie just outside along a side need not be looked at.
    pub(super) fn any_in(&self, triangle: [DVec2; 3], test: impl Fn(u32) -> bool) -> bool {
        let mut stack = [0usize; 64];
        stack[0] = 1;
        let mut depth = 1;
        let middle = (triangle[0] + triangle[1] + triangle[2]) / 3.0;
        let from_middle = |node: usize| {
            let Node { low, high, .. } = self.nodes[node];
            middle.distance_squared(middle.clamp(low, high))
        };
        while depth > 0 {
            depth -= 1;
            let index = stack[depth];
            let node = &self.nodes[index];
            if node.on == 0 || is_apart([node.low, node.high], triangle) {
                continue;
            }
            if index < self.leaves {
                let right_first = from_middle(index * 2 + 1) < from_middle(index * 2);
                stack[depth] = index * 2 + usize::from(!right_first);
                stack[depth + 1] = index * 2 + usize::from(right_first);
                depth += 2;
                continue;
            }
            let leaf = index - self.leaves;
            let found = self.order[self.range(leaf, leaf + 1)]
                .iter()
                .any(|&vertex| self.is_on[vertex as usize] && test(vertex));
            if found {
                return true;
            }
        }
        false
    }
}

/// Whether a box surely has no point in common with a triangle that turns left.
pub(super) fn is_apart([low, high]: [DVec2; 2], triangle: [DVec2; 3]) -> bool {
    let [a, b, c] = triangle;
    if a.min(b).min(c).cmpgt(high).any() || a.max(b).max(c).cmplt(low).any() {
        return true;
    }
    [(a, b), (b, c), (c, a)].iter().any(|&(from, to)| {
        // The corner of the box that is furthest to the left of the line.
        let along = to - from;
        let x = if along.y > 0.0 { low.x } else { high.x };
        let y = if along.x > 0.0 { high.y } else { low.y };
        let (plus, minus) = (along.x * (y - from.y), along.y * (x - from.x));
        // Two differences, a product and a difference: the error is below four units in 2^53.
        plus - minus < (plus.abs() + minus.abs()) * -1e-15
    })
}
