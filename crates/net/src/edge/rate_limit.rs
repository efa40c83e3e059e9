//! Rate limits of one connection, applied before anything is decoded.

use super::{Disconnect, EdgeLimits};
use jostle_proto::{RateLimiter, Time};

/// What happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is decoded.
    Accept,
    /// It is dropped.
    Drop,
    /// The connection is closed, with this reason.
    Disconnect(Disconnect),
}

/// The rate limiters of one connection.
#[derive(Clone, Debug)]
pub(super) struct ConnectionLimiter {
    limits: EdgeLimits,
    messages: RateLimiter,
    bytes: RateLimiter,
    excess: RateLimiter,
    malformed: u32,
}

impl ConnectionLimiter {
    pub(super) fn new(now: Time, limits: &EdgeLimits) -> ConnectionLimiter {
        ConnectionLimiter {
            limits: *limits,
            messages: RateLimiter::full(now, limits.messages),
            bytes: RateLimiter::full(now, limits.bytes),
            excess: RateLimiter::full(now, limits.excess),
            malformed: 0,
        }
    }

    /// Takes one message of so many bytes from the limits.
    pub(super) fn check(&mut self, now: Time, bytes: usize) -> Verdict {
        let EdgeLimits { messages, bytes: byte_rate, excess, .. } = self.limits;
        let within =
            self.messages.take(now, 1, messages) && self.bytes.take(now, bytes as u64, byte_rate);
        match within {
            true => Verdict::Accept,
            false if self.excess.take(now, 1, excess) => Verdict::Drop,
            false => Verdict::Disconnect(Disconnect::Flood),
        }
    }

    /// Counts a malformed message.
    pub(super) fn malformed(&mut self) -> Verdict {
        self.malformed += 1;
        match self.malformed {
            malformed if malformed >= self.limits.malformed => {
                Verdict::Disconnect(Disconnect::Malformed)
            }
            _ => Verdict::Drop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_proto::Span;

    #[test]
    fn a_flood_is_dropped_and_then_disconnected() {
        let start = Time(0);
        let limits = EdgeLimits::default();
        let mut limiter = ConnectionLimiter::new(start, &limits);
        let all: Vec<Verdict> = (0..2481).map(|_| limiter.check(start, 60)).collect();
        assert!(all[..480].iter().all(|verdict| *verdict == Verdict::Accept));
        assert!(all[480..2480].iter().all(|verdict| *verdict == Verdict::Drop));
        assert!(matches!(all[2480], Verdict::Disconnect(_)));
        // After a pause, messages are accepted again.
        let later = start + Span::from_ms(1000);
        assert_eq!(limiter.check(later, 60), Verdict::Accept);
    }

    #[test]
    fn malformed_messages_are_counted() {
        let mut limiter = ConnectionLimiter::new(Time(0), &EdgeLimits::default());
        assert!((0..99).all(|_| limiter.malformed() == Verdict::Drop));
        assert!(matches!(limiter.malformed(), Verdict::Disconnect(_)));
    }
}
