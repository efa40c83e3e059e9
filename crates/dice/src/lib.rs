//! Random numbers of tests and experiments, with a fixed sequence for each seed.
//!
//! The state is a number that the caller keeps, so that each test may draw what it needs from the
//! same bits. Numbers that others rely on (golden hashes, documented seeds) come from these bits,
//! so they never change.

use glam::{DQuat, DVec3};

/// The next 64 random bits: SplitMix64 (Steele, Lea, Flood, *Fast Splittable Pseudorandom Number
/// Generators*, 2014). Any state is a good seed.
///
/// ```
/// let mut state = 1;
/// assert_eq!(jostle_dice::bits(&mut state), 0x910a_2dec_8902_5cc1);
/// ```
pub fn bits(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mix(*state)
}

/// Scatters a number: numbers that differ little give bits that differ much.
fn mix(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The next whole number below `end`, as evenly as makes no difference for small ends.
///
/// # Panics
/// If `end` is 0.
pub fn below(state: &mut u64, end: u64) -> u64 {
    bits(state) % end
}

/// The next number from 0 to 1, in steps of 2^-53.
pub fn part(state: &mut u64) -> f64 {
    (bits(state) >> 11) as f64 / (1u64 << 53) as f64
}

/// The next number from −1 to 1, in steps of 2^-52.
pub fn signed(state: &mut u64) -> f64 {
    (bits(state) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// The same with the state inside.
///
/// ```
/// let mut random = jostle_dice::Random(1);
/// assert_eq!(random.bits(), 0x910a_2dec_8902_5cc1);
/// assert!(random.below(6) < 6);
/// ```
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 random bits, as [`bits`].
    pub fn bits(&mut self) -> u64 {
        bits(&mut self.0)
    }

    /// An index into so many, as [`below`].
    ///
    /// # Panics
    /// If `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        below(&mut self.0, end as u64) as usize
    }

    /// From 0 to 1, as [`part`].
    pub fn part(&mut self) -> f64 {
        part(&mut self.0)
    }

    /// From −1 to 1, as [`signed`].
    pub fn signed(&mut self) -> f64 {
        signed(&mut self.0)
    }

    /// In the cube from −1 to 1.
    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed())
    }

    /// Any rotation, not of length 1.
    pub fn rotation(&mut self) -> DQuat {
        DQuat::from_xyzw(self.signed(), self.signed(), self.signed(), self.signed() + 1e-3)
    }

    /// Whether something happens that happens so many times in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_where_they_should_be_and_spread_evenly() {
        let mut state = 7;
        let mut counts = [0; 10];
        for _ in 0..10_000 {
            let (part, signed) = (part(&mut state), signed(&mut state));
            assert!((0.0..1.0).contains(&part) && (-1.0..1.0).contains(&signed));
            counts[below(&mut state, 10) as usize] += 1;
            counts[(part * 10.0) as usize] += 1;
            counts[((signed + 1.0) * 5.0) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (2800..3200).contains(count)), "{counts:?}");
    }
}
