//! Where machines stand: near to those of the same site, far from the others. Groups form by
//! themselves from that.

use super::hands::{HAND, Hand};
use super::machine::Role;
use super::{Cluster, What, place_of};
use crate::dice::Dice;
use crate::faults::{FaultProfile, Faults};
use jostle_proto::{
    Address, Class, Directory, GatewayId, GroupId, GroupRules, Grouping, Input, Mutant, NodeId,
    Object, PingRule, PollSettings, Saved, Source, Span, Stream, Thresholds,
};
use std::collections::BTreeMap;

/// Sites, and what changes between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sites {
    pub(super) count: u32,
    /// Between two sites, in one direction, in microseconds.
    delays: BTreeMap<(u32, u32), u64>,
    pub(super) of: BTreeMap<Address, u32>,
    /// The node that a gateway stands beside: it is where that is.
    pub(super) beside: BTreeMap<Address, NodeId>,
    /// A node is somewhere else from now on, per millisecond.
    moves: u32,
    /// The directory dies and comes back with what it had saved, per millisecond.
    directory_crash: u32,
    /// Objects that are not in the world yet: new groups bring them.
    pool: Vec<Object>,
    pub(super) saved: Option<Saved>,
}

/// Near enough within a site, and too far between any two.
pub(super) const THRESHOLDS: Thresholds =
    Thresholds { inclusion: Span::from_ms(40), rejection: Span::from_ms(56) };

/// How groups are made in a simulation: everything a little faster than in earnest.
pub(crate) const RULES: GroupRules = GroupRules {
    thresholds: THRESHOLDS,
    polls: PollSettings {
        open: Span::from_ms(400),
        resend: Span::from_ms(60),
        between_changes: Span::from_ms(400),
        membership: Span::from_ms(1200),
        size_max: 5,
        rejection: THRESHOLDS.rejection,
    },
    patience: Span::from_ms(800),
};

/// How delays are measured in a simulation.
pub(super) fn ping_rule() -> PingRule {
    PingRule {
        interval_min: Span::from_ms(50),
        interval_max: Span::from_ms(150),
        timeout: Span::from_ms(400),
        persistence: Span::from_ms(300),
        ..PingRule::default()
    }
}

impl Sites {
    /// What a seed draws; nothing for one site.
    pub(super) fn draw(count: u32, fault_profile: FaultProfile, dice: &mut Dice) -> Sites {
        if count < 2 {
            return Sites { count: 1, ..Sites::default() };
        }
        let mut delays = BTreeMap::new();
        for a in 0..count {
            for b in a + 1..count {
                let delay = 30_000 + dice.below(120_000);
                delays.insert((a, b), delay);
            }
        }
        let campaign = fault_profile == FaultProfile::Campaign;
        let mut pick =
            |most: u64| if campaign && dice.coin() { dice.below(most) as u32 } else { 0 };
        let (moves, directory_crash) = (pick(1500), pick(1500));
        Sites { count, delays, moves, directory_crash, ..Sites::default() }
    }

    pub(super) fn grouping(&self) -> Grouping {
        if self.count < 2 { Grouping::Together } else { Grouping::ByDelay(RULES) }
    }

    /// Within a site messages are fast enough for a group.
    pub(super) fn soften(&self, faults: Faults) -> Faults {
        if self.count < 2 {
            return faults;
        }
        Faults { delay: faults.delay / 4, jitter: faults.jitter / 4, ..faults }
    }

    /// Where a machine is.
    pub(super) fn site(&self, who: Address) -> u32 {
        let who = place_of(who);
        let who = self.beside.get(&who).map_or(who, |node| Address::Node(*node));
        self.of.get(&who).copied().unwrap_or(0)
    }

    /// The gateway with this number stands beside some node, if possible of a site that others
    /// are not at.
    pub(super) fn place_gate(&mut self, number: u32, dice: &mut Dice) {
        let site = number % self.count;
        let at = |wanted: Option<u32>| {
            let nodes =
                self.of.iter().filter(move |(_, at)| wanted.is_none_or(|site| **at == site));
            nodes.filter_map(
                |(who, _)| if let Address::Node(node) = who { Some(*node) } else { None },
            )
        };
        let near: Vec<NodeId> = at(Some(site)).collect();
        let near = if near.is_empty() { at(None).collect() } else { near };
        if let Some(&node) = near.get(dice.below(near.len() as u64) as usize) {
            self.beside.insert(Address::Gate(number), node);
        }
    }

    /// All gateways, those at a site first.
    pub(super) fn gates_near(&self, site: u32, gates: Vec<u32>) -> Vec<u32> {
        let (near, far): (Vec<u32>, Vec<u32>) =
            gates.into_iter().partition(|gate| self.site(Address::Gate(*gate)) == site);
        [near, far].concat()
    }

    /// How much longer it takes from one machine to another.
    pub(super) fn between(&self, from: Address, to: Address) -> u64 {
        let (a, b) = (self.site(from), self.site(to));
        self.delays.get(&(a.min(b), a.max(b))).copied().unwrap_or(0)
    }

    /// There and back between the two that are farthest from each other.
    pub(super) fn farthest(&self) -> u64 {
        2 * self.delays.values().max().copied().unwrap_or(0)
    }

    pub(super) fn heal(&mut self) {
        (self.moves, self.directory_crash) = (0, 0);
    }

    /// Takes some of what moves out of the world, for groups to bring in later.
    pub(super) fn hold_back(&mut self, objects: Vec<Object>, dice: &mut Dice) -> Vec<Object> {
        if self.count < 2 {
            return objects;
        }
        let (held, stay) = objects
            .into_iter()
            .partition(|object| object.class != Class::Immovable && dice.below(3) == 0);
        self.pool = held;
        stay
    }
}

impl Cluster {
    /// Throws for what only happens between sites.
    pub(super) fn site_fate(&mut self) {
        if self.sites.count < 2 {
            return;
        }
        if self.dice.once_in_million(self.sites.moves) {
            let id = NodeId(self.dice.below(u64::from(self.nodes)) as u32);
            let site = self.dice.below(u64::from(self.sites.count)) as u32;
            self.sites.of.insert(Address::Node(id), site);
        }
        if self.dice.once_in_million(self.sites.directory_crash) {
            self.crash_directory();
        }
    }

    fn crash_directory(&mut self) {
        let Some(machine) = self.machines.get_mut(&Address::Directory) else { return };
        let Some(Role::Directory(directory)) = machine.role.take() else { return };
        machine.alarm += 1;
        // Whatever it has said was saved before.
        self.sites.saved = Some(directory.save());
        let changing = directory.views().any(|(_, stable)| !stable);
        self.checkers.directory_crashed(changing);
        if let Some(wire) = &mut self.wire {
            wire.crashed(Address::Directory);
        }
        let later = 50_000 + self.dice.below(600_000);
        self.checkers.directory_down(later);
        self.after(later, What::Restart);
    }

    pub(super) fn restart_directory(&mut self) {
        let Some(mut saved) = self.sites.saved.take() else { return };
        let mutant = self.options.mutant;
        if mutant == Some(Mutant::ForgetfulDirectory) {
            saved = Directory::forgotten(saved);
        }
        let (now, timing) = (self.now, self.timing);
        let Some(machine) = self.machines.get_mut(&Address::Directory) else { return };
        let directory = Directory::load(saved, machine.local(now), timing).with_mutant(mutant);
        machine.role = Some(Role::Directory(Box::new(directory)));
        machine.alarm += 1;
        let alarm = machine.alarm;
        self.after(0, What::Wake(Address::Directory, alarm));
    }

    /// A group has published something: if it is new, a source brings objects into it.
    pub(super) fn welcome(&mut self, group: GroupId) {
        if self.sites.count < 2 || self.hands.contains_key(&group) || self.sites.pool.is_empty() {
            return;
        }
        let view = self.directory().and_then(|directory| directory.view_of(group));
        let Some(size) = view.map(|view| view.ring.len()) else { return };
        // One node alone with something at home stays alone; that is to be the exception.
        if size < 2 && (self.lasting.only_pauses || self.dice.below(400) > 0) {
            return;
        }
        let source = Source::Gateway(GatewayId { number: HAND.number - group.0, life: 1 });
        let mut hand = Hand { stream: Stream::new(source, 1).to(group), avatars: Vec::new() };
        let share = (self.sites.pool.len()).min(12);
        let rest = self.sites.pool.split_off(share);
        for object in std::mem::replace(&mut self.sites.pool, rest) {
            if object.class == Class::Avatar {
                hand.avatars.push(object.id);
            }
            hand.stream.push(vec![Input::Enter(object)]);
        }
        self.hands.insert(group, hand);
    }
}
