//! The generic DOP, and which three planes decide where a direction ends (Zachmann 2000, 3.5.9).
//!
//! Once per set of directions: a DOP whose planes all have a face and whose vertices all have
//! exactly three planes. Once per question: for every direction of the common frame, the vertex of
//! the (turned) generic DOP that is farthest along it. Its planes j and coefficients c ≥ 0 with
//! Σ c·b_j = the direction bound every DOP of the set along it: a point of the DOP has b_j·x ≤ d_j,
//! so direction·x = Σ c·b_j·x ≤ Σ c·d_j. That holds for any offsets d, whether or not the planes
//! meet there; only how tight it is depends on that.

use super::NormalSet;
use crate::bench::Random;
use glam::{DMat3, DVec3};

/// A DOP of which every vertex has three planes.
#[derive(Clone, Debug)]
pub struct GenericDop {
    normals: NormalSet,
    vertices: Vec<Vertex>,
}

#[derive(Clone, Debug)]
struct Vertex {
    place: DVec3,
    planes: [usize; 3],
    /// Brings a direction to its coefficients along the three normals.
    solve: DMat3,
}

/// How one direction of the common frame is bounded: offset = Σ c·d\[plane\] + a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Planes of the DOP, below k.
    pub planes: [usize; 3],
    /// Not negative.
    pub c: [f64; 3],
    /// How long the part of the direction is that the coefficients leave over, at most: what
    /// rounding does to a point at distance 1.
    pub left_over: f64,
}

/// A new try is made if a DOP is not generic; the box needs none, other sets one or two.
const TRIES: u64 = 200;

impl GenericDop {
    /// Starts with all planes at distance 1, and moves them at random, opposite ones together. With
    /// unit normals every plane then touches the unit sphere, so it has a face, and keeps it for
    /// small moves; what a move must do is part vertices that have more than three planes.
    ///
    /// # Panics
    /// If no try gives one, which would be a set of directions that are nearly parallel.
    #[must_use]
    pub fn new(normals: &NormalSet) -> GenericDop {
        let tries = (0..TRIES).find_map(|attempt| {
            let mut random = Random::new(attempt);
            let angle = normals.least_angle();
            let much = if attempt == 0 { 0.0 } else { 0.05 * angle * angle };
            let half: Vec<f64> =
                normals.half().iter().map(|_| 1.0 + random.between(-much, much)).collect();
            let offsets = [&half[..], &half].concat();
            GenericDop::of(normals, &offsets)
        });
        tries.expect("directions that are ten degrees apart have a generic DOP")
    }

    /// If these offsets give a generic one: 2k − 4 vertices with three planes each.
    fn of(normals: &NormalSet, offsets: &[f64]) -> Option<GenericDop> {
        let k = normals.k();
        let mut vertices = Vec::with_capacity(2 * k - 4);
        for i in 0..k {
            for j in 0..i {
                for l in 0..j {
                    let planes = [i, j, l];
                    let [bi, bj, bl] = planes.map(|plane| normals.normal(plane));
                    let matrix = DMat3::from_cols(bi, bj, bl);
                    if matrix.determinant().abs() < 1e-9 {
                        continue;
                    }
                    let place = matrix.transpose().inverse()
                        * DVec3::new(offsets[i], offsets[j], offsets[l]);
                    let others = (0..k).filter(|plane| !planes.contains(plane));
                    let beyond =
                        others.map(|plane| normals.normal(plane).dot(place) - offsets[plane]);
                    let most = beyond.fold(f64::NEG_INFINITY, f64::max);
                    if most < -1e-7 {
                        vertices.push(Vertex { place, planes, solve: matrix.inverse() });
                    }
                }
            }
        }
        (vertices.len() == 2 * k - 4).then(|| GenericDop { normals: normals.clone(), vertices })
    }

    /// How many vertices: 2k − 4.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    /// The three planes of each vertex, in the order in which they are found.
    pub fn vertices(&self) -> impl Iterator<Item = [usize; 3]> {
        self.vertices.iter().map(|vertex| vertex.planes)
    }

    /// How the DOPs of the set are bounded along a direction of length about 1, given in their own
    /// frame.
    ///
    /// # Panics
    /// Never: there are vertices.
    #[must_use]
    pub fn row(&self, direction: DVec3) -> Row {
        let along = |vertex: &Vertex| vertex.place.dot(direction);
        let mut best = &self.vertices[0];
        let mut most = along(best);
        for vertex in &self.vertices[1..] {
            let here = along(vertex);
            if here > most {
                (best, most) = (vertex, here);
            }
        }
        // Extremal up to rounding, so coefficients are negative by rounding at most; what is cut
        // off there is part of what is left over, which is measured and not assumed.
        let c = (best.solve * direction).max(DVec3::ZERO).to_array();
        let normals = best.planes.map(|plane| self.normals.normal(plane));
        let made = normals[0] * c[0] + normals[1] * c[1] + normals[2] * c[2];
        let rounding = 8.0 * crate::traverse::ROUNDING * (1.0 + c[0] + c[1] + c[2]);
        let left_over = (direction - made).length() + rounding;
        Row { planes: best.planes, c, left_over }
    }
}
