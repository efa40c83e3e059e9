//! Two BoxTrees by re-alignment (Zachmann 2000, 3.5.6): boxes of the second tree are enclosed by
//! boxes along the axes of the first.
//!
//! A child is its father with one side moved, so three of the six sides of its enclosing box
//! change, and only those need to be compared: three comparisons instead of six. A child of the
//! first tree, whose boxes are aligned already, differs in one side: one comparison. So a step to
//! 2 × 2 children takes at most 6 multiplications, 8 additions (6, and 2 for the first tree: the
//! footnote of 3.5.6 gives the sum and forgets the 2) and 10 comparisons.
//!
//! Nothing is tested twice and no error gathers: each enclosing box is that of its box up to the
//! rounding of as many sums as there are cuts above. The box of the second root is grown by a
//! bound on all of it ([`Frames::slack`]), and its descendants inherit that.

use super::{BoxTree, BoxTreeSettings, Child, Node};
use crate::frames::{Bounds, Frames};
use crate::{Contender, Count, Surfaces};
use glam::DVec3;
use jostle_geom::{FacePair, Mesh, Pose};

/// Two meshes in BoxTrees, walked by re-alignment.
#[derive(Clone, Debug)]
pub struct RealignedBoxTrees<'a> {
    trees: [BoxTree; 2],
    surfaces: Surfaces<'a>,
}

impl<'a> RealignedBoxTrees<'a> {
    /// Builds both trees.
    #[must_use]
    pub fn new(a: &'a Mesh, b: &'a Mesh, settings: &BoxTreeSettings) -> RealignedBoxTrees<'a> {
        let trees = [BoxTree::new(a, settings), BoxTree::new(b, settings)];
        RealignedBoxTrees { trees, surfaces: Surfaces::new(a, b) }
    }

    fn walk(&mut self, pose_a: &Pose, pose_b: &Pose, all: bool) -> Walk<'_, 'a> {
        let [a, b] = &self.trees;
        let frames = Frames::new([a.bounds.reach(), b.bounds.reach()], pose_a, pose_b);
        let [x, y, z] = frames.to_a.rows;
        let column = |i: usize| DVec3::new(x[i], y[i], z[i]);
        self.surfaces.pose(pose_a, pose_b);
        let mut walk = Walk {
            trees: [a, b],
            axes: [column(0), column(1), column(2)],
            surfaces: &mut self.surfaces,
            all,
            count: Count::default(),
            found: Vec::new(),
        };
        // A cut of the first tree is one rounded sum, one of the second a product and a sum.
        let slack = frames.slack(4 + a.depth + 2 * b.depth);
        let enclosed = frames.to_a.enclose(&b.bounds).grown(slack);
        walk.count.alignments += 1;
        walk.count.volume_tests += 1;
        walk.count.comparisons += 6;
        if a.bounds.meets(&enclosed) {
            walk.pair([a.root, b.root], a.bounds, enclosed);
        }
        walk
    }
}

impl Contender for RealignedBoxTrees<'_> {
    fn name(&self) -> String {
        "BoxTree, re-aligned".to_owned()
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        let walk = self.walk(pose_a, pose_b, false);
        (!walk.found.is_empty(), walk.count)
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        let walk = self.walk(pose_a, pose_b, true);
        let (found, count) = (walk.found, walk.count);
        (self.surfaces.face_pairs(&found), count)
    }

    fn bytes(&self) -> usize {
        self.trees.iter().map(BoxTree::bytes).sum()
    }
}

struct Walk<'t, 'm> {
    trees: [&'t BoxTree; 2],
    /// The axes of the second mesh, in the frame of the first.
    axes: [DVec3; 3],
    surfaces: &'t mut Surfaces<'m>,
    all: bool,
    count: Count,
    found: Vec<(u32, u32)>,
}

/// One of two children of a node.
#[derive(Clone, Copy)]
enum Half {
    Low,
    High,
}

impl Walk<'_, '_> {
    /// Two children whose boxes overlap. True if all is done.
    fn pair(&mut self, [a, b]: [Child; 2], box_a: Bounds, box_b: Bounds) -> bool {
        self.count.visits += 1;
        match (a, b) {
            (Child::Empty, _) | (_, Child::Empty) => false,
            (Child::Leaf(a), Child::Leaf(b)) => self.leaves(a, b),
            (Child::Leaf(_), Child::Node(node)) => {
                let node = self.trees[1].nodes[node as usize];
                [Half::Low, Half::High].into_iter().any(|half| {
                    self.cut_b(&node, half, &box_a, &box_b)
                        .is_some_and(|(child, bounds)| self.pair([a, child], box_a, bounds))
                })
            }
            (Child::Node(node), Child::Leaf(_)) => {
                let children = self.cut_a(node, &box_a);
                children.into_iter().any(|part| self.pair_a(part, b, box_b))
            }
            (Child::Node(node_a), Child::Node(node_b)) => {
                let children = self.cut_a(node_a, &box_a);
                let node = self.trees[1].nodes[node_b as usize];
                [Half::Low, Half::High].into_iter().any(|half| {
                    let Some((child, bounds)) = self.cut_b(&node, half, &box_a, &box_b) else {
                        return false;
                    };
                    children.into_iter().any(|part| self.pair_a(part, child, bounds))
                })
            }
        }
    }

    /// A child of the first tree against a box of the second that its father overlaps.
    fn pair_a(&mut self, part: Part, b: Child, box_b: Bounds) -> bool {
        let Part { child, bounds, axis, half } = part;
        if child == Child::Empty {
            return false;
        }
        self.count.volume_tests += 1;
        self.count.comparisons += 1;
        let apart = match half {
            Half::Low => bounds.high[axis] < box_b.low[axis],
            Half::High => bounds.low[axis] > box_b.high[axis],
        };
        !apart && self.pair([child, b], bounds, box_b)
    }

    fn cut_a(&mut self, node: u32, bounds: &Bounds) -> [Part; 2] {
        let node = self.trees[0].nodes[node as usize];
        let axis = node.axis();
        let [low, high] = node.children();
        let mut parts = [
            Part { child: low, bounds: *bounds, axis, half: Half::Low },
            Part { child: high, bounds: *bounds, axis, half: Half::High },
        ];
        parts[0].bounds.high[axis] -= f64::from(node.cuts[0]);
        parts[1].bounds.low[axis] += f64::from(node.cuts[1]);
        self.count.operations += 2;
        parts
    }

    /// A child of the second tree and its enclosing box, if it overlaps `box_a` as its father
    /// does.
    fn cut_b(
        &mut self,
        node: &Node,
        half: Half,
        box_a: &Bounds,
        box_b: &Bounds,
    ) -> Option<(Child, Bounds)> {
        let [low, high] = node.children();
        let (child, offset) = match half {
            Half::Low => (low, -f64::from(node.cuts[0])),
            Half::High => (high, f64::from(node.cuts[1])),
        };
        if child == Child::Empty {
            return None;
        }
        let (bounds, apart) = cut(box_b, self.axes[node.axis()] * offset, box_a);
        self.count.alignments += 1;
        self.count.volume_tests += 1;
        self.count.operations += 6;
        self.count.comparisons += 3;
        (!apart).then_some((child, bounds))
    }

    fn leaves(&mut self, a: u32, b: u32) -> bool {
        self.count.triangle_tests += 1;
        if self.surfaces.touch(a, b) {
            self.found.push((a, b));
        }
        !self.all && !self.found.is_empty()
    }
}

#[derive(Clone, Copy)]
struct Part {
    child: Child,
    bounds: Bounds,
    axis: usize,
    half: Half,
}

/// Moves one side of a tumbled box by `step`, inwards, and with it three sides of the box around
/// it: high ones go down by negative components, low ones up by positive ones. Returns whether one
/// of the three has passed the other box.
///
/// All three are always compared: leaving early would cost a branch that is hard to foresee.
fn cut(bounds: &Bounds, step: DVec3, other: &Bounds) -> (Bounds, bool) {
    let mut child = *bounds;
    let mut apart = false;
    for axis in 0..3 {
        if step[axis] < 0.0 {
            child.high[axis] += step[axis];
            apart |= child.high[axis] < other.low[axis];
        } else {
            child.low[axis] += step[axis];
            apart |= child.low[axis] > other.high[axis];
        }
    }
    (child, apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Map;
    use glam::{DMat3, DQuat};

    /// Zachmann's "three values per child": of a tumbled box that is cut, the box around it.
    #[test]
    fn a_cut_changes_three_sides_and_gives_the_box_around_the_rest() {
        let mut state = 7u64;
        let mut next = || jostle_dice::part(&mut state);
        for case in 0..2000 {
            let turn = DQuat::from_xyzw(next() - 0.5, next() - 0.5, next() - 0.5, next() + 0.01);
            let turn = DMat3::from_quat(turn.normalize());
            let rows = [turn.row(0), turn.row(1), turn.row(2)];
            let map = Map { rows, shift: DVec3::new(next(), next(), next()) };
            let low = DVec3::new(next(), next(), next()) * -1.0;
            let whole = Bounds { low, high: low + DVec3::new(next(), next(), next()) };
            let axis = case % 3;
            let offset = next() * whole.extent()[axis];
            let mut rest = whole;
            let step = if case % 2 == 0 {
                rest.high[axis] -= offset;
                turn.col(axis) * -offset
            } else {
                rest.low[axis] += offset;
                turn.col(axis) * offset
            };
            let around = map.enclose(&whole);
            let (child, _) = cut(&around, step, &Bounds::EMPTY);
            let changed = |x: DVec3, y: DVec3| (0..3).filter(|&i| x[i] != y[i]).count();
            let three = changed(child.low, around.low) + changed(child.high, around.high);
            assert_eq!(three, 3, "case {case}");
            let exact = map.enclose(&rest);
            let off = (child.low - exact.low).abs().max((child.high - exact.high).abs());
            assert!(off.max_element() < 1e-14, "case {case}: {child:?} instead of {exact:?}");
        }
    }
}
