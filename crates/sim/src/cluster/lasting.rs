//! Faults that last: a machine that stands still for a large part of a run, a link that fails in
//! one direction for half of it, or to its very end, and ways between some nodes and the others
//! that take too long for a group for a while.
//!
//! They have dice of their own: what else happens in a run is drawn as if there were none.

use super::fault_bursts::FaultBursts;
use super::sites::Sites;
use super::{Cluster, What};
use crate::dice::Dice;
use crate::faults::{FaultProfile, Faults};
use crate::options::{Operation, Options};
use jostle_proto::{Address, GroupId, NodeId, Time, View};
use std::collections::{BTreeMap, BTreeSet};

/// One in so many runs at several sites has no other faults than pauses: then every site must be
/// one group in the end.
const ONLY_PAUSES: u64 = 4;

/// How much longer one way takes while ways are too long for a group: there and back it is beyond
/// the rejection threshold.
const STRETCHED: u64 = 40_000;

/// What lasts in a run.
#[derive(Default)]
pub(super) struct Lasting {
    /// When machines stop, and how long for.
    pauses: Vec<(u64, Vec<Address>, u64)>,
    /// When a link begins to fail, which one, and until when.
    cut: Option<(u64, (Address, Address), Time)>,
    /// Does it fail until the end, when nothing else does any more?
    stays: bool,
    /// When the ways between some nodes and the others become long, which nodes, and until when.
    stretch: Option<(u64, BTreeSet<Address>, u64)>,
    /// Is there no other fault?
    pub(super) only_pauses: bool,
}

impl Lasting {
    /// What a seed draws: in fault campaigns each with an even chance.
    pub(super) fn draw(seed: u64, options: &Options) -> Lasting {
        let mut dice = Dice::new(seed ^ 0x1a_5719);
        let mut lasting = Lasting::default();
        if options.fault_profile != FaultProfile::Campaign {
            return lasting;
        }
        let length = (options.seconds * 1e6) as u64;
        let nodes = u64::from(options.nodes.max(1));
        let node = |dice: &mut Dice| Address::Node(NodeId(dice.below(nodes) as u32));
        // Replicas have faults of their own.
        let several = options.sites > 1 && options.replicas == 1;
        lasting.only_pauses = several && dice.below(ONLY_PAUSES) == 0;
        if dice.coin() || lasting.only_pauses {
            for _ in 0..1 + dice.below(2) {
                let who = match dice.below(3) {
                    // The process that a world begins with has the directory and a node.
                    0 => vec![Address::Directory, Address::Node(NodeId(0))],
                    _ => vec![node(&mut dice)],
                };
                // Of a fault campaign of 20 s, 3 to 25 s.
                let span = length * (15 + dice.below(111)) / 100;
                lasting.pauses.push((length * (20 + dice.below(50)) / 100, who, span));
            }
        }
        let (from, to) = (node(&mut dice), node(&mut dice));
        if dice.coin() && from != to && !lasting.only_pauses {
            let begin = length * (25 + dice.below(25)) / 100;
            lasting.cut = Some((begin, (from, to), Time(begin + length / 2)));
            // Groups would have to speak to each other across it. And free-running nodes find out
            // that it fails when something has to go across, which may be at the very end.
            let lockstep = options.operation == Operation::Lockstep;
            lasting.stays = lockstep && options.sites == 1 && dice.coin();
        }
        lasting.stretched(seed, options)
    }

    /// The same, and ways between nodes that are too long for a group for a while.
    fn stretched(mut self, seed: u64, options: &Options) -> Lasting {
        let mut dice = Dice::new(seed ^ 0x57_2e7c);
        if options.sites < 2 || self.only_pauses || dice.below(3) > 0 {
            return self;
        }
        let length = (options.seconds * 1e6) as u64;
        let nodes = (0..options.nodes).map(|node| Address::Node(NodeId(node)));
        let side = nodes.filter(|_| dice.coin()).collect();
        let begin = length * (10 + dice.below(30)) / 100;
        let until = begin + length * (15 + dice.below(40)) / 100;
        self.stretch = Some((begin, side, until));
        self
    }

    /// How much longer it takes from one machine to another now.
    pub(super) fn stretches(&self, now: Time, (from, to): (Address, Address)) -> u64 {
        let nodes = matches!((from, to), (Address::Node(_), Address::Node(_)));
        let apart = |(begin, side, until): &&(u64, BTreeSet<Address>, u64)| {
            let now_is = (*begin..*until).contains(&now.0);
            nodes && now_is && side.contains(&from) != side.contains(&to)
        };
        self.stretch.as_ref().filter(apart).map_or(0, |_| STRETCHED)
    }

    /// The faults of a run that has these.
    pub(super) fn faults(&self, faults: Faults) -> Faults {
        if self.only_pauses { faults.healed() } else { faults }
    }

    /// The fault bursts of such a run; no node moves either where machines only stand still.
    pub(super) fn spare(
        &self,
        seed: u64,
        sites: &mut Sites,
        fault_profile: FaultProfile,
    ) -> FaultBursts {
        if self.only_pauses {
            sites.heal();
        }
        FaultBursts::draw(seed, if self.only_pauses { FaultProfile::None } else { fault_profile })
    }

    /// The nodes between which a link fails at some time.
    pub(super) fn ends(&self) -> Option<[NodeId; 2]> {
        let (_, link, _) = self.cut?;
        match link {
            (Address::Node(from), Address::Node(to)) => Some([from, to]),
            _ => None,
        }
    }

    /// Does this link fail now?
    pub(super) fn cuts(&self, now: Time, link: (Address, Address)) -> bool {
        self.cut.is_some_and(|(begin, cut, until)| cut == link && (begin..until.0).contains(&now.0))
    }

    /// The faults are over. One link may fail to the end.
    pub(super) fn heal(&mut self) {
        self.pauses.clear();
        self.stretch = None;
        self.cut =
            self.cut.filter(|_| self.stays).map(|(begin, link, _)| (begin, link, Time(u64::MAX)));
    }
}

impl Cluster {
    pub(super) fn plan_pauses(&mut self) {
        for (at, (begin, ..)) in self.lasting.pauses.iter().enumerate() {
            self.number += 1;
            self.queue.push(std::cmp::Reverse((Time(*begin), self.number)));
            self.waiting.insert(self.number, What::Pause(at));
        }
    }

    /// Machines stop.
    pub(super) fn pause(&mut self, at: usize) {
        let Some((_, who, span)) = self.lasting.pauses.get(at).cloned() else { return };
        let until = Time((self.now.0 + span).min(self.heal_at.0));
        self.checkers.paused();
        for machine in who {
            if machine == Address::Directory {
                self.checkers.directory_down(until.0.saturating_sub(self.now.0));
            }
            self.checkers.disturbed(machine, until);
            let longer = |time: &mut Time| *time = (*time).max(until);
            self.machines.entry(machine).and_modify(|machine| longer(&mut machine.paused));
        }
    }

    /// G1: where nothing has happened but that machines stood still, every site is one group in
    /// the end. A pause is not a delay.
    pub(super) fn judge_pauses(
        &self,
        rings: &[&View],
        size_max: usize,
    ) -> Vec<(&'static str, String)> {
        if !self.lasting.only_pauses {
            return Vec::new();
        }
        let mut sites: BTreeMap<u32, (usize, BTreeSet<GroupId>)> = BTreeMap::new();
        for view in rings {
            for node in view.nodes() {
                let site = sites.entry(self.sites.site(Address::Node(node))).or_default();
                site.0 += 1;
                site.1.insert(view.group);
            }
        }
        let split =
            sites.into_iter().filter(|(_, (nodes, groups))| groups.len() > 1 && *nodes <= size_max);
        split
            .map(|(site, (_, groups))| ("G1", format!("site {site} is split: {groups:?}")))
            .collect()
    }
}
