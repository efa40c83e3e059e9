//! How long others take to answer.
//!
//! A delay is the time from a ping to its answer: of the network both ways, and of a machine that
//! is too busy to answer, which slows a group down just as much (Storey 2006, 3.3.9).
//!
//! A pause is not a delay: a process that was stopped for seconds is neither far away nor busy. So
//! a missing answer is no measurement (a delay is unknown, not long), a machine that was paused
//! measures anew, and slow answers count against a machine only when they go on for a while.

use super::form::{GROUP_NODES_MAX, Thresholds, TooManyNodes};
use super::vote::{Kind, Opinion};
use crate::mutant::Mutant;
use crate::object::NodeId;
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Delays that are remembered of each machine.
pub const SAMPLES: usize = 32;

/// So many slow answers one after the other are needed to call a vote (Storey 2006, 3.3.9: three
/// strikes and you are out).
pub const STRIKES: usize = 3;

/// So many pings without an answer, one after the other, and what was measured before counts no
/// longer. (A link that loses every fifth message each way loses four in a row of 60.)
const UNANSWERED_MAX: u8 = 4;

/// The latest delays of one machine, each with when it was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window(VecDeque<(Time, Span)>);

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
    pub fn add(&mut self, now: Time, delay: Span) {
        if self.0.len() == SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back((now, delay));
    }

    /// Nothing, before the first delay.
    #[must_use]
    pub fn measured(&self) -> Option<Measured> {
        let mut sorted: Vec<Span> = self.0.iter().map(|&(_, delay)| delay).collect();
        sorted.sort_unstable();
        // Nearest rank: the first that so many of 100 are not longer than.
        let rank = |percent: usize| (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        let (median, p95) = (*sorted.get(rank(50))?, *sorted.get(rank(95))?);
        Some(Measured { median, p95, samples: sorted.len() as u8 })
    }

    /// How many of the latest were all longer than this.
    #[must_use]
    pub fn strikes(&self, limit: Span) -> usize {
        self.0.iter().rev().take_while(|(_, delay)| *delay > limit).count()
    }

    /// Were the latest [`STRIKES`] or more all longer than this, over at least that time? A machine
    /// that was paused answers slowly only until it has caught up.
    #[must_use]
    pub fn is_slow(&self, limit: Span, persistence: Span) -> bool {
        let strikes = self.strikes(limit);
        let first = self.0.iter().rev().nth(strikes.saturating_sub(1));
        let lasted = first.zip(self.0.back()).map(|((first, _), (last, _))| *last - *first);
        strikes >= STRIKES && lasted.is_some_and(|lasted| lasted >= persistence)
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
    /// A ping without an answer for so long is given up. It says nothing about the delay.
    pub timeout: Span,
    /// Slow answers count against a machine when they have gone on for so long.
    pub persistence: Span,
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
            persistence: Span::from_ms(2000),
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
    /// Pings given up since the last answer.
    unanswered: u8,
}

/// Asks the other machines how they are, and knows how long they take.
#[derive(Clone, Debug)]
pub struct Pings {
    rule: PingRule,
    mutant: Option<Mutant>,
    peers: BTreeMap<NodeId, Peer>,
}

impl Pings {
    /// No machine to ask yet.
    #[must_use]
    pub fn new(rule: PingRule) -> Pings {
        Pings { rule, mutant: None, peers: BTreeMap::new() }
    }

    /// The same with a mistake in it, to try the checkers.
    #[must_use]
    pub(crate) fn with_mutant(self, mutant: Option<Mutant>) -> Pings {
        let persistence = match mutant {
            Some(Mutant::PauseIsDelay) => Span(0),
            _ => self.rule.persistence,
        };
        Pings { rule: PingRule { persistence, ..self.rule }, mutant, ..self }
    }

    /// Whom to ask from now on; what is known about those that stay is kept.
    pub fn set_peers(&mut self, now: Time, peers: &[NodeId]) {
        self.peers.retain(|node, _| peers.contains(node));
        for &node in peers {
            let window = Window::default();
            let new = Peer { window, due: now, number: 0, asked: None, unanswered: 0 };
            self.peers.entry(node).or_insert(new);
        }
    }

    /// This machine was paused: what it has asked is answered late for that reason alone, and what
    /// it measured before may be otherwise by now.
    pub fn paused(&mut self, now: Time) {
        for peer in self.peers.values_mut() {
            (peer.window, peer.asked, peer.unanswered) = (Window::default(), None, 0);
            peer.due = now;
        }
    }

    /// Late and doubled answers change nothing.
    pub fn step(&mut self, now: Time, input: PingInput) -> Vec<PingOutput> {
        if let PingInput::Pong { from, number } = input
            && let Some(peer) = self.peers.get_mut(&from)
            && peer.number == number
            && let Some(asked) = peer.asked.take()
        {
            peer.answered(now, asked, &self.rule);
        }
        let mut outputs = Vec::new();
        for (&to, peer) in &mut self.peers {
            if let Some(asked) = peer.asked
                && now >= asked + self.rule.timeout
            {
                // As a delay it would be of the pause of a process, of a message that was lost, or
                // of a link that is not there yet; and it would put off the next ping for seconds.
                (peer.asked, peer.due) = (None, now);
                if self.mutant == Some(Mutant::PauseIsDelay) {
                    peer.answered(now, asked, &self.rule);
                }
                peer.unanswered = peer.unanswered.saturating_add(1);
                if peer.unanswered >= UNANSWERED_MAX {
                    peer.window = Window::default();
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
        } else if peer.window.is_slow(far, self.rule.persistence) {
            Opinion::Reject
        } else {
            thresholds.opinion(measured.median)
        }
    }

    /// The votes that this machine would call now, about members of its group and about others.
    #[must_use]
    pub fn calls(&self, group: &[NodeId], thresholds: &Thresholds) -> Vec<(Kind, NodeId)> {
        let call = |(&node, peer): (&NodeId, &Peer)| {
            let slow = peer.window.is_slow(thresholds.rejection, self.rule.persistence);
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
    fn answered(&mut self, now: Time, asked: Time, rule: &PingRule) {
        self.unanswered = 0;
        self.window.add(now, (now - asked).min(rule.timeout));
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
