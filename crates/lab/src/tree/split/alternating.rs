//! Zachmann's builder for DOP-trees (2000, 3.5.9; digest 3.5.8): triangles are taken from both ends
//! of the longest direction in turn, and go to the side that grows less.
//!
//! Growth is the increase of the two offsets along the direction of the split, which is what he
//! found best of five estimates. From one end only, one side would creep over everything.

use crate::dop::NormalSet;
use glam::DVec3;

pub(super) struct Alternating {
    normals: Vec<DVec3>,
    /// Of every triangle: low and high along each direction.
    bounds: Vec<[f64; 2]>,
}

impl Alternating {
    pub(super) fn new(corners: &[[DVec3; 3]], normals: &NormalSet) -> Alternating {
        let normals = normals.half().to_vec();
        let bounds = corners.iter().flat_map(|corners| {
            normals.iter().map(|normal| {
                let [p, q, r] = corners.map(|corner| corner.dot(*normal));
                [p.min(q).min(r), p.max(q).max(r)]
            })
        });
        let bounds = bounds.collect();
        Alternating { normals, bounds }
    }

    pub(super) fn split(&mut self, triangles: &mut [u32], centroids: &[DVec3]) -> usize {
        let along = far_pair(triangles, centroids);
        let parallel = |i: &usize| self.normals[*i].dot(along).abs();
        let directions = 0..self.normals.len();
        let Some(best) = directions.max_by(|i, j| parallel(i).total_cmp(&parallel(j))) else {
            return 0;
        };
        let direction = self.normals[best];
        let key = |t: &u32| centroids[*t as usize].dot(direction);
        triangles.sort_by(|one, other| key(one).total_cmp(&key(other)).then(one.cmp(other)));
        let bounds = |t: u32| self.bounds[t as usize * self.normals.len() + best];
        let [first, .., last] = *triangles else { return 0 };
        let mut sides = [Growing::new(first, bounds(first)), Growing::new(last, bounds(last))];
        let (mut low, mut high) = (1, triangles.len() - 1);
        while low < high {
            let from_low = (low + high) % 2 == triangles.len() % 2;
            let taken = if from_low {
                low += 1;
                triangles[low - 1]
            } else {
                high -= 1;
                triangles[high]
            };
            let growth = [0, 1].map(|side: usize| sides[side].growth(bounds(taken)));
            let smaller = usize::from(sides[1].triangles.len() < sides[0].triangles.len());
            let side = match growth[0].total_cmp(&growth[1]) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Greater => 1,
                std::cmp::Ordering::Equal => smaller,
            };
            sides[side].add(taken, bounds(taken));
        }
        let [left, right] = sides.map(|side| side.triangles);
        triangles[..left.len()].copy_from_slice(&left);
        triangles[left.len()..].copy_from_slice(&right);
        left.len()
    }
}

/// From one centroid to another that is almost as far away as any two are: the farthest from the
/// first, and the farthest from that.
fn far_pair(triangles: &[u32], centroids: &[DVec3]) -> DVec3 {
    let farthest = |from: DVec3| {
        let distance = |t: &&u32| centroids[**t as usize].distance_squared(from);
        let found = triangles.iter().max_by(|i, j| distance(i).total_cmp(&distance(j)));
        found.map_or(from, |&t| centroids[t as usize])
    };
    let first = triangles.first().map_or(DVec3::ZERO, |&t| centroids[t as usize]);
    let one = farthest(first);
    farthest(one) - one
}

/// A side of the split, as wide as its triangles along the direction.
struct Growing {
    triangles: Vec<u32>,
    low: f64,
    high: f64,
}

impl Growing {
    fn new(triangle: u32, [low, high]: [f64; 2]) -> Growing {
        Growing { triangles: vec![triangle], low, high }
    }

    fn growth(&self, [low, high]: [f64; 2]) -> f64 {
        (self.low - low).max(0.0) + (high - self.high).max(0.0)
    }

    fn add(&mut self, triangle: u32, [low, high]: [f64; 2]) {
        self.triangles.push(triangle);
        self.low = self.low.min(low);
        self.high = self.high.max(high);
    }
}
