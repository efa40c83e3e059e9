//! What a node waits for: so that it can find out who does not answer, and say what prevents
//! progress.

use super::{Address, Node, Output, Phase};
use crate::links::Links;
use crate::message::Message;
use crate::object::NodeId;
use crate::time::{Span, Tick, Time};
use crate::view::Epoch;
use std::collections::BTreeMap;
use std::fmt;

/// What a node waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// The directory has to let it in.
    Admission,
    /// The leader of a new view has to hear how far members are.
    Flush(Epoch),
    /// The leader of a new view has to say where it goes on from.
    Resume(Epoch),
    /// Members have to send what reaches into this one's regions.
    Bundles(Tick),
    /// The leader has to hear what members have found.
    Reports(Tick),
    /// The leader has to commit.
    Commit(Tick),
    /// The directory has to record that a view is stable.
    Record(Epoch),
    /// The directory has to end a group that is not needed any more.
    End(Epoch),
}

/// What prevents progress, as one node sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What is missing.
    pub awaits: Awaits,
    /// The nodes that it has to come from; none if it is the directory.
    pub nodes: Vec<NodeId>,
    /// For how long it has been missing.
    pub since: Span,
}

impl fmt::Display for Waiting {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.nodes.iter().map(|node| node.0.to_string()).collect();
        let nodes = match self.nodes.len() {
            1 => format!("node {}", names.join("")),
            _ => format!("nodes {}", names.join(", ")),
        };
        let seconds = self.since.0 as f64 / 1e6;
        match self.awaits {
            Awaits::Admission => write!(out, "waits for the directory to let it in")?,
            Awaits::Flush(Epoch(view)) => write!(out, "view {view} waits for {nodes} to flush")?,
            Awaits::Resume(Epoch(view)) => {
                write!(out, "view {view} waits for its leader, {nodes}, to resume")?;
            }
            Awaits::Bundles(Tick(tick)) => write!(out, "tick {tick} waits for {nodes}: no bundle")?,
            Awaits::Reports(Tick(tick)) => write!(out, "tick {tick} waits for {nodes}: no report")?,
            Awaits::Commit(Tick(tick)) => {
                write!(out, "tick {tick} waits for its leader, {nodes}: no commit")?;
            }
            Awaits::Record(Epoch(view)) => {
                write!(out, "view {view} waits for the directory to record it")?;
            }
            Awaits::End(Epoch(view)) => {
                write!(out, "view {view} waits for the directory to end its group")?;
            }
        }
        write!(out, " ({seconds:.1} s)")
    }
}

impl Node {
    /// What it waits for, and since when; for those who watch. None if it has what it needs.
    #[must_use]
    pub fn waiting(&self, now: Time) -> Option<Waiting> {
        let (awaits, nodes) = self.awaits()?;
        let since = self.stage_since.map_or(Span(0), |(_, since)| now - since);
        Some(Waiting { awaits, nodes, since })
    }

    fn awaits(&self) -> Option<(Awaits, Vec<NodeId>)> {
        let leader = |view: &crate::view::View| view.leader().map(|it| it.node).into_iter();
        let me = self.me.node;
        match &self.phase {
            Phase::Out => Some((Awaits::Admission, Vec::new())),
            Phase::Leaving(view) => Some((Awaits::End(view.epoch), Vec::new())),
            Phase::Flushing(view) if self.lead.leads() => {
                Some((Awaits::Flush(view.epoch), self.lead.unflushed(view)))
            }
            Phase::Flushing(view) => Some((Awaits::Resume(view.epoch), leader(view).collect())),
            Phase::Refreshing { view, round, .. } | Phase::Running { view, round } => {
                if round.complete.is_none() {
                    let missing = round.out.keys().copied();
                    let missing = missing.filter(|node| !round.incoming.contains_key(node));
                    return Some((Awaits::Bundles(round.tick), missing.collect()));
                }
                if !self.lead.leads() {
                    return Some((Awaits::Commit(round.tick), leader(view).collect()));
                }
                let missing: Vec<NodeId> =
                    self.lead.unreported(view).into_iter().filter(|node| *node != me).collect();
                match (missing.is_empty(), &self.phase) {
                    (false, _) => Some((Awaits::Reports(round.tick), missing)),
                    (true, Phase::Refreshing { .. }) => {
                        Some((Awaits::Record(view.epoch), Vec::new()))
                    }
                    (true, _) => None,
                }
            }
        }
    }

    /// A number for what it waits for: another one is another wait.
    fn stage(&self) -> u64 {
        let [phase, tick, ..] = self.progress();
        tick.wrapping_mul(31).wrapping_add(self.seen.0).wrapping_mul(7).wrapping_add(phase)
    }

    /// Remembers when it last got on. Whom it waited for before does not matter any more.
    pub(super) fn note_progress(&mut self, now: Time) {
        let stage = self.stage();
        if self.stage_since.is_none_or(|(last, _)| last != stage) {
            self.stage_since = Some((stage, now));
            self.probes.clear();
        }
    }

    /// Asks those that it waits for whether they can be reached.
    pub(super) fn probe(&mut self, now: Time, out: &mut Vec<Output>) {
        let stage = self.stage();
        let nodes = self.awaits().map(|(_, nodes)| nodes).unwrap_or_default();
        let me = self.me.node;
        let awaited: BTreeMap<NodeId, u64> =
            nodes.into_iter().filter(|node| *node != me).map(|node| (node, stage)).collect();
        for (to, number) in self.probes.step(now, &awaited) {
            out.push(Output::Send(Address::Node(to), Message::Ping { from: me, number }));
        }
    }

    /// Reports to the directory which nodes cannot be reached.
    pub(super) fn report_unreached(&self, now: Time, out: &mut Vec<Output>) {
        let unreached = self.probes.unreached(now, self.timing.unreached());
        if !unreached.is_empty() {
            let links = Links { from: self.me, reached: Vec::new(), unreached };
            out.push(Output::Send(Address::Directory, Message::Links(links)));
        }
    }
}
