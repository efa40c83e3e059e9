//! Boxes along the axes of the mesh, enclosed anew when the mesh turns.
//!
//! A box of the second tree is turned and enclosed by a box along the axes of the first: its centre
//! is placed, its half extents are multiplied by the sizes of the matrix entries. That is exact for
//! the box, and up to √3 times as wide as it (Zachmann 2000, 3.8.2).

use super::volume::{Volume, read_f32};
use crate::Count;
use crate::traverse::Relative;
use glam::{DVec3, Vec3};

/// Low and high corner; exact, because corners of triangles are `f32`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    low: Vec3,
    high: Vec3,
}

/// A box in the frame of the first mesh.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlignedAabb {
    low: DVec3,
    high: DVec3,
}

impl Volume for Aabb {
    const NAME: &'static str = "AABB";
    const TAG: u8 = 1;
    const BYTES: usize = 24;
    type Aligned = AlignedAabb;

    fn around(triangles: &[[DVec3; 3]]) -> Aabb {
        let corners = || triangles.iter().flatten().map(|corner| corner.as_vec3());
        Aabb {
            low: corners().fold(Vec3::INFINITY, Vec3::min),
            high: corners().fold(Vec3::NEG_INFINITY, Vec3::max),
        }
    }

    fn size(&self) -> f64 {
        (self.high.as_dvec3() - self.low.as_dvec3()).element_product()
    }

    fn plain(&self) -> AlignedAabb {
        AlignedAabb { low: self.low.as_dvec3(), high: self.high.as_dvec3() }
    }

    /// Centre and half extents 9 operations, placing 18, extents 12 (products and sums), corners 6:
    /// Zachmann counts 45 for the same.
    fn turned(&self, relative: &Relative, count: &mut Count) -> AlignedAabb {
        count.operations += 45;
        let AlignedAabb { low, high } = self.plain();
        let (centre, half) = ((low + high) * 0.5, (high - low) * 0.5);
        let placed = relative.place(centre);
        let wide = DVec3::from(relative.rows.map(|row| row.abs().dot(half)));
        AlignedAabb { low: placed - wide, high: placed + wide }
    }

    /// Sum and difference of corners 2v·L, placing 6v·L, extents 6v·L, corners and the difference
    /// here 3v·L: far below the 384v·L that are in the slack.
    fn overlap(a: &AlignedAabb, b: &AlignedAabb, slack: f64, count: &mut Count) -> bool {
        for axis in 0..3 {
            count.comparisons += 2;
            if a.low[axis] - b.high[axis] > slack || b.low[axis] - a.high[axis] > slack {
                return false;
            }
        }
        true
    }

    fn encloses(&self, point: DVec3, reach: f64) -> bool {
        let AlignedAabb { low, high } = self.plain();
        let sound = low.abs().max(high.abs()).max_element() <= reach;
        sound && low.cmple(point).all() && point.cmple(high).all()
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let numbers = self.low.to_array().into_iter().chain(self.high.to_array());
        bytes.extend(numbers.flat_map(f32::to_le_bytes));
    }

    fn read(bytes: &[u8]) -> Aabb {
        let [a, b, c, d, e, f] = read_f32(bytes);
        Aabb { low: Vec3::new(a, b, c), high: Vec3::new(d, e, f) }
    }
}
