//! The only source of chance: everything that a run does follows from its seed.

/// Numbers that a seed decides about (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Dice of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.any()) * u128::from(end)) >> 64) as u64
    }

    /// A number from `low` to `high`, both possible.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.wrapping_sub(low).max(0) as u64;
        low + self.below(span.saturating_add(1)) as i64
    }

    /// True once in `parts` of a million.
    pub fn once_in_million(&mut self, parts: u32) -> bool {
        self.below(1_000_000) < u64::from(parts)
    }

    /// True in one of two cases.
    pub fn coin(&mut self) -> bool {
        self.any() & 1 == 1
    }
}
