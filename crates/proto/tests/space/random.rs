//! Numbers and worlds that only a seed decides about.

use jostle_proto::{Block, NodeId, Tree};

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        jostle_dice::below(&mut self.0, n)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// Where trees are weak: few distinct values, neighbours, the ends, and anything.
    pub(crate) fn coordinate(&mut self) -> i32 {
        match self.below(4) {
            0 => self.below(5) as i32 - 2,
            1 => self.pick(&[i32::MIN, i32::MIN + 1, -1, 0, 1, i32::MAX - 1, i32::MAX]),
            2 => self.below(2000) as i32 - 1000,
            _ => jostle_dice::bits(&mut self.0) as i32,
        }
    }

    pub(crate) fn points(&mut self, n: u64) -> Vec<[i32; 3]> {
        (0..n).map(|_| std::array::from_fn(|_| self.coordinate())).collect()
    }

    /// Between 1 and `most` machines, in no order.
    pub(crate) fn nodes(&mut self, most: u64) -> Vec<NodeId> {
        let first = self.below(100) as u32;
        let mut nodes: Vec<NodeId> =
            (0..=self.below(most) as u32).map(|at| NodeId(first + at)).collect();
        for at in 1..nodes.len() {
            nodes.swap(at, self.below(at as u64 + 1) as usize);
        }
        nodes
    }

    /// With corners on borders of the tree, just beside them, or anywhere; often without extent.
    pub(crate) fn block(&mut self, tree: &Tree) -> Block {
        let leaves: Vec<_> = tree.leaves().collect();
        let corner = |random: &mut Random| -> [i32; 3] {
            let region = tree.region(random.pick(&leaves)).unwrap();
            std::array::from_fn(|axis| match random.below(3) {
                0 => random.coordinate(),
                1 => (region.min[axis] + random.below(3) as i64 - 1).clamp(LEAST, MOST) as i32,
                _ => (region.max[axis] + random.below(3) as i64 - 2).clamp(LEAST, MOST) as i32,
            })
        };
        let from = corner(self);
        let to = match self.below(4) {
            0 => from,
            1 => {
                let reach = self.below(50) as i32;
                from.map(|at| at.saturating_add(reach))
            }
            _ => corner(self),
        };
        let min = std::array::from_fn(|axis| from[axis].min(to[axis]));
        Block { min, max: std::array::from_fn(|axis| from[axis].max(to[axis])) }
    }
}

const LEAST: i64 = i32::MIN as i64;
const MOST: i64 = i32::MAX as i64;
