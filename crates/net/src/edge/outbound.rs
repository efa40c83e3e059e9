//! The outbound queue of a WebSocket: bounded, and of state updates only the newest is kept.

use jostle_proto::GatewayMessage;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// Messages other than state updates, at most; the oldest are dropped.
const MESSAGES_MAX: usize = 16;

#[derive(Default)]
struct Waiting {
    messages: VecDeque<GatewayMessage>,
    update: Option<GatewayMessage>,
}

/// Messages that wait to be written to one WebSocket.
#[derive(Default)]
pub(super) struct OutboundQueue {
    messages: Mutex<Waiting>,
    filled: Notify,
}

impl OutboundQueue {
    /// Adds a message; returns how many were dropped for it.
    pub(super) fn push(&self, message: GatewayMessage) -> u64 {
        let mut pending = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = if matches!(message, GatewayMessage::StateUpdate(_)) {
            pending.update.replace(message).is_some()
        } else {
            pending.messages.push_back(message);
            pending.messages.len() > MESSAGES_MAX && pending.messages.pop_front().is_some()
        };
        drop(pending);
        self.filled.notify_one();
        u64::from(lost)
    }

    fn take(&self) -> Option<GatewayMessage> {
        let mut pending = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        pending.messages.pop_front().or_else(|| pending.update.take())
    }

    /// The next message. Cancel-safe: dropping the future loses none.
    pub(super) async fn next(&self) -> GatewayMessage {
        loop {
            if let Some(message) = self.take() {
                return message;
            }
            self.filled.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_proto::Tick;
    use jostle_proto::client::{Refusal, StateUpdate};

    fn update(tick: u64) -> GatewayMessage {
        GatewayMessage::StateUpdate(StateUpdate {
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
    fn the_newest_update_and_the_newest_messages_are_kept() {
        let outbound = OutboundQueue::default();
        let lost: u64 = (1..=5).map(|tick| outbound.push(update(tick))).sum();
        assert_eq!(lost, 4);
        let refused = |attempt| GatewayMessage::Refused { attempt, why: Refusal::Full };
        let lost: u64 = (1..=20).map(|attempt| outbound.push(refused(attempt))).sum();
        assert_eq!(lost, 4);
        let all: Vec<GatewayMessage> = std::iter::from_fn(|| outbound.take()).collect();
        let expected: Vec<GatewayMessage> = (5..=20).map(refused).chain([update(5)]).collect();
        assert_eq!(all, expected);
    }
}
