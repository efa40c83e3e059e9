//! How far a walk goes, and how that follows from what the frames before took.

use std::num::NonZeroUsize;
use std::time::Duration;

/// Ends of a walk: the two parameters of the thesis' algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// No deeper; its parameter −1 is none.
    pub depth: Option<u32>,
    /// No more contacts; its parameter below 1 is none.
    pub contacts: Option<NonZeroUsize>,
}

impl Detail {
    /// To the end.
    pub const ALL: Detail = Detail { depth: None, contacts: None };
    /// Until the first contact.
    pub const FIRST_CONTACT: Detail = Detail { depth: None, contacts: Some(NonZeroUsize::MIN) };

    /// The detail of the next frame: one level less if this one took longer than it may, one more
    /// if not, from `least` to `most` levels.
    #[must_use]
    pub fn next(self, spent: Duration, budget: Duration, [least, most]: [u32; 2]) -> Detail {
        let depth = self.depth.unwrap_or(most);
        let depth = if spent > budget { depth.saturating_sub(1) } else { depth.saturating_add(1) };
        Detail { depth: Some(depth.clamp(least, most.max(least))), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detail_falls_with_the_time_and_comes_back() {
        let budget = Duration::from_millis(10);
        let mut detail = Detail::ALL;
        for expected in [11, 10, 9, 8, 8, 8] {
            detail = detail.next(budget * 2, budget, [8, 12]);
            assert_eq!(detail.depth, Some(expected));
        }
        for expected in [9, 10, 11, 12, 12] {
            detail = detail.next(budget, budget, [8, 12]);
            assert_eq!(detail.depth, Some(expected));
        }
    }
}
