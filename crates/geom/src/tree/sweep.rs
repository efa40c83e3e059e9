//! One moving box against eight: when may they touch?
//!
//! The times at which two boxes overlap along an axis are an interval, and those at which they
//! touch are in the intervals of all axes: slabs (Kay and Kajiya 1986), here of the six face
//! normals. The crossed edges of [`super::overlap`] would make the intervals little shorter.
//!
//! Times may only err towards "touches". The slacks of positions are those of [`super::overlap`].
//! A direction rounded to `f32` moves a box by less than 2^-22 of the time; the caller puts that
//! into the slack of the query. The rounding of the quotients is added here.
//!
//! Written as plain loops over eight numbers, which the compiler turns into vector instructions:
//! the lane types have no division.

use super::overlap::{AXIS_SLACK, QueryObb};
use super::{AXIS_UNIT, Node, WIDTH};
use crate::simd::{Kernel, Simd};

type Lanes = [f32; WIDTH];

/// When the query box may touch the boxes of a node if it moves `along` by one unit of length per
/// unit of time.
pub(crate) struct Sweep<'a> {
    pub(crate) node: &'a Node,
    pub(crate) query: &'a QueryObb,
    pub(crate) along: [f32; 3],
}

/// For each lane the first and the last time, from negative to positive infinity; the first is
/// later than the last where they never touch.
pub(crate) struct Times {
    pub(crate) first: Lanes,
    pub(crate) last: Lanes,
}

/// What a quotient may be off by.
const ROUNDING: f32 = 1.0 / (1u32 << 20) as f32;

impl Times {
    /// Where a box at `at`, which moves by `speed`, is within `reach` of zero.
    #[inline(always)]
    fn cut(&mut self, at: &Lanes, speed: &Lanes, reach: &Lanes) {
        for k in 0..WIDTH {
            // Slower than this is no motion; not zero, so that nothing is divided by zero.
            let slow = speed[k].abs() < 1e-30;
            let inverse = 1.0 / if slow { 1e-30 } else { speed[k] };
            let (s, t) = ((-reach[k] - at[k]) * inverse, (reach[k] - at[k]) * inverse);
            let first = if s < t { s } else { t };
            let last = if s < t { t } else { s };
            let (first, last) = (first - first.abs() * ROUNDING, last + last.abs() * ROUNDING);
            // Not a number counts as always.
            self.first[k] = if first > self.first[k] { first } else { self.first[k] };
            self.last[k] = if last < self.last[k] { last } else { self.last[k] };
        }
    }
}

impl Kernel for Sweep<'_> {
    type Out = Times;

    #[inline(always)]
    fn run<S: Simd>(self) -> Times {
        let (node, query) = (self.node, self.query);
        let mut axes = [[[0.0; WIDTH]; 3]; 3];
        let (mut offset, mut slack) = ([[0.0; WIDTH]; 3], [0.0; WIDTH]);
        for k in 0..WIDTH {
            for i in 0..3 {
                axes[0][i][k] = f32::from(node.axis[i][k]) * AXIS_UNIT;
                axes[1][i][k] = f32::from(node.axis[3 + i][k]) * AXIS_UNIT;
                offset[i][k] = query.center[i] - node.center[i][k];
            }
            for i in 0..3 {
                let (j, l) = ((i + 1) % 3, (i + 2) % 3);
                axes[2][i][k] = axes[0][j][k] * axes[1][l][k] - axes[0][l][k] * axes[1][j][k];
            }
            let half = node.half[0][k] + node.half[1][k] + node.half[2][k];
            slack[k] = query.slack + AXIS_SLACK * half;
        }
        let mut times = Times { first: [f32::NEG_INFINITY; WIDTH], last: [f32::INFINITY; WIDTH] };
        let mut over_one = [[0.0; WIDTH]; 3];
        for (axis, half) in axes.iter().zip(&node.half) {
            let (mut at, mut speed, mut reach) = ([0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH]);
            for k in 0..WIDTH {
                let dot = |v: [f32; 3]| axis[0][k] * v[0] + axis[1][k] * v[1] + axis[2][k] * v[2];
                at[k] = dot([offset[0][k], offset[1][k], offset[2][k]]);
                speed[k] = dot(self.along);
                reach[k] = half[k] + slack[k];
                for (j, over) in over_one.iter_mut().enumerate() {
                    let turned = dot(query.axes[j]).abs();
                    reach[k] += turned * query.half[j];
                    over[k] += turned * half[k];
                }
            }
            times.cut(&at, &speed, &reach);
        }
        for (j, over) in over_one.iter().enumerate() {
            let v = query.axes[j];
            let speed = v[0] * self.along[0] + v[1] * self.along[1] + v[2] * self.along[2];
            let (mut at, mut reach) = ([0.0; WIDTH], [0.0; WIDTH]);
            for k in 0..WIDTH {
                at[k] = v[0] * offset[0][k] + v[1] * offset[1][k] + v[2] * offset[2][k];
                reach[k] = query.half[j] + over[k] + slack[k];
            }
            times.cut(&at, &[speed; WIDTH], &reach);
        }
        times
    }
}
