//! Groups that have come near to each other become one: the younger one moves what is at home in
//! it to the older one, and ends.
//!
//! The first group is the oldest and stays for as long as the world. That homes move only to older
//! groups makes every group know which of two words about a home is the newer one.

use super::chain::Chain;
use super::{Directory, GroupRules, Grouping};
use crate::groups::{GroupId, Thresholds};
use crate::mutant::Mutant;
use crate::node::Address;
use crate::object::NodeId;
use crate::time::{Span, Time};
use std::collections::BTreeMap;

impl Directory {
    /// Looks which groups are near to each other, and remembers since when. Each takes part in one
    /// merge at a time. It is called off when the two are too far from each other again; what has
    /// moved by then stays where it is.
    pub(super) fn watch_near(&mut self, now: Time) {
        let Grouping::ByDelay(rules) = self.kept.grouping else { return };
        let rules = &rules;
        let mut near: BTreeMap<GroupId, (GroupId, Time)> = BTreeMap::new();
        let mut taken: Vec<GroupId> = Vec::new();
        // Those that are at it go on, before others begin.
        let mut groups: Vec<(bool, GroupId)> =
            self.kept.chains.iter().map(|(&group, chain)| (chain.near.is_none(), group)).collect();
        groups.sort_unstable();
        for (_, group) in groups {
            let Some(chain) = self.kept.chains.get(&group) else { continue };
            let known = chain.near;
            let fits = |into: GroupId, limit: Span| {
                let free = !taken.contains(&into) && !taken.contains(&group);
                free && self.are_near(now, (group, into), limit, rules)
            };
            let Thresholds { inclusion, rejection } = rules.thresholds;
            let stays = known.filter(|(into, _)| fits(*into, rejection));
            let older = self.kept.chains.keys().copied().filter(|into| *into < group);
            let found = stays.or_else(|| {
                let mut older = older;
                older.find(|into| fits(*into, inclusion)).map(|into| (into, now))
            });
            if let Some((into, since)) = found {
                taken.extend([group, into]);
                near.insert(group, (into, since));
            }
        }
        for (group, chain) in &mut self.kept.chains {
            chain.near = near.get(group).copied();
        }
    }

    /// Could these two be one group, as far as is known?
    fn are_near(
        &self,
        now: Time,
        (young, old): (GroupId, GroupId),
        limit: Span,
        rules: &GroupRules,
    ) -> bool {
        let ring = |group: GroupId| {
            let chain = self.kept.chains.get(&group).filter(|chain| chain.is_stable())?;
            let members = &chain.stable.ring;
            let heard = members.iter().all(|it| self.is_alive(now, it) && self.is_of(*it, group));
            heard.then(|| chain.stable.nodes().collect::<Vec<NodeId>>())
        };
        let (Some(ours), Some(theirs)) = (ring(young), ring(old)) else { return false };
        let barred = |node: &NodeId| {
            let ruled = self.kept.ruled.get(node);
            ruled.is_some_and(|ruled| !ruled.into && ruled.group == old)
        };
        let near = |a: NodeId, b: NodeId| self.mutual(a, b).is_some_and(|delay| delay < limit);
        ours.len() + theirs.len() <= rules.polls.size_max
            && !ours.iter().any(barred)
            && ours.iter().all(|&a| theirs.iter().all(|&b| near(a, b)))
            && !ours.iter().any(|&node| self.links.parts(node, theirs.iter().copied()))
    }

    /// Where the group of this node is to move its objects: the two have been near for long enough.
    pub(super) fn merge_of(&self, now: Time, node: Address) -> Option<GroupId> {
        let Address::Node(node) = node else { return None };
        let Grouping::ByDelay(rules) = self.kept.grouping else { return None };
        let group = self.kept.known.get(&node)?.group?;
        let (into, since) = self.kept.chains.get(&group).and_then(|chain: &Chain| chain.near)?;
        let due = now - since >= rules.polls.between_changes;
        (due && self.mutant != Some(Mutant::NeverMerge)).then_some(into)
    }
}
