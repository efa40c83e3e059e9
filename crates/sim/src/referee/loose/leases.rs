//! A7: a node is silent when its lease is over. The judge knows the true time up to which the
//! directory has promised to leave the node in, whatever the clocks of both show.

use super::{Notes, Said};
use jostle_proto::{Address, Letter, Message, NodeId, Span, Time};
use std::collections::BTreeMap;

pub(super) struct Leases {
    lease: Span,
    /// The true length of a lease, by the directory's clock.
    truly: u64,
    /// Until when each node will not be left out.
    until: BTreeMap<NodeId, Time>,
}

impl Leases {
    pub(super) fn new(lease: Span) -> Leases {
        Leases { lease, truly: lease.0, until: BTreeMap::new() }
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
            (Message::Loose(letter), Address::Node(node), _) => {
                if !matches!(letter, Letter::BackupAck { .. } | Letter::TransferAck { .. }) {
                    let left = self.until.get(&node).map_or(Span(0), |until| *until - now);
                    notes.sometimes.lease_edge += u64::from(left.0 > 0 && left.0 < self.truly / 10);
                }
                self.spoke(now, node, notes.said);
            }
            _ => {}
        }
    }

    pub(super) fn spoke(&self, now: Time, node: NodeId, said: &mut Said) {
        if self.until.get(&node).is_none_or(|until| *until < now) {
            said.push(("A7", format!("{} speaks after its lease", node.0)));
        }
    }
}
