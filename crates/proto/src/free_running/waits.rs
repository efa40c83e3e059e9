//! Whom a free-running node waits for: nothing stands still as a whole when a link fails, but what
//! its backup does not acknowledge is not published, and an object in transit to a node that does
//! not answer stays on its way.

use super::FreeRunningNode;
use crate::links::{Links, Probes};
use crate::message::Message;
use crate::node::{Address, Output};
use crate::object::NodeId;
use crate::time::{Span, Time};
use std::collections::BTreeMap;

impl FreeRunningNode {
    /// The nodes that it waits for, each with a number for what: another one is another wait.
    fn awaited(&self) -> BTreeMap<NodeId, u64> {
        let mut awaited = BTreeMap::new();
        if let Some(change) = &self.change {
            let epoch = change.view.epoch.0;
            match change.view.leader() {
                Some(leader) if leader == self.me => {
                    let missing = self.change_lacks().into_iter();
                    awaited.extend(missing.map(|node| (node, epoch)));
                }
                Some(leader) => drop(awaited.insert(leader.node, epoch)),
                None => {}
            }
        }
        if self.is_running() {
            for (node, acked) in self.keep.lacking() {
                *awaited.entry(node).or_insert(0) ^= acked << 1 | 1;
            }
            // The first object on its way to each.
            let mut seen = Vec::new();
            for (id, escrow) in &self.ownership.escrow {
                if !seen.contains(&escrow.to) {
                    seen.push(escrow.to);
                    *awaited.entry(escrow.to).or_insert(0) ^= (id.0 + 1) << 32;
                }
            }
        }
        awaited.remove(&self.me.node);
        awaited
    }

    /// Asks those that it waits for whether they can be reached.
    pub(super) fn probe(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.ground.is_none() && self.change.is_none() {
            // Whom it waited for in another incarnation says nothing about links. (A seed found
            // that.)
            self.probes.clear();
            return;
        }
        let from = self.me.node;
        let awaited = self.awaited();
        for (to, number) in self.probes.step(now, &awaited) {
            out.push(Output::Send(Address::Node(to), Message::Ping { from, number }));
        }
    }

    /// Reports to the directory which nodes cannot be reached.
    pub(super) fn report_unreached(&self, now: Time, out: &mut Vec<Output>) {
        let unreached = self.probes.unreached(now, self.tuning.timing.unreached());
        if !unreached.is_empty() {
            let links = Links { from: self.me, reached: Vec::new(), unreached };
            out.push(Output::Send(Address::Directory, Message::Links(links)));
        }
    }

    /// Messages about links. They change nothing in the world, so a node that may not send answers
    /// them too.
    pub(super) fn linked(&mut self, now: Time, message: &Message, out: &mut Vec<Output>) {
        let me = self.me.node;
        match message {
            &Message::Ping { from, number } => {
                out.push(Output::Send(Address::Node(from), Message::Pong { from: me, number }));
            }
            &Message::Pong { from, number } => {
                let wanted = self.probes.answered(now, from, number) == Some(true);
                if wanted {
                    let unreached = Vec::new();
                    let links = Links { from: self.me, reached: vec![from], unreached };
                    out.push(Output::Send(Address::Directory, Message::Links(links)));
                }
            }
            Message::Probe(nodes) => {
                for (to, number) in Probes::wanted(nodes).filter(|(to, _)| *to != me) {
                    out.push(Output::Send(Address::Node(to), Message::Ping { from: me, number }));
                }
            }
            _ => {}
        }
    }

    /// Was this process paused? Then it asks anew who can be reached.
    pub(super) fn check_pause(&mut self, now: Time) {
        let late = now - self.wake_at().max(self.now);
        if late > self.tuning.timing.pause() {
            self.probes.clear();
        }
    }

    /// The nodes that it waits for, and for how long without any progress; for those who watch.
    #[must_use]
    pub fn waiting(&self, now: Time) -> Option<(Vec<NodeId>, Span)> {
        let since = self.probes.since()?;
        Some((self.awaited().into_keys().collect(), now - since))
    }
}
