//! The outbound queue of a WebSocket: bounded, and of state updates only the newest is kept.

use jostle_proto::GatewaySays;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// Messages other than state updates, at most; the oldest are dropped.
const MESSAGES_MAX: usize = 16;

#[derive(Default)]
struct Waiting {
    messages: VecDeque<GatewaySays>,
    update: Option<GatewaySays>,
}

/// Messages that wait to be written to one WebSocket.
#[derive(Default)]
pub(super) struct OutboundQueue {
    messages: Mutex<Waiting>,
    filled: Notify,
}

impl OutboundQueue {
    /// Adds a message; returns how many were dropped for it.
    pub(super) fn push(&self, says: GatewaySays) -> u64 {
        let mut pending = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = if matches!(says, GatewaySays::Glimpse(_)) {
            pending.update.replace(says).is_some()
        } else {
            pending.messages.push_back(says);
            pending.messages.len() > MESSAGES_MAX && pending.messages.pop_front().is_some()
        };
        drop(pending);
        self.filled.notify_one();
        u64::from(lost)
    }

    fn take(&self) -> Option<GatewaySays> {
        let mut pending = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        pending.messages.pop_front().or_else(|| pending.update.take())
    }

    /// The next message. Cancel-safe: dropping the future loses none.
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

    fn update(tick: u64) -> GatewaySays {
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
        let outbound = OutboundQueue::default();
        let lost: u64 = (1..=5).map(|tick| outbound.push(update(tick))).sum();
        assert_eq!(lost, 4);
        let refused = |attempt| GatewaySays::Refused { attempt, why: Refusal::Full };
        let lost: u64 = (1..=20).map(|attempt| outbound.push(refused(attempt))).sum();
        assert_eq!(lost, 4);
        let all: Vec<GatewaySays> = std::iter::from_fn(|| outbound.take()).collect();
        let expected: Vec<GatewaySays> = (5..=20).map(refused).chain([update(5)]).collect();
        assert_eq!(all, expected);
    }
}
