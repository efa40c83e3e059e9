//! A viewer: its interest, and its outbound queue. At most one frame is queued; after a dropped
//! frame the viewer gets a whole one as soon as it is ready for it.

use super::snapshot::WorldSnapshot;
use axum::extract::ws::Message;
use bytes::Bytes;
use jostle_proto::ObjectId;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Answers in the queue, at most; the oldest are dropped.
const ANSWERS_MAX: usize = 16;

/// Topics of repeated messages: of each only the newest is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Settings of a demo, or the position of a recording.
    State,
    Regions,
    Status,
    Contacts,
    Near,
}

const TOPICS: usize = 5;

#[derive(Default)]
struct Waiting {
    answers: VecDeque<Message>,
    topics: [Option<Message>; TOPICS],
    frame: Option<Bytes>,
    /// A frame was dropped, so the next one must be whole.
    behind: bool,
    /// A message is being sent.
    busy: bool,
}

/// What a viewer continuously queries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Interest {
    pub(crate) selected: Option<ObjectId>,
    /// In metres.
    pub(crate) clearance: Option<f64>,
}

/// A viewer.
pub(crate) struct Viewer {
    waiting: Mutex<Waiting>,
    filled: Notify,
    interest: Mutex<Interest>,
    /// The held world, if any.
    held: Mutex<Held>,
}

/// A held world.
#[derive(Default)]
struct Held {
    scene: Option<Arc<WorldSnapshot>>,
    /// The interest that was last answered for it.
    answered: Interest,
}

/// What a viewer needs in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// It is busy, and will need a whole frame afterwards.
    Nothing,
    /// The changes.
    Change,
    /// A whole frame.
    Whole,
}

impl Viewer {
    pub(crate) fn new() -> Viewer {
        Viewer {
            waiting: Mutex::new(Waiting { behind: true, ..Waiting::default() }),
            filled: Notify::new(),
            interest: Mutex::default(),
            held: Mutex::default(),
        }
    }

    /// A poisoned lock is used: every update under it is complete at each step.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn interest(&self) -> Interest {
        *self.interest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A poisoned lock is used: every update under it is complete at each step.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The world that its queries refer to; `None` for the newest.
    pub(crate) fn scene(&self) -> Option<Arc<WorldSnapshot>> {
        self.held().scene.clone()
    }

    /// Holds this world, or releases it.
    pub(crate) fn hold(&self, scene: Option<Arc<WorldSnapshot>>) {
        *self.held() = Held { scene, answered: Interest::default() };
    }

    /// Returns true for a new interest in a held world: each is answered once.
    pub(crate) fn is_untold(&self, interest: Interest) -> bool {
        std::mem::replace(&mut self.held().answered, interest) != interest
    }

    pub(crate) fn set_interest(&self, change: impl FnOnce(&mut Interest)) {
        change(&mut self.interest.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Called for each new tick: what does the viewer need? A frame that was not sent yet is
    /// dropped.
    pub(crate) fn due(&self) -> Due {
        let mut waiting = self.waiting();
        if waiting.frame.take().is_some() {
            waiting.behind = true;
        }
        match (waiting.behind, waiting.busy) {
            (false, _) => Due::Change,
            (true, false) => Due::Whole,
            (true, true) => Due::Nothing,
        }
    }

    /// Returns true if it waits for a whole frame.
    pub(crate) fn is_behind(&self) -> bool {
        let waiting = self.waiting();
        waiting.behind && !waiting.busy
    }

    /// Queues the frame that was due.
    pub(crate) fn put_frame(&self, frame: Bytes) {
        let mut waiting = self.waiting();
        waiting.frame = Some(frame);
        waiting.behind = false;
        drop(waiting);
        self.filled.notify_one();
    }

    /// The world was replaced: queues its `world` message, and then a whole frame.
    pub(crate) fn begin_anew(&self, world: Message) {
        let mut waiting = self.waiting();
        (waiting.frame, waiting.behind) = (None, true);
        drop(waiting);
        self.put_answer(world);
    }

    /// Queues a message that replaces the last one of its topic.
    pub(crate) fn put_news(&self, topic: Topic, message: Message) {
        self.waiting().topics[topic as usize] = Some(message);
        self.filled.notify_one();
    }

    /// Queues an answer.
    pub(crate) fn put_answer(&self, message: Message) {
        let mut waiting = self.waiting();
        if waiting.answers.len() >= ANSWERS_MAX {
            waiting.answers.pop_front();
        }
        waiting.answers.push_back(message);
        drop(waiting);
        self.filled.notify_one();
    }

    /// The next message, if there is one.
    pub(super) fn take(&self) -> Option<Message> {
        let mut waiting = self.waiting();
        let waiting = &mut *waiting;
        let topic = || waiting.topics.iter_mut().find_map(Option::take);
        let next = waiting.answers.pop_front().or_else(topic);
        let next = next.or_else(|| waiting.frame.take().map(Message::Binary));
        waiting.busy = next.is_some();
        next
    }

    /// The next message. Cancel-safe: dropping the future loses none. Calling it again means that
    /// the last one was sent.
    pub(crate) async fn next(&self) -> Message {
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

    fn frame(number: u8) -> Bytes {
        Bytes::copy_from_slice(&[number])
    }

    #[test]
    fn who_is_slow_gets_a_whole_frame_when_it_has_time() {
        let viewer = Viewer::new();
        assert_eq!(viewer.due(), Due::Whole);
        viewer.put_frame(frame(1));
        assert_eq!(viewer.take(), Some(Message::Binary(frame(1))));
        // Frame 1 is being sent: one more may wait.
        assert_eq!(viewer.due(), Due::Change);
        viewer.put_frame(frame(2));
        assert_eq!(viewer.due(), Due::Nothing);
        assert!(!viewer.is_behind());
        assert_eq!(viewer.due(), Due::Nothing);
        // The queue is empty: frame 2 was dropped.
        assert_eq!(viewer.take(), None);
        assert!(viewer.is_behind());
        assert_eq!(viewer.due(), Due::Whole);
        viewer.put_frame(frame(5));
        assert_eq!(viewer.take(), Some(Message::Binary(frame(5))));
        assert_eq!(viewer.due(), Due::Change);
    }

    #[test]
    fn of_news_only_the_newest_waits_and_answers_are_bounded() {
        let viewer = Viewer::new();
        let text = |number: usize| Message::Text(number.to_string().into());
        (0..5).for_each(|number| viewer.put_news(Topic::Status, text(number)));
        viewer.put_news(Topic::State, text(7));
        (0..20).for_each(|number| viewer.put_answer(text(number)));
        viewer.put_frame(frame(1));
        let all: Vec<Message> = std::iter::from_fn(|| viewer.take()).collect();
        let mut expected: Vec<Message> = (4..20).map(text).collect();
        expected.extend([text(7), text(4), Message::Binary(frame(1))]);
        assert_eq!(all, expected);
    }
}
