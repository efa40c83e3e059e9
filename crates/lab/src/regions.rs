//! Leaves that follow the population, with thresholds apart and not (Storey 2006, 3.2.3 and
//! 4.3.2.2; row S2): a leaf with more objects than one threshold is cut, and two leaves of one cut
//! with fewer than another are merged.
//!
//! Objects travel towards targets, gather and disperse ([`crate::aura::workload`]). What is counted
//! does not depend on a clock: how many leaves are cut and merged in a frame, and how many pairs of
//! objects share a leaf, which is what comparing all in each leaf costs.

use crate::aura::workload::{Setup, SetupError, Targets};
use glam::DVec3;
use jostle_proto::{NodeId, Splits, Tree, TreeError, VertexId};
use std::collections::{BTreeMap, BTreeSet};

/// Units of a region in an object's unit of length; leaves are a quarter of it at least.
const UNITS: f64 = 4096.0;

/// What a pair of thresholds did, per frame on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RegionRow {
    /// A leaf with more objects is cut.
    pub split: usize,
    /// Two leaves with fewer together are merged.
    pub merge: usize,
    /// Leaves.
    pub leaves: f64,
    /// Leaves that were cut.
    pub cuts: f64,
    /// Leaves that arose by merging.
    pub merges: f64,
    /// Pairs of objects in one leaf.
    pub pairs: f64,
}

/// Why there is no row.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RegionsError {
    /// There is no such workload.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Leaves beyond what a tree can have.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// Lets objects move for so many frames, of which the first, in which all leaves arise, does not
/// count.
///
/// # Errors
/// If the setup is out of range.
pub fn regions(
    setup: Setup,
    frames: u32,
    [merge, split]: [usize; 2],
) -> Result<RegionRow, RegionsError> {
    let mut world = Targets::new(setup)?;
    let mut tree = Tree::whole(NodeId(0));
    let splits = Splits { split, merge, ..Splits::default() };
    let mut row = RegionRow { split, merge, ..RegionRow::default() };
    let frames = frames.max(1);
    tree.adapt(&places(&world), &splits)?;
    for _ in 0..frames {
        let before: BTreeSet<VertexId> = tree.leaves().collect();
        world.advance();
        let places = places(&world);
        let old = tree.clone();
        tree.adapt(&places, &splits)?;
        let after: BTreeSet<VertexId> = tree.leaves().collect();
        // A leaf that became a vertex with a cut, and a vertex with a cut that became a leaf.
        let inner = |tree: &Tree, leaf: &VertexId| tree.region(*leaf).is_some();
        let cuts = before.difference(&after).filter(|leaf| inner(&tree, leaf)).count();
        let merges = after.difference(&before).filter(|leaf| inner(&old, leaf)).count();
        row.cuts += cuts as f64 / f64::from(frames);
        row.merges += merges as f64 / f64::from(frames);
        row.leaves += after.len() as f64 / f64::from(frames);
        row.pairs += pairs(&tree, &places) as f64 / f64::from(frames);
    }
    Ok(row)
}

/// Objects in the middle of the range of regions.
fn places(world: &Targets) -> Vec<[i32; 3]> {
    let middle = DVec3::splat(0.5 * world.side());
    let units = |place: DVec3| ((place - middle) * UNITS).to_array().map(|x| x as i32);
    world.auras().iter().map(|aura| units(aura.centre())).collect()
}

fn pairs(tree: &Tree, places: &[[i32; 3]]) -> usize {
    let mut counts: BTreeMap<VertexId, usize> = BTreeMap::new();
    for &place in places {
        *counts.entry(tree.leaf_of(place)).or_default() += 1;
    }
    counts.values().map(|count| count * (count - 1) / 2).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(thresholds: [usize; 2]) -> RegionRow {
        regions(Setup::new(300, 0.2, 1), 200, thresholds).expect("a good setup")
    }

    #[test]
    fn thresholds_apart_change_fewer_leaves_than_thresholds_that_meet() {
        let [apart, near] = [row([4, 6]), row([6, 6])];
        assert!(apart.cuts > 0.0 && apart.merges > 0.0, "{apart:?}");
        assert!(near.merges > 1.5 * apart.merges, "{near:?} {apart:?}");
        assert!(near.cuts > 1.1 * apart.cuts, "{near:?} {apart:?}");
    }

    #[test]
    fn larger_leaves_are_fewer_and_have_more_pairs() {
        let [small, large] = [row([4, 6]), row([16, 24])];
        assert!(large.leaves * 2.0 < small.leaves, "{large:?} {small:?}");
        assert!(large.pairs > 2.0 * small.pairs, "{large:?} {small:?}");
    }
}
