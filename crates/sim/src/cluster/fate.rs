//! What goes wrong: every millisecond the dice are thrown for every kind of fault.

use super::{Cluster, What};
use crate::faults::Faults;
use jostle_proto::{Address, Member, NodeId, Time, View};

/// Nodes that a cluster has at most when new ones come.
const NODES_MAX: u32 = 8;

impl Cluster {
    fn any_node(&mut self) -> NodeId {
        NodeId(self.dice.below(u64::from(self.nodes)) as u32)
    }

    /// A moment up to so many microseconds away.
    pub(super) fn soon(&mut self, most: u64) -> Time {
        Time(self.now.0 + self.dice.below(most))
    }

    /// Throws for every kind of fault.
    pub(super) fn fate(&mut self) {
        let Faults { cut, parted, crash, pause, directory_pause, join, .. } = self.faults;
        if self.dice.once_in_million(cut) {
            let (a, b) = (Address::Node(self.any_node()), self.any_node());
            let to = if self.dice.below(4) == 0 { Address::Directory } else { Address::Node(b) };
            let link = if self.dice.coin() { (a, to) } else { (to, a) };
            let until = self.soon(2_000_000);
            self.cuts.insert(link, until);
        }
        if self.dice.once_in_million(parted) {
            let (id, until) = (Address::Node(self.any_node()), self.soon(2_000_000));
            self.machines.entry(id).and_modify(|machine| machine.parted = until);
        }
        if self.dice.once_in_million(pause) {
            let (id, until) = (Address::Node(self.any_node()), self.soon(2_000_000));
            self.machines.entry(id).and_modify(|machine| machine.paused = until);
            self.checkers.disturbed(id, until);
        }
        if self.dice.once_in_million(directory_pause) {
            let until = self.soon(1_000_000);
            self.checkers.directory_down(until.0 - self.now.0);
            self.machines.entry(Address::Directory).and_modify(|machine| machine.paused = until);
        }
        if self.dice.once_in_million(crash) {
            self.crash();
        }
        if self.dice.once_in_million(join) && self.nodes < NODES_MAX {
            self.add_node();
        }
        self.site_fate();
    }

    /// Kills a node, if the cluster can bear it: one between two stable views (the budget that one
    /// backup each gives; for more see `deaths.rs`).
    fn crash(&mut self) {
        let id = self.any_node();
        let Some(directory) = self.directory() else { return };
        let of_its_group = |(view, _): &(&View, bool)| view.nodes().any(|node| node == id);
        let found = directory.views().find(of_its_group).or_else(|| directory.views().next());
        let Some((view, stable)) = found else { return };
        // One that is left out of a view that is not stable yet still holds its part of the last
        // stable one, and may be the only one who has a copy of another's.
        let is_base_of = |(view, stable): (&View, bool)| {
            !stable && view.base_ring.iter().any(|member| member.node == id)
        };
        let whole = stable
            && !directory.views().any(is_base_of)
            && view.ring.len() > 1
            && view.ring.iter().all(|member| {
                self.member(member.node).is_some_and(|(is, takes_part)| is == *member && takes_part)
            });
        if whole && self.member(id).is_some() {
            let later = 200_000 + self.dice.below(2_000_000);
            self.kill(id, later);
        }
    }

    /// A node dies, and comes back later.
    pub(super) fn kill(&mut self, id: NodeId, later: u64) {
        if self.kill_for_good(id) {
            self.after(later, What::Revive(id));
        }
    }

    /// A node dies. Returns false if it was down.
    pub(super) fn kill_for_good(&mut self, id: NodeId) -> bool {
        let Some((member, _)) = self.member(id) else { return false };
        let view = self.view_with(id).map(|view| (view.epoch, view.leader() == Some(member)));
        let Some(machine) = self.machines.get_mut(&Address::Node(id)) else { return false };
        machine.role = None;
        machine.life = member.life;
        machine.alarm += 1;
        if let Some(wire) = &mut self.wire {
            wire.crashed(Address::Node(id));
        }
        self.outcome.crashes += 1;
        self.died = view.map(|(epoch, _)| (self.now, epoch));
        self.checkers.crashed(view.is_some_and(|(_, leads)| leads));
        self.checkers.free_running_gone(id);
        true
    }

    /// The newest view of the group that a node is in.
    pub(super) fn view_with(&self, id: NodeId) -> Option<&View> {
        let directory = self.directory()?;
        let mut views = directory.views().map(|(view, _)| view);
        views.find(|view| view.nodes().any(|node| node == id)).or(Some(directory.view()))
    }

    /// A node that died comes back in its next life, with nothing in its hands.
    pub(super) fn revive(&mut self, id: NodeId) {
        let Some(life) = self.machines.get(&Address::Node(id)).map(|machine| machine.life + 1)
        else {
            return;
        };
        let fresh = self.fresh(Member { node: id, life }, false);
        if let Some(machine) = self.machines.get_mut(&Address::Node(id)) {
            machine.life = life;
            machine.role = Some(fresh);
            machine.alarm += 1;
            let alarm = machine.alarm;
            self.after(0, What::Wake(Address::Node(id), alarm));
        }
    }
}
