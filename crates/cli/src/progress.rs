//! A progress bar on stderr, only on a terminal and only for work that takes more than a second.

use indicatif::ProgressBar;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(1);

pub(crate) struct Progress {
    total: u64,
    allowed: bool,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(total: usize, allowed: bool) -> Progress {
        Progress { total: total as u64, allowed, start: Instant::now(), bar: None }
    }

    pub(crate) fn done(&mut self, done: usize) {
        if self.allowed && self.bar.is_none() && self.start.elapsed() > LONG {
            // Draws to stderr, and nothing at all if that is not a terminal.
            self.bar = Some(ProgressBar::new(self.total));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A spinner with a text on stderr for work of unknown length, only on a terminal. Removed when
/// dropped.
pub(crate) struct Working(ProgressBar);

impl Working {
    pub(crate) fn new(what: String) -> Working {
        let bar = ProgressBar::new_spinner().with_message(what);
        bar.enable_steady_tick(Duration::from_millis(200));
        Working(bar)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
