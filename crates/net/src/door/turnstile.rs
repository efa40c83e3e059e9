//! How much may be said: counted before anything is decoded.

use super::{Disconnect, DoorLimits};
use jostle_proto::Allowance;
use std::time::Instant;

/// An allowance that fills up with time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    allowance: Allowance,
    /// In millionths.
    level: u64,
    at: Instant,
}

const WHOLE: u64 = 1_000_000;

impl Bucket {
    /// A full one.
    pub(super) fn full(now: Instant, allowance: Allowance) -> Bucket {
        Bucket { allowance, level: allowance.most.saturating_mul(WHOLE), at: now }
    }

    fn fill(&mut self, now: Instant) {
        let gained = now.saturating_duration_since(self.at).as_micros() as u64;
        let gained = gained.saturating_mul(self.allowance.per_second);
        let most = self.allowance.most.saturating_mul(WHOLE);
        self.level = self.level.saturating_add(gained).min(most);
        self.at = self.at.max(now);
    }

    /// Takes so much, if there is so much.
    pub(super) fn take(&mut self, now: Instant, cost: u64) -> bool {
        self.fill(now);
        let cost = cost.saturating_mul(WHOLE);
        let enough = self.level >= cost;
        if enough {
            self.level -= cost;
        }
        enough
    }

    /// Has nothing been taken that has not come back?
    pub(super) fn is_full(&mut self, now: Instant) -> bool {
        self.fill(now);
        self.level >= self.allowance.most.saturating_mul(WHOLE)
    }
}

/// What becomes of something that a connection says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is looked at.
    Take,
    /// It is thrown away.
    Drop,
    /// It is the last one: the connection is closed, and this is why.
    Out(Disconnect),
}

/// What one connection may say.
#[derive(Clone, Debug)]
pub(super) struct Turnstile {
    messages: Bucket,
    bytes: Bucket,
    excess: Bucket,
    garbage: u32,
    garbage_most: u32,
}

impl Turnstile {
    pub(super) fn new(now: Instant, limits: &DoorLimits) -> Turnstile {
        Turnstile {
            messages: Bucket::full(now, limits.messages),
            bytes: Bucket::full(now, limits.bytes),
            excess: Bucket::full(now, limits.excess),
            garbage: 0,
            garbage_most: limits.garbage,
        }
    }

    /// Something has come, of so many bytes.
    pub(super) fn pass(&mut self, now: Instant, bytes: usize) -> Verdict {
        match () {
            () if self.messages.take(now, 1) && self.bytes.take(now, bytes as u64) => Verdict::Take,
            () if self.excess.take(now, 1) => Verdict::Drop,
            () => Verdict::Out(Disconnect::Flood),
        }
    }

    /// And it was nothing that can be understood.
    pub(super) fn garbage(&mut self) -> Verdict {
        self.garbage += 1;
        match self.garbage {
            garbage if garbage >= self.garbage_most => Verdict::Out(Disconnect::Malformed),
            _ => Verdict::Drop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_flood_is_thrown_away_and_then_put_out() {
        let start = Instant::now();
        let limits = DoorLimits::default();
        let mut turnstile = Turnstile::new(start, &limits);
        let all: Vec<Verdict> = (0..2481).map(|_| turnstile.pass(start, 60)).collect();
        assert!(all[..480].iter().all(|verdict| *verdict == Verdict::Take));
        assert!(all[480..2480].iter().all(|verdict| *verdict == Verdict::Drop));
        assert!(matches!(all[2480], Verdict::Out(_)));
        // Who waits may speak again.
        let later = start + Duration::from_secs(1);
        assert_eq!(turnstile.pass(later, 60), Verdict::Take);
    }

    #[test]
    fn garbage_is_counted() {
        let mut turnstile = Turnstile::new(Instant::now(), &DoorLimits::default());
        assert!((0..99).all(|_| turnstile.garbage() == Verdict::Drop));
        assert!(matches!(turnstile.garbage(), Verdict::Out(_)));
    }

    #[test]
    fn a_bucket_fills_up() {
        let start = Instant::now();
        let mut bucket = Bucket::full(start, Allowance { per_second: 10, most: 5 });
        assert!((0..5).all(|_| bucket.take(start, 1)) && !bucket.take(start, 1));
        let later = start + Duration::from_millis(100);
        assert!(bucket.take(later, 1) && !bucket.take(later, 1) && !bucket.is_full(later));
        assert!(bucket.is_full(later + Duration::from_secs(1)));
    }
}
