//! How long the parts of a tick take a member: for operators, and nothing here depends on it. There
//! is no clock; the driver of the node may hand in a stopwatch.

use super::{Node, Phase};
use crate::object::Class;
use crate::time::Tick;
use crate::view::Epoch;
use jostle_world::Stopwatch;
use std::time::Duration;

/// What a node has spent on the parts of its ticks since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// Ticks that it has gone through.
    pub ticks: u64,
    /// Moving its objects and sorting out who must know of them.
    pub moving: Duration,
    /// Bundles to the others and from them.
    pub bundles: Duration,
    /// Finding what touches.
    pub detect: Duration,
    /// Collecting what was found and doing what was committed.
    pub commit: Duration,
}

/// The stopwatch, if there is one, and what it has shown.
#[derive(Clone, Default)]
pub(super) struct Laps {
    stopwatch: Option<Stopwatch>,
    pub(super) stages: Stages,
}

impl Laps {
    /// What the stopwatch shows; nothing without one.
    pub(super) fn now(&self) -> Duration {
        self.stopwatch.map_or(Duration::ZERO, |read| read())
    }
}

impl Node {
    /// The same with a stopwatch, so that [`Node::stages`] says how long things take.
    #[must_use]
    pub fn with_stopwatch(mut self, stopwatch: Stopwatch) -> Node {
        self.laps.stopwatch = Some(stopwatch);
        self
    }

    /// What it has spent on the parts of its ticks; no times without a stopwatch.
    #[must_use]
    pub fn stages(&self) -> Stages {
        self.laps.stages
    }

    /// Pairs that it had to decide about in the last tick.
    #[must_use]
    pub fn pairs_tested(&self) -> u64 {
        self.detector.pairs_tested()
    }

    /// The tick that it has looked at and that is not committed yet, and how many pairs it had to
    /// decide about in it; for those who watch.
    #[must_use]
    pub fn compared(&self) -> Option<(Epoch, Tick, u64)> {
        let Phase::Running { view, round } = &self.phase else { return None };
        Some((view.epoch, round.tick, round.complete.as_ref()?.compared))
    }

    /// Objects that it moved in the last tick that was committed, its own.
    #[must_use]
    pub fn moved(&self) -> usize {
        let mine = self.settled.iter().flat_map(|settled| settled.held.mine.values());
        mine.filter(|object| !matches!(object.class, Class::Immovable | Class::Absent)).count()
    }

    /// Pairs that touched in the last tick that was committed, of the whole group.
    #[must_use]
    pub fn collisions(&self) -> usize {
        self.settled.as_ref().map_or(0, |settled| settled.last.touches.len())
    }
}
