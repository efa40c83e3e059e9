//! What a step did: events, counts and times.

use crate::BodyId;
use crate::contact::Event;
use std::time::Duration;

/// Reads a clock: the time since any fixed moment.
pub type Stopwatch = fn() -> Duration;

/// What a step did. The events are sorted by pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Which step this was; the first is 1.
    pub step: u64,
    /// What began and what ended. What went on is in [`World::events`](crate::World::events).
    pub events: Vec<Event>,
    /// What was done how often.
    pub counts: Counts,
    /// How long each stage took; zero without a stopwatch.
    pub times: Times,
    /// What a budget did to the answers; without a budget, nothing.
    pub limited: Limited,
}

/// How often things were done in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bodies that moved or changed otherwise.
    pub changed: usize,
    /// Boxes compared with boxes by the broad phase.
    pub box_tests: u64,
    /// Places changed in the structure of the broad phase.
    pub structure_updates: u64,
    /// Pairs whose boxes overlap, at least one of them changed.
    pub candidates: usize,
    /// Pairs that are asked about, and that were tested.
    pub tested: usize,
    /// Contacts after the step, old and new.
    pub contacts: usize,
    /// Bodies that responded.
    pub responses: usize,
}

/// How long the stages of a step took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Boxes of changed bodies.
    pub volumes: Duration,
    /// Pairs of overlapping boxes.
    pub broad: Duration,
    /// Which of them are asked about.
    pub filters: Duration,
    /// Exact tests.
    pub narrow: Duration,
    /// What began and ended.
    pub events: Duration,
    /// What bodies do about it.
    pub responses: Duration,
}

impl Times {
    /// All stages together.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.volumes + self.broad + self.filters + self.narrow + self.events + self.responses
    }
}

/// What a budget cut off in a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limited {
    /// How deep hierarchies were opened; `None` for no limit.
    pub depth_max: Option<u32>,
    /// How many contacts were looked for per pair; `None` for all that were asked for.
    pub contacts_max: Option<usize>,
    /// Pairs that are reported because they could not be ruled out, or whose faces may be
    /// incomplete; sorted.
    pub conservative: Vec<[BodyId; 2]>,
}

/// Takes the time between stages.
pub(crate) struct Laps {
    stopwatch: Option<Stopwatch>,
    last: Duration,
}

impl Laps {
    pub(crate) fn start(stopwatch: Option<Stopwatch>) -> Laps {
        Laps { stopwatch, last: stopwatch.map_or(Duration::ZERO, |read| read()) }
    }

    pub(crate) fn lap(&mut self) -> Duration {
        let Some(read) = self.stopwatch else { return Duration::ZERO };
        let now = read();
        let lap = now.saturating_sub(self.last);
        self.last = now;
        lap
    }
}
