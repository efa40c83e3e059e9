//! Leaves follow the population: crowded ones are cut, empty ones become one again.

use super::Region;
use super::share::{choose_cut, parted};
use super::tree::{DEPTH_MAX, Knot, Tree, TreeError, VERTICES_MAX};

/// When leaves are cut and merged. Owners do not change by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splits {
    /// A leaf with more objects is cut.
    pub split: usize,
    /// Two leaves of one cut with fewer objects together become one. Less than `split`, or they
    /// would be cut again at once (Storey 2006, 3.2.3).
    pub merge: usize,
    /// No side of a leaf gets shorter by a cut.
    pub side_min: u32,
    /// No leaf has more cuts above it.
    pub depth_max: u32,
    /// Cuts stop at so many leaves.
    pub leaves_max: usize,
}

impl Default for Splits {
    /// The thesis' example: cut above 6, merge below 4 (3.2.3). Leaves of 1/4 m at least.
    fn default() -> Splits {
        Splits { split: 6, merge: 4, side_min: 1024, depth_max: 40, leaves_max: 1 << 14 }
    }
}

struct Adapting<'a> {
    tree: &'a Tree,
    splits: Splits,
    leaves: usize,
    knots: Vec<Knot>,
}

impl Tree {
    /// Cuts and merges until nothing more is to be done; says whether anything was.
    ///
    /// Doing it twice is doing it once, unless `leaves_max` was in the way.
    ///
    /// # Errors
    /// Never: what is cut stays within the limits of trees.
    pub fn adapt(&mut self, population: &[[i32; 3]], splits: &Splits) -> Result<bool, TreeError> {
        let leaves = self.leaves().count();
        let splits = Splits {
            merge: splits.merge.min(splits.split),
            side_min: splits.side_min.max(1),
            depth_max: splits.depth_max.min(DEPTH_MAX),
            leaves_max: splits.leaves_max.min(VERTICES_MAX / 2),
            ..*splits
        };
        let mut adapting = Adapting { tree: self, splits, leaves, knots: Vec::new() };
        adapting.visit(0, &mut population.to_vec());
        let knots = adapting.knots;
        let changed = knots != self.knots();
        if changed {
            *self = Tree::from_knots(&knots)?;
        }
        Ok(changed)
    }
}

impl Adapting<'_> {
    /// Writes down what becomes of a vertex with these points in its region.
    fn visit(&mut self, place: usize, points: &mut [[i32; 3]]) {
        let vertex = self.tree.vertices()[place];
        let Some(cut) = vertex.knot.cut else {
            return self.leaf(&vertex.region, vertex.id.depth(), vertex.knot, points);
        };
        let start = self.knots.len();
        self.knots.push(vertex.knot);
        let below = parted(points, cut);
        let (low, high) = points.split_at_mut(below);
        self.visit(self.tree.child(place, false), low);
        self.visit(self.tree.child(place, true), high);
        // The vertex and two leaves that no node stands at.
        let mergeable = matches!(
            self.knots[start + 1..],
            [Knot { cut: None, owner: None }, Knot { cut: None, owner: None }]
        );
        if mergeable && points.len() < self.splits.merge {
            self.knots.truncate(start);
            self.knots.push(Knot { cut: None, ..vertex.knot });
            self.leaves -= 1;
        }
    }

    fn leaf(&mut self, region: &Region, depth: u32, knot: Knot, points: &mut [[i32; 3]]) {
        let Splits { split, side_min, depth_max, leaves_max, .. } = self.splits;
        let crowded = points.len() > split && depth < depth_max && self.leaves < leaves_max;
        let parts = [side_min as usize; 2];
        let cut = if crowded { choose_cut(region, points, parts) } else { None };
        // A cut that leaves all of them on one side is of no use.
        let cut = cut.map(|cut| (cut, parted(points, cut)));
        let Some((cut, below)) = cut.filter(|&(_, below)| below > 0 && below < points.len()) else {
            return self.knots.push(knot);
        };
        self.leaves += 1;
        self.knots.push(Knot { cut: Some(cut), ..knot });
        let [lower, upper] = region.cut(usize::from(cut.0), cut.1);
        let (low, high) = points.split_at_mut(below);
        let leaf = Knot { cut: None, owner: None };
        self.leaf(&lower, depth + 1, leaf, low);
        self.leaf(&upper, depth + 1, leaf, high);
    }
}
