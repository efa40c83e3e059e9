//! Traffic and latencies of a client.

use jostle_proto::{ClientMessage, GatewayMessage, Time};
use std::collections::VecDeque;
use std::time::Duration;

/// Samples that are kept; the oldest are dropped.
const SAMPLES_MAX: usize = 4096;

/// Inputs without an acknowledgement, at most.
const INPUTS_MAX: usize = 64;

/// Statistics over all connections that a client has had.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Connections to servers.
    pub links: u64,
    /// Messages sent.
    pub messages_sent: u64,
    /// Bytes of those.
    pub bytes_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Bytes of those.
    pub bytes_received: u64,
    /// UDP bytes sent, with all overhead of QUIC; of the current connection.
    pub udp_sent: u64,
    /// UDP bytes received.
    pub udp_received: u64,
    /// State updates among the received messages.
    pub updates: u64,
    /// Intervals between state updates.
    pub update_intervals: VecDeque<Duration>,
    /// Input latencies: from sending an input to the update that acknowledges it.
    pub input_latencies: VecDeque<Duration>,
    /// Round-trip time as QUIC estimates it.
    pub round_trip: Duration,
    seen: Option<Time>,
    inputs: VecDeque<(u64, Time)>,
}

fn keep(samples: &mut VecDeque<Duration>, since: Time, now: Time) {
    if samples.len() >= SAMPLES_MAX {
        samples.pop_front();
    }
    samples.push_back(Duration::from_micros((now - since).0));
}

impl Statistics {
    /// A new connection: outstanding inputs will not be acknowledged on it.
    pub(super) fn new_link(&mut self) {
        self.links += 1;
        self.seen = None;
        self.inputs.clear();
    }

    pub(super) fn sent(&mut self, now: Time, message: &ClientMessage, bytes: usize) {
        self.messages_sent += 1;
        self.bytes_sent += bytes as u64;
        if let ClientMessage::Report(report) = message
            && let Some(want) = report.want
        {
            if self.inputs.len() >= INPUTS_MAX {
                self.inputs.pop_front();
            }
            self.inputs.push_back((want.number, now));
        }
    }

    pub(super) fn received(&mut self, now: Time, message: &GatewayMessage, bytes: usize) {
        self.messages_received += 1;
        self.bytes_received += bytes as u64;
        let GatewayMessage::StateUpdate(update) = message else { return };
        self.updates += 1;
        if let Some(seen) = self.seen.replace(now) {
            keep(&mut self.update_intervals, seen, now);
        }
        while let Some((number, sent)) = self.inputs.front().copied()
            && number <= update.followed
        {
            self.inputs.pop_front();
            if number == update.followed {
                keep(&mut self.input_latencies, sent, now);
            }
        }
    }
}
