//! What must have come about when nothing has failed for a while.

use super::Cluster;
use super::sites::{RULES, THRESHOLDS};
use jostle_proto::{Address, GroupId, NodeId, Time, View, is_home};
use std::collections::BTreeMap;

/// If nothing has changed for so long although something should, it will not any more.
const LONG: u64 = 5_000_000;

/// Groups that are far from a directory whose replicas are far from each other come to rest late;
/// but so late at the latest.
const LATEST: u64 = 24_000_000;

impl Cluster {
    /// Is a node in no group, or has one changed so lately that a node may be on its way to
    /// another? Then it is checked later: where each is counts when all has come to rest.
    pub(super) fn is_still_moving(&self, end: Time) -> bool {
        let lately = self.checkers.last_change().0 + 3_000_000 > end.0;
        let moves = || lately || !self.judge_partition().is_empty();
        self.sites.count > 1 && self.replicas.are_there() && end.0 < LATEST && moves()
    }

    /// From when on nothing fails any more, and a world that has to be restored is.
    pub(super) fn settled_at(&self) -> u64 {
        self.heal_at.0.max(self.serving.as_ref().map_or(0, |serving| serving.settled_at()))
    }

    pub(super) fn judge_healed(&mut self, ticks_then: &BTreeMap<GroupId, u64>) {
        let mut violations = Vec::new();
        let ticks = self.checkers.ticks_by_group();
        // L1: three seconds after the faults have stopped, ticks are committed again.
        let groups: Vec<(GroupId, u64, bool)> = self.directory().map_or(Vec::new(), |directory| {
            directory.views().map(|(view, stable)| (view.group, view.epoch.0, stable)).collect()
        });
        if self.directory().is_none() {
            violations.push(("L1", "there is no directory".to_string()));
        }
        for &(group, view, stable) in &groups {
            let (now, then) = (ticks.get(&group), ticks_then.get(&group));
            let since = self.checkers.changed(group);
            let late = self.now.0.saturating_sub(since.map_or(0, |time| time.0)) > 3_000_000;
            if now.copied().unwrap_or(0) <= then.copied().unwrap_or(0) && late {
                let what = format!(
                    "group {}: no tick after {} although nothing fails any more; view {view}, \
                     stable: {stable}",
                    group.0,
                    then.copied().unwrap_or(0),
                );
                violations.push(("L1", what));
            }
        }
        if self.sites.count > 1 {
            violations.extend(self.judge_partition());
            violations.extend(self.judge_admission());
            violations.extend(self.judge_merges());
            violations.extend(self.judge_pauses(&self.rings(), RULES.polls.size_max));
            let groups: Vec<GroupId> = groups.iter().map(|&(group, _, _)| group).collect();
            // Who has just begun to speak for a group needs a moment, and while a group goes over
            // to a new view others let its objects fly on.
            if self.checkers.last_view().0 + 3_000_000 < self.now.0 {
                violations.extend(self.checkers.apart(&groups));
            }
        }
        violations.extend(self.checkers.open_ballots(self.now, self.directory()));
        self.checkers.note(self.now, violations);
    }

    fn rings(&self) -> Vec<&View> {
        self.directory().map_or(Vec::new(), |it| it.views().map(|(view, _)| view).collect())
    }

    /// E2: every node is in exactly one group.
    fn judge_partition(&self) -> Vec<(&'static str, String)> {
        let rings = self.rings();
        let live = self.machines.iter().filter(|(_, machine)| machine.role.is_some());
        let nodes = live.filter_map(|(address, _)| match address {
            Address::Node(node) => Some(*node),
            _ => None,
        });
        let groups = |node: NodeId| {
            let has = |view: &&&View| view.nodes().any(|member| member == node);
            rings.iter().filter(has).count()
        };
        let wrong = nodes.map(|node| (node, groups(node))).filter(|(_, groups)| *groups != 1);
        wrong.map(|(node, count)| ("E2", format!("node {} is in {count} groups", node.0))).collect()
    }

    /// The newest views, if nothing has changed for long and groups could have become one.
    fn settled_rings(&self) -> Option<Vec<&View>> {
        let quiet = self.checkers.last_change().0 + LONG < self.now.0;
        (quiet && self.slowest() < THRESHOLDS.inclusion.0).then(|| self.rings())
    }

    fn site(&self, node: NodeId) -> Option<u32> {
        self.sites.of.get(&Address::Node(node)).copied()
    }

    /// G2: when nothing has changed for long, groups that may be one are one.
    fn judge_merges(&self) -> Vec<(&'static str, String)> {
        let Some(rings) = self.settled_rings() else { return Vec::new() };
        let site = |node| self.site(node);
        let near = |a: &View, b: &View| {
            let fits = a.ring.len() + b.ring.len() <= RULES.polls.size_max;
            fits && a.nodes().all(|one| b.nodes().all(|other| site(one) == site(other)))
        };
        let pairs = rings.iter().enumerate().flat_map(|(at, a)| {
            rings.iter().skip(at + 1).filter(|b| near(a, b)).map(|b| (a.group.0, b.group.0))
        });
        pairs.map(|(a, b)| ("G2", format!("groups {a} and {b} stay apart"))).take(1).collect()
    }

    /// The longest that it takes there and back within a site.
    fn slowest(&self) -> u64 {
        2 * (self.faults.delay + self.faults.jitter) + 2_000
    }

    /// L4: a node that is near to all members of a group that is larger than its own and has room
    /// is let in, unless it is alone with what is at home in its own.
    fn judge_admission(&self) -> Vec<(&'static str, String)> {
        let Some(rings) = self.settled_rings() else { return Vec::new() };
        let site = |node| self.site(node);
        let mut violations = Vec::new();
        for view in &rings {
            let home = || self.checkers.objects(view.group).any(|it| is_home(it.class));
            let keeps = view.ring.len() == 1 && (view.group == GroupId(0) || home());
            for node in view.nodes().filter(|_| !keeps) {
                let better = rings.iter().find(|other| {
                    other.ring.len() > view.ring.len()
                        && other.ring.len() < RULES.polls.size_max
                        && other.nodes().all(|member| site(member) == site(node))
                });
                if let Some(better) = better {
                    let (from, to) = (view.group.0, better.group.0);
                    violations.push(("L4", format!("node {} stays in {from}, not {to}", node.0)));
                }
            }
        }
        violations
    }
}
