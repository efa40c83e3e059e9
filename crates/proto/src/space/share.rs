//! Who owns what as machines come and go: as equal as the population allows at first, and with as
//! little moving as possible afterwards.

use super::Region;
use super::tree::{DEPTH_MAX, Knot, NODES_MAX, Tree, TreeError, VERTICES_MAX, above};
use crate::object::NodeId;
use std::collections::BTreeSet;

impl Tree {
    /// Every machine gets about the same number of points; their number need not be a power of two.
    /// (Storey halves the world, so that of three machines one has half of it: 3.3.7.)
    ///
    /// Machines are taken in their given order, lower regions first; one that is named twice
    /// counts once.
    ///
    /// # Errors
    /// For no machine, or more than [`NODES_MAX`].
    pub fn shared_among(nodes: &[NodeId], population: &[[i32; 3]]) -> Result<Tree, TreeError> {
        let mut seen = BTreeSet::new();
        let nodes: Vec<NodeId> = nodes.iter().copied().filter(|node| seen.insert(*node)).collect();
        if nodes.is_empty() {
            return Err(TreeError::NoNodes);
        }
        if nodes.len() > NODES_MAX {
            return Err(TreeError::TooManyNodes { found: nodes.len() });
        }
        let mut knots = Vec::with_capacity(2 * nodes.len());
        share(&nodes, &mut population.to_vec(), &Region::WORLD, &mut knots)?;
        Tree::from_knots(&knots)
    }

    /// A machine comes: the part with the largest population is cut in two (the first of equal
    /// ones), and the newcomer gets the smaller half. No other part changes.
    ///
    /// # Errors
    /// If it is there already, or there are too many, or nothing can be cut.
    pub fn join(&mut self, node: NodeId, population: &[[i32; 3]]) -> Result<(), TreeError> {
        if self.share_of(node).is_some() {
            return Err(TreeError::Twice { node });
        }
        let found = self.owners().count() + 1;
        if found > NODES_MAX {
            return Err(TreeError::TooManyNodes { found });
        }
        let mut counts = vec![0usize; self.vertices().len()];
        for &point in population {
            counts[self.owned_place(point)] += 1;
        }
        let can_be_cut = |place: &usize| {
            let vertex = &self.vertices()[*place];
            vertex.knot.owner.is_some()
                && vertex.id.depth() < DEPTH_MAX
                && (0..3).any(|axis| vertex.region.side(axis) >= 2)
        };
        let places = (0..counts.len()).rev().filter(can_be_cut);
        // The last of equal ones from behind is the first.
        let place = places.max_by_key(|&place| counts[place]).ok_or(TreeError::NoRoom)?;

        let vertex = self.vertices()[place];
        let mut inside: Vec<[i32; 3]> =
            population.iter().copied().filter(|&point| vertex.region.contains(point)).collect();
        let cut = choose_cut(&vertex.region, &mut inside, [1, 1]).ok_or(TreeError::NoRoom)?;
        let upper = inside.iter().filter(|&&point| above(cut, point)).count();
        let (stays, comes) = (vertex.knot.owner, Some(node));
        let owners = if 2 * upper > inside.len() { [comes, stays] } else { [stays, comes] };
        let leaf = |owner| Knot { cut: None, owner };
        let halves = [Knot { cut: Some(cut), owner: None }, leaf(owners[0]), leaf(owners[1])];
        let mut knots = self.knots();
        knots.splice(place..vertex.end, halves);
        *self = Tree::from_knots(&knots)?;
        Ok(())
    }

    /// A machine goes or has failed: the cut beside which it stood goes with it, and its neighbours
    /// on the other side grow into its part. No other points change owners.
    ///
    /// # Errors
    /// If it has no part, or is the last.
    pub fn leave(&mut self, node: NodeId) -> Result<(), TreeError> {
        let share = self.share_of(node).ok_or(TreeError::Unknown { node })?;
        let parent = share.parent().ok_or(TreeError::NoNodes)?;
        let place = |id| self.vertices().iter().position(|vertex| vertex.id == id);
        let Some(parent) = place(parent) else { return Err(TreeError::Unknown { node }) };
        let mut knots = self.knots();
        let [below, above] = [false, true].map(|above| self.child(parent, above));
        let sibling = if self.vertices()[below].id == share { above } else { below };
        let stays = knots[sibling..self.vertices()[sibling].end].to_vec();
        knots.splice(parent..self.vertices()[parent].end, stays);
        *self = Tree::from_knots(&knots)?;
        Ok(())
    }

    /// Where in the list the vertex stands at which the owner of a point stands.
    fn owned_place(&self, point: [i32; 3]) -> usize {
        let mut at = 0;
        while let Knot { owner: None, cut: Some(cut) } = self.vertices()[at].knot {
            at = self.child(at, above(cut, point));
        }
        at
    }
}

/// Writes down a tree for these machines. The region's longest side has a point for each of them:
/// true of the world, and of both parts of every cut.
fn share(
    nodes: &[NodeId],
    points: &mut [[i32; 3]],
    region: &Region,
    knots: &mut Vec<Knot>,
) -> Result<(), TreeError> {
    if let &[node] = nodes {
        knots.push(Knot { cut: None, owner: Some(node) });
        return Ok(());
    }
    if knots.len() >= VERTICES_MAX {
        return Err(TreeError::TooManyVertices);
    }
    let (lower, upper) = nodes.split_at(nodes.len() / 2);
    let parts = [lower.len(), upper.len()];
    let cut = choose_cut(region, points, parts).ok_or(TreeError::NoRoom)?;
    knots.push(Knot { cut: Some(cut), owner: None });
    let regions = region.cut(usize::from(cut.0), cut.1);
    let below = parted(points, cut);
    let (low, high) = points.split_at_mut(below);
    share(lower, low, &regions[0], knots)?;
    share(upper, high, &regions[1], knots)
}

/// Brings the points below a cut to the front; how many there are.
pub(super) fn parted(points: &mut [[i32; 3]], cut: (u8, i32)) -> usize {
    let mut below = 0;
    for at in 0..points.len() {
        if !above(cut, points[at]) {
            points.swap(at, below);
            below += 1;
        }
    }
    below
}

/// Cuts a region so that the points on both sides are in the proportion of `parts`, as well as one
/// plane can; across the axis along which they are spread most (the lowest of equal ones), or the
/// longest side if they are all in one place. Every part keeps a point of the side that is cut.
/// None if no side is that long.
pub(super) fn choose_cut(
    region: &Region,
    points: &mut [[i32; 3]],
    parts: [usize; 2],
) -> Option<(u8, i32)> {
    let parts = parts.map(|part| part as i64);
    let whole = parts[0] + parts[1];
    let spread = |axis: usize| {
        let along = points.iter().map(|point| i64::from(point[axis]));
        along.clone().max().zip(along.min()).map_or(0, |(most, least)| most - least)
    };
    let long_enough = (0..3).rev().filter(|&axis| region.side(axis) >= whole);
    let axis = long_enough.max_by_key(|&axis| (spread(axis), region.side(axis)))?;
    let at = balance(points, axis, parts[0] as f64 / whole as f64).unwrap_or_else(|| {
        let lower = i128::from(region.side(axis)) * i128::from(parts[0]) / i128::from(whole);
        region.min[axis] + lower as i64
    });
    let at = at.clamp(region.min[axis] + parts[0], region.max[axis] - parts[1]);
    Some((axis as u8, i32::try_from(at).ok()?))
}

/// The coordinate between two points that has `share` of them below it, as near as possible. None
/// if they all have the same.
fn balance(points: &mut [[i32; 3]], axis: usize, share: f64) -> Option<i64> {
    if points.is_empty() {
        return None;
    }
    let wanted = points.len() as f64 * share;
    let middle = (wanted as usize).min(points.len() - 1);
    points.select_nth_unstable_by_key(middle, |point| point[axis]);
    let middle = points[middle][axis];
    let along = || points.iter().map(|point| point[axis]);
    let before = along().filter(|&at| at < middle).max();
    let after = along().filter(|&at| at > middle).min();
    // Between the middle and its neighbours on either side: which is fairer?
    let below = |bound: i32| along().filter(|&at| at < bound).count() as f64;
    let lower = before.map(|before| (between(before, middle), (below(middle) - wanted).abs()));
    let upper = after.map(|after| (between(middle, after), (below(after) - wanted).abs()));
    match (lower, upper) {
        (Some((at, off)), Some((_, worse))) if off <= worse => Some(at),
        (_, Some((at, _))) | (Some((at, _)), None) => Some(at),
        (None, None) => None,
    }
}

/// The first coordinate above when the cut is halfway.
fn between(low: i32, high: i32) -> i64 {
    i64::from(low) + (i64::from(high) - i64::from(low) + 1) / 2
}
