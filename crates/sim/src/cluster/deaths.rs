//! Several deaths at once: of neighbours in the ring, and of any nodes within one lease, as many as
//! there are backups; and, where a run asks for it, of a node and all its backups, which no group
//! survives.
//!
//! They have dice of their own: what else happens in a run is drawn as if there were none.

use super::{Cluster, What};
use crate::dice::Dice;
use crate::faults::FaultProfile;
use crate::options::Options;
use jostle_proto::{Address, Member, NodeId, View};

/// A disaster that finds no stable view comes a little later.
const AGAIN: u64 = 10_000;

pub(super) struct Deaths {
    dice: Dice,
    /// How often several die, in parts of a million and millisecond.
    often: u32,
    disaster: bool,
}

impl Deaths {
    /// What a seed draws: in fault campaigns, in every other run in which there is more than
    /// pauses.
    pub(super) fn draw(seed: u64, options: &Options, only_pauses: bool) -> Deaths {
        let mut dice = Dice::new(seed ^ 0xdead_2026);
        let campaign =
            options.fault_profile == FaultProfile::Campaign && options.backups >= 2 && !only_pauses;
        let often = if campaign && dice.coin() { dice.below(2_000) as u32 } else { 0 };
        Deaths { dice, often, disaster: false }
    }

    pub(super) fn heal(&mut self) {
        self.often = 0;
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        from.get(self.dice.below(from.len().max(1) as u64) as usize).copied()
    }
}

impl Cluster {
    /// Throws for several deaths at once.
    pub(super) fn death_fate(&mut self) {
        let often = self.deaths.often;
        if often == 0 || !self.deaths.dice.once_in_million(often) {
            return;
        }
        let views = self.directory().map(|it| it.views().map(|(view, _)| view.clone()).collect());
        let views: Vec<View> = views.unwrap_or_default();
        let dice = &mut self.deaths.dice;
        let Some(view) = views.get(dice.below(views.len().max(1) as u64) as usize) else { return };
        let ring: Vec<NodeId> = view.nodes().collect();
        let (most, start) = (usize::from(view.backups), dice.below(ring.len() as u64) as usize);
        if dice.coin() {
            // Neighbours: a node and the first of its backups.
            let neighbours = ring.iter().cycle().skip(start).take(most.min(2).min(ring.len()));
            return neighbours.for_each(|id| self.die(*id));
        }
        for _ in 0..most {
            let later = self.deaths.dice.below(self.timing.lease.0);
            if let Some(id) = self.deaths.pick(&ring) {
                self.after(later, What::Die(id));
            }
        }
    }

    /// A node dies, if the objects of no member are lost by that; of two nodes between which a link
    /// fails for long, one more may have to be left out.
    pub(super) fn die(&mut self, id: NodeId) {
        if self.bears_death(id) {
            self.checkers.died_together();
            let later = 200_000 + self.deaths.dice.below(2_000_000);
            self.kill(id, later);
        }
    }

    /// Are the objects of no member lost if this node dies?
    pub(super) fn bears_death(&self, id: NodeId) -> bool {
        let views = self.known_views();
        let bears = |out: Option<NodeId>| {
            let left = |member: Member| {
                member.node != id && Some(member.node) != out && self.is_there(member)
            };
            views.iter().all(|it| it.unrecoverable(left).is_empty())
        };
        let bears = match self.lasting.ends() {
            Some(ends) => ends.into_iter().any(|end| bears(Some(end))),
            None => bears(None),
        };
        bears && !views.is_empty() && self.member(id).is_some()
    }

    /// All newest views, and the stable ones that they are made from: any of them may be the one
    /// from which the next is made.
    pub(super) fn known_views(&self) -> Vec<View> {
        let Some(directory) = self.directory() else { return Vec::new() };
        let groups = directory.views().map(|(view, _)| view.group);
        let stable = groups.filter_map(|group| directory.stable_view_of(group));
        directory.views().map(|(view, _)| view).chain(stable).cloned().collect()
    }

    /// Is it up, in this incarnation?
    fn is_there(&self, member: Member) -> bool {
        self.member(member.node).is_some_and(|(is, _)| is == member)
    }

    /// In the group that the world began with, a node and all its backups die.
    pub(super) fn disaster(&mut self) {
        let view = self.directory().filter(|it| it.is_stable()).map(|it| it.view().clone());
        let Some(view) = view.filter(|view| view.ring.iter().all(|it| self.is_there(*it))) else {
            return self.after(AGAIN, What::Disaster);
        };
        let first = self.deaths.dice.below(view.ring.len() as u64) as usize;
        let Some(first) = view.ring.get(first).copied() else { return };
        self.deaths.disaster = true;
        let backups: Vec<Member> = view.backups_of(first.node).collect();
        for member in std::iter::once(first).chain(backups) {
            let later = 200_000 + self.deaths.dice.below(2_000_000);
            self.kill(member.node, later);
        }
    }

    /// E7, at the end: a group that has lost objects says so, and it alone. Is there one? Of a
    /// world that cannot go on nothing else is expected.
    pub(super) fn judge_halts(&mut self) -> bool {
        let Some(directory) = self.directory() else { return false };
        // Nodes that are up are heard all the time, whichever clock the directory goes by.
        let reports = directory.report(directory.newest_time());
        let (mut violations, mut halted) = (Vec::new(), 0);
        for report in reports {
            let group = report.group;
            let stable = directory.stable_view_of(group).filter(|view| view.epoch.0 > 0);
            let lost = stable.map(|it| it.unrecoverable(|member| self.is_there(member)));
            let lost = lost.unwrap_or_default();
            let found = report.halt.as_ref().map(|halt| halt.lost.clone()).unwrap_or_default();
            if lost != found {
                let what = format!("group {}: {lost:?} are lost, reported: {found:?}", group.0);
                violations.push(("E7", what));
            }
            halted += u64::from(!lost.is_empty());
        }
        if (halted > 0) != self.deaths.disaster {
            violations.push(("E7", format!("{halted} groups cannot go on")));
        }
        if halted > 0 {
            let up = self.machines.keys().filter_map(|address| match address {
                Address::Node(node) => Some(*node),
                _ => None,
            });
            let deaf = up.filter(|node| self.member(*node).is_some());
            let deaf: Vec<NodeId> =
                deaf.filter(|node| !self.checkers.heard_of_halt(self.now, *node)).collect();
            if !deaf.is_empty() && self.sites.count < 2 {
                violations.push((
                    "E7",
                    format!("{deaf:?} were not informed that the group cannot go on"),
                ));
            }
        }
        self.outcome.halted += halted;
        self.checkers.note(self.now, violations);
        halted > 0
    }
}
