//! Building a BoxTree (Zachmann 2000, 3.5.7): empty parts are split off, the rest is divided
//! greedily along each axis, and a criterion chooses the axis.

use super::{BoxTree, BoxTreeSettings, Child, Children, Criterion, LAST, Node};
use crate::frames::Bounds;
use jostle_geom::Mesh;

/// Gaps below this share of the root's longest side stay: cuts are `f32`, so closing them would
/// leave new ones behind.
const GAP_MIN: f64 = 1e-6;

/// A partition may repeat so many triangles for each one that the mesh has.
const REPEATS_MAX: usize = 4;

pub(super) fn build(mesh: &Mesh, settings: &BoxTreeSettings, children: Children) -> BoxTree {
    let count = mesh.triangle_count();
    let items: Vec<Bounds> = (0..count as u32).map(|t| Bounds::of_triangle(mesh, t)).collect();
    let bounds = items.iter().copied().fold(Bounds::EMPTY, Bounds::joined);
    let longest = if count == 0 { 0.0 } else { bounds.extent().max_element() };
    let mut builder = Builder {
        settings,
        children,
        items,
        // Beyond this, splits are at the middle: the greedy way can take one polygon off at a time.
        depth_max: 2 * count.max(1).ilog2() as usize + 16,
        gap_min: longest * GAP_MIN,
        delta: longest * settings.thickness.max(0.0),
        repeats: count * REPEATS_MAX,
        root_volume: volume(&bounds),
        nodes: Vec::new(),
        members: Vec::new(),
        depth: 0,
        empty: 0.0,
    };
    let root = match count {
        0 => Child::Empty,
        _ => builder.child(bounds, scattered(count as u32), Level::default()),
    };
    builder.nodes.shrink_to_fit();
    builder.members.shrink_to_fit();
    BoxTree {
        nodes: builder.nodes,
        root,
        bounds,
        members: builder.members,
        children,
        depth: builder.depth,
        delta: if children == Children::Partition { builder.delta } else { 0.0 },
        empty_volume: builder.empty,
    }
}

/// All triangles in an order that has nothing to do with where they are.
///
/// The thesis takes polygons as they come. In most meshes neighbours follow each other, and then
/// one half creeps over everything, a little growth at a time: nearly every split of a torus left
/// one side empty, whatever the criterion.
fn scattered(count: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_by_key(|&i| (u64::from(i) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    order
}

fn volume(bounds: &Bounds) -> f64 {
    let d = bounds.extent();
    d.x * d.y * d.z
}

/// How far down.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Nodes above.
    nodes: usize,
    /// Those of them that divide polygons.
    splits: usize,
}

struct Builder<'a> {
    settings: &'a BoxTreeSettings,
    children: Children,
    items: Vec<Bounds>,
    depth_max: usize,
    gap_min: f64,
    delta: f64,
    /// How many triangles may still be repeated.
    repeats: usize,
    root_volume: f64,
    nodes: Vec<Node>,
    members: Vec<u32>,
    depth: usize,
    empty: f64,
}

/// Polygons divided along an axis.
struct Split {
    axis: usize,
    halves: [Vec<u32>; 2],
    /// Where the low half ends and where the high half begins.
    low_end: f64,
    high_start: f64,
}

impl Builder<'_> {
    /// The tree of `items` below a node with these bounds.
    fn child(&mut self, bounds: Bounds, items: Vec<u32>, level: Level) -> Child {
        self.depth = self.depth.max(level.nodes);
        let tight = self.tight(&items, &bounds);
        if let Some((axis, side)) = self.gap(&bounds, &tight) {
            return self.split_off(bounds, items, level, &tight, (axis, side));
        }
        if items.len() == 1 {
            return self.leaf(&items);
        }
        let split = match self.children {
            Children::Overlap => Some(self.divide(&items, &bounds, &tight, level)),
            Children::Partition => self.cut(&items, &bounds, &tight, level),
        };
        let Some(split) = split else { return self.leaf(&items) };
        let cuts = self.cuts(&bounds, split.axis, [split.low_end, split.high_start]);
        let parts = self.parts(bounds, split.axis, cuts);
        let node = self.reserve();
        let level = Level { nodes: level.nodes + 1, splits: level.splits + 1 };
        let [low, high] = split.halves;
        let children = [self.child(parts[0], low, level), self.child(parts[1], high, level)];
        self.nodes[node as usize] = Node::new(split.axis, cuts, children);
        Child::Node(node)
    }

    /// Fathers stand before their children.
    fn reserve(&mut self) -> u32 {
        self.nodes.push(Node::new(0, [0.0; 2], [Child::Empty; 2]));
        self.nodes.len() as u32 - 1
    }

    fn leaf(&mut self, items: &[u32]) -> Child {
        if self.children == Children::Overlap {
            return Child::Leaf(items[0]);
        }
        let start = self.members.len() as u32;
        self.members.extend_from_slice(items);
        if let Some(last) = self.members.last_mut() {
            *last |= LAST;
        }
        Child::Leaf(start)
    }

    fn tight(&self, items: &[u32], bounds: &Bounds) -> Bounds {
        let boxes = items.iter().map(|&item| self.items[item as usize]);
        let all = boxes.fold(Bounds::EMPTY, Bounds::joined);
        let within = |p: glam::DVec3| p.max(bounds.low).min(bounds.high);
        Bounds { low: within(all.low), high: within(all.high) }
    }

    /// The largest empty part at a side of the box, if it is large enough: axis and side.
    fn gap(&self, bounds: &Bounds, tight: &Bounds) -> Option<(usize, usize)> {
        let (below, above) = (tight.low - bounds.low, bounds.high - tight.high);
        let gaps = (0..3).flat_map(|axis| [(axis, 0, below[axis]), (axis, 1, above[axis])]);
        let share = |axis: usize, gap: f64| gap / bounds.extent()[axis];
        let large = gaps.filter(|&(axis, _, gap)| {
            gap > self.gap_min && share(axis, gap) > self.settings.empty_share
        });
        let largest = large.max_by(|x, y| share(x.0, x.2).total_cmp(&share(y.0, y.2)));
        largest.map(|(axis, side, _)| (axis, side))
    }

    /// `side` is where the empty part is.
    fn split_off(
        &mut self,
        bounds: Bounds,
        items: Vec<u32>,
        level: Level,
        tight: &Bounds,
        (axis, side): (usize, usize),
    ) -> Child {
        let at = if side == 0 { tight.low[axis] } else { tight.high[axis] };
        let cuts = self.cuts(&bounds, axis, [at, at]);
        let parts = self.parts(bounds, axis, cuts);
        // The empty part of children that overlap is what the full one leaves.
        let empty = volume(&bounds) - volume(&parts[1 - side]);
        self.empty += if self.root_volume > 0.0 { empty / self.root_volume } else { 0.0 };
        let node = self.reserve();
        let level = Level { nodes: level.nodes + 1, ..level };
        let full = self.child(parts[1 - side], items, level);
        let children = if side == 0 { [Child::Empty, full] } else { [full, Child::Empty] };
        self.nodes[node as usize] = Node::new(axis, cuts, children);
        Child::Node(node)
    }

    /// Positions as a node stores them, see [`Node`].
    fn cuts(&self, bounds: &Bounds, axis: usize, [low_end, high_start]: [f64; 2]) -> [f32; 2] {
        match self.children {
            Children::Overlap => {
                [not_above(bounds.high[axis] - low_end), not_above(high_start - bounds.low[axis])]
            }
            Children::Partition => [(0.5 * (low_end + high_start)) as f32; 2],
        }
    }

    /// The boxes of the children: computed as the traversals do.
    fn parts(&self, bounds: Bounds, axis: usize, cuts: [f32; 2]) -> [Bounds; 2] {
        let cuts = cuts.map(f64::from);
        let mut parts = [bounds; 2];
        match self.children {
            Children::Overlap => {
                parts[0].high[axis] -= cuts[0];
                parts[1].low[axis] += cuts[1];
            }
            Children::Partition => {
                parts[0].high[axis] = cuts[0];
                parts[1].low[axis] = cuts[1];
            }
        }
        parts
    }

    /// Divides polygons along the best axis.
    fn divide(&self, items: &[u32], bounds: &Bounds, tight: &Bounds, level: Level) -> Split {
        let splits = (0..3).map(|axis| self.greedy(items, tight, axis));
        let usable = splits.filter(|split| split.halves.iter().all(|half| !half.is_empty()));
        let rank = |split: &Split| self.penalty(split, bounds, tight, level);
        let best = usable.min_by(|x, y| compare(rank(x), rank(y)));
        best.filter(|_| level.splits < self.depth_max).unwrap_or_else(|| self.halve(items, tight))
    }

    /// Each polygon goes where the box grows less; if neither grows, or both do alike, where
    /// there are fewer. Growth below the thickness of a plane is none.
    fn greedy(&self, items: &[u32], tight: &Bounds, axis: usize) -> Split {
        let (low, high) = (tight.low[axis], tight.high[axis]);
        let mut split =
            Split { axis, halves: [Vec::new(), Vec::new()], low_end: low, high_start: high };
        for &item in items {
            let (from, to) = self.reach(item, axis, low, high);
            let growth = [(to - split.low_end).max(0.0), (split.high_start - from).max(0.0)];
            let fewer = usize::from(split.halves[1].len() < split.halves[0].len());
            let side = match growth[0] - growth[1] {
                difference if difference < -self.delta => 0,
                difference if difference > self.delta => 1,
                _ => fewer,
            };
            split.halves[side].push(item);
            match side {
                0 => split.low_end = split.low_end.max(to),
                _ => split.high_start = split.high_start.min(from),
            }
        }
        split
    }

    /// What of a polygon's box is between two planes.
    fn reach(&self, item: u32, axis: usize, low: f64, high: f64) -> (f64, f64) {
        let item = &self.items[item as usize];
        (item.low[axis].max(low).min(high), item.high[axis].max(low).min(high))
    }

    /// Where the greedy way puts all on one side, or has gone on for too long: half of the
    /// polygons each, by their centres, along the longest side.
    fn halve(&self, items: &[u32], tight: &Bounds) -> Split {
        let axis = longest(tight);
        let centre = |item: u32| {
            let item = &self.items[item as usize];
            item.low[axis] + item.high[axis]
        };
        let mut sorted = items.to_vec();
        sorted.sort_by(|&x, &y| centre(x).total_cmp(&centre(y)).then(x.cmp(&y)));
        let high = sorted.split_off(sorted.len() / 2);
        let low_end = self.tight(&sorted, tight).high[axis];
        let high_start = self.tight(&high, tight).low[axis];
        Split { axis, halves: [sorted, high], low_end, high_start }
    }

    /// For children that partition: the greedy division says where to cut, the fewest polygons
    /// that cross say along which axis, then the criterion. `None` if a cut does not pay.
    fn cut(
        &mut self,
        items: &[u32],
        bounds: &Bounds,
        tight: &Bounds,
        level: Level,
    ) -> Option<Split> {
        if level.splits >= self.depth_max {
            return None;
        }
        let n = items.len();
        let mut best: Option<(usize, [f64; 2], Split)> = None;
        for axis in 0..3 {
            let greedy = self.greedy(items, tight, axis);
            let one_sided = greedy.halves.iter().any(Vec::is_empty);
            let plane = match one_sided {
                true => 0.5 * (tight.low[axis] + tight.high[axis]),
                false => 0.5 * (greedy.low_end + greedy.high_start),
            };
            let rank = self.penalty(&greedy, bounds, tight, level);
            let split = self.sides(items, axis, plane);
            let crossing = split.halves[0].len() + split.halves[1].len() - n;
            let shrinks = split.halves.iter().all(|half| half.len() < n);
            let pays = shrinks && crossing <= n / 4 && crossing <= self.repeats;
            let better = best.as_ref().is_none_or(|(fewest, lowest, _)| {
                crossing.cmp(fewest).then(compare(rank, *lowest)).is_lt()
            });
            if pays && better {
                best = Some((crossing, rank, split));
            }
        }
        let (crossing, _, split) = best?;
        self.repeats -= crossing;
        Some(split)
    }

    /// Which polygons are on which side of a plane of thickness 2δ; those that cross are on both.
    fn sides(&self, items: &[u32], axis: usize, plane: f64) -> Split {
        let plane = f64::from(plane as f32);
        let mut halves = [Vec::new(), Vec::new()];
        for &item in items {
            let bounds = &self.items[item as usize];
            let below = bounds.high[axis] <= plane + self.delta;
            let above = bounds.low[axis] >= plane - self.delta;
            let sides = match (below, above) {
                (true, true) => {
                    [halves[0].len() <= halves[1].len(), halves[0].len() > halves[1].len()]
                }
                (below, above) => [!above, !below],
            };
            for (half, on) in halves.iter_mut().zip(sides) {
                if on {
                    half.push(item);
                }
            }
        }
        Split { axis, halves, low_end: plane, high_start: plane }
    }

    /// The smaller the better; the second number decides where the first is the same.
    fn penalty(&self, split: &Split, bounds: &Bounds, tight: &Bounds, level: Level) -> [f64; 2] {
        let axis = split.axis;
        let overlap = split.low_end - split.high_start;
        let (node, own) = (bounds.extent(), tight.extent());
        let [low, high] = split.halves.each_ref().map(|half| half.len() as f64);
        let balance = (low - high).abs();
        match self.settings.criterion {
            Criterion::OverlapMinusExtent => [overlap - own[axis], 0.0],
            Criterion::OverlapVolume => {
                [overlap * node[(axis + 1) % 3] * node[(axis + 2) % 3], -own[axis]]
            }
            Criterion::OverlapPerExtent if own[axis] > 0.0 => [overlap / own[axis], 0.0],
            Criterion::OverlapPerExtent => [f64::INFINITY, 0.0],
            Criterion::LongestSide => [-own[axis], 0.0],
            Criterion::Balance => [balance, 0.0],
            Criterion::Overlap => [overlap, 0.0],
            Criterion::BalanceThenOverlap => [balance, overlap - own[axis]],
            Criterion::BalanceThenLongest => [balance, -own[axis]],
            Criterion::BalanceThenLongestNode => [balance, -node[axis]],
            Criterion::BalanceThenOverlapNode => [balance, overlap - node[axis]],
            Criterion::InTurn => [((axis + 3 - level.splits % 3) % 3) as f64, 0.0],
            Criterion::MostOverlap => [-overlap, 0.0],
        }
    }
}

fn longest(bounds: &Bounds) -> usize {
    let d = bounds.extent();
    (0..3).max_by(|&i, &j| d[i].total_cmp(&d[j])).unwrap_or(0)
}

fn compare(x: [f64; 2], y: [f64; 2]) -> std::cmp::Ordering {
    x[0].total_cmp(&y[0]).then(x[1].total_cmp(&y[1]))
}

/// The largest `f32` that is not above `x` (and not below 0): what is cut off may only be less
/// than what is empty.
fn not_above(x: f64) -> f32 {
    let near = x.max(0.0) as f32;
    if f64::from(near) > x.max(0.0) { near.next_down() } else { near }
}
