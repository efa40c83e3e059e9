//! Letters for a WebSocket that its task has not come to yet: few, and of what is seen only the
//! newest.

use jostle_proto::GatewaySays;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// Letters besides the glimpse that wait, at most; the oldest go first.
const LETTERS_MAX: usize = 16;

#[derive(Default)]
struct Letters {
    letters: VecDeque<GatewaySays>,
    glimpse: Option<GatewaySays>,
}

/// What waits for one reader.
#[derive(Default)]
pub(super) struct Mailbox {
    letters: Mutex<Letters>,
    filled: Notify,
}

impl Mailbox {
    /// One more; how many are lost by that.
    pub(super) fn put(&self, says: GatewaySays) -> u64 {
        let mut waiting = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = if matches!(says, GatewaySays::Glimpse(_)) {
            waiting.glimpse.replace(says).is_some()
        } else {
            waiting.letters.push_back(says);
            waiting.letters.len() > LETTERS_MAX && waiting.letters.pop_front().is_some()
        };
        drop(waiting);
        self.filled.notify_one();
        u64::from(lost)
    }

    fn take(&self) -> Option<GatewaySays> {
        let mut waiting = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.letters.pop_front().or_else(|| waiting.glimpse.take())
    }

    /// The next one; may be given up at any time without losing any.
    pub(super) async fn next(&self) -> GatewaySays {
        loop {
            if let Some(says) = self.take() {
                return says;
            }
            self.filled.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_proto::Tick;
    use jostle_proto::client::{Glimpse, Refusal};

    fn glimpse(tick: u64) -> GatewaySays {
        GatewaySays::Glimpse(Glimpse {
            attempt: 1,
            tick: Tick(tick),
            dilation: 1000,
            base: None,
            near: Vec::new(),
            far: Vec::new(),
            kinds: Vec::new(),
            followed: 0,
            followed_at: Tick(0),
            contacts: Vec::new(),
        })
    }

    #[test]
    fn the_newest_glimpse_and_the_newest_letters_are_kept() {
        let mailbox = Mailbox::default();
        let lost: u64 = (1..=5).map(|tick| mailbox.put(glimpse(tick))).sum();
        assert_eq!(lost, 4);
        let refused = |attempt| GatewaySays::Refused { attempt, why: Refusal::Full };
        let lost: u64 = (1..=20).map(|attempt| mailbox.put(refused(attempt))).sum();
        assert_eq!(lost, 4);
        let all: Vec<GatewaySays> = std::iter::from_fn(|| mailbox.take()).collect();
        let expected: Vec<GatewaySays> = (5..=20).map(refused).chain([glimpse(5)]).collect();
        assert_eq!(all, expected);
    }
}
