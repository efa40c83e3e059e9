//! Storey's narrow phase (2006, 4.3.2.3; row S22): trees of planes in the frame of each mesh,
//! walked to a depth and up to a number of contacts that follow from the time of the frames before.
//!
//! At any depth the answer is "apart" or proved contacts; where the walk is cut off it is only near
//! contact, and a caller that needs yes or no takes that as yes ([`crate::Verdict::MayTouch`]): the
//! thesis' false positives. A triangle that crosses a plane is on both sides, so nothing is cut and
//! the exact test at the end is that of all methods.

mod build;
mod detail;

use crate::traverse::{Relative, reach};
use crate::tree::Stamps;
use crate::{Contender, Count, Surfaces, Verdict};
use build::Tree;
pub use detail::Detail;
use glam::DVec3;
use jostle_geom::{FacePair, Mesh, Pose};

/// Two meshes in trees of planes.
#[derive(Clone, Debug)]
pub struct BspTrees<'a> {
    trees: [Tree; 2],
    surfaces: Surfaces<'a>,
    reach: [f64; 2],
    /// Boxes of the second tree in the frame of the first, each brought over once per question.
    turned: Stamps<[DVec3; 2]>,
}

/// What a walk found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BspContacts {
    /// Triangles that touch, exactly, in no particular order; some more than once.
    pub touching: Vec<(u32, u32)>,
    /// Where the walk was cut off: the middles of boxes that overlap, in the frame of the first
    /// mesh.
    pub near: Vec<DVec3>,
}

impl BspContacts {
    /// Touching if anything does exactly, undecided if the walk was cut off somewhere.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match (self.touching.is_empty(), self.near.is_empty()) {
            (false, _) => Verdict::Touch,
            (true, false) => Verdict::MayTouch,
            (true, true) => Verdict::Apart,
        }
    }
}

impl<'a> BspTrees<'a> {
    /// Builds both trees.
    #[must_use]
    pub fn new(a: &'a Mesh, b: &'a Mesh) -> BspTrees<'a> {
        let trees = [Tree::build(a), Tree::build(b)];
        let turned = Stamps::new(trees[1].nodes.len());
        let surfaces = Surfaces::new(a, b);
        BspTrees { trees, surfaces, reach: [reach(a), reach(b)], turned }
    }

    /// From the root to the deepest leaf of both trees together: a walk of this depth is not cut
    /// off.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.trees.iter().map(|tree| tree.depth).sum()
    }

    /// Walks both trees in the detail given.
    pub fn contacts(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        detail: Detail,
    ) -> (BspContacts, Count) {
        self.surfaces.pose(pose_a, pose_b);
        self.turned.next_question();
        let mut walk = Walk {
            relative: Relative::new(self.reach, pose_a, pose_b),
            detail,
            trees: &self.trees,
            surfaces: &mut self.surfaces,
            turned: &mut self.turned,
            found: BspContacts::default(),
            count: Count::default(),
        };
        if walk.trees.iter().all(|tree| !tree.nodes.is_empty()) {
            walk.visit([0, 0], 0);
        }
        (walk.found, walk.count)
    }
}

struct Walk<'w, 'a> {
    relative: Relative,
    detail: Detail,
    trees: &'w [Tree; 2],
    surfaces: &'w mut Surfaces<'a>,
    turned: &'w mut Stamps<[DVec3; 2]>,
    found: BspContacts,
    count: Count,
}

impl Walk<'_, '_> {
    /// Returns false if enough contacts are found.
    fn visit(&mut self, nodes: [u32; 2], depth: u32) -> bool {
        self.count.visits += 1;
        let [a, b] = [0, 1].map(|side| &self.trees[side].nodes[nodes[side] as usize]);
        let [centre, half] = self.turned_box(nodes[1]);
        self.count.volume_tests += 1;
        let slack = DVec3::splat(self.relative.slack);
        let low = (centre - half - slack).max(a.low);
        let high = (centre + half + slack).min(a.high);
        if low.cmpgt(high).any() {
            return true;
        }
        let leaves = a.children.is_none() && b.children.is_none();
        if !leaves && self.detail.depth.is_some_and(|most| depth >= most) {
            self.found.near.push((low + high) * 0.5);
            return !self.is_enough();
        }
        match (a.children, b.children) {
            (None, None) => self.test(nodes),
            (Some(_), Some(_))
                if (b.high - b.low).max_element() > (a.high - a.low).max_element() =>
            {
                self.open_second(nodes, depth)
            }
            (Some(_), _) => self.open_first(nodes, depth),
            (None, Some(_)) => self.open_second(nodes, depth),
        }
    }

    fn is_enough(&self) -> bool {
        let found = self.found.touching.len() + self.found.near.len();
        self.detail.contacts.is_some_and(|most| found >= most.get())
    }

    /// The sides of the first node's plane on which the second node's box has points.
    fn open_first(&mut self, [a, b]: [u32; 2], depth: u32) -> bool {
        let node = &self.trees[0].nodes[a as usize];
        let Some([front, back]) = node.children else { return true };
        let other = &self.trees[1].nodes[b as usize];
        let middle = self.relative.place((other.low + other.high) * 0.5);
        let along = self.relative.turn_back(node.normal).abs();
        let radius = along.dot((other.high - other.low) * 0.5);
        let distance = node.normal.dot(middle) - node.offset;
        // Rounding of this test is within what the slack has for a method.
        let reach = radius + self.relative.slack;
        let front = distance >= -reach && !self.visit([front, b], depth + 1);
        let enough = front || (distance <= reach && !self.visit([back, b], depth + 1));
        !enough
    }

    fn open_second(&mut self, [a, b]: [u32; 2], depth: u32) -> bool {
        let children = self.trees[1].nodes[b as usize].children;
        children.into_iter().flatten().all(|child| self.visit([a, child], depth + 1))
    }

    fn test(&mut self, nodes: [u32; 2]) -> bool {
        let [of_a, of_b] = [0, 1].map(|side| self.trees[side].triangles_of(nodes[side]));
        for &a in of_a {
            for &b in of_b {
                self.count.triangle_tests += 1;
                if self.surfaces.touch(a, b) {
                    self.found.touching.push((a, b));
                    if self.is_enough() {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Middle and half sides of a box of the second tree, along the axes of the first mesh.
    fn turned_box(&mut self, node: u32) -> [DVec3; 2] {
        let (relative, tree, count) = (&self.relative, &self.trees[1], &mut self.count);
        self.turned.get_or(node, || {
            count.alignments += 1;
            let node = &tree.nodes[node as usize];
            let half = (node.high - node.low) * 0.5;
            let sides = relative.rows.map(|row| row.abs().dot(half));
            [relative.place((node.low + node.high) * 0.5), DVec3::from_array(sides)]
        })
    }
}

impl Contender for BspTrees<'_> {
    fn name(&self) -> String {
        "BSP trees".to_owned()
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        let (found, count) = self.contacts(pose_a, pose_b, Detail::FIRST_CONTACT);
        (found.verdict() == Verdict::Touch, count)
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        let (found, count) = self.contacts(pose_a, pose_b, Detail::ALL);
        (self.surfaces.face_pairs(&found.touching), count)
    }

    fn bytes(&self) -> usize {
        self.trees.iter().map(Tree::bytes).sum::<usize>() + self.turned.bytes()
    }
}
