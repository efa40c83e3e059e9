//! Where nodes belong: with those that they are near to, otherwise by themselves.

use super::chain::Chain;
use super::{Directory, GroupRules, Grouping, Known};
use crate::groups::{Formation, GROUP_NODES_MAX, GroupId, Matrix, Party, Room, Sizes, admit};
use crate::node::Output;
use crate::object::NodeId;
use crate::time::{Span, Time};
use crate::view::Member;
use serde::{Deserialize, Serialize};

/// Groups at a time; more do not begin.
pub(super) const GROUPS_MAX: usize = 64;

/// A node that may be near to all of a group, as far as is known, waits so many times as long as
/// others until that is measured: a delay that is not known is no long one.
const UNKNOWN_PATIENCE: u64 = 3;

/// What a vote said about a node, until it has followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ruled {
    pub(super) group: GroupId,
    /// Into it, or not into it?
    pub(super) into: bool,
    /// So long.
    pub(super) until: Time,
}

/// A node that waits for a group.
struct Waiting {
    node: NodeId,
    /// It has measured all nodes that have a group.
    measured: bool,
    /// It has waited long enough.
    is_late: bool,
}

impl Directory {
    /// Finds a group for every node that has none.
    pub(super) fn place(&mut self, now: Time, out: &mut Vec<Output>) {
        let Grouping::ByDelay(rules) = self.kept.grouping else { return };
        self.kept.ruled.retain(|_, ruled| now < ruled.until);
        self.let_go(now, rules.polls.size_max, out);
        self.place_ruled(now, &rules);
        let waiting: Vec<Waiting> = self.waiting(now, &rules).collect();
        if waiting.iter().any(|node| node.measured || node.is_late) {
            self.place_together(now, &waiting, &rules);
        }
        self.reconsider(now, out);
    }

    /// Who has no group.
    fn unplaced(&self, now: Time) -> impl Iterator<Item = (Member, &Known)> {
        let alone = self.kept.known.iter().filter(|(_, known)| known.group.is_none());
        let members = alone.map(|(&node, known)| (Member { node, life: known.life }, known));
        members.filter(move |(member, _)| {
            self.is_alive(now, member) && !self.is_over(member) && !self.is_offer(member.node)
        })
    }

    fn waiting(&self, now: Time, rules: &GroupRules) -> impl Iterator<Item = Waiting> {
        let placed = self.kept.known.iter().filter(move |(_, other)| {
            other.group.is_some() && now - other.heard <= self.timing.lease
        });
        let placed: Vec<NodeId> = placed.map(|(&node, _)| node).collect();
        let patience = rules.patience;
        self.unplaced(now).take(GROUP_NODES_MAX).map(move |(Member { node, .. }, known)| {
            let measured = placed.iter().all(|other| known.delays.contains_key(other));
            // Before it was sent its peers it could not measure them.
            let sent = self.peers_sent.get(&node).filter(|sent| **sent >= known.since);
            let patience = match self.may_be_near(now, node, rules) {
                true => Span(patience.0.saturating_mul(UNKNOWN_PATIENCE)),
                false => patience,
            };
            let is_late = sent.is_some_and(|sent| now - *sent >= patience);
            Waiting { node, measured, is_late }
        })
    }

    /// Is there a group with room that it may be near to, but that is not known yet of all members?
    fn may_be_near(&self, now: Time, node: NodeId, rules: &GroupRules) -> bool {
        self.kept.chains.keys().filter_map(|&group| self.with_room(now, group, rules)).any(|room| {
            let mut delays = room.iter().map(|&member| self.mutual(node, member));
            let limit = rules.thresholds.inclusion;
            let far = |delay: &Option<Span>| delay.is_some_and(|delay| delay >= limit);
            delays.clone().any(|delay| delay.is_none()) && !delays.any(|delay| far(&delay))
        })
    }

    fn put(&mut self, now: Time, node: NodeId, group: GroupId) {
        if let Some(known) = self.kept.known.get_mut(&node) {
            (known.group, known.since) = (Some(group), now);
        }
    }

    /// Those whom votes have let in go there.
    fn place_ruled(&mut self, now: Time, rules: &GroupRules) {
        let nodes: Vec<NodeId> = self.unplaced(now).map(|(member, _)| member.node).collect();
        for node in nodes {
            let ruled = self.kept.ruled.get(&node).filter(|ruled| ruled.into);
            if let Some(group) = ruled.map(|ruled| ruled.group)
                && let Some(room) = self.with_room(now, group, rules)
                && !self.links.parts(node, room.into_iter())
            {
                self.put(now, node, group);
            }
        }
    }

    /// Finds groups for all waiting nodes, from all that they have measured, largest groups first.
    /// If they were placed one by one, the first would take those with it that have more neighbours
    /// elsewhere. A node that has measured all others goes into a group that is there; a new one
    /// begins only when one of its nodes has waited long enough: the other side may not have
    /// measured yet. None begins beside a world that cannot go on.
    fn place_together(&mut self, now: Time, waiting: &[Waiting], rules: &GroupRules) {
        let (groups, parties) = self.parties(now, waiting, rules);
        let is = |node: &NodeId, what: fn(&Waiting) -> bool| {
            waiting.iter().any(|it| it.node == *node && what(it))
        };
        for Party { into, nodes } in parties {
            if let Some(&group) = into.and_then(|at| groups.get(at)) {
                for node in nodes.iter().filter(|node| is(node, |it| it.measured || it.is_late)) {
                    self.put(now, *node, group);
                }
            } else if nodes.iter().any(|node| is(node, |it| it.is_late)) && !self.is_halted(now) {
                self.found(now, &nodes);
            }
        }
    }

    /// A new group, if there may be one more.
    fn found(&mut self, now: Time, nodes: &[NodeId]) {
        let life = |node: &NodeId| self.kept.known.get(node).map(|known| known.life);
        let founder = nodes.first().and_then(|&node| Some(Member { node, life: life(&node)? }));
        let Some(founder) = founder.filter(|_| self.kept.chains.len() < GROUPS_MAX) else { return };
        let group = self.kept.next_group;
        self.kept.next_group = GroupId(group.0 + 1);
        self.kept.chains.insert(group, Chain::new(group, founder, now));
        for &node in nodes {
            self.put(now, node, group);
        }
    }

    /// Groups that have room, and who of those who wait would go where.
    fn parties(
        &self,
        now: Time,
        waiting: &[Waiting],
        rules: &GroupRules,
    ) -> (Vec<GroupId>, Vec<Party>) {
        let limit = rules.thresholds.inclusion;
        let near = |a: NodeId, b: NodeId| self.mutual(a, b).is_some_and(|delay| delay < limit);
        let groups = self.kept.chains.keys().copied();
        let open: Vec<(GroupId, Vec<NodeId>)> =
            groups.filter_map(|group| Some((group, self.with_room(now, group, rules)?))).collect();
        let rooms = open.iter().map(|(group, members)| {
            let barred = |node: NodeId| {
                let ruled = self.kept.ruled.get(&node);
                ruled.is_some_and(|ruled| !ruled.into && ruled.group == *group)
            };
            let comes =
                |node: &NodeId| !barred(*node) && members.iter().all(|&member| near(*node, member));
            let linked = |node: &NodeId| !self.links.parts(*node, members.iter().copied());
            let nodes = waiting.iter().map(|it| it.node).filter(comes).filter(linked);
            Room { size: members.len(), near: nodes.collect() }
        });
        let rooms: Vec<Room> = rooms.collect();
        let nodes: Vec<NodeId> = waiting.iter().map(|it| it.node).collect();
        let formation = Formation {
            thresholds: rules.thresholds,
            size_max: rules.polls.size_max,
            sizes: Sizes::Largest,
        };
        // No more wait than fit, see `waiting`.
        let parties = Matrix::new(&nodes).map_or_else(
            |_| Vec::new(),
            |mut matrix| {
                for &from in &nodes {
                    let delays = self.kept.known.get(&from).map(|known| &known.delays);
                    for (&to, &delay) in delays.into_iter().flatten() {
                        matrix.set(from, to, delay);
                    }
                }
                admit(&matrix, &rooms, &formation)
            },
        );
        (open.into_iter().map(|(group, _)| group).collect(), parties)
    }

    /// The members of a group that can take one more.
    fn with_room(&self, now: Time, group: GroupId, rules: &GroupRules) -> Option<Vec<NodeId>> {
        let members = self.members(now, group);
        (!members.is_empty() && members.len() < rules.polls.size_max).then_some(members)
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
        let mut detached = Vec::new();
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
                detached.push(node);
            }
        }
        for Member { node, life } in replaced {
            self.kept.over.insert(node, life);
        }
        for node in detached {
            if let Some(known) = self.kept.known.get_mut(&node) {
                (known.group, known.since) = (None, now);
            }
        }
        if !gone.is_empty() {
            self.regroup(now, out);
        }
    }

    pub(super) fn is_of(&self, member: Member, group: GroupId) -> bool {
        self.kept.known.get(&member.node).is_some_and(|known| known.is(member, group))
    }

    /// Those that belong to a group and can be heard; none if one of its stable view cannot.
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
    pub(super) fn mutual(&self, a: NodeId, b: NodeId) -> Option<Span> {
        let delay = |from: NodeId, to: NodeId| {
            self.kept.known.get(&from).and_then(|known| known.delays.get(&to)).copied()
        };
        Some(delay(a, b)?.max(delay(b, a)?))
    }
}
