//! Rates and percentiles of the recent past: without new events rates fall to zero and percentiles
//! become `None`, so that a figure that has stopped changing does not look current.

use jostle_proto::{Span, Time};
use serde::Serialize;
use std::collections::VecDeque;

/// Window of rates.
const WINDOW: Span = Span::from_ms(5000);

/// Percentiles are of samples of at most this age, and of at most so many.
const SAMPLES_AGE: Span = Span::from_ms(10_000);
const SAMPLES: usize = 1024;

/// Events per second over the last [`WINDOW`].
#[derive(Debug, Default)]
pub(super) struct Rate {
    /// When counting began: the window is shorter until it is full.
    start: Option<Time>,
    events: VecDeque<(Time, u64)>,
}

impl Rate {
    /// Counting starts now.
    pub(super) fn restart(&mut self, now: Time) {
        (self.start, self.events) = (Some(now), VecDeque::new());
    }

    pub(super) fn count(&mut self, now: Time, events: u64) {
        self.events.push_back((now, events));
        while self.events.front().is_some_and(|(at, _)| now - *at >= WINDOW) {
            self.events.pop_front();
        }
    }

    pub(super) fn per_second(&self, now: Time) -> f64 {
        let Some(start) = self.start else { return 0.0 };
        let window = (now - start).0.min(WINDOW.0);
        let recent = self.events.iter().filter(|(at, _)| now - *at < WINDOW);
        let events: u64 = recent.map(|(_, events)| events).sum();
        if window == 0 { 0.0 } else { events as f64 * 1e6 / window as f64 }
    }
}

/// The newest durations of one kind.
#[derive(Debug, Default)]
pub(super) struct Samples(VecDeque<(Time, u64)>);

impl Samples {
    pub(super) fn push(&mut self, now: Time, span: Span) {
        if self.0.len() == SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back((now, span.0));
    }

    /// `None` without a recent sample.
    pub(super) fn percentiles(&self, now: Time) -> Option<Percentiles> {
        let recent = self.0.iter().filter(|(at, _)| now - *at <= SAMPLES_AGE);
        let mut sorted: Vec<u64> = recent.map(|(_, span)| *span).collect();
        sorted.sort_unstable();
        let at = |part: usize| sorted.get((sorted.len().saturating_sub(1)) * part / 100);
        let (p50, p99) = (at(50)?, at(99)?);
        Some(Percentiles { p50: *p50 as f64 / 1000.0, p99: *p99 as f64 / 1000.0 })
    }
}

/// In milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Percentiles {
    pub(super) p50: f64,
    pub(super) p99: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time(0) + Span::from_ms(ms)
    }

    /// The story: a world at 30 ticks per second slows down to 3.4, and its status still says 20.5,
    /// because the mean was over a number of ticks and not over a time.
    #[test]
    fn a_world_that_slows_down_is_reported_as_slow_and_one_that_stands_has_no_rate() {
        let mut rate = Rate::default();
        assert_eq!(rate.per_second(ms(0)), 0.0);
        rate.restart(ms(0));
        assert_eq!(rate.per_second(ms(0)), 0.0);
        (1..=1200).for_each(|tick| rate.count(ms(tick * 1000 / 30), 1));
        let fast = rate.per_second(ms(40_000));
        assert!((29.5..30.5).contains(&fast), "{fast}");
        (1..=34).for_each(|tick| rate.count(ms(40_000 + tick * 10_000 / 34), 1));
        let slow = rate.per_second(ms(50_000));
        assert!((3.0..3.8).contains(&slow), "{slow}");
        assert_eq!(rate.per_second(ms(55_000)), 0.0);
    }

    #[test]
    fn a_rate_is_right_before_its_window_is_full() {
        let mut rate = Rate::default();
        rate.restart(ms(100));
        (1..=30).for_each(|tick| rate.count(ms(100 + tick * 1000 / 30), 1));
        let first = rate.per_second(ms(1100));
        assert!((29.5..30.5).contains(&first), "{first}");
        // Ticks that arrive together count as ticks.
        rate.restart(ms(2000));
        rate.count(ms(3000), 10);
        assert_eq!(rate.per_second(ms(3000)), 10.0);
    }

    #[test]
    fn percentiles_of_what_has_ended_are_not_known() {
        let mut samples = Samples::default();
        (1..=100).for_each(|it| samples.push(ms(it), Span::from_ms(it)));
        let expected = Percentiles { p50: 50.0, p99: 99.0 };
        assert_eq!(samples.percentiles(ms(100)), Some(expected));
        assert_eq!(samples.percentiles(ms(20_000)), None);
        samples.push(ms(20_000), Span::from_ms(7));
        assert_eq!(samples.percentiles(ms(20_000)), Some(Percentiles { p50: 7.0, p99: 7.0 }));
    }
}
