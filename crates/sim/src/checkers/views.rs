//! E1 to E4: views count up, have one leader, are made so that no member's objects are lost, and
//! give every region to a member.

use jostle_proto::{Address, Commit, Epoch, GroupId, Message, NodeId, Tick, View};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Views {
    views: BTreeMap<Epoch, View>,
    /// Who committed in a view.
    leaders: BTreeMap<Epoch, NodeId>,
    /// The newest ticks as they were committed.
    committed: BTreeMap<(Epoch, Tick), Arc<Commit>>,
    /// The newest stable view of each group.
    stable: BTreeMap<GroupId, Epoch>,
}

impl Views {
    /// Views that were sent. Not the difference of their numbers: those of a restored world begin
    /// far above.
    pub(super) fn count(&self) -> u64 {
        self.views.len() as u64
    }

    /// The group that a view is of.
    pub(super) fn group(&self, epoch: Epoch) -> Option<GroupId> {
        self.views.get(&epoch).map(|view| view.group)
    }

    /// The newest view that was sent.
    pub(super) fn newest(&self) -> Epoch {
        self.views.last_key_value().map_or(Epoch(0), |(epoch, _)| *epoch)
    }

    /// A view.
    pub(super) fn view_of(&self, epoch: Epoch) -> Option<&View> {
        self.views.get(&epoch)
    }

    /// E2: a member is in at most one group's newest stable view.
    fn stable(&mut self, epoch: Epoch, violations: &mut Vec<(&'static str, String)>) {
        let Some(view) = self.views.get(&epoch) else { return };
        let newest = self.stable.entry(view.group).or_insert(epoch);
        *newest = (*newest).max(epoch);
        for (group, other) in &self.stable {
            let Some(other) = self.views.get(other).filter(|_| *group != view.group) else {
                continue;
            };
            if let Some(both) = view.ring.iter().find(|member| other.has(**member)) {
                let (node, a, b) = (both.node.0, view.group.0, group.0);
                violations.push(("E2", format!("node {node} is in groups {a} and {b}")));
            }
        }
    }

    /// A group has ended.
    pub(super) fn ended(&mut self, group: GroupId) {
        self.stable.remove(&group);
    }

    pub(super) fn sent(
        &mut self,
        from: Address,
        message: &Message,
        violations: &mut Vec<(&'static str, String)>,
    ) {
        match message {
            Message::View(view) => self.view(view, violations),
            Message::StableKept(epoch) => self.stable(*epoch, violations),
            Message::Commit(commit) => {
                if let Address::Node(node) = from {
                    let leader = *self.leaders.entry(commit.epoch).or_insert(node);
                    if leader != node {
                        let what =
                            format!("{} and {} lead view {}", leader.0, node.0, commit.epoch.0);
                        violations.push(("E2", what));
                    }
                }
                let key = (commit.epoch, commit.tick);
                if self.committed.entry(key).or_insert_with(|| Arc::clone(commit)) != commit {
                    let what = format!("tick {} was committed in two ways", commit.tick.0);
                    violations.push(("E2", what));
                }
                while self.committed.len() > 64 {
                    self.committed.pop_first();
                }
            }
            _ => {}
        }
    }

    fn view(&mut self, view: &View, violations: &mut Vec<(&'static str, String)>) {
        if let Some(known) = self.views.get(&view.epoch) {
            if known != view {
                violations.push(("E2", format!("there are two views {}", view.epoch.0)));
            }
            return;
        }
        if view.base >= view.epoch {
            violations.push(("E1", format!("view {} is made from {}", view.epoch.0, view.base.0)));
        }
        for (_, owner) in view.tree.owners() {
            if !view.nodes().any(|node| node == owner) {
                violations
                    .push(("E4", format!("view {}: {} owns and is not in", view.epoch.0, owner.0)));
            }
        }
        let backups = self.views.get(&view.base).map_or(view.backups, |base| base.backups);
        let base = View { ring: view.base_ring.clone(), backups, ..view.clone() };
        for gone in base.unrecoverable(|member| view.has(member)) {
            let (epoch, node) = (view.epoch.0, gone.node.0);
            violations.push(("E3", format!("view {epoch} leaves out {node} and all its backups")));
        }
        self.views.insert(view.epoch, view.clone());
    }
}
