//! R3: a group that has too much to do slows its world down and says so. (That it leaves no tick
//! out is C3.)

use jostle_proto::{Commit, Time};
use std::collections::VecDeque;

/// Ticks that are looked at together.
const TICKS: usize = 9;

/// Compares how long ticks take with what is said about it.
pub(super) struct Pace {
    /// Between ticks, as it should be, in microseconds.
    period: u64,
    /// When the newest ticks were published, of one view.
    times: VecDeque<(Time, Commit)>,
    /// How often a group was slow and said so.
    pub(super) slowed: u64,
}

impl Pace {
    pub(super) fn new(rate: u32) -> Pace {
        Pace { period: 1_000_000 / u64::from(rate.max(1)), times: VecDeque::new(), slowed: 0 }
    }

    pub(super) fn published(
        &mut self,
        now: Time,
        commit: &Commit,
        violations: &mut Vec<(&'static str, String)>,
    ) {
        let follows = |last: &Commit| {
            last.epoch == commit.epoch && last.group == commit.group && last.tick < commit.tick
        };
        if !self.times.back().is_some_and(|(_, last)| follows(last)) {
            self.times.clear();
        }
        // What is said in this tick is about those before it.
        if self.times.len() == TICKS
            && let (Some((first, _)), Some((last, _))) = (self.times.front(), self.times.back())
        {
            let took = (*last - *first).0 * 1000 / (TICKS as u64 - 1) / self.period.max(1);
            let reported = u64::from(commit.dilation);
            if took > 2000 && reported < 1000 + (took - 1000) / 5 {
                let what = format!("ticks take {took} thousandths of their time, not {reported}");
                violations.push(("R3", format!("tick {}: {what}", commit.tick.0)));
            }
            self.slowed += u64::from(took > 2000);
            self.times.pop_front();
        }
        self.times.push_back((now, commit.clone()));
    }
}
