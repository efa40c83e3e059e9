//! Which clock times are taken with. On a busy machine the processor time of a thread is fair and
//! the clock on the wall is not; but only the wall knows how long shared work takes.

use cpu_time::ThreadTime;
use serde::Serialize;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Clock {
    /// Processor time of the thread that asks.
    ThreadCpu,
    Wall,
}

impl Clock {
    pub(crate) fn of_threads(threads: usize) -> Clock {
        if threads > 1 { Clock::Wall } else { Clock::ThreadCpu }
    }

    /// Reads it: the time since a fixed moment.
    pub(crate) fn reader(self) -> fn() -> Duration {
        match self {
            Clock::ThreadCpu => || ThreadTime::now().as_duration(),
            Clock::Wall => || {
                static START: OnceLock<Instant> = OnceLock::new();
                START.get_or_init(Instant::now).elapsed()
            },
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Clock::ThreadCpu => "processor time of the thread",
            Clock::Wall => "wall clock",
        }
    }
}

/// Times of steps: their sum and the worst.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    sum: Duration,
    worst: Duration,
    steps: u32,
}

impl Spent {
    pub(crate) fn add(&mut self, time: Duration) {
        self.sum += time;
        self.worst = self.worst.max(time);
        self.steps += 1;
    }

    pub(crate) fn mean_ms(&self) -> f64 {
        milliseconds(self.sum) / f64::from(self.steps.max(1))
    }

    pub(crate) fn worst_ms(&self) -> f64 {
        milliseconds(self.worst)
    }
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
