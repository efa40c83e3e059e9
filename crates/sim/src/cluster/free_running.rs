//! What there is only in free-running groups: a check of every node after every event, and an
//! outage of the directory when nothing else fails any more.

use super::machine::{Role, directory_of};
use super::{Cluster, What};
use crate::options::Operation;
use jostle_proto::{Address, FreeRunningNode, NodeId, Span, Time, View};
use std::collections::BTreeMap;

/// The hour without a directory.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hour {
    /// All replicas go down.
    Falls,
    /// All leases are over.
    Lasts,
    /// Replicas come back.
    Ends,
}

/// When that is, in microseconds after nothing fails any more.
const FALLS: u64 = 3_000_000;
const LASTS: u64 = 4_100_000;
const ENDS: u64 = 5_000_000;

/// In one of two runs nodes do not hear each other either, until then: no promise counts any more,
/// and all must begin again by themselves.
const DEAF_UNTIL: u64 = 3_800_000;

/// So much longer a run is.
pub(super) const REST: u64 = 6_000_000;

impl Cluster {
    /// The checkers look at a node of a free-running group, and at all of them now and then.
    pub(super) fn watch(&mut self, who: Address) {
        let Some(machine) = self.machines.get(&who) else { return };
        let Some(Role::FreeRunning(node)) = &machine.role else { return };
        if let Some(directory) = directory_of(&self.machines, &self.replicas) {
            let view = directory.is_stable().then(|| directory.view());
            let local = machine.local(self.now);
            self.checkers.free_running_observed(self.now, node, node.is_suspended(local), view);
        }
        let settled = node.settled_in().filter(|_| node.is_running()).map(|view| view.epoch);
        if let Some((when, _)) = self.died.take_if(|(_, in_view)| settled > Some(*in_view)) {
            self.outcome.recoveries.push(self.now - when);
        }
    }

    /// Will all replicas be down for a while?
    pub(super) fn has_darkness(&self) -> bool {
        self.replicas.are_there() && self.options.operation == Operation::FreeRunning
    }

    pub(super) fn plan_darkness(&mut self) {
        if self.has_darkness() {
            for (later, hour) in [(FALLS, Hour::Falls), (LASTS, Hour::Lasts), (ENDS, Hour::Ends)] {
                self.after(later, What::Dark(hour));
            }
        }
    }

    pub(super) fn dark(&mut self, hour: Hour) {
        match hour {
            Hour::Falls => {
                self.put_all_away(Span(ENDS - FALLS));
                if self.dice.coin() {
                    self.part_all(Time(self.now.0 + DEAF_UNTIL - FALLS));
                }
            }
            Hour::Lasts => self.in_the_dark = self.members_by_ticks(),
            Hour::Ends => self.judge_dark(),
        }
    }

    fn part_all(&mut self, until: Time) {
        for id in (0..self.nodes).map(NodeId) {
            self.machines.entry(Address::Node(id)).and_modify(|machine| machine.parted = until);
        }
    }

    /// L6: without a directory all members of the stable view have made their ticks, half of them
    /// at least.
    fn judge_dark(&mut self) {
        let wanted = u64::from(self.options.rate) * (ENDS - LASTS) / 2_000_000;
        let now = self.members_by_ticks();
        let late = self.in_the_dark.iter().filter_map(|(node, then)| {
            let made = now.get(node).copied().unwrap_or(0).saturating_sub(*then);
            let what = format!("{} made {made} ticks without a directory", node.0);
            (made < wanted).then_some(("L6", what))
        });
        let violations = late.collect();
        self.checkers.note(self.now, violations);
    }

    /// The ticks of all members of the newest view, if all know it to be stable.
    fn members_by_ticks(&self) -> BTreeMap<NodeId, u64> {
        let directory = self.directory().filter(|directory| directory.is_stable());
        let view = directory.map(|directory| directory.view());
        let node = |id: NodeId| match &self.machines.get(&Address::Node(id))?.role {
            Some(Role::FreeRunning(node)) => Some(&**node),
            _ => None,
        };
        let settled = |node: &&FreeRunningNode, view: &View| {
            node.settled_in().is_some_and(|ground| ground.epoch == view.epoch)
        };
        let ticks = view.and_then(|view| {
            let ticks = |id: NodeId| Some((id, node(id).filter(|it| settled(it, view))?.ticks()));
            view.nodes().map(ticks).collect()
        });
        ticks.unwrap_or_default()
    }
}
