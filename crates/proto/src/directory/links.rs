//! Links that fail although both their ends reach the directory (it learns that from members that
//! wait in vain). A group goes on without one of the two, and that one stays out until the link has
//! been seen to work again: a decision is not changed because the node that is left out complains
//! in its turn, or because no node waits for it any more.

use super::Directory;
use super::chain::Chain;
use crate::groups::GroupId;
use crate::links::{Links, PROBED_MAX};
use crate::message::Message;
use crate::mutant::Mutant;
use crate::node::{Address, Output};
use crate::object::NodeId;
use crate::time::{Span, Time};
use crate::view::{Member, View};
use std::collections::{BTreeMap, BTreeSet};

/// A complaint counts when it has been repeated for so long (nodes repeat it every tenth of a
/// second), and until it has not been heard for so long: others may complain of the same node, and
/// more than one complaint shows which end to leave out.
const REPEATED: Span = Span::from_ms(200);
const STALE: Span = Span::from_ms(400);

/// So many answers, with no second without one, show that a link works again.
const ANSWERS: u8 = 8;
const WITHOUT_ANSWER: Span = Span::from_ms(1000);

/// Links that are remembered; of more than that no notice is taken.
const CUTS_MAX: usize = 1024;

/// When a complaint was first and last heard.
#[derive(Clone, Copy, Debug)]
struct Complaint {
    first: Time,
    last: Time,
}

/// A link that fails.
#[derive(Clone, Copy, Debug)]
struct Cut {
    since: Time,
    answers: u8,
    answered: Time,
}

/// What the directory has heard about links. It is hearsay: a directory that begins anew hears it
/// again.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkTable {
    /// Of the first about the second.
    complaints: BTreeMap<(NodeId, NodeId), Complaint>,
    /// The lower node first.
    cuts: BTreeMap<(NodeId, NodeId), Cut>,
    /// Members that a view is to go without, and since when their leases are not renewed: a
    /// free-running node speaks as long as it has one.
    suspended: BTreeMap<Member, (GroupId, Time)>,
}

fn pair(a: NodeId, b: NodeId) -> (NodeId, NodeId) {
    (a.min(b), a.max(b))
}

impl LinkTable {
    /// Nothing could be heard for a while.
    pub(super) fn paused(&mut self) {
        self.complaints.clear();
    }

    /// Is the lease of this member not to be renewed, because a view is to go without it?
    pub(super) fn is_suspended(&self, member: Member) -> bool {
        self.suspended.contains_key(&member)
    }

    /// Of these, all are suspended for at least so long.
    fn have_run_out(&self, now: Time, absent: &[Member], lease: Span) -> bool {
        absent
            .iter()
            .all(|it| self.suspended.get(it).is_some_and(|(_, since)| now - *since > lease))
    }

    /// Of the members of a group these are suspended from now on, and no others.
    fn suspend(&mut self, now: Time, group: GroupId, members: &[Member]) {
        self.suspended.retain(|member, (of, _)| *of != group || members.contains(member));
        for member in members {
            self.suspended.entry(*member).or_insert((group, now));
        }
    }

    fn is_cut(&self, a: NodeId, b: NodeId) -> bool {
        self.cuts.contains_key(&pair(a, b))
    }

    /// Does a link between this node and one of those fail?
    pub(super) fn parts(&self, node: NodeId, mut others: impl Iterator<Item = NodeId>) -> bool {
        others.any(|other| self.is_cut(node, other))
    }

    /// Which of these would have to go so that all links between the others work: first the one
    /// with most links that fail, of equal ones the last.
    fn without(&self, ring: &[Member]) -> Vec<Member> {
        let mut rest = ring.to_vec();
        let mut gone = Vec::new();
        loop {
            let failing = |member: &Member| {
                rest.iter().filter(|other| self.is_cut(member.node, other.node)).count()
            };
            let worst = rest.iter().enumerate().max_by_key(|(at, it)| (failing(it), *at));
            match worst.map(|(at, member)| (at, failing(member))) {
                Some((at, failing)) if failing > 0 => gone.push(rest.remove(at)),
                _ => return gone,
            }
        }
    }
}

impl Directory {
    /// A node reports on its links.
    pub(super) fn hear_links(&mut self, now: Time, links: &Links) {
        let from = links.from.node;
        if self.mutant == Some(Mutant::IgnoreUnreached) {
            return;
        }
        for &to in links.unreached.iter().take(PROBED_MAX).filter(|to| **to != from) {
            let complaints = &mut self.links.complaints;
            if complaints.len() < CUTS_MAX || complaints.contains_key(&(from, to)) {
                let new = Complaint { first: now, last: now };
                complaints.entry((from, to)).or_insert(new).last = now;
            }
        }
        let hold = Span(4 * self.timing.lease.0);
        for &to in &links.reached {
            let Some(cut) = self.links.cuts.get_mut(&pair(from, to)) else { continue };
            let gap = now - cut.answered > WITHOUT_ANSWER;
            cut.answers = if gap { 1 } else { cut.answers.saturating_add(1) };
            cut.answered = now;
            if cut.answers >= ANSWERS && now - cut.since >= hold {
                self.links.cuts.remove(&pair(from, to));
            }
        }
    }

    /// Asks a node to try the links of it that fail.
    pub(super) fn ask_links(&self, node: NodeId, out: &mut Vec<Output>) {
        let ends = self.links.cuts.keys().filter(|(a, b)| *a == node || *b == node);
        let others: Vec<NodeId> =
            ends.map(|&(a, b)| if a == node { b } else { a }).take(PROBED_MAX).collect();
        if !others.is_empty() {
            out.push(Output::Send(Address::Node(node), Message::Probe(others)));
        }
    }

    /// Which complaints hold: those about members of one view who both can be heard here.
    pub(super) fn judge_links(&mut self, now: Time) {
        self.links.complaints.retain(|_, complaint| now - complaint.last <= STALE);
        let holds = |&(a, b): &(NodeId, NodeId)| {
            let member =
                |node| self.kept.known.get(&node).map(|known| Member { node, life: known.life });
            let (Some(a), Some(b)) = (member(a), member(b)) else { return false };
            let both = |chain: &Chain| chain.current.has(a) && chain.current.has(b);
            self.is_alive(now, &a) && self.is_alive(now, &b) && self.kept.chains.values().any(both)
        };
        let complaints = self.links.complaints.iter();
        let repeated = complaints.filter(|(_, complaint)| now - complaint.first >= REPEATED);
        let new: BTreeSet<(NodeId, NodeId)> =
            repeated.map(|(pair, _)| *pair).filter(holds).collect();
        for (a, b) in new {
            if self.links.cuts.len() < CUTS_MAX {
                let cut = Cut { since: now, answers: 0, answered: now };
                self.links.cuts.entry(pair(a, b)).or_insert(cut);
            }
        }
    }

    /// The members of the next view of a group if it can be made. Those that links or a vote want
    /// to leave out stay as long as something would be lost without them; and those that links want
    /// to leave out until the last lease that they were given has run out.
    pub(super) fn next_ring(
        &mut self,
        now: Time,
        group: GroupId,
        leaving: Option<Member>,
    ) -> Option<Vec<Member>> {
        let chain = self.kept.chains.get(&group)?;
        let (mut found, mut suspended) = (None, Vec::new());
        for absent in self.absences(now, chain, leaving) {
            let Some(ring) = self.ring_of(now, chain, &absent) else { continue };
            let cut: Vec<Member> =
                absent.iter().copied().filter(|member| leaving != Some(*member)).collect();
            let at_once = self.mutant == Some(Mutant::LeaveOutAtOnce);
            let ready = at_once || self.links.have_run_out(now, &cut, self.timing.lease);
            // The first that can be spared are enough: the others keep their leases.
            if suspended.is_empty() {
                suspended = cut;
            }
            if ready {
                found = Some(ring);
                break;
            }
        }
        self.links.suspend(now, group, &suspended);
        found
    }

    /// Who may be left out of the next view of a group, in the order in which it is tried.
    fn absences(&self, now: Time, chain: &Chain, leaving: Option<Member>) -> Vec<Vec<Member>> {
        let stable = chain.stable.ring.iter();
        let alive: Vec<Member> = stable.filter(|it| self.is_alive(now, it)).copied().collect();
        let cut = self.links.without(&alive);
        let mut tries = Vec::new();
        if let Some(leaving) = leaving {
            tries.push(cut.iter().copied().chain([leaving]).collect());
        }
        // All of them, or as many of them as can be spared; the others go with the next view.
        tries.extend((1..=cut.len()).rev().map(|count| cut.iter().copied().take(count).collect()));
        // Or the other end, if that one's backup is gone. (A seed found that.)
        let nodes = || alive.iter().map(|member| member.node);
        let ends = alive.iter().rev().filter(|it| self.links.parts(it.node, nodes()));
        tries.extend(ends.map(|member| vec![*member]));
        tries.extend(leaving.map(|member| vec![member]));
        tries.push(Vec::new());
        tries
    }

    /// Links of members of a view that fail although both ends reach the directory.
    pub(super) fn failing_links_of(&self, view: &View) -> Vec<(NodeId, NodeId)> {
        let is_in = |node: NodeId| view.nodes().any(|member| member == node);
        let cuts = self.links.cuts.keys().copied();
        cuts.filter(|&(a, b)| is_in(a) || is_in(b)).collect()
    }
}
