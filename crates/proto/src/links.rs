//! The nodes that a node waits for in vain. Two nodes may both reach the directory and not each
//! other, in one direction or both; then a group stands still although every node of it is alive. A
//! node that does not get on asks those that it waits for to answer, and reports to the directory
//! which do not.
//!
//! An answer has gone both ways, so it proves the link, and a missing one blames the link and not
//! one of its ends: which end has to go is for the directory to decide.

use crate::object::NodeId;
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Members of a view that are asked at a time.
pub(crate) const PROBED_MAX: usize = 64;

/// Numbers of pings that ask whether a link works, and not how long it takes. (Those of
/// [`crate::Pings`] count up from 1.)
const PROBE: u32 = 1 << 31;

/// One that the directory wants asked.
const WANTED: u32 = 1 << 30;

/// What a node knows about its links.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    /// The node that says so.
    pub from: crate::view::Member,
    /// Nodes that have answered a question which the directory wanted asked.
    pub reached: Vec<NodeId>,
    /// Nodes that it waits for and that have not answered for long.
    pub unreached: Vec<NodeId>,
}

#[derive(Clone, Copy, Debug)]
struct Awaited {
    /// What exactly is waited for: something else is another wait.
    what: u64,
    since: Time,
    answered: Time,
}

/// The questions of a node that does not get on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probes {
    awaited: BTreeMap<NodeId, Awaited>,
    number: u32,
}

impl Probes {
    /// The nodes that are waited for now, and what for. Returns the numbers of pings to send.
    pub(crate) fn step(
        &mut self,
        now: Time,
        awaited: &BTreeMap<NodeId, u64>,
    ) -> Vec<(NodeId, u32)> {
        self.awaited.retain(|node, known| awaited.get(node) == Some(&known.what));
        self.number = (self.number + 1) % WANTED;
        let mut pings = Vec::new();
        for (&node, &what) in awaited.iter().take(PROBED_MAX) {
            let new = Awaited { what, since: now, answered: now };
            self.awaited.entry(node).or_insert(new);
            pings.push((node, PROBE | self.number));
        }
        pings
    }

    /// Something has come that was waited for; or this process was paused, so that none was asked,
    /// and answers wait to be read.
    pub(crate) fn clear(&mut self) {
        self.awaited.clear();
    }

    /// The pings that the directory wants sent.
    pub(crate) fn wanted(nodes: &[NodeId]) -> impl Iterator<Item = (NodeId, u32)> {
        nodes.iter().take(PROBED_MAX).map(|&node| (node, PROBE | WANTED))
    }

    /// An answer has come. None if it is to no probe; otherwise, whether the directory wants to
    /// know.
    pub(crate) fn answered(&mut self, now: Time, from: NodeId, number: u32) -> Option<bool> {
        if number & PROBE == 0 {
            return None;
        }
        if let Some(awaited) = self.awaited.get_mut(&from) {
            awaited.answered = now;
        }
        Some(number & WANTED != 0)
    }

    /// Those that are waited for and have not answered for so long.
    pub(crate) fn unreached(&self, now: Time, limit: Span) -> Vec<NodeId> {
        let silent = self.awaited.iter().filter(|(_, it)| now - it.answered >= limit);
        silent.map(|(&node, _)| node).collect()
    }

    /// Since when something is waited for without any progress.
    pub(crate) fn since(&self) -> Option<Time> {
        self.awaited.values().map(|awaited| awaited.since).min()
    }
}
