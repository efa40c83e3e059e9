//! The link tree (Zachmann 2000, 3.5.11): pairs of nodes that overlapped at the last question are
//! where the next one begins.
//!
//! A link is a pair of nodes, one of each tree, that overlapped when it was last looked at. The
//! pair above a link is linked too, so links are a tree of their own; its leaves, the bottom links,
//! are where the last search ended. A question goes to the bottom links without testing anything
//! on the way, tests those, goes on down where they overlap, and on the way back:
//!
//! * If a pair below overlaps, this one does; that costs nothing. Pairs below that had no link
//!   are tested and followed down.
//! * If none does, this pair is tested itself. Its volume is then the union of its children's
//!   aligned volumes, if these are known: cheaper than aligning, and tighter. If it overlaps,
//!   pairs below that had no link are tested; if not, its link goes.
//!
//! Zachmann walks from each bottom link upwards and defers what is not known yet. Coming back from
//! below in order does the same without a list of deferred links: when a link's turn comes, all
//! below it is known.

use super::dops::{Alignment, Dop, DopTree};
use crate::frames::Frames;
use crate::traverse::Node;
use crate::{Contender, Count, Surfaces};
use jostle_geom::{FacePair, Mesh, Pose};

/// What a walk keeps of aligned volumes while it answers one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing: a node is aligned for each pair that it is in, as in Zachmann's plain traversal.
    Nothing,
    /// Every node is aligned at most once.
    Aligned,
}

/// Two meshes in 18-DOP trees, walked from the top each time: what links are compared with.
#[derive(Clone, Debug)]
pub struct DopPairs<'a> {
    base: Base<'a>,
    keep: Keep,
}

/// Two meshes in 18-DOP trees with links between them.
#[derive(Clone, Debug)]
pub struct LinkedDops<'a> {
    base: Base<'a>,
    links: Vec<Link>,
    /// Links that can be used again.
    free: Vec<u32>,
    root: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    nodes: [u32; 2],
    /// Links of the pairs below, in the order of [`Base::below`].
    below: [u32; 4],
}

const NOBODY: u32 = u32::MAX;

/// How a walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Apart,
    Overlap,
    /// A pair was found, and one is enough.
    Stop,
}

/// Trees, volumes of this question, and what it found.
#[derive(Clone, Debug)]
struct Base<'a> {
    trees: [DopTree; 2],
    surfaces: Surfaces<'a>,
    alignment: Option<Alignment>,
    /// Aligned volumes of the second tree, and the question that they are of.
    aligned: Vec<(u64, Dop)>,
    question: u64,
    all: bool,
    found: Vec<(u32, u32)>,
    count: Count,
}

/// Pairs below a pair: at most four.
struct Below {
    pairs: [[u32; 2]; 4],
    count: usize,
}

impl<'a> Base<'a> {
    fn new(a: &'a Mesh, b: &'a Mesh) -> Base<'a> {
        let trees = [DopTree::new(a), DopTree::new(b)];
        let aligned = vec![(0, Dop::EMPTY); trees[1].dops.len()];
        Base {
            trees,
            surfaces: Surfaces::new(a, b),
            alignment: None,
            aligned,
            question: 0,
            all: false,
            found: Vec::new(),
            count: Count::default(),
        }
    }

    /// False if there is nothing to ask.
    fn begin(&mut self, pose_a: &Pose, pose_b: &Pose, all: bool) -> bool {
        self.surfaces.pose(pose_a, pose_b);
        let reach = self.trees.each_ref().map(DopTree::reach);
        self.alignment = Some(Alignment::new(&Frames::new(reach, pose_a, pose_b)));
        self.question += 1;
        self.all = all;
        self.found.clear();
        self.count = Count::default();
        !self.trees.iter().any(DopTree::is_empty)
    }

    fn align(&mut self, b: u32) -> Dop {
        let alignment = self.alignment.as_ref().expect("a question has begun");
        alignment.align(&self.trees[1].dops[b as usize], &mut self.count)
    }

    /// The aligned volume of a node: kept, or the union of its children's if both are, or aligned.
    fn kept(&mut self, b: u32) -> Dop {
        let (of, dop) = self.aligned[b as usize];
        if of == self.question {
            return dop;
        }
        let children = match self.trees[1].shape.node(b) {
            Node::Inner(children) => Some(children.map(|child| self.aligned[child as usize])),
            _ => None,
        };
        let dop = match children {
            Some([low, high]) if low.0 == self.question && high.0 == self.question => {
                low.1.joined(&high.1)
            }
            _ => self.align(b),
        };
        self.aligned[b as usize] = (self.question, dop);
        dop
    }

    fn overlap(&mut self, [a, b]: [u32; 2]) -> bool {
        let aligned = self.kept(b);
        self.meets(a, &aligned)
    }

    fn meets(&mut self, a: u32, aligned: &Dop) -> bool {
        let slack = self.alignment.as_ref().map_or(0.0, |alignment| alignment.slack);
        self.trees[0].dops[a as usize].meets(aligned, slack, &mut self.count)
    }

    fn below(&self, [a, b]: [u32; 2]) -> Below {
        let [below_a, below_b] = [(0, a), (1, b)].map(|(side, node): (usize, u32)| {
            match self.trees[side].shape.node(node) {
                Node::Inner([low, high]) => ([low, high], 2),
                _ => ([node; 2], 1),
            }
        });
        let mut below = Below { pairs: [[a, b]; 4], count: 0 };
        if below_a.1 == 2 || below_b.1 == 2 {
            for &y in &below_b.0[..below_b.1] {
                for &x in &below_a.0[..below_a.1] {
                    below.pairs[below.count] = [x, y];
                    below.count += 1;
                }
            }
        }
        below
    }

    /// Tests the triangles of two leaves.
    fn leaves(&mut self, [a, b]: [u32; 2]) -> Outcome {
        let (Node::Leaf(some_a), Node::Leaf(some_b)) =
            (self.trees[0].shape.node(a), self.trees[1].shape.node(b))
        else {
            return Outcome::Apart;
        };
        for &x in some_a {
            for &y in some_b {
                self.count.triangle_tests += 1;
                if self.surfaces.touch(x, y) {
                    self.found.push((x, y));
                    if !self.all {
                        return Outcome::Stop;
                    }
                }
            }
        }
        Outcome::Overlap
    }

    fn bytes(&self) -> usize {
        let trees: usize = self.trees.iter().map(DopTree::bytes).sum();
        trees + self.aligned.capacity() * size_of::<(u64, Dop)>()
    }
}

impl<'a> DopPairs<'a> {
    /// Builds both trees.
    #[must_use]
    pub fn new(a: &'a Mesh, b: &'a Mesh, keep: Keep) -> DopPairs<'a> {
        DopPairs { base: Base::new(a, b), keep }
    }

    fn ask(&mut self, pose_a: &Pose, pose_b: &Pose, all: bool) {
        if !self.base.begin(pose_a, pose_b, all) {
            return;
        }
        let mut waiting = Vec::new();
        if self.base.overlap([0, 0]) {
            waiting.push([0, 0]);
        }
        while let Some(pair) = waiting.pop() {
            self.base.count.visits += 1;
            let below = self.base.below(pair);
            if below.count == 0 && self.base.leaves(pair) == Outcome::Stop {
                return;
            }
            let mut last = (NOBODY, Dop::EMPTY);
            for &[a, b] in &below.pairs[..below.count] {
                if last.0 != b {
                    last = match self.keep {
                        Keep::Nothing => (b, self.base.align(b)),
                        Keep::Aligned => (b, self.base.kept(b)),
                    };
                }
                if self.base.meets(a, &last.1) {
                    waiting.push([a, b]);
                }
            }
        }
    }
}

impl<'a> LinkedDops<'a> {
    /// Builds both trees. There are no links yet.
    #[must_use]
    pub fn new(a: &'a Mesh, b: &'a Mesh) -> LinkedDops<'a> {
        let base = Base::new(a, b);
        LinkedDops { base, links: Vec::new(), free: Vec::new(), root: NOBODY }
    }

    /// How many links there are.
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.links.len() - self.free.len()
    }

    fn ask(&mut self, pose_a: &Pose, pose_b: &Pose, all: bool) {
        if !self.base.begin(pose_a, pose_b, all) {
            return;
        }
        if self.root == NOBODY {
            (self.root, _) = self.explore([0, 0]);
        } else if self.revisit(self.root) == Outcome::Apart {
            self.root = NOBODY;
        }
    }

    /// A pair without a link: tested, linked if it overlaps, and followed down. Gives the link.
    fn explore(&mut self, nodes: [u32; 2]) -> (u32, Outcome) {
        self.base.count.visits += 1;
        if !self.base.overlap(nodes) {
            return (NOBODY, Outcome::Apart);
        }
        let link = self.new_link(nodes);
        (link, self.go_down(link))
    }

    /// Below a link that overlaps and has no links below.
    fn go_down(&mut self, link: u32) -> Outcome {
        let nodes = self.links[link as usize].nodes;
        let below = self.base.below(nodes);
        if below.count == 0 {
            return self.base.leaves(nodes);
        }
        for (i, &pair) in below.pairs[..below.count].iter().enumerate() {
            let (child, outcome) = self.explore(pair);
            self.links[link as usize].below[i] = child;
            if outcome == Outcome::Stop {
                return Outcome::Stop;
            }
        }
        Outcome::Overlap
    }

    /// A link of an earlier question. If its pair is apart now, it goes, with all below.
    fn revisit(&mut self, link: u32) -> Outcome {
        self.base.count.visits += 1;
        let Link { nodes, below: linked } = self.links[link as usize];
        if linked == [NOBODY; 4] {
            if self.base.overlap(nodes) {
                return self.go_down(link);
            }
            self.free.push(link);
            return Outcome::Apart;
        }
        let mut overlap = false;
        for (i, child) in linked.into_iter().enumerate().filter(|&(_, child)| child != NOBODY) {
            match self.revisit(child) {
                Outcome::Stop => return Outcome::Stop,
                Outcome::Overlap => overlap = true,
                Outcome::Apart => self.links[link as usize].below[i] = NOBODY,
            }
        }
        if !overlap && !self.base.overlap(nodes) {
            self.free.push(link);
            return Outcome::Apart;
        }
        let below = self.base.below(nodes);
        for i in (0..below.count).filter(|&i| linked[i] == NOBODY) {
            let (child, outcome) = self.explore(below.pairs[i]);
            self.links[link as usize].below[i] = child;
            if outcome == Outcome::Stop {
                return Outcome::Stop;
            }
        }
        Outcome::Overlap
    }

    fn new_link(&mut self, nodes: [u32; 2]) -> u32 {
        let link = Link { nodes, below: [NOBODY; 4] };
        match self.free.pop() {
            Some(free) => {
                self.links[free as usize] = link;
                free
            }
            None => {
                self.links.push(link);
                self.links.len() as u32 - 1
            }
        }
    }
}

impl Contender for DopPairs<'_> {
    fn name(&self) -> String {
        match self.keep {
            Keep::Nothing => "18-DOPs from the top".to_owned(),
            Keep::Aligned => "18-DOPs from the top, aligned once".to_owned(),
        }
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        self.ask(pose_a, pose_b, false);
        (!self.base.found.is_empty(), self.base.count)
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        self.ask(pose_a, pose_b, true);
        (self.base.surfaces.face_pairs(&self.base.found), self.base.count)
    }

    fn bytes(&self) -> usize {
        self.base.bytes()
    }
}

impl Contender for LinkedDops<'_> {
    fn name(&self) -> String {
        "18-DOPs with links".to_owned()
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        self.ask(pose_a, pose_b, false);
        (!self.base.found.is_empty(), self.base.count)
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        self.ask(pose_a, pose_b, true);
        (self.base.surfaces.face_pairs(&self.base.found), self.base.count)
    }

    fn bytes(&self) -> usize {
        let links = self.links.capacity() * size_of::<Link>();
        self.base.bytes() + links + self.free.capacity() * size_of::<u32>()
    }
}
