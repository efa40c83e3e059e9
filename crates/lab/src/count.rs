//! What a query cost, in things that can be counted on any machine.

use std::ops::AddAssign;

/// What a query cost. Each method counts what it does; what it has none of stays 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Pairs of tree nodes that were visited.
    pub visits: u64,
    /// Bounding volumes that were brought into another frame.
    pub alignments: u64,
    /// Multiplications and additions that this took.
    pub operations: u64,
    /// Pairs of bounding volumes that were compared.
    pub volume_tests: u64,
    /// Comparisons of two numbers that this took.
    pub comparisons: u64,
    /// Pairs of triangles that were tested exactly.
    pub triangle_tests: u64,
}

impl AddAssign for Count {
    fn add_assign(&mut self, more: Count) {
        self.visits += more.visits;
        self.alignments += more.alignments;
        self.operations += more.operations;
        self.volume_tests += more.volume_tests;
        self.comparisons += more.comparisons;
        self.triangle_tests += more.triangle_tests;
    }
}
