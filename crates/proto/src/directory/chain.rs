//! The views of one group: the newest, and the last stable one that it is made from.

use super::{Directory, Grouping};
use crate::groups::GroupId;
use crate::load::NodeLoad;
use crate::message::Message;
use crate::mutant::Mutant;
use crate::node::{Address, Output};
use crate::object::NodeId;
use crate::space::{Tree, TreeError};
use crate::state::Block;
use crate::time::{Span, Time};
use crate::view::{Epoch, Member, View};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A member that is to leave is waited for so long; then it stays after all.
const LEAVING: Span = Span::from_ms(3000);

/// Regions are cut anew when a member has had far more than the mean to do for so long: more than
/// one and a half times as much, or more than a tenth more of much work.
const UNEVEN_FOR: Span = Span::from_ms(1500);
const UNEVEN_LEAST: u64 = 16 * NodeLoad::OBJECT as u64;
const UNEVEN_MUCH: u64 = 128 * NodeLoad::OBJECT as u64;

/// The views of a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Chain {
    pub(super) stable: View,
    pub(super) current: View,
    /// When the newest view was made.
    changed: Time,
    /// Since when one of its members has far more to do than the others.
    uneven: Option<Time>,
    /// A member that is to go although it lives, and until when that holds.
    pub(super) leaving: Option<(Member, Time)>,
    /// An older group that all its members are near to, and since when.
    pub(super) near: Option<(GroupId, Time)>,
}

impl Chain {
    /// A group that begins.
    pub(super) fn new(group: GroupId, founder: Member, now: Time) -> Chain {
        let view = View { group, ..View::first(founder) };
        Chain {
            stable: view.clone(),
            current: view,
            changed: now,
            uneven: None,
            leaving: None,
            near: None,
        }
    }

    /// Are there as many members as there may be, and this is none of them?
    pub(super) fn is_full_without(&self, member: Member, size_max: usize) -> bool {
        self.is_stable() && self.stable.ring.len() >= size_max && !self.stable.has(member)
    }

    /// Was a view of it ever stable? If not, nothing has happened in it.
    pub(super) fn has_run(&self) -> bool {
        self.stable.epoch > Epoch(0)
    }

    pub(super) fn is_stable(&self) -> bool {
        self.current.epoch == self.stable.epoch && self.has_run()
    }

    /// A member is to leave.
    pub(super) fn leave(&mut self, now: Time, member: Member) {
        self.leaving = Some((member, now + LEAVING));
    }
}

impl Directory {
    pub(super) fn record(&mut self, now: Time, epoch: Epoch, from: Member, out: &mut Vec<Output>) {
        let mut chains = self.kept.chains.values_mut();
        let Some(chain) = chains.find(|chain| chain.current.epoch == epoch) else { return };
        if epoch == Epoch(0) || chain.current.leader() != Some(from) {
            return;
        }
        let fresh = chain.stable.epoch != epoch;
        // A newcomer that was placed elsewhere meanwhile must not be a stable member of two groups:
        // each would wait for it. The next view is made without it, from the last stable one.
        let known = &self.kept.known;
        let stays = |member: &Member| {
            chain.stable.has(*member)
                || known.get(&member.node).is_some_and(|it| it.is(*member, chain.current.group))
        };
        if fresh && !chain.current.ring.iter().all(stays) {
            return;
        }
        if fresh {
            for gone in chain.stable.ring.iter().filter(|member| !chain.current.has(**member)) {
                let over = self.kept.over.entry(gone.node).or_insert(gone.life);
                *over = (*over).max(gone.life);
                if chain.leaving.is_some_and(|(member, _)| member == *gone) {
                    chain.leaving = None;
                }
            }
            chain.stable = chain.current.clone();
        }
        out.push(Output::Send(Address::Node(from.node), Message::StableKept(epoch)));
        if fresh {
            self.regroup(now, out);
        }
    }

    /// The leader of a group in which nothing is at home, and which no other one needs, ends it.
    /// Its members go to the group that they were near to.
    pub(super) fn end(&mut self, now: Time, epoch: Epoch, from: Member, out: &mut Vec<Output>) {
        let ends = |chain: &Chain| {
            chain.is_stable() && chain.stable.epoch == epoch && chain.stable.leader() == Some(from)
        };
        let ended = self.kept.chains.iter().find(|(_, chain)| ends(chain));
        // The group that the world began with goes on for as long as the world.
        let Some(group) = ended.map(|(&group, _)| group).filter(|&group| group != GroupId(0))
        else {
            return;
        };
        let Some(chain) = self.kept.chains.remove(&group) else { return };
        for member in chain.stable.ring {
            self.kept.over.insert(member.node, member.life);
            if let Some((into, _)) = chain.near {
                self.rule_into(now, member.node, into);
            }
            self.hear(now, member, out);
        }
        self.regroup(now, out);
    }

    /// Makes new views where the members that can be heard are others than those of the newest.
    pub(super) fn reconsider(&mut self, now: Time, out: &mut Vec<Output>) {
        self.judge_links(now);
        let groups: Vec<GroupId> = self.kept.chains.keys().copied().collect();
        for group in groups {
            self.renew(now, group, out);
        }
    }

    /// A new view for a group if nothing is lost by it: every member that is left out of the stable
    /// view has a backup that is not.
    fn renew(&mut self, now: Time, group: GroupId, out: &mut Vec<Output>) {
        let Some(chain) = self.kept.chains.get(&group) else { return };
        let first = chain.current.epoch == Epoch(0);
        if !first && now - chain.changed < self.timing.settle {
            return;
        }
        let leaving = chain.leaving.filter(|(_, until)| now < *until).map(|(member, _)| member);
        let Some(ring) = self.next_ring(now, group, leaving) else { return };
        let Some(chain) = self.kept.chains.get(&group) else { return };
        let backups = self.kept.backups;
        let fresh = first || ring != chain.current.ring || backups != chain.current.backups;
        let tree = if fresh {
            self.tree_for(chain, &ring)
        } else if self.is_uneven(now, group) {
            self.even_tree(group, &ring)
        } else {
            return;
        };
        let (Ok(tree), Some(chain)) = (tree, self.kept.chains.get(&group)) else { return };
        if !fresh && !self.gains(chain, &tree) {
            return;
        }
        let (base, base_ring) = (chain.stable.epoch, chain.stable.ring.clone());
        let epoch = Epoch(self.kept.epoch.0 + 1);
        let view = View { group, epoch, base, base_ring, ring, backups, tree };
        self.kept.epoch = epoch;
        if let Some(chain) = self.kept.chains.get_mut(&group) {
            (chain.current, chain.changed) = (view.clone(), now);
        }
        for member in view.ring {
            self.remind(member, Epoch(0), out);
        }
    }

    /// Who would be in a group now; none if something would be lost.
    pub(super) fn ring_of(
        &self,
        now: Time,
        chain: &Chain,
        absent: &[Member],
    ) -> Option<Vec<Member>> {
        let stable = &chain.stable.ring;
        let stays = |member: &&Member| self.is_alive(now, member) && !absent.contains(member);
        let mut ring: Vec<Member> = stable.iter().filter(stays).copied().collect();
        let safe = chain.stable.unrecoverable(|member| ring.contains(&member)).is_empty();
        let safe = safe || self.mutant == Some(Mutant::CarelessDirectory);
        if ring.is_empty() || !safe {
            return None;
        }
        let size_max = match self.kept.grouping {
            Grouping::Together => usize::MAX,
            Grouping::ByDelay(rules) => rules.polls.size_max,
        };
        let over = |member: &Member| {
            self.is_offer(member.node)
                || self.kept.over.get(&member.node).is_some_and(|&over| member.life <= over)
        };
        for (&node, known) in &self.kept.known {
            let member = Member { node, life: known.life };
            let comes = known.group == Some(chain.stable.group)
                && !stable.contains(&member)
                && !self.links.parts(node, ring.iter().map(|member| member.node));
            if comes && ring.len() < size_max && self.is_alive(now, &member) && !over(&member) {
                ring.push(member);
            }
        }
        Some(ring)
    }

    /// Would nothing be lost if those that cannot be heard were left out?
    pub(super) fn can_continue(&self, now: Time, chain: &Chain) -> bool {
        self.ring_of(now, chain, &[]).is_some()
    }

    /// Does one member have far more to do than the others, and has it for a while? What is far
    /// more is far from what an even tree gives, and from what cutting regions in halves gives, so
    /// that regions do not change to and fro.
    fn is_uneven(&mut self, now: Time, group: GroupId) -> bool {
        let Some(chain) = self.kept.chains.get(&group) else { return false };
        let load = |member: &Member| self.kept.known.get(&member.node).map(|it| it.load.work);
        let work: Vec<u64> = chain.stable.ring.iter().filter_map(load).map(u64::from).collect();
        let (sum, most) = (work.iter().sum::<u64>(), work.iter().max().copied().unwrap_or(0));
        let all = most * work.len() as u64;
        let uneven = most >= UNEVEN_LEAST && 2 * all > 3 * sum;
        let uneven = uneven || most >= UNEVEN_MUCH && 10 * all > 11 * sum;
        let uneven = uneven && chain.is_stable();
        let since = chain.uneven.filter(|_| uneven).or(uneven.then_some(now));
        let late = since.is_some_and(|since| now - since >= UNEVEN_FOR);
        if let Some(chain) = self.kept.chains.get_mut(&group) {
            chain.uneven = since.filter(|_| !late);
        }
        late
    }

    /// Would the busiest member have at least a twentieth less to do? Objects that crowd in one
    /// place cannot be shared, and cutting regions again and again for little gains nothing.
    fn gains(&self, chain: &Chain, tree: &Tree) -> bool {
        let points = self.population(chain);
        let worst = |tree: &Tree| {
            let mut counts: BTreeMap<NodeId, u64> = BTreeMap::new();
            points.iter().for_each(|point| *counts.entry(tree.owner_of(*point)).or_default() += 1);
            counts.into_values().max().unwrap_or(0)
        };
        20 * worst(tree) <= 19 * worst(&chain.current.tree)
    }

    /// Regions in which all members have about the same to do.
    fn even_tree(&self, group: GroupId, ring: &[Member]) -> Result<Tree, TreeError> {
        let nodes: Vec<NodeId> = ring.iter().map(|member| member.node).collect();
        let chain = self.kept.chains.get(&group);
        let points = chain.map(|chain| self.population(chain)).unwrap_or_default();
        Tree::shared_among(&nodes, &points)
    }

    /// Points that stand for the work of a group, as its members have reported; evenly spread
    /// before they have.
    fn population(&self, chain: &Chain) -> Vec<[i32; 3]> {
        const POINTS: u64 = 4096;
        let known = |member: &Member| self.kept.known.get(&member.node);
        let crowds: Vec<&NodeLoad> =
            chain.stable.ring.iter().filter_map(known).map(|known| &known.load).collect();
        let sum: u64 = crowds.iter().map(|load| u64::from(load.work)).sum();
        let mut points = Vec::new();
        for load in crowds {
            let share = (u64::from(load.work) * POINTS).div_ceil(sum.max(1));
            points.extend(load.places.iter().cycle().take(share as usize));
        }
        if points.is_empty() { lattice(&self.kept.extent) } else { points }
    }

    /// The regions of the stable view, changed only where members come and go.
    fn tree_for(&self, chain: &Chain, ring: &[Member]) -> Result<Tree, TreeError> {
        let mut tree = chain.stable.tree.clone();
        let stays = |node: NodeId| ring.iter().any(|member| member.node == node);
        let points = self.population(chain);
        for member in ring {
            if !chain.stable.ring.iter().any(|known| known.node == member.node) {
                tree.join(member.node, &points)?;
            }
        }
        for gone in chain.stable.ring.iter().filter(|member| !stays(member.node)) {
            if self.mutant == Some(Mutant::RegionWithoutOwner) {
                break;
            }
            tree.leave(gone.node)?;
        }
        Ok(tree)
    }
}

/// Points evenly spread over a block.
fn lattice(block: &Block) -> Vec<[i32; 3]> {
    const SIDE: i64 = 8;
    let at = |axis: usize, part: i64| {
        let (low, high) = (i64::from(block.min[axis]), i64::from(block.max[axis]));
        (low + (high - low) * (2 * part + 1) / (2 * SIDE)) as i32
    };
    let points = (0..SIDE * SIDE * SIDE).map(|number| {
        [at(0, number % SIDE), at(1, number / SIDE % SIDE), at(2, number / SIDE / SIDE)]
    });
    points.collect()
}
