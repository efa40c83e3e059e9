//! What the criteria of splitting are worth: Zachmann's ranking (2000, 3.5.7), in counts.

use super::{BoxTree, BoxTreeSettings, Criterion, RealignedBoxTrees};
use crate::{Contender, Count, NearContact};
use jostle_geom::{Mesh, Pose};

/// What a triangle test costs, in box tests: for a single figure of cost. Zachmann's T_p and T_b
/// (3.1) are not stated; here an exact test takes about ten times a box test.
const BOX_TESTS_PER_TRIANGLE: f64 = 10.0;

/// What a criterion gave for a solid.
#[derive(Clone, Debug, PartialEq)]
pub struct CriterionRow {
    /// The solid.
    pub solid: String,
    /// Its triangles.
    pub triangles: usize,
    /// How the tree was built.
    pub settings: BoxTreeSettings,
    /// Inner nodes of the tree.
    pub nodes: usize,
    /// Bytes of the tree.
    pub bytes: usize,
    /// Most nodes from the root to a leaf.
    pub depth: usize,
    /// The share of the root's volume that was split off as empty.
    pub empty_volume: f64,
    /// How many questions were asked.
    pub questions: usize,
    /// What they took, all together.
    pub count: Count,
}

impl CriterionRow {
    /// Box tests and triangle tests of a question, as one number of box tests.
    #[must_use]
    pub fn cost(&self) -> f64 {
        let tests = self.count.volume_tests as f64;
        let triangles = self.count.triangle_tests as f64 * BOX_TESTS_PER_TRIANGLE;
        (tests + triangles) / self.questions.max(1) as f64
    }
}

/// Asks two copies of a solid near contact, with a tree for each of `settings`.
#[must_use]
pub fn boxtree_criteria(
    solid: &str,
    mesh: &Mesh,
    approach: &NearContact,
    settings: &[BoxTreeSettings],
) -> Vec<CriterionRow> {
    let poses = approach.poses(mesh);
    let row = |settings: &BoxTreeSettings| {
        let tree = BoxTree::new(mesh, settings);
        let mut trees = RealignedBoxTrees::new(mesh, mesh, settings);
        let mut count = Count::default();
        for pose in &poses {
            count += trees.touches(&Pose::IDENTITY, pose).1;
        }
        CriterionRow {
            solid: solid.to_owned(),
            triangles: mesh.triangle_count(),
            settings: *settings,
            nodes: tree.node_count(),
            bytes: tree.bytes(),
            depth: tree.depth(),
            empty_volume: tree.empty_volume(),
            questions: poses.len(),
            count,
        }
    };
    settings.iter().map(row).collect()
}

impl Criterion {
    /// Zachmann's rank: mean time relative to criterion 2 over 19 objects (figure 3.28).
    #[must_use]
    pub fn zachmanns_rank(self) -> f64 {
        match self.number() {
            1 => 0.89,
            2 => 1.00,
            3 => 0.99,
            4 => 1.91,
            5 => 3.37,
            6 => 1.62,
            7 => 2.51,
            8 | 9 => 2.54,
            10 => 2.50,
            11 => 1.09,
            _ => 198.7,
        }
    }
}
