//! What split rules and leaf sizes do to trees and questions (Ohlenburg 2003, 3.2.4 and 3.3.2,
//! tables 3.2 to 3.6, figure 3.8; row O4).
//!
//! Two copies of an object are asked about in close proximity: at random orientations, moved
//! towards each other until they nearly touch or just do. The paper lets ten of them bounce about
//! in a box. Trees are 18-DOPs, with the paper's re-alignment by boundaries and with Zachmann's by
//! sums.

use super::Splitting;
use crate::bench::{Random, Stopwatch};
use crate::dop::{BoundaryWay, DopTree, DopTrees, NormalSet, volume};
use crate::traverse::ByTree;
use crate::{Contender, Count};
use glam::{DQuat, DVec3};
use jostle_geom::limits::TRANSLATION_MAX;
use jostle_geom::{Mesh, Model, Pair, Pose, Quality};
use std::time::Duration;

/// What one splitting did.
#[derive(Clone, Debug)]
pub struct SplitRow {
    /// The rule and the largest leaf.
    pub splitting: Splitting,
    /// From the root to the deepest leaf.
    pub height: u32,
    /// Leaves included.
    pub nodes: usize,
    /// Of one tree, without boundaries.
    pub bytes: usize,
    /// Of one tree, with boundaries.
    pub bytes_boundary: usize,
    /// To build one tree, without boundaries.
    pub build: Duration,
    /// To compute its boundaries.
    pub boundaries: Duration,
    /// A question, in the mean, re-aligned by boundaries.
    pub by_boundary: Duration,
    /// A question, in the mean, re-aligned by sums.
    pub by_sums: Duration,
    /// All questions, re-aligned by sums.
    pub count: Count,
    /// For each level, the volume of all nodes on it, and of leaves above it, as a part of the
    /// root's (figure 3.8).
    pub levels: Vec<f64>,
}

/// Why a row cannot be trusted: the only thing that can go wrong, and that never may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitError {
    /// Which question got another answer than the default hierarchy gives.
    pub question: usize,
}

impl std::fmt::Display for SplitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "question {} got another answer than the default hierarchy gives", self.question)
    }
}

impl std::error::Error for SplitError {}

/// Two copies of a mesh in close proximity, and the right answers.
#[derive(Clone, Debug)]
pub struct Proximity<'a> {
    mesh: &'a Mesh,
    questions: Vec<(Pose, Pose, bool)>,
}

impl<'a> Proximity<'a> {
    /// So many questions. Half of them touch, up to what the object allows.
    #[must_use]
    pub fn new(mesh: &'a Mesh, questions: usize, seed: u64) -> Proximity<'a> {
        let model = Model::build(mesh.clone(), Quality::Default);
        // Further out than this no pose is.
        let far = (4.0 * crate::traverse::reach(mesh)).min(TRANSLATION_MAX / 2.0);
        let mut random = Random::new(seed);
        let mut made = Vec::with_capacity(questions);
        while made.len() < questions {
            let pose = |rotation: DQuat, at: DVec3| {
                Pose::new(rotation, at).expect("a rotation, and no further than a mesh can be")
            };
            let first = pose(random.rotation(), DVec3::ZERO);
            let (turn, away) = (random.rotation(), random.direction());
            let at = |distance: f64| pose(turn, away * distance);
            let touches = |p: &Pose| Pair::new(&model, &first, &model, p).touches();
            let (mut near, mut apart) = (0.0, far);
            for _ in 0..12 {
                let middle = (near + apart) * 0.5;
                *if touches(&at(middle)) { &mut near } else { &mut apart } = middle;
            }
            // One to four per cent beyond the contact or before it.
            let off = 0.01 * f64::from(1 + (made.len() as u32 / 2) % 4);
            let second = at(near * if made.len() % 2 == 0 { 1.0 - off } else { 1.0 + off });
            made.push((first, second, touches(&second)));
        }
        Proximity { mesh, questions: made }
    }

    /// How many of the questions are about copies that touch.
    #[must_use]
    pub fn touching(&self) -> usize {
        self.questions.iter().filter(|(.., touch)| *touch).count()
    }

    /// How many questions there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.questions.len()
    }

    /// Builds the trees of one splitting and asks all questions. `now` reads a clock.
    ///
    /// # Errors
    /// An answer that is not the right one.
    pub fn measure(&self, splitting: Splitting, now: Stopwatch) -> Result<SplitRow, SplitError> {
        let normals = NormalSet::klosowski();
        let begin = now();
        let tree = DopTree::build(self.mesh, &normals, splitting);
        let build = now().saturating_sub(begin);
        let begin = now();
        let with_boundary = tree.clone().with_boundary(self.mesh, BoundaryWay::Own);
        let boundaries = now().saturating_sub(begin);
        let bytes_boundary = with_boundary.bytes();
        let (levels, shape) = (levels(&tree), tree.shape());
        let (height, nodes, bytes) = (shape.height(), shape.node_count(), tree.bytes());
        let ask = |second: DopTree| {
            let trees = DopTrees::of([tree.clone(), second], normals.clone());
            let mut contender = ByTree::new(self.mesh, self.mesh, trees);
            let (mut time, mut sum) = (Duration::ZERO, Count::default());
            for (question, (first, second, touch)) in self.questions.iter().enumerate() {
                let begin = now();
                let (found, count) = contender.touches(first, second);
                time += now().saturating_sub(begin);
                sum += count;
                if found != *touch {
                    return Err(SplitError { question });
                }
            }
            Ok((time / self.questions.len().max(1) as u32, sum))
        };
        let (by_boundary, _) = ask(with_boundary)?;
        let (by_sums, count) = ask(tree.clone())?;
        Ok(SplitRow {
            splitting,
            height,
            nodes,
            bytes,
            bytes_boundary,
            build,
            boundaries,
            by_boundary,
            by_sums,
            count,
            levels,
        })
    }
}

fn levels(tree: &DopTree) -> Vec<f64> {
    let of_node = tree.shape().levels();
    let height = tree.shape().height() as usize;
    let mut sums = vec![0.0; height + 1];
    for (node, &level) in (0..).zip(&of_node) {
        let offsets: Vec<f64> = tree.offsets(node).iter().map(|&d| f64::from(d)).collect();
        let size = volume(tree.normals(), &offsets);
        let leaf = matches!(tree.shape().node(node), crate::traverse::Node::Leaf(_));
        let end = if leaf { height } else { level as usize };
        sums[level as usize..=end].iter_mut().for_each(|sum| *sum += size);
    }
    let root = sums.first().copied().unwrap_or(1.0);
    sums.iter().map(|sum| sum / root).collect()
}
