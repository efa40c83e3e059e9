//! What a directory reports to operators.

use super::{Directory, Halt};
use crate::groups::GroupId;
use crate::object::NodeId;
use crate::space::Region;
use crate::time::{Span, Time};
use crate::view::{Epoch, Member};

/// How a group is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupReport {
    /// The group.
    pub group: GroupId,
    /// Its newest view.
    pub epoch: Epoch,
    /// Does every member hold what belongs to it?
    pub stable: bool,
    /// Who leads it.
    pub leader: Option<NodeId>,
    /// How many backups each member has.
    pub backups: u8,
    /// Why it cannot go on, if it cannot.
    pub halt: Option<Halt>,
    /// Its members, in their order.
    pub members: Vec<MemberReport>,
    /// Links of its members that fail although both ends reach the directory: not both of the two
    /// nodes are in the group until the link works again.
    pub failing_links: Vec<(NodeId, NodeId)>,
}

/// How a member of a group is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberReport {
    /// The member.
    pub member: Member,
    /// How long it has not been heard.
    pub silent: Span,
    /// How many objects it has that move.
    pub objects: u32,
    /// Its part of the world.
    pub region: Option<Region>,
    /// How long others take to answer it.
    pub delays: Vec<(NodeId, Span)>,
}

impl Directory {
    /// The numbers of the ballots that are held.
    pub fn ballots(&self) -> impl Iterator<Item = u64> {
        self.kept.polls.ballots()
    }

    /// How all groups are.
    #[must_use]
    pub fn report(&self, now: Time) -> Vec<GroupReport> {
        let member = |view: &crate::view::View, member: &Member| {
            let known = self.kept.known.get(&member.node);
            MemberReport {
                member: *member,
                silent: known.map_or(Span(0), |known| now - known.heard),
                objects: known.map_or(0, |known| known.load.objects),
                region: view.tree.share_of(member.node).and_then(|it| view.tree.region(it)),
                delays: known
                    .map(|known| known.delays.iter().map(|(&node, &span)| (node, span)).collect())
                    .unwrap_or_default(),
            }
        };
        let group = |(&group, chain): (&GroupId, &super::chain::Chain)| GroupReport {
            group,
            epoch: chain.current.epoch,
            stable: chain.is_stable(),
            leader: chain.current.leader().map(|leader| leader.node),
            backups: chain.current.backups,
            halt: self.halt_of(now, chain),
            members: chain.current.ring.iter().map(|it| member(&chain.current, it)).collect(),
            failing_links: self.failing_links_of(&chain.current),
        };
        self.kept.chains.iter().map(group).collect()
    }

    /// All that were in a stable view of any group.
    pub fn settled_members(&self) -> impl Iterator<Item = Member> {
        self.kept.chains.values().flat_map(|chain| chain.stable.ring.iter().copied())
    }

    /// The highest number that a node has had.
    #[must_use]
    pub fn highest_node(&self) -> NodeId {
        let known = self.kept.known.keys().chain(self.kept.over.keys()).max();
        known.copied().unwrap_or(NodeId(0))
    }

    /// The newest time that it remembers: its clock must not be behind that.
    #[must_use]
    pub fn newest_time(&self) -> Time {
        self.kept.known.values().map(|known| known.heard.max(known.since)).max().unwrap_or(Time(0))
    }
}
