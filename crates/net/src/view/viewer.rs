//! One who watches: what it asks about, and what waits to be sent to it. Never more than one frame
//! waits; who misses one is given a whole one as soon as it has time for it.

use super::scene::Scene;
use axum::extract::ws::Message;
use bytes::Bytes;
use jostle_proto::ObjectId;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Answers that wait, at most; the oldest go first.
const ANSWERS_MAX: usize = 16;

/// Things that are told again and again: of each only the newest waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// How a demo is set, or where a recording is.
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
    /// It lacks a frame, so the next one must be whole.
    behind: bool,
    /// Something is being sent to it.
    busy: bool,
}

/// What it wants to know all the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Interest {
    pub(crate) selected: Option<ObjectId>,
    /// In metres.
    pub(crate) clearance: Option<f64>,
}

/// One who watches.
pub(crate) struct Viewer {
    waiting: Mutex<Waiting>,
    filled: Notify,
    interest: Mutex<Interest>,
    /// The world that it asks about, if that is not the newest.
    held: Mutex<Held>,
}

/// A world that stands still for somebody.
#[derive(Default)]
struct Held {
    scene: Option<Arc<Scene>>,
    /// What was told about it.
    told: Interest,
}

/// What is to be done for a viewer in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// It has something to do, and will need a whole frame afterwards.
    Nothing,
    /// What changed.
    Change,
    /// Everything.
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

    /// Nothing is left half done when a thread panics here.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn interest(&self) -> Interest {
        *self.interest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing is left half done when a thread panics here.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The world that it asks about; none if it is the newest.
    pub(crate) fn scene(&self) -> Option<Arc<Scene>> {
        self.held().scene.clone()
    }

    /// It asks about this world from now on, or about the newest.
    pub(crate) fn hold(&self, scene: Option<Arc<Scene>>) {
        *self.held() = Held { scene, told: Interest::default() };
    }

    /// Is this news about a world that stands still? Each is told once.
    pub(crate) fn is_untold(&self, interest: Interest) -> bool {
        std::mem::replace(&mut self.held().told, interest) != interest
    }

    pub(crate) fn set_interest(&self, change: impl FnOnce(&mut Interest)) {
        change(&mut self.interest.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// There is a new tick: what does it need? A frame that still waits is thrown away.
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

    /// Does it wait for a whole frame?
    pub(crate) fn is_behind(&self) -> bool {
        let waiting = self.waiting();
        waiting.behind && !waiting.busy
    }

    /// The frame that was due.
    pub(crate) fn put_frame(&self, frame: Bytes) {
        let mut waiting = self.waiting();
        waiting.frame = Some(frame);
        waiting.behind = false;
        drop(waiting);
        self.filled.notify_one();
    }

    /// The world has become another one, and is shown anew.
    pub(crate) fn begin_anew(&self, world: Message) {
        let mut waiting = self.waiting();
        (waiting.frame, waiting.behind) = (None, true);
        drop(waiting);
        self.put_answer(world);
    }

    /// News about a topic, instead of what waits about it.
    pub(crate) fn put_news(&self, topic: Topic, message: Message) {
        self.waiting().topics[topic as usize] = Some(message);
        self.filled.notify_one();
    }

    /// An answer.
    pub(crate) fn put_answer(&self, message: Message) {
        let mut waiting = self.waiting();
        if waiting.answers.len() >= ANSWERS_MAX {
            waiting.answers.pop_front();
        }
        waiting.answers.push_back(message);
        drop(waiting);
        self.filled.notify_one();
    }

    /// The next message, if one waits.
    pub(super) fn take(&self) -> Option<Message> {
        let mut waiting = self.waiting();
        let waiting = &mut *waiting;
        let topic = || waiting.topics.iter_mut().find_map(Option::take);
        let next = waiting.answers.pop_front().or_else(topic);
        let next = next.or_else(|| waiting.frame.take().map(Message::Binary));
        waiting.busy = next.is_some();
        next
    }

    /// The next message; may be given up at any time without losing any. Who comes for the next
    /// one has sent the one before.
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
        // It comes back and finds nothing: frame 2 was thrown away.
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
