//! Numbers that look random and are the same in every run.

use glam::Vec3;
use jostle_geom::Aabb;

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        jostle_dice::bits(&mut self.0)
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (self.next() % u64::from(limit)) as u32
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    /// Every coordinate from `low` to `high`.
    pub(crate) fn point(&mut self, low: f32, high: f32) -> Vec3 {
        Vec3::from_array([0; 3].map(|_| low + (high - low) * self.unit()))
    }

    /// From 10^`low` to 10^`high`, all magnitudes alike.
    pub(crate) fn magnitude(&mut self, low: f32, high: f32) -> f32 {
        10f32.powf(low + (high - low) * self.unit())
    }

    /// A cube of side 1 somewhere in a larger one.
    pub(crate) fn unit_cube(&mut self, world: f32) -> Aabb {
        let corner = self.point(0.0, world);
        Aabb::around(corner, corner + 1.0)
    }
}
