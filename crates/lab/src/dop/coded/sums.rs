//! The same for k = 8 and 10: a correspondence is the vertex of the generic DOP that is farthest
//! along each direction.
//!
//! The thesis generates one function for each correspondence. Of 4,000,000 random rotations, 1,236
//! different ones came up for k = 8 and 5,998 for k = 10; compiling them took longer than all of
//! the rest. Here there is one function for each pair of vertices, and a correspondence is two
//! calls for k = 8 and three for k = 10: still no index is read, and no correspondence is missing.

use crate::dop::{GenericDop, Row};

/// The planes of the vertices of the generic DOPs with the best 8 and 10 directions.
const VERTICES_8: [[usize; 3]; 12] = [
    [4, 2, 1],
    [4, 3, 1],
    [5, 4, 2],
    [5, 4, 3],
    [6, 1, 0],
    [6, 3, 1],
    [6, 5, 0],
    [6, 5, 3],
    [7, 1, 0],
    [7, 2, 1],
    [7, 5, 0],
    [7, 5, 2],
];
const VERTICES_10: [[usize; 3]; 16] = [
    [5, 2, 1],
    [5, 3, 1],
    [5, 4, 2],
    [5, 4, 3],
    [6, 4, 3],
    [7, 6, 0],
    [7, 6, 3],
    [8, 2, 1],
    [8, 4, 2],
    [8, 6, 0],
    [8, 6, 4],
    [9, 3, 1],
    [9, 7, 0],
    [9, 7, 3],
    [9, 8, 0],
    [9, 8, 1],
];

/// Half of the largest k that has functions.
const HALF_MAX: usize = 5;

/// What is the same for all nodes of a question.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::dop) struct CodedSums {
    /// Coefficients of each direction; those of the opposite one are the same.
    c: [[f64; 3]; HALF_MAX],
    /// Constants of the k directions.
    pub(in crate::dop) t: [f64; 2 * HALF_MAX],
    functions: Option<Functions>,
}

#[derive(Clone, Copy, Debug)]
enum Functions {
    Eight([Align<8>; 2]),
    Ten([Align<10>; 3]),
}

/// Two directions, from the one whose number is given, and the two opposite ones.
type Align<const K: usize> = fn(&CodedSums, &[f64; K], usize, &mut [f32; K]);

/// Whether there are functions for DOPs with these vertices.
pub(in crate::dop) fn has_functions(generic: &GenericDop) -> bool {
    generic.vertices().eq(VERTICES_8) || generic.vertices().eq(VERTICES_10)
}

impl CodedSums {
    /// Takes the functions of a correspondence: the rows of one of each pair of directions. Without
    /// effect for DOPs that have none.
    pub(in crate::dop) fn choose(&mut self, rows: &[Row]) {
        let vertex = |i: usize, vertices: &[[usize; 3]]| {
            vertices.iter().position(|planes| *planes == rows[i].planes).unwrap_or(0)
        };
        let eight = |i| vertex(i, &VERTICES_8);
        let ten = |i| vertex(i, &VERTICES_10);
        self.functions = match rows.len() {
            4 => Some(Functions::Eight([PAIRS_8[eight(0)][eight(1)], PAIRS_8[eight(2)][eight(3)]])),
            5 => Some(Functions::Ten([
                PAIRS_10[ten(0)][ten(1)],
                PAIRS_10[ten(2)][ten(3)],
                SINGLES_10[ten(4)],
            ])),
            _ => None,
        };
        for (c, row) in self.c.iter_mut().zip(rows) {
            *c = row.c;
        }
    }

    /// The offsets of a node in the common frame.
    #[inline]
    pub(in crate::dop) fn align(&self, offsets: &[f32], aligned: &mut [f32]) {
        match self.functions {
            Some(Functions::Eight(functions)) => call(&functions, self, offsets, aligned),
            Some(Functions::Ten(functions)) => call(&functions, self, offsets, aligned),
            None => {}
        }
    }
}

#[inline]
fn call<const K: usize>(
    functions: &[Align<K>],
    coded: &CodedSums,
    offsets: &[f32],
    aligned: &mut [f32],
) {
    if let (Some(d), Some(aligned)) = (offsets.first_chunk::<K>(), aligned.first_chunk_mut()) {
        let d = d.map(f64::from);
        for (pair, align) in functions.iter().enumerate() {
            align(coded, &d, 2 * pair, aligned);
        }
    }
}

/// Three products and three sums for each of four directions.
fn pair<const K: usize, const V: usize, const W: usize>(
    coded: &CodedSums,
    d: &[f64; K],
    first: usize,
    aligned: &mut [f32; K],
) {
    single::<K, V>(coded, d, first, aligned);
    single::<K, W>(coded, d, first + 1, aligned);
}

/// The same for one direction and its opposite.
#[inline]
fn single<const K: usize, const V: usize>(
    coded: &CodedSums,
    d: &[f64; K],
    i: usize,
    aligned: &mut [f32; K],
) {
    let [p, q, r] = const { if K == 8 { VERTICES_8[V] } else { VERTICES_10[V] } };
    let [o, u, w] = [p, q, r].map(|plane| (plane + K / 2) % K);
    let CodedSums { c, t, .. } = coded;
    let high = (c[i][0] * d[p] + c[i][1] * d[q]) + (c[i][2] * d[r] + t[i]);
    let low = (c[i][0] * d[o] + c[i][1] * d[u]) + (c[i][2] * d[w] + t[i + K / 2]);
    aligned[i] = high as f32;
    aligned[i + K / 2] = low as f32;
}

macro_rules! twelve {
    ($each:ident $(, $before:expr)*) => {
        [
            $each!($($before,)* 0), $each!($($before,)* 1), $each!($($before,)* 2),
            $each!($($before,)* 3), $each!($($before,)* 4), $each!($($before,)* 5),
            $each!($($before,)* 6), $each!($($before,)* 7), $each!($($before,)* 8),
            $each!($($before,)* 9), $each!($($before,)* 10), $each!($($before,)* 11),
        ]
    };
}

macro_rules! sixteen {
    ($each:ident $(, $before:expr)*) => {
        [
            $each!($($before,)* 0), $each!($($before,)* 1), $each!($($before,)* 2),
            $each!($($before,)* 3), $each!($($before,)* 4), $each!($($before,)* 5),
            $each!($($before,)* 6), $each!($($before,)* 7), $each!($($before,)* 8),
            $each!($($before,)* 9), $each!($($before,)* 10), $each!($($before,)* 11),
            $each!($($before,)* 12), $each!($($before,)* 13), $each!($($before,)* 14),
            $each!($($before,)* 15),
        ]
    };
}

macro_rules! with_eight {
    ($v:expr) => {
        twelve!(of_eight, $v)
    };
}

macro_rules! of_eight {
    ($v:expr, $w:expr) => {
        pair::<8, $v, $w>
    };
}

macro_rules! with_ten {
    ($v:expr) => {
        sixteen!(of_ten, $v)
    };
}

macro_rules! of_ten {
    ($v:expr, $w:expr) => {
        pair::<10, $v, $w>
    };
}

macro_rules! one_of_ten {
    ($v:expr) => {
        single::<10, $v>
    };
}

static PAIRS_8: [[Align<8>; 12]; 12] = twelve!(with_eight);
static PAIRS_10: [[Align<10>; 16]; 16] = sixteen!(with_ten);
static SINGLES_10: [Align<10>; 16] = sixteen!(one_of_ten);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Random;
    use crate::dop::NormalSet;
    use std::collections::BTreeSet;

    /// The slow twin: the sum by index.
    #[test]
    fn functions_are_sums_by_index() {
        for k in [8, 10] {
            let normals = NormalSet::best(k).expect("an even k");
            let generic = GenericDop::new(&normals);
            assert!(has_functions(&generic), "k {k}: {:?}", generic.vertices().collect::<Vec<_>>());
            let mut random = Random::new(7);
            let mut seen = BTreeSet::new();
            for case in 0..20_000 {
                let rotation = random.rotation();
                let half = normals.half().iter();
                let rows: Vec<Row> = half.map(|&n| generic.row(rotation * n)).collect();
                seen.insert(rows.iter().map(|row| row.planes).collect::<Vec<_>>());
                let t = std::array::from_fn(|_| random.between(0.0, 1.0));
                let mut coded = CodedSums { t, ..CodedSums::default() };
                coded.choose(&rows);
                let d: Vec<f32> = (0..k).map(|_| random.between(0.5, 2.0) as f32).collect();
                let mut found = vec![0.0; k];
                coded.align(&d, &mut found);
                for (i, &found) in found.iter().enumerate() {
                    let Row { planes, c, .. } = rows[i % (k / 2)];
                    let at = |plane: usize| f64::from(d[(plane + i / (k / 2) * (k / 2)) % k]);
                    let [p, q, r] = planes.map(at);
                    let sum = (c[0] * p + c[1] * q) + (c[2] * r + coded.t[i]);
                    assert_eq!(found, sum as f32, "k {k}, case {case}, direction {i}");
                }
            }
            assert!(seen.len() > 900, "k {k}: {} correspondences", seen.len());
        }
    }
}
