//! Who has what, as the nodes say when they are asked.

use jostle_proto::{Epoch, FreeRunningNode, Having, Member, NodeId, ObjectId, Record, Token};
use std::collections::BTreeMap;

/// A node as it was last seen.
pub(super) struct Node {
    pub(super) member: Member,
    pub(super) era: Option<Epoch>,
    /// The last view that it knows to be stable.
    pub(super) settled: Option<Epoch>,
    pub(super) records: BTreeMap<ObjectId, (Having, Record)>,
    turns: u64,
    ticks: u64,
}

/// What has changed at a node.
pub(super) struct Change {
    /// It is in another life or in another era than before.
    pub(super) anew: bool,
    /// What it had and has not any more.
    pub(super) left: Vec<(ObjectId, Token)>,
    /// Ticks that it has made.
    pub(super) ticks: u64,
    /// Of those, the ones that have left the world.
    pub(super) over: Vec<ObjectId>,
}

#[derive(Default)]
pub(super) struct Sight {
    pub(super) nodes: BTreeMap<NodeId, Node>,
    suspended: BTreeMap<NodeId, bool>,
    ticks: u64,
}

impl Sight {
    pub(super) fn ticks(&self) -> u64 {
        self.ticks
    }

    /// True if a node has fallen silent that was not before.
    pub(super) fn suspend(&mut self, node: NodeId, suspended: bool) -> bool {
        let before = self.suspended.insert(node, suspended);
        before == Some(false) && suspended
    }

    /// Looks at a node; none if nothing has changed there.
    pub(super) fn update(&mut self, node: &FreeRunningNode) -> Option<Change> {
        let member = node.member();
        let known = self.nodes.get(&member.node);
        if known.is_some_and(|known| known.turns == node.turns() && known.member == member) {
            return None;
        }
        let records: BTreeMap<ObjectId, (Having, Record)> = node
            .holds()
            .map(|(having, record)| (record.object.id, (having, record.clone())))
            .collect();
        let anew = known.is_none_or(|known| known.member != member || known.era != node.era());
        let left = known.into_iter().flat_map(|known| known.records.values());
        let left: Vec<&Record> = left
            .map(|(_, record)| record)
            .filter(|old| records.get(&old.object.id).is_none_or(|(_, new)| new.token < old.token))
            .collect();
        let over = left.iter().filter(|old| old.over).map(|old| old.object.id).collect();
        let left = left.iter().map(|old| (old.object.id, old.token)).collect();
        let ticks = node.ticks().saturating_sub(known.map_or(0, |known| known.ticks));
        self.ticks += ticks;
        let seen = Node {
            member,
            era: node.era(),
            settled: node.settled_in().map(|view| view.epoch),
            records,
            turns: node.turns(),
            ticks: node.ticks(),
        };
        self.nodes.insert(member.node, seen);
        Some(Change { anew, left, over, ticks })
    }

    pub(super) fn gone(&mut self, node: NodeId) {
        self.nodes.remove(&node);
        self.suspended.remove(&node);
    }

    /// All nodes that have an object, and how.
    pub(super) fn copies(&self, id: ObjectId) -> impl Iterator<Item = (NodeId, Having, &Record)> {
        self.nodes.iter().filter_map(move |(node, seen)| {
            seen.records.get(&id).map(|(having, record)| (*node, *having, record))
        })
    }

    /// Whose word about an object counts.
    pub(super) fn holder(&self, id: ObjectId) -> Option<(NodeId, &Record)> {
        self.copies(id)
            .filter(|(_, having, _)| *having == Having::Held)
            .max_by_key(|(_, _, record)| record.token)
            .map(|(node, _, record)| (node, record))
    }

    pub(super) fn has_escrow(&self, node: NodeId) -> bool {
        let mut records = self.nodes.get(&node).into_iter().flat_map(|seen| seen.records.values());
        records.any(|(having, _)| *having == Having::Escrow)
    }
}
