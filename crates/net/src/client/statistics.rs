//! How much a connection has said, and how long things took.

use jostle_proto::{ClientSays, GatewaySays, Time};
use std::collections::VecDeque;
use std::time::Duration;

/// Samples that are kept; the oldest go.
const SAMPLES_MAX: usize = 4096;

/// Wants that are waited for.
const WANTS_MAX: usize = 64;

/// What was counted, over all lines that a client has had.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Lines to doors.
    pub lines: u64,
    /// Letters sent.
    pub letters_out: u64,
    /// Bytes of those.
    pub bytes_out: u64,
    /// Letters that came.
    pub letters_in: u64,
    /// Bytes of those.
    pub bytes_in: u64,
    /// Bytes that left as packets, with all that QUIC adds; of the line that there is now.
    pub wire_out: u64,
    /// Bytes that came as packets.
    pub wire_in: u64,
    /// Glimpses among the letters.
    pub glimpses: u64,
    /// From one glimpse to the next.
    pub intervals: VecDeque<Duration>,
    /// From saying what is wanted to hearing that the world has followed it.
    pub answers: VecDeque<Duration>,
    /// There and back, as QUIC has it.
    pub round_trip: Duration,
    seen: Option<Time>,
    wants: VecDeque<(u64, Time)>,
}

fn keep(samples: &mut VecDeque<Duration>, since: Time, now: Time) {
    if samples.len() >= SAMPLES_MAX {
        samples.pop_front();
    }
    samples.push_back(Duration::from_micros((now - since).0));
}

impl Statistics {
    /// A new line: what was waited for will not come.
    pub(super) fn new_line(&mut self) {
        self.lines += 1;
        self.seen = None;
        self.wants.clear();
    }

    pub(super) fn said(&mut self, now: Time, says: &ClientSays, bytes: usize) {
        self.letters_out += 1;
        self.bytes_out += bytes as u64;
        if let ClientSays::Report(report) = says
            && let Some(want) = report.want
        {
            if self.wants.len() >= WANTS_MAX {
                self.wants.pop_front();
            }
            self.wants.push_back((want.number, now));
        }
    }

    pub(super) fn heard(&mut self, now: Time, says: &GatewaySays, bytes: usize) {
        self.letters_in += 1;
        self.bytes_in += bytes as u64;
        let GatewaySays::Glimpse(glimpse) = says else { return };
        self.glimpses += 1;
        if let Some(seen) = self.seen.replace(now) {
            keep(&mut self.intervals, seen, now);
        }
        while let Some((number, said)) = self.wants.front().copied()
            && number <= glimpse.followed
        {
            self.wants.pop_front();
            if number == glimpse.followed {
                keep(&mut self.answers, said, now);
            }
        }
    }
}
