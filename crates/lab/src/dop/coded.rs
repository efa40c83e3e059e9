//! For k = 6, one function for every correspondence, called through a table (Zachmann 2000, 3.5.9;
//! row Z8): which offset goes where is then part of the code, and no index is read.
//!
//! The DOP is a box, so the planes that bound a direction follow from the signs of its three
//! coordinates, and a correspondence is the signs of a matrix: 512 patterns, of which 96 are those
//! of rotations. The thesis found 96 by sampling, and so do we. All 512 have a function here: a
//! coordinate that is zero may be taken either way, and then other patterns come up. Functions for
//! k = 8 and 10 are in `coded/sums.rs`.

mod sums;

use glam::DVec3;
pub(super) use sums::{CodedSums, has_functions};

/// What is the same for all nodes of a question.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Coded {
    /// Sizes of the entries of the matrix.
    pub(super) c: [[f64; 3]; 3],
    /// Constants of the six directions.
    pub(super) t: [f64; 6],
    pub(super) octants: [usize; 3],
}

impl Coded {
    /// The six offsets of a node in the common frame.
    #[inline]
    pub(super) fn align(&self, offsets: &[f32; 6], aligned: &mut [f32; 6]) {
        let [x, y, z] = self.octants;
        TABLE[x][y][z](self, offsets, aligned);
    }
}

/// For each row of a matrix, the signs of its entries: bit i is set if entry i is negative.
#[must_use]
pub fn octants(rows: &[DVec3; 3]) -> [usize; 3] {
    rows.map(|row| (0..3).map(|i| usize::from(row[i] < 0.0) << i).sum())
}

/// Whether a rotation without zeros can have these signs: rows at right angles cannot have the same
/// signs, nor all opposite ones; of such patterns, the determinant of the signs is 4 for rotations
/// and −4 for mirrors.
#[must_use]
pub fn realisable(octants: [usize; 3]) -> bool {
    let sign = |octant: usize, i: usize| if octant >> i & 1 == 1 { -1.0 } else { 1.0 };
    let row = |octant: usize| DVec3::new(sign(octant, 0), sign(octant, 1), sign(octant, 2));
    let [x, y, z] = octants.map(row);
    x.cross(y).dot(z) == 4.0
}

type Align = fn(&Coded, &[f32; 6], &mut [f32; 6]);

/// Three products and three sums for each of six directions.
fn align<const X: usize, const Y: usize, const Z: usize>(
    coded: &Coded,
    d: &[f32; 6],
    aligned: &mut [f32; 6],
) {
    let d = d.map(f64::from);
    let Coded { c, t, .. } = coded;
    let octants = [X, Y, Z];
    for i in 0..3 {
        // The plane of coordinate j: the high one if the sign is plus, and for the opposite
        // direction the other.
        let [p, q, r] = [0, 1, 2].map(|j| j + 3 * (octants[i] >> j & 1));
        let [o, u, w] = [0, 1, 2].map(|j| j + 3 - 3 * (octants[i] >> j & 1));
        let high = (c[i][0] * d[p] + c[i][1] * d[q]) + (c[i][2] * d[r] + t[i]);
        let low = (c[i][0] * d[o] + c[i][1] * d[u]) + (c[i][2] * d[w] + t[i + 3]);
        aligned[i] = high as f32;
        aligned[i + 3] = low as f32;
    }
}

macro_rules! eight {
    ($each:ident $(, $before:expr)*) => {
        [
            $each!($($before,)* 0), $each!($($before,)* 1), $each!($($before,)* 2),
            $each!($($before,)* 3), $each!($($before,)* 4), $each!($($before,)* 5),
            $each!($($before,)* 6), $each!($($before,)* 7),
        ]
    };
}

macro_rules! of_two {
    ($x:expr) => {
        eight!(of_three, $x)
    };
}

macro_rules! of_three {
    ($x:expr, $y:expr) => {
        eight!(function, $x, $y)
    };
}

macro_rules! function {
    ($x:expr, $y:expr, $z:expr) => {
        align::<$x, $y, $z>
    };
}

static TABLE: [[[Align; 8]; 8]; 8] = eight!(of_two);
