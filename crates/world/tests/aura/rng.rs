//! A small random source with a fixed sequence per seed.

use glam::DVec3;

/// SplitMix64 (Steele, Lea, Flood, *Fast Splittable Pseudorandom Number Generators*, 2014).
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    fn bits(&mut self) -> u64 {
        jostle_dice::bits(&mut self.0)
    }

    /// A whole number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// From −1 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// In a cube around the origin.
    pub(crate) fn place(&mut self, half_side: f64) -> DVec3 {
        DVec3::new(self.unit(), self.unit(), self.unit()) * half_side
    }

    /// A direction, any as likely as another or nearly so.
    pub(crate) fn direction(&mut self) -> DVec3 {
        loop {
            let place = self.place(1.0);
            if (0.1..1.0).contains(&place.length()) {
                return place.normalize();
            }
        }
    }
}
