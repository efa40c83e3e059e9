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

/// How many other members keep copies of what a member holds, if nothing else is set: a group of
/// three or more survives the loss of any two members at once.
pub const BACKUPS: u8 = 2;

/// The most backups that may be set. Every one costs messages, memory and, in a free-running group,
/// the round trip to the slowest of them.
pub const BACKUPS_MAX: u8 = 4;

/// An agreement about members and regions, made by the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// The group whose members they are.
    pub group: GroupId,
    /// Its number; no two groups use the same.
    pub epoch: Epoch,
    /// The last view that the directory knows to be stable: each of its members holds what belongs
    /// to it. This one is made from that one, whatever views there were in between.
    pub base: Epoch,
    /// The members of that view.
    pub base_ring: Vec<Member>,
    /// The members, in a ring: each one's objects are copied to the next ones, its backups. The
    /// first one leads.
    pub ring: Vec<Member>,
    /// How many backups each member has; all others if there are fewer members.
    pub backups: u8,
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
            backups: BACKUPS,
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

    /// The members that keep copies for a node, in the order in which they take its place: those
    /// that follow it in the ring. None if it is alone, or no member.
    pub fn backups_of(&self, node: NodeId) -> impl Iterator<Item = Member> + '_ {
        let at = self.ring.iter().position(|member| member.node == node);
        let others = self.ring.len().saturating_sub(1);
        let count = at.map_or(0, |_| others.min(usize::from(self.backups)));
        let behind = self.ring.iter().cycle().skip(at.map_or(0, |at| at + 1));
        behind.take(count).copied()
    }

    /// Does `backup` keep copies for `node`?
    #[must_use]
    pub fn is_backup(&self, backup: NodeId, node: NodeId) -> bool {
        self.backups_of(node).any(|member| member.node == backup)
    }

    /// The members that a node keeps copies for.
    pub fn backed_up_by(&self, node: NodeId) -> impl Iterator<Item = Member> + '_ {
        self.ring.iter().filter(move |member| self.is_backup(node, member.node)).copied()
    }

    /// The backup that takes the place of a lost member: the first one that is left.
    #[must_use]
    pub fn heir(&self, lost: Member, is_left: impl Fn(Member) -> bool) -> Option<Member> {
        self.backups_of(lost.node).find(|backup| is_left(*backup))
    }

    /// The members whose objects would be lost if only these were left: neither they nor any of
    /// their backups are among them.
    #[must_use]
    pub fn unrecoverable(&self, is_left: impl Fn(Member) -> bool) -> Vec<Member> {
        let lost = self.ring.iter().copied().filter(|member| !is_left(*member));
        lost.filter(|lost| self.heir(*lost, &is_left).is_none()).collect()
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
