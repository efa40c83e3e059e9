//! Who takes part, who owns which region, and since when.

use crate::groups::GroupId;
use crate::object::NodeId;
use crate::space::Tree;
use crate::state::Block;
use serde::{Deserialize, Serialize};

/// The number of a view. The directory counts them; a message of an older one changes nothing.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Epoch(pub u64);

/// A node in one of its lives. A node that was left out comes back with the next one, and with
/// nothing in its hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Member {
    /// Which node.
    pub node: NodeId,
    /// Which life.
    pub life: u32,
}

/// An agreement about members and regions, made by the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The group whose members they are.
    pub group: GroupId,
    /// Its number; no two groups use the same.
    pub epoch: Epoch,
    /// The last view that the directory knows to be stable: everybody in it holds what belongs to
    /// them. This one is made from that one, whatever views there were in between.
    pub base: Epoch,
    /// The members of that view.
    pub base_ring: Vec<Member>,
    /// The members, in a ring: each one's objects are copied to the next, its buddy. The first one
    /// leads.
    pub ring: Vec<Member>,
    /// Who owns what part of space.
    pub tree: Tree,
}

impl View {
    /// The view that a world begins with: one member, who owns everything.
    #[must_use]
    pub fn first(founder: Member) -> View {
        View {
            group: GroupId(0),
            epoch: Epoch(0),
            base: Epoch(0),
            base_ring: vec![founder],
            ring: vec![founder],
            tree: Tree::whole(founder.node),
        }
    }

    /// The member that collects results.
    #[must_use]
    pub fn leader(&self) -> Option<Member> {
        self.ring.first().copied()
    }

    /// Is this member in the ring, in this life?
    #[must_use]
    pub fn has(&self, member: Member) -> bool {
        self.ring.contains(&member)
    }

    /// The member that keeps copies for a node; none if it is alone.
    #[must_use]
    pub fn buddy(&self, node: NodeId) -> Option<NodeId> {
        buddy(&self.ring, node)
    }

    /// The nodes of the ring.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.ring.iter().map(|member| member.node)
    }

    /// The node that owns a point.
    #[must_use]
    pub fn owner(&self, point: [i32; 3]) -> NodeId {
        self.tree.owner_of(point)
    }

    /// The nodes whose regions a block meets, sorted.
    #[must_use]
    pub fn owners_meeting(&self, block: &Block) -> Vec<NodeId> {
        let mut owners: Vec<NodeId> = self.tree.owners_meeting(block).collect();
        owners.sort_unstable();
        owners
    }
}

/// The next one in a ring.
#[must_use]
pub(crate) fn buddy(ring: &[Member], node: NodeId) -> Option<NodeId> {
    let at = ring.iter().position(|member| member.node == node)?;
    let next = ring[(at + 1) % ring.len()].node;
    (next != node).then_some(next)
}
