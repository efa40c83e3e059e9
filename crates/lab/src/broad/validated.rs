//! Structures that judge themselves: random operations, and `validate` after each.
//!
//! That the pairs are right is tested from outside, in `tests/broad.rs`.

use super::grid::Grid;
use super::octree::Octree;
use super::sweep::Sweep;
use glam::Vec3;
use jostle_geom::Aabb;

enum Operation {
    Insert(u32, Aabb),
    Update(u32, Aabb),
    Remove(u32),
    FindPairs,
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        jostle_dice::bits(&mut self.0) % limit
    }

    /// On a coarse lattice, so that ends coincide; now and then very large, small, or far.
    fn bounds(&mut self) -> Aabb {
        let mut corner = || Vec3::from_array([0; 3].map(|_| self.below(40) as f32 - 20.0));
        let (corner, size) = (corner(), (corner() + 20.0) / 10.0);
        match self.below(30) {
            0 => Aabb::around(corner, corner + size * 20.0),
            1 => Aabb::around(corner * 1e30, corner),
            2 => Aabb::around(corner * 1e4, corner * 1e4 + size),
            3 => Aabb::around(corner, corner),
            _ => Aabb::around(corner, corner + size),
        }
    }
}

/// Operations that fit each other: only boxes that are there move or go.
fn operations(seed: u64) -> Vec<Operation> {
    let mut random = Random(seed);
    let mut present = [false; 40];
    let mut operations = Vec::new();
    for _ in 0..1500 {
        let slot = random.below(40) as u32;
        let there = &mut present[slot as usize];
        operations.push(match random.below(20) {
            0..3 => Operation::FindPairs,
            3..5 if *there => {
                *there = false;
                Operation::Remove(slot)
            }
            _ if *there => Operation::Update(slot, random.bounds()),
            _ => {
                *there = true;
                Operation::Insert(slot, random.bounds())
            }
        });
    }
    operations
}

macro_rules! stays_valid {
    ($test:ident, $structure:ty) => {
        #[test]
        fn $test() {
            for seed in 0..12 {
                let mut structure = <$structure>::default();
                let (mut out, mut pairs) = (Vec::new(), 0);
                for operation in operations(seed) {
                    match operation {
                        Operation::Insert(slot, bounds) => structure.insert(slot, bounds),
                        Operation::Update(slot, bounds) => structure.update(slot, bounds),
                        Operation::Remove(slot) => structure.remove(slot),
                        Operation::FindPairs => {
                            out.clear();
                            structure.find_pairs(&mut out);
                            pairs += out.len();
                        }
                    }
                    structure.validate();
                }
                assert!(pairs > 0, "seed {seed}");
            }
        }
    };
}

stays_valid!(sweep_stays_valid, Sweep);
stays_valid!(grid_stays_valid, Grid);
stays_valid!(octree_stays_valid, Octree);
