//! Numbers and matrices that only a seed decides about.

use jostle_proto::{Matrix, NodeId, Span};

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        jostle_dice::below(&mut self.0, n)
    }

    /// Delays of 0 to 20 ms, a share of them unknown, machines with any ids in any order.
    pub(crate) fn matrix(&mut self, n: u64) -> Matrix {
        let step = 1 + self.below(9) as u32;
        let nodes: Vec<_> = (0..n as u32).rev().map(|at| NodeId(at * step)).collect();
        let mut matrix = Matrix::new(&nodes).unwrap();
        let unknown = [0, 0, 5, 30][self.below(4) as usize];
        for &from in &nodes {
            for &to in &nodes {
                if self.below(100) >= unknown {
                    matrix.set(from, to, Span(self.below(20_001)));
                }
            }
        }
        matrix
    }
}
