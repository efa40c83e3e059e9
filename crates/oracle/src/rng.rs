//! A small random source with a fixed sequence per seed, the same on every machine.

/// SplitMix64 (Steele, Lea, Flood, *Fast Splittable Pseudorandom Number Generators*, 2014).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The source for one case: every (seed, stream, case) has its own sequence.
    #[must_use]
    pub fn new(seed: u64, stream: u64, case: u64) -> Rng {
        let mut rng = Rng(seed);
        for part in [stream, case] {
            rng.0 = rng.bits() ^ part;
        }
        rng
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        jostle_dice::bits(&mut self.0)
    }

    /// A whole number below `end`, as evenly as makes no difference for small ends.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// From −1 to 1, in steps of 2^-52.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// From 0 to 1.
    pub fn part(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of the given.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
