//! A7: a node is silent when its lease is over, unless all its backups have promised that no view
//! comes about without it. The judge knows the true time up to which the directory, and each backup
//! in the newest stable view, have promised that, whatever the clocks of all show.

use super::{Notes, Violations};
use crate::world::FOUNDER;
use jostle_proto::{
    Address, Epoch, FreeRunningMessage, Member, Message, NodeId, Span, Time, Timing, View,
};
use std::collections::BTreeMap;

pub(super) struct Leases {
    lease: Span,
    /// The true length of a lease, by the directory's clock.
    truly: u64,
    /// The same of a backup's promise, by a clock that is as fast as one may be.
    promise: Span,
    /// Until when each node will not be left out.
    until: BTreeMap<NodeId, Time>,
    /// Until when a backup will not help to leave a node out.
    promised: BTreeMap<(NodeId, Member), Time>,
    /// The newest view that is stable, and newer ones.
    stable: View,
    views: BTreeMap<Epoch, View>,
}

/// What a node rests on that speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grounds {
    Lease,
    /// It is alone and cannot be replaced.
    Alone,
    BackupsWord,
    Nothing,
}

impl Leases {
    pub(super) fn new(timing: Timing) -> Leases {
        let Timing { lease, alive, .. } = timing;
        Leases {
            lease,
            truly: lease.0,
            promise: Span((lease.0 - alive.0) * 100 / 102),
            until: BTreeMap::new(),
            promised: BTreeMap::new(),
            stable: View::first(FOUNDER),
            views: BTreeMap::new(),
        }
    }

    pub(super) fn directory_drifts(&mut self, drift: i64) {
        let truly = i128::from(self.lease.0) * 1_000_000 / i128::from(1_000_000 + drift);
        self.truly = truly as u64;
    }

    pub(super) fn sent(
        &mut self,
        now: Time,
        from: Address,
        to: Address,
        message: &Message,
        notes: &mut Notes<'_>,
    ) {
        match (message, from, to) {
            (Message::Lease { .. }, _, Address::Node(node)) => {
                self.until.insert(node, now + Span(self.truly));
            }
            (Message::View(view), ..) => self.view(view),
            (Message::StableKept(epoch), ..) => self.holds(*epoch),
            (
                Message::FreeRunning(FreeRunningMessage::BackupAck { from, .. }),
                _,
                Address::Node(node),
            ) => {
                self.promised.insert((node, *from), now + self.promise);
            }
            (Message::FreeRunning(message), Address::Node(node), _) if !message.is_of_copies() => {
                if !matches!(message, FreeRunningMessage::TransferAck { .. }) {
                    let left = self.until.get(&node).map_or(Span(0), |until| *until - now);
                    notes.sometimes.lease_edge += u64::from(left.0 > 0 && left.0 < self.truly / 10);
                }
                self.spoke(now, node, notes.violations);
            }
            _ => {}
        }
    }

    fn view(&mut self, view: &View) {
        if view.epoch > self.stable.epoch {
            self.views.insert(view.epoch, view.clone());
        }
        self.holds(view.base);
    }

    fn holds(&mut self, epoch: Epoch) {
        if let Some(view) = self.views.remove(&epoch) {
            self.stable = view;
            self.views.retain(|newer, _| *newer > epoch);
        }
    }

    fn grounds(&self, now: Time, node: NodeId) -> Grounds {
        if self.until.get(&node).is_some_and(|until| *until >= now) {
            return Grounds::Lease;
        }
        if !self.stable.nodes().any(|member| member == node) {
            return Grounds::Nothing;
        }
        let mut backups = self.stable.backups_of(node).peekable();
        let promised = |backup| self.promised.get(&(node, backup)).is_some_and(|it| *it >= now);
        match backups.peek().is_some() {
            false => Grounds::Alone,
            true if backups.all(promised) => Grounds::BackupsWord,
            true => Grounds::Nothing,
        }
    }

    /// Is the word of its backups all that a node may go on by?
    pub(super) fn is_by_word(&self, now: Time, node: NodeId) -> bool {
        self.grounds(now, node) == Grounds::BackupsWord
    }

    pub(super) fn spoke(&self, now: Time, node: NodeId, violations: &mut Violations) {
        if self.grounds(now, node) == Grounds::Nothing {
            violations.push(("A7", format!("{} speaks after its lease", node.0)));
        }
    }
}
