//! Fault bursts: faults of many messages, or of many machines, at once. Losses
//! come in bursts, links jam and let everything go at once, and machines fall into two partitions
//! that do not hear each other.
//!
//! They have dice of their own: what else happens in a run is drawn as if there were none.

use super::{Cluster, place_of};
use crate::dice::Dice;
use crate::faults::{FaultProfile, Faults};
use jostle_proto::{Address, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Of the messages of a link that has a burst, so many in a million are lost.
const LOST_IN_A_BURST: u32 = 750_000;

/// A burst, a jam and a partition last so long at most, in microseconds.
const BURST: u64 = 300_000;
const JAM: u64 = 500_000;
const PARTITION: u64 = 1_500_000;

/// One way from one machine to another.
type Link = (Address, Address);

/// Which kinds of bursts there are in a run, and which ones are on at the moment.
pub(super) struct FaultBursts {
    dice: Dice,
    often: Often,
    /// Links whose messages get lost, and until when.
    bursts: BTreeMap<Link, Time>,
    jams: BTreeMap<Link, Time>,
    partition: Option<Partition>,
}

/// How often, in parts of a million and millisecond.
#[derive(Clone, Copy, Debug, Default)]
struct Often {
    burst: u32,
    jam: u32,
    partition: u32,
}

/// Machines on one side do not hear those on the other.
struct Partition {
    until: Time,
    side: BTreeSet<Address>,
    /// Is it so for both sides? If not, the others still hear those of `side`.
    both: bool,
}

impl Partition {
    fn parts(&self, (from, to): Link) -> bool {
        let (from, to) = (self.side.contains(&from), self.side.contains(&to));
        from != to && (self.both || to)
    }
}

impl FaultBursts {
    /// What a seed draws: in fault campaigns each kind with an even chance.
    pub(super) fn draw(seed: u64, fault_profile: FaultProfile) -> FaultBursts {
        let mut dice = Dice::new(seed ^ 0x5_9a11);
        let mut often = Often::default();
        if fault_profile == FaultProfile::Campaign {
            let mut pick = |most| if dice.coin() { dice.below(most) as u32 } else { 0 };
            often = Often { burst: pick(6_000), jam: pick(4_000), partition: pick(1_500) };
        }
        let (bursts, jams) = (BTreeMap::new(), BTreeMap::new());
        FaultBursts { dice, often, bursts, jams, partition: None }
    }

    /// Nothing of it is left.
    pub(super) fn heal(&mut self) {
        self.often = Often::default();
        self.bursts.clear();
        self.jams.clear();
        self.partition = None;
    }

    /// How much longer what is sent now takes.
    fn held_back(&self, now: Time, link: Link) -> u64 {
        self.jams.get(&link).map_or(0, |until| until.0.saturating_sub(now.0))
    }

    fn any(&mut self, machines: &[Address]) -> Option<Address> {
        machines.get(self.dice.below(machines.len() as u64) as usize).copied()
    }
}

impl Cluster {
    /// Draws the bursts of this moment.
    pub(super) fn draw_bursts(&mut self) {
        let Often { burst, jam, partition } = self.fault_bursts.often;
        if burst == 0 && jam == 0 && partition == 0 {
            return;
        }
        let machines: Vec<Address> = self.machines.keys().copied().collect();
        let (now, fault_bursts) = (self.now, &mut self.fault_bursts);
        let until = |dice: &mut Dice, most| Time(now.0 + dice.below(most));
        fault_bursts.bursts.retain(|_, until| *until > now);
        fault_bursts.jams.retain(|_, until| *until > now);
        fault_bursts.partition.take_if(|partition| partition.until <= now);
        if fault_bursts.dice.once_in_million(burst)
            && let (Some(from), Some(to)) =
                (fault_bursts.any(&machines), fault_bursts.any(&machines))
        {
            let until = until(&mut fault_bursts.dice, BURST);
            fault_bursts.bursts.insert((from, to), until);
        }
        if fault_bursts.dice.once_in_million(jam)
            && let (Some(from), Some(to)) =
                (fault_bursts.any(&machines), fault_bursts.any(&machines))
        {
            let until = until(&mut fault_bursts.dice, JAM);
            fault_bursts.jams.insert((from, to), until);
        }
        if fault_bursts.dice.once_in_million(partition) && fault_bursts.partition.is_none() {
            // Where there are sites, partitions often run between them.
            let sites = self.sites.count > 1 && fault_bursts.dice.coin();
            let site = fault_bursts.dice.below(u64::from(self.sites.count)) as u32;
            let mut side = machines;
            side.retain(|machine| match sites {
                true => self.sites.site(*machine) == site,
                false => fault_bursts.dice.coin(),
            });
            let (until, both) =
                (until(&mut fault_bursts.dice, PARTITION), fault_bursts.dice.below(4) > 0);
            fault_bursts.partition =
                Some(Partition { until, side: side.into_iter().collect(), both });
            self.checkers.partition();
        }
    }

    /// How long what is sent now takes: none if it is lost, several if it is doubled.
    pub(super) fn journeys(&mut self, from: Address, to: Address) -> Vec<u64> {
        let faults = self.simulated_clients.line(from, to).unwrap_or(self.faults);
        let Faults { delay, jitter, loss, doubled, clogged, .. } = faults;
        let link = (place_of(from), place_of(to));
        if self.is_cut(link) || self.dice.once_in_million(loss) || self.is_in_burst(link) {
            self.checkers.late(self.now, from, to, self.now);
            return Vec::new();
        }
        let copies = 1 + u32::from(self.dice.once_in_million(doubled));
        let far = self.sites.between(from, to) + self.lasting.stretches(self.now, link);
        let busy = self.machines.get(&from).map_or(0, |machine| machine.slow);
        let held_back = self.fault_bursts.held_back(self.now, link);
        let journey = |_| {
            let mut later = busy + far + delay + self.dice.below(jitter + 1) + held_back;
            let clogged = self.dice.once_in_million(clogged);
            if clogged {
                later += self.dice.below(1_000_000);
            }
            if clogged || held_back > 0 {
                self.checkers.late(self.now, from, to, Time(self.now.0 + later));
            }
            self.trace(later);
            later
        };
        (0..copies).map(journey).collect()
    }

    fn is_cut(&self, link: Link) -> bool {
        let parted = |who| self.machines.get(&who).is_some_and(|m| m.parted > self.now);
        let cut = self.cuts.get(&link).is_some_and(|until| *until > self.now);
        let torn =
            self.fault_bursts.partition.as_ref().is_some_and(|partition| partition.parts(link));
        let lasts = self.lasting.cuts(self.now, link);
        cut || lasts || torn || parted(link.0) || parted(link.1)
    }

    fn is_in_burst(&mut self, link: Link) -> bool {
        self.fault_bursts.bursts.contains_key(&link)
            && self.fault_bursts.dice.once_in_million(LOST_IN_A_BURST)
    }
}
