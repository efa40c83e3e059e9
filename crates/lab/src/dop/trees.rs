//! Two DOP-trees as a [`Method`], with every re-alignment of the papers (rows O2, Z7, Z8).
//!
//! The common frame is that of the first mesh, so its DOPs are taken as they are if their
//! directions are the common ones. DOPs of the other tree are re-aligned when they are first
//! visited, once per question, and kept as `f32` that were rounded with room to spare, so that two
//! of them are compared without any tolerance.

use super::coded::{self, Coded, CodedSums};
use super::{BoundaryWay, DopTree, GenericDop, NormalSet, Row};
use crate::Count;
use crate::traverse::{Method, Node, ROUNDING, Relative, Side};
use crate::tree::{Freshness, Splitting};
use glam::DVec3;
use jostle_geom::Mesh;

/// How DOPs are brought into the frame of the other mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Realignment {
    /// Each offset is a sum of three others (Zachmann): 6k operations.
    Affine,
    /// The same for k = 6, 8 and 10, with a function for every correspondence.
    Coded,
    /// The vertices of its boundary are turned and enclosed anew (Klosowski, Ohlenburg).
    Boundary(BoundaryWay),
}

/// DOP-trees over two meshes.
#[derive(Clone, Debug)]
pub struct DopTrees {
    trees: [DopTree; 2],
    common: NormalSet,
    sides: [Aligning; 2],
    name: String,
}

/// How the nodes of one tree come into the common frame.
#[derive(Clone, Debug)]
struct Aligning {
    way: Way,
    /// k offsets for each node, valid for those that are fresh.
    aligned: Vec<f32>,
    fresh: Freshness,
}

#[derive(Clone, Debug)]
enum Way {
    AsTheyAre,
    Affine(GenericDop, Vec<Sum>),
    Coded(Coded),
    CodedSums(CodedSums, GenericDop),
    Boundary(Turn),
}

/// Offset = Σ c·d\[plane\] + t.
#[derive(Clone, Copy, Debug)]
struct Sum {
    planes: [usize; 3],
    c: [f64; 3],
    t: f64,
}

/// For boundaries: the common directions in the frame of the tree, and what is added to each.
#[derive(Clone, Debug, Default)]
struct Turn {
    directions: Vec<DVec3>,
    constants: Vec<f64>,
}

impl DopTrees {
    /// Builds both trees with the same directions. [`Realignment::Coded`] is for k = 6 along the
    /// axes and for the best 8 and 10; with other directions it is [`Realignment::Affine`].
    #[must_use]
    pub fn new(
        a: &Mesh,
        b: &Mesh,
        normals: &NormalSet,
        splitting: Splitting,
        realignment: Realignment,
    ) -> DopTrees {
        let first = DopTree::build(a, normals, splitting);
        let mut second = DopTree::build(b, normals, splitting);
        if let Realignment::Boundary(way) = realignment {
            second = second.with_boundary(b, way);
        }
        let mut trees = DopTrees::of([first, second], normals.clone());
        let coded = realignment == Realignment::Coded && trees.sides[1].way.be_coded(normals);
        let way = match realignment {
            Realignment::Coded if coded => " coded",
            Realignment::Affine | Realignment::Coded => "",
            Realignment::Boundary(BoundaryWay::Own) => " boundary",
            Realignment::Boundary(BoundaryWay::FromAbove) => " boundary from above",
        };
        trees.name = format!("{}-DOP{way} {splitting}", normals.k());
        trees
    }

    /// Of trees that are there, each with directions of its own, compared along the common ones. A
    /// tree with boundaries is re-aligned by these, others by sums; the first tree is taken as it
    /// is if its directions are the common ones.
    #[must_use]
    pub fn of(trees: [DopTree; 2], common: NormalSet) -> DopTrees {
        let k = common.k();
        let aligning = |tree: &DopTree, as_it_is: bool| {
            let nodes = tree.shape.node_count();
            let way = if as_it_is {
                Way::AsTheyAre
            } else if tree.boundary.is_some() {
                Way::Boundary(Turn::default())
            } else {
                Way::Affine(GenericDop::new(&tree.normals), Vec::new())
            };
            let numbers = if as_it_is { 0 } else { nodes * k };
            let fresh = Freshness::by_counter(if as_it_is { 0 } else { nodes });
            Aligning { way, aligned: vec![0.0; numbers], fresh }
        };
        let as_it_is = trees[0].normals == common;
        let sides = [aligning(&trees[0], as_it_is), aligning(&trees[1], false)];
        let [k_a, k_b] = [0, 1].map(|side: usize| trees[side].normals.k());
        let name = format!("{k_a}-DOP and {k_b}-DOP along {k}");
        DopTrees { trees, common, sides, name }
    }

    /// Each re-aligned DOP keeps the placement that it was re-aligned for, and is used again while
    /// that is the same (Ohlenburg 2003, 3.2.5, for objects that do not move in every frame; row
    /// O21).
    #[must_use]
    pub fn with_placements(mut self) -> DopTrees {
        for (side, tree) in self.sides.iter_mut().zip(&self.trees) {
            if !matches!(side.way, Way::AsTheyAre) {
                side.fresh = Freshness::by_placement(tree.shape.node_count());
            }
        }
        self.name.push_str(" by placement");
        self
    }

    /// The two trees.
    #[must_use]
    pub fn trees(&self) -> &[DopTree; 2] {
        &self.trees
    }

    /// The offsets of all nodes of the second tree along the common directions, as a question with
    /// this placement would have them.
    pub fn aligned(&mut self, relative: &Relative) -> Vec<Vec<f32>> {
        let mut count = Count::default();
        self.begin(relative, &mut count);
        let nodes = 0..self.trees[1].shape.node_count() as u32;
        nodes
            .map(|node| {
                self.volume(Side::B, node, None, &mut count);
                self.offsets(Side::B, node).to_vec()
            })
            .collect()
    }

    fn offsets(&self, side: Side, node: u32) -> &[f32] {
        let Aligning { way, aligned, .. } = &self.sides[side as usize];
        let k = self.common.k();
        match way {
            Way::AsTheyAre => self.trees[side as usize].offsets(node),
            _ => &aligned[node as usize * k..][..k],
        }
    }
}

/// What every constant is larger by than its exact value.
///
/// With v = 2⁻⁵³, L = [`Relative::length`] and C the sum of the coefficients: the direction in the
/// frame of the tree is rounded by 6v (6v·L for a point), the part of it that the sum does not make
/// is `left_over` (times L), the six operations are off by 8v·(1 + C)·L. Placement is in the slack.
/// Kept as `f32`, a number of at most (1 + C)·N, N = [`Relative::near`], is rounded by 2⁻²⁴ of that
/// or by half of the smallest `f32`. If a number exceeds `f32`, an upper bound becomes infinite, or
/// is below all numbers of the first tree; a difference of infinite numbers is not a number, and
/// compares as an overlap.
fn margin(relative: &Relative, left_over: f64, coefficients: f64) -> f64 {
    let wide = (6.0 + 8.0 * (1.0 + coefficients)) * ROUNDING + left_over;
    let narrow = (1.0 + coefficients) * 2f64.powi(-23);
    let smallest = f64::from(f32::from_bits(2));
    relative.slack + wide * relative.length + narrow * relative.near + smallest
}

impl Way {
    /// Functions for correspondences, if there are any for these directions.
    fn be_coded(&mut self, normals: &NormalSet) -> bool {
        if *normals == NormalSet::axes() {
            *self = Way::Coded(Coded::default());
        } else if let Way::Affine(generic, _) = self
            && coded::has_functions(generic)
        {
            *self = Way::CodedSums(CodedSums::default(), generic.clone());
        } else {
            return false;
        }
        true
    }
}

impl Aligning {
    fn begin(&mut self, relative: &Relative, common: &NormalSet) {
        self.fresh.next_question(relative);
        let directions = (0..common.k()).map(|i| common.normal(i));
        let local = |normal: DVec3| relative.turn_back(normal);
        let constant = |normal: DVec3| normal.dot(relative.shift);
        match &mut self.way {
            Way::AsTheyAre => {}
            Way::Affine(generic, sums) => {
                sums.clear();
                sums.extend(directions.map(|normal| {
                    let Row { planes, c, left_over } = generic.row(local(normal));
                    let more = margin(relative, left_over, c.iter().sum());
                    Sum { planes, c, t: constant(normal) + more }
                }));
            }
            Way::CodedSums(coded, generic) => {
                let half = common.half().iter().map(|&normal| generic.row(local(normal)));
                let rows: Vec<Row> = half.collect();
                coded.choose(&rows);
                for (i, normal) in directions.enumerate() {
                    let Row { c, left_over, .. } = rows[i % rows.len()];
                    coded.t[i] = constant(normal) + margin(relative, left_over, c.iter().sum());
                }
            }
            Way::Coded(coded) => {
                coded.octants = coded::octants(&relative.rows);
                coded.c = relative.rows.map(|row| row.abs().to_array());
                let normals: Vec<DVec3> = directions.collect();
                for (t, normal) in coded.t.iter_mut().zip(normals) {
                    // The sum makes the whole direction, of at most √3.
                    *t = constant(normal) + margin(relative, 0.0, 2.0);
                }
            }
            Way::Boundary(turn) => {
                turn.directions = common.half().iter().map(|&normal| local(normal)).collect();
                turn.constants = directions
                    .map(|normal| constant(normal) + margin(relative, 0.0, 8.0))
                    .collect();
            }
        }
    }

    fn align(&mut self, tree: &DopTree, node: u32, k: usize, count: &mut Count) {
        if matches!(self.way, Way::AsTheyAre) || !self.fresh.first(node) {
            return;
        }
        count.alignments += 1;
        let aligned = &mut self.aligned[node as usize * k..][..k];
        match &self.way {
            Way::AsTheyAre => {}
            Way::Affine(_, sums) => {
                count.operations += 6 * k as u64;
                let d = tree.offsets(node);
                for (aligned, Sum { planes: [i, j, l], c, t }) in aligned.iter_mut().zip(sums) {
                    let at = |plane: usize| f64::from(d[plane]);
                    let sum = (c[0] * at(*i) + c[1] * at(*j)) + (c[2] * at(*l) + t);
                    *aligned = sum as f32;
                }
            }
            Way::CodedSums(coded, _) => {
                count.operations += 6 * k as u64;
                coded.align(tree.offsets(node), aligned);
            }
            Way::Coded(coded) => {
                count.operations += 36;
                if let (Some(d), Some(aligned)) =
                    (tree.offsets(node).first_chunk(), aligned.first_chunk_mut())
                {
                    coded.align(d, aligned);
                }
            }
            Way::Boundary(turn) => enclose(turn, tree, node, aligned, count),
        }
    }
}

/// Around the vertices of the boundary, along each direction; without end if there are none.
fn enclose(turn: &Turn, tree: &DopTree, node: u32, aligned: &mut [f32], count: &mut Count) {
    let vertices = tree.boundary.as_ref().map_or(&[][..], |boundary| boundary.of(node));
    let half = turn.directions.len();
    // Three products and two sums for each vertex and direction, and a sum for each offset.
    count.operations += (5 * vertices.len() * half + 2 * half) as u64;
    for (i, direction) in turn.directions.iter().enumerate() {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for vertex in vertices {
            let along = direction.dot(vertex.as_dvec3());
            low = low.min(along);
            high = high.max(along);
        }
        if vertices.is_empty() {
            (low, high) = (high, low);
        }
        aligned[i] = (high + turn.constants[i]) as f32;
        aligned[i + half] = (turn.constants[i + half] - low) as f32;
    }
}

impl Method for DopTrees {
    /// The number of the node: its offsets are kept here.
    type Volume = u32;
    type Meeting = ();

    fn name(&self) -> String {
        self.name.clone()
    }

    fn bytes(&self) -> usize {
        let sides = self.sides.iter();
        let kept = sides.map(|side| size_of_val(&side.aligned[..]) + side.fresh.bytes());
        self.trees.iter().map(DopTree::bytes).sum::<usize>() + kept.sum::<usize>()
    }

    /// The correspondence, once per question; [`Count::operations`] does not include it.
    fn begin(&mut self, relative: &Relative, _: &mut Count) {
        let [a, b] = &mut self.sides;
        let own = Relative { rows: DVec3::AXES, shift: DVec3::ZERO, slack: 0.0, ..*relative };
        a.begin(&own, &self.common);
        b.begin(relative, &self.common);
    }

    fn node(&self, side: Side, node: u32) -> Node<'_> {
        self.trees[side as usize].shape.node(node)
    }

    fn volume(&mut self, side: Side, node: u32, _: Option<&u32>, count: &mut Count) -> u32 {
        let tree = &self.trees[side as usize];
        self.sides[side as usize].align(tree, node, self.common.k(), count);
        node
    }

    /// Disjoint if one ends before the other begins, along one of the k/2 directions.
    fn meet(&mut self, a: &u32, b: &u32, _: Option<&()>, count: &mut Count) -> Option<()> {
        let half = self.common.half().len();
        let (high_a, low_a) = self.offsets(Side::A, *a).split_at(half);
        let (high_b, low_b) = self.offsets(Side::B, *b).split_at(half);
        for ((high_a, low_a), (high_b, low_b)) in
            high_a.iter().zip(low_a).zip(high_b.iter().zip(low_b))
        {
            count.comparisons += 2;
            if *high_a < -*low_b || *high_b < -*low_a {
                return None;
            }
        }
        Some(())
    }
}
