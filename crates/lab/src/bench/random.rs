//! A seeded stream of numbers (SplitMix64), written out so that no workload ever changes.

use glam::{DQuat, DVec3};
use std::f64::consts::TAU;

/// A seeded stream of numbers, the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Each seed has a stream of its own.
    #[must_use]
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn bits(&mut self) -> u64 {
        jostle_dice::bits(&mut self.0)
    }

    /// From `low` to `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A point of the cube from −1 to 1.
    pub fn point(&mut self) -> DVec3 {
        DVec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0))
    }

    /// Normally distributed (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.between(0.0, 1.0)).ln()).sqrt();
        radius * (TAU * self.between(0.0, 1.0)).cos()
    }

    /// A rotation, all equally likely.
    pub fn rotation(&mut self) -> DQuat {
        let parts = [0; 4].map(|_| self.normal());
        let length = parts.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 { DQuat::from_array(parts.map(|x| x / length)) } else { DQuat::IDENTITY }
    }

    /// A direction, all equally likely.
    pub fn direction(&mut self) -> DVec3 {
        let v = DVec3::new(self.normal(), self.normal(), self.normal());
        v.try_normalize().unwrap_or(DVec3::X)
    }
}
