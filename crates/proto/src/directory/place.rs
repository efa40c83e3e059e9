//! Where nodes belong: with those that they are near to, otherwise by themselves.

use super::chain::Chain;
use super::{Directory, GroupRules, Grouping};
use crate::groups::GroupId;
use crate::node::Output;
use crate::object::NodeId;
use crate::time::{Span, Time};
use crate::view::Member;
use serde::{Deserialize, Serialize};

/// Groups at a time; more do not begin.
pub(super) const GROUPS_MAX: usize = 64;

/// What a vote said about a node, until it has followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ruled {
    pub(super) group: GroupId,
    /// Into it, or not into it?
    pub(super) into: bool,
    /// So long.
    pub(super) until: Time,
}

impl Directory {
    /// Finds a group for every node that has none.
    pub(super) fn place(&mut self, now: Time, out: &mut Vec<Output>) {
        let Grouping::ByDelay(rules) = self.kept.grouping else { return };
        self.kept.ruled.retain(|_, ruled| now < ruled.until);
        self.let_go(now, rules.polls.size_max, out);
        let waiting: Vec<Member> = self.waiting(now).collect();
        for member in waiting {
            let Some(group) = self.find_group(now, member, &rules) else { continue };
            let group = group.unwrap_or_else(|| {
                let group = self.kept.next_group;
                self.kept.next_group = GroupId(group.0 + 1);
                self.kept.chains.insert(group, Chain::new(group, member, now));
                group
            });
            if let Some(known) = self.kept.known.get_mut(&member.node) {
                (known.group, known.since) = (Some(group), now);
            }
        }
        self.reconsider(now, out);
    }

    fn waiting(&self, now: Time) -> impl Iterator<Item = Member> + '_ {
        let alone = self.kept.known.iter().filter(|(_, known)| known.group.is_none());
        let members = alone.map(|(&node, known)| Member { node, life: known.life });
        members.filter(move |member| self.is_alive(now, member) && !self.is_over(member))
    }

    fn is_over(&self, member: &Member) -> bool {
        self.kept.over.get(&member.node).is_some_and(|&over| member.life <= over)
    }

    /// Groups that never began end if their founder is gone. Nodes whose group has ended, or
    /// stands still before they came into it, look for another. So does one whose place was given
    /// away while it could not be heard, in its next life: it may have been in a view that came to
    /// nothing.
    fn let_go(&mut self, now: Time, size_max: usize, out: &mut Vec<Output>) {
        let begun = |group: GroupId, chain: &Chain| {
            let founder = chain.stable.ring.first().copied();
            group == GroupId(0)
                || chain.has_run()
                || founder.is_some_and(|it| self.is_alive(now, &it) && self.is_of(it, group))
        };
        let chains = self.kept.chains.iter();
        let gone: Vec<GroupId> = chains
            .filter(|(group, chain)| !begun(**group, chain))
            .map(|(&group, _)| group)
            .collect();
        for group in &gone {
            self.kept.chains.remove(group);
        }
        let stands =
            |chain: &Chain| !chain.stable.ring.iter().any(|member| self.is_alive(now, member));
        let mut loose = Vec::new();
        let mut replaced = Vec::new();
        for (&node, known) in &self.kept.known {
            let Some(group) = known.group else { continue };
            let member = Member { node, life: known.life };
            let lost = match self.kept.chains.get(&group) {
                None => true,
                Some(chain) if chain.is_full_without(member, size_max) => {
                    replaced.push(member);
                    true
                }
                Some(chain) => {
                    !chain.stable.has(member)
                        && (self.is_over(&member)
                            || now - known.since > Span(4 * self.timing.lease.0) && stands(chain))
                }
            };
            if lost {
                loose.push(node);
            }
        }
        for Member { node, life } in replaced {
            self.kept.over.insert(node, life);
        }
        for node in loose {
            if let Some(known) = self.kept.known.get_mut(&node) {
                (known.group, known.since) = (None, now);
            }
        }
        if !gone.is_empty() {
            self.regroup(now, out);
        }
    }

    fn is_of(&self, member: Member, group: GroupId) -> bool {
        let known = self.kept.known.get(&member.node);
        known.is_some_and(|known| known.life == member.life && known.group == Some(group))
    }

    /// None if it is too early to say; nothing in it for a group of its own.
    fn find_group(&self, now: Time, member: Member, rules: &GroupRules) -> Option<Option<GroupId>> {
        let known = self.kept.known.get(&member.node)?;
        let ruled = self.kept.ruled.get(&member.node);
        let groups = self.kept.chains.keys().copied();
        let sized = groups.map(|group| (self.members(now, group), group));
        let mut open: Vec<(Vec<NodeId>, GroupId)> = sized
            .filter(|(nodes, _)| !nodes.is_empty() && nodes.len() < rules.polls.size_max)
            .filter(|&(_, group)| !ruled.is_some_and(|ruled| !ruled.into && ruled.group == group))
            .collect();
        if let Some(ruled) = ruled.filter(|ruled| ruled.into)
            && open.iter().any(|&(_, group)| group == ruled.group)
        {
            return Some(Some(ruled.group));
        }
        let placed =
            self.kept.known.iter().filter(|(_, other)| {
                other.group.is_some() && now - other.heard <= self.timing.lease
            });
        let measured = placed.into_iter().all(|(node, _)| known.delays.contains_key(node));
        let patient = now - known.since < rules.patience;
        if !measured && patient {
            return None;
        }
        let limit = rules.thresholds.inclusion;
        open.retain(|(nodes, _)| {
            nodes.iter().all(|&other| self.mutual(member.node, other).is_some_and(|it| it < limit))
        });
        // The largest; of those, the oldest.
        let best =
            open.into_iter().max_by_key(|(nodes, group)| (nodes.len(), std::cmp::Reverse(*group)));
        match best {
            Some((_, group)) => Some(Some(group)),
            // The other side may not have measured yet.
            None if patient || self.kept.chains.len() >= GROUPS_MAX => None,
            None => Some(None),
        }
    }

    /// Those that belong to a group and can be heard; nobody if one of its stable view cannot.
    fn members(&self, now: Time, group: GroupId) -> Vec<NodeId> {
        let Some(chain) = self.kept.chains.get(&group) else { return Vec::new() };
        if !chain.stable.ring.iter().all(|member| self.is_alive(now, member)) {
            return Vec::new();
        }
        let known = self.kept.known.iter().filter(|(_, known)| known.group == Some(group));
        let alive = known.filter(|(_, known)| now - known.heard <= self.timing.lease);
        alive.map(|(&node, _)| node).collect()
    }

    /// The longer of what two nodes say of each other; none until both have said something
    /// (Storey 2006, 3.3.7: both must be below the threshold).
    fn mutual(&self, a: NodeId, b: NodeId) -> Option<Span> {
        let delay = |from: NodeId, to: NodeId| {
            self.kept.known.get(&from).and_then(|known| known.delays.get(&to)).copied()
        };
        Some(delay(a, b)?.max(delay(b, a)?))
    }
}
