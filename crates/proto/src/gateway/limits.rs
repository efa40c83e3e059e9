//! How much of something is allowed per second, and how fast an avatar may want to go.

use crate::client::Limits;
use crate::time::Time;

/// A rate limiter: a token bucket, which refills at the rate of its [`Allowance`]. The allowance is
/// passed with each call because that of an avatar changes with its speed limit.
#[derive(Clone, Copy, Debug)]
pub struct RateLimiter {
    /// In millionths.
    level: u64,
    at: Time,
}

/// How fast a bucket fills, and how much it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// What comes in per second.
    pub per_second: u64,
    /// What it holds.
    pub most: u64,
}

const WHOLE: u64 = 1_000_000;

impl RateLimiter {
    /// A limiter with its whole burst available.
    #[must_use]
    pub fn full(now: Time, allowance: Allowance) -> RateLimiter {
        RateLimiter { level: allowance.most.saturating_mul(WHOLE), at: now }
    }

    /// What is in it now.
    pub(super) fn left(&mut self, now: Time, allowance: Allowance) -> u64 {
        let gained = (now - self.at).0.saturating_mul(allowance.per_second);
        let most = allowance.most.saturating_mul(WHOLE);
        self.level = self.level.saturating_add(gained).min(most);
        self.at = self.at.max(now);
        self.level / WHOLE
    }

    /// Takes `cost` if that much is available; returns whether it was.
    pub fn take(&mut self, now: Time, cost: u64, allowance: Allowance) -> bool {
        let enough = self.left(now, allowance) >= cost;
        if enough {
            self.level -= cost * WHOLE;
        }
        enough
    }

    /// Returns true if the whole burst is available: such a limiter is as good as a new one.
    pub fn is_full(&mut self, now: Time, allowance: Allowance) -> bool {
        self.left(now, allowance) >= allowance.most
    }
}

impl Limits {
    /// Full changes may be saved up to turning round at full speed.
    pub(crate) fn change_allowance(&self) -> Allowance {
        Allowance { per_second: u64::from(self.change), most: 2 * u64::from(self.speed) }
    }
}

/// The length of a vector, rounded up.
pub(super) fn length(vector: [i16; 3]) -> u64 {
    let squares: u64 = vector.iter().map(|&part| u64::from(part.unsigned_abs()).pow(2)).sum();
    let root = squares.isqrt();
    root + u64::from(root * root < squares)
}

/// The same direction, and no longer than that.
pub(crate) fn shorten(vector: [i16; 3], most: u64) -> [i16; 3] {
    let now = length(vector);
    if now <= most {
        return vector;
    }
    // Towards zero, so that it is not longer.
    vector.map(|part| (i64::from(part) * most as i64 / now as i64) as i16)
}

/// From one velocity towards another, by no more than that.
pub(super) fn toward(from: [i16; 3], to: [i16; 3], most: u64) -> [i16; 3] {
    let apart = [0, 1, 2].map(|axis: usize| i64::from(to[axis]) - i64::from(from[axis]));
    let squares: i64 = apart.iter().map(|part| part * part).sum();
    let root = squares.isqrt();
    let way = root + i64::from(root * root < squares);
    if way <= most as i64 {
        return to;
    }
    [0, 1, 2].map(|axis: usize| {
        let part = apart[axis] * most as i64 / way;
        // Between two numbers of 16 bits.
        (i64::from(from[axis]) + part) as i16
    })
}

/// How far a velocity is from another, rounded up.
pub(super) fn apart(from: [i16; 3], to: [i16; 3]) -> u64 {
    let squares: i64 =
        (0..3).map(|axis| (i64::from(to[axis]) - i64::from(from[axis])).pow(2)).sum();
    let root = squares.isqrt();
    (root + i64::from(root * root < squares)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_limiter_gives_what_came_in_and_no_more() {
        let allowance = Allowance { per_second: 10, most: 5 };
        let mut limiter = RateLimiter::full(Time(0), allowance);
        let taken = |limiter: &mut RateLimiter, at: u64| {
            (0..100).filter(|_| limiter.take(Time(at), 1, allowance)).count()
        };
        assert_eq!(taken(&mut limiter, 0), 5);
        assert_eq!(taken(&mut limiter, 99_999), 0);
        assert_eq!(taken(&mut limiter, 100_000), 1);
        assert_eq!(taken(&mut limiter, 50_000), 0);
        assert_eq!(taken(&mut limiter, 10_000_000), 5);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn nothing_is_longer_than_allowed(from: [i16; 3], to: [i16; 3], most in 0..70_000u64) {
            prop_assert!(length(shorten(to, most)) <= most);
            prop_assert!(length(to) > most || shorten(to, most) == to);
            let end = toward(from, to, most);
            prop_assert!(apart(from, end) <= most);
            prop_assert!(apart(from, to) > most || end == to);
            // A velocity between two that are short enough is short enough.
            let most_of_both = length(from).max(length(to));
            prop_assert!(length(end) <= most_of_both + 2);
        }
    }
}
