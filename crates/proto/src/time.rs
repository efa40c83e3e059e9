//! Time as drivers give it, and ticks of the shared world.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Sub};

/// A moment, in microseconds since any fixed one. Every machine has its own.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Time(pub u64);

/// A length of time, in microseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span(pub u64);

impl Span {
    /// So many milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms * 1000)
    }

    /// In seconds, for people.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Sub for Time {
    type Output = Span;
    /// How long after the other; nothing if before it.
    fn sub(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

/// A step of the shared world. The first is 0: the world as it was given.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Tick(pub u64);

impl Tick {
    /// The next one. Behind the last, which only a message can name, comes the first.
    #[must_use]
    pub fn next(self) -> Tick {
        Tick(self.0.wrapping_add(1))
    }
}
