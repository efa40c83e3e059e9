//! How long others take to answer.
//!
//! A delay is the time from a ping to its answer: of the network both ways, and of a machine that
//! is too busy to answer, which slows a group down just as much (Storey 2006, 3.3.9).

use super::form::{GROUP_NODES_MAX, Thresholds, TooManyNodes};
use super::vote::{Kind, Opinion};
use crate::object::NodeId;
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Delays that are remembered of each machine.
pub const SAMPLES: usize = 32;

/// So many slow answers one after the other are needed to call a vote (Storey 2006, 3.3.9: three
/// strikes and you are out).
pub const STRIKES: usize = 3;

/// The latest delays of one machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window(VecDeque<Span>);

/// A window in three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Measured {
    /// Half of the delays are not longer.
    pub median: Span,
    /// 95 of 100 are not longer.
    pub p95: Span,
    /// How many there are.
    pub samples: u8,
}

impl Window {
    /// Remembers a delay, and forgets the oldest if there are too many.
    pub fn add(&mut self, delay: Span) {
        if self.0.len() == SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(delay);
    }

    /// Nothing, before the first delay.
    #[must_use]
    pub fn measured(&self) -> Option<Measured> {
        let mut sorted: Vec<Span> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        // Nearest rank: the first that so many of 100 are not longer than.
        let rank = |percent: usize| (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        let (median, p95) = (*sorted.get(rank(50))?, *sorted.get(rank(95))?);
        Some(Measured { median, p95, samples: sorted.len() as u8 })
    }

    /// How many of the latest were all longer than this.
    #[must_use]
    pub fn strikes(&self, limit: Span) -> usize {
        self.0.iter().rev().take_while(|&&delay| delay > limit).count()
    }
}

/// How often others are asked, and what an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingRule {
    /// Up to this delay, pings go out at the shortest interval.
    pub delay_min: Span,
    /// From this delay on, at the longest.
    pub delay_max: Span,
    /// Between pings to those near by.
    pub interval_min: Span,
    /// Between pings to those far away.
    pub interval_max: Span,
    /// No answer for so long is a delay of so long.
    pub timeout: Span,
    /// So much beyond the rejection threshold is tolerated of single answers (Storey 2006,
    /// 4.3.2.7).
    pub deviation: Span,
}

impl Default for PingRule {
    /// Members of a group at 60 Hz, which answer in 8 ms, are asked about 7 times a second.
    fn default() -> PingRule {
        PingRule {
            delay_min: Span::from_ms(5),
            delay_max: Span::from_ms(500),
            interval_min: Span::from_ms(100),
            interval_max: Span::from_ms(5000),
            timeout: Span::from_ms(1000),
            deviation: Span::from_ms(10),
        }
    }
}

impl PingRule {
    /// The time between pings to a machine that takes so long (Storey 2006, 4.3.2.10.6): the
    /// intervals' line over the delays, cut off at its ends. Who was never heard is asked often.
    ///
    /// ```
    /// use jostle_proto::{PingRule, Span};
    ///
    /// // The thesis' example, in its units.
    /// let rule = PingRule {
    ///     delay_min: Span::from_ms(10),
    ///     delay_max: Span::from_ms(1000),
    ///     interval_min: Span::from_ms(5_000),
    ///     interval_max: Span::from_ms(500_000),
    ///     ..PingRule::default()
    /// };
    /// assert_eq!(rule.interval(Some(Span::from_ms(25))), Span::from_ms(12_500));
    /// ```
    #[must_use]
    pub fn interval(&self, delay: Option<Span>) -> Span {
        let (low, high) = (self.interval_min.0, self.interval_max.0.max(self.interval_min.0));
        let Some(Span(delay)) = delay else { return self.interval_min };
        if delay <= self.delay_min.0 {
            return Span(low);
        }
        if delay >= self.delay_max.0 {
            return Span(high);
        }
        // Here the bounds differ, and the quotient is less than 1.
        let over = u128::from(delay - self.delay_min.0);
        let range = u128::from(self.delay_max.0 - self.delay_min.0);
        Span(low + (u128::from(high - low) * over / range) as u64)
    }
}

/// What happens to [`Pings`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PingInput {
    /// It may be time.
    Wake,
    /// An answer; its number is that of the ping.
    Pong {
        /// Who answers.
        from: NodeId,
        /// Which ping.
        number: u32,
    },
}

/// What [`Pings`] want done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PingOutput {
    /// To be answered at once, with its number.
    Ping {
        /// Whom to ask.
        to: NodeId,
        /// Which ping.
        number: u32,
    },
}

#[derive(Clone, Debug)]
struct Peer {
    window: Window,
    /// The next ping.
    due: Time,
    number: u32,
    /// When the ping of that number went out, until it is answered or given up.
    asked: Option<Time>,
}

/// Asks the other machines how they are, and knows how long they take.
#[derive(Clone, Debug)]
pub struct Pings {
    rule: PingRule,
    peers: BTreeMap<NodeId, Peer>,
}

impl Pings {
    /// Nobody to ask yet.
    #[must_use]
    pub fn new(rule: PingRule) -> Pings {
        Pings { rule, peers: BTreeMap::new() }
    }

    /// Whom to ask from now on; what is known about those that stay is kept.
    pub fn set_peers(&mut self, now: Time, peers: &[NodeId]) {
        self.peers.retain(|node, _| peers.contains(node));
        for &node in peers {
            let window = Window::default();
            let new = Peer { window, due: now, number: 0, asked: None };
            self.peers.entry(node).or_insert(new);
        }
    }

    /// Late and doubled answers change nothing.
    pub fn step(&mut self, now: Time, input: PingInput) -> Vec<PingOutput> {
        if let PingInput::Pong { from, number } = input
            && let Some(peer) = self.peers.get_mut(&from)
            && peer.number == number
            && let Some(asked) = peer.asked.take()
        {
            peer.answered((now - asked).min(self.rule.timeout), asked, &self.rule);
        }
        let mut outputs = Vec::new();
        for (&to, peer) in &mut self.peers {
            if let Some(asked) = peer.asked
                && now >= asked + self.rule.timeout
            {
                peer.asked = None;
                if peer.window.0.is_empty() {
                    // Never heard: the link is not there yet, which says nothing about how long
                    // it will take. As a delay it would put off the next ping for seconds, and a
                    // newcomer would not be measured before it gets a group of its own.
                    peer.due = now;
                } else {
                    peer.answered(self.rule.timeout, asked, &self.rule);
                }
            }
            if peer.asked.is_none() && now >= peer.due {
                peer.number = peer.number.wrapping_add(1);
                peer.asked = Some(now);
                outputs.push(PingOutput::Ping { to, number: peer.number });
            }
        }
        outputs
    }

    /// When to call [`Pings::step`] at the latest.
    #[must_use]
    pub fn wake_at(&self) -> Option<Time> {
        let next = |peer: &Peer| peer.asked.map_or(peer.due, |asked| asked + self.rule.timeout);
        self.peers.values().map(next).min()
    }

    /// What is known about a machine.
    #[must_use]
    pub fn measured(&self, node: NodeId) -> Option<Measured> {
        self.peers.get(&node)?.window.measured()
    }

    /// What this machine says when it is asked about another (Storey 2006, 4.3.1.5). Its latest
    /// three answers count more than the older ones if they were all far too slow.
    #[must_use]
    pub fn opinion(&self, node: NodeId, thresholds: &Thresholds) -> Opinion {
        let Some(peer) = self.peers.get(&node) else { return Opinion::Abstain };
        let Some(measured) = peer.window.measured() else { return Opinion::Abstain };
        let far = Span(thresholds.rejection.0.saturating_add(self.rule.deviation.0));
        if usize::from(measured.samples) < STRIKES {
            Opinion::Abstain
        } else if peer.window.strikes(far) >= STRIKES {
            Opinion::Reject
        } else {
            thresholds.opinion(measured.median)
        }
    }

    /// The votes that this machine would call now, about members of its group and about others.
    #[must_use]
    pub fn calls(&self, group: &[NodeId], thresholds: &Thresholds) -> Vec<(Kind, NodeId)> {
        let call = |(&node, peer): (&NodeId, &Peer)| {
            let slow = peer.window.strikes(thresholds.rejection) >= STRIKES;
            match (group.contains(&node), self.opinion(node, thresholds)) {
                (true, Opinion::Reject) if slow => Some((Kind::Reject, node)),
                (false, Opinion::Include) => Some((Kind::Include, node)),
                _ => None,
            }
        };
        self.peers.iter().filter_map(call).collect()
    }
}

impl Peer {
    fn answered(&mut self, delay: Span, asked: Time, rule: &PingRule) {
        self.window.add(delay);
        let median = self.window.measured().map(|measured| measured.median);
        self.due = asked + rule.interval(median);
    }
}

/// What machines have measured of each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// Ascending.
    nodes: Vec<NodeId>,
    /// Rows of those who measured.
    delays: Vec<Option<Span>>,
}

impl Matrix {
    /// Nothing is measured yet. The order of machines does not matter.
    ///
    /// # Errors
    /// For more machines than sets of bits have room for.
    pub fn new(nodes: &[NodeId]) -> Result<Matrix, TooManyNodes> {
        let mut nodes = nodes.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let found = nodes.len();
        if found > GROUP_NODES_MAX {
            return Err(TooManyNodes { found });
        }
        Ok(Matrix { delays: vec![None; found * found], nodes })
    }

    /// Ascending.
    #[must_use]
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// `from` says that `to` takes so long. Machines that are not in the matrix change nothing.
    pub fn set(&mut self, from: NodeId, to: NodeId, delay: Span) {
        let places = self.place(from).zip(self.place(to));
        let length = self.nodes.len();
        if let Some(slot) = places.and_then(|(from, to)| self.delays.get_mut(from * length + to)) {
            *slot = Some(delay);
        }
    }

    /// The longer of what the two say of each other; nothing until both have said something
    /// (Storey 2006, 3.3.7: both must be below the threshold).
    #[must_use]
    pub fn mutual(&self, a: NodeId, b: NodeId) -> Option<Span> {
        let (a, b) = (self.place(a)?, self.place(b)?);
        let delay = |from: usize, to: usize| *self.delays.get(from * self.nodes.len() + to)?;
        Some(delay(a, b)?.max(delay(b, a)?))
    }

    fn place(&self, node: NodeId) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }
}
